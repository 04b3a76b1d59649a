"""What a forward gives to the modules that were made up for its constructor, and what it does with what they give.

The forward is read as for its inputs (`reading`), but what such a module gives is taken for another input: its uses
tell its shape, or that it is several tensors.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.target.forward import VARIADIC, parameters_of
from modeldiagrams.target.inference.annotations import annotations_of
from modeldiagrams.target.inference.guard import guarded
from modeldiagrams.target.inference.made_up_modules import HELD_FOR
from modeldiagrams.target.inference.probing import as_it_was
from modeldiagrams.target.inference.steps import Steps
from modeldiagrams.target.inference.symbolic.handlers import HANDLERS
from modeldiagrams.target.inference.symbolic.modules import layers_replaced
from modeldiagrams.target.inference.symbolic.objects import annotate
from modeldiagrams.target.inference.symbolic.signals import sparse_replaced
from modeldiagrams.target.inference.symbolic.tensors import Reading
from modeldiagrams.target.inference.unknown import Refused
from modeldiagrams.target.user_code import seeded
from modeldiagrams.tracer.recording.work_limit import Work, work_limited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import nn

    from modeldiagrams.target.inference.slots import Slot
    from modeldiagrams.target.inference.symbolic.given import Given

__all__ = ["PartCall", "part_calls"]

_MOST_CALLS = 10_000


@dataclass(eq=False)
class PartCall:
    """One call of a module that was made up."""

    slot: Slot
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Given


def part_calls(model: nn.Module, is_made_up: Callable[[Slot], bool]) -> list[PartCall]:
    """The calls that a forward makes, in their order, as far as it can be read.

    Args:
        model: Its code runs; what that sets is restored.
        is_made_up: Whether the module for an argument is no one's own.
    """
    reading = Reading(HANDLERS)
    reading.inputs = {name: reading.given((name,)) for name in _inputs(model)}
    annotations = annotations_of(model.forward)
    for name, given in reading.inputs.items():
        annotate(given, annotations.get(name))
    calls: list[PartCall] = []
    written = [*model.parameters(), *model.buffers()]
    try:
        # what was read until it fails counts
        ends = contextlib.suppress(Exception, SystemExit, Refused)
        with ends, work_limited(Work(_MOST_CALLS)), guarded(), seeded(), torch.no_grad(), as_it_was(model, (), written):
            for module, slot in [*_made_up(model, is_made_up)]:
                vars(module)["forward"] = _Watched(slot, reading, calls)
            with layers_replaced(model, reading), sparse_replaced(), Steps():
                model(**{name: reading.value(given) for name, given in reading.inputs.items()})
    finally:
        for module, _ in [*_made_up(model, is_made_up)]:
            vars(module).pop("forward", None)
    reading.solve()
    return calls


def _inputs(model: nn.Module) -> list[str]:
    """Parameters that a call needs; the first one, where it needs none."""
    parameters = [p for p in parameters_of(model.forward).values() if p.kind not in VARIADIC]
    return [p.name for p in parameters if p.default is p.empty] or [p.name for p in parameters[:1]]


def _made_up(model: nn.Module, is_made_up: Callable[[Slot], bool]) -> Iterator[tuple[nn.Module, Slot]]:
    for module in model.modules():
        slot = vars(module).get(HELD_FOR)
        if slot is not None and is_made_up(slot):
            yield module, slot


class _Watched:
    """Stands for the forward of a module that was made up."""

    def __init__(self, slot: Slot, reading: Reading, calls: list[PartCall]) -> None:
        self.slot, self.reading, self.calls = slot, reading, calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        path = (f"call {len(self.calls)}",)
        given = self.reading.given(path)
        given.is_list = True  # a number takes one of several things; a tensor is seldom asked for one row
        count = max((int(need.option()) for need in self.slot.needs.values() if need.kind == "items"), default=0)
        if count:
            self.reading.counts[path] = count
        self.calls.append(PartCall(self.slot, args, kwargs, given))
        return self.reading.value(given)
