"""Letters for long expressions that many shapes have: ``N`` for ``H*W/256``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from modeldiagrams.ir.expressions import Expression, parse_expression

if TYPE_CHECKING:
    from modeldiagrams.ir.sizes import NamedSizes

__all__ = ["choose_letters", "has_part"]

_LETTERS, _DIGITS = "NMKPQR", "₁₂₃₄₅₆₇₈₉"
_FEWEST_TENSORS = 4
_SHORTEST = 6
"""Characters of an expression that is long: ``H·W/16``, but not ``2·T−1``."""


def choose_letters(named: NamedSizes) -> dict[str, str]:
    """Return letters for repeated expressions, in the order of their tensors; those of the author are taken already."""
    counts = Counter(part for texts in named.tensors.values() for part in {_find_part(text) for text in texts if text})
    order = [part for part, count in counts.items() if part and count >= _FEWEST_TENSORS]
    stands = [parse_expression(text) for text in named.letters.values()]
    chosen: list[str] = []
    for part in sorted(order, key=lambda part: (len(parse_expression(part).names), -counts[part], part)):
        # `B*H*W/256` is `B·N` if `H*W/256` is `N`
        if len(chosen) < len(_DIGITS) and not any(_is_multiple(parse_expression(part), one) for one in stands):
            chosen.append(part)
            stands.append(parse_expression(part))
    taken = {name[0] for name in (*named.sizes, *named.letters)}
    letter = next((one for one in _LETTERS if one not in taken), None)
    names = [letter + digit for digit in _DIGITS] if letter and len(chosen) > 1 else [*filter(None, [letter])]
    return dict(zip(names, [part for part in order if part in chosen], strict=False))


def has_part(size: Expression, text: str) -> bool:
    """Whether a letter for a text shortens a size: its product, or its terms with names, as in ``N+5``."""
    part, named = parse_expression(text), Expression(tuple(term for term in size.terms if term[0]))
    return any(_is_multiple(whole, part) for whole in (size, named))


def _find_part(text: str) -> str:
    """The part that may get a letter: of ``H*W/256+5``, what is before ``+5``; empty for a short expression."""
    whole = parse_expression(text)
    for part in (Expression(tuple(term for term in whole.terms if term[0])), whole):
        readable = part.readable()
        if len(readable) >= _SHORTEST and sum(readable.count(sign) for sign in "·/+−⌈⌊") > 1:
            return str(part)
    return ""


def _is_multiple(whole: Expression, part: Expression) -> bool:
    """Whether a letter for a part shortens the whole: ``12*B*N``, and not ``4*N``."""
    if len(whole.terms) != 1 or len(part.terms) != 1:
        return whole == part
    (monomial, c), (other, d) = whole.terms[0], part.terms[0]
    rest = Counter(dict(monomial))
    rest.subtract(dict(other))
    return min(rest.values()) >= 0 and (c / d).denominator == 1 and (c == d or any(rest.values()))
