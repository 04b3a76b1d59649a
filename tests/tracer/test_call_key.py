"""`call_key` and `collect_tensors` must find the same tensors in the same order."""

import pytest
import torch

from modeldiagrams.tracer.recording.call_sites import call_key
from modeldiagrams.tracer.torch_facts.nested_values import tensors_of


def behind(functions, held):
    """Nested functions, the innermost of which uses a value."""
    if functions:
        kept = behind(functions - 1, held)
        return lambda: kept
    return held


@pytest.mark.parametrize("lists", range(10))
@pytest.mark.parametrize("functions", range(10))
def test_call_key_and_flatten_find_the_same_tensors_at_every_depth(lists, functions):
    value = behind(functions, torch.ones(1))
    for _ in range(lists):
        value = [value]
    found = []
    call_key([value], found)
    assert len(found) == len(tensors_of(value))
