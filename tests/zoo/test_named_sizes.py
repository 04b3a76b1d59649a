"""Names of sizes and expressions against fresh passes at sizes that no pass had: over 150 models. Slow: `make zoo`."""

from __future__ import annotations

import statistics

import pytest

from named_sizes.judge import judge
from named_sizes.models import MODELS
from named_sizes.summary import summary

pytestmark = pytest.mark.filterwarnings("ignore")  # libraries warn about themselves


WRONG = {
    "own Strided 5, square": "a stride that does not fit the drawn size, with no pass far above it",
    "own VAE": "the naming of sizes raises KeyError",
    "transformers dinov2": "the table of costs has no sign for steps that only other sizes have",
}
"""Models of which a graph says something wrong, and what."""


@pytest.fixture(scope="module")
def judgements(report, share):
    """What was found of each model; summed up at the end."""
    found = []
    yield found
    for line in summary(found):
        report(line)
    named, nameable = sum(one.named for one in found), sum(one.nameable for one in found)
    share("dimensions that can vary: with an expression", named, nameable)
    assert named >= 0.95 * nameable
    assert statistics.median(one.passes for one in found) <= 4


@pytest.mark.parametrize("known", MODELS.values(), ids=MODELS)
def test_expressions_hold_at_unseen_sizes(known, judgements, report, request):
    if known.name in WRONG:
        request.applymarker(pytest.mark.xfail(reason=WRONG[known.name], strict=False))
    found = judge(known)
    judgements.append(found)
    report(found.row())
    assert [*found.oracle, *found.wrong, *found.silent] == []
    assert not any("Error" in note for note in found.notes)


def test_enough_models():
    assert len(MODELS) >= 100
    assert sum(name.startswith("own") for name in MODELS) >= 35
