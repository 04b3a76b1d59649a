"""The files of a project that are read: bounded in number and size, and none outside of its folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from modeldiagrams.common.user_files import is_user_file

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CODE", "DATA", "Project"]

CODE = frozenset({".py", ".md", ".rst", ".ipynb"})
DATA = frozenset({".yaml", ".yml", ".json"})
_ROOT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_MOST_FILES = 400
_MOST_BYTES = {True: 60_000, False: 300_000}
"""Of a file with data, whose reader is slow, and of one with code."""
_MOST_BYTES_IN_ALL = 20_000_000
_MOST_FOLDERS = 300
_MOST_PARENTS = 5
_SKIPPED = re.compile(r"^(\.|_build$|build$|dist$|node_modules$|site-packages$|venv$|__pycache__$)")


@dataclass
class Project:
    """The folder that a module belongs to."""

    own: Path
    """The module's file."""
    module: str
    """Its dotted name."""
    root: Path = field(init=False)
    """Places are given from here."""
    folder: Path = field(init=False)
    """Nothing outside of it is read."""
    _texts: dict[Path, str] = field(default_factory=dict)
    _bytes: int = 0

    def __post_init__(self) -> None:
        """Find the nearest folder with a file that only projects have, else that of the outermost package.

        Without such a file only the module's own folder is read: what is elsewhere may belong to anybody. Of a library,
        only the module itself: it has examples and factories for its classes.
        """
        if not is_user_file(str(self.own)):
            self.root, self.folder = self._import_root(), self.own
            return
        parents = [*self.own.parents][:_MOST_PARENTS]
        marked = (folder for folder in parents if any((folder / name).exists() for name in _ROOT_FILES))
        plain = next((folder for folder in parents if not (folder / "__init__.py").exists()), parents[0])
        project = next(marked, None)
        self.root = project or plain
        self.folder = project or self.own.parent

    def files(self) -> list[Path]:
        """Code and data, folder by folder."""
        found: list[Path] = []
        pending, folders = [self.folder], _MOST_FOLDERS if self.folder == self.root else 1  # of a library, no folder
        while pending and folders and len(found) < _MOST_FILES:
            folders -= 1
            try:
                inside = sorted(pending.pop(0).iterdir())
            except OSError:
                continue
            shown = [path for path in inside if not _SKIPPED.search(path.name)]
            found += [path for path in shown if path.suffix in CODE | DATA and path.is_file()]
            pending += [path for path in shown if path.is_dir() and not path.is_symlink()]
        return found[:_MOST_FILES]

    def text(self, file: Path) -> str:
        """What is in a file; nothing if it is outside of the project, no text, or too large."""
        if file not in self._texts:
            self._texts[file] = self._read(file)
        return self._texts[file]

    def _read(self, file: Path) -> str:
        try:
            size = file.stat().st_size
            is_small = size <= _MOST_BYTES[file.suffix in DATA] and self._bytes + size <= _MOST_BYTES_IN_ALL
            if not (is_small and file.is_file() and file.resolve().is_relative_to(self.folder.resolve())):
                return ""
            self._bytes += size
            return file.read_text("utf-8")
        except (OSError, ValueError, RuntimeError):
            return ""

    def place(self, file: Path, line: int) -> str:
        """``tests/test_model.py:12``."""
        return f"{self.relative(file)}:{line}"

    def relative(self, file: Path) -> str:
        """A file's path from the project's folder."""
        return file.relative_to(self.root).as_posix()

    def module_file(self, module: str, near: Path) -> Path | None:
        """The file of a module that a file imports, if it is the project's."""
        return self._first(
            [
                folder / f"{module.replace('.', '/')}{ending}"
                for folder in self._import_roots(near)
                for ending in (".py", "/__init__.py")
            ]
        )

    def data_file(self, name: str, near: Path) -> Path | None:
        """The file with data that code names."""
        return self._first([near.parent / name, self.root / name]) if Path(name).suffix in DATA else None

    def module_name(self, file: Path) -> str:
        """The dotted name by which other files import one."""
        for folder in self._import_roots(self.own):
            if file.is_relative_to(folder):
                parts = file.relative_to(folder).with_suffix("").parts
                return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        return file.stem

    def _import_roots(self, near: Path) -> list[Path]:
        return [self._import_root(), self.root / "src", self.root, near.parent]

    def _import_root(self) -> Path:
        depth = self.module.count(".") + (self.own.stem == "__init__")
        return self.own.parents[min(depth, len(self.own.parents) - 1)]

    def _first(self, files: list[Path]) -> Path | None:
        return next((file for file in self._normal(files) if self.text(file)), None)

    def _normal(self, files: list[Path]) -> Iterator[Path]:
        for file in files:
            parts: list[str] = []
            for part in file.parts:
                parts = parts[:-1] if part == ".." else [*parts, part]
            if (normal := Path(*parts)).is_relative_to(self.root):
                yield normal
