"""Traps in values: writes through views, aliases, numpy, nested inputs and outputs.

Long because it is a list of cases, each with a small model of its own.
"""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import ConstantNode, OpNode, OutputNode
from modeldiagrams.tracer import trace
from tracer.traced_graph import Lambda, TracedGraph, checked, linear, names, x


def test_write_through_a_view_reaches_later_readers():
    def forward(self, given):
        y = self.a(given)
        y[:, 0].add_(torch.sin(given[:, 0]))
        return self.b(y)

    found = checked(Lambda(forward, a=linear(), b=linear()), x())
    assert found.edges("sin", "add")
    assert found.edges("add", "linear")
    assert found.edges("linear", "linear")


def test_write_over_whole_tensor_replaces_its_value():
    def forward(self, given):
        y = self.a(given)
        y.view(-1).copy_(torch.sin(given).view(-1))
        return self.b(y)

    with torch.no_grad():
        found = TracedGraph(trace(Lambda(forward, a=linear(), b=linear()), (x(),), mode="real"))
    assert found.edges("copy", "linear")
    assert not found.edges("linear", "linear")


def test_setitem():
    def forward(self, given):
        y = self.a(given)
        y[:, 1] = torch.sin(given[:, 0])
        return self.b(y)

    found = checked(Lambda(forward, a=linear(), b=linear()), x())
    assert found.edges("sin", "setitem")[0].argument == "value"
    assert found.edges("setitem", "linear")
    assert not found.edges("linear", "linear")


def test_augmented_assignment_to_a_slice():
    def forward(self, given):
        out = torch.zeros(3, 4)
        for i in range(2):
            out[:, i] += torch.sin(given[:, i])
        row = out[2]
        torch.mul(row[:2], 2, out=row[:2])
        return self.a(out)

    found = checked(Lambda(forward, a=linear()), x())
    shapes = {edge.to: set() for edges in found.graph.adjacency.values() for edge in edges}
    for edges in found.graph.adjacency.values():
        for edge in edges:
            shapes[edge.to].add(found.graph.tensors[edge.tensor].shape)
    assert {len(op.outputs) for op in (*found.ops["setitem"], *found.ops["mul"])} == {1}
    assert shapes["/getitem#3"] == {(3, 4)}  # reads the slice that was written before
    assert found.flows("sin", "linear")


def test_setitem_on_a_fresh_tensor():
    def forward(self, given):
        out = torch.zeros(3, 4)
        out[:2] = torch.sin(given[:2])
        out[2:] = torch.cos(given[2:])
        return self.a(out)

    found = checked(Lambda(forward, a=linear()), x())
    assert found.flows("sin", "linear")
    assert found.flows("cos", "linear")


def test_keyword_arguments_have_their_names():
    found = checked(Lambda(lambda self, *, x, y: self.a(x) + y, a=linear()), x=x(), y=x())
    assert list(found.graph.model.inputs) == ["x", "y"]


def test_nested_dict_input():
    model = Lambda(lambda self, b: self.a(b["x"]) + b["z"]["y"], a=linear())
    found = checked(model, {"x": x(), "z": {"y": x()}})
    assert list(found.graph.model.inputs) == ["args[0].x", "args[0].z.y"]


@dataclasses.dataclass
class Result:
    a: object
    b: object


def test_dataclass_output():
    model = Lambda(lambda self, h: Result(self.a(h), [h * 2, {"c": h + 1}]), a=linear())
    found = checked(model, x())
    assert names(found.of(OutputNode)) == ["a", "b[0]", "b[1].c"]


class Cache:
    """An object of no known kind that holds tensors."""

    def __init__(self, keys):
        self.keys_seen = [keys]
        self.owner = self


def test_output_inside_an_unknown_object():
    found = checked(Lambda(lambda self, h: (h * 2, Cache(self.a(h))), a=linear()), x())
    assert names(found.of(OutputNode)) == ["[0]", "[1].keys_seen[0]"]


def test_numpy_round_trip_by_shared_memory():
    model = Lambda(lambda self, h: self.b(torch.from_numpy(self.a(h).detach().numpy())), a=linear(), b=linear())
    found = checked(model, x())
    assert [edge.flow for edge in found.edges("numpy", "from_numpy")] == ["inferred"]
    assert found.edges("from_numpy", "linear")


def test_numpy_round_trip_by_copy():
    def forward(self, given):
        return self.b(torch.from_numpy(np.tanh(self.a(given).detach().numpy())))

    found = checked(Lambda(forward, a=linear(), b=linear()), x())
    assert [edge.flow for edge in found.edges("numpy", "from_numpy")] == ["inferred"]


def test_array_comes_from_the_last_read():
    def forward(self, h):
        first = torch.from_numpy(np.tanh(h.detach().numpy()))
        h.sin().numpy()
        return self.a(first)

    found = TracedGraph(trace(Lambda(forward, a=linear()), (x(),), mode="real"))
    assert [edge.to for edge in found.graph.adjacency["/numpy"]] == ["/from_numpy"]
    assert "/numpy#2" not in found.graph.adjacency


def test_write_to_memory_shared_with_numpy_reaches_both_sides():
    def forward(_model, h, other):
        h = h * 1
        array = h.numpy()
        array += 1
        torch.from_numpy(array).mul_(other)
        return h.sin()

    found = checked(Lambda(forward), x(), x())
    assert found.edges("mul", "sin")


def test_item_is_an_op():
    found = checked(Lambda(lambda self, h: self.a(h) * float(h.mean().item()), a=linear()), x())
    assert found.edges("mean", "item")


def test_bool_is_an_op():
    found = checked(Lambda(lambda self, h: self.a(h) if h.sum() > -1e9 else h, a=linear()), x())
    assert found.edges("gt", "bool")


def test_out_argument():
    def forward(self, given):
        out = torch.empty(3, 4)
        torch.sin(self.a(given), out=out)
        return self.b(out)

    with torch.no_grad():
        found = checked(Lambda(forward, a=linear(), b=linear()), x())
    assert found.edges("sin", "linear")
    assert not found.edges("empty", "linear")


def test_dropout_in_eval_is_separate_from_residual():
    def forward(self, given):
        h = self.a(given)
        z = self.d(h)
        return torch.sin(h) + z

    found = checked(Lambda(forward, a=linear(), d=nn.Dropout()).eval(), x())
    assert found.edges("linear", "sin")
    assert found.edges("linear", "dropout")
    assert found.edges("dropout", "add")
    assert not found.edges("dropout", "sin")


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("contiguous", torch.Tensor.contiguous),
        ("to", lambda h: h.to(torch.float32)),
        ("float", torch.Tensor.float),
        ("expand", lambda h: h.expand(3, 4)),
        ("reshape", lambda h: h.reshape(3, 4)),
    ],
)
def test_function_that_returns_its_argument(name, function):
    def forward(self, given):
        h = self.a(given)
        z = function(h)
        return torch.sin(h) + z

    found = checked(Lambda(forward, a=linear()), x())
    assert found.edges("linear", "sin")
    assert found.edges(name, "add")
    assert not found.edges(name, "sin")


def test_in_place_relu_changes_the_residual_too():
    def forward(self, given):
        h = self.a(given)
        y = self.r(h)
        return torch.sin(h) + y

    found = checked(Lambda(forward, a=linear(), r=nn.ReLU(inplace=True)), x())
    assert found.edges("relu", "sin")
    assert not found.edges("linear", "sin")


def test_in_place_add():
    def forward(self, given):
        kept = self.a(given)
        h = torch.relu(kept)
        h += kept
        return h

    found = checked(Lambda(forward, a=linear()), x())
    assert names(found.ops["add"]) == ["torch.Tensor.add_"]
    assert found.edges("linear", "add")
    assert found.edges("relu", "add")


def test_data_assignment():
    def forward(self, given):
        y = torch.zeros(3, 4)
        y.data = self.a(given)
        return torch.sin(y)

    found = checked(Lambda(forward, a=linear()), x())
    assert found.edges("linear", "data")
    assert found.edges("data", "sin")


def test_foreach():
    def forward(self, given):
        both = [self.a(given), given * 2]
        torch._foreach_add_(both, 1)
        return both[0] + both[1]

    found = checked(Lambda(forward, a=linear()), x())
    assert len(found.edges("foreach_add", "add")) == 2


def test_chunks_are_separate_outputs():
    def forward(self, given):
        a, b = self.a(given).chunk(2, -1)
        return a * torch.sigmoid(b)

    found = checked(Lambda(forward, a=linear()), x())
    assert [edge.tensor for edge in found.edges("chunk", "mul")] == ["/chunk:0"]
    assert [edge.tensor for edge in found.edges("chunk", "sigmoid")] == ["/chunk:1"]


def test_shape_reads_are_not_ops():
    found = checked(Lambda(lambda self, h: self.a(h).view(h.shape[0] * 2, -1), a=linear()), x())
    assert names(found.of(OpNode)) == ["torch.nn.functional.linear", "torch.Tensor.view"]
    assert found.ops["view"][0].arguments == {"size": [6, -1]}


def test_shape_only_argument():
    found = checked(Lambda(lambda self, h: self.a(h) + torch.zeros_like(h), a=linear()), x())
    flows = {edge.to: edge.flow for edge in found.graph.adjacency["input:args[0]"]}
    assert flows == {"a/linear": "data", "/zeros_like": "shape"}


def test_plain_tensor_attribute_is_a_named_constant():
    model = Lambda(lambda self, h: self.a(h) * self.scale, a=linear())
    model.scale = torch.tensor(2.0)
    found = checked(model, x())
    assert names(found.of(ConstantNode)) == ["scale"]


GLOBAL = torch.ones(4)


class Scales(nn.Module):
    scale = torch.full((4,), 2.0)

    def forward(self, h):
        return h * self.scale


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_tensor_of_a_class_is_a_named_constant(mode):
    found = checked(Lambda(lambda self, h: self.a(self.s(h)), a=linear(), s=Scales()), x(), mode=mode)
    assert names(found.of(ConstantNode)) == ["s.scale"]


def test_global_tensor_is_a_named_constant():
    found = checked(Lambda(lambda self, h: self.a(h) * GLOBAL, a=linear()), x())
    assert names(found.of(ConstantNode)) == [f"{__name__}.GLOBAL"]


def test_tensor_of_unknown_origin_is_listed_as_unseen():
    hidden = [torch.ones(4)]
    graph = trace(Lambda(lambda self, h: self.a(h) * hidden[0], a=linear()), (x(),), mode="real")
    assert graph.status.unseen == ("/constant:0",)
    assert graph.tensors["/constant:0"].shape == (4,)


def test_error_midway_keeps_earlier_ops():
    def forward(self, given):
        h = torch.relu(self.a(given))
        return torch.cat([h, torch.ones(2, 2, 2)])

    graph = trace(Lambda(forward, a=linear()), (x(),), mode="real")
    check_graph(graph)
    found = TracedGraph(graph)
    assert graph.status.state == "partial"
    assert graph.status.error.node == "/cat"
    assert graph.status.error.type == "RuntimeError"
    assert graph.status.error.frames[-1].code == "return torch.cat([h, torch.ones(2, 2, 2)])"
    assert found.edges("relu", "cat")
    assert found.of(OutputNode) == []


def test_keys_with_equal_text_get_distinct_paths():
    found = checked(Lambda(lambda self, h: {1: self.a(h), "1": torch.sin(h)}, a=linear()), x())
    assert names(found.of(OutputNode)) == ["1", "1#2"]


def test_error_message_has_no_addresses():
    def fails(*_):
        raise ValueError(f"bad thing {object()!r}")

    error = trace(Lambda(fails, a=linear()), (x(),), mode="real").status.error
    assert error.message == "bad thing <object object>"


class Unreadable(dict):
    def items(self):
        raise RuntimeError("not now")


def test_unreadable_container_is_skipped():
    model = Lambda(lambda self, h, _extra: self.a(h), a=linear())
    graph = trace(model, (x(), Unreadable(a=1)), mode="real")
    assert graph.status.state == "complete"


def test_tensor_constructor_with_numbers_is_an_op():
    found = checked(Lambda(lambda self, h: self.a(h) * torch.Tensor([1, 2, 3, 4]), a=linear()), x())
    (op,) = found.ops["Tensor"]
    assert op.name == "torch.Tensor"
    assert op.arguments == {"0": [1, 2, 3, 4]}
    assert found.edges("Tensor", "mul")


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize(
    ("kind", "forward"),
    [
        ("IntTensor", lambda self, h: self.a(h) * torch.IntTensor([2])[0]),
        ("LongTensor", lambda self, h: self.a(h)[torch.LongTensor([2])]),
        ("FloatTensor", lambda self, h: self.a(h) * torch.FloatTensor([2])),
    ],
)
def test_legacy_tensor_constructor_makes_a_named_constant(kind, forward, mode):
    found = checked(Lambda(forward, a=linear()), x(), mode=mode)
    assert [node.name for node in found.of(ConstantNode)] == [f"torch.{kind}"]


def test_computed_tensor_of_unknown_origin_is_not_named_after_a_constructor():
    """Nobody says `IntTensor` here: it stays unseen."""
    made = [torch.ones(1, dtype=torch.int32)]
    graph = trace(Lambda(lambda self, h: self.a(h) * made[0], a=linear()), (x(),), mode="real")
    assert graph.status.unseen == ("/constant:0",)


def test_same_tensor_as_shape_and_data_argument_has_two_edges():
    def forward(self, h):
        h = self.a(h)
        return h.view_as(h)

    found = checked(Lambda(forward, a=linear()), x())
    assert [(edge.argument, edge.flow) for edge in found.edges("linear", "view_as")] == [
        ("self", "data"),
        ("other", "shape"),
    ]


class TakesAnything(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, given, _anything):
        return given * 2

    @staticmethod
    def backward(_ctx, grad):
        return grad * 2, None


def test_list_that_contains_itself_is_accepted_as_argument():
    endless = []
    endless.append(endless)
    found = checked(Lambda(lambda self, h: TakesAnything.apply(self.a(h), endless), a=linear()), x())
    assert found.edges("linear", "TakesAnything")
