"""Lists the values to try for an unknown argument."""

from __future__ import annotations

import inspect
import re
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from modeldiagrams.resolve.arguments.class_options import (
    list_classes,
    list_modules,
    list_subclasses,
    sounds_like,
)
from modeldiagrams.resolve.code.parameter_annotations import is_own_class
from modeldiagrams.resolve.code.source import get_path
from modeldiagrams.resolve.names.vocabulary import (
    list_numbers,
    list_usual_counts,
    list_usual_items,
    list_usual_values,
    split_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from modeldiagrams.resolve.arguments.argument_stubs import Slot

__all__ = ["explain_slot", "list_options", "write_fields"]

_TENSORS = ([100, 32], [32], [16, 16])
_OF_A_PICTURE = 3
"""Numbers in its shape."""


def list_options(slot: Slot) -> list[Any]:
    """Values to try, as options of a diagram, likeliest first."""
    make: dict[str, Callable[[Slot], list[Any]]] = {
        "number": _numbers,
        "text": _texts,
        "items": _counts,
        "fields": lambda _: [None],
        "class": _classes,
        "made": _made,
        "tensor": _tensors,
    }
    return make[slot.kind](slot)


def _counts(slot: Slot) -> list[Any]:
    """How many items; a shape whose first number layers have as channels is that of a picture."""
    counts = [slot.count] if slot.count else list_usual_counts(slot.name)
    has_channels = 0 in slot.children and "in_channels" in slot.children[0].attributes
    is_picture = has_channels and bool(list_usual_items(slot.name, 0, _OF_A_PICTURE))
    return sorted(counts, key=lambda count: count != _OF_A_PICTURE) if is_picture else counts


def _classes(slot: Slot) -> list[Any]:
    compared = [{"_object_": get_path(each)} for each in slot.compared if inspect.isclass(each)]
    return compared or list_classes(slot.name, slot.call, slot.names, {*map(str, slot.children)})


def _tensors(slot: Slot) -> list[Any]:
    shapes = [[*slot.shape]] if slot.shape else [*list_usual_values("tensors", slot.name), *_TENSORS]
    return [_tensor(slot, shape) for shape in shapes]


def _tensor(slot: Slot, shape: list[int] | dict[str, Any]) -> dict[str, Any]:
    """A tensor or an array of a shape, or the one that a table has."""
    if isinstance(shape, dict):
        return {**shape, "_target_": f"{'numpy' if slot.is_array else 'torch'}.{shape['_target_']}"}
    if slot.is_array:
        return {"_target_": "numpy.ones", "_args_": [shape]}
    return {"_target_": "torch.rand", "_args_": shape}


def write_fields(values: dict[str, Any], ways: set[str]) -> dict[str, Any]:
    """A configuration as an option: a map, a namespace or an object with both kinds of access."""
    if "attribute" not in ways:
        return values
    kind = "argparse.Namespace" if "contains" in ways else "types.SimpleNamespace"
    return {"_target_": "modeldiagrams.resolve.stubs.AttributeDict" if "key" in ways else kind, **values}


def _texts(slot: Slot) -> list[Any]:
    compared = [value for value in slot.compared if isinstance(value, str)]
    place = re.search(r"\[(\d+)\][^\[]*$", slot.path)
    if not compared and place:  # names of several things are not the same
        return [f"{_singular(slot.name)}{place[1]}"]
    owner = slot.path.split(".")[-2:-1]  # of `head.type`
    compared.sort(key=lambda value: not any(sounds_like(name, value) for name in owner))
    if place and compared:  # the items of a list are likely different ones, and of their kind where others say it
        kind = split_words(_singular(slot.name))[-1:]
        compared = [value for value in compared if {*kind} & {*split_words(value)}] or compared
        at = int(place[1]) % len(compared)
        compared = [*compared[at:], *compared[:at]]
    return list(dict.fromkeys([*compared, *list_usual_values("texts", slot.name)]))


def _singular(name: str) -> str:
    return re.sub("ies$", "y", name) if name.endswith("ies") else name.removesuffix("s")


def _numbers(slot: Slot) -> list[Any]:
    if slot.exact is not None:
        return [slot.exact]
    if slot.annotation is bool:
        return [False, True]
    if slot.is_tested and not (slot.attributes or slot.compared or slot.is_in_arithmetic):
        return [0, 1] if slot.annotation is int else [False, True]
    values = list_numbers(slot.name, slot.attributes, is_item="[" in slot.path)
    if slot.place is not None:
        values = [*list_usual_items(slot.name, *slot.place), *values]
    if slot.annotation is float:
        values = [float(v) for v in values if isinstance(v, float)] or [1.0, 0.5]
    if slot.annotation is int:
        whole = [int(v) for v in values if v == int(v)]
        values = whole or list_numbers("", slot.attributes, is_item=False)
    compared = [v for v in slot.compared if isinstance(v, int | float) and not isinstance(v, bool)]
    return [*values, *(v for v in compared if v not in values)]


def _made(slot: Slot) -> list[Any]:
    annotation = slot.annotation
    if annotation is torch.dtype:
        return [{"_object_": "torch.float32"}]
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        members = [each.value for each in annotation if isinstance(each.value, str | int | float)]
        return [{"_target_": get_path(annotation), "_args_": [value]} for value in members]
    if inspect.isclass(annotation) and is_own_class(annotation) and not issubclass(annotation, nn.Module):
        return [{"_target_": get_path(class_)} for class_ in list_subclasses(annotation, slot.names)]
    base = annotation if inspect.isclass(annotation) and issubclass(annotation, nn.Module) else nn.Module
    return list_modules(slot, base)


def explain_slot(slot: Slot) -> str:
    """Why an argument has its value."""
    if slot.attributes:
        return f"layers have it as {', '.join(sorted(slot.attributes))}"
    if slot.why:
        return str(slot.why)
    strings = [value for value in slot.compared if isinstance(value, str)]
    if slot.kind == "text" and strings:
        return f"it is compared with {', '.join(map(repr, strings[:4]))}"
    if slot.annotation is not None:
        return f"it is annotated as {getattr(slot.annotation, '__name__', slot.annotation)}"
    return "a usual value for this name"
