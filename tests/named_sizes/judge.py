"""Traces a model with names of sizes, and afresh at unseen sizes, and says what does not agree."""

from __future__ import annotations

import re
import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

import modeldiagrams
from modeldiagrams.ir.graph import Graph
from named_sizes.fresh_passes import Comparison, FreshPass
from named_sizes.known import KnownModel
from named_sizes.unseen import Sizes, UnseenSizes


@dataclass
class Judgement:
    """How the names of one model did."""

    name: str
    nodes: int = 0
    tensors: int = 0
    sets: list[Sizes] = field(default_factory=list)
    """The unseen sizes at which everything was compared."""
    compared: int = 0
    wrong: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    unknown: int = 0
    texts: int = 0
    nameable: int = 0
    """Dimensions of tensors that change if all sizes move that a person says can."""
    named: int = 0
    """Those of them that have an expression."""
    passes: int = 0
    given: int = 0
    """Sizes that a person names."""
    agree: int = 0
    """Those for which the graph has a name in just the same places."""
    letters: int = 0
    """Those whose name is the person's, too, but for primes and digits."""
    fixed: dict[str, str] = field(default_factory=dict)
    """Sizes that the graph holds fixed, and why."""
    pinned: list[str] = field(default_factory=list)
    """Sizes that a person says can vary, and the graph does not."""
    limits: list[str] = field(default_factory=list)
    """Limits that a person read, and the graph does not have."""
    narrow: list[str] = field(default_factory=list)
    """Sizes of which the graph only knows multiples of the drawn one, though the model takes others."""
    named_by: Counter[str] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()
    ratio: float = 0.0
    """Time with names over time without; the median of three."""
    oracle: list[str] = field(default_factory=list)
    """Faults of the oracle itself, or of the pass without names."""

    def row(self) -> str:
        """One line of a table."""
        share = f"{self.named}/{self.nameable}"
        sets = "  ".join(",".join(f"{n}={v}" for n, v in sizes.items()) for sizes in self.sets)
        faults = f"{len(self.wrong) or '·':>5} {len(self.silent) or '·':>6} {self.unknown or '·':>7}"
        ratio = f"{self.ratio:5.1f}×" if self.ratio else ""
        return f"{self.name:38}{self.tensors:6}{share:>12}{faults} {self.passes:3} {ratio} {sets}"

    def details(self) -> list[str]:
        """What a reader should know of it, one line each."""
        found = [f"WRONG {text}" for text in self.wrong] + [f"SILENT {text}" for text in self.silent]
        found += [f"ORACLE {text}" for text in self.oracle] + [f"PINNED {text}" for text in self.pinned]
        found += [f"LIMIT {text}" for text in self.limits] + [f"NARROW {text}" for text in self.narrow]
        return found + [f"fixed {name}: {reason}" for name, reason in self.fixed.items()] + [*self.notes]


def judge(known: KnownModel, *, timed: bool = False) -> Judgement:
    """Trace with names; then compare with traces at sizes that no pass had."""
    found = Judgement(known.name)
    model = known.made()
    graph = traced(model, known, {}, dims="auto")
    found.nodes, found.tensors = len(graph.nodes), len(graph.tensors)
    if graph.status.error is not None:
        found.oracle.append(f"the pass fails: {graph.status.error.message[:200]}")
        return found
    _compare_rest(known, graph, found)
    if graph.sizes is None:
        found.pinned += [name for name, size in known.sizes.items() if not size.fixed]
        if known.has_names:
            found.silent.append("the graph has no `sizes`, and no note says why")
    else:
        _compare_at_unseen(known, model, graph, found)
    if timed:
        with_names = _seconds(lambda: traced(model, known, {}, dims="auto"))
        found.ratio = with_names / _seconds(lambda: traced(model, known, {}, dims=None))
    return found


def traced(model: Any, known: KnownModel, sizes: Sizes, dims: Any) -> Graph:
    """The graph of a pass at given sizes."""
    args, kwargs = known.call(**sizes)
    with torch.no_grad():
        return modeldiagrams.trace(model, args, kwargs, dims=dims)


def _seconds(run: Callable[[], object]) -> float:
    found = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def _compare_rest(known: KnownModel, graph: Graph, found: Judgement) -> None:
    """All else in the graph is the same without names."""
    plain = traced(known.made(), known, {}, dims=None)
    for part in ("model", "nodes", "adjacency", "hierarchy", "tensors", "parameters", "functions", "status"):
        if getattr(plain, part) != getattr(graph, part):
            found.wrong.append(f"`{part}` differs between a trace with names and one without")


def _compare_at_unseen(known: KnownModel, model: Any, graph: Graph, found: Judgement) -> None:
    named = graph.sizes
    assert named is not None
    found.passes, found.notes = len(named.checked), named.notes
    found.fixed = {name: size.fixed for name, size in named.sizes.items() if size.fixed}
    found.named_by.update(size.named_by for size in named.sizes.values() if size.places and not size.fixed)
    unseen = UnseenSizes(known, model, named)
    here = unseen.named_values({})
    if here is None:
        found.wrong.append("the graph's own sizes are outside of what it says of them")
        return
    _add(found, FreshPass(graph, graph, here).compare(), "at its own sizes")
    found.sets = unseen.sets()
    for sizes in [*found.sets, *unseen.claims()]:
        text = ",".join(f"{name}={size}" for name, size in sizes.items())
        fresh = traced(known.made(), known, sizes, dims=None)
        if fresh.status.error is not None:
            claim = "oracle" if sizes in found.sets else "wrong"
            getattr(found, claim).append(f"the model refuses {text}: {fresh.status.error.message[:150]}")
        else:
            values = unseen.named_values(sizes)
            assert values is not None
            _add(found, FreshPass(graph, fresh, values).compare(), f"at {text}")
    _count_names(known, graph, unseen, found)


def _add(found: Judgement, comparison: Comparison, where: str) -> None:
    found.wrong += [f"{where}: {text}" for text in comparison.wrong]
    found.silent += [f"{where}: {text}" for text in comparison.silent]
    found.unknown += comparison.unknown
    found.texts += comparison.texts
    found.compared += comparison.compared


def _count_names(known: KnownModel, graph: Graph, unseen: UnseenSizes, found: Judgement) -> None:
    assert graph.sizes is not None
    moved = traced(known.made(), known, sizes := unseen.everything_moved(), dims=None)
    if moved.status.error is not None:
        found.oracle.append(f"the model refuses {sizes}: {moved.status.error.message[:150]}")
        return
    for tensor, spec in graph.tensors.items():
        other = moved.tensors.get(tensor)
        if other is not None and len(other.shape) == len(spec.shape):
            expressions = graph.sizes.tensors.get(tensor) or (None,) * len(spec.shape)
            changes = [e for e, a, b in zip(expressions, spec.shape, other.shape, strict=True) if a != b]
            found.nameable += len(changes)
            found.named += sum(expression is not None for expression in changes)
    for name, match in unseen.names_as_given():
        found.given += 1
        found.agree += bool(match)
        found.letters += re.sub(r"[′\d]", "", match) == re.sub(r"[′\d]", "", name)
    movable = {name for group in unseen.groups for name in group}
    for name, size in known.sizes.items():
        owners = [n for n, s in graph.sizes.sizes.items() if unseen._touches(n, (name,))]
        if not size.fixed and name not in movable:
            reasons = "; ".join(f"{n}: {graph.sizes.sizes[n].fixed or 'not fixed'}" for n in owners)
            found.pinned.append(f"{name}{' (a loop)' if size.counts else ''}: {reasons or 'it has no name'}")
        for owner in (graph.sizes.sizes[n] for n in owners if name in movable):
            if size.most and (owner.at_most is None or owner.at_most > size.most):
                found.limits.append(f"{name} is at most {size.most}; the graph says {owner.at_most}")
            if owner.multiple_of >= owner.size > 1 and size.multiple < owner.multiple_of:
                found.narrow.append(
                    f"{name}, {owner.size} here: {owner.remainder} more than multiples of {owner.multiple_of}"
                )
