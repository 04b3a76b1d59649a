"""What `--explain` prints stays short, however long the search was."""

from __future__ import annotations

import msgspec

from modeldiagrams.api.explain import explain
from modeldiagrams.ir.graph import Assumption
from modeldiagrams.options.options import Call
from modeldiagrams.tracer import trace


def explained(*assumed):
    graph = msgspec.structs.replace(trace(lambda: None), assumptions=assumed)
    return explain(Call(model="pkg.Model"), graph, [f"try {i}" for i in range(99)]).splitlines()


def test_thirty_lines_contain_evidence_tries_and_choice():
    lines = explained(*(Assumption(subject=f"kwargs.a{i}", value=str(i), reason=f"as in {i}") for i in range(20)))
    assert len(lines) <= 30
    assert "  … 14 more" in lines
    assert {"  kwargs.a0: as in 0", "  kwargs.a19: as in 19", "  try 0", "  try 98"} <= {*lines}


def test_it_stays_short_with_several_rules_and_options():
    rules = [Assumption(subject="rule", value=f"{i}", reason="by names") for i in (3, 4)]
    subjects = [f"{option}.a{i}" for option in ("kwargs", "inputs") for i in range(9)]
    lines = explained(*rules, *(Assumption(subject=s, value="1", reason=f"for {s}") for s in subjects))
    assert len(lines) <= 30
    assert {"  kwargs.a0: for kwargs.a0", "  inputs.a8: for inputs.a8", "  try 98"} <= {*lines}


def test_assumptions_with_the_same_reason_are_on_one_line():
    lines = explained(*(Assumption(subject=f"kwargs.{name}", value="1", reason="as named") for name in "abc"))
    assert "  kwargs.a, kwargs.b, kwargs.c: as named" in lines
