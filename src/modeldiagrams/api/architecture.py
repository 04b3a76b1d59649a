"""What the fixture `architecture` does: compare a model with its committed graph."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from modeldiagrams.engine.compare.difference import diff
from modeldiagrams.engine.ids import distinct
from modeldiagrams.engine.problems import forward_problem, in_words
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.serialize import load, save

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from modeldiagrams.ir.graph import Graph

__all__ = ["Architecture"]

_UPDATE = "`pytest --update-architectures` writes it; look at it and commit it"


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The committed graphs of one test."""

    folder: Path
    """Of the test file's graphs."""
    test: str
    """As pytest names it: ``TestNet::test_pass[small]``."""
    root: Path
    """Messages have paths relative to it."""
    written: Callable[[str], None] | None = field(repr=False)
    """Set to write files, and called for each; None to compare."""
    _checked: set[Path] = field(default_factory=set, repr=False)

    def check(
        self,
        model: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        name: str = "",
        fail_on: Literal["any", "notable", "breaking"] = "any",
    ) -> None:
        """Fail if a model no longer matches its committed graph; the message lists what changed.

        Args:
            model: The model, in train or eval mode.
            args: Positional arguments of one call; use the same shapes every time, because the graph depends on them.
            kwargs: Keyword arguments of that call.
            name: Tells the checks of one test apart.
            fail_on: The least serious level of change that fails; ``any`` includes those without effect on results.
        """
        __tracebackhide__ = True
        path = self._path(name)
        graph = _traced(model, args, kwargs)
        problem = self._problem(path, graph, "detail" if fail_on == "any" else fail_on)
        if problem and self.written:
            save(graph, path)
            self.written(self._shown(path))
            return
        if problem:
            raise AssertionError(problem)

    def _path(self, name: str) -> Path:
        __tracebackhide__ = True
        path = self.folder / f"{_file_name(self.test)}{f'.{_file_name(name)}' if name else ''}.json"
        if path in self._checked:
            raise ValueError(f"{self.test} checks several models: give each check a name, such as name='encoder'")
        self._checked.add(path)
        return path

    def _problem(self, path: Path, graph: Graph, level: Literal["detail", "notable", "breaking"]) -> str:
        """Why the committed graph does not stand for this one; "" if it does."""
        shown = self._shown(path)
        if not path.exists():
            return f"{shown}: expected the committed graph of this model; {_UPDATE}"
        try:
            found = diff(load(path), graph)
        except GraphError as error:
            reason = str(error).replace(str(path), shown)
            return f"{reason}\n{shown}: expected a graph to compare with; {_UPDATE}"
        if found.reservations:
            reasons = "; ".join(found.reservations)
            return f"{shown} can't be compared: {reasons}. Check with the same inputs, or write it again: {_UPDATE}"
        if not found.reaches(level):
            return ""
        text = found.to_text(details=level == "detail")
        return f"{shown} no longer matches the model.\n{text}\nIf that is meant: {_UPDATE}"

    def _shown(self, path: Path) -> str:
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()


def _traced(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None) -> Graph:
    __tracebackhide__ = True
    # through the package, which explains a missing torch
    from modeldiagrams import trace  # noqa: PLC0415  (it imports torch, which this file needs not)

    graph = trace(model, args, kwargs)
    if problem := forward_problem(graph.model.name, graph):
        raise AssertionError(in_words(problem))
    return graph


def _file_name(test: str) -> str:
    """A name for files of every system: those that lose characters differ in a digest."""
    name = re.sub(r"[^\w.\[\]-]+", "-", test.replace("::", "."))
    return name if name == test.replace("::", ".") else distinct(name, test)
