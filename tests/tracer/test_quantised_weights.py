"""Quantised weights: as many parameters as the layers they stand for have, and the bytes that they take."""

import pytest
import torch
from torch import nn
from torch.ao import quantization
from torch.utils._pytree import tree_map_only

from modeldiagrams import summary
from modeldiagrams.ir.check import check_graph
from modeldiagrams.tracer import trace

pytestmark = pytest.mark.filterwarnings("ignore")


def numbers(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


class Int4(nn.Module):
    """Two weights in a byte, as QLoRA-like layers."""

    def __init__(self, layer):
        super().__init__()
        codes = torch.randint(0, 16, layer.weight.shape, dtype=torch.uint8)
        self.register_buffer("packed", codes[:, ::2] | (codes[:, 1::2] << 4))
        self.register_buffer("scales", torch.ones(len(codes), 1))
        self.bias = layer.bias

    def forward(self, h):
        codes = torch.stack([self.packed & 15, self.packed >> 4], -1).flatten(1)
        return nn.functional.linear(h, (codes.float() - 8) * self.scales, self.bias)

    stored = property(lambda self: self.packed.nbytes + self.scales.nbytes)


class Words(nn.Module):
    """Eight weights in a 32-bit word, with zero points of their own, as GPTQ."""

    def __init__(self, layer):
        super().__init__()
        n_out, n_in = layer.weight.shape
        self.register_buffer("qweight", torch.zeros(n_in // 8, n_out, dtype=torch.int32))
        self.register_buffer("qzeros", torch.zeros(1, n_out // 8, dtype=torch.int32))
        self.register_buffer("scales", torch.ones(1, n_out))
        self.bias = layer.bias

    def forward(self, h):
        shifts = torch.arange(0, 32, 4, dtype=torch.int32)
        zeros = ((self.qzeros[:, :, None] >> shifts) & 15).flatten(1)
        weight = ((self.qweight[:, None] >> shifts[None, :, None]) & 15).flatten(0, 1)
        return h @ ((weight - zeros) * self.scales) + self.bias

    stored = property(lambda self: self.qweight.nbytes + self.qzeros.nbytes + self.scales.nbytes)


class Int8(nn.Module):
    """The product itself works on integers."""

    def __init__(self, layer):
        super().__init__()
        self.register_buffer("weight", torch.zeros(layer.weight.shape, dtype=torch.int8))
        self.bias = layer.bias

    def forward(self, h):
        return torch._int_mm(h.to(torch.int8), self.weight.t()).float() + self.bias

    stored = property(lambda self: self.weight.nbytes)


class Scaled(torch.Tensor):
    """A class like those of torchao: looks like float32, holds int8 and scales."""

    @staticmethod
    def __new__(cls, codes, scales):
        return torch.Tensor._make_wrapper_subclass(cls, codes.shape, dtype=torch.float32)

    def __init__(self, codes, scales):
        self.codes, self.scales = codes, scales

    def __tensor_flatten__(self):
        return ["codes", "scales"], None

    @classmethod
    def __tensor_unflatten__(cls, inner, *_):
        return cls(inner["codes"], inner["scales"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func in {torch.ops.aten.detach.default, torch.ops.aten.alias.default}:
            return cls(args[0].codes, args[0].scales)
        if func is torch.ops.aten.t.default:
            return args[0].codes.float().t() * args[0].scales.t()
        args = tree_map_only(cls, lambda weight: weight.codes.float() * weight.scales, args)
        return func(*args, **(kwargs or {}))


class OfClass(nn.Module):
    def __init__(self, layer):
        super().__init__()
        codes = torch.zeros(layer.weight.shape, dtype=torch.int8)
        self.weight = nn.Parameter(Scaled(codes, torch.ones(len(codes), 1)), requires_grad=False)
        self.bias = layer.bias

    def forward(self, h):
        return nn.functional.linear(h, self.weight, self.bias)

    stored = property(lambda self: self.weight.codes.nbytes + self.weight.scales.nbytes)


class Float8(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.weight = nn.Parameter(layer.weight.detach().to(torch.float8_e4m3fn), requires_grad=False)
        self.bias = layer.bias

    def forward(self, h):
        return nn.functional.linear(h, self.weight.to(h.dtype), self.bias)

    stored = property(lambda self: self.weight.nbytes)


def plain():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))


@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize("class_", [Int4, Words, Int8, OfClass, Float8])
def test_packed_weights(class_, mode):
    model = plain()
    expected = trace(model, (numbers(20, 16),))
    for i in (0, 2):
        model[i] = class_(model[i])
    graph = trace(model, (numbers(20, 16),), mode=mode)
    check_graph(graph)
    assert graph.status.error is None
    assert graph.model.parameters.total == expected.model.parameters.total
    assert [graph.node(str(i)).parameters.total for i in (0, 2)] == [16 * 32 + 32, 32 * 8 + 8]
    assert graph.model.parameters.trainable == 32 + 8
    assert graph.model.flops == expected.model.flops
    stored = sum(model[i].stored + model[i].bias.nbytes for i in (0, 2))
    assert _memory(graph) == stored


def _memory(graph):
    """The bytes of parameters in the table."""
    text = next(line for line in str(summary(graph)).splitlines() if line.startswith("Memory"))
    number, unit = text.split()[1:3]
    return pytest.approx(float(number) * {"B": 1, "KiB": 1024}[unit], rel=0.01)


@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize("is_static", [False, True])
def test_layers_of_torch_ao(is_static, mode, monkeypatch):
    engine = next(name for name in torch.backends.quantized.supported_engines if name != "none")
    monkeypatch.setattr(torch.backends.quantized, "engine", engine)
    model = plain().eval()
    expected = trace(model, (numbers(20, 16),))
    if is_static:
        model = quantization.QuantWrapper(model)
        model.qconfig = quantization.get_default_qconfig(engine)
        quantization.prepare(model, inplace=True)
        model(numbers(20, 16))
        quantization.convert(model, inplace=True)
        layers = [model.module[0], model.module[2]]
    else:
        model = quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
        layers = [model[0], model[2]]
    graph = trace(model, (numbers(20, 16),), mode=mode)
    check_graph(graph)
    assert graph.model.parameters.total == expected.model.parameters.total
    assert graph.model.parameters.trainable == 0
    assert graph.model.flops == expected.model.flops
    assert _memory(graph) == sum(layer.weight().int_repr().nbytes + layer.bias().nbytes for layer in layers)


def test_positions_and_masks_are_no_weights():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(torch.ones(9, 4))
            self.project = nn.Linear(16, 16)
            self.register_buffer("index", torch.arange(8, dtype=torch.int32))
            self.register_buffer("mask", torch.ones(4, 4, dtype=torch.uint8))
            self.register_buffer("lengths", torch.ones(4, dtype=torch.int16))

        def forward(self, h):
            scores = h @ h.transpose(-1, -2) + self.table[self.index.long()].sum()
            scores = scores.masked_fill(self.mask == 0, float("-inf")) / self.lengths
            return self.project(scores.softmax(-1) @ h)

    model = Net()
    graph = trace(model, (numbers(1, 4, 16),))
    assert graph.model.parameters.total == sum(p.numel() for p in model.parameters())
    assert all(spec.elements is None for spec in graph.parameters.values())


def test_a_kernel_for_packed_weights_tells_their_number_by_its_cost():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            codes = torch.zeros(32, 64, dtype=torch.int32)
            self.register_buffer("packed", torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 1))
            self.register_buffer("scales", torch.ones(2, 32, 2, dtype=torch.bfloat16))

        def forward(self, h):
            return torch.ops.aten._weight_int4pack_mm_for_cpu(h, self.packed, 32, self.scales)

    graph = trace(Net(), (numbers(5, 64).bfloat16(),), mode="real")
    assert graph.status.error is None
    assert graph.model.flops == 2 * 5 * 64 * 32
    assert graph.model.parameters.total == 64 * 32
