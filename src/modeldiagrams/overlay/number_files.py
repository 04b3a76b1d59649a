"""Reads numbers by node from files, pandas and plain data."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from modeldiagrams.errors import OptionError
from modeldiagrams.overlay.numbers import GivenNumbers, Scale

if TYPE_CHECKING:
    import os

__all__ = ["read_numbers"]

_OPTION = "values"
_NAME = "Values"
"""Of numbers that have no other name."""
_TITLE = re.compile(r"(?P<name>.*\S)\s*[(\[](?P<unit>[^()\[\]]+)[)\]]\s*")
"""``latency (ms)``."""


_EXPECTED = {
    "name": (r"(?s).+", "a text that is not empty"),
    "unit": (r"(?s).*", "a text"),
    "format": (r"\+?,?(\.\d{1,2})?[efgd%]?", "a format like `.2f`, `.3g`, `.1%` or `,d`"),
    "scale": ("|".join(get_args(Scale)), "linear, log or diverging"),
}
"""What a file may say about its numbers: a regular expression, and words."""


def read_numbers(source: Any, folder: Path = Path()) -> list[GivenNumbers]:
    """Read numbers by node.

    Args:
        source: A map from patterns to numbers; a map with such a map as `values`, and optionally `name`, `unit`,
            `format` and `scale`; a pandas `Series` or `DataFrame`; the path of a JSON file with such maps, or of a CSV
            file whose first column has patterns; or a list of these.
        folder: The folder that paths are relative to.

    Returns:
        Each list of numbers; a table has one for each of its columns.

    Raises:
        OptionError: if it is something else, with the place.
    """
    if isinstance(source, list | tuple):
        return [numbers for part in source for numbers in read_numbers(part, folder)]
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        return _read_file(folder, source)
    if type(source).__module__.split(".")[0] == "pandas":
        return _read_pandas(source)
    return [_read_map(source, "")]


def _read_file(folder: Path, path: str | os.PathLike[str]) -> list[GivenNumbers]:
    name, place = Path(path).stem, f"{path}: "
    wanted = "expected the path of a .json or .csv file, or a map from patterns to numbers"
    if Path(path).suffix.lower() not in {".json", ".csv"}:
        raise OptionError(_OPTION, f"{wanted}, got {str(path)!r}")
    try:
        text = (folder / path).read_text("utf-8-sig")
    except OSError as error:
        raise OptionError(_OPTION, f"{place}{error.strerror or error}; {wanted}") from error
    except UnicodeDecodeError as error:
        raise OptionError(_OPTION, f"{place}expected UTF-8 text: {error.reason} at byte {error.start}") from error
    if Path(path).suffix.lower() == ".csv":
        return _read_csv(text, place)
    try:
        content = json.loads(text)  # unlike msgspec's, it reads NaN, as Python writes it
    except (ValueError, RecursionError) as error:
        raise OptionError(_OPTION, f"{place}expected JSON: {error}") from error
    several = content if isinstance(content, list) else [content]
    if not several:
        raise OptionError(_OPTION, f"{place}expected numbers, got an empty list")
    places = [f"{place}list {at}: " if len(several) > 1 else place for at in range(1, len(several) + 1)]
    return [_read_map(one, at, name) for one, at in zip(several, places, strict=True)]


def _read_map(content: Any, place: str, name: str = _NAME) -> GivenNumbers:
    if not isinstance(content, Mapping):
        wanted = 'expected a map from patterns to numbers, {"encoder": 0.3}, or a map with these as "values"'
        raise OptionError(_OPTION, f"{place}{wanted}, got {_show(content)}")
    is_described = isinstance(content.get("values"), Mapping)
    entries = content["values"] if is_described else content
    head = {key: value for key, value in content.items() if key != "values"} if is_described else {}
    return _build({"name": name, **head}, ((f"{key!r}: ", key, value) for key, value in entries.items()), place)


def _read_pandas(table: Any) -> list[GivenNumbers]:
    if not hasattr(table, "columns"):
        return [_build({"name": str(table.name or _NAME)}, _list_entries(table.index, table), "")]
    columns = [*table.columns]
    if not columns:
        raise OptionError(_OPTION, "expected numbers, got none")
    # a column of text before the numbers has the patterns, else the index; columns may share a name
    has_names = len(columns) > 1 and all(isinstance(cell, str) for cell in table.iloc[:, 0])
    patterns = table.iloc[:, 0] if has_names else table.index
    return [
        _build(_read_title(str(column)), _list_entries(patterns, table.iloc[:, at]), f"column {str(column)!r}: ")
        for at, column in enumerate(columns)
        if at or not has_names
    ]


def _list_entries(patterns: Any, values: Any) -> Iterable[tuple[str, Any, Any]]:
    return ((f"{key!r}: ", key, value) for key, value in zip(patterns.tolist(), values.tolist(), strict=True))


def _read_csv(text: str, place: str) -> list[GivenNumbers]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise OptionError(_OPTION, f"{place}line {reader.line_num}: expected CSV: {error}") from error
    first, titles = rows[0] if rows else (1, [])
    named = [title for title in titles[1:] if title.strip()]
    is_entry = bool(named) and all(map(_is_number, named))  # its numbers would be lost as names
    if len(titles) < 2 or is_entry:  # noqa: PLR2004  (patterns and numbers)
        wanted = "expected a header line, patterns in the first column, and numbers in others, separated by commas"
        raise OptionError(_OPTION, f"{place}line {first}: {wanted}, got {_show(','.join(titles))}")
    for line, row in rows:
        if len(row) != len(titles):
            raise OptionError(_OPTION, f"{place}line {line}: expected {len(titles)} cells, got {len(row)}")
    return [
        _build(
            _read_title(title),
            ((f"line {line}: ", row[0].strip(), row[at].strip()) for line, row in rows[1:] if row[at].strip()),
            f"{place}column {title.strip()!r}: ",
        )
        for at, title in enumerate(titles)
        if at
    ]


def _read_title(title: str) -> dict[str, str]:
    found = _TITLE.fullmatch(title.strip())
    return found.groupdict() if found else {"name": title.strip() or _NAME}


def _build(head: Mapping[str, Any], entries: Iterable[tuple[str, Any, Any]], place: str) -> GivenNumbers:
    """Check numbers; the entries have a place, a pattern and a value each."""
    for key, text in head.items():
        if key not in _EXPECTED:
            raise OptionError(_OPTION, f"{place}unknown key {key!r}; expected {', '.join(_EXPECTED)} and values")
        pattern, wanted = _EXPECTED[key]
        if not isinstance(text, str) or not re.fullmatch(pattern, text):
            raise OptionError(_OPTION, f"{place}{key}: expected {wanted}, got {_show(text)}")
    values = {str(key).strip(): _read_number(value, f"{place}{at}") for at, key, value in entries}
    if not values:
        raise OptionError(_OPTION, f"{place}expected numbers, got none")
    return GivenNumbers(values=values, **head)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_number(value: Any, place: str) -> float | None:
    """Read a number of Python, NumPy or PyTorch; YAML and CSV have text. NaN and infinities are None."""
    if value is None or type(value).__name__ == "NAType":
        return None
    try:
        number = float(str(value) if isinstance(value, bool) else value)  # not 1
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise OptionError(_OPTION, f"{place}expected a number, got {_show(value)}") from error
    return number if math.isfinite(number) else None


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004  (one line)
