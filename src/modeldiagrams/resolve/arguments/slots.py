"""Knowledge about each unknown constructor argument: its kind, its possible values, and its items.

Long because values for every kind of argument are decided in one place.
"""

from __future__ import annotations

import copy
import inspect
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_origin

import torch
from torch import Tensor, nn

from modeldiagrams.resolve.arguments.class_options import HELD_FOR, WITH
from modeldiagrams.resolve.arguments.slot_options import list_options, write_fields
from modeldiagrams.resolve.arguments.stand_ins import (
    Asked,
    Fields,
    Fixed,
    Items,
    slots_of,
    unwrap_numbers,
    wrap_number,
    wrap_text,
)
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
from modeldiagrams.resolve.names.vocabulary import is_a_width, is_listed, says_anything, split_words
from modeldiagrams.resolve.objects import with_attributes
from modeldiagrams.resolve.values.locate import locate
from modeldiagrams.resolve.values.option_values import make_option_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


__all__ = ["Kind", "Slot", "list_likely_values", "note_failed_layer", "note_layers", "set_widths"]

Kind = Literal["number", "text", "items", "fields", "class", "made", "tensor", "result"]
_MANY = 8
"""Keys of a mapping of which only the number is known."""
_CALL = "()"
"""Key of what a call without a string gives."""
_LENGTH = "len()"
"""Key of the length of what is no list."""
_ANSWER = "modeldiagrams.resolve.objects.Answer"


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
    asked: dict[str, None] = field(default_factory=dict)
    """Keys of a configuration that may be missing: ``cfg.get("depth")``."""
    attributes: set[str] = field(default_factory=set)
    """Attributes of layers that hold it."""
    compared: list[Any] = field(default_factory=list)
    """What it was compared with."""
    ways: set[str] = field(default_factory=set)
    """How its fields are read: ``attribute``, ``key``."""
    call: tuple[int, tuple[str, ...]] = (0, ())
    """How it is called."""
    unfit: set[str] = field(default_factory=set)
    """Classes whose constructors want other arguments than it is called with."""
    place: tuple[int, int] | None = None
    """Position in a list, and length of the list."""
    count: int = 0
    """Number of items, where it is known."""
    row: tuple[str, ...] = ()
    """Names of its items, where the code unpacks them into some."""
    divisors: set[int] = field(default_factory=lambda: {1})
    """Numbers that it has to be a multiple of."""
    one_of: tuple[int, ...] = ()
    """Numbers that it may be."""
    is_tuple: bool = False
    is_plain: bool = False
    """Whether it is a number that nothing takes for a list."""
    may_be_none: bool = False
    """Whether the constructor asks if it is None."""
    stated: Any = None
    """What it is, where the call says it that asks for it: ``trial.suggest_int("width", 8, 64)``."""
    is_tested: bool = False
    is_in_arithmetic: bool = False
    is_called_in_forward: bool = False
    needs: dict[str, Slot] = field(default_factory=dict)
    """Of a module: attributes that are read of it."""
    is_of_module: bool = False
    """Whether it is an attribute that is read of a module."""
    width: int = 32
    """Of a module that is made up: how many features it has where nothing else tells."""
    nodes: int = 0
    """Number of nodes of a graph, if another argument states it."""
    inputs: int = 0
    """Number of input features, if another argument states it."""
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
            name = name_item(self, key) if isinstance(key, int) else key
            if isinstance(key, str) and is_listed("general_fields", key):
                owner = self.name if "space" in self.name or "space" not in self.path else f"{self.name}_space"
                name = f"{owner}_{key}"
            made = Slot(path, name, self.names, annotation=annotation, makers=self.makers)
            if key == "shape" and name.endswith("space_shape"):
                made.kind, made.why = "items", "the shape of a space has several sizes"
            made.is_of_module = self.is_of_module
            if isinstance(key, str) and is_listed("mappings", self.name) and not is_listed("counts", self.name):
                made.stated = len(
                    self.children.keys() - {_LENGTH}
                )  # of many tokens, tags or classes, each has a number of its own
            if isinstance(key, int) and key and 0 in self.children and not self.row:
                first = self.children[0]
                made.kind, made.annotation, made.inner, made.is_tuple = (
                    first.kind,
                    first.annotation,
                    first.inner,
                    first.is_tuple,
                )
            self.children[key] = made
        return self.children[key]

    def need(self, name: str) -> Slot:
        """An attribute that is read of a module."""
        if name not in self.needs:
            self.needs[name] = Slot(f"{self.path}.{name}", name, self.names, makers=self.makers, is_of_module=True)
        return self.needs[name]

    def answer(self, args: tuple[Any, ...]) -> Slot:
        """What a call of it gives: for each string that it is called with another value."""
        key = str(args[0]) if args and isinstance(args[0], str) else _CALL
        if key not in self.children:
            given = args[1:2] and (args[1][0] if isinstance(args[1], list | tuple) and args[1] else args[1])
            answer = self.child(key)
            answer.name = "_".join(split_words(self.name)).removeprefix("get_") if key == _CALL else key
            if isinstance(given, str | int | float):
                answer.stated, answer.kind = unwrap_numbers(given), "text" if isinstance(given, str) else "number"
        return self.children[key]

    def length(self) -> Any:
        """The length of an object that has other things, too."""
        made = self.child(_LENGTH)
        made.name, made.stated = "vocab_size", None
        return made.value()

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
            case "result":
                return Asked(self)
        self.given = self._made(option)
        if isinstance(self.given, nn.Module):
            vars(self.given)[HELD_FOR] = self
        return self.given

    def _made(self, option: Any) -> Any:
        needs = {name: need.value() for name, need in self._needed(option).items()}
        parts = {name: slot.value() for name, slot in self._parts(option).items()}
        if needs:
            return with_attributes(make_option_value(option["_args_"][0]), **needs)
        return locate(option["_target_"])(**parts) if parts else make_option_value(option)

    def written(self) -> Any:
        """Its value as an option."""
        option = copy.deepcopy(self.option())  # YAML writes the same list twice as a reference
        match self.kind:
            case "items":
                items = [child.written() for child in self._items()]
                return {"_target_": "builtins.tuple", "_args_": [items]} if self.is_tuple else items
            case "fields":
                if _LENGTH in self.children:
                    known = {str(key): slot.written() for key, slot in self.children.items()}
                    return {"_target_": _ANSWER, "length": known.pop(_LENGTH), **known}
                return write_fields({str(key): slot.written() for key, slot in self.children.items()}, self.ways)
            case "result":
                known = {str(key): slot.written() for key, slot in self.children.items()}
                length = {"length": known.pop(_LENGTH)} if _LENGTH in known else {}
                return {"_target_": _ANSWER, "_args_": [known.get(_CALL, known)], **length}
            case "made":
                parts = {**self._parts(option), **self._needed(option)}
                return {**option, **{name: slot.written() for name, slot in parts.items()}}
        return option

    def _needed(self, option: Any) -> dict[str, Slot]:
        """The attributes that a module which is made up gets."""
        return self.needs if isinstance(option, dict) and option.get("_target_") == WITH else {}

    def _items(self) -> list[Slot]:
        count = int(self.option())
        slots = [self.child(index) for index in range(count)]
        unify_items(slots, is_row=bool(self.row))
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
            option = self.option()
            return [*self._parts(option).values(), *self._needed(option).values()]
        if self.kind == "items":
            return self._items()
        return [*self.children.values()] if self.kind in ("fields", "result") else []

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
        limits = self.is_plain, self.one_of, len(self.divisors)
        own = self.kind, self.is_tuple, self.count, self.call, len(self.compared), self.choice
        made = self.annotation, len(self.needs), self.shape, self.is_array
        inside = len(self.children), sum(len(child.compared) for child in self.children.values())
        return own, limits, made, inside

    def make_mapping(self, count: int = _MANY) -> None:
        """Take it for a mapping, with so many keys."""
        self.kind = "fields"
        self.children = {key: child for key, child in self.children.items() if isinstance(key, str)}
        self.ways.add("key")
        if count:
            self.fill(count)

    def fill(self, count: int = 0) -> None:
        """Give a mapping whose length is asked for some more keys."""
        for index in range(len(self.children), count or (_MANY if is_listed("mappings", self.name) else 2)):
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
        slot.kind, slot.inner = "items", get_item_annotation(annotation)
    elif inspect.isclass(annotation) and (issubclass(annotation, nn.Module | Enum) or is_own_class(annotation)):
        slot.kind = "made"


def _read_device_or_dtype(slot: Slot) -> None:
    """A device, or a type of numbers."""
    if slot.annotation is torch.device:
        slot.kind, slot.stated = "text", "cpu"
    else:
        slot.kind, slot.annotation = "made", torch.dtype


_WIDTH = 32
_MOST_FRAMES = 12


def set_widths(slots: Iterable[Slot], usual: int = _WIDTH, nodes: int = 0, inputs: int = 0) -> None:
    """Share sizes between arguments: modules get the width, graphs the number of nodes, means the number of inputs."""
    slots = [*slots]
    numbers = [(slot.name, option) for slot in slots if slot.kind == "number" and type(option := slot.option()) is int]
    nodes = next((count for name, count in numbers if is_listed("node_counts", name)), nodes)
    inputs = next((count for name, count in numbers if is_listed("input_counts", name)), inputs)
    width = next((width for name, width in numbers if is_a_width(name)), usual)
    for slot in slots:
        slot.width, slot.nodes, slot.inputs = width, nodes, inputs
        set_widths(slot.parts(), width, nodes, inputs)


def unify_items(items: Sequence[Slot], *, is_row: bool) -> None:
    """Give the items of a list the kind of the first item, unless more is known about them."""
    for index, slot in enumerate(items):
        slot.place = (index, len(items))
    for slot in () if is_row else items:
        first = items[0]
        if first.kind == "text" and slot.kind == "number":
            slot.kind = "text"
        if first.kind == "fields" and slot.kind == "number" and not slot.kind_changes:
            slot.kind, slot.ways, slot.why = "fields", {*first.ways}, first.why
        if first.kind == "items" and slot.kind == "number":
            slot.kind, slot.count, slot.row, slot.why = "items", first.count, first.row, first.why
        if first.kind == "made" and slot.kind in ("number", "fields"):
            slot.kind, slot.annotation, slot.why = "made", first.annotation, first.why
        if first.kind == slot.kind == "made":
            slot.needs = first.needs


def list_likely_values(slots: Iterable[Slot]) -> list[Any]:
    """Values of arguments without the multiples that conditions ask for."""
    found = []
    for slot in slots:
        divisors, slot.divisors = slot.divisors, {1}
        found.append(slot.option())
        slot.divisors = divisors
    return found


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


def name_item(slot: Slot, index: int) -> str:
    """Name of an item: the variable it is unpacked into, or else the name of the list."""
    own = slot.row[index] if index < len(slot.row) else ""
    return own if own and (says_anything(own) or not says_anything(slot.name)) else slot.name
