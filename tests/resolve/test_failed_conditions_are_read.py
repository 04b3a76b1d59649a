"""Conditions of a model's own code, and calls that fail: what each says that the inputs should be.

PYTEST_DONT_REWRITE: asserts of models have no messages of pytest's, as in users' code.
"""

from __future__ import annotations

import pytest
import torch
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.arguments.argument_search import solve_arguments
from modeldiagrams.resolve.code.conditions import find_unequal_sides
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.inputs.failure_search import FailureSearch
from modeldiagrams.resolve.values.input_entries import list_leaves
from modeldiagrams.resolve.values.option_values import make_option_value


class Checked(nn.Module):
    """Checks its input before it is used; the weight suits any."""

    def __init__(self, check, result=lambda m, x: x * m.scale):
        super().__init__()
        self.check, self.result = check, result
        self.scale, self.side = nn.Parameter(torch.ones(())), 6
        self.embed, self.linear = nn.Embedding(50, 10), nn.Linear(20, 5)
        self.bag = nn.EmbeddingBag(50, 10)
        self.parts = nn.ModuleList(nn.Linear(width, 8) for width in (3, 4, 5))

    def forward(self, x):
        self.check(self, x)
        return self.result(self, x)


def solved(model):
    """The tensors of the first inputs that are found."""
    return [*list_leaves(next(FailureSearch(model.eval(), Budget()).solutions()).entries)]


def asserts_last_size(_module, x):
    assert x.shape[-1] == 4


def asserts_product(module, x):
    _batch, length, _width = x.size()
    assert length == module.side**2, "wrong length"


def asserts_multiple(_module, x):
    assert x.size(1) % 32 == 0


def raises_if_shorter(module, x):
    length = x.shape[1]
    if length < 2 * module.side:
        raise ValueError(f"{length} is too short")


def asserts_rank(module, x):
    assert x.dim() == 3 and x.shape[1:] == (9, module.side)  # noqa: PT018  (as people write it)


def asserts_rank_of_other(module, x):
    assert x.shape[:3] == (x.shape[0], 8, module.side)


def accepts_all(_module, _x):
    pass


def asserts_count(module, x):
    assert len(x) == len(module.parts)


CHECKS = [
    (asserts_last_size, lambda x: x[-1] == 4),
    (asserts_product, lambda x: x[1] == 36),
    (asserts_multiple, lambda x: x[1] % 32 == 0),
    (raises_if_shorter, lambda x: x[1] >= 12),
    (asserts_rank_of_other, lambda x: x[1:3] == (8, 6)),
    (asserts_rank, lambda x: x[1:] == (9, 6)),
]


@pytest.mark.parametrize(("check", "suits"), CHECKS, ids=lambda value: getattr(value, "__name__", ""))
def test_condition_says_which_size_it_wants(check, suits):
    assert suits(solved(Checked(check))[0].shape)


def test_length_that_is_compared_says_how_many_parts_there_are():
    model = Checked(asserts_count, lambda m, x: sum(part(item) for part, item in zip(m.parts, x, strict=True)))
    assert [leaf.shape[-1] for leaf in solved(model)] == [3, 4, 5]


def test_conditions_that_hold_and_those_of_callers_say_nothing():
    def fails(size):
        assert size > 0
        raise ValueError(size)

    with pytest.raises(ValueError, match="3") as raised:
        fails(3)
    assert not [*find_unequal_sides(raised.value)]


def test_failing_call_says_which_rank_it_wants():
    model = Checked(accepts_all, lambda m, x: m.bag(x[0]) + m.bag(x[1]))
    assert len(solved(model)[0].shape) == 3


class Buffers(nn.Module):
    def __init__(self, kernel, weights):
        super().__init__()
        self.register_buffer("kernel", torch.tensor(kernel))
        self.scale = nn.Parameter(torch.as_tensor(weights, dtype=torch.float32))
        self.count = sum(1 for _ in kernel)


class Named(nn.Module):
    def __init__(self, act_name):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, act_name)


@pytest.mark.parametrize("class_", [Buffers, Named])
def test_arguments_of_all_makes_are_found(class_):
    solved = solve_arguments(class_)
    made = class_(**make_option_value(solved.kwargs))
    if class_ is Buffers:
        assert made.kernel.ndim == 1
        assert made.scale.ndim == 0
    else:
        assert solved.kwargs == {"act_name": "relu"}


class Steps(nn.Module):
    """What the condition does not come to would raise an error of its own."""

    def __init__(self):
        super().__init__()
        self.layer, self.step = nn.Linear(6, 6), 0

    def forward(self, x):
        assert x.shape[-1] == 7 and x.shape[:: self.step] == (3,)  # noqa: PT018  (as models do)
        return self.layer(x)


def test_parts_of_a_condition_that_fail_end_nothing():
    assert resolve(parse_options({"model": f"{__name__}.Steps"}).call).note
