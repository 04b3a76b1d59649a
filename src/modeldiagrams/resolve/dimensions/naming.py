"""What the dimensions of a model's inputs are called.

By the author, with the option `dims` or the parameters of the function that makes the inputs; or else by an annotation,
a docstring, or convention. Numbers of features stay numbers unless the author names them, because weights fix them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldiagrams.ir.expressions import NAME, parse_expression
from modeldiagrams.resolve.dimensions.collected_names import CollectedNames, refuse, write_shape
from modeldiagrams.resolve.dimensions.followed_sizes import find_followed_sizes, name_leaves
from modeldiagrams.resolve.dimensions.stated_dims import Dim, find_annotated_dims, find_documented_dims, name_word
from modeldiagrams.resolve.values.locate import suggest_name
from modeldiagrams.tracer.recording.module_calls import argument_names, find_tensor_arguments
from modeldiagrams.tracer.values.traced_callables import unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from modeldiagrams.ir.sizes import NamedBy
    from modeldiagrams.resolve.dimensions.followed_sizes import FollowedSizes

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
    inputs: dict[str, Tensor] = {}
    for name, tensor in find_tensor_arguments(positional, args, kwargs, into_objects=True):
        if not any(tensor is other for other in inputs.values()):
            inputs[name] = tensor
    names = CollectedNames(model, inputs)
    leaves, _ = name_leaves(positional[0], args, kwargs)
    option = _Option(names, {name: leaf for name, leaf in leaves if type(leaf) is int})
    option.add(dims or {})
    if inputs_from:
        option.add_followed(find_followed_sizes(inputs_from, args, kwargs, function))
    names.add_stated(
        {name: find_annotated_dims(forward, name, each.ndim) for name, each in inputs.items()}, "annotation"
    )
    names.add_stated(
        find_documented_dims(model, forward, {n: tuple(each.shape) for n, each in inputs.items()}), "docstring"
    )
    names.add_usual()
    return option.finish()


class _Option:
    """What the author wrote: the option `dims`, and the function that makes the inputs."""

    def __init__(self, names: CollectedNames, numbers: Mapping[str, int]) -> None:
        self._names, self._numbers = names, numbers
        self._arguments: dict[str, str] = {}
        self._letters: dict[str, str] = {}
        self._parameters: dict[str, str] = {}

    def add(self, dims: Mapping[str, Any]) -> None:
        """Name what the option names."""
        for key, value in dims.items():
            items = [name for name in self._numbers if name.startswith(f"{key}[")] or [key]
            if key in self._names.inputs:
                self._names.add_input(key, self._read(key, value), "author")
            elif items[0] in self._numbers:
                found = value if isinstance(value, list) else [value]
                if len(found) != len(items):
                    raise refuse(key, f"expected {len(items)} names, got {len(found)}")
                for name, size in zip(items, found, strict=True):
                    self._add_number(name, size)
            elif isinstance(value, str) and not NAME.fullmatch(value):
                self._letters[key] = value
            else:
                known = [*self._names.inputs, *self._numbers]
                hint = suggest_name(key, known) or f"; there are: {', '.join(known)}"
                raise refuse(key, f"the model gets no tensor or whole number of this name{hint}")

    def _read(self, name: str, value: Any) -> list[Dim | int]:
        shape = self._names.inputs[name].shape
        if isinstance(value, str):
            raise refuse(name, f"it is a tensor: expected a list with {len(shape)} names or numbers, got {value!r}")
        if len(value) != len(shape):
            written = ", ".join(map(str, value))
            raise refuse(name, f"expected {len(shape)} names or numbers, for {write_shape(shape)}, got [{written}]")
        words = [name_word(size) if isinstance(size, str) else None for size in value]
        meanings = [word.meaning if isinstance(word, Dim) else "" for word in words]
        return [Dim(size, said) if isinstance(size, str) else size for size, said in zip(value, meanings, strict=True)]

    def _add_number(self, argument: str, name: Any) -> None:
        size = self._numbers[argument]
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise refuse(argument, f"it is the number {size}: expected a name, `T`, got {name!r}")
        self._arguments[argument] = self._names.take(Dim(name), size, "author", argument)

    def add_followed(self, followed: FollowedSizes) -> None:
        """Name the parameters of the author's function, unless the option has a name for the same size."""
        for parameter, size in followed.parameters.items():
            places = [
                (name, at) for name, dims in followed.dims.items() for at, by in enumerate(dims) if by == parameter
            ]
            written = [self._names.dims[name][at] for name, at in places if name in self._names.dims]
            written += [self._arguments.get(name, 0) for name, by in followed.arguments.items() if by == parameter]
            own = next((name for name in written if isinstance(name, str)), None)
            word = name_word(parameter)
            if own is None and word is not None and NAME.fullmatch(parameter):  # features stay numbers
                dim = word if isinstance(word, Dim) and len(word.letter) == 1 else Dim(parameter)
                usual = next((self._names.usual[name][at] for name, at in places if name in self._names.usual), None)
                dim = Dim(parameter if dim.letter in self._names.sizes else dim.letter, dim.meaning or _say(usual))
                own = self._names.take(dim, size, "author", f"the parameter {parameter}")
            if own is not None:
                self._parameters[parameter] = own
        for name, dims in followed.dims.items():
            self._names.followed[name] = {at: self._parameters.get(by) for at, by in enumerate(dims) if by is not None}
        for argument, parameter in followed.arguments.items():
            if parameter in self._parameters:
                self._arguments.setdefault(argument, self._parameters[parameter])

    def finish(self) -> InputNames:
        """All names, in the order of the inputs.

        Raises:
            TargetError: if a letter stands for what is unknown, or for a size as well.
        """
        names = self._names
        dims = {name: names.dims[name] for name in names.inputs}
        used = [size for found in dims.values() for size in found if isinstance(size, str)]
        order = [*dict.fromkeys([*used, *self._arguments.values()])]
        for letter, expression in self._letters.items():
            unknown = sorted(parse_expression(expression).names - {*order})
            if letter in order:
                raise refuse(letter, f"it is a size of {names.places[letter]}, and can't stand for {expression}, too")
            if unknown:
                hint = suggest_name(unknown[0], order) or f"; there are: {', '.join(order)}"
                raise refuse(letter, f"{expression} has {unknown[0]!r}, which is no size of the inputs{hint}")
        return InputNames(
            dims=dims,
            named_by={name: names.named_by[name] for name in order},
            meanings={name: names.meanings[name] for name in order if name in names.meanings},
            arguments=self._arguments,
            letters=self._letters,
            parameters=self._parameters,
            sizes={name: names.sizes[name] for name in order},
        )


def _say(usual: Dim | None) -> str:
    return usual.meaning if usual else ""
