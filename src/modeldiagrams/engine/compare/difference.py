"""Finds what changed between two graphs with the viewer's core, without torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from modeldiagrams.common.decoding import decodable
from modeldiagrams.engine.compare.change_list import LEVELS, VERSION, Change, Checkpoints, Found, Level
from modeldiagrams.engine.compare.texts import as_markdown, as_text
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.case_texts import say_only
from modeldiagrams.ir.documents import make_schema
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.render.draw import build_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from modeldiagrams.ir.graph import Graph

__all__ = [
    "LEVELS",
    "Change",
    "Checkpoints",
    "Difference",
    "Level",
    "describe_changes",
    "diff",
    "difference_by",
    "difference_schema",
]

_NAMED = 3
"""The maximum number of keys in an error."""
_MOST_CHANGES = 3
"""The maximum number of changes in a summary; the rest is counted."""


class Difference(Found, frozen=True, kw_only=True):
    """The changes from one graph to another.

    Attributes:
        same: Whether nothing differs.
        same_computation: Whether outputs are computed in the same way, even with other modules and names.
        reservations: Reasons why the comparison may report too much or too little, such as other example inputs.
        inventory: For two different architectures, the number of layers before and after by class; else None.
        changes: Each change once, changes of the interface first.
    """

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def to_text(self, *, details: bool = False, title: str = "") -> str:
        """Format as text for a terminal.

        Args:
            details: Whether to list changes of level ``detail`` one by one.
            title: The first line; by default the names of the models.
        """
        return as_text(self, details=details, title=title)

    def to_markdown(self, *, details: bool = False, title: str = "") -> str:
        """Format as Markdown for a pull request or a page.

        Args:
            details: Whether to list changes of level ``detail`` one by one.
            title: The first line; by default the names of the models.
        """
        return as_markdown(self, details=details, title=title)

    def to_json(self) -> str:
        """Encode as JSON in the format ``modeldiagrams-diff``."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode()

    def reaches(self, level: Level) -> bool:
        """Whether there is a change of this or a more serious level."""
        return any(LEVELS.index(change.level) <= LEVELS.index(level) for change in self.changes)

    def summarise(self) -> list[str]:
        """Describe the most serious changes and all reservations, one sentence each."""
        main = [change for change in self.changes if change.is_main]
        main.sort(key=lambda change: LEVELS.index(change.level))
        lines = [f"{change.level}: {change.text}" for change in main[:_MOST_CHANGES]]
        if len(main) > _MOST_CHANGES:
            lines.append(f"and {len(main) - _MOST_CHANGES} more")
        if not main and self.changes:
            lines.append("nothing with an effect on results")
        return [*lines, *(f"reservation: {text}" for text in self.reservations)]

    def migrate(self, state_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Rename the keys of a state dict of the earlier model, so that the later model loads it.

        Args:
            state_dict: The ``state_dict()`` of the earlier model.

        Returns:
            The same tensors under their names in the later model.

        Raises:
            ModelDiagramsError: unless every weight has exactly one certain counterpart.
        """
        doubt = self._doubt()
        if doubt:
            raise ModelDiagramsError(f"this state dict can't be migrated: {doubt}")
        names = {pair.before: pair.after for pair in self.checkpoints.renamed}
        missing = [name for name in names if name not in state_dict]
        if missing:
            raise ModelDiagramsError(
                f"expected a state dict of the earlier {self.before.model}, but it lacks {_list(missing)}"
            )
        return {names.get(name, name): value for name, value in state_dict.items()}

    def _doubt(self) -> str:
        """Explain why weights can't be renamed; "" if they can."""
        found = self.checkpoints
        if found.ambiguous:
            return f"{_list(found.ambiguous[0].before)} differ in nothing but their names"
        kept = [name for name in found.other_role if name not in {pair.before for pair in found.renamed}]
        if kept:
            return f"another weight now has the name {_list(kept)}"
        for keys, problem in (
            ([pair.before for pair in found.reshaped], "another shape is needed for"),
            (found.gone, "there is no place for"),
            (found.new, "there are no values for"),
        ):
            if keys:
                return f"{problem} {_list(keys)}"
        return "" if found.verdict.startswith("load") else "no weight has a counterpart"


def diff(before: Graph, after: Graph) -> Difference:
    """Find what changed between two versions of a model: ``print(modeldiagrams.diff(before, after))``.

    Args:
        before: The earlier graph.
        after: The later graph.

    Returns:
        The changes, each once at its cause, and whether saved weights still load.

    Raises:
        ModelDiagramsError: if one of the graphs is incomplete, so that a comparison would not be reliable.
        RenderError: if the viewer, which compares the graphs, fails or was not built.
    """
    return difference_by(build_difference, before, after)


def difference_by(compare: Callable[[bytes, bytes], str], before: Graph, after: Graph) -> Difference:
    """Do what `diff` does; `compare` takes the JSON texts of both graphs, and may run in another process."""
    for name, graph in (("before", before), ("after", after)):
        if graph.status.state != "complete":
            raise ModelDiagramsError(
                f"expected a complete graph to compare, got a {graph.status.state} one ({name}: {graph.model.name});"
                " trace the model so that its forward pass ends without an error"
            )
    found = _compare(compare, before, after)
    if found.same:
        return _difference_of_case(compare, before, after) or found
    if not before.cases and not after.cases:
        return found
    return replace(found, changes=tuple(_name_cases(change, before, after) for change in found.changes))


def _name_cases(change: Change, before: Graph, after: Graph) -> Change:
    """Begin a change with the cases of what changed, if all of that is of the same ones and not of all."""
    places = [(graph, place) for pair in change.places for graph, place in zip((before, after), pair, strict=True)]
    nodes = [(graph, graph.by_id.get(place)) for graph, place in places if place is not None]  # the root is no node
    seen = {say_only(graph, node) if node else "" for graph, node in nodes}
    only = seen.pop() if len(seen) == 1 else ""
    return replace(change, text=f"{only}: {change.text}") if only else change


def _compare(compare: Callable[[bytes, bytes], str], before: Graph, after: Graph) -> Difference:
    return msgspec.json.decode(compare(serialize(before), serialize(after)), type=decodable(Difference))


def _difference_of_case(compare: Callable[[bytes, bytes], str], before: Graph, after: Graph) -> Difference | None:
    """The changes of the first case that changed: the nodes of the union only have the values of one case."""
    ran = [{case.name for case in graph.cases if case.status.state == "complete"} for graph in (before, after)]
    for name in (case.name for case in before.cases if case.name in ran[0] & ran[1]):
        one, other = before.case(name), after.case(name)
        if structural_digest(one) != structural_digest(other):
            found = _compare(compare, one, other)
            named = tuple(replace(change, text=f"case {name}: {change.text}") for change in found.changes)
            if named:
                return replace(found, changes=named)
    return None


def describe_changes(compare: Callable[[bytes, bytes], str], before: Graph, after: Graph) -> str:
    """Describe the most serious changes in a few words; "" if incomplete graphs can't be compared."""
    if before.status.state != after.status.state:
        return f"its pass is {before.status.state} → {after.status.state}"
    try:
        return "; ".join(difference_by(compare, before, after).summarise())
    except ModelDiagramsError:
        return ""


def difference_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `Difference.to_json`."""
    return make_schema(Difference, f"modeldiagrams difference, format version {VERSION}")


def _list(names: list[str] | tuple[str, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
