"""How an expression grows with each size, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.ir.expressions import POWERS, Expression, split_rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["degrees_of", "say_expression", "say_growth"]

_LONGEST = 60


def degrees_of(expression: Expression) -> dict[str, int]:
    """Name → its highest power: ``T`` → 2 in ``B*T*(T+768)``."""
    found: dict[str, int] = {}
    for monomial, _ in expression.terms:
        own = dict[str, int]()
        for factor, power in monomial:
            _, inner = split_rounded(factor)
            for name, degree in (degrees_of(inner) if inner else {factor: 1}).items():
                own[name] = own.get(name, 0) + power * degree
        found |= {name: max(degree, found.get(name, 0)) for name, degree in own.items()}
    return found


def say_growth(expression: Expression, order: Sequence[str]) -> str:
    """``B and T²``, in this order of names; empty for a number."""
    degrees = degrees_of(expression)
    powers = [
        name + (str(degrees[name]).translate(POWERS) if degrees[name] > 1 else "") for name in order if name in degrees
    ]
    return " and ".join([", ".join(powers[:-1]), powers[-1]] if powers[1:] else powers)


def say_expression(expression: Expression, order: Sequence[str]) -> str:
    """The expression for readers; of a long one, the terms of the highest degree that fit, and ``…``."""
    text, kept = expression.readable(order), len(expression.terms)
    while len(text) > _LONGEST and kept > 1:
        kept -= 1
        text = f"{Expression(expression.terms[:kept]).readable(order)}+…"
    return text
