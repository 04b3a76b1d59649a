"""Paths from inputs to outputs in the graph, compared with perturbing the inputs, for small models."""

import copy
from typing import NamedTuple

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from modeldiagrams.tracer import trace
from tracer.sensitivity import connected, depends
from tracer.traced_graph import Lambda, linear, x

MODELS = {}


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


def model(function):
    MODELS[function.__name__] = function
    return function


@model
def writes_to_parts_of_one_memory(_model, h, other):
    memory = torch.zeros(10)
    first, second = memory[:4], memory[4:8]
    first.copy_(h[0])
    second.add_(other[0])
    return first * 1, second * 1, memory[8:] * 1, memory * 1


@model
def overlapping_views(_model, h, other):
    memory = torch.zeros(10)
    first, second, third = memory[:4], memory[3:7], memory[7:]
    first.copy_(h[0])
    second.add_(other[0])
    return first * 1, second * 1, third * 1


@model
def windows(_model, h, other):
    parts = torch.zeros(8).unfold(0, 4, 4)
    parts[0].copy_(h[0])
    parts[1].copy_(other[0])
    return parts[0] * 1, parts[1] * 1


@model
def strides_of_its_own(_model, h, other):
    h = h.reshape(-1).clone()
    part = h.as_strided((2, 2), (4, 1), 1)
    part.mul_(other[:2, :2])
    return h[:1] * 1, h[5:] * 1, h[7:] * 1


@model
def results_written_to_given_memory(_model, h, other):
    out, largest, where = h * 1, torch.empty(3), torch.empty(3, dtype=torch.int64)
    torch.add(other, 1, out=out)
    torch.max(h, 1, out=(largest, where))
    return out * 2, largest * 1


@model
def assignment_by_keys(_model, h, other):
    h, rest = h * 1, other * 1
    h[torch.tensor([0, 2])] = other[:2]
    rest[rest > 0] = 1.0
    return h, rest


@model
def many_at_once(_model, h, other):
    written = [other * 1]
    torch._foreach_copy_(written, [h])
    return written[0] * 1, torch._foreach_add([other], 1.0)[0]


@model
def emptied(_model, h, other):
    h = h * 1
    h.zero_()
    return h + other, other.new_full((2,), 3.0).fill_(1.0) * h.sum()


@model
def other_content(_model, h, other):
    written = h * 1
    view = written[0]
    written.data = other * 2
    replaced = h * 1
    replaced.set_(other * 3)
    return written * 1, view * 1, replaced * 1


@model
def own_inputs_handed_back(_model, h, other):
    h = h * 1
    same = h.contiguous()
    return same + other, F.dropout(h, training=False), h.to(torch.float32), torch.broadcast_to(h, (3, 4))


@model
def in_place_through_a_chain_of_views(_model, h, other):
    h = h.clone()
    row = h.view(-1)[4:8]
    row += other[0]
    last = h.unbind(0)[2]
    last.zero_()
    return h * 1, row * 1, h[0] * 1


@model
def columns_written_apart(_model, h, other):
    h = h.clone()
    left, right = h.chunk(2, 1)
    left.copy_(other[:, :2])
    right.add_(1)
    return left * 1, right * 1, h * 1


@model
def every_second_element(_model, h, other):
    h = h.clone()
    even, odd = h[:, ::2], h[:, 1::2]
    even.mul_(other[:, :2])
    return even * 1, odd * 1


@model
def parts_of_complex_numbers(_model, h, other):
    number = torch.zeros(3, 4, dtype=torch.complex64)
    number.real.copy_(h)
    number.imag.copy_(other)
    return number.real * 1, number.imag * 1, number.abs()


@model
def seen_as_another_type(_model, h, other):
    h = h.clone()
    h.view(torch.uint8)[0].copy_(other.view(torch.uint8)[0])
    return h[0] * 1, h[1:] * 1


@model
def functions_of_functions(model, h, other):
    reverse = torch.func.vjp(torch.sin, h)[1]
    forward = torch.func.jvp(lambda t: t**2, (h,), (other,))[1]
    return torch.vmap(model.a)(h), reverse(other)[0], forward, torch.func.jacrev(torch.exp)(other[0])


@model
def weights_computed(model, h, other):
    return torch.func.functional_call(model.a, {"weight": other.T @ other, "bias": other[0]}, (h,)), model.a(h)


@model
def computed_again_later(model, h, other):
    once = checkpoint(lambda t: model.a(t) * other, h, use_reentrant=True)
    return once, checkpoint(lambda t: {"key": model.b(t)}, other, use_reentrant=False)["key"]


@model
def less_precise(model, h, other):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return model.a(h), other @ other.T


@model
def loop_with_state(_model, h, other):
    states = []
    for row in h:
        states.append(row if not states else states[-1] * row)
    return states[-1], torch.stack([other[0], other[1]])


@model
def kinds_of_outputs(_model, h, other):
    return {"pair": Pair(h * 1, other * 1), "list": [h + other], "same": h, "number": 3}


@model
def weights_of_other_modules(model, h, other):
    return F.linear(h, model.a.weight), other @ model.b.weight.T, F.embedding(torch.tensor([1]), model.a.weight) + h[0]


@model
def cache(_model, h, other):
    kept = torch.zeros(8, 4)
    kept[:3] = h
    before = kept[:3].clone()
    kept[3:6] = other
    return before * 1, kept[:6] * 1


@model
def gradient_steps(model, h, other):
    with torch.enable_grad():
        grads = torch.autograd.grad(model.a(h).square().mean(), list(model.a.parameters()))
    return F.linear(other, *grads), model.a(other)


@model
def modes_inside(model, h, other):
    with torch.no_grad():
        first = model.a(h)
    with torch.inference_mode():
        second = model.b(other) * 2
        second[0] = other[0]
    return first, second * 1


@model
def random_numbers(_model, h, other):
    noise = torch.randn_like(other)
    return torch.normal(h, 1.0), F.dropout(other, 0.5, training=True), h + noise, F.gumbel_softmax(other)


@model
def decompositions(_model, h, other):
    square = h.T @ h + torch.eye(4)
    return torch.linalg.svd(other).S, torch.linalg.eigh(square).eigenvalues, torch.linalg.solve(square, other.T)


@model
def sparse(_model, h, other):
    matrix = torch.sparse_coo_tensor(torch.tensor([[0, 1, 2], [1, 2, 3]]), h[:, 0], (3, 4))
    return torch.sparse.mm(matrix, other.T), (other.to_sparse() * 2).to_dense(), matrix.coalesce().values() * 1


@model
def mixture(model, h, other):
    weights, places = model.a(h).softmax(-1).topk(2)
    out = torch.zeros_like(h)
    for expert, layer in enumerate([model.a, model.b]):
        rows, ranks = torch.where(places == expert)
        out.index_add_(0, rows, layer(h[rows]) * weights[rows, ranks, None])
    return out, other * 1


@model
def modules_made_here(_model, h, other):
    return nn.ReLU()(h), nn.Sequential(nn.Flatten(), nn.Softmax(-1))(other), nn.Identity()(h)


@model
def copies(model, h, other):
    return copy.deepcopy(model.a)(h), copy.deepcopy(other) * 1


@model
def reparametrised(model, h, other):
    return model.normed(h), model.a(other)


@model
def attention(_model, h, other):
    h, other = h[None], other[None]
    attended = F.scaled_dot_product_attention(h, other, other)
    return attended, F.scaled_dot_product_attention(h, h, h), F.softmax(other, -1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize("name", MODELS)
def test_paths_agree_with_perturbed_inputs(name, mode):
    torch.manual_seed(0)
    modules = {"a": linear(), "b": linear(), "normed": parametrizations.spectral_norm(linear())}
    model = Lambda(MODELS[name], **modules).eval()
    args = (x(), torch.randn(3, 4, generator=torch.Generator().manual_seed(2)))
    graph = trace(model, args, mode=mode)
    assert graph.status.error is None, graph.status.error
    assert graph.status.unseen == ()
    assert graph.status.mode == {"real": "real", "auto": "fake"}[mode]
    changes = depends(model, args)
    assert changes
    assert connected(graph) == changes
