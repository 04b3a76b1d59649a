"""Reads the condition of the model's code that failed: ``assert h == 32``, ``if h != 32: raise …``.

Only sizes, ranks, lengths and plain arithmetic are read from the frame that raised; nothing of the model is called.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from modeldiagrams.resolve.code.running_code import get_attribute, list_tracebacks
from modeldiagrams.resolve.code.source import number_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = [
    "Names",
    "evaluate",
    "find_failed_checks",
    "find_nearest_multiple",
    "find_tensor_of_rank",
    "find_unequal_sides",
]

Names = Mapping[str, Any]
"""What the names of a frame are."""
Unequal = tuple[ast.expr, Any, ast.expr, Any]
"""Two sides of a comparison that did not hold, each with its value."""

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_LARGEST = 100_000
"""No number in a size."""


def find_unequal_sides(error: BaseException | None) -> Iterator[tuple[Names, Unequal]]:
    """Comparisons that made the innermost frame raise, with the values of both sides."""
    for names, check, is_wanted in find_failed_checks(error):
        for sides in _failed(check, names, is_wanted=is_wanted):
            yield names, sides


def find_failed_checks(error: BaseException | None) -> Iterator[tuple[Names, ast.expr, bool]]:
    """Parts of the condition that made the innermost frame raise, and whether each should be true."""
    for trace in list_tracebacks(error)[:1]:
        frame = trace.tb_frame
        names = _names_of(frame)
        for condition, is_wanted in _conditions(frame, trace.tb_lineno):
            yield from _parts(condition, names, is_wanted=is_wanted)


def _names_of(frame: FrameType) -> Names:
    return {**frame.f_builtins, **frame.f_globals, **frame.f_locals}


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


def evaluate(node: ast.expr, names: Names) -> Any:
    """Value of an expression by reading and plain arithmetic; None if code would have to run."""
    try:
        return _read(node, names)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return None


def _value(node: ast.expr, names: Names) -> Any:
    """A whole number, or a tuple of them; None for anything else."""
    found = evaluate(node, names)
    if isinstance(found, tuple | list):
        return tuple(found) if found and all(type(item) is int for item in found) else None
    return found if type(found) is int else None


def _read(node: ast.expr, names: Names) -> Any:
    found: Any = None
    match node:
        case ast.Constant(value=value):
            found = value
        case ast.Name(id=name):
            found = names.get(name)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            found = tuple(_read(item, names) for item in items)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            found = _combined(operator.sub, 0, _read(inner, names))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            found = _combined(_ARITHMETIC[type(op)], _read(left, names), _read(right, names))
        case ast.Attribute(value=inner, attr=name):
            found = _attribute(_read(inner, names), name)
        case ast.Subscript(value=inner, slice=index):
            found = _item(_read(inner, names), index, names)
        case ast.Call(func=ast.Name(id="len"), args=[inner]):
            found = _length(_read(inner, names))
        case ast.Call(func=ast.Attribute(value=inner, attr="size" | "dim" as name), args=args):
            owner = _read(inner, names)
            found = getattr(owner, name)(*(_read(arg, names) for arg in args)) if isinstance(owner, Tensor) else None
    return found


def _item(owner: Any, index: ast.expr, names: Names) -> Any:
    if isinstance(owner, dict) and not isinstance(index, ast.Slice):
        return dict.get(owner, _read(index, names))
    if not isinstance(owner, tuple | list):
        return None
    if isinstance(index, ast.Slice):
        ends = [_read(end, names) if end else None for end in (index.lower, index.upper, index.step)]
        return tuple(owner[slice(*ends)])
    at = _read(index, names)
    return owner[at] if type(at) is int else None


def _combined(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> int | None:
    is_known = _is_number(left) and _is_number(right) and max(abs(left), abs(right)) <= _LARGEST
    return operation(left, right) if is_known else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _attribute(owner: Any, name: str) -> Any:
    if isinstance(owner, Tensor):
        return getattr(owner, name) if name in ("shape", "ndim") else None
    return get_attribute(owner, name)


def _length(value: Any) -> int | None:
    if isinstance(value, Tensor):
        return value.shape[0] if value.ndim else None
    return len(value) if isinstance(value, tuple | list | dict | nn.ModuleList | nn.ParameterList) else None


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
    owner = _read(inner, names)
    return owner if isinstance(owner, Tensor) else None


def find_nearest_multiple(node: ast.expr, names: Names) -> tuple[int, int] | None:
    """For a remainder: the number, and its nearest multiple of the divisor."""
    match node:
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            number, divisor = _value(left, names), _value(right, names)
            if type(number) is int and type(divisor) is int and divisor:
                return number, max(1, round(number / divisor)) * divisor
    return None
