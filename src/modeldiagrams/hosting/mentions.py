"""Finds diagrams and catalogues in pages before these are converted: models can run in parallel, and pages be added.

It reads reStructuredText and Markdown in their usual form. A diagram that it misses is traced when its page is
converted.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["NOTE", "find_catalogues", "find_mentions"]

_DIRECTIVE = re.compile(r"(?P<indent>\s*)\.\. model-(?P<kind>graph|tour|catalogue)::(?P<argument>.*)")
_LITERAL = re.compile(r"(?P<indent>\s*)(\.\. (code|code-block|sourcecode|parsed-literal)::.*|(?!\.\. ).*::)")
_COMMENT = re.compile(r"(?P<indent>\s*)\.\.( +(?![\[|_ ]|[\w.+:-]+ ?::( |$)).*)?")
_HTML_COMMENT = re.compile(r"\s*<!--.*")
_FENCE = re.compile(r"(?P<indent>\s*)(?P<fence>`{3,}|~{3,}|:{3,})(?P<header>.*)")
_HEADER = re.compile(r"\s*(model-(graph|catalogue)|\{model-(?P<kind>graph|tour|catalogue)\}(?P<argument>.*))\s*")
_BLOCK = re.compile(r"(?P<indent>\s*)/{3,} *model-tour *(\|(?P<argument>.*))?")
"""A tour in Python-Markdown; its options follow as indented YAML."""
_CODE = 4
"""Spaces that make code in Markdown."""
NOTE = re.compile(r"(\.\. |[`:~]{3,}\{)model-note\b")
"""The first line of a note inside a diagram, in reStructuredText or Markdown; options come before."""
_CONTAINER = re.compile(r"[-*+:>] |\d+[.)] |!!!|\?\?\?|===|///|\[\^")
"""The beginning of a list, admonition and so on in Markdown, whose content is indented."""
_FIELD = re.compile(r":(?P<name>[\w-]+):(?P<value>.*)")


def find_mentions(text: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the options and body of every diagram and tour of a page, as its directive or fence gets them."""
    for _, found, block in _find(text):
        if found.re is _BLOCK:
            yield _read_argument(found, "model"), _take_head(block)
        elif not _is_catalogue(found):
            yield _split_block(found, block, "model")


def find_catalogues(text: str) -> Iterator[tuple[dict[str, str], str, int]]:
    """Yield the options, body and line (from 1) of every catalogue of a page; its argument is the option `of`."""
    for line, found, block in _find(text):
        if _is_catalogue(found):
            yield (*_split_block(found, block, "of"), line)


def _is_catalogue(found: re.Match[str]) -> bool:
    return found[0].lstrip(" .{").startswith("model-catalogue")


def _find(text: str) -> Iterator[tuple[int, re.Match[str], list[str]]]:
    """Yield line, first line and block of every directive and fence of ours."""
    lines = text.expandtabs().splitlines()
    number = 0
    while number < len(lines):
        line, number = lines[number], number + 1
        if found := _DIRECTIVE.fullmatch(line):
            block = _take_indented(lines[number:], len(found["indent"]))
            yield number, found, block
        elif found := _LITERAL.fullmatch(line):
            block = _take_indented(lines[number:], len(found["indent"]))
        elif found := _COMMENT.fullmatch(line):
            # only what follows at once belongs to an empty one
            is_empty = line.strip() == ".." and not "".join(lines[number : number + 1]).strip()
            block = [] if is_empty else _take_indented(lines[number:], len(found["indent"]))
        elif found := _HTML_COMMENT.fullmatch(line):
            block = [*itertools.takewhile(lambda line: "-->" not in line, lines[number - 1 :])]
        elif found := _FENCE.fullmatch(line):
            block = _take_until(found["fence"], lines[number:])
            is_code = len(found["indent"]) >= _CODE and not _is_in_container(lines[: number - 1])
            if (header := _HEADER.fullmatch(found["header"])) and not is_code:
                yield number, header, block
            number += 1
        elif found := _BLOCK.fullmatch(line):
            block = _take_indented(lines[number:], len(found["indent"]))
            yield number, found, block
        else:
            continue
        number += len(block)


def _is_in_container(before: Sequence[str]) -> bool:
    """Whether the last paragraph at the margin begins what may hold an indented fence, so that it is no code."""
    outside = itertools.dropwhile(lambda line: not line.strip() or line[0] == " ", reversed(before))
    return any(map(_CONTAINER.match, itertools.takewhile(str.strip, outside)))


def _take_until(end: str, lines: Sequence[str]) -> list[str]:
    return list(itertools.takewhile(lambda line: line.strip() != end, lines))


def _take_indented(lines: Sequence[str], indent: int) -> list[str]:
    """Take the lines that belong to a directive."""
    return list(itertools.takewhile(lambda line: not line.strip() or line[: indent + 1].isspace(), lines))


def _read_argument(found: re.Match[str], name: str) -> dict[str, str]:
    argument = (found["argument"] or "").strip()
    return {name: argument} if argument else {}


def _take_head(block: Sequence[str]) -> str:
    """Take the lines before the first empty one."""
    return textwrap.dedent("\n".join(itertools.takewhile(str.strip, block)))


def _split_block(found: re.Match[str], block: Sequence[str], argument: str) -> tuple[dict[str, str], str]:
    """Split a block into fields and body; the steps of a tour are dropped, as no trace depends on them."""
    lines = textwrap.dedent("\n".join(block)).strip("\n").splitlines()
    values = _read_argument(found, argument)
    name = ""
    while lines and ((field := _FIELD.fullmatch(lines[0])) or (name and lines[0].startswith(" "))):
        line = lines.pop(0)
        if field:
            name, line = field["name"], field["value"]
        values[name] = f"{values.get(name, '')}\n{line.strip()}".strip() if name in values else line.strip()
    body = [] if found["kind"] == "tour" else itertools.takewhile(lambda line: not NOTE.match(line), lines)
    return values, "\n".join(body)
