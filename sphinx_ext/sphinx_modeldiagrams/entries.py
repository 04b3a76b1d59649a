"""Plain data about each diagram that Sphinx's environment keeps from build to build."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from modeldiagrams.common.environment import made_with
from modeldiagrams.engine.failures import RECURRING
from modeldiagrams.engine.problems import make_forward_problem
from modeldiagrams.hosting.diagram_parts import link_module
from modeldiagrams.hosting.documented_classes import get_reference_name, list_names
from modeldiagrams.hosting.host import UNKNOWN
from modeldiagrams.hosting.reports import format_warning
from modeldiagrams.hosting.site_files import encode_figures
from modeldiagrams.html.fragment import is_interactive
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
    from collections.abc import Collection

    from modeldiagrams.engine.builder import DiagramBuilder
    from modeldiagrams.engine.diagram import Diagram

__all__ = [
    "CatalogueEntry",
    "Entry",
    "Location",
    "is_outdated",
    "make_entry",
    "make_module_anchor",
    "make_module_anchors",
]

_LISTED_MODULES = 2_000
"""The maximum number of a diagram's modules in the inventory; the largest models have ten thousand."""


class Location(TypedDict):
    """The location of a diagram."""

    anchor: str | None
    """None for a diagram that is left out."""
    source: str
    """File and line, for messages."""
    automatic: bool
    """Whether the site added it because autodoc documents the class."""


class Entry(TypedDict):
    """A diagram in Sphinx's environment, which is pickled."""

    id: str
    model: str
    """The name for references."""
    names: list[str]
    """This and other names of its class."""
    snapshot: str
    location: Location
    target: bool
    """Whether references to the model lead here."""
    has_graph: bool
    figures: str
    """Of its graph, as JSON text for the site's list of diagrams."""
    interactive: bool
    modules: str
    """Dotted paths of its modules, as targets of references, one per line: one string pickles best."""
    failed: bool
    """Whether the next build draws it again, because it has a problem to report, or one that may be solved."""
    libraries: list[str]
    python: str | None
    made_with: list[str]
    failure: str | None
    """Key in the builder's `FailureMemory` of a failure that recurs until something changes."""
    warning: tuple[str, str] | None
    """Kind and text of the warning to repeat in builds that don't read the page again, while the failure recurs."""


class CatalogueEntry(TypedDict):
    """A catalogue in Sphinx's environment."""

    id: str
    """Its id, on whichever page it is."""
    models: list[str]
    problem: str
    """What was wrong with the list."""
    file: str
    """Its file among those of its document's diagrams."""
    source: str
    """File and line, for messages."""
    warning: str
    """What to report in builds that don't read its page again."""


def make_entry(diagram: Diagram, location: Location, builder: DiagramBuilder, accepted: Collection[str]) -> Entry:
    """Make the entry of a diagram.

    Args:
        diagram: The diagram.
        location: Its location.
        builder: The builder that drew it.
        accepted: Kinds of problems not to report.
    """
    problem, options = diagram.problem, diagram.options
    python = builder.tracing.interpreter(options)
    is_accepted = problem is not None and problem.kind in accepted and problem.kind != "worker"
    is_reported = problem is not None and problem.kind not in accepted and _is_of_the_trace(diagram)
    failure = builder.tracing.remembered_failure(options) if is_accepted or is_reported else None
    modules = (node.path for node in diagram.graph.nodes if isinstance(node, ModuleNode)) if diagram.graph else ()
    return Entry(
        id=diagram.id,
        model=get_reference_name(diagram),
        names=list_names(diagram),
        snapshot=diagram.snapshot,
        location=location,
        target=location["anchor"] is not None and not options.figure.no_index and options.call.model != UNKNOWN,
        has_graph=diagram.graph is not None,
        figures=encode_figures(diagram.graph) if diagram.graph else "",
        interactive=is_interactive(diagram),
        modules="\n".join(dict.fromkeys(modules)),
        failed=problem is not None and failure is None and (not is_accepted or _can_recover(diagram)),
        libraries=list(diagram.libraries),
        python=python,
        made_with=list(made_with(diagram.libraries, python)),
        failure=failure,
        warning=(problem.kind, format_warning(problem)) if problem and failure and is_reported else None,
    )


def _is_of_the_trace(diagram: Diagram) -> bool:
    """Whether a problem is only that of a trace; other problems, for example in drawing, may be solved meanwhile."""
    problem, graph, call = diagram.problem, diagram.graph, diagram.options.call
    if problem is None or problem.kind not in RECURRING or diagram.options.compare.before is not None:
        return False
    return graph is None or problem == make_forward_problem(call.model, graph)


def _can_recover(diagram: Diagram) -> bool:
    """Whether another try may help; graph files and complete graphs only depend on their sources."""
    is_complete = diagram.graph is not None and diagram.graph.status.state != "partial"
    is_tried = diagram.problem is not None and diagram.problem.kind in RECURRING
    return is_tried and not is_complete and not is_graph_file(diagram.options.call.model)


def is_outdated(entry: Entry, failing: Collection[str]) -> bool:
    """Whether a diagram may be different now, although the sources of its page have not changed.

    Args:
        entry: The diagram.
        failing: Keys of remembered failures that would recur.
    """
    if entry["failed"] or entry["made_with"] != list(made_with(entry["libraries"], entry["python"])):
        return True
    return entry["failure"] is not None and entry["failure"] not in failing


def make_module_anchors(entry: Entry, page: list[Entry]) -> dict[str, str]:
    """Return the fragments that show modules in the widget, or else the whole picture.

    Args:
        entry: The diagram.
        page: All diagrams of its web page, in order.
    """
    modules = [module for module in entry["modules"].split("\n")[:_LISTED_MODULES] if module]
    if not entry["interactive"]:
        return dict.fromkeys(modules, entry["location"]["anchor"] or "")
    index = _index(entry, page)
    return {module: link_module(entry["id"], index, module) for module in modules}


def make_module_anchor(entry: Entry, module: str, page: list[Entry]) -> str:
    """Return the fragment that makes an interactive diagram show a module."""
    return link_module(entry["id"], _index(entry, page), module)


def _index(entry: Entry, page: list[Entry]) -> int:
    """Return a diagram's number among those with the same id on its page: equal texts give equal ids."""
    same = [other["location"] for other in page if other["id"] == entry["id"] and other["interactive"]]
    return same.index(entry["location"]) if entry["location"] in same else 0
