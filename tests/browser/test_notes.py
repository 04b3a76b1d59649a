"""The author's notes beside their nodes, by mouse, finger and keys; and what an author says otherwise."""

from __future__ import annotations

import pytest

from browser.axe import violations
from browser.controls import box, details, facts, loaded, open_page, wait_until
from browser.pages import HOSTILE, LONG_NOTE

PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 320, "height": 640}}


@pytest.fixture
def page(reader, server):
    open_page(reader, server, "noted")
    return ready(reader)


def ready(reader):
    """A page whose diagram is in sight, and whose notes are there."""
    loaded(reader)
    reader.page.locator("model-graph").scroll_into_view_if_needed()
    reader.page.locator(".mg-note-card").wait_for(state="attached")
    return reader


def card(reader):
    return reader.page.locator(".mg-note-card:popover-open")


def is_in_sight(reader):
    """Whether no edge of the card is cut."""
    place, size = box(card(reader)), reader.page.viewport_size
    right, bottom = place["x"] + place["width"], place["y"] + place["height"]
    return place["x"] >= 0 and place["y"] >= 0 and right <= size["width"] and bottom <= size["height"]


def test_pointer_on_a_node_shows_its_notes(page):
    page.node("head").hover()
    card(page).get_by_text(LONG_NOTE.strip()).wait_for()
    assert card(page).locator(".mg-note-text").count() == 1
    assert is_in_sight(page)
    assert card(page).locator("[id]").count() == 0


def test_card_stays_while_the_pointer_is_on_it_and_goes_with_escape(page):
    page.node("head").hover()
    card(page).wait_for()
    card(page).hover()
    page.page.wait_for_timeout(500)  # longer than a card without a pointer stays
    assert card(page).is_visible()
    page.page.keyboard.press("Escape")
    card(page).wait_for(state="detached")


def test_card_goes_with_the_pointer(page):
    page.node("head").hover()
    card(page).wait_for()
    page.node("input:x").hover()
    card(page).wait_for(state="detached")


def test_a_node_may_have_several_notes_and_they_run_nothing(page):
    page.node("layers.0").hover()
    card(page).locator(".mg-note-text").nth(1).wait_for()
    assert HOSTILE.split("\u202e")[0] in card(page).locator(".mg-note-text").nth(1).inner_text()
    assert page.page.locator("img").count() == 0


def test_keys_show_notes_of_the_focused_node(page):
    page.evaluate("e => e.shadowRoot.querySelector('[role=treeitem]').focus()")
    for _ in range(20):
        if card(page).count():
            break
        page.page.keyboard.press("ArrowDown")
    assert card(page).is_visible()
    assert is_in_sight(page)


@pytest.mark.parametrize("size", [(320, 640), (1400, 500), (320, 320)])
def test_tap_shows_notes_that_are_never_cut(size, reader_with, server):
    width, height = size
    with reader_with(**{**PHONE, "viewport": {"width": width, "height": height}}) as reader:
        open_page(reader, server, "noted")
        ready(reader)
        reader.node("head").tap()
        card(reader).wait_for()
        wait_until(reader, lambda: is_in_sight(reader), "the card is cut")
        # what has no room can be scrolled to
        assert card(reader).evaluate("e => e.scrollHeight <= e.clientHeight || getComputedStyle(e).overflowY == 'auto'")
        reader.page.mouse.click(5, 5)
        card(reader).wait_for(state="detached")


def test_notes_and_their_list_have_no_faults_for_readers_with_impairments(page):
    page.node("head").hover()
    card(page).wait_for()
    assert violations(page, ".mg-note-card", ".mg-notes") == []


def test_details_tell_what_an_author_says(page):
    page.node("head").click()
    details(page).get_by_text("head", exact=True).wait_for()
    assert facts(page)["By the author"] == ["shown as “Answer”"]
    assert page.node("layers.2").count() == 0


@pytest.mark.requests
def test_pages_without_notes_load_nothing_for_them(reader, server):
    open_page(reader, server)
    loaded(reader)
    assert "notes.js" not in reader.requests
