"""Objects of any class keep their tensors on the way into a model and out of it."""

import functools
from dataclasses import dataclass, field

import pytest
import torch

from modeldiagrams.tracer import trace
from tracer.traced_graph import Lambda, checked, linear, x


class CalledData:
    def __init__(self, h):
        self.h = h

    def __call__(self):
        return self.h


class CallableData:
    """Like the classes of graph libraries: attributes live in a store, and calling it iterates."""

    def __init__(self, h):
        self.__dict__["_store"] = {"h": h}

    def __getattr__(self, name):
        try:
            return self.__dict__["_store"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __call__(self):
        yield from self._store.items()

    def __iter__(self):
        yield from self._store.items()

    def keys(self):
        return list(self._store)


class IteratedData:
    def __init__(self, h):
        self._items = [h]

    @property
    def h(self):
        return self._items[0]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return 1


class Lazy:
    """Computes what it gives on demand."""

    __slots__ = ("_source",)

    def __init__(self, h):
        self._source = functools.partial(torch.Tensor.clone, h)

    @property
    def h(self):
        return self._source()


class Metaclass(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class OfMetaclass(CalledData, metaclass=Metaclass):
    pass


@dataclass
class Extended:
    n: int = 1
    others: dict = field(default_factory=dict)

    def __call__(self):
        return self.h

    @classmethod
    def of(cls, h):
        made = cls()
        made.h = h
        return made


class Extras(dict):
    @property
    def h(self):
        return self.extra

    @classmethod
    def of(cls, h):
        made = cls(n=1)
        made.extra = h
        return made


class Settings:
    table = torch.ones(4)


CLASSES = [CalledData, CallableData, IteratedData, Lazy, OfMetaclass, Extended.of, Extras.of]


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("make", CLASSES)
def test_objects_given_and_returned(make, mode):
    def forward(self, given, others):
        return {"result": make(self.a(given.h)), "others": [make(self.a(each.h).sin()) for each in others]}

    found = checked(Lambda(forward, a=linear()), make(x()), [make(x() + 1)], mode=mode)
    graph = found.graph
    assert len(graph.model.inputs) == 2
    assert len(graph.model.outputs) == 2
    assert not [node for node in graph.nodes if node.kind == "constant"]


def test_a_returned_object_hides_its_bookkeeping_behind_its_results():
    class Result(CalledData):
        def __init__(self, h):
            super().__init__(h)
            self._cache = {"before": h * 2}

    found = checked(Lambda(lambda self, h: Result(self.a(h)), a=linear()), x())
    assert list(found.graph.model.outputs) == ["h"]


def test_views_of_dicts_and_partials():
    def forward(self, items, scale):
        return {n: scale(self.a(item)) for n, item in enumerate(items)}.values()

    scale = functools.partial(torch.mul, other=torch.tensor(2.0))
    found = checked(Lambda(forward, a=linear()), {"a": x(), "b": x() + 1}.values(), scale)
    assert list(found.graph.model.inputs) == ["args[0][0]", "args[0][1]", "args[1].other"]
    assert list(found.graph.model.outputs) == ["[0]", "[1]"]


def test_classes_functions_and_python_modules_are_no_data():
    def function(h):
        return h * Settings.table

    def forward(self, h, functions):
        return functions[0](self.a(h)), function, Settings, torch

    graph = trace(Lambda(forward, a=linear()), (x(), [function, Settings, torch]))
    assert list(graph.model.inputs) == ["args[0]"]
    assert list(graph.model.outputs) == ["[0]"]
