"""Which snapshots a comparison of two versions keeps."""

from __future__ import annotations

import os
import subprocess

import pytest

from graphs import small_graph
from modeldiagrams.engine import builder as builder_module
from modeldiagrams.engine import model_graphs
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.snapshots import take_snapshots
from modeldiagrams.errors import RenderError
from modeldiagrams.ir.serialize import save, serialize
from modeldiagrams.options.settings import SNAPSHOTS as FOLDER
from modeldiagrams.worker import Traced
from option_helpers import make_options


class Fake:
    """In place of both processes: every model has the same graph, and nothing is compared."""

    def trace(self, *_):
        return Traced(graph=serialize(small_graph()), sources=())

    def difference(self, *_):
        raise RenderError("not compared here")

    def close(self):
        pass


@pytest.fixture
def prune(tmp_path, monkeypatch):
    """Function: snapshots that `modeldiagrams snapshot --prune` leaves of documentation with this comparison."""
    monkeypatch.setattr(model_graphs, "Worker", lambda *_, **__: Fake())
    monkeypatch.setattr(builder_module, "Drawer", Fake)
    graphs, pages = tmp_path / FOLDER, tmp_path / "pages"
    for name in ("kept", "stale"):
        save(small_graph(), graphs / f"{name}.json")
    (tmp_path / "conf.py").touch()
    pages.mkdir()

    def pruned(**options):
        def build(*_, env, **__):
            with monkeypatch.context() as patch:
                patch.setattr(os, "environ", env)
                with DiagramBuilder(None, folder=pages, snapshots=graphs) as builder:
                    builder.build(make_options(**options))
            return subprocess.CompletedProcess([], 0)

        monkeypatch.setattr(subprocess, "run", build)
        take_snapshots(tmp_path, prune=True)
        return {path.stem for path in graphs.iterdir()}

    return pruned


@pytest.mark.parametrize("option", ["before", "after"])
def test_graph_file_that_a_comparison_names_is_kept(prune, option):
    versions = {"before": "pkg.OldNet", option: f"../{FOLDER}/kept.json"}
    assert {"kept"} == prune(model="pkg.Net", **versions) & {"kept", "stale"}


def test_each_model_of_a_comparison_has_its_snapshot(prune):
    assert prune(model="pkg.Net", before="pkg.OldNet") == {"pkg.Net", "pkg.OldNet"}
