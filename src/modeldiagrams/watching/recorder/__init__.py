"""Measures a model while it trains: hooks exist only in recorded steps, and each step copies from the device once."""
