"""Models as people write them, named and nothing else: how many give a connected diagram, by level? `make zoo`."""

from __future__ import annotations

import pytest
from benchmarks.inference import measured

from inference_zoo import entries

SHARES = {"easy": 1.0, "usual": 0.9, "hard": 0.8}


@pytest.mark.parametrize("level", sorted(SHARES))
def test_most_models_need_no_option(level, report):
    outcomes = {entry: measured(entry.path) for entry in entries() if entry.level == level and not entry.is_aside}
    for entry, outcome in outcomes.items():
        if not outcome.is_solved:
            report(f"{entry.path}: {outcome.text}")
    solved = sum(outcome.is_solved for outcome in outcomes.values())
    report(f"{level}: {solved} of {len(outcomes)}")
    assert solved >= SHARES[level] * len(outcomes)
