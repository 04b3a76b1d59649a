"""What the judgements of all models come to."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from named_sizes.judge import Judgement


def summary(judgements: Sequence[Judgement]) -> Iterator[str]:
    """Lines for readers."""

    def total(field: str) -> int:
        return sum(count if isinstance(count := getattr(j, field), int) else len(count) for j in judgements)

    tensors, wrong, named, nameable = (total(field) for field in ("tensors", "wrong", "named", "nameable"))
    passes = statistics.median(j.passes for j in judgements)
    yield f"{len(judgements)} models, {tensors} tensors, {total('compared')} numbers compared at unseen sizes:"
    yield (
        f"{wrong} wrong, {total('silent')} silent; {named / max(nameable, 1):.1%} of {nameable} dimensions that vary "
        f"have an expression; median {passes} passes"
    )
    ratios = [j.ratio for j in judgements if j.ratio]
    if ratios:
        yield f"time with names over time without: median {statistics.median(ratios):.1f}, most {max(ratios):.1f}"
    given = max(total("given"), 1)
    same, letters = total("agree") / given, total("letters") / given
    yield f"names that a person gives: {same:.0%} of {given} for the same places, {letters:.0%} with the same letter"
    yield f"named by: {dict(sum((j.named_by for j in judgements), Counter()))}"
    yield (
        f"sizes that can vary and are pinned: {total('pinned')}; limits that are missing: {total('limits')}; "
        f"only multiples of the drawn size: {total('narrow')}; texts of arguments that change: {total('texts')}"
    )
    for j in judgements:
        for text in j.pinned:
            yield f"  {j.name}: {text}"
