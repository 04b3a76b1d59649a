"""Objects whose classes refuse, fail or act when they are inspected do not stop a trace."""

import sys
import threading
import types
from collections import OrderedDict, deque

import pytest
from torch import nn

from modeldiagrams.tracer import trace
from modeldiagrams.tracer.restore.object_snapshot import ObjectSnapshot
from tracer.traced_graph import Lambda, linear, x


def refuse(*_args, **_kwargs):
    raise TypeError("not like this")


class Proxy:
    """Fails when nothing is behind it, as some libraries' do."""

    @property
    def __class__(self):
        raise RuntimeError("nothing is behind it")


class Lazy(types.ModuleType):
    """Fails on every attribute lookup."""

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
def test_namespaces_are_read_past_their_own_attribute_lookup(what, monkeypatch):
    monkeypatch.setitem(sys.modules, "strange", OWNERS[what]())
    kind = type("Strange", (Lambda,), {"__module__": None if what == "no name" else "strange"})
    model = kind(lambda self, h: self.a(h), a=linear())
    assert trace(model, (x(),), mode="real").status.error is None


def closed(kind):
    """A class of containers none of whose own methods work."""
    names = ["__iter__", "__len__", "__setitem__", "values", "items", "keys", "copy", "clear", "update", "extend"]
    return type("Closed", (kind,), {name: refuse for name in names if hasattr(kind, name)})


CLOSED = {
    dict: lambda held, item: dict.__setitem__(held, item, item),
    OrderedDict: lambda held, item: OrderedDict.__setitem__(held, item, item),
    **{kind: kind.append for kind in (list, deque)},
    set: set.add,
}


@pytest.mark.parametrize("kind", CLOSED)
def test_containers_are_restored_past_their_own_methods(kind):
    held = kind.__new__(closed(kind))
    kind.__init__(held)
    CLOSED[kind](held, 1)
    snapshot = ObjectSnapshot([held], ())
    CLOSED[kind](held, 2)
    assert kind.__len__(held) == 2
    snapshot.restore()
    assert kind.__len__(held) == 1


class Homeless:
    """Has no defining module."""


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
def test_objects_that_cannot_be_inspected_are_skipped(what):
    model = Lambda(lambda self, h: self.a(h), a=linear())
    vars(model)["held"] = types.SimpleNamespace(held=HELD[what]())
    assert trace(model, (x(),), mode="real").status.error is None


def test_threads_held_by_a_model_are_not_restored():
    class Worker(threading.Thread):
        """A subclass."""

    def forward(self, h):
        self.held.start()
        return self.a(h)

    model = Lambda(forward, a=linear())
    model.held = Worker()
    trace(model, (x(),), mode="real")
    model.held.join()
    assert not model.held.is_alive()


class Key:
    """Has no hash once it is broken."""

    broken = False

    def __hash__(self):
        return refuse() if Key.broken else 1


def test_restoring_goes_on_after_one_object_fails(caplog):
    held = [OrderedDict({Key(): 1, "a": 2}), [1]]
    snapshot = ObjectSnapshot(held, ())
    held[0]["b"] = 3
    held[1].append(2)
    Key.broken = True
    try:
        snapshot.restore()
    finally:
        Key.broken = False
    assert held[1] == [1]
    assert "OrderedDict" in caplog.text
