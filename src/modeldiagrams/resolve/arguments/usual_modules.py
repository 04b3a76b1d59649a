"""Modules made up for arguments that the project has none for: small, and of the sizes that are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.names.vocabulary import is_a_width, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.resolve.arguments.stand_in_numbers import Slot

__all__ = ["HELD_FOR", "WITH", "made_up_modules"]

WITH = "modeldiagrams.resolve.objects.with_attributes"
"""Makes a module that has more attributes than its class."""
HELD_FOR = "_modeldiagrams_held_for"
"""Attribute of a module with the argument that it was made for; copies of the module have it, too."""
_WIDTH = "<width>"
_TABLE, _ROWS = nn.Embedding, 100


def made_up_modules(slot: Slot) -> list[Any]:
    """Modules for an argument, as options, likeliest first."""
    numbers = [need.option() for need in slot.needs.values() if need.kind == "number"] or [*_widths_inside(slot)]
    is_map = any("channels" in name for name in slot.needs)
    rows = [row for row in rows_of("modules", slot.name) if _inputs(row) <= max(1, slot.call[0])]
    rows.sort(key=lambda row: (_inputs(row) != _inputs_of(slot), is_map and row.get("gives") != "map"))
    width = next((number for number in numbers if type(number) is int), slot.width)
    made = [_filled(row["value"], width) for row in rows]
    if not slot.needs:
        return made
    alike = [{"_target_": f"torch.nn.{_TABLE.__name__}", "_args_": [_ROWS, width]}] if _is_table(slot) else []
    return [*alike, *({"_target_": WITH, "_args_": [body]} for body in made)]


def _is_table(slot: Slot) -> bool:
    """Whether all that is read of a module are sizes of a table: ``words.embedding_dim``."""
    return {*slot.needs} <= {*_TABLE.__constants__}


def _widths_inside(slot: Slot) -> Iterator[Any]:
    """Widths that are read of a module's configuration: ``bert.config.hidden_size``."""
    for need in slot.needs.values():
        for inner in need.children.values() if need.kind == "fields" else ():
            if inner.kind == "number" and is_a_width(inner.name):
                yield inner.option()


def _inputs(row: dict[str, Any]) -> int:
    return int(row.get("inputs", 1))


def _inputs_of(slot: Slot) -> int:
    """How many inputs it is called with, where a made-up module takes as many."""
    return max(1, min(int(slot.call[0]), 2))


def _filled(entry: Any, width: int) -> Any:
    match entry:
        case str() if entry == _WIDTH:
            return width
        case dict():
            return {key: _filled(item, width) for key, item in entry.items()}
        case list():
            return [_filled(item, width) for item in entry]
    return entry
