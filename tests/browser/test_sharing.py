"""What readers take along: links to what they see, pictures, the graph."""

import base64
import json
import re
import struct
import xml.etree.ElementTree as ET

import pytest

from browser.pages import encoder

pytestmark = pytest.mark.browser

ANCHOR = re.compile(r"[\w.-]+")
"""What themes may look for as `#…` with a selector."""


OTHERS = ["install", "model-graph-", "model-graph-e30", "model-graph-W10.%", "model-graph-bnVsbA"]


def open_first_layer(reader, diagram=0):
    reader.node("layers.0", diagram).click()
    reader.node("layers.0.mlp", diagram).wait_for()


def press(reader, name, diagram=0):
    shown = reader.page.locator("model-graph").nth(diagram)
    menu = shown.get_by_role("button", name="More controls")
    if menu.get_attribute("aria-expanded") != "true":
        menu.click()
    shown.get_by_role("button", name=name).click()


def copied_link(reader, diagram=0):
    before = reader.page.url
    press(reader, "Copy a link", diagram)
    reader.page.wait_for_function("before => location.href !== before", arg=before)
    return reader.page.url


def test_a_link_leads_to_what_was_shown(reader, reader_with, address):
    reader.page.goto(f"{address}/one.html")
    open_first_layer(reader)
    reader.node("layers.0.mlp").click()
    reader.node("layers.0.mlp.up").wait_for()
    link = copied_link(reader)
    assert ANCHOR.fullmatch(link.rpartition("#")[2])
    with reader_with() as other:
        other.page.goto(link)
        other.node("layers.0.mlp.up").wait_for()
        other.page.wait_for_function(
            "id => document.querySelector('model-graph').shadowRoot.querySelector('.mg-selected')?.dataset.id === id",
            arg="layers.0.mlp",
        )
        assert other.node("layers.1.mlp").count() == 0


def test_a_link_tells_apart_what_stands_on_one_page(reader, reader_with, server):
    """Also two diagrams of one model; and the link of one keeps what was linked of the other."""
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


def test_a_link_keeps_the_module_shown_alone_and_plumbing(reader, reader_with, server):
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


@pytest.mark.parametrize("root", ["gone", "embed", "embed/linear", "input:x"])
def test_a_link_to_what_cannot_be_shown_alone_shows_all(reader, server, root):
    """The model has changed since, perhaps."""
    part = json.dumps({"graph": "pkg.Encoder", "root": root, "open": ["layers.0"]}).encode()
    reader.page.goto(f"{server}/one.html#model-graph-{base64.urlsafe_b64encode(part).decode().rstrip('=')}")
    reader.node("layers.0.mlp").wait_for()
    assert reader.node("embed").is_visible()
    assert not reader.page.get_by_role("navigation").is_visible()


@pytest.mark.parametrize("hash_", OTHERS)
def test_other_peoples_anchors_are_left_alone(reader, server, hash_):
    reader.page.goto(f"{server}/one.html#{hash_}", wait_until="networkidle")
    assert "viz.js" not in reader.requests
    reader.page.evaluate("location.hash = 'elsewhere'")
    open_first_layer(reader)


def saved(reader, name, tmp_path):
    with reader.page.expect_download() as download:
        press(reader, name)
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_svg_is_flat_and_complete(reader, server, tmp_path):
    reader.page.goto(f"{server}/one.html")
    open_first_layer(reader)
    path = saved(reader, "SVG", tmp_path)
    assert path.name == "Encoder.svg"
    text = path.read_text("utf-8")
    assert not re.search(r'var\(|color-mix|color\(| class=| style=| data-| tabindex=| role="treeitem"', text)
    root = ET.fromstring(text)  # noqa: S314  our own
    words = " ".join("".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "attention" in words
    assert "head" in words
    assert {element.get("fill") for element in root.iter("{http://www.w3.org/2000/svg}text")} == {"#000000"}
    assert root[0].get("fill") == "#ffffff"


def test_svg_explains_no_colours_that_it_does_not_have(reader, server, tmp_path):
    reader.page.goto(f"{server}/one.html")
    open_first_layer(reader)
    assert ">linear</text>" in saved(reader, "SVG", tmp_path).read_text("utf-8")
    reader.page.get_by_label("Colour by").last.select_option("parameters")
    reader.page.locator(".mg-scale").wait_for()
    assert ">linear</text>" not in saved(reader, "SVG", tmp_path).read_text("utf-8")


def test_png_has_twice_the_dots(reader, server, tmp_path):
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


def test_a_large_picture_is_saved_whole_and_as_it_is_coloured(reader, server, tmp_path):
    reader.page.goto(f"{server}/large.html")
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    reader.page.get_by_role("button", name="More controls").click()
    reader.page.get_by_label("Colour by").select_option("class")
    reader.page.locator(".mg-scale .mg-swatch").first.wait_for()
    text = saved(reader, "SVG", tmp_path).read_text("utf-8")
    assert text.count("<text") > 1000
    assert reader.page.locator(".mg-stage svg.mg-svg").count() == 1
    coloured = [(box.get("fill"), box.get("fill-opacity")) for box in ET.fromstring(text).iter() if "rect" in box.tag]  # noqa: S314
    assert ("#3f7fd6", "0.3") in coloured  # the first class
    assert ("#c2569b", "0.3") in coloured  # the second


def test_colours_in_any_notation_are_saved_as_they_look(reader, server, tmp_path):
    """Text in oklch, a page in black, and what is mixed of them."""
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
