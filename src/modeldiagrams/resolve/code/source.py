"""Reads the source of classes, functions and frames."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

from torch import nn

if TYPE_CHECKING:
    from types import CodeType, FrameType

__all__ = [
    "get_module_globals",
    "get_path",
    "get_source",
    "list_own_bases",
    "number_nodes",
    "parse_source",
    "walk_source",
]

_NO_SOURCE = (OSError, TypeError, ValueError, SyntaxError, TokenError)
"""What `inspect` raises for compiled code, and for files that are gone or changed."""
_TOO_DEEP = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `ast` raises for code that was not read to its end, and for what is nested very deeply."""


def get_source(owner: Any) -> str:
    """Source of a class, function or module without indentation; empty if it can't be read."""
    try:
        return textwrap.dedent(inspect.getsource(owner))
    except _NO_SOURCE:
        return ""


def parse_source(owner: Any) -> ast.Module:
    """Parsed source of a class, function or module; empty if it can't be read."""
    return _parsed(get_source(owner))


def walk_source(owner: Any) -> list[ast.AST]:
    """All syntax nodes of a class or function."""
    return [*ast.walk(parse_source(owner))]


def list_own_bases(class_: type) -> list[type]:
    """A class and its bases, except those of Python and PyTorch."""
    return [owner for owner in class_.__mro__ if owner is not object and not owner.__module__.startswith("torch.")]


def number_nodes(frame: FrameType, line: int) -> list[tuple[ast.AST, int]]:
    """All syntax nodes of a frame's function, with a line of the file as these nodes count it."""
    nodes, first = walk_code(frame.f_code)
    return [(node, line - max(first, 1) + 1) for node in nodes]


@functools.lru_cache(maxsize=64)
def walk_code(code: CodeType) -> tuple[list[ast.AST], int]:
    """All syntax nodes of a function, and its first line."""
    try:
        lines, first = inspect.getsourcelines(code)
    except _NO_SOURCE:
        return [], 1
    return [*ast.walk(_parsed(textwrap.dedent("".join(lines))))], first


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except _TOO_DEEP:
        return ast.Module([], [])


def get_module_globals(thing: Any) -> dict[str, Any]:
    """Globals of the module that defines a class or function."""
    module = inspect.getmodule(thing)
    return {} if module is None else vars(module)


def get_path(maker: Any) -> str:
    """Dotted path of a class or function."""
    name: str = maker.__qualname__
    return f"torch.nn.{name}" if getattr(nn, name, None) is maker else f"{maker.__module__}.{name}"
