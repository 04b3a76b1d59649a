"""What forwards do that is not done: each leaves no mark all the same, also where it raises."""

import logging
import os
import sys
import warnings
from collections import deque
from pathlib import Path

import pytest
import torch
import torch._dynamo  # torch imports it with the first operator that a mode sees, and then sets variables
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from modeldiagrams.tracer import trace
from modeldiagrams.tracer.internals import MODES, default_device
from modeldiagrams.tracer.private_settings import PRIVATE_SETTINGS
from modeldiagrams.tracer.settings import modes_left, same_settings
from tracer.seen import Applies, linear, x

DISTRIBUTION = torch.distributions.Distribution


class FunctionMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class DispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def entered(mode):
    """A mode that ends when nobody holds it."""
    mode.__enter__()
    return mode


SETTERS = {
    "default device": lambda: torch.set_default_device("meta"),
    "device of a block": lambda: torch.device("meta").__enter__(),
    "cache of autocast": lambda: torch.set_autocast_cache_enabled(False),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16).__enter__(),
    "no_grad": lambda: torch.no_grad().__enter__(),
    "inference": lambda: entered(torch.inference_mode()),
    "anomalies": lambda: torch.set_anomaly_enabled(True),
    "deterministic": lambda: torch.use_deterministic_algorithms(True, warn_only=True),
    "fast path": lambda: torch.backends.mha.set_fastpath_enabled(False),
    "attention": lambda: torch.backends.cuda.enable_math_sdp(False),
    "hook of all modules": lambda: nn.modules.module.register_module_forward_hook(lambda *_: None),
    "precision": lambda: torch.set_float32_matmul_precision("medium"),
    "TF32": lambda: setattr(torch.backends.cuda.matmul, "allow_tf32", True),
    "TF32 of convolutions": lambda: setattr(torch.backends.cudnn, "allow_tf32", False),
    "half sums": lambda: setattr(torch.backends.cuda.matmul, "allow_fp16_reduced_precision_reduction", False),
    "brain sums": lambda: setattr(torch.backends.cuda.matmul, "allow_bf16_reduced_precision_reduction", False),
    "cudnn": lambda: setattr(torch.backends.cudnn, "enabled", False),
    "benchmark": lambda: setattr(torch.backends.cudnn, "benchmark", True),
    "deterministic cudnn": lambda: setattr(torch.backends.cudnn, "deterministic", True),
    "mkldnn": lambda: torch.backends.mkldnn.set_flags(_enabled=False),
    "threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "printing": lambda: torch.set_printoptions(precision=2, sci_mode=True),
    "warnings of torch": lambda: torch.set_warn_always(True),
    "sparse checks": torch.sparse.check_sparse_tensor_invariants.enable,
    "no saved tensors' hooks": lambda: entered(torch.autograd.graph.disable_saved_tensors_hooks("no")),
    "one thread for gradients": lambda: torch.autograd.set_multithreading_enabled(False),
    "views": lambda: torch._C._set_view_replay_enabled(True),
    "checks of distributions": lambda: DISTRIBUTION.set_default_validate_args(not DISTRIBUTION._validate_args),
    "working directory": lambda: os.chdir(os.sep),
    "environment": lambda: [os.environ.update(HOME="nowhere"), os.environ.pop("PATH")],
    "recursion": lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1000),
    "logging": lambda: [logging.getLogger().setLevel(1), logging.disable(5)],
    "ignored warnings": lambda: warnings.simplefilter("ignore"),
    "function mode": lambda: FunctionMode().__enter__(),
    "dispatch mode": lambda: DispatchMode().__enter__(),
}

if hasattr(torch._C._autograd, "_top_saved_tensors_default_hooks"):  # older versions of torch do not tell
    SETTERS["saved tensors"] = lambda: torch.autograd.graph.saved_tensors_hooks(abs, abs).__enter__()


def settings():
    return (
        default_device(),
        torch.get_default_device(),
        *(torch.is_autocast_cache_enabled(), torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")),
        *(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()),
        torch.get_deterministic_debug_mode(),
        torch.backends.mha.get_fastpath_enabled(),
        torch.backends.cuda.math_sdp_enabled(),
        len(nn.modules.module._global_forward_hooks),
        *(entered() for _, entered in MODES),
        *(read() for read, _ in PRIVATE_SETTINGS),
        (torch.get_float32_matmul_precision(), torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.flags),
        *(torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic),
        *(torch.backends.cudnn.allow_tf32, torch.backends.mkldnn.enabled, torch.get_num_threads()),
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
        *(torch.is_warn_always_enabled(), DISTRIBUTION._validate_args),
        *(Path.cwd(), dict(os.environ), sys.getrecursionlimit(), list(warnings.filters)),
        *(logging.root.level, logging.root.manager.disable),
        str(torch.tensor([1 / 3])),
    )


def test_every_setting_here_shows_when_it_is_left(monkeypatch):
    """The test below would pass as well if `settings` could not see them."""
    monkeypatch.chdir(Path.cwd())
    for what, change in SETTERS.items():
        with same_settings(), modes_left():
            before = settings()
            kept = change()
            assert settings() != before, what
        del kept


def test_precisions_are_as_before_although_the_new_names_forbid_the_old_ones():
    if not hasattr(torch.backends, "fp32_precision"):  # before torch 2.9
        return
    before = settings()
    trace(lambda h: [h, setattr(torch.backends.cuda.matmul, "fp32_precision", "tf32")][0], (x(),), mode="real")
    assert settings() == before


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("mode", ["real", "fake", "meta"])
@pytest.mark.parametrize("what", SETTERS)
def test_what_a_forward_sets_and_leaves_open_is_as_before(what, mode, raises):
    kept = []

    def forward(self, given):
        kept.append(SETTERS[what]())
        out = self.a(given)
        return 1 / 0 if raises else out

    model = Applies(forward, a=linear())
    model = model.to("meta") if mode == "meta" else model
    before = settings()
    graph = trace(model, (x(),), mode=mode)
    assert settings() == before
    assert (graph.status.error is not None) == raises
    assert torch.ones(2).sum() == 2


WRITES = {
    "other memory": lambda a: setattr(a.weight, "data", torch.ones(4, 4)),
    "other dtype": lambda a: a.double(),
    "other device": lambda a: a.to("meta"),
    "through data": lambda a: a.weight.data.mul_(2),
    "new parameter": lambda a: setattr(a, "weight", nn.Parameter(torch.ones(4, 4))),
    "no parameter": lambda a: delattr(a, "weight"),
    "hook of a weight": lambda a: a.weight.register_hook(lambda grad: grad),
    "training": lambda a: a.train(False),
    "optimiser": lambda a: [a(x()).sum().backward(), torch.optim.Adam(a.parameters()).step()],
}


def state(model):
    held = [*model.named_parameters(), *model.named_buffers()]
    return (
        [(name, id(t), t._version, t.dtype, t.grad, t.data_ptr(), len(t._backward_hooks or ())) for name, t in held],
        [t.tolist() for _, t in held],
        [module.training for module in model.modules()],
    )


@pytest.mark.parametrize("mode", ["real", "fake", "auto"])
@pytest.mark.parametrize("what", WRITES)
def test_weights_are_as_before(what, mode):
    def forward(self, given):
        out = self.a(given)
        WRITES[what](self.a)
        return out

    model = Applies(forward, a=linear())
    before = state(model)
    trace(model, (x(),), mode=mode)
    assert state(model) == before


class State:
    """An object of the user's own."""

    def __init__(self):
        self.cache = []


def test_parameters_that_share_their_memory_are_all_as_before():
    flat = torch.arange(8.0)
    model = Applies(lambda self, given: self.a.data.add_(1).sum() * given)
    model.a, model.b = nn.Parameter(flat[:4]), nn.Parameter(flat[4:])
    trace(model, (x(),), mode="real")
    assert flat.tolist() == list(range(8))


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_what_lies_deep_in_a_model_is_as_before(mode):
    model = Applies(None, a=linear())
    model.nested = {"a": [1, {"b": 2}]}
    model.state = State()
    model.last = deque([1], maxlen=2)

    def forward(self, given):
        self.nested["a"][1]["b"] = given
        self.state.cache.append(given)
        self.state.count = 1
        self.last.append(given)
        return self.a(given)

    model._function[0] = forward
    trace(model, (x(),), mode=mode)
    assert model.nested == {"a": [1, {"b": 2}]}
    assert vars(model.state) == {"cache": []}
    assert list(model.last) == [1]


@pytest.mark.parametrize("inner", ["real", "fake"])
@pytest.mark.parametrize("outer", ["real", "fake", "auto"])
def test_a_forward_that_traces_another_model(outer, inner):
    graphs = []

    def forward(self, given):
        graphs.append(trace(self.b, (x(),), mode=inner))
        return self.a(given)

    before = (nn.Module._call_impl, torch.Tensor.__init__, torch.autograd.Function.__dict__["apply"])
    graph = trace(Applies(forward, a=linear(), b=linear()), (x(),), mode=outer)
    assert graph.status.error is None
    assert graph.status.unseen == ()
    assert [node.id for node in graphs[-1].nodes][-2:] == ["/linear", "output:output"]
    assert (nn.Module._call_impl, torch.Tensor.__init__, torch.autograd.Function.__dict__["apply"]) == before


def test_writes_to_an_input_that_are_undone_are_no_ops():
    given = x()
    before = given.clone()
    graph = trace(lambda h: h.mul_(2).sin(), (given,), mode="real")
    assert torch.equal(given, before)
    assert [node.id for node in graph.nodes] == ["input:h", "/mul_", "/sin", "output:output"]


def test_gradients_of_inputs_are_as_before():
    given = x().requires_grad_()
    trace(lambda h: h.sin().sum().backward(), (given,), mode="real")
    assert given.grad is None
