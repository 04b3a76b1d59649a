"""What a trace leaves as it was, and what it does not.

A trace puts back what tracing itself changed, and the content of

- weights, buffers and gradients, and tensors among the inputs,
- attributes and registries of modules, and containers and objects that these or the inputs hold,
- the random state of torch, Python and numpy,
- torch's own stacks of modes, inference mode and whether gradients are on.

Everything else is as after a plain call of the model: what a forward sets in its classes, in Python modules or for the
whole process (``torch.set_default_dtype``, environment variables) stays. Documentation runs every model in its own
process, see `modeldiagrams.worker`.

A pass without values must not poison a later one, so its fake tensors also disappear from global variables, and
functions that cache their results get empty caches for each pass, see `leftovers`.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.common.random_state import random_state_restored
from modeldiagrams.tracer.restore.leftovers import fakes_removed
from modeldiagrams.tracer.restore.object_snapshot import ObjectSnapshot, attempt
from modeldiagrams.tracer.restore.tensor_snapshot import TensorSnapshot
from modeldiagrams.tracer.torch_facts.private_api import MODES, default_device, set_default_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import nn

    from modeldiagrams.tracer.restore.leftovers import Namespace


@contextlib.contextmanager
def restored(model: Any, inputs: Any, namespaces: Sequence[Namespace]) -> Iterator[TensorSnapshot]:
    """Restore, at the end, what the contract above names; the stacks of modes are up to `mode_stacks_restored`.

    Fake tensors are removed from the namespaces. Yields the snapshot of tensors, to be told before a write to them.
    """
    objects = ObjectSnapshot(model, inputs)
    tensors = TensorSnapshot(objects.tensors)
    has_grad = torch.is_grad_enabled()  # inference mode sets it, too
    with contextlib.ExitStack() as undo:
        # its guard restores what was when it was made, even if it is freed late: exited last
        undo.enter_context(torch.inference_mode(torch.is_inference_mode_enabled()))
        undo.enter_context(torch.set_grad_enabled(has_grad))
        undo.callback(attempt, tensors.restore)
        undo.callback(objects.restore)
        undo.enter_context(random_state_restored())
        undo.enter_context(fakes_removed(namespaces))
        yield tensors


@contextlib.contextmanager
def mode_stacks_restored() -> Iterator[None]:
    """Leave, at the end, the modes of torch that were entered inside and left open.

    Otherwise the modes around would be left in their place.
    """
    device = default_device()
    stacks = [(kind, entered, entered()) for kind, entered in MODES]
    try:
        yield
    finally:
        if default_device() != device:  # it is a mode, too
            set_default_device(device)
        for kind, entered, before in stacks:
            for mode in reversed(entered()):
                if not any(mode is other for other in before):
                    kind.__exit__(mode, None, None, None)


def modules_under_fsdp(modules: Sequence[tuple[str, nn.Module]]) -> list[Any]:
    """The modules to which ``fully_shard`` was applied."""
    kind = getattr(sys.modules.get("torch.distributed.fsdp"), "FSDPModule", None)
    return [] if kind is None else [module for _, module in modules if isinstance(module, kind)]


@contextlib.contextmanager
def sharding_restored(modules: Sequence[tuple[str, nn.Module]]) -> Iterator[None]:
    """Shard or gather, at the end, the parameters of modules under FSDP as they were, which only FSDP itself knows."""
    groups = [(module, module._get_fsdp_state()._fsdp_param_group) for module in modules_under_fsdp(modules)]  # noqa: SLF001
    were_gathered = [(module, group.is_unsharded) for module, group in groups if group is not None]
    try:
        yield
    finally:
        for module, was_gathered in were_gathered:
            module.unshard() if was_gathered else module.reshard()
