"""Replaces parts of torch and of the model while a trace runs."""
