"""Figures we may quote: ratios and budgets, always measured in one run. Not tests: nothing here fails on a slow day."""
