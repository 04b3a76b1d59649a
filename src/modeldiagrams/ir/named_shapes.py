"""Shapes with names as texts, ``B×(T+1)×768``, and what the names mean.

`viewer/src/view/labels/size_words.ts` and `size_line.ts` write the same texts.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING

from modeldiagrams.ir.chosen_sizes import own_sizes
from modeldiagrams.ir.expressions import Expression, parse_expression
from modeldiagrams.ir.nodes import OpNode
from modeldiagrams.ir.queries import short_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.sizes import NamedSizes, Size

__all__ = ["is_counted", "named_shape", "say_sizes", "shape_at"]

_NAME_OF_LIMIT = re.compile(r"[\w.]{1,40}")
"""The name of a weight; a longer limit is a model's message."""


def named_shape(graph: Graph, tensor: str) -> str:
    """The shape of a tensor as a text; ``1×16×768`` if no size of it has a name, and empty if it is unknown."""
    shape, named = graph.tensors[tensor].shape, graph.sizes
    if shape is None:
        return ""
    names = named.tensors.get(tensor, ()) if named else ()
    texts = [_write_size(named, text) if named and text else str(size) for size, text in zip_longest(shape, names)]
    return "×".join([_write_factor(text) for text in texts] if len(texts) > 1 else texts) or "scalar"


def is_counted(graph: Graph, tensor: str) -> bool:
    """Whether values decide a size of a tensor, and it has a name."""
    counted = {name for name, size in graph.sizes.sizes.items() if size.counted} if graph.sizes else set()
    texts = graph.sizes.tensors.get(tensor, ()) if graph.sizes and counted else ()
    return any(not counted.isdisjoint(parse_expression(text).names) for text in texts if text)


def shape_at(graph: Graph, tensor: str, sizes: Mapping[str, int]) -> str:
    """The shape of a tensor at other sizes as a text, with ``?`` for what is unknown there; see `complete_sizes`."""
    shape = graph.tensors[tensor].shape
    if shape is None:
        return ""
    names = (graph.sizes.tensors.get(tensor) if graph.sizes else None) or [None] * len(shape)
    is_unknown = graph.sizes is not None and tensor in graph.sizes.unknown and sizes != own_sizes(graph)
    texts = [
        str(parse_expression(text).evaluate(sizes)) if text else "?" if is_unknown else str(size)
        for size, text in zip(shape, names, strict=True)
    ]
    return "×".join(texts) or "scalar"


def say_sizes(graph: Graph, *, has_costs: bool = False) -> str:
    """The names of a graph's sizes in one line: ``B batch · T tokens, 16 here``; empty if there are none.

    Args:
        graph: The graph.
        has_costs: Whether costs are around it, which also depend on the size of the batch: ``B batch, 2 here``.
    """
    named = graph.sizes
    if named is None:
        return ""
    known = own_sizes(graph)
    listed = [(name, named.sizes[name]) for name in known]
    stand_for = {letter: parse_expression(text) for letter, text in named.letters.items()}
    letters = [f"{one} = {each.readable([*known])}" for one, each in stand_for.items() if each.names <= known.keys()]
    counted = [_say_counted(graph, named, name, size) for name, size in listed if size.counted]
    moved = _say_sizes([(name, size) for name, size in listed if not size.counted], has_costs=has_costs)
    return " · ".join([*moved, *letters, *counted])


def _say_sizes(listed: list[tuple[str, Size]], *, has_costs: bool) -> list[str]:
    """Say what they mean; height and width of one image together."""
    texts = []
    while listed:
        (name, size), *listed = listed
        meaning, here = size.meaning, str(size.size)
        other, width = listed[0] if listed else (name, size)
        if (meaning, width.meaning) == ("height", "width") and _say_limits(size) == _say_limits(width):
            del listed[0]
            name, meaning, here = f"{name}×{other}", "image", f"{here}×{width.size}"
        # but for costs, batches of any size are alike
        shown = [] if meaning == "batch" and not has_costs else [f"{here} here"]
        texts.append(", ".join([f"{name} {meaning}".rstrip(), *shown, *_say_limits(size)]))
    return texts


def _say_limits(size: Size) -> list[str]:
    plus = f" plus {size.remainder}" if size.remainder else ""
    why = f" ({size.limit})" if _NAME_OF_LIMIT.fullmatch(size.limit) else ""
    steps = [f"multiples of {size.multiple_of}{plus}"] if size.multiple_of > 1 else []
    most = f"at most {size.at_most}{why}" if size.limit else f"checked up to {size.at_most}"
    return [*steps, *([] if size.at_most is None else [most])]


def _say_counted(graph: Graph, named: NamedSizes, name: str, size: Size) -> str:
    node = graph.by_id.get(size.counted)
    by = short_name(node.name) if isinstance(node, OpNode) else size.counted
    return f"{name} picked by {by}" + (f", at most {_write_size(named, size.bound)}" if size.bound else "")


def _write_size(named: NamedSizes, text: str) -> str:
    return _write_expression(text, tuple(named.letters.items()), tuple(named.sizes))


@functools.lru_cache(maxsize=4096)  # a graph has few different ones
def _write_expression(text: str, stand_for: tuple[tuple[str, str], ...], names: tuple[str, ...]) -> str:
    letters = {letter: parse_expression(stands) for letter, stands in stand_for}
    return _abbreviate(parse_expression(text), letters).readable([*names, *letters])


def _abbreviate(whole: Expression, letters: Mapping[str, Expression]) -> Expression:
    """Put letters for expressions that are the whole, a factor, or a term of it."""
    factors = {letter: _ratio(whole, stands) for letter, stands in letters.items()}
    found = [factor * Expression.name(letter) for letter, factor in factors.items() if factor]
    if found:  # a letter alone before a multiple of another
        return min(found, key=lambda one: len(one.terms[0][0]) + (one.terms[0][1] != 1))
    if len(whole.terms) < 2:  # noqa: PLR2004
        return whole
    return functools.reduce(Expression.__add__, (_abbreviate(Expression((term,)), letters) for term in whole.terms))


def _ratio(whole: Expression, part: Expression) -> Expression | None:
    """The term by which the part is multiplied in the whole: 1, or a whole number with names; None if there is none."""
    for monomial, c in whole.terms if part.terms else ():
        first, d = part.terms[0]
        powers = Counter(dict(monomial))
        powers.subtract(dict(first))
        factor = Expression(((tuple(sorted((+powers).items())), c / d),))
        is_fit = (c / d).denominator == 1 and (c == d or any(powers.values())) and min(powers.values(), default=0) >= 0
        if is_fit and factor * part == whole:
            return factor
    return None


def _write_factor(text: str) -> str:
    """A sum has brackets, because × stands next to it."""
    depth = 0
    for character in text:
        depth += (character in "(⌈⌊") - (character in ")⌉⌋")
        if character in "+−" and not depth:
            return f"({text})"
    return text
