"""Fifty kinds of edit, each on a small model: what `diff` says of it, both ways round. More models are in the zoo."""

from __future__ import annotations

import pytest

from edits.models import DEVELOPMENT
from edits.score import KINDS, score


@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_is_reported_once_at_its_cause(kind):
    found = next(filter(None, (score([subject], [kind]) for subject in DEVELOPMENT)))
    assert [*found.problems()] == []
    assert (found.recall, found.precision, found.sum("wrong"), found.sum("lost")) == (1, 1, 0, 0)
