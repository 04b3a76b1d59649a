"""What changed between two versions: the list on the page, the picture, and the way from change to change."""

import pytest

from browser.axe import violations
from browser.controls import button, wait_until
from browser.readers import Readers
from browser.serving import served
from browser.versions import NEW, OLD, difference, network, write_page
from modeldiagrams.html.standalone import render_standalone
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.render.draw import build_difference
from samples import some

ADDED = "norm"
REMOVED = "−pool"
NARROW = {"has_touch": True, "is_mobile": True, "viewport": {"width": 360, "height": 640}}


@pytest.fixture(scope="module")
def changes(tmp_path_factory, press):
    """The address of a page that shows what changed."""
    folder = tmp_path_factory.mktemp("changes")
    write_page(folder, "diff", difference(press, network(**OLD), network(**NEW), name="diff"))
    with served(folder) as address:
        yield f"{address}/diff.html"


@pytest.fixture
def page(reader, changes):
    """A reader who looks at it."""
    reader.page.goto(changes)
    reader.node("stem").wait_for()
    return reader


def lit(reader):
    """The rows of the list that are marked."""
    return reader.page.locator('.mg-changes [aria-current="true"]').all_inner_texts()


def is_seen(reader, node):
    return reader.node(node).evaluate("e => getComputedStyle(e).visibility") == "visible"


def wait_change(reader, words):
    reader.page.locator(".mg-change-text", has_text=words).wait_for()


@pytest.mark.requests
def test_nothing_is_loaded_before_a_reader_is_interested(page):
    assert "compare.js" not in page.requests
    assert "core.js" not in page.requests
    assert page.node("stem").is_visible()


def test_keys_go_from_change_to_change_and_back(page):
    page.node("stem").focus()
    page.page.keyboard.press("n")
    wait_change(page, "2 → 3 × Block")
    page.page.get_by_text("1 of 4").wait_for()
    page.page.keyboard.press("n")
    wait_change(page, "AvgPool1d removed")
    wait_until(page, lambda: page.evaluate("e => e.shadowRoot.querySelector('.mg-selected')?.dataset.id") == REMOVED)
    page.page.keyboard.press("p")
    page.page.keyboard.press("p")
    page.page.get_by_text("4 of 4").wait_for()
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Escape")
    page.page.locator(".mg-change-bar").wait_for(state="hidden")
    assert lit(page) == []


def test_a_row_leads_to_the_picture_and_a_node_to_its_row(page):
    page.page.get_by_text("LayerNorm added").click()
    wait_change(page, "LayerNorm added")
    wait_until(page, lambda: page.evaluate("e => e.shadowRoot.querySelector('.mg-selected')?.dataset.id") == ADDED)
    wait_until(page, lambda: len(lit(page)) == 1)
    assert "LayerNorm" in lit(page)[0]
    page.node("blocks.0/gelu").click()
    wait_change(page, "relu replaced by gelu")
    wait_until(page, lambda: ["gelu" in row for row in lit(page)] == [True])


def test_each_side_shows_its_version_only(page):
    button(page, "Next change").click()
    wait_change(page, "Block")
    for side, seen in (("Before", [False, True]), ("After", [True, False]), ("Both", [True, True])):
        page.page.get_by_role("button", name=side, exact=True).click()
        assert [is_seen(page, ADDED), is_seen(page, REMOVED)] == seen
        facts = page.node("blocks").locator("> .mg-header > .mg-detail").text_content()
        assert facts == ("Block ×2 · 16" if side == "Before" else "Block ×3 · 16")
    edges = (
        "e => [...e.shadowRoot.querySelectorAll('.mg-edge')].filter(x => getComputedStyle(x).visibility == 'visible')"
    )
    both = page.evaluate(f"{edges}.length")
    page.page.get_by_role("button", name="Before", exact=True).click()
    before = page.evaluate(f"{edges}.map(x => `${{x.dataset.from}} > ${{x.dataset.to}}`)".replace("e => [", "e => ["))
    assert len(before) < both
    assert not any(ADDED in edge.split(" > ") for edge in before)
    assert any(REMOVED in edge for edge in before)


def test_the_keyboard_passes_what_is_hidden(page):
    button(page, "Next change").click()
    wait_change(page, "Block")
    page.page.get_by_role("button", name="Before", exact=True).click()
    page.node("blocks").locator("> .mg-header").focus()
    page.page.keyboard.press("End")
    seen = set()
    for _ in range(20):
        page.page.keyboard.press("ArrowUp")
        seen.add(page.evaluate("e => e.shadowRoot.activeElement?.closest('[data-id]')?.dataset.id"))
    assert {REMOVED, "head", "stem"} <= seen
    assert ADDED not in seen


def test_a_module_opens_and_the_search_finds_what_is_gone(page):
    page.node("blocks.2").click()
    page.node("blocks.2.up").wait_for()
    button(page, "Search").click()
    page.page.keyboard.type("avgpool1d")
    page.page.get_by_text("1 found").wait_for()


# a narrow page is looked at in test_versions.py
@pytest.mark.parametrize("context", some([{}, NARROW], [{}]), ids=["wide", "narrow"])
def test_axe_finds_no_violation(readers: Readers, changes, context):
    with readers.open(**context) as reader:
        reader.page.goto(changes)
        reader.page.get_by_text("LayerNorm added").click()
        wait_change(reader, "LayerNorm added")
        assert violations(reader, ".mg-difference") == []


def test_controls_do_not_cover_the_caption(reader_with, changes):
    with reader_with(viewport={"width": 700, "height": 800}) as reader:
        reader.page.goto(changes)
        figure = reader.page.locator("model-graph").first
        figure.hover()
        toolbar = reader.page.locator(".mg-toolbar").first.bounding_box()
        assert toolbar["y"] + toolbar["height"] <= figure.bounding_box()["y"] + figure.bounding_box()["height"]


def test_a_finger_goes_from_change_to_change(readers: Readers, changes):
    with readers.open(**NARROW) as reader:
        reader.page.goto(changes)
        reader.page.get_by_text("AvgPool1d removed").tap()
        wait_change(reader, "AvgPool1d removed")
        bar = reader.page.get_by_role("region", name="Changes")
        bar.get_by_role("button", name="Next change").tap()
        wait_change(reader, "LayerNorm added")
        assert reader.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_without_script_links_lead_both_ways(reader_with, changes):
    with reader_with(java_script_enabled=False) as reader:
        reader.page.goto(changes)
        reader.page.locator(".mg-changes a").nth(2).click()
        assert "#diff-place-" in reader.page.url
        reader.page.locator(".mg-svg a.mg-change").first.click()
        assert "#diff-change-" in reader.page.url


def test_one_file_is_interactive_too(reader, tmp_path, press):
    file = tmp_path / "alone.html"
    file.write_text(render_standalone(difference(press, network(**OLD), network(**NEW))), encoding="utf-8")
    reader.page.goto(file.as_uri())
    button(reader, "Next change").click()
    wait_change(reader, "Block")


def test_both_engines_find_and_draw_the_same(page, press):
    made = difference(press, network(**OLD), network(**NEW), name="diff")
    assert page.evaluate("e => e.picture()") == made.picture.svg
    graphs = [serialize(network(**one)).decode() for one in (OLD, NEW)]
    found = page.page.evaluate(
        "([a, b]) => JSON.stringify(modelDiagramsComparing.compare(JSON.parse(a), JSON.parse(b), false).difference)",
        graphs,
    )
    assert found == build_difference(*(graph.encode() for graph in graphs))
