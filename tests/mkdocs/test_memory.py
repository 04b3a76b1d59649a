"""What `mkdocs serve` remembers of models that failed, and for how long."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from mkdocs_modeldiagrams.memory import Failures, RememberingMaker, sources
from mkdocs_modeldiagrams.plugin import ModelDiagramsPlugin
from modeldiagrams.diagrams import Diagram, Problem
from modeldiagrams.errors import WorkerError
from modeldiagrams.options import Options
from modeldiagrams.worker import Refused, Worker

MODEL = Options(model="pkg.Net")


@pytest.fixture
def project(tmp_path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    return tmp_path


@pytest.fixture
def runs(project, monkeypatch) -> list[str]:
    """Models that were run; each fails."""
    run: list[str] = []

    def trace(_worker, options, *_):
        run.append(options.model)
        files = (str(project / "pkg" / "__init__.py"),) if options.model == "pkg.Net" else ()
        return Refused(problem=Problem(kind="model", message="no"), sources=files)

    monkeypatch.setattr(Worker, "trace", trace)
    return run


def build(failures: Failures, project: Path, options: Options = MODEL) -> Diagram:
    """As every build of `mkdocs serve` does."""
    folders = {"folder": project / "docs", "root": project, "snapshots": project / "none"}
    with RememberingMaker(failures, project / ".cache", **folders) as maker:
        return maker.make(options)


def test_failure_is_remembered_until_a_source_changes(project, runs):
    failures = Failures()
    assert build(failures, project) == build(failures, project)
    assert runs == ["pkg.Net"]
    os.utime(project / "pkg" / "__init__.py", (1, 1))
    build(failures, project)
    assert runs == ["pkg.Net"] * 2
    build(Failures(), project)
    assert runs == ["pkg.Net"] * 3, "another server remembers nothing"


def test_missing_module_is_looked_for_again_when_something_new_can_be_imported(project, runs):
    failures = Failures()
    for _ in range(2):
        build(failures, project, Options(model="later.Net"))
    assert runs == ["later.Net"]
    (project / "notes.txt").touch()
    build(failures, project, Options(model="later.Net"))
    assert runs == ["later.Net"]
    (project / "later").mkdir()
    build(failures, project, Options(model="later.Net"))
    assert runs == ["later.Net"] * 2


@pytest.mark.parametrize(("frames", "expected"), [(("pkg/__init__.py:1 in forward",), 1), ((), 2)])
def test_stopped_model_is_not_run_in_vain_but_a_process_that_did_not_start_is_started_again(
    frames, expected, project, monkeypatch
):
    run = []

    def trace(*_):
        run.append(1)
        raise WorkerError("took longer than 60 s", frames)

    monkeypatch.setattr(Worker, "trace", trace)
    failures = Failures()
    for _ in range(2):
        assert build(failures, project).problem
    assert len(run) == expected
    (project / "pkg" / "new.py").touch()
    build(failures, project)
    assert len(run) == expected + 1


def test_all_of_a_package_counts_for_a_model_that_was_stopped(project):
    problem = Problem(kind="worker", message="stopped")
    diagram = Diagram(id="x", options=MODEL, problem=problem)
    assert sources(diagram, project) == (str(project / "pkg" / "__init__.py"),)
    assert sources(Diagram(id="x", options=MODEL, problem=problem, sources=("a.py",)), project) == ("a.py",)


@pytest.mark.parametrize(("command", "expected"), [("serve", "renew"), ("build", "close"), ("gh-deploy", "close")])
def test_only_a_server_has_a_process_ready_for_the_next_build(command, expected):
    told = []
    maker = SimpleNamespace(renew=lambda: told.append("renew"), close=lambda: told.append("close"))
    plugin = ModelDiagramsPlugin()
    plugin.on_startup(command=command, dirty=False)
    plugin._site = SimpleNamespace(maker=maker, tried_diagrams=[])
    plugin.on_post_build(config=None)
    assert told == [expected]
    plugin.on_shutdown()
    assert told[1:] == ["close"]


def test_process_goes_on_from_build_to_build(project, runs):
    folders = {"folder": project / "docs", "root": project, "snapshots": project / "none"}
    first = RememberingMaker(Failures(), project / ".cache", **folders)
    first.make(MODEL)
    second = RememberingMaker(Failures(), project / ".cache", **folders, workers=first.workers)
    second.make(MODEL)
    assert runs == ["pkg.Net"] * 2
    assert len(second.workers) == 1
    assert second.workers is first.workers
