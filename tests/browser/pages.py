"""The site that the browser tests open: a few diagrams of hand-made graphs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import msgspec

from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.diagram import Diagram, Problem
from modeldiagrams.html import fragment as page
from modeldiagrams.html.image_list import render_images
from modeldiagrams.html.note_list import render_plain_notes
from modeldiagrams.html.standalone import render_standalone
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import (
    Assumption,
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
from modeldiagrams.ir.serialize import save
from modeldiagrams.options.parsing import parse_options
from samples import png

HOSTILE = "</script></svg><img src=x onerror=alert(1)>\"'&<!--\u202e javascript:alert(2) ${alert(3)}"
HOSTILE_IMAGE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 40" onload="parent.hacked = 1">
<script>parent.hacked = 2; alert(1)</script><rect width="80" height="40" fill="teal" onclick="alert(2)"/>
<image href="https://x.invalid/image.png" width="9" height="9"/></svg>"""


class Builder:
    """Builds a graph in execution order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list = [InputNode(id="input:x", name="x", outputs=("input:x:0",))]
        self.adjacency: dict[str, list[Edge]] = {}
        self.hierarchy: dict[str, str | None] = {"input:x": None}

    def module(self, path: str, class_: str, parent: str | None = None, *, signature: str | None = None) -> str:
        count = ParameterCount(own=16, total=16, trainable=16)
        self._add(ModuleNode(id=path, path=path, class_=class_, parameters=count, signature=signature), parent)
        return path

    def op(self, name: str, parent: str | None, *sources: str) -> str:
        node = f"{parent or ''}/{name.rpartition('.')[2]}"
        self._add(OpNode(id=node, name=name, outputs=(f"{node}:0",)), parent)
        self._connect(node, sources)
        return node

    def leaf(self, path: str, class_: str, parent: str | None, source: str) -> str:
        """A module that holds one op."""
        self.module(path, class_, parent, signature=class_)
        return self.op(f"torch.nn.functional.{class_.rpartition('.')[2].lower()}", path, source)

    def finish(self, source: str) -> Graph:
        self._add(OutputNode(id="output:y", name="y"), None)
        self._connect("output:y", (source,))
        tensors = [name for node in self.nodes for name in getattr(node, "outputs", ()) if isinstance(name, str)]
        count = ParameterCount(own=0, total=64, trainable=64)
        graph = Graph(
            model=ModelInfo(name=self.name, class_=f"pkg.{self.name}", parameters=count),
            nodes=tuple(self.nodes),
            adjacency={node: tuple(edges) for node, edges in self.adjacency.items()},
            hierarchy=self.hierarchy,
            tensors={name: TensorSpec(shape=(1, 16, 64), dtype="float32") for name in tensors},
            parameters={},
            status=Status(state="complete", mode="real"),
            provenance=Provenance(modeldiagrams="0"),
        )
        check_graph(graph)
        return graph

    def _add(self, node, parent: str | None) -> None:
        self.nodes.append(node)
        self.hierarchy[node.id] = parent

    def _connect(self, node: str, sources: tuple[str, ...]) -> None:
        for i, source in enumerate(sources):
            self.adjacency.setdefault(source, []).append(Edge(to=node, tensor=f"{source}:0", argument=str(i)))


def encoder(name: str = "Encoder", *, layers: int = 3, word: str = "", signature: str | None = None) -> Graph:
    """``x → embed → layers.0 → … → head → y``; a layer is attention and mlp, each with a skip around it.

    With a signature, all layers are alike and shown as one.
    """
    graph = Builder(name)
    at = graph.leaf("embed", "torch.nn.Linear", None, "input:x")
    for i in range(layers):
        at = _layer(graph, graph.module(f"layers.{i}", f"pkg.Layer{word}", signature=signature), at)
    return graph.finish(graph.leaf("head", "torch.nn.Linear", None, at))


def rich() -> Graph:
    """A small encoder with every fact that a trace can record."""
    graph = encoder("Rich", layers=2)
    known = {
        "embed": {"flops": 1_000, "attributes": {"0": 64}},
        "head": {
            "flops": 2_000,
            "activation_bytes": 4_096,
            "source": "src/pkg/model.py:12",
            "attributes": {"0": 64, "bias": False},
            "outputs": {"output": "head/linear:0"},
            "inputs": {"input": "layers.1/mul:0"},
        },
    }
    spec = graph.tensors["embed/linear:0"]
    owners = ("head", "embed")
    weights = {
        f"{owner}.weight": ParameterSpec(shape=(4, 4), dtype="float32", owner=owner, tied=(f"{other}.weight",))
        for owner, other in (owners, owners[::-1])
    }
    return msgspec.structs.replace(
        graph,
        nodes=tuple(msgspec.structs.replace(node, **known.get(node.id, {})) for node in graph.nodes),
        model=msgspec.structs.replace(graph.model, flops=4_000, activation_bytes=16_384),
        tensors={**graph.tensors, "embed/linear:0": msgspec.structs.replace(spec, name="hidden")},
        parameters=weights,
        assumptions=(
            Assumption(subject="rule", value="4 (inferred inputs)", reason="after 3 tries"),
            Assumption(subject="x", value="[1, 16]", reason="nothing was said"),
        ),
    )


def _layer(graph: Builder, layer: str, source: str) -> str:
    attention = graph.module(f"{layer}.attention", "pkg.Attention", layer)
    query, key, value = (
        graph.leaf(f"{attention}.{part}", "torch.nn.Linear", attention, source) for part in ("query", "key", "value")
    )
    mixed = graph.op("torch.nn.functional.scaled_dot_product_attention", attention, query, key, value)
    added = graph.op("torch.add", layer, source, mixed)
    mlp = graph.module(f"{layer}.mlp", "pkg.MLP", layer)
    hidden = graph.leaf(f"{mlp}.up", "torch.nn.Linear", mlp, added)
    active = graph.op("torch.nn.functional.gelu", mlp, hidden)
    return graph.op("torch.mul", layer, added, graph.leaf(f"{mlp}.down", "torch.nn.Linear", mlp, active))


class Press:
    """Makes diagrams of graphs, drawn in a worker process as builds do."""

    def __init__(self, folder: Path, maker: DiagramBuilder) -> None:
        self.folder = folder
        self.maker = maker

    def make(self, graph: Graph, **options: Any) -> Diagram:
        name = re.sub(r"\W.*", "", graph.model.name) or "hostile"
        save(graph, self.folder / f"{name}.json")
        made = self.maker.build(parse_options({"model": f"{name}.json", "depth": 0, **options}))
        return msgspec.structs.replace(made, id=f"pkg.{name}")


HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
FILLER = "<p>Text of the page around the diagram, as tall as a screen.</p>\n" * 30


LONG_NOTE = "A note of many words that no small window shows in one line, and that must never be cut at its edges. " * 4


def write_site(folder: Path, press: Press) -> None:
    """Write pages and assets."""
    encoder_, decoder = press.make(encoder()), press.make(encoder("Decoder", layers=2))
    tall = press.make(encoder("Tall", layers=6), depth=9)
    large = press.make(encoder("Large", layers=32), depth=9)
    deep = press.make(encoder("Deep", layers=32))
    rolled = press.make(encoder("Rolled", layers=6, signature="layer"))
    sized = press.make(encoder("Sized", layers=2), width="400px", height="150px", align="center")
    rich_ = msgspec.structs.replace(press.make(rich(), table=True), source_link=_SOURCE_LINK)
    noted = press.make(
        encoder("Noted"),
        notes={"layers.0, head": LONG_NOTE, "layers.0": HOSTILE},
        rename={"layers.1": HOSTILE, "head": "Answer"},
        group={"Both": ["layers.0", "layers.1"]},
        hide=["layers.2"],
        expand=["Both"],
    )
    (press.folder / "map.png").write_bytes(png(64, 64))
    (press.folder / "hostile.svg").write_text(HOSTILE_IMAGE, "utf-8")
    pictured = press.make(
        encoder("Pictured"),
        embed={
            "layers.0.attention": {"image": "map.png", "alt": "Where each position looks"},
            "head": {"image": "hostile.svg", "alt": HOSTILE},
            "layers.1": "map.png",
        },
        notes={"head": "A note."},
    )
    problem = Problem(kind="forward", message=HOSTILE, frames=(HOSTILE,))
    hostile = msgspec.structs.replace(press.make(encoder(HOSTILE, word=HOSTILE), alt=HOSTILE), problem=problem)
    pages = {
        "one": _fragment(encoder_),
        "two": FILLER + _fragment(encoder_) + FILLER + _fragment(decoder) + FILLER,
        "tall": _fragment(tall),
        "deep": _fragment(deep),
        "large": _fragment(large),
        "rolled": _fragment(rolled),
        "sized": _fragment(sized),
        "hostile": _fragment(hostile),
        "rich": page.render_fragment(rich_, assets="modeldiagrams/", link=_link),
        "hidden": f"<details id='fold'><summary>More</summary>{_fragment(encoder_)}</details>",
        "noted": FILLER + _fragment(noted) + str(render_plain_notes(noted)) + FILLER,
        "pictured": FILLER
        + _AGAIN
        + _fragment(pictured)
        + str(render_plain_notes(pictured) + render_images(pictured))
        + FILLER,
        "missing": _fragment(press.make(encoder("Missing"))),
        "again": '<script src="modeldiagrams/model-graph.js"></script>' + _fragment(encoder_) * 2,
    }
    for name, body in pages.items():
        text = f"{HEAD}<title>{name}</title>\n<main>{body}</main>\n"
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    (folder / "alone.html").write_text(render_standalone(encoder_), encoding="utf-8")
    assets = folder / "modeldiagrams"
    assets.mkdir()
    for name, content in page.list_viewer_files().items():
        shutil.copy(content, assets / name)
    for made in (encoder_, decoder, tall, large, deep, rolled, sized, hostile, rich_, noted, pictured):
        (assets / f"{made.id}.js").write_text(page.build_data_script(made), encoding="ascii")


def _fragment(made: Diagram) -> str:
    return page.render_fragment(made, assets="modeldiagrams/")


_AGAIN = '<script src="modeldiagrams/notes.js" defer></script>'
"""As another diagram of the page brings it."""

_SOURCE_LINK = "https://example.org/blob/main/{path}#L{line}"


def _link(class_: str, mention: str) -> str:
    return f'<a href="api.html#{class_}">{mention}</a>'
