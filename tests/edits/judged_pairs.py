"""Weights of two random models: where `diff` says they are now, as PyTorch itself judges it."""

from __future__ import annotations

import random

import torch

import modeldiagrams
from edits.pairs import WIDTH, random_pair
from modeldiagrams.tracer import trace

MOST_IN_DOUBT = 0.12
"""Of all weights that have a counterpart."""


def given():
    return torch.randn(2, 5, WIDTH, generator=torch.Generator().manual_seed(3))


def first(model):
    found = model(given())
    return found[0] if isinstance(found, tuple) else found


def compared(seed):
    torch.manual_seed(seed)
    before, after, mapping = random_pair(random.Random(seed))  # noqa: S311
    found = modeldiagrams.diff(*(trace(model, (given(),)) for model in (before, after)))
    return before, after, mapping, found


def said_of(keys, before, after):
    """Key → the key that is said to be its counterpart, without those in doubt."""
    named = {pair.before: pair.after for pair in keys.renamed}
    doubtful = {key for group in keys.ambiguous for key in group.before} | {*keys.other_role} - {*named}
    kept = {key: key for key in before if key in after and key not in {*keys.gone, *named}}
    return {key: other for key, other in {**kept, **named}.items() if key not in doubtful}


@torch.no_grad()
def check_counterparts(seeds):
    """Weights that have a counterpart give the same results there, and few are in doubt."""
    sure = count = 0
    for seed in seeds:
        before, after, mapping, found = compared(seed)
        state = before.state_dict()
        said = said_of(found.checkpoints, state, after.state_dict())
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
