"""One order for what ran on several threads, whichever was faster."""

from __future__ import annotations

from typing import TypeAlias

from modeldiagrams.tracer.recording import Call, Op

__all__ = ["in_order"]

_Step: TypeAlias = Op | Call


def in_order(steps: list[_Step]) -> list[_Step]:
    """Put stretches of work (strands) that ran side by side on other threads one after the other, by their first id.

    Args:
        steps: As they happened; strand 0 is the main thread.

    Returns:
        The same steps. As they happened, if the strands depend on each other so that sorting would put a result
        before what it is made of.
    """
    if not any(step.strand for step in steps):
        return steps
    strands: dict[int, list[_Step]] = {}
    blocks: list[list[list[_Step]]] = [[]]
    for step in steps:
        if step.strand == 0:
            blocks += [[[step]], []]
        elif step.strand in strands:
            strands[step.strand].append(step)
        else:
            strands[step.strand] = [step]
            blocks[-1].append(strands[step.strand])
    ordered = [step for block in blocks for strand in sorted(block, key=_first_id) for step in strand]
    return ordered if _runs_forward(ordered) else steps


def _first_id(strand: list[_Step]) -> str:
    return strand[0].id


def _runs_forward(steps: list[_Step]) -> bool:
    place = {id(step): i for i, step in enumerate(steps)}
    return all(
        place.get(id(value.origin), -1) < i
        for i, step in enumerate(steps)
        if isinstance(step, Op)
        for _, value, _ in step.feeds
    )
