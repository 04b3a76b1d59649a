"""Fifty kinds of edit on models of libraries: how much of them `diff` says, and how much it says that was no edit."""

from __future__ import annotations

import pytest

from edits.score import KINDS, Score, score
from zoo.edit_models import DEVELOPMENT, HELD_OUT, subject

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about themselves

GOAL = 0.98


@pytest.mark.parametrize(("what", "names"), [("development", DEVELOPMENT), ("held out", HELD_OUT)])
def test_recall_and_precision(what, names, report):
    found = Score()
    for name in names:
        found.verdicts.update(score([subject(name)]).verdicts)
    report(f"edits of {what} models: {found}")
    for problem in found.problems():
        report(f"  {problem}")
    assert len({name.split()[1] for name in found.verdicts}) >= len(KINDS) - 5
    assert found.recall >= GOAL
    assert found.precision >= GOAL
    assert found.sum("wrong") == 0
