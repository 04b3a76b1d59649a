"""The figures of a model, with which lists of models compare it with others."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec

from modeldiagrams.ir.bounds import bounds_of
from modeldiagrams.ir.graph import Graph, InputNode, ModuleNode, OpNode
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.structure import structural_digest

__all__ = ["Figures", "list_figures"]

Sign = Literal["", "≤", "≈", "≥"]


class Figures(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What lists of models say of one model, without its graph."""

    class_: str = msgspec.field(name="class")
    """Fully qualified class of the model."""
    state: Literal["complete", "partial", "hierarchy"]
    """As in the graph's status; costs are only known of a complete pass."""
    parameters: int
    """Number of parameters; tied ones once."""
    flops: int | None = None
    """Floating point operations of the pass, a multiply-add counts as two; None if not counted."""
    flops_sign: Sign = ""
    """Whether the number is only a bound or an estimate."""
    activation_bytes: int | None = None
    """Bytes of all op outputs of the pass; None if not counted."""
    activation_sign: Sign = ""
    inputs: dict[str, tuple[int | str, ...] | None] = {}
    """Name → shape of each tensor that the model is called with."""
    has_assumed_inputs: bool = False
    """Whether rules found inputs that the author didn't write; the costs are of these."""
    layers: dict[str, int] = {}
    """Short names of all module classes, with the numbers of their modules."""
    ops: tuple[str, ...] = ()
    """Short names of all ops, sorted."""
    structure: str = ""
    """The same for models whose graphs are equal."""


def list_figures(graph: Graph) -> Figures:
    """List the figures of a graph; of several cases, those of the first."""
    bounds = bounds_of(graph)
    is_complete = graph.status.state == "complete"
    inputs = [node for node in graph.nodes if isinstance(node, InputNode)]
    paths = {node.path: short_name(node.class_) for node in graph.nodes if isinstance(node, ModuleNode)}
    return Figures(
        class_=graph.model.class_,
        state=graph.status.state,
        parameters=graph.model.parameters.total,
        flops=graph.model.flops if is_complete else None,
        flops_sign=bounds.cost_sign if None in bounds.flops else "",  # type: ignore[arg-type]  # one of the signs
        activation_bytes=graph.model.activation_bytes if is_complete else None,
        activation_sign=bounds.cost_sign if None in bounds.memory else "",  # type: ignore[arg-type]
        inputs={node.name: graph.tensors[node.outputs[0]].shape for node in inputs if node.outputs},
        has_assumed_inputs=any(item.subject.startswith("inputs") for item in graph.assumptions),
        layers=dict(sorted(Counter(paths.values()).items())),
        ops=tuple(
            sorted({short_name(node.name.replace("::", ".")) for node in graph.nodes if isinstance(node, OpNode)})
        ),
        structure=structural_digest(graph),
    )
