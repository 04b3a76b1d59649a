"""Tours: the picture follows the step in sight, however a reader moves; without the script each step has its own."""

import pytest

from browser.axe import violations
from browser.controls import button, wait_selected, wait_until
from browser.serving import served
from browser.tours import CURRENT, NO_SCRIPT, PHONE, SHOWN, STEPS, write_tour


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tour")
    write_tour(folder)
    with served(folder) as address:
        yield f"{address}/tour.html"


@pytest.fixture
def page(reader, address):
    reader.page.goto(address)
    button(reader, "Next step").wait_for()
    return reader


def wait_for_step(reader, index):
    reader.page.wait_for_function(f"index => ({CURRENT})() === index", arg=index)


def settle(reader):
    """Wait until what a scroll led to is done."""
    reader.page.evaluate("new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))")


def wait_shown(reader, condition):
    wait_until(reader, lambda: condition(reader.page.evaluate(SHOWN)))


def show_by_buttons(reader, index):
    for step in range(index):
        button(reader, "Next step").click()
        wait_for_step(reader, step + 1)


@pytest.mark.requests
def test_a_page_with_a_tour_loads_what_one_with_a_diagram_does(reader, address):
    reader.page.goto(address)
    button(reader, "Next step").wait_for()
    reader.page.wait_for_load_state("networkidle")
    assert sorted(reader.requests) == ["model-graph.css", "model-graph.js", "prose.js", "tour.html"]


def test_buttons_lead_through_the_steps(page):
    assert page.page.evaluate(CURRENT) == 0
    show_by_buttons(page, 1)
    wait_shown(page, lambda shown: shown["lit"] == ["stem"])
    show_steps = button(page, "Next step")
    show_steps.click()
    wait_for_step(page, 2)
    wait_shown(page, lambda shown: "blocks.1.up" in shown["nodes"] and not shown["lit"])
    button(page, "Previous step").click()
    wait_for_step(page, 1)
    wait_shown(page, lambda shown: "blocks.1.up" not in shown["nodes"] and shown["lit"] == ["stem"])
    assert not page.errors


def test_a_step_shows_a_module_alone_in_its_lens(page):
    show_by_buttons(page, 3)
    wait_shown(page, lambda shown: "stem" not in shown["nodes"] and "blocks.0.up" in shown["nodes"])
    wait_until(page, lambda: page.evaluate("e => e.shadowRoot.querySelector('.mg-stage').dataset.by") == "amount")
    show_by_buttons(page, 0)
    button(page, "Next step").click()
    wait_shown(page, lambda shown: shown["lit"] == ["head"])
    wait_until(page, lambda: page.evaluate("e => e.shadowRoot.querySelector('.mg-stage').dataset.by") == "kind")


def test_the_picture_follows_who_scrolls_and_stays_in_sight(page):
    page.page.locator(".mg-step").nth(2).evaluate(
        "step => scrollTo(0, step.getBoundingClientRect().top + scrollY - 90)"
    )
    wait_for_step(page, 2)
    wait_shown(page, lambda shown: "blocks.1.up" in shown["nodes"])
    stage = page.page.locator("model-graph .mg-stage")
    assert stage.evaluate("e => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().bottom <= innerHeight")
    page.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    wait_for_step(page, len(STEPS) - 1)
    page.page.evaluate("scrollTo(0, 0)")
    wait_for_step(page, 0)


def test_on_a_page_that_scrolls_little_the_first_and_the_last_step_are_in_sight_at_its_ends(reader_with, address):
    with reader_with(viewport={"width": 900, "height": 701}) as reader:
        reader.page.goto(address)
        reader.page.set_viewport_size({"width": 900, "height": reader.page.evaluate("document.body.scrollHeight") - 60})
        reader.page.reload()
        button(reader, "Next step").wait_for()
        reader.page.evaluate("scrollTo(0, 5)")
        settle(reader)
        assert reader.page.evaluate(CURRENT) == 0
        reader.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        wait_for_step(reader, len(STEPS) - 1)


def test_keys_lead_through_the_steps(page):
    button(page, "Next step").focus()
    page.page.keyboard.press("ArrowRight")
    wait_for_step(page, 1)
    page.page.keyboard.press("ArrowRight")
    wait_for_step(page, 2)
    page.page.keyboard.press("ArrowLeft")
    wait_for_step(page, 1)
    wait_shown(page, lambda shown: shown["lit"] == ["stem"])
    page.node("stem").focus()
    page.page.keyboard.press("n")
    wait_for_step(page, 2)
    page.page.keyboard.press("p")
    wait_for_step(page, 1)


def test_who_selects_a_node_sees_no_light_on_others(page):
    show_by_buttons(page, 1)
    wait_shown(page, lambda shown: shown["lit"] == ["stem"])
    page.node("head").click()
    wait_shown(page, lambda shown: shown["lit"] == [])


def test_who_selects_a_node_while_the_page_still_scrolls_keeps_it(page):
    page.page.evaluate("() => { globalThis.hasScrolled = false; onscrollend = () => { hasScrolled = true; }; }")
    page.page.evaluate("() => { scrollBy = (to) => scrollTo({ top: scrollY + to.top / 2 }); }")
    show_by_buttons(page, 1)
    wait_shown(page, lambda shown: shown["lit"] == ["stem"])
    page.node("head").click()
    page.page.evaluate("scrollTo({ top: scrollY + 10 })")
    page.page.wait_for_function("hasScrolled")
    settle(page)
    assert page.page.evaluate(CURRENT) == 1
    wait_selected(page, "head")
    assert page.page.evaluate(SHOWN)["lit"] == []


@pytest.mark.parametrize("page", ["tour", "clipped"])
def test_on_a_phone_the_picture_stays_above_the_text(reader_with, address, page):
    with reader_with(**PHONE) as reader:
        reader.page.goto(address.replace("tour.html", f"{page}.html"))
        for step in range(1, 3):
            button(reader, "Next step").tap()
            wait_for_step(reader, step)
            # also where the picture was further down before
            title = reader.page.locator(".mg-step[aria-current] .mg-step-title")
            wait_until(reader, lambda title=title: 0 < title.bounding_box()["y"] < 520)
        wait_shown(reader, lambda shown: "blocks.1.up" in shown["nodes"])
        parts = ".mg-tour-picture", ".mg-step[aria-current]"
        boxes = [reader.page.locator(part).bounding_box for part in parts]
        wait_until(reader, lambda: _is_above(*(box() for box in boxes)))
        assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_a_step_in_a_lens_can_be_read(reader_with, address):
    with reader_with(**PHONE) as reader:
        reader.page.goto(address)
        show_by_buttons(reader, 3)
        reader.page.locator("model-graph .mg-scale:visible").wait_for()
        assert reader.page.locator(".mg-tour-picture").bounding_box()["height"] <= 0.8 * 640
        assert reader.page.locator("model-graph .mg-modes:visible").count() == 0


def _is_above(picture, step):
    return picture["y"] >= 0 and picture["y"] + picture["height"] <= step["y"] + 1 < 640


def test_reduced_motion_jumps(reader_with, address):
    with reader_with(reduced_motion="reduce") as reader:
        reader.page.goto(address)
        reader.page.evaluate("() => { globalThis.behaviors = []; scrollBy = (to) => behaviors.push(to.behavior); }")
        button(reader, "Next step").click()
        wait_for_step(reader, 1)
        assert reader.page.evaluate("behaviors") == ["instant"]
        wait_shown(reader, lambda shown: shown["lit"] == ["stem"])


def test_without_script_each_step_has_its_picture(reader_with, address):
    with reader_with(**NO_SCRIPT) as reader:
        reader.page.goto(address)
        pictures = reader.page.locator(".mg-step-picture")
        assert pictures.count() == len(STEPS)
        for picture in pictures.all():
            picture.scroll_into_view_if_needed()
            wait_until(reader, lambda picture=picture: picture.evaluate("e => e.complete && e.naturalWidth > 0"))
            assert picture.is_visible()


def test_in_print_each_step_has_its_picture(page):
    assert not page.page.locator(".mg-step-picture").first.is_visible()
    page.page.emulate_media(media="print")
    try:
        assert all(picture.is_visible() for picture in page.page.locator(".mg-step-picture").all())
        assert not page.page.locator(".mg-tour-picture").is_visible()
    finally:
        page.page.emulate_media(media="screen")


def test_where_data_do_not_load_steps_have_their_pictures(page):
    page.page.route("**/core.js", lambda route: route.abort())
    button(page, "Next step").click()
    wait_until(page, page.page.locator(".mg-step-picture").first.is_visible)


def test_readers_with_impairments_can_use_it(page):
    show_by_buttons(page, 1)
    wait_shown(page, lambda shown: shown["lit"] == ["stem"])
    assert violations(page, ".mg-tour") == []
