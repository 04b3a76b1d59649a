"""One order for what ran on several threads, whichever was faster."""

from __future__ import annotations

from typing import TypeAlias

from modeldiagrams.tracer.recording import Call, Op

__all__ = ["in_order"]

_Step: TypeAlias = Op | Call


def in_order(steps: list[_Step]) -> list[_Step]:
    """Put every stretch of work (strand) that ran on another thread right before the first step that needs it.

    Those that nothing needs come last. Several at one place go by their first id.

    Args:
        steps: As they happened; strand 0 is the main thread.

    Returns:
        The same steps. As they happened, if the strands depend on each other so that sorting would put a result
        before what it is made of.
    """
    strands: dict[int, list[_Step]] = {}
    for step in steps:
        if step.strand:
            strands.setdefault(step.strand, []).append(step)
    if not strands:
        return steps
    needs = {number: set().union(*map(_strands_needed, strand)) for number, strand in strands.items()}
    ordered: list[_Step] = []
    placed = {0}
    for step in steps:
        if step.strand == 0:
            ordered += _with_needs(_strands_needed(step), strands, needs, placed)
            ordered.append(step)
    ordered += _with_needs(set(strands), strands, needs, placed)
    return ordered if _runs_forward(ordered) else steps


def _strands_needed(step: _Step) -> set[int]:
    feeds = step.feeds if isinstance(step, Op) else ()
    return {value.origin.strand for _, value, _ in feeds if isinstance(value.origin, Op)}


def _with_needs(
    wanted: set[int], strands: dict[int, list[_Step]], needs: dict[int, set[int]], placed: set[int]
) -> list[_Step]:
    """The steps of the wanted strands that were not placed before, after those of strands that these need."""

    def by_first_id(numbers: set[int]) -> list[int]:
        return sorted(numbers - placed, key=lambda number: strands[number][0].id, reverse=True)

    found: list[_Step] = []
    pending, entered = by_first_id(wanted), set[int]()
    while pending:
        number = pending[-1]
        before = [] if number in entered else by_first_id(needs[number] - {number} - entered)
        entered.add(number)
        if before:
            pending += before
        else:
            pending.pop()
            found += [] if number in placed else strands[number]
            placed.add(number)
    return found


def _runs_forward(steps: list[_Step]) -> bool:
    place = {id(step): i for i, step in enumerate(steps)}
    return all(
        place.get(id(value.origin), -1) < i
        for i, step in enumerate(steps)
        if isinstance(step, Op)
        for _, value, _ in step.feeds
    )
