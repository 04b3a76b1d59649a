"""What the sizes of inputs are called."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.dimensions.naming import InputNames, name_inputs


class Masked(nn.Module):
    def forward(self, x: Tensor, mask: Tensor, num_frames: int = 0, size: tuple[int, int] = (1, 1)) -> Any:
        return x, mask, num_frames, size


def names_of(
    model: nn.Module, *args: Any, dims: Any = None, inputs_from: str | None = None, **kwargs: Any
) -> InputNames:
    return name_inputs(model, args, kwargs, dims, inputs_from)


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ({"x": ["B", "T"]}, r"x: expected 3 names or numbers, for 2×16×8, got \[B, T\]"),
        ({"x": "T"}, "x: it is a tensor: expected a list with 3 names or numbers, got 'T'"),
        ({"x": ["B", "T", 9]}, "x: its size 3 is 8, not 9: it is 2×16×8"),
        ({"x": ["B", "T", 8], "mask": ["B", "B"]}, "B: it is 2 in x and 12 in mask; give one of them another name"),
        ({"x": ["T", "T", 8]}, "T: it is 2 and 16 in x"),
        ({"maks": ["B", "T"]}, "maks: the model gets no tensor or whole number of this name; did you mean 'mask'"),
        (
            {"ids": ["B", "T"]},
            "ids: the model gets no tensor or whole number of this name; there are: x, mask, num_frames",
        ),
        ({"num_frame": "T"}, "num_frame: .*did you mean 'num_frames'"),
        ({"num_frames": "T", "x": ["B", "T", 8]}, "T: it is 5 in num_frames and 16 in x"),
        ({"num_frames": "2*T"}, "num_frames: it is the number 5: expected a name, `T`, got '2"),
        ({"size": ["H", "W", "D"]}, "size: expected 2 names, got 3"),
        ({"N": "T*K"}, r"N: T\*K has 'K', which is no size of the inputs; there are: B, T"),
        ({"T": "B*4"}, r"T: it is a size of x, and can't stand for B\*4, too"),
    ],
)
def test_mistakes_of_authors_are_told(dims: dict[str, Any], message: str) -> None:
    args = (torch.zeros(2, 16, 8), torch.ones(2, 12))
    with pytest.raises(TargetError, match=f"option `dims`, {message}"):
        names_of(Masked(), *args, num_frames=5, size=(7, 9), dims=dims)
