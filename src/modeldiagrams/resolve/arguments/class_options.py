"""Classes and modules that a constructor could be given: those beside the model, then usual ones."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.arguments.forward_results import (
    gives_several,
    is_unfinished,
    returns_what_is_used,
    uses_several,
)
from modeldiagrams.resolve.code.annotations import annotations_of, without_none
from modeldiagrams.resolve.code.forward import VARIADIC, parameters_of
from modeldiagrams.resolve.code.frames import tracebacks
from modeldiagrams.resolve.code.source import classes_written, names_beside, nodes_of, path_of, source_of
from modeldiagrams.resolve.names.conventions import required_parameters
from modeldiagrams.resolve.names.vocabulary import is_listed, usual, with_last_layer, words_of, written_out
from modeldiagrams.resolve.values.locate import locate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from modeldiagrams.resolve.arguments.stand_in_numbers import Slot

__all__ = [
    "classes_for",
    "constants_for",
    "distributions_for",
    "is_read_as_one_of",
    "items_read",
    "kinds_of",
    "modules_for",
    "modules_with",
    "names_of_classes",
    "rule_out_class",
    "sounds_like",
]

_CONTAINERS = (nn.ModuleDict, nn.ModuleList)
_SHORTEST_WORD = 3
_GENERAL = ("net", "network", "model", "module", "layer")
"""Words that say of no module which one it is."""
_MOST_OTHERS = 3
"""Modules of another name that are tried."""


def classes_for(
    name: str,
    call: tuple[int, tuple[str, ...]],
    names: Mapping[str, Any],
    members: Collection[str] = (),
    cells: Collection[str] = (),
) -> list[Any]:
    """What could be called in this way to make a layer, as options.

    Args:
        name: Of the argument.
        call: Number of positional arguments, and names of the others.
        names: The globals of the code that calls it.
        members: What is read of it.
        cells: Paths of recurrent layers as which those are called that it makes.
    """
    own = [class_ for class_ in classes_beside(names, nn.Module) if _takes(class_, call)]
    own = [class_ for class_ in own if all(hasattr(class_, member) for member in members)] or own
    own = [class_ for class_ in own if not is_unfinished(class_)]
    own.sort(key=lambda class_: not _sounds_like(name, class_))
    likely = [class_ for class_ in own if _sounds_like(name, class_) or _is_likely(class_, call)]
    general = [{"_object_": path} for path in usual("classes", name)]
    named = len(usual("classes", name)) > len(usual("classes", "-"))
    ours = [{"_object_": path_of(class_)} for class_ in likely]
    if cells and not any(_sounds_like(name, class_) for class_ in own):
        ours = [*({"_object_": path} for path in cells), *ours]
        named = False
    others = [{"_object_": path_of(class_)} for class_ in own if class_ not in likely]
    return [*general, *ours, *others] if named else [*ours, *general, *others]


def _is_likely(class_: type, call: tuple[int, tuple[str, ...]]) -> bool:
    """Whether a class requires some of what it is given by position, and makes layers that give a tensor."""
    return (not call[0] or bool(required_parameters(class_))) and not gives_several(class_)


def kinds_of(base: type, names: Mapping[str, Any]) -> list[type]:
    """Classes that are no models: a base and those beside it that are of its kind, last what takes any names."""
    known = [
        class_ for class_ in {base: 0, **dict.fromkeys(classes_beside(names, base))} if not inspect.isabstract(class_)
    ]
    return sorted(known or [base], key=_takes_any_names)


def _takes_any_names(class_: type) -> bool:
    return {p.kind for p in parameters_of(class_).values()} == {inspect.Parameter.VAR_KEYWORD}


def modules_for(slot: Slot, base: type, general: list[Any]) -> list[Any]:
    """Modules that an argument could be, as options without their own arguments.

    Args:
        slot: The argument.
        base: What they have to be.
        general: Modules that are made up.
    """
    if base in _CONTAINERS:
        return [_container(base, general[0])]
    own, around = (_suiting(known(slot.names, base), slot) for known in (classes_beside, classes_around))
    alike = [class_ for class_ in [*own, *around] if _sounds_like(slot.name, class_)] if base is nn.Module else [*own]
    alike = [*dict.fromkeys([*_with_members(members_read(slot.makers[-1:], slot.name), around, alike), *alike])]
    if base is not nn.Module and not own and "<" not in base.__qualname__:
        alike = [base]
    other = [class_ for class_ in own if class_ not in alike] if slot.is_called_in_forward else []
    return [
        *({"_target_": path_of(class_)} for class_ in alike),
        *(general if base is nn.Module else []),
        *({"_target_": path_of(class_)} for class_ in other[:_MOST_OTHERS]),
    ] or [{"_target_": path_of(base)}]


def _container(base: type, part: Any) -> dict[str, Any]:
    """A list or a dict of modules, with two of a kind."""
    other = deepcopy(part)  # YAML writes the same one twice as a reference
    parts = {"first": part, "second": other} if base is nn.ModuleDict else [part, other]
    return {"_target_": f"torch.nn.{base.__name__}", "_args_": [parts]}


def _suiting(classes: list[type], slot: Slot) -> list[type]:
    """Those that suit; one that is given such a thing itself only where no other gives several tensors as wanted."""
    suiting = [class_ for class_ in classes if _suits(class_, slot)]
    plain = [class_ for class_ in suiting if not _is_around(class_, slot.name)]
    is_needed = uses_several(slot.makers, slot.name) and not any(_sounds_like(slot.name, class_) for class_ in plain)
    return suiting if is_needed else plain


def _suits(class_: type, slot: Slot) -> bool:
    """Whether a class can be called as an argument is, has what is read of it, and isn't what it is an argument of."""
    inputs, names = slot.call if slot.is_called_in_forward else (0, ())
    forward = getattr(class_, "forward", None)
    is_called_so = not (inputs or names) or forward is None or _takes(forward, (inputs + 1, names))
    has_needs = not slot.needs or {*slot.needs} <= members_of(class_)
    is_possible = class_ not in slot.makers and not (inspect.isabstract(class_) or is_unfinished(class_))
    is_possible = is_possible and returns_what_is_used(class_, slot.makers, slot.name)
    return is_possible and is_called_so and has_needs


def _is_around(class_: type, name: str) -> bool:
    """Whether a class is given such a thing itself: one that takes an encoder is none."""
    last = words_of(name)[-1:]
    return any(last and words_of(p.name)[-1:] == last for p in required_parameters(class_))


def modules_with(member: str, name: str, names: Mapping[str, Any], without: tuple[Any, ...]) -> list[Any]:
    """Modules that have a part: the project's that sounds like the argument and takes one input, then one made up."""
    own = [
        class_ for class_ in classes_around(names, nn.Module) if class_ not in without and _sounds_like(name, class_)
    ]
    fitting = [class_ for class_ in own if member in members_of(class_) and _takes_one_input(class_)]
    return [*({"_target_": path_of(class_)} for class_ in fitting), *with_last_layer(member)]


def distributions_for(slot: Slot) -> list[Any]:
    """Distributions: the project's, then one of rows of features and one of single numbers."""
    members = members_read(slot.makers[-1:], slot.name)
    own = _with_members(members, _suiting(classes_around(slot.names, nn.Module), slot), [])
    zeros = {"_target_": "torch.zeros", "_args_": [slot.width]}
    rows = {
        "_target_": "torch.distributions.MultivariateNormal",
        "_args_": [zeros, {"_target_": "torch.eye", "_args_": [slot.width]}],
    }
    numbers = {"_target_": "torch.distributions.Normal", "_args_": [0.0, 1.0]}
    return [*({"_target_": path_of(class_)} for class_ in own), rows, numbers]


def _takes_one_input(class_: type[nn.Module]) -> bool:
    required = [p for p in parameters_of(class_.forward).values() if p.default is p.empty]
    return len(required) == len(("self", "x"))


def is_read_as_one_of(name: str, names: Mapping[str, Any], makers: tuple[Any, ...]) -> bool:
    """Whether several things are read of an argument, and a class of the project has all of them."""
    members = members_read(makers[-1:], name)
    around = [class_ for class_ in classes_around(names, nn.Module) if class_ not in makers]
    return len(members) > 1 and bool(_with_members(members, around, []))


def _with_members(members: set[str], classes: list[type], likelier: list[type]) -> list[type]:
    """Classes that have everything that is read of an argument."""
    fitting = [class_ for class_ in classes if members and members <= members_of(class_)]
    return sorted(fitting, key=lambda class_: class_ not in likelier)


def names_of_classes(slot: Slot, names: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the modules' classes in a namespace, those first that sound like an argument."""
    own = [class_ for class_ in classes_beside(names, nn.Module) if class_ not in slot.makers]
    own.sort(key=lambda class_: not _sounds_like(slot.name, class_))
    return tuple(class_.__name__ for class_ in own if names.get(class_.__name__) is class_)


def rule_out_class(error: BaseException, refused: Slot, known: Iterable[Slot]) -> bool:
    """Rule out a class that was only tried for an argument and wants others than it got; tell whether there is one.

    Args:
        error: What the constructor raised.
        refused: The argument that it can't use.
        known: All arguments.
    """
    running = [trace.tb_frame.f_code for trace in tracebacks(error)]
    for slot in known if not is_listed("configurations", refused.name) else ():
        option = slot.option() if slot.kind == "class" and slot is not refused else None
        path = option.get("_object_", "") if isinstance(option, dict) else ""
        tried = locate(path) if path and not path.startswith("torch.") and len(slot.options()) > 1 else None
        is_running = inspect.isclass(tried) and getattr(tried.__init__, "__code__", None) in running
        if tried is not None and is_running and not _sounds_like(slot.name, tried):
            slot.unfit.add(path)
            return True
    return False


def _takes(class_: Any, call: tuple[int, tuple[str, ...]]) -> bool:
    count, keywords = call
    parameters = parameters_of(class_)
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
    """Whether a word of an argument's name is part of another name, in full where it is abbreviated."""
    return any(word in other.lower() for word in _telling_words(name))


def _telling_words(name: str) -> list[str]:
    words = [word for word in words_of(name) if len(word) >= _SHORTEST_WORD]
    telling = [word for word in words if word not in _GENERAL] or words
    each = [word.removesuffix("s") for word in telling if not word.endswith("ss")]  # one of `heads` is a `MaskHead`
    several = [word for word in each if word not in _GENERAL]
    return [written_out(word) for word in (*telling, *several)]


_SET = re.compile(r"self\.(\w+)\s*(?=[,=:])|register_(?:buffer|parameter)\(\s*[\"'](\w+)")


def classes_beside(names: Mapping[str, Any], base: type) -> list[type]:
    """Classes in a module's globals that are no part of PyTorch."""
    return [
        value
        for value in names.values()
        if inspect.isclass(value)
        and issubclass(value, base)
        and not value.__module__.startswith("torch.")
        and "<" not in value.__qualname__
    ]


def classes_around(names: Mapping[str, Any], base: type) -> list[type]:
    """Those of a module, of the modules of its package that it imports from, and of the packages it is in."""
    module = str(names.get("__name__", ""))
    package = module.partition(".")[0]
    own = classes_beside(names, base)
    sources = [class_.__module__ for class_ in own if class_.__module__.partition(".")[0] == package]
    parents = [module.rsplit(".", count)[0] for count in range(1, module.count(".") + 1)]
    others = [sys.modules[name] for name in dict.fromkeys([*sources, *parents]) if name in sys.modules]
    return [*dict.fromkeys([*own, *(each for other in others for each in classes_beside(vars(other), base))])]


def constants_for(maker: Any) -> dict[str, Any]:
    """Required arguments for which the module of a class has something of the same name: ``SCHEMA`` for ``schema``.

    A number or a string may be anything; a list, a mapping, a configuration or a module is what it is called. A class
    is not, where the argument is annotated with it: then it is an instance.
    """
    names = names_beside(maker)
    by_word = {name.lower(): name for name, value in names.items() if _is_data(value)}
    wanted = [p.name for p in parameters_of(maker).values() if p.default is p.empty and p.kind not in VARIADIC]
    module, hints = getattr(maker, "__module__", ""), annotations_of(maker)
    found = {name: by_word[name.lower()] for name in wanted if name.lower() in by_word}
    others = {name: word for name, word in found.items() if without_none(hints.get(name)) is not names[word]}
    return {name: {"_object_": f"{module}.{word}"} for name, word in others.items()}


def _is_data(value: Any) -> bool:
    is_own_class = inspect.isclass(value) and not issubclass(value, nn.Module) and value.__module__ != "builtins"
    return is_own_class or isinstance(value, nn.Module) or (isinstance(value, list | dict | tuple) and bool(value))


def members_read(makers: tuple[Any, ...], name: str) -> set[str]:
    """Attributes that a class or function reads of one of its arguments, but for those that all modules have."""
    found = {member for maker in makers for member in _read_of(maker, name)}
    return {member for member in found if not hasattr(nn.Module, member)}


def items_read(makers: tuple[Any, ...], name: str) -> int:
    """How many items a class or function reads of what goes by a name: ``param[:4]``, ``param[5]``."""
    counts = [0]
    for maker in makers:
        for node in nodes_of(maker):
            match node:
                case ast.Subscript(value=ast.Name(id=owner) | ast.Attribute(attr=owner), slice=index) if owner == name:
                    counts += _reached(index)
    return max(counts)


def _reached(index: ast.expr) -> list[int]:
    match index:
        case ast.Constant(value=int() as at):
            return [at + 1]
        case ast.Slice(upper=ast.Constant(value=int() as end)):
            return [end]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as end)):
            return [end]
    return []


def _read_of(maker: Any, name: str) -> Iterator[str]:
    for node in nodes_of(maker):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=member) if owner == name:
                yield member
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=owner), attr=member):
                if owner == name:
                    yield member


@functools.cache
def members_of(class_: type) -> set[str]:
    """Attributes of a class and those that its methods set."""
    found = set(dir(class_))
    for owner in classes_written(class_):
        found |= {one or other for one, other in _SET.findall(source_of(owner))}
    return found
