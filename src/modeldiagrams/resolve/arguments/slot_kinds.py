"""Derives the kind of an argument from its uses: see `Use`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from torch import nn

from modeldiagrams.resolve.arguments.argument_stubs import Use
from modeldiagrams.resolve.names.vocabulary import is_a_model, is_listed

if TYPE_CHECKING:
    from modeldiagrams.resolve.arguments.argument_stubs import Misuse
    from modeldiagrams.resolve.arguments.slots import Kind, Slot

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
    """Note what a use shows."""
    slot.choice = 0
    match use:
        case Use("members", tuple(names)):
            slot.children = {**slot.children, **{name: slot.child(name) for name in names}}
        case Use("classes", tuple(classes)):
            slot.kind, slot.compared, slot.why = "class", [*classes], "it is compared with classes"
        case Use("instance", tuple(classes)):
            _refine_class(slot, classes)
        case Use("lacks", str(name)) if not slot.is_called_in_forward:
            slot.kind, slot.ways, slot.why = "fields", slot.ways | {"attribute"}, f"its {name} is read"
        case Use("forward", call):
            slot.call = call if isinstance(call, tuple) else (slot.call[0], ())
            slot.kind, slot.is_called_in_forward, slot.why = "made", True, "forward calls it"
        case Use("array"):
            slot.kind, slot.is_array, slot.why = "tensor", True, "an array is expected"
        case Use("shape", tuple(shape)):
            slot.kind, slot.shape, slot.why = "tensor", shape, "a layer has a weight of this shape"
        case Use("equal", int(number)):
            slot.exact = number
        case Use("plain"):
            slot.is_plain = True
        case _:
            _refine_kind(slot, use)


def _refine_class(slot: Slot, classes: tuple[type, ...]) -> None:
    """The first of several classes that something can be made of."""
    known = [each for each in classes if each.__module__ == "builtins"]
    slot.annotation = next((each for each in classes if issubclass(each, nn.Module)), (known or [classes[0]])[0])
    slot.kind, slot.is_tuple = "number", slot.annotation is tuple
    slot.why = f"it has to be a {slot.annotation.__name__}"
    slot.read_annotation()


def _refine_attribute(slot: Slot, name: str) -> None:
    slot.kind, slot.why = _kind_with(slot, name), f"its {name} is read"
    slot.ways |= {"attribute"} if slot.kind == "fields" and name not in _MAPPING_METHODS else set()
    if slot.kind == "fields":  # and no list any more
        slot.children = {key: child for key, child in slot.children.items() if isinstance(key, str)}


def _refine_kind(slot: Slot, use: Use) -> None:
    match use:
        case Use("attribute", str(name)):
            _refine_attribute(slot, name)
        case Use("key" | "mapping", name):
            _refine_mapping(slot, name)
        case Use("length"):
            slot.kind, slot.why = "items", "its length is asked for"
            if is_listed("mappings", slot.name):
                slot.make_mapping()
        case Use("items", count):
            slot.kind, slot.why = "items", "its items are used"
            slot.count = count if isinstance(count, int) and count <= _MOST_ITEMS else slot.count
        case Use("text", str(option)):
            slot.kind, slot.why = "text", f"it is compared with {option!r}" if option else "text is expected"
            slot.compared_with(option or None)
        case Use("called", (int() as count, tuple() as names)):
            slot.kind, slot.call = "class", (count, names)
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


def _kind_with(slot: Slot, name: str) -> Kind:
    """What something of its name is, of which this is read."""
    if is_listed("configurations", slot.name) and name not in _MAPPING_METHODS:
        return "fields"
    kinds: tuple[Kind, ...] = ("text", "items", "tensor")
    for kind, table in zip(kinds, ("text_methods", "list_methods", "tensor_methods"), strict=True):
        if is_listed(table, name):
            return kind
    if name in _MAPPING_METHODS:  # before what its name says: a backbone may be a configuration of one
        slot.make_mapping(0 if name == "get" else 2)
        return "fields"
    is_model = is_listed("module_attributes", name) or (is_a_model(slot.name) and not slot.path.count("."))
    return "made" if is_model else "fields"
