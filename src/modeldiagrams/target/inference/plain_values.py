"""Values for what is annotated as plain data: numbers, strings, and lists, tuples and dicts of such."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args, get_origin

from modeldiagrams.target.inference.annotations import choices_of, without_none

__all__ = ["NOTHING", "plain_value"]

NOTHING: Any = object()
"""Of annotations that are no plain data."""
_VALUES: dict[Any, Any] = {int: 2, float: 1.0, bool: False, str: "text"}
_SIDE = 4
"""Of a grid, a map or a picture, which models halve."""


def plain_value(annotation: Any) -> Any:
    """A value that suits an annotation; `NOTHING` if it says no plain data, or nothing of what is inside.

    Args:
        annotation: As it was evaluated, not as text.
    """
    annotation = without_none(annotation)
    if choices := choices_of(annotation):
        return choices[0]
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is tuple and inside[-1:] != (...,):
        values = [_SIDE if part is int else plain_value(part) for part in inside]
        return NOTHING if NOTHING in values else values
    if isinstance(origin, type) and issubclass(origin, Mapping):
        is_plain = inside and (inside[-1] is Any or plain_value(inside[-1]) is not NOTHING)
        return {} if is_plain else NOTHING
    if isinstance(origin, type) and issubclass(origin, Iterable) and inside:
        value = plain_value(inside[0])
        return NOTHING if value is NOTHING else [value]
    return _VALUES.get(annotation, NOTHING) if isinstance(annotation, type) else NOTHING
