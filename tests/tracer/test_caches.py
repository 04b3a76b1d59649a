"""Functions of the model that remember their results."""

import functools

import pytest
import torch
from torch import nn

from modeldiagrams.graph import OpNode
from modeldiagrams.tracer import trace
from tracer import remembering_helpers
from tracer.remembering_helpers import twice
from tracer.seen import names, seen, x


@functools.lru_cache(maxsize=4)
def positions(n):
    return torch.arange(n).float()


def remembering(function):
    """A decorator that hides its cache in a closure, as those of some libraries do."""
    remembered = functools.lru_cache(maxsize=4)(function)

    @functools.wraps(function)
    def call(*args):
        return remembered(*args)

    return call


@remembering
def hidden_positions(n):
    return torch.arange(n).float()


class Positions(nn.Module):
    @functools.lru_cache(maxsize=4)  # noqa: B019 - as models do
    def positions(self, n):
        return torch.arange(n).float()

    def forward(self, given):
        return given + self.positions(4)


class StaticPositions(nn.Module):
    @staticmethod
    @functools.lru_cache(maxsize=4)
    def positions(n):
        return torch.arange(n).float()

    def forward(self, given):
        return given + self.positions(4)


class HiddenStaticPositions(StaticPositions):
    @staticmethod
    @remembering
    def positions(n):
        return torch.arange(n).float()


class Uses(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, given):
        # by its global name: what is captured elsewhere is out of reach
        function = hidden_positions if self.function == "hidden" else positions
        return given + function(4) * function(4)


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize(
    "model",
    [Positions(), StaticPositions(), HiddenStaticPositions(), Uses("hidden"), Uses("plain")],
    ids=["method", "static", "hidden static", "hidden", "plain"],
)
def test_what_was_remembered_before_is_made_again_and_nothing_new_is_remembered(model, mode):
    before = model(x())
    found = seen(model, x(), mode=mode)
    assert names(found.of(OpNode)).count("torch.arange") == 1
    assert torch.equal(model(x()), before)


class UsesHelpers(nn.Module):
    def __init__(self, *, whole):
        super().__init__()
        self.whole = whole

    def forward(self, given):
        return given + (remembering_helpers.positions(4) if self.whole else twice(4))


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("whole", [True, False])
def test_helpers_in_files_without_a_model_remember_nothing_either(whole, mode):
    model = UsesHelpers(whole=whole)
    kept = remembering_helpers.positions(4)
    found = seen(model, x(), mode=mode)
    assert names(found.of(OpNode)).count("torch.arange") == 1
    assert remembering_helpers.positions(4) is kept


def test_caches_hold_what_they_held():
    positions.cache_clear()
    kept = positions(4)
    trace(Uses("plain"), (x(),))
    assert positions(4) is kept
    assert positions.cache_info().currsize == 1


def test_fake_tensors_do_not_stay_behind():
    positions.cache_clear()
    trace(Uses("plain"), (x(),), mode="fake")
    assert positions.cache_info().currsize == 0
    assert type(Uses("plain")(x())) is torch.Tensor
