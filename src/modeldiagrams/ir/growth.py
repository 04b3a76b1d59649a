"""How an expression grows with each size, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.ir.expressions import Expression, parse_expression

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["degrees_of", "say_expression", "say_growth"]

_LONGEST = 60
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def degrees_of(expression: Expression) -> dict[str, int]:
    """Name → its highest power: ``T`` → 2 in ``B*T*(T+768)``."""
    found: dict[str, int] = {}
    for monomial, _ in expression.terms:
        own = dict[str, int]()
        for factor, power in monomial:
            rounding, _, inner = factor.partition("(")
            inside = degrees_of(parse_expression(inner[:-1])) if inner else {rounding: 1}
            for name, degree in inside.items():
                own[name] = own.get(name, 0) + power * degree
        found |= {name: max(degree, found.get(name, 0)) for name, degree in own.items()}
    return found


def say_growth(expression: Expression, order: Sequence[str] = ()) -> str:
    """``with B and T²``; ``with no size`` for a number."""
    degrees = degrees_of(expression)
    names = sorted(degrees, key=lambda name: (order.index(name) if name in order else len(order), name))
    powers = [name + (str(degrees[name]).translate(_POWERS) if degrees[name] > 1 else "") for name in names]
    return (
        f"with {' and '.join([', '.join(powers[:-1]), powers[-1]] if powers[1:] else powers)}"
        if powers
        else ("with no size")
    )


def say_expression(expression: Expression, order: Sequence[str] = ()) -> str:
    """The expression for readers; of a long one, the terms of the highest degree that fit, and ``…``."""
    text = expression.readable(order)
    kept = len(expression.terms)
    while len(text) > _LONGEST and kept > 1:
        kept -= 1
        text = f"{Expression(expression.terms[:kept]).readable(order)}+…"
    return text
