"""A trace leaves no mark, also one that raised."""

import contextlib
import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from modeldiagrams.graph import OpNode
from modeldiagrams.tracer import trace
from tracer.seen import Applies, linear, x


class Marks(nn.Module):
    """Changes everything a forward can change, then perhaps raises."""

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
        self.linear.weight.requires_grad_(False)
        self.eval()
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        torch.set_autocast_enabled("cpu", True)
        if self.raises:
            raise ValueError("enough")
        return h


def snapshot(model):
    return {
        "state": {name: value.clone() for name, value in model.state_dict().items()},
        "grads": [parameter.grad for parameter in model.parameters()],
        "trainable": [parameter.requires_grad for parameter in model.parameters()],
        "versions": [tensor._version for tensor in (*model.parameters(), *model.buffers())],
        "training": [module.training for module in model.modules()],
        "hooks": [len(module._forward_hooks) for module in model.modules()],
        "attributes": [sorted(vars(module)) for module in model.modules()],
        "seen": list(model.seen),
        "random": (torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()),  # noqa: NPY002
        "settings": (torch.is_grad_enabled(), torch.get_default_dtype(), torch.is_autocast_enabled("cpu")),
    }


def same(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("raises", [False, True])
def test_model_and_settings_are_as_before(mode, raises):
    model = Marks()
    model.raises = raises
    before = snapshot(model)
    graph = trace(model, (x(),), mode=mode)
    after = snapshot(model)
    assert [key for key in before if not same(before[key], after[key])] == []
    assert (graph.status.error is not None) == raises


@pytest.fixture
def cuda(monkeypatch):
    """What torch.cuda does where there is a GPU: the state of its generators, and what was asked of it."""
    cuda = SimpleNamespace(state=[torch.tensor([1, 2]), torch.tensor([3])], asked=[])

    def read():
        cuda.asked.append("read")
        return [state.clone() for state in cuda.state]

    def write(states):
        cuda.asked.append("write")
        cuda.state = list(states)

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", read)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", write)
    return cuda


@pytest.mark.parametrize("mode", ["real", "fake", "meta"])
@pytest.mark.parametrize("raises", [False, True])
def test_random_state_of_gpus_is_read_before_and_put_back_after(mode, raises, cuda):
    def draws(self, h):
        cuda.asked.append("draw")
        cuda.state[0] += 7
        cuda.state[1] = torch.tensor([4])
        if raises:
            raise ValueError("enough")
        return self.a(h)

    model = Applies(draws, a=linear())
    graph = trace(model.to("meta") if mode == "meta" else model, (x(),), mode=mode)
    assert (graph.status.error is not None) == raises
    assert cuda.asked[0] == "read"
    assert cuda.asked[-2:] == ["draw", "write"]
    assert [state.tolist() for state in cuda.state] == [[1, 2], [3]]


def test_gpus_that_nobody_uses_stay_unused(monkeypatch):
    def fails(*_):
        raise AssertionError("this would start CUDA")

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    for name in ("get_rng_state_all", "set_rng_state_all"):
        monkeypatch.setattr(torch.cuda, name, fails)
    trace(linear(), (x(),), mode="real")


def interceptable():
    function = torch.autograd.Function
    base = torch.autograd.function._SingleLevelFunction
    return [
        nn.Module.__dict__["__call__"],
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
@pytest.mark.parametrize("model", [linear(), Applies(lambda *_: 1 / 0, a=linear())])
def test_torch_is_as_before(mode, model):
    before = interceptable()
    trace(model, (x(),), mode=mode)
    assert interceptable() == before


@pytest.mark.parametrize("mode", ["real", "auto"])
def test_lazy_modules_stay_lazy_and_show_what_they_become(mode):
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
def test_lazy_module_shows_weights_that_it_makes_with_its_shape(mode):
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


def test_values_equal_the_plain_forward():
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
def test_values_equal_the_plain_forward_in_training_whatever_is_around(around, costs):
    kept = []

    def forward(self, h):
        h, _ = self.lstm(self.drop(self.norm(self.a(h)))[None])
        out = nn.functional.rrelu(h, training=True) * random.random() + torch.rand(4)  # noqa: S311
        kept.append((out.detach().clone(), out.requires_grad, out.is_inference()))
        return out

    layers = {"norm": nn.BatchNorm1d(4, momentum=None), "lstm": nn.LSTM(4, 4, 2, dropout=0.5)}
    model = Applies(forward, a=torch.nn.utils.parametrizations.weight_norm(linear()), drop=nn.Dropout(), **layers)
    with AROUND[around]():
        trace(model, (x(),), mode="real", costs=costs)
        model(x())
    (traced, *traced_flags), (plain, *plain_flags) = kept
    assert traced.dtype == plain.dtype
    assert torch.equal(traced, plain)
    assert traced_flags == plain_flags


def test_keyboard_interrupt_is_not_swallowed():
    def interrupted(*_):
        raise KeyboardInterrupt

    before = interceptable()
    with pytest.raises(KeyboardInterrupt):
        trace(Applies(interrupted, a=linear()), (x(),))
    assert interceptable() == before


class Abandoned(BaseException):
    """Not an `Exception`: passes by what catches those."""


@pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, Abandoned])
@pytest.mark.parametrize("mode", ["real", "fake"])
def test_whatever_is_raised_in_the_forward_is_the_models_failure(kind, mode):
    def leaves(self, h):
        self.a(h)
        raise kind("enough")

    before = interceptable()
    graph = trace(Applies(leaves, a=linear()), (x(),), mode=mode)
    assert graph.status.state == "partial"
    assert (graph.status.error.type, graph.status.error.message) == (kind.__name__, "enough")
    assert [node.id for node in graph.nodes] == ["input:args[0]", "a", "a/linear"]
    assert interceptable() == before


@pytest.mark.parametrize("kind", [SystemExit, Abandoned])
def test_whatever_an_op_raises_ends_the_graph_at_the_op(kind):
    class Raises(torch.autograd.Function):
        @staticmethod
        def forward(_ctx, _given):
            raise kind

    graph = trace(Applies(lambda self, h: Raises.apply(self.a(h)), a=linear()), (x(),), mode="real")
    assert graph.status.error.node == "/Raises"
    assert graph.nodes[-1].id == "/Raises"


@pytest.fixture(scope="module")
def doubles():
    """A custom op that writes its argument and does not look it."""

    @torch.library.custom_op("mdtests::doubles", mutates_args=("given",))
    def doubles(given: torch.Tensor) -> None:
        given.mul_(2)

    return torch.ops.mdtests.doubles


@pytest.mark.parametrize("way", ["custom op", "inplace"])
def test_weights_written_without_saying_so_by_name_are_as_before(way, doubles):
    def forward(self, h):
        with torch.no_grad():
            if way == "inplace":
                torch.nn.functional.relu(self.a.weight, inplace=True)
            else:
                doubles(self.a.weight)
        return self.a(h)

    model = Applies(forward, a=linear())
    before = model.a.weight.detach().clone()
    graph = trace(model, (x(),), mode="real")
    assert graph.status.error is None
    assert torch.equal(model.a.weight, before)
