"""Catalogues as browsers show them without scripts: pictures, links, widths, themes, paper."""

from pathlib import Path

import pytest

from catalogue_samples import catalogue
from modeldiagrams.html.catalogue_page import build_catalogue_files, render_catalogue
from modeldiagrams.render.assets import find_asset

AXE = Path(__file__).parents[2] / "viewer/node_modules/axe-core/axe.min.js"
RUN_AXE = """async () => (await axe.run({ include: [['model-catalogue']] })).violations
  .flatMap(({ id, nodes }) => nodes.map(n => `${id}: ${n.html.slice(0, 160)} ${n.any[0]?.message}`))"""
HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
DARK = "document.body.style = 'background: #131416; color: #cfd0d0'"
RUDE = """table, details, summary { display: block } th, td, details { padding: 40px; border: 9px solid }
  .theme table:not([class]) th, .theme details > summary { padding: 30px; text-align: right; font-size: 30px }
  .theme img { max-width: 30px; height: auto; margin: 20px } .theme code { font: 30px monospace; background: red }"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The URL of a page with a catalogue, in a site without scripts."""
    folder = tmp_path_factory.mktemp("site")
    shown = catalogue(40, "module")
    files = build_catalogue_files(shown, page_of, back="../models.html", interactive=False)
    html = render_catalogue(shown, assets="modeldiagrams/", page_of=page_of, interactive=False)
    (folder / "modeldiagrams").mkdir()
    for name, content in {**files, "catalogue.css": find_asset("catalogue.css").read_bytes()}.items():
        (folder / "modeldiagrams" / name).write_bytes(content)
    (folder / "models.html").write_text(f"{HEAD}<title>Models</title><main><h1>Models</h1>{html}</main>", "utf-8")
    return (folder / "models.html").as_uri()


def page_of(model):
    return f"models/{model.name}.html"


def test_without_scripts_there_is_a_table_with_pictures_and_links(reader_with, address):
    with reader_with(java_script_enabled=False) as reader:
        reader.page.goto(address)
        first, last = (reader.page.locator("model-catalogue img").nth(at) for at in (0, -1))
        assert first.evaluate("e => [e.naturalWidth, e.clientWidth, e.clientHeight]") == [180, 96, 64]
        assert last.evaluate("e => e.naturalWidth") == 180  # without scripts, browsers load all pictures at once
        family = reader.page.locator("summary").first
        link = reader.page.locator("details").first.get_by_role("link").last
        assert not link.is_visible()
        family.press("Enter")
        assert link.is_visible()
        assert link.evaluate("e => e.href") == address.replace("models.html", "models/vision.models.densenet1_72.html")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_table_is_accessible(reader, address, theme):
    reader.page.goto(address)
    if theme == "dark":
        reader.page.evaluate(f"{DARK}; for (const link of document.links) link.style.color = '#8ab4f8'")
    for summary in reader.page.locator("summary").all()[:3]:
        summary.click()
    reader.page.evaluate(AXE.read_text("utf-8"))
    assert reader.page.evaluate(RUN_AXE) == []


def test_on_phones_the_table_scrolls_in_its_box(reader_with, address):
    with reader_with(viewport={"width": 390, "height": 800}) as reader:
        reader.page.goto(address)
        assert reader.page.evaluate("document.documentElement.scrollWidth") == 390
        region = reader.page.get_by_role("region", name="Models")
        region.focus()
        reader.page.keyboard.press("ArrowRight")
        reader.page.wait_for_function("e => e.scrollLeft > 0", arg=region.element_handle())


@pytest.mark.parametrize("attribute", ["theme", "mdColorScheme"])
def test_pictures_and_fields_follow_the_theme_of_the_page(reader_with, address, attribute):
    """Whatever the reader's system prefers, as themes let readers choose."""
    schemes = {"theme": ("light", "dark"), "mdColorScheme": ("default", "slate")}[attribute]
    for preferred in ("light", "dark"):
        with reader_with(color_scheme=preferred) as reader:
            reader.page.goto(address)
            looks = []
            for scheme in schemes:
                reader.page.evaluate("([name, value]) => document.body.dataset[name] = value", [attribute, scheme])
                looks.append(
                    reader.page.locator("model-catalogue img").first.evaluate(
                        "e => [getComputedStyle(e).colorScheme, getComputedStyle(e).backgroundColor]"
                    )
                )
            assert looks == [["light", "rgb(255, 255, 255)"], ["dark", "rgb(21, 23, 26)"]]


def test_paper_shows_the_table_instead_of_cards(reader, address):
    reader.page.goto(address)
    reader.page.evaluate("""() => {
      const element = document.querySelector('model-catalogue');
      element.dataset.view = 'cards';
      element.insertAdjacentHTML('beforeend', '<div class="mg-catalogue-cards">Cards</div>');
    }""")
    table, cards = reader.page.locator(".mg-catalogue"), reader.page.locator(".mg-catalogue-cards")
    assert [table.is_visible(), cards.is_visible()] == [False, True]
    reader.page.emulate_media(media="print")
    assert [table.is_visible(), cards.is_visible()] == [True, False]


def test_styles_of_themes_do_not_reach_the_table(reader, address):
    looks = []
    for rules in ("/* none */", RUDE):
        reader.page.goto(address)
        reader.page.evaluate("document.body.className = 'theme'")
        reader.page.add_style_tag(content=rules)
        looks.append(
            reader.page.evaluate("""() => [...document.querySelectorAll('model-catalogue :is(th, td, img, summary)')]
              .map(e => e.getBoundingClientRect()).map(b => [b.x, b.width, b.height].map(Math.round))""")
        )
    assert looks[0] == looks[1]
