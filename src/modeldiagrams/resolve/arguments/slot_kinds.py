"""Derives the kind of an argument from its uses: see `Use`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from torch import Tensor, nn

from modeldiagrams.resolve.arguments.class_options import is_read_as_one_of
from modeldiagrams.resolve.arguments.stand_ins import Use
from modeldiagrams.resolve.names.vocabulary import is_a_model, is_asked, is_listed

if TYPE_CHECKING:
    from modeldiagrams.resolve.arguments.slots import Kind, Slot
    from modeldiagrams.resolve.arguments.stand_ins import Misuse

__all__ = ["refine_kind"]

_MOST_ITEMS = 64
_MOST_KIND_CHANGES = 8
"""Of kind: what is used as two of them suits no run."""
_MAPPING_METHODS = ("items", "keys", "values", "get")


def refine_kind(refused: Misuse) -> bool:
    """Change the kind of an argument to suit a use; return whether anything changed."""
    slot = cast("Slot", refused.slot)
    before, kind = slot.known(), slot.kind
    _refine(slot, refused.use)
    slot.kind_changes += slot.kind != kind
    return bool(before != slot.known() and slot.kind_changes <= _MOST_KIND_CHANGES)


def _refine(slot: Slot, use: Use) -> None:
    """Note what a use shows: another kind, or conditions."""
    slot.choice = 0
    match use:
        case Use("multiple" | "one of"):
            _refine_number(slot, use)
        case Use("members" | "classes" | "instance"):
            _refine_condition(slot, use)
        case Use("lacks", str(name)):
            _refine_lacking(slot, name)
        case Use("forward", call):
            _refine_module(slot, call if isinstance(call, tuple) else (slot.call[0], ()))
        case Use("asked"):
            slot.kind, slot.why, slot.children = "result", "it is asked for what belongs to a string", {}
        case Use("array"):
            slot.kind, slot.is_array, slot.why = "tensor", True, "an array is expected"
        case Use("shape", tuple(shape)):
            slot.kind, slot.shape, slot.why = "tensor", shape, "a layer has a weight of this shape"
        case Use("plain"):
            slot.is_plain = True
        case _:
            _refine_kind(slot, use)


def _refine_number(slot: Slot, use: Use) -> None:
    match use:
        case Use("multiple", int(step)):
            slot.divisors.add(step)
        case Use("one of", tuple(numbers)):
            slot.one_of = numbers


def _refine_condition(slot: Slot, use: Use) -> None:
    """What a call or a condition asks for."""
    match use:
        case Use("members", tuple(names)):
            slot.children = {**slot.children, **{name: slot.child(name) for name in names}}
        case Use("classes", tuple(classes)):
            slot.kind, slot.compared, slot.why = "class", [*classes], "it is compared with classes"
        case Use("instance", tuple(classes)):
            _refine_class(slot, classes)


def _refine_class(slot: Slot, classes: tuple[type, ...]) -> None:
    """The first of several classes that something can be made of."""
    known = [each for each in classes if each.__module__ == "builtins"]
    slot.annotation = next((each for each in classes if issubclass(each, nn.Module)), (known or [classes[0]])[0])
    slot.kind, slot.is_tuple = "number", slot.annotation is tuple
    slot.why = f"it has to be a {slot.annotation.__name__}"
    slot.read_annotation()


def _refine_module(slot: Slot, call: tuple[int, tuple[str, ...]]) -> None:
    """A module that forward calls; what was read of it are attributes."""
    if slot.kind == "fields":
        slot.needs, slot.children = {str(name): need for name, need in slot.children.items()}, {}
        for need in slot.needs.values():
            need.is_of_module = True
    slot.kind, slot.is_called_in_forward, slot.why, slot.call = "made", True, "forward calls it", call


def _refine_lacking(slot: Slot, name: str) -> None:
    """A module, a tensor, or an object that has what is read."""
    slot.why = f"its {name} is read"
    if slot.kind == "made" and (slot.is_called_in_forward or is_a_model(slot.name)):
        slot.need(name)
    else:
        slot.kind, slot.ways = "fields", slot.ways | {"attribute"}


def _refine_method(slot: Slot, name: str) -> None:
    """It has a method: a tensor, a module, or an object that is asked for something."""
    is_of_tensor = callable(getattr(Tensor, name, None)) and not hasattr(nn.Module, name)
    is_else = any(is_listed(table, name) for table in ("text_methods", "list_methods")) or name in _MAPPING_METHODS
    if is_of_tensor and not (is_else or is_a_model(slot.name) or is_listed("configurations", slot.name)):
        slot.kind, slot.why = "tensor", f"its method {name} is called"
        return
    _refine_kind(slot, Use("attribute", name))
    if slot.kind == "fields" and name not in _MAPPING_METHODS and is_asked(slot.name, name):
        slot.child(name).kind = "result"


def _refine_attribute(slot: Slot, name: str) -> None:
    slot.kind, slot.why = _kind_with(slot, name), f"its {name} is read"
    slot.ways |= {"attribute"} if slot.kind == "fields" and name not in _MAPPING_METHODS else set()
    if slot.kind == "fields":  # and no list any more
        slot.children = {key: child for key, child in slot.children.items() if isinstance(key, str)}


def _refine_kind(slot: Slot, use: Use) -> None:
    match use:
        case Use("attribute", str(name)):
            _refine_attribute(slot, name)
        case Use("method", str(name)):
            _refine_method(slot, name)
        case Use("key" | "mapping", name):
            _refine_mapping(slot, name)
        case Use("length"):
            slot.kind, slot.why, slot.count = "items", "its length is asked for", slot.count
            if is_listed("mappings", slot.name):
                slot.make_mapping()
        case Use("items" | "row", detail):
            _refine_items(slot, detail)
        case Use("text", str(option)):
            slot.kind, slot.why = "text", f"it is compared with {option!r}" if option else "text is expected"
            slot.compared_with(option or None)
        case Use("called", (int() as count, tuple() as names)):
            is_done = slot.is_of_module and is_listed("done_by_methods", slot.name)
            slot.kind, slot.call = "result" if is_done else "class", (count, names)
            slot.why = f"it is called with {count + len(names)} argument{'s' * (count + len(names) != 1)}"
        case Use("number"):
            slot.kind, slot.why = "number", "a number is expected"


def _refine_mapping(slot: Slot, name: Any) -> None:
    """A mapping: of one whose keys were gone through, ``{key: len(kinds[key]) for key in kinds}``, there are some."""
    if slot.kind == "items" and name in [each.option() for each in slot.children.values()]:
        slot.make_mapping(2)
        slot.why = "its items are its keys"
    else:
        slot.make_mapping(0)
        slot.why = f"its {name!r} is read" if name else "it is copied as a mapping, or spread into a call"


def _refine_items(slot: Slot, detail: Any) -> None:
    """A list: so many items, or a row of some that have names."""
    slot.kind, slot.why = "items", "its items are used"
    slot.row = detail if isinstance(detail, tuple) else slot.row
    count = len(detail) if isinstance(detail, tuple) else detail
    slot.count = count if isinstance(count, int) and count <= _MOST_ITEMS else slot.count


def _kind_with(slot: Slot, name: str) -> Kind:
    """What something of its name is, of which this is read."""
    is_space = "space" in slot.path and is_listed("general_fields", name)
    if (is_space or is_listed("configurations", slot.name)) and name not in _MAPPING_METHODS:
        return "fields"
    kinds: tuple[Kind, ...] = ("text", "items", "tensor")
    for kind, table in zip(kinds, ("text_methods", "list_methods", "tensor_methods"), strict=True):
        if is_listed(table, name):
            return kind
    if name in _MAPPING_METHODS:  # before what its name says: a backbone may be a configuration of one
        slot.make_mapping(0 if name == "get" else 2)
        return "fields"
    is_model = is_listed("module_attributes", name) or (is_a_model(slot.name) and not slot.path.count("."))
    return "made" if is_model or is_read_as_one_of(slot.name, slot.names, slot.makers) else "fields"
