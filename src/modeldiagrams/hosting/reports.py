"""Reports problems of diagrams, tours and comparisons as a site's settings ask for, for every documentation tool."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, get_args

from modeldiagrams.engine.diagram import Kind
from modeldiagrams.engine.problems import format_problem
from modeldiagrams.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modeldiagrams.engine.diagram import Diagram, Problem
    from modeldiagrams.errors import ModelDiagramsError
    from modeldiagrams.hosting.host_protocol import Host
    from modeldiagrams.options.options import Options
    from modeldiagrams.options.settings import Settings

__all__ = [
    "format_warning",
    "is_left_out",
    "list_accepted_problems",
    "report_error",
    "report_problem",
    "report_steps",
]

_EXPECTED = frozenset({"model", "inputs"})
"""Kinds of problems that are normal if nobody asked for a diagram: a documented class may be abstract."""


def report_problem(host: Host, diagram: Diagram, place: Any, *, source: str = "", requested: bool = True) -> None:
    """Report a diagram's problem, if any.

    Args:
        host: The documentation tool.
        diagram: The diagram.
        place: Where it is on its page, see `Host.warn`.
        source: Where its author wrote it, if not on a page.
        requested: False for a diagram that a site adds to a documented class.
    """
    if diagram.problem is None:
        return
    message = f"{source}: {format_warning(diagram.problem)}" if source else format_warning(diagram.problem)
    if diagram.problem.kind in list_accepted_problems(diagram.options, host.settings, requested=requested):
        host.inform(message)
    elif host.settings.on_error == "raise":
        host.fail(message, place)
    else:
        host.warn(message, place, diagram.problem.kind)


def report_steps(host: Host, diagram: Diagram, places: Sequence[Any]) -> None:
    """Warn of every step of a tour that doesn't show what it asks for; `places` has the place of each."""
    for index, error in _find_step_problems(diagram):
        host.warn(f"model-tour: step {index + 1}: {error}", places[index], "option")


def report_error(host: Host, error: ModelDiagramsError, place: Any, kind: str = "difference") -> None:
    """Report why versions could not be compared, or what is wrong with a catalogue."""
    match host.settings.on_error:
        case "raise":
            host.fail(str(error), place)
        case "warn":
            host.warn(str(error), place, kind)


def list_accepted_problems(options: Options, settings: Settings, *, requested: bool = True) -> frozenset[str]:
    """List the kinds of problems that a diagram may have without a warning.

    Args:
        options: The diagram's options.
        settings: The site's settings.
        requested: As in `report_problem`.
    """
    if options.figure.nowarn or settings.on_error == "placeholder":
        return frozenset(get_args(Kind))
    return frozenset() if requested else _EXPECTED


def is_left_out(diagram: Diagram, *, requested: bool) -> bool:
    """Whether to leave out a diagram: the site added it to a class that can't be run without its author's help."""
    return not requested and diagram.problem is not None and diagram.problem.kind in _EXPECTED


def format_warning(problem: Problem) -> str:
    """Format a problem as one warning of a build: what happened, and where in user code."""
    return f"model-graph: {format_problem(problem)}"


def _find_step_problems(diagram: Diagram) -> Iterator[tuple[int, OptionError]]:
    """Yield the index of every step of a tour that doesn't show what it asks for, and an error for the author."""
    asked = diagram.options.tour.steps or ()
    for index, (step, wanted) in enumerate(zip(diagram.picture.steps if diagram.picture else (), asked, strict=False)):
        if step.unfound and diagram.graph:
            yield index, step.unfound.error(diagram.graph, _list_other_names(diagram))
        elif wanted.alone and step.state.get("root") is None:
            message = f"{wanted.alone!r} cannot be the whole picture; expected a module or function that holds several"
            yield index, OptionError("alone", message)
        elif wanted.lens != step.lens:
            message = "the graph has no times of ops; trace the model with the option `measure_time`"
            yield index, OptionError("lens", message)


def _list_other_names(diagram: Diagram) -> list[str]:
    """List what steps may name besides modules and functions: other nodes, and groups."""
    names = [*diagram.graph.other_names.values()] if diagram.graph else []
    groups = [group.name for group in diagram.overlay.groups] if diagram.overlay else []
    return [*dict.fromkeys([*itertools.chain.from_iterable(names), *groups])]
