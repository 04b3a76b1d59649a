"""Classes of the model's code with those that they inherit from, read from the text: no code is imported for it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.ir.source_files import source_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Class", "Code"]

Method = ast.FunctionDef | ast.AsyncFunctionDef


class Class(NamedTuple):
    """A class where it is written."""

    file: str
    node: ast.ClassDef

    def method(self, name: str) -> Method | None:
        """The method that its body defines."""
        return next((one for one in self.node.body if isinstance(one, Method) and one.name == name), None)


class Code:
    """Files of Python, parsed when they are needed. What can't be read or parsed holds no classes."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files = tuple(files)
        self._trees: dict[str, ast.Module] = {}

    def tree(self, file: str) -> ast.Module:
        """A file's code."""
        if file not in self._trees:
            try:
                self._trees[file] = ast.parse(Path(file).read_text("utf-8"))
            except (OSError, UnicodeError, SyntaxError, ValueError, RecursionError):
                self._trees[file] = ast.Module(body=[], type_ignores=[])
        return self._trees[file]

    def lineage(self, file: str, name: str) -> tuple[Class, ...]:
        """A class and all that it inherits from, nearest first, as far as their files are at hand."""
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
        """The class that a name means in a file: defined there, or imported from another one."""
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
        """The file in which a name is that an import brings, and its name there."""
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
"""Most files through which a name is handed on; more may be a circle."""
