"""What ``mkdocs serve`` remembers from build to build: models that failed, which no cache keeps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldiagrams.diagrams import Diagram, Maker
from modeldiagrams.installed import surroundings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.options import Options

__all__ = ["Failures", "RememberingMaker", "sources"]

_LASTING = frozenset({"model", "inputs", "forward", "worker"})
"""Kinds of problems that come again while nothing changes."""


class Failures:
    """Diagrams with problems, and what was there when they were made."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, Diagram]] = {}

    def recall(self, key: str, folders: Sequence[Path], python: str | None) -> Diagram | None:
        """The diagram, if nothing has changed since that it may depend on."""
        state, diagram = self._known.get(key, (None, None))
        return diagram if diagram and state == _state(diagram, folders, python) else None

    def note(self, key: str, diagram: Diagram, folders: Sequence[Path], python: str | None) -> None:
        """Remember a diagram, if it has a problem that would come again."""
        problem = diagram.problem
        # without a line of user code it was the tracing process itself, which starts anew
        if problem and problem.kind in _LASTING and (problem.kind != "worker" or problem.frames):
            self._known[key] = (_state(diagram, folders, python), diagram)
        else:
            self._known.pop(key, None)


class RememberingMaker(Maker):
    """Runs a model that has failed again only when that may help."""

    def __init__(self, failures: Failures, cache_dir: Path, *, root: Path, **kwargs: Any) -> None:
        super().__init__(cache_dir, paths=[root], **kwargs)
        self._failures = failures
        self._root = root

    def make(self, options: Options, *args: Any, **kwargs: Any) -> Diagram:
        """As `Maker.make`."""
        key, python = repr((options, args)), self.interpreter(options)
        self.output = ""
        known = self._failures.recall(key, [self._root], python)
        if known:
            return known
        diagram = super().make(options, *args, **kwargs)
        self._failures.note(key, diagram, [self._root], python)
        return diagram


def sources(diagram: Diagram, root: Path) -> tuple[str, ...]:
    """Absolute files whose change may change a diagram.

    Args:
        diagram: It; of a model that was stopped nobody knows what it had loaded: all of its package counts.
        root: Where packages are, absolute.
    """
    if diagram.sources or diagram.problem is None:
        return diagram.sources
    package = root / diagram.options.model.partition(":")[0].partition(".")[0]
    files = [package.with_suffix(".py"), *package.rglob("*.py")]
    return tuple(sorted(str(file) for file in files if file.is_file()))


def _state(diagram: Diagram, folders: Sequence[Path], python: str | None) -> object:
    files = [Path(file) for root in folders for file in sources(diagram, root)]
    stamps = [(status.st_mtime_ns, status.st_size) if (status := _status(file)) else None for file in files]
    return files, stamps, surroundings([*folders, *(file.parent for file in files)], python)


def _status(file: Path) -> Any:
    try:
        return file.stat()
    except OSError:
        return None
