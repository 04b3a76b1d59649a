"""What is replaced while a trace runs, and the one helper that replaces and restores."""
