"""Values for constructor parameters without a default (rule 3), by names with an unmistakable convention."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.forward import VARIADIC, parameters_of
from modeldiagrams.target.inference.names import value_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["conventional_arguments", "required_parameters"]

_FITTING = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}
"""Annotation → types of values that it allows."""


def required_parameters(found: Callable[..., Any]) -> list[inspect.Parameter]:
    """Parameters without a default, in order; none where a signature can't be read."""
    return [p for p in parameters_of(found).values() if p.default is inspect.Parameter.empty and p.kind not in VARIADIC]


def conventional_arguments(found: Callable[..., Any]) -> dict[str, Any] | None:
    """Keyword arguments for all required parameters.

    Args:
        found: A class or a factory.

    Returns:
        Parameter → plain value; None if one of them has no conventional name, or can't be passed by name.
    """
    arguments: dict[str, Any] = {}
    for parameter in required_parameters(found):
        value = _value(parameter)
        if value is None or parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            return None
        arguments[parameter.name] = value
    return arguments


def configuration_class(found: Callable[..., Any]) -> type | None:
    """The class that annotates the one required parameter, if it is a configuration: all its fields have defaults."""
    required = required_parameters(found)
    if len(required) != 1 or not re.fullmatch(
        r"\w*(config|configuration|cfg|args|hparams|params|settings)", required[0].name
    ):
        return None
    annotation = _annotation(found, required[0])
    if not inspect.isclass(annotation) or annotation.__module__ == "builtins" or required_parameters(annotation):
        return None
    return annotation


def _annotation(found: Any, parameter: inspect.Parameter) -> Any:
    """A parameter's annotation; text (``from __future__ import annotations``) is looked up."""
    annotation = parameter.annotation
    if not isinstance(annotation, str):
        return annotation
    function = found.__init__ if inspect.isclass(found) else found
    return getattr(inspect.unwrap(function), "__globals__", {}).get(annotation.strip("'\""))


def _value(parameter: inspect.Parameter) -> Any:
    """The conventional value; None if there is none."""
    annotation = parameter.annotation
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "") or str(annotation)
    name = parameter.name.lower()
    if re.search(r"(list|tuple|sequence|iterable)", str(annotation).lower()):
        return value_of("constructor_lists", name)
    known = value_of("constructor_parameters", name)
    if known is None and annotation is inspect.Parameter.empty:
        known = value_of("constructor_lists", name) if name.endswith("s") else None
    return known if type(known) in _FITTING.get(written, (type(known),)) else None
