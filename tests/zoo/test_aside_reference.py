"""Can the models kept aside be called at all? By what a person would call them with, every input of which has a say."""

from __future__ import annotations

import importlib
import inspect

import pytest
import torch
from torch.utils import _pytree as pytree

from inference_zoo import aside, entries
from zoo.references import HELPERS, REFERENCES

DRAWS = 6
"""Other values of an input, one of which has to change the output: some don't fit the other inputs."""
LEAST_LINES = 12
"""Of a class that is compared with others."""
MOST_ALIKE = 0.6
"""Share of lines that a model may have from a seen one: the same repositories come to many minds."""


def test_every_model_kept_aside_has_a_reference():
    assert {entry.path for entry in entries() if entry.path.startswith(f"{aside.__name__}.")} == REFERENCES.keys()


@pytest.mark.parametrize("path", REFERENCES)
def test_every_input_that_a_person_would_choose_reaches_an_output(path):
    names = HELPERS | vars(importlib.import_module(path.rpartition(".")[0]))
    made, called = REFERENCES[path]
    torch.manual_seed(0)
    model = eval(made, dict(names)).eval()  # noqa: S307
    first, *others = [leaves_of(called, names, seed) for seed in range(DRAWS)]
    expected = output_of(model, *first)
    assert expected
    inputs = [i for i, leaf in enumerate(first[0]) if isinstance(leaf, torch.Tensor)]
    assert inputs
    assert [i for i in inputs if not any(is_changed(expected, model, first, i, other[0][i]) for other in others)] == []


def leaves_of(called, names, seed):
    torch.manual_seed(seed)
    args, kwargs = eval(called, names | {"model": lambda *args, **kwargs: (args, kwargs)})  # noqa: S307
    return pytree.tree_flatten((args, kwargs))


def output_of(model, leaves, spec):
    torch.manual_seed(0)  # noise that a model adds
    args, kwargs = pytree.tree_unflatten(leaves, spec)
    with torch.no_grad():
        return [leaf for leaf in pytree.tree_leaves(model(*args, **kwargs)) if isinstance(leaf, torch.Tensor)]


def is_changed(expected, model, first, index, value):
    leaves, spec = first
    try:
        outputs = output_of(model, [value if i == index else leaf for i, leaf in enumerate(leaves)], spec)
    except (RuntimeError, IndexError, AssertionError):
        return False
    return len(outputs) != len(expected) or not all(map(same, outputs, expected))


def same(one, other):
    return one.shape == other.shape and torch.equal(one, other)


def test_no_model_kept_aside_is_written_like_one_that_is_seen():
    seen = [lines for entry in entries() if not entry.is_aside and len(lines := lines_of(entry.path)) >= LEAST_LINES]
    likeness = {
        path: max(len(lines & other) / min(len(lines), len(other)) for other in seen)
        for path in REFERENCES
        if len(lines := lines_of(path)) >= LEAST_LINES
    }
    assert len(likeness) > len(REFERENCES) / 2
    assert {path for path, share in likeness.items() if share > MOST_ALIKE} == set()


def lines_of(path):
    file, _, name = path.rpartition(".")
    return {line.strip() for line in inspect.getsource(getattr(importlib.import_module(file), name)).splitlines()}
