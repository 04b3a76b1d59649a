"""Tiny graphs, written by hand, for tests that need no tracer."""

from __future__ import annotations

from modeldiagrams.graph import (
    Edge,
    Graph,
    InputNode,
    ModelInfo,
    ModuleNode,
    OpNode,
    OutputNode,
    ParameterCount,
    ParameterSpec,
    Provenance,
    Status,
    TensorSpec,
)


def small_graph() -> Graph:
    """``input x → [fc: linear] → relu → output``."""
    count = ParameterCount(own=8, total=8, trainable=8)
    return Graph(
        model=ModelInfo(name="Net", class_="mypkg.Net", parameters=ParameterCount(own=0, total=8, trainable=8)),
        nodes=(
            InputNode(id="input:x", name="x", outputs=("input:x:0",)),
            ModuleNode(
                id="fc",
                path="fc",
                class_="torch.nn.modules.linear.Linear",
                parameters=count,
                attributes={"in_features": 4, "out_features": 2, "bias": False},
                inputs={"input": "input:x:0"},
                outputs={"output": "fc/linear:0"},
            ),
            OpNode(
                id="fc/linear",
                name="torch.nn.functional.linear",
                outputs=("fc/linear:0",),
                weights={"weight": "fc.weight"},
                source="mypkg.py:7",
            ),
            OpNode(id="/relu", name="torch.relu", outputs=("/relu:0",)),
            OutputNode(id="output:output", name="output"),
        ),
        adjacency={
            "input:x": (Edge(to="fc/linear", tensor="input:x:0", argument="input"),),
            "fc/linear": (Edge(to="/relu", tensor="fc/linear:0", argument="0"),),
            "/relu": (Edge(to="output:output", tensor="/relu:0"),),
        },
        hierarchy={"input:x": None, "fc": None, "fc/linear": "fc", "/relu": None, "output:output": None},
        tensors={
            "input:x:0": TensorSpec(shape=(1, 4), dtype="float32", name="x"),
            "fc/linear:0": TensorSpec(shape=(1, 2), dtype="float32"),
            "/relu:0": TensorSpec(shape=(1, 2), dtype="float32"),
        },
        parameters={"fc.weight": ParameterSpec(shape=(2, 4), dtype="float32", owner="fc")},
        status=Status(state="complete", mode="real"),
        provenance=Provenance(modeldiagrams="0", torch="2", python="3"),
    )
