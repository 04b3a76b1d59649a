"""Names of sizes in texts: shapes, the line that explains them, and every form that has shapes."""

from __future__ import annotations

import re

import msgspec
import pytest
import torch
from torch import nn

import modeldiagrams
from graphs import sized_graph, small_graph
from modeldiagrams.api.explain import explain
from modeldiagrams.html.module_table import render_summary
from modeldiagrams.ir.expressions import parse_expression
from modeldiagrams.ir.graph import Guess, NamedSizes, Size, TensorSpec
from modeldiagrams.ir.named_shapes import named_shape, say_sizes
from modeldiagrams.ir.remarks import list_remarks
from modeldiagrams.options.options import Call

SIZES = {
    "B": Size(size=1, meaning="batch"),
    "T": Size(size=2, meaning="tokens", at_most=512, limit="pos"),
    "H": Size(size=224, meaning="height", multiple_of=32),
    "W": Size(size=224, meaning="width", multiple_of=32),
    "n₁": Size(size=2, counted="/relu", bound="B*T"),
    "S": Size(size=7, fixed="the graph changes"),
}
LINE = (
    "B batch · T tokens, 2 here, at most 512 (pos) · H×W image, 224×224 here, multiples of 32"
    " · n₁ picked by relu, at most B·T"
)
GRAPH = sized_graph(
    sizes=SIZES,
    tensors={"input:x:0": ("B", "2*T"), "fc/linear:0": ("T-B", None), "/relu:0": ("H*W/50176", "T/2+1")},
    notes=("S stays 7.",),
)


def written(sizes, letters):
    """The text of a shape with these expressions, at B = 2, T = 16, H = 224, W = 448."""
    own = {"B": 2, "H": 224, "W": 448, "T": 16}
    numbers = tuple(int(parse_expression(size).evaluate(own)) if isinstance(size, str) else size for size in sizes)
    graph = msgspec.structs.replace(
        small_graph(),
        tensors={"x": TensorSpec(shape=numbers, dtype="float32")},
        sizes=NamedSizes(
            sizes={name: Size(size=size) for name, size in own.items()},
            tensors={"x": tuple(size if isinstance(size, str) else None for size in sizes)},
            letters=letters,
        ),
    )
    return named_shape(graph, "x")


N = {"N": "H*W/256"}


@pytest.mark.parametrize(
    ("sizes", "letters", "text"),
    [  # the cases of `viewer/test/view/labels/sizes.test.ts`
        (["B", "T+1", 768], {}, "B×(T+1)×768"),
        (["B", 64, "H/4", "W/4"], {}, "B×64×H/4×W/4"),
        (["B*(T+1)", "T/2"], {}, "B·(T+1)×T/2"),
        (["B", "2*T-1"], {}, "B×(2·T−1)"),
        (["B", "ceil((T+1)/2)-1", "floor(T/2)+1"], {}, "B×(⌈(T+1)/2⌉−1)×(⌊T/2⌋+1)"),
        (["T+1"], {}, "T+1"),
        ([], {}, "scalar"),
        (["H*T"], {}, "H·T"),
        (["T*W"], {}, "W·T"),
        (["B", "H*W/256+5", 24], N, "B×(N+5)×24"),
        (["B*H*W/256"], N, "B·N"),
        (["3*B*H*W/64"], N, "12·B·N"),
        (["B", "H*W/64"], N, "B×H·W/64"),
        (["B", "H*W/64"], {**N, "M": "H*W/64"}, "B×M"),
        (["B*(T+1)", "T+1"], {"L": "T+1"}, "B·L×L"),
        (["B", "B*(T*T+2*T+1)"], {"L": "T+1"}, "B×B·(T²+2·T+1)"),
    ],
)
def test_shapes_read_as_in_pictures(sizes, letters, text):
    assert written(sizes, letters) == text


def test_a_graph_without_names_has_numbers():
    assert [named_shape(small_graph(), tensor) for tensor in small_graph().tensors] == ["1×4", "1×2", "1×2"]
    assert say_sizes(small_graph()) == ""


def test_one_line_says_what_names_mean():
    assert say_sizes(GRAPH) == LINE
    assert say_sizes(sized_graph(letters={"N": "16*B*B"})) == "B batch · N = 16·B²"
    apart = {"H": Size(size=225, meaning="height", multiple_of=32, remainder=1), "W": Size(size=448, meaning="width")}
    assert say_sizes(sized_graph(sizes={"B": Size(size=1), **apart})) == (
        "B, 1 here · H height, 225 here, multiples of 32 plus 1 · W width, 448 here"
    )


def test_a_sign_stands_before_assumed_sizes_unless_a_name_says_that_values_decide():
    sizes = {"B": Size(size=1), "n₁": Size(size=2, counted="/relu", bound="2*B")}
    graph = sized_graph(sizes=sizes, tensors={"fc/linear:0": ("n₁/2", "2*B")})
    guess = Guess(node="/relu", value="every element", reason="")
    status = msgspec.structs.replace(graph.status, assumed_tensors=("fc/linear:0",), guesses=(guess,))
    assumed = msgspec.structs.replace(graph, status=status)
    assert "  n₁/2×2·B" in str(modeldiagrams.summary(assumed))
    named = msgspec.structs.replace(graph.sizes, tensors={"fc/linear:0": ("B", None)})
    assert "  ≤ B×2" in str(modeldiagrams.summary(msgspec.structs.replace(assumed, sizes=named)))


def test_every_form_with_shapes_has_the_names():
    assert "(T−B)×2" in modeldiagrams.to_dot(GRAPH).source
    assert "B×2#183;T" in modeldiagrams.to_mermaid(GRAPH)
    table = str(modeldiagrams.summary(GRAPH))
    assert "(T−B)×2" in table
    assert f"Sizes: {LINE.replace('batch', 'batch, 1 here')}" in table
    cells = render_summary(modeldiagrams.summary(GRAPH)._content)
    assert '<td class="mg-outputs" title="1×2">(T−B)×2</td>' in cells
    assert f"Sizes:\n  {LINE}\n  S stays 7." in explain(Call(model="mypkg.Net"), GRAPH, [])
    assert "S stays 7." in list_remarks(GRAPH)
    assert GRAPH.module_rows() == msgspec.structs.replace(GRAPH, sizes=None).module_rows()


class Patches(nn.Module):
    """An image as tokens, a class token among them."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 24, 8, 8)
        self.token = nn.Parameter(torch.zeros(1, 1, 24))
        self.head = nn.Linear(24, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1)
        return self.head(x), x.unfold(1, 2, 1)


@pytest.mark.parametrize("letter", [{}, {"N": "H*W/64"}])
def test_the_viewer_writes_the_same_texts(letter):
    dims = {"x": ["B", 3, "H", "W"], **letter}
    graph = modeldiagrams.trace(Patches(), (torch.zeros(2, 3, 32, 48),), dims=dims)
    svg = modeldiagrams.to_svg(graph, depth=9)
    texts = set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    shapes = {named_shape(graph, tensor) for tensor in (*graph.model.inputs.values(), *graph.model.outputs.values())}
    assert shapes <= texts
    assert any("(N+1)" in shape for shape in shapes)  # a letter that is found if nobody writes it
    assert set(say_sizes(graph).split(" · ")) == set(re.search(r"<desc>([^<]*)</desc>", svg)[1].split(" · "))
