"""A shape without a dtype means "of this shape": the tensor holds what the model takes."""

from __future__ import annotations

import pytest
import torch
import yaml
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import record, resolve


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(7, 4), nn.Linear(4, 2)

    def forward(self, input_ids, weights=None):
        made = self.table(input_ids)
        return self.head(made if weights is None else made * weights[..., None])


class Masked(Tokens):
    def forward(self, features, mask):
        return self.head(features).masked_fill(mask[..., None], 0.0)


class Batch(Tokens):
    def forward(self, batch):
        return self.head(self.table(batch["ids"]) + batch["features"])


def target_of(model, inputs):
    return resolve(parse_options({"model": f"{__name__}.{model.__name__}", "inputs": inputs}).call)


def said_of(target):
    return {item.subject: yaml.safe_load(item.value) for item in target.assumptions}


IDS = {"shape": [1, 8], "dtype": "int64", "high": 7}
PARTS = {"ids": [1, 8], "features": [1, 8, 4]}


@pytest.mark.parametrize(
    ("model", "inputs", "said"),
    [
        (Tokens, {"input_ids": [1, 8]}, {"inputs.input_ids": IDS}),
        (Tokens, [1, 8], {"inputs.input_ids": IDS}),
        (Tokens, [[1, 8], [1, 8]], {"inputs.input_ids": IDS}),
        (Tokens, {0: {"shape": [1, 8]}, "weights": [1, 8]}, {"inputs[0]": IDS}),
        (Masked, {"features": [1, 8, 4], "mask": [1, 8]}, {"inputs.mask": {"shape": [1, 8], "dtype": "bool"}}),
        (
            Batch,
            {"batch": {"ids": [1, 8], "features": [1, 8, 4]}},
            {"inputs.batch": {"ids": IDS, "features": [1, 8, 4]}},
        ),
    ],
)
def test_tensors_hold_what_the_model_takes(model, inputs, said):
    target = target_of(model, inputs)
    assert record(target).graph.status.error is None
    found = said_of(target)
    assert found.keys() == said.keys()
    for name, entry in said.items():
        assert found[name] == entry or found[name]["dtype"] == entry["dtype"]


def test_the_found_dtype_can_be_pasted():
    target = target_of(Tokens, {"input_ids": [1, 8]})
    pasted = target_of(Tokens, {"input_ids": said_of(target)["inputs.input_ids"]})
    assert record(pasted).graph == record(target).graph


def test_a_dtype_that_is_written_stays():
    target = target_of(Tokens, {"input_ids": {"shape": [1, 8], "dtype": "float32"}})
    assert said_of(target) == {}
    assert record(target).graph.status.error is not None


def test_decimal_numbers_that_the_model_takes_stay():
    target = target_of(Masked, {"features": [1, 8, 4], "mask": {"shape": [1, 8], "dtype": "bool"}})
    assert said_of(target) == {}
    assert target.kwargs["features"].dtype is torch.float32


def test_what_no_dtype_mends_is_reported_as_it_is_written():
    target = target_of(Masked, {"features": [1, 8, 5], "mask": {"shape": [1, 8], "dtype": "bool"}})
    assert said_of(target) == {}
    assert target.kwargs["features"].shape == (1, 8, 5)
