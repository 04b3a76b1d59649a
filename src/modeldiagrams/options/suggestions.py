"""What an author may have meant by a value that an option does not take."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["suggestion"]

_ALL = frozenset({"all", "full", "inf", "max", "*", "-1"})
"""As other tools, and programs, say that there is no limit."""
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


def suggestion(name: str, value: Any, is_taken: Callable[[str], bool]) -> str:
    """The end of the sentence that rejects a value: a full stop, or ``; did you mean [1, 4]?``.

    Args:
        name: Of the option.
        value: That it does not take.
        is_taken: Whether it takes a text.
    """
    text = str(value).strip()
    if name == "depth" and text.lower() in _ALL:
        return "; to expand all modules, write `expand: '*'`."
    if not isinstance(value, str):
        return "."
    near = next(filter(is_taken, _variants(name, text)), None)
    return f"; did you mean {near}?" if near else "."


def _variants(name: str, text: str) -> Iterator[str]:
    yield from (text.upper(), text.lower())
    if word := _WORDS.get((name, text.lower())):
        yield word
    if number := _without_unit(name, text):
        yield number
    inner = text.removeprefix("(").removesuffix(")")
    if "(" in inner or ")" in inner:
        return
    if "," in inner:  # as Python writes lists: `1, 4` or `(1, 4)`
        yield f"[{inner}]"
    pairs = _PAIR.findall(inner)  # as Python writes arguments: `depth=4, bias=True`
    if pairs and not _PAIR.sub("", inner).strip(" ,"):
        yield "{" + ", ".join(f"{key}: {one.strip()}" for key, one in pairs) + "}"


def _without_unit(name: str, text: str) -> str | None:
    """``5m`` → ``300`` for a time limit, ``4 GB`` → ``4`` for memory."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]+)", text.lower())
    unit = _UNITS.get(name, {}).get(found[2]) if found else None
    return f"{float(found[1]) * unit:g}" if found and unit else None
