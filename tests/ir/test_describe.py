"""The text of a graph says what the graph does, as another reading of it confirms."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
import torch
from torch import nn

import modeldiagrams
from modeldiagrams.ir.describing.levels import _NEUTRAL, _PICKING, _PLUMBING
from modeldiagrams.ir.graph import Graph, ModuleNode, Node, OpNode
from modeldiagrams.ir.serialize import load

ROOT = Path(__file__).parents[2]
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.json"))
LINE = re.compile(r"(?P<indent> *)- (?P<name>[^:,←→ ]+)[^←→]*(?:← (?P<reads>[^→;]*?))?(?: → .*)?")


class Block(nn.Module):
    """``x + second(relu(first(x)))``."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add what the layers make to the input."""
        return x + self.second(torch.relu(self.first(x)))


class Net(nn.Module):
    """Four equal blocks, of which the last also reads the first one's output, and a wider one."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(8) for _ in range(4))
        self.widen, self.wide = nn.Linear(8, 16), Block(16)

    def forward(self, tokens: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """Run all blocks."""
        x = tokens.reshape(-1, 8).contiguous()
        for block in self.blocks[:3]:
            x = block(x)
        return self.wide(self.widen(self.blocks[3](x - bias)))


@pytest.fixture(scope="module")
def graph() -> Graph:
    return modeldiagrams.trace(Net(), (torch.zeros(2, 8), torch.zeros(8)))


def lines(text: str) -> list[tuple[int, str, list[str]]]:
    """Level, name and what it reads, of each line."""
    found = (LINE.fullmatch(line) for line in text.splitlines() if line.lstrip().startswith("- "))
    return [
        (
            len(one["indent"]) // 2,
            one["name"],
            [name.strip() for name in (one["reads"] or "").split(",") if name.strip()],
        )
        for one in found
        if one
    ]


def test_text_has_structure_edges_repeats_and_shapes(graph: Graph) -> None:
    text = modeldiagrams.describe(graph, "net.json")
    assert f"{sum(p.numel() for p in Net().parameters()):,} parameters" in text
    assert "The whole graph: net.json" in text
    assert re.search(r"- blocks\.0–2: Block, 280, :\d+ ×3 ← tokens, then each the one before → 2×8\n", text)
    assert re.search(r"- sub, :\d+ ← blocks\.2, bias → 2×8\n", text)
    assert re.search(r"- blocks\.3: Block, 280, .* ← sub → 2×8; same as blocks\.0\n", text)
    assert re.search(r"  - relu, :\d+ ← first → 2×16\n", text)
    assert re.search(r"  - add, :\d+ ← \^x, second → 2×8\n", text)
    assert text.endswith("- return output ← wide\n")


def test_a_block_of_other_sizes_has_its_own_lines_if_they_are_few(graph: Graph) -> None:
    assert "  - first: Linear(in_features=16, out_features=32)" in modeldiagrams.describe(graph)


def test_strides_are_no_sizes() -> None:
    class Down(nn.Module):
        """Convolutions with a stride."""

        def __init__(self, stride: int) -> None:
            super().__init__()
            self.parts = nn.Sequential(*(nn.Conv2d(4, 4, 3, stride, 1) for _ in range(8)))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            """Run all."""
            return self.parts(x)

    model = nn.Sequential(Down(1), Down(2))
    text = modeldiagrams.describe(modeldiagrams.trace(model, (torch.zeros(1, 4, 256, 256),)))
    assert "at other sizes" not in text
    assert text.count("stride=[2, 2]") == 1 + 7  # each has another output


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_edge_of_the_model_is_in_the_text_and_no_other(path: Path) -> None:
    """What a line at the top reads, against the graph's own connections between closed modules."""
    graph = load(path)
    if not graph.nodes or graph.cases:
        pytest.skip("no single pass")
    text = modeldiagrams.describe(graph)
    read = {name: set(reads) for level, name, reads in lines(text) if level == 0 and "–" not in name}
    ids = {node.id: node.id.rpartition("/")[2] for node in graph.children()}
    expected: dict[str, set[str]] = {}
    for edge in graph.connections(depth=0, functions=False):
        if edge.flow == "data":
            expected.setdefault(ids.get(edge.target, edge.target), set()).add(ids.get(edge.source, edge.source))
    for name, reads in read.items():
        modules = {one for one in expected.get(name, set()) if one in read}
        assert modules <= {one.partition(" ")[0] for one in reads}, name


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_module_is_named_or_covered_by_a_repeat_or_a_reference(path: Path) -> None:
    graph = load(path)
    text = modeldiagrams.describe(graph)
    classes = {node.class_.rpartition(".")[2] for node in graph.nodes if isinstance(node, ModuleNode)}
    dropped = {"Dropout", "Identity", "Flatten", "Unflatten"}
    assert {name for name in classes - dropped if not re.search(rf": {re.escape(name)}\b", text)} == set()
    assert modeldiagrams.describe(load(path)) == text


def test_plumbing_is_that_of_pictures() -> None:
    source = (ROOT / "viewer" / "src" / "graph" / "plumbing.ts").read_text("utf-8")
    assert set(re.search(r"PASSING =\s*/\^\((.*?)\)\$/", source)[1].split("|")) == _PLUMBING
    assert set(re.search(r"PICKING =\s*/\^\((.*?)\)\$/", source)[1].split("|")) == _PICKING
    neutral = re.search(r"NEUTRAL.*?=(.*?);", source, re.DOTALL)[1]
    found = [
        (re.compile(form.replace("^", "").replace("$", "")), int(value))
        for form, value in re.findall(r"/(.*)/, (\d)", neutral)
    ]
    assert found == [*_NEUTRAL]


class Mixed(nn.Module):
    """Results of several kinds, of which each reader takes one."""

    def __init__(self) -> None:
        super().__init__()
        self.split, self.join, self.unused = Split(), Join(), nn.Linear(3, 3)
        self.drop = nn.Dropout()

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, ...]:
        """Take halves apart, mix, and sort what comes out; return also what a module kept."""
        if mask is not None:
            x = self.unused(x * mask)
        parts = self.split(x)
        y = self.join(parts["low"], scale=parts["high"])
        kept, other = mix(parts["low"], parts["high"])
        order = (kept + other).argsort(0)[:, 0]
        return self.drop(y[order]) * kept, other, self.join.seen


class Split(nn.Module):
    """Two halves by name."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """Take it apart."""
        low, high = x.chunk(2, -1)
        return {"low": low.sin(), "high": high}


class Join(nn.Module):
    """Keeps what only the model returns."""

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        """Scale."""
        self.seen = scale.exp()
        return x / self.seen


def mix(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two results."""
    total = a + b
    return total.tanh(), (total * a).relu()


def test_a_line_says_which_of_several_results_it_reads_and_as_what() -> None:
    text = modeldiagrams.describe(modeldiagrams.trace(Mixed().eval(), (torch.zeros(4, 6),)))
    read = {(level, name): reads for level, name, reads in lines(text)}
    assert read[1, "sin"] == ["chunk[0]"]
    assert read[0, "join"] == ["x=split.low", "scale=split.high"]
    assert read[0, "mix()"] == ["a=split.low", "b=split.high"]
    assert read[0, "add#2"] == ["mix()/tanh", "mix()/relu"]
    assert read[0, "getitem#2"] == ["join", "getitem"]  # an index by a tensor changes the order
    assert read[0, "mul#2"] == ["getitem#2", "mix()/tanh"]  # the dropout did nothing
    assert "  - return ← sin, chunk[1]\n" in text
    assert text.endswith("- return other ← mix()/relu\n- return seen ← join/exp\n")


def test_facts_name_what_did_not_run_and_all_files() -> None:
    text = modeldiagrams.describe(modeldiagrams.trace(Mixed().eval(), (torch.zeros(4, 6),)))
    line = Path(__file__).read_text("utf-8").splitlines().index("            x = self.unused(x * mask)") + 1
    assert f"\nNot taken in this pass: `if mask is not None` :{line}.\n" in text
    assert re.search(r"^1 of \d modules never ran: unused\.$", text, re.MULTILINE)
    assert re.search(r"^Source: \S*test_describe\.py\.$", text, re.MULTILINE)


def test_files_of_one_name_are_told_apart(graph: Graph) -> None:
    def move(node: Node) -> Node:
        """Pretend that all ops of the last block are elsewhere."""
        is_moved = isinstance(node, OpNode) and node.id.startswith("blocks.3")
        return msgspec.structs.replace(node, source="other/test_describe.py:1") if is_moved else node

    file = graph.model.source.partition(":")[0]
    moved = msgspec.structs.replace(graph, nodes=tuple(map(move, graph.nodes)))
    changed = {node.id: None for node in graph.module_calls("blocks.3", "blocks.3.*")}
    nodes = [msgspec.structs.replace(node, signature=None) if node.id in changed else node for node in moved.nodes]
    text = modeldiagrams.describe(msgspec.structs.replace(moved, nodes=tuple(nodes)))
    assert "  - relu, other/test_describe.py:1 ← first" in text
    assert f"Source: {file}, other/test_describe.py." in text


def test_returned_values_are_one_line_only_where_they_count_up_together() -> None:
    class Returns(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.h = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

        def forward(self, x: torch.Tensor) -> dict[str, object]:
            made = [layer(x + i) for i, layer in enumerate(self.h)]
            cache = [(one.relu(), one.tanh()) for one in made]
            return {"p3": made[1], "p4": made[0], "p5": made[2], "e": [made[0], x.flip(0), made[2]], "cache": cache}

    text = modeldiagrams.describe(modeldiagrams.trace(Returns(), (torch.ones(2, 8),)))
    assert re.findall(r"- return (.*)", text) == [
        "p3 ← h.1",
        "p4 ← h.0",
        "p5 ← h.2",
        "e[0] ← h.0",
        "e[1] ← flip",
        "e[2] ← h.2",
        "cache[0][0] ← relu",
        "cache[0][1] ← tanh",
        "cache[1][0] … cache[3][0] (3) ← relu#2–4",
        "cache[1][1] … cache[3][1] (3) ← tanh#2–4",
    ]


def test_lines_say_what_tells_layers_apart() -> None:
    layers = nn.Sequential(nn.Conv2d(4, 2, 1), nn.LeakyReLU(0.3), nn.Flatten(2), nn.Linear(9, 1, bias=False))
    text = modeldiagrams.describe(modeldiagrams.trace(layers, (torch.ones(1, 4, 3, 3),)))
    assert "Conv2d(4, 2, kernel_size=[1, 1]), 10 " in text
    assert "LeakyReLU(negative_slope=0.3)" in text
    assert "Linear(in_features=9, out_features=1), 9 " in text
    shift = modeldiagrams.trace(lambda x: x * nn.functional.pad(x, (0, 0, 1, -1)), (torch.ones(3, 4),))
    assert "- mul ← x, pad" in re.sub(r", :\d+", "", modeldiagrams.describe(shift))


def test_a_second_call_is_the_first_ones() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.h = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(8, 8), nn.ReLU())))

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return self.h(x), self.h(y)

    graph = modeldiagrams.trace(Twice(), (torch.ones(2, 8), torch.ones(2, 3, 8)))
    (line,) = re.findall(r"- h#2: .*", modeldiagrams.describe(graph))
    assert line.endswith(("; same as h", "; like h, at other sizes"))


def test_numbers_to_compute_with_are_read_and_sizes_are_not() -> None:
    class Norm(nn.Module):
        """Numbers of several kinds."""

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            """Use each."""
            x = x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() / x.shape[0]
            return torch.roll(x, 3, 0).topk(2).values.masked_fill(x[:, :2] > 0, -1.5)

    text = modeldiagrams.describe(modeldiagrams.trace(Norm(), (torch.zeros(4, 6),)))
    read = {name: reads for _, name, reads in lines(text)}
    assert (read["pow"], read["add"], read["div"]) == (["x", "2"], ["mean", "1e-06"], ["mul"])
    assert (read["roll"], read["topk"]) == (["div", "shifts=3"], ["roll", "k=2"])
    assert read["masked_fill"] == ["topk[0]", "gt", "-1.5"]
