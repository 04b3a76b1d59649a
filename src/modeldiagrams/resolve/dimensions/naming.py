"""What the dimensions of a model's inputs are called.

By the author, with the option `dims` or the parameters of the function that makes the inputs; or else by an annotation,
a docstring, or convention. Numbers of features stay numbers unless the author names them, because weights fix them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.expressions import NAME, parse_expression
from modeldiagrams.resolve.dimensions.followed_sizes import find_followed_sizes, name_leaves
from modeldiagrams.resolve.dimensions.stated_dims import Dim, find_annotated_dims, find_documented_dims, name_word
from modeldiagrams.resolve.dimensions.usual_dims import MEANINGS, UsualDims, is_mask
from modeldiagrams.resolve.values.locate import suggest_name
from modeldiagrams.tracer.recording.module_calls import argument_names, find_tensor_arguments
from modeldiagrams.tracer.values.traced_callables import unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor

    from modeldiagrams.ir.sizes import NamedBy
    from modeldiagrams.resolve.dimensions.followed_sizes import Place
    from modeldiagrams.resolve.dimensions.stated_dims import Dims

__all__ = ["InputNames", "name_inputs"]


@dataclass(frozen=True)
class InputNames:
    """What the sizes of inputs are called."""

    dims: dict[str, tuple[str | int, ...]] = field(default_factory=dict)
    """Name of an input as in its `InputNode` → the name of each size, or a number that stays."""
    named_by: dict[str, NamedBy] = field(default_factory=dict)
    """Name of a size → who named it, in the order of the inputs."""
    meanings: dict[str, str] = field(default_factory=dict)
    """Name of a size → what readers call it: ``batch``, ``height``; those that nothing tells are left out."""
    arguments: dict[str, str] = field(default_factory=dict)
    """Argument that is a whole number, ``num_frames`` or ``size[0]`` → name of its size."""
    letters: dict[str, str] = field(default_factory=dict)
    """Abbreviation of the author → the expression that it stands for."""
    parameters: dict[str, str] = field(default_factory=dict)
    """Parameter of the author's function that makes the inputs → name of its size.

    Other sizes may follow from these, such as T + 1: `dims` has their numbers, but they change, too.
    """
    sizes: dict[str, int] = field(default_factory=dict)
    """Name of a size → the number that it is in these inputs."""


def name_inputs(  # noqa: PLR0913, PLR0917
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dims: dict[str, Any] | None,
    inputs_from: str | None,
    entry: Callable[..., Any] | None = None,
) -> InputNames:
    """Name the sizes of a model's inputs.

    Args:
        model: The model, or a function.
        args: Its positional arguments.
        kwargs: Its other arguments.
        dims: The option of the same name, if it is a map.
        inputs_from: Path of the function that made the arguments, if the author named one.
        entry: What runs in place of the model's forward.

    Raises:
        TargetError: for what the author wrote and what is not so.
    """
    function, args, kwargs = unwrap(entry or model, args, kwargs)
    forward = getattr(function, "forward", function)
    positional = argument_names(function)
    inputs = dict(find_tensor_arguments(positional, args, kwargs, into_objects=True))
    leaves, _ = name_leaves(positional[0], args, kwargs)
    names = _Names(model, inputs, {name: leaf for name, leaf in leaves if type(leaf) is int})
    names.add_option(dims or {})
    if inputs_from:
        names.add_followed(find_followed_sizes(inputs_from, args, kwargs, function))
    said = {name: find_annotated_dims(forward, name, each.ndim) for name, each in inputs.items()}
    names.add_stated(said, "annotation")
    shapes = {name: (*each.shape,) for name, each in inputs.items()}
    names.add_stated(find_documented_dims(model, forward, shapes), "docstring")
    names.add_stated({}, "convention")
    return names.finish()


class _Names:
    """One name for each size of a model's inputs; those that are trusted most are added first."""

    def __init__(self, model: object, inputs: dict[str, Tensor], numbers: Mapping[str, int]) -> None:
        self._inputs, self._numbers = inputs, numbers
        self._conventions = UsualDims(model, inputs)
        self._usual = {name: self._conventions.find_dims(name) for name in inputs}
        self._found = InputNames()
        self._places: dict[str, str] = {}
        """Name of a size → the input, argument or parameter in which it was found first."""
        self._followed: dict[Place, str | None] = {}
        """Where a size follows a parameter of the author's function → its name; None for one like T + 1."""
        self._others: dict[str, str] = {}
        """Usual name → the name that a size has instead."""

    def add_option(self, dims: Mapping[str, Any]) -> None:
        """Name what the option names."""
        for key, value in dims.items():
            items = [name for name in self._numbers if name.startswith(f"{key}[")] or [key]
            if key in self._inputs:
                self._add_input(key, self._read(key, value), "author")
            elif items[0] in self._numbers:
                found = value if isinstance(value, list) else [value]
                if len(found) != len(items):
                    raise _refuse(key, f"expected {len(items)} names, got {len(found)}")
                for name, size in zip(items, found, strict=True):
                    if not isinstance(size, str) or not NAME.fullmatch(size):
                        number = self._numbers[name]
                        raise _refuse(name, f"it is the number {number}: expected a name, `T`, got {size!r}")
                    self._found.arguments[name] = self._take(Dim(size), self._numbers[name], "author", name)
            elif isinstance(value, str) and not NAME.fullmatch(value):
                self._found.letters[key] = value
            else:
                hint = _suggest(key, [*self._inputs, *self._numbers])
                raise _refuse(key, f"the model gets no tensor or whole number of this name{hint}")

    def _read(self, name: str, value: Any) -> list[Dim | int]:
        shape = self._inputs[name].shape
        if isinstance(value, str):
            raise _refuse(name, f"it is a tensor: expected a list with {len(shape)} names or numbers, got {value!r}")
        if len(value) != len(shape):
            written = ", ".join(map(str, value))
            raise _refuse(name, f"expected {len(shape)} names or numbers, for {_write(shape)}, got [{written}]")
        for at, (number, size) in enumerate(zip(value, shape, strict=True), 1):
            if isinstance(number, int) and number != size:
                raise _refuse(name, f"dimension {at} of {_write(shape)} is {size}, not {number}")
        return [Dim(size, (name_word(size) or Dim(size)).meaning) if isinstance(size, str) else size for size in value]

    def add_followed(self, followed: Mapping[Place, str]) -> None:
        """Name the parameters of the author's function, unless the option has a name for the same size."""
        found = self._found
        for parameter in dict.fromkeys(filter(None, followed.values())):
            places = [place for place, by in followed.items() if by == parameter]
            sizes = [self._numbers[name] if at is None else self._inputs[name].shape[at] for name, at in places]
            written = [
                found.arguments.get(name) if at is None else found.dims.get(name, {at: 0})[at] for name, at in places
            ]
            own = next((name for name in written if isinstance(name, str)), None)
            word = name_word(parameter)
            if own is None and word is not None and NAME.fullmatch(parameter):  # features stay numbers
                usual = [dim.meaning for name, at in places if at is not None and (dim := self._usual[name][at])]
                letter = word.letter if word.letter not in {"HW", *found.sizes} else parameter
                dim = Dim(letter, word.meaning or "".join(usual[:1]))
                own = self._take(dim, int(sizes[0]), "author", f"the parameter {parameter}")
            if own is not None:
                found.parameters[parameter] = own
        self._followed = {place: found.parameters.get(by) for place, by in followed.items()}
        for (name, at), own in self._followed.items():
            if at is None and own:
                found.arguments.setdefault(name, own)

    def add_stated(self, stated: Mapping[str, Dims | None], by: NamedBy) -> None:
        """Add what annotations, docstrings or conventions say; that of masks last, which have sizes of other inputs.

        A docstring that names the channels of the first layer is wrong.
        """
        for name in sorted(self._inputs, key=lambda name: (is_mask(name), self._usual[name] == [None])):
            dims = self._share(name) if by == "convention" else stated.get(name)
            channels = self._conventions.find_channels(name) if by == "docstring" else None
            if dims is not None and name not in self._found.dims and (channels is None or not dims[channels]):
                # `sequence_length` is as the kind of input has it
                pairs = zip(dims, self._share(name), strict=True)
                shown = [own if dim == Dim("T") and own and own.letter != "B" else dim for dim, own in pairs]
                self._add_input(name, shown, by)

    def _share(self, name: str) -> Dims:
        """The usual names, and for masks and weights of a batch the names that sizes of other inputs have."""
        found: Dims = []
        sizes = self._found.sizes
        for dim, size in zip(self._usual[name], self._inputs[name].shape, strict=True):
            same = [other for other in sizes if sizes[other] == size]
            batch = [other for other in same if self._found.meanings.get(other) == "batch"]
            others = batch if self._usual[name] == [None] else []
            if is_mask(name) and dim and dim.letter != "B" and self._others.get(dim.letter, dim.letter) not in same:
                others = [other for other in same if other not in batch]
            found.append(Dim(others[0]) if others else dim)
        return found

    def _add_input(self, name: str, dims: Sequence[Dim | int | None], by: NamedBy) -> None:
        """Name the dimensions of an input."""
        usual = self._usual[name]
        meanings = [each.meaning if each else "" for each in usual]
        is_alone = by != "author" and "[" in name and "batch" not in meanings  # an image of a list of images
        agrees = any(
            isinstance(dim, Dim) and other and dim[0] == other[0] for dim, other in zip(dims, usual, strict=True)
        )
        found: list[str | int] = []
        for at, (dim, size, other) in enumerate(zip(dims, map(int, self._inputs[name].shape), usual, strict=True)):
            if by != "author" and (name, at) in self._followed:
                found.append(self._followed[name, at] or size)
            elif not isinstance(dim, Dim) or (by != "author" and self._is_constant(dim, size, meanings[at])):
                found.append(size)
            else:
                same = {each.letter: each.meaning for each in usual if each}.get(dim.letter)
                meaning = dim.meaning or MEANINGS.get(dim.letter) or same or (meanings[at] if agrees else "")
                found.append(self._take(Dim(dim.letter, meaning), size, by, name, is_alone=is_alone))
            if other and by != "convention" and isinstance(found[-1], str):
                self._others.setdefault(other.letter, found[-1])
        self._found.dims[name] = tuple(found)

    def _is_constant(self, dim: Dim, size: int, meaning: str) -> bool:
        """Whether it is the size of a dimension that is broadcast; a batch may be 1 if no other one is larger."""
        batch = self._found.sizes.get(self._others.get(dim.letter, dim.letter), 1)
        return size == 0 or (size == 1 and ("batch" not in (meaning, dim.meaning) or batch != 1))

    def _take(self, dim: Dim, size: int, by: NamedBy, place: str, *, is_alone: bool = False) -> str:
        """The name of a size: with a prime if another size has the name, unless the author wrote it."""
        sizes, name = self._found.sizes, dim.letter
        if by == "convention" and sizes.get(self._others.get(name, "")) == size:
            name = self._others[name]
        first, before = sizes.get(name, size), self._places.get(name, place)
        if first != size and by == "author":
            where = f"in {before} and {size} in {place}" if before != place else f"and {size} in {place}"
            raise _refuse(name, f"it is {first} {where}; give one of them another name")
        while sizes.get(name, size) != size or (is_alone and self._places.get(name, place) != place):
            name += "′"
        if name not in sizes:
            sizes[name], self._found.named_by[name], self._places[name] = size, by, place
        if dim.meaning:
            self._found.meanings.setdefault(name, dim.meaning)
        return name

    def finish(self) -> InputNames:
        """All names, in the order of the inputs.

        Raises:
            TargetError: if a letter stands for what is unknown, or for a size as well.
        """
        found = self._found
        dims = {name: found.dims[name] for name in self._inputs}
        used = [size for sizes in dims.values() for size in sizes if isinstance(size, str)]
        order = [*dict.fromkeys([*used, *found.arguments.values()])]
        for letter, expression in found.letters.items():
            if letter in order:
                raise _refuse(letter, f"it is a size of {self._places[letter]}, and can't stand for {expression}, too")
            for unknown in sorted(parse_expression(expression).names - {*order}):
                hint = _suggest(unknown, order)
                raise _refuse(letter, f"{expression} has {unknown!r}, which is no size of the inputs{hint}")
        kept: dict[str, Any] = {"named_by": found.named_by, "meanings": found.meanings, "sizes": found.sizes}
        ordered = {key: {name: each[name] for name in order if name in each} for key, each in kept.items()}
        return replace(found, dims=dims, **ordered)


def _refuse(key: str, problem: str) -> TargetError:
    return TargetError(f"option `dims`, {key}: {problem}")


def _suggest(name: str, known: list[str]) -> str:
    return suggest_name(name, known) or f"; there are: {', '.join(known)}"


def _write(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) or "a single number"
