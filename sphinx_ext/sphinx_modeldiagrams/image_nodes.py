"""Builds docutils nodes for the images of a diagram in full size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from modeldiagrams.html.image_list import describe_places, list_image_classes, make_image_id

if TYPE_CHECKING:
    from docutils.nodes import Node

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["SIZE", "render_images"]

SIZE = "modeldiagrams-size"
"""Attribute of an image with its width and height in CSS pixels."""


def render_images(diagram: Diagram) -> list[Node]:
    """Build the list of images, each with its nodes and its text."""
    found = diagram.overlay.images if diagram.overlay else ()
    listed = nodes.container("", classes=list_image_classes(diagram))
    for number, image in enumerate(found, start=1):
        text = nodes.paragraph("", "", nodes.literal("", describe_places(image.nodes)), nodes.Text(f" {image.alt}"))
        # Sphinx writes the data: URL to a file for builders that need one
        picture = nodes.image("", uri=image.source, alt=image.alt)
        picture[SIZE] = (image.width, image.height)
        listed += nodes.container("", picture, text, ids=[make_image_id(diagram, number)], classes=["mg-image"])
    return [listed] if found else []
