"""Renamed weights: PyTorch itself says whether the mapping is right."""

from __future__ import annotations

import itertools
import random

import msgspec
import pytest
import torch
from torch import nn

import modeldiagrams
from edits.renamed import ROLES, WIDTH, Attention, Holder, Net, check_migration, given, traced
from modeldiagrams import ModelDiagramsError


@pytest.mark.parametrize("seed", range(10))
def test_migrated_weights_load_and_give_equal_outputs(seed):
    """The zoo has more seeds."""
    check_migration(seed)


class Longer(nn.Module):
    """Another number of blocks, and something before them or after them."""

    def __init__(self, net, more):
        super().__init__()
        self.net, self.more = net, more

    def forward(self, x):
        return torch.tanh(self.net(x)) if self.more == "after" else self.net(x * 2 if self.more else x)


def jobs(net):
    """Name of a layer → which layer of which block it is."""
    found = {"net.head": "head"}
    for number, block in enumerate(getattr(net, net.list)):
        inner, path = block, f"net.{net.list}.{number}."
        if isinstance(block, Holder):
            inner, path = getattr(block, block.name), f"{path}{block.name}."
        found |= {path + name: (number, role) for role, name in inner.names.items()}
    return found


@pytest.mark.parametrize("seed", [9, 50, 123])
def test_weights_are_not_mismatched_where_models_differ(seed):
    random_ = random.Random(1000 + seed)  # noqa: S311
    nets = Net(random_), Net(random_, depth=random_.choice([2, 3]))
    found = modeldiagrams.diff(*(traced(Longer(net, more)) for net, more in zip(nets, ("", "after"), strict=True)))
    before, after = map(jobs, nets)
    keys = found.checkpoints
    names = {pair.before: pair.after for pair in keys.renamed}
    doubtful = {name for group in keys.ambiguous for name in group.before} | {*keys.other_role} - {*names}
    for layer, job in before.items():
        key = f"{layer}.weight"
        now = names.get(key, key).removesuffix(".weight")
        assert key in doubtful or after[now] == job, (key, now)
    assert names or doubtful
    with pytest.raises(ModelDiagramsError, match="can't be migrated"):
        found.migrate(nets[0].state_dict(prefix="net."))


class Twins(nn.Module):
    def __init__(self, one="a", other="b"):
        super().__init__()
        self.names = (one, other)
        for name in self.names:
            setattr(self, name, nn.Linear(WIDTH, WIDTH))

    def forward(self, x):
        one, other = (getattr(self, name)(x) for name in self.names)
        return one + other


def test_indistinguishable_layers_are_ambiguous():
    found = modeldiagrams.diff(traced(Twins()), traced(Twins("left", "right")))
    assert found.checkpoints.verdict == "ambiguous"
    assert found.checkpoints.renamed == ()
    assert "ambiguous: a.weight, b.weight ↔ left.weight, right.weight" in str(found)
    with pytest.raises(ModelDiagramsError, match=r"a\.weight.* differ in nothing but their names"):
        found.migrate(Twins().state_dict())


class Ordered(nn.Module):
    """Two norms of one size; which name comes first is the only difference."""

    def __init__(self, first, second):
        super().__init__()
        self.order = (first, second)
        self.norm_a, self.norm_b = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.fc = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        first, second = (getattr(self, name) for name in self.order)
        return second(torch.relu(self.fc(first(x))))


def test_weights_with_another_role_are_mapped_with_a_warning():
    before, after = Ordered("norm_a", "norm_b").eval(), Ordered("norm_b", "norm_a").eval()
    for norm in (before.norm_a, before.norm_b):
        nn.init.normal_(norm.weight)
    found = modeldiagrams.diff(traced(before), traced(after))
    assert set(found.checkpoints.other_role) == set(before.norm_a.state_dict(prefix="norm_a.")) | set(
        before.norm_b.state_dict(prefix="norm_b.")
    )
    assert "other role under the same name: norm_a.weight" in str(found)
    after.load_state_dict(before.state_dict())  # PyTorch sees nothing wrong
    assert not torch.allclose(after(given()), before(given()))
    after.load_state_dict(found.migrate(before.state_dict()))
    torch.testing.assert_close(after(given()), before(given()))


@pytest.mark.parametrize(
    ("after", "problem"),
    [
        (nn.Sequential(nn.Linear(WIDTH, 9), nn.ReLU()), "another shape is needed for 0.weight"),
        (nn.Sequential(nn.Linear(WIDTH, WIDTH, bias=False), nn.ReLU()), "there is no place for 0.bias"),
        (nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.LayerNorm(WIDTH)), "there are no values for 2.weight"),
    ],
)
def test_weights_without_counterpart_are_not_migrated(after, problem):
    before = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU())
    with pytest.raises(ModelDiagramsError, match=f"can't be migrated: {problem}"):
        modeldiagrams.diff(traced(before), traced(after)).migrate(before.state_dict())


def test_another_state_dict_is_refused():
    found = modeldiagrams.diff(traced(nn.Sequential(nn.Linear(WIDTH, 4))), traced(Holder("fc", nn.Linear(WIDTH, 4))))
    with pytest.raises(ModelDiagramsError, match=r"expected a state dict of the earlier Sequential.* 0\.weight"):
        found.migrate({"other.weight": torch.ones(1)})


def test_sequential_with_a_layer_in_between_shifts_its_keys():
    def layers(*more):
        return nn.Sequential(nn.Linear(WIDTH, WIDTH), *more, nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 3)).eval()

    before, after = layers(nn.ReLU()), layers(nn.ReLU(), nn.Dropout(0.1))
    found = modeldiagrams.diff(traced(before), traced(after))
    after.load_state_dict(found.migrate(before.state_dict()))
    torch.testing.assert_close(after(given()), before(given()))


def test_buffers_that_are_not_saved_do_not_count():
    class Table(nn.Module):
        def __init__(self, name, persistent):
            super().__init__()
            self.name = name
            self.register_buffer(name, torch.ones(WIDTH), persistent=persistent)
            self.fc = nn.Linear(WIDTH, 2)

        def forward(self, x):
            return self.fc(x * getattr(self, self.name))

    def verdict(*names, version="1.2"):
        graphs = [msgspec.structs.replace(traced(Table(*name)), version=version) for name in names]
        found = modeldiagrams.diff(*graphs).checkpoints
        return found.verdict, found.buffers_known

    assert verdict(("mask", False), ("table", False)) == ("load", True)
    assert verdict(("mask", True), ("table", True)) == ("load-after-renaming", True)
    assert verdict(("mask", True), ("mask", False)) == ("load-in-part", True)
    assert verdict(("mask", True), ("mask", True), version="1.1") == ("load", False)


def test_tied_weights_keep_all_their_names():
    class Tied(nn.Module):
        def __init__(self, first, last):
            super().__init__()
            self.names = (first, last)
            setattr(self, first, nn.Linear(WIDTH, WIDTH, bias=False))
            setattr(self, last, nn.Linear(WIDTH, WIDTH, bias=False))
            getattr(self, last).weight = getattr(self, first).weight

        def forward(self, x):
            first, last = (getattr(self, name) for name in self.names)
            return last(torch.relu(first(x)))

    for names in itertools.permutations(("embed", "head", "wte"), 2):
        before, after = Tied("embed", "head").eval(), Tied(*names).eval()
        found = modeldiagrams.diff(traced(before), traced(after))
        after.load_state_dict(found.migrate(before.state_dict()))
        torch.testing.assert_close(after(given()), before(given()))


class Parallel(nn.Module):
    """Two branches of one class: each of their layers has a twin in the other branch."""

    def __init__(self, one, other, *, scale=1.0):
        super().__init__()
        self.names, self.scale = (one, other), scale
        for name in self.names:
            setattr(self, name, Holder("fc", nn.Linear(WIDTH, WIDTH)))

    def forward(self, x):
        one, other = (getattr(self, name)(x * self.scale) for name in self.names)
        return one + other


def test_layers_in_twin_branches_are_ambiguous_too():
    found = modeldiagrams.diff(traced(Parallel("left", "right")), traced(Parallel("a", "b", scale=2.0))).checkpoints
    assert found.verdict == "ambiguous"
    assert found.renamed == ()


def test_equal_layers_in_a_row_are_known_by_their_order():
    def layers(*more):
        rows = [[nn.Linear(WIDTH, WIDTH), *(make() for make in more), nn.ReLU()] for _ in range(3)]
        return nn.Sequential(*(layer for row in rows for layer in row))

    found = modeldiagrams.diff(traced(layers()), traced(layers(lambda: nn.LayerNorm(WIDTH)))).checkpoints
    assert {pair.before: pair.after for pair in found.renamed if pair.before.endswith("weight")} == {
        "2.weight": "3.weight",
        "4.weight": "6.weight",
    }
    assert found.ambiguous == ()


def test_an_additional_equal_layer_in_a_row_is_ambiguous():
    def layers(count):
        return nn.Sequential(nn.ReLU(), *(nn.Linear(WIDTH, WIDTH) for _ in range(count)))

    found = modeldiagrams.diff(traced(Holder("net", layers(3))), traced(layers(4))).checkpoints
    assert found.verdict != "load-after-renaming"


def test_another_order_of_calls_does_not_change_results():
    names = {role: role for role in ROLES}
    nets = [Attention(names, ROLES, called) for called in (("q", "k", "v"), ("v", "q", "k"))]
    found = modeldiagrams.diff(*map(traced, nets))
    assert found.same_computation
    assert {change.level for change in found.changes} == {"detail"}


class Timed(nn.Module):
    """A block with a second input that no other block changes."""

    def __init__(self):
        super().__init__()
        self.fc, self.time = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, time):
        return torch.relu(self.fc(x) + self.time(time))


class Times(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = nn.ModuleList(Timed() for _ in range(depth))

    def forward(self, x, time):
        for block in self.blocks:
            x = block(x, time)
        return x


def test_an_additional_block_takes_no_weight_from_the_last():
    one, two = (modeldiagrams.trace(Times(depth), (given(), given())) for depth in (2, 3))
    found = modeldiagrams.diff(one, two).checkpoints
    assert found.renamed == ()
    assert {key.split(".")[1] for key in found.new} == {"2"}
