"""The files of a project that are read: bounded in number and size, and none outside of its folder."""

from __future__ import annotations

import ast
import inspect
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from modeldiagrams.common.user_files import is_user_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["CODE", "ProjectFiles", "iterate_code_blocks"]

CODE = frozenset({".py", ".md", ".rst", ".ipynb"})
DATA = frozenset({".yaml", ".yml", ".json"})
_ROOT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_MAX_FILES = 400
_MAX_FOLDERS = 300
_MAX_PARENTS = 5
_MAX_BYTES = {True: 60_000, False: 300_000}
"""Of a data file, whose parser is slow, and of a file with code."""
_MAX_TOTAL_BYTES = 20_000_000
_SKIPPED = re.compile(r"^(\.|_build$|build$|dist$|node_modules$|site-packages$|venv$|__pycache__$)")
_TESTS = re.compile(r"(^|/)(tests?|testing)(/|$)|test_|conftest")
_NOTEBOOK_COMMANDS = re.compile(r"^([ \t]*)[%!?].*", re.MULTILINE)


@dataclass
class ProjectFiles:
    """Files of the project that a module belongs to."""

    module_file: Path
    module: str
    """Dotted name of the module."""
    root: Path = field(init=False)
    """Places are given relative to it."""
    folder: Path = field(init=False)
    """Nothing outside of it is read."""
    _bytes: int = 0

    def __post_init__(self) -> None:
        """Find the nearest folder with a file that marks a project, or else the folder of the outermost package.

        Without such a file, only the folder of the module is read, because other files may belong to anybody. Of an
        installed library, only the module itself is read.
        """
        if not is_user_file(str(self.module_file)):
            depth = self.module.count(".") + (self.module_file.stem == "__init__")
            self.root = self.module_file.parents[min(depth, len(self.module_file.parents) - 1)]
            self.folder = self.module_file
            return
        parents = [*self.module_file.parents][:_MAX_PARENTS]
        marked = (folder for folder in parents if any((folder / name).exists() for name in _ROOT_FILES))
        plain = (folder for folder in parents if not (folder / "__init__.py").exists())
        project = next(marked, None)
        self.root = project or next(plain, parents[0])
        self.folder = project or self.module_file.parent

    def list_files(self) -> list[Path]:
        """Code and data: the module's own file first, tests last."""
        found: list[Path] = []
        pending, folders = [self.folder], _MAX_FOLDERS if self.folder == self.root else 1
        while pending and folders and len(found) < _MAX_FILES:
            folders -= 1
            try:
                inside = sorted(pending.pop(0).iterdir())
            except OSError:
                continue
            shown = [path for path in inside if not _SKIPPED.search(path.name)]
            found += [path for path in shown if path.suffix in CODE | DATA and path.is_file()]
            pending += [path for path in shown if path.is_dir() and not path.is_symlink()]
        others = [path for path in found[:_MAX_FILES] if path != self.module_file]
        return [self.module_file, *sorted(others, key=lambda path: bool(_TESTS.search(self.relative_path(path))))]

    def read_text(self, file: Path) -> str:
        """Content of a file; empty if it is outside of the project, no text, or too large."""
        try:
            size = file.stat().st_size
            is_small = size <= _MAX_BYTES[file.suffix in DATA] and self._bytes + size <= _MAX_TOTAL_BYTES
            if not (is_small and file.is_file() and file.resolve().is_relative_to(self.folder.resolve())):
                return ""
            self._bytes += size
            return file.read_text("utf-8")
        except (OSError, ValueError, RuntimeError):
            return ""

    def relative_path(self, file: Path) -> str:
        """Path of a file from the root of the project."""
        return file.relative_to(self.root).as_posix()


def iterate_code_blocks(file: Path, text: str) -> Iterator[tuple[int, ast.Module]]:
    """Python in a file: the number of lines before each block, and the block.

    Args:
        file: Its suffix says what it holds.
        text: Its content. Docstrings and pages have blocks after ``>>>``, between fences, and in directives.
    """
    for line, code in _blocks_of_text(file, text):
        tree = _parsed(code)
        if tree is not None:
            yield line, tree


def _blocks_of_text(file: Path, text: str) -> Iterator[tuple[int, str]]:
    if file.suffix == ".ipynb":
        yield 0, _notebook_code(text)
        return
    if file.suffix == ".py":
        yield 0, text
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""]):
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


def _notebook_code(text: str) -> str:
    """All cells as one module, because they share their names."""
    try:
        cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    cells = [cell if _parsed(cell) else _NOTEBOOK_COMMANDS.sub(r"\1pass", cell) for cell in cells]
    return "\n".join(cell for cell in cells if _parsed(cell))


def _parsed(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
