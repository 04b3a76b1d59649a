"""Traps in module calls: direct forwards, recursion, threads, hooks, quantised and recurrent modules.

Long because it is a list of cases, each with a small model of its own.
"""

import collections
import dataclasses
import operator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.parametrizations import weight_norm

from modeldiagrams.ir.graph import ParameterNode
from modeldiagrams.tracer import trace
from tracer.traced_graph import Lambda, checked, linear, names, traced, x


def ids(found):
    return [call.id for call in found.calls]


def test_direct_forward_is_a_module_call():
    found = checked(Lambda(lambda self, h: self.r.forward(self.a.forward(h)), a=linear(), r=nn.ReLU()), x())
    assert ids(found) == ["a", "r"]
    assert found.edges("linear", "relu")


class CallsItself(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = linear()

    def forward(self, given, n=3):
        return given if n == 0 else self(self.linear(given), n - 1)


def test_recursion():
    found = checked(CallsItself(), x())
    assert len(found.ops["linear"]) == 3
    assert ids(found) == ["linear", "#2", "linear#2", "#3", "linear#3", "#4"]
    assert found.graph.hierarchy["linear#3"] == "#3"
    assert found.graph.hierarchy["#3"] == "#2"


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = linear()

    def forward(self, given):
        return self.linear(given)


class Derived(Base):
    def forward(self, given):
        return torch.relu(super().forward(given))


def test_super_forward_is_not_a_second_call():
    found = checked(Lambda(lambda self, h: self.d(h), d=Derived()), x())
    assert ids(found) == ["d", "d.linear"]
    assert found.graph.hierarchy["d/relu"] == "d"


def test_data_parallel():
    found = checked(nn.DataParallel(nn.Sequential(linear(), nn.ReLU())), x())
    assert ids(found) == ["module", "module.0", "module.1"]


def test_identity_is_one_op():
    found = checked(Lambda(lambda self, h: self.i(self.a(h)) + self.a(h), a=linear(), i=nn.Identity()), x())
    assert found.edges("linear", "Identity")
    assert found.edges("Identity", "add")
    assert len(found.edges("linear", "add")) == 1
    assert not found.ops["Identity"][0].opaque


def test_transformer_does_not_take_opaque_fast_path():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    with torch.no_grad():
        found = checked(nn.TransformerEncoder(layer, 2).eval(), torch.randn(2, 5, 8))
    assert len(found.ops["multi_head_attention_forward"]) == 2
    assert found.of(ParameterNode) == []


def test_multihead_attention():
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    found = checked(Lambda(lambda self, h: self.a(h, h, h)[0], a=attention), torch.randn(2, 5, 8))
    assert found.calls[0].inputs == dict.fromkeys(("query", "key", "value"), "input:args[0]:0")


def test_lstm_is_a_leaf_that_owns_its_weights():
    found = checked(nn.Sequential(nn.LSTM(4, 8, 2)), torch.randn(5, 3, 4))
    assert [node.name for node in found.graph.nodes if node.id.startswith("output")] == ["[0]", "[1][0]", "[1][1]"]
    assert set(found.ops["lstm"][0].weights.values()) == set(found.graph.parameters)
    assert found.of(ParameterNode) == []


def test_packed_sequence():
    def forward(self, given):
        packed = nn.utils.rnn.pack_padded_sequence(given, torch.tensor([5, 3, 2]))
        return nn.utils.rnn.pad_packed_sequence(self.r(packed)[0])[0]

    found = checked(Lambda(forward, r=nn.LSTM(4, 8)), torch.randn(5, 3, 4))
    assert found.flows("pack_padded_sequence", "lstm")
    assert found.flows("lstm", "pad_packed_sequence")


def test_modules_on_other_threads():
    def forward(self, given):
        h = self.a(given)
        with ThreadPoolExecutor(2) as pool:
            b, c = pool.map(lambda module: module(h), [self.b, self.c])
        return b + c

    found = traced(Lambda(forward, a=linear(), b=linear(), c=linear()), x())
    assert set(found.nodes) == {
        "input:args[0]",
        "a",
        "a/linear",
        "b",
        "b/linear",
        "c",
        "c/linear",
        "/add",
        "output:output",
    }
    assert len(found.edges("linear", "linear")) == 2


def test_forward_hook_that_replaces_the_output():
    module = linear()
    module.register_forward_hook(lambda _module, _given, output: torch.tanh(output))
    found = checked(Lambda(lambda self, h: self.a(h), a=module), x())
    assert found.edges("linear", "tanh")
    assert found.graph.hierarchy["a/tanh"] == "a"


def _with_pre_hook(module):
    module.register_forward_pre_hook(lambda _module, given: (torch.tanh(given[0]),))


def _with_a_forward_of_its_own(module):
    forward = module.forward
    module.forward = lambda given: forward(torch.tanh(given))


@pytest.mark.parametrize("change", [_with_pre_hook, _with_a_forward_of_its_own])
def test_what_runs_before_a_forward_is_recorded(change):
    """A module call without hooks runs its forward at once; these have more to do."""
    module = linear()
    change(module)
    found = checked(Lambda(lambda self, h: self.a(h), a=module), x())
    assert found.edges("tanh", "linear")
    assert found.graph.hierarchy["a/tanh"] == "a"


def test_global_hooks_run():
    seen = []
    hook = nn.modules.module.register_module_forward_pre_hook(lambda module, _: seen.append(type(module)))
    try:
        trace(Lambda(lambda self, h: self.a(h), a=linear()), (x(),))
    finally:
        hook.remove()
    assert seen == [Lambda, nn.Linear]


def test_parametrization_stays_inside_its_module():
    found = checked(Lambda(lambda self, h: self.a(h), a=weight_norm(linear())), x())
    assert found.flows("weight_norm_interface", "linear") or found.flows("weight_norm", "linear")
    assert {found.graph.hierarchy[call.id] for call in found.calls if call.id != "a"} <= {
        "a",
        "a.parametrizations.weight",
    }


@pytest.mark.filterwarnings("ignore")
def test_dynamic_quantisation():
    model = torch.ao.quantization.quantize_dynamic(nn.Sequential(linear(), nn.ReLU()), {nn.Linear})
    found = checked(model, x())
    assert names(found.ops["linear_dynamic"]) == ["quantized::linear_dynamic"]


class Caches(nn.Module):
    """Appends what it makes to a list of its own."""

    def __init__(self):
        super().__init__()
        self.linear = linear()
        self.cache = []

    def forward(self, given):
        for _ in range(2):
            self.cache.append(self.linear(given))
        return torch.cat(self.cache)


def test_state_in_module_attribute_has_edge():
    model = Caches()
    found = checked(model, x())
    assert len(found.edges("linear", "cat")) == 2
    assert model.cache == []


def test_loop_over_rows():
    found = checked(Lambda(lambda self, h: torch.stack([self.a(row) for row in h]), a=linear()), x())
    assert ids(found) == ["a", "a#2", "a#3"]
    assert [call.call for call in found.calls] == [1, 2, 3]


def test_module_called_twice():
    found = checked(Lambda(lambda self, h: self.a(torch.relu(self.a(h))), a=linear()), x())
    assert ids(found) == ["a", "a#2"]
    assert [op.id for op in found.ops["linear"]] == ["a/linear", "a#2/linear"]


def test_tied_weights_are_named():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(10, 4)
            self.head = nn.Linear(4, 10, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, tokens):
            return self.head(self.embedding(tokens))

    found = checked(Tied(), torch.tensor([[1, 2]]))
    assert found.graph.parameters["head.weight"].tied == ("embedding.weight",)
    assert found.ops["linear"][0].weights == {"weight": "head.weight"}
    assert found.ops["embedding"][0].weights == {"weight": "embedding.weight"}
    assert found.graph.model.parameters.total == 40


def test_weight_used_outside_its_module_is_a_node():
    model = Lambda(lambda self, i: functional.linear(self.e(i), self.e.weight), e=nn.Embedding(10, 4))
    found = checked(model, torch.tensor([[1, 2]]))
    assert names(found.of(ParameterNode)) == ["e.weight"]
    assert [edge.to for edge in found.graph.adjacency["parameter:e.weight"]] == ["/linear"]


def test_meta_model():
    found = checked(nn.Linear(4, 4, device="meta"), torch.empty(3, 4, device="meta"), mode="auto")
    assert found.graph.status.mode == "meta"


def test_module_made_in_the_forward():
    def forward(self, given):
        return nn.Linear(4, 4)(self.a(given))

    found = checked(Lambda(forward, a=linear()), x())
    assert ids(found) == ["a", "Linear"]
    assert "Linear.weight" in found.graph.parameters


def test_modules_made_in_the_forward_get_distinct_paths():
    def forward(self, given):
        first, second = nn.Linear(4, 4), nn.Linear(4, 2)
        return second(first(first(self.a(given))))

    found = checked(Lambda(forward, a=linear()), x())
    assert ids(found) == ["a", "Linear", "Linear#2", "Linear_2"]
    assert [call.call for call in found.calls] == [1, 1, 2, 1]
    assert found.graph.parameters["Linear_2.weight"].shape == (2, 4)
    assert found.nodes["Linear_2/linear"].weights["weight"] == "Linear_2.weight"


def test_modules_made_in_the_forward_do_not_reuse_a_registered_name():
    class Linear_2(nn.Linear):  # noqa: N801
        pass

    def forward(self, given):
        return nn.Linear(4, 2)(nn.Linear(4, 4)(Linear_2(4, 4)(self.Linear(given))))

    found = checked(Lambda(forward, Linear=linear()), x())
    assert ids(found) == ["Linear", "Linear_2", "Linear_3", "Linear_4"]
    assert found.graph.parameters["Linear.weight"].shape == (4, 4)
    assert found.nodes["Linear_4/linear"].weights["weight"] == "Linear_4.weight"
    assert found.graph.parameters["Linear_4.weight"].shape == (2, 4)


@dataclasses.dataclass(frozen=True)
class Held:
    h: torch.Tensor


class Named(NamedTuple):
    h: torch.Tensor


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize(
    ("hold", "get"),
    [
        (lambda h: [h], operator.itemgetter(0)),
        (lambda h: collections.deque([h]), operator.itemgetter(0)),
        (lambda h: collections.OrderedDict(h=h), operator.itemgetter("h")),
        (lambda h: collections.UserDict(h=h), operator.itemgetter("h")),
        (Named, operator.itemgetter(0)),
        (Held, operator.attrgetter("h")),
        (lambda h: [(h,)] * 2, lambda r: r[1][0]),
    ],
)
def test_tensor_returned_unchanged_in_container_comes_from_the_module(hold, get, mode):
    def forward(self, given):
        return get(self.block(given.sin())).cos()

    found = checked(Lambda(forward, block=Lambda(lambda _, h: hold(h))), x(), mode=mode)
    assert found.edges("sin", "Lambda")
    assert found.edges("Lambda", "cos")
    assert not found.edges("sin", "cos")


class Pair(tuple):  # noqa: SLOT001
    def __new__(cls, one, other):
        return super().__new__(cls, (one, other))


def test_returned_user_container_is_not_modified():
    graph = trace(Lambda(lambda self, h: self.block(h)[0] + 1, block=Lambda(lambda _, h: Pair(h, h))), (x(),))
    assert graph.status.error is None


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_returned_container_stays_the_same_object(mode):
    def forward(self, batch):
        layers = [batch["x"].sin()]
        layers.append(layers)
        returned = self.block(layers)
        assert returned is layers
        assert self.block(batch) is batch
        return returned[0] + batch["x"]

    batch = {"x": x()}
    before = batch["x"]
    model = Lambda(forward, block=Lambda(lambda _, h: h))
    graph = trace(model, (batch,), mode=mode)
    assert graph.status.error is None
    assert batch["x"] is before


def test_module_that_contains_itself_is_traced():
    model = Lambda(lambda self, h: self.a(h), a=linear())
    model.a.itself = model.a
    found = checked(model, x())
    assert ids(found) == ["a"]
    assert found.graph.model.parameters.total == 20
