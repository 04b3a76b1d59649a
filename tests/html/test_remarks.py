"""What a page says about a trace that did not see or compute everything."""

from __future__ import annotations

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.ir.graph import Guess, OpNode
from modeldiagrams.ir.remarks import list_remarks


def remarked(**status: object) -> list[str]:
    """The remarks on a graph whose first op is at ``m.py:3`` and the others at ``m.py:4``."""
    graph = small_graph()
    lines = iter(["m.py:3"])
    nodes = tuple(
        msgspec.structs.replace(node, source=next(lines, "m.py:4")) if isinstance(node, OpNode) else node
        for node in graph.nodes
    )
    status = msgspec.structs.replace(graph.status, **status)
    return list_remarks(msgspec.structs.replace(graph, nodes=nodes, status=status))


OPS = [node.id for node in small_graph().nodes if isinstance(node, OpNode)]


@pytest.mark.parametrize(
    ("guesses", "assumed"),
    [
        ([(OPS[0], False)], "False at m.py:3"),
        ([(OPS[1], "every element"), (OPS[0], False)] * 50, "every element at m.py:4, False at m.py:3"),
        ([(OPS[1], 1), (OPS[0], 1), (None, 1)], "1 at m.py:4, m.py:3"),
        ([(None, 0.5)], "0.5"),
        ([(None, number) for number in range(8)], "0, 1, 2, 3, 4, 5 and 2 more"),
    ],
)
def test_assumed_values_are_listed_with_their_lines(guesses, assumed):
    found = remarked(guesses=tuple(Guess(node=node, value=value, reason="") for node, value in guesses))
    assert found == [f"Python asked for values that were not computed; assumed: {assumed}."]


@pytest.mark.parametrize(("unseen", "words"), [("a", "1 tensor"), ("ab", "2 tensors")])
def test_tensors_of_unknown_origin_are_counted(unseen, words):
    assert remarked(unseen=tuple(unseen)) == [f"The origin of {words} is unknown."]
