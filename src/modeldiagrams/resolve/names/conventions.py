"""Usual values of constructor parameters with well-known names (rule 3)."""

from __future__ import annotations

import inspect
import re
from enum import Enum
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.code.forward import VARIADIC, get_parameters
from modeldiagrams.resolve.names.vocabulary import find_project_value, find_value, get_table, matches_any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "find_configuration_class",
    "find_likely_value",
    "find_needed_arguments",
    "find_unset_fields",
    "find_usual_arguments",
    "list_required_parameters",
]

_FITTING = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}
"""Annotation → types of values that it allows."""
_REQUIRED = re.compile(r"_*(required|mandatory)_*", re.IGNORECASE)
_PLAIN = {"int": 4, "float": 0.5, "bool": False}
"""Annotation → a value for a hint."""


def list_required_parameters(found: Callable[..., Any]) -> list[inspect.Parameter]:
    """Parameters without a default value, in order; none if a signature can't be read."""
    known = [p for p in get_parameters(found).values() if p.kind not in VARIADIC]
    return [p for p in known if p.default is p.empty or _is_mark(p.default, found)]


def _is_mark(default: Any, found: Callable[..., Any]) -> bool:
    """Whether a default only says that a configuration has to give a value: ``width=REQUIRED``."""
    if type(default).__module__ == "builtins" and type(default) is not object:
        return default is ... or default == "???"
    function = inspect.unwrap(found.__init__ if inspect.isclass(found) else found)
    names = getattr(function, "__globals__", {})
    return any(value is default and _REQUIRED.fullmatch(name) for name, value in names.items())


def find_usual_arguments(found: Callable[..., Any]) -> dict[str, Any] | None:
    """Keyword arguments for all required parameters.

    Args:
        found: A class or a factory.

    Returns:
        Parameter → plain value; None if one of them has no conventional name, or can't be passed by name.
    """
    arguments: dict[str, Any] = {}
    for parameter in list_required_parameters(found):
        value = _conventional(parameter)
        if value is None or parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            return None
        arguments[parameter.name] = value
    return _as_residual_block(found, arguments)


def _as_residual_block(found: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """What goes into a block of a ResNet is as wide as what comes out: its planes, times its `expansion`."""
    expansion, planes = getattr(found, "expansion", None), arguments.get("planes")
    wide = [name for name in arguments if re.fullmatch("in_?planes", name)]
    if type(expansion) is int and isinstance(planes, int):
        return {**arguments, **dict.fromkeys(wide, expansion * planes)}
    return arguments


def find_needed_arguments(found: Callable[..., Any], given: dict[str, Any], error: str) -> dict[str, Any]:
    """Keyword arguments for optional parameters, after a call without them failed.

    Args:
        found: A class or a factory.
        given: The keyword arguments of that call.
        error: What it raised. Parameters with the default None that it names get their conventional value.

    Returns:
        Parameter → plain value; also for weights that are fetched by default, which the values turn off.
    """
    more: dict[str, Any] = {}
    for name, parameter in get_parameters(found).items():
        default = parameter.default
        if name in given:
            continue
        value = _conventional(parameter)
        if (
            isinstance(default, bool | str | Enum)
            and default is not False
            and matches_any(get_table("fetched_weights"), name)
        ):
            more[name] = False if default is True else None
        elif default is None and value is not None and re.search(rf"\b{re.escape(name)}\b", error):
            more[name] = value
    return more


def find_unset_fields(maker: Any, error: str) -> dict[str, Any]:
    """Likely values for fields that an error names and whose default is None or negative.

    Args:
        maker: A class of configurations.
        error: What making the model raised.
    """
    error = re.sub(r"\[[^\]]*\]", "", error)  # shapes and ranges, as of a view that leaves a size open
    unset = [p for p in get_parameters(maker).values() if p.default is None or _is_below_zero(p.default)]
    named = [p for p in unset if re.search(rf"\b{re.escape(p.name)}\b", error)] or [
        p for p in unset if _is_below_zero(p.default) and re.search(rf"(?<![\w.]){p.default}(?![\w.])", error)
    ]
    found = {p.name: find_likely_value(p) for p in named}
    return {name: value for name, value in found.items() if value is not None}


def _is_below_zero(value: Any) -> bool:
    return type(value) in (int, float) and value < 0


def find_likely_value(parameter: inspect.Parameter) -> Any:
    """A value for a hint, by name or annotation; None if there is none."""
    value = _conventional(parameter)
    required = re.sub(r"^(?:typing\.)?Optional\[(\w+)\]$|^(\w+) \| None$", r"\1\2", _written(parameter.annotation))
    return _PLAIN.get(required) if value is None else value


def find_configuration_class(found: Callable[..., Any]) -> type | None:
    """The annotation of the only required parameter, if all fields of that class have defaults."""
    required = list_required_parameters(found)
    if len(required) != 1 or not re.fullmatch(
        r"\w*(config|configuration|cfg|args|hparams|params|settings)", required[0].name
    ):
        return None
    annotation = _annotation(found, required[0])
    if not inspect.isclass(annotation) or annotation.__module__ == "builtins" or list_required_parameters(annotation):
        return None
    return None if annotation is inspect.Parameter.empty else annotation


def _annotation(found: Any, parameter: inspect.Parameter) -> Any:
    """A parameter's annotation; text (``from __future__ import annotations``) is looked up."""
    annotation = parameter.annotation
    if not isinstance(annotation, str):
        return annotation
    function = found.__init__ if inspect.isclass(found) else found
    return getattr(inspect.unwrap(function), "__globals__", {}).get(annotation.strip("'\""))


def _written(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "") or str(annotation)


def _conventional(parameter: inspect.Parameter) -> Any:
    """The conventional value; None if there is none."""
    annotation = parameter.annotation
    name = parameter.name.lower()
    own = find_project_value("arguments", name)
    if own is not None and annotation is inspect.Parameter.empty:
        return own
    if re.search(r"(list|tuple|sequence|iterable)", str(annotation).lower()):
        return _as_long_as_said(find_value("constructor_lists", name), str(annotation))
    known = find_value("constructor_parameters", name)
    if known is None and annotation is inspect.Parameter.empty:
        known = find_value("constructor_lists", name) if name.endswith("s") else None
    return known if type(known) in _FITTING.get(_written(annotation), (type(known),)) else None


def _as_long_as_said(value: Any, annotation: str) -> Any:
    """A list of equal items has as many as its annotation says: ``Tuple[int, int, int]``."""
    said = re.search(r"[Tt]uple\[(\w+(?:, *\w+)*)\]", annotation)
    count = len(said[1].split(",")) if said else 0
    if not count or not isinstance(value, list) or len(value) == count:
        return value
    return value[:1] * count if len({*map(repr, value)}) == 1 else None
