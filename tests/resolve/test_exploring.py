"""The option `explore` of traces and diagrams in this process."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import modeldiagrams
from ir.test_cases import without_ways
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import Call
from modeldiagrams.resolve import graph_of, resolve
from modeldiagrams.tracer import forward_pass
from tracer.deciding_models import DECIDING, Gate, rows


@pytest.mark.parametrize("deciding", DECIDING, ids=lambda deciding: deciding.make.__name__)
def test_the_pass_as_traced_is_the_one_without_explore(deciding):
    model = deciding.make().eval()
    united = modeldiagrams.trace(model, deciding.cases[0], explore=True)
    first, *others = united.cases
    assert (first.name, first.forced) == ("as traced", False)
    assert others
    assert all(case.forced and case.status.state == "complete" for case in others)
    alone = modeldiagrams.trace(model, deciding.cases[0])
    assert without_ways(united.case("as traced")) == without_ways(alone)


def test_a_model_that_does_not_decide_has_one_pass_and_no_case():
    model, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.zeros(1, 4)
    assert serialize(modeldiagrams.trace(model, (x,), explore=True)) == serialize(modeldiagrams.trace(model, (x,)))


def test_a_pass_that_fails_is_not_explored():
    graph = modeldiagrams.trace(Gate(), (torch.zeros(1, 5),), explore=True)
    assert (graph.status.state, graph.cases) == ("partial", ())


def test_parts_and_diagrams_are_explored():
    whole = nn.Sequential(Gate(), nn.ReLU())
    graph = modeldiagrams.trace(whole, (rows(),), part="0", explore=True)
    assert [case.text for case in graph.cases] == ["", "x.mean() > 0"]
    assert "forced, not seen" in modeldiagrams.diagram(whole, (rows(),), explore=True)._repr_html_()


class Modes(nn.Module):
    """Decides by a value only in training, and in a method of its own."""

    def __init__(self):
        super().__init__()
        self.gate, self.head, self.more, self.loss = Gate(), nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        x = self.gate(x)
        if self.training and x.sum() > 1000:
            x = self.more(x)
        return self.head(x)

    def step(self, x):
        if x.min() > 500:
            return self.loss(x)
        return self(x).mean()


def test_each_case_is_explored_in_its_own_mode_and_by_its_own_method():
    model = Modes().eval()
    cases = {"infer": {}, "train": {"training": True}, "step": {"method": "step", "args": (rows(),)}}
    united = modeldiagrams.trace(model, (rows(),), cases=cases, explore=True)
    own, forced = united.cases[:3], united.cases[3:]
    assert [case.name for case in own] == list(cases)
    assert not any(case.forced for case in own)
    assert {case.text for case in forced} == {"x.mean() > 0", "x.sum() > 1000", "x.min() > 500"}
    assert not model.training
    plain = modeldiagrams.trace(model, (rows(),), cases=cases)
    for name in cases:
        assert without_ways(united.case(name)) == without_ways(plain.case(name))


def test_a_method_is_explored_where_the_search_for_inputs_has_run_it():
    target = resolve(Call(model=f"{__name__}.Modes", method="step", inputs=[[2, 4]]))
    assert target.trace is not None
    assert "x.min() > 500" in {case.text for case in graph_of(target, explore=True).cases}


@pytest.mark.parametrize("n_before", [0, 1])
def test_a_failure_of_ours_in_another_pass_becomes_a_note(monkeypatch, n_before):
    passes = []

    def fail(*_, **__):
        passes.append(1)
        if len(passes) > n_before:
            raise ModelDiagramsError("out of order")
        return rerun(*_, **__)

    rerun = forward_pass._rerun
    monkeypatch.setattr(forward_pass, "_rerun", fail)
    graph = modeldiagrams.trace(Gate(), (rows(),), explore=True)
    assert graph.status.state == "complete"
    assert "out of order" in graph.status.notes[-1]


def test_an_author_s_only_case_keeps_its_name():
    model = nn.Sequential(nn.Linear(4, 4))
    graph = modeldiagrams.trace(model, (rows(),), cases={"infer": {}}, explore=True)
    assert [case.name for case in graph.cases] == ["infer"]
