"""The oracle of costs: torch's own counter."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from modeldiagrams.tracer.torch_facts import flops


def operator_formulas() -> dict[Any, Any]:
    """Our formulas of operators that torch's counter has none for."""
    found = {}
    for name, formula in vars(flops)["_MORE"].items():
        for suffix in ("", "_"):  # and in place
            packet = getattr(torch.ops.aten, name.removeprefix("aten.") + suffix, None)
            if packet is not None:
                found[packet] = _raw(formula)
    return found


def _raw(formula):
    def count(*args, out_val=None, **kwargs):
        return formula(*args, out_val=out_val, **kwargs)

    count._get_raw = True  # it takes tensors, not shapes
    return count


class _NoModules(contextlib.nullcontext):
    """In place of torch's tracker of modules, which fails on some."""

    parents = frozenset({"Global"})


def counted(function, *args, **kwargs) -> int:
    """FLOPs of a call, as torch counts them while it runs."""
    counter = FlopCounterMode(display=False, custom_mapping=operator_formulas())
    counter.mod_tracker = _NoModules()
    with counter:
        function(*args, **kwargs)
    return counter.get_total_flops()
