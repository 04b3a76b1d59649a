"""What unknown constructor arguments tell of those beside them, and layers of those that they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.unknown import slots_of
from modeldiagrams.target.inference.vocabulary import is_a_width, is_listed, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import nn

    from modeldiagrams.target.inference.unknown import Slot

__all__ = ["likeliest", "make_items_alike", "make_lists_alike", "read_layers", "tell_widths"]

_WIDTH = 32


def tell_widths(slots: Iterable[Slot], usual: int = _WIDTH, nodes: int = 0, inputs: int = 0) -> None:
    """Tell arguments what those beside them count: modules that are made up widths, graphs nodes, means inputs."""
    slots = [*slots]
    numbers = [(slot.name, option) for slot in slots if slot.kind == "number" and type(option := slot.option()) is int]
    nodes = next((count for name, count in numbers if is_listed("node_counts", name)), nodes)
    inputs = next((count for name, count in numbers if is_listed("input_counts", name)), inputs)
    width = next((width for name, width in numbers if is_a_width(name)), usual)
    for slot in slots:
        slot.width, slot.nodes, slot.inputs = width, nodes, inputs
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


def make_items_alike(items: Sequence[Slot]) -> None:
    """The items of a list are of the kind of the first one, as long as nothing else is known of them."""
    for index, slot in enumerate(items):
        first = items[0]
        slot.place = (index, len(items))
        if first.kind == "text" and slot.kind == "number":
            slot.kind = "text"
        if first.kind == "items" and slot.kind == "number":
            slot.kind, slot.count, slot.why = "items", first.count, first.why
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
