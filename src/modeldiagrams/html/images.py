"""The author's images in full size, for pages without script and on paper; the picture has them as thumbnails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import is_interactive

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.overlay.overlay import Image

__all__ = ["image_classes", "image_id", "images_list", "images_of", "places_of"]

_MOST_PLACES = 3


def images_of(diagram: Diagram) -> tuple[Image, ...]:
    """The images of a diagram, in the order of their numbers."""
    return diagram.overlay.images if diagram.overlay else ()


def image_id(diagram: Diagram, number: int) -> str:
    """The id of an image's place on its page; numbers begin with 1."""
    return f"{diagram.anchor}-image-{number}"


def image_classes(diagram: Diagram) -> list[str]:
    """CSS classes of the list: readers of an interactive diagram see images in a dialog instead."""
    return ["mg-images", *(["mg-in-dialog"] if is_interactive(diagram) else [])]


def places_of(image: Image) -> str:
    """The nodes at which an image is, in few words."""
    rest = len(image.nodes) - _MOST_PLACES
    return ", ".join(image.nodes[:_MOST_PLACES]) + (f" and {rest} more" if rest > 0 else "")


def images_list(diagram: Diagram) -> Markup:
    """The list of images, each with the nodes at which it is, and its text."""
    items = "".join(_item(diagram, i, image) for i, image in enumerate(images_of(diagram), start=1))
    classes = " ".join(image_classes(diagram))
    return Markup(f'<div class="{classes}">\n{items}</div>\n') if items else Markup()  # noqa: S704  escaped below


def _item(diagram: Diagram, number: int, image: Image) -> str:
    size = f'width="{image.width:.0f}" height="{image.height:.0f}"'
    return (
        f'<div class="mg-image" id="{html_text(image_id(diagram, number))}">'
        f'<img src="{html_text(image.source)}" alt="{html_text(image.alt)}" {size}>'
        f"<p><code>{html_text(places_of(image))}</code> {html_text(image.alt)}</p></div>\n"
    )
