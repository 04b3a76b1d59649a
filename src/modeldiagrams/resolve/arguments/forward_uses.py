"""Finds how methods use arguments that the constructor only stores."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.arguments.argument_stubs import Fields, Misuse, Number, Real, Text, Use, slots_of
from modeldiagrams.resolve.code.evaluate import evaluate
from modeldiagrams.resolve.code.source import list_own_bases, walk_source
from modeldiagrams.resolve.names.vocabulary import is_listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn


__all__ = ["find_forward_uses"]


def find_forward_uses(model: nn.Module) -> Iterator[Misuse]:
    """Uses of stored arguments for which a number is the wrong kind of value."""
    for module in model.modules():
        kept = {name: value for name, value in vars(module).items() if isinstance(value, Number | Real)}
        fields = {name: value for name, value in vars(module).items() if isinstance(value, Fields)}
        holds_text = any(isinstance(value, Text) for value in vars(module).values())
        nodes = _written(type(module)) if kept or fields or holds_text else []
        if type(module).__module__.startswith("torch.nn"):
            yield from (Misuse(kept[name].slots[0], Use("text", "")) for name in kept if is_listed("text_uses", name))
        for node in nodes:
            yield from _compared(node, module)
            yield from _kept_use(node, kept)
            yield from _kept_call(node, {**kept, **fields})
            yield from _kept_field(node, fields)


def _written(class_: type) -> list[ast.AST]:
    """All that a class and its bases are written of."""
    return [node for owner in list_own_bases(class_) for node in walk_source(owner)]


def _kept_field(node: ast.AST, fields: dict[str, Fields]) -> Iterator[Misuse]:
    """What a method reads of a configuration that is kept: ``self.cfg.decoder.steps``, ``self.cfg["steps"]``."""
    path, inner = _path_of(node)
    if isinstance(inner, ast.Name) and inner.id == "self" and len(path) > 1 and path[0] in fields:
        slot = slots_of(fields[path[0]])[0]
        for name in path[1:]:
            if hasattr(dict, name):
                break
            if slot.kind == "fields" and name not in slot.children:
                yield Misuse(slot, Use("members", (name,)))
            slot = slot.child(name)


def _path_of(node: ast.AST) -> tuple[list[str], ast.AST]:
    """The names of attributes and keys that are read one of the other, and what the first one is read of."""
    match node:
        case (
            ast.Attribute(value=owner, attr=name)
            | ast.Subscript(value=owner, slice=ast.Constant(value=str(name)), ctx=ast.Load())
        ):
            path, inner = _path_of(owner)
            return [*path, name], inner
    return [], node


def _kept_call(node: ast.AST, kept: dict[str, Any]) -> Iterator[Misuse]:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=args, keywords=named) if (
            name in kept
        ):
            is_open = any(isinstance(argument, ast.Starred) for argument in args)  # `self.encoder(*args)`
            names = tuple(keyword.arg for keyword in named if keyword.arg)
            yield Misuse(slots_of(kept[name])[0], Use("forward", (0 if is_open else len(args), names)))


def _kept_use(node: ast.AST, kept: dict[str, Number | Real]) -> Iterator[Misuse]:
    match node:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=name), attr=inner) if name in kept:
            yield Misuse(kept[name].slots[0], Use("attribute", inner))
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=name), slice=index) if name in kept:
            key = getattr(index, "value", None)
            yield Misuse(kept[name].slots[0], Use("key", key) if isinstance(key, str) else Use("items", None))
        case ast.Starred(value=ast.Attribute(value=ast.Name(id="self"), attr=name)) if name in kept:
            yield Misuse(kept[name].slots[0], Use("items", None))
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
            yield from _kept_items([value], kept, len(names))
        case ast.For(iter=items) | ast.comprehension(iter=items):
            yield from _kept_items(_gone_through(items), kept)


def _gone_through(items: ast.expr) -> list[ast.expr]:
    """What a loop takes items of: ``for size in self.sizes``, ``enumerate(self.sizes)``, ``zip(self.sizes, …)``."""
    match items:
        case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed" | "sorted"), args=args):
            return args
    return [items]


def _kept_items(values: list[ast.expr], kept: dict[str, Number | Real], count: int | None = None) -> Iterator[Misuse]:
    for value in values:
        match value:
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in kept:
                yield Misuse(kept[name].slots[0], Use("items", count))


def _compared(node: ast.AST, module: nn.Module) -> Iterator[Misuse]:
    """Strings that methods compare an argument with: ``self.mode == "sum"``, ``self.cfg.mode in ("sum", "mean")``."""
    if not isinstance(node, ast.Compare):
        return
    value = evaluate(node.left, {"self": module})
    for slot in slots_of(value) if isinstance(value, Number | Real | Text) else ():
        for string in (each for other in node.comparators for each in _strings(other)):
            if slot.kind == "text" and slot.compared:  # the first one is the likeliest, and is taken already
                slot.compared_with(string)
            else:
                yield Misuse(slot, Use("text", string))


def _strings(other: ast.expr) -> Iterator[str]:
    for constant in other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]:
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
            yield constant.value
