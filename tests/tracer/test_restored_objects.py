"""Traces restore the objects and containers that a model holds or is given."""

import functools
import types
from collections import Counter, OrderedDict, UserDict, defaultdict

import pytest
import torch
from torch import nn

from modeldiagrams.ir import serialize
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.restore.object_snapshot import ObjectSnapshot
from tracer.traced_graph import Lambda, linear, x


class Words(dict):
    """A dict that can't be changed as a whole."""

    def update(self, *_):
        raise TypeError

    def clear(self):
        raise TypeError


class Stack(list):
    """A list with attributes."""


class Counts:
    """An object of the user's own."""

    def __init__(self):
        self.n = 0
        self.norm = nn.BatchNorm1d(4)


@functools.singledispatch
def content(value):
    """The whole content of a value."""
    return repr(value)


content.register(torch.Tensor, torch.Tensor.tolist)
content.register(nn.Module, lambda value: content(value.state_dict()))
content.register(dict, lambda value: [(key, content(item)) for key, item in value.items()])
content.register(tuple, lambda value: [*map(content, value)])
content.register(list, lambda value: [*map(content, value), content(getattr(value, "__dict__", {}))])
for kind in (Counts, types.SimpleNamespace, UserDict):
    content.register(kind, lambda value: content(vars(value)))


HELD = {
    "defaultdict": (lambda: defaultdict(list), lambda held, h: held["a"].append(h)),
    "Counter": (lambda: Counter("aab"), lambda held, _: held.update("b")),
    "UserDict": (lambda: UserDict(a=1), lambda held, _: held.update(a=2)),
    "order": (lambda: OrderedDict(a=1, b=2), lambda held, _: held.move_to_end("a")),
    "dict of a class": (lambda: Words(a=1), lambda held, h: held.__setitem__("b", h)),
    "list of a class": (lambda: Stack([1]), lambda held, h: (held.append(h), setattr(held, "last", h))),
    "list in a tuple": (lambda: ([1], 2), lambda held, h: held[0].append(h)),
    "namespace": (lambda: types.SimpleNamespace(n=1), lambda held, h: setattr(held, "n", h)),
    "tensor": (lambda: torch.zeros(4), lambda held, h: held.add_(1) + h),
    "tensor in a list": (lambda: [torch.zeros(4)], lambda held, h: held[0].copy_(h[0].detach())),
    "tensor in a tuple": (lambda: (torch.zeros(4),), lambda held, _: held[0].__setitem__(0, 1)),
    "big tensor": (lambda: torch.zeros(100, 100), lambda held, _: held.add_(1)),
    "statistics": (
        lambda: (torch.zeros(4), torch.ones(4)),
        lambda held, h: nn.functional.batch_norm(h, *held, training=True),
    ),
    "module in a list": (lambda: [nn.BatchNorm1d(4)], lambda held, h: held[0](h)),
    "module in an object": (Counts, lambda held, h: (setattr(held, "n", held.n + 1), held.norm(h))[1]),
}


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("what", HELD)
def test_trace_restores_what_a_model_holds(what, mode, raises):
    make, change = HELD[what]

    def forward(self, h):
        h = self.a(h)
        out = change(self.held, h)
        if raises:
            raise ValueError("enough")
        return out if isinstance(out, torch.Tensor) else h

    model = Lambda(forward, a=linear())
    model.held = make()
    held, before = model.held, content(model.held)
    first = trace(model, (x(),), mode=mode)
    assert model.held is held
    assert content(held) == before
    assert (first.status.error is not None) == raises
    assert serialize.serialize(trace(model, (x(),), mode=mode)) == serialize.serialize(first)


def test_trace_keeps_what_a_hook_collected():
    collected = []
    model = linear()
    model.register_forward_hook(lambda *_: collected.append(1))
    trace(model, (x(),), mode="real")
    assert collected == [1]


NORM = nn.BatchNorm1d(4)


class Pipeline:
    """Calls a module without being one."""

    def __init__(self):
        self.norm = NORM
        self.runs = 0

    def run(self, h):
        self.runs += 1
        return self.norm(h)

    __call__ = run


CALLED = {
    "function": lambda: lambda h: NORM(h),  # noqa: PLW0108
    "bound method": lambda: NORM.forward,
    "partial": lambda: functools.partial(NORM),
    "object": Pipeline,
    "method of an object": lambda: Pipeline().run,
}


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("what", CALLED)
def test_trace_restores_modules_used_by_callables(what, mode):
    called = CALLED[what]()
    before = content(NORM)
    first = trace(called, (x(),), mode=mode)
    assert first.status.error is None
    assert content(NORM) == before
    assert getattr(getattr(called, "__self__", called), "runs", 0) == 0
    assert serialize.serialize(trace(called, (x(),), mode=mode)) == serialize.serialize(first)


class Cache:
    """As generating models fill."""

    def __init__(self):
        self.keys = []


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_trace_restores_caches_given_as_arguments(mode):
    def forward(self, h, cache, past):
        cache.keys.append(h)
        past.append(h)
        return self.a(h)

    cache, past = Cache(), []
    trace(Lambda(forward, a=linear()), (x(), cache), {"past": past}, mode=mode)
    assert (cache.keys, past) == ([], [])


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize("foreach", [False, True])
def test_trace_restores_optimizers_that_a_model_holds(make, is_warm, foreach):
    def step(model, h):
        out = model.a(h)
        model.optimizer.zero_grad()
        out.sum().backward()
        model.optimizer.step()
        model.rates.step()
        return out

    model = Lambda(step, a=linear())
    momentum = {"momentum": 0.9} if make is torch.optim.SGD else {}
    model.optimizer = make(model.parameters(), lr=0.1, foreach=foreach, **momentum)
    model.rates = torch.optim.lr_scheduler.StepLR(model.optimizer, 1)
    if is_warm:
        step(model, x())
    before = str(model.optimizer.state_dict()), str(model.state_dict()), model.rates.state_dict()
    trace(model, (x(),), mode="real")
    assert (str(model.optimizer.state_dict()), str(model.state_dict()), model.rates.state_dict()) == before


def test_data_in_a_model_does_not_hide_its_weights():
    """There is a limit for data, and none for modules and weights."""
    model = nn.Module()
    model.layers = nn.ModuleList([nn.Identity() for _ in range(5000)] + [linear()])
    model.weights = nn.ParameterList(torch.zeros(1) for _ in range(5000))
    model.data = [[[i] for i in range(4096)] for _ in range(9)]
    found = {id(tensor) for tensor in ObjectSnapshot(model, ()).tensors}
    assert found == {id(parameter) for parameter in model.parameters()}
