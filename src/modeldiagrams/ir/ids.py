"""Ids that can't collide, whatever a model calls its parts."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["escape_id", "make_unique"]

_SEPARATOR = re.compile("[%#/:]")


@functools.lru_cache(maxsize=4096)
def escape_id(name: str) -> str:
    """Make part of an id from a module's path or an op's name: ``dense/linear`` → ``dense%2Flinear``.

    The characters that separate the parts of ids become codes, as in addresses. Most names have none.
    """
    return _SEPARATOR.sub(lambda found: f"%{ord(found[0]):02X}", name)


def make_unique(name: str, taken: Container[str]) -> str:
    """Number a name until it is not taken: ``x``, ``x#2``, ``x#3``."""
    unique, n = name, 1
    while unique in taken:
        n += 1
        unique = f"{name}#{n}"
    return unique
