"""Weights of many random models: where `diff` says they are now."""

from __future__ import annotations

import pytest

from edits.judged_pairs import check_counterparts
from edits.renamed import check_migration


@pytest.mark.parametrize("seed", range(10, 60))
def test_migrated_weights_load_and_give_equal_outputs(seed):
    check_migration(seed)


def test_mapped_weights_give_the_same_results():
    check_counterparts(range(30))
