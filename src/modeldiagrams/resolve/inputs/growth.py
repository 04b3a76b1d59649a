"""Larger inputs, where layers leave nothing of them: convolutions with strides, pools, windows, choices of the best."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from modeldiagrams.resolve.inputs.wanted import is_too_small
from modeldiagrams.resolve.values.entries import put_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.resolve.inputs.probe import Probed
    from modeldiagrams.resolve.inputs.sizes import Sizes
    from modeldiagrams.resolve.values.entries import Entries, Leaf

__all__ = ["grown"]

_USUAL = tuple(1 << power for power in range(5, 15))
"""Sizes that inputs grow to."""
_LONGEST = 1 << 22
"""That a model may have itself: bytes of a file, samples of a sound."""
_LARGE = 1 << 20
"""Elements of an input from which on it has one row."""
_BEFORE = 2
"""Batch and channels of pictures and sounds."""


def grown(
    entries: Entries, sources: Sequence[Leaf], sizes: Sizes, again: Callable[[Entries], Probed | None]
) -> Iterator[Entries]:
    """The least usual size of which all layers leave something, or one that the model has itself.

    Args:
        entries: With which it failed.
        sources: The inputs that the failure is about.
        sizes: Gave out sizes that may change.
        again: Runs a pass that is no try by itself.
    """
    growing = [(leaf, dimensions) for leaf in sources if (dimensions := _growing(leaf, sizes))]
    least = max((leaf.shape[d] for leaf, dimensions in growing for d in dimensions), default=0)
    own = {size for size in sizes.own if _USUAL[0] <= size <= _LONGEST}
    for size in sorted({*_USUAL, *own}) if growing else ():
        larger = entries
        for leaf, dimensions in growing:
            shape = tuple(size if d in dimensions else old for d, old in enumerate(leaf.shape))
            is_large = math.prod(shape) > _LARGE and shape[0] == sizes.batch
            larger = put_all(larger, leaf.path, replace(leaf, shape=(1, *shape[1:]) if is_large else shape).entry)
        probed = again(larger) if size > least else None
        if probed is not None and not is_too_small(probed):
            yield larger
            return


def _growing(leaf: Leaf, sizes: Sizes) -> list[int]:
    """Dimensions of a size that nobody has said; of pictures and sounds all but batch and channels."""
    free = [d for d, size in enumerate(leaf.shape) if d and sizes.is_own(size) and size != sizes.batch]
    is_grid = len(leaf.shape) > _BEFORE and leaf.dtype == "float32"
    return free or ([*range(_BEFORE, len(leaf.shape))] if is_grid else [])
