"""`modeldiagrams snapshot`: written, missing and stale graphs."""

from __future__ import annotations

import gzip
import os
import re
import subprocess

import msgspec
import pytest
from click.testing import CliRunner

from graphs import small_graph
from modeldiagrams.cli import main
from modeldiagrams.engine import snapshots
from modeldiagrams.engine.snapshots import Snapshots, take_snapshots
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.graph import Failure, NamedSizes, Provenance, Size, Status
from modeldiagrams.ir.serialize import load, save, serialize
from modeldiagrams.options.settings import SNAPSHOTS as FOLDER

BAD = msgspec.structs.replace(
    small_graph(), status=Status(state="partial", mode="real", error=Failure(type="ValueError", message="", frames=()))
)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Documentation with a fake builder that mentions four graphs."""
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


def test_report_lists_written_missing_and_stale_snapshots(site):
    taken = take_snapshots(site)
    assert taken.written == (site / FOLDER / "good.json",)
    assert taken.missing == (site / FOLDER / "bad.json", site / FOLDER / "dead.json")
    assert taken.stale == (site / FOLDER / "old.json",)
    assert load(taken.written[0]) == small_graph()
    assert taken.stale[0].exists()


def test_moved_lines_and_other_versions_do_not_change_a_snapshot(site):
    kept = site / FOLDER / "good.json"
    moved = msgspec.structs.replace(
        small_graph(),
        model=msgspec.structs.replace(small_graph().model, source="mypkg.py:99"),
        provenance=Provenance(modeldiagrams="9", torch="9"),
    )
    save(moved, kept)
    taken = take_snapshots(site)
    assert (taken.written, taken.unchanged) == ((), (kept,))
    assert kept not in taken.missing
    assert load(kept) == moved


def with_time(nanoseconds):
    relu = small_graph().node("/relu")
    graph = msgspec.structs.replace(
        small_graph(), model=msgspec.structs.replace(small_graph().model, time_ns=nanoseconds)
    )
    nodes = [msgspec.structs.replace(node, time_ns=nanoseconds) if node == relu else node for node in graph.nodes]
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def test_times_are_written_once_and_do_not_change_a_snapshot(tmp_path):
    path = tmp_path / "net.json"
    written = [snapshots._update(path, graph) for graph in (small_graph(), with_time(5), with_time(7), small_graph())]
    assert written == ["written", "written", "unchanged", "written"]
    assert load(path) == small_graph()


def test_names_of_sizes_are_written_but_not_messages_alone(tmp_path):
    def named(**fields):
        sizes = NamedSizes(sizes={"B": Size(size=2, **fields)})
        return msgspec.structs.replace(small_graph(), sizes=sizes)

    path, graphs = tmp_path / "net.json", [small_graph(), named(), named(fixed="net.py:3"), named(fixed="net.py:4")]
    assert [snapshots._update(path, each) for each in graphs] == ["written", "written", "written", "unchanged"]


def test_another_structure_or_a_broken_file_is_rewritten(site):
    kept = site / FOLDER / "good.json"
    save(msgspec.structs.replace(small_graph(), status=Status(state="hierarchy")), kept)
    assert take_snapshots(site).written == (kept,)
    assert load(kept) == small_graph()


def test_a_catalogues_graph_is_compressed_and_written_once(tmp_path, monkeypatch):
    """Whatever wrote the compressed file: equal structure is never rewritten."""
    monkeypatch.setenv("MODELDIAGRAMS_SNAPSHOT_REPORT", str(tmp_path / "report"))
    kept = Snapshots(tmp_path)
    kept.compressed.add("pkg.Net")
    assert kept.compare("pkg.Net", small_graph()) is None
    path = tmp_path / "pkg.Net.json.gz"
    content = path.read_bytes()
    assert gzip.decompress(content) == serialize(small_graph(), indent=1) + b"\n"
    assert content[4:8] == bytes(4), "no time"
    path.write_bytes(gzip.compress(gzip.decompress(content), 1))
    written = path.read_bytes()
    kept = Snapshots(tmp_path)  # of a page that shows the model without catalogue
    kept.compare("pkg.Net", small_graph())
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.json*")} == {"pkg.Net.json.gz": written}
    assert load(path) == small_graph()
    for damage in (written[:-9], written[:20] + b"x" + written[21:]):
        path.write_bytes(damage)
        with pytest.raises(GraphError, match=r"pkg\.Net\.json\.gz: \$: expected a whole gzip file"):
            load(path)


LESS = {
    "hierarchy": msgspec.structs.replace(small_graph(), status=Status(state="hierarchy")),
    "partial": BAD,
    "complete": small_graph(),
}


@pytest.mark.parametrize(
    ("old", "new", "became"),
    [
        ("complete", "hierarchy", "less"),
        ("complete", "partial", "less"),
        ("partial", "hierarchy", "less"),
        ("hierarchy", "partial", "partial"),
        ("partial", "complete", "written"),
        (None, "hierarchy", "written"),
        (None, "partial", "partial"),
    ],
)
def test_a_poorer_graph_only_replaces_a_richer_one_if_accepted(tmp_path, old, new, became):
    path = tmp_path / "net.json"
    before = b""
    if old:
        save(LESS[old], path)
        before = path.read_bytes()
    assert snapshots._update(path, LESS[new]) == became
    if became != "written":
        assert (path.read_bytes() if path.exists() else b"") == before
    assert snapshots._update(path, LESS[new], accepts=True) == ("unchanged" if became == "written" else "written")
    assert load(path) == LESS[new]


@pytest.mark.parametrize("flags", [[], ["--accept"]])
def test_the_command_names_poorer_graphs_and_writes_them_if_accepted(site, flags):
    kept = site / FOLDER / "bad.json"
    save(small_graph(), kept)
    before = kept.read_bytes()
    done = CliRunner().invoke(main, ["snapshot", str(site), *flags])
    assert done.exit_code == 1  # for dead.json
    warning = f"Warning: {kept} was kept: the new graph is less complete; --accept writes it"
    assert (warning in done.stderr) is (not flags)
    assert f"Warning: {kept} was not written" not in done.stderr
    assert (kept.read_bytes() == before) is (not flags)
    assert load(kept) == (BAD if flags else small_graph())


def test_a_stale_snapshot_is_reported_once(tmp_path):
    kept = Snapshots(tmp_path)
    save(BAD, kept.path("net"))
    found = [kept.compare("net", small_graph()) for _ in range(4)]
    assert found[0].startswith(f"the snapshot {tmp_path.name}/net.json no longer matches the model")
    assert found[1:] == [None] * 3
    assert kept.compare("net", with_time(3)) is None  # the same change


def test_left_out_models_are_neither_missing_nor_kept(site):
    kept = Snapshots(site / FOLDER)
    path = kept.path("old").absolute()
    report = f"wanted {path}\nleft-out {path}\n"
    taken = snapshots._read_report(report, site / FOLDER)
    assert taken.missing == ()
    assert path in taken.stale
    assert snapshots._read_report(f"{report}written {path}\n", site / FOLDER).written == (path,)


def test_prune_removes_only_stale_graphs(site):
    take_snapshots(site, prune=True)
    kept = sorted(path.name for path in (site / FOLDER).iterdir())
    assert kept == ["by hand.json", "dead.json", "good.json", "package.json"]


def test_command_prints_the_report_and_exits_with_1(site):
    done = CliRunner().invoke(main, ["snapshot", str(site), "--prune"])
    assert done.exit_code == 1
    assert done.stdout == f"{site / FOLDER / 'good.json'}\n"
    assert f"{site / FOLDER / 'old.json'}: no page uses it; removed" in done.stderr
    assert re.search(r"1 graph written, 0 unchanged, \d+\.\d s\n", done.stderr)
    assert "dead.json was not written, because its model could not be traced" in done.stderr


def test_graphs_are_stale_if_no_page_mentions_them(site):
    assert [path.name for path in snapshots._read_report("", site / FOLDER).stale] == [
        "by hand.json",
        "dead.json",
        "old.json",
    ]
