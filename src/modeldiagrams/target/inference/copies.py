"""What a local name is a copy of: ``head = dict(cfg["head"])``, ``head = cfg.head.copy()``."""

from __future__ import annotations

import ast
import linecache
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.lookups import expression_at, resolved

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["copied", "spread"]

_COPIES = ("dict", "copy", "deepcopy", "to_container")


def copied(name: str, frame: FrameType) -> Iterator[Any]:
    """What the running function made a local name of, as a copy, from the last assignment before this line."""
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
    """What a name was assigned, in lines of the function that a frame runs."""
    first, now = frame.f_code.co_firstlineno, frame.f_lineno
    for number in range(now, first, -1):
        line = linecache.getline(frame.f_code.co_filename, number).strip()
        try:
            match ast.parse(line).body:
                case [ast.Assign(targets=[ast.Name(id=target)], value=value)] if target == name:
                    yield value
        except (SyntaxError, ValueError):
            continue  # a part of a longer statement


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
