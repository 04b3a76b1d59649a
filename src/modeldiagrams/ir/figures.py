"""The figures of a model, with which lists of models compare it with others."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import groupby
from statistics import median_low
from typing import TYPE_CHECKING, Literal

import msgspec

from modeldiagrams.common.files import digest
from modeldiagrams.ir.bounds import bounds_of
from modeldiagrams.ir.graph import Graph, InputNode, ModuleNode, OpNode
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.structure import structural_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Figures", "list_figures"]

_POSITIONS = {"0": "in", "1": "out"}
"""What attributes without a name are in the layers of PyTorch that have two; of others, the first is their size."""

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
    parts: str = ""
    """The same for models with the same top-level modules, in the order of their calls, whatever repeats and inside."""
    blocks: dict[str, int] = {}
    """Of `layers`, the classes of modules that hold others, except PyTorch's; the outermost first."""
    sizes: dict[str, int] = {}
    """Whole numbers in the attributes of layers, ``Conv2d groups``: the median, and the greatest as ``greatest …``."""


def list_figures(graph: Graph) -> Figures:
    """List the figures of a graph; of several cases, those of the first."""
    bounds = bounds_of(graph)
    is_complete = graph.status.state == "complete"
    inputs = [node for node in graph.nodes if isinstance(node, InputNode)]
    modules = {node.path: node for node in graph.nodes if isinstance(node, ModuleNode)}
    layers = Counter(short_name(node.class_) for node in modules.values())
    around = {path.rpartition(".")[0] for path in modules}
    blocks = [short_name(node.class_) for path, node in modules.items() if path in around and not _is_torch(node)]
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
        layers=dict(sorted(layers.items())),
        ops=tuple(
            sorted({short_name(node.name.replace("::", ".")) for node in graph.nodes if isinstance(node, OpNode)})
        ),
        structure=structural_digest(graph),
        parts=_digest_parts(graph),
        blocks={name: layers[name] for name in blocks},
        sizes=_list_sizes(modules.values()),
    )


def _is_torch(node: ModuleNode) -> bool:
    return node.class_.startswith("torch.nn.")


def _digest_parts(graph: Graph) -> str:
    """Digest names and classes of the top-level modules; numbered ones of a class in a row count once."""
    top = [node for node in graph.nodes if isinstance(node, ModuleNode) and graph.hierarchy[node.id] is None]
    parts = [(re.sub(r"\d+", "#", node.path), node.class_) for node in top]
    return digest(repr([part for part, _ in groupby(parts)]).encode())


def _list_sizes(modules: Iterable[ModuleNode]) -> dict[str, int]:
    found = defaultdict[str, list[int]](list)
    for node in modules:
        for name, value in node.attributes.items():
            numbers = value if isinstance(value, list) else [value]
            if all(type(number) is int for number in numbers) and numbers:
                found[f"{short_name(node.class_)} {_POSITIONS.get(name, name)}"].append(max(numbers))
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    medians = {name: median_low(numbers) for name, numbers in ordered}
    return medians | {f"greatest {name}": max(numbers) for name, numbers in ordered}
