"""Overlays as files, and what becomes of them with other graphs."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from graphs import nested_graph, small_graph, with_repeats
from modeldiagrams import GraphError, Overlay, annotate
from modeldiagrams.overlay.annotate import resolve
from modeldiagrams.overlay.overlay import schema
from samples import png

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "overlay.schema.json"


def overlay() -> Overlay:
    graph = small_graph()
    said = annotate(graph, "fc", text="A <b>note</b>.", image=png(), rename="Layer", kind="attention")
    return said | annotate(graph, "fc, relu", group="Both")


def test_round_trip(tmp_path: Path) -> None:
    overlay().save(tmp_path / "notes.json")
    assert Overlay.load(tmp_path / "notes.json") == overlay()


def test_published_schema_is_current_and_fits_our_files(update_golden: bool) -> None:
    if update_golden:
        SCHEMA_FILE.write_text(json.dumps(schema(), indent=2) + "\n", "utf-8")
    assert json.loads(SCHEMA_FILE.read_text("utf-8")) == schema(), "run `make golden`"
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(overlay().to_json()), schema())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", r"odd\.json: \$: expected JSON"),
        ("[]", r"odd\.json: \$\.format: expected 'modeldiagrams-overlay'"),
        ('{"format": "modeldiagrams", "version": "1.3"}', r"\$\.format: expected 'modeldiagrams-overlay'"),
        ('{"format": "modeldiagrams-overlay", "version": "2.0"}', r"\$\.version: this file has format version 2.0"),
        ('{"format": "modeldiagrams-overlay", "version": "1.0", "graph": 3}', r"\$\.graph: Expected `str`, got `int`"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(GraphError, match=message):
        Overlay.load(tmp_path / "odd.json")


def test_nodes_missing_in_another_graph_are_reported() -> None:
    assert overlay().gone(small_graph()) == ()
    assert overlay().gone(with_repeats()) == ("fc", "/relu")


def test_overlays_of_different_graphs_are_not_merged() -> None:
    with pytest.raises(ValueError, match="expected an overlay for the same graph"):
        overlay().merge(annotate(with_repeats(), "*.fc1", fade=True))


def test_merging_keeps_all_groups_of_one_name() -> None:
    graph = nested_graph(deep=1, wide=6)
    options = {"group": {"Pair": ["b3", "b4"]}, "fade": ["Pair"], "notes": {"Pair": "Two more."}}
    later, problems = resolve(graph, options | {"order": {"Nested": ["Pair", "b5"]}})
    assert problems == []
    both = annotate(graph, "b0, b1", group="Pair") | later
    assert [(group.id, group.nodes) for group in both.groups] == [
        ("/Pair[]", ("b0", "b1")),
        ("/Pair[]#2", ("b3", "b4")),
    ]
    assert both.nodes["/Pair[]#2"].fade
    assert both.nodes[""].order == ("/Pair[]#2", "b5")
    assert both.notes[0].nodes == ("/Pair[]#2",)
    assert (both | annotate(graph, "b0, b1", group="Pair")) == both


def test_merging_puts_groups_inside_others() -> None:
    graph = nested_graph(deep=1, wide=6)
    inner, outer = annotate(graph, "b1, b2", group="Inner"), annotate(graph, "b0, b1, b2", group="Outer")
    groups = [("/Inner[]", ("b1", "b2")), ("/Outer[]", ("b0", "/Inner[]"))]
    assert [(group.id, group.nodes) for group in (inner | outer).groups] == groups
    assert [(group.id, group.nodes) for group in (outer | inner).groups] == groups


def test_overlapping_groups_are_not_merged() -> None:
    graph = nested_graph(deep=1, wide=6)
    with pytest.raises(ValueError, match="b1 is in group 'A' already; expected groups without a common member"):
        annotate(graph, "b0, b1", group="A").merge(annotate(graph, "b1, b2", group="B"))


def test_nodes_inside_hidden_nodes_are_hidden() -> None:
    graph = with_repeats()
    group = annotate(graph, "blocks.1.fc1, blocks.1.fc2", group="Both")
    overlay = annotate(graph, "blocks.0", hide=True) | group
    assert overlay.hides(graph, "blocks.0")
    assert overlay.hides(graph, "blocks.0.fc1")
    assert not overlay.hides(graph, "blocks.1.fc1")
    hidden, _ = resolve(graph, {"group": {"Both": ["blocks.1.fc1", "blocks.1.fc2"]}, "hide": ["Both"]})
    assert hidden.hides(graph, "blocks.1.fc1")
    assert not hidden.hides(graph, "blocks.0.fc1")
