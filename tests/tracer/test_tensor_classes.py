"""Other kinds of tensors: sparse, nested, user-defined classes."""

import pytest
import torch

from modeldiagrams.ir.serialize import serialize
from modeldiagrams.tracer import trace
from tracer.tensor_classes import Plain, Wrapper
from tracer.traced_graph import Lambda, checked, linear, x


def test_sparse():
    def forward(self, given):
        return torch.sparse.mm(self.a(given).t().contiguous().to_sparse(), given)

    checked(Lambda(forward, a=linear()), x())


@pytest.mark.filterwarnings("ignore")
def test_nested_tensor_of_computed_parts():
    def forward(self, a, b):
        nested = torch.nested.as_nested_tensor([self.a(a), self.a(b)], layout=torch.jagged)
        return self.a(nested * 2).to_padded_tensor(0.0)

    found = checked(Lambda(forward, a=linear()), x(), torch.randn(2, 4))
    assert found.edges("linear", "cat")
    assert found.edges("mul", "linear")
    assert found.graph.tensors["/mul:0"].shape[1].startswith("j")


@pytest.mark.filterwarnings("ignore")
def test_nested_tensor_given_as_a_list():
    def forward(self, a, b):
        nested = torch.nested.nested_tensor([a, b], layout=torch.jagged)
        return self.a(nested * 2).to_padded_tensor(0.0)

    model = Lambda(forward, a=linear())
    first, second = (serialize(trace(model, (x(), torch.ones(2, 4)), mode="real")) for _ in range(2))
    assert first == second
    assert trace(model, (x(), torch.ones(2, 4)), mode="real").status.unseen == ()


def test_repeated_traces_of_nested_tensors_are_equal():
    """Torch counts their ragged sizes on, and makes one tensor for the first of them."""

    def forward(self, h):
        nested = torch.nested.nested_tensor_from_jagged(h, torch.tensor([0, 1, 3]))
        return self.a(nested).sin().values(), self.a(nested).values()

    found = checked(Lambda(forward, a=linear()), x())
    shapes = {tensor.shape for key, tensor in found.graph.tensors.items() if "linear" in key or "sin" in key}
    assert shapes == {(2, "j1", 4)}
    assert not found.ops["zeros"]


def test_repeated_traces_of_nested_inputs_are_equal():
    def jagged(*lengths):
        return torch.nested.nested_tensor([torch.ones(n, 4) for n in lengths], layout=torch.jagged)

    found = checked(Lambda(lambda _self, h, other: (other.sin(), h.cos())), jagged(2, 3), jagged(4, 1))
    shapes = {key: tensor.shape for key, tensor in found.graph.tensors.items()}
    assert shapes["input:args[0]:0"] == shapes["/cos:0"] == (2, "j0", 4)
    assert shapes["input:args[1]:0"] == shapes["/sin:0"] == (2, "j1", 4)


class Batch:
    """No tensor, but torch's functions take it, as they take a TensorDict."""

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = func(*(arg.held if isinstance(arg, cls) else arg for arg in args), **(kwargs or {}))
        return cls(result) if isinstance(result, torch.Tensor) else result


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_object_that_implements_torch_function_is_traced(mode):
    def forward(self, h):
        return self.a(torch.add(Batch(torch.sin(h)), Batch(h)).held)

    found = checked(Lambda(forward, a=linear()), x(), mode=mode)
    assert found.edges("sin", "add")
    assert found.edges("add", "linear")
    assert [node.id for node in found.graph.nodes[1:-1]] == ["/sin", "/add", "a", "a/linear"]


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_tensor_class_with_a_tensor_inside(mode):
    found = checked(
        Lambda(lambda self, h: self.b((Wrapper(self.a(h)) * 2).inner), a=linear(), b=linear()), x(), mode=mode
    )
    assert found.edges("linear", "mul")
    assert found.edges("mul", "linear")
    assert len(found.graph.nodes) == 7


def test_tensor_subclass():
    found = checked(Lambda(lambda self, h: torch.relu(self.a(h).as_subclass(Plain)) * 2, a=linear()), x())
    assert found.edges("linear", "relu")
    assert found.edges("relu", "mul")


def test_constant_of_a_tensor_class_with_an_attribute_named_type():
    class Edge(torch.Tensor):
        type = "edge"

    constant = torch.ones(4).as_subclass(Edge)
    assert trace(lambda a: a + constant, (torch.ones(4),)).status.state == "complete"
