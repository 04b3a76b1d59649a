"""What an author says makes no picture untrue: neither hidden nodes nor groups."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

from modeldiagrams import trace
from modeldiagrams.overlay.annotate import resolve
from modeldiagrams.overlay.image_files import read_image
from samples import png
from truth.models import MODELS
from truth.sweep import Sweep

X = torch.ones(1, 5, 32)


def transformer() -> tuple[nn.Module, torch.Tensor]:
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return nn.TransformerEncoder(layer, 3, enable_nested_tensor=False), X


class Forked(nn.Module):
    """::

    x ─┬─ one ─┬─ add ─ last ─
       ├─ two ─┘       │
       └───────────────┘ (with a Linear that changes the width)
    """

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two, self.wide, self.last = (nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 8), nn.Linear(8, 4))

    def forward(self, x):
        return self.last(self.wide(self.one(x) + self.two(x).relu())) + x


def forked() -> tuple[nn.Module, torch.Tensor]:
    return Forked(), torch.ones(2, 4)


def translator() -> tuple[nn.Module, torch.Tensor]:
    class_, args, x = MODELS["detector"]
    return class_(*args), x


IMAGE = read_image(png(60, 90), "An image")

FF = ["*.linear1", "relu", "*.dropout", "*.linear2"]

SAID = {
    "hidden ops and layers": (transformer, {"hide": ["Dropout", "*.norm1", "relu"]}),
    "hidden in one of equal layers": (transformer, {"hide": ["layers.1.norm2"]}),
    "hidden attention": (transformer, {"hide": ["*.self_attn"]}),
    "groups in equal layers": (
        transformer,
        {
            "group": {
                "Feed forward": FF,
                "Norm": ["*.norm1", "layers.*/add"],
            }
        },
    ),
    "a group in one of equal layers": (transformer, {"group": {"Ends": ["layers.1.dropout2", "layers.1/add#2"]}}),
    "nested groups": (
        transformer,
        {
            "group": {
                "FF": FF,
                "Half": ["FF", "*.dropout2", "layers.*/add#2"],
            }
        },
    ),
    "a group with something hidden": (
        transformer,
        {"group": {"FF": FF}, "hide": ["relu", "*.linear2"]},
    ),
    "a group of what does not run in a row": (forked, {"group": {"Path": ["two", "relu"]}, "hide": ["one"]}),
    "a hidden layer that changes the shape": (forked, {"hide": ["wide"]}),
    "hidden input": (forked, {"hide": ["input:x"]}),
    "a hidden group": (forked, {"group": {"Path": ["two", "relu"]}, "hide": ["Path"]}),
    "one below the other": (transformer, {"arrange": {"layers.*": "column"}}),
    "one beside the other": (transformer, {"arrange": {"layers.*": "row", "TransformerEncoder": "row"}}),
    "in a grid": (forked, {"arrange": {"Forked": "grid"}}),
    "lines of a flow": (transformer, {"arrange": {"layers.0": "grid"}, "group": {"FF": FF}}),
    "in an order": (forked, {"order": {"Forked": ["two", "one"]}, "arrange": {"Forked": "column"}}),
    "tops in line": (translator, {"arrange": {"encoder.0": "row"}, "align_items": {"encoder.0": "start"}}),
    "bottoms in line": (forked, {"align_items": {"Forked": "end"}}),
    "left edges in line": (
        transformer,
        {"arrange": {"layers.*": "column"}, "align_items": {"layers.*": "start", "TransformerEncoder": "end"}},
    ),
    "lines that end together": (
        transformer,
        {"arrange": {"layers.0": "grid"}, "group": {"FF": FF}, "align_items": {"layers.0": "end"}},
    ),
    "sides exchanged": (forked, {"order": {"Forked": ["two", "one"]}}),
    "images at modules, ops and inputs": (
        translator,
        {"embed": {"*": IMAGE, "softmax, encoder.1": IMAGE}, "align_items": {"encoder.0": "start"}},
    ),
    "images in groups and equal layers": (transformer, {"embed": {"*.linear?, FF": IMAGE}, "group": {"FF": FF}}),
    "a group around functions": (translator, {"group": {"Layers": ["encoder.0", "encoder.1"]}, "hide": ["softmax"]}),
}


@pytest.mark.parametrize("name", SAID)
def test_pictures_with_overlays(name: str) -> None:
    make, options = SAID[name]
    model, x = make()
    graph = trace(model.eval(), (x,))
    overlay, problems = resolve(graph, options)
    assert problems == []
    assert Sweep(graph, quick=True, overlay=overlay).untrue() == []
    hidden = {name for name, said in overlay.nodes.items() if said.hide}
    drawn = set(re.findall(r'data-id="([^"]*)"', Sweep(graph, overlay=overlay).draw(depth=9).svg))
    assert not drawn & hidden
