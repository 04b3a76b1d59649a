"""What annotations say about constructor parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import InitVar
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin

from torch import Tensor, nn

from modeldiagrams.resolve.code.forward import parameters_of
from modeldiagrams.resolve.code.source import names_beside

__all__ = [
    "annotations_of",
    "choices_of",
    "fields_left_open",
    "is_number_or_several",
    "is_own_class",
    "item_annotation",
    "mapped_annotation",
    "without_none",
]


_PLAIN = ("builtins", "typing", "torch", "collections", "numbers", "types", "argparse", "omegaconf", "easydict", "yacs")
"""Packages of types and of objects without fields of their own."""
_MAPPINGS = ("builtins", "collections", "collections.abc")


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


def without_none(annotation: Any) -> Any:
    """What it is where it is given: ``int`` for ``int | None``, ``Optional[int]`` and ``Annotated[int, …]``."""
    if isinstance(annotation, InitVar):
        return without_none(annotation.type)
    if get_origin(annotation) is Annotated:
        return without_none(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        others = [item for item in get_args(annotation) if item is not NoneType]
        others = [Tensor] if Tensor in others and not {int, float} & {*others} else others  # or what one is made of
        return without_none(others[0]) if len(others) == 1 else annotation
    return annotation


def choices_of(annotation: Any) -> tuple[Any, ...]:
    """The values of a ``Literal``, of which one has to be taken."""
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def item_annotation(annotation: Any) -> Any:
    """What a list's items are; None where it isn't said."""
    inside = [item for item in get_args(annotation) if inspect.isclass(item) or get_origin(item)]
    return inside[0] if inside else None


def mapped_annotation(annotation: Any) -> tuple[bool, Any]:
    """Whether it is a mapping, and what its values are; None where that isn't said."""
    origin = get_origin(annotation) or annotation
    is_mapping = inspect.isclass(origin) and issubclass(origin, Mapping) and origin.__module__ in _MAPPINGS
    arguments = get_args(annotation)
    return is_mapping, arguments[1] if is_mapping and len(arguments) == 2 else None  # noqa: PLR2004


def annotations_of(maker: Any) -> dict[str, Any]:
    """Annotations of a class's or function's parameters, read where they are text; none that can't be."""
    function = inspect.unwrap(maker.__init__ if inspect.isclass(maker) else maker)
    names = {**names_beside(maker), **getattr(function, "__globals__", {})}
    written = {**_fields(maker), **getattr(function, "__annotations__", {})}
    return {name: _evaluated(annotation, names) for name, annotation in written.items() if name != "return"}


def _fields(maker: Any) -> dict[str, Any]:
    """Those of a class's fields: of a named tuple, or of settings that a base reads."""
    owners = [*reversed(maker.__mro__)] if inspect.isclass(maker) else []
    own = [owner for owner in owners if owner.__module__.split(".")[0] not in _PLAIN]
    return {name: annotation for owner in own for name, annotation in vars(owner).get("__annotations__", {}).items()}


def fields_left_open(maker: Any) -> list[str]:
    """Fields without a value of a class whose constructor takes any names: ``def __init__(self, **data)``."""
    if not inspect.isclass(maker) or issubclass(maker, nn.Module):
        return []
    kinds = {p.kind for p in parameters_of(maker).values()}
    is_open = kinds == {inspect.Parameter.VAR_KEYWORD}
    return [name for name in _fields(maker) if not hasattr(maker, name)] if is_open else []


def _evaluated(annotation: Any, names: dict[str, Any]) -> Any:
    annotation = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)  # noqa: S307  (what `typing.get_type_hints` does, one by one)
    except Exception:  # noqa: BLE001  (names that exist for type checkers only)
        return None
