"""The diagram builder with a fake worker; `test_end_to_end.py` has a real one.

Long because all tests share that worker.
"""

from __future__ import annotations

import os
import re
import time

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.engine import builder as builder_module
from modeldiagrams.engine import cache, model_graphs
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.compare.versions import list_kept_graphs
from modeldiagrams.engine.diagram import Diagram, Problem, add_problem
from modeldiagrams.engine.diagram_ids import make_diagram_id
from modeldiagrams.engine.problems import format_problem
from modeldiagrams.errors import RenderError
from modeldiagrams.hosting.host import draw
from modeldiagrams.hosting.site_files import build_shared_files, make_entry
from modeldiagrams.ir.graph import Failure, Frame, Provenance, Status
from modeldiagrams.ir.serialize import save, serialize
from modeldiagrams.markdown.fence_host import FenceHost
from modeldiagrams.options.settings import Settings
from modeldiagrams.render.draw import Picture, build_difference
from modeldiagrams.worker import Refused, Traced
from option_helpers import make_options

PICTURE = Picture(svg="<svg></svg>", width=3, height=4, state={})
RAISED = Failure(type="ValueError", message="odd width", frames=(Frame(file="mypkg/m.py", line=3, function="forward"),))


class FakeWorker:
    """Gives the answers that a test sets and records the requests."""

    def __init__(self):
        self.requests = []
        self.closed = False
        self.traced = Traced(graph=serialize(small_graph()), sources=())
        self.drawn = PICTURE
        self.difference = build_difference

    def trace(self, options, paths):
        self.requests.append(("trace", options.call.model, tuple(paths)))
        return self._answer(self.traced)

    def render(self, graph, view, _earlier=None):
        self.requests.append(("render", graph, view))
        return self._answer(self.drawn)

    def close(self):
        self.closed = True

    def _answer(self, answer):
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def worker(monkeypatch):
    fake = FakeWorker()
    monkeypatch.setattr(model_graphs, "Worker", lambda *_, **__: fake)
    monkeypatch.setattr(builder_module, "Drawer", lambda: fake)
    monkeypatch.setattr(cache, "digest_viewer", lambda: "1")
    return fake


@pytest.fixture
def builder(worker, tmp_path):
    with DiagramBuilder(tmp_path / "cache", folder=tmp_path, paths=[tmp_path / "src"]) as builder:
        yield builder
    assert worker.closed or not worker.requests


def partial_graph():
    return msgspec.structs.replace(small_graph(), status=Status(state="partial", mode="real", error=RAISED))


def test_diagram_has_graph_picture_and_sources(builder, worker, tmp_path):
    worker.traced = Traced(graph=serialize(small_graph()), sources=("/a.py",))
    options = make_options(model="mypkg.Net")
    assert builder.build(options) == Diagram(
        id="mypkg.Net",
        options=options,
        snapshot="mypkg.Net",
        graph=small_graph(),
        picture=PICTURE,
        sources=("/a.py",),
    )
    assert worker.requests[0] == ("trace", "mypkg.Net", (tmp_path / "src",))


def test_warm_cache_sends_no_request(builder, worker, tmp_path):
    first = builder.build(make_options(model="mypkg.Net"))
    worker.requests.clear()
    assert builder.build(make_options(model="mypkg.Net")) == first
    with DiagramBuilder(tmp_path / "cache", folder=tmp_path) as other:
        assert other.build(make_options(model="mypkg.Net")) == first
    assert worker.requests == []


def test_another_view_is_drawn_from_the_cached_graph(builder, worker):
    builder.build(make_options(model="mypkg.Net"))
    worker.requests.clear()
    builder.build(make_options(model="mypkg.Net", depth=2))
    assert [request[0] for request in worker.requests] == ["render"]


def test_without_cache_every_build_traces_and_draws(worker, tmp_path):
    with DiagramBuilder(None, folder=tmp_path) as builder:
        builder.build(make_options(model="mypkg.Net"))
        builder.build(make_options(model="mypkg.Net"))
    assert [request[0] for request in worker.requests] == ["trace", "render"] * 2


def test_raising_pass_has_picture_and_problem(builder, worker):
    worker.traced = Traced(graph=serialize(partial_graph()))
    made = builder.build(make_options(model="mypkg.Net"))
    assert made.picture == PICTURE
    assert made.problem == Problem(
        kind="forward",
        message="the forward pass of mypkg.Net raised ValueError: odd width",
        frames=("mypkg/m.py:3 in forward",),
    )


def test_graph_is_not_cached_if_a_source_was_edited_meanwhile(builder, worker, tmp_path):
    source = tmp_path / "model.py"
    source.touch()
    worker.traced = Traced(graph=serialize(small_graph()), sources=(str(source),))
    after = time.time() + 60
    os.utime(source, (after, after))
    builder.build(make_options(model="mypkg.Net"))
    os.utime(source, (1, 1))
    builder.build(make_options(model="mypkg.Net"))
    builder.build(make_options(model="mypkg.Net"))
    assert [request[0] for request in worker.requests].count("trace") == 2


def test_unmatched_pattern_is_a_problem_beside_the_picture(builder, worker):
    made = builder.build(make_options(model="mypkg.Net", expand=["fc", "*.atention"]))
    assert made.picture == worker.drawn
    assert made.problem.kind == "option"
    assert made.problem.message.startswith("option `expand`: no module matches '*.atention'; ")
    assert builder.build(make_options(model="mypkg.Net", expand=["fc"])).problem is None


def test_refused_request_keeps_problem_and_sources(builder, worker):
    problem = Problem(kind="model", message="no module named 'x'")
    worker.traced = Refused(problem=problem, sources=("/a.py",))
    assert builder.build(make_options(model="x.Y")) == Diagram(
        id="x.Y",
        options=make_options(model="x.Y"),
        snapshot="x.Y",
        problem=Problem(kind="model", message="x.Y: no module named 'x'"),
        sources=("/a.py",),
    )


@pytest.mark.usefixtures("worker")
def test_site_names_the_snapshot_of_a_diagram(tmp_path, monkeypatch):
    monkeypatch.setenv("MODELDIAGRAMS_SNAPSHOT_REPORT", str(tmp_path / "report"))
    options = [make_options(model="mypkg.Net", inputs=[1, 8], depth=depth) for depth in (1, 2)]
    with DiagramBuilder(None, folder=tmp_path, snapshots=tmp_path / "graphs") as builder:
        diagrams = [builder.build(written) for written in options]
    entries = [make_entry(diagram, "index.html") for diagram in diagrams]
    (tmp_path / "modeldiagrams").mkdir()
    (tmp_path / "modeldiagrams" / "index.json").write_bytes(build_shared_files(Settings(), entries)["index.json"])
    (snapshot,) = (tmp_path / "graphs").iterdir()
    assert [kept.names for kept in list_kept_graphs(str(tmp_path), tmp_path)] == [(snapshot.stem,)] * 2


def test_dead_worker_is_a_problem(builder, worker):
    worker.traced = Refused(problem=Problem(kind="worker", message="ended"))
    assert builder.build(make_options(model="x.Y")).problem == Problem(kind="worker", message="x.Y: ended")


def test_diagram_without_picture_keeps_its_graph(builder, worker):
    worker.drawn = RenderError("too big")
    made = builder.build(make_options(model="x.Y"))
    assert made.graph == small_graph()
    assert made.picture is None
    assert made.problem == Problem(kind="render", message="x.Y: too big")


def test_problem_names_both_the_failed_pass_and_the_failed_drawing(builder, worker):
    worker.traced = Traced(graph=serialize(partial_graph()), sources=())
    worker.drawn = RenderError("no room")
    problem = builder.build(make_options(model="mypkg.Net")).problem
    assert problem.kind == "forward"
    assert "odd width" in problem.message
    assert "no room" in problem.message


def test_graph_file_is_relative_to_the_folder_and_not_traced(builder, worker, tmp_path):
    save(small_graph(), tmp_path / "graphs" / "net.json")
    made = builder.build(make_options(model="graphs/net.json"))
    assert made.graph == small_graph()
    assert made.picture == PICTURE
    assert made.sources == (str(tmp_path / "graphs" / "net.json"),)
    assert [request[0] for request in worker.requests] == ["render"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "net.json: expected a readable graph file: No such file or directory"),
        (b"{", "net.json: $: expected JSON"),
        (b'{"format": "other"}', "net.json: $.format: expected 'modeldiagrams'"),
    ],
)
def test_unreadable_graph_file_is_a_problem_without_absolute_paths(builder, tmp_path, content, message):
    if content is not None:
        (tmp_path / "net.json").write_bytes(content)
    made = builder.build(make_options(model="net.json"))
    problem = made.problem
    assert made.sources == (str(tmp_path / "net.json"),)
    assert problem.kind == "graph-file"
    assert problem.message.startswith(message)
    assert str(tmp_path) not in problem.message


def test_graph_file_name_may_have_spaces(builder, tmp_path):
    save(small_graph(), tmp_path / "my graphs" / "net one.json")
    made = builder.build(make_options(model="my graphs/net one.json"))
    assert made.graph == small_graph()
    assert re.fullmatch(r"my-graphs-net-one\.json-[0-9a-f]{8}", made.id)


def test_graph_file_rejects_inputs(builder):
    problem = builder.build(make_options(model="net.json", inputs=[1, 4])).problem
    assert problem == Problem(
        kind="option",
        message="option `inputs`: net.json is a graph file, so there is nothing to call; remove this option",
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (make_options(model="mypkg.Model"), "mypkg.Model"),
        (make_options(model="my_pkg.v2.Model"), "my_pkg.v2.Model"),
        (make_options(model="mypkg._Model"), "mypkg._Model"),
        (make_options(model="mypkg.mod:Model"), "mypkg.mod.Model"),
        (make_options(model="mypkg.Model", caption="Text", name="fig", width="3px"), "mypkg.Model"),
        (make_options(model="bert.json"), "bert.json"),
    ],
)
def test_id_is_the_path_of_the_model(options, expected):
    assert make_diagram_id(options) == expected


def test_ids_differ_by_content_and_are_file_names():
    ids = [
        make_diagram_id(options)
        for options in (
            make_options(model="mypkg.Model"),
            make_options(model="mypkg.Model", depth=1),
            make_options(model="mypkg.Model", depth=2),
            make_options(model="mypkg.Model", kwargs={"a": 1}),
            make_options(model="mypkg.Model", kwargs={"a": "1"}),
            make_options(model="../graphs/bert.json"),
            make_options(model="graphs/bert.json"),
        )
    ]
    assert len(set(ids)) == len(ids)
    assert all(not set(name) & set('/\\:*?"<>|') and not name.startswith(".") for name in ids)


def test_names_of_one_class_are_one_diagram(builder, worker):
    """A class of ``mypkg`` that ``my`` exports, in whichever way it is named."""
    names = {"mypkg.Net": ("my.Net",)}
    worker.traced = msgspec.structs.replace(worker.traced, name="my.Net", names=names)
    first, second = (builder.build(make_options(model=name)) for name in ("mypkg.Net", "my.Net"))
    assert first.own_names == second.own_names == ("my.Net", "mypkg.Net")
    assert [kind for kind, *_ in worker.requests] == ["trace", "render"]
    assert (first.id, second.id) == ("my.Net", "my.Net")
    assert builder.build(make_options(model="my:Net")).id == "my.Net"
    assert builder.build(make_options(model="mypkg.Net", direction="LR")).id.startswith("my.Net-")


@pytest.mark.usefixtures("worker")
def test_site_defaults_change_neither_id_nor_snapshot_name(tmp_path):
    """The next version of a site may have other settings, and its diagrams are to be compared with these."""
    save(small_graph(), tmp_path / "kept" / "mypkg.Net.json")
    settings = Settings(python="python3", defaults={"depth": 2, "direction": "LR", "kwargs": {"width": 3}})
    with DiagramBuilder(None, folder=tmp_path, snapshots=tmp_path / "kept") as builder:
        plain = draw(FenceHost(builder), {}, "mypkg.Net")
        made = draw(FenceHost(builder, settings), {}, "mypkg.Net")
        other = draw(FenceHost(builder, settings), {"depth": 2}, "mypkg.Net")
    assert made.id == plain.id == "mypkg.Net"
    assert made.options.view.depth == 2
    assert other.id != made.id
    assert made.sources == (str(tmp_path / "kept" / "mypkg.Net.json"),)


@pytest.mark.parametrize("models", [("a.Net", "a.net"), ("a.Net", "A.Net"), ("net.json", "Net.json")])
def test_ids_differ_on_case_insensitive_file_systems(models):
    ids = {make_diagram_id(make_options(model=model)).lower() for model in models}
    assert len(ids) == 2


def test_classes_that_differ_in_case_have_ids_with_digests(builder, worker):
    worker.traced = Traced(graph=serialize(small_graph()), sources=(), has_case_variant=True)
    ids = {builder.build(make_options(model=model)).id for model in ("a.Net", "a.NET")}
    assert len({name.lower() for name in ids}) == 2
    assert ids == {builder.build(make_options(model=model)).id for model in ("a.Net", "a.NET")}


@pytest.mark.parametrize("python", [None, "no/such/python"])
def test_snapshot_is_used_without_torch(worker, tmp_path, monkeypatch, python):
    monkeypatch.setattr(builder_module, "has_torch", lambda: False)
    save(small_graph(), tmp_path / "kept" / "mypkg.Net.json")
    with DiagramBuilder(None, folder=tmp_path, snapshots=tmp_path / "kept") as builder:
        made = builder.build(make_options(model="mypkg.Net", python=python, depth=2))
        other = builder.build(make_options(model="mypkg.Other"))
    assert made.graph == small_graph()
    assert made.problem is None
    assert made.sources == (str(tmp_path / "kept" / "mypkg.Net.json"),)
    assert [request[0] for request in worker.requests] == ["render"]
    assert other.problem.message.startswith("mypkg.Other can't be traced. PyTorch is not installed")


def test_committed_graph_is_used_with_torch_unless_snapshots_are_written(worker, tmp_path, monkeypatch):
    kept, net = tmp_path / "kept", make_options(model="mypkg.Net", committed=True)
    save(small_graph(), kept / "mypkg.Net.json.gz")
    with DiagramBuilder(None, folder=tmp_path, snapshots=kept) as builder:
        builder.prefetch([net])
        made = builder.build(net)
        other = builder.build(make_options(model="mypkg.Other", committed=True))
    assert (made.graph, made.problem, made.id) == (small_graph(), None, "mypkg.Net")
    assert [request[0] for request in worker.requests] == ["render"]
    assert other.problem.message.startswith("mypkg.Other can't be traced. The option `committed` is set, and nothing")
    monkeypatch.setenv("MODELDIAGRAMS_SNAPSHOT_REPORT", str(tmp_path / "report"))
    with DiagramBuilder(None, folder=tmp_path, snapshots=kept) as builder:
        builder.build(net)
    assert "trace" in [request[0] for request in worker.requests]


def test_a_left_out_class_needs_no_snapshot(worker, tmp_path, monkeypatch):
    monkeypatch.setenv("MODELDIAGRAMS_SNAPSHOT_REPORT", str(tmp_path / "report"))
    status = Status(state="hierarchy", notes=("it has no forward",))
    empty = msgspec.structs.replace(
        small_graph(), nodes=(), adjacency={}, hierarchy={}, tensors={}, parameters={}, status=status
    )
    worker.traced = Traced(graph=serialize(empty), sources=())
    kept = tmp_path / "kept"
    with DiagramBuilder(None, folder=tmp_path, snapshots=kept) as builder:
        host = FenceHost(builder)
        draw(host, {}, "mypkg.Base", requested=False)
        assert not kept.exists()
        worker.traced = Refused(problem=Problem(kind="model", message="it needs arguments"))
        draw(host, {}, "mypkg.Needs", requested=False)
        report = (tmp_path / "report").read_text()
        for name in ("Base", "Needs"):
            assert f"left-out {kept / f'mypkg.{name}.json'}" in report
        draw(FenceHost(builder, Settings(on_error="placeholder")), {}, "mypkg.Missing")
        assert "Missing.json" in (tmp_path / "report").read_text()
        assert "left-out" not in (tmp_path / "report").read_text().removeprefix(report), "an author requested it"
        worker.traced = Traced(graph=serialize(empty), sources=())
        builder.build(make_options(model="mypkg.Base"))
        assert [file.name for file in kept.iterdir()] == ["mypkg.Base.json"], "an author requested it"


def with_fc_outputs(features, source="mypkg.py:1", **changes):
    graph = msgspec.structs.replace(small_graph(), **changes)
    nodes = {node.id: node for node in graph.nodes}
    attributes = {**nodes["fc"].attributes, "out_features": features}
    nodes["fc"] = msgspec.structs.replace(nodes["fc"], attributes=attributes, source=source)
    tensors = {
        **graph.tensors,
        "fc/linear:0": msgspec.structs.replace(graph.tensors["fc/linear:0"], shape=(1, features)),
    }
    return msgspec.structs.replace(graph, nodes=tuple(nodes.values()), tensors=tensors)


def test_outdated_snapshot_is_a_problem_beside_the_new_picture(worker, tmp_path):
    kept = tmp_path / "kept" / "mypkg.Net.json"
    with DiagramBuilder(None, folder=tmp_path, snapshots=kept.parent) as builder:
        assert builder.build(make_options(model="mypkg.Net")).problem is None
        save(small_graph(), kept)
        assert builder.build(make_options(model="mypkg.Net")).problem is None
        worker.traced = Traced(graph=serialize(with_fc_outputs(20)), sources=("/a.py",))
        made = builder.build(make_options(model="mypkg.Net"))
        assert made.problem.kind == "snapshot"
        assert (
            "no longer matches the model (notable: size 2 → 20 (out_features of Linear) at fc)" in made.problem.message
        )
        assert made.picture == PICTURE
        assert made.sources == ("/a.py", str(kept))
        save(with_fc_outputs(20, source="mypkg.py:99", provenance=Provenance(modeldiagrams="9")), kept)
        assert builder.build(make_options(model="mypkg.Net")).problem is None
        kept.write_text("{")
        assert "can't be read" in builder.build(make_options(model="mypkg.Net")).problem.message


def test_readers_see_their_own_problems_next_to_those_of_authors(builder):
    stale = Problem(kind="snapshot", message="the snapshot no longer matches the model")
    made = msgspec.structs.replace(builder.build(make_options(model="mypkg.Net")), problem=stale)
    assert made.shown_problem is None
    diagram = add_problem(made, RenderError("no room"))
    assert diagram.shown_problem.kind == "render"
    assert diagram.shown_problem.message == "mypkg.Net: no room"
    assert "no longer matches" in format_problem(diagram.problem)
