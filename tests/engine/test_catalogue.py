"""Catalogues: figures, aliases and families of many models."""

from __future__ import annotations

import pytest

from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.catalogue.build import build_catalogue
from modeldiagrams.engine.catalogue.families import summarise_failures
from modeldiagrams.engine.catalogue.listing import Listed
from modeldiagrams.options.catalogue import read_catalogue

NETS = """
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
    def forward(self, x):
        return x + self.conv(x)

class Wide(Block):
    pass

class Net(nn.Module):
    def __init__(self, block=Block, times=2, width=4):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 1)
        self.stage = nn.Sequential(*(block(width) for _ in range(times)))
        self.head = nn.Conv2d(width, 2, 1)
    def forward(self, x):
        return self.head(self.stage(self.stem(x)))

class Other(Net):
    pass

def net2(): return Net()
def also_net2(): return Net()
def net5(): return Net(times=5)
def wide3(): return Net(Wide, times=3, width=8)
def broken(): raise ValueError("no such size")
def lost(): raise ValueError("no such size")
"""
NAMES = ("also_net2", "broken", "lost", "net2", "net5", "Net", "Other", "wide3")


@pytest.fixture
def build(tmp_path):
    """Builds the catalogue of some names."""
    (tmp_path / "zoo.py").write_text(NETS)

    def built(names=NAMES, **values):
        options = read_catalogue({"of": "zoo", "inputs": {"x": [1, 3, 8, 8]}, **values})
        with DiagramBuilder(tmp_path / "cache", folder=tmp_path, paths=[tmp_path]) as builder:
            return build_catalogue(builder, options, {}, Listed(models=tuple(f"zoo.{name}" for name in names)))

    return built


def test_equal_graphs_are_one_model_and_sizes_one_family(build):
    catalogue = build()
    assert [family.name for family in catalogue.families] == ["broken", "lost", "Net", "Other"]
    family = catalogue.families[2]
    assert [model.name for model in family.models] == ["zoo.net2", "zoo.net5", "zoo.wide3"]
    assert family.models[0].aliases == ("zoo.Net", "zoo.also_net2")
    blocks = {title: [row[at] for row in family.rows] for at, title in enumerate(family.columns)}
    assert (blocks["Block"], blocks["Wide"]) == (["2", "5", "–"], ["–", "–", "3"])


def test_failures_cost_their_own_entries_and_make_one_sentence(build):
    catalogue = build()
    said = summarise_failures(catalogue)
    assert said is not None
    assert said.startswith("2 of 6 models have no complete diagram: zoo.broken, zoo.lost (2 × ")
    assert "no such size" in said
    assert summarise_failures(build(["net2"])) is None
