"""Finds the marked places of a Markdown file, and replaces what is between the marks."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.errors import ModelDiagramsError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Mark", "fill_marks", "find_marks"]

_MARK = re.compile(r"<!--\s*(?P<end>/?)model-graph\b\s*(?P<rest>.*?)-->", re.DOTALL)
_FENCE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*\r?$|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""In lists and quotes, too; the words after backticks have none, or else it is code in a line."""
_INDENTED = re.compile(r"^(?: {4}| {0,3}\t|[ \t]*>)[^\n]*", re.MULTILINE)
"""Code by its indentation, and quotes, which the pictures would end."""
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_EXAMPLE = "`<!-- model-graph: mypkg.Model depth=1 -->`"


class Mark(NamedTuple):
    """One marked place.

    Attributes:
        line: Number of its first line, from 1.
        model: The model as the author wrote it.
        options: Name → value of the other words.
        start: Position of the text between the marks.
        stop: Position after that text.
        indent: White space before the mark, if nothing else is: it may be in an item of a list.
    """

    line: int
    model: str
    options: dict[str, str]
    start: int
    stop: int
    indent: str


def find_marks(text: str) -> list[Mark]:
    """Find all marked places outside code.

    Raises:
        ModelDiagramsError: for the first mark that doesn't open, close or name a model; begins with its line.
    """
    code = [found.span() for form in (_FENCE, _CODE, _INDENTED) for found in form.finditer(text)]
    marks: list[Mark] = []
    opened: re.Match[str] | None = None
    for found in _MARK.finditer(text):
        if any(start <= found.start() < stop for start, stop in code):
            continue
        line = _line(text, found)
        if found["end"]:
            if opened is None:
                raise ModelDiagramsError(
                    f"line {line}: `<!-- /model-graph -->` closes nothing; expected {_EXAMPLE} above"
                )
            marks.append(_read(text, opened, found))
            opened = None
        elif opened is not None:
            raise ModelDiagramsError(f"{_unclosed(text, opened)} before the next begins")
        else:
            opened = found
    if opened is not None:
        raise ModelDiagramsError(_unclosed(text, opened))
    return marks


def fill_marks(text: str, marks: Sequence[Mark], contents: Sequence[str]) -> str:
    """Replace the text between marks, with the line breaks that most lines of the file have."""
    newline = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
    parts, at = list[str](), 0
    for mark, content in zip(marks, contents, strict=True):
        lines = [mark.indent + line for line in content.split("\n")]
        parts += [text[at : mark.start], newline, newline.join(lines), newline, mark.indent]
        at = mark.stop
    return "".join([*parts, text[at:]])


def _unclosed(text: str, opened: re.Match[str]) -> str:
    return f"line {_line(text, opened)}: expected `<!-- /model-graph -->` after `{' '.join(opened[0].split())}`"


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def _read(text: str, opened: re.Match[str], closed: re.Match[str]) -> Mark:
    line = _line(text, opened)
    try:
        words = shlex.split(opened["rest"].removeprefix(":"))
    except ValueError as error:
        raise ModelDiagramsError(f"line {line}: a quote is not closed in `{' '.join(opened[0].split())}`") from error
    if not opened["rest"].startswith(":") or not words or "=" in words[0]:
        raise ModelDiagramsError(f"line {line}: expected a model, {_EXAMPLE}, got `{' '.join(opened[0].split())}`")
    before = text[text.rfind("\n", 0, opened.start()) + 1 : opened.start()]
    indent = "" if before.strip() else before
    return Mark(line, words[0], _options(words[1:], line), opened.end(), closed.start(), indent)


def _options(words: Sequence[str], line: int) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name:
            hint = "a value with spaces needs quotes, `inputs='[1, 3, 64, 64]'`"
            raise ModelDiagramsError(f"line {line}: expected `option=value`, got {word!r}; {hint}")
        if name in options:
            raise ModelDiagramsError(f"line {line}: the option {name!r} is given twice")
        options[name] = value
    return options
