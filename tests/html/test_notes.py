"""Notes of Python and of files: text, whatever it holds, in a list below the picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphs import hostile_graph, small_graph
from modeldiagrams import OptionError, annotate, to_html, to_svg
from modeldiagrams.api.export import write
from modeldiagrams.overlay.annotate import resolve

HOSTILE = "</script></svg><img src=x onerror=alert(1)>\"'&<!--"


def test_hostile_words_stay_text() -> None:
    graph = small_graph()
    overlay = annotate(graph, "fc", text=HOSTILE, rename=HOSTILE) | annotate(graph, "fc, relu", group=HOSTILE)
    html = to_html(graph, overlay=overlay)
    assert "<img src=x" not in html
    assert '<li id="mypkg.Net-note-1"><p>&lt;/script&gt;' in html
    assert "<img" not in to_svg(graph, overlay=overlay)


def test_lines_of_a_note_stay_lines() -> None:
    graph = small_graph()
    assert "<p>One<br>Two</p>" in to_html(graph, overlay=annotate(graph, "fc", text="One\nTwo"))


def test_models_with_hostile_names_can_be_annotated() -> None:
    graph = hostile_graph()
    ids = [node.id for node in graph.nodes]
    overlay, _ = resolve(graph, {"rename": dict.fromkeys(ids[:40], "Same"), "notes": dict.fromkeys(ids, "Text")})
    assert "<svg" in to_svg(graph, overlay=overlay)


def test_overlay_of_another_graph_warns_about_missing_nodes() -> None:
    other = annotate(hostile_graph(), "constructor", fade=True)
    with pytest.warns(UserWarning, match=r"Net has no 'constructor'"):
        to_svg(small_graph(), overlay=other)


@pytest.mark.parametrize("suffix", [".json", ".dot", ".mmd"])
def test_formats_that_can_not_contain_an_overlay_refuse_it(tmp_path: Path, suffix: str) -> None:
    graph = small_graph()
    with pytest.raises(OptionError, match=rf"option `overlay`: \{suffix} files can't contain it"):
        write(graph, tmp_path / f"net{suffix}", {}, overlay=annotate(graph, "fc", fade=True))
    assert not [*tmp_path.iterdir()]
