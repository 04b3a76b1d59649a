"""Reports the problems of diagrams to the documentation tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.hosting.host import format_warning, grade_problem

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.markdown.host import FenceHost

__all__ = ["report"]


def report(host: FenceHost, diagram: Diagram, line: int | None, location: str = "", *, requested: bool = True) -> None:
    """Report a diagram's problem, if any, as the site's settings ask for.

    Args:
        host: The documentation tool.
        diagram: The diagram.
        line: The line of the diagram on its page.
        location: Where its author wrote it, if not on a page.
        requested: False for a diagram that a site adds to a documented class.
    """
    if diagram.problem is None:
        return
    message = f"{location}: {format_warning(diagram.problem)}" if location else format_warning(diagram.problem)
    match grade_problem(diagram, host.settings, requested=requested):
        case "info":
            host.inform(message)
        case "warning":
            host.warn(message, line)
        case "error":
            host.fail(message, line)
