"""Snapshot of Python objects: attributes of modules, and the containers and plain objects that these hold."""

from __future__ import annotations

import functools
import itertools
import logging
import operator
import sys
from collections import OrderedDict, deque
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from modeldiagrams.common.class_facts import find_module, list_bases
from modeldiagrams.tracer.torch_facts.private_api import PLAIN_TENSORS, PLAIN_VALUES
from modeldiagrams.tracer.values.traced_callables import used_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["LIBRARIES", "ObjectSnapshot", "attempt", "restore_content"]

_log = logging.getLogger(__name__)

LIBRARIES = frozenset({"torch", "numpy", *sys.stdlib_module_names})
"""Packages whose classes and functions hold no state of a model."""
_STATEFUL = frozenset({"abc", "amp", "collections", "optim", "types", "typing", "weakref"})
"""Exceptions (of torch, its subpackages): optimizers, `types.SimpleNamespace`, `UserDict`, bases of user classes."""
_MUTABLE: tuple[Any, ...] = (OrderedDict, dict, list, set, deque)
"""Containers with content to restore."""
_CONTAINERS = frozenset(_MUTABLE)
_HOLDING = ("_parameters", "_buffers", "_modules")
"""Attributes of modules."""
_MAX_OBJECTS = 1 << 15
"""Containers and objects to enter besides modules: a model may hold its training data."""
_MAX_ITEMS = 4096
"""Items of one of these that are looked into."""


class ObjectSnapshot:
    """Remembers attributes and containers, however deep they are nested, and restores them. Copies no tensors."""

    def __init__(self, model: Any, inputs: Any) -> None:
        """Remember what a model, which may be any callable, and its arguments hold."""
        self._tensors: dict[int, Tensor] = {}
        """All that were found, by id."""
        self._modules: list[tuple[nn.Module, type]] = []
        self._dicts: list[dict[Any, Any]] = []
        """Attributes of objects, and plain dicts."""
        self._copies: list[dict[Any, Any]] = []
        """Shallow copies of them."""
        self._contents: list[tuple[Any, Any]] = []
        """Other containers, with shallow copies of their content."""
        self._empty: list[Any] = []
        """Containers without content: most hooks of most modules."""
        self._first: list[Any] = []
        """Modules and the dicts of their weights and modules, still to be entered: however many, all are."""
        self._may_hold_state: Callable[[type], bool] = functools.cache(_may_hold_state)
        found: dict[int, Any] = {}  # keeps what was entered alive, so that ids stay unique
        pending: list[Any] = [inputs, model, *(used_by(model).values() if isinstance(model, FunctionType) else ())]
        left = _MAX_OBJECTS
        while self._first or (pending and left):
            most = None if self._first else _MAX_ITEMS
            left -= not self._first
            value = (self._first or pending).pop()
            if id(value) not in found:
                found[id(value)] = value
                try:  # noqa: SIM105 (`contextlib.suppress` takes as long as the rest)
                    self._sort([*self._enter(value, type(value))][:most], pending)
                except Exception:  # noqa: BLE001, S110 (whatever the user's own class does)
                    pass

    @property
    def tensors(self) -> list[Tensor]:
        """All tensors that were found."""
        return list(self._tensors.values())

    def restore(self) -> None:
        """Restore everything."""
        for module, class_ in self._modules:
            if type(module) is not class_:  # lazy modules change their class
                attempt(object.__setattr__, module, "__class__", class_)
        if not _are_unchanged(self._dicts, self._copies):
            self._contents += zip(self._dicts, self._copies, strict=True)
        for container, content in self._contents:
            attempt(restore_content, container, content)
        for container in filter(None, self._empty):
            attempt(container.clear)

    def _sort(self, items: list[Any], pending: list[Any]) -> None:
        """Keep items in the lists of what is still to be entered, unless nothing is inside."""
        for item in reversed(items):
            kind = type(item)
            if kind in PLAIN_TENSORS:
                self._tensors[id(item)] = item
            elif kind in _CONTAINERS and not item:
                self._empty.append(item)
            elif kind not in PLAIN_VALUES:
                (self._first if issubclass(kind, nn.Module) else pending).append(item)

    def _enter(self, value: Any, kind: type) -> Iterable[Any]:  # noqa: PLR0911 (one return per kind)
        """Remember a value; return what it holds."""
        if issubclass(kind, Tensor):
            self._tensors[id(value)] = value
            return ()
        if issubclass(kind, nn.Module):
            self._modules.append((value, kind))
            held = map(vars(value).get, _HOLDING)
            self._first += [each for each in held if each and type(each) is dict]
            in_cpp = (*value.parameters(), *value.buffers()) if issubclass(kind, torch.jit.ScriptModule) else ()
            return [*in_cpp, *self._copy(vars(value))]
        if issubclass(kind, _MUTABLE):
            return [*self._copy(value), *(() if kind in _CONTAINERS else self._enter_object(value))]
        if issubclass(kind, tuple):
            return tuple.__iter__(value)
        if issubclass(kind, functools.partial):
            return value.func, value.args, value.keywords
        if issubclass(kind, MethodType):
            return (value.__self__,)
        return self._enter_object(value) if self._may_hold_state(kind) else ()

    def _enter_object(self, value: Any) -> Iterable[Any]:
        attributes = getattr(value, "__dict__", None)
        return self._copy(attributes) if type(attributes) is dict else ()

    def _copy(self, container: Any) -> Iterable[Any]:
        """Copy the content of a container; return its items."""
        if type(container) is dict:
            self._dicts.append(container)
            self._copies.append(container.copy())
            return container.values()
        base = _base_of(container)
        content = dict(base.items(container)) if issubclass(base, dict) else list(base.__iter__(container))
        self._contents.append((container, content))
        return content.values() if isinstance(content, dict) else content


def _may_hold_state(class_: type) -> bool:
    """Whether objects of a class are plain ones: none of torch's or Python's, which may be in step with a thread."""
    for base in list_bases(class_)[:-1]:
        package, _, rest = find_module(base).partition(".")
        if package in LIBRARIES and _STATEFUL.isdisjoint({package, rest.partition(".")[0]}):
            return False
    return True


def _are_unchanged(dicts: Sequence[dict[Any, Any]], copies: Sequence[dict[Any, Any]]) -> bool:
    """Whether all dicts still hold what their copies hold, compared in one pass because almost none changes."""
    try:
        if list(map(list, dicts)) != list(map(list, copies)):
            return False
    except Exception:  # noqa: BLE001 (a user's keys)
        return False
    chain = itertools.chain.from_iterable
    return all(map(operator.is_, chain(map(dict.values, dicts)), chain(map(dict.values, copies))))


def restore_content(container: Any, before: Any) -> None:
    """Restore the content of a container, past what its own class makes of its methods."""
    base = _base_of(container)
    is_same = base.__len__(container) == len(before) and all(map(operator.is_, base.__iter__(container), before))
    if issubclass(base, dict):
        if not (is_same and all(map(operator.is_, base.values(container), before.values()))):
            base.clear(container)
            for key, value in before.items():
                base.__setitem__(container, key, value)
    elif not is_same:
        base.clear(container)
        (set.update if base is set else base.extend)(container, before)


def _base_of(container: Any) -> Any:
    kind = type(container)
    return kind if kind in _CONTAINERS else next(base for base in _MUTABLE if issubclass(kind, base))


def attempt(run: Callable[..., Any], *args: Any) -> None:
    """Restore something; where that fails, say so and go on."""
    try:
        run(*args)
    except Exception as error:  # noqa: BLE001 - whatever the user's own class does
        name = getattr(run, "__qualname__", "") + "".join(f" {type(arg).__name__}" for arg in args[:1])
        _log.warning("A trace could not restore something (%s): %s", name, type(error).__name__)
