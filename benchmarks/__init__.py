"""Ratios and budgets that we may quote, always measured in one run. Unlike tests, they don't fail on a slow day."""
