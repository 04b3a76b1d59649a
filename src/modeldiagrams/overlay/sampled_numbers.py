"""Makes numbers of nodes from a graph's samples: the lenses of `values: sample`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from modeldiagrams.errors import OptionError
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.overlay.numbers import GivenNumbers, Scale

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.samples import TensorSample

__all__ = ["read_samples"]


def read_samples(graph: Graph) -> list[GivenNumbers]:
    """Make numbers of the first tensor of each node, if it is of floats: spread, mean, range, zeros, and NaN if any.

    Raises:
        OptionError: if the graph has no samples.
    """
    if graph.samples is None:
        why = next((note for note in graph.status.notes if note.startswith("Values were not sampled")), None)
        why = why or ("a graph of several passes has no samples" if graph.cases else None)
        hint = why or "this graph has no samples; trace the model with `values: sample`, in Python with `sample=True`"
        raise OptionError("values", hint)
    known = graph.samples.tensors
    nodes: dict[str, TensorSample] = {}
    for node in graph.nodes:
        outputs = [*node.outputs.values()] if isinstance(node, ModuleNode) else [*getattr(node, "outputs", ())]
        is_float = bool(outputs) and "float" in graph.tensors[outputs[0]].dtype  # ids of tokens have no scale
        if is_float and outputs[0] in known:
            nodes[node.id] = known[outputs[0]]
    finite = {name: one for name, one in nodes.items() if one.mean is not None}
    whose = " (random inputs)" if graph.samples.random_inputs else ""
    columns: list[tuple[str, Scale, dict[str, float | None]]] = [
        ("Spread", "linear", {name: one.std for name, one in finite.items()}),
        ("Mean", "diverging", {name: one.mean for name, one in finite.items()}),
        ("Range", "linear", {name: _range(one) for name, one in finite.items()}),
        ("Zeros", "linear", {name: one.zeros for name, one in nodes.items()}),
        ("NaN or infinite", "linear", {name: one.nan + one.inf for name, one in nodes.items() if one.nan + one.inf}),
    ]
    return [
        GivenNumbers(name=name + whose, scale=scale, format=".1%" if name == "Zeros" else "", values=values)
        for name, scale, values in columns
        if values
    ]


def _range(sample: TensorSample) -> float | None:
    found = (sample.max or 0) - (sample.min or 0)
    return found if math.isfinite(found) else None
