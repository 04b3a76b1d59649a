"""Labels with names are right at other sizes: they give the labels of a picture of a pass at those sizes."""

from __future__ import annotations

import html
import re

import pytest
import torch
from torch import nn

import modeldiagrams
from modeldiagrams.ir.expressions import parse_expression
from modeldiagrams.options.options import View
from modeldiagrams.render.draw import render
from truth.models import TwoSkips

_LABEL = re.compile(r'<text class="mg-label[^"]*"[^>]*data-tensor="([^"]*)"[^>]*>([^<]*)</text>')
_SIGNS = {"·": "*", "−": "-", "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")"}
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


class Attention(nn.Module):
    """Folds heads into the batch, and has a token in front: reshapes that pictures leave out."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, 24))
        self.mix, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        batch, length, _ = x.shape
        x = torch.cat([self.token.expand(batch, -1, -1), x], 1)
        q, k, v = self.mix(x).view(batch, length + 1, 3, 4, 6).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)).softmax(-1)
        folded = (scores @ v).transpose(1, 2).reshape(batch * (length + 1), 24)
        return self.out(folded).view(batch, length + 1, 24), folded.view(batch, -1).mean(-1)


class Patches(nn.Module):
    """Rows, columns, and both as one."""

    def __init__(self) -> None:
        super().__init__()
        self.cut, self.norm = nn.Conv2d(3, 8, 4, stride=4), nn.LayerNorm(8)
        self.mixed = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        x = self.cut(x)
        flat = x.flatten(2).transpose(1, 2)
        for layer in self.mixed:
            flat = flat + layer(self.norm(flat))
        return (
            flat.transpose(1, 2).reshape(x.shape)
            + x.mean(3, keepdim=True)
            + x.transpose(2, 3).sum((2, 3))[..., None, None]
        )


class Flat(nn.Module):
    """Patches instead of channels come first."""

    def __init__(self) -> None:
        super().__init__()
        self.cut, self.norm = nn.Conv2d(3, 8, 4, stride=4), nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.cut(x).flatten(2).transpose(1, 2))


def labels(graph):
    """Tensor → shape in the picture with everything open."""
    found = _LABEL.findall(render(graph, View(depth=9)).svg)
    assert found
    return {html.unescape(tensor): _find_shape(html.unescape(text)) for tensor, text in found}


def _find_shape(label):
    """Without the name of a parallel edge, and the dtype."""
    words = label.split(" ")
    return next((word for word in words if "×" in word), words[0])


def at(label, graph, sizes):
    """A label with the sizes for its names."""
    letters = {name: f"({text})" for name, text in graph.sizes.letters.items()}
    for sign, written in _SIGNS.items():
        label = label.replace(sign, written)
    label = re.sub(
        "([^\\W\\d]+′*|\\))([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "*".join([m[1]] * int(m[2].translate(_POWERS))), label
    )
    label = re.sub(r"[^\W\d][\w]*′*", lambda m: letters.get(m[0], m[0]), label)
    return "×".join(str(parse_expression(part).evaluate(sizes)) for part in label.split("×"))


@pytest.mark.parametrize(
    ("model", "shape", "sizes"),
    [
        (Attention(), (2, 10, 24), {"B": 3, "T": 17}),
        (Patches(), (2, 3, 32, 64), {"B": 3, "H": 40, "W": 20}),
        # 8 channels and 8 patches
        (Flat(), (2, 3, 8, 16), {"B": 3, "H": 12, "W": 20}),
        (TwoSkips(), (2, 3, 16, 24), {"B": 1, "H": 40, "W": 56}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_labels_are_those_of_a_pass_at_other_sizes(model, shape, sizes):
    graph = modeldiagrams.trace(model, (torch.zeros(shape),), dims="auto")
    named = {name: graph.sizes.sizes[name] for name in sizes}
    moved = list(shape)
    for name, size in named.items():
        for _, dimension in size.places:
            moved[dimension] = sizes[name]
    fresh = modeldiagrams.trace(model, (torch.zeros(moved),))
    written = labels(graph)
    assert sum(not text.replace("×", "").isdecimal() for text in written.values()) > 2
    assert {tensor: at(text, graph, sizes) for tensor, text in written.items()} == labels(fresh)
