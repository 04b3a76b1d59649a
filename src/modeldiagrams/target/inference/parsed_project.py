"""The parsed code and data of a project."""

from __future__ import annotations

import ast
import inspect
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from modeldiagrams.target.inference.data_files import DataFiles
from modeldiagrams.target.inference.parsed_file import Function, ParsedFile
from modeldiagrams.target.inference.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modeldiagrams.target.inference.project import Project

__all__ = ["ParsedProject"]

_MOST_BYTES = 2_000_000
"""Of code that is parsed."""
_COMMANDS = re.compile(r"^([ \t]*)[%!?].*", re.MULTILINE)
"""What notebooks have beside Python: ``%matplotlib inline``."""


@dataclass
class ParsedProject:
    """Parsed once, and not without end."""

    project: Project
    data: DataFiles = field(init=False)
    _parsed: dict[Path, list[ParsedFile]] = field(default_factory=dict)
    _bytes: int = 0

    def __post_init__(self) -> None:
        self.data = DataFiles(self.project)

    def of_file(self, file: Path) -> list[ParsedFile]:
        """Each piece of Python in a file; docstrings come after the code around them."""
        if file not in self._parsed:
            text = self.project.text(file)
            self._bytes += len(text)
            self._parsed[file] = [*self._pieces(file, text)] if self._bytes <= _MOST_BYTES else []
        return self._parsed[file]

    def _pieces(self, file: Path, text: str) -> Iterator[ParsedFile]:
        module = self.project.module if file == self.project.own else self.project.module_name(file)
        for line, code in _pieces(file, text):
            try:
                yield ParsedFile(file, module, ast.parse(code), line)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue

    def of_module(self, module: str, near: Path) -> ParsedFile | None:
        """The code of a module that a file imports, if it is the project's."""
        file = self.project.module_file(module, near)
        return next(iter(self.of_file(file)), None) if file else None

    def place(self, source: ParsedFile, node: ast.AST) -> str:
        """Where a node is."""
        return self.project.place(source.file, source.line + getattr(node, "lineno", 1))

    def path_of(self, name: str, source: ParsedFile) -> str:
        """The dotted path of a name from the model's own package or PyTorch; nothing for others."""
        own = self.of_file(self.project.own)[:1] if source.file == self.project.own else []
        is_own = any(name in code.classes for code in own)
        path = f"{self.project.module}.{name}" if is_own else source.imported.get(name, "")
        return path if path.partition(".")[0] in self.packages else ""

    @property
    def packages(self) -> tuple[str, str]:
        """Classes of the model's package and of PyTorch have values, others would have to be imported."""
        return self.project.module.partition(".")[0], "torch"

    def class_named(self, node: ast.expr, scope: Scope) -> Scope | None:
        """The project's class that an expression names, with what is around it."""
        found = self._defined(node, scope)
        return found if found and isinstance(found.node, ast.ClassDef) else None

    def function_named(self, node: ast.expr, scope: Scope) -> Scope | None:
        """The same of a function."""
        found = self._defined(node, scope)
        return found if found and isinstance(found.node, Function) else None

    def _defined(self, node: ast.expr, scope: Scope) -> Scope | None:
        match node:
            case ast.Constant(value=str(name)) if name.isidentifier():
                return self._defined(ast.Name(name, ast.Load()), scope)
            case ast.Name(id=name):
                source = scope.source
                if name not in source.classes and name not in source.functions:
                    module, _, name = source.imported.get(name, "").rpartition(".")
                    return self._in_module(module, name, source)
                return _definition(source, name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                return self._in_module(scope.source.imported.get(owner, ""), name, scope.source)
        return None

    def _in_module(self, module: str, name: str, near: ParsedFile) -> Scope | None:
        """What a module defines, or imports from the one that does: ``from .net import Net`` in ``__init__.py``."""
        source = self.of_module(module, near.file) if module else None
        if source is None:
            return None
        if found := _definition(source, name):
            return found
        module, _, name = source.imported.get(name, "").rpartition(".")
        origin = self.of_module(module, source.file) if module else None
        return _definition(origin, name) if origin else None


def _definition(source: ParsedFile, name: str) -> Scope | None:
    node = source.classes.get(name) or source.functions.get(name)
    return Scope(source, node, Scope(source, source.tree)) if node else None


def _pieces(file: Path, text: str) -> Iterator[tuple[int, str]]:
    """Line before it, and text, of each piece of Python in a file."""
    if file.suffix == ".ipynb":
        try:
            cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        except (ValueError, KeyError, TypeError, RecursionError):  # no notebook
            return
        yield 0, "\n".join(filter(_is_code, map(_without_commands, cells)))  # they share their names
        return
    if file.suffix == ".py":
        yield 0, text
    yield from _blocks(text)


def _without_commands(cell: str) -> str:
    return cell if _is_code(cell) else _COMMANDS.sub(r"\1pass", cell)


def _is_code(cell: str) -> bool:
    try:
        ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Code in prose: blocks after ``>>>``, between fences, or more indented than the text before them."""
    lines = text.splitlines()
    block: list[str] = []
    for number, line in enumerate([*lines, ""]):
        stripped = line.strip()
        if stripped.startswith((">>> ", "... ")):
            block.append(stripped[4:])
        elif block:
            yield number - len(block), "\n".join(block)
            block = []
    for match in re.finditer(r"^( *)```\s*\{?py[^\n]*\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start(2)), inspect.cleandoc("\n" + match[2]).rstrip()
    for match in re.finditer(r"^\.\. code(?:-block)?:: +py[^\n]*\n((?:[ \t]+\S[^\n]*\n|\s*\n)+)", text, re.MULTILINE):
        yield text.count("\n", 0, match.start(1)), inspect.cleandoc("\n" + match[1]).rstrip()
