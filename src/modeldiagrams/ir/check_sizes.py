"""Checks that the names and expressions of a graph's sizes fit the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.ir.expressions import NAME, parse_expression
from modeldiagrams.ir.nodes import OpNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    for path, text, number in _list_expressions(graph, named, nodes):
        _check_expression(f"$.sizes.{path}", text, known, number)
    for name in named.unknown:
        if name not in nodes and name not in graph.tensors:
            raise GraphError(f"$.sizes.unknown[{name!r}]", "no such node or tensor")


def _list_expressions(
    graph: Graph, named: NamedSizes, nodes: Mapping[str, Node]
) -> Iterator[tuple[str, str, int | None]]:
    """Yield every expression with its path and its number at the graph's own sizes, if that is known."""
    for tensor, sizes in named.tensors.items():
        shape = graph.tensors[tensor].shape if tensor in graph.tensors else None
        if shape is None or len(shape) != len(sizes):
            problem = "expected an expression or null for each dimension of a tensor in $.tensors"
            raise GraphError(f"$.sizes.tensors[{tensor!r}]", problem)
        for i, (text, size) in enumerate(zip(sizes, shape, strict=True)):
            if text is not None:
                yield f"tensors[{tensor!r}][{i}]", text, size if isinstance(size, int) else None
    for field in ("flops", "activation_bytes", "arguments"):
        for name, found in getattr(named, field).items():
            path, op = f"{field}[{name!r}]", nodes.get(name)
            if not isinstance(op, OpNode):
                raise GraphError(f"$.sizes.{path}", f"no such op: {name!r}")
            if field == "arguments":
                yield from ((f"{path}[{place!r}]", text, None) for place, text in found.items())
            else:
                yield path, found, getattr(op, field)
    for name, text in named.times.items():
        if name not in nodes:
            raise GraphError(f"$.sizes.times[{name!r}]", f"no such node: {name!r}")
        yield f"times[{name!r}]", text, None
    for name, text in named.letters.items():
        if name in named.sizes or not NAME.fullmatch(name):
            raise GraphError(f"$.sizes.letters[{name!r}]", "expected a name that no size has")
        yield f"letters[{name!r}]", text, None


def _check_names(graph: Graph, named: NamedSizes) -> None:
    for name, size in named.sizes.items():
        path = f"$.sizes.sizes[{name!r}]"
        if not NAME.fullmatch(name):
            raise GraphError(path, f"expected a name such as T, n₁ or num_frames, got {name!r}")
        for i, (tensor, dimension) in enumerate(size.places):
            shape = graph.tensors[tensor].shape if tensor in graph.tensors else None
            if shape is None or not 0 <= dimension < len(shape) or shape[dimension] != size.size:
                raise GraphError(
                    f"{path}.places[{i}]", f"expected a dimension of size {size.size} of a tensor in $.tensors"
                )
        if size.counted and size.counted not in graph.hierarchy:
            raise GraphError(f"{path}.counted", f"no such node: {size.counted!r}")


def _check_expression(path: str, text: str, known: Mapping[str, int], number: int | None) -> None:
    try:
        expression = parse_expression(text)
    except ModelDiagramsError as error:
        raise GraphError(path, str(error)) from error
    if str(expression) != text:
        raise GraphError(path, f"expected the normal form {str(expression)!r}, got {text!r}")
    if unknown := sorted(expression.names - known.keys()):
        raise GraphError(path, f"expected names of sizes that can change, got {', '.join(unknown)}")
    if number is not None and expression.evaluate(known) != number:
        raise GraphError(
            path, f"expected {number} at the graph's own sizes, and {text} is {expression.evaluate(known)}"
        )
