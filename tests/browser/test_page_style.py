"""Sizes, styles and colours of a diagram in its page."""

import pytest


def test_author_sizes_apply_with_and_without_script(reader, reader_with, server):
    url = f"{server}/sized.html"
    with reader_with(java_script_enabled=False) as still:
        still.page.goto(url)
        assert still.page.locator("model-graph").bounding_box()["width"] == 400
        picture = still.page.locator("model-graph > svg").bounding_box()
    assert picture["height"] == pytest.approx(150)
    reader.page.goto(url)
    assert reader.page.locator(".mg-stage svg").bounding_box() == picture


def test_wide_pictures_shrink_and_small_ones_are_not_enlarged(reader, server):
    reader.page.goto(f"{server}/one.html")
    natural = "e => e.shadowRoot.querySelector('.mg-stage svg').width.baseVal.value"
    assert reader.page.locator(".mg-stage svg").bounding_box()["width"] == reader.evaluate(natural)
    reader.page.set_viewport_size({"width": 120, "height": 600})
    assert reader.page.locator(".mg-stage svg").bounding_box()["width"] <= 120


def test_wide_pictures_do_not_widen_the_page_before_they_are_interactive(reader_with, server):
    """Between the element's definition and its set-up, the picture is still a child of the page."""
    with reader_with(once=True) as reader:
        reader.page.add_init_script("customElements.define('model-graph', class extends HTMLElement {})")
        reader.page.goto(f"{server}/tall.html")
        reader.page.add_style_tag(content="main { width: 100px; margin-left: 780px }")
        assert reader.page.locator("model-graph > svg").bounding_box()["width"] > 150
        assert reader.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_diagram_stands_below_a_float_that_leaves_no_room(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.page.add_style_tag(content="main::before { content: 'x'; float: right; width: 90%; height: 50px }")
    box, main = reader.page.locator("model-graph").bounding_box(), reader.page.locator("main").bounding_box()
    assert (box["width"], box["y"] - main["y"] >= 50) == (main["width"], True)
    reader.page.add_style_tag(content="main::before { width: 30% !important }")
    assert reader.page.locator("model-graph").bounding_box()["y"] == main["y"]


def test_narrow_diagrams_are_as_narrow_as_their_author_wants(reader, server):
    reader.page.goto(f"{server}/sized.html")
    reader.page.locator("model-graph").evaluate("e => e.style.width = '90px'")
    assert reader.page.locator("model-graph").bounding_box()["width"] == 90


def test_page_and_widget_styles_are_isolated(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.page.add_style_tag(content="svg, text, button, rect { fill: red !important; display: none !important; }")
    assert reader.node("embed").is_visible()
    reader.page.set_content("<p class='mg-note mg-stage'>x</p><svg class='x'><text>y</text></svg><button>z</button>")
    plain = reader.page.evaluate("getComputedStyle(document.querySelector('button')).cursor")
    assert plain == "default"


def test_colours_follow_the_page_live(reader, server):
    reader.page.goto(f"{server}/one.html")
    colour = "e => getComputedStyle(e.shadowRoot.querySelector('.mg-stage text')).fill"
    reader.page.evaluate("document.body.style.color = 'rgb(10, 10, 10)'")
    dark_on_light = reader.evaluate(colour)
    reader.page.evaluate("document.body.style.color = 'rgb(240, 240, 240)'")
    assert reader.evaluate(colour) != dark_on_light


def test_controls_are_visible_on_keyboard_focus(reader, server):
    """Also on a page that clips its content, where `position: sticky` does not help."""
    """Also on a page that clips its content, where `position: sticky` does not help."""
    reader.page.goto(f"{server}/tall.html")
    reader.page.add_style_tag(content="main { overflow: auto }")
    reader.page.evaluate("scrollTo(0, 100)")
    reader.page.keyboard.press("Tab")
    reader.page.wait_for_function(
        "e => { const { bottom } = e.shadowRoot.querySelector('.mg-toolbar').getBoundingClientRect();"
        " return bottom <= innerHeight && bottom > innerHeight - 60; }",
        arg=reader.page.query_selector("model-graph"),
    )
