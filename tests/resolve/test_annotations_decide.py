"""Constructor arguments that errors, conditions and names tell apart: arrays, types, names of classes, open names."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from modeldiagrams.resolve.arguments.argument_search import solve_arguments
from modeldiagrams.resolve.values.option_values import make_option_value


class Centred(nn.Module):
    def __init__(self, *, n_sensors: int, sensor_mean: torch.Tensor | Sequence[float]):
        super().__init__()
        self.register_buffer("sensor_mean", torch.as_tensor(sensor_mean))
        self.layer = nn.Linear(n_sensors, 4)


class Plain(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)


class WideBlock(Plain):
    pass


class Whole(nn.Module):
    """No block, though it can be called with two arguments."""

    def __init__(self, sections, rate=0.1):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(section.width, section.width) for section in sections)
        self.rate = rate


class OfArray(nn.Module):
    def __init__(self, matrix: np.ndarray):
        super().__init__()
        rows, columns = matrix.shape
        self.embed = nn.Embedding(rows, columns)
        self.embed.weight.data.copy_(torch.tensor(matrix))


class OfTypes(nn.Module):
    def __init__(self, where: torch.device, dtype, kind: torch.dtype):
        super().__init__()
        self.a = nn.Linear(4, 4, device=where, dtype=dtype)
        self.b = nn.Linear(4, 4, dtype=kind)


class Scheduled(nn.Module):
    def __init__(self, betas):
        super().__init__()
        betas = np.array(betas)
        assert betas.ndim == 1, "one for each step"
        self.register_buffer("betas", torch.tensor(betas))


class Named:
    def __init__(self, *, name, scale, **kwargs):
        super().__init__(**kwargs)
        self.label, self.scale = name, scale


class Mixed(Named, nn.Module):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.layer = nn.Linear(width, 1)


class Frozen(nn.Module):
    def __init__(self, encoder, trainable):
        super().__init__()
        encoder.reset_classifier(0)
        self.encoder = encoder
        self.head = nn.Linear(encoder.num_features, 2)
        self.head.weight.requires_grad = trainable

    def forward(self, x):
        return self.head(self.encoder(x))


class Blocks(nn.Module):
    def __init__(self, unit, widths):
        super().__init__()
        self.layers = nn.ModuleList(unit(a, b) for a, b in itertools.pairwise(widths))


class Normalized(nn.Module):
    def __init__(self, rgb_mean, rgb_std):
        super().__init__()
        self.register_buffer("mean", torch.Tensor(rgb_mean).view(3, 1, 1))
        self.register_buffer("std", torch.Tensor(rgb_std).view(3, 1, 1))


class OnGraph(nn.Module):
    def __init__(self, num_nodes, supports):
        super().__init__()
        self.supports = [torch.tensor(support) for support in supports]
        self.embed = nn.Embedding(num_nodes, 8)


REGISTRY = {"conv": Plain, "pool": WideBlock}


class Registered(nn.Module):
    def __init__(self, kind: str, width: int, **_kwargs):
        super().__init__()
        if kind not in REGISTRY:
            raise KeyError(f"Unknown kind {kind!r}")
        self.layer = REGISTRY[kind](width)


def test_an_annotated_array_has_the_shape_that_is_unpacked():
    assert solve_arguments(OfArray).kwargs["matrix"]["_target_"] == "numpy.ones"


def test_a_mean_has_a_number_for_each_input():
    kwargs = solve_arguments(Centred).kwargs
    assert kwargs["sensor_mean"] == {"_target_": "torch.rand", "_args_": [kwargs["n_sensors"]]}


def test_devices_and_types_are_no_numbers():
    float32 = {"_object_": "torch.float32"}
    assert solve_arguments(OfTypes).kwargs == {"where": "cpu", "dtype": float32, "kind": float32}


def test_what_must_have_a_dimension_is_an_array():
    assert solve_arguments(Scheduled).kwargs["betas"] == {"_target_": "numpy.linspace", "_args_": [0.0001, 0.02, 100]}


def test_open_names_that_a_base_asks_for_are_given():
    kwargs = solve_arguments(Mixed).kwargs
    assert {*kwargs} == {"width", "name", "scale"}
    assert kwargs["name"] == "model"


def test_values_of_arguments_are_no_open_names():
    assert solve_arguments(Registered).kwargs == {"kind": "conv", "width": 64}


def test_methods_of_parts_that_do_something_make_no_layer():
    kwargs = solve_arguments(Frozen).kwargs
    assert kwargs["encoder"]["reset_classifier"]["_target_"].endswith("Answer")
    assert kwargs["trainable"] is False


def test_a_class_that_wants_other_arguments_is_no_block():
    assert solve_arguments(Blocks).kwargs["unit"] == {"_object_": "torch.nn.Linear"}


def test_means_and_deviations_are_one_for_each_colour():
    kwargs = solve_arguments(Normalized).kwargs
    assert kwargs == {"rgb_mean": [0.485, 0.456, 0.406], "rgb_std": [0.229, 0.224, 0.225]}


def test_graphs_have_as_many_nodes_as_an_argument_says():
    kwargs = solve_arguments(OnGraph).kwargs
    sides = [kwargs["num_nodes"]] * 2
    assert [each["_args_"] for each in kwargs["supports"]] == [[sides], [sides]]


def test_a_function_that_needs_more_arguments_is_written_as_hydra_does():
    made = make_option_value({"_target_": "torch.optim.SGD", "_partial_": True, "lr": 0.1})
    assert made(nn.Linear(2, 2).parameters()).defaults["lr"] == 0.1
