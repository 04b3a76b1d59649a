"""Parts that need no build to be seen: docstrings, pictures drawn at once, outlines that are cut."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

from graphs import small_graph
from modeldiagrams.diagrams import Diagram
from modeldiagrams.graph import ModuleNode, ParameterCount
from modeldiagrams.options import Options
from modeldiagrams.outline import Row
from sphinx_modeldiagrams import outlines, static
from sphinx_modeldiagrams.autodoc import _add_diagram


class Odd:
    """Replaced below."""


Odd.__doc__ = 3  # type: ignore[assignment]


@pytest.mark.parametrize(("chosen", "lines"), [(False, ["What autodoc says."]), (True, ["What autodoc says."])])
def test_a_docstring_that_is_no_text_asks_for_nothing(chosen, lines):
    app = SimpleNamespace(config=SimpleNamespace(modeldiagrams_autodoc=chosen))
    said = list(lines)
    _add_diagram(app, "class", "mypkg.Odd", Odd, SimpleNamespace(), said)
    assert said == lines  # it is no module


def test_pages_that_draw_the_same_picture_at_once_have_a_graph_each(tmp_path, monkeypatch):
    builder = SimpleNamespace(doctreedir=tmp_path, format="html", env=SimpleNamespace(docname="page"))
    diagram = Diagram(id="a", options=Options(model="a.A"), graph=small_graph())
    svg = next(kind for kind in static._KINDS if kind.suffix == "svg")
    graphs = []

    def draw(command, **_):
        source, path = Path(command[4]), Path(command[7])
        graphs.append(source)
        if len(graphs) == 1:
            # while the first draws, another process begins with the same, and is done before
            with monkeypatch.context() as other:
                other.setattr(os, "getpid", lambda: 1)
                assert static._drawn(diagram, builder, svg) == path
            path.unlink()
        assert source.is_file()
        path.touch()

    monkeypatch.setattr(subprocess, "run", draw)
    drawn = static._drawn(diagram, builder, svg)
    assert drawn.is_file()
    assert len(set(graphs)) == 2
    assert [file.name for file in drawn.parent.iterdir()] == [drawn.name]


def _row(path, *children):
    call = ModuleNode(id=path, path=path, class_="mypkg.Block", parameters=ParameterCount(own=0, total=0, trainable=0))
    return Row([call], list(children))


def test_lists_say_what_lies_deeper_than_they_go(monkeypatch):
    """``a`` holds ``a.b`` holds …: LaTeX nests lists four deep."""
    paths = ["a", "a.b", "a.b.c", "a.b.c.d", "a.b.c.d.e"]
    row = _row(paths[-1])
    for path in reversed(paths[:-1]):
        row = _row(path, row)
    monkeypatch.setattr(outlines, "rows", lambda *_: Row([], [row]))
    (top,) = outlines.as_lists(small_graph(), {})
    lines = [line.astext() for line in top.findall(nodes.paragraph)]
    assert lines == ["a Block", "b Block", "c Block", "d Block (… 1 more inside)"]
    assert outlines.as_tree(small_graph()).astext().endswith("└── e  Block")
