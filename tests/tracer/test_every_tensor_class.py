"""Every class of tensors that PyTorch has: restored after writes, without a word, and counted."""

import logging

import pytest
import torch
from torch import nn
from torch.masked import masked_tensor
from torch.testing._internal.two_tensor import TwoTensor

from modeldiagrams.ir.check import check_graph
from modeldiagrams.tracer import trace
from tracer.tensor_classes import Plain, Wrapper, wrap
from tracer.traced_graph import Lambda

pytestmark = pytest.mark.filterwarnings("ignore")


def numbers(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


class Replaces(Wrapper):
    """Its writes in place put another tensor inside."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func._schema.is_mutable:
            args[0].inner = args[0].inner * 3
            return args[0]
        return super().__torch_dispatch__(func, types, args, kwargs)


class Odd(torch.Tensor):
    """Its protocol breaks."""

    def __tensor_flatten__(self):
        return ["nothing"], None


def nested(layout):
    return torch.nested.nested_tensor([numbers(3, 16), numbers(5, 16)], layout=layout)


def narrowed():
    start, length = torch.tensor([0, 1]), torch.tensor([3, 4])
    return torch.nested.narrow(numbers(2, 6, 16), 1, start, length, layout=torch.jagged)


def inference():
    with torch.inference_mode():
        return numbers(8, 16) * 1


def complex_numbers():
    return torch.complex(numbers(8, 16), numbers(8, 16))


def sparse():
    return numbers(8, 16).relu()


CLASSES = {
    "jagged": lambda: nested(torch.jagged),
    "narrowed": narrowed,
    "nested": lambda: nested(torch.strided),
    "coo": lambda: sparse().to_sparse(),
    "hybrid": lambda: sparse().to_sparse(1),
    "csr": lambda: sparse().to_sparse_csr(),
    "csc": lambda: sparse().to_sparse_csc(),
    "bsr": lambda: sparse().to_sparse_bsr((2, 2)),
    "bsc": lambda: sparse().to_sparse_bsc((2, 2)),
    "quantised": lambda: torch.quantize_per_tensor(numbers(8, 16), 0.1, 0, torch.quint8),
    "channels": lambda: torch.quantize_per_channel(
        numbers(8, 16), torch.ones(8), torch.zeros(8).long(), 0, torch.qint8
    ),
    "masked": lambda: masked_tensor(numbers(8, 16), numbers(8, 16) > 0),
    "complex": complex_numbers,
    "conjugate": lambda: complex_numbers().conj(),
    "negated": lambda: complex_numbers().conj().imag,
    "two": lambda: TwoTensor(numbers(8, 16), numbers(8, 16)),
    "wrapper": lambda: wrap(numbers(8, 16)),
    "replaces": lambda: Replaces(numbers(8, 16)),
    "plain": lambda: numbers(8, 16).as_subclass(Plain),
    "functional": lambda: torch._to_functional_tensor(numbers(8, 16)),
    "scalar": lambda: numbers(1)[0],
    "meta": lambda: torch.empty(8, 16, device="meta"),
    "expanded": lambda: numbers(1, 16).expand(8, 16),
    "overlapping": lambda: numbers(40).as_strided((8, 16), (3, 1)),
    "transposed": lambda: numbers(16, 8).t(),
    "sliced": lambda: numbers(8, 32)[:, ::2],
    "empty": lambda: numbers(0, 16),
    "inference": inference,
    "bfloat16": lambda: numbers(8, 16).bfloat16(),
    "float8": lambda: numbers(8, 16).to(torch.float8_e4m3fn),
    "bool": lambda: numbers(8, 16) > 0,
    "parameter": lambda: nn.Parameter(numbers(8, 16), requires_grad=False),
}
WRITES = {
    "multiply": lambda h: h.mul_(2),
    "zero": lambda h: h.zero_(),
    "fill": lambda h: h.fill_(1),
    "copy": lambda h: h.copy_(h * 2),
    "replace": lambda h: setattr(h, "data", h.data * 2),
    "nothing": lambda h: h + h,
}


def content(tensor):  # noqa: PLR0911 - one for each kind
    """Its numbers, as plain tensors."""
    if isinstance(tensor, TwoTensor):
        return [tensor.a.clone(), tensor.b.clone()]
    if isinstance(tensor, Wrapper):
        return [tensor.inner.clone()]
    if type(tensor).__name__ == "MaskedTensor":
        return [tensor.get_data().clone(), tensor.get_mask().clone()]
    if tensor.is_nested:
        return [part.clone() for part in tensor.unbind()]
    if tensor.is_meta:
        return []
    if torch._is_functional_tensor(tensor):
        torch._sync(tensor)
        return [torch._from_functional_tensor(tensor).clone()]
    if tensor.is_quantized:
        return [tensor.int_repr()]
    return [
        tensor.to_dense().clone() if tensor.layout is not torch.strided else tensor.detach().clone().to(torch.complex64)
    ]


@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", CLASSES)
def test_content_is_restored(kind, write, mode, caplog):
    given = CLASSES[kind]()
    before, shape, version = content(given), str(given.layout), None if given.is_inference() else given._version

    def forward(_self, h):
        WRITES[write](h)
        return h

    with caplog.at_level(logging.WARNING):
        graph = trace(Lambda(forward), (given,), mode=mode)
    check_graph(graph)
    assert not caplog.records
    assert graph.status.error is None or graph.status.error.type != "modeldiagrams"
    assert str(given.layout) == shape
    after = content(given)
    assert len(after) == len(before)
    assert all(map(torch.equal, before, after))
    if version is not None:
        assert given._version == version


def test_a_class_that_breaks_its_protocol_is_left_alone(caplog):
    trace(Lambda(lambda _, h: h.sin()), (numbers(2, 2).as_subclass(Odd),), mode="real")
    assert not caplog.records


ROWS = 3 + 5
COUNTED = {"jagged": ROWS, "nested": ROWS, "coo": 8, "csr": 8, "two": 8, "wrapper": 8, "plain": 8, "expanded": 8}
COUNTED |= {"overlapping": 8, "transposed": 8, "sliced": 8, "empty": 0, "inference": 8, "parameter": 8}


@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize("kind", COUNTED)
def test_a_linear_layer_counts_by_hand(kind, mode):
    layer = nn.Linear(16, 4, bias=kind not in {"coo", "csr"})
    graph = trace(layer, (CLASSES[kind](),), mode=mode)
    assert graph.status.error is None
    assert (graph.model.flops or 0) == 2 * COUNTED[kind] * 16 * 4


@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
def test_attention_on_nested_tensors_counts_by_hand(layout):
    def forward(_self, h):
        heads = h.view(2, -1, 2, 8).transpose(1, 2).contiguous() if layout is torch.strided else h.unflatten(-1, (2, 8))
        heads = heads if layout is torch.strided else heads.transpose(1, 2)
        return nn.functional.scaled_dot_product_attention(heads, heads, heads)

    graph = trace(Lambda(forward), (nested(layout),), mode="real")
    assert graph.status.error is None
    assert graph.model.flops == 2 * 2 * 2 * 8 * (3 * 3 + 5 * 5)


def test_a_nested_tensor_has_a_shape():
    graph = trace(Lambda(lambda _, h: h * 2), (nested(torch.strided),))
    assert graph.tensors["input:args[0]:0"].shape == (2, "j", 16)
    assert graph.status.notes == (
        "Traced with real values, because PyTorch can't run without the values of a nested tensor",
    )
