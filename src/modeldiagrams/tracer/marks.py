"""A trace leaves no mark: what a forward changes is put back, also when it raised."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.tracer.belongings import ATOMS, KINDS, Belongings, Dicts, put_back, stand_in
from modeldiagrams.tracer.internals import announced_backward, modules_of
from modeldiagrams.tracer.keeper import Keeper
from modeldiagrams.tracer.settings import same_settings
from modeldiagrams.tracer.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

__all__ = ["untouched"]

_CONTAINERS = frozenset(KINDS)
_SLOTS = list(vars(nn.Module()))
"""The attributes that every module has, as they begin nearly every module's."""
_REGISTRIES = [_SLOTS.index(name) for name in ("_parameters", "_buffers", "_modules")]
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
        self._attributes: list[Dicts] = []
        self._slots: list[Any] = []
        """What modules hold in `_SLOTS`: most of it are empty containers for hooks."""
        self._filled: set[int] = set()
        """Which of these hold something."""
        self._empty: list[Any] = []
        """Other containers that are empty."""
        self._add(modules)
        for value in call[bool(modules) :]:  # what is called, if it is no module, and with what: a cache
            self.belongings.add(value)
        known = set(map(id, modules))
        while self.belongings.modules:
            held = self.belongings.modules.pop()
            found = {id(inner): inner for _, inner in modules_of(held)} if id(held) not in known else {}
            self._add([inner for key, inner in found.items() if key not in known])
            known.update(found)
        self.belongings.close()
        self._classes = list(map(type, self.modules))
        if self.belongings.iterators:
            self._replace_iterators()

    def _add(self, modules: Sequence[nn.Module]) -> None:
        attributes = Dicts(list(map(vars, modules)))
        self.modules += modules
        self._attributes.append(attributes)
        slots, own = _split(attributes)
        self._slots += slots
        self._filled.update(map(id, filter(None, slots)))
        for i in _REGISTRIES:
            registries = slots[i :: len(_SLOTS)]
            self.belongings.dicts += filter(None, registries)
            slots[i :: len(_SLOTS)] = [None] * len(registries)
        add = self.belongings.add
        for value in (*filter(None, slots), *own):
            kind = type(value)
            if kind in _CONTAINERS:
                if value:
                    add(value)
                else:
                    self._empty.append(value)
            elif kind not in ATOMS and (kind is not tuple or not ATOMS.issuperset(map(type, value))):
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
        for attributes in self._attributes:
            attributes.restore()
        self.belongings.restore()
        filled = [slot for slot in filter(None, self._slots) if id(slot) not in self._filled]
        for container in (*filled, *filter(None, self._empty)):
            if type(container) in _CONTAINERS:
                container.clear()


def _split(attributes: Dicts) -> tuple[list[Any], list[Any]]:
    """The values of `_SLOTS` of modules that begin with these, one module after the other; and all other values."""
    slots, own, keys, values = [], [], attributes.keys, attributes.values
    start = 0
    for length in attributes.lengths:
        middle, end = start + len(_SLOTS), start + length
        if keys[start:middle] != _SLOTS:  # something was set before `nn.Module.__init__` ran
            middle = start
        slots += values[start:middle]
        own += values[middle:end]
        start = end
    return slots, own
