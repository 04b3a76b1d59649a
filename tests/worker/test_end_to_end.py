"""The real worker, tracer and viewer together."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.dom.minidom import parseString

import pytest

import modeldiagrams
from modeldiagrams.engine.builder import DiagramBuilder, Session
from modeldiagrams.engine.diagram_ids import make_diagram_id
from modeldiagrams.options.options import View
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.render.draw import render
from modeldiagrams.worker import process
from samples import PROJECT


def make(builder, model, **options):
    return builder.build(parse_options({"model": model, **options}))


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def builder(cache_dir, worker):
    session = Session()
    session.workers._workers[None, False] = worker
    yield DiagramBuilder(cache_dir, folder=PROJECT, paths=[PROJECT], session=session)
    session.drawer.close()


@pytest.fixture(scope="module")
def diagram(builder):
    return make(builder, "mypkg.Model", inputs="[1, 4]")


def test_model_becomes_a_diagram(diagram):
    assert diagram.problem is None
    assert diagram.graph.status.state == "complete"
    assert {node.id for node in diagram.graph.nodes} >= {"linear", "dropout", "input:x"}
    assert 'data-id="linear"' in diagram.picture.svg
    assert str(PROJECT / "mypkg" / "models.py") in diagram.sources


def test_picture_is_the_same_in_process(diagram):
    assert render(diagram.graph, View()) == diagram.picture


def test_warm_rebuild_starts_no_process(diagram, cache_dir, monkeypatch):
    monkeypatch.setattr(process, "spawned", None)
    with DiagramBuilder(cache_dir, folder=PROJECT, paths=[PROJECT]) as again:
        assert make(again, "mypkg.Model", inputs="[1, 4]") == diagram


def test_pass_that_raises_is_drawn_up_to_there(builder):
    made = make(builder, "mypkg.models.RaisesInForward", inputs="[1, 4]")
    assert made.problem.kind == "forward"
    assert made.problem.message.startswith("the forward pass of mypkg.models.RaisesInForward raised RuntimeError: ")
    assert made.problem.frames[-1].startswith("mypkg/models.py:")
    assert "relu" in made.picture.svg


def test_bad_model_does_not_affect_the_next(builder, diagram):
    kinds = [
        make(builder, model, inputs="[1, 4]").problem.kind
        for model in ("mypkg.Modl", "mypkg.models.RaisesInInit", "mypkg.models.Dies", "mypkg.models.Exits")
    ]
    assert kinds == ["model", "model", "worker", "model"]
    assert make(builder, "mypkg.Model", inputs="{x: [1, 4]}").picture == diagram.picture


def test_graph_file_needs_no_torch(diagram, tmp_path):
    modeldiagrams.save(diagram.graph, tmp_path / "model.json")
    (tmp_path / "torch.py").write_text("raise ImportError('torch is not for this process')\n")
    script = (
        "import sys; from pathlib import Path; from modeldiagrams.engine.builder import DiagramBuilder\n"
        "from modeldiagrams.options.options import Call, Options; import modeldiagrams\n"
        "with DiagramBuilder(None, folder=Path.cwd()) as builder:\n"
        "    made = builder.build(Options(call=Call(model='model.json')))\n"
        "print(made.problem, made.picture.svg == sys.argv[1])\n"
        "modeldiagrams.to_html(modeldiagrams.load('model.json'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, diagram.picture.svg], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("None True\n", "")


def test_documentation_process_imports_no_torch_and_starts_no_v8():
    script = (
        "import sys; from pathlib import Path; from modeldiagrams.engine.builder import DiagramBuilder\n"
        "from modeldiagrams.options.options import Call, Options; import modeldiagrams.html.fragment\n"
        "with DiagramBuilder(None, folder=Path.cwd()) as builder:\n"
        "    made = builder.build(Options(call=Call(model='torch.nn.Identity', inputs=[1, 4])))\n"
        "assert made.picture, made\n"
        "print([name for name in ('torch', 'py_mini_racer') if name in sys.modules])\n"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"


def test_svg_and_html_files_are_self_contained(diagram):
    svg = parseString(modeldiagrams.to_svg(diagram.graph, depth=0)).documentElement  # noqa: S318  (our own)
    assert svg.namespaceURI == "http://www.w3.org/2000/svg"
    page = modeldiagrams.to_html(diagram.graph)
    assert "<script src" not in page
    assert make_diagram_id(parse_options({"model": diagram.graph.model.class_})) in page
    assert json.dumps(diagram.graph.model.name)[1:-1] in page
