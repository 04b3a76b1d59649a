"""What is replaced while a trace runs (see `table`), and the one helper that replaces and restores."""

from __future__ import annotations

import contextlib
from types import CellType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Replacement", "patched", "replace"]

Replacement: TypeAlias = "tuple[Any, Any, Any]"
"""An object, the name of one of its attributes, and what takes its place; or a dict, a key and a value."""

_ABSENT = object()


@contextlib.contextmanager
def patched(replacements: Iterable[Replacement]) -> Iterator[contextlib.ExitStack]:
    """Replace attributes, and restore them in the end.

    Args:
        replacements: Asked for one by one: each can use what the ones before have put in place.

    Yields:
        For `replace`, where something is to be replaced later.
    """
    with contextlib.ExitStack() as undo:
        for owner, name, value in replacements:
            replace(undo, owner, name, value)
        yield undo


def replace(undo: contextlib.ExitStack, owner: Any, name: Any, value: Any) -> None:
    """Replace one attribute of an object or one item of a dict until a stack of contexts is left.

    Args:
        undo: The stack.
        owner: The object or the dict.
        name: The attribute or the key; what a class inherits is added to it, and taken away in the end.
        value: What takes its place.
    """
    undo.callback(_set, owner, name, _own(owner, name))
    _set(owner, name, value)


def _own(owner: Any, name: Any) -> Any:
    if isinstance(owner, CellType):
        return owner.cell_contents
    return (owner if isinstance(owner, dict) else vars(owner)).get(name, _ABSENT)


def _set(owner: Any, name: Any, value: Any) -> None:
    if isinstance(owner, dict):
        owner.pop(name) if value is _ABSENT else owner.update({name: value})
    elif value is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, value)
