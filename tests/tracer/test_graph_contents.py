"""Contents of a graph besides its edges: attributes, arguments, sources, counts, costs, signatures.

Long because it is a list of cases, each with a small model of its own.
"""

import http

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import ModuleNode, OpNode, ParameterNode
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.tracer import trace, trace_run
from modeldiagrams.tracer.graph.extra_repr import parse_extra_repr
from modeldiagrams.tracer.torch_facts.functions import to_plain_data
from tracer.traced_graph import Lambda, TracedGraph, checked, linear, x


class Block(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.inner = nn.Linear(width, 8)
        self.outer = nn.Linear(8, width)
        self.scale = nn.Parameter(torch.ones(width), requires_grad=False)

    def forward(self, given):
        return given + self.scale * self.outer(functional.gelu(self.inner(given)))


class Stack(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(n)])
        self.last = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, given):
        for block in self.blocks:
            given = block(given)
        return self.last(given)


@pytest.fixture(scope="module")
def stack():
    return checked(Stack(), x())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in_features=768, bias=True", {"in_features": 768, "bias": True}),
        ("3, 64, kernel_size=(7, 7), mode='a,b'", {"0": 3, "1": 64, "kernel_size": [7, 7], "mode": "a,b"}),
        ("(4,), eps=1e-05", {"0": [4], "eps": 1e-05}),
        ("kernel=torch.Size([32, 32]), torch.Size([])", {"kernel": [32, 32], "0": []}),
        ("size=7x7\nact=GELU()", {"size": "7x7", "act": "GELU()"}),
        ("unclosed=(1, 2", {"unclosed": "(1, 2"}),
        ("", {}),
    ],
)
def test_extra_repr_is_parsed(text, expected):
    assert parse_extra_repr(text) == expected


def test_endless_extra_repr_is_read_to_a_limit():
    layer = nn.Linear(4, 4)
    layer.extra_repr = lambda: "a=1, " * 100_000 + "last=2"
    assert trace(layer, (torch.ones(1, 4),)).model.attributes == {"a": 1}


@pytest.mark.parametrize("extra_repr", [lambda: 3, lambda: None, lambda: b"size=3", lambda: 1 / 0])
def test_extra_repr_that_is_no_text_says_nothing(extra_repr):
    layer = nn.Linear(4, 4)
    layer.extra_repr = extra_repr
    assert trace(layer, (torch.ones(1, 4),)).model.attributes == {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("inf"), "inf"),
        (torch.float16, "float16"),
        (torch.device("cpu"), "cpu"),
        (slice(None, 3), ":3:"),
        (..., "..."),
        ("a" * 300, "a" * 200 + "…"),
        (list(range(50)), [*range(32), "…"]),
        (2**70, str(2**70)),
        ({1: (2, None)}, {"1": [2, None]}),
        (object(), "<object>"),
        (functional.relu, "relu"),
        (torch.ones(2), "tensor"),
        (np.float64(0.5), 0.5),
        (np.float32("nan"), "nan"),
        (np.int64(3), 3),
        (http.HTTPMethod.GET, "GET"),
        (http.HTTPStatus.OK, 200),
    ],
)
def test_arguments_are_plain_data(value, expected):
    given = to_plain_data(value)
    assert given == expected
    assert type(given) is type(expected)


def test_source_is_the_line_of_user_code(stack):
    file, line = stack.nodes["blocks.0/gelu"].source.split(":")
    assert file.endswith("test_graph_contents.py")
    assert not file.startswith("/")
    assert int(line) == Block.forward.__code__.co_firstlineno + 1
    assert stack.nodes["blocks.0.inner/linear"].source == stack.nodes["blocks.0/gelu"].source


def test_trace_lists_source_files_of_the_user():
    sources = trace_run(Stack(), (x(),), None, "real").sources
    assert __file__ in sources
    assert not any("site-packages" in file or "/modeldiagrams/" in file for file in sources if "/tests/" not in file)


def test_parameter_counts_own_total_and_trainable(stack):
    block = stack.nodes["blocks.0"].parameters
    assert (block.own, block.total, block.trainable) == (4, 4 + 4 * 8 + 8 + 8 * 4 + 4, 4 * 8 + 8 + 8 * 4 + 4)
    assert stack.graph.model.parameters.total == 3 * block.total + 4 * 4 + 4
    assert not stack.graph.parameters["blocks.0.scale"].trainable


def test_bare_parameter_is_a_node_before_its_user(stack):
    order = list(stack.nodes)
    assert stack.graph.hierarchy["parameter:blocks.1.scale"] == "blocks.1"
    assert order.index("blocks.1") < order.index("parameter:blocks.1.scale") < order.index("blocks.1/mul")
    assert len(stack.of(ParameterNode)) == 3


def test_parameter_used_in_two_modules_is_a_node_around_both():
    class Shares(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Lambda(lambda _s, h, w: h * w), Lambda(lambda _s, h, w: h + w)
            self.weight = nn.Parameter(torch.ones(4))

        def forward(self, h):
            return self.second(self.first(h, self.weight), self.weight)

    found = checked(Shares(), x())
    assert found.graph.hierarchy["parameter:weight"] is None
    assert list(found.nodes)[1] == "parameter:weight"
    assert found.nodes["first"].inputs["args[1]"] == "parameter:weight:0"


def test_module_inputs_and_outputs_by_name(stack):
    assert stack.nodes["blocks.1"].inputs == {"given": "blocks.0/add:0"}
    assert stack.nodes["blocks.1"].outputs == {"output": "blocks.1/add:0"}


def test_equal_blocks_have_equal_signatures(stack):
    marks = {call.id: call.signature for call in stack.of(ModuleNode)}
    assert marks["blocks.0"] == marks["blocks.1"] == marks["blocks.2"]
    assert marks["blocks.0.inner"] != marks["blocks.0.outer"]


def test_signature_does_not_depend_on_names_or_neighbours():
    one = trace(Stack(1), (x(),), mode="real")
    three = trace(Stack(3), (x(),), mode="real")
    assert TracedGraph(one).nodes["blocks.0"].signature == TracedGraph(three).nodes["blocks.2"].signature
    assert one.model.signature != three.model.signature


def flops(model, *args, op):
    return TracedGraph(trace(model, args, mode="real")).ops[op][0].flops


def test_flops_of_matrix_products_only():
    image = torch.randn(1, 3, 8, 8)
    assert flops(linear(), x(), op="linear") == 2 * 3 * 4 * 4
    assert flops(nn.Conv2d(3, 5, 3, padding=1), image, op="conv2d") == 2 * 5 * 8 * 8 * 3 * 9
    assert flops(
        lambda q: functional.scaled_dot_product_attention(q, q, q),
        torch.randn(1, 2, 6, 4),
        op="scaled_dot_product_attention",
    ) == (2 * 2 * (2 * 6 * 6 * 4))
    assert flops(torch.mv, torch.ones(3, 4), torch.ones(4), op="mv") == 2 * 3 * 4
    assert flops(torch.relu, x(), op="relu") is None


@pytest.mark.parametrize("grad", [True, False])
def test_flops_of_a_recurrent_net_do_not_depend_on_the_kernel(grad):
    with torch.set_grad_enabled(grad):
        assert flops(nn.LSTM(4, 8, 2), torch.randn(5, 3, 4), op="lstm") == 2 * 15 * (4 * 8 * 4 + 3 * 8 * 8 * 4)


@pytest.mark.parametrize(("kind", "gates"), [(nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1)])
@pytest.mark.parametrize("context", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_flops_of_packed_sequences(kind, gates, context):
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 3, 4), torch.tensor([5, 3, 2]))
    with context():
        graph = trace(kind(4, 8), (packed,), mode="real")
    assert graph.model.flops == 2 * (5 + 3 + 2) * gates * 8 * (4 + 8)


FLOPS = {
    "addbmm": (torch.addbmm, [(3, 5), (2, 3, 4), (2, 4, 5)], 2 * 2 * 3 * 4 * 5),
    "baddbmm": (torch.baddbmm, [(2, 3, 5), (2, 3, 4), (2, 4, 5)], 2 * 2 * 3 * 4 * 5),
    "addmv": (torch.addmv, [(3,), (3, 4), (4,)], 2 * 3 * 4),
    "dot": (torch.dot, [(4,), (4,)], 2 * 4),
    "einsum": (lambda a, b: torch.einsum("bqd,bkd->bqk", a, b), [(2, 5, 4), (2, 7, 4)], 2 * 2 * 5 * 7 * 4),
    "sparse by dense": (lambda a, b: torch.sparse.mm(a.to_sparse(), b), [(3, 4), (4, 5)], 2 * 3 * 4 * 5),
    "conv1d": (functional.conv1d, [(2, 3, 10), (5, 3, 3)], 2 * 2 * 5 * 8 * 3 * 3),
    "grouped conv2d": (
        lambda x, w: functional.conv2d(x, w, groups=2),
        [(2, 4, 8, 8), (6, 2, 3, 3)],
        2 * 2 * 6 * 6 * 6 * 2 * 9,
    ),
    "conv3d": (functional.conv3d, [(1, 3, 4, 4, 4), (5, 3, 3, 3, 3)], 2 * 5 * 8 * 3 * 27),
    "transposed conv2d": (
        lambda x, w: functional.conv_transpose2d(x, w, stride=2),
        [(2, 4, 8, 8), (4, 6, 2, 2)],
        2 * 2 * 4 * 8 * 8 * 6 * 4,
    ),
    "attention with few keys": (
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        [(1, 4, 6, 8), (1, 2, 9, 8), (1, 2, 9, 4)],
        2 * 4 * 6 * 9 * (8 + 4),
    ),
    "causal attention": (
        lambda q: functional.scaled_dot_product_attention(q, q, q, is_causal=True),
        [(1, 2, 6, 8)],
        2 * 2 * 6 * 6 * (8 + 8),
    ),
}


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("what", FLOPS)
def test_flops_are_those_of_the_documented_formulas(what, mode):
    function, shapes, expected = FLOPS[what]
    assert trace(function, [torch.randn(shape) for shape in shapes], mode=mode).model.flops == expected


def test_flops_of_grouped_matrices():
    offsets = torch.tensor([2, 6], dtype=torch.int32)
    a, b = torch.randn(6, 8).bfloat16(), torch.randn(2, 8, 16).bfloat16()
    assert flops(lambda a, b: torch._grouped_mm(a, b, offs=offsets), a, b, op="grouped_mm") == 2 * 6 * 8 * 16


def test_costs_are_summed_over_modules(stack):
    assert stack.nodes["blocks.0"].flops == 2 * 2 * 3 * 4 * 8
    assert stack.graph.model.flops == 3 * 2 * 2 * 3 * 4 * 8 + 2 * 3 * 4 * 4
    assert stack.nodes["blocks.0.inner"].activation_bytes == 3 * 8 * 4


def test_views_have_no_activation_bytes():
    found = checked(lambda h: torch.sin(h).view(-1).relu_(), x())
    assert [op.activation_bytes for op in found.of(OpNode)] == [48, 0, 0]


@pytest.mark.filterwarnings("ignore:.*jit")
def test_flops_inside_a_scripted_module_are_counted():
    model = Lambda(lambda self, h: self.s(h), s=torch.jit.script(linear()))
    assert flops(model, x(), op="Linear") == 2 * 3 * 4 * 4


def test_edges_have_argument_names(stack):
    edges = {edge.to: edge.argument for edge in stack.graph.adjacency["blocks.0/gelu"]}
    assert edges == {"blocks.0.outer/linear": "input"}
    assert stack.nodes["last.0/linear"].weights == {"weight": "last.0.weight", "bias": "last.0.bias"}


def test_sizes_passed_separately_are_one_argument():
    found = checked(lambda h: h.view(2, 6).permute(1, 0).expand(6, -1).sum(0, keepdim=True).repeat(2, 1), x())
    arguments = {op.name.rpartition(".")[2]: op.arguments for op in found.of(OpNode)}
    assert arguments["view"] == {"size": [2, 6]}
    assert arguments["permute"] == {"dims": [1, 0]}
    assert arguments["expand"] == {"size": [6, -1]}
    assert arguments["sum"] == {"dim": 0, "keepdim": True}


def test_items_of_list_arguments_have_indices():
    found = checked(lambda h: torch.cat([h, torch.sin(h)], 1), x())
    assert [edge.argument for edge in found.edges("sin", "cat")] == ["tensors[1]"]
    assert found.ops["cat"][0].arguments == {"dim": 1}


class Weighs(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, given, factor):
        return given * factor

    @staticmethod
    def backward(_ctx, grad):
        return grad, None


NAMED = {
    "2 - h": (lambda h: 2 - h, ["self"], {"other": 2}),
    "h / h": (lambda h: h / h, ["other", "self"], {}),
    "2**h": (lambda h: 2**h, ["self"], {"other": 2}),
    "h == 0": (lambda h: h == 0, ["self"], {"other": 0}),
    "~(h)": (lambda h: ~h.bool(), ["self"], {}),
    "h[0, 1:]": (lambda h: h[0, 1:], ["self"], {"key": [0, "1::"]}),
    "h.int()": (lambda h: h.int(), ["self"], {}),
    "einsum": (lambda h: torch.einsum("ij,kj->ik", h, h), ["tensors[0]", "tensors[1]"], {"equation": "ij,kj->ik"}),
    "meshgrid": (lambda h: torch.meshgrid(h[0], h[1], indexing="ij"), ["tensors[0]", "tensors[1]"], {"indexing": "ij"}),
    "softmax": (lambda h: functional.softmax(h, -1), ["input"], {"dim": -1, "dtype": None}),
    "adaptive pool": (
        lambda h: functional.adaptive_max_pool1d(h[None], 2),
        ["input"],
        {"output_size": 2, "return_indices": False},
    ),
    "unique": (torch.unique, ["input"], {"sorted": True, "return_inverse": False, "return_counts": False, "dim": None}),
    "autograd function": (lambda h: Weighs.apply(h, 2), ["given"], {"factor": 2}),
}


@pytest.mark.parametrize("what", NAMED)
def test_arguments_have_the_names_of_the_signature(what):
    function, tensors, plain_ones = NAMED[what]
    graph = trace(function, (x(),), mode="real")
    op = [node for node in graph.nodes if isinstance(node, OpNode)][-1]
    assert sorted(e.argument for edges in graph.adjacency.values() for e in edges if e.to == op.id) == tensors
    assert op.arguments == plain_ones


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda h: torch.sparse.mm(h.to_sparse(), h.T), "torch.sparse.mm"),
        (lambda h: torch.sparse.sampled_addmm(h.to_sparse_csr(), h, torch.ones(4, 4)), "torch.sparse.sampled_addmm"),
        (torch.functional.norm, "torch.norm"),
        (lambda h: torch.nested.as_nested_tensor([h, h[:1]]), "torch.nested.as_nested_tensor"),
        (
            lambda h: torch.nested.to_padded_tensor(torch.nested.as_nested_tensor([h, h[:1]]), 0.0),
            "torch.nested.to_padded_tensor",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse", "ignore:The PyTorch API of nested tensors")
def test_functions_have_their_public_names(function, name):
    assert checked(function, x()).of(OpNode)[-1].name == name


def test_weight_that_is_only_returned_is_a_node_before_the_outputs():
    graph = trace(Lambda(lambda self, h: [self.a(h), self.a.weight], a=linear()), (x(),), mode="real")
    check_graph(graph)
    assert [node.id for node in graph.nodes[2:]] == ["a/linear", "parameter:a.weight", "output:[0]", "output:[1]"]
    assert graph.hierarchy["parameter:a.weight"] is None
    assert graph.model.outputs["[1]"] == "parameter:a.weight:0"


class MuteError(Exception):
    def __str__(self):
        raise ValueError


def test_error_whose_text_raises_is_known_by_its_class():
    def fails(*_):
        raise MuteError

    error = trace(Lambda(fails), (x(),), mode="real").status.error
    assert (error.type, error.message) == ("MuteError", "")


def test_failing_module_is_named_when_no_op_failed():
    def fails(*_):
        raise ValueError("not today")

    model = nn.Sequential(linear(), Lambda(fails))
    error = trace(model, (x(),), mode="real").status.error
    assert (error.node, error.message) == ("1", "not today")
    assert error.frames[-1].function.endswith("fails")


def test_function_with_two_names_has_the_usual_one():
    assert [op.name for op in checked(lambda h: torch.mm(h, h.T), x()).ops["mm"]] == ["torch.mm"]


def test_buffers_that_state_dicts_leave_out_are_not_persistent():
    model = nn.ModuleDict({"norm": nn.BatchNorm1d(4), "tables": nn.Identity()})
    model.tables.register_buffer("kept", torch.ones(4))
    model.tables.register_buffer("made", torch.ones(4), persistent=False)
    graph = trace(Lambda(lambda model, given: model.norm(given) + model.tables.made, **model), (x(),))
    saved = {name for name, spec in graph.parameters.items() if spec.persistent}
    assert saved == set(model.state_dict())
    assert set(graph.parameters) - saved == {"tables.made"}


def test_what_is_saved_is_no_part_of_the_digest():
    def digest(persistent):
        model = nn.Identity()
        model.register_buffer("made", torch.ones(4), persistent=persistent)
        return structural_digest(trace(Lambda(lambda model, given: given + model.inner.made, inner=model), (x(),)))

    assert digest(True) == digest(False)
