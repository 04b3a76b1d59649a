"""Functions that remember their results (`functools.lru_cache`) remember nothing at the start of a trace.

Else a tensor made in an earlier pass would come from nowhere, and a fake one would stay behind for later passes.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.belongings import put_back
from modeldiagrams.tracer.internals import CachedFunction
from modeldiagrams.tracer.names import METHODS, bind, holds_cache, names_in, watched

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

__all__ = ["fresh_caches"]

_spares: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
"""The same functions with caches that are empty between traces."""


@contextlib.contextmanager
def fresh_caches(owners: Sequence[type | ModuleType]) -> Iterator[None]:
    """Put empty caches in place of those that a model's classes and their Python modules hold.

    Functions are found under their names, and inside the functions of decorators that wrap them once more.

    Args:
        owners: The classes and Python modules.
    """

    def emptied(cached: Any) -> Any:
        if cached not in _spares:
            _spares[cached] = functools.lru_cache(**cached.cache_parameters())(cached.__wrapped__)
        undo.callback(_spares[cached].cache_clear)
        return _spares[cached]

    with contextlib.ExitStack() as undo:
        for owner in owners:
            for name in watched(owner).caches:
                value = names_in(owner)[name]
                function: Any = value.__func__ if isinstance(value, METHODS) else value
                if type(function) is CachedFunction:
                    undo.callback(put_back, bind, owner, name, value)
                    bind(owner, name, emptied(function) if function is value else type(value)(emptied(function)))
                    continue
                for cell in [cell for cell in function.__closure__ if holds_cache(cell)]:
                    undo.callback(setattr, cell, "cell_contents", cell.cell_contents)
                    cell.cell_contents = emptied(cell.cell_contents)
        yield
