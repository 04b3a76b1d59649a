"""`modeldiagrams snapshot`: what is written, what is missing, what no page needs any more."""

from __future__ import annotations

import os
import subprocess

import msgspec
import pytest
from click.testing import CliRunner

from graphs import small_graph
from modeldiagrams import snapshots
from modeldiagrams.__main__ import main
from modeldiagrams.graph import Failure, Status
from modeldiagrams.serialize import load, save
from modeldiagrams.snapshots import FOLDER, Snapshots, take_snapshots

BAD = msgspec.structs.replace(
    small_graph(), status=Status(state="partial", mode="real", error=Failure(type="ValueError", message="", frames=()))
)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A documentation whose builder does with its snapshots what the test says."""
    (tmp_path / "conf.py").touch()
    site = tmp_path / FOLDER

    def build(*_, env, **__):
        monkeypatch.setattr(os, "environ", env)
        status = site_builder(Snapshots(site))
        monkeypatch.undo()
        return subprocess.CompletedProcess([], status or 0)

    def site_builder(kept):
        for name, graph in {"good": small_graph(), "bad": BAD, "dead": None}.items():
            kept.note_mention(kept.path(name).absolute(), traced=True)
            if graph is not None:
                kept.compare(name, graph)
        kept.note_mention(kept.path("by hand").absolute(), traced=False)

    monkeypatch.setattr(subprocess, "run", build)
    for name in ("by hand", "dead", "old"):
        save(small_graph(), site / f"{name}.json")
    (site / "package.json").write_text("{}")
    return tmp_path


def test_the_good_are_written_the_failed_are_told_and_the_forgotten_are_listed(site):
    taken = take_snapshots(site)
    assert taken.written == (site / FOLDER / "good.json",)
    assert taken.missing == (site / FOLDER / "bad.json", site / FOLDER / "dead.json")
    assert taken.stale == (site / FOLDER / "old.json",)
    assert load(taken.written[0]) == small_graph()
    assert taken.stale[0].exists()


def test_only_forgotten_graphs_are_pruned(site):
    take_snapshots(site, prune=True)
    kept = sorted(path.name for path in (site / FOLDER).iterdir())
    assert kept == ["by hand.json", "dead.json", "good.json", "package.json"]


def test_the_command_line_lists_them_and_says_by_its_status_that_some_failed(site):
    done = CliRunner().invoke(main, ["snapshot", str(site), "--prune"])
    assert done.exit_code == 1
    assert done.stdout == f"{site / FOLDER / 'good.json'}\n"
    assert f"{site / FOLDER / 'old.json'}: no page mentions it; removed" in done.stderr
    assert "dead.json was not written, because its model could not be traced" in done.stderr


def test_where_no_page_mentions_a_model_all_are_stale(site):
    assert [path.name for path in snapshots._read_report("", site / FOLDER).stale] == [
        "by hand.json",
        "dead.json",
        "old.json",
    ]
