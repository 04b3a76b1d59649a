"""Models as people write them, named and nothing else: all are called as a person would call them."""

from __future__ import annotations

import functools
import textwrap

import msgspec
import pytest
import torch
import yaml
from torch import nn

from inference_zoo import ONLY_MODULES, entries
from inference_zoo.expected import Shown, call_of, untruths
from modeldiagrams.api.explain import explain
from modeldiagrams.errors import TargetError
from modeldiagrams.ir.nodes import ModuleNode
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import record, resolve
from modeldiagrams.tracer import trace
from samples import some
from zoo.verdict import faults

FOUND = [entry for entry in entries() if entry.expected != ONLY_MODULES]
OTHERS = [entry for entry in entries() if entry.expected == ONLY_MODULES]
SLOW = ("DecisionTransformer", "detector_s")
"""Seconds each: left to `make zoo`, like the further checks of two models in three."""
QUICK = [entry for entry in FOUND if not entry.path.endswith(SLOW)]
# what a model warns of on inputs that don't fit is not a reader's concern
pytestmark = pytest.mark.filterwarnings("ignore")


def name_of(entry):
    return " ".join([entry.path.partition(".")[2], *entry.options])


@functools.cache
def found(entry):
    """The model with its inputs, and the graph as the tracing process makes it."""
    target = resolve(parse_options({"model": entry.path, **entry.options}).call)
    return target, msgspec.structs.replace(record(target).graph, assumptions=target.assumptions)


@pytest.mark.parametrize("entry", some(FOUND, QUICK), ids=name_of)
def test_model_is_called_as_a_person_would_call_it(entry):
    target, graph = found(entry)
    assert target.note is None, target.tried
    assert faults(graph) == set()
    assert untruths(entry.expected, call_of(entry, target)) == []


@pytest.mark.parametrize("entry", some(FOUND, QUICK[::3]), ids=name_of)
def test_found_inputs_run_with_values_too(entry):
    """Ids in range, lengths no longer than sequences: a pass on fake tensors doesn't tell."""
    target, _ = found(entry)
    assert trace(target.model, target.args, target.kwargs, mode="real").status.error is None


@pytest.mark.parametrize("entry", some(FOUND, QUICK[::3]), ids=name_of)
def test_what_was_assumed_can_be_pasted_and_gives_the_same_graph(entry):
    _, graph = found(entry)
    call = parse_options({"model": entry.path, **entry.options}).call
    again = resolve(pasted_options(explain(call, graph, ())).call)
    assert again.assumptions == ()
    assert msgspec.structs.replace(record(again).graph, assumptions=graph.assumptions) == graph


def pasted_options(explained):
    """As a directive reads them, where every option is text; a fence reads the same."""
    rst, fence = (
        explained.partition(f"{title}:\n")[2].partition("\n\n")[0].splitlines()
        for title in ("reStructuredText", "Markdown")
    )
    options = dict(line.strip()[1:].split(": ", 1) for line in rst[1:])
    pasted = parse_options({"model": rst[0].split()[-1], **options})
    assert parse_options(yaml.safe_load(textwrap.dedent("\n".join(fence[1:-1])))) == pasted
    return pasted


@pytest.mark.parametrize("entry", OTHERS, ids=lambda entry: entry.path.partition(".")[2])
def test_without_inputs_the_modules_are_drawn_and_the_note_says_what_to_write(entry):
    target, graph = found(entry)
    assert "the option `inputs`" in target.note
    modules = {node.path for node in graph.nodes if isinstance(node, ModuleNode)}
    assert {name for name, _ in target.model.named_modules() if name} <= modules


class Unfit(nn.Linear):
    """Offers what it can't be called with."""

    def __init__(self):
        super().__init__(4, 4)

    @staticmethod
    def modeldiagrams_example():
        return torch.zeros(1, 4), torch.zeros(1, 4)


def test_own_example_that_does_not_fit_is_an_error():
    with pytest.raises(TargetError, match="too many positional arguments"):
        resolve(parse_options({"model": f"{__name__}.Unfit"}).call)


def test_large_model_with_a_configuration_is_on_the_meta_device():
    config = {"vocab_size": 10**7, "hidden_size": 64}
    target = resolve(parse_options({"model": "inference_zoo.offered.TransformersStyle", "config": config}).call)
    assert all(parameter.is_meta for parameter in target.model.parameters())
    assert record(target).graph.status.mode == "meta"


PICTURE, IDS = Shown("float", (1, 3, 32, 32)), Shown("int", (1, 16))


@pytest.mark.parametrize(
    ("line", "inputs"),
    [
        ("x: f B 3 H W", {"x": PICTURE}),
        ("x: fi B 1/3 16..64 32", {"x": PICTURE}),
        ("x: i B T; y?: f B", {"x": IDS, "y": None}),
        ("x: i B T; y: f B 2*T | f T 2", {"x": IDS, "y": Shown("float", (16, 2))}),
        ("x.*: f B 3 H W | i B T; z: n 1..4", {"x.image": PICTURE, "x.ids": IDS, "z": 2}),
        ("x: i B 2*args.n; args.n=8", {"x": IDS}),
    ],
)
def test_what_is_expected_is_true(line, inputs):
    assert untruths(line, (inputs, {"args.n": 8})) == []


@pytest.mark.parametrize(
    ("line", "inputs"),
    [
        ("x: f B 1 H W", {"x": PICTURE}),
        ("x: i B 3 H W", {"x": PICTURE}),
        ("x: f B H W", {"x": PICTURE}),
        ("x: f B 3 H H", {"x": Shown("float", (1, 3, 95, 32))}),
        ("x: f B T 3", {"x": Shown("float", (1, 1, 3))}),
        ("x: i B T; y: i B T", {"x": IDS}),
        ("x: i B T", {"x": IDS, "y": IDS}),
        ("x: i B T; y?: i B T", {"x": IDS, "y": Shown("int", (1, 8))}),
        ("x: n 1..4", {"x": True}),
        ("x: i B args.n", {"x": IDS}),
        ("x: i B T; args.n=16..", {"x": IDS}),
    ],
)
def test_what_is_not_expected_is_found(line, inputs):
    assert untruths(line, (inputs, {"args.n": 8}))
