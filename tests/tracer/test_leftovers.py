"""Functions that cache their results, and global variables: no pass sees what another left there."""

import functools
import importlib.util
import sys
import types

import pytest
import torch
from torch import nn

from modeldiagrams.ir.graph import OpNode
from modeldiagrams.tracer import trace
from tracer import cached_helpers
from tracer.cached_helpers import twice
from tracer.traced_graph import checked, names, x


@functools.lru_cache(maxsize=4)
def positions(n):
    return torch.arange(n).float()


def hidden_cache(function):
    """A decorator that hides its cache in a closure, as those of some libraries do."""
    cached = functools.lru_cache(maxsize=4)(function)

    @functools.wraps(function)
    def call(*args):
        return cached(*args)

    return call


@hidden_cache
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
    @hidden_cache
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
def test_trace_neither_uses_nor_fills_caches_of_functions(model, mode):
    before = model(x())
    found = checked(model, x(), mode=mode)
    assert names(found.of(OpNode)).count("torch.arange") == 1
    assert torch.equal(model(x()), before)


class UsesHelpers(nn.Module):
    def __init__(self, *, whole):
        super().__init__()
        self.whole = whole

    def forward(self, given):
        return given + (cached_helpers.positions(4) if self.whole else twice(4))


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("whole", [True, False])
def test_trace_neither_uses_nor_fills_caches_of_imported_helpers(whole, mode):
    model = UsesHelpers(whole=whole)
    kept = cached_helpers.positions(4)
    found = checked(model, x(), mode=mode)
    assert names(found.of(OpNode)).count("torch.arange") == 1
    assert cached_helpers.positions(4) is kept


def test_trace_keeps_what_caches_hold():
    positions.cache_clear()
    kept = positions(4)
    trace(Uses("plain"), (x(),))
    assert positions(4) is kept
    assert positions.cache_info().currsize == 1


def test_fake_tensors_do_not_stay_in_caches():
    positions.cache_clear()
    trace(Uses("plain"), (x(),), mode="fake")
    assert positions.cache_info().currsize == 0
    assert type(Uses("plain")(x())) is torch.Tensor


MADE = None
CACHE = {}
LIST = [1]


class KeepsGlobals(nn.Module):
    """Keeps its values in global variables, containers and its class, and can't run without values."""

    last = None

    def forward(self, h):
        global MADE  # noqa: PLW0603
        MADE = h * 2 if MADE is None else MADE
        globals()["LATE"] = h
        CACHE.setdefault("h", [h])
        LIST.append(h)
        type(self).last = h
        return torch.from_numpy(MADE.detach().numpy()) + CACHE["h"][0]


@pytest.fixture
def clean_globals(monkeypatch):
    for name in ("MADE", "CACHE", "LIST"):
        value = globals()[name]
        monkeypatch.setitem(globals(), name, value if value is None else value.copy())
    monkeypatch.setattr(KeepsGlobals, "last", None)
    yield
    globals().pop("LATE", None)


@pytest.mark.usefixtures("clean_globals")
def test_fake_tensors_do_not_stay_in_global_variables():
    trace(KeepsGlobals(), (x(),), mode="fake")
    assert (MADE, CACHE, LIST, KeepsGlobals.last) == (None, {}, [1], None)
    assert "LATE" not in globals()


@pytest.mark.usefixtures("clean_globals")
def test_attempt_with_real_values_meets_no_fakes_of_the_failed_one():
    graph = trace(KeepsGlobals(), (x(),))
    assert (graph.status.mode, graph.status.error) == ("real", None)
    assert type(MADE) is torch.Tensor


def test_lazy_modules_stay_unloaded(monkeypatch):
    spec = importlib.util.find_spec("this")  # prints when it is loaded
    spec.loader = importlib.util.LazyLoader(spec.loader)
    lazy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lazy)
    strange = types.ModuleType("strange")
    strange.lazy = lazy
    monkeypatch.setitem(sys.modules, "strange", strange)
    trace(type("Strange", (Positions,), {"__module__": "strange"})(), (x(),), mode="fake")
    assert type(lazy) is not types.ModuleType
