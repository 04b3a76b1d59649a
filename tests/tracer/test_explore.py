"""Forced passes find what the author's own cases find, and leave nothing behind."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

from modeldiagrams.ir.serialize import serialize
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.tracer import trace, trace_run
from modeldiagrams.tracer.decisions.explore import explore, find_things
from tracer.deciding_models import DECIDING, WIDTH, Checks, EarlyExit, Elif, Experts, Gate, ShiftedNumbers, linear, rows
from tracer.traced_graph import Lambda

WITHOUT_LOOPS = (Gate, Elif, ShiftedNumbers, Checks, EarlyExit)


def explored(model, args, mode="fake", **options):
    first = trace_run(model, args, {}, mode)
    assert first.graph.status.error is None, first.graph.status.error
    return first.graph, explore([first], **options)


def nodes(graph):
    return {thing for thing in find_things(graph) if isinstance(thing[0], str)}


@pytest.mark.parametrize("mode", ["fake", "real"])
@pytest.mark.parametrize("deciding", DECIDING, ids=lambda deciding: deciding.make.__name__)
def test_what_the_cases_of_an_author_find_is_found_from_the_first_one(deciding, mode):
    torch.manual_seed(0)
    model = deciding.make().eval()
    alone = [trace(model, case, mode="real") for case in deciding.cases]
    assert all(graph.status.error is None for graph in alone)
    first, found = explored(model, deciding.cases[0], mode)
    assert found.graphs
    assert not set().union(*map(nodes, alone)) - nodes(first).union(*map(nodes, found.graphs.values()))
    if deciding.make in WITHOUT_LOOPS:  # where each case of the author's is one answer away
        passes = {structural_digest(graph) for graph in (first, *found.graphs.values())}
        assert {structural_digest(graph) for graph in alone} <= passes


@pytest.mark.parametrize("deciding", DECIDING, ids=lambda deciding: deciding.make.__name__)
def test_the_same_passes_again(deciding):
    model = deciding.make().eval()
    one, other = (explored(model, deciding.cases[0])[1] for _ in range(2))
    assert list(one.graphs) == list(other.graphs)
    assert [*map(serialize, one.graphs.values())] == [*map(serialize, other.graphs.values())]
    assert (one.texts, one.notes) == (other.texts, other.notes)


def test_line_answer_and_condition_are_the_names():
    _, found = explored(Gate(), (rows(1),))
    ((name, text),) = found.texts.items()
    assert (name.partition(":")[0], name.rpartition(" ")[2], text) == ("deciding_models.py", "no", "x.mean() > 0")
    _, found = explored(Elif(), (rows(3),), "real")
    assert [*found.texts.values()] == ["mean > 1", f"mean > 0, after {next(iter(found.texts))}"]


def test_a_pass_that_raises_becomes_a_note():
    _, found = explored(Checks(), (rows(1),))
    assert len(found.graphs) == 1
    assert [note.partition(":")[0] for note in found.notes] == ["tracer/deciding_models.py"] * 2
    assert all(" is a check: if " in note for note in found.notes)
    assert [note.partition("forced to be ")[2] for note in found.notes] == [
        "yes, the model raises ValueError: x has values that are not finite",
        "no, the model raises AssertionError: x is too large",
    ]


class Remembering(nn.Module):
    """Changes everything that a pass can change, in a branch and before a check."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = linear(), linear(), nn.BatchNorm1d(WIDTH)
        self.register_buffer("calls", torch.zeros(()))
        self.cache = []

    def forward(self, x):
        self.calls += 1
        self.cache.append(x)
        x = self.norm(x) + torch.rand(()) + random.random()  # noqa: S311
        if x.mean() > 50:
            self.calls += 10
            self.cache.clear()
            self.extra = self.b(x)
            return self.extra
        if (x > 99).any():
            self.calls += 100
            raise ValueError
        return self.a(x)


@pytest.mark.parametrize("mode", ["fake", "real"])
def test_each_pass_is_undone(mode):
    model, x = Remembering().train(), rows()
    state = {key: value.clone() for key, value in model.state_dict().items()}
    generators = torch.get_rng_state(), random.getstate()
    _, found = explored(model, (x,), mode)
    assert len(found.graphs) == len(found.notes) == 1
    assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), generators[0])
    assert random.getstate() == generators[1]
    assert (model.cache, hasattr(model, "extra"), model.training) == ([], False, True)
    assert torch.equal(x, rows())


def test_numbers_that_are_used_but_compared_only_elsewhere_decide_nothing():
    def forward(self, given):
        n, values = given.sum().item(), given[0].tolist()
        largest = max(*values, n, 3)
        return self.a(given) * largest + torch.full((2, int(n) // 8), sorted(values)[1]) + torch.zeros(2, 1) * n**2

    first, found = explored(Lambda(forward, a=linear()), (rows(1),), "real")
    assert first.status.error is None
    assert (found.graphs, found.notes) == ({}, [])


def test_tracked_numbers_change_no_graph():
    """A first pass that is watched is the plain one; what follows from reads is computed as without."""

    def forward(self, given):
        scale, items = given.mean().item(), given[0].tolist()
        steps = {0: self.a}
        if scale > 0.5 and items[0] != 7:
            given = steps[int(items[1]) - 1](given) * scale + abs(-items[0]) / 2
        return given.sum().item() * given

    model = Lambda(forward, a=linear())
    first, found = explored(model, (rows(1),), "real")
    assert [*found.texts.values()] == ["scale > 0.5", "items[0] != 7"][: len(found.texts)]
    assert serialize(trace(model, (rows(1),), mode="real")) == serialize(first)


def test_a_loop_without_end_is_given_up():
    def forward(self, given):
        while True:
            given = self.a(given)
            if given.sum() > 0:
                return given

    _, found = explored(Lambda(forward, a=linear()), (rows(1),), "real")
    assert not found.notes
    assert all(len(graph.nodes) < 50 for graph in found.graphs.values())


def test_an_assumed_loop_is_left_after_a_forced_answer():
    def forward(self, given):
        if given.mean() > 0:
            while not (given.sum() > 0):
                given = self.a(given)
        return given

    _, found = explored(Lambda(forward, a=linear()), (rows(1),))
    (graph,) = found.graphs.values()
    answers = 1 + 6  # the forced one, and as many as are assumed
    assert sum(node.kind == "module" for node in graph.nodes) == answers
    assert graph.status.guesses[-1].value is True


def test_time_and_number_of_passes_end_the_search_with_a_note():
    _, found = explored(Elif(), (rows(2),), seconds_left=lambda: 0)
    assert not found.graphs
    assert found.notes == ["Other sides were explored in 0 further passes, as no time was left for more"]

    _, found = explored(EarlyExit(40), (rows(), torch.tensor(0)))
    assert found.notes == ["Other sides were explored in 24 further passes, which is the most"]


def test_all_experts_are_found_at_once():
    first, found = explored(Experts(50), (rows(), torch.tensor([0, 0])))
    called = [{node.path for node in graph.nodes if node.kind == "module"} for graph in (first, *found.graphs.values())]
    assert [len(paths) for paths in called] == [3, 0, 150]  # each with what is in it


CONDITIONS = [
    ("if not a.any():\n    return a.sin()", "not a.any()", "yes"),
    ("if len(a) and (\n    a.all()\n    or a.any()\n):\n    return a\na = a.sin()", "a.all()", "no"),
    ("while not bool(a.all()) and i < 3:\n    i += 1\n    a = a.sin()", "not bool(a.all())", "yes"),
    ("a = a.sin() if a.sum() > 9 else a.cos()", "a.sum() > 9", "yes"),
    ("a = sum([row.sin() for row in a if row[0] < 1], a)", "row[0] < 1", "yes"),
    ("match a.sum().item():\n    case 8 | 9:\n        a = a.sin()", "case 8 | 9", "no"),
    ("found = a.all().item()\nif not found:\n    a = a.sin()", "found = a.all().item()", "no"),
    ("for i in range(int(a.sum())):\n    a = a.sin() if i > 8 else a", "range(int(a.sum()))", "×10"),
    (
        "n = a.sum().long().item()\nfor i in range(n):\n    a = a.sin() if i > 8 else a",
        "n = a.sum().long().item()",
        "×10",
    ),
]


@pytest.mark.parametrize(("code", "text", "answer"), CONDITIONS)
def test_conditions_are_found_in_the_syntax_tree(tmp_path, monkeypatch, code, text, answer):
    lines = "\n".join(f"    {line}" for line in code.splitlines())
    name = f"conditions_{CONDITIONS.index((code, text, answer))}"
    (tmp_path / f"{name}.py").write_text(f"def forward(a):\n    i = 0\n{lines}\n    return a + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    forward = __import__(name).forward
    _, found = explored(forward, (rows(1),), "real")
    name, shown = next(iter(found.texts.items()))
    assert (name.rpartition(" ")[2], shown) == (answer, text)
