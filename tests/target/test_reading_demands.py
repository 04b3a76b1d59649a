"""What a model's own checks of ranks demand is heard by a reading, however they are written."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from target.found_inputs import first_entries


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))


class Limited(nn.Module):
    """A rank that is only said to be too high; what comes next tells it."""

    def __init__(self):
        super().__init__()
        self.wave = nn.Conv1d(1, 4, 3)

    def forward(self, x):
        if x.dim() >= 3:
            raise RuntimeError("takes 1/2D tensors")
        return self.wave(x.unsqueeze(1))


class Between(Scaled):
    def forward(self, x):
        if not 3 < x.dim() <= 5:
            raise ValueError
        return x * self.scale


class Several(Scaled):
    def forward(self, x):
        if len(x.size()) not in [4, 5]:
            raise ValueError
        return x * self.scale


class OverLines(Scaled):
    def forward(self, x):
        if (
            x.dim() != 4  # batch, channels, height, width
            or x.shape[1] != 5
        ):
            raise ValueError
        return x * self.scale


class Counted(Scaled):
    def forward(self, x):
        assert len(x.shape) == 4, x.shape
        return x * self.scale


class Called(Scaled):
    def forward(self, x):
        torch._assert(x.dim() == 4, "no picture")
        return x * self.scale


class Branches(Scaled):
    def forward(self, x):
        if x.ndim == 2:
            x = x[:, :, None, None]
        elif x.ndim == 4:
            x = x * 2
        else:
            raise ValueError
        return x * self.scale


class OneOfTwo(Scaled):
    def forward(self, x):
        rank = x.ndim
        assert rank < 2 or rank == 4
        return x * self.scale


@pytest.mark.parametrize(
    ("model", "rank"),
    [
        (Limited, 2),
        (Between, 4),
        (Several, 4),
        (OverLines, 4),
        (Counted, 4),
        (Called, 4),
        (Branches, 4),
        (OneOfTwo, 4),
    ],
)
def test_ranks_are_those_for_which_code_goes_on(model, rank):
    assert len(first_entries(model())["x"]) == rank


class Checked(nn.Module):
    """Values that are refused are none of those that come next."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        if (x < 0).any():
            raise ValueError("negative")
        if x.isnan().any() or not (x.sum(-1) > 1).all():
            raise ValueError("no numbers")
        return self.head(x)


def test_values_are_those_for_which_code_goes_on():
    assert first_entries(Checked())["x"][-1] == 12
