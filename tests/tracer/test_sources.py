"""``file:line`` in user code: of ops, of classes, of functions as models."""

import dataclasses
import functools
import inspect
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from modeldiagrams.tracer import trace
from modeldiagrams.tracer.values.source_lines import class_source
from tracer.traced_graph import Lambda, checked, linear, x


def rectified_once_more(h):
    return torch.nn.functional.relu(h)


def test_source_of_op_in_hook_is_the_line_of_the_hook():
    model = Lambda(lambda self, h: self.b(self.a(h)), a=nn.Sequential(nn.ReLU()), b=nn.Sequential(nn.ReLU()))
    model.b[0].register_forward_hook(lambda _module, _given, result: rectified_once_more(result))
    found = checked(model, x())
    line = rectified_once_more.__code__.co_firstlineno + 1
    call = model._function[0].__code__.co_firstlineno
    sources = [found.nodes[key].source.partition(":")[2] for key in ("a.0/relu", "b.0/relu", "b.0/relu#2")]
    assert sources == [str(call), str(call), str(line)]


def test_source_of_op_behind_replaced_forward_is_its_line():
    model = Lambda(lambda self, h: self.b(self.a(h)), a=linear(), b=linear())
    original = model.b.forward

    def replaced(h):
        return original(h)

    model.b.forward = replaced
    found = checked(model, x())
    sources = [found.nodes[key].source.partition(":")[2] for key in ("a/linear", "b/linear")]
    codes = (model._function[0].__code__, replaced.__code__)
    assert sources == [str(codes[0].co_firstlineno), str(codes[1].co_firstlineno + 1)]


def test_source_of_equal_modules_is_the_line_that_calls_each():
    def forward(self, h):
        h = self.a(h)
        return self.b(h)

    found = checked(Lambda(forward, a=nn.Sequential(linear(), nn.ReLU()), b=nn.Sequential(linear(), nn.ReLU())), x())
    first = forward.__code__.co_firstlineno
    sources = {key: node.source.partition(":")[2] for key, node in found.nodes.items() if "/" in key}
    assert sources == {"a.0/linear": f"{first + 1}", "a.1/relu": f"{first + 1}"} | {
        "b.0/linear": f"{first + 2}",
        "b.1/relu": f"{first + 2}",
    }


class Wrapped(nn.Module):
    @torch.no_grad()
    def forward(self, h, power=1):
        return h**power


@pytest.mark.parametrize("model", [Wrapped().forward, functools.partial(Wrapped().forward, power=2)])
def test_function_as_model_has_its_name_and_source(model):
    graph = trace(model, (x(),), mode="real")
    assert graph.model.name == "Wrapped.forward"
    file, line = graph.model.source.split(":")
    assert file.endswith("test_sources.py")
    assert "@torch.no_grad" in Path(__file__).read_text().splitlines()[int(line) - 1]


def test_function_from_notebook_has_no_source():
    names = {}
    exec(compile("def typed(h): return h * 2", "<ipython-input-3-ab>", "exec"), names)  # noqa: S102 - as a notebook does
    graph = trace(names["typed"], (x(),), mode="real")
    assert (graph.model.name, graph.model.source) == ("typed", None)


def test_op_in_plain_sequential_has_no_source():
    found = checked(nn.Sequential(linear()), x())
    assert found.nodes["0/linear"].source is None


@dataclasses.dataclass(eq=False)
class Generated(nn.Module):
    """Its ``__init__`` is generated, so it says nothing of where the class is written."""

    width: int

    def __post_init__(self):
        super().__init__()

    def forward(self, given):
        return given * self.width


def test_source_of_a_class_with_generated_methods():
    source = inspect.getsourcelines(Generated)[1] + 1  # below the decorator
    assert class_source(Generated).endswith(f"test_sources.py:{source}")


def test_class_has_no_source_if_its_module_entry_is_not_a_module(monkeypatch):
    class Rude:
        def __getattr__(self, name):
            raise ValueError(name)

    monkeypatch.setitem(sys.modules, "rude", Rude())
    rude = type("FromRude", (nn.Module,), {"__module__": "rude", "forward": lambda _, h: h + 1})
    graph = trace(rude(), (x(),), mode="real")
    assert graph.status.error is None
    assert graph.model.source is None


def test_class_from_console_has_no_source(monkeypatch):
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    typed_in = type("TypedIn", (nn.Module,), {"__module__": "__main__", "forward": lambda _, h: h + 1})
    graph = trace(typed_in(), (x(),), mode="real")
    assert (graph.model.class_, graph.model.source) == ("__main__.TypedIn", None)
