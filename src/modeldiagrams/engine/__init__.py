"""Builds diagrams from options, with a cache and snapshots."""
