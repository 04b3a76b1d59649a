"""Restores which modules under FSDP have gathered parameters: FSDP notes it in objects of its own."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import nn

__all__ = ["modules_under_fsdp", "sharding_restored"]


def modules_under_fsdp(modules: Sequence[tuple[str, nn.Module]]) -> list[Any]:
    """The modules to which ``fully_shard`` was applied."""
    kind = getattr(sys.modules.get("torch.distributed.fsdp"), "FSDPModule", None)
    return [] if kind is None else [module for _, module in modules if isinstance(module, kind)]


@contextlib.contextmanager
def sharding_restored(modules: Sequence[tuple[str, nn.Module]]) -> Iterator[None]:
    """Shard or gather, at the end, the parameters of modules under FSDP as they were."""
    groups = [(module, module._get_fsdp_state()._fsdp_param_group) for module in modules_under_fsdp(modules)]  # noqa: SLF001
    were_gathered = [(module, group.is_unsharded) for module, group in groups if group is not None]
    try:
        yield
    finally:
        for module, was_gathered in were_gathered:
            module.unshard() if was_gathered else module.reshard()
