"""Checks that the names and expressions of a graph's sizes fit the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.ir.expressions import NAME, parse_expression
from modeldiagrams.ir.nodes import OpNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.nodes import Node
    from modeldiagrams.ir.sizes import NamedSizes

__all__ = ["check_sizes"]


def check_sizes(graph: Graph, nodes: Mapping[str, Node]) -> None:  # noqa: C901, PLR0912  (one branch per key)
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
    _check_shapes(graph, named, known)
    for field in ("flops", "activation_bytes", "arguments"):
        for name, found in getattr(named, field).items():
            path, op = f"$.sizes.{field}[{name!r}]", nodes.get(name)
            if not isinstance(op, OpNode):
                raise GraphError(path, f"no such op: {name!r}")
            if isinstance(found, str):
                _check_expression(path, found, known, getattr(op, field))
                continue
            for place, text in found.items():
                _check_expression(f"{path}[{place!r}]", text, known, None)
    for name, text in named.times.items():
        if name not in nodes:
            raise GraphError(f"$.sizes.times[{name!r}]", f"no such node: {name!r}")
        _check_expression(f"$.sizes.times[{name!r}]", text, known, None)
    for name, text in named.letters.items():
        if name in named.sizes or not NAME.fullmatch(name):
            raise GraphError(f"$.sizes.letters[{name!r}]", "expected a name that no size has")
        _check_expression(f"$.sizes.letters[{name!r}]", text, known, None)
    for name in named.unknown:
        if name not in nodes and name not in graph.tensors:
            raise GraphError(f"$.sizes.unknown[{name!r}]", "no such node or tensor")


def _check_shapes(graph: Graph, named: NamedSizes, known: Mapping[str, int]) -> None:
    for tensor, sizes in named.tensors.items():
        path = f"$.sizes.tensors[{tensor!r}]"
        shape = graph.tensors[tensor].shape if tensor in graph.tensors else None
        if shape is None or len(shape) != len(sizes):
            raise GraphError(path, "expected an expression or null for each dimension of a tensor in $.tensors")
        for i, (text, size) in enumerate(zip(sizes, shape, strict=True)):
            if text is not None:
                _check_expression(f"{path}[{i}]", text, known, size)


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


def _check_expression(path: str, text: str, known: Mapping[str, int], number: int | str | None) -> None:
    try:
        expression = parse_expression(text)
    except ModelDiagramsError as error:
        raise GraphError(path, str(error)) from error
    if str(expression) != text:
        raise GraphError(path, f"expected the normal form {str(expression)!r}, got {text!r}")
    if unknown := sorted(expression.names - known.keys()):
        raise GraphError(path, f"expected names of sizes that can change, got {', '.join(unknown)}")
    if isinstance(number, int) and expression.evaluate(known) != number:
        raise GraphError(
            path, f"expected {number} at the graph's own sizes, and {text} is {expression.evaluate(known)}"
        )
