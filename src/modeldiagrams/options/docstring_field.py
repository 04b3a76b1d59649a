"""The field ``:model-graph:`` of docstrings, which requests or refuses the diagram of a class, with its options."""

from __future__ import annotations

import re
from typing import Any

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.reading import read_yaml

__all__ = ["read_field", "split_field"]

_FIELD = re.compile(
    r"^(?P<indent>[ \t]*):model-graph:(?![^ \t\n])[ \t]*(?P<text>.*(\n(?P=indent)[ \t]+\S.*)*)", re.MULTILINE
)


def split_field(docstring: str) -> tuple[str | None, str]:
    """Return the field's text, or None if there is no field, and the docstring without it."""
    field = _FIELD.search(docstring)
    if field is None:
        return None, docstring
    return " ".join(field["text"].split()), docstring[: field.start()] + docstring[field.end() :].removeprefix("\n")


def read_field(field: str) -> dict[str, Any] | None:
    """Read the options in a field.

    Args:
        field: Its text: nothing, ``false``, or options as a YAML map.

    Returns:
        Values by option name; None if the field refuses a diagram.

    Raises:
        ModelDiagramsError: for any other text.
    """
    try:
        found = read_yaml(field)
    except ModelDiagramsError as error:
        found = error
    if found is None or found is True:
        return {}
    if found is False:
        return None
    if isinstance(found, dict):
        return {str(option): value for option, value in found.items()}
    raise ModelDiagramsError(
        f"the field `:model-graph:`: expected nothing, `false`, or options as a YAML map, got {field!r}"
    )
