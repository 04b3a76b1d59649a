"""Costs by formula are those that torch counts in the operators that run."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from modeldiagrams.tracer import trace
from modeldiagrams.tracer.recording.dispatch_recorder import DispatchRecorder
from modeldiagrams.tracer.torch_facts import flops
from tracer.flop_counter import counted

attention = functional.scaled_dot_product_attention
PRODUCTS = {
    "linear": (functional.linear, [(3, 4), (5, 4), (5,)]),
    "linear with batches": (functional.linear, [(2, 3, 4), (5, 4)]),
    "linear of a vector": (functional.linear, [(4,), (5, 4)]),
    "linear to a number": (functional.linear, [(3, 4), (4,)]),
    "matmul": (torch.matmul, [(3, 4), (4, 5)]),
    "matmul of vectors": (torch.matmul, [(4,), (4,)]),
    "matrix by vector": (torch.matmul, [(2, 3, 4), (4,)]),
    "vector by matrix": (torch.matmul, [(4,), (2, 4, 5)]),
    "matmul of different batches": (torch.matmul, [(2, 1, 3, 4), (6, 4, 5)]),
    "matmul of nothing": (torch.matmul, [(3, 0), (0, 5)]),
    "@": (lambda a, b: a @ b, [(3, 4), (4, 5)]),
    "mm": (torch.mm, [(3, 4), (4, 5)]),
    "bmm": (torch.Tensor.bmm, [(2, 3, 4), (2, 4, 5)]),
    "mv": (torch.mv, [(3, 4), (4,)]),
    "dot": (torch.dot, [(4,), (4,)]),
    "addmm": (torch.addmm, [(5,), (3, 4), (4, 5)]),
    "baddbmm": (torch.baddbmm, [(2, 3, 5), (2, 3, 4), (2, 4, 5)]),
}
CONVOLUTIONS = {
    "conv1d": (functional.conv1d, [(2, 3, 10), (5, 3, 3)]),
    "conv2d of one picture": (functional.conv2d, [(3, 8, 8), (5, 3, 3, 3)]),
    "conv2d in groups": (lambda x, w: functional.conv2d(x, w, stride=2, groups=2), [(2, 4, 9, 9), (6, 2, 3, 3)]),
    "conv2d, same size": (lambda x, w: functional.conv2d(x, w, padding="same"), [(2, 3, 8, 8), (5, 3, 5, 5)]),
    "conv3d": (functional.conv3d, [(1, 3, 4, 4, 4), (5, 3, 3, 3, 3)]),
    "transposed conv1d": (functional.conv_transpose1d, [(2, 4, 8), (4, 6, 3)]),
    "transposed conv2d": (lambda x, w: functional.conv_transpose2d(x, w, stride=2), [(4, 8, 8), (4, 6, 2, 2)]),
    "transposed conv3d": (functional.conv_transpose3d, [(1, 4, 3, 3, 3), (4, 6, 2, 2, 2)]),
}
ATTENTION = {
    "attention": (attention, [(2, 4, 6, 8), (2, 4, 9, 8), (2, 4, 9, 5)]),
    "attention with a mask": (attention, [(2, 4, 6, 8), (2, 4, 9, 8), (2, 4, 9, 8), (6, 9)]),
    "attention with shared heads": (
        lambda q, k, v: attention(q, k, v, enable_gqa=True),
        [(2, 4, 6, 8), (2, 2, 9, 8), (2, 2, 9, 8)],
    ),
    "attention of a query without batches": (attention, [(8, 5, 4), (2, 8, 6, 4), (2, 8, 6, 4)]),
    "attention to several values": (attention, [(1, 8, 5, 4), (1, 8, 6, 4), (3, 8, 6, 4)]),
    "attention of one query with a batch": (attention, [(1, 4, 6, 8), (2, 4, 9, 8), (2, 4, 9, 8)]),
}


def heads(*, need_weights=True, **options):
    """Multi-head attention of width 8 with its projections, as `nn.MultiheadAttention` calls it."""
    module = nn.MultiheadAttention(8, 2, **options)
    return lambda query, *memory: module(query, *(memory or [query, query]), need_weights=need_weights)[0]


HEADS = {
    "heads that attend to their input": (heads(), [(5, 3, 8)]),
    "heads without weights": (heads(need_weights=False, batch_first=True), [(3, 5, 8)]),
    "heads without batches": (heads(), [(5, 8)]),
    "heads that attend to another sequence": (heads(kdim=6, vdim=4), [(5, 3, 8), (7, 3, 6), (7, 3, 4)]),
    "heads with more keys": (heads(add_bias_kv=True, add_zero_attn=True), [(5, 3, 8)]),
}
FREE = {
    "layer_norm": (lambda h: functional.layer_norm(h, (4,)), [(3, 4)]),
    "batch_norm": (lambda h: functional.batch_norm(h, None, None, training=True), [(3, 4)]),
    "softmax": (lambda h: functional.softmax(h, dim=-1), [(3, 4)]),
    "views": (lambda h: h.reshape(2, 6).flatten()[1:], [(3, 4)]),
    "arithmetic": (lambda h: (h + 1).relu() * h, [(3, 4)]),
}
BY_FORMULA = {**PRODUCTS, **CONVOLUTIONS, **ATTENTION, **HEADS, **FREE}


def tensors(shapes):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def assert_as_counted(function, args, mode="real"):
    graph = trace(function, args, mode=mode)
    assert graph.status.state == "complete"
    assert (graph.model.flops or 0) == counted(function, *args)


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("what", BY_FORMULA)
def test_formula_gives_what_torch_counts(what, mode):
    function, shapes = BY_FORMULA[what]
    assert_as_counted(function, tensors(shapes), mode)


@pytest.mark.parametrize("what", BY_FORMULA)
def test_no_operator_is_looked_at_where_there_is_a_formula(what, monkeypatch):
    function, shapes = BY_FORMULA[what]
    seen, dispatch = [], DispatchRecorder.__torch_dispatch__

    def watched(self, operator, *args):
        seen.append(str(operator))
        return dispatch(self, operator, *args)

    monkeypatch.setattr(DispatchRecorder, "__torch_dispatch__", watched)
    trace(function, tensors(shapes), mode="real")
    assert seen == []


def test_keys_that_a_caller_has_projected_are_counted():
    attend = nn.MultiheadAttention(8, 2)
    known, (query,) = torch.randn(6, 9, 4), tensors([(5, 3, 8)])
    projections = (attend.in_proj_weight, attend.in_proj_bias, None, None, False, 0.0, attend.out_proj.weight, None)

    def forward(h):
        return functional.multi_head_attention_forward(h, h, h, 8, 2, *projections, static_k=known, static_v=known)[0]

    assert_as_counted(forward, (query,))


def test_functions_without_a_formula_are_counted_between_others():
    def forward(a, b):
        return functional.relu(torch.einsum("ij,kj->ik", torch.linalg.multi_dot([a, b.T, b]), b) @ b)

    assert_as_counted(forward, tensors([(3, 4), (5, 4)]))


def test_tensors_by_name_are_counted():
    def forward(a, b, c):
        return functional.linear(input=a, weight=b) + torch.addmm(c, a, mat2=b.T)

    assert_as_counted(forward, tensors([(3, 4), (5, 4), (5,)]))


def test_complex_convolutions_count_as_real_however_they_are_called():
    """PyTorch computes them as three."""
    a, w = torch.randn(1, 3, 8, 8, dtype=torch.complex64), torch.randn(5, 3, 3, 3, dtype=torch.complex64)
    calls = [functional.conv2d, lambda a, w: functional.conv2d(input=a, weight=w, bias=None)]
    assert [trace(call, (a, w), mode="real").model.flops for call in calls] == [2 * 5 * 36 * 27] * 2


class Squared(torch.Tensor):
    """Its `relu` is something else."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.relu:
            with torch._C.DisableTorchFunctionSubclass():
                plain = args[0].as_subclass(torch.Tensor)
                return plain @ plain
        return super().__torch_function__(func, types, args, kwargs or {})


def test_free_functions_of_other_classes_are_counted():
    assert_as_counted(lambda a: torch.relu(a.as_subclass(Squared)), tensors([(4, 4)]))
    assert trace(lambda a: torch.relu(a.as_subclass(Squared)), tensors([(4, 4)])).model.flops == 128


def test_vmap_is_counted_with_its_batch():
    a, b = tensors([(7, 3, 4), (5, 4)])
    assert_as_counted(lambda a, b: torch.vmap(lambda row: functional.linear(row, b))(a), (a, b))
    assert trace(lambda a, b: torch.vmap(lambda row: functional.linear(row, b))(a), (a, b)).model.flops == 7 * 120


@pytest.mark.filterwarnings("ignore")  # of torch, when it is first used
def test_derivatives_on_the_way_forward_are_counted():
    def forward(a, b):
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(torch.mm(forward_ad.make_dual(a, torch.ones_like(a)), b)).tangent

    assert_as_counted(forward, tensors([(3, 4), (4, 5)]))


def test_products_added_in_place_are_counted():
    assert_as_counted(lambda c, a, b: torch.zeros_like(c).addmm_(a, b), tensors([(3, 5), (3, 4), (4, 5)]))


def test_a_mode_of_the_model_still_sees_every_operator():
    seen = []

    class Watcher(TorchDispatchMode):
        def __torch_dispatch__(self, operator, _types, args=(), kwargs=None):
            seen.append(str(operator))
            return operator(*args, **(kwargs or {}))

    def forward(a, b):
        with Watcher():
            return torch.mm(a, b)

    assert trace(forward, tensors([(3, 4), (4, 5)]), mode="real").model.flops == 120
    assert seen == ["aten.mm.default"]


def test_raising_function_leaves_the_counter_in_place():
    def forward(a, b):
        with pytest.raises(RuntimeError):
            torch.mm(a, a)
        return torch.einsum("ij,kj->ik", a, b)

    assert trace(forward, tensors([(3, 4), (5, 4)]), mode="real").model.flops == 120


def test_failing_formula_does_not_fail_the_trace(monkeypatch):
    monkeypatch.setattr(flops.CallFormula, "given", lambda *_: ())
    graph = trace(functional.linear, tensors([(3, 4), (5, 4)]), mode="real")
    assert (graph.status.state, graph.model.flops) == ("complete", None)
