"""Finds constructor arguments by watching how ``__init__`` uses them on the meta device (rule 3).

Every required parameter becomes a `Slot`, first taken for a number. A run of the constructor with values that watch
their use shows what each one is: what it can't be ends the run, and the next one starts with what was learnt. Any other
error is answered by another value for one of the arguments that it is about (`error_causes`). When a run succeeds, the
layers that hold an argument tell its role, and so a usual value (`vocabulary.toml`). What is found is plain data as an
author would write it, and the model is made of that.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.arguments.argument_stubs import Misuse, PlainData
from modeldiagrams.resolve.arguments.error_causes import find_refusal, find_slots_in_error
from modeldiagrams.resolve.arguments.forward_uses import find_forward_uses
from modeldiagrams.resolve.arguments.sandbox import sandboxed
from modeldiagrams.resolve.arguments.slot_kinds import refine_kind
from modeldiagrams.resolve.arguments.slot_options import explain_slot
from modeldiagrams.resolve.arguments.slots import (
    Slot,
    note_failed_layer,
    note_layers,
    set_widths,
)
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.code.parameter_annotations import get_annotations
from modeldiagrams.resolve.code.source import get_source, list_own_bases
from modeldiagrams.resolve.code.user_code import seeded
from modeldiagrams.resolve.names.conventions import list_required_parameters
from modeldiagrams.resolve.names.vocabulary import is_listed
from modeldiagrams.resolve.values.construct import Allocations, TooLargeError
from modeldiagrams.resolve.values.option_values import make_option_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["lacks_layers", "solve_arguments"]

_MOST_RUNS = 60
_MOST_REFINEMENTS = 60
"""Runs that end because an argument is of another kind; each makes one kind certain."""
_MOST_CHANGES = 3
"""Arguments that differ from their likeliest value."""
_MOST_OPTIONS = 9
MOST_CALLS = 100_000
"""Calls of PyTorch in all runs; after them no other run begins."""
_CALLS_OF_RUN = 50_000
_MOST_ELEMENTS = 100_000_000
"""Of all tensors of a constructor that needs values, in one run."""
_ALL_ELEMENTS = 5 * _MOST_ELEMENTS
_NEEDS_VALUES = re.compile(r"meta (tensor|device)|on meta|device meta", re.IGNORECASE)

Choices = tuple[tuple[str, int], ...]
"""Path of an argument → which of its options is tried."""


@dataclass(frozen=True)
class Solved:
    """Arguments with which the constructor runs."""

    kwargs: dict[str, Any]
    """As the option `kwargs`."""
    reasons: dict[str, str]
    """Parameter → why it is what it is."""
    tries: int


def solve_arguments(
    found: Callable[..., Any],
    error: str = "",
    given: Mapping[str, Any] | None = None,
    *,
    names: Sequence[str] = (),
) -> Solved | None:
    """Find arguments for all required parameters of a class or factory; None if no run succeeds.

    Args:
        found: The class or the factory.
        error: What a call without them raised: it names those that ``**kwargs`` hide.
        given: Arguments that are known, as the option `kwargs`; the others are looked for.
        names: The parameters to look for, where others than the required ones are.
    """
    required = list_required_parameters(found)
    if any(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in required):
        return None
    hidden = re.search(r"missing \d+ required .*arguments?: (.*)", error)
    names = [*names] or [p.name for p in required] or (re.findall(r"'(\w+)'", hidden[1]) if hidden else [])
    names = names or re.findall(r"KeyError: '([A-Za-z_]\w*)'$", error)
    given = given or {}
    names = [name for name in names if name not in given]
    return ArgumentSearch(found, names, dict(given)).solved() if names else None


@dataclass
class ArgumentSearch:
    """Searches the arguments of one class or factory."""

    maker: Callable[..., Any]
    required: list[str]
    given: dict[str, Any] = field(default_factory=dict)
    calls_left: int = MOST_CALLS
    elements_left: float = _ALL_ELEMENTS
    slots: list[Slot] = field(default_factory=list)
    runs: int = 0
    refinements: int = 0
    pending: list[tuple[int, int, Choices]] = field(default_factory=list)
    """Choices to try: by the number of changes, then in the order in which errors asked for them."""
    seen: set[Choices] = field(default_factory=set)

    def __post_init__(self) -> None:
        hints = get_annotations(self.maker)
        written = get_parameters(self.maker)
        configured = getattr(self.maker, "config_class", None)
        for name in self.required:
            annotation = hints.get(name, written[name].annotation if name in written else None)
            if annotation in (None, inspect.Parameter.empty) and is_listed("configurations", name):
                annotation = configured
            known = None if annotation is inspect.Parameter.empty or isinstance(annotation, str) else annotation
            self.slots.append(self._slot(name, known))

    def _slot(self, name: str, annotation: Any) -> Slot:
        function = inspect.unwrap(self.maker.__init__ if inspect.isclass(self.maker) else self.maker)
        return Slot(name, name, getattr(function, "__globals__", {}), annotation=annotation, makers=(self.maker,))

    def solved(self) -> Solved | None:
        """The first arguments that work, with better values where the layers tell."""
        found = self.searched()
        if found is None:
            return None
        first = self.result()
        note_layers(found)
        again = self.searched(rounds=4)
        is_worse = again is None or (lacks_layers(again) and not lacks_layers(found))
        return first if is_worse else self.result()

    def result(self) -> Solved:
        """The values that are chosen now."""
        kwargs = {slot.path: slot.written() for slot in self.slots}
        return Solved(kwargs, {slot.path: explain_slot(slot) for slot in self.slots}, self.runs + self.refinements)

    def searched(self, rounds: int = _MOST_RUNS) -> nn.Module | None:
        """A model made with values that work together; None if there are none."""
        self.pending, self.seen = [(0, 0, ())], set()
        while self.pending and rounds and self.runs < _MOST_RUNS and not self._is_spent():
            rounds -= 1
            self.runs += 1
            self.pending.sort()
            choices = self.pending.pop(0)[2]
            self._choose(choices)
            try:
                return self._run()
            except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the constructor raises)
                self._plan(choices, error)
        return None

    def _is_spent(self) -> bool:
        return self.calls_left <= 0 or self.elements_left <= 0

    def _choose(self, choices: Choices) -> None:
        wanted = dict(choices)
        for slot in self.every():
            slot.choice = wanted.get(slot.path, 0)
        set_widths(self.slots)

    def every(self) -> Iterator[Slot]:
        """All arguments and what is inside them."""
        for slot in self.slots:
            yield from slot.tried()

    def _run(self) -> nn.Module:
        """One run, repeated as long as it teaches of what kind an argument is."""
        while True:
            try:
                model = self._made()
                uses = find_forward_uses(model)
                if not any(self._refine(use) for use in uses):
                    return model
            except Misuse as refused:
                if not self._refine(refused):
                    raise TargetError(f"{refused.slot.path} can't be used so") from None
            except (Exception, SystemExit) as error:
                use = find_refusal(error, self.every())
                is_refined = use is not None and self._refine(use)
                if not (is_refined or self._learns_of_layer(error)):
                    raise

    def _learns_of_layer(self, error: BaseException) -> bool:
        self.refinements += 1
        return self.refinements <= _MOST_REFINEMENTS and note_failed_layer(error)

    def _refine(self, refused: Misuse) -> bool:
        self.refinements += 1
        return self.refinements <= _MOST_REFINEMENTS and refine_kind(refused)

    def _made(self) -> nn.Module:
        with seeded(), sandboxed():
            try:
                with torch.device("meta"):
                    made = self._called()
            except (RuntimeError, NotImplementedError, TargetError) as error:
                if not _NEEDS_VALUES.search(str(error)):
                    raise
                made = self._made_with_memory()
        if not isinstance(made, nn.Module):
            raise TargetError("it made no module")
        return made

    def _made_with_memory(self) -> Any:
        allocations = Allocations(_MOST_ELEMENTS)
        try:
            with allocations:
                return self._called()
        finally:
            self.elements_left -= allocations.used

    def _called(self) -> Any:
        with PlainData(_CALLS_OF_RUN) as plain:
            try:
                return self.maker(**make_option_value(self.given), **{slot.path: slot.value() for slot in self.slots})
            except TooLargeError:
                raise TargetError("it makes too much") from None
            finally:
                self.calls_left -= _CALLS_OF_RUN - plain.calls_left

    def _plan(self, choices: Choices, error: BaseException) -> None:
        """Queue other values of the arguments that caused the error, likeliest first."""
        if len(choices) >= _MOST_CHANGES:
            return
        for place, slot in enumerate(find_slots_in_error(error, self.every())):
            for choice in range(1, min(len(slot.options()), _MOST_OPTIONS)):
                changed = tuple(sorted({**dict(choices), slot.path: choice}.items()))
                if changed not in self.seen:
                    self.seen.add(changed)
                    self.pending.append((len(changed) + place // 2, place + choice, changed))


_FILLED = (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict, nn.Sequential)


def lacks_layers(model: nn.Module) -> bool:
    """Whether a model has no parameters, an empty parameter, or an empty container that its constructor should fill.

    Such arguments are worse than others: a depth of two that leaves no block, a window that convolutions use up.
    """
    sizes = [parameter.numel() for parameter in model.parameters() if type(parameter) is nn.Parameter]
    return not all(sizes) or next(model.parameters(), None) is None or any(True for _ in _empty_parts(model))


def _empty_parts(model: nn.Module) -> Iterator[str]:
    for name, part in model.named_children():
        if type(part) in _FILLED and not len(part) and not _is_written_empty(model, name):  # type: ignore[arg-type]
            yield name


def _is_written_empty(model: nn.Module, name: str) -> bool:
    """Whether it is written as a layer that does nothing: ``self.shortcut = nn.Sequential()``."""
    written = re.compile(rf"self\.{re.escape(name)}\s*=[^\n]*\bSequential\(\s*\)")
    return any(written.search(get_source(owner)) for owner in list_own_bases(type(model)))
