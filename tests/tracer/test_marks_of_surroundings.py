"""What a forward sets in classes and Python modules is as before."""

import sys
from collections import OrderedDict, deque
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from modeldiagrams import serialize
from modeldiagrams.tracer import trace
from tracer.seen import linear, x

STEP = 0
MADE = None
CACHE = {}
RANDOM = np.random.default_rng(1)
ARRAY = np.zeros(2)


class Base(nn.Module):
    pass


class Model(Base):
    """Does one thing on every call, and counts."""

    calls = 0
    seen: ClassVar = deque()
    table: ClassVar = OrderedDict(a=1)

    def __init__(self, change, *, raises=False):
        super().__init__()
        self.a = linear()
        self.change = change
        self.raises = raises

    def forward(self, h):
        h = self.a(h)
        h = h * CHANGES[self.change](h)
        if self.raises:
            raise ValueError("enough")
        return h


def counted():
    global STEP  # noqa: PLW0603
    STEP += 1
    return STEP


def made(h):
    global MADE  # noqa: PLW0603
    MADE = h * 2 if MADE is None else MADE
    return MADE


def named(h):
    globals()["LATE"] = h
    return 2


def forgotten():
    global ARRAY  # noqa: PLW0603
    del ARRAY
    return 2


def put(owner, name, value):
    setattr(owner, name, value)
    return value


def bump(owner, name):
    setattr(owner, name, getattr(owner, name, 0) + 1)
    return getattr(owner, name)


CHANGES = {
    "counter of the class": lambda _: bump(Model, "calls"),
    "counter of a base": lambda _: bump(Base, "runs"),
    "new attribute": lambda h: put(Model, "last", h),
    "deque of the class": lambda h: [2, Model.seen.append(h)][0],
    "dict of the class": lambda h: Model.table.setdefault(len(Model.table), h),
    "forward": lambda _: [2, put(Model, "forward", Base.forward)][0],
    "forward of torch's": lambda _: [2, put(nn.Module, "eval", nn.Module.train)][0],
    "function of torch's": lambda _: [2, put(nn.functional, "relu", abs)][0],
    "method of tensors": lambda _: [2, put(torch.Tensor, "__len__", abs)][0],
    "global": lambda _: counted(),
    "global tensor": made,
    "new global": named,
    "no global": lambda _: forgotten(),
    "global dict": lambda h: CACHE.setdefault("h", h),
    "global generator": lambda _: float(RANDOM.random()),
    "global array replaced": lambda _: [2, put(sys.modules[__name__], "ARRAY", np.ones(2))][0],
}


def surroundings():
    names = ["STEP", "MADE", "ARRAY", "LATE"]
    return (
        [id(globals().get(name)) for name in names],
        (dict(CACHE), str(RANDOM.bit_generator.state), list(Model.seen), dict(Model.table)),
        *({name: id(value) for name, value in vars(owner).items()} for owner in (Model, Base, nn.Module)),
        *({name: id(value) for name, value in vars(owner).items()} for owner in (nn.functional, torch.Tensor)),
    )


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("mode", ["real", "fake", "meta"])
@pytest.mark.parametrize("change", CHANGES)
def test_classes_and_python_modules_are_as_before(change, mode, raises):
    model = Model(change, raises=raises)
    model, given = (model.to("meta"), x()) if mode == "meta" else (model, x())
    before = surroundings()
    first = trace(model, (given,), mode=mode)
    assert surroundings() == before
    assert (first.status.error is not None) == raises
    assert serialize.serialize(trace(model, (given,), mode=mode)) == serialize.serialize(first)


def test_what_is_imported_stays_imported():
    def imports(h):
        globals()["colorsys"] = __import__("colorsys")
        return h * 2

    trace(imports, (x(),), mode="real")
    assert globals().pop("colorsys") is sys.modules["colorsys"]


def test_values_that_cannot_be_compared_are_put_back():
    def replaces(h):
        put(sys.modules[__name__], "ARRAY", np.ones(2))
        return h * 2

    before = ARRAY
    trace(replaces, (x(),), mode="real")
    assert ARRAY is before
