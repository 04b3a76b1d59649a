"""Which sizes of inputs follow which parameter of the function that makes them: ``def inputs(B=2, T=16)``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch.utils import _pytree as pytree

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.values.input_values import call_for_inputs
from modeldiagrams.resolve.values.locate import locate
from modeldiagrams.tracer.recording.module_calls import argument_names, find_tensor_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FollowedSizes", "find_followed_sizes", "name_leaves"]


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
    numbers = dict(name_leaves(names[0], *others)[0])
    arguments = {
        name: found
        for name, old in name_leaves(names[0], args, kwargs)[0]
        if type(old) is int and (found := follow(old, numbers.get(name, 0)))
    }
    used = {*arguments.values()}.union(*dims.values())
    return FollowedSizes({name: value for name, value in defaults.items() if name in used}, dims, arguments)


def name_leaves(positional: tuple[str, ...], args: Any, kwargs: Any) -> tuple[list[tuple[str, Any]], pytree.TreeSpec]:
    """What is in arguments, by path, also in lists, tuples and dicts: ``num_frames``, ``size[0]``; and the containers.

    Args:
        positional: Names of the positional arguments.
        args: These arguments.
        kwargs: The others.
    """
    leaves, containers = pytree.tree_flatten_with_path((args, kwargs))
    return [(_write_path(path, positional), leaf) for path, leaf in leaves], containers


def _write_path(path: tuple[Any, ...], positional: tuple[str, ...]) -> str:
    is_named, first, *inner = path
    at = getattr(first, "idx", 0)
    unnamed = positional[at] if at < len(positional) else f"args[{at - len(positional)}]"
    keys = (f".{key.key}" if isinstance(key, pytree.MappingKey) else str(key) for key in inner)
    return (str(first.key) if is_named.idx else unnamed) + "".join(keys)
