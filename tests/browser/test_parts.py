"""Words that speak of a part of the diagram: they light it, lead to it, and are lit by it."""

import pytest

from browser.axe import violations
from browser.controls import wait_selected, wait_until
from browser.serving import served
from browser.tours import NO_SCRIPT, PHONE, SHOWN, write_parts


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    write_parts(folder)
    with served(folder) as address:
        yield f"{address}/parts.html"


@pytest.fixture
def page(reader, address):
    reader.page.goto(address)
    reader.page.locator("a.mg-part.mg-linked").first.wait_for()
    return reader


def words(reader, text):
    return reader.page.get_by_role("link", name=text)


def wait_lit(reader, *nodes):
    wait_until(reader, lambda: reader.page.evaluate(SHOWN)["lit"] == list(nodes))


def test_words_light_their_part_while_the_pointer_is_on_them(page):
    words(page, "the stem").hover()
    wait_lit(page, "stem")
    page.page.mouse.move(1, 1)
    wait_lit(page)


def test_words_light_what_holds_their_part(page):
    words(page, "an activation").hover()
    wait_lit(page, "blocks")


def test_a_click_brings_the_part_into_sight(page):
    words(page, "an activation").click()
    wait_selected(page, "blocks.1.up")
    assert page.node("blocks.1.up").is_visible()
    assert page.page.url.endswith("parts.html")
    assert not page.errors


def test_keys_light_and_lead_to_a_part(page):
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.textContent") == "the stem"
    wait_lit(page, "stem")
    page.page.keyboard.press("Enter")
    wait_selected(page, "stem")


def test_a_tap_leads_to_a_part(reader_with, address):
    with reader_with(**PHONE) as reader:
        reader.page.goto(address)
        reader.page.locator("a.mg-part.mg-linked").first.wait_for()
        words(reader, "an activation").tap()
        wait_selected(reader, "blocks.1.up")


def test_a_node_marks_the_words_that_speak_of_it(page):
    page.node("stem").hover()
    page.page.locator("a.mg-spoken", has_text="the stem").wait_for()
    page.node("head").hover()
    wait_until(page, lambda: page.page.locator("a.mg-spoken").count() == 0)


@pytest.mark.parametrize(("entry", "lit"), [("pkg.Block", "blocks"), ("pkg.Network.stem", "stem")])
def test_what_an_api_page_documents_lights_its_part(page, entry, lit):
    page.page.locator(f'[id="{entry}"]').hover()
    wait_lit(page, lit)
    page.page.mouse.move(1, 1)
    wait_lit(page)


def test_without_script_words_lead_to_the_picture(reader_with, address):
    with reader_with(**NO_SCRIPT) as reader:
        reader.page.goto(address)
        words(reader, "the stem").click()
        fragment = reader.page.url.partition("#")[2]
        assert reader.page.locator(f'[id="{fragment}"]').count() == 1


def test_readers_with_impairments_can_use_it(page):
    words(page, "the stem").hover()
    wait_lit(page, "stem")
    assert violations(page, "main") == []
