"""Annotations that an author adds to the nodes of a graph."""
