"""Finds equal modules in a row, which a text mentions once."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from modeldiagrams.ir.graph import ModuleNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modeldiagrams.ir.describing.levels import Level
    from modeldiagrams.ir.graph import Graph

__all__ = ["find_runs", "is_chain", "name_run"]

_DIGITS = re.compile(r"\d+")


def find_runs(graph: Graph, level: Level, parts: Sequence[str]) -> Iterator[list[str]]:
    """Group consecutive equal module calls that all read the same, or each the one before; others are alone."""
    run: list[str] = []
    for part in parts:
        if run and not _continues(graph, level, run, part):
            yield run
            run = []
        run.append(part)
    if run:
        yield run


def is_chain(level: Level, run: Sequence[str]) -> bool:
    """Whether each module of a run reads the one before."""
    return any(read.part == run[0] for read in level.reads[run[1]])


def name_run(names: Sequence[str]) -> str:
    """Name a run: ``h.0–11`` for names that only differ in one number, which is counted up."""
    if len(names) == 1:
        return names[0]
    numbers = [_DIGITS.findall(name) for name in names]
    if len({_DIGITS.sub("#", name) for name in names}) == 1:
        varying = [i for i, values in enumerate(zip(*numbers, strict=True)) if len({*values}) > 1]
        counted = [int(found[varying[0]]) for found in numbers] if len(varying) == 1 else []
        if counted and all(after == before + 1 for before, after in pairwise(counted)):
            at = [*_DIGITS.finditer(names[0])][varying[0]]
            return f"{names[0][: at.end()]}–{counted[-1]}{names[0][at.end() :]}"
    return f"{names[0]} … {names[-1]}"


def _continues(graph: Graph, level: Level, run: Sequence[str], part: str) -> bool:
    one, other = graph.by_id.get(run[-1]), graph.by_id.get(part)
    if not (isinstance(one, ModuleNode) and isinstance(other, ModuleNode)):
        return False
    if one.signature is None or one.signature != other.signature or one.cases != other.cases:
        return False
    first, reads = {*level.reads[run[0]]}, {*level.reads[part]}
    if reads == first:
        return len(run) == 1 or not is_chain(level, run)
    from_before = {read for read in reads if read.part == run[-1]}
    return bool(from_before) and reads - from_before < first and (len(run) == 1 or is_chain(level, run))
