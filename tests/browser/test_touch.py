"""Fingers on a diagram."""

import pytest

from browser.controls import box

PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 320, "height": 640}}


@pytest.fixture
def phone(reader_with, server):
    """A page with one diagram on a phone."""
    with reader_with(**PHONE) as reader:
        reader.page.goto(f"{server}/one.html")
        yield reader


def touch(reader, *steps):
    """Put fingers down at the points of the first step, move them through the others, and lift them."""
    session = reader.page.context.new_cdp_session(reader.page)
    for kind, points in zip(["touchStart", *["touchMove"] * (len(steps) - 1)], steps, strict=True):
        fingers = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def test_pinch_zooms_about_its_middle(phone):
    before = box(phone.node("layers.1"))
    touch(phone, *([(140 - 10 * i, 150), (180 + 10 * i, 150)] for i in range(5)))
    after = box(phone.node("layers.1"))
    assert after["width"] == pytest.approx(3 * before["width"], rel=0.01)
    middle = after["x"] + after["width"] / 2
    assert middle == pytest.approx(160 + 3 * (before["x"] + before["width"] / 2 - 160), abs=1)


def test_two_fingers_pan(phone):
    before = box(phone.node("layers.1"))
    touch(phone, *([(140, 150 + 10 * i), (180, 150 + 10 * i)] for i in range(4)))
    after = box(phone.node("layers.1"))
    assert after["y"] == pytest.approx(before["y"] + 30, abs=1)
    assert after["width"] == pytest.approx(before["width"], rel=0.01)


def test_one_finger_does_not_move_the_picture(phone):
    touch(phone, *([(160, 200 - 20 * i)] for i in range(4)))
    assert phone.page.locator(".mg-free").count() == 0


def test_tap_expands_a_module(phone):
    phone.node("layers.0").tap()
    phone.node("layers.0.mlp").wait_for()


def test_controls_are_large_and_one_finger_may_scroll(phone):
    button = box(phone.page.get_by_role("button", name="Zoom in"))
    assert min(button["width"], button["height"]) >= 44
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 320
    assert phone.page.locator(".mg-stage").evaluate("e => getComputedStyle(e).touchAction") == "pan-x pan-y"


def test_sheet_of_details_tells_before_it_offers(phone):
    phone.node("embed").tap()
    phone.page.get_by_role("button", name="More", exact=True).tap()
    assert box(phone.page.locator(".mg-facts"))["y"] < box(phone.page.locator(".mg-panel-sheet > .mg-row"))["y"]


def test_a_long_name_in_a_full_sheet_covers_no_fact(reader_with, server):
    """The sheet scrolls: what is in it keeps its height."""
    with reader_with(**PHONE) as reader:
        reader.page.goto(f"{server}/one.html")
        reader.page.add_style_tag(content="model-graph { font-size: 22px }")
        reader.node("layers.0").tap()
        reader.node("layers.0.mlp").tap()
        reader.node("layers.0.mlp.up").tap()
        reader.page.get_by_role("button", name="More", exact=True).tap()
        (head, facts, row) = (
            reader.page.locator(f".mg-panel-sheet > {part}") for part in (".mg-panel-head", ".mg-facts", ".mg-row")
        )
        for part, below in ((head, facts), (facts, row)):
            last = part.locator(":scope > *").last.bounding_box()
            assert last["y"] + last["height"] <= below.bounding_box()["y"]


def test_controls_of_fullscreen_are_in_the_window(phone):
    phone.page.get_by_role("button", name="Fullscreen").tap()
    phone.page.wait_for_function("document.fullscreenElement !== null")
    for button in phone.page.locator(".mg-toolbar > button:visible").all():
        place = box(button)
        assert 0 <= place["x"] <= 320 - place["width"]
        assert 0 <= place["y"] <= 640 - place["height"]
