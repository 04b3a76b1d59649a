"""Runs a model again with other answers where a tensor's value decided.

Breadth first: each place gets each answer once, then, in a loop, from then on, then at each of its times as long as
that finds something new. All limits are counts, so that the same model has the same passes on every machine; the clock
only ends the search, with a note.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.graph import OWN_FAILURE, Failure
from modeldiagrams.tracer.decisions.pass_decisions import DecisionMoment, Decisions
from modeldiagrams.tracer.decisions.places import DecisionPlace, DecisionPlaces
from modeldiagrams.tracer.graph.assumed_sizes import mark_assumed
from modeldiagrams.tracer.recording.endless_loops import EndlessLoop
from modeldiagrams.tracer.recording.work_limit import PassTooLargeError, Work, work_limited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.tracer.forward_pass import Trace

__all__ = ["OUT_OF_TIME", "Explored", "explore", "find_things"]

OUT_OF_TIME = "as no time was left for more"
"""The end of a note on what depends on the clock."""
_MOST_PASSES = 24
_MOST_MISSES = 4
"""After so many passes that find nothing new, a place is done."""
_FACTOR = 4
_FREE_CALLS, _FREE_OPERATIONS = 1000, 10**8
"""How much more work a pass may do than the first one: `_FACTOR` times that, and this."""
_UNLIMITED = 2**60
_SPARE = 3
"""A pass only begins if there is time for so many of the longest one."""
_ENDLESS = (EndlessLoop.__name__, PassTooLargeError.__name__)


@dataclass(frozen=True, kw_only=True)
class Explored:
    """The passes that found something that none before them has."""

    graphs: dict[str, Graph] = field(default_factory=dict)
    """By line and answer: ``gate.py:42 no``."""
    texts: dict[str, str] = field(default_factory=dict)
    """The conditions as written, by the same names."""
    notes: list[str] = field(default_factory=list)
    """Sentences on sides that raise, and on what was not tried."""
    files: set[str] = field(default_factory=set)
    """Absolute paths of files whose code ran."""


class _Start(NamedTuple):
    """A first pass, what work a pass from it may do, and how often it decides itself."""

    first: Trace
    work: Work
    n_decisions: int


@dataclass(frozen=True, kw_only=True)
class _ForcedPass:
    """A pass to run: as another one up to a moment, where it gets another answer."""

    start: _Start
    forced: Mapping[DecisionMoment, bool | int]
    moment: DecisionMoment
    answer: bool | int
    after: str
    """Name of the pass that it follows; empty for a first pass."""
    lasts: bool = False
    """Whether the place gives that answer from then on, as a loop may have to go on for long."""

    @property
    def place(self) -> DecisionPlace:
        return self.moment.place

    @property
    def keys(self) -> tuple[Any, Any, Any]:
        """What it tries: an answer at a place, at one moment, and from then on. All counts of a loop are one answer."""
        answer = self.answer if isinstance(self.answer, bool) else None
        return (self.place, answer), (self.moment, answer), (self.place, answer, "lasts")

    @property
    def says(self) -> str:
        """The answer of the condition as written, which may negate the value."""
        return ("no", "yes")[self.answer != self.place.negated] if isinstance(self.answer, bool) else f"×{self.answer}"


def explore(firsts: Sequence[Trace], seconds_left: Callable[[], float] = lambda: math.inf) -> Explored:
    """Run models again with other answers.

    Args:
        firsts: The passes from which to explore.
        seconds_left: Says how much time there still is.
    """
    explorer = _Explorer(seconds_left)
    for first in firsts:
        try:
            explorer.begin(first)
        except ModelDiagramsError as fault:
            explorer.found.notes.append(f"Other sides were not explored: {fault}")
    while (chosen := explorer.choose()) is not None:
        try:
            explorer.run(chosen)
        except ModelDiagramsError as fault:  # in a pass that no model makes
            explorer.give_up(chosen, Failure(type=OWN_FAILURE, message=str(fault)))
    return explorer.found


class _Explorer:
    def __init__(self, seconds_left: Callable[[], float]) -> None:
        self.found = Explored()
        self.n_passes = 0
        self._places = DecisionPlaces()
        self._queue: list[_ForcedPass] = []
        self._tried: set[Any] = set()
        """Some of the `keys` of each pass, and places and moments with the answers that the model gave."""
        self._misses: dict[DecisionPlace, int] = {}
        self._seen: set[Any] = set()
        self._seconds_left, self._longest = seconds_left, 0.0

    def begin(self, first: Trace) -> None:
        """Run a first pass again to see its decisions."""
        if first.rerun is None:
            return
        self._seen |= find_things(first.graph)
        work, decisions = Work(_UNLIMITED, _UNLIMITED), Decisions(self._places, {})
        self._record(first, work, decisions)
        calls, operations = _UNLIMITED - work.calls, _UNLIMITED - work.operations
        most = Work(_FACTOR * calls + _FREE_CALLS, _FACTOR * operations + _FREE_OPERATIONS)
        self._add(_Start(first, most, decisions.n_made), decisions, {}, "")

    def choose(self) -> _ForcedPass | None:
        """The next pass; None if there is none, or no time for it."""
        queue, tried = self._queue, self._tried
        left = [each for each in queue if each.keys[0] not in tried]
        queue = [each for each in queue if self._misses.get(each.place, 0) < _MOST_MISSES]
        left = left or [
            replace(each, lasts=True)
            for each in queue
            if each.place.loop and isinstance(each.answer, bool) and each.keys[2] not in tried
        ]
        left = left or [each for each in queue if each.keys[1] not in tried]
        if not left:
            return None
        if self.n_passes >= _MOST_PASSES or self._seconds_left() < _SPARE * self._longest:
            why = "which is the most" if self.n_passes >= _MOST_PASSES else OUT_OF_TIME
            self.found.notes.append(f"Other sides were explored in {self.n_passes} further passes, {why}")
            return None
        return min(left, key=lambda each: each.place.role in {"assert", "check"})

    def run(self, chosen: _ForcedPass) -> None:
        """Run a pass, and keep it if it found something new."""
        start, place = chosen.start, chosen.place
        self._tried.update(chosen.keys if chosen.lasts else chosen.keys[:2])
        self.n_passes += 1
        lasting = place if chosen.lasts else None
        decisions, again = (Decisions(self._places, chosen.forced, start.n_decisions, lasting) for _ in range(2))
        graph = self._record(start.first, replace(start.work), decisions)
        if graph.status.error is not None:
            self.give_up(chosen, graph.status.error)
            return
        things, name = find_things(graph), self._name(chosen)
        is_new = not things <= self._seen
        if not chosen.lasts:
            self._misses[place] = 0 if is_new else self._misses.get(place, 0) + 1
        self._seen |= things
        if is_new:
            graph = mark_assumed(
                graph, lambda: (self._record(start.first, replace(start.work), again, fewer=True), None)
            )
            self.found.graphs[name] = graph
            self.found.texts[name] = f"{place.text}, after {chosen.after}" if chosen.after else place.text
        self._add(start, decisions, chosen.forced, name)

    def _record(self, first: Trace, work: Work, decisions: Decisions, *, fewer: bool = False) -> Graph:
        began = time.monotonic()
        try:
            with work_limited(work):
                graph, files = first.rerun(decisions.watch, assumes_fewer=fewer)  # type: ignore[misc]
        finally:
            decisions.close()
        self._longest = max(self._longest, time.monotonic() - began)
        self.found.files.update(files)
        # how often it asked for values says nothing about the model
        status = msgspec.structs.replace(graph.status, notes=())
        return msgspec.structs.replace(graph, status=status, assumptions=first.graph.assumptions)

    def _add(
        self, start: _Start, decisions: Decisions, forced: Mapping[DecisionMoment, bool | int], after: str
    ) -> None:
        """Queue the other answers of a pass that ran."""
        for moment, answer in decisions.noted.items():
            if isinstance(answer, bool):
                self._tried |= {(moment.place, answer), (moment, answer)}
            if moment not in forced:
                other = not answer if isinstance(answer, bool) else answer + 2
                changed = {**forced, moment: other}
                self._queue.append(_ForcedPass(start=start, forced=changed, moment=moment, answer=other, after=after))

    def _name(self, chosen: _ForcedPass) -> str:
        name = f"{chosen.place.source.rpartition('/')[2]} {chosen.says}"
        name += f" #{chosen.moment.time}" if chosen.moment.time > 1 else ""
        name += " and on" if chosen.lasts else ""
        while name in self.found.graphs:  # two conditions in one line
            name += "~"
        return name

    def give_up(self, chosen: _ForcedPass, error: Failure) -> None:
        """Be done with a place whose other side does not run, and say why."""
        place = chosen.place
        if chosen.lasts:
            return  # which says nothing about a side
        self._misses[place] = _MOST_MISSES
        if not isinstance(chosen.answer, bool):
            return  # most models take no other length
        what = "is a check" if place.role in {"assert", "check"} else "has a side that is not shown"
        message = error.message.partition("\n")[0][:200]
        end = "does not come to an end" if error.type in _ENDLESS else f"raises {error.type}: {message}"
        self.found.notes.append(
            f"{place.source} {what}: if `{place.text}` is forced to be {chosen.says}, the model {end}"
        )


def find_things(graph: Graph) -> set[Any]:
    """What a graph has, without what shifts if other code runs: modules, ops by line, and what flows between them."""
    keys = {node.id: _key(graph, node) for node in graph.nodes}
    edges = {(keys[start], keys[edge.to]) for start, edges in graph.adjacency.items() for edge in edges}
    return {*keys.values(), *edges}


def _key(graph: Graph, node: Any) -> tuple[str, ...]:
    if node.kind != "op":
        return node.kind, node.path if node.kind == "module" else node.id
    parent: Any = graph.hierarchy[node.id]
    return node.kind, graph.by_id[parent].path if parent else "", node.name, node.source or ""  # type: ignore[union-attr]
