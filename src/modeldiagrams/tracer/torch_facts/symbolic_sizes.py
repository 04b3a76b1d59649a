"""Names of symbolic sizes; torch counts those of nested tensors for as long as the process runs."""

from __future__ import annotations

import re
from typing import Any

_RAGGED = re.compile(r"\bj\d+")
names: dict[str, str] = {}
"""Torch's names of ragged sizes, and ours. Every trace has a dict of its own here, so its names begin with ``j0``."""


def size_name(size: Any) -> str:
    """The name of a symbolic size."""
    return _RAGGED.sub(lambda found: names.setdefault(found[0], f"j{len(names)}"), str(size))
