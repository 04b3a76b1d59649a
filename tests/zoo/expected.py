"""What a person would call models of the zoo with, and whether what was found is of that kind.

``expected.toml`` has a line for a model, in this notation: statements, with ``;`` between them.

=============================  ========================================================================================
``image: f B 1/3 H W``         the input is a tensor of floats (``i`` of whole numbers, ``b`` of bools, ``c`` of complex
                               numbers, ``fb`` of one of them) with these sizes; one in capitals is the same wherever it
                               is named, and sane: see `RANGES`; ``H`` and ``W`` are alike
``T=8..64``, ``4*T+1``, ``3``  sizes in a range, of others, and fixed ones
``x: f B dim``                 lower case is an argument of the constructor; ``config.dim`` is inside of one
``mask?: b B T | f B T T``     it may be left out; it may have either form
``n 1..1000``, ``s``, ``none`` other forms: a plain number, a string, None; ``any``
``batch.image: …``             inside of a dict, an object or a list; ``images.*: …`` is every item
``#columns``                   as many as the argument has items
``heads=1..16``, ``act=relu``  an argument of the constructor
=============================  ========================================================================================
"""

from __future__ import annotations

import inspect
import itertools
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

EXPECTED = {
    f"inference_zoo.{file}.{name}": line
    for file, models in tomllib.loads((Path(__file__).parent / "expected.toml").read_text()).items()
    for name, line in models.items()
}
"""Path of a model → what a person would call it with."""
RANGES = {"B": (1, 2), "H": (16, 1024), "W": (16, 1024)}
"""Sane sizes by the name's first letter."""
OTHERWISE = (4, 4096)
_KINDS = {"f": "float", "i": "int", "b": "bool", "c": "complex"}
_NAME = re.compile(r"#?[A-Za-z_][\w.]*")
_RANGE = re.compile(r"(?P<least>-?[\d.]+?)\.\.(?P<most>[\d.]*)")


@dataclass(frozen=True)
class Shown:
    """A tensor of a call."""

    kind: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """One call: its inputs, and what the model was made with; plain data and `Shown`."""

    inputs: dict[str, Any]
    arguments: dict[str, Any] = field(default_factory=dict)


def shape_of_call(forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any], arguments: dict[str, Any]) -> Shape:
    """What a model is called with.

    Args:
        forward: Its names are those of the inputs.
        args: By position.
        kwargs: By name.
        arguments: Of the constructor.
    """
    bound = inspect.signature(forward).bind_partial(*args, **kwargs).arguments
    return Shape({name: _described(value) for name, value in bound.items()}, _described(arguments))


def _described(value: Any, depth: int = 6) -> Any:
    inside = depth - 1
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        kind = re.search(r"float|int|bool|complex", str(value.dtype))
        return Shown(kind[0] if kind else "", tuple(value.shape))
    if isinstance(value, dict):
        return {str(key): _described(item, inside) for key, item in value.items()}
    if isinstance(value, list | tuple):
        names = getattr(value, "_fields", range(len(value)))
        return {str(key): _described(item, inside) for key, item in zip(names, value, strict=True)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    is_open = depth and hasattr(value, "__dict__")
    return {key: _described(item, inside) for key, item in vars(value).items()} if is_open else str(value)


def untruths(line: str, call: Shape) -> list[str]:
    """What a person would not choose; empty if all is as expected.

    Args:
        line: What is expected.
        call: What was found.
    """
    statements = [statement.strip() for statement in line.split(";")]
    wrong = [text for each in statements if ":" not in each for text in _wrong_argument(each, call.arguments)]
    inputs = [each.split(":", 1) for each in statements if ":" in each]
    named = {path.strip().partition(".")[0].rstrip("?") for path, _ in inputs}
    wrong += [f"{name} is given" for name, value in call.inputs.items() if name not in named and value is not None]
    choices = [choice for path, text in inputs for choice in _choices(path.strip(), text, call)]
    every = itertools.product(*choices)
    return wrong + min((_mismatches(chosen, call.arguments) for chosen in every), key=len)


def _wrong_argument(statement: str, arguments: dict[str, Any]) -> list[str]:
    name, _, allowed = statement.partition("=")
    value = _at(arguments, name)
    return [] if _is_allowed(value, allowed) else [f"{name} = {value}, not {allowed}"]


def _is_allowed(value: Any, allowed: str) -> bool:
    if match := _RANGE.fullmatch(allowed):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and float(match["least"]) <= value <= float(match["most"] or "inf")
    return str(value) in allowed.split("/")


Form = tuple[str, str, Any]
"""Path, expected form and value."""


def _choices(path: str, text: str, call: Shape) -> list[list[Form]]:
    """For each value that a path means: the forms that it may have."""
    values = _all_at(call.inputs, path.rstrip("?"))
    forms = [*map(str.strip, text.split("|")), *(["none"] if path.endswith("?") else [])]
    if not values and not path.endswith("?"):
        values = [(path, None)]
    return [[(where, form, value) for form in forms] for where, value in values]


def _mismatches(chosen: Iterable[Form], arguments: dict[str, Any]) -> list[str]:
    sizes: dict[str, int] = {}
    wrong = [text for each in chosen for text in _mismatch(*each, sizes, arguments)]
    sides = [sizes[name] for name in ("H", "W") if name in sizes]
    return wrong if len({*sides}) <= 1 else [*wrong, f"sides of {sides[0]} and {sides[1]}"]


def _mismatch(path: str, form: str, value: Any, sizes: dict[str, int], arguments: dict[str, Any]) -> list[str]:
    kind, *dimensions = form.split()
    if kind in {"none", "any", "s", "n"}:
        is_right = _is_plain(kind, value) and all(_fits(value, text, sizes, arguments) for text in dimensions)
    else:
        is_right = isinstance(value, Shown) and value.kind in {_KINDS[letter] for letter in kind}
        is_right = is_right and len(value.shape) == len(dimensions)
        pairs = zip(value.shape, dimensions, strict=True) if is_right else ()
        is_right = is_right and all(_fits(size, text, sizes, arguments) for size, text in pairs)
    shown = f"{value.kind} {[*value.shape]}" if isinstance(value, Shown) else value
    return [] if is_right else [f"{path} is {shown}, not {form}"]


def _is_plain(kind: str, value: Any) -> bool:
    if kind == "n":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return kind == "any" or (value is None if kind == "none" else isinstance(value, str))


def _fits(size: int, text: str, sizes: dict[str, int], arguments: dict[str, Any]) -> bool:
    """Whether a size is as expected; one that is named for the first time becomes known."""
    name, _, allowed = text.partition("=")
    if _NAME.fullmatch(name) and name[0].isupper() and name not in sizes:
        sizes[name] = size
        least, most = RANGES.get(name[0], OTHERWISE)
        return _is_allowed(size, allowed) if allowed else least <= size <= most
    if _RANGE.fullmatch(text):
        return _is_allowed(size, text)
    known = _NAME.sub(lambda match: _known(match[0], sizes, arguments), name)
    return any(size == _computed(each) for each in re.split(r"(?<!/)/(?!/)", known))


def _known(name: str, sizes: dict[str, int], arguments: dict[str, Any]) -> str:
    """A size by its name; ``#name`` is how many items an argument has."""
    value = sizes.get(name, _at(arguments, name.lstrip("#")))
    return str(len(value) if name.startswith("#") and isinstance(value, dict) else value)


def _computed(text: str) -> Any:
    """The number that an expression of numbers says."""
    return eval(text, {"__builtins__": {}}) if re.fullmatch(r"\d[\d+*/() -]*", text) else None  # noqa: S307


def _at(value: Any, path: str) -> Any:
    """What is at a dotted path; None if nothing is."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _all_at(value: Any, path: str) -> list[tuple[str, Any]]:
    """All that a dotted path with stars means, each with its own path."""
    found = [("", value)]
    for key in path.split("."):
        inside = [(f"{name}.{each}", item) for name, outer in found for each, item in _items(outer)]
        found = [(name, item) for name, item in inside if key in {"*", name.rpartition(".")[2]}]
    return [(name.lstrip("."), item) for name, item in found]


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    """What is inside of a value; of a tensor, its rows."""
    if isinstance(value, Shown):
        return [(str(row), Shown(value.kind, value.shape[1:])) for row in range(value.shape[0] if value.shape else 0)]
    return value.items() if isinstance(value, dict) else ()
