"""Rules by which a model that nobody has said anything of runs at the first try, each on a model as people write it.

Long because every rule has a model of its own.
"""

from __future__ import annotations

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


class Spectrum(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 3, padding=1)

    def forward(self, spec):
        mask = self.conv(torch.cat([spec.real, spec.imag], 1))
        return spec * mask


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


def assumed(model: str) -> dict[str, Any]:
    target = resolve(parse_options({"model": model}).call)
    graph = record(target).graph
    assert graph.status.state == "complete"
    assert is_connected(graph)
    return {each.subject: each.value for each in target.assumptions}


def said(class_: type) -> dict[str, Any]:
    return assumed(f"{__name__}.{class_.__name__}")


def test_class_that_annotates_an_argument_is_not_the_argument():
    assert said(Pooled)["kwargs.pooling"] == f"{{_target_: {__name__}.Pooling, _args_: [first]}}"


@pytest.mark.parametrize("class_", [Tokens, Unchecked])
def test_field_that_an_error_names_gets_a_value(class_):
    assert said(class_)["config"].startswith("{vocab_size: ")


def test_complex_numbers_where_real_ones_are_refused():
    assert "complex64" in said(Spectrum)["inputs.spec"]


def test_number_that_is_a_key():
    assert said(Depth)["kwargs.depth"] == "10"


def test_whole_number_where_a_name_says_another():
    found = solve_arguments(Scaled)
    assert found is not None
    assert type(found.kwargs["P"]) is int
