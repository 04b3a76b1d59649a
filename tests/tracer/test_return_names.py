"""Outputs have the names that stand in the `return` statement."""

from __future__ import annotations

import functools
import linecache
import sys

import pytest
import torch
from torch import Tensor, nn

from modeldiagrams import trace
from modeldiagrams.tracer.values import return_names

ROW = torch.zeros(2, 4)


class Encoder(nn.Module):
    """Like a variational encoder."""

    def __init__(self):
        super().__init__()
        self.mean, self.spread = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x: Tensor):
        h = torch.relu(x)
        return self.mean(h), (self.spread(h).exp(), h[:, 0])


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5)

    def forward(self, x: Tensor):
        out, (h, c) = self.lstm(x)
        return out, h.squeeze(0), c


class Sometimes(nn.Module):
    """Has several `return` statements, and one of another function."""

    def forward(self, x: Tensor, *, deep: bool = False):
        def inner():
            return x, x

        if deep:
            deeper = inner()[0] + 1
            return x * 2, deeper
        shallow = x - 1
        return (x * 3, shallow)


class Twice(nn.Module):
    def forward(self, x: Tensor):
        y = x + 1
        return y, y * 2, y[0]


class Listed(nn.Module):
    def forward(self, x: Tensor):
        logits = x * 2
        return [logits, {"aux": x + 1}, torch.stack([x, x]), *[x * 3]]


class Wrapped(nn.Module):
    @torch.no_grad()
    def forward(self, x: Tensor):
        left, right = x.chunk(2, -1)
        return left, right


class Transposed(nn.Module):
    def __init__(self):
        super().__init__()
        self.data = nn.ReLU()

    def forward(self, x: Tensor):
        scores, other = x + 1, x * 2
        return scores, scores.T, other.mT, self.data(x)


class OtherName(nn.Module):
    def forward(this, x: Tensor):  # noqa: N805
        left, right = x.chunk(2, -1)
        return this.half(left), right, this(x) if x is None else this.half(x)

    def half(this, x):  # noqa: N805
        return x / 2


def timed(forward):
    @functools.wraps(forward)
    def wrapper(*args):
        result = forward(*args)
        return sum(result), torch.zeros(1) + 1

    return wrapper


class Timed(nn.Module):
    """Returns as many tensors as its forward, but others."""

    @timed
    def forward(self, x: Tensor):
        left, right = x.chunk(2, -1)
        return left, right


def listed(forward):
    return functools.wraps(forward)(lambda *args: list(forward(*args)))


class Generator(nn.Module):
    @listed
    def forward(self, x: Tensor):
        left, right = x.chunk(2, -1)
        yield right
        yield left
        return left, right


class Hooked(Encoder):
    def __init__(self):
        super().__init__()
        self.register_forward_hook(lambda _module, _args, result: (result[0] * 2, (result[0], result[0] + 1)))


class Proxy:
    def __getattr__(self, name):
        return self

    def __getitem__(self, key):
        return self

    def __call__(self, *_args):
        return self


def backwards(forward):
    @functools.wraps(forward)
    def wrapper(*args):
        first, second = forward(*args)
        yield second
        yield first

    return wrapper


class Streamed(nn.Module):
    """A decorator that hands on items in another order."""

    @backwards
    def forward(self, x):
        mean, std = x.mean(), x.std()
        return mean, std


def passed_on(model: nn.Module) -> nn.Module:
    """With a forward of its own, as libraries that place models on devices do it."""
    inner = model.forward

    @functools.wraps(inner)
    def forward(*args, **kwargs):
        return inner(*args, **kwargs)

    model.forward = forward
    return model


def written(source: str) -> nn.Module:
    """A model whose source can't be read."""
    names: dict = {"nn": nn}
    exec(source, names)  # noqa: S102
    return names["Made"]()


UNREADABLE = "class Made(nn.Module):\n    def forward(self, x):\n        y = x + 1\n        return y, x * 2\n"


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (Encoder(), ["mean", "spread", "h"]),
        (Recurrent(), ["out", "h", "c"]),
        (Sometimes(), ["[0]", "[1]"]),
        (Twice(), ["[0]", "[1]", "[2]"]),
        (Listed(), ["[0]", "[1].aux", "[2]", "[3]"]),
        (Wrapped(), ["left", "right"]),
        (Transposed(), ["[0]", "[1]", "other", "data"]),
        (OtherName(), ["half", "right", "[2]"]),
        (Timed(), ["[0]", "[1]"]),
        (Generator(), ["[0]", "[1]"]),
        (Streamed(), ["[0]", "[1]"]),
        (Hooked(), ["[0]", "[1][0]", "[1][1]"]),
        (passed_on(Recurrent()), ["out", "h", "c"]),
        (written(UNREADABLE), ["[0]", "[1]"]),
        (nn.Identity(), ["output"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else None,
)
def test_outputs(model, names):
    graph = trace(model, (ROW,))
    assert [node.name for node in graph.nodes if node.kind == "output"] == names
    assert list(graph.model.outputs) == names


def test_hooks_for_all_modules_may_return_something_else():
    handle = nn.modules.module.register_module_forward_hook(lambda _module, _inputs, output: output)
    try:
        graph = trace(Recurrent(), (ROW,))
    finally:
        handle.remove()
    assert list(graph.model.outputs) == ["[0]", "[1]", "[2]"]
    assert list(graph.node("lstm").outputs) == ["[0]", "[1][0]", "[1][1]"]


def test_proxies_have_no_names():
    """They answer every question, also for what is inside of them, with themselves."""
    found = [("[0]", ROW), ("[1]", ROW)]
    assert return_names.apply_return_names(Proxy(), (ROW, ROW), found) == found


def test_outputs_of_a_module_inside():
    lstm = trace(Recurrent(), (ROW,)).node("lstm")
    assert list(lstm.outputs) == ["output", "h_n", "c_n"]


def test_a_function():
    def pair(x):
        low, high = x - 1, x + 1
        return low, high

    assert list(trace(pair, (ROW,)).model.outputs) == ["low", "high"]


def test_a_file_that_changed(tmp_path, monkeypatch):
    """Another function stands where the forward was."""
    (tmp_path / "changed_model.py").write_text(
        "from torch import nn\nclass M(nn.Module):\n    def forward(self, x):\n        return x + 1, x + 2\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    model = __import__("changed_model").M()
    (tmp_path / "changed_model.py").write_text("\n\ndef other():\n    return a, b\n")
    try:
        assert list(trace(model, (ROW,)).model.outputs) == ["[0]", "[1]"]
    finally:
        del sys.modules["changed_model"]


class OfModules(nn.Module):
    def forward(self, x: Tensor):
        return torch.nn.functional.relu(x), torch.fft.fft(x), x.exp()


def test_modules_give_no_names():
    assert list(trace(OfModules(), (ROW,)).model.outputs) == ["[0]", "[1]", "x"]


def test_source_that_changed_after_its_import_gives_no_names(tmp_path, monkeypatch):
    file = tmp_path / "edited.py"
    source = "def forward(x):\n    mean = x + 1\n    std = x * 2\n    return mean, std\n"
    file.write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    import edited  # noqa: PLC0415

    monkeypatch.delitem(sys.modules, "edited")
    assert list(trace(edited.forward, (ROW,)).model.outputs) == ["mean", "std"]
    return_names._source_of.cache_clear()
    return_names._returns_of.cache_clear()
    linecache.clearcache()
    file.write_text(source.replace("mean", "_").replace("std", "mean").replace("_", "std"))
    assert list(trace(edited.forward, (ROW,)).model.outputs) == ["[0]", "[1]"]


def test_decorators_are_read_once(monkeypatch):
    """Every layer of a model calls the same functions."""
    model = passed_on(Recurrent())
    trace(model, (ROW,))
    monkeypatch.setattr(return_names, "_returned_values", None)  # finds what a function returns
    assert list(trace(model, (ROW,)).model.outputs) == ["out", "h", "c"]
