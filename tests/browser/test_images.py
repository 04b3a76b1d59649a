"""Images at nodes: thumbnails in the picture, in full size in a dialog by mouse, finger and keys, and on paper."""

from __future__ import annotations

import pytest

from browser.axe import violations
from browser.controls import FOCUSED, box, details, item, loaded, open_page, wait_until
from browser.pages import HOSTILE

PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 320, "height": 640}}


@pytest.fixture
def page(reader, server):
    return ready(reader, server)


def ready(reader, server):
    """A page whose diagram is in sight, and whose images can be opened."""
    open_page(reader, server, "pictured")
    loaded(reader)
    reader.page.locator("model-graph").scroll_into_view_if_needed()
    reader.page.locator(".mg-image-dialog").wait_for(state="attached")
    return reader


def thumb(reader, node):
    return reader.page.locator(f'.mg-stage [data-id="{node}"] > [data-image]')


def dialog(reader):
    return reader.page.get_by_role("dialog")


def test_click_opens_an_image_and_focus_returns(page):
    thumb(page, "layers.1").click()
    image = dialog(page).get_by_role("img", name="Picture of layers.1")
    assert box(image)["width"] > 2 * box(thumb(page, "layers.1"))["width"]
    assert image.evaluate("e => e.complete && e.naturalWidth") == 64
    assert "layers.1" in dialog(page).inner_text()
    assert not details(page).is_visible()
    page.page.keyboard.press("Escape")
    dialog(page).wait_for(state="hidden")
    assert page.evaluate(FOCUSED) == "layers.1"


@pytest.mark.parametrize("way", ["button", "backdrop"])
def test_dialog_closes_for_the_pointer(page, way):
    thumb(page, "layers.1").click()
    dialog(page).wait_for()
    if way == "button":
        dialog(page).get_by_role("button", name="Close").click()
    else:
        page.page.mouse.click(5, 5)
    dialog(page).wait_for(state="hidden")


def test_the_rest_of_the_box_selects_its_node(page):
    page.node("layers.1").get_by_text("layers.1", exact=True).click()
    details(page).wait_for()
    assert not dialog(page).is_visible()


def test_keys_open_images_and_details_stand_behind(page):
    page.evaluate("e => e.shadowRoot.querySelector('[role=treeitem]').focus()")
    while page.evaluate(FOCUSED) != "layers.1":
        page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    dialog(page).get_by_role("img").wait_for()
    page.page.keyboard.press("Escape")
    dialog(page).wait_for(state="hidden")
    wait_until(page, lambda: page.evaluate(FOCUSED) == "layers.1")
    assert details(page).is_visible()


@pytest.mark.parametrize("size", [(320, 640), (320, 320)])
def test_tap_opens_an_image_that_fits_the_window(size, reader_with, server):
    width, height = size
    with reader_with(**{**PHONE, "viewport": {"width": width, "height": height}}) as reader:
        ready(reader, server)
        thumb(reader, "layers.1").tap()
        dialog(reader).wait_for()
        place = box(dialog(reader))
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= width
        assert place["y"] >= 0
        assert place["y"] + place["height"] <= height
        dialog(reader).get_by_role("button", name="Close").tap()
        dialog(reader).wait_for(state="hidden")


def test_open_modules_show_the_thumbnails_that_closed_ones_count(page):
    assert page.node("layers.0").locator(".mg-more text").text_content() == "1"
    assert thumb(page, "layers.0").count() == 0
    page.node("layers.0").click()
    inner = thumb(page, "layers.0.attention")
    inner.wait_for()
    listed = page.page.locator(".mg-image img").evaluate_all("all => all.map(image => image.src)")
    assert inner.locator("image").get_attribute("href") in listed  # the page has each once for all that is opened
    assert page.node("layers.0").locator("> .mg-header .mg-more").count() == 0
    page.node("layers.0.attention").get_by_text("attention", exact=True).click()
    title = page.header("layers.0.attention").locator("> [data-image]")
    title.wait_for()
    wait_until(page, lambda: page.evaluate("e => e.shadowRoot.getAnimations().every(a => a.playState == 'finished')"))
    title.click()
    dialog(page).get_by_role("img", name="Where each position looks").wait_for()


def test_several_diagrams_of_a_page_open_one_dialog(page):
    wait_until(page, lambda: page.page.evaluate("document.querySelectorAll('script[src$=\"notes.js\"]').length") == 2)
    page.page.wait_for_load_state("load")
    assert page.page.locator(".mg-image-dialog").count() == 1
    assert page.page.locator(".mg-note-card").count() == 1


def test_screen_readers_hear_what_images_show(page):
    label = page.node("layers.1").get_attribute("aria-label")
    assert "Picture of layers.1" in label


@pytest.mark.requests
def test_hostile_images_run_and_load_nothing(page):
    thumb(page, "head").click()
    image = dialog(page).get_by_role("img")
    image.wait_for()
    assert image.get_attribute("alt").startswith(HOSTILE[:40])
    assert page.page.evaluate("[globalThis.hacked, document.querySelector('img[src=x]')]") == [None, None]
    assert not [url for url in page.urls if "x.invalid" in url]


def test_images_have_no_faults_for_readers_with_impairments(page):
    assert violations(page) == []
    thumb(page, "layers.1").click()
    dialog(page).wait_for()
    assert violations(page, ".mg-image-dialog") == []


def test_full_size_is_on_paper_and_not_on_screen(page):
    listed = page.page.locator(".mg-images img")
    assert listed.count() == 3
    assert not listed.first.is_visible()
    page.page.emulate_media(media="print")
    assert listed.first.is_visible()
    assert page.page.locator(".mg-images").get_by_text("Where each position looks").is_visible()


def test_full_size_is_on_pages_without_script(reader_with, server):
    with reader_with(java_script_enabled=False) as reader:
        open_page(reader, server, "pictured")
        assert reader.page.locator(".mg-images img").first.is_visible()
        assert reader.page.locator("model-graph image").count() == 2


def test_saved_pictures_have_thumbnails(page, tmp_path):
    page.page.get_by_role("button", name="More controls").click()
    with page.page.expect_download() as download:
        item(page, "SVG").click()
    download.value.save_as(tmp_path / "saved.svg")
    assert (tmp_path / "saved.svg").read_text("utf-8").count('<image href="data:image/') == 2
