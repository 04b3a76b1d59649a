"""Benchmarks of pages in a browser."""
