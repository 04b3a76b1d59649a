"""A first repository: argparse, an alias, and an array from a file."""

__all__ = ["model.ReviewNet", "model.StarPredictor"]
