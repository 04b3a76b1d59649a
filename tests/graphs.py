"""Tiny graphs, written by hand, for tests that need no tracer."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import (
    Edge,
    Graph,
    InputNode,
    ModelInfo,
    ModuleNode,
    NamedSizes,
    Node,
    OpNode,
    OutputNode,
    ParameterCount,
    ParameterSpec,
    Provenance,
    Size,
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


def sized_graph(**more: object) -> Graph:
    """``small_graph`` with B rows of 4 numbers: 16·B FLOPs of `linear`, none counted of `relu`; 8·B bytes of each."""
    graph = small_graph()
    costs = {"fc/linear": (16, 8), "/relu": (None, 8)}
    nodes = tuple(
        msgspec.structs.replace(node, flops=costs[node.id][0], activation_bytes=costs[node.id][1])
        if isinstance(node, OpNode)
        else msgspec.structs.replace(node, flops=16, activation_bytes=8)
        if node.kind == "module"
        else node
        for node in graph.nodes
    )
    named = NamedSizes(
        sizes={"B": Size(size=1, places=(("input:x:0", 0),), meaning="batch")},
        tensors={"input:x:0": ("B", None), "fc/linear:0": ("B", None), "/relu:0": ("B", None)},
        flops={"fc/linear": "16*B"},
        activation_bytes={"fc/linear": "8*B", "/relu": "8*B"},
    )
    graph = msgspec.structs.replace(
        graph,
        nodes=nodes,
        model=msgspec.structs.replace(graph.model, flops=16, activation_bytes=16),
        sizes=msgspec.structs.replace(named, **more),
    )
    check_graph(graph)
    return graph


def changed_graph() -> Graph:
    """The small graph with ``gelu`` in place of ``relu``."""
    graph = small_graph()
    nodes = (msgspec.structs.replace(node, name="torch.gelu") if node.id == "/relu" else node for node in graph.nodes)
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def nested_graph(deep: int, wide: int) -> Graph:
    """``input x → [b0 → b1 → … ] → output y``: so many blocks, each a chain of so many nested modules around one op."""
    count = ParameterCount(own=0, total=0, trainable=0)
    nodes: list[Node] = [InputNode(id="input:x", name="x", outputs=("input:x:0",))]
    hierarchy: dict[str, str | None] = {"input:x": None, "output:y": None}
    chain = ["input:x"]
    for block in range(wide):
        parent = None
        for level in range(deep):
            path = f"b{block}" if parent is None else f"m{level}.{block}"  # ids of real depth would be long
            nodes.append(ModuleNode(id=path, path=path, class_="mypkg.Block", parameters=count))
            hierarchy[path] = parent
            parent = path
        for name in ("add", "mul"):
            nodes.append(OpNode(id=f"{parent}/{name}", name=f"torch.{name}", outputs=(f"{parent}/{name}:0",)))
            hierarchy[f"{parent}/{name}"] = parent
            chain.append(f"{parent}/{name}")
    return _chained(chain, nodes, hierarchy, ModelInfo(name="Nested", class_="mypkg.Nested", parameters=count))


def with_repeats() -> Graph:
    """``input x → blocks.0 [fc1 → fc2 → fc3] → blocks.1 [the same] → output y``, each ``fc`` a module with one op."""
    count = ParameterCount(own=0, total=0, trainable=0)
    nodes: list[Node] = [InputNode(id="input:x", name="x", outputs=("input:x:0",))]
    hierarchy: dict[str, str | None] = {"input:x": None, "output:y": None}
    chain = ["input:x"]
    for block in ("blocks.0", "blocks.1"):
        nodes.append(ModuleNode(id=block, path=block, class_="mypkg.Block", parameters=count, signature="block"))
        hierarchy[block] = None
        for layer in (f"{block}.fc{i}" for i in (1, 2, 3)):
            op = f"{layer}/linear"
            nodes.append(ModuleNode(id=layer, path=layer, class_="mypkg.Layer", parameters=count, signature="layer"))
            nodes.append(OpNode(id=op, name="torch.nn.functional.linear", outputs=(f"{op}:0",)))
            hierarchy |= {layer: block, op: layer}
            chain.append(op)
    return _chained(chain, nodes, hierarchy, ModelInfo(name="Repeats", class_="mypkg.Repeats", parameters=count))


HOSTILE_NAMES = (
    *("end", "End", "subgraph", "graph", "node", "default", "class", "constructor", "__proto__", "o", "x", "0", "a:b"),
    *(
        'say "hi"',
        "a\\",
        '\\"',
        "<b>bold</b>",
        "<script>alert(1)</script>",
        "&lt;",
        "#quot;",
        "#35;",
        "`code`",
        "%%{init}%%",
    ),
    *(
        "line\nbreak",
        "tab\tand\x00nul",
        "\ud800",
        "-->",
        "|label|",
        "[x]",
        "(y)",
        "{z}",
        "a;b",
        "$$x$$",
        "1. list",
        "- item",
    ),
    *("é漢字", "\u202eflip", "***", "a@{ shape: rect }", "", "x" * 5_000),
)


def hostile_graph() -> Graph:
    """A chain of modules with names that mean something to Graphviz, Mermaid or HTML."""
    count = ParameterCount(own=0, total=0, trainable=0)
    nodes: list[Node] = []
    hierarchy: dict[str, str | None] = {}
    adjacency: dict[str, tuple[Edge, ...]] = {}
    before: tuple[str, ...] = ()
    for number, name in enumerate(HOSTILE_NAMES):
        module = f"{number}.{name}" if name in {"", "a:b"} else name
        ops = [f"{module}/{name}", f"{module}/{name}#2"]
        made = tuple(f"{op}:0" for op in ops)
        nodes.append(
            ModuleNode(
                id=module,
                path=module,
                class_=f"mypkg.{name}",
                parameters=count,
                inputs={f"{name}{i}": tensor for i, tensor in enumerate(before)},
                outputs={f"{name}{i}": tensor for i, tensor in enumerate(made)},
            )
        )
        hierarchy[module] = None
        for op, tensor in zip(ops, made, strict=True):
            nodes.append(OpNode(id=op, name=f"torch.{name}", outputs=(tensor,)))
            hierarchy[op] = module
            for source in before:
                edge = Edge(to=op, tensor=source, flow="shape" if number % 2 else "data")
                adjacency[source[:-2]] = (*adjacency.get(source[:-2], ()), edge)
        before = made
    return Graph(
        model=ModelInfo(name='"Hostile\\', class_="mypkg.Hostile", parameters=count),
        nodes=tuple(nodes),
        adjacency=adjacency,
        hierarchy=hierarchy,
        tensors={f"{n.id}:0": TensorSpec(shape=(1, 'a"b'), dtype="float32") for n in nodes if isinstance(n, OpNode)},
        parameters={},
        status=Status(state="complete", mode="real"),
        provenance=Provenance(modeldiagrams="0"),
    )


def _chained(chain: list[str], nodes: list[Node], hierarchy: dict[str, str | None], model: ModelInfo) -> Graph:
    """A graph of nodes of which those in the chain follow each other, up to the output ``y``."""
    return Graph(
        model=model,
        nodes=(*nodes, OutputNode(id="output:y", name="y")),
        adjacency={
            source: (Edge(to=target, tensor=f"{source}:0"),) for source, target in pairwise([*chain, "output:y"])
        },
        hierarchy=hierarchy,
        tensors={f"{name}:0": TensorSpec(shape=(1, 4), dtype="float32") for name in chain},
        parameters={},
        status=Status(state="complete", mode="real"),
        provenance=Provenance(modeldiagrams="0"),
    )
