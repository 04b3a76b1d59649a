"""What annotations say about constructor parameters."""

from __future__ import annotations

import inspect
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin

__all__ = ["annotations_of", "is_number_or_several", "is_own_class", "item_annotation"]


_PLAIN = ("builtins", "typing", "torch", "collections", "numbers", "types", "argparse", "omegaconf", "easydict", "yacs")
"""Packages of types and of objects without fields of their own."""


def is_own_class(annotation: Any) -> bool:
    """Whether a class is made by the model's author, so that an instance is needed."""
    return (
        inspect.isclass(annotation)
        and annotation.__module__.split(".")[0] not in _PLAIN
        and not issubclass(annotation, Enum)
    )


def is_number_or_several(annotation: Any) -> bool:
    """Whether one number will do where several may be given: ``int | list[int]``."""
    return get_origin(annotation) in (Union, UnionType) and int in get_args(annotation)


def item_annotation(annotation: Any) -> Any:
    """The class of a list's items; None where it isn't said."""
    inside = [item for item in getattr(annotation, "__args__", ()) if inspect.isclass(item)]
    return inside[0] if inside else None


def annotations_of(maker: Any) -> dict[str, Any]:
    """Annotations of a class's or function's parameters, read where they are text; none that can't be."""
    function = inspect.unwrap(maker.__init__ if inspect.isclass(maker) else maker)
    names = {**vars(inspect.getmodule(maker) or inspect), **getattr(function, "__globals__", {})}
    return {
        name: _evaluated(annotation, names)
        for name, annotation in getattr(function, "__annotations__", {}).items()
        if name != "return"
    }


def _evaluated(annotation: Any, names: dict[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)  # noqa: S307  (what `typing.get_type_hints` does, one by one)
    except Exception:  # noqa: BLE001  (names that exist for type checkers only)
        return None
