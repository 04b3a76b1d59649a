"""What `mkdocs serve` watches, with MkDocs' own server."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from mkdocs.livereload import LiveReloadServer
from watchdog.events import DirCreatedEvent, DirModifiedEvent

from mkdocs_modeldiagrams.plugin import ModelDiagramsPlugin
from mkdocs_modeldiagrams.watching import Watch
from modeldiagrams.diagrams import Diagram, Problem
from modeldiagrams.options import Options

PATIENCE = 60
"""Seconds until an event that does not come is given up."""


@pytest.fixture
def server(tmp_path) -> Iterator[LiveReloadServer]:
    server = LiveReloadServer(lambda: None, "127.0.0.1", 0, str(tmp_path), polling_interval=0.05)
    yield server
    if server.observer.is_alive():
        server.observer.stop()
        server.observer.join()
    server.server_close()


@pytest.fixture
def watch(server) -> Watch:
    watch = Watch()
    watch.server = server
    return watch


def missing(model: str) -> Diagram:
    return Diagram(id="x", options=Options(model=model), problem=Problem(kind="model", message="no such module"))


def wants_rebuild(server: LiveReloadServer) -> bool:
    with server._rebuild_cond:
        return server._rebuild_cond.wait_for(lambda: server._want_rebuild, timeout=PATIENCE)


def test_package_that_appears_starts_a_build_and_is_watched_from_then_on(server, watch, tmp_path):
    watch.update([missing("later.deep.Net")], tmp_path)
    server.observer.start()
    (tmp_path / "later").mkdir()
    assert wants_rebuild(server)
    server._want_rebuild = False
    (tmp_path / "later" / "deep.py").touch()
    assert wants_rebuild(server)


def test_other_folders_start_nothing(server, watch, tmp_path):
    watch.update([missing("later.Net")], tmp_path)
    (handler,) = (
        handler
        for handlers in server.observer._handlers.values()
        for handler in handlers
        if "New" in type(handler).__name__
    )
    (tmp_path / "later").mkdir()
    handler.dispatch(DirCreatedEvent(str(tmp_path / "site")))
    handler.dispatch(DirModifiedEvent(str(tmp_path / "later")))
    assert server.observer.event_queue.empty()
    handler.dispatch(DirCreatedEvent(str(tmp_path / "later")))
    assert not server.observer.event_queue.empty()


def test_graph_file_that_is_yet_to_come_has_its_folder_watched_and_not_all_that_is_in_it(server, watch, tmp_path):
    file = tmp_path / "net.json"
    problem = Problem(kind="graph-file", message="missing")
    diagram = Diagram(id="x", options=Options(model="../net.json"), problem=problem, sources=(str(file),))
    watch.update([diagram], tmp_path)
    assert [ref.is_recursive for ref in server._watch_refs.values()] == [False]
    server.observer.start()
    file.touch()
    assert wants_rebuild(server)
    watch.update([diagram], tmp_path)
    assert list(server._watched_paths) == [str(tmp_path), str(file)]


def test_folder_that_the_site_has_watched_is_watched_with_all_that_is_in_it(server, tmp_path):
    plugin = ModelDiagramsPlugin()
    plugin._site = SimpleNamespace(tried_diagrams=[missing("later.Net")])
    plugin._root = tmp_path
    plugin.on_serve(server, config=SimpleNamespace(watch=[str(tmp_path)]))
    assert [ref.is_recursive for ref in server._watch_refs.values()] == [True]


def test_sources_of_a_model_that_could_not_be_made_are_watched(server, watch, tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "half.py").touch()
    stopped = Diagram(id="x", options=Options(model="pkg.Net"), problem=Problem(kind="worker", message="stopped"))
    watch.update([stopped], tmp_path)
    assert list(server._watched_paths) == [str(tmp_path / "pkg" / "half.py")]
