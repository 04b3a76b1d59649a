"""Shapes with names as texts, ``B×(T+1)×768``, as the viewer writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.ir.chosen_sizes import own_sizes
from modeldiagrams.ir.expressions import parse_expression

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.sizes import Size

__all__ = ["named_shape", "say_sizes", "shape_at"]


def named_shape(graph: Graph, tensor: str) -> str:
    """The shape of a tensor as a text; ``1×16×768`` if no size of it has a name, and empty if it is unknown."""
    shape = graph.tensors[tensor].shape
    if shape is None:
        return ""
    names = graph.sizes.tensors.get(tensor) if graph.sizes else None
    order = [*graph.sizes.sizes] if graph.sizes else []
    texts = [
        str(size) if text is None else _write_size(text, order)
        for size, text in zip(shape, names or [None] * len(shape), strict=True)
    ]
    return "×".join(texts) or "scalar"


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


def say_sizes(graph: Graph) -> str:
    """The names of a graph's sizes in one line: ``B batch · T tokens, 16 here``; empty if there are none."""
    if graph.sizes is None:
        return ""
    found = [(name, graph.sizes.sizes[name]) for name in own_sizes(graph)]
    texts = []
    while found:
        name, size = found.pop(0)
        is_image = size.meaning == "height" and found and found[0][1].meaning == "width"
        other, width = found.pop(0) if is_image else (name, size)
        here, names, meaning = str(size.size), name, size.meaning
        if is_image:
            here, names, meaning = f"{size.size}×{width.size}", f"{name}×{other}", "image"
        if size.counted:
            most = f", at most {parse_expression(size.bound).readable([*graph.sizes.sizes])}" if size.bound else ""
            texts.append(f"{names} depends on values{most}")
        else:
            texts.append(f"{names} {meaning}".rstrip() + f", {here} here{_say_domain(size)}")
    texts += [
        f"{letter} = {parse_expression(text).readable([*graph.sizes.sizes])}"
        for letter, text in graph.sizes.letters.items()
    ]
    return " · ".join(texts)


def _say_domain(size: Size) -> str:
    step = f", multiples of {size.multiple_of}" if size.multiple_of > 1 else ""
    more = f" plus {size.remainder}" if size.remainder else ""
    return step + more + (f", at most {size.at_most}" if size.at_most is not None else "")


def _write_size(text: str, order: Sequence[str]) -> str:
    """Write one size; a sum has brackets, because × stands next to it."""
    written = parse_expression(text).readable(order)
    depth = 0
    for character in written:
        depth += (character in "(⌈⌊") - (character in ")⌉⌋")
        if character in "+−" and not depth:
            return f"({written})"
    return written
