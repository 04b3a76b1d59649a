"""Searches the combination of candidates with which a whole pass runs, without arithmetic.

The first pass takes the first candidate of every input. Then the search changes one thing at a time and keeps what gets
the pass further, and last goes through all combinations, those of likely candidates first.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.graph import Graph, InputNode, ModuleNode, OpNode, OutputNode
from modeldiagrams.resolve.code.user_code import seeded
from modeldiagrams.resolve.names.candidates import (
    ABSENT,
    SIZES,
    Candidate,
    count_elements,
    fill_sizes,
    find_named_sizes,
    list_sizes,
)
from modeldiagrams.resolve.values.input_values import make_inputs
from modeldiagrams.tracer import Trace, trace_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.resolve.inputs.budget import Budget
    from modeldiagrams.resolve.inputs.failure_search import Solution
    from modeldiagrams.tracer import Mode

__all__ = [
    "CandidateSearch",
    "Defects",
    "FoundInputs",
    "count_dead_inputs",
    "find_defects",
    "is_connected",
    "run_trial_pass",
    "search_candidates",
]

_MAX_PASSES = 32
"""Of one search."""
_MAX_REAL_PASSES = 6
"""Passes with values, which may take long."""
_MAX_SAME_FAILURES = 8
"""After this many passes with the same failure, the inputs are likely not its cause."""
_CHEAP_WORK = 3_000
"""Below this total work it costs little to search on in spite of that."""
_MAX_ELEMENTS = 1 << 26
"""Of all inputs of one pass."""
_MAX_MESSAGE = 120
_MAX_COMBINATIONS = 20_000

_Combination = tuple[int, ...]
"""Rank of the candidate that each size and each input takes."""


@dataclass(frozen=True)
class FoundInputs:
    """Inputs that work."""

    entries: dict[str | int, Any]
    """As the option `inputs`: by name, or by position."""
    reasons: dict[str | int, str]
    """Input → why it is what it is."""
    trace: Trace | None
    """The pass with them, unless it has to run again to be shown."""


@dataclass
class CandidateSearch:
    """A search that can be continued."""

    model: nn.Module
    candidates: Mapping[str | int, Sequence[Candidate]]
    """Input, by name or by position, → its candidates, likeliest first; at least one."""
    budget: Budget
    """Limits and logs the passes."""
    passes: int = 0
    """How many there are at most."""
    depths: dict[_Combination, int] = field(default_factory=dict)
    """How many ops the pass of each combination reached."""
    seen: set[str] = field(default_factory=set)
    working: _Combination | None = None
    trace: Trace | None = None
    """The pass of the working combination, if it is the one to show."""
    failures: Counter[tuple[str | None, str]] = field(default_factory=Counter)
    """Node and message → how often."""

    def __post_init__(self) -> None:
        options = self.candidates
        sizes = sorted(set().union(*(find_named_sizes(item.entry) for items in options.values() for item in items)))
        self.names: tuple[str | int, ...] = (*sizes, *options)
        named = (list(list_sizes(size)) for size in sizes)
        self.lists: tuple[list[Any], ...] = (*named, *map(_unique, options.values()))
        self.parameter_count = sum(1 for _ in self.model.parameters())
        self.is_on_meta = any(parameter.is_meta for parameter in self.model.parameters())
        self._next = self._combinations()

    def more(self, passes: int) -> FoundInputs | None:
        """The first inputs that work, within so many more passes."""
        self.passes += passes
        while self.working is None and not self._is_over():
            combination = next(self._next, None)
            if combination is None:
                break
            self._try(combination)
        if self.working is None:
            return None
        reasons = {name: candidate.reason for name, candidate in self.chosen(self.working).items()}
        return FoundInputs(self.entries(self.working), reasons, self.trace)

    def _is_over(self) -> bool:
        fails_alike = max(self.failures.values(), default=0) >= _MAX_SAME_FAILURES and self.budget.work >= _CHEAP_WORK
        return self.budget.is_exhausted or len(self.depths) >= self.passes or fails_alike

    def _combinations(self) -> Iterator[_Combination]:
        """Combinations not tried so far, each chosen by the results of those before."""
        best: _Combination | None = None
        yield (0,) * len(self.names)
        while best != (best := max(self.depths, key=self.depths.__getitem__)):
            for combination in self._neighbours(best):
                if self._is_known(combination):
                    continue
                yield combination
                if self.depths[combination] > self.depths[best]:
                    break
        ranks = [range(len(options)) for options in self.lists]
        by_rank = sorted(itertools.islice(itertools.product(*ranks), _MAX_COMBINATIONS), key=sum)
        yield from (combination for combination in by_rank if not self._is_known(combination))

    def _is_known(self, combination: _Combination) -> bool:
        """Whether the same inputs were tried before: a size that none of them names makes no difference."""
        return combination in self.depths or repr(self.entries(combination)) in self.seen

    def _neighbours(self, combination: _Combination) -> Iterator[_Combination]:
        """One thing changed: the second candidate of everything, then the third, and so on."""
        for rank in range(max(map(len, self.lists))):
            for index, options in enumerate(self.lists):
                if rank < len(options) and rank != combination[index]:
                    yield _changed(combination, index, rank)

    def _try(self, combination: _Combination) -> None:
        """Run one pass; with values, too, where it got further than any other: some code needs them."""
        entries = self.entries(combination)
        self.seen.add(repr(entries))
        best = max(self.depths.values(), default=-1)
        self.depths[combination] = 0
        depth = self._run(combination, entries, "auto" if self.is_on_meta else "fake")
        is_left = self.budget.real_passes < _MAX_REAL_PASSES and (self.budget.left or self.budget.lacks_values)
        if self.working is None and depth > best and is_left and not self.is_on_meta:
            self.budget.real_passes += 1
            depth = max(depth, self._run(combination, entries, "real"))
        self.depths[combination] = depth

    def _run(self, combination: _Combination, entries: Any, mode: Mode) -> int:
        """How many ops a pass has."""
        if (elements := count_elements(entries)) > _MAX_ELEMENTS:
            self.budget.lines.append(f"{entries}: not tried, its {elements:,} elements may not fit the memory")
            return -1
        try:
            args, kwargs = make_inputs(entries)
        except TargetError as problem:
            self.budget.lines.append(f"{entries}: {problem}")
            return -1
        is_first = len(self.depths) <= 1  # the likeliest to work: then it is the pass that is shown
        with self.budget.limited():  # passes with values are limited by their costs
            trace, result = run_trial_pass(self.model, args, kwargs, mode, costs=is_first or mode == "real")
        ran, error = trace.graph.status.mode, trace.graph.status.error
        line = result.partition("\n")[0]
        line = line if len(line) <= _MAX_MESSAGE else f"{line[:_MAX_MESSAGE]}…"
        self.budget.lines.append(f"{entries} ({ran}): {line}")
        ops = sum(isinstance(node, OpNode) for node in trace.graph.nodes)
        self.budget.work += ops + self.parameter_count
        if error:
            self.failures[error.node, result] += 1
            self.budget.failures[line] += 1
        elif result == _WORKS:
            self.working = combination
            self.trace = trace if is_first and ran != "real" else None
        return ops

    def entries(self, combination: _Combination) -> dict[str | int, Any]:
        """A combination as the option `inputs`."""
        sizes = {str(name): self.lists[i][combination[i]] for i, name in enumerate(self.names) if name in SIZES}
        return {name: fill_sizes(candidate.entry, sizes) for name, candidate in self.chosen(combination).items()}

    def chosen(self, combination: _Combination) -> dict[str | int, Candidate]:
        """Input → its candidate; without those left out."""
        chosen = {name: self.lists[i][combination[i]] for i, name in enumerate(self.names) if name not in SIZES}
        return {name: candidate for name, candidate in chosen.items() if candidate is not ABSENT}


def search_candidates(
    model: nn.Module, candidates: Mapping[str | int, Sequence[Candidate]], budget: Budget, passes: int = _MAX_PASSES
) -> FoundInputs | None:
    """Find inputs that carry a model through a pass and reach its outputs.

    Args:
        model: What is called.
        candidates: Input, by name or by position, → its candidates, likeliest first.
        budget: Limits and logs the passes.
        passes: How many there are at most.

    Returns:
        The first inputs that work; None if none did within the budget.
    """
    return CandidateSearch(model, candidates, budget).more(passes) if candidates else None


def run_trial_pass(
    model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], mode: Mode, *, costs: bool = True
) -> tuple[Trace, str]:
    """Run one pass with fixed random numbers; the trace, and the result in one line."""
    with seeded():
        trace = trace_run(model, args, kwargs, mode=mode, costs=costs)
    error = trace.graph.status.error
    if error:
        return trace, f"{error.type}: {error.message}"
    return trace, _WORKS if is_connected(trace.graph) else "no output depends on an input"


_WORKS = "works"


def is_connected(graph: Graph) -> bool:
    """Whether the pass completed and some output depends on some input."""
    inputs = [node.id for node in graph.nodes if isinstance(node, InputNode)]
    return graph.status.error is None and _reaches_output(graph, inputs)


def count_dead_inputs(graph: Graph) -> int:
    """Number of inputs that no output depends on."""
    inputs = [node.id for node in graph.nodes if isinstance(node, InputNode)]
    return sum(not _reaches_output(graph, [each]) for each in inputs)


def count_uncalled_modules(model: nn.Module, graph: Graph) -> int:
    """Number of modules without children that a pass did not call."""
    called = {node.path for node in graph.nodes if isinstance(node, ModuleNode)}
    # attention uses the weights of its last layer without calling it
    used = {module.out_proj for module in model.modules() if isinstance(module, nn.MultiheadAttention)}
    own = [name for name, module in model.named_modules() if name and not {*module.children()} and module not in used]
    return sum(name not in called for name in own)


def _reaches_output(graph: Graph, pending: list[str]) -> bool:
    outputs = {node.id for node in graph.nodes if isinstance(node, OutputNode)}
    reached = set(pending)
    while pending:
        following = {edge.to for edge in graph.adjacency.get(pending.pop(), ())} - reached
        reached |= following
        pending += following
    return bool(outputs & reached)


def _changed(combination: _Combination, index: int, rank: int) -> _Combination:
    return (*combination[:index], rank, *combination[index + 1 :])


def _unique(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each entry once: two layers may suggest the same."""
    by_entry: dict[str, Candidate] = {}
    for candidate in candidates:
        by_entry.setdefault(repr(candidate.entry), candidate)
    return list(by_entry.values())


Defects = tuple[int, bool, int]
"""Inputs that reach no output, whether the batch is lost, and uncalled modules; the least is the best."""


def find_defects(model: nn.Module, graph: Graph, solution: Solution) -> Defects:
    """Defects of a solution, the worst kind first.

    Args:
        model: What was called.
        graph: Of its pass.
        solution: Its inputs.
    """
    return count_dead_inputs(graph), not solution.keeps_batch, count_uncalled_modules(model, graph)
