"""Which sizes of inputs follow which parameter of the function that makes them: ``def inputs(B=2, T=16)``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.values.input_values import call_for_inputs
from modeldiagrams.resolve.values.locate import locate
from modeldiagrams.tracer.recording.module_calls import argument_names, find_tensor_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FollowedSizes", "find_followed_sizes", "list_numbers_in"]


@dataclass(frozen=True)
class FollowedSizes:
    """What changes with the parameters of a function that makes inputs."""

    parameters: dict[str, int] = field(default_factory=dict)
    """Those that some size follows → their defaults."""
    dims: dict[str, list[str | None]] = field(default_factory=dict)
    """Input → for each dimension, the parameter that it is equal to; empty if it follows in another way, as T + 1."""
    arguments: dict[str, str] = field(default_factory=dict)
    """Argument that is a whole number → the parameter that it is equal to."""


def find_followed_sizes(inputs_from: str, args: Any, kwargs: Any, function: Callable[..., Any]) -> FollowedSizes:
    """Call the author's function once with other values of its parameters, and compare.

    Args:
        inputs_from: Its path.
        args: The positional arguments that it gave for its defaults.
        kwargs: The others.
        function: The model, or what is called in its place.
    """
    defaults = {
        name: parameter.default
        for name, parameter in get_parameters(locate(inputs_from)).items()
        if type(parameter.default) is int and parameter.default > 0
    }
    if not defaults:
        return FollowedSizes()
    moved: dict[str, int] = {}
    for factor, (name, value) in enumerate(defaults.items(), 2):
        moved[name] = value * factor
        while moved[name] in [*defaults.values(), *list(moved.values())[:-1]]:
            moved[name] += value
    try:
        own, others = call_for_inputs(inputs_from), call_for_inputs(inputs_from, moved)
    except TargetError:  # it takes no such sizes
        return FollowedSizes()
    names = argument_names(function)
    given, before, after = (
        dict(find_tensor_arguments(names, *each, into_objects=True)) for each in ((args, kwargs), own, others)
    )
    shapes = [[(name, *tensor.shape) for name, tensor in found.items()] for found in (given, before)]
    ranks = [[(name, tensor.ndim) for name, tensor in found.items()] for found in (before, after)]
    if shapes[0] != shapes[1] or ranks[0] != ranks[1]:
        return FollowedSizes()  # the model is a part of what gets these inputs, or gets other ones at other sizes

    def follow(old: int, new: int) -> str | None:
        equal = (name for name, value in defaults.items() if (value, moved[name]) == (old, new))
        return None if old == new else next(equal, "")

    dims = {
        name: [follow(*sizes) for sizes in zip(before[name].shape, after[name].shape, strict=True)] for name in before
    }
    numbers = dict(list_numbers_in(names[0], *others))
    arguments = {
        name: found
        for name, old in list_numbers_in(names[0], args, kwargs)
        if (found := follow(old, numbers.get(name, 0)))
    }
    used = {*arguments.values()}.union(*dims.values())
    return FollowedSizes({name: value for name, value in defaults.items() if name in used}, dims, arguments)


def list_numbers_in(positional: tuple[str, ...], args: Any, kwargs: Any) -> Iterator[tuple[str, int]]:
    """The whole numbers among arguments, also in lists, tuples and dicts: ``num_frames``, ``size[0]``."""
    named = [
        (positional[i] if i < len(positional) else f"args[{i - len(positional)}]", arg) for i, arg in enumerate(args)
    ]
    for name, value in (*named, *kwargs.items()):
        yield from _list_numbers(name, value)


def _list_numbers(name: str, value: Any) -> Iterator[tuple[str, int]]:
    if type(value) is int:
        yield name, value
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from _list_numbers(f"{name}[{i}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _list_numbers(f"{name}.{key}", item)
