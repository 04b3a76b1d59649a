"""The structural digest."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import torch
from torch import nn

from graphs import small_graph
from modeldiagrams.ir.graph import (
    Assumption,
    Edge,
    Graph,
    ModuleNode,
    ParameterCount,
    Provenance,
    Status,
    TensorSpec,
)
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.tracer import trace

COUNT = ParameterCount(own=0, total=0, trainable=0)


def with_(**changes: Any) -> Graph:
    return msgspec.structs.replace(small_graph(), **changes)


def with_node(id_: str, /, **changes: Any) -> Graph:
    nodes = small_graph().nodes
    return with_(nodes=tuple(msgspec.structs.replace(n, **changes) if n.id == id_ else n for n in nodes))


def with_modules(*names: str) -> Graph:
    """The small graph and modules that do nothing."""
    graph = small_graph()
    added = tuple(ModuleNode(id=name, path=name, class_="mypkg.Block", parameters=COUNT) for name in names)
    return with_(nodes=(*graph.nodes, *added), hierarchy={**graph.hierarchy, **dict.fromkeys(names)})


@pytest.mark.parametrize(
    "other",
    [
        with_node("fc/linear", source="mypkg.py:99"),
        with_node("fc", source="torch/nn/modules/linear.py:1", signature="00", flops=1, activation_bytes=1),
        with_node("fc", attributes={"in_features": 4, "out_features": 2, "bias": False, "added_in_torch_2_12": True}),
        with_(model=msgspec.structs.replace(small_graph().model, source="mypkg.py:3", signature="1", flops=3)),
        with_(provenance=Provenance(modeldiagrams="9", torch="9")),
        with_(assumptions=(Assumption(subject="rule", value="4", reason="said in other words"),)),
        with_(status=Status(state="complete", mode="meta", notes=("said in other words",))),
        with_(tensors=dict(reversed(small_graph().tensors.items()))),
    ],
)
def test_lines_versions_and_costs_are_no_difference(other: Graph) -> None:
    assert other != small_graph() or list(other.tensors) != list(small_graph().tensors)
    assert structural_digest(other) == structural_digest(small_graph())


def not_run(**attributes: int) -> Graph:
    """Where no pass was run, attributes are all that is known of a layer."""
    return msgspec.structs.replace(with_node("fc", attributes=attributes), status=Status(state="hierarchy"))


def with_parameters(total: int) -> Graph:
    return with_(
        model=msgspec.structs.replace(small_graph().model, parameters=ParameterCount(own=0, total=total, trainable=0))
    )


def with_edge(**changes: Any) -> Graph:
    graph = small_graph()
    (edge,) = graph.adjacency["input:x"]
    return with_(adjacency={**graph.adjacency, "input:x": (msgspec.structs.replace(edge, **changes),)})


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (small_graph(), with_modules("layer.12")),
        (with_modules("layer.12", "b"), small_graph()),
        (small_graph(), with_node("fc", class_="mypkg.Fast")),
        (not_run(**{"0": 3}), not_run(**{"0": 4, "added": 1})),
        (with_parameters(11_700_000), with_parameters(11_700_001)),
        (small_graph(), with_node("/relu", name="torch.tanh")),
        (small_graph(), with_node("/relu", arguments={"inplace": True})),
        (
            small_graph(),
            with_(
                tensors={**small_graph().tensors, "input:x:0": TensorSpec(shape=(2, 4), dtype="float32", name="x")},
            ),
        ),
        (small_graph(), with_edge(flow="shape")),
        (small_graph(), with_node("fc/linear", weights={})),
        (small_graph(), with_(status=Status(state="hierarchy"))),
    ],
)
def test_another_structure_is_a_difference(before: Graph, now: Graph) -> None:
    assert structural_digest(before) != structural_digest(now)


def test_layers_that_say_more_in_another_release_of_torch_are_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Dropout(0.1))
    before = trace(model, (torch.zeros(1, 4),))
    for layer in (nn.Linear, nn.LayerNorm):
        said = layer.extra_repr
        monkeypatch.setattr(layer, "extra_repr", lambda self, said=said: f"{said(self)}, added=True")
    now = trace(model, (torch.zeros(1, 4),))
    assert before != now
    assert structural_digest(before) == structural_digest(now)
    model[2].p = 0.2
    assert structural_digest(before) != structural_digest(trace(model, (torch.zeros(1, 4),)))


def test_digest_is_short_and_counts_edges() -> None:
    assert len(structural_digest(small_graph())) == 32
    edges = {"/relu": (Edge(to="output:output", tensor="/relu:0", argument="1"),)}
    assert structural_digest(with_(adjacency={**small_graph().adjacency, **edges})) != structural_digest(small_graph())
