"""What all hosts share: from an author's text to a diagram or a warning."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.diagram import Diagram, Problem
from modeldiagrams.hosting.host import draw
from modeldiagrams.hosting.reports import format_warning, is_left_out, report_problem, report_steps
from modeldiagrams.ir.serialize import save
from modeldiagrams.markdown.fence_host import FenceHost
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.options.settings import Settings

EMPTY = msgspec.structs.replace(small_graph(), nodes=())


def failed(kind: str, graph=None, **options) -> Diagram:
    problem = Problem(kind=kind, message="no")
    return Diagram(id="a", options=parse_options({"model": "a.A", **options}), graph=graph, problem=problem)


class Recorder:
    """A host that only notes what is reported to it, and how."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.reports: list[tuple] = []

    def __getattr__(self, way: str):
        return lambda *said: self.reports.append((way, *said))


@pytest.mark.parametrize(
    ("diagram", "on_error", "requested", "expected"),
    [
        (failed("forward"), "warn", True, ["warn"]),
        (failed("forward"), "raise", True, ["fail"]),
        (failed("forward"), "placeholder", True, ["inform"]),
        (failed("forward", nowarn=True), "raise", True, ["inform"]),
        (failed("model"), "raise", False, ["inform"]),
        (failed("inputs"), "warn", False, ["inform"]),
        (failed("forward"), "warn", False, ["warn"]),
        (Diagram(id="a", options=parse_options({"model": "a.A"})), "warn", True, []),
    ],
)
def test_reports_depend_on_setting_option_and_request(diagram, on_error, requested, expected):
    host = Recorder(Settings(on_error=on_error))
    report_problem(host, diagram, 7, requested=requested)
    assert [way for way, *_ in host.reports] == expected
    assert all(message == "model-graph: no" for _, message, *_ in host.reports)


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
    host = Recorder(Settings())
    report_steps(host, diagram, ["here"])
    assert [(way, place) for way, _, place, _ in host.reports] == ([("warn", "here")] if message else [])
    assert all(message in text for _, text, *_ in host.reports), host.reports
