"""Making a model: what can't be afforded stays on the meta device, what is missing is told with a hint that works."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import pytest
import torch
import yaml
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.inputs.candidate_search import search_candidates
from modeldiagrams.resolve.names.candidates import Candidate

MADE: list[torch.device] = []
"""Where the weights of `Stack` were made."""


class Stack(nn.Module):
    def __init__(self, depth: int = 50):
        super().__init__()
        self.layers = nn.Sequential(*[self.layer() for _ in range(depth)])

    def layer(self):
        layer = nn.Linear(10, 10)
        MADE.append(layer.weight.device.type)
        return layer

    def forward(self, x):
        return self.layers(x)


class Counts(Stack):
    """Needs values to be made."""

    def layer(self):
        made = super().layer()
        assert made.weight.abs().sum().item() > 0
        return made


def make_stack():
    return Stack()


def target(made, **options):
    path = f"{__name__}.{made.__name__}"
    return resolve(parse_options({"model": path, "inputs": [1, 10], **options}).call)


@pytest.mark.parametrize("made", [Stack, make_stack])
def test_what_cannot_be_afforded_is_made_on_the_meta_device(made, monkeypatch):
    monkeypatch.setattr("modeldiagrams.resolve.models.LARGE", 1000)
    monkeypatch.setattr("modeldiagrams.resolve.models.HUGE", 1000)
    MADE.clear()
    model = target(made).model
    assert all(parameter.is_meta for parameter in model.parameters())
    assert MADE.count("cpu") < 12


def test_what_needs_values_to_be_made_gets_memory(monkeypatch):
    monkeypatch.setattr("modeldiagrams.resolve.models.LARGE", 1000)
    assert not target(Counts).model.layers[0].weight.is_meta


def test_model_that_can_be_afforded_is_made_once():
    MADE.clear()
    assert not target(make_stack).model.layers[0].weight.is_meta
    assert len(MADE) == 50


def test_no_candidate_is_made_that_cannot_be_afforded():
    class Count(nn.Module):
        def forward(self, x):
            return x * 2

    budget = Budget()
    candidates = [Candidate(entry, "") for entry in ([1, 10**6, 10**6], [[2], [10**6, 10**6]], [1, 3])]
    assert search_candidates(Count(), {"x": candidates}, budget).entries == {"x": [1, 3]}
    assert sum("not tried" in line for line in budget.lines) == 2


class Sized(Stack):
    def __init__(self, upscale: int, deep: bool, num_classes):
        super().__init__(upscale)
        assert num_classes == 10
        assert deep is False


@pytest.mark.parametrize("given", [{"kwargs": {"deep": False}}, {"args": [3]}])
def test_hint_works_when_pasted(given):
    with pytest.raises(TargetError) as caught:
        target(Sized, **given)
    written = yaml.safe_load(re.search("e.g. `(.*)`$", str(caught.value))[1])
    assert target(Sized, **{**given, **written}).model.layers


class Pretraining(Enum):
    BEST = "best"


class Fetched(Stack):
    """As libraries that fetch weights unless they are told not to."""

    def __init__(self, encoder_weights: str | None = "imagenet", pretrained=True, weights: Any = Pretraining.BEST):
        if encoder_weights or pretrained or weights:
            raise OSError("no network")
        super().__init__()


class AllOptional(nn.Module):
    """As libraries whose parameters have the default None and are required all the same."""

    def __init__(self, in_channels: int | None = None, num_classes=None):
        super().__init__()
        if in_channels is None:
            raise ValueError("in_channels must be given")
        if num_classes is None:
            raise ValueError("expected num_classes")
        self.layer = nn.Linear(in_channels, num_classes)

    def forward(self, x):
        return self.layer(x)


@pytest.mark.parametrize(
    ("made", "assumed"),
    [
        (Fetched, {"encoder_weights": None, "pretrained": False, "weights": None}),
        (AllOptional, {"in_channels": 3, "num_classes": 10}),
    ],
)
def test_default_call_that_fails_gets_what_it_needs(made, assumed):
    found = target(made, inputs=None)
    said = {item.subject: yaml.safe_load(item.value) for item in found.assumptions if item.subject.startswith("kwargs")}
    assert said == {f"kwargs.{name}": value for name, value in assumed.items()}
    assert found.note is None
    assert target(made, kwargs=assumed, inputs=None).note is None


class NeedsMore(AllOptional):
    def __init__(self, in_channels=None, codebook=None):
        super().__init__(in_channels, codebook)


def test_failure_that_nothing_mends_is_the_first_one():
    with pytest.raises(TargetError, match="in_channels must be given"):
        target(NeedsMore)
    with pytest.raises(TargetError, match="no network"):
        target(Fetched, kwargs={"weights": None})


class Operator(nn.Module):
    def __init__(self, n_modes: tuple[int, ...], num_channels: list[int], temperature: float, modes: int):
        super().__init__()
        assert (len(n_modes), len(num_channels), temperature, modes) == (2, 2, 1.0, 8)
        self.layer = nn.Linear(num_channels[0], n_modes[0])

    def forward(self, x):
        return self.layer(x)


def test_more_names_have_conventional_values():
    assert target(Operator, inputs=None).note is None


class Configured(nn.Linear):
    def __init__(self, cfg, bias=True):
        super().__init__(cfg.width, cfg.out, bias=bias)


class ConfiguredDeeply(nn.Linear):
    def __init__(self, cfg):
        super().__init__(cfg.model.width, cfg.out)


class ConfiguredByKeys(nn.Linear):
    def __init__(self, cfg):
        super().__init__(cfg["width"], cfg.out)


@pytest.mark.parametrize(
    ("made", "option", "value"),
    [
        (Configured, "kwargs", {"cfg": {"width": 10, "out": 4}, "bias": False}),
        (Configured, "args", [{"width": 10, "out": 4}]),
        (ConfiguredDeeply, "kwargs", {"cfg": {"model": {"width": 10}, "out": 4}}),
    ],
)
def test_map_in_the_place_of_an_object_is_told_with_what_to_write(made, option, value):
    with pytest.raises(TargetError, match="'dict' object has no attribute") as error:
        target(made, **{option: value})
    pasted = yaml.safe_load(re.search(r"write `(.*)`$", str(error.value))[1])
    assert pasted.keys() == {option}
    assert target(made, **pasted).model.out_features == 4


def test_nothing_is_proposed_that_would_fail():
    with pytest.raises(TargetError, match=r"'dict' object has no attribute 'out'$"):
        target(ConfiguredByKeys, kwargs={"cfg": {"width": 10, "out": 4}})


class ReadsItsOwn(nn.Linear):
    def __init__(self, cfg):
        MADE.append(torch.device("cpu"))
        super().__init__(cfg["width"], {}.out)


def test_map_of_the_model_itself_is_no_reason_for_another_call():
    MADE.clear()
    with pytest.raises(TargetError, match=r"'dict' object has no attribute 'out'$"):
        target(ReadsItsOwn, kwargs={"cfg": {"width": 10}})
    assert len(MADE) == 1
