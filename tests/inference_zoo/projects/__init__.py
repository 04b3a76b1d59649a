"""Small projects, each a folder with its own README, scripts, tests and configurations, which show how models are made.

A folder's first word is its level; its ``__all__`` names its models.
"""
