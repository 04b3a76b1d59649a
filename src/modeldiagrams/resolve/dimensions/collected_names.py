"""Collects names of the sizes of inputs, those that are trusted most first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.dimensions.stated_dims import Dim, name_word
from modeldiagrams.resolve.dimensions.usual_dims import MEANINGS, SEQUENCES, UsualDims, is_mask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from modeldiagrams.ir.sizes import NamedBy
    from modeldiagrams.resolve.dimensions.stated_dims import Dims

__all__ = ["CollectedNames", "refuse", "write_shape"]


class CollectedNames:
    """One name for each size of a model's inputs."""

    def __init__(self, model: object, inputs: dict[str, Tensor]) -> None:
        usual = UsualDims(model, inputs)
        self.inputs = inputs
        self.usual = {name: usual.find_dims(name) for name in inputs}
        self.dims: dict[str, tuple[str | int, ...]] = {}
        self.sizes: dict[str, int] = {}
        self.named_by: dict[str, NamedBy] = {}
        self.meanings: dict[str, str] = {}
        self.places: dict[str, str] = {}
        """Name of a size → the input, argument or parameter in which it was found first."""
        self.followed: dict[str, dict[int, str | None]] = {}
        """Input → names of those sizes that follow parameters of the author's function; None for one like T + 1."""
        self._channels = {name: usual.find_channels(name) for name in inputs}
        self._sequence_letters = {name: usual.get_sequence_letter(name) for name in inputs}
        self._others: dict[str, str] = {}
        """Usual name → the name that a size has instead."""

    def add_stated(self, stated: Mapping[str, Dims | None], by: NamedBy) -> None:
        """Add what annotations say, or docstrings; one that names the channels of the first layer is wrong."""
        for name in sorted(stated, key=is_mask):
            dims, at = stated[name], self._channels.get(name) if by == "docstring" else None
            if dims is not None and name not in self.dims and (at is None or not dims[at]):
                usual = self._share(name) if is_mask(name) else self.usual[name]
                self.add_input(name, [self._specify(*pair, name) for pair in zip(dims, usual, strict=True)], by)

    def _specify(self, dim: Dim | None, usual: Dim | None, name: str) -> Dim | None:
        """What is stated in general words, `sequence_length` or E, as the kind of input has it."""
        if usual and (
            (dim is None and usual.letter == "E") or (dim == Dim("T") and (usual.letter in "TSL" or is_mask(name)))
        ):
            return usual
        return Dim(self._sequence_letters[name]) if dim == Dim("T") else dim

    def add_usual(self) -> None:
        """Add names by convention; those of masks last, which have the sizes of other inputs."""
        for name in sorted(self.inputs, key=is_mask):
            if name not in self.dims:
                self.add_input(name, self._share(name) if is_mask(name) else self.usual[name], "convention")

    def _share(self, name: str) -> Dims:
        """The usual names of a mask, or the names that sizes of other inputs have if these fit."""
        found: Dims = []
        for dim, size in zip(self.usual[name], self.inputs[name].shape, strict=True):
            fits = dim is None or dim.letter == "B" or self.sizes.get(self._others.get(dim.letter, dim.letter)) == size
            others = [
                other for other in self.sizes if self.sizes[other] == size and self.meanings.get(other) != "batch"
            ]
            found.append(dim if fits or not others else Dim(others[0]))
        return found

    def add_input(self, name: str, dims: Sequence[Dim | int | None], by: NamedBy) -> None:
        """Name the dimensions of an input."""
        usual, shape = self.usual[name], self.inputs[name].shape
        meanings = [each.meaning if each else "" for each in usual]
        is_alone = by != "author" and "[" in name and "batch" not in meanings  # an image of a list of images
        agrees = _agree(dims, usual)
        found: list[str | int] = []
        for at, (dim, size) in enumerate(zip(dims, shape, strict=True)):
            other = usual[at]
            if isinstance(dim, int) and dim != size:
                raise refuse(name, f"its size {at + 1} is {size}, not {dim}: it is {write_shape(shape)}")
            if by != "author" and at in self.followed.get(name, ()):
                found.append(self.followed[name][at] or int(size))
            elif not isinstance(dim, Dim) or (by != "author" and self._is_constant(dim, int(size), meanings[at])):
                found.append(int(size))
            else:
                same = next((each.meaning for each in usual if each and each.letter == dim.letter), "")
                meaning = dim.meaning or MEANINGS.get(dim.letter) or same or (meanings[at] if agrees else "")
                found.append(self.take(Dim(dim.letter, meaning), int(size), by, name, is_alone=is_alone))
            if agrees and other and by != "convention" and isinstance(found[-1], str):
                self._others.setdefault(other.letter, found[-1])
        self.dims[name] = tuple(found)

    def _is_constant(self, dim: Dim, size: int, meaning: str) -> bool:
        """Whether it is the size of a dimension that is broadcast; a batch may be 1 if no other one is larger."""
        batch = self.sizes.get(self._others.get(dim.letter, dim.letter), 1)
        return size == 0 or (size == 1 and ("batch" not in (meaning, dim.meaning) or batch != 1))

    def take(self, dim: Dim, size: int, by: NamedBy, place: str, *, is_alone: bool = False) -> str:
        """The name of a size: with a prime if another size has the name, unless the author wrote it.

        Args:
            dim: The name, and its meaning.
            size: The number.
            by: Who named it.
            place: Input or argument.
            is_alone: Whether equal sizes of other inputs have another name.

        Raises:
            TargetError: if an author gives two sizes one name.
        """
        name = dim.letter
        if by == "convention" and self.sizes.get(self._others.get(name, "")) == size:
            name = self._others[name]
        first, before = self.sizes.get(name, size), self.places.get(name, place)
        if first != size and by == "author":
            where = f"in {before} and {size} in {place}" if before != place else f"and {size} in {place}"
            raise refuse(name, f"it is {first} {where}; give one of them another name")
        while self.sizes.get(name, size) != size or (is_alone and self.places.get(name, place) != place):
            name += "′"
        if name not in self.sizes:
            self.sizes[name], self.named_by[name], self.places[name] = size, by, place
        if dim.meaning:
            self.meanings.setdefault(name, dim.meaning)
        return name


def _agree(dims: Sequence[Dim | int | None], usual: Dims) -> bool:
    """Whether names are where convention has them: then N is what else stands in its place."""
    words = [name_word(dim.letter) if isinstance(dim, Dim) else None for dim in dims]
    kinds = [_find_kind(word if isinstance(word, Dim) else None) for word in words]
    pairs = [*zip(kinds, map(_find_kind, usual), strict=True)]
    return any(one and one == other for one, other in pairs) and all(one == other for one, other in pairs if one)


def _find_kind(dim: Dim | None) -> str:
    """The letter of a size that is always about the same, and T for all that stands in a row."""
    letter = dim.letter if dim else ""
    return "T" if letter in SEQUENCES else letter if letter in MEANINGS else ""


def refuse(key: str, problem: str) -> TargetError:
    """The error for what an author wrote about an input, an argument or a name."""
    return TargetError(f"option `dims`, {key}: {problem}")


def write_shape(shape: Sequence[int]) -> str:
    """``2×3×224×224``."""
    return "×".join(map(str, shape)) or "a single number"
