"""Costs at other sizes are those of a fresh trace there, to the byte and the FLOP."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
import torch
from click.testing import CliRunner
from torch import nn
from torch.nn import functional

import modeldiagrams
from graphs import sized_graph
from modeldiagrams.api.cost import cost
from modeldiagrams.api.cost_plot import HEIGHT, WIDTH
from modeldiagrams.cli import main
from modeldiagrams.errors import OptionError
from modeldiagrams.ir.chosen_sizes import complete_sizes
from modeldiagrams.ir.graph import Size
from modeldiagrams.ir.named_shapes import shape_at
from modeldiagrams.ir.size_costs import costs_at


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.qkv = nn.Linear(32, 96)
        self.mlp = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, 8)).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
        x = x + functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        return x + self.mlp(x)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(100, 32)
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(32, 100)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1)
        self.norm = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, 1, 1)
        self.short = nn.Conv2d(before, after, 1, stride)

    def forward(self, x):
        return torch.relu(self.second(torch.relu(self.norm(self.first(x)))) + self.short(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 7, 2, 3)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.stages = nn.Sequential(Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 32, 2))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(functional.adaptive_avg_pool2d(self.stages(self.pool(self.stem(x))), 1).flatten(1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, 2, batch_first=True)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def ids(B, T):  # noqa: N803
    return torch.zeros(B, T, dtype=torch.long)


def image(B, H, W):  # noqa: N803
    return torch.zeros(B, 3, H, W)


def sequence(B, T):  # noqa: N803
    return torch.zeros(B, T, 8)


CASES = {
    Transformer: (ids, {"ids": ["B", "T"]}, {"B": 2, "T": 16}, [{"B": 3, "T": 41}, {"B": 7, "T": 333}]),
    ResNet: (image, {"x": ["B", 3, "H", "W"]}, {"B": 1, "H": 64, "W": 64}, [{"B": 3, "H": 96, "W": 160}]),
    Recurrent: (sequence, {"x": ["B", "T", 8]}, {"B": 2, "T": 16}, [{"B": 5, "T": 41}]),
}


def traced(kind, **more):
    inputs, dims, base, _ = CASES[kind]
    torch.manual_seed(0)
    return modeldiagrams.trace(kind().eval(), (inputs(**base),), **({"dims": dims} | more))


@pytest.mark.parametrize("kind", CASES)
def test_costs_and_shapes_are_those_of_a_fresh_trace(kind):
    inputs, _, base, others = CASES[kind]
    graph = traced(kind)
    for sizes in (base, *others):
        fresh = modeldiagrams.trace(kind().eval(), (inputs(**sizes),))
        costs = {item: tuple(cost.amount for cost in both) for item, both in costs_at(graph, sizes).items()}
        calls = [node for node in fresh.nodes if node.kind in {"op", "module"}]
        assert {node.id: (node.flops, node.activation_bytes) for node in calls} == {n.id: costs[n.id] for n in calls}
        assert (fresh.model.flops, fresh.model.activation_bytes) == costs[None]
        complete = complete_sizes(graph, sizes)
        written = {tensor: "×".join(map(str, spec.shape)) for tensor, spec in fresh.tensors.items() if spec.shape}
        assert written == {tensor: shape_at(graph, tensor, complete) for tensor in written}


def test_rows_add_up_and_memory_follows_from_weights():
    sizes = {"B": 7, "T": 333}
    table = cost(traced(Transformer), sizes, depth=2, optimizer="sgd")
    model, *rows = table.rows
    assert model["flops"] == sum(row["flops"] or 0 for row in rows if row["level"] == 1)
    inside = [row for row in rows if row["path"].startswith("blocks.0–2.")]
    assert {row["calls"] for row in inside} == {3}
    weights = sum(weight.nbytes for weight in Transformer().parameters())
    together = 3 * weights + model["activation_bytes"]
    assert [table.memory[name] for name in ("weights", "gradients", "optimizer", "together")] == [
        *[weights] * 3,
        together,
    ]
    assert "Sizes: B = 7 · T = 333" in str(table)
    assert "grow with B and T²: " in str(table)


class Queries(nn.Module):
    """Two equal layers: of the tokens, and of 16 queries, which are as many as tokens in the traced pass."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        self.queries = nn.Parameter(torch.zeros(2, 16, 8))

    def forward(self, x):
        return self.layers[0](x).sum(1) + self.layers[1](self.queries).sum(1)


def test_calls_that_are_equal_at_some_sizes_only_have_rows_of_their_own():
    graph = modeldiagrams.trace(Queries(), (torch.zeros(2, 16, 8),), dims={"x": [2, "T", 8]})
    rows = cost(graph, {"T": 32}).rows
    assert [(row["path"], row["flops"]) for row in rows[1:]] == [("layers.0", 8192), ("layers.1", 4096)]


class Unchanged(Queries):
    """Its equal layers cost nothing."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Identity() for _ in range(2))


def test_calls_with_shapes_that_are_equal_at_some_sizes_only_have_rows_of_their_own():
    graph = modeldiagrams.trace(Unchanged(), (torch.zeros(2, 16, 8),), dims={"x": [2, "T", 8]})
    rows = cost(graph, {"T": 32}).rows
    assert [(row["path"], row["output_shape"]) for row in rows[1:]] == [("layers.0", "2×32×8"), ("layers.1", "2×16×8")]


def test_what_is_unknown_is_said():
    graph = sized_graph(activation_bytes={"fc/linear": "8*B"}, unknown={"/relu:0": "no simple expression"})
    text = str(cost(graph, {"B": 5}))
    assert "Activations: ≥ 40 B" in text
    assert "Together: ≥ " in text
    assert "Unknown: /relu:0: no simple expression" in text


def test_the_chart_has_the_costs_at_every_size():
    graph = traced(Transformer)
    svg = ET.fromstring(cost(graph, {"B": 4, "T": 512}).to_svg())  # noqa: S314  (ours)
    assert svg.findtext("{*}title") == "Transformer: costs by T, at B = 4"
    charts = [group for group in svg.iterfind("{*}g") if group.find("{*}polygon") is not None]
    for kind, chart in enumerate(reversed(charts)):
        points = [pair.split(",") for pair in chart.findall("{*}polygon")[-1].get("points").split()]
        upper = [(float(x) / WIDTH * 512, 1 - float(y) / HEIGHT) for x, y in points[: len(points) // 2]]
        whole = costs_at(graph, {"B": 4, "T": 512})[None][kind].amount
        for x, y in upper:
            assert y == pytest.approx(costs_at(graph, {"B": 4, "T": round(x)})[None][kind].amount / whole, abs=1e-3)
    with pytest.raises(OptionError, match="option `over`: no size is called H; there are B, T"):
        cost(graph).to_svg("H")
    with pytest.raises(OptionError, match="option `plot`: Transformer has no sizes with names"):
        cost(traced(Transformer, dims=None)).to_svg()


def test_the_chart_leaves_out_sizes_that_others_don_t_go_with():
    sizes = {"B": Size(size=1), "n₁": Size(size=1, counted="/relu", bound="B")}
    table = cost(sized_graph(sizes=sizes, flops={"fc/linear": "16*n₁"}), {"B": 8, "n1": 4})
    svg = ET.fromstring(table.to_svg("B"))  # noqa: S314  (ours)
    first, *_ = svg.find("{*}g/{*}polygon").get("points").split()
    assert float(first.split(",")[0]) == WIDTH * 4 / 8


@pytest.fixture
def run(tmp_path):
    modeldiagrams.save(sized_graph(), tmp_path / "net.json")
    return lambda *words: CliRunner().invoke(main, ["cost", str(tmp_path / "net.json"), *words])


def test_the_command_writes_a_chart(run, tmp_path):
    done = run("--plot", str(tmp_path / "costs.svg"))
    assert (done.exit_code, done.stderr) == (0, f"{tmp_path / 'costs.svg'}\n")
    root = ET.parse(tmp_path / "costs.svg").getroot()  # noqa: S314  (ours)
    assert root.get("aria-label").startswith("Net: costs by B. At B = 1")


def test_the_command_prints_text_and_json(run):
    assert "FLOPs: 80, grow with B: 16·B" in run("--set", "B=5").stdout
    found = json.loads(run("--set", "B=5", "--format", "json").stdout)
    assert found["memory"]["activations"] == 80
    rows = [(row["path"], row["flops"], row["output_shape"]) for row in found["rows"]]
    assert rows == [("", 80, ""), ("fc", 80, "5×2")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "T=8"], "no size is called T; there are B"),
        (["--set", "B=x"], "option `set`: expected a name and a whole number, `T=8192`, got 'B=x'"),
        (["--set", "B=2", "--set", "B=3"], "option `set`: B is set twice"),
        (["--plot", "costs.png"], "option `plot`: expected a name ending in .svg, got 'costs.png'"),
        (["--over", "B"], "option `over`: it is for a chart; add `--plot costs.svg`"),
        (["--depth", "0"], "option `depth`: expected a number of levels above 0, got 0"),
    ],
)
def test_mistakes_are_located(run, words, message):
    done = run(*words)
    assert (done.exit_code, done.stderr) == (2, f"Error: {message}\n")
