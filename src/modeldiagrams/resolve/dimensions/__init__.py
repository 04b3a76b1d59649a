"""Sizes with names: which sizes of a model's inputs may change, and how all others depend on them."""
