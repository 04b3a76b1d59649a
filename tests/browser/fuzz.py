"""Random valid graphs with hostile text; equal for equal seeds."""

from __future__ import annotations

import random
from typing import Any

from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import (
    Assumption,
    BufferNode,
    ConstantNode,
    Edge,
    Failure,
    Frame,
    Graph,
    Guess,
    InputNode,
    ModelInfo,
    ModuleNode,
    Node,
    OpNode,
    OutputNode,
    ParameterCount,
    ParameterNode,
    ParameterSpec,
    Provenance,
    Status,
    TensorSpec,
)

HOSTILE = (
    "<script>pwned = 1</script>",
    "</script><script>pwned = 1</script>",
    "</svg><img src=x onerror=pwned=1>",
    "]]></style><iframe srcdoc='<script>parent.pwned=1</script>'>",
    '" onload="pwned=1" x=\'',
    "' autofocus onfocus='pwned=1",
    "javascript:pwned=1",
    "${pwned=1}{{7*7}}{0}%s",
    "<!--",
    "&lt;b&gt;&#x41;&nosuch;",
    "\u202eright to left\u202c \u2066isolate",
    "nul\x00bell\x07escape\x1b[31m\x7f\x85",
    "line\nbreak\r\ttab\u2028separator",
    "\ufffe\uffff\U000e0001",
    "__proto__",
    "constructor",
    "toString",
    "a b  c",
    "#hash.with[brackets]>and~more:hover",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\U0001f469\u200d\U0001f680" * 3,
    "e\u0301" * 20,
    "x" * 300,
    "",
    " ",
)
LONG = "<b>long</b>" * 10_000
"""A hundred kilobytes."""


def graph(seed: int) -> Graph:
    """A graph of a dozen to a hundred nodes in a few levels, with skips across them."""
    return _Fuzz(seed).make()


class _Fuzz:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  must be repeatable
        self.nodes: list[Node] = []
        self.hierarchy: dict[str, str | None] = {}
        self.adjacency: dict[str, list[Edge]] = {}
        self.tensors: dict[str, TensorSpec] = {}
        self.parameters: dict[str, ParameterSpec] = {}
        self.sources: list[tuple[str, str]] = []

    def make(self) -> Graph:
        for kind in (InputNode, ConstantNode):
            node = self.id()
            self.add(kind(id=node, name=self.text(), outputs=self.outputs(node)), None)
        for kind, stored in ((ParameterNode, "parameter"), (BufferNode, "buffer")):
            name = f"{self.text()}{len(self.parameters)}"
            self.parameters[name] = ParameterSpec(shape=(2, 3), dtype=self.text(), owner=self.text(), kind=stored)
            node = self.id()
            self.add(kind(id=node, name=name, outputs=self.outputs(node)), None)
        self.fill(None, 0)
        for _ in range(2):
            self.connect(self.add(OutputNode(id=self.id(), name=self.text()), None))
        count = ParameterCount(own=1, total=10**12, trainable=7)
        found = Graph(
            model=ModelInfo(name=self.text(), class_=self.text(), parameters=count, attributes=self.json()),
            nodes=tuple(self.nodes),
            adjacency={node: tuple(edges) for node, edges in self.adjacency.items()},
            hierarchy=self.hierarchy,
            tensors=self.tensors,
            parameters=self.parameters,
            status=self.status(),
            assumptions=(Assumption(subject=self.text(), value=self.text(), reason=self.text()),),
            provenance=Provenance(modeldiagrams=self.text(), torch=self.text()),
        )
        check_graph(found)
        return found

    def fill(self, parent: str | None, depth: int) -> None:
        for _ in range(self.random.randint(2, 6)):
            if depth < 3 and self.random.random() < 0.45:
                self.fill(self.module(parent), depth + 1)
            else:
                self.op(parent)

    def module(self, parent: str | None) -> str:
        node = ModuleNode(
            id=self.id(),
            path=self.text(),
            class_=self.text(),
            parameters=ParameterCount(own=0, total=self.random.randint(0, 10**10), trainable=0),
            call=self.random.randint(1, 3),
            attributes=self.json(),
            signature=self.random.choice([None, "same", self.text()]),
            source=self.random.choice([None, f"{self.text()}:3", "javascript:pwned=1"]),
            flops=self.random.choice([None, 10**15]),
        )
        return self.add(node, parent)

    def op(self, parent: str | None) -> None:
        node = self.id()
        self.connect(node)
        made = OpNode(
            id=node,
            name=self.random.choice(["torch.add", "torch.nn.functional.linear", self.text()]),
            outputs=self.outputs(node),
            arguments=self.json(),
            weights={self.text(): name for name in list(self.parameters)[:1]},
            source=self.text(),
        )
        self.add(made, parent)

    def add(self, node: Node, parent: str | None) -> str:
        self.nodes.append(node)
        self.hierarchy[node.id] = parent
        self.sources += [(node.id, tensor) for tensor in getattr(node, "outputs", ()) if isinstance(tensor, str)]
        return node.id

    def connect(self, node: str) -> None:
        for source, tensor in self.random.sample(self.sources, min(len(self.sources), self.random.randint(1, 3))):
            edge = Edge(
                to=node, tensor=tensor, argument=self.text(), flow=self.random.choice(["data", "shape", "inferred"])
            )
            self.adjacency.setdefault(source, []).append(edge)

    def outputs(self, node: str) -> tuple[str, ...]:
        names = tuple(f"{node}:{i}" for i in range(self.random.randint(1, 2)))
        for name in names:
            shape = self.random.choice([None, (), (1, 2, 3), (self.text(), 4)])
            self.tensors[name] = TensorSpec(shape=shape, dtype=self.text(), name=self.text())
        return names

    def status(self) -> Status:
        if self.random.random() < 0.5:
            return Status(state="complete", notes=(self.text(),))
        node = self.nodes[-1].id
        frame = Frame(file=self.text(), line=1, function=self.text(), code=self.text())
        return Status(
            state="partial",
            error=Failure(type=self.text(), message=LONG, node=node, frames=(frame,)),
            unseen=tuple(list(self.tensors)[:2]),
            guesses=(Guess(node=None, value=self.text(), reason=self.text()),),
        )

    def json(self) -> dict[str, Any]:
        values = [None, True, -1.5, [self.text(), [1]], {self.text(): self.text()}, self.text()]
        return {self.text(): self.random.choice(values) for _ in range(self.random.randint(0, 3))}

    def id(self) -> str:
        return f"{self.text()}{len(self.nodes)}"

    def text(self) -> str:
        if self.random.random() < 0.01:
            return LONG
        return "".join(self.random.choice(HOSTILE) for _ in range(self.random.randint(1, 2)))
