"""What a local name is a copy of: ``head = dict(cfg["head"])``, ``head = cfg.head.copy()``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.code.frames import expression_at, resolved
from modeldiagrams.resolve.code.source import numbered_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["copied", "spread"]

_COPIES = ("dict", "copy", "deepcopy", "to_container")


def copied(name: str, frame: FrameType) -> Iterator[Any]:
    """What the running function made a local name of, as a copy."""
    for node in _assigned(name, frame):
        original = _original(node)
        if original is not None:
            yield resolved(original, frame.f_locals)


def spread(frame: FrameType, instruction: int) -> Iterator[Any]:
    """What the running call gets as its keyword arguments, ``make(**cfg["head"])``, or what that is a copy of."""
    match expression_at(frame, instruction):
        case ast.Call(keywords=keywords):
            for node in [keyword.value for keyword in keywords if keyword.arg is None]:
                yield resolved(node, frame.f_locals)
                if isinstance(node, ast.Name):
                    yield from copied(node.id, frame)


def _assigned(name: str, frame: FrameType) -> Iterator[ast.expr]:
    """What a name was assigned in the function that a frame runs, the last one before the running line first."""
    nodes = [node for node, line in numbered_nodes(frame, frame.f_lineno) if getattr(node, "lineno", line + 1) <= line]
    for node in sorted(nodes, key=lambda node: -getattr(node, "lineno", 0)):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value


def _original(node: ast.expr) -> ast.expr | None:
    """What an expression copies."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner, *_]) if name in _COPIES:
            return inner
        case ast.Call(func=ast.Attribute(value=inner, attr="copy"), args=[]):
            return inner
        case ast.Dict(keys=[None, *_], values=[inner, *_]):
            return inner
    return None
