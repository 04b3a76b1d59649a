"""What a diagram looks like on paper."""

import pytest


def test_print_shows_the_whole_still_picture(reader, server):
    reader.page.goto(f"{server}/tall.html")
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    for _ in range(5):
        reader.page.get_by_role("button", name="Zoom in").click()
    reader.page.emulate_media(media="print")
    still = reader.page.locator(".mg-still svg")
    still.locator("[data-id='layers.0.mlp']").wait_for()
    assert not reader.page.locator(".mg-stage").is_visible()
    assert not reader.page.locator(".mg-toolbar").is_visible()
    width, height = still.evaluate(
        "e => [e.clientWidth / e.width.baseVal.value, e.clientHeight / e.height.baseVal.value]"
    )
    assert width == pytest.approx(height, rel=0.01)
    assert still.bounding_box()["height"] <= reader.page.evaluate("document.documentElement.scrollHeight")


def test_print_ignores_zoom(reader, server):
    reader.page.goto(f"{server}/one.html")
    before = reader.page.locator(".mg-stage svg").bounding_box()
    for _ in range(5):
        reader.page.get_by_role("button", name="Zoom in").click()
    reader.page.emulate_media(media="print")
    assert reader.page.locator(".mg-stage svg").bounding_box() == before


def test_print_shows_a_large_picture_as_the_page_shipped_it(reader, server):
    reader.page.goto(f"{server}/large.html")
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    reader.page.emulate_media(media="print")
    still = reader.page.locator(".mg-still svg")
    still.locator("[data-id='layers.31.mlp']").wait_for()


def test_print_ignores_selection_and_colouring(reader, server):
    reader.page.goto(f"{server}/one.html")
    fill = "e => getComputedStyle(e).fill"
    box = reader.node("embed").locator(".mg-box")
    before = box.evaluate(fill)
    reader.node("head").click()
    reader.page.get_by_role("button", name="What leads here").click()
    reader.page.get_by_role("button", name="More controls").click()
    reader.page.get_by_role("menuitemradio", name="FLOPs", exact=True).click()
    reader.page.locator(".mg-scale").wait_for()
    assert box.evaluate(fill) != before
    reader.page.emulate_media(media="print")
    assert box.evaluate(fill) == before
    assert reader.node("embed").locator(".mg-cost").count() == 0
    for part in (".mg-lit", ".mg-panel-sheet", ".mg-scale", ".mg-tip"):
        assert not reader.page.locator(part).is_visible()


def test_print_shows_no_lens_that_was_on_when_the_picture_changed(reader, server):
    reader.page.goto(f"{server}/tall.html")
    reader.node("layers.0").wait_for()
    reader.evaluate("e => e.widget.linked.lens.set('parameters')")
    reader.page.locator(".mg-stage .mg-bar").first.wait_for()
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    reader.evaluate("e => e.widget.linked.lens.set('kind')")
    reader.page.locator(".mg-stage .mg-bar").first.wait_for(state="detached")
    reader.page.emulate_media(media="print")
    reader.page.locator(".mg-still svg").wait_for()
    assert reader.page.locator(".mg-still :is(.mg-cost, .mg-selected, .mg-lit, [data-step])").count() == 0


def test_the_picture_for_paper_is_made_when_it_is_printed(reader, server):
    """Not before: that of a page may have thousands of elements."""
    reader.page.goto(f"{server}/tall.html")
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    still = reader.page.locator(".mg-still > svg")
    assert still.count() == 0
    reader.page.evaluate(
        """() => addEventListener("afterprint", () => {
            const { shadowRoot } = document.querySelector("model-graph");
            window.onPaper = shadowRoot.querySelectorAll(".mg-still [data-id='layers.0.mlp']").length;
        })"""
    )
    reader.page.pdf()
    assert reader.page.evaluate("window.onPaper") == 1
