"""Notes where a pass decides by a tensor's value, and gives other answers where it is told to."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from modeldiagrams.tracer.decisions.tracked_numbers import track_numbers
from modeldiagrams.tracer.recording.counting import run_and_count
from modeldiagrams.tracer.recording.endless_loops import EndlessLoop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from modeldiagrams.tracer.decisions.places import DecisionPlace, DecisionPlaces
    from modeldiagrams.tracer.recording.op_recorder import OpRecorder

__all__ = ["DecisionMoment", "Decisions"]

_MOST_NOTED = 120
_MOST_MORE = 480
"""How many decisions a pass with a forced answer may make more than the first pass."""
_TRUTHS = frozenset({"__bool__", "is_nonzero", "equal", "allclose", "__contains__"})
_COUNTS = frozenset({"__int__", "__index__"})
_READS = _TRUTHS | _COUNTS | {"item", "tolist"}
_MOST_EQUAL = 6
"""After so many equal assumed answers in a ``while``, the other one is given."""


class DecisionMoment(NamedTuple):
    """A place, at one of the times that a pass comes there."""

    place: DecisionPlace
    time: int


class Decisions:
    """The decisions of one pass."""

    def __init__(
        self,
        places: DecisionPlaces,
        forced: Mapping[DecisionMoment, bool | int],
        n_before: int = 0,
        lasting: DecisionPlace | None = None,
    ) -> None:
        """Give the forced answers, in a pass that follows one with `n_before` decisions.

        At the place that is `lasting`, the last of them stays the answer from then on.
        """
        self._places = places
        self._finder: Any = None
        self.noted: dict[DecisionMoment, bool | int] = {}
        """The first decisions: truth values, and counts of loops."""
        self.n_made = 0
        self._forced = forced
        self._left = set(forced)
        self._lasting = lasting
        self._most = n_before + _MOST_MORE
        self._times: dict[DecisionPlace, int] = {}
        self._equal: dict[tuple[DecisionPlace, bool | int], int] = {}

    def _decide(self, place: DecisionPlace, answer: Callable[[], tuple[bool | int, bool]]) -> bool | int:
        """Decide at a place.

        Args:
            place: Where.
            answer: Returns the model's own answer, and whether it was assumed. Not called if another one is forced.
        """
        moment = DecisionMoment(place, self._times.get(place, 0) + 1)
        self._times[place] = moment.time
        self.n_made += 1
        if self._forced and self.n_made > self._most:
            raise EndlessLoop(f"{place.source} decides again and again")
        if moment in self._forced:
            self._left.discard(moment)
            found = self._forced[moment]
        elif place is self._lasting and not self._left:
            found = [*self._forced.values()][-1]
        else:
            found, is_assumed = answer()
            found = self._leave_loop(place, found) if is_assumed and self._forced else found
        if len(self.noted) < _MOST_NOTED:
            self.noted[moment] = found
        return found

    def _leave_loop(self, place: DecisionPlace, answer: bool | int) -> bool | int:  # noqa: FBT001 (it is no option)
        """Change an assumed answer that would keep the pass in a ``while`` for ever.

        Until all answers are forced, the pass is as one that is known to end.
        """
        if self._left:
            return answer
        n = self._equal[place, answer] = self._equal.get((place, answer), 0) + 1
        return not answer if n > _MOST_EQUAL and place.loop is ast.While and isinstance(answer, bool) else answer

    def watch(self, recorder: OpRecorder) -> None:
        """Take part in the pass that a recorder is about to record."""
        self._finder = recorder.finder
        recorder.run_call = self._run_call  # type: ignore[assignment]

    def close(self) -> None:
        """End the pass: numbers that are left from it decide nothing."""
        self._finder = None

    def _run_call(self, context: Any, counter: Any, run: Any, args: Any, *more: Any) -> tuple[Any, int | None]:
        """Run a call, unless it reads a value and another one is forced; return its result and its FLOPs."""
        name = getattr(run, "__name__", "")
        found = self._finder.user_frame() if name in _READS and context.on_main_thread and self._finder else None
        if found is None:
            return run_and_count(context, counter, run, args, *more)
        place, flops, n_guesses = self._places.find(*found), None, len(context.guesses)

        def answer() -> tuple[Any, bool]:
            nonlocal flops
            value, flops = run_and_count(context, counter, run, args, *more)
            return value, len(context.guesses) > n_guesses

        is_truth = name in _TRUTHS or (name == "item" and args[0].dtype is torch.bool)
        is_count = name in _COUNTS or (name == "item" and not args[0].is_floating_point())
        if is_truth or (is_count and place.role == "for"):
            value = self._decide(place, answer)
            context.guesses[n_guesses:] = [(value, reason) for _, reason in context.guesses[n_guesses:]]
            return value, flops
        value, is_assumed = answer()
        if name in _COUNTS:
            return value, flops
        return track_numbers(value, lambda frame, own: self._compare(frame, own, is_assumed=is_assumed)), flops

    def _compare(self, frame: FrameType, own: bool, *, is_assumed: bool) -> bool:  # noqa: FBT001 (it is no option)
        """Decide by a number that was read before."""
        found = None if self._finder is None else self._finder.user_frame()
        if found is None or found[0] is not frame:  # torch and the tracer compare, too
            return own
        place = self._places.find(*found)
        return bool(self._decide(place, lambda: (own, is_assumed))) if place.compares else own
