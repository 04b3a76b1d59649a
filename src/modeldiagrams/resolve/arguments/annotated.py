"""The kind of an unknown constructor argument that is annotated."""

from __future__ import annotations

import inspect
import re
from enum import Enum
from typing import TYPE_CHECKING, get_origin

import torch
from torch import Tensor, nn

from modeldiagrams.resolve.code.annotations import (
    choices_of,
    is_number_or_several,
    is_own_class,
    item_annotation,
    mapped_annotation,
    without_none,
)
from modeldiagrams.resolve.names.vocabulary import is_listed

if TYPE_CHECKING:
    from modeldiagrams.resolve.arguments.stand_in_numbers import Slot

__all__ = ["read_annotation"]

_ARRAYS = ("<class 'numpy.ndarray'", "numpy.ndarray[", "typing.NDArray", "numpy.typing.")
_LISTS = re.compile(r"(list|tuple|sequence|iterable)\[")


def read_annotation(slot: Slot) -> None:
    """Take the kind that the annotation says."""
    annotation = slot.annotation = without_none(slot.annotation)
    is_mapping, slot.inner = mapped_annotation(annotation)
    if annotation in (torch.device, torch.dtype) or (annotation is None and slot.name == "dtype"):
        _read_device_or_dtype(slot)
    elif is_number_or_several(annotation):
        slot.annotation = int
    elif choices := choices_of(annotation):
        slot.kind, slot.annotation = ("text" if isinstance(choices[0], str) else "number"), None
        slot.one_of, slot.compared = tuple(each for each in choices if type(each) is int), [*choices]
    elif annotation is str or (annotation is None and is_listed("text_names", slot.name)):
        slot.kind = "text"
    elif is_mapping:
        slot.make_mapping(0)
    elif get_origin(annotation) is type:
        slot.kind = "class"
    elif annotation is Tensor or str(annotation).startswith(_ARRAYS):
        slot.kind, slot.is_array = "tensor", annotation is not Tensor
    elif annotation in (list, tuple) or _LISTS.search(str(annotation).lower()):
        slot.kind, slot.inner = "items", item_annotation(annotation)
    elif inspect.isclass(annotation) and (issubclass(annotation, nn.Module | Enum) or is_own_class(annotation)):
        slot.kind = "made"


def _read_device_or_dtype(slot: Slot) -> None:
    """A device, or a type of numbers."""
    if slot.annotation is torch.device:
        slot.kind, slot.stated = "text", "cpu"
    else:
        slot.kind, slot.annotation = "made", torch.dtype
