"""What the dimensions of a model's inputs are called.

By the author, with the option `dims` or the parameters of the function that makes the inputs; or else by an annotation,
a docstring, or convention. Numbers of features stay numbers unless the author names them, because weights fix them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.ir.expressions import NAME, parse_expression
from modeldiagrams.resolve.dimensions.followed_sizes import FollowedSizes, find_followed_sizes, list_numbers_in
from modeldiagrams.resolve.dimensions.stated_dims import Dim, find_annotated_dims, find_documented_dims, name_word
from modeldiagrams.resolve.dimensions.usual_dims import UsualDims, get_last_word, is_mask
from modeldiagrams.resolve.values.locate import suggest_name
from modeldiagrams.tracer.recording.module_calls import argument_names, find_tensor_arguments
from modeldiagrams.tracer.values.traced_callables import unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from modeldiagrams.ir.sizes import NamedBy
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
    names = argument_names(function)
    inputs: dict[str, Tensor] = {}
    for name, tensor in find_tensor_arguments(names, args, kwargs, into_objects=True):
        if not any(tensor is other for other in inputs.values()):
            inputs[name] = tensor
    numbers = dict(list_numbers_in(names[0], args, kwargs))
    namer = _Namer(inputs, UsualDims(model, inputs))
    if dims:
        namer.add_option(dims, numbers)
    if inputs_from:
        namer.add_followed(find_followed_sizes(inputs_from, args, kwargs, function))
    forward = getattr(function, "forward", function)
    namer.add_stated(
        {name: find_annotated_dims(forward, name, tensor.ndim) for name, tensor in inputs.items()}, "annotation"
    )
    shapes = {name: tuple(tensor.shape) for name, tensor in inputs.items()}
    namer.add_stated(find_documented_dims(model, forward, shapes), "docstring")
    namer.add_usual()
    return namer.finish()


class _Namer:
    """Collects names, those that are trusted most first."""

    def __init__(self, inputs: dict[str, Tensor], usual: UsualDims) -> None:
        self._inputs = inputs
        self._usual = {name: usual.find_dims(name) for name in inputs}
        self._sequence_letters = {name: usual.get_sequence_letter(name) for name in inputs}
        self._names = InputNames()
        self._places: dict[str, str] = {}
        """Name of a size → the input or argument in which it was found first."""
        self._others: dict[str, str] = {}
        """Usual name → the name that a size has instead."""
        self._followed: dict[str, dict[int, str]] = {}
        """Input → names of those sizes that follow parameters of the author's function."""

    def add_option(self, dims: Mapping[str, Any], numbers: Mapping[str, int]) -> None:
        """Add what the author wrote."""
        letters = {}
        for key, value in dims.items():
            lists = [name for name in numbers if name.startswith(f"{key}[")]
            if key in self._inputs:
                self._check_rank(key, value)
                self._name_input(key, [size if isinstance(size, int) else Dim(size) for size in value], "author")
            elif key in numbers or (lists and isinstance(value, list)):
                found = value if isinstance(value, list) else [value]
                if len(found) != len(lists or [key]):
                    raise _error(key, f"expected {len(lists)} names, got {len(found)}")
                for name, size in zip(lists or [key], found, strict=True):
                    self._name_number(name, size, numbers[name])
            elif isinstance(value, str) and not NAME.fullmatch(value):
                letters[key] = value
            else:
                known = [*self._inputs, *numbers]
                hint = suggest_name(key, known) or f"; there are: {', '.join(known)}"
                raise _error(key, f"the model gets no tensor or whole number of this name{hint}")
        self._names.letters.update(letters)

    def add_followed(self, followed: FollowedSizes) -> None:
        """Add the parameters of the author's function, whose sizes may have other names in the option `dims`."""
        for parameter, size in followed.parameters.items():
            places = [
                (name, at) for name, dims in followed.dims.items() for at, by in enumerate(dims) if by == parameter
            ]
            written = [self._names.dims[name][at] for name, at in places if name in self._names.dims]
            written += [
                self._names.arguments.get(name, 0) for name, by in followed.arguments.items() if by == parameter
            ]
            name = next((size for size in written if isinstance(size, str)), None)
            if name is None and (name := self._name_parameter(parameter)):
                self._names.sizes[name], self._names.named_by[name], self._places[name] = size, "author", parameter
            if name is None:
                continue
            self._names.parameters[parameter] = name
            for place, at in places:
                self._followed.setdefault(place, {})[at] = name
                if usual := self._usual[place][at] if place in self._usual else None:
                    self._others.setdefault(usual.letter, name)
                    self._names.meanings.setdefault(name, usual.meaning)
        for argument, parameter in followed.arguments.items():
            if parameter in self._names.parameters:
                self._names.arguments.setdefault(argument, self._names.parameters[parameter])

    def _name_parameter(self, parameter: str) -> str | None:
        """The name of a parameter's size: ``B`` for ``batch_size``; None for a number of features."""
        dim = name_word(parameter)
        if dim is None or not NAME.fullmatch(parameter):
            return None
        known = [dim.letter] if isinstance(dim, Dim) and NAME.fullmatch(dim.letter) and len(dim.letter) == 1 else []
        name = next((name for name in [*known, parameter] if name not in self._names.sizes), f"{parameter}′")
        if isinstance(dim, Dim) and dim.meaning:
            self._names.meanings[name] = dim.meaning
        return name

    def add_stated(self, stated: Mapping[str, Dims | None], by: NamedBy) -> None:
        """Add what annotations or docstrings say."""
        for name, dims in stated.items():
            if dims is not None and name in self._inputs and name not in self._names.dims:
                letter = self._sequence_letters[name]
                self._name_input(name, [Dim(letter) if dim == Dim("T") else dim for dim in dims], by)

    def add_usual(self) -> None:
        """Add names by convention; those of masks last, which have the sizes of other inputs."""
        for name in sorted(self._inputs, key=lambda name: is_mask(get_last_word(name))):
            if name not in self._names.dims:
                dims = self._share(name) if is_mask(get_last_word(name)) else self._usual[name]
                self._name_input(name, [*dims], "convention")

    def _share(self, name: str) -> Dims:
        """The usual names of a mask, or the names that sizes of other inputs have if these fit."""
        taken = self._names.sizes
        found: Dims = []
        for dim, size in zip(self._usual[name], self._inputs[name].shape, strict=True):
            fits = dim is None or taken.get(self._others.get(dim.letter, dim.letter)) == size
            others = [other for other in taken if taken[other] == size and self._names.meanings.get(other) != "batch"]
            found.append(dim if fits or not others or (dim and dim.letter == "B") else Dim(others[0]))
        return found

    def finish(self) -> InputNames:
        """All names, in the order of the inputs.

        Raises:
            TargetError: if a letter stands for what is unknown, or for a size as well.
        """
        names = self._names
        dims = {name: names.dims[name] for name in self._inputs}
        used = [size for found in dims.values() for size in found if isinstance(size, str)]
        order = [*dict.fromkeys([*used, *names.arguments.values()])]
        for letter, expression in names.letters.items():
            unknown = sorted(parse_expression(expression).names - {*order})
            if letter in order:
                raise _error(letter, f"it is a size of {self._places[letter]}, and can't stand for {expression}, too")
            if unknown:
                hint = suggest_name(unknown[0], order) or f"; there are: {', '.join(order)}"
                raise _error(letter, f"{expression} has {unknown[0]!r}, which is no size of the inputs{hint}")
        return InputNames(
            dims=dims,
            named_by={name: names.named_by[name] for name in order},
            meanings={name: names.meanings[name] for name in order if name in names.meanings},
            arguments=names.arguments,
            letters=names.letters,
            parameters=names.parameters,
            sizes={name: names.sizes[name] for name in order},
        )

    def _check_rank(self, name: str, value: Any) -> None:
        shape = self._inputs[name].shape
        if isinstance(value, str):
            raise _error(name, f"it is a tensor: expected a list with {len(shape)} names or numbers, got {value!r}")
        if len(value) != len(shape):
            written = ", ".join(map(str, value))
            raise _error(name, f"expected {len(shape)} names or numbers, for {_write(shape)}, got [{written}]")

    def _name_input(self, name: str, dims: list[Dim | int | None], by: NamedBy) -> None:
        found: list[str | int] = []
        shape = self._inputs[name].shape
        meanings = [usual.meaning if usual else "" for usual in self._usual[name]]
        is_own = (
            by != "author" and name.endswith("]") and "batch" not in meanings
        )  # each image of a list has its own size
        for at, (dim, size, meaning) in enumerate(zip(dims, shape, meanings, strict=True)):
            if isinstance(dim, int) and dim != size:
                raise _error(name, f"its size {at + 1} is {size}, not {dim}: it is {_write(shape)}")
            followed = self._followed.get(name, {}).get(at)
            if followed and by != "author":
                found.append(followed)
            elif not isinstance(dim, Dim) or (by != "author" and self._is_constant(dim, size, meaning)):
                found.append(int(size))
            else:
                found.append(self._take(Dim(dim.letter, dim.meaning or meaning), size, by, name, is_own=is_own))
                usual = self._usual[name][at]
                if usual is not None and by != "convention":
                    self._others.setdefault(usual.letter, str(found[-1]))
        self._names.dims[name] = tuple(found)

    def _is_constant(self, dim: Dim, size: int, meaning: str) -> bool:
        """Whether a size is that of a dimension which other tensors are broadcast to."""
        batch = self._names.sizes.get(self._others.get(dim.letter, dim.letter), 1)
        return size == 0 or (size == 1 and (meaning != "batch" or batch != 1))

    def _take(self, dim: Dim, size: int, by: NamedBy, place: str, *, is_own: bool = False) -> str:
        """The name of a size: with a prime if another size has the name, unless the author wrote it."""
        name, known = dim.letter, self._names.sizes
        if by == "convention" and known.get(self._others.get(name, "")) == size:
            name = self._others[name]
        first, before = known.get(name, size), self._places.get(name, place)
        if first != size and by == "author":
            where = f"in {before} and {size} in {place}" if before != place else f"and {size} in {place}"
            raise _error(name, f"it is {first} {where}; give one of them another name")
        while known.get(name, size) != size or (is_own and self._places.get(name, place) != place):
            name += "′"
        if name not in known:
            known[name], self._names.named_by[name], self._places[name] = int(size), by, place
            if dim.meaning:
                self._names.meanings.setdefault(name, dim.meaning)
        return name

    def _name_number(self, argument: str, name: Any, size: int) -> None:
        if isinstance(name, int):
            if name != size:
                raise _error(argument, f"it is {size}, not {name}")
            return
        if not NAME.fullmatch(name):
            raise _error(argument, f"it is the number {size}: expected a name, `T`, got {name!r}")
        self._names.arguments[argument] = self._take(Dim(name), size, "author", argument)


def _error(key: str, problem: str) -> TargetError:
    return TargetError(f"option `dims`, {key}: {problem}")


def _write(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) if math.prod(shape) or shape else "a single number"
