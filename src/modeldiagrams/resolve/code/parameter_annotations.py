"""Reads annotations of parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import InitVar
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin

from torch import Tensor

from modeldiagrams.resolve.code.source import get_module_globals

__all__ = [
    "get_annotations",
    "get_choices",
    "get_item_annotation",
    "get_mapping_annotation",
    "is_number_or_several",
    "is_own_class",
    "strip_optional",
]


_PLAIN = ("builtins", "typing", "torch", "collections", "numbers", "types", "argparse", "omegaconf", "easydict", "yacs")
"""Packages of types and of objects without fields of their own."""
_MAPPINGS = ("builtins", "collections", "collections.abc")


def is_own_class(annotation: Any) -> bool:
    """Whether a class is one of the model's author, which needs an instance."""
    return (
        inspect.isclass(annotation)
        and annotation.__module__.split(".")[0] not in _PLAIN
        and not issubclass(annotation, Enum)
    )


def is_number_or_several(annotation: Any) -> bool:
    """Whether one number is enough: ``int | list[int]``."""
    return get_origin(annotation) in (Union, UnionType) and int in get_args(annotation)


def strip_optional(annotation: Any) -> Any:
    """The annotation without None: ``int`` for ``int | None``, ``Optional[int]`` and ``Annotated[int, …]``."""
    if isinstance(annotation, InitVar):
        return strip_optional(annotation.type)
    if get_origin(annotation) is Annotated:
        return strip_optional(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        others = [item for item in get_args(annotation) if item is not NoneType]
        others = [Tensor] if Tensor in others and not {int, float} & {*others} else others  # or what one is made of
        return strip_optional(others[0]) if len(others) == 1 else annotation
    return annotation


def get_choices(annotation: Any) -> tuple[Any, ...]:
    """The values of a ``Literal``."""
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def get_item_annotation(annotation: Any) -> Any:
    """Annotation of the items of a list; None if it has none."""
    inside = [item for item in get_args(annotation) if inspect.isclass(item) or get_origin(item)]
    return inside[0] if inside else None


def get_mapping_annotation(annotation: Any) -> tuple[bool, Any]:
    """Whether it is a mapping, and the annotation of its values."""
    origin = get_origin(annotation) or annotation
    is_mapping = inspect.isclass(origin) and issubclass(origin, Mapping) and origin.__module__ in _MAPPINGS
    arguments = get_args(annotation)
    return is_mapping, arguments[1] if is_mapping and len(arguments) == 2 else None  # noqa: PLR2004


def get_annotations(maker: Any) -> dict[str, Any]:
    """Annotations by parameter; text is evaluated, and left out if that fails."""
    function = inspect.unwrap(maker.__init__ if inspect.isclass(maker) else maker)
    names = {**get_module_globals(maker), **getattr(function, "__globals__", {})}
    written = {**_fields(maker), **getattr(function, "__annotations__", {})}
    return {name: _evaluated(annotation, names) for name, annotation in written.items() if name != "return"}


def _fields(maker: Any) -> dict[str, Any]:
    """Annotations of the fields of a class: of a named tuple, or of settings that a base reads."""
    owners = [*reversed(maker.__mro__)] if inspect.isclass(maker) else []
    own = [owner for owner in owners if owner.__module__.split(".")[0] not in _PLAIN]
    return {name: annotation for owner in own for name, annotation in vars(owner).get("__annotations__", {}).items()}


def _evaluated(annotation: Any, names: dict[str, Any]) -> Any:
    annotation = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)  # noqa: S307  (what `typing.get_type_hints` does, one by one)
    except Exception:  # noqa: BLE001  (names that exist for type checkers only)
        return None
