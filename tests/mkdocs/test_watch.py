"""What `mkdocs serve` watches, with MkDocs' own server."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from mkdocs.livereload import LiveReloadServer

from mkdocs_modeldiagrams.plugin import ModelDiagramsPlugin
from mkdocs_modeldiagrams.watch import Watch
from modeldiagrams.engine.diagram import Diagram, Problem
from option_helpers import make_options

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
    return Diagram(id="x", options=make_options(model=model), problem=Problem(kind="model", message="no such module"))


def wants_rebuild(server: LiveReloadServer) -> bool:
    with server._rebuild_cond:
        return server._rebuild_cond.wait_for(lambda: server._want_rebuild, timeout=PATIENCE)


def test_a_new_module_next_to_the_configuration_starts_a_build(server, watch, tmp_path):
    watch.update([missing("later.Net")], [], tmp_path)
    assert [ref.is_recursive for ref in server._watch_refs.values()] == [False]
    server.observer.start()
    (tmp_path / "later.py").touch()
    assert wants_rebuild(server)


def test_folder_of_a_missing_graph_file_is_watched_until_it_appears(server, watch, tmp_path):
    file = tmp_path / "net.json"
    problem = Problem(kind="graph-file", message="missing")
    diagram = Diagram(id="x", options=make_options(model="../net.json"), problem=problem, sources=(str(file),))
    watch.update([diagram], [], tmp_path)
    assert [ref.is_recursive for ref in server._watch_refs.values()] == [False]
    server.observer.start()
    file.touch()
    assert wants_rebuild(server)
    watch.update([diagram], [], tmp_path)
    assert list(server._watched_paths) == [str(tmp_path), str(file)]


def test_the_sites_own_watched_folders_stay_recursive(server, tmp_path):
    plugin = ModelDiagramsPlugin()
    plugin._site = SimpleNamespace(tried_diagrams=[missing("later.Net")], lists={})
    plugin._root = tmp_path
    plugin.on_serve(server, config=SimpleNamespace(watch=[str(tmp_path)]))
    assert [ref.is_recursive for ref in server._watch_refs.values()] == [True]


def test_sources_of_a_failed_model_are_watched(server, watch, tmp_path):
    (tmp_path / "half.py").touch()
    sources = (str(tmp_path / "half.py"),)
    problem = Problem(kind="worker", message="stopped")
    diagram = Diagram(id="x", options=make_options(model="half.Net"), problem=problem, sources=sources)
    watch.update([diagram], [], tmp_path)
    assert list(server._watched_paths) == list(sources)


@pytest.mark.parametrize(("command", "expected"), [("serve", "renew"), ("build", "close"), ("gh-deploy", "close")])
def test_only_serve_restarts_the_tracing_process(command, expected):
    told = []
    builder = SimpleNamespace(renew=lambda: told.append("renew"), close=lambda: told.append("close"))
    plugin = ModelDiagramsPlugin()
    plugin.on_startup(command=command, dirty=False)
    plugin._site = SimpleNamespace(builder=builder, tried_diagrams=[], lists={})
    plugin.on_post_build(config=None)
    assert told == [expected]
    plugin.on_shutdown()
    assert told[1:] == ["close"]
