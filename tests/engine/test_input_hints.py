"""If an input has the wrong dtype or values, the message shows an entry that works."""

from __future__ import annotations

import re

import pytest
import torch
import yaml
from torch import nn
from torch.nn import functional

from modeldiagrams.engine.problems import format_problem, make_forward_problem
from modeldiagrams.resolve.values.input_values import make_inputs
from modeldiagrams.tracer import trace

INTEGERS = {"shape": [2, 3], "dtype": "int64"}


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 4)

    def forward(self, tokens):
        return self.head(self.table(tokens))


class Viewed(Embedder):
    def forward(self, tokens):
        return super().forward(tokens[:, 1:].reshape(-1))


class Bag(Embedder):
    def forward(self, batch):
        return super().forward(batch["ids"])


class Classified(Embedder):
    def forward(self, features, target):
        return functional.cross_entropy(self.head(features), target)


class Counted(nn.Module):
    def forward(self, labels):
        return functional.one_hot(labels)


class Gathered(nn.Module):
    def forward(self, features, index):
        return features.gather(1, index)


class Computed(Embedder):
    def forward(self, features):
        return self.table(self.head(features))


class Shifted(Embedder):
    def forward(self, tokens):
        return self.table(tokens + 7)


class Headed(Embedder):
    def forward(self, features):
        return self.head(features)


class Half(Headed):
    def __init__(self):
        super().__init__()
        self.head.double()


def said(model, inputs):
    args, kwargs = make_inputs(inputs)
    problem = make_forward_problem("mypkg.Net", trace(model.eval(), args, kwargs))
    return format_problem(problem).splitlines()[0] if problem else ""


@pytest.mark.parametrize(
    ("model", "inputs", "fault", "pasted"),
    [
        (Embedder, [2, 3], "`tokens` is float32, expected int64", {"tokens": {**INTEGERS, "high": 7}}),
        (Viewed, [2, 3], "`tokens` is float32, expected int64", {"tokens": {**INTEGERS, "high": 7}}),
        (
            Embedder,
            {"tokens": {**INTEGERS, "low": 20, "high": 30}},
            "`tokens` has values outside 0 to 6",
            {"tokens": {**INTEGERS, "high": 7}},
        ),
        (Counted, [2, 3], "`labels` is float32, expected int64", {"labels": INTEGERS}),
        (Headed, {"features": {"shape": [2, 4], "dtype": "int64"}}, "is int64, expected float32", {"features": [2, 4]}),
        (Half, [2, 4], "is float32, expected float64", {"features": {"shape": [2, 4], "dtype": "float64"}}),
    ],
)
def test_the_option_in_the_message_can_be_pasted(model, inputs, fault, pasted):
    text = said(model(), inputs)
    assert fault in text
    shown = re.fullmatch(r".*: write `inputs: (.*)`", text)
    assert shown, text
    assert yaml.safe_load(shown[1]) == pasted
    assert not said(model(), pasted)


@pytest.mark.parametrize(
    ("model", "inputs", "shown", "pasted"),
    [
        (
            Classified,
            [[2, 4], [2]],
            "the input `target` is float32, expected int64: write `target: {shape: [2], dtype: int64, high: 4}` in",
            [[2, 4], {"shape": [2], "dtype": "int64", "high": 4}],
        ),
        (
            Gathered,
            [[2, 4], [2, 3]],
            "the input `index` is float32, expected int64: write `index: {shape: [2, 3], dtype: int64}` in",
            [[2, 4], INTEGERS],
        ),
        (
            Bag,
            {"batch": {"ids": [2]}},
            "`batch.ids` is float32, expected int64: write `{shape: [2], dtype: int64, high: 7}` as its entry in",
            {"batch": {"ids": {"shape": [2], "dtype": "int64", "high": 7}}},
        ),
        (
            Headed,
            {"features": {"size": [2, 4]}},
            "`features` is a map with the key `size`: for one tensor, write `features: {shape: [1, 4]}`",
            {"features": {"shape": [2, 4]}},
        ),
    ],
)
def test_entry_of_one_of_several_inputs_is_shown(model, inputs, shown, pasted):
    assert shown in said(model(), inputs)
    assert not said(model(), pasted)


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (Computed, [2, 4]),
        (Shifted, {"tokens": INTEGERS}),
        (Headed, [2, 5]),
        (Headed, [[[2, 4], [2, 4]]]),
        (Classified, [[2, 5], [2]]),
    ],
)
def test_no_input_is_blamed_for_a_tensor_of_the_model(model, inputs):
    text = said(model(), inputs)
    assert text.startswith("the forward pass of mypkg.Net raised ")
    assert "write `" not in text


def test_overloads_that_were_not_called_are_left_out():
    class Padded(nn.Module):
        def forward(self, x):
            return torch.conv2d(x, "weight")

    text = said(Padded(), [1, 3, 8, 8])
    assert text.endswith("conv2d() received an invalid combination of arguments - got (Tensor, str)")


def test_the_models_own_message_is_shown_in_full():
    class Strict(nn.Module):
        def forward(self, x, options):
            raise TypeError(f"got {x.ndim} dimensions, but expected (B, C, H, W); no dict of {len(options)} helps")

    text = said(Strict(), {"x": [2, 4], "options": {"size": [2]}})
    assert text.endswith("got 2 dimensions, but expected (B, C, H, W); no dict of 1 helps")
