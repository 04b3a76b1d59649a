"""Finds constructor arguments and inputs that the author did not write, by documented rules."""
