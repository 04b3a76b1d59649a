from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.dom.minidom import parseString

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams import assets, v8
from modeldiagrams.errors import OptionError, RenderError
from modeldiagrams.graph import Edge, OpNode, OutputNode
from modeldiagrams.options import Options
from modeldiagrams.render import PAGES, View, render, view_from, view_of, viewer_digest

TESTS = Path(__file__).parents[1]
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="3"><text>é → \u2028 &amp;</text></svg>'


REAL_VIEWER = assets.asset("static.js")
FRAIL = """
var left = %d, drawing = false;
const Sound = WebAssembly.Instance;
WebAssembly.Instance = function (...given) {
  const { exports } = new Sound(...given);
  if ((left -= 1) < 0) return { exports };
  const trap = (run) => (...values) => {
    if (drawing) throw new WebAssembly.RuntimeError("unreachable");
    return run(...values);
  };
  const frail = ([name, value]) => [name, typeof value === "function" ? trap(value) : value];
  return { exports: Object.fromEntries(Object.entries(exports).map(frail)) };
};
%s
const { render } = modelDiagrams;
modelDiagrams.render = (...given) => {
  drawing = true;
  try { return render(...given); } finally { drawing = false; }
};
"""
"""The viewer, so many of whose layout engines break down at their first picture."""


@pytest.fixture
def viewer(tmp_path, monkeypatch):
    """Makes a viewer of one JavaScript function body."""

    def make(body):
        (tmp_path / "static.js").write_text(
            f"globalThis.modelDiagrams = {{ready: Promise.resolve(), render(graph, view) {{ {body} }}}};"
            f"/*{'long line ' * 1000}*/"
        )
        (tmp_path / "picture.css").write_text(".mg-svg > text { fill: red }")

    monkeypatch.setattr(assets, "_STATIC", tmp_path)
    v8._context.cache_clear()
    yield make
    v8._context.cache_clear()


def forked_graph():
    """A graph that is no chain: ``relu`` and ``tanh`` read one tensor, and two outputs theirs."""
    small = small_graph()
    tanh, logits = (OpNode(id="/tanh", name="torch.tanh", outputs=("/tanh:0",)), OutputNode(id="output:y", name="y"))
    read = Edge(to="/tanh", tensor="fc/linear:0", argument="0")
    return msgspec.structs.replace(
        small,
        nodes=(*small.nodes, tanh, logits),
        adjacency={
            **small.adjacency,
            "fc/linear": (*small.adjacency["fc/linear"], read),
            "/tanh": (Edge(to="output:y", tensor="/tanh:0"),),
        },
        hierarchy={**small.hierarchy, "/tanh": None, "output:y": None},
        tensors={**small.tensors, "/tanh:0": small.tensors["/relu:0"]},
    )


def answer(**fields):
    return (
        f"return {json.dumps(json.dumps({'svg': SVG, 'width': 3, 'height': 4.5, 'state': {'expanded': []}} | fields))}"
    )


def test_the_viewer_gets_graph_and_view_as_json_and_text_survives(viewer):
    viewer(
        "return JSON.stringify({svg: JSON.parse(graph).model.name + ' é\\u2028', width: 1, height: 2,"
        " state: JSON.parse(view)})"
    )
    picture = render(small_graph(), View(depth=1, expand=["a'\"\\"]))
    assert picture.svg == "Net é\u2028"
    assert picture.state == {"depth": 1, "expand": ["a'\"\\"], "collapse": None, "direction": None, "fit": None}


def test_the_order_of_patterns_survives_the_way_to_the_viewer(viewer):
    """As keys of an object, JavaScript would put ``0`` before ``*``; the last that matches counts."""
    viewer("return JSON.stringify({svg: '', width: 1, height: 2, state: JSON.parse(view)})")
    rules = {"*": "LR", "encoder": "TB", "0": "TB"}
    assert render(small_graph(), View(direction=rules)).state["direction"] == [*map(list, rules.items())]


def test_a_standalone_picture_carries_its_style_and_is_xml(viewer):
    viewer(answer())
    svg = parseString(render(small_graph(), View(), standalone=True).svg).documentElement  # noqa: S318  (our own)
    assert svg.firstChild.tagName == "style"
    assert svg.firstChild.firstChild.data == ".mg-svg > text { fill: red }"
    assert "style" not in render(small_graph(), View()).svg


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("throw new Error('no such node: x')", "could not draw this graph: Error: no such node: x"),
        ("return graph.nope.nope", "could not draw this graph: TypeError: Cannot read properties of undefined"),
        ("throw new Error('x'.repeat(9999))", "could not draw this graph: Error: xxx"),
        ("return '{}'", "expected a picture from the viewer, got something else"),
        (answer(width="wide"), "expected a picture from the viewer, got something else"),
    ],
)
def test_what_goes_wrong_in_the_viewer_is_one_readable_line(viewer, body, message):
    viewer(body)
    with pytest.raises(RenderError) as caught:
        render(small_graph(), View())
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_after_a_crash_a_new_context_draws(viewer):
    viewer(
        "if (graph.includes('Net') && !globalThis.crashed) { globalThis.crashed = 1; throw new Error('once') }"
        + answer()
    )
    with pytest.raises(RenderError):
        render(small_graph(), View())
    before = v8._context.cache_info().currsize
    with pytest.raises(RenderError):  # the mark the first call left behind is gone
        render(small_graph(), View())
    assert before == 0


def test_a_breakdown_of_the_layout_engine_leaves_no_traces(viewer, tmp_path):
    """One is followed by a new engine; what breaks every engine is laid out without it, each time in the same way."""
    viewer("")
    graph = forked_graph()

    def drawn(breakdowns: int) -> tuple[str, int]:
        v8._context.cache_clear()
        (tmp_path / "static.js").write_text(FRAIL % (breakdowns, REAL_VIEWER.read_text("utf-8")))
        svg = render(graph, View(depth=9)).svg
        return svg, breakdowns - int(v8.evaluate("left", tmp_path / "static.js"))

    sound, engines = drawn(0)
    assert engines == 1
    assert drawn(1) == (sound, 2)
    assert drawn(99) == drawn(99)
    assert drawn(99)[1] > 2


def test_a_picture_that_takes_too_long_is_given_up(viewer, monkeypatch):
    viewer("for (;;) {}")
    monkeypatch.setattr(v8, "TIMEOUT", 0.2)
    with pytest.raises(RenderError, match=r"took longer than 0\.2 s and was given up; show less at first"):
        render(small_graph(), View())


def test_a_viewer_that_is_not_built_says_how_to_build_it(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "_STATIC", tmp_path)
    with pytest.raises(RenderError, match=r"static\.js is missing; run `make viewer`"):
        viewer_digest()


def test_a_forked_child_has_a_context_of_its_own(viewer):
    viewer(answer())
    render(small_graph(), View())
    pid = os.fork()
    if pid == 0:
        try:
            render(small_graph(), View())
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def test_a_process_that_drew_ends_and_so_do_its_forked_children():
    script = (
        "import os, sys, time\nfrom graphs import small_graph\nfrom modeldiagrams.render import View, render\n"
        "render(small_graph(), View())\nchild = os.fork()\n"
        "if child: print(os.waitpid(child, 0)[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": "."},
        timeout=30,
        check=True,
        capture_output=True,
    )
    assert done.stdout == b"0\n"


def test_the_digest_changes_with_the_viewer(viewer):
    viewer(answer())
    first = viewer_digest()
    viewer(answer(width=9))
    assert viewer_digest() != first


def test_a_view_is_made_of_options_or_keywords():
    options = Options(model="m", depth=2, expand=["a"], direction="LR", caption="Text")
    assert view_of(options) == View(depth=2, expand=["a"], direction="LR")
    assert view_from({"depth": 2, "expand": ["a"], "direction": "LR"}) == view_of(options)
    assert view_from({}) == View()
    assert view_from({"fit": "A4"}).fit == PAGES["a4"]
    assert view_from({"fit": (300, 400)}) == view_from({"fit": "[300, 400]"}) == View(fit=(300, 400))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"dept": 1}, "option 'dept': unknown here; a view has depth, expand, collapse, direction"),
        ({"caption": "Text"}, "option 'caption': unknown here"),
        ({"depth": -1}, "option 'depth': "),
        ({"direction": "up"}, "option 'direction': "),
        ({"fit": "a3"}, "option 'fit': expected a4, letter or [width, height] in px, got 'a3'"),
        ({"fit": [0, 10]}, "option 'fit': expected a4, letter or [width, height] in px, got [0, 10]"),
        ({"fit": (float("inf"), 10)}, "option 'fit': expected a4, letter or [width, height] in px, got (inf, 10)"),
    ],
)
def test_a_wrong_view_keyword_is_named(keywords, message):
    with pytest.raises(OptionError) as caught:
        view_from(keywords)
    assert message in str(caught.value)


def test_pictures_are_drawn_where_an_asyncio_loop_runs():
    """As in every notebook."""

    async def cell() -> str:
        return render(small_graph(), View()).svg

    # in a thread, because the browser tests leave a loop running in this one
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, cell()).result() == render(small_graph(), View()).svg
