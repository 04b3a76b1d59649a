"""Writes tables as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["write_table"]

_GAP = "  "


def write_table(rows: Sequence[Sequence[str]], is_text: Sequence[bool], totals: Mapping[str, str]) -> str:
    """Align cells in columns.

    Args:
        rows: The cells of each row, the titles first.
        is_text: Whether each column has texts, which begin at its left.
        totals: Title → text of each line below the table.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        _GAP.join(
            text.ljust(width) if left else text.rjust(width)
            for text, width, left in zip(row, widths, is_text, strict=True)
        ).rstrip()
        for row in rows
    ]
    rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    return "\n".join([lines[0], rule, *lines[1:], rule, *(f"{title}: {text}" for title, text in totals.items())])
