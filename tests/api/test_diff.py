"""What `diff` says: each change once, at its cause, the same both ways round.

Long because it is a list of changes, each with a pair of small models.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import jsonschema
import msgspec
import pytest
import torch
from torch import nn

import modeldiagrams
from graphs import hostile_graph, nested_graph, small_graph
from modeldiagrams.engine.compare.difference import difference_schema
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.graph import Failure, Status

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "diff.schema.json"


class Block(nn.Module):
    def __init__(self, width, *, wide=16, act=nn.ReLU, norm=nn.LayerNorm, residual=True, bias=True):  # noqa: PLR0913
        super().__init__()
        self.norm = norm(width)
        self.up = nn.Linear(width, wide, bias=bias)
        self.act = act()
        self.down = nn.Linear(wide, width)
        self.residual = residual

    def forward(self, x):
        y = self.down(self.act(self.up(self.norm(x))))
        return x + y if self.residual else y


class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


class Net(nn.Module):
    def __init__(  # noqa: PLR0913
        self, *, depth=3, head=4, wrap=False, dropout=None, scale=None, tanh=False, width=8, **block
    ):
        super().__init__()
        self.embed = nn.Linear(5, width)
        blocks = [Block(width, **block) for _ in range(depth)]
        self.blocks = nn.ModuleList(Wrapper(one) if wrap else one for one in blocks)
        if dropout is not None:
            self.drop = nn.Dropout(dropout)
        if scale:
            self.scale = nn.Parameter(torch.ones(width))
        self.tanh = tanh
        self.head = nn.Linear(width, head)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        if hasattr(self, "drop"):
            x = self.drop(x)
        if hasattr(self, "scale"):
            x = x * self.scale
        if self.tanh:
            x = torch.tanh(x)
        return self.head(x)


def graph(*, size=2, dtype=torch.float32, frozen=False, **options):
    model = Net(**options).eval().to(dtype)
    model.embed.requires_grad_(not frozen)
    return modeldiagrams.trace(model, (torch.zeros(size, 5, dtype=dtype),))


@pytest.fixture(scope="module")
def before():
    return graph()


CASES = {
    "repeats": ({"depth": 5}, "breaking", "blocks: 3 → 5 × Block (+592 parameters)"),
    "activation": ({"act": nn.GELU}, "notable", "ReLU replaced by GELU ×3 at blocks.*.act"),
    "norm": ({"norm": nn.Identity}, "breaking", "LayerNorm replaced by Identity ×3 at blocks.*.norm (−48 parameters)"),
    "inner size": ({"wide": 32}, "breaking", "size 16 → 32 (out_features of Linear) ×3 at blocks.*.up"),
    "head": ({"head": 7}, "breaking", "size 4 → 7 (out_features of Linear) at head"),
    "width": ({"width": 24, "wide": 16}, "breaking", "size 8 → 24 (out_features of Linear) ×4 at embed, blocks.*.down"),
    "bias": ({"bias": False}, "breaking", "Linear bias true → false ×3 at blocks.*.up"),
    "residual": ({"residual": False}, "notable", "residual connection removed ×3 at blocks.*"),
    "dropout": ({"dropout": 0.1}, "notable", "Dropout added as drop at drop"),
    "op": ({"tanh": True}, "notable", "op tanh added at (model)"),
    "wrapped": ({"wrap": True}, "breaking", "wrapped in a new Wrapper ×3 at blocks.*"),
    "dtype": ({"dtype": torch.float64}, "notable", "dtype of weights float32 → float64 ×22"),
    "frozen": ({"frozen": True}, "detail", "weights frozen ×2 at embed"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_change_is_one_line_in_both_directions(name, before):
    options, level, text = CASES[name]
    after = graph(**options)
    found, back = modeldiagrams.diff(before, after), modeldiagrams.diff(after, before)
    told = [change for change in found.changes if change.id not in {"output-shape", "output-dtype", "input-dtype"}]
    assert [change.text.startswith(text) for change in told] == [True], [change.text for change in told]
    assert told[0].level == level
    assert [(a, b) for change in found.changes for a, b in change.places] == [
        (b, a) for change in back.changes for a, b in change.places
    ]
    assert [(change.before, change.after) for change in found.changes] == [
        (change.after, change.before) for change in back.changes
    ]


def test_equal_models_have_no_changes(before):
    found = modeldiagrams.diff(before, graph())
    assert (found.same, found.same_computation, found.changes) == (True, True, ())
    assert found.checkpoints.verdict == "load"
    assert "no change" in str(found)


def test_several_changes_are_several_lines(before):
    found = modeldiagrams.diff(before, graph(depth=4, act=nn.GELU, head=6))
    assert [change.id for change in found.changes] == ["output-shape", "repeats", "size", "replaced"]
    assert found.changes[0].level == "detail"  # it follows from the size
    assert "output-shape" not in str(found)


def test_a_parameter_without_a_module_is_reported(before):
    found = modeldiagrams.diff(before, graph(scale=True))
    assert {change.id for change in found.changes} == {"op-added", "weight-added"}
    assert found.checkpoints.new == ("scale",)


def test_other_inputs_are_a_reservation(before):
    found = modeldiagrams.diff(before, graph(size=3))
    assert found.reservations == ("the example inputs differ: x is 2×5 and 3×5",)
    assert [change.id for change in found.changes if change.level != "detail"] == []
    assert not found.same


def test_unclassified_changes_are_reported():
    def heads(count):
        class Heads(nn.Module):
            def forward(self, x):
                return x.view(2, count, -1).softmax(-1).view(2, -1)

        return modeldiagrams.trace(Heads(), (torch.zeros(2, 8),))

    found = modeldiagrams.diff(heads(2), heads(4))
    assert [change.id for change in found.changes] == ["inner-shape"]
    assert found.changes[0].text.startswith("sizes inside: view gives 2×2×4 → 2×4×2")


class Gated(nn.Module):
    """Another class for what `Plain` does, with more inside."""

    def __init__(self):
        super().__init__()
        self.up, self.gate, self.down = nn.Linear(8, 16), nn.Linear(8, 16), nn.Linear(16, 8)
        self.act = nn.GELU()

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.act = nn.Linear(8, 16), nn.Linear(16, 8), nn.ReLU()

    def forward(self, x):
        return self.down(self.act(self.up(x)))


def sequence(*layers):
    return modeldiagrams.trace(nn.Sequential(nn.Linear(8, 8), *layers, nn.Linear(8, 2)).eval(), (torch.zeros(2, 8),))


def test_consequences_of_another_class_are_details():
    found = modeldiagrams.diff(sequence(Plain(), Plain()), sequence(Gated(), Gated()))
    assert [change.text for change in found.changes if change.caused_by is None] == [
        "Plain replaced by Gated ×2 at * (+288 parameters)"
    ]
    cause = next(i for i, change in enumerate(found.changes) if change.before == "Plain")
    told = {change.id for change in found.changes if change.caused_by == cause}
    assert {"added", "replaced", "op-added"} <= told
    assert "GELU" not in str(found)
    assert "GELU" in found.to_text(details=True)


def test_changes_without_computation_are_details():
    found = modeldiagrams.diff(sequence(nn.ReLU()), sequence(nn.ReLU(), nn.Identity()))
    assert [(change.id, change.level) for change in found.changes] == [("added", "detail")]
    assert found.same_computation


def test_activations_without_weights_may_be_shared():
    act = nn.ReLU()
    found = modeldiagrams.diff(sequence(act, act), sequence(nn.ReLU(), nn.ReLU()))
    assert [change.level for change in found.changes] == ["detail"]
    assert found.same_computation


def test_a_number_equals_a_tuple_of_equal_numbers():
    def pooled(size):
        return modeldiagrams.trace(nn.Sequential(nn.AdaptiveAvgPool2d(size)), (torch.zeros(1, 2, 4, 4),))

    assert modeldiagrams.diff(pooled(2), pooled((2, 2))).same_computation
    assert [change.id for change in modeldiagrams.diff(pooled((2, 2)), pooled((1, 2))).changes] == [
        "output-shape",
        "argument",
    ]


def test_two_architectures_are_an_inventory(before):
    conv = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))
    other = modeldiagrams.trace(conv.eval(), (torch.zeros(1, 3, 3, 3),))
    found = modeldiagrams.diff(before, other)
    assert found.inventory is not None
    assert found.inventory["Conv2d"] == (0, 1)
    assert found.inventory["Linear"] == (8, 1)
    assert len(found.changes) < 6
    assert found.checkpoints.verdict == "do-not-load"


def test_incomplete_graphs_are_not_compared(before):
    failure = Failure(type="ValueError", message="no")
    partial = msgspec.structs.replace(small_graph(), status=Status(state="partial", mode="real", error=failure))
    for pair in ((before, partial), (partial, before)):
        with pytest.raises(ModelDiagramsError, match="expected a complete graph to compare, got a partial one"):
            modeldiagrams.diff(*pair)


def test_published_schema_is_current_and_fits(update_golden, before):
    if update_golden:
        SCHEMA_FILE.write_text(json.dumps(difference_schema(), indent=2) + "\n", "utf-8")
    assert json.loads(SCHEMA_FILE.read_text("utf-8")) == difference_schema(), "run `make golden`"
    for after in (before, graph(depth=4, act=nn.GELU), small_graph()):
        jsonschema.validate(json.loads(modeldiagrams.diff(before, after).to_json()), difference_schema())


def test_hostile_names_are_escaped_in_markdown():
    found = modeldiagrams.diff(hostile_graph(), small_graph())
    text = modeldiagrams.diff(small_graph(), hostile_graph()).to_markdown(details=True)
    assert found.changes
    assert "<script>" not in text
    assert not any(line.startswith(("#", "```")) for line in text.splitlines()[1:])


def test_deep_and_long_models_take_seconds():
    start = time.process_time()
    found = modeldiagrams.diff(nested_graph(400, 8), nested_graph(300, 10))
    assert found.changes
    assert time.process_time() - start < 20


class Steps(nn.Module):
    """Three steps with two layers each, or with two for all."""

    def __init__(self, *, shared=False, wrap=False, scale=None):
        super().__init__()
        pairs = [nn.ModuleList([nn.LayerNorm(8), nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 8)]) for _ in range(3)]
        self.steps = nn.ModuleList(Residual(*pair, wrap=wrap, scale=scale) for pair in pairs)
        self.shared = shared

    def forward(self, x):
        for step in self.steps:
            x = (self.steps[0] if self.shared else step)(x)
        return x


class Residual(nn.Module):
    def __init__(self, norm1, one, norm2, two, *, wrap, scale):  # noqa: PLR0913
        super().__init__()
        self.norm1, self.one, self.norm2 = norm1, one, norm2
        self.two = nn.Sequential(two) if wrap else two
        self.scale = scale

    def forward(self, x):
        x = x + self.one(self.norm1(x))
        y = self.two(self.norm2(x))
        return x + (y if self.scale is None else y * self.scale)


def steps(**options):
    return modeldiagrams.trace(Steps(**options).eval(), (torch.zeros(2, 8),))


@pytest.mark.parametrize("wrap", [False, True])
def test_sharing_weights_of_layers_changes_results(wrap):
    pair = steps(), steps(shared=True, wrap=wrap)
    for found in (modeldiagrams.diff(*pair), modeldiagrams.diff(*reversed(pair))):
        assert not found.same_computation
        assert found.inventory is None
        assert {"shared", "unshared"} & {change.id for change in found.changes}


def test_tying_weights_changes_results():
    layer = nn.Linear(8, 8)
    pair = sequence(layer, nn.ReLU(), layer), sequence(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    for found in (modeldiagrams.diff(*pair), modeldiagrams.diff(*reversed(pair))):
        assert not found.same_computation


def test_a_factor_after_a_layer_does_not_change_the_role_of_its_weight():
    pair = steps(), steps(scale=0.5)
    for found in (modeldiagrams.diff(*pair), modeldiagrams.diff(*reversed(pair))):
        assert found.checkpoints.other_role == ()


class Recurring(nn.Module):
    def __init__(self, calls):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 2)
        self.calls = calls
        if calls:
            self.cell = nn.GRUCell(8, 8)

    def forward(self, x):
        h = self.first(x)
        for _ in range(self.calls):
            h = self.cell(x, h)
        return self.last(h)


def test_weights_of_a_shared_module_count_once():
    once, often = (modeldiagrams.trace(Recurring(calls).eval(), (torch.ones(1, 8),)) for calls in (0, 5))
    (added,) = [change for change in modeldiagrams.diff(once, often).changes if change.id == "added"]
    assert added.parameters == sum(p.numel() for p in nn.GRUCell(8, 8).parameters())


class Remembering(nn.Module):
    """An attention that reads what the last call under its number has kept."""

    def __init__(self, number):
        super().__init__()
        self.number, self.norm = number, nn.LayerNorm(8)
        self.query, self.key, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x, memory):
        y = self.norm(x)
        kept = memory[self.number] if self.number in memory else y[:, :1]
        for step in y.split(1, 1):
            kept = torch.cat([kept, step], 1)
        memory[self.number] = kept[:, :2]
        scores = torch.softmax(self.query(y) @ self.key(kept).transpose(1, 2), -1)
        return x + self.out(scores @ kept)


class Cached(Remembering):
    """A cross attention that makes its keys once."""

    def forward(self, x, memory):
        y = self.norm(x)
        if self.number not in memory:
            memory[self.number] = torch.tanh(self.key(x))
        scores = torch.softmax(self.query(y) @ memory[self.number].transpose(1, 2), -1)
        return x + self.out(scores @ y)


def remembering(block, *, steps=4, shared=False):
    class Blocks(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([block(0), block(1)])
            if shared:
                self.blocks[1] = self.blocks[0]

        def forward(self, x):
            memory = {}
            for one in self.blocks:
                x = one(x, memory)
            return x

    return modeldiagrams.trace(Blocks().eval(), (torch.zeros(1, steps, 8),))


def test_ops_of_a_shared_block_with_other_shapes_keep_their_order():
    found = modeldiagrams.diff(*(remembering(Remembering, steps=40, shared=shared) for shared in (False, True)))
    assert {"shared", "rearranged"} <= {change.id for change in found.changes}
    assert "op-order" not in {change.id for change in found.changes}


@pytest.mark.parametrize("block", [Remembering, Cached])
def test_differences_in_calls_of_a_shared_block_follow_from_the_sharing(block):
    pair = [remembering(block, shared=shared) for shared in (False, True)]
    for found, sharing in ((modeldiagrams.diff(*pair), "shared"), (modeldiagrams.diff(*reversed(pair)), "unshared")):
        told = [change.id for change in found.changes if change.caused_by is None]
        assert told == [sharing]
        assert len(found.changes) > 1


def test_changes_of_all_blocks_do_not_follow_from_sharing():
    class Scaled(Cached):
        def forward(self, x, memory):
            return super().forward(x, memory) * 0.5

    Scaled.__name__ = Scaled.__qualname__ = "Cached"
    found = modeldiagrams.diff(remembering(Cached), remembering(Scaled, shared=True))
    (scaled,) = [change for change in found.changes if change.text.startswith("op mul added")]
    assert (scaled.count, scaled.caused_by) == (2, None)


class Heads(nn.Module):
    """Returns what two heads make, in this order."""

    def __init__(self, order, *, names=None, act=None):
        super().__init__()
        self.body, self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 3), nn.Linear(8, 3)
        self.order, self.names, self.act = order, names, act

    def forward(self, x):
        x = self.body(x)
        if self.act is not None:
            x = self.act(x)
        made = {"x": x, "one": self.one(x).relu(), "two": self.two(x).tanh()}
        found = tuple(made[name] for name in self.order)
        return found if self.names is None else dict(zip(self.names, found, strict=True))


EXCHANGED = [
    ({"order": ("one", "two")}, {"order": ("two", "one")}, [("[0]", "[1]"), ("[1]", "[0]")]),
    ({"order": ("one", "two")}, {"order": ("x", "two", "one")}, [("[0]", "[2]")]),
    ({"order": ("one", "two")}, {"order": ("x", "one", "two")}, []),
    (
        {"order": ("one", "two"), "names": ("a", "b")},
        {"order": ("two", "one"), "names": ("a", "b")},
        [("a", "b"), ("b", "a")],
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), EXCHANGED)
@pytest.mark.parametrize("act", [None, nn.ReLU()])
def test_exchanged_outputs_are_reported_whatever_else_changed(before, after, expected, act):
    graphs = (Heads(**before), Heads(**after, act=act))
    pair = [modeldiagrams.trace(model.eval(), (torch.zeros(2, 8),)) for model in graphs]
    found, back = modeldiagrams.diff(*pair), modeldiagrams.diff(*reversed(pair))
    told = {one.text for one in found.changes if one.id == "output-rewired"}
    assert told == {f"output {x} is now output {y}" for x, y in expected}
    told = {one.text for one in back.changes if one.id == "output-rewired"}
    assert told == {f"output {y} is now output {x}" for x, y in expected}
    assert "other" not in {one.id for one in (*found.changes, *back.changes)}
    assert not found.same_computation


class Projections(nn.Module):
    """An attention with a layer for each of these groups of projections."""

    def __init__(self, groups, width):
        super().__init__()
        self.groups, self.sizes = groups, {"q": width, "k": width // 2, "v": width // 2}
        for group in groups:
            setattr(self, group, nn.Linear(width, sum(self.sizes[name] for name in group)))
        self.out = nn.Linear(width // 2, width)

    def forward(self, x):
        made = {}
        for group in self.groups:
            parts = getattr(self, group)(x).split([self.sizes[name] for name in group], -1)
            made |= dict(zip(group, parts, strict=True))
        query = made["q"].unflatten(-1, (2, -1)).sum(-2)
        return self.out(torch.softmax(query @ made["k"].transpose(-1, -2), -1) @ made["v"])


def projections(*groups):
    model = nn.Sequential(nn.Linear(8, 8), *(Projections(groups, 8) for _ in range(3)), nn.Linear(8, 2))
    return modeldiagrams.trace(model.eval(), (torch.zeros(2, 4, 8),))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("q", "k", "v"), ("qkv",), "q, k, v merged into qkv"),
        (("k", "q", "v"), ("qkv",), "k, q, v merged into qkv"),
        (("q", "k", "v"), ("q", "kv"), "k, v merged into kv"),
        (("qkv",), ("q", "kv"), "qkv split into q, kv"),
    ],
)
def test_merged_layers_are_one_line(before, after, expected):
    old, new = projections(*before), projections(*after)
    found = modeldiagrams.diff(old, new)
    (told,) = [change for change in found.changes if change.level != "detail"]
    assert told.text == f"Linear: {expected} ×3 at *.{told.where[0].rpartition('.')[2]}"
    assert (told.level, told.count, told.parameters) == ("breaking", 3, 0)
    back = modeldiagrams.diff(new, old)
    (there,) = [change for change in back.changes if change.level != "detail"]
    assert {told.id, there.id} == {"merged", "split"}
    assert [(y, x) for x, y in there.places] == list(told.places)


def test_a_gate_of_half_the_size_is_not_a_split():
    class Dense(nn.Module):
        def __init__(self, *, gated):
            super().__init__()
            if gated:
                self.wi_0, self.wi_1 = nn.Linear(8, 8), nn.Linear(8, 8)
            else:
                self.wi = nn.Linear(8, 16)
            self.wo = nn.Linear(8 if gated else 16, 8)

        def forward(self, x):
            return self.wo(self.wi(x).relu() if hasattr(self, "wi") else self.wi_0(x).tanh() * self.wi_1(x))

    pair = [sequence(Dense(gated=gated), Dense(gated=gated)) for gated in (False, True)]
    for found in (modeldiagrams.diff(*pair), modeldiagrams.diff(*reversed(pair))):
        assert {"merged", "split"}.isdisjoint(change.id for change in found.changes)


def test_a_layer_of_another_size_is_not_merged_layers():
    class Narrow(Projections):
        def __init__(self, groups, width):
            super().__init__(groups, width)
            self.qkv = nn.Linear(width, 2 * width, bias=False)

    Narrow.__name__ = Narrow.__qualname__ = "Projections"
    model = nn.Sequential(nn.Linear(8, 8), Narrow(("qkv",), 8), nn.Linear(8, 2))
    other = modeldiagrams.trace(model.eval(), (torch.zeros(2, 4, 8),))
    found = modeldiagrams.diff(projections("q", "k", "v"), other)
    assert {"merged", "split"}.isdisjoint(change.id for change in found.changes)


def recurring(calls, *, own=False):
    class Cells(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells = nn.ModuleList(nn.GRUCell(8, 8) for _ in range(calls if own else 1))
            self.last = nn.Linear(8, 2)

        def forward(self, x):
            h = x
            for i in range(calls):
                h = self.cells[i if own else 0](x, h)
            return self.last(h)

    return modeldiagrams.trace(Cells().eval(), (torch.ones(1, 8),))


@pytest.mark.parametrize("back", [False, True])
def test_more_calls_of_a_module_are_one_line(back):
    pair = [recurring(1), recurring(9)]
    found = modeldiagrams.diff(*(reversed(pair) if back else pair))
    counts = "9 → 1" if back else "1 → 9"
    assert [change.text for change in found.changes] == [f"calls of GRUCell: {counts} at cells.0"]
    assert len(found.changes[0].places) == 8


@pytest.mark.parametrize(("calls", "more"), [(9, []), (12, ["calls of GRUCell: 9 → 12 at cells.0"])])
def test_additional_calls_of_a_shared_module_are_reported(calls, more):
    found = modeldiagrams.diff(recurring(9, own=True), recurring(calls))
    assert [change.text for change in found.changes] == [
        *more,
        "GRUCell is now one module called several times ×8 at cells.*",
    ]


def test_factored_layers_are_replaced():
    def timed(*, factored):
        def layer(given, made):
            return (
                nn.Sequential(nn.Linear(given, 3, bias=False), nn.Linear(3, made))
                if factored
                else nn.Linear(given, made)
            )

        time = nn.Sequential(layer(8, 16), nn.SiLU(), layer(16, 8))
        return modeldiagrams.trace(nn.Sequential(time, *(Plain() for _ in range(3))).eval(), (torch.zeros(2, 8),))

    pair = timed(factored=False), timed(factored=True)
    for found in (modeldiagrams.diff(*pair), modeldiagrams.diff(*reversed(pair))):
        (told,) = [change for change in found.changes if change.level != "detail"]
        assert (told.id, told.count, {told.before, told.after}) == ("replaced", 2, {"Linear", "Sequential"})


class Attention(nn.Module):
    def __init__(self, *, is_linear=False, width=8):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.is_linear = is_linear

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        if self.is_linear:
            return q.softmax(-1) @ (k.softmax(1).transpose(1, 2) @ v)
        return (q @ k.transpose(1, 2)).softmax(-1) @ v


class Attending(nn.Module):
    def __init__(self, *, is_linear=False):
        super().__init__()
        self.layers = nn.ModuleList(Attention(is_linear=is_linear) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


def test_costs_that_grow_with_another_power_are_one_line():
    x = (torch.zeros(2, 16, 8),)
    dims = {"x": ["B", "T", 8]}
    before, after = (modeldiagrams.trace(Attending(is_linear=one), x, dims=dims) for one in (False, True))
    line = "FLOPs and activations quadratic in T → linear in T ×3 at layers.*"
    assert line in [change.text for change in modeldiagrams.diff(before, after).changes]
    back = [change.text for change in modeldiagrams.diff(after, before).changes]
    assert "FLOPs and activations linear in T → quadratic in T ×3 at layers.*" in back
    plain = modeldiagrams.trace(Attending(is_linear=True), x)
    assert not any("quadratic" in change.text for change in modeldiagrams.diff(before, plain).changes)
    assert modeldiagrams.diff(before, modeldiagrams.trace(Attending(), x)).same
