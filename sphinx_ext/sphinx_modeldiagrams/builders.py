"""Adapts to Sphinx's builders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.builders.singlehtml import SingleFileHTMLBuilder
from sphinx.errors import NoUri
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.builders import Builder

__all__ = ["link_document", "makes_page_for_each", "makes_web_pages", "one_fragment", "page_address"]


def makes_web_pages(builder: Builder) -> bool:
    """Whether a builder writes web pages; EPUB and HTML Help also have the format HTML, but are ``embedded``."""
    return builder.format == "html" and not getattr(builder, "embedded", False)


def makes_page_for_each(builder: Builder) -> bool:
    """Whether a builder writes a page, or what is like one, for every document."""
    joins = isinstance(builder, SingleFileHTMLBuilder) or builder.format in {"latex", "man", "texinfo"}
    return not joins and builder.name != "gettext"


def link_document(builder: Builder, docname: str, to: str, anchor: str, text: nodes.Element) -> nodes.Element:
    """Link a document, or a place in it; only its text where the builder doesn't write that document."""
    try:
        found = make_refnode(builder, docname, to, anchor, text)
    except NoUri:
        return text
    if "refuri" in found:
        found["refuri"] = one_fragment(found["refuri"])
    return found


def one_fragment(uri: str) -> str:
    """Reduce a URL to one fragment: `singlehtml` resolves references to ``#document-api#mypkg.Model``."""
    page, *fragments = uri.split("#")
    return f"{'' if len(fragments) > 1 else page}#{fragments[-1]}" if fragments else page


def page_address(builder: Builder, docname: str, anchor: str | None) -> str:
    """Return the URL of an anchor in a document, relative to the site's root."""
    page = builder.get_target_uri(docname)
    if "#" in page:  # `singlehtml`: all documents are one page
        page = f"{builder.config.root_doc}{getattr(builder, 'out_suffix', '.html')}"
    return f"{page}#{anchor}" if anchor else page
