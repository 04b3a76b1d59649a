"""The widget for readers who use a keyboard, a screen reader, large text or few colours."""

import itertools
import re

import pytest

from browser.axe import violations
from browser.controls import button, details, expand, item, wait_selected
from samples import some

COARSE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 320, "height": 640}}


def at_rest(reader):
    """Change nothing."""


def everything_open(reader):
    """Modules, details, search, menu and outline."""
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    button(reader, "Search").click()
    reader.page.keyboard.type("mlp")
    reader.page.keyboard.press("Enter")
    # one after the other, or all in one box
    reader.page.get_by_role("search").get_by_text(re.compile("^1 of|^×")).first.wait_for()
    reader.page.locator("summary").press("Enter")
    button(reader, "More controls").click()
    # it takes the focus once its script has loaded
    reader.page.get_by_role("menu").wait_for()


def searching(reader):
    """The list of hits is open, with a note."""
    button(reader, "Search").click()
    reader.page.keyboard.type("mpdwn")
    reader.page.get_by_text("these are similar").wait_for()


def searching_much(reader):
    """The list of hits is longer than its room."""
    reader.page.evaluate("document.documentElement.style.fontSize = '400%'")
    button(reader, "Search").click()
    reader.page.keyboard.type("l")
    reader.page.get_by_role("option").nth(3).wait_for(state="attached")


def coloured(reader):
    button(reader, "More controls").click()
    item(reader, "Parameters").click()
    reader.page.locator(".mg-scale .mg-swatch").first.wait_for()


def isolated(reader):
    reader.node("layers.1").focus()
    reader.page.keyboard.press("i")
    button(reader, "Show alone").click()
    reader.node("layers.1.mlp").wait_for()


@pytest.mark.parametrize(
    "do",
    # a short search is part of a long one, and a lens is looked at with all its parts in test_costs.py
    some(
        [at_rest, everything_open, searching, searching_much, coloured, isolated],
        {at_rest, everything_open, searching_much, isolated},
    ),
    ids=lambda do: do.__name__,
)
def test_axe_finds_no_violation(reader, server, do):
    reader.page.goto(f"{server}/rich.html")
    do(reader)
    reader.page.mouse.move(400, 200)
    assert violations(reader, ".mg-table") == []


def test_tab_reaches_every_control_with_a_visible_focus(reader, server):
    reader.page.goto(f"{server}/rich.html")
    everything_open(reader)
    reader.page.evaluate("() => { document.body.tabIndex = -1; document.body.focus(); }")
    seen = set()
    for _ in range(120):
        reader.page.keyboard.press("Tab")
        if reader.page.evaluate("document.activeElement === document.body"):
            break
        name, style = reader.page.evaluate(
            """() => {
              let at = document.activeElement;
              while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
              const { outlineStyle, outlineWidth } = getComputedStyle(at);
              return [at.ariaLabel || at.dataset.id || at.textContent.trim(), `${outlineStyle} ${outlineWidth}`];
            }"""
        )
        seen.add(name)
        assert not style.startswith("none"), name
        assert not style.endswith(" 0px"), name
    assert {"Search (/)", "Next (Enter)", "What leads here", "Zoom in", "Outline of Rich"} <= seen


def test_expanding_and_collapsing_are_announced(reader, server):
    reader.page.goto(f"{server}/rolled.html")
    reader.node("layers.0").focus()
    reader.page.keyboard.press("Enter")
    status = reader.page.get_by_role("status")
    status.get_by_text("layers.0 open").wait_for(state="attached")
    reader.page.keyboard.press("Space")
    status.get_by_text("layers.0 closed").wait_for(state="attached")


def test_forced_colours_are_used(reader_with, server):
    with reader_with(forced_colors="active") as reader:
        reader.page.goto(f"{server}/rich.html")
        reader.node("embed").click()
        button(reader, "What leads here").wait_for()
        box = reader.node("embed").locator(".mg-box")
        selected = box.evaluate("e => getComputedStyle(e).stroke")
        plain = reader.node("layers.0").locator(".mg-box").evaluate("e => getComputedStyle(e).stroke")
        assert selected != plain
        assert plain == reader.page.evaluate(
            "() => { const e = document.body.appendChild(document.createElement('p')); e.style.color = 'CanvasText';"
            " return getComputedStyle(e).color; }"
        )
        coloured(reader)
        swatches = reader.page.locator(".mg-scale .mg-swatch")
        assert swatches.count() == len(
            set(swatches.evaluate_all("all => all.map(e => getComputedStyle(e).background)"))
        )


def test_more_contrast_leaves_nothing_faint(reader_with, server):
    with reader_with(contrast="more") as reader:
        reader.page.goto(f"{server}/rich.html")
        style = "(e, name) => getComputedStyle(e)[name]"
        ink = reader.page.locator("model-graph").evaluate(style, "color")
        assert reader.page.locator(".mg-edges").first.evaluate(style, "opacity") == "1"
        assert reader.node("embed").locator(".mg-box").evaluate(style, "stroke") == ink
        words = reader.node("embed").locator("text").evaluate_all("all => all.map(e => getComputedStyle(e).fill)")
        assert set(words) == {ink}
        # controls are there before a pointer is
        assert reader.page.locator(".mg-toolbar").evaluate(style, "opacity") == "1"


def test_pages_that_run_right_to_left(reader, server):
    reader.page.goto(f"{server}/one.html")
    places = []
    for direction in ("ltr", "rtl"):
        reader.page.evaluate("way => { document.documentElement.dir = way }", direction)
        node, svg = reader.node("layers.1").bounding_box(), reader.page.locator(".mg-stage svg").bounding_box()
        places.append((node["x"] - svg["x"], svg["x"], svg["width"]))
        assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert places[0] == places[1]
    expand(reader)
    before = reader.node("layers.0.mlp").bounding_box()
    reader.node("layers.0.mlp").hover()
    reader.page.keyboard.down("Control")
    reader.page.mouse.wheel(0, -30)
    reader.page.keyboard.up("Control")
    after = reader.node("layers.0.mlp").bounding_box()
    middles = [place["x"] + place["width"] / 2 for place in (before, after)]
    assert after["width"] > 1.1 * before["width"]
    assert middles[0] == pytest.approx(middles[1], abs=1)


@pytest.mark.parametrize("size", some([200, 400], {400}))
@pytest.mark.parametrize("name", ["rich", "rolled"])
def test_large_text_fits(reader_with, server, name, size):
    with reader_with(viewport={"width": 640, "height": 700}) as reader:
        reader.page.goto(f"{server}/{name}.html")
        reader.page.evaluate("size => { document.documentElement.style.fontSize = size }", f"{size}%")
        everything_open(reader)
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 640
        for part in reader.page.locator(".mg-panel-sheet, .mg-search, .mg-menu, .mg-toolbar").all():
            assert part.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
            assert part.bounding_box()["x"] >= 0


def test_details_of_large_text_are_broad_enough_to_read(reader_with, server):
    """Beside the picture is room for text of the usual size only."""
    with reader_with(viewport={"width": 1300, "height": 900}) as reader:
        reader.page.goto(f"{server}/one.html")
        panel = details(reader)
        for size in ("100%", "400%"):
            reader.page.evaluate("size => { document.documentElement.style.fontSize = size }", size)
            reader.node("layers.0").focus()
            reader.page.keyboard.press("i")
            panel.wait_for()
            em = panel.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
            assert panel.bounding_box()["width"] >= 18 * em
            reader.page.keyboard.press("Escape")


@pytest.mark.parametrize(
    ("direction", "width"), some(itertools.product(("ltr", "rtl"), (320, 1300)), {("ltr", 320), ("rtl", 1300)})
)
def test_controls_of_details_cover_no_name(reader_with, server, direction, width):
    with reader_with(viewport={"width": width, "height": 900}) as reader:
        reader.page.goto(f"{server}/one.html")
        reader.page.evaluate("way => { document.documentElement.dir = way }", direction)
        for node in ("layers.0", "layers.0.mlp", "layers.0.mlp.up"):
            reader.node(node).focus()
            reader.page.keyboard.press("Enter")
        wait_selected(reader, "layers.0.mlp.up")
        if width < 500:
            reader.page.get_by_role("button", name="More", exact=True).click()
        name = details(reader).locator("strong").bounding_box()
        for control in details(reader).locator(".mg-close, .mg-more:visible").all():
            place = control.bounding_box()
            is_left, is_right = place["x"] + place["width"] <= name["x"], place["x"] >= name["x"] + name["width"]
            assert is_left or is_right


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_menu_of_large_text_stays_in_the_window(reader_with, server, direction):
    with reader_with(viewport={"width": 900, "height": 700}) as reader:
        reader.page.goto(f"{server}/rich.html")
        reader.page.evaluate(
            """direction => {
              Object.assign(document.documentElement, { dir: direction, style: "font-size: 400%" });
              document.body.style.margin = "0 120px";
            }""",
            direction,
        )
        button(reader, "More controls").click()
        menu = reader.page.get_by_role("menu")
        menu.wait_for()
        place = menu.bounding_box()
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 900
        assert menu.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_wide_table_scrolls_inside_a_narrow_page(reader_with, server):
    with reader_with(**COARSE) as reader:
        reader.page.goto(f"{server}/rich.html")
        table = reader.page.get_by_role("region", name="Modules of Rich")
        assert table.evaluate("e => e.scrollWidth") > 320
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 320
        table.focus()
        reader.page.keyboard.press("ArrowRight")
        reader.page.wait_for_function("document.querySelector('.mg-table').scrollLeft > 0")


def test_controls_are_large_enough_for_touch(reader_with, server):
    with reader_with(**COARSE) as reader:
        reader.page.goto(f"{server}/rich.html")
        button(reader, "Search").tap()
        reader.page.get_by_role("combobox", name="Search").fill("mlp")
        reader.page.get_by_role("option").tap()
        reader.page.get_by_role("region", name="Details").wait_for()
        reader.page.get_by_role("button", name="More", exact=True).tap()
        for turn in (button(reader, "Next"), button(reader, "More controls")):
            turn.tap()
            assert reader.page.evaluate("document.documentElement.scrollWidth") <= 320
            controls = reader.page.locator(".mg-foot :is(button, select, input)").locator("visible=true").all()
            assert len(controls) > 12
            for control in controls:
                place = control.bounding_box()
                assert min(place["width"], place["height"]) >= 44, control.inner_text()
                assert place["x"] >= 0
                assert place["x"] + place["width"] <= 320
