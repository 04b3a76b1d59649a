"""Searches inputs by answering failures (rule 4): each failed pass says what the next one should be like.

The first entries come from names, annotations and layers; the sizes of their dimensions are `sizes` that occur nowhere
else. A failed pass is answered by the changes that it asks for (`structure_changes` and `failure_changes`), and of all
that wait those come first whose parent got furthest.
Inputs with which the model runs get usual sizes wherever it still runs with them.
"""

from __future__ import annotations

import heapq
import inspect
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.conditions import find_unequal_sides
from modeldiagrams.resolve.code.forward import (
    VARIADIC,
    find_compared_strings,
    find_unpacked_parameters,
    get_parameters,
)
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.inputs.failure_changes import propose_changes, propose_dtypes
from modeldiagrams.resolve.inputs.forward_parameters import infer_candidates, infer_tensor_candidates, is_graph
from modeldiagrams.resolve.inputs.layers import list_state_entries
from modeldiagrams.resolve.inputs.probe import MOST_WITH_VALUES, Probe, needs_values
from modeldiagrams.resolve.inputs.sizes import Sizes, UsualSizes, is_sequence
from modeldiagrams.resolve.names.candidates import ABSENT, SIZES, count_elements, fill_sizes, find_role, list_sizes
from modeldiagrams.resolve.names.vocabulary import list_usual_values
from modeldiagrams.resolve.values.input_entries import get_entry, is_repeated, is_shape_alone, list_leaves, put_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn

    from modeldiagrams.resolve.inputs.probe import Probed
    from modeldiagrams.resolve.values.input_entries import Entries, Path

__all__ = ["FailureSearch", "Solution"]

BY_FORWARD = "by its name, and by what forward does with it"
"""Why inputs are what they are."""

_MOST_TRIES = 60
_MOST_WORK = 10_000
"""Calls of PyTorch in all passes."""
_CHEAPER = 5
"""So many times as many, where passes have values."""
_MOST_CHANGES = 24
"""Of one failed pass."""
_FIRST_CHANGES = 3
_MOST_ELEMENTS = 1 << 23
_FIRST_SEEDS = 4
_OTHER_GUESS = 8
"""Every so many tries, one is a first guess that wasn't tried."""


@dataclass(frozen=True)
class Solution:
    """Entries that carry the model through a pass."""

    entries: Entries
    keeps_batch: bool
    """Whether the number of rows that goes in comes out again."""


@dataclass(frozen=True, order=True)
class _Try:
    """Entries that wait for their pass; the least come first."""

    depth: int
    """Minus the calls that the pass before reached."""
    place: int
    """Among the changes that the failure asked for."""
    number: int
    reached: int
    """Calls that the pass before reached itself."""
    entries: Entries = field(compare=False)


@dataclass
class FailureSearch:
    """Searches the inputs of one model."""

    model: nn.Module
    budget: Budget = field(default_factory=Budget)
    """Limits and logs the passes."""
    optional: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.sizes = Sizes(self.model)
        self._probe = Probe(self.model)
        self._waiting: list[_Try] = []
        self._later: list[_Try] = []
        self._failures: Counter[tuple[Any, ...]] = Counter()
        self._seen: set[str] = set()
        self._work = 0
        self._tried: Probed | None = None
        self._comparison: Probed | None = None  # a pass that shows what a failure depends on
        parameters = get_parameters(self.model.forward)
        self._taken_apart = find_unpacked_parameters(self.model)
        self._usual = UsualSizes(self.sizes, self._works, is_graph=any(map(is_graph, parameters)))
        self.optional = tuple(
            name
            for name, p in parameters.items()
            if p.default is not inspect.Parameter.empty and p.kind not in VARIADIC
        )

    def solutions(self, most_tries: int = _MOST_TRIES, more_tries: int = _MOST_TRIES) -> Iterator[Solution]:
        """Entries that carry the model through a pass, the most usual ones first.

        Args:
            most_tries: Passes until there is a solution.
            more_tries: Passes after the first one, for a better one.
        """
        has_one = False
        for order, entries in enumerate(self._seeds()):
            self._push(_Try(0, order, 0, 0, entries))
        tries = most_tries
        while tries > 0:
            tries -= 1
            self._answer_later()
            if not self._waiting or self._is_spent():
                return
            parent = self._next(most_tries - tries)
            probed = self._probed(entries := parent.entries)
            if probed is None:
                continue
            if probed.error is None:
                keeps_batch = any(self.sizes.batch in shape for shape in probed.outputs) or is_sequence(entries)
                yield from (Solution(each, keeps_batch) for each in self._usual.alternatives(entries))
                tries = tries if has_one else more_tries
                has_one = True
                continue
            if self._is_repeated(probed):
                self._later.append(parent)
            elif tries:
                self._answer(parent, probed)

    def _is_repeated(self, probed: Probed) -> bool:
        """Whether what changed made no difference: what follows is no better than before."""
        sides = [(a, b) for _, (_, a, _, b) in find_unequal_sides(probed.error)]  # an ``assert`` often has no message
        failure = (*probed.place, probed.depth, probed.message, *sides)
        self._failures[failure] += 1
        return self._failures[failure] > 1

    def _answer_later(self) -> None:
        """What was put off, where nothing else waits; only its entries were kept."""
        while self._later and not self._waiting and not self._is_spent():
            parent = self._later.pop(0)
            probed = self._run_instead(parent.entries)
            if probed is not None and probed.error is not None:
                self._answer(parent, probed)

    def _answer(self, parent: _Try, probed: Probed) -> None:
        """What else to try after a failed pass, which may take passes itself."""
        if needs_values(probed.error):
            smaller = self.sizes.affordable(parent.entries, MOST_WITH_VALUES)
            for each in (smaller, self._usual.shown(smaller)):
                self._push(_Try(-probed.depth, 0, len(self._seen), probed.depth, each))
        changed = propose_changes(parent.entries, probed, self.sizes, self)
        for place, entries in zip(range(_MOST_CHANGES), changed, strict=False):
            # what breaks something earlier may be right if that is mended, too
            depth = max(probed.depth, parent.reached if place < _FIRST_CHANGES else 0)
            self._push(_Try(-depth, place, len(self._seen), probed.depth, entries))

    def _next(self, tries: int) -> _Try:
        """What got furthest; now and then another first guess, which no changes of one may lead to."""
        if tries % _OTHER_GUESS == 0 and (guesses := [each for each in self._waiting if not each.number]):
            self._waiting.remove(guess := min(guesses))
            heapq.heapify(self._waiting)
            return guess
        return heapq.heappop(self._waiting)

    def reasons(self, entries: Entries) -> dict[str | int, str]:
        """Input → why it is what it is."""
        first = next(iter(self._seeds()), {})
        return {
            name: BY_FORWARD
            if self._usual.shown(first.get(name)) == entry
            else "found by trying: the model runs with it"
            for name, entry in entries.items()
        }

    def seed(self, name: str, path: Path) -> Any:
        """A first guess for an input that goes by a name."""
        known = list_usual_values("fields", name)[:1]
        return self._own_sizes(known[0] if known else infer_tensor_candidates(self.model, name)[0].entry, path)

    def again(self, entries: Entries) -> Probed | None:
        """A pass that is no try by itself: it shows what a failure depends on."""
        if self._is_spent():
            return None
        self._forget(self._comparison)
        probed = self._comparison = self._run(entries)
        return probed

    def with_dtypes(self, entries: Entries) -> Entries | None:
        """The same with dtypes that the model wants, where only a shape is written; None if none helps."""
        fixed = [leaf for leaf in list_leaves(entries) if not is_shape_alone(get_entry(entries, leaf.path))]
        probed = self.again(entries)
        while probed is not None and probed.error is not None:
            changes = [*propose_dtypes(entries, probed, self.sizes)]
            for changed in changes:
                other = self.again(changed) if all(leaf in list_leaves(changed) for leaf in fixed) else None
                if other is not None and (other.error is None or other.depth > probed.depth):
                    entries, probed = changed, other
                    break
            else:
                return None
        return entries if probed is not None else None

    def _is_spent(self) -> bool:
        return self._work > _MOST_WORK or self.budget.is_exhausted

    def _push(self, new: _Try) -> None:
        entries = self.sizes.affordable(new.entries, _MOST_ELEMENTS)
        key = repr(entries)
        if key not in self._seen:
            self._seen.add(key)
            heapq.heappush(self._waiting, replace(new, entries=entries))

    def _run(self, entries: Entries) -> Probed | None:
        if count_elements(entries) > _MOST_ELEMENTS:
            return None
        try:
            with self.budget.limited():
                probed = self._probe.run(entries)
        except TargetError:
            return None
        self._work += probed.depth // (_CHEAPER if self._probe.is_long else 1)
        return probed

    def _works(self, entries: Entries) -> bool:
        probed = self._run(entries)
        self._forget(probed)
        return probed is not None and probed.error is None

    def _run_instead(self, entries: Entries) -> Probed | None:
        """A pass whose failure is answered next, and no other one's any more."""
        self._forget(self._comparison)
        self._forget(self._tried)
        self._comparison, self._tried = None, self._run(entries)
        return self._tried

    @staticmethod
    def _forget(probed: Probed | None) -> None:
        """Let go of the tensors of a pass."""
        if probed is not None:
            probed.forget()

    def _probed(self, entries: Entries) -> Probed | None:
        probed = self._run_instead(entries)
        if probed is not None:
            result = "works" if probed.error is None else f"{type(probed.error).__name__}: {probed.message}"
            self.budget.lines.append(f"{entries}: {result.partition(chr(10))[0][:120]}")
        return probed

    def _seeds(self) -> Iterator[Entries]:
        """First guesses: the likeliest for every input, then others for one of them."""
        choices = find_compared_strings(self.model)
        for candidates in infer_candidates(self.model):
            lists: dict[str | int, list[Any]] = {
                name: [candidate.entry for candidate in options if candidate is not ABSENT]
                for name, options in candidates.items()
                if options and options[0] is not ABSENT
            }
            for name, strings in choices.items():
                if name in lists:
                    lists[name] = [{"value": string} for string in strings]
            lists = {name: [self._own_sizes(entry, (name,)) for entry in each] for name, each in lists.items() if each}
            for name in lists:
                role = find_role(str(name))
                if role and role.name == "state":
                    lists[name] = [*list_state_entries(self.model, self.sizes.batch), *lists[name]]
            first = {name: entries[0] for name, entries in lists.items()}
            yield first
            yield from ({**first, name: entry} for name in lists for entry in lists[name][1:_FIRST_SEEDS])

    def _own_sizes(self, entry: Any, path: Path) -> Any:
        """An entry in which every size is one of its own."""
        plain = fill_sizes(entry, {size: list_sizes(size)[0] for size in SIZES})
        if is_repeated(plain) and path[0] not in self._taken_apart:
            return [self._own_sizes(plain[0], (*path, 0))] * len(plain)
        for leaf in [*list_leaves(plain)]:
            sized = self.sizes.of(replace(leaf, path=(*path, *leaf.path)))
            plain = put_entry(plain, leaf.path, sized.entry)
        return plain
