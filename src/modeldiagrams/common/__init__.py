"""What several rooms need and none owns: files, versions, what is installed, whose a file is."""
