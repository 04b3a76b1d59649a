"""Code that a reading has to endure: what refers to itself, what has no end, what has no size, what leaves no value."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.options.reading import yaml_line
from modeldiagrams.target import resolve
from target.found_inputs import first_entries, found


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix, self.gray, self.stem = nn.Linear(5, 4), nn.Conv2d(1, 6, 3), nn.Conv2d(3, 6, 3)


class Joined(Layers):
    """The product of two dimensions becomes one of them."""

    def forward(self, x, z):
        rows, steps, _ = x.shape
        hidden = self.mix(x.view(rows * steps, 5))
        return torch.cat([hidden, z], 1) + torch.zeros(rows, 1)


def test_a_product_may_be_one_of_its_factors():
    entries = found(Joined)
    assert entries["x"][0] * entries["x"][1] == entries["z"][0]


@dataclass
class Tree:
    value: torch.Tensor
    left: Tree | None
    right: Tree | None


class OverTree(Layers):
    def forward(self, tree: Tree):
        return self.mix(tree.value)


class Node:
    def __init__(self, value):
        self.value, self.itself = value, self


class OverNode(Layers):
    def forward(self, node: Node):
        return self.mix(node.value)


def test_objects_may_hold_objects_of_their_class_and_themselves():
    entry = found(OverTree)["tree"]
    assert (entry["_target_"], entry["left"], entry["right"]) == (f"{__name__}.Tree", {"value": None}, {"value": None})
    assert found(OverNode)["node"]["_target_"] == f"{__name__}.Node"


class Gray(Layers):
    def forward(self, image):
        return self.gray(image.view(-1, 1, 28, 28))


class Frames(Layers):
    def forward(self, frames):
        return self.stem(frames.view(-1, 3, 28, 28))


@pytest.mark.parametrize("model", [Gray, Frames])
def test_pictures_that_are_viewed_as_pictures_are_no_flat_rows(model):
    ((_, shape),) = found(model).items()
    assert shape[-2:] == [28, 28]


class Named(Layers):
    """Sizes by name, and a view as another dtype, which has no sizes."""

    def forward(self, x, bits):
        return self.mix(x.reshape(shape=(-1, 5))) + bits.view(torch.int32).sum()


class Counted(Layers):
    def forward(self, x, counts):
        starts = [0] + counts.tolist()  # noqa: RUF005
        return self.mix(x)[: len(starts)]


@pytest.mark.parametrize("model", [Named, Counted])
def test_reading_goes_on_after_views_without_sizes_and_lists_of_numbers(model):
    assert first_entries(model())["x"][-1] == 5


class Styles(Layers):
    """What code takes for a size is a whole number when it is shown."""

    def forward(self, styles):
        styles = [self.mix(style) for style in styles]
        latent = styles[0].unsqueeze(1).repeat(1, 3, 1)
        return latent + styles[1].unsqueeze(1).expand(latent.shape[0], 3, 4)


def test_sizes_are_plain_numbers():
    assert yaml_line(first_entries(Styles()))


class Captions(nn.Module):
    """Nothing but a loop over lengths tells how many words there have to be."""

    def __init__(self):
        super().__init__()
        self.words, self.step = nn.Embedding(50, 8), nn.GRUCell(8, 8)

    def forward(self, captions, caption_lengths):
        state, words = captions.new_zeros(captions.shape[0], 8).float(), self.words(captions)
        for at in range(max((caption_lengths - 1).tolist())):
            state = self.step(words[:, at], state)
        return state


def test_a_place_past_the_end_asks_for_more_items():
    entries = found(Captions)
    assert entries["captions"]["shape"][1] >= 3


class Rollout(nn.Module):
    """Steps and games are joined to rows: as many steps as beside them."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 2, 29), nn.Flatten(), nn.Linear(32, 5))
        self.rnn = nn.GRU(5, 5)

    def forward(self, observed, state, done):
        games = state.shape[1]
        hidden = self.stem(observed).view(-1, games, 5)
        return self.rnn(hidden, state)[0] * (1 - done.view(-1, games, 1))


def test_rows_of_rows_are_few():
    shapes = first_entries(Rollout())
    assert shapes["observed"][0] == 7 * shapes["state"][1]


class Between(nn.Module):
    def __init__(self, width: int, keep):
        super().__init__()
        if keep <= 0 or keep >= 1:
            raise ValueError("keep must be in (0, 1)")
        self.mix, self.keep = nn.Linear(width, 4), keep

    def forward(self, x):
        return self.mix(x) * self.keep


def test_limits_may_leave_only_fractions():
    made = resolve(parse_options({"model": f"{__name__}.Between"}).call)
    assert 0 < made.model.keep < 1


MODES = {"sum", "mean", "max", "first", "last", "min", "median", "norm", "range", "mode"}


class Reduced(nn.Module):
    def __init__(self, width: int, mode):
        super().__init__()
        if mode not in MODES:
            raise ValueError(mode)
        self.mix, self.mode = nn.Linear(width, 4), mode

    def forward(self, x):
        return self.mix(x)


def test_sets_are_looked_up_in_an_order_that_stays():
    made = resolve(parse_options({"model": f"{__name__}.Reduced"}).call)
    assert made.model.mode == min(MODES)


class Printed(Layers):
    def forward(self, x, where):
        print(x, f"{where:>8}", repr(x))
        return self.mix(x)[where.abs()]


def test_tensors_may_be_printed():
    entries = first_entries(Printed())
    assert entries["x"][-1] == 5
    assert entries["where"]["dtype"] == "int64"  # what chooses items is whole without its sign, too


class StackedWithCasts(Layers):
    def forward(self, x, y):
        both = torch.stack([x, y.type_as(x), x.long().float()])
        return self.mix(torch.where(both > 0, both, both.type_as(y)).sum(0))


def test_a_tensor_may_be_stacked_with_what_it_is_a_cast_of():
    assert first_entries(StackedWithCasts())["x"][-1] == 5
