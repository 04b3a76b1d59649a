"""The fixture `architecture`: compares a model with its committed graph."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from modeldiagrams.engine.compare.difference import diff
from modeldiagrams.engine.diagram_ids import make_distinct
from modeldiagrams.engine.problems import format_problem, make_forward_problem
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.serialize import load, save

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from modeldiagrams.ir.graph import Graph

__all__ = ["Architecture"]

_UPDATE = "`pytest --update-architectures` writes it; review and commit it"


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The committed graphs of one test."""

    folder: Path
    """The folder of the test file's graphs."""
    test: str
    """The test's name in pytest: ``TestNet::test_pass[small]``."""
    root: Path
    """The folder that paths in messages are relative to."""
    written: Callable[[str], None] | None = field(repr=False)
    """Called for each written file; None to compare instead of write."""
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
            args: Positional arguments of one call; always use the same shapes, because the graph depends on them.
            kwargs: Keyword arguments of that call.
            name: A name to distinguish several checks of one test.
            fail_on: The least serious change that fails; ``any`` includes changes without effect on results.
        """
        __tracebackhide__ = True
        path = self._claim_path(name)
        graph = _trace_model(model, args, kwargs)
        problem = self._find_problem(path, graph, "detail" if fail_on == "any" else fail_on)
        if problem and self.written:
            save(graph, path)
            self.written(self._shown(path))
            return
        if problem:
            raise AssertionError(problem)

    def _claim_path(self, name: str) -> Path:
        __tracebackhide__ = True
        path = self.folder / f"{_file_name(self.test)}{f'.{_file_name(name)}' if name else ''}.json"
        if path in self._checked:
            raise ValueError(f"{self.test} checks several models: give each check a name, such as name='encoder'")
        self._checked.add(path)
        return path

    def _find_problem(self, path: Path, graph: Graph, level: Literal["detail", "notable", "breaking"]) -> str:
        """Explain why the committed graph doesn't match; "" if it does."""
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
        return f"{shown} no longer matches the model.\n{text}\nIf that is intended: {_UPDATE}"

    def _shown(self, path: Path) -> str:
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()


def _trace_model(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None) -> Graph:
    __tracebackhide__ = True
    # through the package, which explains a missing torch
    from modeldiagrams import trace  # noqa: PLC0415  (imports torch, which this file doesn't need)

    graph = trace(model, args, kwargs)
    if problem := make_forward_problem(graph.model.name, graph):
        raise AssertionError(format_problem(problem))
    return graph


def _file_name(test: str) -> str:
    """Make a file name that is valid on every system; a digest distinguishes names that lose characters."""
    name = re.sub(r"[^\w.\[\]-]+", "-", test.replace("::", "."))
    return name if name == test.replace("::", ".") else make_distinct(name, test)
