"""Traps in functions: autograd functions, custom and scripted ops, transforms, compiled code.

Long because it is a list of cases, each with a small model of its own.
"""

import functools

import pytest
import torch
from torch import nn
from torch._higher_order_ops import while_loop
from torch.nn import functional
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.functional import gelu as gelu_taken_before_the_trace
from torch.utils.checkpoint import checkpoint

from modeldiagrams.ir.graph import OpNode
from modeldiagrams.ir.serialize import deserialize, serialize
from modeldiagrams.tracer import trace
from tracer.traced_graph import DoubleInPlace, Lambda, checked, linear, names, x


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, given):
        ctx.save_for_backward(given)
        return given * given * given

    @staticmethod
    def backward(ctx, grad):
        return 3 * ctx.saved_tensors[0] ** 2 * grad


class Power(torch.autograd.Function):
    """Its context is made apart, and an argument has a default."""

    generate_vmap_rule = True

    @staticmethod
    def forward(given, exponent=2):
        return given**exponent

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0], None


class SquareInNumpy(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, given):
        return torch.from_numpy(given.detach().numpy() ** 2)

    @staticmethod
    def backward(_ctx, grad):
        return grad


class Reversible(torch.autograd.Function):
    """Runs a module, and computes more with what that returns."""

    @staticmethod
    def forward(_ctx, given, module):
        inner = module(given)
        return given + (inner if inner.sum().item() else 0)

    @staticmethod
    def backward(_ctx, grad):
        return grad, None


class HandsOn(Reversible):
    @staticmethod
    def forward(_ctx, given, module):
        inner = module(given)
        return inner if inner.sum().item() else given


@pytest.fixture(scope="module")
def custom_ops():
    """Ops of a library of one's own: ``mdtests::square`` and the writing ``mdtests::increment``."""

    @torch.library.custom_op("mdtests::square", mutates_args=())
    def square(given: torch.Tensor) -> torch.Tensor:
        return given * given

    @torch.library.custom_op("mdtests::increment", mutates_args=("given",))
    def increment(given: torch.Tensor) -> None:
        given.add_(1)

    square.register_fake(torch.empty_like)
    return torch.ops.mdtests


def between(function):
    """linear → function → linear"""
    return Lambda(lambda self, given: self.b(function(self.a(given))), a=linear(), b=linear())


AUTOGRAD_FUNCTIONS = pytest.mark.parametrize("function", [Cube, DoubleInPlace, Power, SquareInNumpy])


@AUTOGRAD_FUNCTIONS
def test_autograd_function_is_one_op(function):
    is_one_op(function, between(lambda h: function.apply(h)))  # noqa: PLW0108 - looked up in the forward


class Seen(torch.overrides.TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append((func, tuple(types)))
        return func(*args, **(kwargs or {}))


def test_mode_of_the_model_sees_functions_first():
    mode = Seen()

    def forward(h):
        with mode:
            return functional.relu(h)

    found = checked(between(forward), x(), mode="real")
    assert set(mode.calls) == {(functional.relu, (torch.Tensor,))}
    assert found.edges("linear", "relu")
    assert found.edges("relu", "linear")


@AUTOGRAD_FUNCTIONS
def test_autograd_function_bound_before_trace_is_one_op(function):
    is_one_op(function, between(function.apply))


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_ops_of_an_autograd_function_that_runs_a_module_are_recorded(mode):
    found = checked(Lambda(lambda self, h: Reversible.apply(h.sin(), self.a).cos(), a=linear()), x(), mode=mode)
    assert [op.id for op in found.of(OpNode)] == ["/sin", "a/linear", "/sum", "/item", "/add", "/cos"]
    assert found.edges("sin", "add")
    assert found.edges("linear", "add")
    assert found.edges("add", "cos")
    assert not found.edges("linear", "cos")
    assert [guess.node for guess in found.graph.status.guesses] == ["/item"] * (mode == "fake")


def test_guess_in_autograd_function_that_only_runs_a_module_belongs_to_the_op_that_asks():
    found = checked(Lambda(lambda self, h: HandsOn.apply(h, self.a).cos(), a=linear()), x(), mode="fake")
    assert [op.id for op in found.of(OpNode)] == ["a/linear", "/sum", "/item", "/cos"]
    assert [guess.node for guess in found.graph.status.guesses] == ["/item"]


def is_one_op(function, model):
    found = checked(model, x())
    assert names(found.of(OpNode)) == ["torch.nn.functional.linear", function.__name__, "torch.nn.functional.linear"]
    (op,) = found.ops[function.__name__]
    assert op.opaque
    assert op.source
    assert found.edges("linear", function.__name__)
    assert found.edges(function.__name__, "linear")
    assert {edge.argument for edge in found.edges("linear", function.__name__)} == {"given"}
    assert not found.edges("linear", "linear")


def test_overridable_function_without_name_is_one_op():
    plus = functools.partial(lambda given: given + 1)
    found = checked(between(lambda h: torch.overrides.handle_torch_function(plus, (h,), h)), x())
    assert found.flows("linear", "linear")


@AUTOGRAD_FUNCTIONS
def test_autograd_function_bound_before_trace_keeps_its_gradient(function):
    gradients, given = [], x().requires_grad_()
    model = Lambda(
        lambda self, h: gradients.append(torch.autograd.grad(self.m(h).sum(), h)[0]), m=between(function.apply)
    )
    model(given)
    trace(model, (given,), {}, mode="real")
    assert torch.equal(*gradients)


def test_custom_op_has_its_own_name(custom_ops):
    found = checked(between(custom_ops.square), x())
    assert names(found.ops["square"]) == ["mdtests::square"]


def test_custom_op_that_writes_in_place_reaches_later_readers(custom_ops):
    def increment(h):
        custom_ops.increment(h)
        return h

    found = checked(between(increment), x())
    assert found.edges("linear", "increment")
    assert found.edges("increment", "linear")
    assert not found.edges("linear", "linear")


@pytest.mark.parametrize("op", [torch.ops.aten.mul.Tensor, torch.ops.aten.mul])
def test_aten_overload_and_packet(op):
    found = checked(Lambda(lambda self, given: op(self.a(given), given), a=linear()), x())
    assert names(found.ops["mul"]) == ["aten::mul"]
    assert found.edges("linear", "mul")[0].argument == "self"


def traced(module):
    return torch.jit.trace(module, x())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("convert", [torch.jit.script, traced])
def test_scripted_submodule_is_one_opaque_op(convert):
    model = Lambda(
        lambda self, h: self.b(self.s(self.a(h))), a=linear(), b=linear(), s=convert(nn.Sequential(linear(), nn.ReLU()))
    )
    found = checked(model, x())
    (op,) = found.ops["Sequential"]
    assert op.opaque
    assert found.graph.hierarchy[op.id] == "s"
    assert found.edges("linear", "Sequential")
    assert found.edges("Sequential", "linear")


@pytest.mark.filterwarnings("ignore")
def test_module_that_forward_traces_with_jit_has_numbers_for_sizes():
    model = Lambda(
        lambda self, h: torch.jit.trace(self.s, h, check_trace=False)(h), s=nn.Sequential(linear(), nn.ReLU())
    )
    graph = trace(model, (x(),))
    assert deserialize(serialize(graph)) == graph
    (call,) = [node for node in graph.nodes if node.id == "s.0"]
    plain = trace(Lambda(lambda self, h: self.s(h), s=model.s), (x(),))
    (expected,) = [node for node in plain.nodes if node.id == "s.0"]
    assert (call.flops, call.activation_bytes) == (expected.flops, expected.activation_bytes)


@pytest.mark.filterwarnings("ignore")
def test_scripted_model_is_one_opaque_op():
    found = checked(torch.jit.script(nn.Sequential(linear(), nn.ReLU())), x())
    assert [op.opaque for op in found.of(OpNode)] == [True]


@pytest.mark.filterwarnings("ignore")
def test_script_function_is_one_opaque_op():
    def twice_relu(given: torch.Tensor) -> torch.Tensor:
        return torch.relu(given) * 2

    found = checked(between(torch.jit.script(twice_relu)), x())
    assert found.ops["twice_relu"][0].opaque
    assert found.flows("linear", "linear")


@pytest.mark.filterwarnings("ignore")
def test_jit_fork():
    checked(Lambda(lambda self, h: torch.jit.wait(torch.jit.fork(torch.sin, self.a(h))), a=linear()), x())


def test_compiled_submodule_runs_eager():
    compiled = torch.compile(nn.Sequential(linear(), nn.ReLU()), backend="eager")
    found = checked(Lambda(lambda self, h: self.a(self.c(h)), a=linear(), c=compiled), x())
    assert found.edges("relu", "linear")


def test_module_compiled_in_place_runs_eager_with_its_hooks_inside():
    inner = nn.Sequential(linear(), nn.ReLU())
    inner.compile(backend="eager")
    inner.register_forward_hook(lambda _module, _given, result: torch.sin(result))
    compiled = inner._compiled_call_impl
    found = checked(Lambda(lambda self, h: self.a(self.c(h)), a=linear(), c=inner), x())
    assert [op.id for op in found.ops["sin"]] == ["c/sin"]
    assert found.edges("sin", "linear")
    assert inner._compiled_call_impl is compiled


def test_module_call_bound_before_trace_has_its_hooks_inside():
    inner = linear()
    inner.register_forward_hook(lambda _module, _given, result: torch.sin(result))
    call = inner.__call__
    found = checked(Lambda(lambda self, h: self.a(call(h)), a=linear(), c=inner), x())
    assert [op.id for op in found.ops["sin"]] == ["c/sin"]


def test_compiled_function_runs_eager():
    found = checked(between(torch.compile(lambda h: torch.relu(h) * 2, backend="eager")), x())
    assert found.edges("relu", "mul")


def test_compiled_model_is_unwrapped():
    found = checked(torch.compile(nn.Sequential(linear(), nn.ReLU()), backend="eager"), x())
    assert [call.id for call in found.calls] == ["0", "1"]


def test_function_imported_before_trace_is_recorded():
    assert checked(between(gelu_taken_before_the_trace), x()).edges("linear", "gelu")


def test_function_stored_in_dict_is_recorded():
    table = {"gelu": functional.gelu}
    assert checked(between(table["gelu"]), x()).edges("gelu", "linear")


def test_vmap():
    found = checked(between(torch.vmap(lambda row: row * row.sum())), x())
    assert found.flows("linear", "linear")
    assert found.edges("sum", "mul")


def test_func_grad():
    found = checked(between(torch.func.grad(lambda h: (h**2).sum())), x())
    assert found.flows("linear", "linear")


@pytest.mark.filterwarnings("ignore")
def test_func_jvp():
    found = checked(between(lambda h: torch.func.jvp(torch.sin, (h,), (torch.ones(3, 4),))[1]), x())
    assert found.flows("linear", "linear")


def test_functional_call_with_computed_weights():
    def forward(self, given):
        doubled = {name: weight * 2 for name, weight in self.a.named_parameters()}
        return torch.func.functional_call(self.a, doubled, (given,))

    found = checked(Lambda(forward, a=linear()), x())
    assert {edge.argument for edge in found.edges("mul", "linear")} == {"weight", "bias"}


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint_shows_ops_inside(use_reentrant):
    def forward(self, given):
        return self.b(checkpoint(self.block, self.a(given), use_reentrant=use_reentrant))

    found = checked(Lambda(forward, a=linear(), b=linear(), block=nn.Sequential(linear(), nn.Tanh())), x())
    assert found.edges("linear", "tanh")
    assert found.edges("tanh", "linear")


def test_autocast():
    def forward(self, given):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.b(torch.relu(self.a(given)))

    found = checked(Lambda(forward, a=linear(), b=linear()), x())
    assert found.edges("linear", "relu")
    assert found.graph.tensors["/relu:0"].dtype == "bfloat16"


def test_einsum():
    found = checked(Lambda(lambda self, h: torch.einsum("ij,kj->ik", self.a(h), h), a=linear()), x())
    assert found.ops["einsum"][0].arguments == {"equation": "ij,kj->ik"}


def test_fx_graph_module():
    found = checked(torch.fx.symbolic_trace(nn.Sequential(linear(), nn.ReLU())), x())
    assert found.edges("linear", "relu")


@pytest.mark.filterwarnings("ignore")
def test_cond():
    def forward(self, given):
        return torch.cond(given.sum() > 0, torch.sin, torch.cos, (self.a(given),))

    checked(Lambda(forward, a=linear()), x())


def test_while_loop_with_closure_tensor_has_edge():
    def forward(self, h):
        factor = self.a(h)
        return while_loop(lambda i, _: i < 3, lambda i, state: (i + 1, state * factor), (torch.tensor(0), h.sin()))[1]

    found = checked(Lambda(forward, a=linear()), x())
    assert [edge.argument for edge in found.edges("linear", "while_loop")] == ["1.factor"]


@pytest.mark.filterwarnings("ignore")
def test_flex_attention():
    checked(Lambda(lambda _self, q: flex_attention(q, q, q)), torch.randn(1, 2, 16, 16))


def test_attention_has_its_public_name():
    found = checked(Lambda(lambda _self, q: functional.scaled_dot_product_attention(q, q, q)), torch.randn(1, 2, 4, 8))
    (op,) = found.of(OpNode)
    assert op.name == "torch.nn.functional.scaled_dot_product_attention"
    edges = found.graph.adjacency["input:args[0]"]
    assert [edge.argument for edge in edges] == ["query", "key", "value"]


def test_tensor_properties_are_ops():
    found = checked(Lambda(lambda self, h: (self.a(h).T @ h.mT.T).T, a=linear()), x())
    assert names(found.ops["T"]) == ["torch.Tensor.T"] * 3
    assert names(found.ops["mT"]) == ["torch.Tensor.mT"]
