"""Lists classes and modules to try for an argument: those next to the model, then usual ones."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.code.forward import VARIADIC, get_parameters
from modeldiagrams.resolve.code.parameter_annotations import get_annotations, strip_optional
from modeldiagrams.resolve.code.running_code import list_tracebacks
from modeldiagrams.resolve.code.source import (
    get_module_globals,
    get_path,
    get_source,
    list_own_bases,
    parse_source,
    walk_source,
)
from modeldiagrams.resolve.names.conventions import list_required_parameters
from modeldiagrams.resolve.names.vocabulary import (
    expand_abbreviation,
    find_rows,
    is_a_width,
    is_listed,
    list_usual_values,
    split_words,
)
from modeldiagrams.resolve.values.locate import locate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from modeldiagrams.resolve.arguments.stand_ins import Slot

__all__ = [
    "HELD_FOR",
    "WITH",
    "find_constants",
    "is_read_as_one_of",
    "list_classes",
    "list_modules",
    "list_subclasses",
    "list_usual_modules",
    "rule_out_class",
    "sounds_like",
]

_CONTAINERS = (nn.ModuleDict, nn.ModuleList)
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
    own = [class_ for class_ in own if not is_unfinished(class_)]
    own.sort(key=lambda class_: not _sounds_like(name, class_))
    likely = [class_ for class_ in own if _sounds_like(name, class_) or _is_likely(class_, call)]
    general = [{"_object_": path} for path in list_usual_values("classes", name)]
    named = len(list_usual_values("classes", name)) > len(list_usual_values("classes", "-"))
    ours = [{"_object_": get_path(class_)} for class_ in likely]
    others = [{"_object_": get_path(class_)} for class_ in own if class_ not in likely]
    return [*general, *ours, *others] if named else [*ours, *general, *others]


def _is_likely(class_: type, call: tuple[int, tuple[str, ...]]) -> bool:
    """Whether a class requires some of what it is given by position."""
    return not call[0] or bool(list_required_parameters(class_))


def list_subclasses(base: type, names: Mapping[str, Any]) -> list[type]:
    """A base class and its subclasses in the same module; classes that accept any keyword come last."""
    known = [
        class_
        for class_ in {base: 0, **dict.fromkeys(find_sibling_classes(names, base))}
        if not inspect.isabstract(class_)
    ]
    return sorted(known or [base], key=_takes_any_names)


def _takes_any_names(class_: type) -> bool:
    return {p.kind for p in get_parameters(class_).values()} == {inspect.Parameter.VAR_KEYWORD}


def list_modules(slot: Slot, base: type, general: list[Any]) -> list[Any]:
    """Modules to try for an argument, as options without their own arguments.

    Args:
        slot: The argument.
        base: What they have to be.
        general: Modules that are made up.
    """
    if base in _CONTAINERS:
        return [_container(base, general[0])]
    own, around = (_suiting(known(slot.names, base), slot) for known in (find_sibling_classes, find_package_classes))
    alike = [class_ for class_ in [*own, *around] if _sounds_like(slot.name, class_)] if base is nn.Module else [*own]
    alike = [*dict.fromkeys([*_with_members(find_members_read(slot.makers[-1:], slot.name), around, alike), *alike])]
    if base is not nn.Module and not own and "<" not in base.__qualname__:
        alike = [base]
    other = [class_ for class_ in own if class_ not in alike] if slot.is_called_in_forward else []
    return [
        *({"_target_": get_path(class_)} for class_ in alike),
        *(general if base is nn.Module else []),
        *({"_target_": get_path(class_)} for class_ in other[:_MOST_OTHERS]),
    ] or [{"_target_": get_path(base)}]


def _container(base: type, part: Any) -> dict[str, Any]:
    """A list or a dict of modules, with two of a kind."""
    other = deepcopy(part)  # YAML writes the same one twice as a reference
    parts = {"first": part, "second": other} if base is nn.ModuleDict else [part, other]
    return {"_target_": f"torch.nn.{base.__name__}", "_args_": [parts]}


def _suiting(classes: list[type], slot: Slot) -> list[type]:
    """Classes that suit; not wrappers, which take such a module themselves."""
    return [class_ for class_ in classes if _suits(class_, slot) and not _is_around(class_, slot.name)]


def _suits(class_: type, slot: Slot) -> bool:
    """Whether a class can be called as an argument is, has what is read of it, and isn't what it is an argument of."""
    inputs, names = slot.call if slot.is_called_in_forward else (0, ())
    forward = getattr(class_, "forward", None)
    is_called_so = not (inputs or names) or forward is None or _takes(forward, (inputs + 1, names))
    has_needs = not slot.needs or {*slot.needs} <= list_members(class_)
    is_possible = class_ not in slot.makers and not (inspect.isabstract(class_) or is_unfinished(class_))
    return is_possible and is_called_so and has_needs


def _is_around(class_: type, name: str) -> bool:
    """Whether a class is given such a thing itself: one that takes an encoder is none."""
    last = split_words(name)[-1:]
    return any(last and split_words(p.name)[-1:] == last for p in list_required_parameters(class_))


def is_read_as_one_of(name: str, names: Mapping[str, Any], makers: tuple[Any, ...]) -> bool:
    """Whether a class of the project has all the attributes that are read from an argument."""
    members = find_members_read(makers[-1:], name)
    around = [class_ for class_ in find_package_classes(names, nn.Module) if class_ not in makers]
    return len(members) > 1 and bool(_with_members(members, around, []))


def _with_members(members: set[str], classes: list[type], likelier: list[type]) -> list[type]:
    """Classes that have everything that is read of an argument."""
    fitting = [class_ for class_ in classes if members and members <= list_members(class_)]
    return sorted(fitting, key=lambda class_: class_ not in likelier)


def rule_out_class(error: BaseException, refused: Slot, known: Iterable[Slot]) -> bool:
    """Rule out a class that was tried for an argument and raised; return whether there was one.

    Args:
        error: What the constructor raised.
        refused: The argument that it can't use.
        known: All arguments.
    """
    running = [trace.tb_frame.f_code for trace in list_tracebacks(error)]
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


_SET = re.compile(r"self\.(\w+)\s*(?=[,=:])|register_(?:buffer|parameter)\(\s*[\"'](\w+)")


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


def find_constants(maker: Any) -> dict[str, Any]:
    """Module-level values with the name of a required argument: ``SCHEMA`` for ``schema``.

    A number or a string may be anything; a list, a mapping, a configuration or a module is what it is called. A class
    is not, where the argument is annotated with it: then it is an instance.
    """
    names = get_module_globals(maker)
    by_word = {name.lower(): name for name, value in names.items() if _is_data(value)}
    wanted = [p.name for p in get_parameters(maker).values() if p.default is p.empty and p.kind not in VARIADIC]
    module, hints = getattr(maker, "__module__", ""), get_annotations(maker)
    found = {name: by_word[name.lower()] for name in wanted if name.lower() in by_word}
    others = {name: word for name, word in found.items() if strip_optional(hints.get(name)) is not names[word]}
    return {name: {"_object_": f"{module}.{word}"} for name, word in others.items()}


def _is_data(value: Any) -> bool:
    is_own_class = inspect.isclass(value) and not issubclass(value, nn.Module) and value.__module__ != "builtins"
    return is_own_class or isinstance(value, nn.Module) or (isinstance(value, list | dict | tuple) and bool(value))


def find_members_read(makers: tuple[Any, ...], name: str) -> set[str]:
    """Attributes that a class or function reads from an argument, except those of every module."""
    found = {member for maker in makers for member in _read_of(maker, name)}
    return {member for member in found if not hasattr(nn.Module, member)}


def _read_of(maker: Any, name: str) -> Iterator[str]:
    for node in walk_source(maker):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=member) if owner == name:
                yield member
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=owner), attr=member):
                if owner == name:
                    yield member


@functools.cache
def list_members(class_: type) -> set[str]:
    """Attributes of a class, including those that its methods set."""
    found = set(dir(class_))
    for owner in list_own_bases(class_):
        found |= {one or other for one, other in _SET.findall(get_source(owner))}
    return found


def is_unfinished(class_: type) -> bool:
    """Whether the forward of a class only raises an error."""
    function = next(iter(parse_source(getattr(class_, "forward", None)).body), None)
    body = (
        [each for each in function.body if not isinstance(each, ast.Expr)]
        if isinstance(function, ast.FunctionDef)
        else []
    )
    return bool(body) and isinstance(body[0], ast.Raise)


WITH = "modeldiagrams.resolve.objects.with_attributes"
"""Makes a module that has more attributes than its class."""
HELD_FOR = "_modeldiagrams_held_for"
"""Attribute of a module with the argument that it was made for; copies of the module have it, too."""
_WIDTH = "<width>"
_TABLE, _ROWS = nn.Embedding, 100


def list_usual_modules(slot: Slot) -> list[Any]:
    """Usual modules for an argument, as options, likeliest first."""
    numbers = [need.option() for need in slot.needs.values() if need.kind == "number"] or [*_widths_inside(slot)]
    is_map = any("channels" in name for name in slot.needs)
    rows = [row for row in find_rows("modules", slot.name) if _inputs(row) <= max(1, slot.call[0])]
    rows.sort(key=lambda row: (_inputs(row) != _inputs_of(slot), is_map and row.get("gives") != "map"))
    width = next((number for number in numbers if type(number) is int), slot.width)
    made = [_filled(row["value"], width) for row in rows]
    if not slot.needs:
        return made
    alike = [{"_target_": f"torch.nn.{_TABLE.__name__}", "_args_": [_ROWS, width]}] if _is_table(slot) else []
    return [*alike, *({"_target_": WITH, "_args_": [body]} for body in made)]


def _is_table(slot: Slot) -> bool:
    """Whether all that is read of a module are sizes of a table: ``words.embedding_dim``."""
    return {*slot.needs} <= {*_TABLE.__constants__}


def _widths_inside(slot: Slot) -> Iterator[Any]:
    """Widths that are read of a module's configuration: ``bert.config.hidden_size``."""
    for need in slot.needs.values():
        for inner in need.children.values() if need.kind == "fields" else ():
            if inner.kind == "number" and is_a_width(inner.name):
                yield inner.option()


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
