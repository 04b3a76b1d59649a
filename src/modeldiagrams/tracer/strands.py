"""One order, and one numbering, for what ran on several threads, whichever was faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from modeldiagrams.tracer.recording import Call, Op, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modeldiagrams.tracer.recording import Recording, Value

__all__ = ["put_in_order"]

_Step: TypeAlias = Op | Call


def put_in_order(recording: Recording) -> None:
    """Put every stretch of work (strand) that ran on another thread right before the first step that needs it.

    Those that nothing needs come last. Several at one place go in the order in which they were started, those of
    threads that were there before by their first id. Where strands need parts of each other, each goes on only as far
    as the others need it. Then calls and ops are numbered anew.

    Args:
        recording: What happened; strand 0 is the main thread.
    """
    steps = recording.steps
    strands: dict[int, list[_Step]] = {}
    for step in steps:
        strands.setdefault(step.strand, []).append(step)
    if not strands.keys() - {0}:
        return
    ordered = _Order(strands, recording.births).whole()
    if not _runs_forward(ordered):
        ordered = _Order(strands, recording.births).piecewise() or steps
    recording.steps = ordered
    places = {id(step): i for i, step in enumerate(ordered)}
    _sort_writes(recording, places)
    _number(recording)
    recording.guesses.sort(key=lambda guess: places.get(id(guess[0]), -1))


class _Order:
    """Finds an order."""

    def __init__(self, strands: dict[int, list[_Step]], births: dict[int, tuple[int, ...]]) -> None:
        self._strands = strands
        self._births = births
        self._ordered: list[_Step] = []
        self._done = dict.fromkeys(strands, 0)
        """Strand → how many of its steps are placed."""
        self._places = {id(step): i for strand in strands.values() for i, step in enumerate(strand)}

    def whole(self) -> list[_Step]:
        """Every strand in one piece."""
        needs = {n: {need for step in strand for need, _ in self._needs(step)} for n, strand in self._strands.items()}
        for step in self._strands.get(0, ()):
            self._place({need for need, _ in self._needs(step)}, needs)
            self._ordered.append(step)
        self._place(set(self._strands), needs)
        return self._ordered

    def _place(self, wanted: set[int], needs: dict[int, set[int]]) -> None:
        """Place the wanted strands that were not placed before, after those that these need."""
        pending, entered = self._by_birth(wanted), set[int]()
        while pending:
            number = pending[-1]
            before = [] if number in entered else self._by_birth(needs[number] - {number} - entered)
            entered.add(number)
            if before:
                pending += before
            else:
                pending.pop()
                self._ordered += self._strands[number][self._done[number] :]
                self._done[number] = len(self._strands[number])

    def piecewise(self) -> list[_Step]:
        """Every strand as far as others need it; nothing if that can't be."""
        for number in [0, *reversed(self._by_birth(set(self._strands)))]:
            pending = [(number, len(self._strands.get(number, ())))]
            while pending:
                running, end = pending[-1]
                if self._done.get(running, 0) >= end:
                    pending.pop()
                    continue
                step = self._strands[running][self._done[running]]
                before = [(need, place + 1) for need, place in self._needs(step) if self._done[need] <= place]
                if {need for need, _ in before} & {waiting for waiting, _ in pending}:
                    return []
                if before:
                    pending += sorted(before, key=lambda need: (self._birth(need[0]), need[1]), reverse=True)
                else:
                    self._ordered.append(step)
                    self._done[running] += 1
        return self._ordered

    def _needs(self, step: _Step) -> set[tuple[int, int]]:
        """The steps of other strands that a step needs: strand and place in it."""
        feeds = step.feeds if isinstance(step, Op) else ()
        origins = {id(value.origin): value.origin for _, value, _ in feeds if isinstance(value.origin, Op)}
        return {(op.strand, self._places[key]) for key, op in origins.items() if op.strand != step.strand}

    def _by_birth(self, numbers: set[int]) -> list[int]:
        """Those of which something is left, the latest first."""
        left = [n for n in numbers if n and self._done[n] < len(self._strands[n])]
        return sorted(left, key=self._birth, reverse=True)

    def _birth(self, number: int) -> tuple[tuple[int, ...], str]:
        return self._births.get(number, ()), self._strands[number][0].id if number else ""


def _runs_forward(steps: Sequence[_Step]) -> bool:
    place = {id(step): i for i, step in enumerate(steps)}
    return all(
        place.get(id(value.origin), -1) < i
        for i, step in enumerate(steps)
        if isinstance(step, Op)
        for _, value, _ in step.feeds
    )


def _sort_writes(recording: Recording, places: dict[int, int]) -> None:
    """Where several threads wrote to parts of one tensor, its readers name them in this order, too."""

    def place_of(value: Value) -> int:
        return places.get(id(value.origin), -1)

    for step in recording.steps:
        if isinstance(step, Op):
            slots = {place: i for i, place in enumerate(dict.fromkeys(place for place, _, _ in step.feeds))}
            step.feeds.sort(key=lambda feed: (slots[feed[0]], place_of(feed[1])))
    for _, values in recording.outputs:
        values.sort(key=place_of)


def _number(recording: Recording) -> None:
    """Give calls, ops and constants the ids they would have had if they had happened in this order."""
    numbers = {"": 1}
    calls = [recording.root, *(step for step in recording.steps if isinstance(step, Call))]
    for call in calls:
        call.counts.clear()
    met: set[int] = set()
    for step in recording.steps:
        if isinstance(step, Call):
            step.number = numbers[step.path] = numbers.get(step.path, 0) + 1
            step.id = step.path if step.number == 1 else f"{step.path}#{step.number}"
        else:
            step.id = step.holder.new_id(step.site.short)
            _rename(step.outputs, step.id)
            _number_constants((value for _, value, _ in step.feeds), met)
    for _, values in recording.outputs:
        _number_constants(values, met)


def _number_constants(values: Iterable[Value], met: set[int]) -> None:
    for value in values:
        source = value.origin
        if isinstance(source, Source) and source.call is not None and id(source) not in met:
            met.add(id(source))
            source.id = source.call.new_id(source.id.rpartition("/")[2].partition("#")[0])
            _rename(source.outputs, source.id)


def _rename(values: Sequence[Value], holder: str) -> None:
    for value in values:
        value.id = f"{holder}:{value.index}"
