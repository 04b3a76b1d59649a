"""The nodes that a page's text refers to by a pattern or name."""

from __future__ import annotations

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams import annotate
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.diagram_parts import find_part
from modeldiagrams.options.parsing import parse_options


@pytest.fixture
def shown():
    diagram = Diagram(id="mypkg.Net", options=parse_options({"model": "mypkg.Net"}), graph=small_graph())
    said = annotate(small_graph(), "fc, relu", group="The head")
    return [diagram, msgspec.structs.replace(diagram, overlay=said)]


@pytest.mark.parametrize(
    ("pattern", "ids", "place"),
    [
        ("fc", ("fc",), 0),
        ("/relu", ("/relu",), 0),
        ("relu", ("/relu",), 0),
        ("fc/lin*", ("fc/linear",), 0),
        ("The head", ("/The_head[]",), 1),
        ("/The_head[]", ("/The_head[]",), 1),
    ],
)
def test_patterns_and_names_of_groups_find_parts(shown, pattern, ids, place):
    part = find_part(shown, pattern)
    assert part.ids == ids
    assert part.diagram is shown[place]


def test_an_unknown_part_is_an_error(shown):
    with pytest.raises(ModelDiagramsError, match=r"no module matches 'fcc'; did you mean 'fc'\?"):
        find_part(shown, "fcc")
