"""A picture that would be too small as a whole is a map: blocks with names, which lead to their places."""

from itertools import pairwise

import pytest

from browser.axe import violations
from browser.controls import FOCUSED, button, item, loaded, open_page, settled, wait_until
from browser.test_levels import scale
from browser.test_touch import touch
from samples import some

CELLS = """e => [...e.shadowRoot.querySelectorAll('.mg-atlas:not([hidden]) [data-cell]')].map(cell => {
  const { left, top, right, bottom } = cell.querySelector(':scope > rect').getBoundingClientRect();
  const texts = [...cell.querySelectorAll(':scope > text, :scope > .mg-header > text')];
  return {
    id: cell.dataset.cell,
    box: [left, top, right, bottom],
    name: texts[0]?.textContent.trim() ?? '',
    size: Math.min(...texts.map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)),
    isInside: texts.map(text => text.getBoundingClientRect()).every(
      text => text.left >= left && text.right <= right && text.top >= top && text.bottom <= bottom),
  };
})"""
LEGIBLE = 10
"""Least height of text, px on screen."""


def open_all(reader, server):
    """32 layers, all of them opened by a reader."""
    open_page(reader, server, "deep")
    button(reader, "More controls").click()
    reader.page.get_by_role("group", name="Open to level").get_by_text("all", exact=True).click()
    reader.page.keyboard.press("Escape")


def open_map(reader, server):
    open_all(reader, server)
    wait_until(reader, lambda: reader.evaluate(CELLS))
    settled(reader)


def cell(reader, node):
    return reader.page.locator(f'.mg-atlas [data-cell="{node}"] > rect')


def is_map(reader):
    return reader.page.locator(".mg-atlas").is_visible()


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("width", some([1400, 740, 360], {1400}))
def test_names_are_legible_in_blocks_in_the_order_of_the_pass(reader_with, server, width):
    with reader_with(viewport={"width": width, "height": 800}) as reader:
        open_map(reader, server)
        cells = reader.evaluate(CELLS)
        stage = reader.page.locator(".mg-stage").bounding_box()
        assert stage["height"] <= 800
        for each in cells:
            assert each["isInside"], each
            assert each["name"] == "" or each["size"] >= LEGIBLE, each
            left, top, right, bottom = each["box"]
            assert stage["x"] <= left < right <= stage["x"] + stage["width"]
            assert stage["y"] <= top < bottom <= stage["y"] + stage["height"]
        layers = [each for each in cells if each["id"].count(".") == 1]
        assert [each["id"] for each in layers] == [f"layers.{i}" for i in range(32)]
        assert all(each["name"] for each in layers)
        for one, other in pairwise(layers):
            # to the right, or below
            assert other["box"][0] >= one["box"][2] or other["box"][1] >= one["box"][3]
        assert reader.errors == []


# keys and the mouse do the same at the blocks of a picture
@pytest.mark.parametrize("way", some(["click", "Enter", "tap"], {"tap"}))
def test_a_block_leads_to_its_place(reader_with, server, way):
    with reader_with(has_touch=way == "tap") as reader:
        open_map(reader, server)
        if way == "Enter":
            reader.evaluate("e => e.widget.focus(e.widget.tree.find('layers.20'))")
            # the focus is told on the map, too
            assert reader.page.locator(".mg-atlas .mg-current").get_attribute("data-cell") == "layers.20"
            reader.page.keyboard.press("Enter")
            assert reader.evaluate(FOCUSED) == "layers.20"
        else:
            place = cell(reader, "layers.20")
            place.tap() if way == "tap" else place.click(position={"x": 4, "y": 4})
        settled(reader)
        assert not is_map(reader)
        assert scale(reader) >= 0.6
        found = reader.header("layers.20").bounding_box()
        assert 0 <= found["y"] < 400
        assert reader.node("layers.20.mlp").is_visible()


def test_what_is_searched_is_seen(reader, server):
    open_map(reader, server)
    reader.page.keyboard.press("Tab")
    button(reader, "Search (/)").click()
    reader.page.keyboard.type("layers.20.mlp")
    reader.page.get_by_role("option").first.wait_for()
    reader.page.keyboard.press("Enter")
    wait_until(reader, lambda: not is_map(reader))
    settled(reader)
    assert scale(reader) >= 0.6
    found = reader.node("layers.20.mlp").bounding_box()
    stage = reader.page.locator(".mg-stage").bounding_box()
    assert stage["y"] <= found["y"] < stage["y"] + stage["height"]
    assert stage["x"] <= found["x"] < stage["x"] + stage["width"]


@pytest.mark.parametrize("way", ["wheel", "pinch"])
def test_gestures_go_on_in_the_picture_at_the_block_below(reader_with, server, way):
    with reader_with(has_touch=way == "pinch") as reader:
        open_map(reader, server)
        x, y = middle(cell(reader, "layers.20").bounding_box())
        if way == "wheel":
            reader.page.mouse.move(x, y)
            reader.page.keyboard.down("Control")
            for _ in range(4):
                before = scale(reader)
                reader.page.mouse.wheel(0, -30)
                wait_until(reader, lambda before=before: scale(reader) > before)
            reader.page.keyboard.up("Control")
        else:
            touch(reader, *([(x - 10 - 6 * i, y), (x + 10 + 6 * i, y)] for i in range(5)))
        assert not is_map(reader)
        found = reader.node("layers.20").bounding_box()
        assert found["x"] <= x <= found["x"] + found["width"]
        assert found["y"] <= y <= found["y"] + found["height"]


def test_nothing_moves_for_readers_who_prefer_that(reader_with, server):
    with reader_with(reduced_motion="reduce") as reader:
        open_map(reader, server)
        moving = "e => { document.ways = 0; Element.prototype.animate = () => { document.ways += 1; }; }"
        reader.evaluate(moving)
        cell(reader, "layers.20").click(position={"x": 4, "y": 4})
        wait_until(reader, lambda: not is_map(reader))
        button(reader, "Zoom out").click()
        assert reader.page.evaluate("document.ways") == 0
        assert scale(reader) >= 0.4


def test_zoomed_out_it_is_a_map_again(reader, server):
    open_map(reader, server)
    cell(reader, "layers.20").click(position={"x": 4, "y": 4})
    settled(reader)
    for _ in range(20):
        if is_map(reader):
            break
        button(reader, "Zoom out").click()
        reader.page.wait_for_timeout(300)
    assert is_map(reader)
    # nothing is further away
    reader.page.mouse.move(*middle(cell(reader, "layers.20").bounding_box()))
    reader.page.keyboard.down("Control")
    reader.page.mouse.wheel(0, 30)
    reader.page.keyboard.up("Control")
    reader.page.wait_for_timeout(300)
    assert is_map(reader)


def test_everything_opened_is_a_map_only_where_it_would_be_too_large(reader, server):
    open_all(reader, server)
    wait_until(reader, lambda: len(reader.evaluate(CELLS)) >= 32)
    open_page(reader, server, "one")
    button(reader, "More controls").click()
    reader.page.get_by_role("group", name="Open to level").get_by_text("all", exact=True).click()
    reader.node("layers.0.mlp").wait_for()
    settled(reader)
    assert not is_map(reader)
    assert scale(reader) > 0.6


def test_pictures_that_can_be_read_as_a_whole_stay_pictures(reader, server):
    open_page(reader, server, "one")
    reader.node("layers.0").hover()
    loaded(reader)
    button(reader, "Zoom out").click()
    button(reader, "Show the whole picture").click()
    settled(reader)
    assert not is_map(reader)


def test_text_is_readable_in_a_narrow_column_unless_the_reader_asks_for_the_whole(reader_with, server):
    """A picture that is too broad scrolls."""
    smallest = """e => Math.min(...[...e.shadowRoot.querySelectorAll('.mg-canvas text')].map(
        text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""
    scrolls = "e => { const s = e.shadowRoot.querySelector('.mg-stage'); return s.scrollWidth > s.clientWidth }"
    with reader_with() as reader:
        open_page(reader, server)
        reader.page.add_style_tag(content="main { width: 80px }")
        assert reader.evaluate(smallest) >= 9
        assert reader.evaluate(scrolls)
        reader.evaluate("e => e.widget.camera.showWhole()")
        assert reader.evaluate(smallest) < 9
        assert not reader.evaluate(scrolls)


def test_the_camera_knows_where_a_whole_picture_is(reader, server):
    """Also where the page's element is wider than the picture in it."""
    open_map(reader, server)
    reader.evaluate("e => e.style.setProperty('--mg-least', '600px')")
    assert reader.evaluate("e => e.widget.camera.viewport.scale") == pytest.approx(scale(reader), rel=0.01)


def test_fullscreen_shows_a_map(reader, server):
    open_page(reader, server, "large")
    reader.header("layers.0").hover()
    loaded(reader)
    button(reader, "Fullscreen").click()
    wait_until(reader, lambda: len(reader.evaluate(CELLS)) >= 32)


def test_maps_are_accessible_and_not_on_paper(reader, server):
    open_map(reader, server)
    assert violations(reader) == []
    assert reader.page.locator(".mg-atlas").get_attribute("aria-hidden") == "true"
    assert reader.page.locator('.mg-canvas [role="treeitem"]').count() > 0
    reader.page.emulate_media(media="print")
    assert not is_map(reader)


def test_a_lens_on_costs_that_a_graph_does_not_know_keeps_the_areas(reader, server):
    open_map(reader, server)
    words = "e => [...e.shadowRoot.querySelectorAll('.mg-atlas > svg > .mg-label')].map(text => text.textContent)"
    before = reader.evaluate(CELLS)
    button(reader, "More controls").click()
    item(reader, "Activations").click()
    reader.page.get_by_text("0 B in total").wait_for()
    settled(reader)
    assert reader.evaluate(words) == ["Areas: Parameters"]
    assert [each["id"] for each in reader.evaluate(CELLS)] == [each["id"] for each in before]
