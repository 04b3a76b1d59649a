"""Collects the measurements of several processes that train one model in the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import torch.distributed

if TYPE_CHECKING:
    from modeldiagrams.watching.recorder.partial_rows import PartialRow

__all__ = ["Phases", "gather_phases", "is_distributed", "is_first"]

Phases: TypeAlias = "dict[str, list[PartialRow]]"
"""Measurements by phase."""


def is_distributed() -> bool:
    """Whether several processes train together."""
    distributed = torch.distributed
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def is_first() -> bool:
    """Whether this is the process that writes."""
    return not is_distributed() or torch.distributed.get_rank() == 0


def gather_phases(own: Phases) -> Phases:
    """Gather the measurements of all processes in the first; processes may have measured different modules."""
    if not is_distributed():
        return own
    every: list[Phases] | None = [{}] * torch.distributed.get_world_size() if is_first() else None
    torch.distributed.gather_object(own, every, dst=0)
    found: Phases = {}
    for rank, phases in enumerate(every or ()):
        for phase, parts in phases.items():
            found.setdefault(phase, []).extend(part for part in parts if not rank or part.scope != "copy")
    return found
