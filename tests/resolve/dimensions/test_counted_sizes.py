"""Sizes that values decide have names; passes with real values, other data and other sizes, have what they say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn

import modeldiagrams
from modeldiagrams.ir.graph import Graph, OpNode
from named_sizes.arithmetic import value


class Experts(nn.Module):
    """Each of three experts gets the tokens that chose it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 3), nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x: Tensor) -> Tensor:
        flat = x.reshape(-1, 8)
        chosen, out = self.gate(flat).argmax(-1), torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            rows = (chosen == i).nonzero().squeeze(-1)
            out.index_add_(0, rows, expert(flat[rows]))
        return out.view_as(x)


class TwoExpertsEach(nn.Module):
    """As Mixtral."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 4), nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])

    def forward(self, x: Tensor) -> Tensor:
        flat, out = x.view(-1, 8), torch.zeros_like(x).view(-1, 8)
        weights, chosen = self.gate(flat).softmax(-1).topk(2)
        mask = nn.functional.one_hot(chosen, 4).permute(2, 1, 0)
        for i, expert in enumerate(self.experts):
            rank, row = torch.where(mask[i])
            out.index_add_(0, row, expert(flat[None, row].reshape(-1, 8)) * weights[row, rank, None])
        return out.view_as(x)


class Weighted(nn.Module):
    """A function of values that weights make: those of inputs are known."""

    def __init__(self, function: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.linear, self.function = nn.Linear(8, 8), function

    def forward(self, x: Tensor) -> object:
        return self.function(self.linear(x))


def selected(x: Tensor) -> Tensor:
    mask = x.mean(-1) > 0
    rows, where = x[mask], mask.nonzero()
    return rows.flatten() * 2, where + 1, rows[:, None] * rows, torch.masked_select(x, x > 0).exp()


def independent(x: Tensor) -> tuple[Tensor, ...]:
    high, low = x[x.mean(-1) > 0.1], x[x.mean(-1) < -0.1]
    both = torch.cat([high, low])
    return (
        both.exp(),
        high @ low.T,
        (high * 2).unsqueeze(1).repeat(1, x.shape[0], 1),
        torch.cat([both, x.flatten(0, 1)]),
    )


def nested(x: Tensor) -> tuple[Tensor, ...]:
    some = x[x.mean(-1) > 0]
    less = some[some.max(-1).values > 1]
    return some.relu(), less.relu(), less.unique(dim=0).relu(), x[:, :3].reshape(-1, 8)


def found(x: Tensor) -> tuple[Tensor, ...]:
    values, back, counts = (x * 3).round().unique(return_inverse=True, return_counts=True)
    return values * 2, back + 1, counts / 2, values[:, None].expand(-1, x.shape[1]) + 1


def padded(x: Tensor) -> tuple[Tensor, ...]:
    rows = x[x.mean(-1) > 0]
    least = torch.zeros(max(len(rows), 5), 8)
    return least + 1, rows[: len(rows) // 2], rows[1:], rows.topk(2, 0).values, rows.repeat(len(rows), 1)


def written(x: Tensor) -> tuple[Tensor, ...]:
    mask = x.mean(-1) > 0
    first = x[mask]
    mask &= x.max(-1).values > 1
    return first.exp(), x[mask].exp(), x[~mask].exp()


def repeated(x: Tensor) -> Tensor:
    times = (x.mean(-1).flatten() * 9).long().abs()
    return x.flatten(0, 1).repeat_interleave(times, 0).exp()


def added(x: Tensor) -> Tensor:
    return x[x[..., 0] > 0] + x[x[..., 0] > 0]


MODELS = {
    each.__name__: partial(Weighted, each)
    for each in (selected, independent, nested, found, padded, written, repeated, added)
}
MODELS |= {each.__name__: each for each in (Experts, TwoExpertsEach)}
FEWEST = {"Experts": 12, "TwoExpertsEach": 20, "selected": 8, "independent": 8, "nested": 6, "found": 6, "written": 6}


@pytest.mark.parametrize("name", MODELS)
def test_passes_with_values_have_the_named_sizes(name: str) -> None:
    torch.manual_seed(0)
    model = MODELS[name]()
    graph = modeldiagrams.trace(model, (torch.randn(2, 12, 8),), mode="fake", dims="auto")
    named = graph.sizes
    assert named is not None
    counted = {one: size for one, size in named.sizes.items() if size.counted}
    texts = [text for shape in named.tensors.values() for text in shape if text and "n" in text]
    assert len(texts) >= FEWEST.get(name, 0)
    for b, t in ((2, 12), (2, 12), (2, 12), (5, 24), (3, 60)):
        real = modeldiagrams.trace(model, (torch.randn(b, t, 8) + (b - 2) / 9,), mode="real")
        assert real.status.error is None
        tensors = pairs(graph, real)
        sizes = {"B": b, "T": t}
        for one, size in counted.items():
            makes = [
                (x, i) for x in graph.node(size.counted).outputs for i, e in enumerate(named.tensors[x]) if e == one
            ]
            sizes[one] = real.tensors[tensors[makes[0][0]]].shape[makes[0][1]]
        for one, size in counted.items():
            assert not size.bound or value(size.bound, sizes) >= sizes[one]
        for tensor, shape in named.tensors.items():
            for text, size in zip(shape, real.tensors[tensors[tensor]].shape, strict=True):
                assert text is None or value(text, sizes) == size, (tensor, text)


def pairs(graph: Graph, real: Graph) -> dict[str, str]:
    """Id of a tensor in the graph → in the real pass, by module, name and line of the op."""
    steps: dict[object, list[tuple[str, ...]]] = defaultdict(list)
    for node in real.nodes:
        steps[step_of(real, node)].append(node.outputs if hasattr(node, "outputs") else ())
    found = {}
    for node in graph.nodes:
        again = steps[step_of(graph, node)].pop(0)
        found.update(zip(getattr(node, "outputs", ()), again, strict=True))
    assert not any(steps.values())
    return found


def step_of(graph: Graph, node: object) -> object:
    if isinstance(node, OpNode):
        return (graph.hierarchy[node.id], node.name, node.source)
    return node.id
