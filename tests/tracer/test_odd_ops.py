"""Rare calls of torch, each in its own small model.

Long because it is a list of cases, each with a small model of its own.
"""

import copy
import dataclasses
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils import parametrizations, parametrize, prune, rnn

from modeldiagrams.ir.graph import OutputNode
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.recording import dispatch_recorder
from tracer.traced_graph import Lambda, checked, linear, names, traced, x


def after_linear(function):
    """A model that calls a function with the output of a layer, and its input."""
    return Lambda(lambda self, h: function(self.a(h)), a=linear())


def pruned():
    layer = linear()
    prune.l1_unstructured(layer, "weight", 0.5)
    return layer


def jagged(h):
    return (torch.nested.nested_tensor_from_jagged(h, torch.tensor([0, 1, 3])) * 2).values()


def spectrum(h):
    return torch.fft.irfft(torch.fft.rfft(h) * torch.exp(1j * torch.ones(3)), n=4)


def transposed_write(h):
    h = h.sin()
    h.T[0].zero_()
    return h


def written_where_positive(h):
    h = h.sin()
    h[h > 0] = 0
    return h


def gathered(h):
    values, places = h.topk(2)
    return h.gather(1, places) * values


def tangent(h):
    return torch.func.jvp(torch.sin, (h,), (torch.ones_like(h),))[1]


def gradient(h):
    return torch.autograd.grad(h.tanh().sum(), h, create_graph=True)[0] * 2


def windows(h):
    return F.fold(F.unfold(h[None, None], 3, padding=1), (3, 4), 3, padding=1)


def reread(h):
    return h.double().float().to(torch.bfloat16).view(torch.int16)


def put(h):
    return torch.zeros(5, 4).index_put_((torch.tensor([0, 2, 4]),), h)


OPS = {
    "CSR": lambda h: h.to_sparse_csr() @ torch.ones(4, 2),
    "COO": lambda h: torch.sparse.mm(h.to_sparse(), torch.ones(4, 2)),
    "spectrum": spectrum,
    "complex parts": lambda h: torch.polar(h.abs(), h).real + torch.complex(h, h).imag,
    "write through a transposed view": transposed_write,
    "write where a mask is set": written_where_positive,
    "gather": gathered,
    "scatter": lambda h: torch.zeros(3, 4).scatter_add_(1, h.argsort(1), h),
    "index_put": put,
    "unfold and fold": windows,
    "svd": lambda h: torch.linalg.svd(h).S,
    "solve": lambda h: torch.linalg.solve(h.T @ h + torch.eye(4) * 9, torch.ones(4)),
    "autograd.grad": gradient,
    "jvp": tangent,
    "jacobian": torch.func.jacrev(torch.sin),
    "view of other dtype": reread,
    "as_strided": lambda h: torch.as_strided(h, (2, 2), (1, 2)),
    "quantised": lambda h: torch.quantize_per_tensor(h, 0.1, 0, torch.qint8).dequantize(),
    "rsample": lambda h: torch.distributions.Normal(h, 1.0).rsample(),
    "log_prob": lambda h: torch.distributions.MultivariateNormal(h, torch.eye(4)).log_prob(h),
    "categorical": lambda h: torch.distributions.Categorical(logits=h).sample(),
    "gumbel": lambda h: F.gumbel_softmax(h, hard=True),
    "bucketize": lambda h: torch.bucketize(h, torch.linspace(-1, 1, 5)),
    "isin": lambda h: torch.where(torch.isin(h.round(), torch.tensor([0.0, 1.0])), h, -h),
    "rows": lambda h: torch.stack(list(h)),
    "einsum of three": lambda h: torch.einsum("bi,ij,bj->b", h, torch.ones(4, 4), h),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("name", OPS)
def test_op_is_recorded_and_connected(name, mode):
    found = checked(after_linear(OPS[name]), x(), mode=mode)
    assert found.ops["linear"]


LAYERS = {
    "weight_norm": lambda: parametrizations.weight_norm(linear()),
    "spectral_norm": lambda: parametrizations.spectral_norm(linear()),
    "orthogonal": lambda: parametrizations.orthogonal(linear()),
    "pruned": pruned,
    "fake quantised": torch.ao.quantization.FakeQuantize,
    "averaged": lambda: torch.optim.swa_utils.AveragedModel(linear()),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("name", LAYERS)
def test_layer_is_recorded_and_connected(name, mode):
    checked(nn.Sequential(LAYERS[name](), nn.ReLU()), x(), mode=mode)


def test_cached_parametrization_is_computed_once():
    def twice(self, h):
        with parametrize.cached():
            return self.a(self.a(h))

    found = checked(Lambda(twice, a=parametrizations.weight_norm(linear())), x())
    assert len(found.ops["weight_norm"]) == 1


def test_hooks_with_keyword_arguments():
    layer = linear()
    layer.register_forward_pre_hook(lambda _m, _args, kwargs: ((), {"input": kwargs["input"].cos()}), with_kwargs=True)
    layer.register_forward_hook(lambda _m, _args, kwargs, out: out.sin() + kwargs["input"], with_kwargs=True)
    found = checked(Lambda(lambda self, h: self.a(input=h), a=layer), x())
    assert found.edges("cos", "linear")
    assert found.edges("linear", "sin")
    assert found.edges("cos", "add")


def test_embedding_bag():
    checked(nn.EmbeddingBag(10, 3, mode="sum"), torch.tensor([1, 2, 4, 5]), torch.tensor([0, 2]))


def test_slice_of_a_sequence_keeps_paths():
    layers = nn.Sequential(linear(), nn.ReLU(), linear())
    found = checked(Lambda(lambda self, h: self.q[1:](self.q[0](h)), q=layers), x())
    assert {"q.0", "q.1", "q.2"} <= {call.path for call in found.calls}


def test_ensemble():
    layers = [linear() for _ in range(3)]
    base = copy.deepcopy(layers[0]).to("meta")

    def forward(_self, h):
        weights, buffers = torch.func.stack_module_state(layers)
        return torch.vmap(lambda w, b: torch.func.functional_call(base, (w, b), (h,)))(weights, buffers)

    found = checked(Lambda(forward, layers=nn.ModuleList(layers)), x())
    assert found.flows("stack", "linear")


@dataclasses.dataclass
class Inner:
    hidden: torch.Tensor
    count: int = 0


@dataclasses.dataclass
class Outer:
    inner: Inner
    more: Any = None


class Kept:
    def __init__(self, h):
        self.hidden = h
        self._mark = h * 2


class Slotted:
    __slots__ = ("hidden", "more")

    def __init__(self, h):
        self.hidden = h


def boxed(h, depth):
    for _ in range(depth):
        h = [h]
    return h


@pytest.mark.parametrize(
    ("wrap", "expected"),
    [
        (lambda h: {"_a": h, "b": {"_c": h * 2}}, ["_a", "b._c"]),
        (Kept, ["hidden"]),
        (lambda h: [Kept(h)], ["[0].hidden"]),
        (Slotted, ["hidden"]),
        (lambda h: deque([h, h * 2]), ["[0]", "[1]"]),
        (lambda h: boxed(h, 20), ["[0]" * 20]),
        (lambda h: Outer(Inner(h), {"z": h * 2}), ["inner.hidden", "more.z"]),
        (lambda h: {"a": {"b": [h, None]}, "c": None}, ["a.b[0]"]),
        (lambda h: torch.max(h, 1), ["values", "indices"]),
        (lambda h: (h * k for k in range(2)), ["[0]", "[1]"]),
        (lambda h: map(torch.sin, [h]), ["[0]"]),
    ],
)
@pytest.mark.parametrize("mode", ["real", "fake"])
def test_outputs_have_paths_as_names(wrap, expected, mode):
    found = checked(after_linear(wrap), x(), mode=mode)
    assert names(found.of(OutputNode)) == expected


def test_generator_forward_is_run_to_its_end():
    class Yields(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = linear()

        def forward(self, h):
            for _ in range(2):
                h = self.a(h)
                yield h

    found = checked(Yields(), x())
    assert len(found.edges("linear", "linear")) == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["real", "fake"])
def test_deepcopy_op_has_no_addresses_in_its_arguments(mode):
    found = checked(Lambda(lambda self, h: copy.deepcopy(self.a)(h), a=linear()), x(), mode=mode)
    assert not any(op.arguments for op in found.ops["deepcopy"])
    assert not found.edges("deepcopy", "deepcopy")


@pytest.mark.filterwarnings("ignore")
def test_repeated_traces_of_packed_weights_are_equal():
    model = torch.ao.quantization.quantize_dynamic(nn.Sequential(linear(), nn.ReLU()))
    first, second = (trace(model, (x(),), mode="fake") for _ in range(2))
    assert first.status.error is None
    assert serialize(first) == serialize(second)


def test_spectrogram_runs_on_fake_tensors():
    def forward(self, h):
        window = torch.hann_window(8)
        return torch.istft(torch.stft(self.a(h), 8, window=window, return_complex=True) * 2, 8, window=window)

    found = checked(Lambda(forward, a=nn.Linear(64, 64)), torch.randn(1, 64), mode="fake")
    assert found.flows("stft", "istft")


@pytest.mark.parametrize("convert", [nn.Module.double, nn.Module.float, lambda module: module.to("cpu")])
def test_weights_converted_in_the_forward(convert):
    def forward(self, h):
        dtype = next(convert(self.a).parameters()).dtype
        return self.a(h.to(dtype))

    checked(Lambda(forward, a=linear()), x(), mode="fake")


def test_threads_run_on_fake_tensors():
    def forward(self, h):
        with ThreadPoolExecutor(4) as pool:
            return sum(pool.map(lambda module: module(h), self.layers))

    layers = nn.ModuleList(nn.Sequential(linear(), nn.LayerNorm(4), nn.GELU()) for _ in range(8))
    found = traced(Lambda(forward, layers=layers), x(), mode="fake")
    calls = {call.path for call in found.calls if "." not in call.path.removeprefix("layers.")}
    assert calls == {f"layers.{i}" for i in range(8)}


def test_all_experts_run_on_fake_tensors():
    def forward(self, h):
        out = torch.zeros_like(h)
        mask = F.one_hot(self.a(h).argmax(-1), 4).T
        for expert in mask.sum(-1).gt(0).nonzero():
            rows = torch.where(mask[expert[0]])[0]
            out[rows] = out[rows] + self.experts[f"expert_{expert[0]}"](h[rows])
        return out

    experts = nn.ModuleDict({f"expert_{i}": linear() for i in range(4)})
    found = checked(Lambda(forward, a=linear(), experts=experts), x(), mode="fake")
    assert [call.id for call in found.calls if "expert" in call.id] == [f"experts.expert_{i}" for i in range(4)]
    assert found.graph.status.guesses


def test_failing_flop_formula_does_not_fail_the_trace(monkeypatch):
    monkeypatch.setattr(dispatch_recorder, "flop_formula", lambda _operator: lambda *_, **__: 1 / 0)
    found = checked(Lambda(lambda self, h: torch.einsum("ij,ij->i", h, self.a(h)), a=linear()), x())
    assert found.graph.model.flops == 2 * 3 * 4 * 4


def test_pad_and_pack_sequence_round_trip():
    def forward(self, h):
        packed = rnn.pack_padded_sequence(self.a(h), torch.tensor([3, 2]), batch_first=True)
        return rnn.pad_packed_sequence(self.r(packed)[0], batch_first=True)[0]

    found = checked(Lambda(forward, a=linear(), r=nn.GRU(4, 4, batch_first=True)), torch.randn(2, 3, 4))
    assert found.flows("linear", "gru")


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_packed_sequence_of_known_lengths_runs_on_fake_tensors(kind):
    def forward(self, h, lengths):
        packed = rnn.pack_padded_sequence(self.a(h), lengths, batch_first=True, enforce_sorted=False)
        return rnn.pad_packed_sequence(self.b(packed)[0], batch_first=True)[0]

    model = Lambda(forward, a=linear(), b=kind(4, 4, bidirectional=True))
    given = (torch.randn(2, 3, 4), torch.tensor([2, 3]))
    fake, real = (checked(model, *given, mode=mode).graph for mode in ("auto", "real"))
    assert fake.status.mode == "fake"
    assert fake.adjacency == real.adjacency
    assert fake.tensors == real.tensors
