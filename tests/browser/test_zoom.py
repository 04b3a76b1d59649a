"""Zoom, pan and fullscreen with mouse, wheel and keyboard."""

import pytest

from browser.controls import box, settled, wait_until


def scale(reader):
    return box(reader.node("embed"))["width"]


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


def test_panning_keeps_the_picture_visible(reader, server):
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


def test_fullscreen_uses_the_page_colour_and_restores_everything(reader, server):
    reader.page.goto(f"{server}/two.html")
    reader.page.evaluate("document.body.style.background = 'rgb(1, 2, 3)'")
    switch = reader.page.locator(".mg-toolbar").first.get_by_role("button", name="Fullscreen")
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
    wait_until(reader, lambda: "--mg-behind" not in reader.evaluate("e => e.getAttribute('style') ?? ''"))
    assert reader.evaluate("e => e.shadowRoot.activeElement.title") == "Fullscreen"
    wait_until(reader, lambda: 0 < box(reader.node("embed"))["y"] < 700)


def test_picture_stays_centred_when_the_screen_is_rotated(reader, server):
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


def test_click_with_a_shaky_hand_does_not_move_the_picture(reader, server):
    reader.page.goto(f"{server}/one.html")
    before = box(reader.page.locator(".mg-stage svg"))
    node = box(reader.node("embed"))
    reader.node("embed").hover()
    reader.page.mouse.down()
    reader.page.mouse.move(node["x"] + node["width"] / 2 + 2, node["y"] + node["height"] / 2 + 2)
    reader.page.mouse.up()
    reader.page.get_by_role("region", name="Details").wait_for()
    assert box(reader.page.locator(".mg-stage svg")) == before
    assert reader.page.locator(".mg-free").count() == 0


def test_control_wheel_at_the_largest_scale_does_not_zoom_the_page(reader, server):
    reader.page.goto(f"{server}/one.html")
    wheel = """e => {
        const event = new WheelEvent('wheel', { deltaY: -300, ctrlKey: true, bubbles: true, cancelable: true });
        e.shadowRoot.querySelector('.mg-canvas').dispatchEvent(event);
        return event.defaultPrevented;
    }"""
    for _ in range(12):
        assert reader.evaluate(wheel)
    reader.page.wait_for_timeout(200)  # d3-zoom takes wheel events up to this as one gesture
    size = scale(reader)
    assert reader.evaluate(wheel)
    assert scale(reader) == size


def test_drag_ends_when_the_button_was_released_outside(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.node("layers.1").hover()
    reader.page.mouse.down()
    reader.page.mouse.move(300, 200, steps=4)
    before = box(reader.node("layers.1"))
    reader.page.evaluate("dispatchEvent(new MouseEvent('mousemove', { clientX: 500, clientY: 400 }))")
    assert box(reader.node("layers.1")) == before


def test_zoom_hint_covers_nothing_and_shifts_no_button(reader, server):
    reader.page.goto(f"{server}/tall.html")
    reader.page.evaluate("scrollTo(0, 1200)")
    reader.page.mouse.move(450, 300)
    toolbar = reader.page.locator(".mg-toolbar")
    before = [box(one) for one in toolbar.get_by_role("button").all()]
    reader.page.mouse.wheel(0, 1)
    hint = box(reader.page.locator(".mg-hint"))
    assert hint["height"] <= 44
    assert [box(one) for one in toolbar.get_by_role("button").all()] == before
    nodes = [box(node) for node in reader.page.locator(".mg-stage .mg-node").all()]
    assert not [node for node in nodes if overlap(hint, node)]


def overlap(one, other):
    across = one["x"] < other["x"] + other["width"] and other["x"] < one["x"] + one["width"]
    return across and one["y"] < other["y"] + other["height"] and other["y"] < one["y"] + one["height"]


def test_zoom_hint_waits_where_there_is_no_room_for_it(reader, server):
    """It is not taken for shown."""
    reader.page.set_viewport_size({"width": 340, "height": 500})
    reader.page.goto(f"{server}/tall.html")
    reader.page.mouse.move(150, 200)
    reader.page.mouse.wheel(0, 1)
    reader.page.set_viewport_size({"width": 900, "height": 500})
    reader.page.mouse.move(450, 200)
    reader.page.mouse.wheel(0, 1)
    reader.page.locator(".mg-hint").wait_for()


def test_fullscreen_works_in_a_fullscreen_page(reader, server):
    """For example in slides."""
    reader.page.goto(f"{server}/one.html")
    reader.page.evaluate("document.documentElement.requestFullscreen()")
    reader.page.get_by_role("button", name="Fullscreen").click()
    reader.page.wait_for_function("document.fullscreenElement?.localName === 'model-graph'")


def test_pinch_of_webkit_zooms_about_the_pointer(reader, server):
    """Safari reports pinches on a touchpad as events of its own."""
    reader.page.goto(f"{server}/one.html")
    before = box(reader.node("layers.1"))
    x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    pinch = """(stage, [x, y]) => {
        const tell = (type, scale) => {
            const event = new MouseEvent(type, { bubbles: true, cancelable: true, clientX: x, clientY: y });
            stage.dispatchEvent(Object.assign(event, { scale }));
            return event.defaultPrevented;
        };
        return [["gesturestart", 1], ["gesturechange", 1.2], ["gesturechange", 1.4]].every(args => tell(...args));
    }"""
    assert reader.page.locator(".mg-stage").evaluate(pinch, [x, y])
    after = box(reader.node("layers.1"))
    assert after["width"] == pytest.approx(1.4 * before["width"], rel=0.02)
    assert after["x"] + after["width"] / 2 == pytest.approx(x, abs=1)
    assert after["y"] + after["height"] / 2 == pytest.approx(y, abs=1)
