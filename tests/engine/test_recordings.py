"""Recordings in diagrams are read, checked against the graph and cached."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from browser.pages import encoder
from modeldiagrams import Recording, to_html
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.engine.diagram_ids import make_diagram_id
from modeldiagrams.engine.recordings import add_recordings, build_schema, read_recordings
from modeldiagrams.engine.store import Store
from modeldiagrams.errors import RecordingError
from modeldiagrams.ir.serialize import save
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.watching.file.records import Anomaly, Key, Moment, Row, Run

GRAPH = encoder(layers=2)
SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "recording.schema.json"


def write(path, *nodes, steps=3):
    rows = {Key(node, "activation"): Row(count=10, norm=2.0) for node in nodes}
    Recording([Run(step=0)], [Moment(step=step, rows=rows) for step in range(steps)]).save(path)
    return path


def diagram(recording):
    return Diagram(id="x", options=parse_options({"model": "net.json", "recording": recording}), graph=GRAPH)


def test_a_diagram_has_its_recordings_and_depends_on_their_files(tmp_path):
    files = [write(tmp_path / name, "embed") for name in ("a.mdwatch", "b.mdwatch")]
    made = add_recordings(diagram("a.mdwatch, b.mdwatch"), tmp_path, None)
    assert [one.name for one in made.recordings] == ["a.mdwatch", "b.mdwatch"]
    assert set(made.sources) == {str(file) for file in files}
    assert made.problem is None


def test_published_schema_is_current_and_fits_our_pages(update_golden, tmp_path):
    if update_golden:
        SCHEMA_FILE.write_text(json.dumps(build_schema(), indent=2) + "\n", "utf-8")
    assert json.loads(SCHEMA_FILE.read_text("utf-8")) == build_schema(), "run `make golden`"
    (page,) = read_recordings(GRAPH, {"run.mdwatch": write(tmp_path / "run.mdwatch", "embed", "layers.0")})
    written = json.loads(msgspec.json.encode(page))
    jsonschema.Draft202012Validator.check_schema(build_schema())
    jsonschema.validate(written, build_schema())
    assert (written["format"], written["version"]) == ("modeldiagrams-recording-page", "1.0")


def test_a_recording_of_another_model_is_explained_with_ids_of_both(tmp_path):
    write(tmp_path / "run.mdwatch", "conv1", "conv2", "a", "b", "c", "d")
    problem = add_recordings(diagram("run.mdwatch"), tmp_path, None).problem
    assert problem.kind == "option"
    assert "run.mdwatch is a recording of another model" in problem.message
    assert "conv1, conv2, a, b, c and 1 more" in problem.message
    assert "Encoder are embed, layers.0" in problem.message
    assert str(tmp_path) not in problem.message


def test_ids_that_only_some_nodes_lack_are_no_problem(tmp_path):
    write(tmp_path / "run.mdwatch", "embed", "old.layer")
    made = add_recordings(diagram("run.mdwatch"), tmp_path, None)
    assert made.problem is None
    assert made.recordings[0].strangers == ("old.layer",)


@pytest.mark.parametrize(("name", "words"), [("none.mdwatch", "can be read"), ("net.mdwatch", "begins with")])
def test_a_file_that_is_not_a_recording_is_named_as_written(tmp_path, name, words):
    (tmp_path / "net.mdwatch").write_text("no recording")
    problem = add_recordings(diagram(name), tmp_path, None).problem
    assert problem.kind == "option"
    assert f"option `recording`: {name}: expected a recording" in problem.message
    assert words in problem.message
    assert str(tmp_path) not in problem.message


def test_a_reduced_recording_is_kept_until_its_file_changes(tmp_path, monkeypatch):
    file = write(tmp_path / "run.mdwatch", "embed")
    store = Store(tmp_path / "cache")
    read = lambda: read_recordings(GRAPH, {"run.mdwatch": file}, store)  # noqa: E731
    first = read()
    loads = []
    load = "modeldiagrams.engine.recordings.GrowingRecording.read"
    monkeypatch.setattr(load, lambda growing: loads.append(growing) or Recording())
    assert read() == first
    assert not loads
    write(file, "embed", steps=4)
    read()
    assert len(loads) == 1


def test_diagrams_with_and_without_a_recording_have_different_files():
    ids = {make_diagram_id(parse_options({"model": "pkg.Net", **more})) for more in ({}, {"recording": "run.mdwatch"})}
    assert len(ids) == 2
    assert "pkg.Net" in ids


@pytest.mark.parametrize("option", [{"recording": "run.mdwatch"}, {"fade": "[fc]"}, {"notes": "{fc: A note.}"}])
def test_a_comparison_has_no_training_and_no_notes(tmp_path, option):
    save(GRAPH, tmp_path / "net.json")
    options = parse_options({"model": "net.json", "before": "net.json", **option})
    with DiagramBuilder(None, folder=tmp_path) as builder:
        problem = builder.build(options).problem
    assert f"option `{next(iter(option))}`: belongs to `model-graph`" in problem.message


def test_a_single_file_contains_the_script_for_recordings(tmp_path):
    file = write(tmp_path / "run.mdwatch", "embed")
    with_it, without = to_html(GRAPH, recording=file), to_html(GRAPH)
    assert '"recording.js"' in with_it
    assert 'recording=""' in with_it
    assert len(with_it) > len(without) + 20_000
    assert '"recording.js"' not in without
    with pytest.raises(RecordingError, match="another model"):
        to_html(GRAPH, recording=write(tmp_path / "other.mdwatch", "conv"))


def test_a_reduced_recording_keeps_the_anomalies_of_the_whole_one(tmp_path):
    moments = [Moment(step=step, last=step + 1, rows={Key("embed", "activation"): Row(count=9)}) for step in (0, 2)]
    found = [Anomaly(step=3, kind="dead", node="embed", what="activation", text="dead")]
    Recording([Run(step=0)], moments, [], found).save(tmp_path / "run.mdwatch")
    (page,) = read_recordings(GRAPH, {"run.mdwatch": tmp_path / "run.mdwatch"})
    assert [(one.step, one.kind) for one in page.findings] == [(3, "dead")]
