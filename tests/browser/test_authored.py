"""All that an author may say of a model, on one page of every host: without script, by mouse, finger and keys."""

from __future__ import annotations

import itertools
from contextlib import ExitStack

import pytest

from browser.authored import HOSTS, STEPS, build
from browser.axe import findings
from browser.controls import button, loaded, wait_selected, wait_until
from browser.serving import served
from browser.tours import CURRENT, NO_SCRIPT, PHONE
from samples import some

TOUR = 1
"""The second diagram of the page."""
LIT = """e => [...e.shadowRoot.querySelectorAll('.mg-told .mg-light')].map(node => node.dataset.id)"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
MARKUPS = [pytest.param(name, marks=pytest.mark.zoo) if name == "zensical" else name for name in HOSTS]


@pytest.fixture(scope="module")
def sites(tmp_path_factory, tools):
    """Builds a host's site when it is asked for, and serves it."""
    addresses = {}
    with ExitStack() as stack:

        def site(host):
            if host not in addresses:
                folder = build(host, tmp_path_factory.mktemp(host), tools)
                addresses[host] = stack.enter_context(served(folder))
            return addresses[host]

        yield site


def on(*markups):
    """For tests of what the same HTML does: on these hosts' pages in every run, on others in the zoo."""
    return pytest.mark.parametrize("address", some(HOSTS, markups), indirect=True)


@pytest.fixture(params=MARKUPS)
def address(request, sites):
    host, page = HOSTS[request.param]
    return f"{sites(host)}/{page}"


@pytest.fixture
def page(address, reader):
    return opened(reader, address)


def opened(reader, address):
    reader.page.goto(address)
    reader.page.locator("a.mg-part.mg-linked").first.wait_for()
    button(reader, "Next step").wait_for()
    return reader


def part(reader):
    return reader.page.get_by_role("link", name="the stem", exact=True)


def card(reader):
    return reader.page.locator(".mg-note-card:popover-open")


def next_step(reader):
    """The button that leads to the second step: the first one is in sight."""
    reader.page.locator(".mg-tour").evaluate("tour => tour.scrollIntoView({ behavior: 'instant' })")
    # the step that is current follows the scroll in the next frame
    reader.page.evaluate("new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    assert reader.page.evaluate(CURRENT) == 0
    return button(reader, "Next step")


def wait_lit(reader, *nodes, diagram=0):
    wait_until(reader, lambda: reader.evaluate(LIT, diagram) == list(nodes))


def test_without_script_everything_is_said(address, reader_with):
    with reader_with(**NO_SCRIPT) as reader:
        reader.page.goto(address)
        picture = reader.page.locator("model-graph svg.mg-svg").first
        said = picture.text_content()
        assert "Classifier" in said
        assert "Branches" in said
        assert "Dropout" not in said
        assert picture.locator('[data-id="norm"].mg-highlight').count() == 1
        assert picture.locator('[data-id="/relu"].mg-faded').count() == 1
        assert picture.locator('[data-id="norm"].mg-family-attention').count() == 1
        right, left = (picture.locator(f'[data-id="{name}"]').bounding_box() for name in ("right", "left"))
        assert right["x"] + right["width"] < left["x"]
        assert right["y"] == left["y"]
        assert reader.page.locator(".mg-notes li").inner_text() == "Where it begins; see the end."
        stills = reader.page.locator(".mg-step-picture")
        assert stills.count() == len(STEPS)
        assert all(still.is_visible() for still in stills.all())
        for link in reader.page.locator("a.mg-part").all():
            assert reader.page.locator(f'[id="{link.get_attribute("href").removeprefix("#")}"]').count() == 1


def test_mouse(page):
    part(page).hover()
    wait_lit(page, "stem")
    page.node("stem").hover()
    page.page.locator("a.mg-part.mg-spoken", has_text="the stem").first.wait_for()
    card(page).get_by_text("Where it begins").wait_for()
    page.page.locator(".mg-notes").get_by_role("link", name="the end").click()
    wait_selected(page, "head")
    next_step(page).click()
    wait_lit(page, "stem", diagram=TOUR)


@on("mkdocs")
def test_keys(page):
    part(page).focus()
    page.page.keyboard.press("Shift+Tab")
    page.page.keyboard.press("Tab")
    wait_lit(page, "stem")
    page.page.keyboard.press("Enter")
    wait_selected(page, "stem")
    loaded(page)
    page.evaluate("e => e.shadowRoot.querySelector('[role=treeitem]').focus()")
    page.page.keyboard.press("ArrowDown")
    card(page).get_by_text("Where it begins").wait_for()
    next_step(page).focus()
    page.page.keyboard.press("ArrowRight")
    wait_lit(page, "stem", diagram=TOUR)


@on("rst")
def test_touch(address, reader_with):
    with reader_with(**PHONE) as reader:
        opened(reader, address)
        part(reader).tap()
        wait_selected(reader, "stem")
        reader.node("stem").tap()
        card(reader).get_by_text("Where it begins").wait_for()
        reader.page.keyboard.press("Escape")
        next_step(reader).tap()
        wait_lit(reader, "stem", diagram=TOUR)


@pytest.mark.parametrize(
    ("address", "scheme"),
    some(itertools.product(HOSTS, ("light", "dark")), {("rst", "light"), ("mkdocs", "dark")}),
    indirect=["address"],
)
def test_every_width_and_scheme(address, scheme, reader_with):
    with reader_with(color_scheme=scheme) as reader:
        for width in (320, 740, 1400):
            reader.page.set_viewport_size({"width": width, "height": 800})
            opened(reader, address)
            next_step(reader).click()
            wait_lit(reader, "stem", diagram=TOUR)
            wait_until(reader, lambda: reader.page.evaluate(CURRENT) == 1)
            assert reader.page.evaluate(OVERFLOW) <= 0, width
            assert findings(reader, ".mg-tour", ".mg-notes", "a.mg-part") == [], width
