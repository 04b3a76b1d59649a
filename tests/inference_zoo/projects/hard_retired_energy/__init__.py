"""Loads of a grid, forecast from patches of their past: settings of the command line."""

__all__ = ["models.patchtst.Model"]
