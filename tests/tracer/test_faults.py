"""A fault of the tracer names itself and keeps what was recorded; an error of the model stays the model's."""

import contextlib

import pytest
import torch
from torch import nn

from modeldiagrams.engine.problems import format_problem, make_forward_problem
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.check import check_graph
from modeldiagrams.tracer import forward_pass, trace
from modeldiagrams.tracer.recording.module_calls import CallStack
from modeldiagrams.tracer.values import pass_records
from modeldiagrams.tracer.values.source_lines import SourceFinder
from modeldiagrams.tracer.values.value_tracker import ValueTracker
from tracer.traced_graph import Lambda, linear, x


class Odd(torch.Tensor):
    """A wrapper whose protocol breaks: what it says is inside is not there."""

    def __tensor_flatten__(self):
        return ["nothing"], None

    @staticmethod
    def __tensor_unflatten__(inner, *_):
        return inner["nothing"]


def odd(self, h):
    return self.b(self.a(h).as_subclass(Odd).sin())


def caught(self, h):
    with contextlib.suppress(AttributeError):
        h.as_subclass(Odd).sin()
    return self.b(self.a(h))


def replaced(self, h):
    try:
        return self.b(self.a(h).as_subclass(Odd))
    except AttributeError:
        raise ValueError("the model can't go on") from None


@pytest.mark.parametrize("forward", [odd, caught, replaced])
def test_a_tensor_class_that_breaks_its_protocol(forward):
    graph = trace(Lambda(forward, a=linear(), b=linear()), (x(),), mode="real")
    check_graph(graph)
    assert graph.status.state == "partial"
    assert_names_itself(graph)


def assert_names_itself(graph):
    error = graph.status.error
    assert error.type == "modeldiagrams"
    assert error.message.startswith("failed while it recorded ")
    assert error.message.endswith("; please report this")
    said = format_problem(make_forward_problem("pkg.Net", graph))
    assert said.startswith("pkg.Net: modeldiagrams failed while it recorded ")
    assert "raised" not in said
    assert all("the model raised" not in note for note in graph.status.notes)


class Trigger(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = [False]

    def forward(self, h):
        self.held[0] = True
        return h + 1


@pytest.mark.parametrize("mode", ["auto", "real"])
@pytest.mark.parametrize(
    ("class_", "name"),
    [(ValueTracker, "assign"), (ValueTracker, "inputs_of"), (SourceFinder, "line_of"), (CallStack, "_set_values")],
)
def test_any_fault_keeps_what_was_recorded_before(monkeypatch, class_, name, mode):
    original = getattr(class_, name)
    trigger = Trigger()

    def fail_late(*args, **kwargs):
        if trigger.held[0]:
            raise KeyError("a bug")
        return original(*args, **kwargs)

    monkeypatch.setattr(class_, name, fail_late)
    graph = trace(nn.Sequential(linear(), trigger, linear()), (x(),), mode=mode)
    assert_names_itself(graph)
    assert [node.id for node in graph.nodes][:4] == ["input:input", "0", "0/linear", "1"]
    assert graph.between("input:input", "0/linear")


def test_a_fault_where_no_graph_can_be_made(monkeypatch):
    def build(*_):
        raise KeyError("a bug")

    monkeypatch.setattr(forward_pass, "build_graph", build)
    with pytest.raises(
        ModelDiagramsError, match=r"^modeldiagrams failed to make a graph: KeyError in .*; please report"
    ):
        trace(linear(), (x(),))


def test_a_graph_that_is_not_consistent_is_a_fault(monkeypatch):
    monkeypatch.setattr(pass_records, "escape_id", lambda _: "same")
    with pytest.raises(ModelDiagramsError, match="expected a unique id"):
        trace(Lambda(lambda _, h: (h.sin(), h.cos())), (x(),))


def shape(self, h):
    return self.a(h) @ torch.ones(5, 5)


def own(_self, _h):
    raise KeyError("mine")


def hook(self, h):
    handle = self.a.register_forward_hook(lambda *_: 1 / 0)
    try:
        return self.a(h)
    finally:
        handle.remove()


class Raises(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, h):
        return h.view(7)


def function(self, h):
    return Raises.apply(self.a(h))


@pytest.mark.parametrize("mode", ["auto", "real", "fake"])
@pytest.mark.parametrize(
    ("forward", "type_"),
    [(shape, "RuntimeError"), (own, "KeyError"), (hook, "ZeroDivisionError"), (function, "RuntimeError")],
)
def test_errors_of_the_model_stay_its_own(forward, type_, mode):
    graph = trace(Lambda(forward, a=linear()), (x(),), mode=mode)
    assert graph.status.error.type == type_
    assert "raised" in format_problem(make_forward_problem("pkg.Net", graph))


def test_endless_recursion_is_the_models():
    class Recursive(nn.Module):
        def forward(self, h):
            return self(h)

    assert trace(Recursive(), (x(),), mode="real").status.error.type == "RecursionError"
