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
from modeldiagrams.errors import OptionError, RenderError
from modeldiagrams.ir.graph import Edge, OpNode, OutputNode
from modeldiagrams.options.options import View
from modeldiagrams.options.parsing import parse_view
from modeldiagrams.options.reading import PAGES
from modeldiagrams.render import assets, js_runtime
from modeldiagrams.render.draw import digest_viewer, render
from option_helpers import make_options

TESTS = Path(__file__).parents[1]
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="3"><text>é → \u2028 &amp;</text></svg>'


REAL_VIEWER = assets.find_asset("static.js")
CRASHING = """
var left = %d, calls = 0, startup;
const Sound = WebAssembly.Instance;
WebAssembly.Instance = function (...given) {
  const { exports } = new Sound(...given);
  calls = 0;
  if ((left -= 1) < 0) return { exports };
  const trap = (run) => (...values) => {
    calls += 1;
    if (calls > startup) throw new WebAssembly.RuntimeError("unreachable");
    return run(...values);
  };
  const frail = ([name, value]) => [name, typeof value === "function" ? trap(value) : value];
  return { exports: Object.fromEntries(Object.entries(exports).map(frail)) };
};
%s
modelDiagrams.ready.then(() => { startup = calls; });
modelDiagrams.left = () => left;
"""
"""The viewer, with a layout engine whose first instances crash when called."""


@pytest.fixture
def viewer(tmp_path, monkeypatch):
    """Replaces the viewer by a JavaScript function body."""

    def make(body):
        (tmp_path / "static.js").write_text(
            f"globalThis.modelDiagrams = {{ready: Promise.resolve(), render(graph, request) {{ {body} }}}};"
            f"/*{'long line ' * 1000}*/"
        )
        (tmp_path / "picture.css").write_text(".mg-svg > text { fill: red }")

    monkeypatch.setattr(assets, "_STATIC", tmp_path)
    js_runtime._create_context.cache_clear()
    yield make
    js_runtime._create_context.cache_clear()


def forked_graph():
    """A graph that needs dot, because it is not a chain: ``relu`` and ``tanh`` read one tensor."""
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


def test_viewer_gets_graph_and_view_as_json_and_keeps_special_characters(viewer):
    viewer(
        "return JSON.stringify({svg: JSON.parse(graph).model.name + ' é\\u2028', width: 1, height: 2,"
        " state: JSON.parse(request).view})"
    )
    picture = render(small_graph(), View(depth=1, expand=["a'\"\\"]))
    assert picture.svg == "Net é\u2028"
    unset = dict.fromkeys(
        ("collapse", "direction", "functions", "layers", "edge_width", "fit", "legend", "palette", "shapes")
    )
    assert picture.state == {"depth": 1, "expand": ["a'\"\\"], **unset}


def test_direction_patterns_reach_viewer_in_order(viewer):
    """A JavaScript object would order the key ``0`` before ``*``, but the last matching pattern wins."""
    viewer("return JSON.stringify({svg: '', width: 1, height: 2, state: JSON.parse(request).view})")
    rules = {"*": "LR", "encoder": "TB", "0": "TB"}
    assert render(small_graph(), View(direction=rules)).state["direction"] == [*map(list, rules.items())]


def test_standalone_picture_is_xml_with_its_style_sheet(viewer):
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
def test_viewer_error_is_one_readable_line(viewer, body, message):
    viewer(body)
    with pytest.raises(RenderError) as caught:
        render(small_graph(), View())
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_viewer_error_discards_javascript_context(viewer):
    viewer(
        "if (graph.includes('Net') && !globalThis.crashed) { globalThis.crashed = 1; throw new Error('once') }"
        + answer()
    )
    with pytest.raises(RenderError):
        render(small_graph(), View())
    before = js_runtime._create_context.cache_info().currsize
    with pytest.raises(RenderError):  # a new context has no `crashed` from the first call
        render(small_graph(), View())
    assert before == 0


def test_layout_engine_crash_does_not_change_picture(viewer, tmp_path):
    """A new engine retries; if all crash, the layout without dot is used, always with the same result."""
    viewer("")
    graph = forked_graph()

    def drawn(crashes: int) -> tuple[str, int]:
        js_runtime._create_context.cache_clear()
        (tmp_path / "static.js").write_text(CRASHING % (crashes, REAL_VIEWER.read_text("utf-8")))
        svg = render(graph, View(depth=9)).svg
        return svg, crashes - int(js_runtime.call(tmp_path / "static.js", "left"))

    sound, engines = drawn(0)
    assert engines == 1
    assert drawn(1) == (sound, 2)
    assert drawn(99) == drawn(99)
    assert drawn(99)[1] > 2


def test_slow_picture_times_out(viewer, monkeypatch):
    viewer("for (;;) {}")
    monkeypatch.setattr(js_runtime, "TIMEOUT", 0.2)
    with pytest.raises(RenderError, match=r"took longer than 0\.2 s and was given up; show less at first"):
        render(small_graph(), View())


def test_slow_retry_after_crash_times_out(viewer, monkeypatch):
    viewer("modelDiagrams.retry = () => { for (;;) {} }; return ''")
    monkeypatch.setattr(js_runtime, "TIMEOUT", 0.2)
    with pytest.raises(RenderError, match=r"took longer than 0\.2 s"):
        render(small_graph(), View())


def test_missing_viewer_error_says_how_to_build_it(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "_STATIC", tmp_path)
    with pytest.raises(RenderError, match=r"static\.js is missing; run `make viewer`"):
        digest_viewer()


def test_forked_child_can_render(viewer):
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


def test_process_and_forked_child_exit_after_rendering():
    script = (
        "import os, sys, time\nfrom graphs import small_graph\n"
        "from modeldiagrams.options.options import View\nfrom modeldiagrams.render.draw import render\n"
        "render(small_graph(), View())\nchild = os.fork()\n"
        "if child: print(os.waitpid(child, 0)[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": "."},
        timeout=600,
        check=True,
        capture_output=True,
    )
    assert done.stdout == b"0\n"


def test_viewer_digest_changes_with_viewer(viewer):
    viewer(answer())
    first = digest_viewer()
    viewer(answer(width=9))
    assert digest_viewer() != first


def test_view_from_options_equals_view_from_keywords():
    options = make_options(model="m", depth=2, expand=["a"], direction="LR", caption="Text")
    assert options.view == View(depth=2, expand=["a"], direction="LR")
    assert parse_view({"depth": 2, "expand": ["a"], "direction": "LR"}) == options.view
    assert parse_view({}) == View()
    assert parse_view({"fit": "A4"}).fit == PAGES["a4"]
    assert parse_view({"fit": (300, 400)}) == parse_view({"fit": "[300, 400]"}) == View(fit=(300, 400))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"dept": 1}, "option `dept`: unknown here; did you mean 'depth'?"),
        ({"caption": "Text"}, "option `caption`: unknown here; a view has depth, expand, collapse, direction"),
        ({"depth": -1}, "option `depth`: "),
        ({"direction": "up"}, "option `direction`: "),
        ({"fit": "a3"}, "option `fit`: expected a4, letter or [width, height] in px, got 'a3'"),
        ({"fit": [0, 10]}, "option `fit`: expected a4, letter or [width, height] in px, got [0, 10]"),
        ({"fit": (float("inf"), 10)}, "option `fit`: expected a4, letter or [width, height] in px, got (inf, 10)"),
    ],
)
def test_invalid_view_keyword_error_names_it(keywords, message):
    with pytest.raises(OptionError) as caught:
        parse_view(keywords)
    assert message in str(caught.value)


def test_render_works_inside_asyncio_loop():
    """As in a notebook."""

    async def cell() -> str:
        return render(small_graph(), View()).svg

    # in a thread, because the browser tests leave a loop running in this one
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, cell()).result() == render(small_graph(), View()).svg
