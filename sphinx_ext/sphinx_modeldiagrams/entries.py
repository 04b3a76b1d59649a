"""What a project remembers of each diagram from build to build, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from modeldiagrams.common.environment import made_with
from modeldiagrams.engine.failures import RECURRING
from modeldiagrams.engine.problems import forward_problem
from modeldiagrams.hosting.documented_classes import names_of, reference_name
from modeldiagrams.hosting.host import UNKNOWN, describe
from modeldiagrams.hosting.parts import module_fragment
from modeldiagrams.html.fragment import is_interactive
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
    from collections.abc import Collection

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["Entry", "Location", "is_outdated", "make_entry", "module_anchor", "module_anchors"]

_LISTED_MODULES = 2_000
"""Modules of one diagram in the inventory: the largest models have ten thousand."""


class Location(TypedDict):
    """Where a diagram is."""

    anchor: str | None
    """None for a diagram that is left out."""
    source: str
    """For messages: file and line."""
    automatic: bool
    """Whether the site added it because autodoc documents the class."""


class Entry(TypedDict):
    """One diagram; pickled with Sphinx's environment."""

    id: str
    model: str
    """What references call it."""
    names: list[str]
    """The same, and other names of its class."""
    snapshot: str
    location: Location
    target: bool
    """Whether references to the model lead here."""
    has_graph: bool
    interactive: bool
    modules: str
    """Dotted paths of its modules, one a line: what a reference may name. One string pickles best."""
    failed: bool
    """Whether the next build draws it again, because it has a problem to warn of, or one that may be gone."""
    libraries: list[str]
    python: str | None
    made_with: list[str]
    failure: str | None
    """Key of a failure that comes again while nothing changes, in the builder's `FailureMemory`."""
    warning: tuple[str, str] | None
    """Kind and text of what builds warn of that do not read the page again, as long as it would fail again."""


def make_entry(diagram: Diagram, location: Location, builder: DiagramBuilder, accepted: Collection[str]) -> Entry:
    """The entry of a diagram.

    Args:
        diagram: Just drawn.
        location: Where it is.
        builder: That drew it.
        accepted: Kinds of problems that are not reported.
    """
    problem, options = diagram.problem, diagram.options
    python = builder.tracing.interpreter(options)
    is_accepted = problem is not None and problem.kind in accepted and problem.kind != "worker"
    is_reported = problem is not None and problem.kind not in accepted and _is_of_the_trace(diagram)
    failure = builder.tracing.remembered_failure(options) if is_accepted or is_reported else None
    modules = (node.path for node in diagram.graph.nodes if isinstance(node, ModuleNode)) if diagram.graph else ()
    return Entry(
        id=diagram.id,
        model=reference_name(diagram),
        names=names_of(diagram),
        snapshot=diagram.snapshot,
        location=location,
        target=location["anchor"] is not None and not options.figure.no_index and options.call.model != UNKNOWN,
        has_graph=diagram.graph is not None,
        interactive=is_interactive(diagram),
        modules="\n".join(dict.fromkeys(modules)),
        failed=problem is not None and failure is None and (not is_accepted or _can_recover(diagram)),
        libraries=list(diagram.libraries),
        python=python,
        made_with=list(made_with(diagram.libraries, python)),
        failure=failure,
        warning=(problem.kind, describe(problem)) if problem and failure and is_reported else None,
    )


def _is_of_the_trace(diagram: Diagram) -> bool:
    """Whether a problem is one trace's alone: what else went wrong beside it, as in drawing, may be gone."""
    problem, graph, call = diagram.problem, diagram.graph, diagram.options.call
    if problem is None or problem.kind not in RECURRING or diagram.options.compare.before is not None:
        return False
    return graph is None or problem == forward_problem(call.model, graph)


def _can_recover(diagram: Diagram) -> bool:
    """Whether another try may help a diagram: nothing but its sources decides on a graph file or a complete graph."""
    is_complete = diagram.graph is not None and diagram.graph.status.state != "partial"
    is_tried = diagram.problem is not None and diagram.problem.kind in RECURRING
    return is_tried and not is_complete and not is_graph_file(diagram.options.call.model)


def is_outdated(entry: Entry, failing: Collection[str]) -> bool:
    """Whether a diagram may be another one now, although the sources of its page have not changed.

    Args:
        entry: The diagram.
        failing: Keys of remembered failures that would come again.
    """
    if entry["failed"] or entry["made_with"] != list(made_with(entry["libraries"], entry["python"])):
        return True
    return entry["failure"] is not None and entry["failure"] not in failing


def module_anchors(entry: Entry, page: list[Entry]) -> dict[str, str]:
    """Module → the fragment that shows it: in the widget, or else the whole picture.

    Args:
        entry: The diagram.
        page: All on its web page, in order.
    """
    modules = [module for module in entry["modules"].split("\n")[:_LISTED_MODULES] if module]
    if not entry["interactive"]:
        return dict.fromkeys(modules, entry["location"]["anchor"] or "")
    index = _index(entry, page)
    return {module: module_fragment(entry["id"], index, module) for module in modules}


def module_anchor(entry: Entry, module: str, page: list[Entry]) -> str:
    """The fragment that makes an interactive diagram show a module."""
    return module_fragment(entry["id"], _index(entry, page), module)


def _index(entry: Entry, page: list[Entry]) -> int:
    """A diagram's number among those of its page that have its id: the same text twice makes equal ids."""
    same = [other["location"] for other in page if other["id"] == entry["id"] and other["interactive"]]
    return same.index(entry["location"]) if entry["location"] in same else 0
