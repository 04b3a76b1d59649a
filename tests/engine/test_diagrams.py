"""The Maker with a worker that is not one; `test_end_to_end.py` has the real thing."""

from __future__ import annotations

import os
import re
import sys
import time

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams import cache, diagrams
from modeldiagrams.diagrams import Diagram, Maker, Problem, diagram_id
from modeldiagrams.errors import RenderError, WorkerError
from modeldiagrams.graph import Failure, Frame, Status
from modeldiagrams.host import draw
from modeldiagrams.options import Options
from modeldiagrams.render import Picture
from modeldiagrams.serialize import save, serialize
from modeldiagrams.settings import Settings
from modeldiagrams.worker import Refused, Traced

PICTURE = Picture(svg="<svg></svg>", width=3, height=4, state={})
RAISED = Failure(type="ValueError", message="odd width", frames=(Frame(file="mypkg/m.py", line=3, function="forward"),))


class FakeWorker:
    """Answers what it is told to and notes what it is asked."""

    def __init__(self):
        self.asked = []
        self.closed = False
        self.output = "the model prints"
        self.traced = Traced(graph=serialize(small_graph()), sources=())
        self.drawn = PICTURE

    def trace(self, options, paths):
        self.asked.append(("trace", options.model, tuple(paths)))
        return self._answer(self.traced)

    def render(self, graph, view):
        self.asked.append(("render", graph, view))
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
    monkeypatch.setattr(diagrams, "Worker", lambda *_, **__: fake)
    monkeypatch.setattr(cache, "viewer_digest", lambda: "1")
    return fake


@pytest.fixture
def maker(worker, tmp_path):
    with Maker(tmp_path / "cache", folder=tmp_path, paths=[tmp_path / "src"]) as maker:
        yield maker
    assert worker.closed or not worker.asked


def partial_graph():
    return msgspec.structs.replace(small_graph(), status=Status(state="partial", mode="real", error=RAISED))


def test_a_diagram_has_graph_picture_sources_and_no_problem(maker, worker, tmp_path):
    worker.traced = Traced(graph=serialize(small_graph()), sources=("/a.py",))
    options = Options(model="mypkg.Net")
    assert maker.make(options) == Diagram(
        id="mypkg.Net", options=options, graph=small_graph(), picture=PICTURE, sources=("/a.py",)
    )
    assert worker.asked[0] == ("trace", "mypkg.Net", (tmp_path / "src",))


def test_a_warm_cache_asks_the_worker_nothing(maker, worker, tmp_path):
    first = maker.make(Options(model="mypkg.Net"))
    worker.asked.clear()
    assert maker.make(Options(model="mypkg.Net")) == first
    with Maker(tmp_path / "cache", folder=tmp_path) as other:
        assert other.make(Options(model="mypkg.Net")) == first
    assert worker.asked == []


def test_another_view_is_drawn_from_the_cached_graph(maker, worker):
    maker.make(Options(model="mypkg.Net"))
    worker.asked.clear()
    maker.make(Options(model="mypkg.Net", depth=2))
    assert [request[0] for request in worker.asked] == ["render"]


def test_without_a_cache_everything_is_made_anew(worker, tmp_path):
    with Maker(None, folder=tmp_path) as maker:
        maker.make(Options(model="mypkg.Net"))
        maker.make(Options(model="mypkg.Net"))
    assert [request[0] for request in worker.asked] == ["trace", "render"] * 2


def test_a_pass_that_raised_has_picture_and_problem_and_is_tried_again(maker, worker):
    worker.traced = Traced(graph=serialize(partial_graph()), sources=())
    made = maker.make(Options(model="mypkg.Net"))
    assert made.picture == PICTURE
    assert made.problem == Problem(
        kind="forward",
        message="the forward pass of mypkg.Net raised ValueError: odd width",
        frames=("mypkg/m.py:3 in forward",),
    )
    maker.make(Options(model="mypkg.Net"))
    assert [request[0] for request in worker.asked] == ["trace", "render", "trace"]


@pytest.mark.parametrize(
    "answer",
    [
        Traced(graph=serialize(partial_graph()), sources=()),
        Refused(problem=Problem(kind="model", message="there is no mypkg")),
    ],
)
def test_a_problem_that_is_accepted_is_remembered_until_there_is_more_to_import(worker, tmp_path, monkeypatch, answer):
    monkeypatch.setattr(sys, "path", [str(tmp_path / "src")])
    (tmp_path / "src").mkdir()
    worker.traced = answer

    def asked(accepted):
        worker.asked.clear()
        with Maker(tmp_path / "cache", folder=tmp_path) as maker:
            made = maker.make(Options(model="mypkg.Net"), accepted=accepted)
        assert made.problem.kind in {"forward", "model"}
        return [request[0] for request in worker.asked if request[0] == "trace"]

    assert asked({"forward", "model"}) == ["trace"]
    assert asked({"forward", "model"}) == []
    # who is to be told hears what is true now
    assert asked(()) == ["trace"]
    (tmp_path / "src" / "mypkg").mkdir()
    assert asked({"forward", "model"}) == ["trace"]
    assert asked({"forward", "model"}) == []


def test_time_that_ran_out_is_not_remembered(maker, worker):
    worker.traced = Refused(problem=Problem(kind="worker", message="no torch"))
    for _ in range(2):
        maker.make(Options(model="mypkg.Net"), accepted={"worker", "model"})
    assert [request[0] for request in worker.asked] == ["trace", "trace"]


def test_a_source_that_was_edited_while_it_was_traced_is_traced_again(maker, worker, tmp_path):
    source = tmp_path / "model.py"
    source.touch()
    worker.traced = Traced(graph=serialize(small_graph()), sources=(str(source),))
    after = time.time() + 60
    os.utime(source, (after, after))
    maker.make(Options(model="mypkg.Net"))
    os.utime(source, (1, 1))
    maker.make(Options(model="mypkg.Net"))
    maker.make(Options(model="mypkg.Net"))
    assert [request[0] for request in worker.asked].count("trace") == 2


def test_a_pattern_that_matches_nothing_is_a_problem_beside_the_picture(maker):
    made = maker.make(Options(model="mypkg.Net", expand=["fc", "*.atention"]))
    assert made.picture == PICTURE
    assert made.problem.kind == "option"
    assert made.problem.message.startswith("option 'expand': no module matches '*.atention'; ")
    assert maker.make(Options(model="mypkg.Net", expand=["fc"])).problem is None


def test_a_refusal_is_the_problem_and_keeps_its_sources(maker, worker):
    problem = Problem(kind="model", message="no module named 'x'")
    worker.traced = Refused(problem=problem, sources=("/a.py",))
    assert maker.make(Options(model="x.Y")) == Diagram(
        id="x.Y", options=Options(model="x.Y"), problem=problem, sources=("/a.py",)
    )


def test_a_worker_that_dies_is_a_problem(maker, worker):
    worker.traced = WorkerError("ended")
    assert maker.make(Options(model="x.Y")).problem == Problem(kind="worker", message="ended")


def test_a_graph_that_can_not_be_drawn_keeps_its_graph(maker, worker):
    worker.drawn = RenderError("too big")
    made = maker.make(Options(model="x.Y"))
    assert made.graph == small_graph()
    assert made.picture is None
    assert made.problem == Problem(kind="render", message="too big")


def test_what_the_model_raised_is_told_also_where_its_graph_can_not_be_drawn(maker, worker):
    worker.traced = Traced(graph=serialize(partial_graph()), sources=())
    worker.drawn = RenderError("no room")
    problem = maker.make(Options(model="mypkg.Net")).problem
    assert problem.kind == "forward"
    assert "odd width" in problem.message
    assert "no room" in problem.message


def test_a_graph_file_is_read_relative_to_the_folder_and_never_traced(maker, worker, tmp_path):
    save(small_graph(), tmp_path / "graphs" / "net.json")
    made = maker.make(Options(model="graphs/net.json"))
    assert made.graph == small_graph()
    assert made.picture == PICTURE
    assert made.sources == (str(tmp_path / "graphs" / "net.json"),)
    assert [request[0] for request in worker.asked] == ["render"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "net.json: expected a readable graph file: No such file or directory"),
        (b"{", "net.json: $: expected JSON"),
        (b'{"format": "other"}', "net.json: $.format: expected 'modeldiagrams'"),
    ],
)
def test_a_graph_file_that_can_not_be_read_is_a_problem_without_the_machines_paths(maker, tmp_path, content, message):
    if content is not None:
        (tmp_path / "net.json").write_bytes(content)
    made = maker.make(Options(model="net.json"))
    problem = made.problem
    assert made.sources == (str(tmp_path / "net.json"),)
    assert problem.kind == "graph-file"
    assert problem.message.startswith(message)
    assert str(tmp_path) not in problem.message


def test_a_graph_file_may_have_spaces_in_its_name(maker, tmp_path):
    save(small_graph(), tmp_path / "my graphs" / "net one.json")
    made = maker.make(Options(model="my graphs/net one.json"))
    assert made.graph == small_graph()
    assert re.fullmatch(r"my-graphs-net-one\.json-[0-9a-f]{8}", made.id)


def test_a_graph_file_takes_no_inputs(maker):
    problem = maker.make(Options(model="net.json", inputs=[1, 4])).problem
    assert problem == Problem(
        kind="option",
        message="option 'inputs': net.json is a graph file, so there is nothing to call; leave it out",
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(model="mypkg.Model"), "mypkg.Model"),
        (Options(model="my_pkg.v2.Model"), "my_pkg.v2.Model"),
        (Options(model="mypkg._Model"), "mypkg._Model"),
        (Options(model="mypkg.mod:Model"), "mypkg.mod.Model"),
        (Options(model="mypkg.Model", caption="Text", name="fig", width="3px"), "mypkg.Model"),
        (Options(model="bert.json"), "bert.json"),
    ],
)
def test_an_id_is_the_models_path(options, expected):
    assert diagram_id(options) == expected


def test_ids_of_other_content_differ_and_are_file_names():
    ids = [
        diagram_id(options)
        for options in (
            Options(model="mypkg.Model"),
            Options(model="mypkg.Model", depth=1),
            Options(model="mypkg.Model", depth=2),
            Options(model="mypkg.Model", kwargs={"a": 1}),
            Options(model="mypkg.Model", kwargs={"a": "1"}),
            Options(model="../graphs/bert.json"),
            Options(model="graphs/bert.json"),
        )
    ]
    assert len(set(ids)) == len(ids)
    assert all(not set(name) & set('/\\:*?"<>|') and not name.startswith(".") for name in ids)


@pytest.mark.usefixtures("worker")
def test_ids_and_snapshots_are_named_by_what_the_author_wrote(tmp_path):
    """The next version of a site may have other settings, and its diagrams are to be compared with these."""
    save(small_graph(), tmp_path / "kept" / "mypkg.Net.json")
    settings = Settings(python="python3", defaults={"depth": 2, "direction": "LR", "kwargs": {"width": 3}})
    with Maker(None, folder=tmp_path, snapshots=tmp_path / "kept") as maker:
        plain = draw(maker, {"model": "mypkg.Net"}, Settings())
        made = draw(maker, {"model": "mypkg.Net"}, settings)
        other = draw(maker, {"model": "mypkg.Net", "depth": 2}, settings)
    assert made.id == plain.id == "mypkg.Net"
    assert made.options.depth == 2
    assert other.id != made.id
    assert made.sources == (str(tmp_path / "kept" / "mypkg.Net.json"),)


@pytest.mark.parametrize("models", [("a.Net", "a.net"), ("a.Net", "A.Net"), ("net.json", "Net.json")])
def test_ids_differ_where_a_disk_does_not_tell_capitals(models):
    ids = {diagram_id(Options(model=model)).lower() for model in models}
    assert len(ids) == 2


def test_classes_that_only_capitals_tell_apart_have_ids_that_differ_in_more(maker, worker):
    worker.traced = Traced(graph=serialize(small_graph()), sources=(), has_twin=True)
    ids = {maker.make(Options(model=model)).id for model in ("a.Net", "a.NET")}
    assert len({name.lower() for name in ids}) == 2
    assert ids == {maker.make(Options(model=model)).id for model in ("a.Net", "a.NET")}


@pytest.mark.parametrize("python", [None, "no/such/python"])
def test_a_snapshot_stands_in_where_nothing_can_be_traced(worker, tmp_path, monkeypatch, python):
    monkeypatch.setattr(diagrams, "has_torch", lambda: False)
    save(small_graph(), tmp_path / "kept" / "mypkg.Net.json")
    with Maker(None, folder=tmp_path, snapshots=tmp_path / "kept") as maker:
        made = maker.make(Options(model="mypkg.Net", python=python, depth=2))
        other = maker.make(Options(model="mypkg.Other"))
    assert made.graph == small_graph()
    assert made.problem is None
    assert made.sources == (str(tmp_path / "kept" / "mypkg.Net.json"),)
    assert [request[0] for request in worker.asked] == ["render"]
    assert other.problem.message.startswith("mypkg.Other can't be traced. PyTorch is not installed")


def test_a_snapshot_that_says_something_else_is_a_problem_beside_the_new_picture(worker, tmp_path):
    kept = tmp_path / "kept" / "mypkg.Net.json"
    with Maker(None, folder=tmp_path, snapshots=kept.parent) as maker:
        assert maker.make(Options(model="mypkg.Net")).problem is None
        save(small_graph(), kept)
        assert maker.make(Options(model="mypkg.Net")).problem is None
        worker.traced = Traced(
            graph=serialize(msgspec.structs.replace(small_graph(), status=Status(state="complete", mode="meta"))),
            sources=("/a.py",),
        )
        made = maker.make(Options(model="mypkg.Net"))
        assert made.problem.kind == "snapshot"
        assert "the snapshot kept/mypkg.Net.json is not what the model does now" in made.problem.message
        assert made.picture == PICTURE
        assert made.sources == ("/a.py", str(kept))
        kept.write_text("{")
        assert "can't be read" in maker.make(Options(model="mypkg.Net")).problem.message
