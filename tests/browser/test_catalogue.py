"""Catalogues: cards, search, order, filters, and the difference of two models."""

import pytest

import modeldiagrams
from browser.axe import _AXE
from browser.catalogues import comparable, write_catalogue
from browser.pages import FILLER, HEAD
from browser.serving import served
from browser.versions import NEW, OLD, network
from catalogue_samples import catalogue, catalogue_of, family, figures, model

NAMES = "() => [...document.querySelectorAll('.mg-card-name')].map(name => name.textContent)"
TAKEN = "<script>addEventListener('keydown', e => e.key === '/' && e.preventDefault())</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, press):
    """Pages with catalogues: of 60 entries by family and by module, of 10,000, and of a few with diagrams."""
    folder = tmp_path_factory.mktemp("catalogues")
    write_catalogue(folder, "pair", comparable(folder, press))
    write_catalogue(folder, "large", catalogue(10_000, sizes=1))
    sizes = [model(f"pkg.net{at}", figures=figures(parameters=at)) for at in range(250)]
    write_catalogue(folder, "sizes", catalogue_of(family(*sizes, name="Net", columns=("Parameters",), rows=[()] * 250)))
    write_catalogue(folder, "module", catalogue(60, "module"))
    write_catalogue(folder, "taken", catalogue(3), head=TAKEN)
    write_catalogue(folder, "far", catalogue(60), before=FILLER * 3)
    write_catalogue(folder, "few", catalogue(60))
    (folder / "models").mkdir()
    (folder / "models" / "vision.models.resnet_18.html").write_text(f"{HEAD}<title>resnet_18</title>", "utf-8")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with served(folder) as address:
        yield address


def opened(reader, address, page, query=""):
    """Open a page, and wait for its cards."""
    reader.page.goto(f"{address}/{page}.html{query}")
    reader.page.locator("model-catalogue[data-view]").wait_for()
    return reader.page


def told(page, text):
    page.locator(".mg-catalogue-result", has_text=text).wait_for()


def search(page, text):
    page.get_by_role("searchbox").fill(text)


def violations(page):
    page.evaluate(_AXE.read_text(encoding="utf-8"))
    run = "axe.run('model-catalogue').then(r => r.violations.map(v => v.id + v.nodes[0].html))"
    return page.evaluate(run)


def test_without_script_there_is_the_table(reader_with, server):
    with reader_with(java_script_enabled=False, once=True) as reader:
        reader.page.goto(f"{server}/few.html")
        assert reader.page.get_by_role("row").count() > 60
        assert reader.page.locator("table.mg-catalogue").is_visible()


@pytest.mark.requests
def test_data_waits_until_a_reader_comes_near_and_pictures_too(reader, server):
    reader.page.goto(f"{server}/far.html")
    reader.page.wait_for_load_state("networkidle")
    assert {name for name in reader.requests if name.endswith(".js")} == {"catalogue.js"}
    reader.page.evaluate("document.querySelector('model-catalogue').scrollIntoView()")
    reader.page.locator("model-catalogue[data-view]").wait_for()
    told(reader.page, "models in 60 families")
    assert not reader.page.locator("table.mg-catalogue").is_visible()
    reader.page.wait_for_function("document.querySelector('.mg-card img').naturalWidth > 0")
    # nothing of the viewer
    scripts = {name for name in reader.requests if name.endswith(".js")}
    assert scripts == {"catalogue.js", "catalogue-far.js"}


def test_a_search_is_in_the_address_and_comes_back(reader, server):
    page = opened(reader, server, "few", "?page=2#part")
    page.keyboard.press("/")
    page.keyboard.type("resnet uses groupnorm -softmax")
    told(page, "use GroupNorm, without “softmax”")
    page.get_by_label("Sort by").select_option("Parameters")
    page.get_by_role("button", name="Ascending").click()
    page.get_by_role("button", name="Descending").wait_for()
    names = page.evaluate(NAMES)
    line = page.locator(".mg-catalogue-result").inner_text()
    assert 1 < len(names) < 60
    assert page.url.endswith("?page=2&models=resnet+uses+groupnorm+-softmax&models-sort=-parameters#part")
    page.goto(f"{server}/models/vision.models.resnet_18.html")
    page.go_back()
    told(page, line)
    assert page.evaluate(NAMES) == names
    assert page.get_by_role("searchbox").input_value() == "resnet uses groupnorm -softmax"
    search(page, "")
    told(page, "models in 60 families")
    assert page.url.endswith("?page=2&models-sort=-parameters#part")


def test_filters(reader, server):
    page = opened(reader, server, "module")
    headings = page.get_by_role("heading", level=2)
    assert headings.all_inner_texts()[0].startswith("vision.models")
    page.get_by_label("Show").select_option("module:vision.models.resnet")
    told(page, "4 of 114 models")
    assert page.evaluate(NAMES) == ["ResNet"]
    page.get_by_label("Show").select_option("")
    page.get_by_label("Size").select_option("1M–10M")
    told(page, "of 114 models")
    count = int(page.locator(".mg-catalogue-result").inner_text().split()[0])
    parameters = [one.figures.parameters for each in catalogue(60).families for one in each.models if one.figures]
    assert count == sum(10**6 <= number < 10**7 for number in parameters)


def test_the_page_may_have_the_slash_for_itself(reader, server):
    page = opened(reader, server, "taken")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement === document.body")
    page.get_by_role("link", name="vgg_18", exact=True).focus()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"


def test_a_family_opens_what_differs(reader, server):
    page = opened(reader, server, "few")
    card = page.locator(".mg-card", has_text="vision.models.resnet.ResNet")
    card.locator("summary").focus()
    page.keyboard.press("Enter")
    assert card.get_by_role("columnheader").all_inner_texts() == ["Model", "Parameters", "Blocks in layer3", "Compare"]
    link = card.get_by_role("row").nth(2).get_by_role("link")
    assert link.get_attribute("href") == "models/vision.models.resnet_36.html"
    search(page, "resnet_36")
    told(page, "1 of 114 models")
    page.locator(".mg-card summary").click()
    rows = page.locator(".mg-card").get_by_role("row")
    assert rows.nth(1).get_by_role("rowheader").inner_text() == "resnet_36"
    page.get_by_role("button", name="3 more").click()
    assert rows.count() == 5


def test_many_sizes_come_in_lots(reader, server):
    page = opened(reader, server, "sizes")
    page.locator(".mg-card summary").click()
    rows = page.locator(".mg-differences tbody tr")
    rows.last.wait_for()
    assert rows.count() == 101
    page.get_by_role("button", name="150 more").press("Enter")
    assert rows.count() == 201
    assert page.evaluate("document.activeElement.textContent") == "net100"


@pytest.mark.requests
def test_ten_thousand_models(reader, server):
    page = opened(reader, server, "large")
    told(page, "10,000 models")
    page.wait_for_load_state("networkidle")
    assert page.get_by_role("link", name="Table", exact=True).get_attribute("href").endswith("catalogue-large.html")
    assert sum(name.endswith(".svg") for name in reader.requests) < 50
    assert page.locator(".mg-card").count() < 200
    assert page.evaluate("document.querySelector('.mg-catalogue-cards').offsetHeight") > 100_000
    # the page's end is reached at once, and cards are there
    page.keyboard.press("End")
    page.locator(".mg-card", has_text="vision.models.vit999_18").wait_for()
    search(page, "vgg999")
    told(page, "1 of 10,000 models match “vgg999”")
    assert page.evaluate(NAMES) == ["vgg999_18"]


def compare(page, *names):
    for name in names:
        page.get_by_label(f"Compare {name}", exact=True).check()
    page.get_by_role("button", name="Compare {} with {}".format(*names)).press("Enter")


@pytest.mark.parametrize("kind", ["http", "file"])
def test_the_difference_is_that_of_the_two_graphs(reader, server, folder, kind):
    page = opened(reader, server if kind == "http" else folder.as_uri(), "pair")
    compare(page, "old", "new")
    dialog = page.get_by_role("dialog", name="new compared with old")
    dialog.locator(".mg-change-list").wait_for()
    found = modeldiagrams.diff(network(**OLD), network(**NEW))
    expected = [f"{change.level} {change.text}" for change in found.changes if change.level != "detail"]
    rows = dialog.locator(".mg-change-list > li").all_inner_texts()
    assert sorted(" ".join(row.split()[1:]) for row in rows) == sorted(" ".join(text.split()) for text in expected)
    assert len(expected) > 2
    assert reader.node("−pool").is_visible()
    assert reader.node("norm").is_visible()
    assert dialog.get_by_role("rowheader", name="Parameters").is_visible()
    dialog.get_by_role("button", name="Close", exact=True).focus()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.textContent") == "Compare old with new"
    assert page.locator("model-graph").count() == 0


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (
            ("old", "failed"),
            "failed can’t be compared, because it has no diagram. ImportError: no module named 'scipy'",
        ),
        (("gone", "old"), "pkg.nets.gone-1a2b3c4d.js did not load"),
        (("old", "part"), "its graph is incomplete"),
    ],
)
def test_what_cannot_be_compared_says_why(reader, server, names, reason):
    page = opened(reader, server, "pair")
    compare(page, *names)
    page.get_by_role("dialog").get_by_text(reason).first.wait_for()


def test_the_third_choice_replaces_the_first(reader, server):
    page = opened(reader, server, "pair")
    page.get_by_label("Compare old").check()
    page.get_by_text("old is chosen").wait_for()
    page.get_by_label("Compare new").check()
    page.get_by_label("Compare part").check()
    page.get_by_role("button", name="Compare new with part").wait_for()
    assert not page.get_by_label("Compare old").is_checked()
    page.get_by_role("button", name="Clear").click()
    assert page.locator(".mg-compare-bar").is_hidden()
    assert page.evaluate("document.activeElement.ariaLabel") == "Compare part"


def test_readers_with_impairments(reader, server):
    page = opened(reader, server, "module", "?models=resnet")
    page.locator(".mg-card summary").first.click()
    assert violations(page) == []
    page.goto(f"{server}/pair.html")
    compare(page, "old", "failed")
    page.get_by_role("dialog").wait_for()
    assert violations(page) == []


def test_pages_that_name_their_trusted_types(reader, server):
    page = opened(reader, server, "pair", "?named-types")
    compare(page, "old", "new")
    page.locator(".mg-change-list").wait_for()
