"""Keeps one pass from what another left in functions that cache their results, and in global variables.

A tensor cached in an earlier pass would come from nowhere, and a fake one would break later passes.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter, OrderedDict, defaultdict, deque
from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch._subclasses.fake_tensor import FakeTensor

from modeldiagrams.tracer.restore.namespaces import names_in
from modeldiagrams.tracer.restore.objects import attempt
from modeldiagrams.tracer.torch_facts.private_api import CachedFunction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modeldiagrams.tracer.restore.namespaces import Namespace

__all__ = ["empty_caches", "fakes_removed"]

_METHODS = (staticmethod, classmethod)
_DICTS = (dict, OrderedDict, defaultdict, Counter)
_CONTAINERS = frozenset({*_DICTS, list, deque, set, tuple})
_MAX_DEPTH = 4


def empty_caches(namespaces: Sequence[Namespace]) -> Iterator[tuple[Any, str, Any]]:
    """Functions with `functools.lru_cache`, and the same ones with empty caches.

    Functions are found under their names, and in the closures of decorators that wrap them once more.

    Args:
        namespaces: Where to look.

    Yields:
        What holds the function, the name it has there, and what is to take its place.
    """
    empty: dict[Any, Any] = {}

    def emptied(cached: Any) -> Any:
        if cached not in empty:
            empty[cached] = functools.lru_cache(**cached.cache_parameters())(cached.__wrapped__)
        return empty[cached]

    for namespace in namespaces:
        for name, value in list(names_in(namespace).items()):
            function = value.__func__ if type(value) in _METHODS else value
            if type(function) is CachedFunction:
                yield namespace, name, emptied(function) if function is value else type(value)(emptied(function))
            elif type(function) is FunctionType:
                for cell in filter(_holds_cache, function.__closure__ or ()):
                    if cell.cell_contents not in empty.values():
                        yield cell, "cell_contents", emptied(cell.cell_contents)


def _holds_cache(cell: Any) -> bool:
    try:
        return type(cell.cell_contents) is CachedFunction
    except ValueError:  # not filled yet
        return False


@contextlib.contextmanager
def fakes_removed(namespaces: Sequence[Namespace]) -> Iterator[None]:
    """Remove, at the end, fake tensors from what names are bound to, and bind these as before.

    Args:
        namespaces: Where to look.
    """
    before = [(namespace, dict(names_in(namespace))) for namespace in namespaces]
    try:
        yield
    finally:
        for namespace, names in before:
            for name, value in list(names_in(namespace).items()):
                if name in names and value is names[name]:
                    _remove_fakes(value)
                elif _holds_fakes(value) and name in names:
                    attempt(setattr, namespace, name, names[name])
                elif _holds_fakes(value):
                    attempt(delattr, namespace, name)


def _holds_fakes(value: Any, depth: int = 0) -> bool:
    if isinstance(value, FakeTensor):
        return True
    if type(value) not in _CONTAINERS or depth > _MAX_DEPTH:
        return False
    return any(_holds_fakes(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value))


def _remove_fakes(container: Any) -> None:
    """Take what holds fakes out of a container that was there before."""
    if type(container) in _DICTS:
        for key in [key for key, value in container.items() if _holds_fakes(value)]:
            del container[key]
    elif type(container) in (list, deque, set) and _holds_fakes(container):
        kept = [value for value in container if not _holds_fakes(value)]
        container.clear()
        container.update(kept) if isinstance(container, set) else container.extend(kept)
