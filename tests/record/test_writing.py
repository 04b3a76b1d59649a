"""Values become options that make values like them."""

from __future__ import annotations

import argparse
import enum
import functools
import math
import types
from collections import OrderedDict, namedtuple

import pytest
import torch
from torch import nn

from modeldiagrams.options.reading import read_yaml, yaml_line
from modeldiagrams.record.writing import NotWritableError, _input, _value, note_arguments, write_call
from modeldiagrams.resolve.values.input_values import make_inputs
from modeldiagrams.resolve.values.option_values import make_option_value

Point = namedtuple("Point", "x y")  # noqa: PYI024  (as people write it)


class Holder(nn.Module):
    def __init__(self, value=None):
        super().__init__()
        self.value = value

    def forward(self, value=None):
        return value


def written(*args, **kwargs):
    """The options of a call of a module that was made with these arguments."""
    module = Holder()
    note_arguments(module, args, kwargs)
    return write_call(module, (), {}, "here")


def linear(*args):
    module = nn.Linear(*args)
    note_arguments(module, args, {})
    return module


@pytest.mark.parametrize(
    ("value", "option"),
    [
        ((3, 4), {"_target_": "builtins.tuple", "_args_": [[3, 4]]}),
        ({"a": [1, None, "x"], 2: math.inf}, {"a": [1, None, "x"], 2: math.inf}),
        (OrderedDict(a=1), {"a": 1}),
        (nn.GELU, {"_object_": "torch.nn.GELU"}),
        (nn.functional.relu, {"_object_": "torch.nn.functional.relu"}),
        (torch.tanh, {"_object_": "torch.tanh"}),
        (math.sqrt, {"_object_": "math.sqrt"}),
        (torch.float16, {"_object_": "torch.float16"}),
        (torch.device("cpu"), {"_target_": "torch.device", "_args_": ["cpu"]}),
        (torch.tensor([1.5, 2.0]), {"_target_": "torch.tensor", "_args_": [[1.5, 2.0]]}),
        (
            torch.tensor(3, dtype=torch.int8),
            {"_target_": "torch.tensor", "_args_": [3], "dtype": {"_object_": "torch.int8"}},
        ),
        (
            functools.partial(nn.LayerNorm, eps=1e-6),
            {"_target_": "torch.nn.LayerNorm", "eps": 1e-6, "_partial_": True},
        ),
        (types.SimpleNamespace(a=[1]), {"_target_": "types.SimpleNamespace", "a": [1]}),
        (argparse.Namespace(b=2), {"_target_": "argparse.Namespace", "b": 2}),
    ],
)
def test_argument(value, option):
    call = written(value)
    assert call.kwargs == {"value": option}
    made = make_option_value(read_yaml(yaml_line(call.kwargs)))["value"]
    if isinstance(value, torch.Tensor):
        assert torch.equal(made, value)
        assert made.dtype == value.dtype
    elif isinstance(value, functools.partial):
        assert (made.func, made.keywords) == (value.func, value.keywords)
    else:
        assert made == value


def test_dicts_that_yaml_or_inputs_would_read_differently_are_refused():
    with pytest.raises(NotWritableError, match="keys that are equal as text"):
        _value({1: 2, "1": 3})
    with pytest.raises(NotWritableError, match="the key `shape`"):
        _input({"image": torch.zeros(1), "shape": (4, 4)})


def test_modules_are_written_as_they_were_constructed():
    assert written(linear(3, 4)).kwargs == {
        "value": {"_target_": "torch.nn.Linear", "in_features": 3, "out_features": 4}
    }
    grown = nn.Sequential(linear(3, 4))
    grown.append(linear(4, 5))
    made = make_option_value(written(grown).kwargs)["value"]
    assert [layer.out_features for layer in made] == [4, 5]


def test_defaults_are_left_out():
    assert written().kwargs is None
    assert written(None).kwargs is None
    assert written(0).kwargs == {"value": 0}


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (lambda x: x, "the argument `value` is a lambda, which documentation can't import"),
        (Colour.RED, "is Colour, which documentation can't import"),  # of a test
        (Point(1, 2), "is Point, which documentation can't import"),
        (torch.randn(99), "is a tensor with 99 values"),
        (nn.Linear(2, 2), "is a Linear from a file"),
        (b"bytes", "is an object of the class builtins.bytes"),
        ("x" * 10_000, "is an object of the class builtins.str"),
    ],
)
def test_an_unwritable_argument_is_an_error(value, reason):
    with pytest.raises(NotWritableError) as raised:
        written(value)
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("value", "entry"),
    [
        (torch.randn(2, 30), [2, 30]),
        (torch.rand(2, 30) * 7, {"shape": [2, 30], "low": 0, "high": 8}),
        (torch.randn(2, 3, dtype=torch.float64), {"shape": [2, 3], "dtype": "float64"}),
        (torch.tensor(0.5), {"shape": []}),
        (torch.tensor([4, 2]), {"_target_": "torch.tensor", "data": {"value": [4, 2]}}),
        (torch.arange(5, 25).reshape(4, 5), {"shape": [4, 5], "dtype": "int64", "low": 0, "high": 25}),
        (torch.ones(4, 5, dtype=torch.bool), {"shape": [4, 5], "dtype": "bool", "low": 1, "high": 2}),
        (torch.zeros(0, 3), {"shape": [0, 3], "dtype": "float32"}),
        ((torch.zeros(1, 2), {"n": 3}), [[1, 2], {"n": {"value": 3}}]),
        (types.SimpleNamespace(x=torch.zeros(2)), {"_target_": "types.SimpleNamespace", "x": [2]}),
        ("text", {"value": "text"}),
        ([], {"value": []}),
    ],
)
def test_input(value, entry):
    module = Holder()
    note_arguments(module, (), {})
    call = write_call(module, (value,), {}, "here")
    assert call.inputs == {"value": entry}
    _, made = make_inputs(read_yaml(yaml_line(call.inputs)))
    if isinstance(value, torch.Tensor):
        assert (made["value"].shape, made["value"].dtype) == (value.shape, value.dtype)
    else:
        assert type(made["value"]) is (list if isinstance(value, tuple) else type(value))


def test_positions_where_inputs_have_no_names():
    module = nn.Bilinear(2, 2, 2)
    note_arguments(module, (2, 2, 2), {})
    module.forward = lambda *_inputs, **_named: None
    call = write_call(module, (torch.zeros(1, 2), 3), {"flag": True}, "here")
    assert call.inputs == {0: [1, 2], 1: {"value": 3}, "flag": {"value": True}}
    assert write_call(module, (torch.zeros(1, 2),), {}, "here").inputs == [[1, 2]]
