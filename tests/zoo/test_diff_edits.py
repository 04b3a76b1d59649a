"""Fifty kinds of edit on models of libraries: how much of them `diff` says, and how much it says that was no edit."""

from __future__ import annotations

import pytest

from edits.score import KINDS, Score, score
from zoo.edit_models import DEVELOPMENT, HELD_OUT, subject

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about themselves

CASES = {"development": (DEVELOPMENT, 0.98), "held out": (HELD_OUT, 0.98)}
"""Models, and the least part that has to be right. In their one run before anything was mended because of them, the
models held out had a recall of 0.992 and a precision of 0.943."""


@pytest.mark.parametrize("what", CASES)
def test_recall_and_precision(what, report, share):
    names, least = CASES[what]
    found = Score()
    for name in names:
        found.verdicts.update(score([subject(name)]).verdicts)
    report(f"edits of {what} models: {found}")
    share(f"edits of {what} models: said", found.sum("right"), found.sum("expected"))
    share(f"edits of {what} models: true, of what is said", found.sum("right"), found.sum("told"))
    for problem in found.problems():
        report(f"  {problem}")
    assert len({name.split()[1] for name in found.verdicts}) >= len(KINDS) - 5
    assert found.recall >= least
    assert found.precision >= least
    assert found.sum("wrong") == 0
