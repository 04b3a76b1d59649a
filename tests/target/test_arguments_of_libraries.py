"""Models in the manner of libraries: checks of arguments, wrappers of other models.

PYTEST_DONT_REWRITE: asserts of models have no messages of pytest's, as in users' code.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import yaml
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import resolve
from modeldiagrams.target.inference.constructor import solved_arguments
from modeldiagrams.target.objects import from_option


def resolved(class_, **options):
    return resolve(parse_options({"model": f"{__name__}.{class_.__name__}", **options}).call)


def kwargs_of(target):
    said = {item.subject: yaml.safe_load(item.value) for item in target.assumptions}
    return {key.removeprefix("kwargs."): value for key, value in said.items() if key.startswith("kwargs.")}


def solved(class_):
    found = solved_arguments(class_)
    assert found is not None
    return from_option(found.kwargs)


class Stages(nn.Module):
    """Takes a tuple, and no list."""

    def __init__(self, *, width, depths):
        super().__init__()
        assert isinstance(depths, tuple), "depths: how many blocks each stage has"
        self.stages = nn.ModuleList(nn.Sequential(*(nn.Linear(width, width) for _ in range(depth))) for depth in depths)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


def test_tuple_that_is_asked_for_can_be_pasted():
    target = resolved(Stages)
    assert target.note is None
    assert isinstance(from_option(kwargs_of(target))["depths"], tuple)
    pasted = resolved(Stages, kwargs=kwargs_of(target))
    assert len(pasted.model.stages) == len(target.model.stages)


class Raising(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        if len(sizes) != 2 or not isinstance(sizes, list | tuple):
            raise TypeError("wrong")
        self.layer = nn.Linear(*sizes)


class Worded(nn.Module):
    """Only its message tells."""

    def __init__(self, widths):
        super().__init__()
        self.check(type(widths))
        self.layer = nn.Linear(widths[0], widths[1])

    def check(self, kind):
        if kind.__mro__[-2] is not tuple:
            raise TypeError("widths should be a tuple")


class Kinds(nn.Module):
    def __init__(self, mode, rates, body, level):
        super().__init__()
        if not isinstance(mode, str):
            raise TypeError
        assert isinstance(rates, dict)
        assert isinstance(body, nn.Sequential)
        assert level in (2, 6)
        assert level != 2
        self.layer = nn.Linear(len(rates), 4)


def test_conditions_tell_what_arguments_are():
    made = solved(Kinds)
    assert isinstance(made["mode"], str)
    assert isinstance(made["rates"], dict)
    assert isinstance(made["body"], nn.Sequential)
    assert made["level"] == 6


@pytest.mark.parametrize(("class_", "name", "type_"), [(Raising, "sizes", list), (Worded, "widths", tuple)])
def test_messages_and_lengths_tell_what_arguments_are(class_, name, type_):
    assert isinstance(solved(class_)[name], type_)


def is_divisible(number, by):
    return number % by == 0


class Scales(nn.Module):
    """Two patch sizes, and a window over every other patch."""

    def __init__(self, image_size):
        super().__init__()
        assert is_divisible(image_size, 12)
        if image_size % 16:
            raise ValueError("the large patches don't fit")
        side = image_size // 2
        assert side % 5 == 0
        self.table = nn.Parameter(torch.zeros(image_size // 12, 8))


def test_conditions_of_divisibility_are_met_together():
    found = solved_arguments(Scales)
    assert found is not None
    assert found.kwargs["image_size"] % 240 == 0
    assert found.tries < 8
    assert "multiple of 240" in found.reasons["image_size"]


class Space(nn.Module):
    def __init__(self, spatial_dims, num_scales):
        super().__init__()
        conv = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[spatial_dims]
        self.convs = nn.ModuleList(conv(4**i, 4 ** (i + 1), 3, padding=1) for i in range(num_scales))

    def forward(self, x):
        for conv in self.convs:
            x = conv(x)
        return x


class Counted(nn.Module):
    """A number that is tested and counted with is no flag, though nothing else is known of it."""

    def __init__(self, spatial_dims: int):
        super().__init__()
        kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[spatial_dims - 1] if spatial_dims else nn.Linear
        self.layer = kind(3, 3, 3)

    def forward(self, x):
        return self.layer(x)


@pytest.mark.parametrize("class_", [Space, Counted])
def test_numbers_of_dimensions_and_of_parts_are_small(class_):
    made = kwargs_of(resolved(class_))
    assert made["spatial_dims"] == 2
    assert made.get("num_scales", 2) <= 4


class Backbone(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.patches, self.body = nn.Conv2d(3, width, 4, 4), nn.Sequential(nn.Linear(width, width))
        self.register_buffer("offset", torch.zeros(width))

    def forward(self, x):
        return self.body(self.patches(x).flatten(2).transpose(1, 2) + self.offset)


class Masked(nn.Module):
    """What it reads of its argument says for which class it was written: the name doesn't."""

    def __init__(self, learner):
        super().__init__()
        self.learner = learner
        self.head = nn.Linear(learner.offset.shape[0], 1)

    def forward(self, image):
        return self.head(self.learner.body(self.learner.patches(image).flatten(2).transpose(1, 2)))


def test_wrapper_gets_a_model_that_has_what_it_reads():
    target = resolved(Masked)
    assert target.note is None
    assert kwargs_of(target)["learner"]["_target_"].endswith("Backbone")


class Mixing(nn.Module):
    """Any module that keeps the size of its tokens will do."""

    def __init__(self, mixer):
        super().__init__()
        self.embed, self.mixer, self.head = nn.Linear(12, 24), mixer, nn.Linear(24, 2)

    def forward(self, x):
        return self.head(self.mixer(self.embed(x)))


def test_part_that_nothing_is_known_of_leaves_its_input_as_it_is():
    target = resolved(Mixing)
    assert target.note is None
    assert kwargs_of(target)["mixer"] == {"_target_": "torch.nn.Identity"}


def shaped(sizes, count):
    """As libraries repeat what may be one number: their helper asks whether it is an array."""
    if getattr(sizes, "ndim", 1) == 0 or not hasattr(sizes, "__iter__"):
        return (sizes,) * count
    if len(tuple(sizes)) == count:
        return tuple(sizes)
    raise ValueError(f"Sequence must have length {count}, got {len(tuple(sizes))}.")


class Volumes(nn.Module):
    def __init__(self, in_shape: list[int], kernel: list[int] | int, strides: list[int]):
        super().__init__()
        if len(strides) < 4:
            raise ValueError("too few")
        depth, height, width = shaped(in_shape, 3)
        self.one_kernel = isinstance(kernel, int)
        self.layer = nn.Linear(int(np.prod([depth, height, width])), int(np.prod(strides)))


def test_helpers_of_libraries_tell_how_many_there_are():
    made = solved(Volumes)
    assert (len(made["in_shape"]), len(made["strides"])) == (3, 4)
    assert isinstance(made["kernel"], int)


BINARY, MULTI = "binary", "multiclass"


class Loss(nn.Module):
    def __init__(self, mode):
        super().__init__()
        assert mode in {BINARY, MULTI}
        self.is_binary = mode == BINARY


class Levels(nn.Module):
    def __init__(self, kernels, strides, names):
        super().__init__()
        if len(kernels) != len(strides) or len(kernels) < 4:
            raise ValueError("as many strides as kernels")
        assert len(kernels) == len(names)


def test_named_constants_are_choices():
    assert solved(Loss)["mode"] in {BINARY, MULTI}


def test_lists_of_one_length_grow_together():
    assert {len(each) for each in solved(Levels).values()} == {4}


class Depth(nn.Module):
    """A number of units that is left after something is subtracted, and pictures whose shape is an argument."""

    def __init__(self, depth, img_shape):
        super().__init__()
        assert (depth - 4) % 6 == 0
        self.units = nn.Sequential(*(nn.Conv2d(img_shape[0], img_shape[0], 3) for _ in range((depth - 4) // 6)))


def test_what_is_left_of_a_depth_is_not_nothing():
    assert solved(Depth)["depth"] > 4


def test_a_shape_whose_first_number_is_that_of_channels_has_three():
    assert solved(Depth)["img_shape"] == [3, 32, 32]


class Window(nn.Module):
    def __init__(self, seq_len, pad_idx, src_pad_idx):
        super().__init__()
        self.table = nn.Embedding(10, 4, padding_idx=pad_idx)
        self.act, self.src_pad_idx = nn.LeakyReLU(0.1), src_pad_idx
        self.fc = nn.Linear(4 * (math.floor((seq_len - 20) / 5) - 30), 4)


def test_a_window_may_be_long_and_every_padding_has_the_first_index():
    assert solved(Window) == {"seq_len": 256, "pad_idx": 0, "src_pad_idx": 0}
