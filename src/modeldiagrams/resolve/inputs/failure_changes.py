"""Changes inputs as a failed pass asks for: other sizes, ranks, dtypes or structures.

Every dimension of unknown size has an allocated size (`sizes`), so that a size in an error tells which
dimension of which input it came from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from modeldiagrams.resolve.inputs.expected_operands import Expectation, find_expectations, is_too_small
from modeldiagrams.resolve.inputs.size_by_doubling import DoubledSizes
from modeldiagrams.resolve.inputs.structure_changes import propose_structures
from modeldiagrams.resolve.values.input_entries import (
    Entries,
    Leaf,
    Path,
    get_entry,
    list_leaves,
    put_entry,
    put_entry_everywhere,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.resolve.inputs.probe import Probed
    from modeldiagrams.resolve.inputs.sizes import Sizes
    from modeldiagrams.resolve.inputs.structure_changes import Seeds
    from modeldiagrams.resolve.values.input_entries import Entries, Leaf

__all__ = ["propose_changes", "propose_dtypes"]

_MAX_SIZE = 8192
_MAX_RANK = 6
_SIDES = 2
_NEW = 10
"""Number of the first dimension that an input gets later."""


def propose_changes(entries: Entries, probed: Probed, sizes: Sizes, seeds: Seeds) -> Iterator[Entries]:
    """Other entries that a failed pass asks for, likeliest first."""
    yield from propose_structures(entries, probed, seeds)
    change = _Change(entries, probed, sizes)
    doubled = DoubledSizes(entries, probed, sizes, seeds.again)
    if is_too_small(probed):
        yield from enlarge_inputs(entries, change.sources(), sizes, seeds.again)
    if doubled.lacks_dimension():
        yield from change.of(Expectation("rank", 1, shapes=change.operand_shapes()))
    yield from doubled.solved()
    for expected in find_expectations(probed):
        yield from change.of(expected)


def propose_dtypes(entries: Entries, probed: Probed, sizes: Sizes) -> Iterator[Entries]:
    """Entries with another dtype of one tensor, as a failed pass asks for."""
    change = _Change(entries, probed, sizes)
    for expected in find_expectations(probed):
        if expected.what == "dtype":
            yield from change.of(expected)


@dataclass
class _Change:
    entries: Entries
    probed: Probed
    sizes: Sizes

    def operand_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the failing call."""
        return tuple(tuple(operand.shape) for operand in self.probed.operands)

    def of(self, expected: Expectation) -> Iterator[Entries]:
        """The entries with what is expected."""
        match expected.what:
            case "size":
                yield from self._resized(expected.got, expected.value, expected.shapes)
            case "rank":
                yield from self._of_other_rank(self._about(expected), expected.value)
            case "dtype":
                for leaf in self._about(expected):
                    yield from self._of_dtype(leaf, expected)

    def _of_dtype(self, leaf: Leaf, expected: Expectation) -> Iterator[Entries]:
        if leaf.dtype != expected.dtype:
            yield self._with(replace(leaf, dtype=expected.dtype, high=expected.value or None, low=None))
        elif expected.value and leaf.high and leaf.high > expected.value:
            yield self._with(replace(leaf, high=expected.value))

    def _all(self) -> list[Leaf]:
        return [*list_leaves(self.entries)]

    def sources(self) -> list[Leaf]:
        """Inputs that the failing call's operands were made of."""
        sources = self.probed.origins(self.operand_shapes())
        return [leaf for leaf in self._all() if leaf.path in sources] or self._all()

    def _with(self, leaf: Leaf) -> Entries:
        changed: Entries = put_entry_everywhere(self.entries, leaf.path, leaf.entry)
        return changed

    def _about(self, expected: Expectation) -> list[Leaf]:
        """Inputs that the operands were computed from; inputs with more of their sizes come first."""
        sources = self.probed.origins(expected.shapes)
        found = [leaf for leaf in self._all() if leaf.path in sources] or self._all()
        own = {size for shape in expected.shapes for size in shape if self.sizes.is_own(size)}
        return sorted(found, key=lambda leaf: -len(own & {*leaf.shape}))

    def _resized(self, got: int, expected: int, shapes: tuple[tuple[int, ...], ...]) -> Iterator[Entries]:
        if got == expected or got <= 0 or not 0 < expected <= _MAX_SIZE:
            return
        sources = self.probed.origins(shapes)
        owners = [leaf for leaf in self._all() if leaf.path in sources] or self._all()
        exact = [(leaf, d) for leaf in owners for d, size in enumerate(leaf.shape) if size == got]
        everywhere = self.entries
        for leaf, dimension in exact:
            current = replace(next(list_leaves(get_entry(everywhere, leaf.path))), path=leaf.path)
            everywhere = put_entry_everywhere(everywhere, leaf.path, current.sized(dimension, expected).entry)
        if exact and got != self.sizes.batch:
            yield everywhere
        for leaf, dimension in sorted(exact, key=lambda pair: pair[1] == 0):
            yield self._with(leaf.sized(dimension, expected))
            more, rest = divmod(expected, got)
            if not rest and len(leaf.shape) == 1 and any(more in other.shape[1:] for other in self._all()):
                yield self._with(replace(leaf, shape=(got, more)))

    def _of_other_rank(self, about: list[Leaf], more: int) -> Iterator[Entries]:
        """Inputs that were put together in one tensor all have a dimension too much, or too little; or one of them."""
        if len(about) > 1:
            changes = [[*self._of_rank(leaf, len(leaf.shape) + more, about[0].path)] for leaf in about]
            for alike in zip(*changes, strict=False):
                together = self.entries
                for leaf, changed in zip(about, alike, strict=True):
                    together = put_entry(together, leaf.path, get_entry(changed, leaf.path))
                yield together
        for leaf in about:
            yield from self._of_rank(leaf, len(leaf.shape) + more, leaf.path)

    def _of_rank(self, leaf: Leaf, rank: int, path: Path) -> Iterator[Entries]:
        """Another rank; new dimensions have the sizes that the input at a path would get."""
        if not 0 < rank <= _MAX_RANK or rank == len(leaf.shape):
            return
        shape = leaf.shape
        if rank < len(shape):
            yield self._with(replace(leaf, shape=(*shape[:1], *shape[1 + len(shape) - rank :])))
            yield self._with(replace(leaf, shape=shape[:rank]))
            return
        new = [self.sizes.new(path, _NEW + index) for index in range(rank - len(shape))]
        yield self._with(replace(leaf, shape=(*shape[:1], *new, *shape[1:])))
        yield self._with(replace(leaf, shape=(*shape, *new)))


_USUAL = tuple(1 << power for power in range(5, 15))
"""Sizes that inputs grow to."""
_LONGEST = 1 << 22
"""That a model may have itself: bytes of a file, samples of a sound."""
_LARGE = 1 << 20
"""Elements of an input from which on it has one row."""
_BEFORE = 2
"""Batch and channels of pictures and sounds."""


def enlarge_inputs(
    entries: Entries, sources: Sequence[Leaf], sizes: Sizes, again: Callable[[Entries], Probed | None]
) -> Iterator[Entries]:
    """Entries with the smallest usual size that survives all layers, or a size of the model.

    Args:
        entries: With which it failed.
        sources: The inputs that the failure is about.
        sizes: Gave out sizes that may change.
        again: Runs a pass that is no try by itself.
    """
    growing = [(leaf, dimensions) for leaf in sources if (dimensions := _growing(leaf, sizes))]
    least = max((leaf.shape[d] for leaf, dimensions in growing for d in dimensions), default=0)
    own = {size for size in sizes.own if _USUAL[0] <= size <= _LONGEST}
    for size in sorted({*_USUAL, *own}) if growing else ():
        larger = entries
        for leaf, dimensions in growing:
            shape = tuple(size if d in dimensions else old for d, old in enumerate(leaf.shape))
            is_large = math.prod(shape) > _LARGE and shape[0] == sizes.batch
            larger = put_entry_everywhere(
                larger, leaf.path, replace(leaf, shape=(1, *shape[1:]) if is_large else shape).entry
            )
        probed = again(larger) if size > least else None
        if probed is not None and not is_too_small(probed):
            yield larger
            return


def _growing(leaf: Leaf, sizes: Sizes) -> list[int]:
    """Dimensions of allocated size; of pictures and sounds all but batch and channels."""
    free = [d for d, size in enumerate(leaf.shape) if d and sizes.is_own(size) and size != sizes.batch]
    is_grid = len(leaf.shape) > _BEFORE and leaf.dtype == "float32"
    return free or ([*range(_BEFORE, len(leaf.shape))] if is_grid else [])
