"""What was said of an edit against what has to be said: lines, places and the mapping of weights."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from edits.subject import Line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from edits.subject import Edited
    from modeldiagrams.engine.compare.difference import Change, Difference

MIRRORS = (
    ("input-added", "input-removed"),
    ("output-added", "output-removed"),
    ("added", "removed"),
    ("wrapped", "unwrapped"),
    ("residual-added", "residual-removed"),
    ("op-added", "op-removed"),
    ("shared", "unshared"),
    ("tied", "untied"),
    ("frozen", "unfrozen"),
    ("weight-added", "weight-removed"),
    ("op-to-module", "module-to-op"),
)
_MIRROR = dict([*MIRRORS, *((after, before) for before, after in MIRRORS)])


@dataclass
class Verdict:
    """Of one comparison."""

    expected: int = 0
    told: int = 0
    right: int = 0
    sure: int = 0
    """Weights for which a counterpart is named, or that are said to have none."""
    wrong: list[str] = field(default_factory=list)
    """Weights said to be others than they are."""
    lost: list[str] = field(default_factory=list)
    """Weights that have a counterpart and are said to have none."""
    doubtful: int = 0
    problems: list[str] = field(default_factory=list)


def judged(found: Difference, edited: Edited, before: Mapping, after: Mapping, *, back: bool) -> Verdict:
    """Judge a difference; `back` if the edited model is the one before. `before` and `after`: the state dicts."""
    verdict = Verdict()
    lines = [_mirrored(line) for line in edited.lines] if back else edited.lines
    allowed = {_MIRROR.get(one, one) if back else one for one in edited.allowed.split()}
    _judge_lines(verdict, found, lines, allowed)
    mapping = _expected_keys(edited, before, after, back=back)
    _judge_keys(verdict, found, mapping, edited.untold)
    return verdict


def _judge_lines(verdict: Verdict, found: Difference, lines: list[Line], allowed: set[str]) -> None:
    open_ = list(found.changes)
    for line in lines:
        match = next((change for change in open_ if _fits(line, change)), None)
        if match is None:
            verdict.problems.append(f"not said: {line}")
        else:
            open_.remove(match)
    shown = [change for change in open_ if change.level != "detail" and change.caused_by is None]
    more = [change for change in shown if change.id not in allowed]
    verdict.problems += [f"said: {change.level} {change.id}: {change.text}" for change in more]
    missing = sum(problem.startswith("not said") for problem in verdict.problems)
    verdict.expected, verdict.right = len(lines), len(lines) - missing
    verdict.told = verdict.right + len(more)


def _fits(line: Line, change: Change) -> bool:
    return (
        change.id in line.ids.split()
        and _places(change, 0, line.before)
        and _places(change, 1, line.after)
        and line.count in (None, change.count)
        and line.values in (None, (change.before, change.after))
    )


def _places(change: Change, at: int, expected: frozenset[str] | None) -> bool:
    found = {path_of(place[at]) for place in change.places if place[at] is not None}
    return expected is None or found == set(expected)


def path_of(id_: str) -> str:
    """Path of the module that a node is, or is in."""
    return re.sub(r"#\d+$", "", re.sub(r"/.*$", "", id_))


def _mirrored(line: Line) -> Line:
    ids = " ".join(_MIRROR.get(one, one) for one in line.ids.split())
    values = None if line.values is None else (line.values[1], line.values[0])
    return Line(ids, line.after, line.before, line.count, values)


def _expected_keys(edited: Edited, before: Mapping, after: Mapping, *, back: bool) -> dict[str, str | None]:
    first, second = (after, before) if back else (before, after)
    forward = {key: edited.keys.get(key, key if key in second else None) for key in first}
    if not back:
        return forward
    there = {new: old for old, new in forward.items() if new is not None}
    return {key: there.get(key) for key in second}


def _judge_keys(verdict: Verdict, found: Difference, expected: dict[str, str | None], untold: str) -> None:
    keys = found.checkpoints
    named = {pair.before: pair.after for pair in (*keys.renamed, *keys.reshaped)}
    doubtful = {key for group in keys.ambiguous for key in group.before}
    for key, right in expected.items():
        said = named.get(key, None if key in keys.gone else key)
        if re.search(untold, key):
            continue
        if key in doubtful:
            verdict.doubtful += 1
        elif said == right:
            verdict.sure += 1
        elif said is None:
            verdict.lost.append(f"{key} → {right}")
        else:
            verdict.wrong.append(f"{key} → {said}, not {right}")
