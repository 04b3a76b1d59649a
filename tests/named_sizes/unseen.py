"""Sizes that no pass of the product had, as far as both the graph and a person say that they are possible."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from modeldiagrams.ir.graph import NamedSizes, Size
from named_sizes.known import KnownModel

_MOST_ELEMENTS = 4 * 10**7

Sizes = dict[str, int]
Leaves = dict[str, int]
"""Every dimension of an input (``x[1]`` of tensor ``x`` is ``x:1``), and every whole number among the arguments."""


def leaves_of(known: KnownModel, model: Any, sizes: Mapping[str, int]) -> Leaves:
    """The dimensions of the inputs that the oracle makes at these sizes."""
    with torch.device("meta" if known.has_names else "cpu"):  # only shapes count
        args, kwargs = known.call(**sizes)
    call = inspect.signature(getattr(model, "forward", model)).bind(*args, **kwargs)
    return dict(_walk(call.arguments, ""))


def _walk(part: Any, path: str) -> Iterator[tuple[str, int]]:
    if isinstance(part, Tensor):
        shape = part.shape if part.layout is not None and not part.is_nested else ()
        yield from ((f"{path}:{i}", size) for i, size in enumerate(shape))
    elif isinstance(part, int) and not isinstance(part, bool):
        yield path, part
    elif isinstance(part, Mapping):
        for key, value in part.items():
            # arguments that `**kwargs` takes have names of their own
            yield from _walk(value, f"{path}.{key}" if path and path != "kwargs" else str(key))
    elif isinstance(part, list | tuple):
        for i, value in enumerate(part):
            yield from _walk(value, f"{path}[{i}]")


def places_of(size: Size) -> list[str]:
    """A size's places, written as in `Leaves`."""
    tensors = [f"{tensor.removeprefix('input:').rpartition(':')[0]}:{dim}" for tensor, dim in size.places]
    return tensors + list(size.arguments)


class UnseenSizes:
    """Finds sizes at which the graph's names claim to hold, and which no pass had that led to them."""

    def __init__(self, known: KnownModel, model: Any, named: NamedSizes) -> None:
        self._known, self._model, self._named = known, model, named
        self.base = {name: size.size for name, size in known.sizes.items()}
        self._base_leaves = leaves_of(known, model, {})
        self._owner = {place: name for name, size in named.sizes.items() for place in places_of(size)}
        self.moves = {name: self._moved_by(name) for name in known.sizes}
        """Own name of a size → the places that move with it."""
        self.groups = self._grouped()

    def named_values(self, sizes: Mapping[str, int]) -> Sizes | None:
        """The graph's names at these sizes; None if the graph does not claim to hold there."""
        found: Sizes = {}
        for place, size in leaves_of(self._known, self._model, sizes).items():
            name = self._owner.get(place)
            if name is None:
                if size != self._base_leaves.get(place):
                    return None
            elif found.setdefault(name, size) != size:
                return None
        return found if all(_allows(self._named.sizes[name], size) for name, size in found.items()) else None

    def sets(self) -> list[Sizes]:
        """At most three: small ones that reach down to the limit, larger ones, and some far above."""
        found: list[Sizes] = []
        for wanted in (self._small, self._large, self._far):
            chosen, ratios = dict(self.base), set[float]()
            for group in self.groups if wanted != self._far else self.groups[::-1]:  # batches get what memory is left
                all_candidates = wanted(self._candidates(group))
                candidates = [size for size in all_candidates if self._fits(chosen | dict.fromkeys(group, size))]
                used = {sizes[group[0]] for sizes in found}
                seen = [size for size in candidates if size not in used]
                fresh = [size for size in seen if not self._is_seen(group, size)] or seen or candidates
                ratio = [size for size in fresh if round(size / self.base[group[0]], 6) not in ratios]
                if size := next(iter([*ratio, *fresh]), 0):
                    chosen |= dict.fromkeys(group, size)
                    ratios.add(round(size / self.base[group[0]], 6))
            if chosen != self.base and chosen not in found and self.named_values(chosen) is not None:
                found.append(chosen)
        return found

    def claims(self) -> list[Sizes]:
        """Sizes of what a person says is fixed, and the graph says is not: at most one for each."""
        found = []
        for name, known in self._known.sizes.items():
            if known.fixed:
                together = [group for group in self._ties() if name in group] or [(name,)]
                sizes = (self.base | dict.fromkeys(together[0], size) for size in _near(known.size, 1))
                found += [s for s in sizes if s != self.base and self.named_values(s) is not None][:1]
        return found

    def everything_moved(self) -> Sizes:
        """All sizes that a person says can vary, whether the graph has names for them or not."""
        found = dict(self.base)
        factors = 0
        for name, known in self._known.sizes.items():
            if not known.fixed:
                factors += 1
                limit = known.size * (2 + factors)
                allowed = [size for size in range(known.size + 1, limit + 1) if known.allows(size)]
                whole = [size for size in allowed if size % known.size == 0]
                found[name] = ([*whole[1:], *whole, *allowed] or [known.size])[0]
        return found

    def names_as_given(self) -> Iterator[tuple[str, str]]:
        """Own name of a size, and the graph's name for just the same places; empty if there is none."""
        own = {place: frozenset(places) for places in self.moves.values() for place in places}
        for name, known in self._known.sizes.items():
            places = {place for place in self.moves[name] if self._base_leaves[place] == known.size}
            if known.fixed or not places:
                continue
            assert own
            same = [n for n, size in self._named.sizes.items() if {*places_of(size)} == places and not size.fixed]
            yield name, same[0] if same else ""

    def _moved_by(self, name: str) -> list[str]:
        known = self._known.sizes[name]
        other = next((size for size in _near(known.size, 1) if known.allows(size) and size != known.size), None)
        other = 2 * known.size if other is None else other
        moved = leaves_of(self._known, self._model, {name: other})
        return [place for place, size in moved.items() if size != self._base_leaves.get(place)]

    def _ties(self) -> list[tuple[str, ...]]:
        """Sizes that the graph holds to be one, or moves together."""
        found: list[tuple[str, ...]] = []
        for size in self._named.sizes.values():
            places = {*places_of(size)}
            movers = tuple(name for name, moved in self.moves.items() if places & {*moved})
            if len(movers) > 1 and any(places - {*self.moves[name]} for name in movers):
                found.append(movers)
        return found

    def _grouped(self) -> list[tuple[str, ...]]:
        ties = self._ties()
        tied = {name for group in ties for name in group}
        single = [(name,) for name in self._known.sizes if name not in tied]
        return [group for group in [*single, *ties] if self._candidates(group)]

    def _candidates(self, group: tuple[str, ...]) -> list[int]:
        """What all of a group can be at once, beside what they are."""
        base = self.base[group[0]]
        step = max((s.multiple_of for n, s in self._named.sizes.items() if self._touches(n, group)), default=1)
        found = []
        for size in _near(base, step):
            sizes = self.base | dict.fromkeys(group, size)
            is_allowed = size != base and all(self._known.sizes[name].allows(size) for name in group)
            if is_allowed and self.named_values(sizes) is not None:
                found.append(size)
        return found

    def _touches(self, name: str, group: tuple[str, ...]) -> bool:
        places = {*places_of(self._named.sizes[name])}
        return any(places & {*self.moves[own]} for own in group)

    def _is_seen(self, group: tuple[str, ...], size: int) -> bool:
        names = [n for n in self._named.sizes if self._touches(n, group)]
        values = self.named_values(self.base | dict.fromkeys(group, size)) or {}
        return any(values.get(n) == checked.get(n) for checked in self._named.checked for n in names if n in values)

    def _fits(self, sizes: Sizes) -> bool:
        """Whether memory has room for the inputs."""
        elements: Counter[str] = Counter()
        for place, size in leaves_of(self._known, self._model, sizes).items():
            tensor = place.rpartition(":")[0]
            elements[tensor] = (elements[tensor] or 1) * size
        return max(elements.values(), default=0) < _MOST_ELEMENTS

    def _small(self, candidates: list[int]) -> list[int]:
        return candidates

    def _far(self, candidates: list[int]) -> list[int]:
        return candidates[::-1]

    def _large(self, candidates: list[int]) -> list[int]:
        """From about two thirds of the way up, and then the others."""
        start = 2 * len(candidates) // 3
        return [*candidates[start:], *reversed(candidates[:start])]


def _allows(size: Size, value: int) -> bool:
    if size.fixed:
        return value == size.size
    is_in_range = size.at_least <= value <= (value if size.at_most is None else size.at_most)
    return is_in_range and value % size.multiple_of == size.remainder % size.multiple_of


def _near(base: int, step: int) -> list[int]:
    """Sizes to try, ascending: all below for small ones, up to about four times as much, and two far above."""
    top = max(4 * base, base + 4 * step, 12)
    every = max(top // 90, 1)
    far = base + 25 * step * max(base // step, 1)
    whole = range(base % step or step, top + 1, step)
    return sorted({*range(1, min(top, 48)), *range(base % every, top, every), *whole, far, far + step})
