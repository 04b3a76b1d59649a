"""The code of a `forward`, and the nodes that its lines make."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.listing import find_forward
from modeldiagrams.options.parsing import parse_options

CODE = """import torch


class Other:
    pass


class Net(torch.nn.Module):
    def forward(self, x):
        for layer in self.fc, self.more:
            pass
        for i, layer in enumerate(self.fc):
            x = layer(x)
        x = self.fc(x)  # a <comment>
        return torch.relu(x)
"""


@pytest.fixture
def shown(tmp_path):
    (tmp_path / "mypkg.py").write_text(CODE)
    graph = small_graph()
    model = msgspec.structs.replace(graph.model, source="mypkg.py:8")
    nodes = [
        msgspec.structs.replace(node, source={"fc/linear": "mypkg.py:14", "/relu": "mypkg.py:15"}.get(node.id))
        if hasattr(node, "source")
        else node
        for node in graph.nodes
    ]
    graph = msgspec.structs.replace(graph, model=model, nodes=tuple(nodes))
    options = parse_options({"model": "mypkg.Net"})
    return [Diagram(id="mypkg.Net", options=options, graph=graph, sources=(str(tmp_path / "mypkg.py"),))]


def test_lines_link_to_the_nodes_they_make(shown):
    lines = find_forward(shown, "").lines
    found = {line.number: line.part.ids for line in lines if line.part}
    assert found == {10: ("fc",), 12: ("fc",), 13: ("fc",), 14: ("fc",), 15: ("/relu",)}
    assert (lines[0].number, lines[0].text) == (9, "def forward(self, x):")


def test_a_model_has_a_listing(shown):
    assert find_forward(shown, "mypkg.Net").text == find_forward(shown, "").text


def test_html_escapes_the_code_and_keeps_its_lines(shown):
    html = find_forward(shown, "").html
    assert html.count('class="mg-line"') == 7
    assert "&lt;comment&gt;" in html


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("fc", "the graph does not say where the code of fc is"),
        ("/relu", "expected a module, as only modules have a `forward`, got '/relu'"),
        ("fcc", "no module matches 'fcc'; did you mean 'fc'?"),
    ],
)
def test_a_part_without_code_is_an_error(shown, target, message):
    with pytest.raises(ModelDiagramsError) as error:
        find_forward(shown, target)
    assert message in str(error.value)


def test_missing_code_is_an_error(shown):
    graph_only = [msgspec.structs.replace(shown[0], sources=())]
    with pytest.raises(ModelDiagramsError, match=r"mypkg\.py, which is not one of your files or not available"):
        find_forward(graph_only, "")


def test_inherited_code_comes_from_the_base_class(shown):
    folder = Path(shown[0].sources[0]).parent
    (folder / "bases.py").write_text(CODE.replace("class Net", "class Base"))
    (folder / "mypkg.py").write_text("import bases\n\n\nclass Net(bases.Base):\n    pass\n")
    graph = shown[0].graph
    model = msgspec.structs.replace(graph.model, source="mypkg.py:4")
    nodes = [
        msgspec.structs.replace(node, source=node.source and node.source.replace("mypkg", "bases"))
        if hasattr(node, "source")
        else node
        for node in graph.nodes
    ]
    graph = msgspec.structs.replace(graph, model=model, nodes=tuple(nodes))
    sources = tuple(str(folder / name) for name in ("bases.py", "mypkg.py"))
    lines = find_forward([msgspec.structs.replace(shown[0], graph=graph, sources=sources)], "").lines
    assert {line.number: line.part.ids for line in lines if line.part}[15] == ("/relu",)
    with pytest.raises(ModelDiagramsError, match=r"in the class at mypkg\.py:4, or in a base class"):
        find_forward([msgspec.structs.replace(shown[0], graph=graph, sources=sources[1:])], "")


@pytest.mark.parametrize("before", ["", "\f"])
def test_lines_are_as_in_the_file(shown, before):
    text = CODE.replace(
        "        x = self.fc(x)", '        """Less\n\n  indented\x85\n        """\n        x = self.fc(x)'
    )
    Path(shown[0].sources[0]).write_text(before + text, newline="")
    lines = [line.text for line in find_forward(shown, "").lines]
    assert lines[0] == "def forward(self, x):"
    assert lines[5:9] == ['    """Less', "", "indented\x85", '    """']
    assert lines[-1] == "    return torch.relu(x)"


def test_code_that_is_no_longer_python_is_an_error(shown):
    Path(shown[0].sources[0]).write_text("def (:\n")
    with pytest.raises(ModelDiagramsError, match=r"expected Python code at mypkg\.py:8, as it was when the model ran"):
        find_forward(shown, "")


def test_a_page_without_diagrams_is_an_error():
    with pytest.raises(ModelDiagramsError, match="expected a diagram on this page, which has none"):
        find_forward([], "")
