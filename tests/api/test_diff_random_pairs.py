"""Weights of models that differ elsewhere, too: no wrong counterpart, and few in doubt. PyTorch itself judges."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

import modeldiagrams
from edits.pairs import WIDTH, random_pair
from modeldiagrams.tracer import trace

MOST_IN_DOUBT = 0.12
"""Of all weights that have a counterpart."""
PAIRS = 30


def given():
    return torch.randn(2, 5, WIDTH, generator=torch.Generator().manual_seed(3))


def first(model):
    found = model(given())
    return found[0] if isinstance(found, tuple) else found


def compared(seed):
    torch.manual_seed(seed)
    before, after, mapping = random_pair(random.Random(seed))  # noqa: S311
    found = modeldiagrams.diff(*(trace(model, (given(),)) for model in (before, after)))
    return before, after, mapping, found.checkpoints


def said_of(keys, before, after):
    """Key → the key that is said to be its counterpart, without those in doubt."""
    named = {pair.before: pair.after for pair in keys.renamed}
    doubtful = {key for group in keys.ambiguous for key in group.before} | {*keys.other_role} - {*named}
    kept = {key: key for key in before if key in after and key not in {*keys.gone, *named}}
    return {key: other for key, other in {**kept, **named}.items() if key not in doubtful}


@torch.no_grad()
def test_weights_that_have_a_counterpart_give_the_same_results_there():
    sure = count = 0
    for seed in range(PAIRS):
        before, after, mapping, keys = compared(seed)
        state = before.state_dict()
        said = said_of(keys, state, after.state_dict())
        expected = first(after)
        torch.testing.assert_close(expected, first(before), rtol=1e-3, atol=1e-3)
        # what isn't said keeps its right value
        _, unknown = after.load_state_dict({said[key]: state[key] for key in mapping if key in said}, strict=False)
        assert not unknown, seed
        torch.testing.assert_close(first(after), expected, rtol=1e-3, atol=1e-3)
        assert {key: other for key, other in said.items() if key in mapping and mapping[key] != other} == {}, seed
        sure += sum(key in said for key in mapping)
        count += len(mapping)
    assert 1 - sure / count <= MOST_IN_DOUBT


@pytest.mark.parametrize("seed", [8, 9, 39])
@torch.no_grad()
def test_migrated_weights_load_where_nothing_is_in_doubt(seed):
    torch.manual_seed(seed)
    before, after, _ = random_pair(random.Random(seed))  # noqa: S311
    found = modeldiagrams.diff(*(trace(model, (given(),)) for model in (before, after)))
    for parameter in after.parameters():
        nn.init.normal_(parameter)
    after.load_state_dict(found.migrate(before.state_dict()))
    torch.testing.assert_close(first(after), first(before), rtol=1e-3, atol=1e-3)
