"""What depends on assumed sizes is marked, and nothing else: a pass with values is the oracle."""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from modeldiagrams import structural_digest, summary
from modeldiagrams.ir.bounds import bounds_of
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.remarks import list_limits, list_remarks
from modeldiagrams.ir.serialize import deserialize, serialize
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.graph import assumed_sizes


def numbers(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


class Net(nn.Module):
    def __init__(self, forward):
        super().__init__()
        torch.manual_seed(0)
        self._forward = [forward]
        self.first, self.inner, self.last = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)
        self.gate = nn.Linear(8, 4)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)) for _ in range(4))

    def forward(self, h):
        return self.last(self._forward[0](self, self.first(h)))


def route(self, h):
    weights, chosen = self.gate(h).softmax(-1).topk(2)
    out = torch.zeros_like(h)
    for i, expert in enumerate(self.experts):
        row, slot = torch.where(chosen == i)
        out.index_add_(0, row, expert(h[row]) * weights[row, slot, None])
    return out


def mask(self, h):
    picked = self.inner(h[h.sum(-1) > 0])
    return functional.pad(picked, (0, 0, 0, len(h) - len(picked)))


def summed(self, h):
    picked = h[h.sum(-1) > 0]
    return h @ (picked.T @ self.inner(picked))


def scattered(self, h):
    chosen = (h.sum(-1) > 0).nonzero().squeeze(-1)
    return h.index_copy(0, chosen, self.inner(h.index_select(0, chosen)))


def distinct(self, h):
    values = torch.unique((h * 2).round().flatten())
    return h + self.inner(values[:, None].expand(-1, 8)).sum(0)


def selected(self, h):
    kept = torch.masked_select(h, h > 0)
    return h * torch.outer(kept, kept).sum() + self.inner(h)


def unused(self, h):
    chosen = (h.sum(-1) > 0).nonzero()
    return self.inner(h) + chosen.sum()


def sliced(self, h):
    n = (h.sum(-1) > 0).sum().item()
    return h + self.inner(h[:n]).sum(0)


UPPER = [route, mask, summed, scattered, distinct, selected, unused]


@pytest.mark.parametrize("forward", UPPER)
def test_marked_are_bounds_and_the_rest_is_exact(forward):
    given = numbers(16, 8)
    assumed, real = (trace(Net(forward), (given,), mode=mode) for mode in ("fake", "real"))
    check_graph(assumed)
    assert deserialize(serialize(assumed)) == assumed
    bounds = bounds_of(assumed)
    assert bounds.sign == "≤"
    assert bounds_of(real) == ("≤", "≤", frozenset(), frozenset(), frozenset())
    with FlopCounterMode(display=False) as counter:
        Net(forward)(given)
    assert real.model.flops == counter.get_total_flops()
    assert bounds.tensors
    for key, spec in assumed.tensors.items():
        shape = real.tensors[key].shape
        assert spec.shape == shape or key in bounds.tensors
        assert all(a >= b for a, b in zip(spec.shape, shape, strict=True))
    calls = [node for node in assumed.nodes if isinstance(node, OpNode | ModuleNode)]
    for node, key in [*((node, node.id) for node in calls), (assumed.model, None)]:
        other = real.model if key is None else real.node(key)
        assert (node.flops or 0) >= (other.flops or 0)
        assert node.flops == other.flops or key in bounds.flops, key
        assert node.activation_bytes == other.activation_bytes or key in bounds.memory, key
    assert "gate/linear" not in bounds.flops
    assert "first" not in bounds.flops
    assert "last" not in bounds.flops
    assert (None in bounds.flops) == (forward not in {unused, selected})


@pytest.mark.parametrize("forward", UPPER)
def test_small_models_have_the_numbers_of_a_real_pass(forward):
    graph, real = (trace(Net(forward), (numbers(16, 8),), mode=mode) for mode in ("auto", "real"))
    check_graph(graph)
    bounds = bounds_of(graph)
    assert (bounds.sign, bounds.cost_sign, graph.status.mode) == ("≤", "≈", "fake")
    assert bounds.tensors
    assert graph.model.flops == real.model.flops
    for node in graph.nodes:
        if isinstance(node, OpNode | ModuleNode):
            assert node.flops == real.node(node.id).flops
            assert node.activation_bytes == real.node(node.id).activation_bytes
    others = [trace(Net(forward), (numbers(16, 8) * factor,)) for factor in (1, -1)]
    assert {structural_digest(other) for other in others} == {structural_digest(graph)}
    assert "for this input" in " ".join([*list_limits(graph), *list_remarks(graph)])


def test_picture_with_sizes_that_are_no_bounds_explains_no_other_sign():
    def cut(net, x):
        x = net.inner(x)
        return net.inner(x[: int(x.sum(1).argmax().item()) + 1])

    graph = trace(Net(cut), (numbers(16, 8),))
    assert graph.status.costs_of_input
    assert list_limits(graph)[0] == (
        "“≈” stands before sizes that rest on assumed values, and before costs for this input."
    )


def test_a_row_of_equal_modules_has_their_average():
    graph, real = (trace(Net(route), (numbers(16, 8),), mode=mode) for mode in ("auto", "real"))
    (row,) = [row for row in summary(graph).rows if row["name"] == "experts.0–3"]
    total = sum(real.node(f"experts.{i}").flops for i in range(4))
    assert (row["flops"], row["calls"], row["assumed"]["flops"]) == (total / 4, 4, "≈")


def test_large_models_are_not_run_for_their_sizes(monkeypatch):
    monkeypatch.setattr(assumed_sizes, "_MOST_ELEMENTS", 100)
    assert bounds_of(trace(Net(route), (numbers(16, 8),))).cost_sign == "≤"


def test_table_says_so():
    table = summary(trace(Net(route), (numbers(16, 8),), mode="fake"))
    text = str(table)
    flops = {row["name"]: (row["flops"], row["assumed"].get("flops")) for row in table.rows}
    assert flops["first"][1] is None
    assert flops["experts.0–3"][1] == flops["Net"][1] == "≤"
    assert "FLOPs: ≤ " in text
    assert ", ≤ " in next(line for line in text.splitlines() if line.startswith("Memory"))
    assert "≤ 32×16" in text


def test_table_says_that_another_branch_was_assumed():
    def forward(self, h):
        chosen = self.gate(h).argmax(-1)
        for i, expert in enumerate(self.experts):
            if (chosen == i).any():
                h = h + expert(h)
        return h

    line = next(line for line in str(summary(trace(Net(forward), (numbers(16, 8),)))).splitlines() if "Assumed" in line)
    assert "got False at" in line
    assert "Assumed" not in str(summary(trace(Net(forward), (numbers(16, 8),), mode="real")))


def test_other_assumptions_are_estimates():
    graph = trace(Net(sliced), (numbers(16, 8),))
    bounds = bounds_of(graph)
    assert bounds.sign == "≈"
    assert {"inner", "inner/linear", None} <= bounds.flops
    assert "FLOPs: ≈ " in str(summary(graph))


def test_another_way_through_the_model_marks_what_comes_after():
    def forward(self, h):
        chosen = (h.sum(-1) > 0).nonzero().squeeze(-1)
        picked = self.inner(h[chosen])
        return h + (picked if len(picked) == len(h) else picked.sum(0).sin())

    bounds = bounds_of(trace(Net(forward), (numbers(16, 8),)))
    assert {"inner/linear", "last/linear", None} <= bounds.flops
    assert "first/linear" not in bounds.flops


@pytest.mark.parametrize("mode", ["real", "auto"])
def test_nothing_is_marked_where_nothing_is_assumed(mode):
    graph = trace(Net(lambda self, h: self.inner(h)), (numbers(16, 8),), mode=mode)
    assert graph.status.assumed_tensors == graph.status.assumed_flops == ()
    assert "≤" not in str(summary(graph))
