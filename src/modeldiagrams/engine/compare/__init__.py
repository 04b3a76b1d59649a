"""Compares two graphs, and two versions of a documentation."""
