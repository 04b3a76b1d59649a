"""Entries that carry a model through, with the sizes that readers expect in place of those that nobody has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.constructor_sizes import values_of
from modeldiagrams.target.inference.entries import leaves, put, put_all
from modeldiagrams.target.inference.inferred import NODES
from modeldiagrams.target.inference.named_sizes import as_named
from modeldiagrams.target.inference.parameter_names import role_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from modeldiagrams.target.inference.entries import Entries, Leaf, Path
    from modeldiagrams.target.inference.sizes import Sizes

__all__ = ["UsualSizes"]

_IMAGE_RANK = 4
_MOST_SIDES = 4
"""That are tried for a picture that 32 is too small for."""


class UsualSizes:
    """Gives entries of one model usual sizes."""

    def __init__(
        self,
        sizes: Sizes,
        works: Callable[[Entries], bool],
        is_whole: Callable[[Path], bool],
        said: Iterable[int] = (),
        *,
        is_graph: Callable[[], bool],
    ) -> None:
        """Keep what decides.

        Args:
            sizes: Gave out the sizes that nobody has.
            works: Runs the model with entries.
            is_whole: Whether the forward uses an input as whole numbers.
            said: Sizes that its author writes of.
            is_graph: Tells whether there are nodes and edges.
        """
        self.sizes, self._works, self._is_whole, self._is_graph = sizes, works, is_whole, is_graph
        self._said = {*said}

    def alternatives(self, entries: Entries) -> Iterator[Entries]:
        """The same as readers would write it, if the model runs with that; and as it was found."""
        entries = as_named(self._with_numbers(entries), self._works)
        shown = self.shown(entries)
        yield self._with_square_pictures(shown)
        keeps_batch = self._works(shown)  # or this would be the same
        mostly = self._mostly_shown(entries, self.sizes.batch if keeps_batch else 0)
        yield self._with_square_pictures(self._with_larger_pictures(mostly))

    def _mostly_shown(self, entries: Entries, but_not: int) -> Entries:
        """The same with usual sizes where it still runs with them: some numbers suit each other by chance."""
        own = {size for leaf in leaves(entries) for size in leaf.shape if self.sizes.is_own(size)} - {but_not}
        for size in sorted(own):
            having = [leaf.path for leaf in leaves(entries) if size in leaf.shape]
            for paths in (having, *([path] for path in having if len(having) > 1)):
                changed = self._shown_in(entries, size, paths)
                if self._works(changed):
                    entries = changed
                    break
        return entries

    def _shown_in(self, entries: Entries, size: int, paths: list[Path]) -> Entries:
        for leaf in [leaf for leaf in leaves(entries) if leaf.path in paths]:
            usual = self._usual(leaf, entries).shape
            shape = tuple(b if a == size else a for a, b in zip(leaf.shape, usual, strict=True))
            entries = put(entries, leaf.path, replace(leaf, shape=shape).entry)
        return entries

    def _with_numbers(self, entries: Entries) -> Entries:
        """The same with other numbers than whole ones, where the model runs with them and no name says whole."""
        for leaf in [*leaves(entries)]:
            role = role_of(str(leaf.path[-1]))
            is_open = role is None or (role.dimensions and not role.is_whole)
            if leaf.dtype == "int64" and is_open and not self._is_whole(leaf.path):
                changed = put_all(entries, leaf.path, replace(leaf, dtype="float32", high=None, low=None).entry)
                entries = changed if self._works(changed) else entries
        return entries

    def _with_square_pictures(self, entries: Entries) -> Entries:
        """The same with sides that are all alike in place of such as fit by chance, where it still runs with them."""
        pictures = [leaf.shape[-2:] for leaf in leaves(entries) if len(leaf.shape) >= _IMAGE_RANK]
        odd = {size for sides in pictures if sides[0] != sides[1] for size in sides if not self.sizes.is_own(size)}
        odd -= self._said
        changed, side = entries, values_of("<size>")[0]
        for leaf in leaves(entries) if odd else ():
            if len(leaf.shape) >= _IMAGE_RANK and odd & {*leaf.shape[-2:]}:
                sides = tuple(side if size in odd or self.sizes.is_own(size) else size for size in leaf.shape[-2:])
                changed = put_all(changed, leaf.path, replace(leaf, shape=(*leaf.shape[:-2], *sides)).entry)
        return changed if odd and self._works(changed) else entries

    def _with_larger_pictures(self, entries: Entries) -> Entries:
        """The same with the least usual sides that it runs with in place of those that nobody has."""
        least, *more = values_of("<size>")
        for side in sorted(size for size in more if size > least)[:_MOST_SIDES]:
            changed = entries
            for leaf in leaves(entries):
                if len(leaf.shape) >= _IMAGE_RANK:
                    sides = tuple(side if self.sizes.is_own(size) else size for size in leaf.shape[-2:])
                    changed = put(changed, leaf.path, replace(leaf, shape=(*leaf.shape[:-2], *sides)).entry)
            if changed == entries or self._works(changed):
                return changed
        return entries

    def shown(self, entries: Any) -> Any:
        """The same with usual sizes, whether or not the model runs with them."""
        changed = entries
        for leaf in leaves(entries):
            changed = put(changed, leaf.path, self._usual(leaf, entries).entry)
        return changed

    def _usual(self, leaf: Leaf, entries: Any) -> Leaf:
        has_edges = any(each.shape == (2, self.sizes.batch) and each.dtype == "int64" for each in leaves(entries))
        batch = NODES if has_edges or self._is_graph() or "edge_" in repr(entries) else 1
        return self.sizes.usual(leaf, batch, leaves(entries))

    def with_read_sizes(self, entries: Entries, cut: Mapping[tuple[Path, int], int]) -> Entries:
        """The same with as many items as are read by number, if the model runs with them.

        Args:
            entries: With which it runs.
            cut: Places of dimensions → how many items are read of them.
        """
        changed = entries
        for leaf in leaves(entries):
            shape = tuple(cut.get((leaf.path, at), size) for at, size in enumerate(leaf.shape))
            changed = put(changed, leaf.path, replace(leaf, shape=shape).entry)
        return changed if changed == entries or self._works(changed) else entries
