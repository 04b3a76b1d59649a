"""How much of what was edited is said, and how much of what is said was edited."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import modeldiagrams
from edits import code, layers, modules, weights
from edits.judge import Verdict, judged
from edits.subject import Edited, InapplicableError, Subject, traced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KINDS = {**modules.KINDS, **layers.KINDS, **code.KINDS, **weights.KINDS}


@dataclass
class Score:
    """Of many comparisons."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """Subject, kind of edit and direction → verdict."""

    def __bool__(self) -> bool:
        return bool(self.verdicts)

    def sum(self, what: str) -> int:
        values = (getattr(verdict, what) for verdict in self.verdicts.values())
        return sum(value if isinstance(value, int) else len(value) for value in values)

    @property
    def recall(self) -> float:
        return self.sum("right") / max(self.sum("expected"), 1)

    @property
    def precision(self) -> float:
        return self.sum("right") / max(self.sum("told"), 1)

    def __str__(self) -> str:
        kinds = {name.split()[1] for name in self.verdicts}
        return (
            f"{len(self.verdicts)} comparisons, {len(kinds)} kinds of edit: recall {self.recall:.3f}, precision"
            f" {self.precision:.3f}; weights: {self.sum('sure')} right, {self.sum('wrong')} wrong,"
            f" {self.sum('lost')} lost, {self.sum('doubtful')} ambiguous"
        )

    def problems(self) -> Iterator[str]:
        for name, verdict in self.verdicts.items():
            found = [*verdict.problems, *(f"key {key}" for key in [*verdict.wrong[:3], *verdict.lost[:3]])]
            yield from (f"{name}: {problem}" for problem in found)


def edited(subject: Subject, kind: str, seed: int = 0) -> Edited:
    """The model after an edit that runs, tried at a few places."""
    random_ = random.Random(f"{subject.name} {kind} {seed or ''}".strip())  # noqa: S311
    for _ in range(4):
        try:
            found = KINDS[kind](subject, random_)
            found.graph = traced(found.model.eval(), found.inputs or subject.inputs())
        except InapplicableError:
            continue
        except Exception:  # noqa: BLE001, S112 - the model does not bear the edit
            continue
        runs = {node.id for node in found.graph.nodes}
        if found.graph.status.state == "complete" and found.has_to_run <= runs:
            return found
    raise InapplicableError


def score(subjects: Iterable[Subject], kinds: Iterable[str] = tuple(KINDS), seed: int = 0) -> Score:
    """Judges each kind of edit on each model in both directions."""
    found = Score()
    for subject in subjects:
        for kind in kinds:
            try:
                one = edited(subject, kind, seed)
            except InapplicableError:
                continue
            for back, arrow in ((False, "→"), (True, "←")):
                found.verdicts[f"{subject.name} {kind} {arrow}"] = _verdict(subject, one, back=back)
    return found


def _verdict(subject: Subject, one: Edited, *, back: bool) -> Verdict:
    graphs = [subject.graph, one.graph]
    states = subject.original.state_dict(), one.model.state_dict()
    difference = modeldiagrams.diff(*(reversed(graphs) if back else graphs))
    return judged(difference, one, *(reversed(states) if back else states), back=back)
