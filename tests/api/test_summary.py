from __future__ import annotations

import msgspec
import pytest
import torch
from torch import nn
from torch.profiler import record_function

import modeldiagrams
from graphs import nested_graph
from modeldiagrams import OptionError


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.mlp = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.blocks = nn.ModuleList(Block() for _ in range(80))
        self.head = nn.Linear(8, 10, bias=False)
        self.head.weight = self.embed.weight
        self.embed.weight.requires_grad_(requires_grad=False)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


IDS = torch.zeros(1, 4, dtype=torch.long)
TABLE = """
Module         Class       Output shape  Parameters  Trainable  FLOPs  Calls
────────────────────────────────────────────────────────────────────────────
Net            Net         1×4×10            45,520     45,440  328 k      1
  embed        Embedding   1×4×8                 80          0      –      1
  blocks.0–79  Block       1×4×8                568        568  4.1 k    ×80
    norm       LayerNorm   1×4×8                 16         16      –      1
    mlp        Sequential  1×4×8                552        552  4.1 k      1
  head         Linear      1×4×10                80          0    640      1
────────────────────────────────────────────────────────────────────────────
Parameters: 45,520, 80 of them frozen
FLOPs: 328 k; a multiply-add counts as two
Memory: 178 KiB of parameters (float32), 110 KiB of activations (float32)
"""


@pytest.fixture(scope="module")
def graph():
    return modeldiagrams.trace(Net(), (IDS,))


def test_equal_blocks_are_one_row_and_tied_weights_count_once(graph):
    table = modeldiagrams.summary(graph, depth=2)
    assert f"\n{table}\n" == TABLE
    assert repr(table) == str(table)  # what the prompt of Python and saved notebooks show


def test_depth_is_the_number_of_levels(graph):
    def levels(**options):
        return {row["level"] for row in modeldiagrams.summary(graph, **options).rows}

    assert levels(depth=1) == {0, 1}
    assert levels() == levels(depth=9) == {0, 1, 2, 3}


def test_requested_columns_are_shown(graph):
    title = str(modeldiagrams.summary(graph, columns=["inputs", "activations"])).splitlines()[0]
    assert title.split() == ["Module", "Class", "Input", "shape", "Activations"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"columns": ["flop"]}, "option `columns`: expected some of inputs, outputs, .*, got 'flop'"),
        ({"depth": 0}, "option `depth`: expected a number of levels above 0, got 0"),
        ({"depth": "two"}, "option `depth`: expected a number of levels above 0, got 'two'"),
    ],
)
def test_wrong_options_are_named(graph, wrong, message):
    with pytest.raises(OptionError, match=message):
        modeldiagrams.summary(graph, **wrong)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(4, 4)
        self.gate = nn.Sigmoid()

    def forward(self, x):
        x = self.cell(self.cell(x))
        return self.cell(self.gate(x))


def test_calls_that_share_weights_are_marked():
    shown = modeldiagrams.summary(modeldiagrams.trace(Recurrent(), (torch.zeros(1, 4),)))
    assert [(row["name"], row["calls"], row["shared"]) for row in shown.rows[1:]] == [
        ("cell", 2, True),
        ("gate", 1, False),
        ("cell", 1, True),
    ]
    assert "Parameters: 20, all trainable" in str(shown)
    assert "×2 shared" in str(shown)


class Grouped(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.groups = nn.ModuleList(nn.Linear(8, 8) for _ in range(max(order) + 1))
        self.order = order

    def forward(self, x):
        for group in self.order:
            x = self.groups[group](x)
        return x


@pytest.mark.parametrize(
    "order", [[0, 0, 0, 1, 1, 1], [0, 1, 0, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1], [0, 1, 1, 0], [0, 1, 2]]
)
def test_parameters_of_rows_add_up_to_those_of_the_sets(order):
    shown = modeldiagrams.summary(modeldiagrams.trace(Grouped(order), (torch.zeros(1, 8),)))
    model, *rows = shown.rows
    total, repeats = 0, 1
    for row in rows:
        sets = row["sets"] if row["shared"] else row["calls"]
        if row["class_"]:
            total += row["parameters"] * sets * repeats
        else:
            repeats = sets
    assert total == model["parameters"] == 72 * (max(order) + 1)


def test_modules_repeated_together_are_below_one_row():
    pairs = [layer for _ in range(4) for layer in (nn.Linear(4, 4), nn.Sequential(nn.LayerNorm(4), nn.GELU()))]
    rows = modeldiagrams.summary(modeldiagrams.trace(nn.Sequential(*pairs), (torch.zeros(1, 4),))).rows
    assert [(row["path"], row["level"], row["calls"]) for row in rows] == [
        ("", 0, 1),
        ("0–7", 1, 4),
        ("0", 2, 1),
        ("1", 2, 1),
        ("1.0", 3, 1),
        ("1.1", 3, 1),
    ]
    assert rows[1]["parameters"] is None


def test_unknown_numbers_are_not_zero(graph):
    bare = msgspec.structs.replace(graph.model, flops=None, activation_bytes=None)
    text = str(modeldiagrams.summary(msgspec.structs.replace(graph, model=bare)))
    assert "FLOPs: not counted" in text
    assert text.endswith("178 KiB of parameters (float32), activations not counted")


def test_measured_times_have_a_column():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    graph = modeldiagrams.trace(model, (torch.zeros(1, 4),), measure_time=True)
    table = modeldiagrams.summary(graph)
    assert [row["time_ns"] for row in table.rows] == [
        graph.model.time_ns,
        *(row["time_ns"] for row in graph.module_rows()),
    ]
    assert "Own time" in str(table)
    assert '<th scope="col" class="mg-time">Own time</th>' in table._repr_html_()
    assert modeldiagrams.to_pandas(graph)["time_ns"].sum() == graph.model.time_ns
    plain = modeldiagrams.summary(modeldiagrams.trace(model, (torch.zeros(1, 4),)))
    assert "Own time" not in str(plain) + plain._repr_html_()


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(7, "7 ns"), (1234, "1.23 µs"), (999_900, "1 ms"), (45_678_901, "45.7 ms"), (2 * 10**9, "2 s")],
)
def test_times_have_three_digits(nanoseconds, text):
    graph = nested_graph(deep=1, wide=1)
    graph = msgspec.structs.replace(graph, model=msgspec.structs.replace(graph.model, time_ns=nanoseconds))
    assert f"Own time: {text} inside operations" in str(modeldiagrams.summary(graph))


def test_bytes_follow_the_dtypes():
    text = str(
        modeldiagrams.summary(modeldiagrams.trace(nn.Linear(100, 10).bfloat16(), (torch.zeros(1, 100).bfloat16(),)))
    )
    assert "1.97 KiB of parameters (bfloat16), 20 B of activations (bfloat16)" in text


def test_deep_models_have_all_rows():
    assert len(modeldiagrams.summary(nested_graph(900, 1), depth=1000).rows) == 901


def test_notebooks_get_an_accessible_table(graph):
    html = modeldiagrams.summary(graph)._repr_html_()
    assert html.count('<th scope="row"') == 9
    assert html.count('<th scope="col"') == 7
    # read aloud as a path, although indented for the eye
    assert '<span class="mg-path">blocks.0–79.mlp.</span>0</th>' in html


def test_names_of_modules_are_text():
    model = nn.Sequential()
    model.add_module("<img src=x>", nn.ReLU())
    shown = modeldiagrams.summary(modeldiagrams.trace(model, (torch.zeros(1),)))
    assert "&lt;img src=x&gt;</th>" in shown._repr_html_()
    assert "<img src=x>" in str(shown)


def scaled(value, by):
    return value * by.sin().cos()


class Functions(nn.Module):
    def forward(self, x, y):
        with record_function("wave"):
            x = x.sin().cos().tan()
        return scaled(x, y[0]) + 1


def test_functions_are_rows_with_their_arguments():
    rows = modeldiagrams.summary(modeldiagrams.trace(Functions(), (torch.zeros(2, 4), torch.zeros(3, 4)))).rows
    assert [(row["name"], row["class_"], row["inputs"]) for row in rows[1:]] == [
        ("wave", "record_function", {}),
        ("scaled", f"{__name__}.scaled", {"value": (2, 4), "by": (4,)}),
    ]


def test_table_of_a_failed_pass_is_marked_incomplete():
    model = nn.Sequential(nn.Linear(4, 5), nn.Linear(6, 5))
    failed = modeldiagrams.summary(modeldiagrams.trace(model, (torch.zeros(1, 4),)))
    assert "\nIncomplete: the forward pass of Sequential raised RuntimeError: mat1 and mat2" in str(failed)
    assert "mat1 and mat2" in failed._repr_html_()
    assert "Incomplete" not in str(modeldiagrams.summary(modeldiagrams.trace(model[:1], (torch.zeros(1, 4),))))
