"""Shapes as a whole: code that compares them, or takes patterns of einops, tells ranks and sizes before any pass."""

from __future__ import annotations

import torch
from torch import nn

from target.found_inputs import first_entries

EINOPS = {"__name__": "einops.einops"}
exec(  # noqa: S102  (as einops asks for a rank: by the length of a shape, in a function that has the pattern)
    """
def rearrange(tensor, pattern):
    rank = len(tensor.shape)
    return tensor.reshape(tensor.shape[0], -1) if rank == 4 else tensor.nothing
""",
    EINOPS,
)
exec(  # noqa: S102  (as it packs)
    """
def pack(tensor, pattern):
    return tensor if len(tensor.shape) > 1 else tensor.nothing
""",
    EINOPS,
)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))


class Tail(Scaled):
    def forward(self, x):
        assert x.shape[1:] == (3, 24, 40), x.shape
        return x * self.scale


class Whole(Scaled):
    def forward(self, x, y):
        if x.shape != y.shape:
            raise ValueError("x and y differ")
        assert y.shape == (y.shape[0], 5, 9)
        return x * self.scale - y


class Optional(Scaled):
    def forward(self, x, skip):
        x = x.flatten(1) * self.scale
        return x + skip if x.shape == skip.shape else x + skip.mean()


class Rearranged(Scaled):
    def forward(self, x):
        return EINOPS["rearrange"](x, "b (n d) h w -> b (n d h w)") * self.scale


def test_last_sizes_that_are_asserted_tell_the_rank():
    assert first_entries(Tail())["x"][1:] == [3, 24, 40]


def test_shapes_that_have_to_be_the_same_are():
    entries = first_entries(Whole())
    assert entries["x"] == entries["y"]
    assert entries["x"][1:] == [5, 9]


def test_shapes_that_are_only_compared_tell_nothing():
    assert first_entries(Optional())["x"]


def test_patterns_of_einops_tell_ranks():
    assert len(first_entries(Rearranged())["x"]) == 4


class Packed(Scaled):
    def forward(self, x):
        x = EINOPS["pack"](x, "b * c")
        a, b, c, d = x.shape
        return x.reshape(a, b * c, d) * self.scale


def test_a_star_in_a_pattern_stands_for_any_number_of_dimensions():
    assert len(first_entries(Packed())["x"]) == 4


class Unlike(Scaled):
    def forward(self, x):
        assert x.shape[-2:] != (5, 6, 19)
        return x.flatten(1) * self.scale


def test_last_sizes_are_no_more_than_were_taken():
    assert not {5, 6, 19} & {*first_entries(Unlike())["x"]}


class Refusing(Scaled):
    def forward(self, x, y):
        """Scale x (B, C, H, W) by y (B, C)."""
        assert x.shape[-2:] != (1, 1), "too small"
        assert x.shape[1] != 4
        if y.ndim == 4:
            raise ValueError("y is no picture")
        if not y.ndim == 2:
            raise ValueError("y is a matrix")
        return x * self.scale * y[:, :, None, None]


def test_what_code_refuses_is_not_what_it_asks_for():
    entries = first_entries(Refusing())
    assert [len(entries[name]) for name in "xy"] == [4, 2]
    assert not {1, 4} & {*entries["x"][1:]}
