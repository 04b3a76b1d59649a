"""What the model's own code demands of a comparison: ``assert x.dim() == 3``, ``if x.dim() >= 3: raise …``."""

from __future__ import annotations

import ast
import functools
import itertools
import operator
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.conditions import tensor_of_rank, value_of
from modeldiagrams.target.inference.lookups import expression_in
from modeldiagrams.target.source import nodes_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

    from torch import Tensor

__all__ = ["demanded", "has_to_be_equal", "is_demanded", "ranks_demanded"]

_CHECKS = ("_assert", "_check")
"""Functions of PyTorch that raise unless their first argument holds."""

_MOST_BACK = 8

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, several: one in several,
    ast.NotIn: lambda one, several: one not in several,
}


def is_demanded(frame: FrameType) -> bool:
    """Whether a frame runs a part of a condition without which its code raises."""
    return bool(_demanded(frame.f_code, frame.f_lineno))


def demanded(frame: FrameType) -> bool | None:
    """What the expression that a frame runs has to be so that code doesn't raise; None where it goes on anyway."""
    before = range(frame.f_lasti, max(frame.f_lasti - _MOST_BACK, -1), -2)  # a jump has no place of its own
    running = next((found for at in before if (found := expression_in(frame.f_code, at)) is not None), None)
    text = ast.dump(running) if running is not None else ""
    parts = _demanded(frame.f_code, frame.f_lineno)
    return next((is_wanted for part, is_wanted in parts if ast.dump(part) == text), None)


def has_to_be_equal(frame: FrameType) -> bool:
    """Whether the two things that a frame compares have to be the same."""
    match expression_in(frame.f_code, frame.f_lasti):
        case ast.Compare(ops=[ast.NotEq() | ast.NotIn(), *_]):
            return demanded(frame) is False
    return demanded(frame) is True


def ranks_demanded(frame: FrameType, tensor: Tensor) -> Callable[[int], bool] | None:
    """Tells for which ranks of a tensor the code that a frame runs doesn't raise; None where it goes on with any."""
    names = {**frame.f_builtins, **frame.f_globals, **frame.f_locals}
    for part, is_wanted in _demanded(frame.f_code, frame.f_lineno):
        match part:
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [left, *others]
                are_rank = [_is_rank(side, names, tensor) for side in sides]
                if any(are_rank):
                    values = [value_of(side, names) for side in sides]
                    return functools.partial(_suits, [*zip(are_rank, values, strict=True)], ops, is_wanted)
    return None


def _is_rank(side: ast.expr, names: dict[str, Any], tensor: Tensor) -> bool:
    if isinstance(side, ast.Name):  # ``rank = x.dim()``
        return getattr(names.get(side.id), "tensor", None) is tensor
    return tensor_of_rank(side, names) is tensor


def _suits(sides: list[tuple[bool, Any]], ops: list[ast.cmpop], is_wanted: bool, rank: int) -> bool:  # noqa: FBT001
    known = [rank if is_rank else value for is_rank, value in sides]
    try:
        holds = all(_COMPARED[type(how)](a, b) for how, (a, b) in zip(ops, itertools.pairwise(known), strict=True))
    except (KeyError, TypeError):
        return True
    return holds is is_wanted


@functools.lru_cache(maxsize=1024)
def _demanded(code: CodeType, line: int) -> list[tuple[ast.expr, bool]]:
    """The parts of the condition that code runs and without which it raises, and whether each should hold."""
    nodes, first = nodes_in(code)
    at = line - max(first, 1) + 1
    found = [each for each in _conditions(nodes) if each[0].lineno <= at <= (each[0].end_lineno or 0)]
    return [part for condition, should_hold in found for part in _parts(condition, should_hold)]


def _conditions(nodes: list[ast.AST]) -> Iterator[tuple[ast.expr, bool]]:
    """What code goes on with only if it holds, or if it doesn't."""
    for node in nodes:
        match node:
            case ast.Assert(test=test):
                yield test, True
            case ast.If(test=test, body=body) if _raises(body):
                yield test, False
            case ast.If(test=test, orelse=body) if _raises(body):
                yield test, True
            case ast.Call(func=ast.Attribute(attr=name), args=[test, *_]) if name in _CHECKS:
                yield test, True


def _raises(body: list[ast.stmt]) -> bool:
    return any(isinstance(statement, ast.Raise) for statement in body)


def _parts(condition: ast.expr, is_wanted: bool) -> Iterator[tuple[ast.expr, bool]]:  # noqa: FBT001
    match condition:
        case ast.BoolOp(op=op, values=values):  # of several of which one is enough, it is left to the last
            for value in values[-1:] if isinstance(op, ast.Or) is is_wanted else values:
                yield from _parts(value, is_wanted)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _parts(inner, not is_wanted)
        case _:
            yield condition, is_wanted
