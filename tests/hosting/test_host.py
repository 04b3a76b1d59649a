"""What all hosts share: from an author's text to a diagram or a warning."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.diagram import Diagram, Problem
from modeldiagrams.hosting.host import draw, find_step_problems, format_warning, grade_problem, is_left_out
from modeldiagrams.ir.serialize import save
from modeldiagrams.markdown.host import FenceHost
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.options.settings import Settings

EMPTY = msgspec.structs.replace(small_graph(), nodes=())


def failed(kind: str, graph=None, **options) -> Diagram:
    problem = Problem(kind=kind, message="no")
    return Diagram(id="a", options=parse_options({"model": "a.A", **options}), graph=graph, problem=problem)


@pytest.mark.parametrize(
    ("diagram", "on_error", "requested", "expected"),
    [
        (failed("forward"), "warn", True, "warning"),
        (failed("forward"), "raise", True, "error"),
        (failed("forward"), "placeholder", True, "info"),
        (failed("forward", nowarn=True), "raise", True, "info"),
        (failed("model"), "raise", False, "info"),
        (failed("inputs"), "warn", False, "info"),
        (failed("forward"), "warn", False, "warning"),
    ],
)
def test_grade_depends_on_setting_option_and_request(diagram, on_error, requested, expected):
    assert grade_problem(diagram, Settings(on_error=on_error), requested=requested) == expected


def test_diagram_without_problem_is_not_reported():
    assert grade_problem(Diagram(id="a", options=parse_options({"model": "a.A"})), Settings()) is None


@pytest.mark.parametrize(
    ("diagram", "requested", "expected"),
    [
        (failed("model"), False, True),
        (failed("inputs", EMPTY), False, True),
        (failed("inputs", small_graph()), False, True),
        (failed("forward"), False, False),
        (failed("model"), True, False),
        (failed("inputs", small_graph()), True, False),
    ],
)
def test_only_automatic_diagrams_of_what_cannot_be_run_are_left_out(diagram, requested, expected):
    assert is_left_out(diagram, requested=requested) == expected


def test_warning_indents_user_frames():
    problem = Problem(kind="forward", message="bad\nshape\n", frames=("a.py:3 in forward",))
    assert format_warning(problem) == "model-graph: bad\n  shape\n  a.py:3 in forward"


def test_a_wrong_option_keeps_the_figure():
    values = {"model": "a.A", "depht": 1, "caption": "Net", "width": "9px", "no-index": True, "nowarn": True}
    figure = draw(SimpleNamespace(settings=Settings()), values, "").options.figure
    assert (figure.caption, figure.width, figure.no_index, figure.nowarn) == ("Net", "9px", False, False)


def test_an_impossible_file_name_is_a_wrong_option():
    host = SimpleNamespace(settings=Settings(), graph_file=lambda path: str(Path(path).resolve()))
    assert draw(host, {}, r'model: "\ud800.json"').problem.kind == "option"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"alone": "fc"}, "`alone`: 'fc' cannot be the whole picture; expected a module or function that holds"),
        ({"lens": "time"}, "`lens`: the graph has no times of ops; trace the model with the option `measure_time`"),
        ({"focus": ["fc"], "lens": "flops"}, None),
    ],
)
def test_a_step_that_cannot_be_shown_is_reported(tmp_path, step, message):
    save(small_graph(), tmp_path / "net.json")
    with DiagramBuilder(tmp_path / "cache", folder=tmp_path) as builder:
        diagram = draw(FenceHost(builder), {"model": "net.json"}, "", steps=[step])
        assert diagram.problem is None
        found = [(index, str(error)) for index, error in find_step_problems(diagram)]
    assert [index for index, _ in found] == ([0] if message else [])
    assert all(message in text for _, text in found), found
