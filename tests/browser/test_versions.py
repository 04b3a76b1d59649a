"""Comparing a diagram with the same model in another version of the documentation."""

import json
from base64 import b64encode

import pytest

from browser.axe import violations
from browser.controls import button, item, wait_until
from browser.readers import Readers
from browser.serving import served
from browser.versions import NEW, OLD, diagram, network, write_documentation, write_version
from modeldiagrams.ir.graph import VERSION
from samples import some

NARROW = {"has_touch": True, "is_mobile": True, "viewport": {"width": 360, "height": 640}}
REASONS = {
    "1.1": "Nothing changed between 1.1 and 2.0.",
    "0.9": "0.9 has no diagram of this model with the same call.",
    "0.8": "its graph is incomplete",
    "0.7": f"its graph has format 9{VERSION[1:]}, which is newer than this viewer",
    "0.6": "0.6/modeldiagrams/index.json did not load",
    "0.5": "the modes of the traces differ: fake and real",
}
OTHER_SOURCES = {
    "pydata": "<script>const DOCUMENTATION_OPTIONS = {theme_switcher_json_url: '/switcher.json',"
    " theme_switcher_version_match: '2'}</script><button class='version-switcher__button'></button>",
    "read-the-docs": "<meta name='readthedocs-project-slug' content='x'><script>addEventListener('load', () => {"
    "ReadTheDocsEventData = {data: () => ({versions: {current: {slug: 'new'}, active: ["
    "{slug: 'new', urls: {documentation: `${location.origin}/read-the-docs/new/`}},"
    "{slug: 'old', urls: {documentation: `${location.origin}/read-the-docs/old/`}}]}})}})</script>",
    "option": "",
}


@pytest.fixture(scope="module")
def documentation(tmp_path_factory, press):
    """The address of a documentation in several versions."""
    root = tmp_path_factory.mktemp("documentation")
    write_documentation(root, press)
    for name, head in OTHER_SOURCES.items():
        options = {"versions": {"old": "../old/"}} if name == "option" else {}
        write_version(root / name / "new", head, diagram(press, network(**NEW), **options))
        write_version(root / name / "old", "", diagram(press, network(**OLD)))
    write_version(root / "alone", "", diagram(press, network(**NEW)))
    entries = [
        {"version": "2", "name": "2 (stable)", "url": "/pydata/new/"},
        {"version": "1", "name": "old", "url": "/pydata/old/"},
        {"version": "0", "url": "https://elsewhere.invalid/0/"},
    ]
    (root / "switcher.json").write_text(json.dumps(entries), encoding="utf-8")
    with served(root) as address:
        yield address


SHOWN = "e => e.picture().then(() => [...e.shadowRoot.querySelectorAll('[data-id]')].map(node => node.dataset.id))"


def choose(reader):
    """Ask for the versions."""
    reader.node("stem").hover()
    button(reader, "More controls").click()
    item(reader, "Compare with another version").click()
    reader.page.locator(".mg-version option").nth(1).wait_for(state="attached")


def compare(reader, address, version="1.0"):
    reader.page.goto(address)
    choose(reader)
    reader.page.get_by_label("Compare with").select_option(version)
    reader.page.locator(".mg-change-list").wait_for()


@pytest.fixture
def compared(reader, documentation):
    """A reader who compares 2.0 with 1.0."""
    compare(reader, f"{documentation}/2.0/index.html")
    return reader


@pytest.mark.requests
def test_nothing_of_it_is_loaded_before_a_reader_asks(reader, documentation):
    reader.page.goto(f"{documentation}/2.0/index.html")
    reader.evaluate("e => e.picture()")
    assert {"compare.js", "versions.json", "index.json"}.isdisjoint(
        {name for name in reader.requests if "core" not in name} - {"index.html"}
    )
    choose(reader)
    assert reader.page.locator(".mg-version option").all_inner_texts()[1:3] == ["1.1", "1.0"]


def test_both_versions_are_on_one_layout(compared):
    boxes = {}
    for side, seen in (("1.0", ["−pool"]), ("Both", ["norm", "−pool"]), ("2.0", ["norm"])):
        compared.page.get_by_role("button", name=side, exact=True).click()
        nodes = {node: compared.node(node) for node in ("norm", "−pool", "stem", "head")}
        visible = [node for node in nodes if nodes[node].evaluate("e => getComputedStyle(e).visibility") == "visible"]
        assert visible == [*seen, "stem", "head"]
        boxes[side] = [found.bounding_box() for found in nodes.values()]
    assert boxes["1.0"] == boxes["Both"] == boxes["2.0"]


def test_the_list_leads_to_the_picture_and_back(compared):
    compared.page.get_by_role("button", name="AvgPool1d removed").click()
    wait_until(
        compared, lambda: compared.evaluate("e => e.shadowRoot.querySelector('.mg-selected')?.dataset.id") == "−pool"
    )
    lit = compared.page.locator('.mg-change-list [aria-current="true"]')
    assert "AvgPool1d" in lit.inner_text()
    compared.page.keyboard.press("n")
    compared.page.get_by_text("3 of 4").wait_for()
    wait_until(compared, lambda: "LayerNorm" in lit.inner_text())


def test_escape_goes_one_step_back_each_time(compared):
    compared.node("stem").focus()
    compared.page.keyboard.press("/")
    compared.page.get_by_role("combobox", name="Search").wait_for()
    compared.page.keyboard.press("Escape")
    compared.page.get_by_role("combobox", name="Search").wait_for(state="hidden")
    assert compared.node("−pool").is_visible()
    compared.page.get_by_label("Compare with").focus()
    compared.page.keyboard.press("Escape")
    compared.node("−pool").wait_for(state="detached")
    assert compared.page.locator(".mg-change-bar").is_hidden()
    compared.node("stem").focus()
    compared.page.keyboard.press("n")
    assert compared.page.locator(".mg-change-bar").is_hidden()


def test_a_comparison_that_was_closed_while_it_loaded_does_not_come_back(reader, documentation):
    held = []
    reader.page.route("**/viz.js", lambda route: held.append(route))  # noqa: PLW0108 - Playwright can't wrap built-in methods
    reader.page.goto(f"{documentation}/2.0/index.html")
    choose(reader)
    with reader.page.expect_response("**/1.0/modeldiagrams/*.json"):
        reader.page.get_by_label("Compare with").select_option("1.0")
    bar = reader.page.get_by_role("region", name="Changes")
    wait_until(reader, lambda: bool(held) and bar.locator(".mg-change-text").inner_text() == "")
    reader.page.keyboard.press("Escape")
    bar.wait_for(state="hidden")
    for route in held:
        route.continue_()
    reader.evaluate("e => e.picture()")
    assert reader.node("−pool").count() == 0
    assert bar.is_hidden()


def test_what_cannot_be_compared_says_so(compared):
    bar = compared.page.get_by_role("region", name="Changes")
    for version, reason in REASONS.items():
        compared.page.get_by_label("Compare with").select_option("1.0")
        compared.page.locator(".mg-change-list").wait_for()
        compared.page.get_by_label("Compare with").select_option(version)
        bar.get_by_text(reason).wait_for()
        assert compared.page.locator(".mg-change-list").count() == 0, version
        assert compared.node("−pool").count() == 0, version
        assert ("Nothing changed" in bar.inner_text()) == (version == "1.1")


@pytest.mark.requests
@pytest.mark.parametrize("name", OTHER_SOURCES)
def test_versions_are_those_that_the_site_names(reader, documentation, name):
    compare(reader, f"{documentation}/{name}/new/index.html", "old")
    assert reader.page.locator(".mg-version option").all_inner_texts()[1:] == ["old"]
    assert reader.node("−pool").is_visible()
    assert not any("elsewhere" in url for url in reader.urls)


def test_a_site_without_versions_offers_none(reader, documentation):
    reader.page.goto(f"{documentation}/alone/index.html")
    reader.node("stem").hover()
    button(reader, "More controls").click()
    assert item(reader, "Compare with another version").count() == 0


def test_a_newer_version_is_the_later_one(reader, documentation):
    compare(reader, f"{documentation}/1.0/index.html", "2.0")
    assert reader.page.get_by_role("button", name="LayerNorm added").count() == 1
    sides = reader.page.get_by_role("group", name="Versions").get_by_role("button").all_inner_texts()
    assert sides == ["1.0", "Both", "2.0"]


def test_a_link_leads_to_the_comparison(compared, reader_with):
    compared.page.get_by_role("button", name="AvgPool1d removed").click()
    wait_until(
        compared, lambda: compared.evaluate("e => e.shadowRoot.querySelector('.mg-selected')?.dataset.id") == "−pool"
    )
    button(compared, "More controls").click()
    item(compared, "Copy a link to this view").click()
    wait_until(compared, lambda: "?" in compared.page.url)
    with reader_with() as other:
        other.page.goto(compared.page.url)
        wait_until(
            other, lambda: other.evaluate("e => e.shadowRoot.querySelector('.mg-selected')?.dataset.id") == "−pool"
        )
        assert other.page.locator(".mg-change-list").is_visible()


def test_a_link_to_a_version_that_is_gone_says_so(compared, documentation, reader_with):
    compared.node("blocks").dblclick()
    button(compared, "More controls").click()
    item(compared, "Copy a link to this view").click()
    wait_until(compared, lambda: "?" in compared.page.url)
    with reader_with() as other:
        other.page.route("**/versions.json", lambda route: route.fulfill(body='[{"version": "2.0", "aliases": []}]'))
        other.page.goto(compared.page.url)
        other.page.get_by_text("This documentation has no version 1.0.").wait_for()
        linked = other.evaluate(SHOWN)
        other.page.goto("about:blank")
        other.page.goto(f"{documentation}/2.0/index.html")
        assert other.evaluate(SHOWN) == linked


def test_readers_can_leave_a_comparison_that_never_loads(reader, documentation):
    held = []
    reader.page.route("**/1.0/modeldiagrams/*.json", lambda route: held.append(route))  # noqa: PLW0108 - see above
    reader.page.goto(f"{documentation}/2.0/index.html")
    choose(reader)
    reader.page.get_by_label("Compare with").select_option("1.0")
    bar = reader.page.get_by_role("region", name="Changes")
    bar.get_by_text("Loading").wait_for()
    wait_until(reader, lambda: bool(held))
    bar.get_by_role("button", name="Close").click()
    bar.wait_for(state="hidden")
    choose(reader)
    reader.page.get_by_label("Compare with").select_option("1.1")
    bar.get_by_text("Nothing changed between 1.1 and 2.0.").wait_for()
    for route in held:
        route.abort()


def test_a_link_to_the_model_alone_leaves_a_comparison_that_still_loads(reader, documentation):
    held = []
    reader.page.route("**/1.0/modeldiagrams/*.json", lambda route: held.append(route))  # noqa: PLW0108 - see above
    reader.page.goto(f"{documentation}/2.0/index.html")
    choose(reader)
    reader.page.get_by_label("Compare with").select_option("1.0")
    wait_until(reader, lambda: bool(held))
    graph = reader.evaluate("e => e.getAttribute('graph')")
    link = b64encode(json.dumps({"graph": graph}).encode()).decode().rstrip("=")
    reader.page.evaluate("link => { location.hash = link; }", f"model-graph-{link}")
    reader.page.get_by_role("region", name="Changes").wait_for(state="hidden")
    with reader.page.expect_response("**/1.0/modeldiagrams/*.json"):
        for route in held:
            route.continue_()
    reader.evaluate("e => e.picture()")
    assert reader.node("−pool").count() == 0
    assert reader.page.get_by_role("region", name="Changes").is_hidden()


# the list of changes of a wide page is looked at in test_changes.py
@pytest.mark.parametrize("context", some([{}, NARROW], [NARROW]), ids=["wide", "narrow"])
def test_axe_finds_no_violation(readers: Readers, documentation, context):
    with readers.open(**context) as reader:
        compare(reader, f"{documentation}/2.0/index.html")
        reader.page.get_by_role("button", name="AvgPool1d removed").click()
        assert violations(reader) == []
        assert reader.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
