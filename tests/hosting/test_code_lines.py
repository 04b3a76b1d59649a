"""The lines of code that diagrams show when zoomed in."""

from __future__ import annotations

import textwrap

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.hosting.code_lines import find_code_lines, find_source_file
from option_helpers import make_options

CODE = '''\
import torch
from torch import nn


@decorated
class Net(nn.Module):
    """A net."""

    def __init__(self):
        super().__init__()

    def forward(
        self,
        x,
    ):
        """Run it.

        Over several lines.
        """
        if x.sum() > 0:
            x = torch.cat(
                [x, x],

                dim=1,
            )
        for block in self.blocks: x = block(x)
        with torch.no_grad():
            y = rotate(x)
        return y


def rotate(x):
\tfirst, second = x.chunk(2)
\treturn torch.cat((second, first))


class Child(Net):
    pass
'''
LINES = CODE.split("\n")


def line_of(text):
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def code_at(tmp_path, *lines, templates="https://x.org/{path:mypkg}#L{line}", text=CODE):
    (tmp_path / "mypkg").mkdir()
    (tmp_path / "mypkg/net.py").write_text(text, "utf-8")
    graph = small_graph()
    nodes = [msgspec.structs.replace(graph.nodes[2], id=f"fc/{line}", source=f"mypkg/net.py:{line}") for line in lines]
    graph = msgspec.structs.replace(graph, nodes=tuple(nodes))
    sources = (str(tmp_path / "mypkg/net.py"),)
    diagram = Diagram(id="a", options=make_options(model="a.A"), graph=graph, sources=sources)
    return find_code_lines(diagram, templates)


@pytest.mark.parametrize(
    ("on", "shown"),
    [
        ("return y", ["return y"]),
        ("dim=1", ["x = torch.cat(", "    [x, x],", "    dim=1,", ")"]),
        ("if x.sum()", ["if x.sum() > 0:"]),
        ("with torch", ["with torch.no_grad():"]),
        ("y = rotate", ["y = rotate(x)"]),
        ("for block", ["for block in self.blocks: x = block(x)"]),
        ("def rotate", ["def rotate(x):", "    first, second = x.chunk(2)", "    return torch.cat((second, first))"]),
        (
            "@decorated",
            ["def forward(", "    self,", "    x,", "):", "    if x.sum() > 0:", "        x = torch.cat(", "…"],
        ),
        (
            "class Net",
            ["def forward(", "    self,", "    x,", "):", "    if x.sum() > 0:", "        x = torch.cat(", "…"],
        ),
    ],
)
def test_blocks_show_their_head_and_other_statements_are_whole(tmp_path, on, shown):
    line = line_of(on)
    assert code_at(tmp_path, line) == {f"mypkg/net.py:{line}": tuple(shown)}


def test_a_class_without_its_own_forward_shows_no_code(tmp_path):
    assert code_at(tmp_path, line_of("class Child")) == {}


def test_a_line_that_no_longer_exists_shows_nothing(tmp_path):
    assert code_at(tmp_path, 900) == {}


@pytest.mark.parametrize("templates", ["https://x.org/{path:other}#L{line}", ""])
def test_code_that_the_site_does_not_link_to_is_not_shown(tmp_path, templates):
    assert code_at(tmp_path, line_of("return y"), templates=templates) == {}


def test_long_code_is_cut(tmp_path):
    text = "x = [\n" + "".join(f"    {number},\n" for number in range(20)) + f"]\ny = '{'a' * 500}'\n"
    found = code_at(tmp_path, 3, 23, text=text)
    assert found["mypkg/net.py:3"] == ("x = [", *(f"    {number}," for number in range(5)), "…")
    assert found["mypkg/net.py:23"] == (f"y = '{'a' * 195}…",)


def test_a_file_that_is_no_longer_python_shows_nothing(tmp_path):
    assert code_at(tmp_path, 1, text=textwrap.dedent("return = 3")) == {}


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["/site/pkg/model.py", "/src/model.py"], "/src/model.py"),
        (["/a/model.py", "/a/model.py"], "/a/model.py"),
        (["/a/model.py", "/b/model.py"], None),
        (["/a/other_model.py", "/a/model.py/x.py"], None),
        ([], None),
    ],
)
def test_a_graph_names_the_file_with_the_fewest_folders_before_the_name(files, found):
    assert find_source_file("model.py", files) == found
