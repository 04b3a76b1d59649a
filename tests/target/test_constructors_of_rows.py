"""Constructor arguments that are rows of settings, and those with which a model would have no layers."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from modeldiagrams.options.options import Call
from modeldiagrams.target.build import make_model
from modeldiagrams.target.inference.constructor import solved_arguments
from modeldiagrams.target.inference.emptiness import is_hollow


def found(made):
    solved = solved_arguments(made)
    assert solved is not None
    return solved.kwargs


def made(class_):
    return make_model(Call(model=f"{__name__}.{class_.__name__}"), 10**9)


class Layered(nn.Module):
    """Rows of a name and numbers of another count for each name."""

    def __init__(self, config):
        super().__init__()
        self.weights = nn.ParameterList()
        for name, param in config:
            if name == "conv":
                self.weights.append(nn.Parameter(torch.ones(*param[:4])))
            elif name != "relu":
                raise NotImplementedError
        self.config = config

    def forward(self, x):
        for (name, param), weight in zip(self.config, self.weights, strict=True):
            x = nn.functional.conv2d(x, weight, padding=param[4]) if name == "conv" else x.relu()
        return x


def test_rows_hold_things_of_different_kinds_and_as_many_numbers_as_are_read():
    name, numbers = found(Layered)["config"][0]
    assert name == "conv"
    assert len(numbers) == 5
    assert {type(number) for number in numbers} == {int}


class Table(nn.Module):
    def __init__(self, rows, spec_list):
        super().__init__()
        self.layers = nn.ModuleList()
        for kernel_size, channels, num_heads in rows:
            self.layers.append(nn.Conv2d(int(channels), int(channels), int(kernel_size)))
            self.layers.append(nn.MultiheadAttention(int(channels * num_heads), int(num_heads)))
        self.more = nn.ModuleList(nn.Conv2d(int(spec["channels"] * 0.25), 4, 1) for spec in spec_list)


def test_names_that_a_row_is_unpacked_into_say_what_its_numbers_are():
    assert found(Table)["rows"] == [[3, 16, 4], [3, 16, 4]]


def test_channels_in_a_list_of_settings_are_not_those_of_a_picture():
    assert found(Table)["spec_list"] == [{"channels": 16}, {"channels": 16}]


class Summed(nn.Module):
    def __init__(self, depths, rates):
        super().__init__()
        if len(rates) != sum(depths):
            raise ValueError("one rate for each block")
        self.layers = nn.Sequential(*[nn.Dropout(rate) for rate in rates], nn.Linear(4, len(depths)))


def test_a_list_may_be_as_long_as_another_one_sums_up_to():
    assert found(Summed) == {"depths": [2, 2], "rates": [0.1] * 4}


class Keyed(nn.Module):
    def __init__(self, ontology):
        super().__init__()
        self.heads = nn.ModuleDict({slot: nn.Linear(4, len(ontology[slot])) for slot in ontology})


def test_what_is_gone_through_and_read_by_its_items_is_a_mapping_that_has_some():
    assert [*found(Keyed)["ontology"]] == ["item0", "item1"]


class Residual(nn.Module):
    def __init__(self, depth, num_classes):
        super().__init__()
        if (depth - 2) % 6 != 0:
            raise ValueError("depth should be 6n + 2")
        self.layers = nn.Sequential(*[nn.Linear(8, 8) for _ in range((depth - 2) // 6)])
        self.fc = nn.Linear(8, num_classes)


class Windowed(nn.Module):
    def __init__(self, seq_len, num_classes):
        super().__init__()
        length = int(np.floor((seq_len - 14) / 5))
        self.fc = nn.Linear(int(np.floor((length - 8) / 5)), num_classes)


def test_numbers_with_which_a_loop_makes_no_layer_are_worse_than_others():
    assert made(Residual).arguments == {"depth": 8, "num_classes": 10}


def test_numbers_that_leave_a_weight_without_numbers_are_worse_than_others():
    assert made(Windowed).model.fc.in_features > 0


class Bare(nn.Module):
    def __init__(self, width=None, depth=None):
        super().__init__()
        if width is not None and depth is not None:
            self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(depth)])


def test_defaults_of_none_with_which_no_layer_is_made_are_looked_for():
    assert len(made(Bare).model.layers) > 0


class Shortcut(nn.Module):
    def __init__(self, planes):
        super().__init__()
        self.conv = nn.Conv2d(planes, planes, 3)
        self.shortcut = nn.Sequential()


class Pooled(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel_size)


def test_a_shortcut_that_is_written_empty_lacks_nothing():
    assert not is_hollow(Shortcut(4))
    assert not is_hollow(type("Derived", (Shortcut,), {})(4))
    assert "by how they are used" not in str(made(Shortcut).assumptions)


def test_a_model_without_weights_keeps_the_values_of_its_names():
    assert is_hollow(Pooled(3))
    assert made(Pooled).arguments == {"kernel_size": 3}
