"""What convolutions, padding and resizing do to the sides of maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from modeldiagrams.target.inference.symbolic.operands import argument
from modeldiagrams.target.inference.symbolic.shapes import Dim
from modeldiagrams.target.inference.symbolic.tensors import SymbolicTensor

if TYPE_CHECKING:
    from modeldiagrams.target.inference.symbolic.operands import Args, Kwargs

__all__ = ["is_of_noise", "less", "scaled", "taken_away"]

_OF_CLIPS = 3
_LEAST_MAP = 2


def is_of_noise(x: Any, weight: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether a generator makes a first map of an input, which then is noise: one pixel with many channels."""
    sides = Tensor.size(weight)[2:]
    steps = _of_sides(argument(args, kwargs, 3, "stride", 1), len(sides))
    options = {*steps, *_of_sides(argument(args, kwargs, 4, "padding", 0), len(sides))}
    is_first = isinstance(x, SymbolicTensor) and x.given is not None
    return is_first and options <= {0, 1} and 0 in options and min(sides) > _LEAST_MAP


def taken_away(weight: Any, args: Args, kwargs: Kwargs) -> dict[int, int]:
    """How much smaller a convolution that takes no step makes each side.

    Frames stay open: where blocks for pictures were made up for clips, they would be taken for channels.
    """
    kernel = tuple(Tensor.size(weight))[2:]
    if len(kernel) == _OF_CLIPS:
        return {}
    padding = argument(args, kwargs, 4, "padding", 0)
    if padding == "same":
        return dict.fromkeys(range(len(kernel)), 0)
    if isinstance(padding, str):
        return {}
    options = (argument(args, kwargs, 3, "stride", 1), padding, argument(args, kwargs, 5, "dilation", 1))
    each = zip(kernel, *(_of_sides(option, len(kernel)) for option in options), strict=False)
    return {at: apart * (k - 1) - 2 * pad for at, (k, step, pad, apart) in enumerate(each) if step == 1}


def _of_sides(option: Any, count: int) -> tuple[Any, ...]:
    """An option of a convolution for each side; one number in a list is for all of them."""
    each = tuple(option) if isinstance(option, tuple | list) else (option,)
    return each * count if len(each) == 1 else each


def less(side: Dim, by: int | None) -> Dim:
    """A side that is smaller by so much: the one that was padded before, if that is all that was added."""
    padded = side.end().padded
    if by == 0:
        return side
    return padded[0] if padded and padded[1] == by else Dim()


def scaled(side: Dim, scale: Any) -> Dim:
    """The side of a map that is made so many times as large."""
    is_whole = isinstance(scale, int | float) and scale == int(scale) and scale > 1
    return Dim(side.end().value * int(scale), times=(side, int(scale))) if is_whole else Dim()
