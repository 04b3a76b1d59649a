"""The values of expressions, read by Python's own grammar and not by the product's."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache

_NAME = re.compile(r"[^\W\d_]\w*′*")
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_ROUNDINGS = {"ceil": math.ceil, "floor": math.floor}


def value(text: str, sizes: Mapping[str, int]) -> Fraction:
    """The value of an expression at given sizes."""
    tree, names = _read(text)
    return _evaluate(tree, {plain: sizes[name] for name, plain in names.items()})


@cache
def names_in(text: str) -> frozenset[str]:
    """The sizes that an expression has."""
    return frozenset(_read(text)[1])


@cache
def _read(text: str) -> tuple[ast.expr, dict[str, str]]:
    names = {name: f"size_{i}" for i, name in enumerate(sorted({*_NAME.findall(text)} - {*_ROUNDINGS}))}
    plain = _NAME.sub(lambda found: names.get(found[0], found[0]), text)  # Python has no primes in names
    return ast.parse(plain, mode="eval").body, names


def _evaluate(tree: ast.expr, sizes: Mapping[str, int]) -> Fraction:
    match tree:
        case ast.Constant(value=int() as number):
            return Fraction(number)
        case ast.Name(id=name):
            return Fraction(sizes[name])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, sizes)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_evaluate(left, sizes), _evaluate(right, sizes))
        case ast.Call(func=ast.Name(id=name), args=[inner]):
            return Fraction(_ROUNDINGS[name](_evaluate(inner, sizes)))
    raise AssertionError(f"no expression: {ast.dump(tree)}")
