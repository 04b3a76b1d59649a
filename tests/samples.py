"""Where sample code lies that tests trace."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).parent / "sample_project"
"""A user's project with a package of small models, `mypkg`."""
