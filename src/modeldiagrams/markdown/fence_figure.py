"""Renders a diagram as a figure, with a caption in Markdown."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from modeldiagrams.hosting.host import list_link_names
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import list_figure_classes, render_fragment
from modeldiagrams.html.image_list import render_images
from modeldiagrams.html.note_list import collect_notes, render_notes

if TYPE_CHECKING:
    from markdown import Markdown

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.markdown.fence_host import FenceHost

__all__ = ["convert_markdown", "render_figure"]

_CODE = "fenced_code_block"
"""The preprocessor that finds fences."""
_PROCESSORS = ("inline", "attr_list", "unescape", "relpath")
"""Tree processors of pages that captions and notes need too. MkDocs' `relpath` resolves links."""


def render_figure(
    diagram: Diagram, host: FenceHost, md: Markdown, *, documents: bool = False, lists_notes: bool = True
) -> str:
    """Render a diagram with caption, anchor and the notes below; for `documents`, see `render_fragment`."""
    options = diagram.options.figure
    classes = list_figure_classes(diagram.options)
    if options.align:
        classes.append(f"align-{options.align}")

    def link(class_name: str, html: str) -> str:
        return host.class_link(list_link_names(diagram, class_name), html)

    inner = render_fragment(diagram, assets=host.assets_url(), link=link, documents=documents)
    texts = collect_notes(diagram) if lists_notes else ()
    notes = render_notes(diagram, [convert_markdown(text, md) for text in texts])
    caption = f"<figcaption>{_render_caption(options.caption, md)}</figcaption>\n" if options.caption else ""
    below = notes + render_images(diagram)
    opening = f'<figure class="{html_text(" ".join(classes))}" id="{html_text(diagram.anchor)}">'
    return f"{opening}\n{inner}\n{caption}</figure>\n{below}"


def _render_caption(text: str, md: Markdown) -> str:
    """Convert a caption; a single paragraph without its tag."""
    html = convert_markdown(text, md)
    single = re.fullmatch(r"<p>((?:(?!<p>).)*)</p>", html, re.DOTALL)
    return single[1] if single else html


def convert_markdown(text: str, md: Markdown) -> str:
    """Convert the Markdown of an option like the page's own text."""
    root = Element("div")
    if _CODE in md.preprocessors:
        # a copy, because it may be processing the page, whose fences contain this text
        text = "\n".join(copy.copy(md.preprocessors[_CODE]).run(text.split("\n")))
    md.parser.parseChunk(root, text)
    for name in _PROCESSORS:
        if name in md.treeprocessors:
            md.treeprocessors[name].run(root)
    html = md.serializer(root)
    return html[html.index(">") + 1 : html.rindex("<")].strip()
