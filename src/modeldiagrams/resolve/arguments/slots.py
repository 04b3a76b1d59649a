"""Knowledge about each unknown constructor argument: its kind, its possible values, and its items."""

from __future__ import annotations

import copy
import inspect
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_origin

import torch
from torch import Tensor, nn

from modeldiagrams.resolve.arguments.argument_stubs import (
    Fields,
    Fixed,
    Items,
    slots_of,
    wrap_number,
    wrap_text,
)
from modeldiagrams.resolve.arguments.slot_options import list_options, write_fields
from modeldiagrams.resolve.code.parameter_annotations import (
    get_annotations,
    get_choices,
    get_item_annotation,
    get_mapping_annotation,
    is_number_or_several,
    is_own_class,
    strip_optional,
)
from modeldiagrams.resolve.code.running_code import list_tracebacks
from modeldiagrams.resolve.code.source import get_module_globals
from modeldiagrams.resolve.names.conventions import list_required_parameters
from modeldiagrams.resolve.names.vocabulary import is_a_width, is_listed
from modeldiagrams.resolve.values.locate import locate
from modeldiagrams.resolve.values.option_values import make_option_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


__all__ = ["Kind", "Slot", "note_failed_layer", "note_layers", "set_widths"]

Kind = Literal["number", "text", "items", "fields", "class", "made", "tensor", "result"]


@dataclass(eq=False)
class Slot:
    """One unknown argument, or one value inside it."""

    path: str
    """``cfg.model.width``, ``sizes[0]``."""
    name: str
    """The last name in it."""
    names: Mapping[str, Any]
    """The globals of the code that asks for it."""
    kind: Kind = "number"
    annotation: Any = None
    inner: Any = None
    """The annotation of what is inside."""
    makers: tuple[Any, ...] = ()
    """The classes that it is an argument of: none of them is made inside itself."""
    choice: int = 0
    """Which of its options is tried."""
    children: dict[str | int, Slot] = field(default_factory=dict)
    """Keys of a configuration that may be missing: ``cfg.get("depth")``."""
    attributes: set[str] = field(default_factory=set)
    """Attributes of layers that hold it."""
    compared: list[Any] = field(default_factory=list)
    """What it was compared with."""
    ways: set[str] = field(default_factory=set)
    """How its fields are read: ``attribute``, ``key``."""
    call: tuple[int, tuple[str, ...]] = (0, ())
    """How it is called."""
    place: tuple[int, int] | None = None
    """Position in a list, and length of the list."""
    count: int = 0
    """Number of items, where it is known."""
    exact: int | None = None
    """The number that a condition of the constructor asks for."""
    is_tuple: bool = False
    is_plain: bool = False
    """Whether it is a number that nothing takes for a list."""
    is_tested: bool = False
    is_in_arithmetic: bool = False
    is_called_in_forward: bool = False
    width: int = 32
    """Of a module that is made up: how many features it has where nothing else tells."""
    is_array: bool = False
    shape: tuple[int, ...] = ()
    """Of a tensor, where a layer tells."""
    given: Any = None
    """The tensor that the last run got."""
    kind_changes: int = 0
    """How often it turned out to be of another kind."""
    why: str = ""
    """Why it is of its kind."""

    def __post_init__(self) -> None:
        self.read_annotation()

    def read_annotation(self) -> None:
        """Take the kind that the annotation says."""
        read_annotation(self)

    def __deepcopy__(self, memo: Any) -> Slot:
        return self

    # -- what it could be

    def options(self) -> list[Any]:
        """Values to try, as options of a diagram; likeliest first."""
        return list_options(self)

    def option(self) -> Any:
        """The one that is tried now."""
        options = self.options()
        return options[min(self.choice, len(options) - 1)]

    def child(self, key: str | int, annotation: Any = None) -> Slot:
        """A value inside."""
        if key not in self.children:
            annotation = self.inner if annotation is None else annotation
            path = f"{self.path}[{key}]" if isinstance(key, int) else f"{self.path}.{key}"
            name = self.name if isinstance(key, int) else key
            made = Slot(path, name, self.names, annotation=annotation, makers=self.makers)
            if isinstance(key, int) and key and 0 in self.children:
                first = self.children[0]
                made.kind, made.annotation = first.kind, first.annotation
                made.inner, made.is_tuple = first.inner, first.is_tuple
            self.children[key] = made
        return self.children[key]

    # -- its value

    def value(self) -> Any:
        """Its value for a run that watches how it is used."""
        option = self.option()
        match self.kind:
            case "number":
                return wrap_number(option, (self,))
            case "text":
                return wrap_text(str(option), self) if option is not None else None
            case "items":
                made = (Fixed if self.is_tuple else Items)(child.value() for child in self._items())
                made.slot = self
                return made
            case "fields":
                return Fields(self)
        self.given = self._made(option)
        return self.given

    def _made(self, option: Any) -> Any:
        parts = {name: slot.value() for name, slot in self._parts(option).items()}
        return locate(option["_target_"])(**parts) if parts else make_option_value(option)

    def written(self) -> Any:
        """Its value as an option."""
        option = copy.deepcopy(self.option())  # YAML writes the same list twice as a reference
        match self.kind:
            case "items":
                items = [child.written() for child in self._items()]
                return {"_target_": "builtins.tuple", "_args_": [items]} if self.is_tuple else items
            case "fields":
                return write_fields({str(key): slot.written() for key, slot in self.children.items()}, self.ways)
            case "made":
                return {**option, **{name: slot.written() for name, slot in self._parts(option).items()}}
        return option

    def _items(self) -> list[Slot]:
        count = int(self.option())
        slots = [self.child(index) for index in range(count)]
        unify_items(slots)
        return slots

    def _parts(self, option: Any) -> dict[str, Slot]:
        """What making it needs."""
        if self.kind != "made" or not isinstance(option, dict) or "_args_" in option or "_object_" in option:
            return {}
        maker = locate(option["_target_"])
        required = [parameter.name for parameter in list_required_parameters(maker)]
        prefix = "" if self.choice == 0 else f"{self.choice}."
        hints = get_annotations(maker)
        parts = {}
        for name in required:
            slot = self.child(f"{prefix}{name}", hints.get(name))
            slot.name, slot.names = name, get_module_globals(maker)
            slot.makers = (*self.makers, maker)
            parts[name] = slot
        return parts

    def tried(self) -> list[Slot]:
        """It and all that is inside."""
        return [self, *(slot for child in self.parts() for slot in child.tried())]

    def parts(self) -> list[Slot]:
        """What is inside, one level down."""
        if self.kind == "made":
            return [*self._parts(self.option()).values()]
        if self.kind == "items":
            return self._items()
        return [*self.children.values()] if self.kind == "fields" else []

    # -- what is learnt

    def compared_with(self, other: Any) -> None:
        """Note a value that the model's code compares it with."""
        if (
            isinstance(other, str | int | float)
            and type(other) in (str, int, float, bool)
            and other not in self.compared
        ):
            self.compared.append(other)

    def known(self) -> tuple[Any, ...]:
        """All that uses have taught, to tell whether one taught anything."""
        own = self.kind, self.is_tuple, self.is_plain, self.count, self.call, len(self.compared), self.choice
        inside = len(self.children), sum(len(child.compared) for child in self.children.values())
        return own, self.annotation, self.shape, self.is_array, self.exact, inside

    def make_mapping(self, count: int = 2) -> None:
        """Take it for a mapping, with so many keys."""
        self.kind = "fields"
        self.children = {key: child for key, child in self.children.items() if isinstance(key, str)}
        self.ways.add("key")
        if count:
            self.fill(count)

    def fill(self, count: int = 2) -> None:
        """Give a mapping of which no key is known some."""
        for index in range(len(self.children), count):
            self.child(f"item{index}").name = self.name


_ARRAYS = ("<class 'numpy.ndarray'", "numpy.ndarray[", "typing.NDArray", "numpy.typing.")
_LISTS = re.compile(r"(list|tuple|sequence|iterable)\[")


def read_annotation(slot: Slot) -> None:
    """Set the kind that the annotation states."""
    annotation = slot.annotation = strip_optional(slot.annotation)
    is_mapping, slot.inner = get_mapping_annotation(annotation)
    if annotation in (torch.device, torch.dtype) or (annotation is None and slot.name == "dtype"):
        _read_device_or_dtype(slot)
    elif is_number_or_several(annotation):
        slot.annotation = int
    elif choices := get_choices(annotation):
        slot.kind, slot.annotation = ("text" if isinstance(choices[0], str) else "number"), None
        slot.compared = [*choices]
    elif annotation is str or (annotation is None and is_listed("text_names", slot.name)):
        slot.kind = "text"
    elif is_mapping:
        slot.make_mapping(0)
    elif get_origin(annotation) is type:
        slot.kind = "class"
    elif annotation is Tensor or str(annotation).startswith(_ARRAYS):
        slot.kind, slot.is_array = "tensor", annotation is not Tensor
    elif annotation in (list, tuple) or _LISTS.search(str(annotation).lower()):
        slot.kind, slot.inner = "items", get_item_annotation(annotation)
    elif inspect.isclass(annotation) and (issubclass(annotation, nn.Module | Enum) or is_own_class(annotation)):
        slot.kind = "made"


def _read_device_or_dtype(slot: Slot) -> None:
    """A device, or a type of numbers."""
    if slot.annotation is torch.device:
        slot.kind, slot.compared = "text", ["cpu"]
    else:
        slot.kind, slot.annotation = "made", torch.dtype


_WIDTH = 32
_MOST_FRAMES = 12


def set_widths(slots: Iterable[Slot], usual: int = _WIDTH) -> None:
    """Give modules the width that another argument has."""
    slots = [*slots]
    numbers = [(slot.name, option) for slot in slots if slot.kind == "number" and type(option := slot.option()) is int]
    width = next((width for name, width in numbers if is_a_width(name)), usual)
    for slot in slots:
        slot.width = width
        set_widths(slot.parts(), width)


def unify_items(items: Sequence[Slot]) -> None:
    """Give the items of a list the kind of the first item, unless more is known about them."""
    for index, slot in enumerate(items):
        first, slot.place = items[0], (index, len(items))
        if first.kind == "text" and slot.kind == "number":
            slot.kind = "text"
        if first.kind == "fields" and slot.kind == "number" and not slot.kind_changes:
            slot.kind, slot.ways, slot.why = "fields", {*first.ways}, first.why
        if first.kind == "items" and slot.kind == "number":
            slot.kind, slot.count, slot.why = "items", first.count, first.why
        if first.kind == "made" and slot.kind in ("number", "fields"):
            slot.kind, slot.annotation, slot.why = "made", first.annotation, first.why


def note_layers(model: nn.Module) -> None:
    """Record the attributes of PyTorch's layers that hold an argument."""
    for module in model.modules():
        if type(module).__module__.startswith("torch.nn"):
            for attribute, value in vars(module).items():
                for slot in slots_of(value):
                    slot.attributes.add(attribute)


def note_failed_layer(error: BaseException) -> bool:
    """Record the arguments of a layer that could not be made; return whether other values are likelier now."""
    is_other = False
    for frame in [trace.tb_frame for trace in list_tracebacks(error)[:_MOST_FRAMES]]:
        is_layer = str(frame.f_globals.get("__name__")).startswith("torch.nn.modules")
        for name, value in frame.f_locals.items() if is_layer and frame.f_code.co_name == "__init__" else ():
            for slot in slots_of(value):
                before = slot.option()
                slot.attributes.add(name)
                is_other = is_other or slot.option() != before
    return is_other
