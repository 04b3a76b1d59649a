"""What a forward does with its inputs, read in one go without sizes: the first entries that are tried follow from it.

The inputs are `symbolic.tensors`; what they are used for tells shapes (`symbolic.shapes`), dtypes, and the parts of
dicts and lists.

Long because entries follow from shapes, kinds and parts together.
"""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from modeldiagrams.target.forward import parameters_of
from modeldiagrams.target.inference.annotations import annotations_of
from modeldiagrams.target.inference.documented.hints import Hints, Symbols, with_words
from modeldiagrams.target.inference.documented.trust import trusted_reading
from modeldiagrams.target.inference.entries import OBJECT, Leaf, is_text, leaves
from modeldiagrams.target.inference.makers import path_of
from modeldiagrams.target.inference.size_names import batches_behind, usual_size
from modeldiagrams.target.inference.steps import Steps
from modeldiagrams.target.inference.symbolic.containers import MOST_ITEMS, USUAL_ITEMS, list_wanted, loop_too_long
from modeldiagrams.target.inference.symbolic.guesses import Guesses
from modeldiagrams.target.inference.symbolic.handlers import HANDLERS
from modeldiagrams.target.inference.symbolic.modules import layers_replaced
from modeldiagrams.target.inference.symbolic.objects import annotate, classes_read, fields_with_default
from modeldiagrams.target.inference.symbolic.shapes import ClashError, Dim, factors_of, same
from modeldiagrams.target.inference.symbolic.signals import sparse_replaced
from modeldiagrams.target.inference.symbolic.tensors import Reading
from modeldiagrams.target.source import names_beside
from modeldiagrams.target.user_code import seeded, silenced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torch import nn

    from modeldiagrams.target.inference.entries import Path
    from modeldiagrams.target.inference.sizes import Sizes
    from modeldiagrams.target.inference.symbolic.shapes import Shape
    from modeldiagrams.target.inference.symbolic.tensors import Given

__all__ = ["Read", "read_forward"]

_LENGTH = 4
_PAIR = 2
_FEW_NODES = 4
"""Edges are between so many: less than there are."""
_PARTS = 20
"""Number of the first dimension that is only a part of others: what rows and steps of another input are joined to."""
_TENSORS = re.compile(r"([Ll]ist|[Tt]uple|Sequence)\[[\w.]*Tensor\b")
"""An annotation of several tensors."""
_LISTED_RANK = 5
"""Of several pictures or maps as one tensor."""
_MOST_MORE = 5
"""Dimensions than are known."""
_MOST_LISTS = 4
_MOST_CALLS = 4_000
"""Of all readings with other meanings, for uses that suit each other."""


@dataclass(frozen=True)
class _Earlier:
    """What an earlier reading found, see `Reading`."""

    counts: dict[Path, int] = field(default_factory=dict)
    lists: frozenset[Path] = frozenset()
    hints: Hints | None = None
    """What is said of inputs, as far as it is trusted."""
    told: dict[int, int] = field(default_factory=dict)
    listed: frozenset[Path] = frozenset()
    """Inputs that are lists, though nothing but the numbers of their items tells."""
    classes: dict[Path, Any] = field(default_factory=dict)
    """Of objects whose attributes are those of a class beside the model."""


class Read:
    """What was read of every input."""

    def __init__(self, reading: Reading, sizes: Sizes, seed: Callable[[str, Path], Any]) -> None:
        self._inputs, self._sizes, self._seed, self._allows = reading.inputs, sizes, seed, reading.allows
        is_clear = not (reading.error or reading.guesses.clashes or reading.guesses.others)
        self.is_sure = is_clear and not any(map(_is_taken_by_number, _all(reading.inputs)))
        """Whether the forward was read to its end, and all uses suit each other in their likeliest meaning."""
        self.is_in_vain = reading.is_in_vain()
        self.clashes = reading.guesses.clashes
        self.unused = [] if reading.error else [each.path for each in _all(reading.inputs) if _is_dead(each)]
        """Tensors that the forward doesn't compute anything of."""
        self.is_told = reading.is_told()
        """Whether words say the shape of every input, and the code doesn't contradict."""
        self.is_of_places = any(each.tensor.kind.with_casts().is_place for each in _all(reading.inputs))
        """Whether an input has places of rows in others, as edges have those of nodes."""
        self.whole: set[Path] = set()
        """Tensors that are used as whole numbers."""
        self._numbers: dict[Dim, int] = {
            dim: sizes.new(path, at) if path else sizes.batch
            for dim, path, at in (reading.symbols.ranks() if reading.symbols else ())
        }
        batches, self._steps = batches_behind([given.tensor.known.end() for given in _all(reading.inputs)])
        self._numbers = dict.fromkeys(batches, sizes.batch) | self._numbers
        joined = [factors_of(dim) for given in _all(reading.inputs) for dim in given.tensor.known.dims()[:1]]
        rows = {part for parts in joined if len(parts) > 1 for part in parts}  # few, or there are many rows of rows
        self._numbers |= dict.fromkeys(self._steps & rows, sizes.batch)
        self._own = {dim for given in _all(reading.inputs) for dim in given.tensor.known.dims()}
        self.cut: dict[tuple[Path, int], int] = {}
        """Places of dimensions of which items are read by number → how many there are at least."""

    def entries(self, lists: Mapping[str | int, list[Any]]) -> dict[str | int, Any]:
        """An entry for every input: the likeliest by its name that suits what it is used for.

        Args:
            lists: Input → entries by its name, likeliest first, with sizes of their own.
        """
        found = {
            name: self._entry(self._inputs[str(name)], lists[name]) if str(name) in self._inputs else lists[name][0]
            for name in sorted(lists, key=self._has_products)  # sizes that they are made of are known before
        }
        return {name: found[name] for name in lists}

    def _has_products(self, name: str | int) -> bool:
        given = [*_all({name: self._inputs[str(name)]})] if str(name) in self._inputs else []
        return any(len(factors_of(dim)) > 1 for each in given for dim in each.tensor.known.dims())

    def _entry(self, given: Given, entries: list[Any]) -> Any:
        parts = {} if given.is_used else given.parts
        if given.size is not None:
            return {"value": given.size.end().value or self._numbers.get(given.size.end(), _FEW_NODES)}
        if given.is_end and not given.is_read:
            return {"value": []}
        if not parts:
            return self._tensor(given, entries)
        if given.way == "item":
            return self._items(given, entries)
        found = {key: self._entry(part, self._of_part(part, key, entries)) for key, part in parts.items()}
        plain = {name: {"value": value} for name, value in given.plain.items()}
        if given.class_:
            unread = {str(key) for key, part in parts.items() if not part.is_read} & fields_with_default(given.class_)
            found = {key: entry for key, entry in found.items() if key not in unread}
            return {"_target_": path_of(given.class_), **found, **plain}
        return {**(OBJECT if given.way == "attribute" else {}), **found, **plain}

    def _items(self, given: Given, entries: list[Any]) -> Any:
        used = given.items()
        items = [self._entry(part, self._of_part(part, key, entries)) for key, part in enumerate(used)]
        if not given.is_list and len(used) == _PAIR and all(map(_is_place, used)) and items[0] == items[1]:
            return Leaf((), (_PAIR, *next(leaves(items[0])).shape), "int64", _FEW_NODES).entry
        return items[: None if len(items) < MOST_ITEMS else given.count or USUAL_ITEMS] or entries[0]

    def _of_part(self, part: Given, key: str | int, entries: list[Any]) -> list[Any]:
        """Entries for a part: those that are inside the entries for the whole, and by its name."""
        inside = [entry[key] for entry in entries if _has(entry, key)]
        return [*inside, self._seed(str(part.path[-1]), part.path)]

    def _tensor(self, given: Given, entries: list[Any]) -> Any:
        is_plain = isinstance(entries[0], dict) and "value" in entries[0]
        if is_plain or not (given.is_used or (given.hint and given.hint.dims)):
            return entries[0]
        shape, kind = given.tensor.known.end(), with_words(given.tensor.kind.with_casts(), given)
        first = next(leaves(entries[0]), Leaf((), ()))
        is_mask = first.dtype == "bool" and not (kind.is_reckoned and not kind.casts)
        dtype = kind.dtype or ("bool" if is_mask else "")  # a mask is one, whatever layers take
        for leaf in [next(leaves(entry), None) for entry in entries]:
            is_alike = leaf is not None and not leaf.path and (not first.low or leaf.low == first.low)
            is_allowed = leaf is not None and self._allows(shape, len(leaf.shape))
            # what counts from a number on stays so
            if leaf is not None and is_alike and is_allowed and _suits(leaf, shape, dtype):
                break
        else:
            least = _least_rank(shape)
            allowed = (rank for rank in range(least, least + _MOST_MORE) if self._allows(shape, rank))
            rank = shape.rank or next(allowed, least)
            leaf = replace(first, shape=(0,) * rank) if first.path == () else Leaf((), (0,) * rank)
        leaf = replace(leaf, path=given.path)
        if shape.rank and any(dim.value > 1 and dim.value not in leaf.shape for dim in shape.dims()[1:]):
            leaf = replace(leaf, shape=self._sizes.open(leaf.shape))  # a layer's sizes aren't where it gets them
        leaf = replace(leaf, shape=self._shape(leaf, shape, is_numbered=not given.is_whole))
        return self._of_kind(leaf, kind).entry

    def _of_kind(self, leaf: Leaf, kind: Any) -> Leaf:
        if kind.is_length:
            return replace(leaf, dtype="int64", low=_LENGTH, high=_LENGTH + 1)
        if kind.dtype == "int64":
            own = 0 if kind.is_place or kind.is_asked else leaf.high
            usual = _FEW_NODES if kind.is_place else 2
            high = min(kind.high, own) if kind.high and own else kind.high or own or (1 if kind.is_asked else usual)
            low = leaf.low if leaf.dtype == "int64" and (leaf.low or 0) < high else None
            return replace(leaf, dtype="int64", high=high, low=low)
        if not kind.dtype and leaf.dtype == "bool" and kind.is_reckoned and not kind.casts:
            return replace(leaf, dtype="float32", high=None, low=None)
        if kind.dtype and kind.dtype != leaf.dtype:
            return replace(leaf, dtype=kind.dtype, high=None, low=None)
        if kind.is_counted and leaf.dtype == "float32" and not kind.dtype:
            self.whole.add(leaf.path)
            return replace(leaf, dtype="int64", high=_FEW_NODES)
        return leaf

    def _shape(self, leaf: Leaf, shape: Shape, *, is_numbered: bool = False) -> tuple[int, ...]:
        """The sizes that were read, equal ones for dimensions that are the same, and others of their own."""
        rank = len(leaf.shape)
        free = rank - len(shape.front) - len(shape.back)
        dims = (*shape.front, *(None,) * free, *shape.back)
        if is_numbered and shape.front and (count := shape.front[0].end()).least >= _PAIR and rank > 1:
            count.value = count.value or count.least  # items of any kind, and no rows of a batch
        return tuple(
            int(self._size(leaf, at, dim.end() if dim else None, size))  # code may have given it one of its own
            for at, (dim, size) in enumerate(zip(dims, leaf.shape, strict=True))
        )

    def _size(self, leaf: Leaf, at: int, dim: Dim | None, size: int) -> int:
        if dim is None:
            return self._sizes.batch if at == 0 else size or self._sizes.new(leaf.path, at)
        is_counted = dim.least >= _PAIR and (at or len(leaf.shape) == 1)
        if not dim.value and is_counted:
            self.cut[leaf.path, at] = dim.least
        own = size if size and not self._sizes.is_own(size) and at else 0
        if is_counted and leaf.shape[:1] == (_PAIR,) and dim.least == _PAIR:
            own = 0  # edges in columns
        if self.is_sure and not is_counted and own in self._sizes.of_layers:
            own = 0  # no layer takes it
        if dim.value or is_counted:
            return dim.value or max(dim.least, own)
        least, times = _least_of(dim)
        if times > 1 and least in self._own and not least.value:
            return self._sizes.product((self._size(leaf, at, least, 0), times))
        if len(parts := factors_of(dim)) > 1:
            first = _PARTS if at else 0  # rows of rows are as many as rows
            return self._sizes.product(
                [self._size(leaf, (i and _PARTS + i) or first, p, 0) for i, p in enumerate(parts)]
            )
        if dim not in self._numbers:
            number = own or (self._sizes.batch if at == 0 and dim not in self._steps else 0) or self._new(leaf, at, dim)
            number = number if at == 0 or own else _at_least(dim.floor, number)
            if dim.step > 1 and at and not own:
                number = self._sizes.multiple(leaf.path, at, dim.step)
            self._numbers[dim] = math.ceil(number / dim.step) * dim.step
        return self._numbers[dim]

    def _new(self, leaf: Leaf, at: int, dim: Dim) -> int:
        """A size that nobody has told."""
        is_side = len(leaf.shape) > 3 and at >= len(leaf.shape) - 2  # noqa: PLR2004
        if self._is_least(dim):
            return self._sizes.new_least(leaf.path, at)
        number = self._sizes.new(leaf.path, at, is_side=is_side)
        if usual := usual_size(dim.called):
            self._sizes.expect(number, usual)
        return number

    def _is_least(self, dim: Dim) -> bool:
        """Whether others are multiples of it, so that it has to be small."""
        return any(each.times and _least_of(each)[0] is dim for each in self._own)


def _at_least(floor: int, number: int) -> int:
    """A multiple that isn't below; of a number that occurs nowhere else, so it is one, too."""
    return number * max(1, math.ceil(floor / number))


def _least_of(dim: Dim) -> tuple[Dim, int]:
    """The side of the map that one was made from, and how many times as large it is."""
    times, seen = 1, {dim}
    while (multiple := dim.times) and (less := multiple[0].end()) not in seen:
        seen.add(less)
        dim, times = less, times * multiple[1]
    return dim, times


def _is_taken_by_number(given: Given) -> bool:
    """Whether code reads several items of an input by number: it may be a list, or one tensor with two rows."""
    shape = given.tensor.known.end()
    return bool(given.is_used and shape.rank != 1 and shape.front and shape.front[0].end().least >= _PAIR)


def _is_dead(given: Given) -> bool:
    """Whether no output can depend on a tensor: at most its shape is asked."""
    is_tensor = given.is_used or not given.parts
    return is_tensor and not given.is_computed


def _is_place(given: Given) -> bool:
    """Whether an input is a row of numbers that choose among the items of another one: an end of each edge."""
    kind = given.tensor.kind.end()
    return given.is_used and kind.dtype == "int64" and not kind.high and given.tensor.known.rank == 1


def _has(entry: Any, key: str | int) -> bool:
    if isinstance(key, int):
        return isinstance(entry, list) and key < len(entry) and not isinstance(entry[0], int)
    return isinstance(entry, dict) and key in entry and not {"shape", "value"} & entry.keys()


def _least_rank(shape: Shape) -> int:
    """As many dimensions as are known, and one for the batch before features."""
    return len(shape.dims()) + (shape.row is not None and not shape.front)


def _suits(leaf: Leaf, shape: Shape, dtype: str) -> bool:
    """Whether an entry has the rank and the dtype that are told; a higher rank only with the same sizes."""
    rank, least = len(leaf.shape), _least_rank(shape)
    if (shape.row is None and rank != least) or rank < least or (dtype and dtype != leaf.dtype):
        return False
    back = leaf.shape[rank - len(shape.back) :] if shape.back else ()
    pairs = [*zip(shape.front, leaf.shape, strict=False), *zip(shape.back, back, strict=True)]
    return rank == least or all(dim.end().value in (0, size) for dim, size in pairs)


def read_forward(
    model: nn.Module,
    known: Mapping[str, Any],
    sizes: Sizes,
    seed: Callable[[str, Path], Any],
    hints: Hints | None = None,
) -> Read | None:
    """Read a forward with symbolic tensors for some of its parameters.

    Args:
        model: A copy: its code runs.
        known: Parameters that are given, with the entries of those that the model makes itself.
        sizes: Gives the sizes that nobody tells.
        seed: Gives a first guess for a part of an input.
        hints: What is said of inputs in words.

    Returns:
        None where nothing could be read.
    """
    read = partial(_best_reading, model, known, sizes)
    best = trusted_reading(hints, read) if hints else read(None)
    return Read(best, sizes, seed) if best.calls or best.is_told() else None


def _best_reading(model: nn.Module, known: Mapping[str, Any], sizes: Sizes, hints: Hints | None) -> Reading:
    """With as many lists, items and meanings as suit each other."""
    earlier = _Earlier(hints=hints)
    first = _read(model, known, sizes, earlier)
    names = names_beside(type(model))
    if classes := classes_read([*_all(first.inputs)], names):
        told = replace(earlier, classes=classes)
        second = _read(model, known, sizes, told)
        first, earlier = (second, told) if second.error is None or first.error else (first, earlier)
    for _ in range(_MOST_LISTS):
        if more := {*list_wanted(first.error)} - earlier.lists:
            earlier = replace(earlier, lists=earlier.lists | more)
            first = _read(model, known, sizes, earlier)
    for _ in range(_MOST_LISTS):
        if loop := loop_too_long(first.error):
            earlier = replace(earlier, told=earlier.told | dict([loop]))
            first = _read(model, known, sizes, earlier)
    first, earlier = _with_lists(first, earlier, lambda other: _read(model, known, sizes, other))
    if alike := {*_alike(first.inputs)}:
        earlier = replace(earlier, listed=earlier.listed | alike)
        first = _read(model, known, sizes, earlier)
    counts = {
        path: len(given.items()) for given in [*_all(first.inputs)] if given.way == "item" for path in [given.path]
    }
    if first.error is not None and any(counts.values()):  # ``zip(…, strict=True)`` wants as many items as there are
        counted = replace(earlier, counts={path: count for path, count in counts.items() if count})
        second = _read(model, known, sizes, counted)
        first, earlier = (second, counted) if second.error is None else (first, earlier)
    return _without_clashes(first, lambda others: _read(model, known, sizes, earlier, others))


def _with_lists(reading: Reading, earlier: _Earlier, again: Callable[[_Earlier], Reading]) -> tuple[Reading, _Earlier]:
    """The same, or one with lists where items of an input are taken by number that are pictures, or of many sizes."""
    of_many = reading.guesses.clashes > 0 or reading.error is not None
    numbered = [
        given
        for given in _all(reading.inputs)
        if _is_numbered(given) and (of_many or len(given.tensor.known.end().dims()) >= _LISTED_RANK)
    ]
    if not numbered:
        return reading, earlier
    # an item that is counted from the end may be one more
    counted = [given for given in numbered if min(given.numbers, default=0) >= 0]
    counts = {given.path: given.tensor.known.end().front[0].end().least for given in counted}
    paths = frozenset(given.path for given in numbered)
    listed = replace(earlier, counts=earlier.counts | counts, listed=paths)
    other = again(listed)
    return (other, listed) if other.error is None and _clashes(other) <= _clashes(reading) else (reading, earlier)


def _alike(inputs: dict[Any, Given]) -> Iterator[Path]:
    """Items of a list that code only takes items of, beside such as it takes apart: ``caches[0][0].shape``."""
    for given in _all(inputs):
        items = [*given.parts.values()] if given.way == "item" else []
        if any(each.way == "item" and not each.is_used for each in items):
            yield from (each.path for each in items if each.is_used and not each.is_whole and not each.is_list)


def _is_numbered(given: Given) -> bool:
    """Whether code only takes several items of an input by their numbers."""
    known = given.tensor.known.end()
    is_several = bool(known.front) and _PAIR <= known.front[0].end().least <= MOST_ITEMS
    return given.is_used and not given.is_whole and not given.is_list and is_several


def _without_clashes(reading: Reading, again: Callable[[frozenset[int]], Reading]) -> Reading:
    """The same, or one that takes other meanings where code has two: so that its uses suit each other."""
    found, waiting, known = [reading], [reading], {reading.guesses.others}
    while waiting and waiting[0].error is None:
        least = waiting.pop(0)
        for others in (least.guesses.others | {suspect} for suspect in least.guesses.suspects):
            if sum(each.calls for each in found) > _MOST_CALLS:
                return reading
            if others not in known:
                known.add(others)
                found.append(again(others))
                if not _clashes(found[-1]):  # one that clashes elsewhere is no better
                    return found[-1]
                waiting = sorted([*waiting, found[-1]], key=_clashes)
    return reading


def _clashes(reading: Reading) -> float:
    return math.inf if reading.error else reading.guesses.clashes


def _settle(given: Given, leaf: Leaf, batch: int) -> None:
    """Give an input the sizes that it is known to have."""
    for key in leaf.path:
        if key not in given.parts:
            return
        given = given.parts[key]
    with contextlib.suppress(ClashError):
        for dim, size in zip(given.tensor.known.of_rank(len(leaf.shape)).dims(), leaf.shape, strict=True):
            if size != batch:
                same(dim, Dim(size))


def _all(inputs: dict[Any, Given]) -> Iterator[Given]:
    for given in inputs.values():
        yield given
        yield from _all(given.parts)


def _read(
    model: nn.Module,
    known: Mapping[str, Any],
    sizes: Sizes,
    earlier: _Earlier | None = None,
    others: frozenset[int] = frozenset(),
) -> Reading:
    earlier = earlier or _Earlier()
    reading = Reading(
        HANDLERS,
        unused=sizes.unused(),
        counts=earlier.counts,
        lists=earlier.lists,
        told=earlier.told,
        listed=earlier.listed,
        classes=earlier.classes,
        guesses=Guesses(others),
        symbols=Symbols(earlier.hints) if earlier.hints else None,
    )
    texts = {name: entry["value"] for name, entry in known.items() if is_text(entry)}
    reading.inputs = {name: reading.given((name,)) for name in known if name not in texts}
    annotations = annotations_of(model.forward)
    for name, parameter in parameters_of(model.forward).items():
        if name in reading.inputs:
            is_list = isinstance(known[name], list) and not isinstance(known[name][0], int)
            reading.inputs[name].is_list |= is_list or bool(_TENSORS.search(str(parameter.annotation)))
            annotate(reading.inputs[name], annotations.get(name))
    is_on_meta = any(parameter.is_meta for parameter in model.parameters())
    mode = contextlib.nullcontext() if is_on_meta else FakeTensorMode(allow_non_fake_inputs=True)
    with seeded(), torch.no_grad(), silenced():
        try:
            with layers_replaced(model, reading), sparse_replaced(), mode, Steps():
                model(**texts, **{name: reading.value(given) for name, given in reading.inputs.items()})
        except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the model raises)
            reading.error = error
    for name, entry in known.items():
        for leaf in leaves(entry):
            _settle(reading.inputs[name], leaf, sizes.batch)
    reading.solve()
    return reading
