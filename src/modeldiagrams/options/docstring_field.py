"""The field ``:model-graph:`` of docstrings: requests or refuses the diagram of a class, and gives its options."""

from __future__ import annotations

import re
from typing import Any

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.reading import read_yaml

__all__ = ["asked_options", "without_field"]

_FIELD = re.compile(
    r"^(?P<indent>[ \t]*):model-graph:(?![^ \t\n])[ \t]*(?P<text>.*(\n(?P=indent)[ \t]+\S.*)*)", re.MULTILINE
)


def without_field(docstring: str) -> tuple[str | None, str]:
    """The field's text, None without a field, and the docstring without it."""
    field = _FIELD.search(docstring)
    if field is None:
        return None, docstring
    return " ".join(field["text"].split()), docstring[: field.start()] + docstring[field.end() :].removeprefix("\n")


def asked_options(field: str) -> dict[str, Any] | None:
    """The options in a field.

    Args:
        field: Its text: nothing, ``false``, or options as a YAML map.

    Returns:
        Option name → value; None where the field refuses a diagram.

    Raises:
        ModelDiagramsError: if it is none of these.
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
