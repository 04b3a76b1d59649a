"""Suggests what an author may have meant by an unknown option or an invalid value."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

__all__ = ["COMMAND_LINE", "SITE", "explain_unknown", "find_meant", "suggest"]

_LIKE = 0.75
"""The similarity of a misspelt name: enough for ``deph`` and ``depth``, not for ``title`` and ``table``."""
_ENTRY = frozenset({"dtype", "high", "low", "shape", "value"})
COMMAND_LINE = frozenset({"explain", "flat", "force", "output", "theme"})
"""Options of `modeldiagrams trace` and `render` that diagrams in documentation don't have."""
SITE = frozenset(
    {
        "cache_dir",
        "catalogue_links",
        "css_variables",
        "defaults",
        "on_error",
        "repository_url",
        "snapshots",
        "source_link",
        "static_only",
    }
)
"""Settings of a site that are not options of a diagram."""
_OTHER_WORDS = {
    "alt": ("alternative", "alt-text", "alt_text"),
    "caption": ("title", "description"),
    "depth": ("level", "levels", "max_depth"),
    "direction": ("rankdir", "graph_dir", "orientation", "layout"),
    "expand": ("expand_nested",),
    "inputs": ("input_shape", "input_size", "input_data", "input_names", "example_inputs"),
    "kind": ("color", "colors", "colour", "colours"),
    "measure_time": ("time", "times", "timing"),
    "name": ("id", "label", "anchor"),
    "table": ("summary", "col_names"),
}
"""Names of options in Sphinx, Graphviz, and tools that draw or list models."""

_ALL = frozenset({"all", "full", "inf", "max", "*", "-1"})
"""Values that mean "no limit" in other tools."""
_OTHER_FORM = {
    "args": (r"\{", "arguments by name are the option `kwargs`"),
    "kwargs": (r"\[", "arguments by position are the option `args`"),
}
"""The beginning of a value that belongs to another option, and which option that is."""
_WORDS = {
    ("direction", "horizontal"): "LR",
    ("direction", "vertical"): "TB",
    ("align", "middle"): "center",
    ("align", "centre"): "center",
    ("device", "gpu"): "cuda",
}
_UNITS: dict[str, dict[str, float]] = {
    "timeout": {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600},
    "memory": {"g": 1, "gb": 1, "gib": 1, "mb": 0.001, "mib": 0.001},
}

_PAIR = re.compile(r"\b(\w+)\s*=\s*([^,=]+)")
_DTYPE_AND_SHAPE = re.compile(r"([a-z]+\d+)\s*[\[(]([\d\s,]+)[\])]")
"""``int64[1, 4]``, the notation of many papers and libraries."""


def explain_unknown(name: str, known: Collection[str]) -> str:
    """Explain an unknown option: which one was meant, or where it belongs.

    Args:
        name: The name as written.
        known: The names of all options.
    """
    plain = name.lower().replace("-", "_")
    if plain in _ENTRY:
        return "belongs to an entry of `inputs`, such as `inputs: [{shape: [1, 16], dtype: int64, high: 100}]`"
    if plain in COMMAND_LINE:
        return "belongs to the command line, and diagrams in documentation have no such option"
    if plain in SITE:
        return f"belongs to the whole site: write `modeldiagrams_{plain}` in conf.py, or `{plain}` in mkdocs.yml"
    meant = find_meant(name, known)
    return f"unknown; did you mean {meant!r}?" if meant else f"unknown; known options: {', '.join(known)}"


def find_meant(name: str, known: Collection[str]) -> str | None:
    """Return the option that was meant by an unknown name, if one is likely."""
    plain = name.lower().replace("-", "_")
    meant = [option for option, words in _OTHER_WORDS.items() if plain in words and option in known]
    return next(iter(meant or difflib.get_close_matches(name, known, n=1, cutoff=_LIKE)), None)


def suggest(name: str, value: Any, is_valid: Callable[[str], bool]) -> str:
    """Return the end of the sentence that rejects a value: a full stop, or ``; did you mean [1, 4]?``.

    Args:
        name: The name of the option.
        value: The invalid value.
        is_valid: Whether a text is a valid value.
    """
    text = str(value).strip()
    if name == "depth" and text.lower() in _ALL:
        return "; to expand all modules, write `expand: '*'`."
    if (other := _OTHER_FORM.get(name)) and re.match(other[0], text):
        return f"; {other[1]}."
    if not isinstance(value, str):
        return "."
    near = next(filter(is_valid, _iter_variants(name, text)), None)
    return f"; did you mean {near}?" if near else "."


def _iter_variants(name: str, text: str) -> Iterator[str]:
    yield from (text.upper(), text.lower())
    if word := _WORDS.get((name, text.lower())):
        yield word
    if number := _convert_unit(name, text):
        yield number
    if name == "inputs" and (typed := _DTYPE_AND_SHAPE.fullmatch(text)):
        yield f"[{{shape: [{typed[2]}], dtype: {typed[1]}}}]"
        return
    inner = text.removeprefix("(").removesuffix(")")
    if "(" in inner or ")" in inner:
        return
    if "," in inner:  # as Python writes lists: `1, 4` or `(1, 4)`
        yield f"[{inner}]"
    pairs = _PAIR.findall(inner)  # as Python writes arguments: `depth=4, bias=True`
    if pairs and not _PAIR.sub("", inner).strip(" ,"):
        yield "{" + ", ".join(f"{key}: {one.strip()}" for key, one in pairs) + "}"


def _convert_unit(name: str, text: str) -> str | None:
    """Convert ``5m`` to ``300`` for a time limit, ``4 GB`` to ``4`` for memory."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]+)", text.lower())
    unit = _UNITS.get(name, {}).get(found[2]) if found else None
    return f"{float(found[1]) * unit:g}" if found and unit else None
