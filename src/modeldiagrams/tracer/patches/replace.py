"""Replaces attributes while a trace runs, and restores them."""

from __future__ import annotations

import contextlib
from types import CellType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Replacement: TypeAlias = "tuple[Any, Any, Any]"
"""An object, the name of an attribute and its new value; or a dict, a key and a value."""

_ABSENT = object()


@contextlib.contextmanager
def apply_patches(replacements: Iterable[Replacement]) -> Iterator[contextlib.ExitStack]:
    """Replace attributes in the block; each replacement sees the earlier ones.

    Yields:
        A stack for `replace`, to replace more in the block.
    """
    with contextlib.ExitStack() as undo:
        for owner, name, value in replacements:
            replace(undo, owner, name, value)
        yield undo


def replace(undo: contextlib.ExitStack, owner: Any, name: Any, value: Any) -> None:
    """Replace an attribute, or an item of a dict, until `undo` closes. Inherited attributes are then deleted."""
    held = owner if isinstance(owner, dict) else {} if isinstance(owner, CellType) else vars(owner)
    undo.callback(_set, owner, name, owner.cell_contents if isinstance(owner, CellType) else held.get(name, _ABSENT))
    _set(owner, name, value)


def _set(owner: Any, name: Any, value: Any) -> None:
    if isinstance(owner, dict):
        owner.pop(name) if value is _ABSENT else owner.update({name: value})
    elif value is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, value)
