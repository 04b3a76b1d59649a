"""What unknown constructor arguments tell of those beside them, and layers of those that they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.distributions import Distribution

from modeldiagrams.resolve.arguments.stand_in_numbers import slots_of
from modeldiagrams.resolve.code.frames import tracebacks
from modeldiagrams.resolve.names.vocabulary import is_a_width, is_listed, says_anything, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import nn

    from modeldiagrams.resolve.arguments.stand_in_numbers import Slot

__all__ = [
    "item_name",
    "likeliest",
    "make_items_alike",
    "make_lists_alike",
    "read_failed_layer",
    "read_layers",
    "tell_widths",
]

_WIDTH = 32
_MOST_FRAMES = 12


def tell_widths(slots: Iterable[Slot], usual: int = _WIDTH, nodes: int = 0, inputs: int = 0) -> None:
    """Tell arguments what those beside them count: modules that are made up widths, graphs nodes, means inputs."""
    slots = [*slots]
    numbers = [(slot.name, option) for slot in slots if slot.kind == "number" and type(option := slot.option()) is int]
    nodes = next((count for name, count in numbers if is_listed("node_counts", name)), nodes)
    inputs = next((count for name, count in numbers if is_listed("input_counts", name)), inputs)
    width = next((width for name, width in numbers if is_a_width(name)), usual)
    inside = [part for slot in slots for part in slot.tried() if part.kind == "number" and is_a_width(part.name)]
    of_parts = next((option for part in inside if type(option := part.option()) is int), width)
    for slot in slots:
        is_of_rows = slot.annotation is Distribution  # of what the parts beside it make
        slot.width, slot.nodes, slot.inputs = of_parts if is_of_rows else width, nodes, inputs
        tell_widths(slot.parts(), width, nodes, inputs)


def make_lists_alike(slots: Sequence[Slot]) -> None:
    """Lists of the same thing have items of the same class: ``linear_columns`` and ``deep_columns``."""
    lists = [slot for slot in slots if slot.kind == "items" and 0 in slot.children]
    for known in lists:
        first = known.children[0]
        for other in lists if first.kind == "made" else ():
            item = other.children[0]
            if words_of(known.name)[-1:] == words_of(other.name)[-1:] and item.kind in ("number", "fields"):
                item.kind, item.annotation, item.why = "made", first.annotation, first.why


def make_items_alike(items: Sequence[Slot], *, is_row: bool) -> None:
    """The items of a list are of the kind of the first one, as long as nothing else is known of them; not in a row."""
    for index, slot in enumerate(items):
        slot.place = (index, len(items))
    for slot in () if is_row else items:
        first = items[0]
        if first.kind == "text" and slot.kind == "number" and not _is_a_choice_in_a_row(first):
            slot.kind = "text"
        if first.kind == "fields" and slot.kind == "number" and not slot.kind_changes:
            slot.kind, slot.ways, slot.why = "fields", {*first.ways}, first.why
        if first.kind == "items" and slot.kind == "number":
            slot.kind, slot.count, slot.row, slot.why = "items", first.count, first.row, first.why
        if first.kind == slot.kind == "items" and slot is not first:
            _make_rows_alike(first, slot)
        if first.kind == "made" and slot.kind in ("number", "fields"):
            slot.kind, slot.annotation, slot.why = "made", first.annotation, first.why
        if first.kind == slot.kind == "made":
            slot.needs = first.needs


def likeliest(slots: Iterable[Slot]) -> list[Any]:
    """Values that arguments would have if no multiples were asked for."""
    found = []
    for slot in slots:
        divisors, slot.divisors = slot.divisors, {1}
        found.append(slot.option())
        slot.divisors = divisors
    return found


def read_layers(model: nn.Module) -> None:
    """Note which attributes of PyTorch's layers hold which argument."""
    for module in model.modules():
        if type(module).__module__.startswith("torch.nn"):
            for attribute, value in vars(module).items():
                for slot in slots_of(value):
                    slot.attributes.add(attribute)


def read_failed_layer(error: BaseException) -> bool:
    """Note which arguments of one of PyTorch's layers that can't be made are which; tell if others are likelier now."""
    is_other = False
    for frame in [trace.tb_frame for trace in tracebacks(error)[:_MOST_FRAMES]]:
        is_layer = str(frame.f_globals.get("__name__")).startswith("torch.nn.modules")
        for name, value in frame.f_locals.items() if is_layer and frame.f_code.co_name == "__init__" else ():
            for slot in slots_of(value):
                before = slot.option()
                slot.attributes.add(name)
                is_other = is_other or slot.option() != before
    return is_other


def item_name(slot: Slot, index: int) -> str:
    """The name of an item: the one that the code unpacks it into, if that says anything, or that of the list."""
    own = slot.row[index] if index < len(slot.row) else ""
    return own if own and (says_anything(own) or not says_anything(slot.name)) else slot.name


def _is_a_choice_in_a_row(slot: Slot) -> bool:
    """Whether it says what else is in its row: ``("conv", 64)``."""
    is_in_a_row = slot.path.endswith("]") and slot.path.split("[")[-2].endswith("]")
    return is_in_a_row and bool(slot.compared)


def _make_rows_alike(first: Slot, other: Slot) -> None:
    """Two rows have the same kinds of things at the same places."""
    for key, known in first.children.items():
        item = other.child(key)
        if item.kind == "number" != known.kind and not item.kind_changes:
            item.kind, item.count, item.row, item.why = known.kind, known.count, known.row, known.why
            item.compared = [*known.compared]
