"""The tables of names in ``names.yaml``."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import yaml

__all__ = ["matches", "table", "value_of"]


@functools.cache
def _tables() -> dict[str, Any]:
    return dict(yaml.safe_load(Path(__file__).with_name("names.yaml").read_text("utf-8")))


def table(title: str) -> Any:
    """One of the tables."""
    return _tables()[title]


def value_of(title: str, name: str) -> Any:
    """The value of a table's first row that matches a name; None if none does."""
    return next((row["value"] for row in table(title) if matches(row["names"], name)), None)


def matches(patterns: list[str], name: str) -> bool:
    """Whether one of several regular expressions matches a whole name."""
    return any(re.fullmatch(pattern, name) for pattern in patterns)
