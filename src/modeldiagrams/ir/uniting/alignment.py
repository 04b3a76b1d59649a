"""Aligns and merges sequences."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

__all__ = ["align", "merge_rows"]

_MOST_PAIRS = 200_000
"""Of equal items; beyond it, every item is only compared with those at about the same place, to keep the time short."""


def align(a: Sequence[Hashable], b: Sequence[Hashable], weigh: Callable[[int, int], float]) -> list[tuple[int, int]]:
    """Pair equal items of two sequences in order, so that the sum of the pairs' weights is the greatest.

    Args:
        a: A sequence.
        b: Another one. Equal items at the heads and tails of both are paired in any case.
        weigh: Weight of a pair of indices.

    Returns:
        Indices of the pairs, ascending.
    """
    head, short = 0, min(len(a), len(b))
    while head < short and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < short - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    middle = _align_middle(a, b, range(head, len(a) - tail), range(head, len(b) - tail), weigh)
    return [*((i, i) for i in range(head)), *middle, *((len(a) - i, len(b) - i) for i in range(tail, 0, -1))]


def _align_middle(
    a: Sequence[Any], b: Sequence[Any], rows: range, columns: range, weigh: Callable[[int, int], float]
) -> list[tuple[int, int]]:
    """Keep for each weight the chain of pairs of that weight that ends in the leftmost column (Hunt and Szymanski)."""
    places: dict[Any, list[int]] = defaultdict(list)
    for j in columns:
        places[b[j]].append(j)
    per_row = _MOST_PAIRS // max(1, len(rows))
    ends: list[int] = []  # columns, ascending, and the weights of the chains up to there, ascending, too
    weights: list[float] = []
    links: list[Any] = []  # last pair of each chain, and the chain before it
    for i in rows:
        found = places.get(a[i], [])
        if len(found) > per_row:
            near = bisect_left(found, columns.start + (i - rows.start) * len(columns) // len(rows))
            start = min(max(0, near - per_row // 2), len(found) - per_row)
            found = found[start : start + per_row]
        for j in reversed(found):  # so that no chain takes two pairs of this row
            k = bisect_left(ends, j)
            weight = weigh(i, j) + (weights[k - 1] if k else 0)
            end = k
            while end < len(ends) and weights[end] <= weight:
                end += 1
            if end == k and k < len(ends) and ends[k] == j:
                continue
            ends[k:end], weights[k:end] = [j], [weight]
            links[k:end] = [(i, j, links[k - 1] if k else None)]
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
