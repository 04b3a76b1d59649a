"""Trying candidates: which of them together carry the model through a whole pass without arithmetic.

The first try takes the first candidate of every input. A layer that refuses what reaches it says how wide that should
have been, which makes new candidates. Then one thing at a time is changed, an input or a size they share, and what gets
the pass further is kept; at last combinations are tried in order of how far down the lists they lie. A failure that
stays the same whatever goes in is likely not the inputs', and ends the search in a large model. The number of tries is
fixed and nothing is random, so the same model gives the same inputs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.graph import Graph, InputNode, OpNode, OutputNode
from modeldiagrams.target.inputs import from_entries
from modeldiagrams.target.mend import mended, refused_width
from modeldiagrams.target.offers import ABSENT, SIZES, Offer, named_sizes, resolved
from modeldiagrams.target.usercode import seeded
from modeldiagrams.tracer import Trace, trace_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch import nn

    from modeldiagrams.tracer import Mode

__all__ = ["Found", "Tries", "is_connected", "passed", "search"]

_TRIES = 48
"""Of one search."""
_WORK = 300
"""Calls and parameters that a try may have on the average: some seconds in all, and as many on every machine."""
_REALS = 6
"""Passes with values, which may take long."""
_REPEATS = 8
"""Tries with the very same failure after which it is likely not the inputs' fault."""
_MUCH = 3_000
"""Work of all tries from which on that ends a search; before, it costs little to go on."""
_LONGEST = 120
_COMBINATIONS = 20_000
_CANDIDATES = 100

_Pick = tuple[int, ...]


@dataclass(frozen=True)
class Found:
    """Inputs that work."""

    entries: dict[str | int, Any]
    """As the option `inputs`: by name, or by position."""
    reasons: dict[str | int, str]
    """Input → why it is what it is."""
    trace: Trace | None
    """The pass with them, if it needs not be run again to be shown."""


@dataclass
class Tries:
    """What was tried, over all searches for one model."""

    most: int = 80
    """Passes that there may be."""
    lines: list[str] = field(default_factory=list)
    """One for every pass, with its result."""
    work: int = 0
    """What all passes took."""
    reals: int = 0
    """Passes with values."""

    @property
    def are_used_up(self) -> bool:
        """Whether there may be no more."""
        return len(self.lines) >= self.most or self.work >= self.most * _WORK


@dataclass
class _Search:
    """The state of one search."""

    model: nn.Module
    names: tuple[str | int, ...]
    """Shared sizes, then inputs."""
    lists: tuple[list[Any], ...]
    """What each may be."""
    tries: Tries
    weights: int
    """Number of parameters, each of which every pass takes in its hand."""
    is_on_meta: bool
    done: dict[_Pick, int] = field(default_factory=dict)
    """How far each combination got."""
    seen: set[str] = field(default_factory=set)
    asked: list[_Pick] = field(default_factory=list)
    """What layers asked for and was not tried so far."""
    works: _Pick | None = None
    """The combination that did."""
    trace: Trace | None = None
    """Its pass, if it is the one to show."""
    failures: Counter[tuple[str | None, str]] = field(default_factory=Counter)
    """Where and why → how often."""

    def run(self) -> _Pick | None:
        """A combination that works, within the number of tries."""
        for pick in self._picks():
            if self._is_over():
                break
            self._try(pick)
            if self.works is not None:
                break
        return self.works

    def _is_over(self) -> bool:
        is_always_the_same = max(self.failures.values(), default=0) >= _REPEATS and self.tries.work >= _MUCH
        return self.tries.are_used_up or len(self.done) >= _TRIES or is_always_the_same

    def _picks(self) -> Iterator[_Pick]:
        """Combinations not tried so far, each after what was learned from the one before."""
        best: _Pick | None = None
        yield (0,) * len(self.names)
        while best != (best := max(self.done, key=self.done.__getitem__)):
            for pick in self._neighbours(best):
                if self._is_known(pick):
                    continue
                yield pick
                if self.done[pick] > self.done[best]:
                    break
        ranks = [range(len(options)) for options in self.lists]
        by_rank = sorted(itertools.islice(itertools.product(*ranks), _COMBINATIONS), key=sum)
        yield from (pick for pick in by_rank if not self._is_known(pick))

    def _is_known(self, pick: _Pick) -> bool:
        """Whether the same inputs were tried before; a size that none of them names makes no difference."""
        return pick in self.done or repr(self.entries(pick)) in self.seen

    def _neighbours(self, pick: _Pick) -> Iterator[_Pick]:
        """One thing changed: the second candidate of everything, then the third…; and always first what layers ask."""
        for rank in range(max(map(len, self.lists))):
            for place, options in enumerate(self.lists):
                while self.asked:
                    yield self.asked.pop(0)
                if rank < len(options) and rank != pick[place]:
                    yield _changed(pick, place, rank)

    def _try(self, pick: _Pick) -> None:
        """Run one pass; with values, too, where it got further than any other: some code needs them."""
        entries = self.entries(pick)
        self.seen.add(repr(entries))
        best = max(self.done.values(), default=-1)
        self.done[pick] = 0
        self.done[pick] = self._run(pick, entries, "auto" if self.is_on_meta else "fake")
        if self.works is None and not self.is_on_meta and self.done[pick] > best and self.tries.reals < _REALS:
            self.tries.reals += 1
            self.done[pick] = max(self.done[pick], self._run(pick, entries, "real"))

    def _run(self, pick: _Pick, entries: Any, way: Mode) -> int:
        """How many ops a pass has."""
        try:
            args, kwargs = from_entries(entries)
        except TargetError as problem:
            self.tries.lines.append(f"{entries}: {problem}")
            return -1
        is_first = len(self.done) <= 1  # the likeliest to work: then it is the pass that is shown
        trace, told = passed(self.model, args, kwargs, way, costs=is_first)
        mode, error = trace.graph.status.mode, trace.graph.status.error
        self.tries.lines.append(f"{entries} ({mode}): {told.partition(chr(10))[0][:_LONGEST]}")
        ops = sum(isinstance(node, OpNode) for node in trace.graph.nodes)
        self.tries.work += ops + self.weights
        if error:
            self.failures[error.node, told] += 1
            self._mend(pick, trace.graph)
        elif told == _WORKS:
            self.works = pick
            self.trace = trace if is_first and mode != "real" else None
        return ops

    def _mend(self, pick: _Pick, graph: Graph) -> None:
        """Add candidates that would suit the layer that refused its input, to be tried next."""
        wrong = refused_width(graph)
        for place, name in enumerate(self.names):
            options = self.lists[place]
            if wrong and name not in SIZES and len(options) < _CANDIDATES:
                for offer in mended(options[pick[place]], *wrong):
                    options.append(offer)
                    self.asked.append(_changed(pick, place, len(options) - 1))

    def entries(self, pick: _Pick) -> dict[str | int, Any]:
        """A combination as the option `inputs`."""
        sizes = {str(name): self.lists[i][pick[i]] for i, name in enumerate(self.names) if name in SIZES}
        return {name: resolved(offer.entry, sizes) for name, offer in self.chosen(pick).items()}

    def chosen(self, pick: _Pick) -> dict[str | int, Offer]:
        """Input → its candidate; without those left out."""
        offers = {name: self.lists[i][pick[i]] for i, name in enumerate(self.names) if name not in SIZES}
        return {name: offer for name, offer in offers.items() if offer is not ABSENT}


def search(model: nn.Module, offers: Mapping[str | int, Sequence[Offer]], tries: Tries) -> Found | None:
    """Find inputs that carry a model through a pass and reach its outputs.

    Args:
        model: What is called.
        offers: Input, by name or by position, → its candidates, likeliest first.
        tries: Is told every try.

    Returns:
        The first that work; None if none did within the fixed number of tries.
    """
    if not offers:
        return None
    sizes = sorted(set().union(*(named_sizes(offer.entry) for options in offers.values() for offer in options)))
    inputs = {name: list(dict.fromkeys(map(_Hashed, options))) for name, options in offers.items()}
    state = _Search(
        model=model,
        names=(*sizes, *inputs),
        lists=(
            *map(list, (SIZES[s] for s in sizes)),
            *([item.offer for item in options] for options in inputs.values()),
        ),
        tries=tries,
        weights=sum(1 for _ in model.parameters()),
        is_on_meta=any(parameter.is_meta for parameter in model.parameters()),
    )
    pick = state.run()
    if pick is None:
        return None
    reasons = {name: offer.reason for name, offer in state.chosen(pick).items()}
    return Found(state.entries(pick), reasons, state.trace)


def passed(
    model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], mode: Mode, *, costs: bool = True
) -> tuple[Trace, str]:
    """One pass, with the same random numbers every time, and in one line what became of it."""
    with seeded():
        trace = trace_run(model, args, kwargs, mode=mode, costs=costs)
    error = trace.graph.status.error
    if error:
        return trace, f"{error.type}: {error.message}"
    return trace, _WORKS if is_connected(trace.graph) else "no output depends on an input"


_WORKS = "works"


def is_connected(graph: Graph) -> bool:
    """Whether the pass ended and some output comes from some input."""
    if graph.status.error is not None:
        return False
    pending = [node.id for node in graph.nodes if isinstance(node, InputNode)]
    outputs = {node.id for node in graph.nodes if isinstance(node, OutputNode)}
    reached = set(pending)
    while pending:
        following = {edge.to for edge in graph.adjacency.get(pending.pop(), ())} - reached
        reached |= following
        pending += following
    return bool(outputs & reached)


def _changed(pick: _Pick, place: int, rank: int) -> _Pick:
    return (*pick[:place], rank, *pick[place + 1 :])


class _Hashed:
    """An offer by its content: the same from two layers is tried once."""

    def __init__(self, offer: Offer) -> None:
        self.offer = offer
        self._key = repr(offer.entry)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and other._key == self._key
