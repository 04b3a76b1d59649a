"""`<model-graph>` in the hands of a reader."""

import pytest

pytestmark = pytest.mark.browser

BEFORE_INTEREST = ["one.html", "model-graph.css", "model-graph.js"]


def settled(reader):
    """Wait until no animation runs."""
    reader.page.wait_for_function(
        "[...document.querySelectorAll('model-graph')].every(e => e.shadowRoot.getAnimations().length === 0)"
    )


def box(locator):
    return locator.bounding_box()


def scale(reader):
    return box(reader.node("embed"))["width"]


def test_first_frame_needs_no_script(reader_with, address):
    with reader_with(java_script_enabled=False) as reader:
        reader.page.goto(f"{address}/one.html")
        assert reader.page.locator("model-graph > svg [data-id='layers.0']").is_visible()
        assert reader.page.locator("summary").is_visible()


def test_script_does_not_move_the_picture(reader, reader_with, site):
    url = f"{site.as_uri()}/two.html"
    with reader_with(java_script_enabled=False) as still:
        still.page.goto(url)
        before = box(still.page.locator("model-graph > svg").nth(1))
    reader.page.goto(url)
    assert box(reader.page.locator("model-graph").nth(1).locator(".mg-stage svg")) == before


def test_nothing_is_loaded_before_a_reader_shows_interest(reader, address):
    reader.page.goto(f"{address}/one.html", wait_until="networkidle")
    assert sorted(set(reader.requests)) == sorted(BEFORE_INTEREST)
    reader.node("layers.0").hover()
    reader.page.wait_for_function("window.modelDiagramsData?.size && window.modelDiagramsViz")
    assert sorted(set(reader.requests)) == sorted([*BEFORE_INTEREST, "core.js", "pkg.Encoder.js", "viz.js"])


def test_click_expands_and_collapses(reader, address):
    reader.page.goto(f"{address}/one.html")
    reader.node("layers.0").click()
    reader.node("layers.0.attention").wait_for()
    reader.header("layers.0").click()
    reader.node("layers.0.attention").wait_for(state="detached")
    assert reader.node("layers.0").is_visible()


def test_toggled_header_stays_where_it_was(reader, server):
    reader.page.goto(f"{server}/two.html")
    reader.node("layers.0").scroll_into_view_if_needed()
    before = box(reader.node("layers.0"))
    scrolled = reader.page.evaluate("scrollY")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    settled(reader)
    after = box(reader.header("layers.0"))
    assert abs(after["y"] - before["y"]) < 12
    assert reader.page.evaluate("scrollY") == scrolled
    pointer_x = before["x"] + before["width"] / 2
    assert after["x"] <= pointer_x <= after["x"] + after["width"]


def test_plain_wheel_scrolls_the_page_and_control_wheel_zooms(reader, server):
    reader.page.goto(f"{server}/two.html")
    reader.node("embed").hover()
    size, scrolled = scale(reader), reader.page.evaluate("scrollY")
    reader.page.mouse.wheel(0, 50)
    reader.page.wait_for_function(f"scrollY > {scrolled}")
    assert scale(reader) == size
    reader.node("embed").hover()
    scrolled = reader.page.evaluate("scrollY")
    reader.page.keyboard.down("Control")
    reader.page.mouse.wheel(0, -100)
    reader.page.keyboard.up("Control")
    reader.page.wait_for_function(f"window.scrollY === {scrolled}")
    assert scale(reader) > 1.1 * size


def test_drag_pans_and_is_not_a_click(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.node("layers.1").hover()
    before = box(reader.node("layers.1"))
    reader.page.mouse.down()
    reader.page.mouse.move(500, 300, steps=5)
    reader.page.mouse.move(before["x"] + 60, before["y"] + 40, steps=5)
    reader.page.mouse.up()
    assert box(reader.node("layers.1"))["x"] != before["x"]
    assert reader.node("layers.1.mlp").count() == 0


def test_picture_cannot_be_lost_by_panning(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.node("layers.1").hover()
    reader.page.mouse.down()
    reader.page.mouse.move(5000, 5000, steps=3)
    reader.page.mouse.up()
    stage, svg = (box(reader.page.locator(name)) for name in (".mg-stage", ".mg-stage svg"))
    assert svg["x"] < stage["x"] + stage["width"] - 20
    assert svg["y"] < stage["y"] + stage["height"] - 20


def test_buttons_and_keys_zoom_and_fit(reader, server):
    reader.page.goto(f"{server}/one.html")
    size = scale(reader)
    by_button = [
        reader.page.get_by_role("button", name=name).click
        for name in ("Zoom in", "Show the whole picture", "Zoom out", "Show the whole picture")
    ]
    by_key = [lambda key=key: reader.page.keyboard.press(key) for key in "+0-0"]
    for grow, fit, shrink, fit_again in (by_button, by_key):
        grow()
        settled(reader)
        assert scale(reader) > 1.2 * size
        fit()
        assert scale(reader) == size
        shrink()
        settled(reader)
        assert scale(reader) < 0.8 * size
        fit_again()


def test_fullscreen_shows_the_picture_on_the_page_colour_and_leaves_no_trace(reader, server):
    reader.page.goto(f"{server}/two.html")
    reader.page.evaluate("document.body.style.background = 'rgb(1, 2, 3)'")
    switch = reader.page.get_by_role("button", name="Fullscreen").first
    switch.click()
    reader.page.wait_for_function("document.fullscreenElement")
    assert reader.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(1, 2, 3)"
    size = scale(reader)
    reader.node("embed").hover()
    reader.page.mouse.wheel(0, -100)
    reader.page.wait_for_function(
        "size => document.querySelector('model-graph').shadowRoot.querySelector('.mg-stage [data-id=embed]')"
        ".getBoundingClientRect().width > 1.1 * size",
        arg=size,
    )
    switch.press("Enter")
    reader.page.wait_for_function("!document.fullscreenElement")
    reader.page.wait_for_timeout(100)
    assert "--mg-behind" not in reader.evaluate("e => e.getAttribute('style') ?? ''")
    assert reader.evaluate("e => e.shadowRoot.activeElement.title") == "Fullscreen"
    place = reader.node("embed").bounding_box()
    assert 0 < place["y"] < 700


def test_two_diagrams_do_not_disturb_each_other(reader, address):
    reader.page.goto(f"{address}/two.html")
    reader.node("layers.0", 1).click()
    reader.node("layers.0.mlp", 1).wait_for()
    assert reader.node("layers.0.mlp", 0).count() == 0
    reader.node("layers.2", 0).click()
    reader.node("layers.2.mlp", 0).wait_for()
    assert "pkg.Encoder.js" in reader.requests
    assert reader.requests.count("viz.js") == 1


def test_keyboard_alone(reader, server):
    page = reader.page
    reader.page.goto(f"{server}/one.html")
    page.keyboard.press("Tab")
    focused = "e => e.shadowRoot.activeElement?.closest('[data-id]')?.dataset.id"
    assert reader.evaluate(focused) == "input:x"
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    assert reader.evaluate(focused) == "layers.0"
    assert reader.node("layers.0").get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    reader.node("layers.0.attention").wait_for()
    assert reader.evaluate(focused) == "layers.0"
    assert reader.header("layers.0").get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowRight")
    assert reader.evaluate(focused).startswith("layers.0")
    assert reader.evaluate(focused) != "layers.0"
    page.keyboard.press("ArrowLeft")
    assert reader.evaluate(focused) == "layers.0"
    page.keyboard.press("Space")
    reader.node("layers.0.attention").wait_for(state="detached")
    page.keyboard.press("End")
    assert reader.evaluate(focused) == "output:y"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert reader.evaluate("e => e.shadowRoot.activeElement?.ariaLabel") == "Zoom out"


def test_focus_is_visible_and_brought_into_sight(reader, server):
    reader.page.set_viewport_size({"width": 500, "height": 300})
    reader.page.goto(f"{server}/tall.html")
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("End")
    last = reader.node("output:y")
    assert last.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    place = box(last)
    assert 0 <= place["y"] <= 300 - place["height"]


def test_tree_has_roles_and_a_name(reader, server):
    reader.page.goto(f"{server}/one.html")
    tree = reader.page.get_by_role("tree")
    assert tree.get_attribute("aria-label").startswith("Architecture of Encoder")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    assert tree.get_attribute("aria-label").startswith("Architecture of Encoder")
    assert reader.node("layers.0.mlp").get_attribute("aria-level") == "2"


def test_no_animation_under_reduced_motion(reader_with, server):
    with reader_with(reduced_motion="reduce") as reader:
        reader.page.goto(f"{server}/one.html")
        reader.page.evaluate("() => { window.calls = 0; Element.prototype.animate = () => { window.calls += 1; }; }")
        reader.node("layers.0").click()
        reader.node("layers.0.mlp").wait_for()
        reader.page.get_by_role("button", name="Zoom in").click()
        assert reader.page.evaluate("calls") == 0


def test_touch_targets_are_large_and_one_finger_scrolls(reader_with, server):
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": 320, "height": 640}) as reader:
        reader.page.goto(f"{server}/one.html")
        button = box(reader.page.get_by_role("button", name="Zoom in"))
        assert button["width"] >= 44
        assert button["height"] >= 44
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 320
        stage = reader.page.locator(".mg-stage")
        assert stage.evaluate("e => getComputedStyle(e).touchAction") == "pan-x pan-y"
        reader.node("layers.0").tap()
        reader.node("layers.0.mlp").wait_for()


def test_repeats_are_shown_one_by_one_and_as_one_again(reader, server):
    """By the pill `×6`, then by the key."""
    reader.page.goto(f"{server}/rolled.html")
    pill = reader.page.get_by_role("button", name="Show all ×6")
    pill.click()
    reader.node("layers.5").wait_for()
    reader.node("layers.0").focus()
    reader.page.keyboard.press("r")
    reader.node("layers.5").wait_for(state="detached")
    assert reader.node("layers.0").is_visible()


def test_plumbing_can_be_shown_and_hidden(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.page.get_by_role("button", name="More controls").click()
    switch = reader.page.get_by_role("button", name="reshapes")
    for shown in ("true", "false"):
        switch.click()
        reader.page.wait_for_function(
            "shown => document.querySelector('model-graph').shadowRoot"
            ".querySelector('[aria-pressed]').getAttribute('aria-pressed') === shown",
            arg=shown,
        )


def test_space_on_what_has_no_inside_shows_its_details(reader, server):
    """As Enter; the page does not jump away."""
    reader.page.goto(f"{server}/two.html")
    reader.node("embed").focus()
    scrolled = reader.page.evaluate("scrollY")
    reader.page.keyboard.press("Space")
    reader.page.get_by_role("region", name="Details").wait_for()
    assert reader.page.evaluate("scrollY") == scrolled


def test_picture_stays_in_the_middle_of_a_screen_that_is_turned(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    reader.page.set_viewport_size({"width": 300, "height": 700})
    reader.page.wait_for_function(
        """() => {
            const [stage, svg] = ['.mg-stage', '.mg-stage svg'].map(
                name => document.querySelector('model-graph').shadowRoot.querySelector(name).getBoundingClientRect());
            return Math.abs(svg.x + svg.width / 2 - stage.x - stage.width / 2) < 10;
        }"""
    )


def test_drag_ends_where_the_button_was_let_go_unseen(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.node("layers.1").hover()
    reader.page.mouse.down()
    reader.page.mouse.move(300, 200, steps=4)
    before = box(reader.node("layers.1"))
    reader.page.evaluate("dispatchEvent(new MouseEvent('mousemove', { clientX: 500, clientY: 400 }))")
    assert box(reader.node("layers.1")) == before


def test_hint_is_where_the_reader_is(reader, server):
    reader.page.goto(f"{server}/tall.html")
    reader.page.evaluate("scrollTo(0, 1200)")
    reader.page.mouse.move(450, 300)
    reader.page.mouse.wheel(0, 1)
    place = box(reader.page.locator(".mg-hint"))
    assert -2 <= place["y"] <= 2
    assert abs(place["height"] - 700) <= 2


def test_fullscreen_within_a_page_that_is_fullscreen(reader, server):
    """As slides are."""
    reader.page.goto(f"{server}/one.html")
    reader.page.evaluate("document.documentElement.requestFullscreen()")
    reader.page.get_by_role("button", name="Fullscreen").click()
    reader.page.wait_for_function("document.fullscreenElement?.localName === 'model-graph'")
