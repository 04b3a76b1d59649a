"""What builders are to us."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.builders import Builder

__all__ = ["is_interactive", "one_fragment", "page_address"]


def is_interactive(builder: Builder) -> bool:
    """Whether readers get web pages. Books made of HTML (EPUB, HTML Help) are not: they are ``embedded``."""
    return builder.format == "html" and not getattr(builder, "embedded", False)


def one_fragment(uri: str) -> str:
    """A URL as browsers understand it: `singlehtml` resolves to ``#document-api#mypkg.Model``."""
    page, *fragments = uri.split("#")
    return f"{'' if len(fragments) > 1 else page}#{fragments[-1]}" if fragments else page


def page_address(builder: Builder, docname: str, anchor: str | None) -> str:
    """URL of a place in the site, from its root."""
    page = builder.get_target_uri(docname)
    if "#" in page:  # all documents are one page, and the last fragment is what browsers find
        page = f"{builder.config.root_doc}{getattr(builder, 'out_suffix', '.html')}"
    return f"{page}#{anchor}" if anchor else page
