"""Unions of four small models are true; `tests/zoo/test_cases_by_hand.py` has them all."""

from __future__ import annotations

import pytest

from cases_by_hand.hand_written_1 import MODELS as FIRST
from cases_by_hand.hand_written_2 import MODELS as SECOND
from cases_by_hand.oracle import faults

SMALL = ("early exit", "VAE", "optional arguments", "tree")


@pytest.mark.parametrize("name", SMALL)
def test_each_case_comes_out_as_it_went_in(name):
    (model,) = [model for model in (*FIRST, *SECOND) if model.name == name]
    assert faults(model.graphs()) == []
