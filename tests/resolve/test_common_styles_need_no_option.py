"""Rules by which a model that nobody has said anything of runs at the first try, each on a model as people write it.

Long because every rule has a model of its own.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import textwrap
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
import torch
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import record, resolve
from modeldiagrams.resolve.arguments.argument_search import solve_arguments
from modeldiagrams.resolve.inputs.candidate_search import is_connected
from modeldiagrams.resolve.inputs.failure_search import FailureSearch

LAYERS = [8, 6]


class Stacked(nn.Module):
    def __init__(self, layers, n_out):
        super().__init__()
        self.parts = nn.Sequential(*[nn.Linear(a, b) for a, b in itertools.pairwise(layers)])
        self.out = nn.Linear(layers[-1], n_out)

    def forward(self, x):
        return self.out(self.parts(x))


@dataclass
class TokenConfig:
    dim: int = 16
    vocab_size: int = -1  # the tokenizer knows


class Tokens(nn.Module):
    def __init__(self, config: TokenConfig):
        super().__init__()
        assert config.vocab_size > 0, "set vocab_size from the tokenizer"
        self.embed = nn.Embedding(config.vocab_size, config.dim)

    def forward(self, ids):
        return self.embed(ids)


class Unchecked(nn.Module):
    def __init__(self, config: TokenConfig):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.dim)

    def forward(self, ids):
        return self.embed(ids)


class Pooling(Enum):
    FIRST = "first"
    MEAN = "mean"


class Pooled(nn.Module):
    def __init__(self, pooling: Pooling):
        super().__init__()
        self.pooling, self.out = pooling, nn.Linear(6, 4)

    def forward(self, x):
        if self.pooling not in (Pooling.FIRST, Pooling.MEAN):
            raise ValueError(f"unknown pooling: {self.pooling}")
        return self.out(x[:, 0] if self.pooling is Pooling.FIRST else x.mean(1))


class Boxes(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 8), nn.Embedding(100, 8)

    def forward(self, ids, bbox):
        return self.words(ids) + self.places(bbox[..., 0]) + self.places(bbox[..., 1]) + self.places(bbox[..., 2])


class Columns(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(9, 4), nn.Embedding(5, 4), nn.Embedding(7, 4)])
        self.out = nn.Linear(12, 2)

    def forward(self, categories):
        return self.out(torch.cat([table(categories[:, i]) for i, table in enumerate(self.tables)], 1))


class Spectrum(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 3, padding=1)

    def forward(self, spec):
        mask = self.conv(torch.cat([spec.real, spec.imag], 1))
        return spec * mask


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(6, 5)

    def forward(self, inputs):
        inputs, (hx, cx) = inputs
        return self.cell(inputs, (hx, cx))


class Heads(nn.Module):
    def __init__(self, backbone, n_ages):
        super().__init__()
        self.net = backbone
        width = self.net.fc.in_features
        self.net.fc = nn.Identity()
        self.age, self.gender = nn.Linear(width, n_ages), nn.Linear(width, 1)

    def forward(self, x):
        features = self.net(x)
        return self.age(features), self.gender(features)


class Depth(nn.Module):
    arch_settings = {10: (8, 1), 18: (8, 2)}  # noqa: RUF012

    def __init__(self, depth):
        super().__init__()
        if depth not in self.arch_settings:
            raise KeyError(f"invalid depth {depth}")
        width, count = self.arch_settings[depth]
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(count)])

    def forward(self, x):
        return self.layers(x)


class Scaled(nn.Module):
    """Single letters, as in papers: `P` is no probability."""

    def __init__(self, B, H, P):  # noqa: N803
        super().__init__()
        self.conv = nn.Conv1d(B, H, P, padding=P // 2)

    def forward(self, x):
        return self.conv(x)


class OneAtATime(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.gru, self.attention = nn.Embedding(9, 8), nn.GRU(8, 8), nn.Linear(16, 5)

    def init_hidden(self):
        return torch.zeros(1, 1, 8)

    def forward(self, word, hidden):
        embedded = self.embed(word).view(1, 1, -1)
        weights = self.attention(torch.cat((embedded[0], hidden[0]), 1)).softmax(1)
        return *self.gru(embedded, hidden), weights


def assumed(model: str) -> dict[str, Any]:
    target = resolve(parse_options({"model": model}).call)
    graph = record(target).graph
    assert graph.status.state == "complete"
    assert is_connected(graph)
    return {each.subject: each.value for each in target.assumptions}


def said(class_: type) -> dict[str, Any]:
    return assumed(f"{__name__}.{class_.__name__}")


def test_constant_beside_a_class_that_its_argument_is_called_like():
    assert said(Stacked)["kwargs.layers"] == f"{{_object_: {__name__}.LAYERS}}"


def test_class_that_annotates_an_argument_is_not_the_argument():
    assert said(Pooled)["kwargs.pooling"] == f"{{_target_: {__name__}.Pooling, _args_: [first]}}"


@pytest.mark.parametrize("class_", [Tokens, Unchecked])
def test_field_that_an_error_names_gets_a_value(class_):
    assert said(class_)["config"].startswith("{vocab_size: ")


@pytest.mark.parametrize(
    ("class_", "subject", "shape"), [(Boxes, "inputs.bbox", "[1, 16, 3]"), (Columns, "inputs.categories", "[1, 3]")]
)
def test_columns_that_are_read_one_by_one_are_counted(class_, subject, shape):
    assert f"shape: {shape}, dtype: int64" in said(class_)[subject]


def test_complex_numbers_where_real_ones_are_refused():
    assert "complex64" in said(Spectrum)["inputs.spec"]


def test_parts_that_one_statement_takes_apart():
    assert said(Agent)["inputs.inputs"] == "[[1, 6], [[1, 5], [1, 5]]]"


def test_model_whose_last_layer_is_replaced():
    assert "fc: {_target_: torch.nn.Linear" in said(Heads)["kwargs.backbone"]


def test_number_that_is_a_key():
    assert said(Depth)["kwargs.depth"] == "10"


def test_whole_number_where_a_name_says_another():
    found = solve_arguments(Scaled)
    assert found is not None
    assert type(found.kwargs["P"]) is int


def test_one_row_where_all_become_one():
    found = said(OneAtATime)
    assert "shape: [1" in found["inputs.word"]
    assert found["inputs.hidden"] == "[1, 1, 8]"


NET = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, width, weights, hidden, act):
            super().__init__()
            self.first, self.last = nn.Linear(width, hidden), nn.Linear(hidden, len(weights))
            self.act = act

        def forward(self, x):
            return self.last(self.act(self.first(x)))
    """
TRAIN = """
    import numpy
    from shop.net import Net as Model

    def main():
        weights = numpy.load("weights.npy")
        return Model(24, weights, hidden=40, act=make())
    """


def test_what_can_be_read_of_a_call_is_kept(tmp_path, monkeypatch):
    files = {"pyproject.toml": "", "shop/__init__.py": "", "shop/net.py": NET, "train.py": TRAIN}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    try:
        target = resolve(parse_options({"model": "shop.net.Net"}).call)
        found = {each.subject: (each.value, each.reason) for each in target.assumptions}
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "shop"]:
            del sys.modules[name]
    assert found["kwargs.width"] == ("24", "as in train.py:7")
    assert found["kwargs.hidden"] == ("40", "as in train.py:7")
    assert found["inputs.x"][0] == "[1, 24]"
    assert not found["kwargs.weights"][1].startswith("as in ")


def default(given, other):
    return given if given is not None else other() if callable(other) else other


class Layers(nn.Module):
    def __init__(self, dim, depth=None, inner=None):
        super().__init__()
        assert depth is not None, "`depth` must be passed in"
        self.layers = nn.Sequential(*[nn.Linear(dim, default(inner, dim)) for _ in range(depth)])

    def forward(self, x):
        return self.layers(x)


class CausalLayers(Layers):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)


def test_arguments_that_only_an_error_names():
    found = said(CausalLayers)
    assert found["kwargs.dim"] == "64"
    assert found["kwargs.depth"] == "2"


class ByRank(nn.Module):
    """Normalizes without weights, and treats each rank in its own way."""

    def __init__(self):
        super().__init__()
        self.norm, self.out = nn.LayerNorm(24, elementwise_affine=False), nn.Linear(24, 5)
        self.ways = {3: self.out, 4: lambda x: self.out(x.flatten(1, 2))}

    def forward(self, x):
        return self.ways[self.norm(x).ndim](x)


def test_rank_that_a_table_is_asked_for():
    solution = next(FailureSearch(ByRank().eval()).solutions())
    assert solution.entries == {"x": [1, 16, 24]}
