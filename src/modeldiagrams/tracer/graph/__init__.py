"""Builds the graph from a recording."""
