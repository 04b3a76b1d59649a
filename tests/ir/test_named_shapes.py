"""Names of sizes in texts: shapes, the line that explains them, and every form that has shapes."""

from __future__ import annotations

import msgspec

import modeldiagrams
from graphs import sized_graph, small_graph
from modeldiagrams.api.explain import explain
from modeldiagrams.html.module_table import render_summary
from modeldiagrams.ir.graph import Size
from modeldiagrams.ir.named_shapes import named_shape, say_sizes
from modeldiagrams.ir.remarks import list_remarks
from modeldiagrams.options.options import Call

SIZES = {
    "B": Size(size=1, meaning="batch"),
    "T": Size(size=2, meaning="tokens", at_most=512),
    "H": Size(size=224, meaning="height", multiple_of=32),
    "W": Size(size=224, meaning="width", multiple_of=32),
    "n₁": Size(size=2, counted="/relu", bound="B*T"),
    "S": Size(size=7, fixed="the graph changes"),
}
LINE = (
    "B batch, 1 here · T tokens, 2 here, at most 512 · H×W image, 224×224 here, multiples of 32"
    " · n₁ depends on values, at most B·T"
)
GRAPH = sized_graph(
    sizes=SIZES,
    tensors={"input:x:0": ("B", "2*T"), "fc/linear:0": ("T-B", None), "/relu:0": ("H*W/50176", "T/2+1")},
    notes=("S stays 7.",),
)


def test_sums_have_brackets_and_numbers_stay():
    assert [named_shape(GRAPH, tensor) for tensor in GRAPH.tensors] == ["B×2·T", "(T−B)×2", "H·W/50176×(T/2+1)"]
    assert [named_shape(small_graph(), tensor) for tensor in small_graph().tensors] == ["1×4", "1×2", "1×2"]
    rounded = sized_graph(tensors={"/relu:0": ("ceil((B+1)/2)", "ceil(B/3)+1")})
    assert named_shape(rounded, "/relu:0") == "⌈(B+1)/2⌉×(⌈B/3⌉+1)"


def test_one_line_says_what_names_mean():
    assert say_sizes(GRAPH) == LINE
    assert say_sizes(sized_graph(letters={"N": "16*B*B"})) == "B batch, 1 here · N = 16·B²"
    assert say_sizes(small_graph()) == ""


def test_every_form_with_shapes_has_the_names():
    assert "(T−B)×2" in modeldiagrams.to_dot(GRAPH).source
    assert "B×2#183;T" in modeldiagrams.to_mermaid(GRAPH)
    table = str(modeldiagrams.summary(GRAPH))
    assert "(T−B)×2" in table
    assert f"Sizes: {LINE}" in table
    cells = render_summary(modeldiagrams.summary(GRAPH)._content)
    assert '<td class="mg-outputs" title="1×2">(T−B)×2</td>' in cells
    assert f"Sizes:\n  {LINE}\n  S stays 7." in explain(Call(model="mypkg.Net"), GRAPH, [])
    assert "S stays 7." in list_remarks(GRAPH)
    assert GRAPH.module_rows() == msgspec.structs.replace(GRAPH, sizes=None).module_rows()
