"""Renders the author's images in full size, for pages without scripts and on paper; the picture has thumbnails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import is_interactive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["describe_places", "list_image_classes", "make_image_id", "render_images"]

_MOST_PLACES = 3


def make_image_id(diagram: Diagram, number: int) -> str:
    """Return the id of an image on its page; numbers begin with 1."""
    return f"{diagram.anchor}-image-{number}"


def list_image_classes(diagram: Diagram) -> list[str]:
    """Return the CSS classes of the list: interactive diagrams show images in a dialog instead."""
    return ["mg-images", *(["mg-in-dialog"] if is_interactive(diagram) else [])]


def describe_places(nodes: Sequence[str]) -> str:
    """Describe briefly at which nodes an image is."""
    rest = len(nodes) - _MOST_PLACES
    return ", ".join(nodes[:_MOST_PLACES]) + (f" and {rest} more" if rest > 0 else "")


def render_images(diagram: Diagram) -> Markup:
    """Render the list of images, each with its nodes and its text."""
    classes = " ".join(list_image_classes(diagram))
    items = "".join(
        f'<div class="mg-image" id="{html_text(make_image_id(diagram, number))}"><img src="{html_text(image.source)}"'
        f' alt="{html_text(image.alt)}" width="{image.width:.0f}" height="{image.height:.0f}">'
        f"<p><code>{html_text(describe_places(image.nodes))}</code> {html_text(image.alt)}</p></div>\n"
        for number, image in enumerate(diagram.overlay.images if diagram.overlay else (), start=1)
    )
    return Markup(f'<div class="{classes}">\n{items}</div>\n') if items else Markup()  # noqa: S704  escaped above
