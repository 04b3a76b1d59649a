"""A first repository: argparse, and products from a file."""
