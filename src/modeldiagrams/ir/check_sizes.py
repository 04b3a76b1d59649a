"""Checks that the names and expressions of a graph's sizes fit the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.ir.expressions import NAME, parse_expression
from modeldiagrams.ir.nodes import OpNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.nodes import Node
    from modeldiagrams.ir.sizes import NamedSizes

__all__ = ["check_sizes"]


def check_sizes(graph: Graph, nodes: Mapping[str, Node]) -> None:
    """Check that every reference holds, and that expressions give the numbers of the graph at its own sizes.

    Raises:
        GraphError: for the first that doesn't, with its JSON path.
    """
    named = graph.sizes
    if named is None:
        return
    if graph.cases:
        raise GraphError("$.sizes", "expected null in a graph of several cases")
    _check_names(graph, named)
    known = {name: size.size for name, size in named.sizes.items() if not size.fixed}
    values: dict[str, Fraction] = {}  # few, at thousands of tensors
    for expressions in (_list_shapes(graph, named), _list_of_nodes(named, nodes), _list_letters(named)):
        for path, text, number in expressions:
            if text not in values:
                values[text] = _evaluate(f"$.sizes.{path}", text, known)
            if isinstance(number, int) and values[text] != number:
                problem = f"expected {number} at the graph's own sizes, and {text} is {values[text]}"
                raise GraphError(f"$.sizes.{path}", problem)
    for name in named.unknown:
        _expect(name in nodes or name in graph.tensors, f"unknown[{name!r}]", "no such node or tensor")


def _check_names(graph: Graph, named: NamedSizes) -> None:
    for name, size in named.sizes.items():
        path = f"sizes[{name!r}]"
        _expect(bool(NAME.fullmatch(name)), path, f"expected a name such as T, n₁ or num_frames, got {name!r}")
        for i, (tensor, dimension) in enumerate(size.places):
            shape = graph.tensors[tensor].shape if tensor in graph.tensors else None
            is_there = shape is not None and 0 <= dimension < len(shape) and shape[dimension] == size.size
            problem = f"expected a dimension of size {size.size} of a tensor in $.tensors"
            _expect(is_there, f"{path}.places[{i}]", problem)
        is_step = size.multiple_of > size.remainder >= 0
        _expect(is_step, f"{path}.multiple_of", f"expected more than the remainder, got {size.multiple_of}")
        _expect(
            not size.counted or size.counted in graph.hierarchy, f"{path}.counted", f"no such node: {size.counted!r}"
        )


def _list_shapes(graph: Graph, named: NamedSizes) -> Iterator[tuple[str, str, int | str | None]]:
    """Yield path, expression and its number at the graph's own sizes; None if that is not known."""
    for tensor, sizes in named.tensors.items():
        path, shape = f"tensors[{tensor!r}]", graph.tensors[tensor].shape if tensor in graph.tensors else None
        problem = "expected an expression or null for each dimension of a tensor in $.tensors"
        _expect(shape is not None and len(shape) == len(sizes), path, problem)
        pairs = enumerate(zip(sizes, shape or (), strict=True))
        yield from ((f"{path}[{i}]", text, size) for i, (text, size) in pairs if text is not None)


def _list_of_nodes(named: NamedSizes, nodes: Mapping[str, Node]) -> Iterator[tuple[str, str, int | None]]:
    for field in ("flops", "activation_bytes", "arguments"):
        for name, found in getattr(named, field).items():
            path = f"{field}[{name!r}]"
            _expect(isinstance(nodes.get(name), OpNode), path, f"no such op: {name!r}")
            if isinstance(found, str):
                yield path, found, getattr(nodes[name], field)
            else:
                yield from ((f"{path}[{place!r}]", text, None) for place, text in found.items())
    for name, text in named.times.items():
        _expect(name in nodes, f"times[{name!r}]", f"no such node: {name!r}")
        yield f"times[{name!r}]", text, None


def _list_letters(named: NamedSizes) -> Iterator[tuple[str, str, None]]:
    for name, size in named.sizes.items():
        if size.bound:
            yield f"sizes[{name!r}].bound", size.bound, None
    for name, text in named.letters.items():
        is_free = name not in named.sizes and bool(NAME.fullmatch(name))
        _expect(is_free, f"letters[{name!r}]", "expected a name that no size has")
        yield f"letters[{name!r}]", text, None


def _expect(is_right: bool, path: str, problem: str) -> None:  # noqa: FBT001
    if not is_right:
        raise GraphError(f"$.sizes.{path}", problem)


def _evaluate(path: str, text: str, known: Mapping[str, int]) -> Fraction:
    try:
        expression = parse_expression(text)
    except ModelDiagramsError as error:
        raise GraphError(path, str(error)) from error
    if str(expression) != text:
        raise GraphError(path, f"expected the normal form {str(expression)!r}, got {text!r}")
    if unknown := sorted(expression.names - known.keys()):
        raise GraphError(path, f"expected names of sizes that can change, got {', '.join(unknown)}")
    return expression.evaluate(known)
