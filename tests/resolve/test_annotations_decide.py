"""Constructor arguments that errors, conditions and names tell apart: arrays, types, names of classes, open names."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from modeldiagrams.resolve.arguments.argument_search import solve_arguments
from modeldiagrams.resolve.values.option_values import make_option_value


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


class Normalized(nn.Module):
    def __init__(self, rgb_mean, rgb_std):
        super().__init__()
        self.register_buffer("mean", torch.Tensor(rgb_mean).view(3, 1, 1))
        self.register_buffer("std", torch.Tensor(rgb_std).view(3, 1, 1))


def test_an_annotated_array_has_the_shape_that_is_unpacked():
    assert solve_arguments(OfArray).kwargs["matrix"]["_target_"] == "numpy.ones"


def test_devices_and_types_are_no_numbers():
    float32 = {"_object_": "torch.float32"}
    assert solve_arguments(OfTypes).kwargs == {"where": "cpu", "dtype": float32, "kind": float32}


def test_what_must_have_a_dimension_is_an_array():
    assert solve_arguments(Scheduled).kwargs["betas"] == {"_target_": "numpy.linspace", "_args_": [0.0001, 0.02, 100]}


def test_means_and_deviations_are_one_for_each_colour():
    kwargs = solve_arguments(Normalized).kwargs
    assert kwargs == {"rgb_mean": [0.485, 0.456, 0.406], "rgb_std": [0.229, 0.224, 0.225]}


def test_a_function_that_needs_more_arguments_is_written_as_hydra_does():
    made = make_option_value({"_target_": "torch.optim.SGD", "_partial_": True, "lr": 0.1})
    assert made(nn.Linear(2, 2).parameters()).defaults["lr"] == 0.1
