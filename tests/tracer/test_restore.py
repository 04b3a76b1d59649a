"""What a trace leaves as it was, also where the model raises; the contract is in `modeldiagrams.tracer.restore`.

Long because it is a list of cases, each with a small model of its own.
"""

import contextlib
import os
import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from modeldiagrams.ir.graph import OpNode
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.torch_facts.private_api import MODES, default_device
from tracer.traced_graph import Lambda, linear, x


class ChangesEverything(nn.Module):
    """Changes everything that a trace restores, then perhaps raises."""

    def __init__(self):
        super().__init__()
        self.linear = linear()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.seen = []
        self.raises = False

    def forward(self, given):
        self.calls += 1
        self.seen.append(given)
        self.count = len(self.seen)
        self.linear.register_forward_hook(lambda *_: None)
        with torch.no_grad():
            self.linear.weight.mul_(2)
            self.linear.bias[0] = 7
        h = self.norm(self.linear(given)) + torch.rand(4) + random.random() + np.random.rand()  # noqa: NPY002, S311
        h.sum().backward()
        self.eval()
        if self.raises:
            raise ValueError("enough")
        return h


def snapshot(model):
    return {
        "state": {name: value.clone() for name, value in model.state_dict().items()},
        "grads": [parameter.grad for parameter in model.parameters()],
        "versions": [tensor._version for tensor in (*model.parameters(), *model.buffers())],
        "training": [module.training for module in model.modules()],
        "hooks": [len(module._forward_hooks) for module in model.modules()],
        "attributes": [sorted(vars(module)) for module in model.modules()],
        "seen": list(model.seen),
        "random": (torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()),  # noqa: NPY002
    }


def same(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("raises", [False, True])
def test_trace_restores_model_and_random_state(mode, raises):
    model = ChangesEverything()
    model.raises = raises
    before = snapshot(model)
    graph = trace(model, (x(),), mode=mode)
    after = snapshot(model)
    assert [key for key in before if not same(before[key], after[key])] == []
    assert (graph.status.error is not None) == raises


@pytest.fixture
def cuda(monkeypatch):
    """Stands for `torch.cuda` on a machine with two GPUs."""
    cuda = SimpleNamespace(state=[torch.tensor([1, 2]), torch.tensor([3])], calls=[])

    def read():
        cuda.calls.append("read")
        return [state.clone() for state in cuda.state]

    def write(states):
        cuda.calls.append("write")
        cuda.state = list(states)

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", read)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", write)
    return cuda


@pytest.mark.parametrize("mode", ["real", "fake", "meta"])
@pytest.mark.parametrize("raises", [False, True])
def test_trace_restores_random_state_of_gpus(mode, raises, cuda):
    def draws(self, h):
        cuda.calls.append("draw")
        cuda.state[0] += 7
        cuda.state[1] = torch.tensor([4])
        if raises:
            raise ValueError("enough")
        return self.a(h)

    model = Lambda(draws, a=linear())
    graph = trace(model.to("meta") if mode == "meta" else model, (x(),), mode=mode)
    assert (graph.status.error is not None) == raises
    assert cuda.calls[0] == "read"
    assert cuda.calls[-2:] == ["draw", "write"]
    assert [state.tolist() for state in cuda.state] == [[1, 2], [3]]


def test_trace_does_not_start_cuda(monkeypatch):
    def fails(*_):
        raise AssertionError("this would start CUDA")

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    for name in ("get_rng_state_all", "set_rng_state_all"):
        monkeypatch.setattr(torch.cuda, name, fails)
    trace(linear(), (x(),), mode="real")


def patched_by_traces():
    function = torch.autograd.Function
    base = torch.autograd.function._SingleLevelFunction
    return [
        nn.Module.__dict__["__call__"],
        nn.Module._call_impl,
        nn.Linear.__dict__["forward"],
        function.__dict__["apply"],
        base.__dict__.get("apply"),
        torch._C.ScriptFunction.__call__,
        torch.Tensor.__init__,
        torch.nn.parameter.UninitializedTensorMixin.materialize,
        torch.from_numpy,
        torch.frombuffer,
        torch.from_dlpack,
        torch.overrides._get_current_function_mode_stack(),
        torch.utils._python_dispatch._get_current_dispatch_mode_stack(),
    ]


@pytest.mark.parametrize("mode", ["real", "fake", "auto"])
@pytest.mark.parametrize("model", [linear(), Lambda(lambda *_: 1 / 0, a=linear())])
def test_trace_undoes_its_own_patches_of_torch(mode, model):
    before = patched_by_traces()
    trace(model, (x(),), mode=mode)
    assert patched_by_traces() == before


@pytest.mark.parametrize("mode", ["real", "auto"])
def test_trace_keeps_lazy_modules_lazy_and_shows_their_weights(mode):
    model = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(), nn.Unflatten(1, (3, 1)), nn.LazyConv1d(2, 1)).eval()
    graph = trace(model, (x(),), mode=mode)
    assert graph.status.mode == {"real": "real", "auto": "fake"}[mode]
    assert [type(module) for module in model[:2]] == [nn.LazyLinear, nn.LazyBatchNorm1d]
    assert model[0].has_uninitialized_params()
    assert graph.parameters["0.weight"].shape == (3, 4)
    assert graph.model.parameters.total == 3 * 4 + 3 + 2 * 3 + 2 * 3 + 2
    ops = {node.id: sorted(node.weights) for node in graph.nodes if isinstance(node, OpNode)}
    assert ops == {
        "0/linear": ["bias", "weight"],
        "1/batch_norm": ["bias", "running_mean", "running_var", "weight"],
        "2/unflatten": [],
        "3/conv1d": ["bias", "weight"],
    }
    assert model(x()).shape == (3, 2, 1)


class Growing(nn.modules.lazy.LazyModuleMixin, nn.Module):
    """Makes a parameter and a buffer when it is given its shape."""

    def __init__(self):
        super().__init__()
        self.weight = nn.UninitializedParameter()
        self.bias = None

    def initialize_parameters(self, h):
        if self.has_uninitialized_params():
            self.weight.materialize(h.shape[-1:])
            del self.bias
            self.bias = nn.Parameter(torch.zeros(h.shape[-1]))
            self.register_buffer("mean", torch.zeros(h.shape[-1]))

    def forward(self, h):
        return h * self.weight + self.bias - self.mean


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_trace_shows_weights_that_a_lazy_module_creates_with_its_shape(mode):
    model = nn.Sequential(Growing())
    graph = trace(model, (x(),), mode=mode)
    assert graph.status.unseen == ()
    assert {name: (spec.shape, spec.kind) for name, spec in graph.parameters.items()} == {
        "0.weight": ((4,), "parameter"),
        "0.bias": ((4,), "parameter"),
        "0.mean": ((4,), "buffer"),
    }
    assert graph.model.parameters.total == 8
    weights = {node.id: node.weights for node in graph.nodes if isinstance(node, OpNode)}
    assert weights == {"0/mul": {"other": "0.weight"}, "0/add": {"other": "0.bias"}, "0/sub": {"other": "0.mean"}}
    assert model[0].bias is None
    assert not hasattr(model[0], "mean")


def test_traced_values_equal_those_of_a_plain_forward():
    model = nn.Sequential(linear(), nn.BatchNorm1d(4), nn.Dropout(), nn.ReLU())
    given = x()
    torch.manual_seed(3)
    expected = model(given)
    model[1].reset_running_stats()
    kept = []
    handle = model.register_forward_hook(lambda _module, _given, output: kept.append(output.detach().clone()))
    torch.manual_seed(3)
    trace(model, (given,), mode="real")
    handle.remove()
    assert torch.equal(kept[0], expected)


AROUND = {
    "nothing": contextlib.nullcontext,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
}


@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("around", AROUND)
def test_traced_values_equal_those_of_a_plain_forward_in_training(around, costs):
    kept = []

    def forward(self, h):
        h, _ = self.lstm(self.drop(self.norm(self.a(h)))[None])
        out = nn.functional.rrelu(h, training=True) * random.random() + torch.rand(4)  # noqa: S311
        kept.append((out.detach().clone(), out.requires_grad, out.is_inference()))
        return out

    layers = {"norm": nn.BatchNorm1d(4, momentum=None), "lstm": nn.LSTM(4, 4, 2, dropout=0.5)}
    model = Lambda(forward, a=torch.nn.utils.parametrizations.weight_norm(linear()), drop=nn.Dropout(), **layers)
    with AROUND[around]():
        trace(model, (x(),), mode="real", costs=costs)
        model(x())
    (traced, *traced_flags), (plain, *plain_flags) = kept
    assert traced.dtype == plain.dtype
    assert torch.equal(traced, plain)
    assert traced_flags == plain_flags


def test_keyboard_interrupt_passes_through():
    def interrupted(*_):
        raise KeyboardInterrupt

    before = patched_by_traces()
    with pytest.raises(KeyboardInterrupt):
        trace(Lambda(interrupted, a=linear()), (x(),))
    assert patched_by_traces() == before


class Abandoned(BaseException):
    """Not an `Exception`, so ``except Exception`` does not catch it."""


@pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, Abandoned])
@pytest.mark.parametrize("mode", ["real", "fake"])
def test_any_exception_in_the_forward_becomes_the_error_of_the_graph(kind, mode):
    def leaves(self, h):
        self.a(h)
        raise kind("enough")

    before = patched_by_traces()
    graph = trace(Lambda(leaves, a=linear()), (x(),), mode=mode)
    assert graph.status.state == "partial"
    assert (graph.status.error.type, graph.status.error.message) == (kind.__name__, "enough")
    assert [node.id for node in graph.nodes] == ["input:args[0]", "a", "a/linear"]
    assert patched_by_traces() == before


@pytest.mark.parametrize("kind", [SystemExit, Abandoned])
def test_any_exception_in_an_op_ends_the_graph_at_the_op(kind):
    class Raises(torch.autograd.Function):
        @staticmethod
        def forward(_ctx, _given):
            raise kind

    graph = trace(Lambda(lambda self, h: Raises.apply(self.a(h)), a=linear()), (x(),), mode="real")
    assert graph.status.error.node == "/Raises"
    assert graph.nodes[-1].id == "/Raises"


@pytest.fixture(scope="module")
def doubles():
    """A custom op that writes its argument, without an underscore in its name."""

    @torch.library.custom_op("mdtests::doubles", mutates_args=("given",))
    def doubles(given: torch.Tensor) -> None:
        given.mul_(2)

    return torch.ops.mdtests.doubles


@pytest.mark.parametrize("way", ["custom op", "inplace"])
def test_trace_restores_weights_written_by_functions_without_a_trailing_underscore(way, doubles):
    def forward(self, h):
        with torch.no_grad():
            if way == "inplace":
                torch.nn.functional.relu(self.a.weight, inplace=True)
            else:
                doubles(self.a.weight)
        return self.a(h)

    model = Lambda(forward, a=linear())
    before = model.a.weight.detach().clone()
    graph = trace(model, (x(),), mode="real")
    assert graph.status.error is None
    assert torch.equal(model.a.weight, before)


SETTINGS = {
    "dtype": (torch.get_default_dtype, torch.set_default_dtype, torch.float64),
    "environment": (lambda: os.environ.get("FORWARD"), lambda value: os.environ.update(FORWARD=value), "set"),
    "class": (lambda: ChangesEverything.__doc__, lambda value: setattr(ChangesEverything, "__doc__", value), "new"),
}


@pytest.mark.parametrize("what", SETTINGS)
def test_other_changes_stay_as_after_a_plain_call(what, monkeypatch):
    read, write, value = SETTINGS[what]
    monkeypatch.delenv("FORWARD", raising=False)
    before = read()
    try:
        trace(lambda h: [h * 2, write(value)][0], (x(),), mode="real")
        assert read() == value
    finally:
        if before is None:
            del os.environ["FORWARD"]
        else:
            write(before)


class FunctionMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class DispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


OPENED = {
    "default device": lambda: torch.set_default_device("meta"),
    "device as a context": lambda: torch.device("meta").__enter__(),
    "function mode": lambda: FunctionMode().__enter__(),
    "dispatch mode": lambda: DispatchMode().__enter__(),
}


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("mode", ["real", "fake", "meta"])
@pytest.mark.parametrize("what", OPENED)
def test_trace_leaves_modes_that_the_forward_left_open(what, mode, raises):
    def forward(self, given):
        OPENED[what]()
        out = self.a(given)
        return 1 / 0 if raises else out

    def stacks():
        return [default_device(), *(entered() for _, entered in MODES)]

    model = Lambda(forward, a=linear())
    model = model.to("meta") if mode == "meta" else model
    before = stacks()
    graph = trace(model, (x(),), mode=mode)
    assert stacks() == before
    assert (graph.status.error is not None) == raises
    assert torch.ones(2).sum() == 2


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("enter", [torch.inference_mode, torch.no_grad, lambda: torch.autocast("cpu", torch.bfloat16)])
def test_trace_leaves_gradient_modes_and_autocast_that_the_forward_left_open(enter, mode):
    def forward(self, given):
        self.entered = enter()  # freed with inference mode's guard inside when the attribute goes
        self.entered.__enter__()
        return self.a(given)

    def modes():
        return torch.is_inference_mode_enabled(), torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")

    before = modes()
    graph = trace(Lambda(forward, a=linear()), (x(),), mode=mode)
    assert graph.status.error is None
    assert modes() == before
    assert torch.ones(2).sum() == 2


@pytest.mark.parametrize("inner", ["real", "fake"])
@pytest.mark.parametrize("outer", ["real", "fake", "auto"])
def test_forward_can_trace_another_model(outer, inner):
    graphs = []

    def forward(self, given):
        graphs.append(trace(self.b, (x(),), mode=inner))
        return self.a(given)

    before = patched_by_traces()
    graph = trace(Lambda(forward, a=linear(), b=linear()), (x(),), mode=outer)
    assert graph.status.error is None
    assert graph.status.unseen == ()
    assert [node.id for node in graphs[-1].nodes][-2:] == ["/linear", "output:output"]
    assert patched_by_traces() == before
