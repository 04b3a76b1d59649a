"""Lists classes and modules to try for an argument: those next to the model, then usual ones."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.code.source import (
    get_path,
)
from modeldiagrams.resolve.names.vocabulary import (
    expand_abbreviation,
    find_rows,
    list_usual_values,
    split_words,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from modeldiagrams.resolve.arguments.argument_stubs import Slot

__all__ = ["list_classes", "list_modules", "list_subclasses", "sounds_like"]

_SHORTEST_WORD = 3
_GENERAL = ("net", "network", "model", "module", "layer")
"""Words that say of no module which one it is."""
_MOST_OTHERS = 3
"""Modules of another name that are tried."""


def list_classes(
    name: str,
    call: tuple[int, tuple[str, ...]],
    names: Mapping[str, Any],
    members: Collection[str] = (),
) -> list[Any]:
    """Classes that can be called in this way to make a layer, as options.

    Args:
        name: Of the argument.
        call: Number of positional arguments, and names of the others.
        names: The globals of the code that calls it.
        members: What is read of it.
    """
    own = [class_ for class_ in find_sibling_classes(names, nn.Module) if _takes(class_, call)]
    own = [class_ for class_ in own if all(hasattr(class_, member) for member in members)] or own
    likely = [class_ for class_ in own if _sounds_like(name, class_)]
    general = [{"_object_": path} for path in list_usual_values("classes", name)]
    named = len(list_usual_values("classes", name)) > len(list_usual_values("classes", "-"))
    ours = [{"_object_": get_path(class_)} for class_ in likely]
    others = [{"_object_": get_path(class_)} for class_ in own if class_ not in likely]
    return [*general, *ours, *others] if named else [*ours, *general, *others]


def list_subclasses(base: type, names: Mapping[str, Any]) -> list[type]:
    """A base class and its subclasses in the same module."""
    known = dict.fromkeys([base, *find_sibling_classes(names, base)])
    return [class_ for class_ in known if not inspect.isabstract(class_)] or [base]


def list_modules(slot: Slot, base: type) -> list[Any]:
    """Modules to try for an argument, as options without their own arguments.

    Args:
        slot: The argument.
        base: What they have to be.
    """
    own, around = (
        [class_ for class_ in known(slot.names, base) if _suits(class_, slot)]
        for known in (find_sibling_classes, find_package_classes)
    )
    if base is not nn.Module:
        return [{"_target_": get_path(class_)} for class_ in own or [base]]
    alike = dict.fromkeys(class_ for class_ in (*own, *around) if _sounds_like(slot.name, class_))
    other = [class_ for class_ in own if class_ not in alike] if slot.is_called_in_forward else []
    return [
        *({"_target_": get_path(class_)} for class_ in alike),
        *_list_usual_modules(slot),
        *({"_target_": get_path(class_)} for class_ in other[:_MOST_OTHERS]),
    ]


def _suits(class_: type, slot: Slot) -> bool:
    """Whether a class can be called as an argument is, and isn't what it is an argument of."""
    inputs, names = slot.call if slot.is_called_in_forward else (0, ())
    forward = getattr(class_, "forward", None)
    is_called_so = not (inputs or names) or forward is None or _takes(forward, (inputs + 1, names))
    return class_ not in slot.makers and not inspect.isabstract(class_) and is_called_so


def _takes(class_: Any, call: tuple[int, tuple[str, ...]]) -> bool:
    count, keywords = call
    parameters = get_parameters(class_)
    try:
        inspect.Signature([*parameters.values()]).bind(*[0] * count, **dict.fromkeys(keywords, 0))
    except TypeError:
        return False
    return True


def _sounds_like(name: str, class_: type) -> bool:
    """Whether a word of the class's name begins as one of the argument's, or one of its base's: no autoencoder does."""
    bases = [each for each in class_.__mro__[1:] if issubclass(each, nn.Module) and _is_own(each)]
    return any(_begins_alike(name, each.__name__) for each in (class_, *bases))


def _is_own(class_: type) -> bool:
    return not class_.__module__.startswith("torch.")


def _begins_alike(name: str, other: str) -> bool:
    places = [at for at, letter in enumerate(other) if at == 0 or letter.isupper() or other[at - 1] == "_"]
    return any(other[at:].lower().startswith(word) for word in _telling_words(name) for at in places)


def sounds_like(name: str, other: str) -> bool:
    """Whether a word of an argument's name occurs in another name; abbreviations are expanded."""
    return any(word in other.lower() for word in _telling_words(name))


def _telling_words(name: str) -> list[str]:
    words = [word for word in split_words(name) if len(word) >= _SHORTEST_WORD]
    telling = [word for word in words if word not in _GENERAL] or words
    each = [word.removesuffix("s") for word in telling if not word.endswith("ss")]  # one of `heads` is a `MaskHead`
    several = [word for word in each if word not in _GENERAL]
    return [expand_abbreviation(word) for word in (*telling, *several)]


def find_sibling_classes(names: Mapping[str, Any], base: type) -> list[type]:
    """Classes in a module's globals that are not part of PyTorch."""
    return [
        value
        for value in names.values()
        if inspect.isclass(value)
        and issubclass(value, base)
        and not value.__module__.startswith("torch.")
        and "<" not in value.__qualname__
    ]


def find_package_classes(names: Mapping[str, Any], base: type) -> list[type]:
    """Classes of a module, of the modules it imports from its package, and of the packages around it."""
    module = str(names.get("__name__", ""))
    package = module.partition(".")[0]
    own = find_sibling_classes(names, base)
    sources = [class_.__module__ for class_ in own if class_.__module__.partition(".")[0] == package]
    parents = [module.rsplit(".", count)[0] for count in range(1, module.count(".") + 1)]
    others = [sys.modules[name] for name in dict.fromkeys([*sources, *parents]) if name in sys.modules]
    return [*dict.fromkeys([*own, *(each for other in others for each in find_sibling_classes(vars(other), base))])]


_WIDTH = "<width>"


def _list_usual_modules(slot: Slot) -> list[Any]:
    """Usual modules for an argument, as options, likeliest first."""
    rows = [row for row in find_rows("modules", slot.name) if _inputs(row) <= max(1, slot.call[0])]
    rows.sort(key=lambda row: _inputs(row) != _inputs_of(slot))
    return [_filled(row["value"], slot.width) for row in rows]


def _inputs(row: dict[str, Any]) -> int:
    return int(row.get("inputs", 1))


def _inputs_of(slot: Slot) -> int:
    """How many inputs it is called with, where a made-up module takes as many."""
    return max(1, min(int(slot.call[0]), 2))


def _filled(entry: Any, width: int) -> Any:
    match entry:
        case str() if entry == _WIDTH:
            return width
        case dict():
            return {key: _filled(item, width) for key, item in entry.items()}
        case list():
            return [_filled(item, width) for item in entry]
    return entry
