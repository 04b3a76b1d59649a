"""A trace leaves no mark: what a forward changes is put back, also when it raised."""

from __future__ import annotations

import contextlib
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

from modeldiagrams.tracer.belongings import ATOMS, Belongings, put_back, put_dicts, stand_in
from modeldiagrams.tracer.internals import announced_backward, modules_of
from modeldiagrams.tracer.keeper import Keeper
from modeldiagrams.tracer.settings import same_settings
from modeldiagrams.tracer.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from torch import nn

__all__ = ["untouched"]

_CONTAINERS = frozenset({dict, OrderedDict, list, set, deque})
_REGISTRIES = frozenset({"_parameters", "_buffers", "_modules"})
"""What is in these is known."""


@contextlib.contextmanager
def untouched(
    model: Any, modules: Sequence[tuple[str, nn.Module]], owners: Sequence[type | ModuleType], inputs: Any
) -> Iterator[Keeper]:
    """Undo, at the end, all that a forward pass changes in the model, its inputs, the random state and the settings.

    Args:
        model: A module, or any callable.
        modules: All of the model's, itself included; empty for other callables.
        owners: Its classes and the Python modules that define them.
        inputs: Its arguments.
    """
    states = _ModuleStates((model, inputs), list({id(module): module for _, module in modules}.values()))
    keeper = Keeper(states.modules, inputs, states.belongings.tensors)
    with contextlib.ExitStack() as undo:
        for restore in (keeper.restore, states.restore, Surroundings(owners).restore):
            undo.callback(put_back, restore)
        undo.enter_context(same_settings())
        if keeper.has_grads:
            undo.enter_context(announced_backward(keeper.before_backward))
        yield keeper


class _ModuleStates:
    """The attributes of modules and what is in them: hooks, parameters, caches, generators of random numbers."""

    def __init__(self, call: tuple[Any, Any], modules: Sequence[nn.Module]) -> None:
        self.modules: list[nn.Module] = []
        """Also those held in lists, by objects, by functions."""
        self.belongings = Belongings()
        self._attributes: list[dict[str, Any]] = []
        self._empty: list[Any] = []
        """Most containers: they are for hooks."""
        self._add(modules)
        for value in call[bool(modules) :]:  # what is called, if it is no module, and with what: a cache
            self.belongings.add(value)
        known = set(map(id, modules))
        while self.belongings.modules:
            held = self.belongings.modules.pop()
            found = {id(inner): inner for _, inner in modules_of(held)} if id(held) not in known else {}
            self._add([inner for key, inner in found.items() if key not in known])
            known.update(found)
        self._classes = list(map(type, self.modules))
        if self.belongings.iterators:
            self._replace_iterators()

    def _add(self, modules: Sequence[nn.Module]) -> None:
        attributes = [vars(module).copy() for module in modules]
        self.modules += modules
        self._attributes += attributes
        empty, add, dicts = self._empty.append, self.belongings.add, self.belongings.dicts
        for values in attributes:
            for key, value in values.items():
                kind = type(value)
                if kind in ATOMS:
                    continue
                if kind in _CONTAINERS:
                    if not value:
                        empty(value)
                    elif key in _REGISTRIES:
                        dicts.append((value, value.copy()))
                    else:
                        add(value)
                elif kind is not tuple or not ATOMS.issuperset(map(type, value)):  # else nearly all that is left
                    add(value)

    def _replace_iterators(self) -> None:
        """Let the forward go on with others: how far these are cannot be set back."""
        others = {id(iterator): stand_in(iterator) for iterator in self.belongings.iterators}
        for attributes in map(vars, self.modules):
            attributes.update({key: others[id(value)] for key, value in attributes.items() if id(value) in others})

    def restore(self) -> None:
        for module, class_ in zip(self.modules, self._classes, strict=True):
            if type(module) is not class_:
                put_back(object.__setattr__, module, "__class__", class_)  # lazy modules turn into others
        put_dicts(list(zip(map(vars, self.modules), self._attributes, strict=True)))
        for container in filter(None, self._empty):
            container.clear()
        self.belongings.restore()
