"""Finds the lines of code that a diagram shows when zoomed in, only of packages whose source the site links to."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

from modeldiagrams.hosting.source_links import list_linked_packages
from modeldiagrams.ir.lineage import Class, Code, Method, read_source
from modeldiagrams.ir.source_files import source_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["find_code_lines"]

_MOST_LINES = 6
_LONGEST_LINE = 200


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
    reader = _StatementReader(Code(diagram.sources))
    found: dict[str, tuple[str, ...]] = {}
    for place in dict.fromkeys(_list_places(diagram)):
        path, _, line = place.rpartition(":")
        file = source_file(path, diagram.sources) if path.partition("/")[0] in public else None
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


class _StatementReader:
    """Finds statements by their lines."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._files: dict[str, tuple[list[str], dict[int, ast.stmt]]] = {}

    def at(self, file: str, line: int) -> tuple[str, ...]:
        """Return the lines of the innermost statement on a line."""
        lines, statements = self._file(file)
        statement = statements.get(line)
        if isinstance(statement, ast.ClassDef):
            statement = Class(file, statement).method("forward")
        return _cut_lines([lines[number - 1] for number in _list_line_numbers(statement)]) if statement else ()

    def _file(self, file: str) -> tuple[list[str], dict[int, ast.stmt]]:
        if file not in self._files:
            found: dict[int, ast.stmt] = {}
            for node in ast.walk(self._code.tree(file)):  # outer ones first
                if isinstance(node, ast.stmt):
                    decorators = (one.lineno for one in getattr(node, "decorator_list", ()))
                    found |= dict.fromkeys(range(min([node.lineno, *decorators]), (node.end_lineno or 0) + 1), node)
            lines = read_source(file).split("\n") if found else []
            self._files[file] = (lines, found)
        return self._files[file]


def _list_line_numbers(statement: ast.stmt) -> list[int]:
    """List the lines of a statement: only the head of a block, and all but the docstring of a function."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    end = statement.end_lineno or statement.lineno
    head = [*range(statement.lineno, max(statement.lineno + 1, body[0].lineno) if body else end + 1)]
    if not isinstance(statement, Method):
        return head
    rest = body[1:] if ast.get_docstring(statement, clean=False) is not None else body
    return sorted({*head, *(range(rest[0].lineno, end + 1) if rest else ())})


def _cut_lines(lines: list[str]) -> tuple[str, ...]:
    """Remove the common indent and empty lines, and cut what is too long for a box."""
    kept = [line for line in textwrap.dedent("\n".join(lines).expandtabs(4)).split("\n") if line.strip()]
    cut = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in kept[:_MOST_LINES]]
    return (*cut, "…") if len(kept) > _MOST_LINES else tuple(cut)
