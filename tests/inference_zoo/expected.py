"""What a person would call models of the zoo with, and whether what was found is of that kind.

``expected.toml`` has a line for a model, in this notation: statements, with ``;`` between them.

=====================  =============================================================================================
``image: f B 3 H W``   the input is a tensor of floats (``i`` of whole numbers, ``b`` of bools, ``fb`` of either) with
                       these sizes; one in capitals is the same wherever it is named, and in `RANGES`
``T=8..64``, ``1/3``   sizes in a range, and one of several
``x: f B 4*dim``       lower case is an argument of the constructor; ``config.dim`` is inside of one
``mask?: b B T``       it may be left out
``x: f B T | i B T``   it may have either form; ``n`` is a plain number, ``s`` a string, ``any`` anything
``batch.image: …``     inside of a dict, an object or a list; ``images.*: …`` is every item
``heads=1..16``        an argument of the constructor
=====================  =============================================================================================
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import yaml
from torch import Tensor

if TYPE_CHECKING:
    from inference_zoo import Entry
    from modeldiagrams.resolve import Target

RANGES = {"B": "1..2", "H": "16..1024", "W": "16..1024"}
"""Sane sizes; all others have a range of their own."""
OTHERWISE = "4..4096"
_KINDS = {"f": "float", "i": "int", "b": "bool", "c": "complex"}


@dataclass(frozen=True)
class Shown:
    """A tensor of a call."""

    kind: str
    shape: tuple[int, ...]


Call = tuple[dict[str, Any], dict[str, Any]]
"""Inputs, and arguments of the constructor: dotted path → plain value or `Shown`."""


def call_of(entry: Entry, target: Target) -> Call:
    """What a model was made and called with: defaults, options, and what was assumed."""
    parameters = inspect.signature(pkgutil.resolve_name(entry.path)).parameters.values()
    arguments = {p.name: p.default for p in parameters if p.default is not p.empty} | entry.options.get("kwargs", {})
    assumed = {each.subject: each.value for each in target.assumptions}
    arguments |= {name[7:]: yaml.safe_load(value) for name, value in assumed.items() if name.startswith("kwargs.")}
    bound = inspect.signature(target.model.forward).bind_partial(*target.args, **target.kwargs)
    return _flat(bound.arguments), _flat(arguments)


def _flat(value: Any, place: str = "") -> dict[str, Any]:
    if isinstance(value, Tensor):
        kind = re.search("|".join(_KINDS.values()), str(value.dtype))
        return {place: Shown(kind[0] if kind else "", tuple(value.shape))}
    items = dict(enumerate(value)) if isinstance(value, list | tuple) else value
    if isinstance(items, dict) and items:
        inside = [_flat(item, f"{place}.{key}".lstrip(".")) for key, item in items.items()]
        return {name: item for each in inside for name, item in each.items()}
    return {place: value} if place else {}


def untruths(line: str, call: Call) -> list[str]:
    """What a person would not choose; empty if all is as expected.

    Args:
        line: What is expected.
        call: What was found.
    """
    inputs, arguments = call
    statements = [statement.strip() for statement in line.split(";")]
    forms = {name.strip(): text for name, _, text in (each.partition(":") for each in statements if ":" in each)}
    sizes: dict[str, int] = {}
    wrong = []
    for name, text in forms.items():
        found = [(place, value) for place, value in inputs.items() if fnmatchcase(place, name.rstrip("?"))]
        found = [each for each in found if not (name.endswith("?") and each[1] is None)]
        wrong += [] if found or name.endswith("?") else [f"{name} is missing"]
        wrong += [
            f"{place} is {value}, not {text.strip()}"
            for place, value in found
            if not any(_has_form(value, form.split(), sizes, arguments) for form in text.split("|"))
        ]
    known = [name.rstrip("?") for name in forms]
    given = [place for place, value in inputs.items() if value is not None]
    wrong += [f"{place} is given" for place in given if not any(fnmatchcase(place, name) for name in known)]
    pairs = [each.partition("=")[::2] for each in statements if ":" not in each]
    return wrong + [
        f"{name} is {arguments.get(name)}, not {allowed}"
        for name, allowed in pairs
        if not _is_allowed(arguments.get(name), allowed)
    ]


def _has_form(value: Any, form: list[str], sizes: dict[str, int], arguments: dict[str, Any]) -> bool:
    kind, *dimensions = form
    if not isinstance(value, Shown):
        plain = {"n": (int, float), "s": str, "any": object}.get(kind, ())
        return isinstance(value, plain) and all(_is_allowed(value, text) for text in dimensions)
    before = dict(sizes)
    fits = value.kind in {_KINDS.get(letter) for letter in kind} and len(value.shape) == len(dimensions)
    fits = fits and all(_fits(size, text, sizes, arguments) for size, text in zip(value.shape, dimensions, strict=True))
    if not fits:
        sizes.clear()
        sizes |= before
    return fits or kind == "any"


def _fits(size: int, text: str, sizes: dict[str, int], arguments: dict[str, Any]) -> bool:
    """Whether a size is as expected; one that is named for the first time becomes known."""
    name, _, allowed = text.partition("=")
    if re.fullmatch("[A-Z]", name) and name not in sizes:
        sizes[name] = size
        return _is_allowed(size, allowed or RANGES.get(name, OTHERWISE))
    if ".." in text:
        return _is_allowed(size, text)
    number = re.sub(r"[A-Za-z_][\w.]*", lambda match: str((arguments | sizes).get(match[0])), name)
    return any(_computed(each) == size for each in number.split("/"))


def _computed(text: str) -> Any:
    """The number that an expression of numbers says."""
    return eval(text, {"__builtins__": {}}) if re.fullmatch(r"\d[\d+*() -]*", text) else None  # noqa: S307


def _is_allowed(value: Any, allowed: str) -> bool:
    least, between, most = allowed.partition("..")
    if not between:
        return str(value) in allowed.split("/")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and float(least) <= value <= float(most or "inf")
