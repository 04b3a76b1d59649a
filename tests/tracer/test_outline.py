"""What is looked up of a call and what is written down of it tell of the same tensors."""

import pytest
import torch

from modeldiagrams.tracer.outline import outline
from modeldiagrams.tracer.walk import tensors_in


def behind(functions, held):
    """A function that uses one that uses one … that uses this."""
    if functions:
        kept = behind(functions - 1, held)
        return lambda: kept
    return held


@pytest.mark.parametrize("lists", range(10))
@pytest.mark.parametrize("functions", range(10))
def test_as_deep_in_lists_and_functions(lists, functions):
    value = behind(functions, torch.ones(1))
    for _ in range(lists):
        value = [value]
    found = []
    outline([value], found)
    assert len(found) == len(tensors_in(value))
