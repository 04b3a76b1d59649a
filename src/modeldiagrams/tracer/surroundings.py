"""The classes of a model and the Python modules that define them: what a forward may set there."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.tracer.belongings import KINDS, MAX_DEPTH, MAX_ITEMS, Belongings, is_looked_into
from modeldiagrams.tracer.internals import classes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

__all__ = ["Surroundings", "owners_of"]

_LIBRARIES = frozenset({"torch", *sys.stdlib_module_names})
_TORCH: tuple[type | ModuleType, ...] = (torch.nn.functional, torch.Tensor, torch.nn.Module)
"""Where models exchange functions of torch's. New names there stay: an import, which is not done again, brings them."""
_CONTAINERS = frozenset({*KINDS, Counter, defaultdict})
_NOTHING = object()


class Surroundings:
    """Remembers what names are bound to, and what is in plain containers among these, and puts it back."""

    def __init__(self, owners: Sequence[type | ModuleType]) -> None:
        """Remember.

        Args:
            owners: As `owners_of` gives them.
        """
        own = [owner for owner in owners if is_looked_into(_python_module(owner))]
        self._bound = [(owner, vars(owner).copy()) for owner in (*own, *_TORCH)]
        self._belongings = Belongings()
        kinds = _CONTAINERS | _random_generators()
        for _, names in self._bound[: len(own)]:
            for value in names.values():
                if type(value) in kinds and not (type(value) in _CONTAINERS and len(value) > MAX_ITEMS):
                    self._belongings.add(value, MAX_DEPTH)

    def restore(self) -> None:
        """Put everything back."""
        for owner, before in self._bound:
            if not _is_equal(vars(owner), before):
                _bind(owner, vars(owner).copy(), before)
        self._belongings.restore()


def owners_of(model: Any, modules: Sequence[tuple[str, nn.Module]]) -> list[type | ModuleType]:
    """The classes of a model's modules with their bases, the Python modules where these are written, and their helpers.

    Helpers are the user's own modules that those import, whole or a function of.
    """
    classes = [class_ for class_ in classes_of(modules or [("", model)]) if class_ is not object]
    names = dict.fromkeys([*(class_.__module__ for class_ in classes), getattr(model, "__module__", None)])
    own = [sys.modules[name] for name in names if name in sys.modules]
    helpers = {name for module in own if _is_users(module) for name in _imported(module)}.difference(names)
    loaded = [sys.modules[name] for name in sorted(helpers) if name in sys.modules]
    return [*classes, *own, *filter(_is_users, loaded)]


def _imported(module: ModuleType) -> set[str]:
    """Names of the modules that a module imports, whole or a function of."""
    values = list(vars(module).values())
    functions = {value.__module__ for value in values if isinstance(value, FunctionType)}
    return functions | {value.__name__ for value in values if isinstance(value, ModuleType)}


def _is_users(module: ModuleType) -> bool:
    """Whether a module is of no installed package: those remember costly things that are no tensors."""
    file = getattr(module, "__file__", None) or ""
    return "/site-packages/" not in file and module.__name__.partition(".")[0] not in _LIBRARIES


def _bind(owner: type | ModuleType, now: dict[str, Any], before: dict[str, Any]) -> None:
    put: Any = type.__setattr__ if isinstance(owner, type) else ModuleType.__setattr__
    remove: Any = type.__delattr__ if isinstance(owner, type) else ModuleType.__delattr__
    for name, value in before.items():
        if now.get(name, _NOTHING) is not value:
            put(owner, name, value)
    if owner not in _TORCH:
        for name in now.keys() - before.keys():
            if not isinstance(now[name], ModuleType) and not name.startswith("__"):  # an import; what Python notes
                remove(owner, name)


def _is_equal(now: Any, before: Any) -> bool:
    """Whether all names are bound to what they were, which Python looks at first; or to what says it is equal."""
    try:
        return bool(now == before)
    except Exception:  # noqa: BLE001 - tensors, arrays, classes of the user's own
        return False


def _python_module(owner: type | ModuleType) -> str:
    return owner.__module__ if isinstance(owner, type) else owner.__name__


def _random_generators() -> set[type]:
    numpy = sys.modules.get("numpy")
    return {torch.Generator, random.Random} | ({numpy.random.Generator, numpy.random.RandomState} if numpy else set())
