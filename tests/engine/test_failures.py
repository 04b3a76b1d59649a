"""A failure is remembered until a change may make another try succeed."""

from __future__ import annotations

import sys

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.engine import builder as builder_module
from modeldiagrams.engine import failures
from modeldiagrams.engine.builder import DiagramBuilder, Session
from modeldiagrams.engine.failures import FailureMemory
from modeldiagrams.engine.snapshots import Snapshots
from modeldiagrams.engine.store import Store
from modeldiagrams.ir.graph import Failure, Status
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.worker import Problem, Refused, Traced, Worker
from option_helpers import make_options

REFUSED = Refused(problem=Problem(kind="model", message="no"))
STATUS = Status(state="partial", mode="real", error=Failure(type="ValueError", message="odd", frames=()))
PARTIAL = Traced(graph=serialize(msgspec.structs.replace(small_graph(), status=STATUS)))
TIMEOUT = Refused(
    problem=Problem(kind="worker", message="took longer", frames=("pkg/__init__.py:1 in forward",)), may_differ=True
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


class Runs(list):
    """Models that were run; each gets the answer."""

    answer: Traced | Refused = REFUSED


@pytest.fixture
def runs(project, monkeypatch):
    runs = Runs()

    def trace(_worker, options, *_, **__):
        runs.append(options.call.model)
        files = (str(project / "pkg" / "__init__.py"),) if options.call.model == "pkg.Net" else ()
        return msgspec.structs.replace(runs.answer, sources=files)

    monkeypatch.setattr(Worker, "trace", trace)
    monkeypatch.setattr(builder_module.Drawer, "render", lambda *_: None)
    return runs


def build(project, model="pkg.Net", session=None, cached=True, **options):
    """As a new process does."""
    cache = project / ".cache" if cached else None
    with DiagramBuilder(cache, folder=project / "docs", paths=[project], session=session) as builder:
        return builder.build(make_options(model=model, **options))


@pytest.mark.parametrize("is_on_disk", [True, False])
def test_failures_are_remembered_on_disk(tmp_path, is_on_disk):
    def memory():
        return FailureMemory(Store(tmp_path) if is_on_disk else None)

    first = memory()
    first.note("key", REFUSED, [tmp_path], None)
    assert first.recall("key") == REFUSED
    assert memory().recall("key") == (REFUSED if is_on_disk else None)
    assert first.recall("other") is None


@pytest.mark.parametrize("answer", [REFUSED, PARTIAL], ids=["refused", "partial"])
def test_failure_is_remembered_until_a_source_changes(project, runs, answer):
    runs.answer = answer
    first, second = build(project), build(project)
    assert runs == ["pkg.Net"]
    assert first.graph == second.graph
    assert first.problem.message == second.problem.message
    (project / "pkg" / "__init__.py").write_text("edited = True\n")
    build(project)
    assert runs == ["pkg.Net"] * 2


def test_a_stopped_model_is_only_run_again_by_the_next_process(project, runs):
    runs.answer = TIMEOUT
    session = Session()
    for _ in range(2):
        assert build(project, session=session).problem.message == "pkg.Net: took longer"
    assert runs == ["pkg.Net"]
    build(project)
    assert runs == ["pkg.Net"] * 2
    assert not (project / ".cache").exists()


def test_graph_that_may_differ_is_neither_cached_nor_written_as_a_snapshot(project, runs, monkeypatch):
    runs.answer = msgspec.structs.replace(PARTIAL, may_differ=True)
    compared = []
    monkeypatch.setattr(Snapshots, "compare", lambda *_: compared.append(_))
    cache, graphs = project / ".cache", project / "graphs"
    for _ in range(2):
        with DiagramBuilder(cache, folder=project, paths=[project], snapshots=graphs) as builder:
            assert builder.build(make_options(model="pkg.Net")).problem.kind == "forward"
    assert runs == ["pkg.Net"] * 2
    assert not compared


@pytest.mark.parametrize(
    "answer",
    [
        msgspec.structs.replace(REFUSED, may_differ=True),
        msgspec.structs.replace(PARTIAL, may_differ=True),
        Refused(problem=Problem(kind="worker", message="no torch")),
    ],
    ids=["refused", "partial", "no frames"],
)
def test_failure_that_may_pass_by_itself_is_tried_again(project, runs, answer):
    runs.answer = answer
    for _ in range(2):
        assert build(project).problem
    assert runs == ["pkg.Net"] * 2


def test_without_cache_a_failure_is_forgotten_with_its_builder(project, runs):
    for _ in range(2):
        build(project, cached=False)
    assert runs == ["pkg.Net"] * 2


def test_missing_module_is_looked_for_again_when_something_new_can_be_imported(project, runs):
    for _ in range(2):
        build(project, "later.Net")
    assert runs == ["later.Net"]
    (project / "notes.txt").touch()
    build(project, "later.Net")
    assert runs == ["later.Net"]
    (project / "later").mkdir()
    (project / "later" / "net.py").touch()
    build(project, "later.Net")
    assert runs == ["later.Net"] * 2


def test_model_with_another_limit_is_run_again(project, runs):
    build(project)
    build(project, timeout=99)
    assert runs == ["pkg.Net"] * 2


def test_stopped_model_depends_on_all_files_of_its_package(project, runs):
    """Nobody knows what it had loaded."""
    runs.answer = TIMEOUT
    (project / "pkg" / "new.py").touch()
    assert build(project).sources == (str(project / "pkg" / "__init__.py"), str(project / "pkg" / "new.py"))


def test_processes_go_on_from_build_to_build(project, runs):
    session = Session()
    build(project, session=session)
    worker = session.workers.get(None, gpu=False)
    build(project, "pkg.Other", session=session)
    assert session.workers.get(None, gpu=False) is worker
    assert runs == ["pkg.Net", "pkg.Other"]


def test_folders_are_read_once_for_many_failures(tmp_path, monkeypatch):
    looks = []
    monkeypatch.setattr(
        failures, "digest_importable_names", lambda folders, python: str(looks.append([*folders]) or python)
    )
    memory = FailureMemory()
    for key in ("a", "b", "c"):
        memory.note(key, REFUSED, [tmp_path], None)
    looks.clear()
    assert memory.failing(["a", "b", "c", "unknown"]) == {"a", "b", "c"}
    assert len(looks) == 1
