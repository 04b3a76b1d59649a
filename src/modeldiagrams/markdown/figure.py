"""A diagram as a figure, with a caption in the page's own Markdown."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from modeldiagrams.hosting.host import link_names
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import figure_classes, fragment
from modeldiagrams.html.images import images_list
from modeldiagrams.html.notes import notes_list, notes_of

if TYPE_CHECKING:
    from markdown import Markdown

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.markdown.host import FenceHost

__all__ = ["converted", "figure"]

_CODE = "fenced_code_block"
"""The preprocessor that finds fences."""
_PROCESSORS = ("inline", "attr_list", "unescape", "relpath")
"""Tree processors that a page runs on its text; captions and notes need them, too. MkDocs' `relpath` resolves links."""


def figure(
    diagram: Diagram, host: FenceHost, md: Markdown, *, documents: bool = False, lists_notes: bool = True
) -> str:
    """The HTML of a diagram, with its caption and anchor, and its notes below; `documents` as of `fragment`."""
    options = diagram.options.figure
    classes = figure_classes(diagram.options)
    if options.align:
        classes.append(f"align-{options.align}")

    def link(class_name: str, html: str) -> str:
        return host.class_link(link_names(diagram, class_name), html)

    inner = fragment(diagram, assets=host.assets_url(), link=link, documents=documents)
    texts = notes_of(diagram).values() if lists_notes else ()
    notes = notes_list(diagram, [converted(text, md) for text in texts])
    caption = f"<figcaption>{_caption(options.caption, md)}</figcaption>\n" if options.caption else ""
    below = notes + images_list(diagram)
    opening = f'<figure class="{html_text(" ".join(classes))}" id="{html_text(diagram.anchor)}">'
    return f"{opening}\n{inner}\n{caption}</figure>\n{below}"


def _caption(text: str, md: Markdown) -> str:
    """A caption's Markdown; a single paragraph without its tag."""
    html = converted(text, md)
    single = re.fullmatch(r"<p>((?:(?!<p>).)*)</p>", html, re.DOTALL)
    return single[1] if single else html


def converted(text: str, md: Markdown) -> str:
    """Markdown of an option, converted as the page's own text is."""
    root = Element("div")
    if _CODE in md.preprocessors:
        # a copy: it may be at work on the page, of whose fences this text is a part
        text = "\n".join(copy.copy(md.preprocessors[_CODE]).run(text.split("\n")))
    md.parser.parseChunk(root, text)
    for name in _PROCESSORS:
        if name in md.treeprocessors:
            md.treeprocessors[name].run(root)
    html = md.serializer(root)
    return html[html.index(">") + 1 : html.rindex("<")].strip()
