"""Reading the source of a forward: which parameters are dicts or tuples, and what is taken out of them (rule 4)."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import nn

__all__ = ["unpacked_parameters"]


def unpacked_parameters(model: nn.Module) -> dict[str, Sequence[Any]]:
    """Parameters that a forward takes apart.

    Returns:
        Parameter → the keys that are read (``batch["x"]``), or the positions it is unpacked into (``a, b = batch``);
        empty where the source can't be read.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(model.forward))))
    except (OSError, TypeError, SyntaxError):
        return {}
    parameters = set(inspect.signature(model.forward).parameters)
    found: dict[str, list[Any]] = {}
    for node in ast.walk(tree):
        for name, key in _taken(node):
            if name in parameters and key not in found.setdefault(name, []):
                found[name].append(key)
    # a tensor is indexed by numbers, too: only unpacking tells that it is none
    return {name: keys for name, keys in found.items() if len({type(key) for key in keys}) == 1}


def _taken(node: ast.AST) -> Iterator[tuple[str, Any]]:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))):
            yield name, key
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str(key)), *_]):
            yield name, key
        case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Name(id=name)):
            yield from ((name, position) for position in range(len(elements)))
