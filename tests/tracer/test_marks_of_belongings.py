"""What a model holds besides parameters and buffers is as before: objects, containers, generators, gradients."""

import dataclasses
import functools
import itertools
import random
import types
import weakref
from collections import Counter, OrderedDict, UserDict, defaultdict

import numpy as np
import pytest
import torch
from torch import nn

from modeldiagrams import serialize
from modeldiagrams.tracer import trace
from tracer.seen import Applies, linear, x


@dataclasses.dataclass(slots=True)
class Slots:
    n: int = 0
    seen: list = dataclasses.field(default_factory=list)


class Words(dict):
    """A dict of the user's own that does not like to be changed as a whole."""

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
    """All there is to see of a value."""
    return repr(value)


content.register(torch.Tensor, torch.Tensor.tolist)
content.register(torch.Generator, lambda value: value.get_state().tolist())
content.register(random.Random, random.Random.getstate)
content.register(np.random.Generator, lambda value: str(value.bit_generator.state))
content.register(np.random.RandomState, lambda value: str(value.get_state()))
content.register(np.ndarray, np.ndarray.tolist)
content.register(nn.Module, lambda value: content(value.state_dict()))
content.register(dict, lambda value: [(key, content(item)) for key, item in value.items()])
content.register(tuple, lambda value: [*map(content, value)])
content.register(list, lambda value: [*map(content, value), content(getattr(value, "__dict__", {}))])
content.register(Slots, lambda value: [value.n, *map(content, value.seen)])
for kind in (Counts, types.SimpleNamespace, UserDict):
    content.register(kind, lambda value: content(vars(value)))


def calling(norm):
    return lambda h: norm(h) + 0


HELD = {
    "torch generator": (lambda: torch.Generator().manual_seed(1), lambda g, h: torch.rand(4, generator=g) + h),
    "generator in a list": (lambda: [torch.Generator()], lambda g, h: torch.rand(4, generator=g[0]) + h),
    "generator of Python": (lambda: random.Random(1), lambda g, h: h * g.random()),  # noqa: S311
    "generator of numpy": (lambda: np.random.default_rng(1), lambda g, h: h * float(g.random())),
    "old generator of numpy": (lambda: np.random.RandomState(1), lambda g, h: h * float(g.rand())),
    "count": (lambda: itertools.count(5, -2), lambda count, h: h * next(count)),
    "iterator": (lambda: iter([1, 2, 3]), lambda numbers, h: h * next(numbers)),
    "defaultdict": (lambda: defaultdict(list), lambda held, h: held["a"].append(h)),
    "Counter": (lambda: Counter("aab"), lambda held, _: held.update("b")),
    "UserDict": (lambda: UserDict(a=1), lambda held, _: held.update(a=2)),
    "order": (lambda: OrderedDict(a=1, b=2), lambda held, _: held.move_to_end("a")),
    "dict of a class": (lambda: Words(a=1), lambda held, h: held.__setitem__("b", h)),
    "list of a class": (lambda: Stack([1]), lambda held, h: (held.append(h), setattr(held, "last", h))),
    "list in a tuple": (lambda: ([1], 2), lambda held, h: held[0].append(h)),
    "bytearray": (lambda: bytearray(b"a"), lambda held, _: held.append(1)),
    "namespace": (lambda: types.SimpleNamespace(n=1), lambda held, h: setattr(held, "n", h)),
    "slots": (Slots, lambda held, h: (setattr(held, "n", h), held.seen.append(h))),
    "array": (lambda: np.zeros(3), lambda held, _: held.__iadd__(1)),
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
    "module in a closure": (lambda: calling(nn.BatchNorm1d(4)), lambda held, h: held(h)),
    "module of a method": (lambda: nn.BatchNorm1d(4).forward, lambda held, h: held(h)),
    "module in a partial": (lambda: functools.partial(nn.BatchNorm1d(4)), lambda held, h: held(h)),
}


def inside(held):
    """A module behind a function, else the value itself."""
    if isinstance(held, functools.partial):
        return held.func
    if isinstance(held, types.MethodType):
        return held.__self__
    return held.__closure__[0].cell_contents if isinstance(held, types.FunctionType) else held


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("what", HELD)
def test_what_a_model_holds_is_as_before(what, mode, raises):
    make, change = HELD[what]

    def forward(self, h):
        h = self.a(h)
        out = change(self.held, h)
        if raises:
            raise ValueError("enough")
        return out if isinstance(out, torch.Tensor) else h

    model = Applies(forward, a=linear())
    model.held = make()
    held, before = model.held, content(inside(model.held))
    first = trace(model, (x(),), mode=mode)
    assert model.held is held
    assert content(inside(held)) == before
    assert (first.status.error is not None) == raises
    assert serialize.serialize(trace(model, (x(),), mode=mode)) == serialize.serialize(first)


def test_counts_that_are_no_whole_numbers_are_left_alone():
    model = Applies(lambda self, h: h * next(self.held))
    model.held = itertools.count(0.5)
    trace(model, (x(),), mode="real")
    assert repr(model.held) == "count(1.5)"


def test_weak_dicts_hold_what_they_held():
    model = Applies(lambda self, h: [self.a(h), self.held.__setitem__(self.a, h)][0], a=linear())
    model.held = weakref.WeakKeyDictionary({model.a: 1})
    trace(model, (x(),), mode="real")
    assert list(model.held.values()) == [1]


def test_what_a_hook_of_the_users_collects_is_theirs():
    collected = []
    model = linear()
    model.register_forward_hook(lambda *_: collected.append(1))
    trace(model, (x(),), mode="real")
    assert collected == [1]


NORM = nn.BatchNorm1d(4)


class Pipeline:
    """No module, but calls one."""

    def __init__(self):
        self.norm = NORM
        self.runs = 0

    def run(self, h):
        self.runs += 1
        return self.norm(h)

    __call__ = run


def counting():
    n = 0

    def run(h):
        nonlocal n
        n += 1
        return NORM(h) * n

    return run


CALLED = {
    "function": lambda: lambda h: NORM(h),  # noqa: PLW0108
    "closure": counting,
    "bound method": lambda: NORM.forward,
    "partial": lambda: functools.partial(NORM),
    "object": Pipeline,
    "method of an object": lambda: Pipeline().run,
}


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("what", CALLED)
def test_modules_behind_what_is_no_module_are_as_before(what, mode):
    called = CALLED[what]()
    before = content(NORM)
    first = trace(called, (x(),), mode=mode)
    assert first.status.error is None
    assert content(NORM) == before
    assert getattr(getattr(called, "__self__", called), "runs", 0) == 0
    assert serialize.serialize(trace(called, (x(),), mode=mode)) == serialize.serialize(first)


class Cache:
    """What generating models are given and fill."""

    def __init__(self):
        self.keys = []


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_caches_given_as_arguments_hold_what_they_held(mode):
    def forward(self, h, cache, past):
        cache.keys.append(h)
        past.append(h)
        return self.a(h)

    cache, past = Cache(), []
    trace(Applies(forward, a=linear()), (x(), cache), {"past": past}, mode=mode)
    assert (cache.keys, past) == ([], [])


GRADS = {
    "backward": lambda _, h: h.sum().backward(),
    "function of autograd": lambda _, h: torch.autograd.backward([h.sum()]),
    "some": lambda a, h: h.sum().backward(inputs=[a.weight]),
    "in place": lambda a, _: a.weight.grad.zero_(),
    "all in place": lambda a, _: a.zero_grad(set_to_none=False),
    "none": lambda a, _: a.zero_grad(),
    "clipped": lambda a, _: nn.utils.clip_grad_norm_(a.parameters(), 0.01),
    "through data": lambda a, _: a.weight.grad.data.mul_(2),
    "other memory": lambda a, _: setattr(a.weight.grad, "data", torch.zeros(4, 4)),
}


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("what", GRADS)
def test_gradients_that_were_there_are_as_before(what, costs, mode):
    model = Applies(lambda self, h: [out := self.a(h), GRADS[what](self.a, out)][0], a=linear())
    model.a(x()).sum().backward()
    grads = [model.a.weight.grad, model.a.bias.grad]
    before = [(grad.tolist(), grad._version, grad.data_ptr()) for grad in grads]
    trace(model, (x(),), mode=mode, costs=costs)
    assert model.a.weight.grad is grads[0]
    assert model.a.bias.grad is grads[1]
    assert [(grad.tolist(), grad._version, grad.data_ptr()) for grad in grads] == before


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize("foreach", [False, True])
def test_optimizers_that_a_model_holds_are_as_before(make, is_warm, foreach):
    def step(model, h):
        out = model.a(h)
        model.optimizer.zero_grad()
        out.sum().backward()
        model.optimizer.step()
        model.rates.step()
        return out

    model = Applies(step, a=linear())
    momentum = {"momentum": 0.9} if make is torch.optim.SGD else {}
    model.optimizer = make(model.parameters(), lr=0.1, foreach=foreach, **momentum)
    model.rates = torch.optim.lr_scheduler.StepLR(model.optimizer, 1)
    if is_warm:
        step(model, x())
    before = str(model.optimizer.state_dict()), str(model.state_dict()), model.rates.state_dict()
    trace(model, (x(),), mode="real")
    assert (str(model.optimizer.state_dict()), str(model.state_dict()), model.rates.state_dict()) == before


SILENT = {
    "embedding": lambda a, _: nn.functional.embedding(torch.tensor([1]), a.weight, max_norm=0.1),
    "bag": lambda a, _: nn.functional.embedding_bag(torch.tensor([[1]]), a.weight, max_norm=0.1),
    "initialised": lambda a, _: nn.init.kaiming_uniform_(a.weight),
    "array": lambda a, _: a.weight.detach().numpy().fill(7),
    "array without asking": lambda a, _: np.asarray(a.weight.detach()).fill(7),
    "fused": lambda a, _: torch._fused_sgd_(
        [a.bias.detach()],
        [torch.ones(4)],
        [a.weight.detach()[0]],
        weight_decay=0.0,
        momentum=0.5,
        lr=0.1,
        dampening=0.0,
        nesterov=False,
        maximize=False,
        is_first_step=False,
    ),
}


@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("what", SILENT)
def test_weights_written_out_of_sight_are_as_before(what, costs):
    written = []

    def forward(self, h):
        before = content(self.a)
        SILENT[what](self.a, h)
        written.append(content(self.a) != before)
        return self.a(h)

    model = Applies(forward, a=linear())
    before = content(model.a)
    trace(model, (x(),), mode="real", costs=costs)
    assert written == [True]
    assert content(model.a) == before
