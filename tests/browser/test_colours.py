"""Lenses: what boxes cost, as bars, amounts and tints; and colouring by class."""

import pytest

from browser.controls import button, open_page


def luminance(colour):
    channels = [float(value) / 255 for value in colour[:3]]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


PAINTED = """(e, step) => {
  const node = e.shadowRoot.querySelector('.mg-stage [data-id=head]');
  node.dataset.step = step;
  return ['.mg-detail', '.mg-box'].map(part => getComputedStyle(node.querySelector(part)).fill);
}"""
PIXELS = """([text, fill]) => {
  const page = getComputedStyle(document.body).backgroundColor;
  const context = document.createElement('canvas').getContext('2d');
  const paint = (...colours) => {
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  return [paint(page, fill, text), paint(page, fill)];
}"""


SHOWS = "lens => document.querySelector('model-graph').shadowRoot.querySelector('.mg-stage').dataset.lens === lens"
COVERED = """e => [...e.shadowRoot.querySelectorAll('.mg-stage .mg-track')].flatMap(track => {
  const bar = track.getBoundingClientRect();
  const around = track.parentElement.querySelector('.mg-box').getBoundingClientRect();
  const texts = [...track.parentElement.querySelectorAll(':scope > text')].filter(text => text.textContent.trim());
  const isOutside = bar.bottom > around.bottom || bar.left < around.left || bar.right > around.right;
  // the box of a text reaches below its letters
  const covered = texts.filter(text => text.getBBox().y + 0.95 * text.getBBox().height > track.getBBox().y);
  return isOutside || covered.length > 0 ? [track.parentElement.dataset.id] : [];
})"""

WORDS = {"kind": "Kind", "class": "Class", "parameters": "Parameters", "flops": "FLOPs", "memory": "Activations"} | {
    "intensity": "FLOPs per byte"
}
LIGHT = "background: #fff; color: #222"
DARK = "background: #131416; color: #cfd0d0"


def test_text_has_contrast_on_every_colour(reader, server):
    open_page(reader, server, "rich")
    for by, steps in (("parameters", 5), ("class", 8)):
        choose(reader, by)
        for style in (LIGHT, DARK):
            reader.page.evaluate("style => { document.body.style = style; }", style)
            for step in range(1, steps + 1):
                colours = reader.page.locator("model-graph").evaluate(PAINTED, step)
                assert contrast(*reader.page.evaluate(PIXELS, colours)) >= 4.5, (by, style, step)


def test_a_box_tells_its_share_and_amount_and_an_opened_module_shows_its_parts(reader, server):
    open_page(reader, server, "rich")
    choose(reader, "flops")
    assert reader.page.locator(".mg-scale").get_by_text("FLOPs: 4 kFLOPs in total").is_visible()
    assert reader.page.locator(".mg-scale").get_by_text("No box of the picture contains 25 %.").is_visible()
    assert texts(reader, "head") == ["head", "50 %"]
    assert reader.node("head").get_attribute("data-step") == "5"
    assert bar(reader, "head") == pytest.approx(0.5, abs=0.01)
    assert texts(reader, "layers.0")[1] == "–"
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    assert texts(reader, "head") == ["head", "50 %"]
    choose(reader, "kind")
    reader.page.locator(".mg-scale").wait_for(state="hidden")
    assert texts(reader, "head")[1].startswith("Linear")
    assert reader.node("head").locator(".mg-cost").count() == 0


def test_a_box_for_equal_blocks_and_what_is_in_it_count_all_of_them(reader, server):
    open_page(reader, server, "rolled")
    choose(reader, "parameters")
    # six layers of 16 parameters each, of 64 that the model says it has
    assert texts(reader, "layers.0")[-1] == "150 % · 96"
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    assert texts(reader, "layers.0.mlp")[1] == "150 %"


def test_bars_are_below_all_text_and_nothing_moves(reader, server):
    open_page(reader, server, "rich")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    boxes = "e => [...e.shadowRoot.querySelectorAll('.mg-stage .mg-box')].map(b => b.getBoundingClientRect().toJSON())"
    before = reader.evaluate(boxes)
    for lens in ("parameters", "flops", "memory", "intensity"):
        choose(reader, lens)
        assert reader.evaluate(boxes) == before
        assert reader.evaluate(COVERED) == []


def test_escape_leaves_the_lens(reader, server):
    open_page(reader, server, "rich")
    choose(reader, "memory")
    reader.page.keyboard.press("Escape")  # closes the menu
    reader.page.get_by_role("menu").wait_for(state="hidden")
    assert reader.page.locator(".mg-scale").is_visible()
    reader.page.keyboard.press("Escape")
    reader.page.locator(".mg-scale").wait_for(state="hidden")
    button(reader, "More controls").click()
    assert reader.page.get_by_role("menuitemradio", name="Kind").get_attribute("aria-checked") == "true"


def test_screen_readers_are_told_costs(reader, server):
    open_page(reader, server, "rich")
    choose(reader, "flops")
    assert reader.node("head").get_attribute("aria-label").endswith(" 50 % 2 kFLOPs")
    choose(reader, "parameters")
    label = reader.node("head").get_attribute("aria-label")
    assert "FLOPs" not in label
    assert label.endswith("25 % · 16")


@pytest.mark.requests
def test_a_lens_comes_from_a_script_of_its_own(reader, address):
    open_page(reader, address, "rich")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    assert "lenses.js" not in reader.requests
    choose(reader, "flops")
    assert "lenses.js" in reader.requests


def test_a_page_that_brings_the_viewer_along_has_lenses(reader, address):
    open_page(reader, address, "alone")
    choose(reader, "parameters")
    assert texts(reader, "head") == ["head", "25 %"]


def choose(reader, lens):
    """As a reader does it in the menu; waits until the picture shows it."""
    if not reader.page.get_by_role("menu").is_visible():
        button(reader, "More controls").click()
    reader.page.get_by_role("menuitemradio", name=WORDS[lens], exact=True).click()
    by = lens if lens in ("kind", "class") else "amount"
    reader.page.locator(f".mg-stage[data-by={by}]").wait_for()
    reader.page.wait_for_function(SHOWS, arg=lens)


def texts(reader, node):
    """What a box says, line by line."""
    found = reader.node(node).locator(":scope > .mg-name, :scope > .mg-detail").all_text_contents()
    return [text.strip() for text in found if text.strip()]


def bar(reader, node):
    """The length of a bar as a share of its track."""
    parts = reader.node(node).locator(":scope > .mg-bar, :scope > .mg-track")
    track, filled = (float(part.get_attribute("width")) for part in parts.all())
    return filled / track
