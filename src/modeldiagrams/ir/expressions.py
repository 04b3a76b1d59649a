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
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from modeldiagrams.errors import ModelDiagramsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["NAME", "POWERS", "Expression", "parse_expression", "split_rounded"]

NAME = re.compile(r"[^\W\d_]\w*′*")
"""The name of a size: ``T``, ``T′``, ``n₁``, ``num_frames``."""
POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_NUMBER = re.compile("[0-9]{1,4000}")  # Python reads no longer ones
_TOKEN = re.compile(rf"{_NUMBER.pattern}|{NAME.pattern}|\S")
_ROUNDINGS = {"ceil": "⌈{}⌉", "floor": "⌊{}⌋"}
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
            number = self.evaluate({})
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
        return self._write({}, "*", "-")

    def readable(self, order: Sequence[str] = ()) -> str:
        """The text for readers: ``B·(T+1)``, ``⌈H/32⌉``, ``T²``.

        Args:
            order: Names in the order in which they stand in products; others follow by the alphabet.
        """
        return self._write({name: i for i, name in enumerate(order)}, "·", "−")

    def _write(self, places: Mapping[str, int], times: str, minus: str) -> str:
        if not self.terms:
            return "0"

        def factors(monomial: Monomial) -> list[str]:
            return _write_factors(monomial, places, is_normal=times == "*")

        common = reduce(lambda a, b: a & b, (Counter(dict(monomial)) for monomial, _ in self.terms))
        inner = [(_sorted(Counter(dict(m)) - common), c) for m, c in self.terms]
        # (T+1)/2 has one fraction, and H/32+5 one per term
        denominators = {c.denominator for _, c in inner}
        below = denominators.pop() if len(denominators) == 1 else 1
        above = math.gcd(*(c.numerator for _, c in inner)) if not denominators else 1
        front = ([str(above)] if above > 1 else []) + factors(_sorted(common))
        text = ""
        for monomial, c in sorted(inner, key=lambda term: term[1] < 0):  # a positive term first, if there is one
            n = c * below / above
            words = factors(monomial)
            product = times.join(([str(abs(n.numerator))] if abs(n.numerator) != 1 or not words else []) + words)
            text += (minus if c < 0 else "+" if text else "") + product
            text += f"/{n.denominator}" if n.denominator > 1 else ""
        if len(inner) == 1:
            text = text.removesuffix("1") + (times.join(front) or "1")
        elif front or below > 1:
            text = times.join([*front, f"({text})"])
        return f"{text}/{below}" if below > 1 else text


def split_rounded(factor: str) -> tuple[str, Expression | None]:
    """The rounding of a factor and what is rounded; for a name, the name and None."""
    rounding, bracket, inner = factor.partition("(")
    return rounding, parse_expression(inner[:-1]) if bracket else None


@lru_cache(maxsize=4096)  # a graph has few different ones
def parse_expression(text: str) -> Expression:
    """Read an expression: whole numbers, names, ``+ - * /``, brackets, ``ceil(…)`` and ``floor(…)``; ``/`` by numbers.

    Raises:
        ModelDiagramsError: for any other text.
    """
    parser = _Parser(text)
    found = parser.read_sum(0)
    parser.expect("", "its end or an operator")
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*_TOKEN.findall(text), ""]

    def expect(self, symbol: str, what: str) -> None:
        if self._tokens[0] != symbol:
            self._fail(what)
        self._tokens = self._tokens[1:]

    def read_sum(self, depth: int) -> Expression:
        sign = -1 if self._take("-") else 1
        found = self._read_product(depth) * sign
        while symbol := self._take("+", "-"):
            found += self._read_product(depth) * (1 if symbol == "+" else -1)
        return found

    def _read_product(self, depth: int) -> Expression:
        found = self._read_factor(depth)
        while symbol := self._take("*", "/"):
            if symbol == "*":
                found *= self._read_factor(depth)
                continue
            if not _NUMBER.fullmatch(self._tokens[0]) or not int(self._tokens[0]):
                self._fail("a whole number after /")
            found *= Fraction(1, int(self._tokens.pop(0)))
        return found

    def _read_factor(self, depth: int) -> Expression:
        if depth > _MOST_NESTED:
            self._fail(f"at most {_MOST_NESTED} brackets inside each other")
        symbol = self._tokens[0]
        if _NUMBER.fullmatch(symbol):
            return Expression.constant(int(self._tokens.pop(0)))
        if symbol != "(" and not NAME.fullmatch(symbol):
            self._fail("a number, a name or (")
        self._tokens.pop(0)
        if symbol == "(" or (symbol in _ROUNDINGS and self._take("(")):
            inner = self.read_sum(depth + 1)
            self.expect(")", ")")
            return inner if symbol == "(" else inner.rounded(symbol)
        return Expression.name(symbol)

    def _take(self, *symbols: str) -> str:
        return self._tokens.pop(0) if self._tokens[0] in symbols else ""

    def _fail(self, what: str) -> NoReturn:
        raise ModelDiagramsError(
            f"{self._text!r} is no expression of sizes such as 'B*(T+1)': expected {what},"
            f" got {self._tokens[0] or 'its end'!r}"
        )


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


def _value(factor: str, sizes: Mapping[str, int]) -> int:
    rounding, inner = split_rounded(factor)
    if inner is None:
        return sizes[factor]
    return math.ceil(inner.evaluate(sizes)) if rounding == "ceil" else math.floor(inner.evaluate(sizes))


def _write_factors(monomial: Monomial, places: Mapping[str, int], *, is_normal: bool) -> list[str]:
    texts = []
    for factor, power in sorted(monomial, key=lambda one: (places.get(one[0], len(places)), one[0])):
        if is_normal:  # it has no powers
            texts += [factor] * power
            continue
        rounding, inner = split_rounded(factor)
        text = factor if inner is None else _ROUNDINGS[rounding].format(inner.readable([*places]))
        texts.append(text + (str(power).translate(POWERS) if power > 1 else ""))
    return texts
