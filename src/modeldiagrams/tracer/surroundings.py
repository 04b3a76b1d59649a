"""The classes of a model and the Python modules that define them: what a forward may set there."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.tracer.belongings import MAX_DEPTH, MAX_ITEMS, Belongings, home_of, is_looked_into, put_back
from modeldiagrams.tracer.internals import classes_of
from modeldiagrams.tracer.names import CONTAINERS, bind, is_users, loaded, names_in, python_module, watched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

__all__ = ["Surroundings", "owners_of"]

_TORCH: tuple[type | ModuleType, ...] = (torch.nn.functional, torch.Tensor, torch.nn.Module)
"""Where models exchange functions of torch's. New names there stay: an import, which is not done again, brings them."""
_NOTHING = object()


class Surroundings:
    """Remembers what names are bound to, and what is in plain containers among these, and puts it back."""

    def __init__(self, owners: Sequence[type | ModuleType]) -> None:
        """Remember.

        Args:
            owners: As `owners_of` gives them.
        """
        own = [owner for owner in owners if is_looked_into(python_module(owner))]
        self._bound = [(owner, names_in(owner).copy()) for owner in (*own, *_TORCH)]  # type: ignore[attr-defined]
        self._tensors: list[tuple[type | ModuleType, str, Any]] = []
        self._belongings = Belongings()
        for owner, names in self._bound[: len(own)]:
            for name in watched(owner).holders:
                value = names[name]
                if isinstance(value, torch.Tensor):
                    self._tensors.append((owner, name, value))
                elif type(value) not in CONTAINERS or len(value) <= MAX_ITEMS:
                    self._belongings.add(value, MAX_DEPTH)
        self._belongings.close()

    def restore(self) -> None:
        """Put everything back."""
        for owner, before in self._bound:
            if not _is_equal(names_in(owner), before):
                _bind(owner, dict(names_in(owner)), before)
        for owner, name, tensor in self._tensors:  # may be equal to others
            if names_in(owner).get(name) is not tensor:
                put_back(bind, owner, name, tensor)
        self._belongings.restore()


def owners_of(model: Any, modules: Sequence[tuple[str, nn.Module]]) -> list[type | ModuleType]:
    """The classes of a model's modules with their bases, the Python modules where these are written, and their helpers.

    Helpers are the user's own modules that those import, whole or a function of.
    """
    classes = [class_ for class_ in classes_of(modules or [("", model)]) if class_ is not object]
    names = dict.fromkeys([*map(home_of, classes), str(getattr(model, "__module__", None))])
    own = loaded(names)
    helpers = {name for module in own if is_users(module) for name in _imported(module)}.difference(names)
    return [*classes, *own, *filter(is_users, loaded(sorted(helpers)))]


def _imported(module: ModuleType) -> set[str]:
    """Names of the modules that a module imports, whole or a function of."""
    values = list(names_in(module).values())
    functions = {str(value.__module__) for value in values if type(value) is FunctionType}
    return functions | {python_module(value) for value in values if issubclass(type(value), ModuleType)}


def _bind(owner: type | ModuleType, now: dict[str, Any], before: dict[str, Any]) -> None:
    for name, value in before.items():
        if now.get(name, _NOTHING) is not value:
            put_back(bind, owner, name, value)
    if not any(owner is torchs for torchs in _TORCH):
        remove: Any = type.__delattr__ if isinstance(owner, type) else ModuleType.__delattr__
        for name in now.keys() - before.keys():
            if not isinstance(now[name], ModuleType) and not name.startswith("__"):  # an import; what Python notes
                put_back(remove, owner, name)


def _is_equal(now: Any, before: Any) -> bool:
    """Whether all names are bound to what they were, which Python looks at first; or to what says it is equal."""
    try:
        return bool(now == before)
    except Exception:  # noqa: BLE001 - tensors, arrays, classes of the user's own
        return False
