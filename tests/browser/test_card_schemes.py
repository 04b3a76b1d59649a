"""Small pictures in an `<img>` are as light or dark as their page, whatever the reader's system prefers."""

from __future__ import annotations

import base64
from pathlib import Path

from modeldiagrams.render.draw import draw_card

GRAPH = Path(__file__).parents[1] / "golden" / "nested.json"


def test_card_follows_the_colour_scheme_of_its_page(reader_with):
    picture = base64.b64encode(draw_card(GRAPH.read_bytes()).encode()).decode()
    shots = {}
    for preferred in ("light", "dark"):
        with reader_with(color_scheme=preferred) as reader:
            for scheme in ("light", "dark"):
                # themes set it on an ancestor
                image = f'<img src="data:image/svg+xml;base64,{picture}">'
                reader.page.set_content(f'<body style="background: #888; color-scheme: {scheme}"><p>{image}</p></body>')
                reader.page.evaluate("document.querySelector('img').decode()")
                shots[preferred, scheme] = reader.page.locator("img").screenshot()
    assert shots["light", "dark"] == shots["dark", "dark"]
    assert shots["light", "light"] == shots["dark", "light"]
    assert shots["light", "dark"] != shots["light", "light"]
