"""What a model holds may be of classes that refuse, fail or act when they are looked at: that costs no graph."""

import functools
import importlib.util
import itertools
import sys
import threading
import types
from collections import OrderedDict, deque

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from modeldiagrams.tracer import trace
from modeldiagrams.tracer.belongings import Belongings
from modeldiagrams.tracer.keeper import Keeper
from modeldiagrams.tracer.surroundings import Surroundings, owners_of
from tracer.seen import Applies, linear, x


def refuse(*_args, **_kwargs):
    raise TypeError("not like this")


class Proxy:
    """Fails when nothing is behind it, as some libraries' do."""

    @property
    def __class__(self):
        raise RuntimeError("nothing is behind it")


class Lazy(types.ModuleType):
    """Would import a lot when it is asked for anything."""

    __getattribute__ = refuse


def python_module(name, **values):
    module = types.ModuleType(name)
    vars(module).update(values)
    return module


def nameless():
    module = types.ModuleType("nameless")
    del module.__name__
    return module


def function_of(python_module):
    def function():
        pass

    function.__module__ = python_module
    return function


OWNERS = {
    "none": lambda: None,
    "object": object,
    "nameless": nameless,
    "holds nameless": lambda: python_module("holds", held=nameless()),
    "holds lazy": lambda: python_module("holds", held=Lazy("lazy")),
    "holds proxy": lambda: python_module("holds", held=Proxy()),
    "holds function of none": lambda: python_module("holds", a=function_of(None), b=function_of("here")),
    "holds function of a list": lambda: python_module("holds", held=function_of([])),
    "no name": lambda: None,
}


@pytest.mark.parametrize("what", OWNERS)
def test_python_modules_are_not_asked(what, monkeypatch):
    monkeypatch.setitem(sys.modules, "strange", OWNERS[what]())
    kind = type("Strange", (Applies,), {"__module__": None if what == "no name" else "strange"})
    model = kind(lambda self, h: self.a(h), a=linear())
    assert trace(model, (x(),), mode="real").status.error is None


def test_lazy_modules_stay_unloaded(monkeypatch):
    spec = importlib.util.find_spec("this")  # prints when it is loaded
    spec.loader = importlib.util.LazyLoader(spec.loader)
    lazy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lazy)
    monkeypatch.setitem(sys.modules, "strange", python_module("strange", lazy=lazy))
    kind = type("Strange", (Applies,), {"__module__": "strange"})
    Surroundings(owners_of(kind(None), [("", kind(None))])).restore()
    assert type(lazy) is not types.ModuleType


class Frozen(type):
    """Its classes can't be changed."""

    __setattr__ = refuse
    __delattr__ = refuse


class FrozenModel(Applies, metaclass=Frozen):
    n = 1

    @functools.lru_cache(maxsize=4)  # noqa: B019 - as models do
    def twice(self, h):
        return h * 2


def test_classes_that_refuse_changes_are_as_before():
    def forward(self, h):
        type.__setattr__(FrozenModel, "n", 2)
        return self.twice(self.a(h))

    graph = trace(FrozenModel(forward, a=linear()), (x(),), mode="real")
    assert graph.status.error is None
    assert FrozenModel.n == 1


class ModelOfTensors(Applies):
    one = torch.ones(1)


def test_tensors_of_classes_are_the_same_ones_not_equal_ones():
    before = ModelOfTensors.one
    trace(ModelOfTensors(lambda _, h: [h * 2, setattr(ModelOfTensors, "one", torch.ones(1))][0]), (x(),), mode="real")
    assert ModelOfTensors.one is before


def closed(kind):
    """A class of containers whose own ways are never gone."""
    names = ["__iter__", "__len__", "__setitem__", "values", "items", "keys", "copy", "clear", "update", "extend"]
    return type("Closed", (kind,), {name: refuse for name in names if hasattr(kind, name)})


CLOSED = {
    dict: lambda held, item: dict.__setitem__(held, item, item),
    OrderedDict: lambda held, item: OrderedDict.__setitem__(held, item, item),
    **{kind: kind.append for kind in (list, deque, bytearray)},
    set: set.add,
}


@pytest.mark.parametrize("kind", CLOSED)
def test_containers_that_refuse_are_as_before(kind):
    held = kind.__new__(closed(kind))
    kind.__init__(held)
    CLOSED[kind](held, 1)
    belongings = Belongings()
    belongings.add([held])
    belongings.close()
    CLOSED[kind](held, 2)
    assert kind.__len__(held) == 2
    belongings.restore()
    assert kind.__len__(held) == 1


class Key:
    """Has no hash once it is broken."""

    broken = False

    def __hash__(self):
        return refuse() if Key.broken else 1


def test_what_cannot_be_put_back_keeps_nothing_else_from_being_put_back(caplog):
    held = [OrderedDict({Key(): 1, "a": 2}), {Key(): 1}, [1]]
    belongings = Belongings()
    belongings.add(held)
    belongings.close()
    held[0]["b"], held[1]["b"] = 3, 3
    held[2].append(2)
    Key.broken = True
    try:
        belongings.restore()
    finally:
        Key.broken = False
    assert list(held[1].values()) == [1, 3]
    assert held[2] == [1]
    assert "OrderedDict" in caplog.text


def test_a_setting_that_cannot_be_put_back_costs_no_graph(monkeypatch):
    monkeypatch.setattr("modeldiagrams.tracer.settings._SETTINGS", ((itertools.count().__next__, refuse),))
    state = torch.get_rng_state()
    assert trace(lambda h: h * torch.rand(4), (x(),), mode="real").status.error is None
    assert torch.equal(torch.get_rng_state(), state)


class Homeless:
    """Does not tell where it is defined."""


Homeless.__module__ = None


class Unhashable(type):
    """Its classes have no hash."""

    __hash__ = refuse


class OfUnhashable(metaclass=Unhashable):
    pass


HELD = {
    "homeless": Homeless,
    "uninitialised": lambda: [nn.Linear.__new__(nn.Linear)],
    "proxy": Proxy,
    "class without a hash": lambda: [OfUnhashable()],
    "closed": lambda: [closed(dict)(), 1],
}


@pytest.mark.parametrize("what", HELD)
def test_what_cannot_be_looked_into_costs_no_graph(what):
    model = Applies(lambda self, h: self.a(h), a=linear())
    vars(model)["held"] = types.SimpleNamespace(held=HELD[what]())
    assert trace(model, (x(),), mode="real").status.error is None


def test_threads_that_a_forward_starts_are_left_alone():
    class Worker(threading.Thread):
        """Of the user's own."""

    def forward(self, h):
        self.held.start()
        return self.a(h)

    model = Applies(forward, a=linear())
    model.held = Worker()
    trace(model, (x(),), mode="real")
    model.held.join()
    assert not model.held.is_alive()


class Jealous(torch.Tensor):
    """Lets nobody do anything with it."""

    __torch_function__ = classmethod(refuse)


def test_tensors_own_classes_are_not_asked():
    tensors = [torch.randn(4).as_subclass(Jealous), torch.nn.Parameter(torch.randn(4)).as_subclass(Jealous)]
    keeper = Keeper([], (), tensors)
    with torch._C.DisableTorchFunctionSubclass():
        before = [tensor.tolist() for tensor in tensors]
        keeper.before_write(tensors[0])
        tensors[0].add_(1)
    keeper.restore()
    with torch._C.DisableTorchFunctionSubclass():
        assert [tensor.tolist() for tensor in tensors] == before


def test_modes_around_a_trace_are_no_affair_of_what_is_put_back():
    model = nn.Sequential(linear(), nn.BatchNorm1d(4))
    before = model[1].running_mean.clone()
    with FakeTensorMode(allow_non_fake_inputs=True):
        trace(model, (torch.ones(3, 4),), mode="real")
    assert torch.equal(model[1].running_mean, before)


def test_big_buffers_are_copied_when_they_are_written():
    model = Applies(lambda self, h: self.held.add_(1)[:4] * h)
    model.register_buffer("held", torch.zeros(100_000))
    model.register_buffer("other", torch.zeros(100_000))
    keeper = Keeper([model], ())
    assert not keeper._copies
    trace(model, (x(),), mode="real")
    assert not model.held.any()


def test_a_models_training_data_is_not_copied():
    data = [np.zeros((1 << 10, 1 << 10), np.uint8) for _ in range(100)]
    belongings = Belongings()
    belongings.add([data, bytearray(1 << 25)])
    copied = [content for _, _, content in belongings._undo if not isinstance(content, list)]
    assert sum(map(len, map(bytes, copied))) <= 1 << 24
