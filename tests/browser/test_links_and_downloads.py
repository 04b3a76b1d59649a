"""Links to the current view, and downloads of pictures and the graph."""

import base64
import json
import re
import struct
import xml.etree.ElementTree as ET

import pytest

from browser.controls import item, wait_selected, wait_until
from browser.pages import encoder
from samples import some

OTHERS = [
    "install",
    "install?open=layers.0",
    "?open=layers.0",
    "model-graph-",
    "model-graph-e30",
    "model-graph-W10.%",
    "model-graph-bnVsbA",
]


def open_first_layer(reader, diagram=0):
    reader.node("layers.0", diagram).click()
    reader.node("layers.0.mlp", diagram).wait_for()


def press_in_menu(reader, name, diagram=0):
    shown = reader.page.locator("model-graph").nth(diagram)
    menu = shown.get_by_role("button", name="More controls")
    if menu.get_attribute("aria-expanded") != "true":
        menu.click()
    shown.locator(".mg-menu").get_by_text(name).click()


def copied_link(reader, diagram=0):
    before = reader.page.url
    press_in_menu(reader, "Copy a link", diagram)
    reader.page.wait_for_function("before => location.href !== before", arg=before)
    return reader.page.url


def former(**part):
    """A link as versions before this one made them."""
    return "model-graph-" + base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def test_link_is_made_of_paths_and_restores_the_view(reader, reader_with, address):
    reader.page.goto(f"{address}/one.html")
    open_first_layer(reader)
    reader.node("layers.0.mlp").click()
    reader.node("layers.0.mlp.up").wait_for()
    link = copied_link(reader)
    assert link.partition("#")[2] == "pkg.Encoder?open=layers.0.mlp&at=layers.0.mlp"
    with reader_with() as other:
        other.page.goto(link)
        other.node("layers.0.mlp.up").wait_for()
        wait_selected(other, "layers.0.mlp")
        assert other.node("layers.1.mlp").count() == 0


@pytest.mark.parametrize(
    ("words", "shown", "selected"),
    [
        ("pkg.Encoder?at=layers.1.mlp.up", "layers.1.mlp.up", "layers.1.mlp.up"),
        ("Encoder?open=layers.2", "layers.2.mlp", None),
        ("Encoder?open=MLP", "layers.2.mlp.up", None),
        ("Encoder?alone=layers.0&at=layers.0.mlp", "layers.0.mlp", "layers.0.mlp"),
    ],
)
def test_link_can_be_written_by_hand(reader, server, words, shown, selected):
    """Also in a page's text, and pressed again after the reader has closed what it opened."""
    reader.page.goto(f"{server}/one.html")
    reader.page.evaluate(
        "words => document.body.insertAdjacentHTML('beforeend', `<p><a href='#${words}'>there</a></p>`)", words
    )
    for _ in range(2):
        reader.page.get_by_role("link", name="there").click()
        reader.node(shown).wait_for()
        if selected:
            wait_selected(reader, selected)
        press_in_menu(reader, "Reset to the author’s view")
        reader.node(shown).wait_for(state="detached")


@pytest.mark.parametrize(
    ("words", "said", "shown"),
    [
        ("Encoder?open=layers.0.attn.query", "which this model doesn't have; the nearest is layers.0.", "layers.0.mlp"),
        ("Encoder?at=layers.1.mlp.gate", "layers.1.mlp.gate, which this model", "layers.1.mlp"),
        ("Encoder?at=decoder", "decoder, which this model doesn't have; the nearest is Encoder.", "embed"),
        (former(graph="pkg.Encoder", open=["layers.0", "layers.0.old"]), "the nearest is layers.0.", "layers.0.mlp"),
    ],
)
def test_link_that_names_what_is_gone_says_so_and_shows_the_nearest(reader, server, words, said, shown):
    reader.page.goto(f"{server}/one.html#{words}")
    reader.page.get_by_text(said).wait_for()
    reader.node(shown).wait_for()


def test_link_of_a_former_version_restores_the_view(reader, server):
    link = former(graph="pkg.Encoder", node="layers.0.mlp", open=["layers.0", "layers.0.mlp"])
    reader.page.goto(f"{server}/one.html#{link}")
    reader.node("layers.0.mlp.up").wait_for()
    wait_selected(reader, "layers.0.mlp")


def test_link_restores_repeats_colours_and_a_path(reader, reader_with, server):
    reader.page.goto(f"{server}/rolled.html")
    reader.page.locator(".mg-stage [data-run]").first.click()
    reader.node("layers.1").wait_for()
    reader.page.get_by_role("button", name="More controls").click()
    item(reader, "Parameters").click()
    reader.page.locator(".mg-scale").wait_for()
    reader.node("head").click()
    reader.page.get_by_role("button", name="What leads here").click()
    link = copied_link(reader)
    assert link.partition("#")[2] == "pkg.Rolled?each=layers.0&at=head&lens=parameters&path=before"
    with reader_with() as other:
        other.page.goto(link)
        other.node("layers.1").wait_for()
        other.page.locator(".mg-stage .mg-svg.mg-dim").wait_for()
        other.page.locator(".mg-scale").get_by_text("Parameters").wait_for()


def test_links_distinguish_diagrams_of_one_page(reader, reader_with, server):
    """Also two diagrams of one model; the link of one keeps the part of the other."""
    for page in ("two.html", "again.html"):
        reader.page.goto(f"{server}/{page}")
        open_first_layer(reader, 1)
        link = copied_link(reader, 1)
        with reader_with() as other:
            other.page.goto(link)
            other.node("layers.0.mlp", 1).wait_for()
            assert other.node("layers.0.mlp", 0).count() == 0
            open_first_layer(other, 0)
            both = copied_link(other, 0)
        with reader_with() as third:
            third.page.goto(both)
            for diagram in (0, 1):
                third.node("layers.0.mlp", diagram).wait_for()


def test_link_restores_the_isolated_module(reader, reader_with, server):
    reader.page.goto(f"{server}/one.html")
    reader.node("layers.0").hover()
    reader.page.wait_for_function("window.modelDiagramsData?.size && window.modelDiagramsViz")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    if not reader.page.get_by_role("button", name="Show alone").count():
        reader.page.keyboard.press("i")
    reader.page.get_by_role("button", name="Show alone").click()
    reader.node("embed").wait_for(state="detached")
    link = copied_link(reader)
    with reader_with() as other:
        other.page.goto(link)
        other.node("embed").wait_for(state="detached")
        assert other.node("layers.0.mlp").is_visible()


@pytest.mark.parametrize("root", some(["gone", "embed", "embed/linear", "input:x"], {"gone", "embed/linear"}))
def test_link_to_a_module_that_cannot_be_isolated_shows_the_model(reader, server, root):
    """The model may have changed since."""
    reader.page.goto(f"{server}/one.html#{former(graph='pkg.Encoder', root=root, open=['layers.0'])}")
    reader.node("layers.0.mlp").wait_for()
    assert reader.node("embed").is_visible()
    assert not reader.page.get_by_role("navigation").is_visible()


def test_foreign_anchors_are_ignored(reader_with, server):
    # in a page of its own: where another test left pointer and focus, the diagram may load ahead
    with reader_with(once=True, listens=True) as reader:
        for hash_ in OTHERS:
            reader.page.goto(f"{server}/one.html#{hash_}")
        reader.page.wait_for_load_state("networkidle")
        assert "viz.js" not in reader.requests
        reader.page.evaluate("location.hash = 'elsewhere'")
        open_first_layer(reader)


def saved(reader, name, tmp_path):
    with reader.page.expect_download() as download:
        press_in_menu(reader, name)
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_svg_has_no_css_and_all_text(reader, server, tmp_path):
    reader.page.goto(f"{server}/one.html")
    open_first_layer(reader)
    path = saved(reader, "SVG", tmp_path)
    assert path.name == "Encoder.svg"
    text = path.read_text("utf-8")
    assert not re.search(r"var\(|color-mix|currentColor|color\(", text)
    assert not re.search(r' class=| style=| data-| tabindex=| role="treeitem"', text)
    root = ET.fromstring(text)  # noqa: S314  our own
    words = " ".join("".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "attention" in words
    assert "head" in words
    assert {element.get("fill") for element in root.iter("{http://www.w3.org/2000/svg}text")} == {"#000000"}
    assert root[0].get("fill") == "#ffffff"


def test_svg_omits_the_legend_of_replaced_colours(reader, server, tmp_path):
    reader.page.goto(f"{server}/one.html")
    open_first_layer(reader)
    assert ">linear</text>" in saved(reader, "SVG", tmp_path).read_text("utf-8")
    press_in_menu(reader, "Parameters")
    reader.page.locator(".mg-scale").wait_for()
    assert ">linear</text>" not in saved(reader, "SVG", tmp_path).read_text("utf-8")


def test_png_has_double_resolution(reader, server, tmp_path):
    reader.page.goto(f"{server}/one.html")
    content = saved(reader, "PNG", tmp_path).read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    natural = reader.evaluate(
        "e => { const b = e.shadowRoot.querySelector('.mg-stage svg').viewBox.baseVal; return [b.width, b.height]; }"
    )
    assert [width, height] == [2 * side for side in natural]


def test_json_is_the_graph(reader, server, tmp_path):
    reader.page.goto(f"{server}/one.html")
    graph = json.loads(saved(reader, "JSON", tmp_path).read_text("utf-8"))
    assert [node["id"] for node in graph["nodes"]] == [node.id for node in encoder().nodes]


def test_large_picture_is_saved_as_a_whole_with_its_colours(reader, server, tmp_path):
    reader.page.goto(f"{server}/large.html")
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    reader.page.get_by_role("button", name="More controls").click()
    item(reader, "Class").click()
    reader.page.locator(".mg-scale .mg-swatch").first.wait_for()
    text = saved(reader, "SVG", tmp_path).read_text("utf-8")
    assert text.count("<text") > 800
    assert reader.page.locator(".mg-stage svg.mg-svg").count() == 1
    coloured = [(box.get("fill"), box.get("fill-opacity")) for box in ET.fromstring(text).iter() if "rect" in box.tag]  # noqa: S314
    assert ("#7196db", "0.3") in coloured  # the first class
    assert ("#a4338c", "0.3") in coloured  # the second


def test_colours_in_any_notation_are_resolved(reader, server, tmp_path):
    """Text in oklch, a black page, and mixes of both."""
    reader.page.goto(f"{server}/one.html")
    reader.page.evaluate("document.body.style = 'color: oklch(0.7 0.1 250); background: rgb(0, 0, 0)'")
    reader.page.evaluate(
        "document.querySelector('model-graph').style.setProperty('--mg-hue-other', 'color(display-p3 0 1 0)')"
    )
    open_first_layer(reader)
    root = ET.fromstring(saved(reader, "SVG", tmp_path).read_text("utf-8"))  # noqa: S314  our own
    assert root[0].get("fill") == "#000000"
    fills = {element.get("fill") for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert len(fills) == 1
    (fill,) = fills
    red, green, blue = (int(fill[i : i + 2], 16) for i in (1, 3, 5))
    assert red < green < blue
    assert 200 < blue < 250


IN_LINKS = "e => [e.widget.selected, e.widget.linked.lens.get(), e.widget.linked.path.get()].map(x => x || null)"
"""What a link says beside the state: node, lens, path."""


def follow_link(reader, words):
    reader.page.evaluate("words => { location.hash = words }", words)


def test_a_link_leaves_what_it_does_not_name(reader, server):
    """Also where the link names something that every JavaScript object has."""
    errors = []
    reader.page.on("pageerror", lambda error: errors.append(str(error)))
    reader.page.goto(f"{server}/one.html#Encoder?at=head&lens=class&path=before&constructor=1")
    wait_until(reader, lambda: reader.evaluate(IN_LINKS) == ["head", "class", "before"])
    follow_link(reader, "Encoder?at=head&open=layers.1")
    wait_until(reader, lambda: reader.evaluate(IN_LINKS) == ["head", None, None])
    follow_link(reader, "Encoder?open=layers.2")
    wait_until(reader, lambda: reader.evaluate(IN_LINKS) == [None, None, None])
    assert errors == []


def test_a_path_in_a_link_names_its_end_as_people_write_nodes(reader, server):
    reader.page.goto(f"{server}/one.html#Encoder?at=embed&path=layers.2.mlp.u*")
    wait_until(reader, lambda: reader.evaluate(IN_LINKS) == ["embed", None, "layers.2.mlp.up"])
    reader.page.locator(".mg-stage .mg-dim [data-id='layers.2.mlp.up'].mg-on").wait_for()
    follow_link(reader, "Encoder?at=embed&path=decoder")
    reader.page.get_by_text("The link refers to decoder, which this model").wait_for()


def test_link_to_a_diagram_that_is_gone_says_so_once(reader, server):
    reader.page.goto(f"{server}/two.html#pkg.Former?open=layers.0")
    note = reader.page.get_by_text("The link refers to the diagram pkg.Former, which this page doesn't have.")
    note.wait_for()
    assert note.count() == 1
