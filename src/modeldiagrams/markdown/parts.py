"""Links to parts of a diagram on the same page: ``[the attention](model:mypkg.Model#encoder.layers.0.attention)``."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.hosting.parts import find_part, fragment_of
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import PROSE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.markdown.host import FenceHost

__all__ = ["with_parts"]

_LINK = re.compile(
    r'<a\b(?P<before>[^>]*?) href="model:(?P<target>[^"]*)"(?P<after>[^>]*)>(?P<words>.*?)</a>', re.DOTALL
)


def with_parts(text: str, host: FenceHost) -> str:
    """A page's HTML with its links to parts.

    Args:
        text: HTML.
        host: Knows the diagrams that the page shows.
    """
    anchors: dict[tuple[str, int], dict[str, None]] = {}

    def linked(match: re.Match[str]) -> str:
        try:
            part = find_part(host.on_page, html.unescape(match["target"]))
        except ModelDiagramsError as error:
            host.warn(f"model:{html.unescape(match['target'])}: {error}", None)
            return match["words"]
        fragment = fragment_of(part)
        if fragment is not None:
            anchors.setdefault((part.diagram.id, part.place), {})[fragment] = None
        live = f" {part.attributes}" if part.is_live else ""
        rest = f"{match['before']}{match['after']}"
        href = f"#{html_text(fragment or part.diagram.anchor)}"
        return f'<a class="mg-part" href="{href}"{live}{rest}>{match["words"]}</a>'

    text = _LINK.sub(linked, text)
    for (diagram_id, index), fragments in anchors.items():
        text = _with_anchors(text, diagram_id, index, fragments)
    return f'{text}\n<script src="{host.assets_url()}{PROSE}" defer></script>' if "data-mg-nodes=" in text else text


def _with_anchors(text: str, diagram_id: str, index: int, fragments: Iterable[str]) -> str:
    """Put what links lead to without a script before the picture of their diagram."""
    spans = "".join(f'<span id="{html_text(fragment)}"></span>' for fragment in fragments)
    pictures = [*re.finditer(rf'<model-graph graph="{re.escape(html_text(diagram_id))}"', text)]
    if index >= len(pictures):
        return text
    at = pictures[index].start()
    return text[:at] + spans + text[at:]
