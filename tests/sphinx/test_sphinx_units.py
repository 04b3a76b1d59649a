"""What needs no build: docstrings, parallel drawing, shortened outlines."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest
from docutils import nodes

from graphs import small_graph
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.errors import WorkerError
from modeldiagrams.ir.describing.text import describe
from modeldiagrams.ir.graph import Failure, Status
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.render.draw import OutlineRow
from modeldiagrams.worker import Problem, Refused, Traced, Worker
from modeldiagrams.worker.drawing import Drawer
from option_helpers import make_options
from sphinx_modeldiagrams import outlines
from sphinx_modeldiagrams.autodoc import _add_diagram
from sphinx_modeldiagrams.diagram_node import model_graph
from sphinx_modeldiagrams.entries import Location, is_outdated, make_entry
from sphinx_modeldiagrams.transform import _make_shown


class Odd:
    """Replaced below."""


Odd.__doc__ = 3  # type: ignore[assignment]


@pytest.mark.parametrize(("chosen", "lines"), [(False, ["What autodoc says."]), (True, ["What autodoc says."])])
def test_a_docstring_that_is_not_a_string_is_ignored(chosen, lines):
    app = SimpleNamespace(config=SimpleNamespace(modeldiagrams_autodoc=chosen))
    said = list(lines)
    _add_diagram(app, "class", "mypkg.Odd", Odd, SimpleNamespace(), said)
    assert said == lines  # it is no module


def test_lists_count_modules_below_their_last_level():
    """``a`` holds ``b`` holds …: LaTeX nests lists four deep."""
    rows = [
        OutlineRow(parent=i - 1 if i else None, id=name, name=name, class_="mypkg.Block", times=1)
        for i, name in enumerate("abcde")
    ]
    (top,) = outlines.build_lists(rows, {})
    lines = [line.astext() for line in top.findall(nodes.paragraph)]
    assert lines == ["a Block", "b Block", "c Block", "d Block (… 1 more inside)"]


def test_diagram_that_could_not_be_drawn_is_a_list_of_its_modules():
    diagram = Diagram(id="net", options=make_options(model="mypkg.Net"), graph=small_graph())
    title, modules = _make_shown(model_graph(), diagram, SimpleNamespace(name="man", format="man"))
    assert title.astext() == "Architecture of Net:"
    assert modules.astext() == "fc Linear"


def test_text_has_the_whole_graph():
    diagram = Diagram(id="net", options=make_options(model="mypkg.Net"), graph=small_graph())
    config = SimpleNamespace(html_baseurl="https://docs.example.org/")
    (text,) = _make_shown(model_graph(), diagram, SimpleNamespace(name="text", format="text", config=config))
    assert text.astext() == describe(small_graph(), "https://docs.example.org/modeldiagrams/net.json").rstrip()


@pytest.mark.parametrize(
    ("cache", "state", "expected"),
    [
        ("writable", None, False),
        ("read-only", None, True),
        ("read-only", "partial", True),
        # such graphs are cached like complete ones
        ("read-only", "hierarchy", False),
    ],
)
def test_silenced_failure_is_tried_again_if_it_could_not_be_remembered(cache, state, expected, tmp_path, monkeypatch):
    """A folder can't be made where there is a file."""
    (tmp_path / "read-only").touch()
    graph = msgspec.structs.replace(small_graph(), status=Status(state=state or "complete", mode="real"))
    problem = Problem(kind="inputs", message="no inputs")
    monkeypatch.setattr(Worker, "trace", lambda *_: Refused(problem=problem))
    with DiagramBuilder(tmp_path / cache / "cache", folder=tmp_path) as builder:
        refused = builder.build(make_options(model="mypkg.Net"), accepted={"inputs"})
        diagram = msgspec.structs.replace(refused, graph=graph if state else None)
        entry = make_entry(diagram, Location(anchor="net", source="a.rst:1", automatic=False), builder, {"inputs"})
        keys = [entry["failure"]] if entry["failure"] else []
        assert is_outdated(entry, builder.tracing.failing(keys)) == expected


@pytest.mark.parametrize("can_draw", [True, False])
def test_a_failed_drawing_is_tried_again_next_to_a_remembered_failure(can_draw, tmp_path, monkeypatch):
    def slow(*_):
        raise WorkerError("drawing took longer than 60 s")

    status = Status(state="partial", mode="real", error=Failure(type="ValueError", message="never"))
    graph = msgspec.structs.replace(small_graph(), status=status)
    monkeypatch.setattr(Worker, "trace", lambda *_: Traced(graph=serialize(graph)))
    with DiagramBuilder(tmp_path / "cache", folder=tmp_path) as builder:
        if not can_draw:
            monkeypatch.setattr(Drawer, "render", slow)
        diagram = builder.build(make_options(model="mypkg.Net"))
        assert diagram.problem
        assert (diagram.problem.kind, diagram.picture is not None) == ("forward", can_draw)
        entry = make_entry(diagram, Location(anchor="net", source="a.rst:1", automatic=False), builder, set())
        keys = [entry["failure"]] if entry["failure"] else []
        assert is_outdated(entry, builder.tracing.failing(keys)) == (not can_draw)
