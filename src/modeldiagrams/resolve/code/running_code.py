"""Reads what the running expression of a frame does with a value.

The strings that it is looked up among are the keys of ``{"relu": …}[act]`` and the items of ``act in {"relu"}``.
"""

from __future__ import annotations

import ast
import dis
import itertools
import linecache
import re
from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.resolve.code.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

__all__ = [
    "count_unpacked",
    "find_looked_up_keys",
    "get_expression_at",
    "has_default",
    "is_asked_for_tensor",
    "is_given_to_old_tensor",
    "is_lookup",
    "is_written",
    "key_taken",
    "list_tracebacks",
]

_UNPACK, _UNPACK_ENDS = dis.opmap["UNPACK_SEQUENCE"], dis.opmap["UNPACK_EX"]
_SUBSCRIPTED = compile("a[b]", "", "eval")
_AT = [*dis.get_instructions(_SUBSCRIPTED)][-2].offset
_LOOKUP = _SUBSCRIPTED.co_code[_AT : _AT + 2]
"""The instruction for a subscript, an operation among others since Python 3.14."""

_MOST = 32
"""More are no choice of a model's author but a vocabulary."""


def find_looked_up_keys(frame: FrameType) -> list[Any]:
    """Keys of the dict or items of the set that the running expression looks into."""
    if str(frame.f_globals.get("__name__")).startswith(("torch.", "modeldiagrams.")):
        return []
    node = get_expression_at(frame, frame.f_lasti)
    containers: list[ast.expr] = []
    match node:
        case ast.Subscript(value=container):
            containers = [container]
        case ast.Call(func=ast.Attribute(value=container)):
            containers = [container]
        case ast.Compare(comparators=comparators):
            containers = comparators
    found = [key for container in containers for key in _keys(container, frame)]
    return found if len(found) <= _MOST else []


def list_tracebacks(error: BaseException | None) -> list[TracebackType]:
    """Frames that an error passed through, innermost first."""
    found: list[TracebackType] = []
    trace = error.__traceback__ if error else None
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found[::-1]


def get_expression_at(frame: FrameType, instruction: int) -> ast.expr | None:
    """The expression that a frame runs; None if the source is unknown."""
    code = frame.f_code
    positions = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    if positions is None or None in positions:
        return None
    line, last, start, end = (int(position or 0) for position in positions)
    lines = [linecache.getline(code.co_filename, number) for number in range(line, last + 1)]
    encoded = [text.encode() for text in lines]
    if not encoded or not encoded[0]:
        return None
    encoded[-1] = encoded[-1][:end]
    encoded[0] = encoded[0][start:]
    try:
        return ast.parse(b"(" + b"".join(encoded) + b")", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _keys(container: ast.expr, frame: FrameType) -> Iterator[Any]:
    match container:
        case ast.Dict(keys=elements) | ast.Set(elts=elements) | ast.Tuple(elts=elements) | ast.List(elts=elements):
            known = {**frame.f_globals, **frame.f_locals}
            values: Any = [evaluate(element, known) for element in elements if element is not None]
        case _:
            values = evaluate(container, {**frame.f_globals, **frame.f_locals})
    is_known = not hasattr(type(values), "_slots_of")
    if is_known and isinstance(values, dict | set | frozenset | list | tuple):
        yield from sorted(values, key=_name) if isinstance(values, set | frozenset) else values


def _name(key: Any) -> str:
    """By which a set has the same order in every process."""
    return str.__str__(key) if isinstance(key, str) else str(getattr(key, "__qualname__", getattr(key, "_name_", "")))


def is_asked_for_tensor(frame: FrameType, name: str) -> bool:
    """Whether a frame only tests for a tensor or an array: NumPy, ``getattr(x, "ndim", 1)``, ``hasattr``."""
    if str(frame.f_globals.get("__name__")).startswith("numpy."):
        return True
    if not hasattr(Tensor, name):
        return False
    match get_expression_at(frame, frame.f_lasti):
        case ast.Call(func=ast.Name(id="hasattr")):
            return True
    return has_default(frame)


def has_default(frame: FrameType) -> bool:
    """Whether a frame calls `getattr` with a default."""
    match get_expression_at(frame, frame.f_lasti):
        case ast.Call(func=ast.Name(id="getattr"), args=[_, _, _]):
            return True
    return False


def key_taken(frame: FrameType, name: str) -> str | None:
    """The key in ``cfg.pop("type")``; lists have such a method, too."""
    if name not in ("pop", "get", "setdefault"):
        return None
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    found = re.search(rf"\.{name}\(\s*[\"'](\w+)[\"']", line)
    return found[1] if found else None


def is_written(frame: FrameType, name: str) -> bool:
    """Whether the running line itself reads the attribute."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return not line or re.search(rf"\.\s*{name}\b", line) is not None


def is_given_to_old_tensor(frame: FrameType) -> bool:
    """Whether a frame calls ``torch.Tensor([size])``, which asks a number for its length."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return re.search(r"\b(Float|Double|Half|Long|Int|Bool)?Tensor\(", line) is not None


def is_lookup(frame: FrameType) -> bool:
    """Whether a frame reads an item: ``table[key]``."""
    return frame.f_code.co_code[frame.f_lasti : frame.f_lasti + 2] == _LOOKUP


def count_unpacked(frame: FrameType) -> int | None:
    """Number of names that a frame unpacks a value into; None if it does something else."""
    code = frame.f_code.co_code
    at = frame.f_lasti
    return code[at + 1] if code[at] == _UNPACK else None
