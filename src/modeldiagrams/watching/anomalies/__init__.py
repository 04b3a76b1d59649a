"""Finds what went wrong in a training from its recording."""
