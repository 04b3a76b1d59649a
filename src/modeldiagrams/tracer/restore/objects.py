"""Snapshot of Python objects: attributes of modules, and the containers and plain objects that these hold."""

from __future__ import annotations

import contextlib
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
from modeldiagrams.tracer.torch_facts.private_api import PLAIN_TENSORS, PLAIN_VALUES, bookkeeping_of, own_attributes
from modeldiagrams.tracer.values.traced_callables import used_by

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

__all__ = ["LIBRARIES", "MUTABLE", "ObjectSnapshot", "attempt"]

_log = logging.getLogger(__name__)

LIBRARIES = frozenset({"torch", "numpy", *sys.stdlib_module_names})
"""Packages whose classes and functions hold no state of a model."""
_STATEFUL = frozenset({"abc", "amp", "collections", "optim", "types", "typing", "weakref"})
"""Exceptions (of torch, its subpackages): optimizers, `types.SimpleNamespace`, `UserDict`, bases of user classes."""
MUTABLE: tuple[Any, ...] = (OrderedDict, dict, list, set, deque)
"""Containers with content to restore."""
_CONTAINERS = frozenset(MUTABLE)
_EASY = PLAIN_TENSORS | PLAIN_VALUES
_MAX_OBJECTS = 1 << 15
"""A model may hold its training data."""
_MAX_ITEMS = 4096
"""Items of one container that are looked into."""


class ObjectSnapshot:
    """Remembers attributes and containers, however deep they are nested, and restores them. Copies no tensors."""

    def __init__(self, model: Any, inputs: Any, modules: Sequence[tuple[str, nn.Module]] = ()) -> None:
        """Remember.

        Args:
            model: A module, or any callable.
            inputs: Its arguments.
            modules: What `modules_of` says of the model; others are found one by one.
        """
        self._tensors: dict[int, Tensor] = {}
        """All that were found, by id."""
        self._modules: list[tuple[nn.Module, type]] = []
        self._dicts: list[dict[Any, Any]] = []
        """Attributes and plain dicts."""
        self._copies: list[dict[Any, Any]] = []
        """Shallow copies of them."""
        self._contents: list[tuple[Any, Any]] = []
        """Other containers, with shallow copies of them."""
        self._empty: list[Any] = []
        """Containers without content: most hooks of most modules."""
        self._found: dict[int, Any] = {}
        """What was looked into, kept alive so that ids stay unique."""
        self._pending: list[Any] = [inputs, model]
        if isinstance(model, FunctionType):
            self._pending += used_by(model).values()
        with contextlib.suppress(Exception):  # one that is not as usual: they are found one by one
            self._add_modules(list({id(module): module for _, module in modules}.values()))
        pending, found = self._pending, self._found
        adders: dict[int, Callable[[Any], object]] = {}  # by id of the class, which may be unhashable
        while pending and len(found) < _MAX_OBJECTS:
            value = pending.pop()
            if (key := id(value)) not in found:
                found[key] = value
                kind = type(value)
                try:
                    add = adders.get(id(kind))
                    if add is None:
                        add = adders[id(kind)] = self._adder(kind)
                    add(value)
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

    def _adder(self, kind: type) -> Callable[[Any], object]:  # noqa: PLR0911 (one return per kind)
        """What adds objects of a class."""
        if issubclass(kind, Tensor):
            return lambda value: self._tensors.update({id(value): value})
        if issubclass(kind, nn.Module):
            return self._add_scripted_module if issubclass(kind, torch.jit.ScriptModule) else self._add_module
        if issubclass(kind, MUTABLE):
            return self._add_dict if kind is dict else self._add_container
        if issubclass(kind, tuple):
            return lambda value: self._add_items(tuple(tuple.__iter__(value)))
        if issubclass(kind, functools.partial):
            return lambda value: self._pending.extend((value.func, value.args, value.keywords))
        if issubclass(kind, MethodType):
            return lambda value: self._pending.append(value.__self__)
        return self._add_attributes if _may_hold_state(kind) else id  # nothing to add

    def _add_modules(self, modules: list[nn.Module]) -> None:
        """Several modules at once: most hold little else than what every module has, and nearly all of it is empty."""
        containers = bookkeeping_of(modules)
        filled = [held for held in containers if held]
        values = self._remember([held for held in filled if type(held) is dict])
        tensors = [value for value in values if type(value) in PLAIN_TENSORS]
        known = set(map(id, modules))
        self._remember([vars(module) for module in modules])
        self._pending += [value for value in values if type(value) not in _EASY and id(value) not in known]
        self._pending += [held for held in filled if type(held) is not dict]
        for module in modules:
            if held := own_attributes(module):
                self._add_items([value for _, value in held])
        self._tensors.update(zip(map(id, tensors), tensors, strict=True))
        self._empty += itertools.filterfalse(None, containers)
        self._modules += zip(modules, map(type, modules), strict=True)
        self._found.update(zip(map(id, modules), modules, strict=True))

    def _add_module(self, module: nn.Module) -> None:
        self._modules.append((module, type(module)))
        self._add_dict(vars(module))

    def _add_scripted_module(self, module: nn.Module) -> None:
        self._add_module(module)
        self._pending += (*module.parameters(), *module.buffers())  # they are in C++

    def _add_dict(self, value: dict[Any, Any]) -> None:
        self._add_items(self._remember([value]))

    def _remember(self, dicts: list[dict[Any, Any]]) -> list[Any]:
        """Copy dicts; what they hold."""
        self._dicts += dicts
        self._copies += map(dict.copy, dicts)
        return [*itertools.chain.from_iterable(map(dict.values, dicts))]

    def _add_container(self, value: Any) -> None:
        base = _base_of(value)
        items = dict(base.items(value)) if issubclass(base, dict) else list(base.__iter__(value))
        self._contents.append((value, items))
        self._add_items(items.values() if isinstance(items, dict) else items)
        if type(value) not in _CONTAINERS:
            self._add_attributes(value)

    def _add_items(self, items: Collection[Any]) -> None:
        if PLAIN_VALUES.issuperset(map(type, items)):
            return
        found = []
        for item in items:
            kind = type(item)
            if kind in _CONTAINERS and not item:
                self._empty.append(item)
            elif kind not in PLAIN_VALUES:
                found.append(item)
        self._pending += found[_MAX_ITEMS - 1 :: -1]

    def _add_attributes(self, value: Any) -> None:
        attributes = getattr(value, "__dict__", None)
        if type(attributes) is dict:
            self._add_dict(attributes)


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
    return kind if kind in _CONTAINERS else next(base for base in MUTABLE if issubclass(kind, base))


def attempt(run: Callable[..., Any], *args: Any) -> None:
    """Restore something; where that fails, say so and go on."""
    try:
        run(*args)
    except Exception as error:  # noqa: BLE001 - whatever the user's own class does
        name = getattr(run, "__qualname__", "") + "".join(f" {type(arg).__name__}" for arg in args[:1])
        _log.warning("A trace could not restore something (%s): %s", name, type(error).__name__)
