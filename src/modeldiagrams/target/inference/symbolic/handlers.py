"""All calls of PyTorch that a reading knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.target.inference.symbolic.algebra import ALGEBRA
from modeldiagrams.target.inference.symbolic.counted import COUNTED
from modeldiagrams.target.inference.symbolic.elements import ELEMENTS
from modeldiagrams.target.inference.symbolic.items import ITEMS
from modeldiagrams.target.inference.symbolic.layers import LAYERS
from modeldiagrams.target.inference.symbolic.rearranged import REARRANGED
from modeldiagrams.target.inference.symbolic.sampled import SAMPLED
from modeldiagrams.target.inference.symbolic.signals import SIGNALS
from modeldiagrams.target.inference.symbolic.views import VIEWS

if TYPE_CHECKING:
    from modeldiagrams.target.inference.symbolic.tensors import Handler

__all__ = ["HANDLERS"]

HANDLERS: dict[str, Handler] = {
    **ELEMENTS,
    **LAYERS,
    **VIEWS,
    **ITEMS,
    **SIGNALS,
    **ALGEBRA,
    **SAMPLED,
    **COUNTED,
    **REARRANGED,
}
