"""A forward's parameters, and from its source which of them are dicts or tuples, with the items it reads (rule 4)."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from torch import nn

__all__ = ["VARIADIC", "Part", "parameters_of", "unpacked_parameters"]


@dataclass(frozen=True)
class Part:
    """What an unpacked value has at one position."""

    position: int
    name: str
    """The variable that it goes into."""


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Parameters by name; none where a signature can't be read, as of compiled code."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def unpacked_parameters(model: nn.Module) -> dict[str, Sequence[Any]]:
    """Parameters that a forward takes apart.

    Returns:
        Parameter → the keys that are read (``batch["x"]``), or the parts it is unpacked into (``a, b = batch``);
        empty where the source can't be read.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(model.forward))))
    except (OSError, TypeError, SyntaxError):
        return {}
    parameters = set(parameters_of(model.forward))
    found: dict[str, list[Any]] = {}
    for node in ast.walk(tree):
        for name, key in _items_read(node):
            if name in parameters and key not in found.setdefault(name, []):
                found[name].append(key)
    # numbers index tensors, too: only names, or only unpacking, show that it is no tensor
    return {name: keys for name, keys in found.items() if len({type(key) for key in keys}) == 1}


def _items_read(node: ast.AST) -> Iterator[tuple[str, Any]]:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))):
            yield name, key
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str(key)), *_]):
            yield name, key
        case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Name(id=name)):
            for position, element in enumerate(elements):
                yield name, Part(position, getattr(element, "id", f"input{position}"))
