"""Reads the source of models, and the frames of code that failed."""
