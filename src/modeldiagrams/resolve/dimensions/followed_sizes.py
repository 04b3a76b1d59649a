"""Which sizes of inputs follow which parameter of the function that makes them: ``def inputs(B=2, T=16)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from torch.utils import _pytree as pytree

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.values.input_values import call_for_inputs
from modeldiagrams.resolve.values.locate import locate
from modeldiagrams.tracer.recording.module_calls import argument_names, find_tensor_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    Place: TypeAlias = tuple[str, int | None]
    """Input and dimension; None for an argument that is a whole number."""

__all__ = ["find_followed_sizes", "name_leaves"]


def find_followed_sizes(inputs_from: str, args: Any, kwargs: Any, function: Callable[..., Any]) -> dict[Place, str]:
    """Call the author's function once with other values of its parameters, and compare.

    Args:
        inputs_from: Its path.
        args: The positional arguments that it gave for its defaults.
        kwargs: The others.
        function: The model, or what is called in its place.

    Returns:
        Where a size changes → the parameter that it is equal to; empty if it follows in another way, as T + 1.
    """
    defaults = {name: each.default for name, each in get_parameters(locate(inputs_from)).items()}
    defaults = {name: value for name, value in defaults.items() if type(value) is int and value > 0}
    moved: dict[str, int] = {}
    for factor, (name, value) in enumerate(defaults.items(), 2):
        moved[name] = value * factor
        while moved[name] in [*defaults.values(), *list(moved.values())[:-1]]:
            moved[name] += value
    try:
        calls = [(args, kwargs), call_for_inputs(inputs_from), call_for_inputs(inputs_from, moved)] if moved else []
    except TargetError:  # it takes no such sizes
        return {}
    given, before, after = [_list_sizes(argument_names(function), *call) for call in calls] or [{}, {}, {}]
    if given != before or before.keys() != after.keys():
        return {}  # the model is a part of what gets these inputs, or gets other ones at other sizes
    parameters = {(value, moved[name]): name for name, value in reversed(defaults.items())}
    return {at: parameters.get((old, after[at]), "") for at, old in before.items() if old != after[at]}


def _list_sizes(names: Any, args: Any, kwargs: Any) -> dict[Place, int]:
    tensors = find_tensor_arguments(names, args, kwargs, into_objects=True)
    found: dict[Place, int] = {(name, at): size for name, each in tensors for at, size in enumerate(each.shape)}
    return found | {(name, None): leaf for name, leaf in name_leaves(names[0], args, kwargs)[0] if type(leaf) is int}


def name_leaves(positional: tuple[str, ...], args: Any, kwargs: Any) -> tuple[list[tuple[str, Any]], pytree.TreeSpec]:
    """What is in arguments by path, also in containers, ``num_frames``, ``size[0]``; and the containers."""
    leaves, containers = pytree.tree_flatten_with_path((args, kwargs))
    return [(_write_path(path, positional), leaf) for path, leaf in leaves], containers


def _write_path(path: tuple[Any, ...], positional: tuple[str, ...]) -> str:
    is_named, first, *inner = path
    at = getattr(first, "idx", 0)
    unnamed = positional[at] if at < len(positional) else f"args[{at - len(positional)}]"
    keys = (f".{key.key}" if isinstance(key, pytree.MappingKey) else str(key) for key in inner)
    return (str(first.key) if is_named.idx else unnamed) + "".join(keys)
