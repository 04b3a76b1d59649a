"""Suggests an entry of the option `inputs` if an op of the forward can't use the dtype or the values of an input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modeldiagrams.ir.nodes import InputNode, OpNode
from modeldiagrams.ir.queries import short_name

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph

__all__ = ["find_input_hint"]

_INDICES = {
    "embedding": ("input",),
    "embedding_bag": ("input",),
    "cross_entropy": ("target",),
    "nll_loss": ("target",),
    "one_hot": ("self", "input"),
    "gather": ("index",),
    "index_select": ("index",),
    "scatter": ("index",),
    "scatter_add": ("index",),
    "take_along_dim": ("indices",),
}
"""Arguments of ops that are whole numbers."""
_SAME_VALUES = frozenset(
    ["view", "reshape", "flatten", "transpose", "permute", "squeeze", "unsqueeze", "contiguous", "clone", "getitem"]
)
"""Ops whose result has the dtype and values of their input."""
_IS_OF_DTYPES = re.compile(r"\b(d?types?|scalar types?)\b|not implemented for", re.IGNORECASE)
_IS_OF_MAP = re.compile(r"not dict\b|got \(dict\b|'dict' and|and 'dict'")
_IS_OUT_OF_RANGE = re.compile(r"out of (range|bounds)")


def find_input_hint(graph: Graph) -> str:
    """Return the end of the sentence on an error: the input at fault and an entry to paste; or nothing."""
    error = graph.status.error
    if error is None:
        return ""
    if error.type == "TypeError" and _IS_OF_MAP.search(error.message):
        return _map_hint(graph)
    op = graph.by_id.get(error.node or "")
    if not isinstance(op, OpNode):
        return ""
    for argument, tensor in _list_arguments(graph, op):
        given = _list_given(graph, tensor)
        fault = _find_fault(graph, op, argument, graph.tensors[tensor].dtype, error.message) if given else None
        if given and fault:
            return _format_hint(graph, given, *fault)
    return ""


def _find_fault(graph: Graph, op: OpNode, argument: str, dtype: str, message: str) -> tuple[str, str] | None:
    """Describe what is wrong with an argument of a failed op, and what its entry needs instead of a bare shape."""
    if argument in _INDICES.get(short_name(op.name), ()):
        high = _list_classes(graph, op)
        if dtype.startswith(("float", "bfloat")):
            return f"is {dtype}, expected int64", f"dtype: int64, high: {high}" if high else "dtype: int64"
        if high and _IS_OUT_OF_RANGE.search(message):
            return f"has values outside 0 to {high - 1}", f"dtype: int64, high: {high}"
        return None
    wanted = _find_weight_dtype(graph, op)
    if wanted not in {None, dtype} and _IS_OF_DTYPES.search(message):
        return f"is {dtype}, expected {wanted}", "" if wanted == "float32" else f"dtype: {wanted}"
    return None


def _map_hint(graph: Graph) -> str:
    """Explain that an op got a map, as from an entry with a misspelt key."""
    node = next((node for node in graph.nodes if isinstance(node, InputNode) and "." in node.name), None)
    if node is None:
        return ""
    name, _, key = node.name.rpartition(".")
    return f"; the input `{name}` is a map with the key `{key}`: for one tensor, write `{name}: {{shape: [1, 4]}}`"


def _list_arguments(graph: Graph, op: OpNode) -> list[tuple[str, str]]:
    """Return the names and ids of an op's tensor arguments."""
    edges = (edge for edges in graph.adjacency.values() for edge in edges)
    return [(edge.argument or "", edge.tensor) for edge in edges if edge.to == op.id]


def _list_given(graph: Graph, tensor: str) -> InputNode | None:
    """Return the input that a tensor has its dtype and values from."""
    makers = {output: node for node in graph.nodes for output in getattr(node, "outputs", ())}
    node = makers.get(tensor)
    while isinstance(node, OpNode) and short_name(node.name) in _SAME_VALUES:
        arguments = _list_arguments(graph, node)
        node = makers.get(arguments[0][1]) if len(arguments) == 1 else None
    return node if isinstance(node, InputNode) else None


def _list_classes(graph: Graph, op: OpNode) -> int:
    """Return the number of rows of an embedding or classes of a loss; 0 if unknown."""
    name = short_name(op.name)
    if name.startswith("embedding"):
        return _read_size(_list_shapes(graph, op).get("weight"), 0)
    if name in {"cross_entropy", "nll_loss"}:
        shape = _list_shapes(graph, op).get("input")
        return _read_size(shape, min(1, len(shape or ()) - 1))
    return 0


def _list_shapes(graph: Graph, op: OpNode) -> dict[str, tuple[int | str, ...] | None]:
    weights = {name: graph.parameters[key].shape for name, key in op.weights.items() if key in graph.parameters}
    return {**weights, **{name: graph.tensors[tensor].shape for name, tensor in _list_arguments(graph, op)}}


def _read_size(shape: tuple[int | str, ...] | None, axis: int) -> int:
    size = shape[axis] if shape else 0
    return size if isinstance(size, int) else 0


def _find_weight_dtype(graph: Graph, op: OpNode) -> str | None:
    """Return the dtype of an op's weights, if they have only one."""
    dtypes = {graph.parameters[name].dtype for name in op.weights.values() if name in graph.parameters}
    return dtypes.pop() if len(dtypes) == 1 else None


def _format_hint(graph: Graph, given: InputNode, came: str, parts: str) -> str:
    """Build the hint; for the only input, with the whole option."""
    shape = [*(graph.tensors[given.outputs[0]].shape or ())]
    entry = f"{{shape: {shape}, {parts}}}" if parts else f"{shape}"
    if not given.name.isidentifier():
        way = f"`{entry}` as its entry in the option `inputs`"
    elif sum(isinstance(node, InputNode) for node in graph.nodes) == 1:
        way = f"`inputs: {{{given.name}: {entry}}}`"
    else:
        way = f"`{given.name}: {entry}` in the option `inputs`"
    return f"; the input `{given.name}` {came}: write {way}"
