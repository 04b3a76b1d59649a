"""State of the whole process that a trace restores: random state, and torch's stacks of modes."""

from __future__ import annotations

import contextlib
import random
import sys
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.tracer.torch_facts.private_api import MODES, default_device, set_default_device

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["gradient_modes_restored", "mode_stacks_restored", "random_state_restored"]


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


@contextlib.contextmanager
def gradient_modes_restored() -> Iterator[None]:
    """Leave, at the end, inference mode and `torch.no_grad` that were entered inside and left open.

    The guard of inference mode restores what was when it was made, even if it is freed late: exit this last.
    """
    has_grad = torch.is_grad_enabled()  # inference mode sets it, too
    with torch.inference_mode(torch.is_inference_mode_enabled()), torch.set_grad_enabled(has_grad):
        yield


@contextlib.contextmanager
def random_state_restored() -> Iterator[None]:
    """Restore the generators of random numbers that torch, Python and numpy have for everyone."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
    numpy: Any = sys.modules.get("numpy.random")
    numpy_state = numpy.get_state() if numpy else None
    torch_state, python_state = torch.get_rng_state(), random.getstate()
    try:
        yield
    finally:
        torch.set_rng_state(torch_state)
        random.setstate(python_state)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        if numpy:
            numpy.set_state(numpy_state)
