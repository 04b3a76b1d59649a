"""Small pictures of models in lists."""

from __future__ import annotations

import re
from collections import OrderedDict
from pathlib import Path
from xml.dom.minidom import parseString

import pytest
import torch
from torch import Tensor, nn

import modeldiagrams
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.serialize import load, serialize
from modeldiagrams.render.draw import draw_card

GOLDEN = Path(__file__).parents[1] / "golden"
NOT_IN_AN_IMG = re.compile(r"<script|foreignObject|href|url\(|\bid=|class=|data-|<image|@import")
SMALLEST = 0.3
"""Text of 4 px: no worse than the shape of the model."""


def texts(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)</t(?:ext|span)>", svg)


def scale(svg: str) -> float:
    width, height = (float(size) for size in re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2])
    return min(240 / width, 160 / height)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_card_is_a_small_picture_that_needs_nothing_else(path):
    graph = load(path)
    svg = draw_card(serialize(graph))
    parseString(svg)  # noqa: S318  (our own)
    assert not NOT_IN_AN_IMG.search(svg)
    assert len(svg.encode()) < 10_000
    assert scale(svg) >= SMALLEST
    has_parts = any(isinstance(node, ModuleNode | OpNode) for node in graph.nodes)
    assert bool(texts(svg)) is has_parts or "No tensor" in svg
    assert draw_card(serialize(graph)) == svg


def test_card_has_the_second_lines_of_boxes_where_there_is_room_but_no_shapes():
    said = texts(draw_card(serialize(load(GOLDEN / "stack.json"))))
    assert said == ["x", "blocks.0–3", "×4", "Residual 4 → 4", "output"]


def test_a_wrapper_is_opened_until_there_are_several_boxes():
    names = ["stem", "body", "head"]

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            inner = nn.Sequential(OrderedDict((name, nn.Linear(at + 4, at + 5)) for at, name in enumerate(names)))
            self.wrapped = nn.ModuleDict({"model": inner})

        def forward(self, x: Tensor) -> Tensor:
            return self.wrapped["model"](x) * 2

    graph = modeldiagrams.trace(Model(), (torch.ones(1, 4),))
    assert {*names} <= {*texts(draw_card(serialize(graph)))}


def test_encoder_and_decoder_are_enough():
    model = nn.Transformer(8, 2, 3, 3, 16, batch_first=True)
    said = texts(draw_card(serialize(modeldiagrams.trace(model, (torch.ones(2, 1, 8), torch.ones(2, 1, 8))))))
    assert {"encoder", "decoder"} <= {*said}
    assert [text for text in said if text.startswith("layers")] == []


def test_a_long_model_shows_fewer_boxes_that_stay_legible():
    class Long(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleList(nn.Linear(at + 1, at + 2) for at in range(60))

        def forward(self, x: Tensor) -> Tensor:
            for part in self.parts:
                x = part(x)
            return x

    svg = draw_card(serialize(modeldiagrams.trace(Long(), (torch.ones(1, 1),))))
    assert any(text.startswith("… ") for text in texts(svg))
    assert scale(svg) >= SMALLEST
