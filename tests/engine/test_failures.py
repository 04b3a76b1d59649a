"""How long a failure is remembered: in the cache if its author has silenced it, and by a session in any case."""

from __future__ import annotations

import pytest

from modeldiagrams.engine.builder import DiagramBuilder, Session
from modeldiagrams.engine.failures import FailureMemory
from modeldiagrams.engine.store import Store
from modeldiagrams.errors import WorkerError
from modeldiagrams.worker import Problem, Refused, Worker
from option_helpers import make_options

REFUSED = Refused(problem=Problem(kind="model", message="no"))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    return tmp_path


@pytest.fixture
def runs(project, monkeypatch):
    """Models that were run; each fails."""
    run = []

    def trace(_worker, options, *_):
        run.append(options.call.model)
        files = (str(project / "pkg" / "__init__.py"),) if options.call.model == "pkg.Net" else ()
        return Refused(problem=Problem(kind="model", message="no"), sources=files)

    monkeypatch.setattr(Worker, "trace", trace)
    return run


def build(project, session, model="pkg.Net", accepted=(), **options):
    """As every build with MkDocs does."""
    with DiagramBuilder(project / ".cache", folder=project / "docs", paths=[project], session=session) as builder:
        return builder.build(make_options(model=model, **options), accepted=accepted)


@pytest.mark.parametrize("is_on_disk", [True, False])
def test_memory_on_disk_serves_other_objects(tmp_path, is_on_disk):
    def memory():
        return FailureMemory(Store(tmp_path) if is_on_disk else None)

    first = memory()
    first.note("key", REFUSED, [tmp_path], None)
    assert first.recall("key") == REFUSED
    assert memory().recall("key") == (REFUSED if is_on_disk else None)
    assert first.recall("other") is None


def test_failure_is_remembered_until_a_source_changes(project, runs):
    session = Session()
    assert build(project, session) == build(project, session)
    assert runs == ["pkg.Net"]
    (project / "pkg" / "__init__.py").write_text("edited = True\n")
    build(project, session)
    assert runs == ["pkg.Net"] * 2
    build(project, Session())
    assert runs == ["pkg.Net"] * 3, "another session remembers nothing"


def test_another_session_remembers_a_silenced_failure_until_it_is_not_silenced(project, runs):
    for _ in range(2):
        assert build(project, Session(), accepted={"model"}).problem == REFUSED.problem
    assert runs == ["pkg.Net"]
    build(project, Session())
    assert runs == ["pkg.Net"] * 2


def test_missing_module_is_looked_for_again_when_something_new_can_be_imported(project, runs):
    session = Session()
    for _ in range(2):
        build(project, session, "later.Net")
    assert runs == ["later.Net"]
    (project / "notes.txt").touch()
    build(project, session, "later.Net")
    assert runs == ["later.Net"]
    (project / "later").mkdir()
    build(project, session, "later.Net")
    assert runs == ["later.Net"] * 2


def test_model_with_another_limit_is_run_again(project, runs):
    session = Session()
    build(project, session)
    build(project, session, timeout=99)
    assert runs == ["pkg.Net"] * 2


@pytest.mark.parametrize(("frames", "expected"), [(("pkg/__init__.py:1 in forward",), 1), ((), 2)])
def test_stopped_model_is_not_run_in_vain_but_a_process_that_did_not_start_is_started_again(
    frames, expected, project, monkeypatch
):
    run = []

    def trace(*_):
        run.append(1)
        raise WorkerError("took longer than 60 s", frames)

    monkeypatch.setattr(Worker, "trace", trace)
    session = Session()
    for _ in range(2):
        assert build(project, session).problem.frames == frames
    assert len(run) == expected
    (project / "pkg" / "new.py").touch()
    assert build(project, session).sources == (
        str(project / "pkg" / "__init__.py"),
        str(project / "pkg" / "new.py"),
    ), "nobody knows what a stopped model had loaded"
    assert len(run) == expected + 1


def test_worker_processes_go_on_from_build_to_build(project, runs):
    session = Session()
    build(project, session)
    (worker,) = session.workers.values()
    build(project, session, "pkg.Other")
    assert list(session.workers.values()) == [worker]
    assert runs == ["pkg.Net", "pkg.Other"]
