"""What `import modeldiagrams` offers to scripts and notebooks."""
