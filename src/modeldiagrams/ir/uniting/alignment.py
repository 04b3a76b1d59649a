"""Aligns and merges sequences."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = ["align", "merge_rows"]

_MOST_PAIRS = 200_000
"""Of equal items; beyond it, every item is only compared with those at about the same place, to keep the time short."""


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pair as many equal items of two sequences as can be in order, and return their indices, ascending."""
    head, short = 0, min(len(a), len(b))
    while head < short and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < short - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    middle = _align_middle(a, b, range(head, len(a) - tail), range(head, len(b) - tail))
    return [*((i, i) for i in range(head)), *middle, *((len(a) - i, len(b) - i) for i in range(tail, 0, -1))]


def _align_middle(a: Sequence[Any], b: Sequence[Any], rows: range, columns: range) -> list[tuple[int, int]]:
    """Keep for each length the chain of so many pairs that ends in the leftmost column (Hunt and Szymanski)."""
    places: dict[Any, list[int]] = defaultdict(list)
    for j in columns:
        places[b[j]].append(j)
    per_row = _MOST_PAIRS // max(1, len(rows))
    ends: list[int] = []  # columns, ascending
    links: list[Any] = []  # last pair of each chain, and the chain before it
    for i in rows:
        found = places.get(a[i], [])
        if len(found) > per_row:
            near = bisect_left(found, columns.start + (i - rows.start) * len(columns) // len(rows))
            start = min(max(0, near - per_row // 2), len(found) - per_row)
            found = found[start : start + per_row]
        for j in reversed(found):  # so that no chain takes two pairs of this row
            k = bisect_left(ends, j)
            ends[k : k + 1] = [j]
            links[k : k + 1] = [(i, j, links[k - 1] if k else None)]
    pairs, link = list[tuple[int, int]](), links[-1] if links else None
    while link is not None:
        pairs.append(link[:2])
        link = link[2]
    return pairs[::-1]


def merge_rows(into: list[Any], row: Sequence[Any]) -> None:
    """Add the items of a row that are not there yet, so that both keep their order."""
    if into == row:
        return
    at = len(into)
    for item in reversed(row):
        if item in into:
            at = into.index(item)
        else:
            into.insert(at, item)
