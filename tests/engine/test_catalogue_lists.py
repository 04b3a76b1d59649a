"""When the models of a catalogue are listed again, and the committed lists for builds without torch."""

from __future__ import annotations

import os

import pytest

from graphs import small_graph
from modeldiagrams.engine import builder as builder_module
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.catalogue.listing import list_models, make_catalogue_id, name_list
from modeldiagrams.engine.diagram_ids import name_snapshot
from modeldiagrams.engine.snapshots import _read_report
from modeldiagrams.ir.serialize import save
from modeldiagrams.options.catalogue import read_catalogue
from modeldiagrams.worker import ListedModels, Problem, Refused, Worker
from option_helpers import make_options

NETS = read_catalogue({"of": "nets"})


@pytest.fixture
def answers(monkeypatch):
    """What the worker answers, the last one again and again."""
    waiting = []
    monkeypatch.setattr(Worker, "run", lambda *_: waiting.pop(0))
    return waiting


@pytest.fixture
def listed(tmp_path):
    """List the models of a new build."""
    (tmp_path / "nets.py").touch()
    os.utime(tmp_path / "nets.py", (0, 0))

    def found(**values):
        options = read_catalogue({"of": "nets", **values})
        with DiagramBuilder(tmp_path / "cache", folder=tmp_path, paths=[tmp_path], snapshots=tmp_path / "kept") as made:
            return list_models(made, options, {"depth": 2})

    return found


def answer(folder, *names, problems=()):
    return ListedModels(names=names, problems=problems, sources=(str(folder / "nets.py"),))


def test_a_list_is_made_again_only_if_something_changed(answers, listed, tmp_path):
    answers += [answer(tmp_path, "nets.A"), answer(tmp_path, "nets.B"), answer(tmp_path, "new.C")]
    assert listed().models == listed(depth=3).models == ("nets.A",)
    (tmp_path / "nets.py").write_text("changed = 1")
    os.utime(tmp_path / "nets.py", (0, 0))
    assert listed().models == listed().models == ("nets.B",)
    (tmp_path / "new.py").touch()
    assert listed().models == listed().models == ("new.C",)
    answers.append(answer(tmp_path, "nets.A"))
    assert listed(exclude="new.*").models == ("nets.A",)


def test_problems_are_told_and_looked_for_again(answers, listed, tmp_path):
    refused = Refused(problem=Problem(kind="worker", message="listing took too long", frames=("nets.py:1 in f",)))
    answers += [answer(tmp_path, "nets.A", problems=("a", "b", "c", "d", "e")), refused]
    assert (found := listed()).models == ("nets.A",)
    assert found.problem == "a; b; c; and 2 more"
    assert (listed().models, answers) == ((), [])


def test_a_site_without_torch_uses_the_committed_list(answers, listed, tmp_path, monkeypatch):
    file = tmp_path / "kept" / f"{name_list(NETS)}.models.txt"
    report = tmp_path / "report"
    monkeypatch.setenv("MODELDIAGRAMS_SNAPSHOT_REPORT", str(report))
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "catalogue-0.models.txt").touch()
    answers.append(answer(tmp_path, "nets.A", "nets.B"))
    listed()
    assert file.read_text() == "nets.A\nnets.B\n"
    first, _ = _read_report(report.read_text(), tmp_path), report.write_text("")
    assert (first.written, first.stale) == ((file,), (tmp_path / "kept" / "catalogue-0.models.txt",))
    listed()
    assert _read_report(report.read_text(), tmp_path).unchanged == (file,)
    file.unlink()
    listed()
    listed(depth=1)
    again = _read_report(report.read_text(), tmp_path)
    assert (again.written, again.unchanged) == ((file,), ())
    monkeypatch.delenv("MODELDIAGRAMS_SNAPSHOT_REPORT")
    assert listed().problem == ""
    monkeypatch.setattr(builder_module, "has_torch", lambda: False)
    assert (found := listed()).models == ("nets.A", "nets.B")
    assert str(file) in found.sources
    assert listed(exclude="*.B").problem.startswith("nets can't be listed. PyTorch is not installed")


def test_a_committed_list_is_used_with_torch(answers, listed, tmp_path):
    """Of a library that need not be installed."""
    assert listed(committed=True).problem.startswith("nets can't be listed. The option `committed` is set, and nothing")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / f"{name_list(NETS)}.models.txt").write_text("nets.A\nnets.B\n")
    assert (listed(committed=True).models, answers) == (("nets.A", "nets.B"), [])


def test_graphs_of_listed_models_are_compressed(answers, tmp_path):
    """Those that are not stay as they are."""
    answers.append(answer(tmp_path, "nets.A", "nets.make"))
    save(small_graph(), tmp_path / "kept" / "nets.B.json")
    with DiagramBuilder(None, folder=tmp_path, snapshots=tmp_path / "kept") as made:
        list_models(made, read_catalogue({"of": "nets", "inputs": [1, 4]}), {})
        names = [name_snapshot(make_options(model=model, inputs=[1, 4])) for model in ("nets.A", "nets.make")]
        assert [made.snapshots.path(name).name for name in names] == [f"{name}.json.gz" for name in names]
        assert [made.snapshots.path(name).name for name in ("nets.A", "nets.B")] == ["nets.A.json", "nets.B.json"]
        made.snapshots.compressed.add("nets.B")
        assert made.snapshots.path("nets.B").name == "nets.B.json"


def test_a_list_that_differs_from_the_committed_one(answers, listed, tmp_path):
    name = f"{name_list(NETS)}.models.txt"
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / name).write_text("".join(f"nets.B{number}\n" for number in range(7)))
    answers.append(answer(tmp_path, "nets.A", "nets.B0"))
    assert listed().problem == (
        f"the list kept/{name} no longer matches (new: nets.A; gone: nets.B1, nets.B2, nets.B3, nets.B4, nets.B5 and"
        " 1 more); run `modeldiagrams snapshot` and commit the result"
    )


def test_ids_depend_on_what_is_listed_and_drawn_but_not_on_how_it_is_written():
    ids = [
        make_catalogue_id(read_catalogue(values))
        for values in (
            {"of": "a, b", "depth": "1"},
            {"of": ["a", "b"], "depth": 1},
            {"of": ["a", "b"], "depth": 1, "group-by": "none"},
            {"of": "a", "depth": 1},
            {"of": "a,b", "depth": 2},
            {"of": "a,b", "exclude": "c", "depth": 1},
        )
    ]
    assert ids[0] == ids[1]
    assert len({*ids}) == 5


def test_lists_keep_their_names_when_only_diagrams_change():
    names = [
        name_list(read_catalogue({"of": "a", **more}))
        for more in ({}, {"depth": 2, "nowarn": True, "committed": True}, {"exclude": "b"}, {"python": "other"})
    ]
    assert names[0] == names[1]
    assert len({*names}) == 3
