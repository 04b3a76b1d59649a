"""Any text in a graph stays text in the browser."""

import xml.etree.ElementTree as ET
from urllib.parse import quote

import msgspec
import pytest

from browser import fuzz
from modeldiagrams.engine.diagram import Problem
from modeldiagrams.html import fragment as page
from modeldiagrams.html.standalone import render_standalone

SEEDS = range(4)
ELEMENTS = {"svg", "g", "rect", "path", "text", "tspan", "title", "circle", "ellipse", "line", "polygon", "polyline"}
BLOCKS = ["model-graph", "details", "summary", "ul", "li", "div", "p", "pre"]
HTML = [*BLOCKS, "a", "link", "script", "style", "span", "code", "strong"]
INJECTED = f"e => [...e.querySelectorAll(':not({', '.join([*ELEMENTS, *HTML])})')].map(x => x.outerHTML.slice(0, 200))"
HANDLERS = """e => {
    const acts = a => a.name.startsWith("on") || (/href|src|action/.test(a.name) && /^\\s*javascript:/i.test(a.value));
    return [...e.querySelectorAll("*"), ...e.shadowRoot.querySelectorAll("*")]
        .filter(x => [...x.attributes].some(acts)).map(x => x.outerHTML.slice(0, 200));
}"""
FOREIGN = "e => e.shadowRoot.querySelectorAll('script, img, iframe, style, object, embed, foreignObject, b').length"
LINKS = "e => [...e.querySelectorAll('a'), ...e.shadowRoot.querySelectorAll('a')].map(a => a.href)"
DETAILS = "e => e.shadowRoot.querySelector('.mg-panel-sheet').textContent.length"
TURNING = """e => {
    const turns = /[\\u202a-\\u202e\\u2066-\\u2069\\x00-\\x08\\x1b]/;
    const inside = [...e.querySelectorAll("*"), ...e.shadowRoot.querySelectorAll("*")];
    const words = x => [x.title, x.ariaLabel, ...[...x.childNodes].filter(n => n.nodeType === 3).map(n => n.data)];
    return inside.filter(x => words(x).some(text => turns.test(text ?? ""))).map(x => x.outerHTML.slice(0, 200));
}"""
"""Characters that reverse the text around them, or are none."""


LINKED = ("The link was copied.", "The link is in the address bar.")


@pytest.fixture(scope="module")
def diagrams(press):
    """One for each seed, with a random error and alternative text."""
    made = []
    for seed in SEEDS:
        problem = Problem(kind="forward", message=fuzz.LONG, frames=fuzz.HOSTILE)
        diagram = press.make(fuzz.graph(seed), depth=seed % 4, alt=fuzz.HOSTILE[seed], caption=fuzz.HOSTILE[-seed - 3])
        assert diagram.picture is not None, diagram.problem
        made.append(msgspec.structs.replace(diagram, id=f"seed{seed}", problem=problem))
    return made


def test_random_pictures_are_well_formed_svg_without_scripts(diagrams):
    for diagram in diagrams:
        root = ET.fromstring(diagram.picture.svg)  # noqa: S314  our own
        assert {element.tag.rpartition("}")[2] for element in root.iter()} <= ELEMENTS
        assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]


def test_equal_seeds_make_equal_graphs():
    assert fuzz.graph(3) == fuzz.graph(3)


def test_random_graphs_survive_every_interaction(reader, diagrams, tmp_path):
    for name, file in page.list_viewer_files().items():
        (tmp_path / name).write_bytes(file if isinstance(file, bytes) else file.read_bytes())
    for diagram in diagrams:
        (tmp_path / f"{diagram.id}.js").write_text(page.build_data_script(diagram), encoding="ascii")
    link = "https://example.org/{path}#L{line}"
    text = "".join(
        page.render_fragment(msgspec.structs.replace(diagram, source_link=link), assets="", link=_link)
        for diagram in diagrams
    )
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{text}", encoding="utf-8")
    reader.page.goto(f"{tmp_path.as_uri()}/page.html")
    for number, diagram in enumerate(diagrams):
        _explore(reader, number)
        assert reader.evaluate(INJECTED, number) == [], diagram.id
        assert reader.evaluate(HANDLERS, number) == [], diagram.id
        assert reader.evaluate(FOREIGN, number) == 0, diagram.id
        assert reader.evaluate(TURNING, number) == [], diagram.id
        assert reader.evaluate(DETAILS, number) < len(fuzz.LONG), diagram.id
        for href in reader.evaluate(LINKS, number):
            assert href.startswith(
                ("https://example.org/", f"{tmp_path.as_uri()}/api.html#", f"{tmp_path.as_uri()}/seed")
            ), href
            assert ".." not in href.split("/")
        assert reader.page.locator(".mg-note").nth(number).inner_text() in ("", *LINKED), diagram.id
    assert reader.page.evaluate("typeof pwned") == "undefined"


def _link(class_, mention):
    return f'<a href="api.html#{quote(class_)}">{mention}</a>'


def _explore(reader, number):
    """Toggle every module, open the details of every node, search, isolate, colour, link, navigate the tree."""
    reader.evaluate(
        """async e => {
            const all = () => [...e.shadowRoot.querySelectorAll('.mg-stage [data-id]')];
            const press = key => (all().find(x => x.tabIndex === 0) ?? e.shadowRoot.querySelector('.mg-stage'))
                .dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, composed: true }));
            for (let round = 0; round < 2; round++)
                for (const node of all().slice(0, 12))
                    if (node.ariaExpanded !== null) await e.toggle(node.dataset.id);
            press('i');
            const soon = () => new Promise(done => setTimeout(done));
            for (const node of all().slice(0, 12)) {
                node.dispatchEvent(new MouseEvent('click', { bubbles: true }));
                await soon();
            }
            for (const node of all().slice(0, 1)) {
                node.dispatchEvent(new MouseEvent('click', { bubbles: true }));
                await e.toggle('');
                for (const act of e.shadowRoot.querySelectorAll('.mg-panel-sheet .mg-row > button'))
                    if (/alone|leads|Copy/.test(act.textContent)) act.click();
            }
            const field = e.shadowRoot.querySelector('.mg-field');
            for (const query of ['<script>', '\\u202e(', 'a'.repeat(10000)]) {
                field.value = query;
                field.dispatchEvent(new Event('input'));
                await soon();
                field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
            }
            for (const row of [...e.querySelectorAll('.mg-outline [role=button]')].slice(0, 5)) row.click();
            const items = async words => {
                const more = e.shadowRoot.querySelector('.mg-toolbar [aria-haspopup=menu]');
                if (more.ariaExpanded !== 'true') more.click();
                for (;;) {
                    const all = [...e.shadowRoot.querySelectorAll('.mg-menu [role^=menuitem]')];
                    const found = all.filter(x => words.test(x.textContent));
                    if (found.length > 0 && more.ariaExpanded === 'true') return found;
                    await soon();
                }
            };
            (await items(/link/))[0].click();
            e.shadowRoot.querySelector('.mg-trail button')?.click();
            for (const choice of await items(/Class|Parameters|Right/)) choice.click();
            await e.picture();
        }""",
        number,
    )


@pytest.mark.zoo  # the same data, read and shown by the same scripts as above
def test_random_graphs_work_in_standalone_files(reader, diagrams, tmp_path):
    for diagram in diagrams[:1]:
        file = tmp_path / "alone.html"
        file.write_text(render_standalone(diagram), encoding="utf-8")
        reader.page.goto(file.as_uri())
        _explore(reader, 0)
        assert reader.evaluate(INJECTED) == []
        assert reader.page.evaluate("typeof pwned") == "undefined"
