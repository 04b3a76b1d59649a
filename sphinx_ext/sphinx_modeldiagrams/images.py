"""Images at nodes, in full size: docutils nodes below a diagram, which every writer knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from modeldiagrams.html.images import describe_places, image_classes, image_id

if TYPE_CHECKING:
    from docutils.nodes import Node

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["SIZE", "render_images"]

SIZE = "modeldiagrams-size"
"""Attribute of an image: its width and height in CSS pixels."""


def render_images(diagram: Diagram) -> list[Node]:
    """The images of a diagram, each with the nodes at which it is, and its text."""
    found = diagram.overlay.images if diagram.overlay else ()
    listed = nodes.container("", classes=image_classes(diagram))
    for number, image in enumerate(found, start=1):
        text = nodes.paragraph("", "", nodes.literal("", describe_places(image.nodes)), nodes.Text(f" {image.alt}"))
        # Sphinx makes a file of the data: URL for builders that need one
        picture = nodes.image("", uri=image.source, alt=image.alt)
        picture[SIZE] = (image.width, image.height)
        listed += nodes.container("", picture, text, ids=[image_id(diagram, number)], classes=["mg-image"])
    return [listed] if found else []
