"""What flowed through the tensors of one pass: statistics, and small pictures of maps."""

from __future__ import annotations

from modeldiagrams.ir.nodes import Struct

__all__ = ["SAMPLE", "Samples", "TensorSample"]

SAMPLE = "sample"
"""What authors write for the option `values` to see what flows."""


class TensorSample(Struct, frozen=True, kw_only=True):
    """Statistics of the values of one tensor. Those of its finite values are None if it has none."""

    mean: float | None = None
    std: float | None = None
    """The standard deviation, of all values and not estimated from a part."""
    min: float | None = None
    max: float | None = None
    zeros: float = 0
    """The share of values that are exactly 0, from 0 to 1."""
    nan: int = 0
    """The number of values that are NaN."""
    inf: int = 0
    """The number of values that are infinite."""
    picture: str = ""
    """A PNG in base64 of a tensor that is a map, or several: an image, feature maps, attention. Empty for others."""
    averaged: int = 1
    """The number of maps (channels, heads) whose mean `picture` shows."""
    darkest: float = 0
    """The value that is black in `picture`."""
    brightest: float = 0
    """The value that is white in `picture`."""


class Samples(Struct, frozen=True, kw_only=True):
    """What flowed in one pass with real values. Comparisons ignore it; without it, the graph is the same."""

    tensors: dict[str, TensorSample]
    """Id of a tensor → its values; tensors whose values can't be read are left out."""
    random_inputs: bool = False
    """Whether inputs had random values, because the author gave only shapes, or none."""
    without_picture: int = 0
    """The number of maps that have no picture, because together they would be too large."""
