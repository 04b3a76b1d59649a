"""Ids are unique and refer to what they say, whatever modules, arguments, weights and scopes are called."""

import itertools

import pytest
import torch
from torch import nn

from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.serialize import deserialize, serialize
from modeldiagrams.tracer import trace
from tracer.traced_graph import linear, traced, x

_NAMES = ["dense", "dense/linear", "dense/linear#2", "dense#2", "#2", "/add", "input:h", "output:output", "a b", "%23"]
_NAMES += ["parameter:dense", "dense/linear:0", "()", "/sin()", "ü/#", "e%2Fa", "e/a", ":", "/", "#", "%"]


class Named(nn.Module):
    """Calls each of its modules twice, in a chain."""

    def __init__(self, names):
        super().__init__()
        for name in names:
            self.add_module(name, linear())

    def forward(self, h):
        for module in (*self._modules.values(), *self._modules.values()):
            h = h + module(h)
        return h


def _check(graph, chain):
    """Every call has its own node and op, and the graph connects them in the order of the calls."""
    ids = [node.id for node in graph.nodes]
    assert len(set(ids)) == len(ids)
    assert deserialize(serialize(graph)) == graph
    calls = [node for node in graph.nodes if isinstance(node, ModuleNode)]
    assert [call.path for call in calls] == chain
    for call in calls:
        (op,) = graph.children(call.id)
        assert isinstance(op, OpNode)
        assert op.weights["weight"] == f"{call.path}.weight"
    for first, second in itertools.pairwise(calls):
        assert graph.between(first.id, second.id)
        assert not graph.between(second.id, first.id)


@pytest.mark.parametrize("names", [_NAMES, list(reversed(_NAMES)), _NAMES[:2], ["#2", "x#2", "x"]])
def test_names_of_modules(names):
    graph = trace(Named(names), (x(),), mode="real")
    _check(graph, names + names)
    first = graph.node(names[0])
    assert first.path == names[0]


def test_names_that_only_assignments_allow():
    class Dotted(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Sequential()
            self.a.b = linear()
            setattr(self, "a.b", linear())
            setattr(self, "", linear())
            self.a.scale = nn.Parameter(torch.ones(4))
            self.d = {"x": torch.ones(4)}
            setattr(self, "d.x", torch.ones(4))

        def forward(self, h):
            for module in (self.a.b, getattr(self, "a.b"), getattr(self, "")):
                h = module(h)
            return h * self.a.scale + self.d["x"] * getattr(self, "d.x")

    found = traced(Dotted(), x())
    assert deserialize(serialize(found.graph)) == found.graph
    assert len(found.calls) == 3
    assert sorted(node.id for node in found.graph.nodes if node.kind == "constant") == [
        "constant:d.x",
        "constant:d.x#2",
    ]


def test_names_of_inputs_and_outputs():
    def forward(batch, more, **others):
        kept = {key: value * 2 for key, value in (*batch.items(), *more.items(), *others.items())}
        return [*kept.values()], {"[0]": kept[1], 0: kept["1"], "0": kept["1"], "0#2": kept["1#2"]}

    batch = {1: x(), "1": x(), "1#2": x(), "a.b": x(), "a": {"b": x()}}
    batch["a"] = batch["a"]["b"]
    graph = trace(forward, (batch, {"c": x()}), {"batch.1": x(), "more.c": x(), "input:batch.1": x()}, mode="real")
    assert graph.status.error is None
    assert deserialize(serialize(graph)) == graph
    assert len([node for node in graph.nodes if node.kind == "input"]) == 9
    assert len([node for node in graph.nodes if node.kind == "output"]) == len(graph.model.outputs) == 13


def test_names_of_scopes_and_classes():
    made = type("a/b#2:0", (nn.Module,), {"forward": lambda _self, h: h.sin().cos() + h})
    cube = type(
        "sin/x",
        (torch.autograd.Function,),
        {"forward": staticmethod(lambda _ctx, h: h**3), "backward": staticmethod(lambda _ctx, g: g)},
    )

    class Net(nn.Module):
        def forward(self, h):
            for name in ("s", "s", "s()#2", "x/s", "s/x()"):
                with torch.autograd.profiler.record_function(name):
                    h = h.sin().cos().exp()
            return made()(made()(cube.apply(h).sin()))

    found = traced(Net(), x())
    assert deserialize(serialize(found.graph)) == found.graph
    assert len(found.graph.functions) == 5
