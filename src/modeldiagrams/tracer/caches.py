"""Functions that remember their results (`functools.lru_cache`) remember nothing at the start of a trace.

Else a tensor made in an earlier pass would come from nowhere, and a fake one would stay behind for later passes.
"""

from __future__ import annotations

import contextlib
import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

__all__ = ["fresh_caches"]

_METHODS = (staticmethod, classmethod)
_CachedFunction: Any = functools._lru_cache_wrapper  # noqa: SLF001 - its only name
_KINDS = frozenset({FunctionType, _CachedFunction, *_METHODS})


@contextlib.contextmanager
def fresh_caches(owners: Sequence[type | ModuleType]) -> Iterator[None]:
    """Put empty caches in place of those that a model's classes and their Python modules hold.

    Functions are found under their names, and inside the functions of decorators that wrap them once more.

    Args:
        owners: The classes and Python modules.
    """
    fresh: dict[Any, Any] = {}

    def emptied(cached: Any) -> Any:
        if cached not in fresh:
            fresh[cached] = functools.lru_cache(**cached.cache_parameters())(cached.__wrapped__)
        return fresh[cached]

    with contextlib.ExitStack() as undo:
        for owner in owners:
            for name, value in list(vars(owner).items()):
                kind = type(value)
                if kind not in _KINDS or (kind is FunctionType and value.__closure__ is None):
                    continue
                function = value.__func__ if isinstance(value, _METHODS) else value
                if isinstance(function, _CachedFunction):
                    undo.callback(setattr, owner, name, value)
                    setattr(owner, name, emptied(function) if function is value else type(value)(emptied(function)))
                for cell in _cells_with_cache(function):
                    undo.callback(setattr, cell, "cell_contents", cell.cell_contents)
                    cell.cell_contents = emptied(cell.cell_contents)
        yield


def _cells_with_cache(value: Any) -> list[Any]:
    closure = value.__closure__ if isinstance(value, FunctionType) else None
    return [cell for cell in closure or () if isinstance(_content(cell), _CachedFunction)]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
