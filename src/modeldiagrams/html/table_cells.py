"""Formats the cells of the table of modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.amounts import add_sign, format_bytes, format_flops, format_time

if TYPE_CHECKING:
    from modeldiagrams.html.module_summary import Column, SummaryRow

__all__ = ["NOTHING", "format_cell", "list_numbers"]

_SHAPE_LIMIT = 2
"""The maximum number of shapes in a cell; of more, only the first is shown."""
NOTHING = "–"


def format_cell(row: SummaryRow, column: Column) -> str:
    """Format one cell, with names in place of sizes that have one."""
    if not row.class_:  # several modules, or omitted rows
        return _format_calls(row) if column == "calls" and row.calls > 1 else ""
    if row.by_case and column != "cases":
        cells = [format_cell(one, column) for one in row.by_case.values()]
        return cells[0] if len({*cells}) == 1 else " | ".join(cells)
    return _format_own(row, column)


def list_numbers(row: SummaryRow, column: Column) -> str:
    """The numbers in a cell that shows names of sizes; empty for other cells."""
    has_names = any(key.startswith(f"{column}.") for key in row.named)
    return format_cell(msgspec.structs.replace(row, named={}), column) if has_names else ""


def _format_own(row: SummaryRow, column: Column) -> str:
    match column:
        case "cases":
            return row.cases
        case "inputs" | "outputs":
            shapes = row.inputs if column == "inputs" else row.outputs
            texts = {
                f"{column}.{name}": "×".join(map(str, shape)) or "scalar"
                for name, shape in shapes.items()
                if shape is not None
            }
            return _format_shapes(
                [row.named.get(key) or add_sign(row.assumed.get(key), text) for key, text in texts.items()]
            )
        case "parameters" | "trainable":
            count = row.parameters if column == "parameters" else row.trainable
            return f"{count:,}" if row.parameters else NOTHING
        case "flops" | "activations":
            value, written = (row.flops, format_flops) if column == "flops" else (row.activation_bytes, format_bytes)
            sign = row.assumed.get("flops" if column == "flops" else "activation_bytes")
            return add_sign(sign, written(value)) if value else NOTHING
        case "time":
            return NOTHING if row.time_ns is None else format_time(row.time_ns)
        case "calls":
            return _format_calls(row)


def _format_calls(row: SummaryRow) -> str:
    times = f"×{row.calls}" if row.calls > 1 else "1"
    if not row.shared or (row.class_ and not row.parameters):
        return times
    return f"{times} shared, {row.sets} sets" if row.sets > 1 else f"{times} shared"


def _format_shapes(texts: list[str]) -> str:
    if len(texts) > _SHAPE_LIMIT:
        texts[1:] = [f"… {len(texts) - 1} more"]
    return ", ".join(texts) or NOTHING
