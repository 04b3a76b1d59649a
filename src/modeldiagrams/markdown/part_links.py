"""Resolves links to nodes of diagrams: ``[the attention](model:mypkg.Model#encoder.layers.0.attention)``."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.diagram_parts import find_part, link_part
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import PROSE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.markdown.fence_host import FenceHost

__all__ = ["link_parts"]

_LINK = re.compile(
    r'<a\b(?P<before>[^>]*?) href="model:(?P<target>[^"]*)"(?P<after>[^>]*)>(?P<words>.*?)</a>', re.DOTALL
)


def link_parts(text: str, host: FenceHost) -> str:
    """Resolve the links to nodes in a page's HTML.

    Args:
        text: The HTML.
        host: The host, with the diagrams of the page.
    """
    anchors: dict[tuple[str, int], dict[str, None]] = {}

    def link(match: re.Match[str]) -> str:
        try:
            part = find_part(host.on_page, html.unescape(match["target"]))
        except ModelDiagramsError as error:
            host.warn(f"model:{html.unescape(match['target'])}: {error}", None)
            return match["words"]
        fragment = link_part(part)
        if fragment is not None:
            anchors.setdefault((part.diagram.id, part.place), {})[fragment] = None
        live = f" {part.attributes}" if part.is_live else ""
        rest = f"{match['before']}{match['after']}"
        href = f"#{html_text(fragment or part.diagram.anchor)}"
        return f'<a class="mg-part" href="{href}"{live}{rest}>{match["words"]}</a>'

    text = _LINK.sub(link, text)
    for (diagram_id, index), fragments in anchors.items():
        text = _add_anchors(text, diagram_id, index, fragments)
    return f'{text}\n<script src="{host.assets_url()}{PROSE}" defer></script>' if "data-mg-nodes=" in text else text


def _add_anchors(text: str, diagram_id: str, index: int, fragments: Iterable[str]) -> str:
    """Add the targets of links before the picture of their diagram, for readers without scripts."""
    spans = "".join(f'<span id="{html_text(fragment)}"></span>' for fragment in fragments)
    pictures = [*re.finditer(rf'<model-graph graph="{re.escape(html_text(diagram_id))}"', text)]
    if index >= len(pictures):
        return text
    at = pictures[index].start()
    return text[:at] + spans + text[at:]
