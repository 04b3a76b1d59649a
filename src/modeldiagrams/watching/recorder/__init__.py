"""Measures a model while it trains: hooks that are there only in recorded steps, one copy from the device for each."""
