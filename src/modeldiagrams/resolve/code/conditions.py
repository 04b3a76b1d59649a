"""Reads the condition of the model's code that failed: ``assert h == 32``, ``if h != 32: raise …``.

Only sizes, ranks, lengths and plain arithmetic are read from the frame that raised; nothing of the model is called.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.resolve.code.evaluate import evaluate
from modeldiagrams.resolve.code.running_code import list_tracebacks
from modeldiagrams.resolve.code.source import number_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from modeldiagrams.resolve.code.evaluate import Names

__all__ = ["find_failed_checks", "find_nearest_multiple", "find_tensor_of_rank", "find_unequal_sides"]

Unequal = tuple[ast.expr, Any, ast.expr, Any]
"""Two sides of a comparison that did not hold, each with its value."""


def find_unequal_sides(error: BaseException | None) -> Iterator[tuple[Names, Unequal]]:
    """Comparisons that made the innermost frame raise, with the values of both sides."""
    for names, check, is_wanted in find_failed_checks(error):
        for sides in _failed(check, names, is_wanted=is_wanted):
            yield names, sides


def find_failed_checks(error: BaseException | None) -> Iterator[tuple[Names, ast.expr, bool]]:
    """Parts of the condition that made the innermost frame raise, and whether each should be true."""
    for trace in list_tracebacks(error)[:1]:
        frame = trace.tb_frame
        names = {**frame.f_builtins, **frame.f_globals, **frame.f_locals}
        for condition, is_wanted in _conditions(frame, trace.tb_lineno):
            yield from _parts(condition, names, is_wanted=is_wanted)


def _parts(condition: ast.expr, names: Names, *, is_wanted: bool) -> Iterator[tuple[Names, ast.expr, bool]]:
    match condition:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _parts(value, names, is_wanted=is_wanted)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _parts(inner, names, is_wanted=not is_wanted)
        case _:
            yield names, condition, is_wanted


def _conditions(frame: FrameType, line: int) -> Iterator[tuple[ast.expr, bool]]:
    """What the statement at a line checks, and whether it should be true."""
    for node, at in number_nodes(frame, line):
        match node:
            case ast.Assert(test=test) if node.lineno <= at <= (node.end_lineno or 0):
                yield test, True
            case ast.If(test=test, body=body) if any(
                isinstance(s, ast.Raise) and s.lineno <= at <= (s.end_lineno or 0) for s in body
            ):
                yield test, False
            case ast.If(test=test) if any(
                isinstance(s, ast.Raise) and s.lineno <= at <= (s.end_lineno or 0) for s in _last_else(node)
            ):
                yield test, True


def _last_else(node: ast.If) -> list[ast.stmt]:
    """What is done where no test of a chain of ``elif`` holds."""
    match node.orelse:
        case [ast.If() as inner]:
            return _last_else(inner)
    return node.orelse


def _failed(condition: ast.expr, names: Names, *, is_wanted: bool) -> Iterator[Unequal]:
    """Comparisons that should hold and don't; of two numbers, equal is always good enough."""
    match condition:
        case ast.Compare(left=left, ops=ops, comparators=others):
            for first, how, second in zip([left, *others], ops, others, strict=False):
                a, b = _value(first, names), _value(second, names)
                asks_for_equal = isinstance(how, ast.NotEq | ast.Lt | ast.Gt) is not is_wanted
                if a is not None and b is not None and a != b and asks_for_equal:
                    yield first, a, second, b


def _value(node: ast.expr, names: Names) -> Any:
    """A whole number, or a tuple of them; None for anything else."""
    found = evaluate(node, names)
    if isinstance(found, tuple | list):
        return tuple(found) if found and all(type(item) is int for item in found) else None
    return found if type(found) is int else None


def find_tensor_of_rank(node: ast.expr, names: Names) -> Tensor | None:
    """The tensor whose rank an expression computes."""
    match node:
        case ast.Attribute(value=inner, attr="ndim") | ast.Call(func=ast.Attribute(value=inner, attr="dim"), args=[]):
            pass
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=inner, attr="shape")]):
            pass
        case ast.Call(func=ast.Name(id="len"), args=[ast.Call(func=ast.Attribute(value=inner, attr="size"), args=[])]):
            pass
        case _:
            return None
    owner = evaluate(inner, names)
    return owner if isinstance(owner, Tensor) else None


def find_nearest_multiple(node: ast.expr, names: Names) -> tuple[int, int] | None:
    """For a remainder: the number, and its nearest multiple of the divisor."""
    match node:
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            number, divisor = _value(left, names), _value(right, names)
            if type(number) is int and type(divisor) is int and divisor:
                return number, max(1, round(number / divisor)) * divisor
    return None
