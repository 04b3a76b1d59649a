"""The one helper that replaces things while a trace runs, see `table`, and restores them."""

from __future__ import annotations

import contextlib
from types import CellType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Replacement: TypeAlias = "tuple[Any, Any, Any]"
"""An object, the name of one of its attributes, and what takes its place; or a dict, a key and a value."""

_ABSENT = object()


@contextlib.contextmanager
def patched(replacements: Iterable[Replacement]) -> Iterator[contextlib.ExitStack]:
    """Replace attributes, and restore them in the end; each replacement can use what the ones before have put in place.

    Yields:
        For `replace`, where something is to be replaced later.
    """
    with contextlib.ExitStack() as undo:
        for owner, name, value in replacements:
            replace(undo, owner, name, value)
        yield undo


def replace(undo: contextlib.ExitStack, owner: Any, name: Any, value: Any) -> None:
    """Replace an attribute or an item of a dict until `undo` is left; a class loses again what it only inherited."""
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
