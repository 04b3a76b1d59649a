"""Traces restore weights, buffers, gradients and inputs, however they are written."""

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from modeldiagrams.tracer import trace
from modeldiagrams.tracer.restore.tensor_snapshot import TensorSnapshot
from tracer.traced_graph import DoubleInPlace, Lambda, TracedGraph, linear, x

WRITES = {
    "other memory": lambda a: setattr(a.weight, "data", torch.ones(4, 4)),
    "other dtype": lambda a: a.double(),
    "other device": lambda a: a.to("meta"),
    "through data": lambda a: a.weight.data.mul_(2),
    "new parameter": lambda a: setattr(a, "weight", nn.Parameter(torch.ones(4, 4))),
    "no parameter": lambda a: delattr(a, "weight"),
    "training": lambda a: a.train(False),
    "optimiser": lambda a: [a(x()).sum().backward(), torch.optim.Adam(a.parameters()).step()],
}


def state(model):
    held = [*model.named_parameters(), *model.named_buffers()]
    return (
        [(name, id(t), t._version, t.dtype, t.grad, t.data_ptr()) for name, t in held],
        [t.tolist() for _, t in held],
        [module.training for module in model.modules()],
    )


@pytest.mark.parametrize("mode", ["real", "fake", "auto"])
@pytest.mark.parametrize("what", WRITES)
def test_trace_restores_weights(what, mode):
    def forward(self, given):
        out = self.a(given)
        WRITES[what](self.a)
        return out

    model = Lambda(forward, a=linear())
    before = state(model)
    trace(model, (x(),), mode=mode)
    assert state(model) == before


def test_trace_restores_all_parameters_that_share_memory():
    flat = torch.arange(8.0)
    model = Lambda(lambda self, given: self.a.data.add_(1).sum() * given)
    model.a, model.b = nn.Parameter(flat[:4]), nn.Parameter(flat[4:])
    trace(model, (x(),), mode="real")
    assert flat.tolist() == list(range(8))


GRADS = {
    "backward": lambda _, h: h.sum().backward(),
    "function of autograd": lambda _, h: torch.autograd.backward([h.sum()]),
    "some": lambda a, h: h.sum().backward(inputs=[a.weight]),
    "in place": lambda a, _: a.weight.grad.zero_(),
    "all in place": lambda a, _: a.zero_grad(set_to_none=False),
    "none": lambda a, _: a.zero_grad(),
    "clipped": lambda a, _: nn.utils.clip_grad_norm_(a.parameters(), 0.01),
    "through data": lambda a, _: a.weight.grad.data.mul_(2),
    "other memory": lambda a, _: setattr(a.weight.grad, "data", torch.zeros(4, 4)),
}


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("what", GRADS)
def test_trace_restores_gradients(what, costs, mode):
    model = Lambda(lambda self, h: [out := self.a(h), GRADS[what](self.a, out)][0], a=linear())
    model.a(x()).sum().backward()
    grads = [model.a.weight.grad, model.a.bias.grad]
    before = [(grad.tolist(), grad._version, grad.data_ptr()) for grad in grads]
    trace(model, (x(),), mode=mode, costs=costs)
    assert model.a.weight.grad is grads[0]
    assert model.a.bias.grad is grads[1]
    assert [(grad.tolist(), grad._version, grad.data_ptr()) for grad in grads] == before


def test_trace_restores_gradients_of_inputs():
    given = x().requires_grad_()
    trace(lambda h: h.sin().sum().backward(), (given,), mode="real")
    assert given.grad is None


SILENT = {
    "embedding": lambda a, _: nn.functional.embedding(torch.tensor([1]), a.weight, max_norm=0.1),
    "bag": lambda a, _: nn.functional.embedding_bag(torch.tensor([[1]]), a.weight, max_norm=0.1),
    "initialised": lambda a, _: nn.init.kaiming_uniform_(a.weight),
    "array": lambda a, _: a.weight.detach().numpy().fill(7),
    "array without asking": lambda a, _: np.asarray(a.weight.detach()).fill(7),
    "fused": lambda a, _: torch._fused_sgd_(
        [a.bias.detach()],
        [torch.ones(4)],
        [a.weight.detach()[0]],
        weight_decay=0.0,
        momentum=0.5,
        lr=0.1,
        dampening=0.0,
        nesterov=False,
        maximize=False,
        is_first_step=False,
    ),
}


@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("what", SILENT)
def test_trace_restores_weights_that_functions_write_silently(what, costs):
    written = []

    def forward(self, h):
        before = state(self.a)
        SILENT[what](self.a, h)
        written.append(state(self.a)[1] != before[1])
        return self.a(h)

    model = Lambda(forward, a=linear())
    before = state(model.a)
    trace(model, (x(),), mode="real", costs=costs)
    assert written == [True]
    assert state(model.a)[1] == before[1]


class DoublesWeight(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, given, weight):
        weight.data.mul_(2)
        return given @ weight

    @staticmethod
    def backward(_ctx, grad):
        return grad, None


class ScriptedDoubles(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, given):
        with torch.no_grad():
            self.weight.mul_(2)
        return given.mul_(2) * self.weight


def scripted(given: torch.Tensor) -> torch.Tensor:
    return given.mul_(2)


@pytest.mark.filterwarnings("ignore")  # scripting is deprecated
@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize(
    "way", ["autograd function", "autograd function on a weight", "script function", "script module", "vmap"]
)
def test_trace_restores_what_compiled_code_writes(way, mode):
    model = Lambda(None, a=linear(), s=torch.jit.script(ScriptedDoubles()))
    function = torch.jit.script(scripted)
    ways = {
        "autograd function": lambda _, h: DoubleInPlace.apply(h),
        "autograd function on a weight": lambda self, h: DoublesWeight.apply(h, self.a.weight),
        "script function": lambda _, h: function(h),
        "script module": lambda self, h: self.s(h),
        "vmap": lambda _, h: torch.vmap(lambda row: row.mul_(2))(h),
    }
    model._function = [ways[way]]
    given = x()
    graph = trace(model, (given,), mode=mode)
    assert graph.status.error is None
    assert torch.equal(given, x())
    assert torch.equal(model.s.weight, torch.ones(4))
    before = model.a.weight.detach().clone()
    trace(model, (given,), mode=mode)
    assert torch.equal(model.a.weight, before)


def test_fake_tensors_refuse_dlpack():
    """Another library would write to memory that they don't have, which ends the process."""
    graph = trace(Lambda(lambda self, h: torch.from_dlpack(self.a(h).detach()).mul_(2), a=linear()), (x(),))
    assert (graph.status.state, graph.status.mode) == ("complete", "real")
    assert TracedGraph(graph).flows("linear", "mul")


def test_trace_restores_inputs_and_shows_no_op_for_it():
    given = x()
    before = given.clone()
    graph = trace(lambda h: h.mul_(2).sin(), (given,), mode="real")
    assert torch.equal(given, before)
    assert [node.id for node in graph.nodes] == ["input:h", "/mul_", "/sin", "output:output"]


class Refusing(torch.Tensor):
    """Refuses every function of torch."""

    @classmethod
    def __torch_function__(cls, *_args, **_kwargs):
        raise TypeError


def test_snapshot_bypasses_tensor_subclasses():
    tensors = [torch.randn(4).as_subclass(Refusing), torch.nn.Parameter(torch.randn(4)).as_subclass(Refusing)]
    snapshot = TensorSnapshot(tensors)
    with torch._C.DisableTorchFunctionSubclass():
        before = [tensor.tolist() for tensor in tensors]
        snapshot.before_write(tensors[0])
        tensors[0].add_(1)
    snapshot.restore()
    with torch._C.DisableTorchFunctionSubclass():
        assert [tensor.tolist() for tensor in tensors] == before


def test_modes_around_a_trace_do_not_disturb_restoring():
    model = nn.Sequential(linear(), nn.BatchNorm1d(4))
    before = model[1].running_mean.clone()
    with FakeTensorMode(allow_non_fake_inputs=True):
        trace(model, (torch.ones(3, 4),), mode="real")
    assert torch.equal(model[1].running_mean, before)


def test_big_buffers_are_copied_only_when_something_writes_to_them():
    written, other = torch.zeros(100_000), torch.zeros(100_000)
    snapshot = TensorSnapshot([written, other])
    assert not snapshot._copies
    snapshot.before_write(written)
    assert [*snapshot._copies] == [id(written)]


@pytest.mark.parametrize("mode", ["auto", "real"])
def test_a_backward_pass_that_waits_still_runs(mode):
    """Batch normalization writes into buffers that its backward pass has saved."""
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).train()
    picture = torch.ones(2, 3, 8, 8)
    out = model(picture)
    trace(model, (picture,), mode=mode)
    out.sum().backward()
    assert model[0].weight.grad is not None


def test_buffers_that_pytorch_cannot_copy_are_left_alone(recwarn, caplog):
    model = linear()
    for name in ("low", "high"):
        model.register_buffer(name, torch.zeros(2, dtype=torch.uint8).view(torch.uint4))
    trace(model, (x(),), mode="real")
    assert ([str(one.message) for one in recwarn], caplog.messages) == ([], [])
