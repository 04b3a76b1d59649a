"""What names of arguments and inputs usually mean: tables of data, and how they are read."""
