"""Finds our fences in a page's text, for the line numbers in messages, which superfences doesn't report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "CHANGES_FENCE",
    "DIFF_FENCE",
    "FENCE",
    "HISTORY_FENCE",
    "find_blocks",
    "find_fences",
    "find_unread_headers",
    "read_bare_body",
]

FENCE = "model-graph"
DIFF_FENCE = "model-diff"
CHANGES_FENCE = "model-changes"
HISTORY_FENCE = "model-history"

_OPENING = re.compile(r"[\s>]*(?P<fence>`{3,}|~{3,})(?P<header>[^`]*)$")
_OURS = f"{FENCE}|{DIFF_FENCE}|{CHANGES_FENCE}|{HISTORY_FENCE}"
_HEADER = re.compile(rf"\s*(\{{([^.}}]*\.)?\s*)?({_OURS})(?![\w-])")

_READ = re.compile(r"""\s*\.?([\w-]+(\s*\{.*\}|(\s+[a-zA-Z]\w*(=(["']).*?\5)?)*)|\{.*\})\s*""")
"""A header that superfences reads."""


def find_fences(lines: list[str]) -> list[tuple[int, str]]:
    """Return line number (from 1) and bare body of every fence that is not inside another fence."""
    found = []
    fence: str | None = None
    start, is_ours = 0, False
    for number, line in enumerate(lines, 1):
        if fence is None:
            opening = _OPENING.match(line)
            if opening:
                fence, start, is_ours = opening["fence"], number, bool(_HEADER.match(opening["header"]))
        elif line.strip("> \t") == fence:
            if is_ours:
                found.append((start, read_bare_body("\n".join(lines[start : number - 1]))))
            fence = None
    return found


def find_unread_headers(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield line number (from 1) and header of our fences that superfences leaves as text."""
    fence: str | None = None
    for number, line in enumerate(lines, 1):
        if fence is not None:
            fence = None if line.strip("> \t") == fence else fence
        elif opening := _OPENING.match(line):
            fence, header = opening["fence"], opening["header"]
            if _HEADER.match(header) and not _READ.fullmatch(header):
                yield number, header.strip()


def find_blocks(lines: list[str], name: str) -> list[int]:
    """Return the line numbers (from 1) of all `pymdownx.blocks` of a name, ``/// model-tour | mypkg.Model``."""
    head = re.compile(rf"[\s>]*/{{3,}}\s*{name}(?![\w-])")
    return [number for number, line in _skip_fences(lines) if head.match(line)]


def _skip_fences(lines: list[str]) -> Iterator[tuple[int, str]]:
    fence: str | None = None
    for number, line in enumerate(lines, 1):
        if fence is not None:
            fence = None if line.strip("> \t") == fence else fence
        elif opening := _OPENING.match(line):
            fence = opening["fence"]
        else:
            yield number, line


def read_bare_body(body: str) -> str:
    """Remove indentation and quote marks from a body, as superfences does."""
    return "\n".join(line.lstrip("> \t").rstrip() for line in body.strip().splitlines())
