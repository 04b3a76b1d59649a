"""Finds the lines of code that a diagram shows when zoomed in, only of packages whose source the site links to."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.hosting.source_links import list_linked_packages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["find_code_lines", "find_source_file"]

_MOST_LINES = 6
_LONGEST_LINE = 200

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_code_lines(diagram: Diagram, templates: str) -> dict[str, tuple[str, ...]]:
    """Find the code at the places that a graph names: calls, modules and functions.

    Args:
        diagram: The diagram, with the files that its trace read.
        templates: From `build_url_templates`; they name the packages whose code is public.

    Returns:
        ``mypkg/net.py:12`` → the statement there; for a class its `forward`, for a function its beginning without
        the docstring. Long code ends with ``…``.
    """
    public = list_linked_packages(templates)
    reader = _StatementReader()
    found: dict[str, tuple[str, ...]] = {}
    for place in dict.fromkeys(_list_places(diagram)):
        path, _, line = place.rpartition(":")
        file = find_source_file(path, diagram.sources) if path.partition("/")[0] in public else None
        lines = reader.at(file, int(line)) if file and line.isdigit() else ()
        if lines:
            found[place] = lines
    return found


def _list_places(diagram: Diagram) -> Iterator[str]:
    if diagram.graph is None:
        return
    for node in diagram.graph.nodes:
        if source := getattr(node, "source", None):
            yield source
    for call in diagram.graph.functions.values():
        if call.source:
            yield call.source


def find_source_file(name: str, files: Iterable[str]) -> str | None:
    """Find the file that a graph names: the one with the fewest folders before the name; None if there are several."""
    ending = [file for file in files if f"/{Path(file).as_posix()}".endswith(f"/{name}")]
    found = sorted({Path(file): file for file in ending}.items(), key=lambda one: len(one[0].parts))
    is_clear = len(found) == 1 or (len(found) > 1 and len(found[0][0].parts) < len(found[1][0].parts))
    return found[0][1] if is_clear else None


class _StatementReader:
    """Finds statements by their lines."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[list[str], dict[int, ast.stmt]]] = {}

    def at(self, file: str, line: int) -> tuple[str, ...]:
        """Return the lines of the innermost statement on a line."""
        lines, statements = self._file(file)
        statement = statements.get(line)
        if isinstance(statement, ast.ClassDef):
            statement = _find_forward(statement)
        return _cut_lines([lines[number - 1] for number in _list_line_numbers(statement)]) if statement else ()

    def _file(self, file: str) -> tuple[list[str], dict[int, ast.stmt]]:
        if file not in self._files:
            text, tree = _parse_file(file)
            found: dict[int, ast.stmt] = {}
            for node in ast.walk(tree):  # outer ones first
                if isinstance(node, ast.stmt):
                    decorators = (one.lineno for one in getattr(node, "decorator_list", ()))
                    found |= dict.fromkeys(range(min([node.lineno, *decorators]), (node.end_lineno or 0) + 1), node)
            self._files[file] = (text.split("\n"), found)
        return self._files[file]


def _parse_file(file: str) -> tuple[str, ast.Module]:
    """Read and parse a file; empty if it can't be read or parsed, because it may have changed since it ran."""
    try:
        text = Path(file).read_text("utf-8-sig")
        return text, ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return "", ast.Module(body=[], type_ignores=[])


def _find_forward(class_: ast.ClassDef) -> _Function | None:
    """Find the `forward` of a class body: the last one, because earlier ones are overloads."""
    return next((one for one in reversed(class_.body) if isinstance(one, _Function) and one.name == "forward"), None)


def _list_line_numbers(statement: ast.stmt) -> list[int]:
    """List the lines of a statement: only the head of a block, and all but the docstring of a function."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    end = statement.end_lineno or statement.lineno
    head = [*range(statement.lineno, max(statement.lineno + 1, body[0].lineno) if body else end + 1)]
    if not isinstance(statement, _Function):
        return head
    rest = body[1:] if ast.get_docstring(statement, clean=False) is not None else body
    return sorted({*head, *(range(rest[0].lineno, end + 1) if rest else ())})


def _cut_lines(lines: list[str]) -> tuple[str, ...]:
    """Remove the common indent and empty lines, and cut what is too long for a box."""
    kept = [line for line in textwrap.dedent("\n".join(lines).expandtabs(4)).split("\n") if line.strip()]
    cut = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in kept[:_MOST_LINES]]
    return (*cut, "…") if len(kept) > _MOST_LINES else tuple(cut)
