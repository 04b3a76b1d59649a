"""Finds classes of the model's code and their base classes in the source text, without importing it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.ir.source_files import source_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Class", "Code", "read_source", "runs_method"]

Method = ast.FunctionDef | ast.AsyncFunctionDef


class Class(NamedTuple):
    """A class and the file that defines it."""

    file: str
    node: ast.ClassDef

    def method(self, name: str) -> Method | None:
        """The method that the class body defines: the last of this name, because earlier ones are overloads."""
        return next((one for one in reversed(self.node.body) if isinstance(one, Method) and one.name == name), None)


class Code:
    """Python files, parsed when needed. A file that can't be read or parsed has no classes."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files = tuple(files)
        self._trees: dict[str, ast.Module] = {}
        self._around: dict[str, dict[int, tuple[ast.ClassDef | None, Method | None]]] = {}
        self._chains: dict[str, dict[int, list[str]]] = {}

    def tree(self, file: str) -> ast.Module:
        """The syntax tree of a file."""
        if file not in self._trees:
            try:
                self._trees[file] = ast.parse(read_source(file))
            except (OSError, UnicodeError, SyntaxError, ValueError, RecursionError):
                self._trees[file] = ast.Module(body=[], type_ignores=[])
        return self._trees[file]

    def around(self, file: str, line: int) -> tuple[ast.ClassDef | None, Method | None]:
        """The innermost class and function around a line."""
        if file not in self._around:
            table: dict[int, tuple[ast.ClassDef | None, Method | None]] = {}
            for node in ast.walk(self.tree(file)):  # outer ones first
                if isinstance(node, ast.ClassDef | Method):
                    for at in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                        class_, method = table.get(at, (None, None))
                        table[at] = (node, method) if isinstance(node, ast.ClassDef) else (class_, node)
            self._around[file] = table
        return self._around[file].get(line, (None, None))

    def chains(self, file: str, line: int) -> list[str]:
        """The attributes of ``self`` that a line reads, as paths: ``blocks.0.norm``; ``*`` is a computed index."""
        if file not in self._chains:
            table: dict[int, list[str]] = defaultdict(list)
            parts: set[ast.AST] = set()
            for node in ast.walk(self.tree(file)):  # `self.a.b` before `self.a`
                chain = _chain(node) if node not in parts else None
                if chain:
                    table[node.lineno].append(chain)  # type: ignore[attr-defined]  # it is an expression
                    parts.update(ast.walk(node.value))  # type: ignore[attr-defined]
            self._chains[file] = table
        return self._chains[file].get(line, [])

    def lineage(self, file: str, name: str) -> tuple[Class, ...]:
        """A class and its bases, the nearest first, as far as their files are known."""
        found: dict[Class, None] = {}
        waiting = [*self._named(file, name, 0)]
        while waiting:
            class_ = waiting.pop(0)
            if class_ in found:
                continue
            found[class_] = None
            waiting = [*self._bases(class_), *waiting]
        return tuple(found)

    def _bases(self, class_: Class) -> Iterator[Class]:
        for base in class_.node.bases:
            written = base.value if isinstance(base, ast.Subscript) else base  # Base[int]
            yield from self._named(class_.file, ast.unparse(written), 0)

    def _named(self, file: str, name: str, depth: int) -> Iterator[Class]:
        """Yield the class that a name means in a file: defined there, or imported from another file."""
        nodes = [*ast.walk(self.tree(file))]
        own = next((node for node in nodes if isinstance(node, ast.ClassDef) and node.name == name), None)
        if own is not None:
            yield Class(file, own)
        elif depth < _MOST_IMPORTS:
            for node in nodes:
                if isinstance(node, ast.Import | ast.ImportFrom):
                    for other, there in self._imported(file, node, name):
                        yield from self._named(other, there, depth + 1)

    def _imported(self, file: str, node: ast.Import | ast.ImportFrom, name: str) -> Iterator[tuple[str, str]]:
        """Yield the file from which an import brings a name, and the name there."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                known = alias.asname or alias.name
                module, there = alias.name, name.removeprefix(f"{known}.")
                is_meant = name.startswith(f"{known}.")
            else:
                known, rest = alias.asname or alias.name, name.partition(".")[2]
                module = f"{node.module or ''}.{alias.name}".lstrip(".") if rest else node.module or ""
                there = rest or alias.name
                is_meant = name.partition(".")[0] == known
            other = self._file(file, module, getattr(node, "level", 0)) if is_meant else None
            if other is not None:
                yield other, there

    def _file(self, file: str, module: str, level: int) -> str | None:
        path = module.replace(".", "/")
        names = [f"{path}.py", f"{path}/__init__.py"] if path else ["__init__.py"]
        if level == 0:
            return next((found for name in names if (found := source_file(name, self._files))), None)
        folder = Path(file).parents[level - 1] if level <= len(Path(file).parents) else Path(file).parent
        wanted = [folder / name for name in names]
        return next((one for one in self._files if Path(one) in wanted), None)


_MOST_IMPORTS = 8
"""Most imports to follow for one name; more may be a circle."""


def runs_method(lineage: Sequence[Class], class_: ast.ClassDef, method: Method | None) -> bool:
    """Whether a module with these classes, the nearest first, runs a method of one of them."""
    for one in lineage:
        if one.node is class_:
            return True
        own = one.method(method.name) if method else None
        if own is not None and not _runs_inherited(own):
            return False
    return False


def read_source(file: str) -> str:
    """Read a Python file, with or without a byte order mark."""
    return Path(file).read_text("utf-8-sig")


def _runs_inherited(method: Method) -> bool:
    """Whether a method calls the inherited one, by ``super`` or as ``Base.method(self)``."""
    calls = [node for node in ast.walk(method) if isinstance(node, ast.Call)]
    return any(_is_super(call.func) or _is_of_base(call, method.name) for call in calls)


def _is_super(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id == "super"


def _is_of_base(call: ast.Call, name: str) -> bool:
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == name
    first = call.args[0] if call.args else None
    return is_method and isinstance(first, ast.Name) and first.id == "self"


def _chain(node: ast.AST) -> str | None:
    """The path of an expression that begins with ``self``; None for others and for ``self`` alone."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        parts.append(node.attr if isinstance(node, ast.Attribute) else _index(node.slice))
        node = node.value
    return ".".join(reversed(parts)) if isinstance(node, ast.Name) and node.id == "self" else None


def _index(index: ast.expr) -> str:
    try:
        value = ast.literal_eval(index)
    except ValueError:
        return "*"
    return str(value) if isinstance(value, int) or (isinstance(value, str) and value.isidentifier()) else "*"
