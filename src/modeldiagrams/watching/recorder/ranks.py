"""Several processes that train one model: what each measured is added up in the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import torch.distributed

if TYPE_CHECKING:
    from modeldiagrams.watching.recorder.parts import Part

__all__ = ["Phases", "gathered", "is_first", "is_spread"]

Phases: TypeAlias = "dict[str, list[Part]]"
"""Phase → what was measured."""


def is_spread() -> bool:
    """Whether several processes train together."""
    distributed = torch.distributed
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def is_first() -> bool:
    """Whether this is the process that writes."""
    return not is_spread() or torch.distributed.get_rank() == 0


def gathered(own: Phases) -> Phases:
    """What all processes measured, for the first; nothing for the others. A process may have missed any module."""
    if not is_spread():
        return own
    every: list[Phases] | None = [{}] * torch.distributed.get_world_size() if is_first() else None
    torch.distributed.gather_object(own, every, dst=0)
    found: Phases = {}
    for rank, phases in enumerate(every or ()):
        for phase, parts in phases.items():
            found.setdefault(phase, []).extend(part for part in parts if not rank or part.scope != "copy")
    return found
