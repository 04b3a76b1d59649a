"""Names of symbolic sizes, the same in every trace: torch numbers those of nested tensors over the whole process."""

from __future__ import annotations

import re
from typing import Any

_RAGGED = re.compile(r"\bj\d+")
names: dict[str, str] = {}
"""Torch's name of a ragged size → ours. Every trace gets a new dict, so its names begin with ``j0``."""


def size_name(size: Any) -> str:
    """The name of a symbolic size."""
    return _RAGGED.sub(lambda found: names.setdefault(found[0], f"j{len(names)}"), str(size))
