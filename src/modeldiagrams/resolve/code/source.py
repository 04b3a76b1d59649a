"""The source of what models are made of, where it can be read."""

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

__all__ = ["classes_written", "names_beside", "nodes_of", "numbered_nodes", "path_of", "source_of", "tree_of"]

_NO_SOURCE = (OSError, TypeError, ValueError, SyntaxError, TokenError)
"""What `inspect` raises for compiled code, and for files that are gone or changed."""
_TOO_DEEP = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `ast` raises for code that was not read to its end, and for what is nested very deeply."""


def source_of(owner: Any) -> str:
    """The source of a class, a function or a module, from the left margin; nothing where it can't be read."""
    try:
        return textwrap.dedent(inspect.getsource(owner))
    except _NO_SOURCE:
        return ""


def tree_of(owner: Any) -> ast.Module:
    """The same as a tree; an empty one where it can't be read."""
    return _parsed(source_of(owner))


def nodes_of(owner: Any) -> list[ast.AST]:
    """All that a class or function is written of."""
    return [*ast.walk(tree_of(owner))]


def classes_written(class_: type) -> list[type]:
    """A class and its bases, without those of Python and PyTorch."""
    return [owner for owner in class_.__mro__ if owner is not object and not owner.__module__.startswith("torch.")]


def numbered_nodes(frame: FrameType, line: int) -> list[tuple[ast.AST, int]]:
    """All that a frame's function is written of, with a line as the numbers there count it."""
    nodes, first = nodes_in(frame.f_code)
    return [(node, line - max(first, 1) + 1) for node in nodes]


@functools.lru_cache(maxsize=64)
def nodes_in(code: CodeType) -> tuple[list[ast.AST], int]:
    """All that a function is written of, and the line where it begins."""
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


def names_beside(thing: Any) -> dict[str, Any]:
    """The global names of the Python module that defines a class or function; none where there is no such module."""
    module = inspect.getmodule(thing)
    return {} if module is None else vars(module)


def path_of(maker: Any) -> str:
    """The path by which a class is found."""
    name: str = maker.__qualname__
    return f"torch.nn.{name}" if getattr(nn, name, None) is maker else f"{maker.__module__}.{name}"
