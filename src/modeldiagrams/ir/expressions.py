"""Sizes and costs as expressions in named sizes: ``B*(T+1)``, ``H/32``. `viewer/src/shared/expressions.ts` is its twin.

An expression is a polynomial with rational coefficients. Its factors are names of sizes and rounded expressions,
``ceil(…)`` and ``floor(…)``. Two expressions are equal if their polynomials are: then they have the same text.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, TypeAlias

from modeldiagrams.errors import ModelDiagramsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["NAME", "Expression", "parse_expression"]

NAME = re.compile(r"[^\W\d_]\w*′*")
"""The name of a size: ``T``, ``T′``, ``n₁``, ``num_frames``."""
_TOKEN = re.compile(rf"\s*([0-9]+|{NAME.pattern}|[-+*/()])")
_ROUNDINGS = {"ceil": ("⌈", "⌉"), "floor": ("⌊", "⌋")}
_MOST_NESTED = 50

Monomial: TypeAlias = tuple[tuple[str, int], ...]
"""Factors and their powers, sorted; a factor is a name, or the text of a rounded expression."""


@dataclass(frozen=True)
class Expression:
    """A polynomial in named sizes."""

    terms: tuple[tuple[Monomial, Fraction], ...]
    """Monomials and their coefficients, which are not 0: the highest degree first, then by factors."""

    @staticmethod
    def constant(number: int | Fraction) -> Expression:
        """An expression without names."""
        return _collect([((), Fraction(number))])

    @staticmethod
    def name(name: str) -> Expression:
        """An expression that is one name."""
        return _collect([(((name, 1),), Fraction(1))])

    def rounded(self, rounding: str) -> Expression:
        """The expression rounded up (``ceil``) or down (``floor``) to a whole number."""
        if all(not monomial for monomial, _ in self.terms):
            number = self.terms[0][1] if self.terms else Fraction(0)
            return Expression.constant(math.ceil(number) if rounding == "ceil" else math.floor(number))
        return _collect([(((f"{rounding}({self})", 1),), Fraction(1))])

    def __add__(self, other: Expression) -> Expression:
        """Add."""
        return _collect([*self.terms, *other.terms])

    def __mul__(self, other: Expression | int | Fraction) -> Expression:
        """Multiply."""
        others = other.terms if isinstance(other, Expression) else (((), Fraction(other)),)
        return _collect([(_multiply(a, b), m * n) for a, m in self.terms for b, n in others])

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in it, those in rounded parts among them."""
        factors = {factor for monomial, _ in self.terms for factor, _ in monomial}
        return frozenset(name for factor in factors for name in NAME.findall(factor) if name not in _ROUNDINGS)

    def evaluate(self, sizes: Mapping[str, int]) -> Fraction:
        """The value at given sizes, which is a whole number where the expression holds.

        Raises:
            KeyError: if a size is missing.
        """
        return sum(
            (c * math.prod(_value(factor, sizes) ** power for factor, power in monomial) for monomial, c in self.terms),
            Fraction(0),
        )

    def __str__(self) -> str:
        """The normal form, which `parse_expression` reads: ``B*(T+1)``."""
        return self._write(sorted, lambda factor: factor, "*", "-")

    def readable(self, order: Sequence[str] = ()) -> str:
        """The text for readers: ``B·(T+1)``, ``⌈H/32⌉``, ``T²``.

        Args:
            order: Names in the order in which they stand in products; others follow by the alphabet.
        """
        places = {name: i for i, name in enumerate(order)}

        def ordered(factors: Iterable[str]) -> list[str]:
            return sorted(factors, key=lambda factor: (places.get(factor, len(places)), factor))

        def shown(factor: str) -> str:
            rounding = factor.partition("(")[0]
            if rounding == factor:
                return factor
            left, right = _ROUNDINGS[rounding]
            return left + parse_expression(factor[len(rounding) + 1 : -1]).readable(order) + right

        return self._write(ordered, shown, "·", "−")

    def _write(self, ordered: Ordered, shown: Shown, times: str, minus: str) -> str:
        if not self.terms:
            return "0"
        common = reduce(lambda a, b: a & b, (Counter(dict(monomial)) for monomial, _ in self.terms))
        inner = [(_sorted(Counter(dict(m)) - common), c) for m, c in self.terms]
        # (T+1)/2 has one fraction, and H/32+5 one per term
        denominators = {c.denominator for _, c in inner}
        below = denominators.pop() if len(denominators) == 1 else 1
        above = math.gcd(*(c.numerator for _, c in inner)) if not denominators else 1
        inner = [(m, c * below / above) for m, c in inner]
        front = ([str(above)] if above > 1 else []) + _factors(_sorted(common), ordered, shown, times)
        text = _sum(inner, ordered, shown, times, minus)
        if len(inner) == 1:
            text = text.removesuffix("1") + (times.join(front) or "1")
        elif front or below > 1:
            text = times.join([*front, f"({text})"])
        return f"{text}/{below}" if below > 1 else text


if TYPE_CHECKING:
    from collections.abc import Callable

    Ordered: TypeAlias = Callable[[Iterable[str]], list[str]]
    Shown: TypeAlias = Callable[[str], str]


@lru_cache(maxsize=4096)  # a graph has few different ones
def parse_expression(text: str) -> Expression:
    """Read an expression: whole numbers, names, ``+ - * /``, brackets, ``ceil(…)`` and ``floor(…)``; ``/`` by numbers.

    Raises:
        ModelDiagramsError: for any other text.
    """
    parser = _Parser(text)
    found = parser.read_sum(0)
    if parser.peek():
        raise parser.error(f"expected its end or an operator, got {parser.peek()!r}")
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = []
        end, stripped = 0, text.rstrip()
        while end < len(stripped):
            match = _TOKEN.match(text, end)
            if match is None:
                raise self.error(f"expected a number, a name or one of + - * / ( ), got {stripped[end:].lstrip()[0]!r}")
            self._tokens.append(match[1])
            end = match.end()

    def error(self, problem: str) -> ModelDiagramsError:
        return ModelDiagramsError(f"{self._text!r} is no expression of sizes such as 'B*(T+1)': {problem}")

    def peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def read_sum(self, depth: int) -> Expression:
        sign = -1 if self._skip("-") else 1
        found = self._read_product(depth) * sign
        while (symbol := self.peek()) and symbol in "+-":
            self._tokens.pop(0)
            found += self._read_product(depth) * (1 if symbol == "+" else -1)
        return found

    def _read_product(self, depth: int) -> Expression:
        found = self._read_factor(depth)
        while (symbol := self.peek()) and symbol in "*/":
            self._tokens.pop(0)
            if symbol == "*":
                found *= self._read_factor(depth)
                continue
            divisor = self.peek()
            if not divisor.isdecimal() or not int(divisor):
                raise self.error(f"expected a whole number after /, got {divisor or 'its end'!r}")
            self._tokens.pop(0)
            found *= Fraction(1, int(divisor))
        return found

    def _read_factor(self, depth: int) -> Expression:
        symbol = self.peek()
        if depth > _MOST_NESTED:
            raise self.error(f"expected at most {_MOST_NESTED} brackets inside each other")
        if not symbol or symbol in "+-*/)":
            raise self.error(f"expected a number, a name or (, got {symbol or 'its end'!r}")
        self._tokens.pop(0)
        if symbol.isdecimal():
            return Expression.constant(int(symbol))
        if symbol == "(" or (symbol in _ROUNDINGS and self._skip("(")):
            inner = self.read_sum(depth + 1)
            if not self._skip(")"):
                raise self.error(f"expected ), got {self.peek() or 'its end'!r}")
            return inner if symbol == "(" else inner.rounded(symbol)
        return Expression.name(symbol)

    def _skip(self, symbol: str) -> bool:
        if self.peek() != symbol:
            return False
        self._tokens.pop(0)
        return True


def _collect(terms: Iterable[tuple[Monomial, Fraction]]) -> Expression:
    found: dict[Monomial, Fraction] = defaultdict(Fraction)
    for monomial, coefficient in terms:
        found[monomial] += coefficient
    kept = [(monomial, c) for monomial, c in found.items() if c]
    return Expression(tuple(sorted(kept, key=lambda term: (-sum(power for _, power in term[0]), term[0]))))


def _multiply(a: Monomial, b: Monomial) -> Monomial:
    return _sorted(Counter(dict(a)) + Counter(dict(b)))


def _sorted(factors: Mapping[str, int]) -> Monomial:
    return tuple(sorted(factors.items()))


def _value(factor: str, sizes: Mapping[str, int]) -> Fraction | int:
    rounding = factor.partition("(")[0]
    if rounding == factor:
        return sizes[factor]
    inner = parse_expression(factor[len(rounding) + 1 : -1]).evaluate(sizes)
    return math.ceil(inner) if rounding == "ceil" else math.floor(inner)


def _factors(monomial: Monomial, ordered: Ordered, shown: Shown, times: str) -> list[str]:
    powers = dict(monomial)
    if times == "*":  # the normal form has no powers
        return [shown(factor) for factor in ordered(powers) for _ in range(powers[factor])]
    marks = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return [shown(f) + (str(powers[f]).translate(marks) if powers[f] > 1 else "") for f in ordered(powers)]


def _sum(terms: Sequence[tuple[Monomial, Fraction]], ordered: Ordered, shown: Shown, times: str, minus: str) -> str:
    """A sum that begins with a positive term if there is one."""
    text = ""
    for monomial, c in sorted(terms, key=lambda term: term[1] < 0):
        number = abs(c.numerator)
        factors = _factors(monomial, ordered, shown, times)
        product = times.join(([str(number)] if number != 1 or not factors else []) + factors)
        product += f"/{c.denominator}" if c.denominator > 1 else ""
        text += (minus if c < 0 else "+" if text else "") + product
    return text
