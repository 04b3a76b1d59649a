"""What names that code gives to sizes tell: ``steps, batch, width = x.shape``, ``b, cameras, c, h, w = x.size()``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modeldiagrams.target.inference.documented.shape_text import is_batch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.target.inference.symbolic.shapes import Dim, Shape

__all__ = ["batches_behind", "usual_size"]

_STEPS = re.compile(r"t|l|s|n|[tsq]_?len\w*|\w*(seq|len|time|steps?|frames?|tokens?)\w*", re.IGNORECASE)
_FEW = re.compile(r"m|(n_?|num_?)?(mics?|microphones?|views?|cams?|cameras?|persons?|people|bodies)", re.IGNORECASE)
_SEVERAL = 2


def batches_behind(shapes: Iterable[Shape]) -> tuple[set[Dim], set[Dim]]:
    """The batches that are no first dimension, and the first dimensions of the same inputs.

    Args:
        shapes: Of all inputs.
    """
    batches, firsts = set(), set()
    for shape in shapes:
        dims = [dim.end() for dim in shape.front]
        found = [dim for dim in dims[1:] if not dim.value and _is_rows(dim)]
        if found and not (dims[0].value or is_batch(dims[0].called) or dims[0].is_rows):
            batches.update(found)
            firsts.add(dims[0])
    return batches, firsts - batches


def _is_rows(dim: Dim) -> bool:
    """Whether code calls it a batch, or a layer takes it for one and code does not call it something else."""
    return is_batch(dim.called) or (dim.is_rows and not _STEPS.fullmatch(dim.called))


def usual_size(name: str) -> int:
    """How many of something there usually are; 0 where the name doesn't tell."""
    return _SEVERAL if _FEW.fullmatch(name) else 0
