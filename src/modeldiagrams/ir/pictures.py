"""Converts figures, images and tables that authors show at nodes to the content of picture files."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping, Sequence
from typing import Any

from modeldiagrams.ir.text import readable

__all__ = ["LARGEST", "as_picture"]

LARGEST = 500_000
"""Most bytes of a picture file, because pages contain it."""

EXPECTED = "a Matplotlib figure, a PIL image, bytes of a PNG or JPEG file, SVG text, or a table"

_MOST_ROWS, _MOST_COLUMNS, _LONGEST_CELL = 50, 12, 40
_CHARACTER, _LINE, _GAP = 7.25, 18, 16
"""Sizes in a table, px: width of a character of 12 px in a fixed font, height of a row, space around a column."""


def as_picture(value: Any) -> bytes:
    """Convert a value to the content of a PNG, JPEG or SVG file.

    Args:
        value: A Matplotlib figure or its axes, a PIL image, bytes of a file, SVG text, or a table: a pandas
            `DataFrame`, a dict, or a list of rows, each a list or a dict.

    Raises:
        TypeError: for anything else.
        ValueError: for a table that is empty or too large, and for a file that is empty or too large.
    """
    content = _convert(value)
    if not content:
        raise ValueError(f"expected {EXPECTED}, got no bytes; was the file read from its end?")
    if len(content) > LARGEST:
        raise ValueError(f"expected a picture of up to {LARGEST // 1000} kB, got {len(content) // 1000} kB")
    return content


def _convert(value: Any) -> bytes:
    file = io.BytesIO()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, str) and value.lstrip().startswith("<"):
        return value.encode()
    if not hasattr(value, "savefig"):  # axes, as functions for plots return them
        value = getattr(value, "figure", value)
    if callable(getattr(value, "savefig", None)):
        # leave out the version of Matplotlib
        value.savefig(file, format="png", dpi=150, metadata={"Software": None})
        return file.getvalue()
    if callable(getattr(value, "save", None)) and hasattr(value, "getbands"):
        value.save(file, format="PNG")
        return file.getvalue()
    return _draw_table(_read_rows(value)).encode()


def _read_rows(value: Any) -> list[list[str]]:
    """The cells of a table, as text."""
    if hasattr(value, "itertuples") and hasattr(value, "columns"):
        rows: list[Any] = [["", *value.columns], *value.itertuples()]
    elif isinstance(value, Mapping):
        rows = [*value.items()]
    elif isinstance(value, Sequence) and value and all(isinstance(row, Mapping) for row in value):
        names = dict.fromkeys(name for row in value for name in row)
        rows = [[*names], *([row.get(name, "") for name in names] for row in value)]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        rows = [*value]
    else:
        rows = [None]
    if not all(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
        raise TypeError(f"expected {EXPECTED} (a DataFrame, a dict, or a list of rows), got {type(value).__name__}")
    height, width = len(rows), max(map(len, rows), default=0)
    if not 0 < width <= _MOST_COLUMNS or height > _MOST_ROWS:
        limits = f"up to {_MOST_ROWS} rows and {_MOST_COLUMNS} columns"
        raise ValueError(f"expected a table of {limits}, got {height} rows and {width} columns; show a part of it")
    return [[_format_cell(cell) for cell in row] for row in rows]


def _format_cell(value: Any) -> str:
    if callable(getattr(value, "item", None)) and getattr(value, "ndim", 1) == 0:  # a number of NumPy or PyTorch
        value = value.item()
    text = f"{value:.4g}" if isinstance(value, float) else readable(str(value)).replace("\n", " ")
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


def _draw_table(rows: Sequence[Sequence[str]]) -> str:
    """Draw a table as SVG that looks the same in every program and needs no style sheet."""
    count = max(map(len, rows))
    widths = [max((len(row[i]) for row in rows if i < len(row)), default=0) * _CHARACTER + _GAP for i in range(count)]
    width, height = sum(widths), len(rows) * _LINE + 8
    cells = [
        f'<text x="{sum(widths[:i]) + _GAP / 2:g}" y="{(row + 1) * _LINE:g}">{html.escape(text, quote=False)}</text>'
        for row, texts in enumerate(rows)
        for i, text in enumerate(texts)
        if text
    ]
    lines = "".join(f"M0 {row * _LINE + 4.5:g}H{width:g}" for row in range(1, len(rows)))
    style = 'font-family="monospace" font-size="12" fill="#1a1a1a" xml:space="preserve"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height}" viewBox="0 0 {width:g} {height}">'
        f'<rect width="100%" height="100%" fill="#fff"/><path d="{lines}" stroke="#ccc"/>'
        f"<g {style}>{''.join(cells)}</g></svg>"
    )
