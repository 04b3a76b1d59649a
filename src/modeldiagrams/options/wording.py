"""Describes types in words, for authors who know neither Python's types nor msgspec."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Meta

__all__ = ["describe_type"]

_WORDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a map",
}


def describe_type(type_: Any) -> str:
    """Describe the values of a type: ``a whole number from 0 to 1000``, ``a list or a map``.

    Args:
        type_: The annotation. `Meta.title` describes a text with a pattern.
    """
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Annotated:
        meta = next((meta for meta in arguments[1:] if isinstance(meta, Meta)), Meta())
        return meta.title or f"{describe_type(arguments[0])}{_describe_range(meta)}"
    if origin in {Union, UnionType}:
        return " or ".join(dict.fromkeys(describe_type(part) for part in arguments if part is not NoneType))
    if origin is Literal:
        return " or ".join(map(str, arguments))
    if origin is list and arguments[0] is not Any:
        return f"a list of {describe_type(arguments[0])}"
    if origin is dict and get_origin(arguments[1]) in {Annotated, Literal}:
        return f"a map whose values are {describe_type(arguments[1])}"
    return _WORDS.get(origin or type_, "something else")


def _describe_range(meta: Meta) -> str:
    if meta.gt is not None:
        return f" above {meta.gt:g}"
    if meta.ge is not None:
        return f" from {meta.ge:g} to {meta.le:g}" if meta.le is not None else f" of at least {meta.ge:g}"
    return " that is not empty" if meta.min_length else ""
