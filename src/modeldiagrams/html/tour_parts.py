"""Defines the HTML of tours for all documentation tools: the classes of its parts, and pictures of steps.

::

    <div class="mg-tour mg-live">            with `mg-live`, the picture follows the step in sight
      <div class="mg-tour-body">
        <div class="mg-tour-picture">        the figure with the diagram
        <div class="mg-steps">
          <div class="mg-step">              title, still picture, prose
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import is_interactive
from modeldiagrams.render.draw import embed_style

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram

__all__ = [
    "BODY",
    "PICTURE",
    "STEP",
    "STEPS",
    "STEP_PICTURE",
    "TITLE",
    "describe_step",
    "draw_step_files",
    "list_tour_classes",
    "name_step_file",
    "render_step_image",
]

BODY = "mg-tour-body"
PICTURE = "mg-tour-picture"
STEPS = "mg-steps"
STEP = "mg-step"
TITLE = "mg-step-title"
STEP_PICTURE = "mg-step-picture"


def list_tour_classes(diagram: Diagram) -> list[str]:
    """Return the CSS classes of a tour; ``mg-begins`` if its first step changes the picture of the page."""
    steps = diagram.picture.steps if diagram.picture else ()
    if not steps or not is_interactive(diagram):
        return ["mg-tour"]
    first = steps[0]
    state = diagram.picture and diagram.picture.state
    begins = first.lit or first.focus or first.lens or first.state != state
    return ["mg-tour", "mg-live", *(["mg-begins"] if begins else [])]


def name_step_file(diagram_id: str, index: int) -> str:
    """Return the file name of a step's still picture in the site's folder."""
    return f"{diagram_id}.step-{index + 1}.svg"


def draw_step_files(diagram: Diagram) -> dict[str, bytes]:
    """Return the still pictures of all steps by file name."""
    steps = diagram.picture.steps if diagram.picture else ()
    return {
        name_step_file(diagram.id, index): embed_style(step, diagram.options.view, diagram.beside).svg.encode()
        for index, step in enumerate(steps)
    }


def describe_step(diagram: Diagram, index: int, title: str) -> str:
    """Return the text alternative of a step's picture."""
    name = diagram.graph.model.name if diagram.graph else diagram.options.call.model
    title = re.sub(rf"^{index + 1}\s*[.):]\s*", "", title)  # authors may have numbered it
    return f"{name}, step {index + 1}{f': {title}' if title else ''}"


def render_step_image(diagram: Diagram, index: int, *, assets: str, title: str = "") -> str:
    """Render the still picture of a step, if any. Pages with scripts load it for printing.

    Args:
        diagram: The diagram of the tour.
        index: The index of the step, from 0.
        assets: URL prefix from the page to the site's folder.
        title: The title of the step, as plain text.
    """
    if diagram.picture is None or index >= len(diagram.picture.steps):
        return ""
    step = diagram.picture.steps[index]
    source = f"{assets}{quote(name_step_file(diagram.id, index))}"
    size = f'width="{step.width:.0f}" height="{step.height:.0f}"'
    alt = html_text(describe_step(diagram, index, title))
    return f'<img class="{STEP_PICTURE}" src="{html_text(source)}" {size} alt="{alt}" loading="lazy">'
