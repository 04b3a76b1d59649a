"""Reads the sizes at which someone wants to know a graph: which there are, and which the model takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.expressions import parse_expression

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.sizes import NamedSizes, Size

__all__ = ["complete_sizes", "evaluate_bound", "find_unchecked", "own_sizes"]

_PLAIN = str.maketrans("0123456789'", "₀₁₂₃₄₅₆₇₈₉′")


_NOT_SOUGHT = 'it was traced without; leave out `dims: off`, or write `dims="auto"` in Python'


def find_unchecked(graph: Graph, sizes: Mapping[str, int]) -> dict[str, int]:
    """The largest checked size of each name that is larger here."""
    checked = graph.sizes.checked if graph.sizes else ()
    most = {name: max([own, *(each.get(name, 0) for each in checked)]) for name, own in own_sizes(graph).items()}
    named = graph.sizes.sizes if graph.sizes else {}
    return {name: size for name, size in most.items() if sizes.get(name, 0) > size and not named[name].counted}


def own_sizes(graph: Graph) -> dict[str, int]:
    """The sizes of the pass that a graph shows, of which something is known at others."""
    named = graph.sizes
    if named is None:
        return {}
    return {name: size.size for name, size in named.sizes.items() if not size.fixed and _is_known(named, size)}


def _is_known(named: NamedSizes, size: Size) -> bool:
    """Whether expressions have it, those of its own places first; without any, nothing is known at other sizes."""
    texts = [named.tensors.get(tensor, ())[dimension : dimension + 1] for tensor, dimension in size.places]
    return not texts or any(text not in {(), (None,)} for text in texts)


def complete_sizes(graph: Graph, given: Mapping[str, int]) -> dict[str, int]:
    """Complete some sizes with those of the graph; of sizes that values decide, with the largest possible ones.

    Args:
        graph: The graph.
        given: Name → size. A keyboard's ``n1`` and ``T'`` stand for ``n₁`` and ``T′``.

    Raises:
        ModelDiagramsError: for the first size that is unknown, or that the model or its expressions don't take.
    """
    named = graph.sizes.sizes if graph.sizes else {}
    known = own_sizes(graph)
    names = {name: name if name in named else name.translate(_PLAIN) for name in given}
    for name, number in given.items():
        size = named.get(names[name])
        if size is None or not (size.fixed or names[name] in known):
            raise ModelDiagramsError(f"no size is called {name}{_explain_unknown(graph, known)}")
        if problem := _find_problem(size, number):
            raise ModelDiagramsError(f"{name} = {number}: {problem}")
    sizes = known | {names[name]: number for name, number in given.items() if names[name] in known}
    for name in sizes:
        size, most = named[name], evaluate_bound(named[name], sizes)
        if size.bound and name not in names.values():
            sizes[name] = most
        elif size.bound and sizes[name] > most:
            bound = parse_expression(size.bound).readable([*known])
            raise ModelDiagramsError(f"{name} = {sizes[name]}: expected at most {bound} = {most}")
    _check_whole(graph, sizes)
    return sizes


def evaluate_bound(size: Size, sizes: Mapping[str, int]) -> int:
    """The most that a size can be; without a bound, what it is in the graph."""
    return math.floor(parse_expression(size.bound).evaluate(sizes)) if size.bound else size.size


def _check_whole(graph: Graph, sizes: Mapping[str, int]) -> None:
    """Check that shapes have whole sizes, also where it takes several names: in ``H*W/256``."""
    shapes = graph.sizes.tensors.values() if graph.sizes else ()
    for text in dict.fromkeys(text for shape in shapes for text in shape if text is not None):
        expression = parse_expression(text)
        if expression.evaluate(sizes).denominator > 1:
            given = ", ".join(f"{name} = {size}" for name, size in sizes.items() if name in expression.names)
            raise ModelDiagramsError(f"{given}: expected sizes for which {expression.readable()} is a whole number")


def _explain_unknown(graph: Graph, known: Mapping[str, int]) -> str:
    if known:
        return f"; there are {', '.join(known)}"
    reasons = " ".join(graph.sizes.notes if graph.sizes else ()) or _NOT_SOUGHT
    return f", because {graph.model.name} has no sizes with names: {reasons}"


def _find_problem(size: Size, number: int) -> str:
    """Say why a size can't be this number; empty if it can."""
    if number == size.size:
        return ""
    if size.fixed:
        return f"it is always {size.size}: {size.fixed}"
    if size.at_most is not None and number > size.at_most:
        checked = f"expressions are checked up to {size.at_most} only; trace the model at a larger size"
        return f"the model takes at most {size.at_most} ({size.limit})" if size.limit else checked
    least = 0 if size.counted else size.at_least
    if number < least:
        return f"expected at least {least}, the smallest that was tried; for smaller ones, trace the model at one"
    step, more = size.multiple_of, f" plus {size.remainder}" if size.remainder else ""
    low = number - (number - size.remainder) % step
    near = [str(n) for n in (low, low + step) if n >= least and (size.at_most is None or n <= size.at_most)]
    nearest = f"the nearest {'are' if near[1:] else 'is'} {' and '.join(near)}" if near else "take another"
    return "" if low == number else f"expressions hold for multiples of {step}{more}; {nearest}"
