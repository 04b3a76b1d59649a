"""The author's images in full size, for pages without script and on paper; the picture has them as thumbnails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import is_interactive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["image_classes", "image_id", "images_list", "places_of"]

_MOST_PLACES = 3


def image_id(diagram: Diagram, number: int) -> str:
    """The id of an image's place on its page; numbers begin with 1."""
    return f"{diagram.anchor}-image-{number}"


def image_classes(diagram: Diagram) -> list[str]:
    """CSS classes of the list: readers of an interactive diagram see images in a dialog instead."""
    return ["mg-images", *(["mg-in-dialog"] if is_interactive(diagram) else [])]


def places_of(nodes: Sequence[str]) -> str:
    """The nodes at which an image is, in few words."""
    rest = len(nodes) - _MOST_PLACES
    return ", ".join(nodes[:_MOST_PLACES]) + (f" and {rest} more" if rest > 0 else "")


def images_list(diagram: Diagram) -> Markup:
    """The list of images, each with the nodes at which it is, and its text."""
    classes = " ".join(image_classes(diagram))
    items = "".join(
        f'<div class="mg-image" id="{html_text(image_id(diagram, number))}"><img src="{html_text(image.source)}"'
        f' alt="{html_text(image.alt)}" width="{image.width:.0f}" height="{image.height:.0f}">'
        f"<p><code>{html_text(places_of(image.nodes))}</code> {html_text(image.alt)}</p></div>\n"
        for number, image in enumerate(diagram.overlay.images if diagram.overlay else (), start=1)
    )
    return Markup(f'<div class="{classes}">\n{items}</div>\n') if items else Markup()  # noqa: S704  escaped above
