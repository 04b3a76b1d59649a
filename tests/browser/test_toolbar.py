"""The toolbar, its menu, and translated texts."""

from functools import partial

import pytest

from browser.controls import box, button, facts, open_page, wait_until

NODES = """e => [...e.shadowRoot.querySelectorAll('.mg-stage .mg-node')].map(
    node => node.getBoundingClientRect().toJSON())"""


def test_toolbar_covers_neither_outline_nor_nodes(reader, server):
    reader.page.set_viewport_size({"width": 700, "height": 420})
    open_page(reader, server, "tall")
    # as for a picture with an empty left side
    reader.evaluate("e => { e.shadowRoot.querySelector('.mg-canvas').style.marginLeft = '230px'; }")
    reader.page.locator(".mg-stage").hover(position={"x": 5, "y": 5})
    toolbar = reader.page.locator(".mg-toolbar")
    lefts = set()
    for down in range(0, 400, 40):
        reader.page.evaluate(f"scrollTo(0, {down})")
        wait_until(reader, lambda: not any(map(partial(overlap, box(toolbar)), reader.evaluate(NODES))))
        lefts.add(box(toolbar)["x"] < 200)
    assert True in lefts
    reader.page.locator("summary").scroll_into_view_if_needed()
    assert abs(toolbar.bounding_box()["y"] - reader.page.locator("summary").bounding_box()["y"]) < 8


def overlap(one, other):
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


@pytest.fixture
def translated(reader_with):
    """A reader of pages whose script translates the widget."""
    with reader_with(once=True) as reader:
        yield reader


def test_texts_numbers_and_legend_can_be_translated(translated, server):
    words = "zoomIn: 'Vergrößern', linear: 'Lineare Schicht', numbers: 'de'"
    reader = translated
    reader.page.add_init_script(f"globalThis.modelDiagramsStrings = {{ {words} }}")
    open_page(reader, server, "tall")
    assert button(reader, "Vergrößern").count() == 1
    assert button(reader, "Zoom out").count() == 1
    legend = reader.page.locator(".mg-stage .mg-legend")
    assert "Lineare Schicht" in legend.text_content()
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    assert "Lineare Schicht" in legend.text_content()
    assert facts(reader)["Parameters"] == ["16 (25 %)"]


def test_translated_texts_of_the_initial_picture_fit(translated, server):
    """Longer ones, too: the legend is laid out again where there is room, and no text is wider than its box."""
    words = "linear: 'Lineare Schicht', attention: 'Aufmerksamkeitsschicht', tiedToOthers: 'mit anderen geteilt'"
    reader = translated
    reader.page.add_init_script(f"globalThis.modelDiagramsStrings = {{ {words} }}")
    open_page(reader, server, "tall")
    legend = reader.page.locator(".mg-stage .mg-legend > g")
    places = [legend.nth(i).bounding_box() for i in range(legend.count())]
    assert not any(overlap(one, other) for i, one in enumerate(places) for other in places[:i])
    assert reader.page.locator(".mg-legend [textLength]").count() == 0
    open_page(reader, server, "rich")
    head = reader.node("head")
    assert "mit anderen geteilt" in head.text_content()
    detail, box = (head.locator(part).bounding_box() for part in (".mg-detail", ".mg-box"))
    assert box["x"] <= detail["x"]
    assert detail["x"] + detail["width"] <= box["x"] + box["width"]
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    assert "mit anderen geteilt" in head.text_content()


def test_menu_closes_on_a_press_elsewhere(reader, server):
    open_page(reader, server)
    menu = reader.page.locator(".mg-menu")
    for turn in (
        lambda: reader.page.mouse.click(5, 5),
        lambda: reader.page.keyboard.press("Escape"),
        button(reader, "More controls").click,
        lambda: reader.node("embed").click(),
    ):
        button(reader, "More controls").click()
        menu.wait_for()
        turn()
        menu.wait_for(state="hidden")


@pytest.mark.parametrize("width", [320, 390])
def test_menu_covers_nothing_on_narrow_screens(reader_with, server, width):
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": width, "height": 700}) as reader:
        open_page(reader, server, "rich")
        button(reader, "More controls").tap()
        parts = [".mg-stage", ".mg-menu", ".mg-outline"]
        boxes = [reader.page.locator(part).bounding_box() for part in parts]
        for i, box in enumerate(boxes):
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert not any(overlap(box, other) for other in boxes[:i]), parts[i]
