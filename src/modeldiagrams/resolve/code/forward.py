"""Reads from a forward's source which inputs are dicts, lists or tuples, and their items (rule 4)."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.code.source import parse_source, walk_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = [
    "VARIADIC",
    "count_listed_items",
    "find_compared_strings",
    "find_unpacked_parameters",
    "get_parameters",
]


@dataclass(frozen=True)
class UnpackedItem:
    """One position of an unpacked value."""

    position: int
    name: str
    """The variable that it goes into."""


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def get_parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Parameters by name; none if a signature can't be read, as of compiled code."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def find_unpacked_parameters(model: nn.Module) -> dict[str, Sequence[Any]]:
    """Parameters that a forward unpacks or reads by key.

    Returns:
        Parameter → the keys that are read (``batch["x"]``), or the parts it is unpacked into (``a, b = batch``);
        empty where the source can't be read.
    """
    parameters = set(get_parameters(model.forward))
    found: dict[str, list[Any]] = {}
    for node in walk_source(model.forward):
        for name, key in _items_read(node):
            if name in parameters and key not in found.setdefault(name, []):
                found[name].append(key)
    # numbers index tensors, too: only names, or only unpacking, show that it is no tensor
    return {name: keys for name, keys in found.items() if len({type(key) for key in keys}) == 1}


def count_listed_items(model: nn.Module) -> dict[str, int]:
    """Number of items of parameters that are indexed like parts of the model: ``self.heads[i](features[i])``.

    Returns:
        Parameter → how many items it has.
    """
    tree = parse_source(model.forward)
    loops = {name: count for node in ast.walk(tree) for name, count in _counted_loops(node, model)}
    counts = {name: _most_items(tree, name, loops) for name in get_parameters(model.forward)}
    return {name: count for name, count in counts.items() if count}


def find_compared_strings(model: nn.Module) -> dict[str | int, list[str]]:
    """Parameters that a forward compares with strings or uses as keys of its parts, with these strings."""
    found: dict[str | int, list[str]] = {}
    for node in walk_source(getattr(type(model), "forward", None)):  # compiled code has none in its class
        match node:
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=str(text))]):
                found.setdefault(name, []).append(text)
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Tuple(elts=items) | ast.List(elts=items)]):
                texts = [i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, str)]
                found.setdefault(name, []).extend(texts)
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=attribute), slice=ast.Name(id=name)):
                parts = {**vars(model), **dict(model.named_children())}.get(attribute)
                keys = [*parts] if isinstance(parts, dict | nn.ModuleDict) else []
                found.setdefault(name, []).extend(key for key in keys if isinstance(key, str))
    return {name: texts for name, texts in found.items() if texts}


def _counted_loops(node: ast.AST, model: nn.Module) -> Iterator[tuple[str, int]]:
    """Variables that count the parts of a model, and how many there are."""
    match node:
        case ast.For(target=target, iter=items) | ast.comprehension(target=target, iter=items):
            pass
        case _:
            return
    match target, items:
        case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=[*_, ast.Call(args=[part])]):
            yield name, _length(part, model)
        case ast.Tuple(elts=[ast.Name(id=name), _]), ast.Call(func=ast.Name(id="enumerate"), args=[part]):
            yield name, _length(part, model)


def _length(node: ast.expr, model: nn.Module) -> int:
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            part = {**vars(model), **dict(model.named_children())}.get(name)
            return len(part) if isinstance(part, list | tuple | nn.ModuleList) else 0
    return 0


def _most_items(tree: ast.AST, parameter: str, loops: Mapping[str, int]) -> int:
    """How many items a parameter has that is only used by its items; 0 for any other."""
    uses = sum(isinstance(node, ast.Name) and node.id == parameter for node in ast.walk(tree))
    keys = [
        node.slice
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == parameter
    ]
    numbers = {key.value for key in keys if isinstance(key, ast.Constant) and type(key.value) is int}
    counts = [loops.get(key.id, 0) for key in keys if isinstance(key, ast.Name)]
    is_whole = len(numbers) + len(counts) == 0 or len(keys) != uses or 0 in counts
    if is_whole or (len(numbers) < 2 and not counts):  # noqa: PLR2004  (the first of a batch is taken of tensors, too)
        return 0
    return max([*counts, *(number + 1 for number in numbers)])


def _items_read(node: ast.AST) -> Iterator[tuple[str, Any]]:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))):
            yield name, key
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str(key)), *_]):
            yield name, key
        case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Name(id=name)):
            for position, element in enumerate(elements):
                yield name, UnpackedItem(position, getattr(element, "id", f"input{position}"))
