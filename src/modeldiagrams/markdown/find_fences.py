"""Finds our fences in a page's text, for the line numbers in messages, which superfences doesn't report."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.reading import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "CATALOGUE_FENCE",
    "CHANGES_FENCE",
    "DIFF_FENCE",
    "FENCE",
    "HISTORY_FENCE",
    "find_blocks",
    "find_fences",
    "find_title",
    "find_unread_headers",
    "read_bare_body",
]

FENCE = "model-graph"
DIFF_FENCE = "model-diff"
CHANGES_FENCE = "model-changes"
HISTORY_FENCE = "model-history"
CATALOGUE_FENCE = "model-catalogue"

_OPENING = re.compile(r"[\s>]*(?P<fence>`{3,}|~{3,})(?P<header>[^`]*)$")
_OURS = f"{FENCE}|{DIFF_FENCE}|{CHANGES_FENCE}|{HISTORY_FENCE}|{CATALOGUE_FENCE}"
_HEADER = re.compile(rf"\s*(\{{([^.}}]*\.)?\s*)?({_OURS})(?![\w-])")

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)(---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"# +([^\[\]]+?)( *\{.*\})?")

_READ = re.compile(r"""\s*\.?([\w-]+(\s*\{.*\}|(\s+[a-zA-Z]\w*(=(["']).*?\5)?)*)|\{.*\})\s*""")
"""A header that superfences reads."""


def find_fences(lines: list[str]) -> list[tuple[int, str]]:
    """Return line number (from 1) and bare body of every fence of ours that is closed and not inside another fence."""
    return [
        (number, read_bare_body("\n".join(body)))
        for number, header, body in _scan(lines)
        if header is not None and body is not None and _HEADER.match(header)
    ]


def find_unread_headers(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield line number (from 1) and header of our fences that superfences leaves as text."""
    for number, header, _ in _scan(lines):
        if header is not None and _HEADER.match(header) and not _READ.fullmatch(header):
            yield number, header.strip()


def find_blocks(lines: list[str], name: str) -> list[int]:
    """Return the line numbers (from 1) of all `pymdownx.blocks` of a name, ``/// model-tour | mypkg.Model``."""
    head = re.compile(rf"[\s>]*/{{3,}}\s*{name}(?![\w-])")
    return [number for number, header, _ in _scan(lines) if header is None and head.match(lines[number - 1])]


def find_title(text: str) -> str:
    """Return the title of a page as Markdown, that of its front matter first; "" if it has none."""
    front = _FRONT_MATTER.match(text)
    with contextlib.suppress(ModelDiagramsError):
        values = read_yaml(front[1]) if front else None
        if isinstance(values, dict) and values.get("title"):
            return re.sub(r"([\\\[\]*_`<])", r"\\\1", str(values["title"]))
    lines = text[front.end() if front else 0 :].splitlines()
    outside = (lines[number - 1] for number, header, _ in _scan(lines) if header is None)
    return next((found[1] for line in outside if (found := _TITLE.fullmatch(line))), "")


def _scan(lines: list[str]) -> Iterator[tuple[int, str | None, list[str] | None]]:
    """Yield number, header and body of every fence, and the number of every line outside; an open fence has no body."""
    number = 0
    while number < len(lines):
        number += 1
        opening = _OPENING.match(lines[number - 1])
        if opening is None:
            yield number, None, None
            continue
        ends = (i for i in range(number, len(lines)) if lines[i].strip("> \t") == opening["fence"])
        end = next(ends, None)
        yield number, opening["header"], None if end is None else lines[number:end]
        number = len(lines) if end is None else end + 1


def read_bare_body(body: str) -> str:
    """Remove indentation and quote marks from a body, as superfences does."""
    return "\n".join(line.lstrip("> \t").rstrip() for line in body.strip().splitlines())
