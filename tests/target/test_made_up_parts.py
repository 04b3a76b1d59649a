"""Arguments that are parts of a model, their configurations or their weights: what each use shows of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import record, resolve
from modeldiagrams.target.inference.constructor import solved_arguments
from modeldiagrams.target.inference.made_up_modules import gives_map
from modeldiagrams.target.inference.search import is_connected
from modeldiagrams.target.objects import Pyramid, from_option, with_attributes

STAGES = {}


class Widening(nn.Module):
    def __init__(self, start, end):
        super().__init__()
        self.layer = nn.Linear(start, end)

    def forward(self, x):
        return self.layer(x)


STAGES["widening"] = Widening


def from_table(settings, **more):
    settings = dict(settings)
    return STAGES[settings.pop("kind")](**settings, **more)


class HandedOn(nn.Module):
    """A configuration is copied by a helper, which takes the key of a table out of the copy."""

    def __init__(self, stage):
        super().__init__()
        self.stage = from_table(stage, end=8)

    def forward(self, x):
        return self.stage(x)


class CopiedHere(nn.Module):
    """The copy goes by the argument's name."""

    def __init__(self, head):
        super().__init__()
        head = {**head}
        kind = head.pop("kind")
        self.head = STAGES[kind](**head)

    def forward(self, x):
        return self.head(x)


class PerSensor(nn.Module):
    """Names that are gone through are keys of another field."""

    def __init__(self, setup):
        super().__init__()
        self.sensors = setup.batteries
        self.inputs = nn.ModuleDict({name: nn.Linear(setup.rates[name], setup.size) for name in setup.batteries})

    def forward(self, readings):
        return sum(self.inputs[name](readings[name]) for name in self.sensors)


class Asked(nn.Module):
    """A namespace that is asked whether it has something."""

    def __init__(self, args):
        super().__init__()
        if "momentum" not in args:
            args.momentum = 0.1
        self.layers = nn.Sequential(nn.Linear(args.width, 4), nn.BatchNorm1d(4, momentum=args.momentum))


class Smoothed(nn.Module):
    """Numbers of a list become a tensor of one dimension."""

    def __init__(self, blur_filter):
        super().__init__()
        taps = torch.tensor(blur_filter, dtype=torch.float32)
        self.register_buffer("taps", taps[:, None] * taps[None])
        self.layer = nn.Linear(4, 4)


class Clipped(nn.Module):
    """Two names are given what the constructor only keeps."""

    def __init__(self, width, value_range):
        super().__init__()
        self.layer, self.value_range = nn.Linear(width, 2), value_range

    def forward(self, x):
        least, most = self.value_range
        return self.layer(x).clamp(least, most)


class Looped(nn.Module):
    def __init__(self, offsets):
        super().__init__()
        self.layer, self.offsets = nn.Linear(4, 4), offsets

    def forward(self, x):
        for offset in reversed(self.offsets):
            x = self.layer(x + offset)
        return x


class Replaced(nn.Module):
    """A layer gets other weights than its own."""

    def __init__(self, n_words, size, vectors):
        super().__init__()
        self.table = nn.Embedding(n_words, size)
        self.table.weight = nn.Parameter(vectors.clone())
        self.cell = nn.GRU(size, 8, batch_first=True)

    def forward(self, words):
        return self.cell(self.table(words))[0]


class Copied(nn.Module):
    def __init__(self, n_words, size, vectors):
        super().__init__()
        self.table = nn.Embedding(n_words, size)
        self.table.weight.data.copy_(vectors)

    def forward(self, words):
        return self.table(words)


class FromArray(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(torch.from_numpy(vectors).float())

    def forward(self, words):
        return self.table(words)


class OfGraph(nn.Module):
    def __init__(self, adj_mx, width):
        super().__init__()
        adj = torch.as_tensor(np.asarray(adj_mx), dtype=torch.float32)
        self.register_buffer("adj", adj / adj.sum(1, keepdim=True))
        self.rows = nn.Linear(width, len(adj_mx))


class Sized(nn.Module):
    """A part is asked for its size, and called."""

    def __init__(self, trunk, classes):
        super().__init__()
        self.trunk, self.last = trunk, nn.Linear(trunk.embedding_size, classes)

    def forward(self, x):
        return self.last(self.trunk(x))


class SidesOf(nn.Module):
    def forward(self, picture):
        return picture.mean((-2, -1))


class Pooled(nn.Module):
    """What a part gives is a picture: a module of the same author takes its sides."""

    def __init__(self, extractor, feature_dim):
        super().__init__()
        self.extractor, self.pool, self.last = extractor, SidesOf(), nn.Linear(feature_dim, 3)

    def forward(self, picture):
        found = self.extractor(picture)
        return self.last(self.pool(found))


class Levels(nn.Module):
    """A part lists the channels of all that it gives."""

    def __init__(self, trunk):
        super().__init__()
        self.trunk = trunk
        self.sides = nn.ModuleList(nn.Conv2d(count, 4, 1) for count in trunk.out_channels)

    def forward(self, picture):
        return [side(level) for side, level in zip(self.sides, self.trunk(picture), strict=True)]


class Bridged(nn.Module):
    """A part that is called with two things."""

    def __init__(self, transformer, steps):
        super().__init__()
        self.transformer = transformer
        self.queries = nn.Parameter(torch.zeros(1, steps, transformer.d_model))

    def forward(self, sequence):
        return self.transformer(sequence, self.queries)


class Batched(nn.Module):
    def __init__(self, batch_size, hidden):
        super().__init__()
        self.batch_size, self.cell = batch_size, nn.GRU(6, hidden, batch_first=True)

    def forward(self, x):
        return self.cell(x, torch.zeros(1, self.batch_size, self.cell.hidden_size))[0]


FORWARDS = [HandedOn, CopiedHere, PerSensor, Clipped, Looped, Replaced, Copied, Sized, Pooled, Levels, Bridged, Batched]


@pytest.mark.parametrize("class_", FORWARDS, ids=lambda class_: class_.__name__)
def test_models_run_with_what_is_found(class_):
    graph = record(resolve(parse_options({"model": f"{__name__}.{class_.__name__}"}).call)).graph
    assert graph.status.state == "complete"
    assert is_connected(graph)


@pytest.mark.parametrize("class_", [*FORWARDS, Asked, Smoothed], ids=lambda class_: class_.__name__)
def test_what_is_found_can_be_pasted(class_):
    found = solved_arguments(class_)
    assert isinstance(class_(**from_option(found.kwargs)), class_)


def test_copies_of_mappings_have_what_is_taken_out_of_them():
    assert {*solved_arguments(HandedOn).kwargs["stage"]} == {"kind", "start"}
    assert {*solved_arguments(CopiedHere).kwargs["head"]} == {"kind", "start", "end"}
    assert solved_arguments(HandedOn).kwargs["stage"]["kind"] == "widening"


def test_names_that_are_gone_through_are_the_keys_of_what_they_are_looked_up_in():
    setup = solved_arguments(PerSensor).kwargs["setup"]
    assert setup["batteries"] == ["battery0", "battery1"]
    assert {*setup["rates"]} == {*setup["batteries"]}


def test_namespaces_that_are_asked_for_members_can_answer():
    assert solved_arguments(Asked).kwargs["args"]["_target_"] == "argparse.Namespace"


def test_lists_that_become_tensors_and_ranges_that_are_unpacked():
    assert solved_arguments(Smoothed).kwargs == {"blur_filter": [1, 2, 1]}
    assert solved_arguments(Clipped).kwargs["value_range"] == [-1, 1]
    assert isinstance(solved_arguments(Looped).kwargs["offsets"], list)


@pytest.mark.parametrize("class_", [Replaced, Copied])
def test_weights_have_the_shape_of_their_layer(class_):
    found = solved_arguments(class_).kwargs
    assert found["vectors"]["_args_"] == [found["n_words"], found["size"]]


def test_arrays_are_made_where_arrays_are_expected():
    assert solved_arguments(FromArray).kwargs["vectors"] == {"_target_": "numpy.ones", "_args_": [[100, 32]]}
    assert solved_arguments(OfGraph).kwargs["adj_mx"] == {"_target_": "numpy.ones", "_args_": [[16, 16]]}


def test_parts_have_the_sizes_that_are_asked_of_them():
    trunk = from_option(solved_arguments(Sized).kwargs["trunk"])
    assert trunk(torch.zeros(1, 3, 8, 8)).shape == (1, trunk.embedding_size)
    found = solved_arguments(Pooled).kwargs
    assert from_option(found["extractor"])(torch.zeros(1, 3, 8, 8)).shape == (1, found["feature_dim"], 8, 8)


def test_another_part_follows_where_no_inputs_are_found():
    solved = solved_arguments(Bridged)
    assert solved.others
    assert all(other["transformer"] != solved.kwargs["transformer"] for other in solved.others)


def test_batches_of_one_are_assumed():
    assert solved_arguments(Batched).kwargs["batch_size"] == 1


def test_use_of_what_a_part_gives_tells_pictures_from_rows():
    assert gives_map(Pooled(nn.Conv2d(3, 4, 3), 4), "extractor")
    trunk = with_attributes(nn.Linear(4, 4), embedding_size=4)
    assert not gives_map(Sized(trunk, 2), "trunk")


def test_pyramid_halves_the_sides():
    assert [level.shape for level in Pyramid([4, 8])(torch.zeros(1, 3, 32, 32))] == [(1, 4, 16, 16), (1, 8, 8, 8)]
