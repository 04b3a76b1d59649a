"""What `--explain` prints stays short, however long the search was."""

from __future__ import annotations

import msgspec

from modeldiagrams.api.explain import explain
from modeldiagrams.ir.graph import Assumption
from modeldiagrams.options.options import Call
from modeldiagrams.tracer import trace


def test_thirty_lines_tell_evidence_tries_and_choice():
    assumed = tuple(Assumption(subject=f"kwargs.a{i}", value=str(i), reason="as named") for i in range(20))
    graph = msgspec.structs.replace(trace(lambda: None), assumptions=assumed)
    lines = explain(Call(model="pkg.Model"), graph, [f"try {i}" for i in range(99)]).splitlines()
    assert len(lines) <= 30
    assert "  … 14 more" in lines
    assert {"  kwargs.a0: as named", "  kwargs.a19: as named", "  try 0", "  try 98"} <= {*lines}
