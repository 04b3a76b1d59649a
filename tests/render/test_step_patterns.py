"""Steps of tours, options and words find nodes by the same rule, in Python and in the viewer."""

from __future__ import annotations

from pathlib import Path

import pytest

import modeldiagrams
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.diagram_parts import find_part
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.options.options import Call, Options, View
from modeldiagrams.options.steps import Step
from modeldiagrams.render.draw import Authored, render

GRAPHS = sorted((Path(__file__).parents[1] / "golden").glob("*.json"))


def patterns(graph):
    """Names that authors may write, right and wrong ones."""
    found = ["*", "?", "nothing", "*.0", "*/*", "input:*", "*#2", "*2"]
    for node in graph.nodes:
        found += [node.id, f"{node.id[:-1]}?", f"{node.id}x"]
        if isinstance(node, ModuleNode):
            found += [node.path, node.class_, node.class_.rpartition(".")[2]]
        if isinstance(node, OpNode):
            found += [node.name, node.name.rpartition(".")[2]]
    return sorted(set(found))


def as_steps_and_words_find(graph, wanted, overlay=None):
    """For each pattern, what a step lights, and what words would."""
    steps = tuple(Step(highlight=(pattern,)) for pattern in wanted)
    beside = Authored(overlay=overlay.to_json() if overlay else None, steps=steps)
    shown = [Diagram(id="net", options=Options(call=Call(model="net")), graph=graph, overlay=overlay)]
    for pattern, step in zip(wanted, render(graph, View(depth=9), beside=beside).steps, strict=True):
        try:
            ids = find_part(shown, f"net#{pattern}").ids
        except ModelDiagramsError:
            ids = ()
        yield pattern, step, ids


@pytest.mark.parametrize("file", GRAPHS, ids=lambda file: file.stem)
def test_steps_and_words_find_the_same_nodes(file):
    graph = modeldiagrams.load(file)
    for pattern, step, ids in as_steps_and_words_find(graph, patterns(graph)):
        assert (step.unfound is None) == bool(ids), pattern
        # what a closed module or a repeat hides is not lit itself
        assert set(step.lit) <= set(ids), pattern


def test_a_group_comes_before_a_class_of_the_same_name():
    graph = modeldiagrams.load(Path(__file__).parents[1] / "golden" / "residual.json")
    overlay = modeldiagrams.annotate(graph, "fc, relu", group="Linear")
    (group,) = overlay.groups
    found = {
        pattern: (step.lit, ids) for pattern, step, ids in as_steps_and_words_find(graph, ["Linear", "L*"], overlay)
    }
    assert found["Linear"] == ((group.id,), (group.id,))
    assert found["L*"][1] == ("fc",)
    assert group.id not in found["L*"][0]
