"""What authors say is said from afar, too: on blocks, by mouse, finger and keys."""

from __future__ import annotations

import pytest

from browser.axe import violations
from browser.controls import button, loaded, settled, wait_until
from browser.pages import HEAD, encoder
from browser.test_levels import LABELS, scale
from modeldiagrams.html import fragment as page
from modeldiagrams.html.note_list import render_plain_notes
from samples import some

WAYS = ("mouse", "touch", "keys")
NOTES = {"layers.1": "On the block.", "layers.2.mlp": "Inside of a block.", "layers.2.attention": "Also inside."}
WIDTHS = """e => Object.fromEntries([...e.shadowRoot.querySelectorAll('.mg-stage .mg-expanded.mg-block')].map(block => {
  const panel = block.querySelector(':scope > .mg-panel');
  return [block.dataset.id, parseFloat(getComputedStyle(panel).strokeWidth) * block.getScreenCTM().a];
}))"""


@pytest.fixture(scope="module")
def far(site, press):
    """Name of a page with six open layers, of which an author says something."""
    made = press.make(
        encoder("Far", layers=6),
        depth=9,
        notes=NOTES,
        highlight=["layers.3", "layers.4.mlp"],
        rename={"layers.1": "Best"},
    )
    (site / "modeldiagrams" / f"{made.id}.js").write_text(page.build_data_script(made), encoding="ascii")
    text = f"{HEAD}{page.render_fragment(made, assets='modeldiagrams/')}{render_plain_notes(made)}"
    (site / "far_notes.html").write_text(text, encoding="utf-8")
    return "far_notes.html"


def open_far(reader, server, far):
    """Zoomed out until each layer is a block."""
    reader.page.goto(f"{server}/{far}")
    reader.header("layers.0").hover()
    loaded(reader)
    reader.page.locator(".mg-note-card").wait_for(state="attached")
    while scale(reader) > 0.22:
        button(reader, "Zoom out").click()
        settled(reader)
    wait_until(reader, lambda: "layers.2" in [label["id"] for label in reader.evaluate(LABELS)])


def card(reader):
    return reader.page.locator(".mg-note-card:popover-open")


def test_blocks_have_the_numbers_of_notes_and_what_is_highlighted(reader, server, far):
    open_far(reader, server, far)
    told = {label["id"]: label["text"] for label in reader.evaluate(LABELS)}
    assert told["layers.0"] == ["layers.0", "Layer · 16"]
    assert told["layers.1"] == ["Best [1]", "Layer · 16"]
    assert told["layers.2"] == ["layers.2", "[2] [3]"]
    widths = reader.evaluate(WIDTHS)
    for node, width in widths.items():
        is_marked = node in {"layers.3", "layers.4"}
        assert width == pytest.approx(2.5 if is_marked else 1.25, abs=0.1), node
    assert violations(reader) == []
    label = reader.header("layers.2").get_attribute("aria-label")
    assert label.split() == ["layers.2", "[2]", "[3]", "Layer", "·", "16"]
    button(reader, "Show the whole picture").click()
    wait_until(reader, lambda: not reader.evaluate(LABELS))
    assert reader.header("layers.2").get_attribute("aria-label").split() == ["layers.2", "Layer", "·", "16"]


# a block with a note of its own in every way; one with notes inside tells of them in the same card
@pytest.mark.parametrize(
    ("node", "way"),
    [
        *some([("layers.1", way) for way in WAYS], {("layers.1", "mouse")}),
        *(pytest.param("layers.2", way, marks=() if way == "keys" else pytest.mark.zoo) for way in WAYS),
    ],
)
def test_the_notes_of_a_block_are_shown(reader_with, server, far, way, node):
    with reader_with(has_touch=way == "touch") as reader:
        open_far(reader, server, far)
        block = reader.header(node)
        if way == "mouse":
            block.hover()
        elif way == "touch":
            block.tap()
        else:
            block.focus()
        card(reader).wait_for()
        # after a tap, where it leads: longer than a card without a pointer stays
        reader.page.wait_for_timeout(500)
        words = card(reader).inner_text()
        wanted = {text for at, text in NOTES.items() if at.startswith(node)}
        wait_until(reader, lambda: all(text in words for text in wanted), words)
        assert not any(text in words for text in set(NOTES.values()) - wanted)
