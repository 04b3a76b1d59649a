"""Numbers of an author in the widget: bars, words, table, map and details are what the numbers say, for two models."""

import re

import pytest
import torch
from torch import nn

import modeldiagrams
from browser.axe import violations
from browser.controls import button, details, facts, item, wait_until
from browser.costs import Net, saved_rows
from browser.readers import Reader

BARS = """e => Object.fromEntries([...e.shadowRoot.querySelectorAll('.mg-stage [data-id]')].flatMap(node => {
  const [track, bar] = ['track', 'bar'].map(part => node.querySelector(`:scope > .mg-${part}`));
  const of = (rect, side) => Number(rect?.getAttribute(side) ?? 0);
  if (track === null) return [];
  const whole = of(track, 'width');
  return [[node.dataset.id, [(of(bar, 'x') - of(track, 'x')) / whole, of(bar, 'width') / whole]]];
}))"""
"""Id of a box → where its bar begins, and its length, as parts of its track."""
TEXTS = """e => [...e.shadowRoot.querySelectorAll('.mg-stage [data-id="%s"] .mg-detail')]
  .map(text => text.textContent).join('')"""

LOSSES = {"embed": 4, "blocks.0.up": 1, "blocks.1.up": 3, "blocks.2.down": 2, "head": 0.5}
GAINS = {"0": -3, "2": 1.5, "4": 0.75}
"""Of a stack of layers."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    net = modeldiagrams.trace(Net(), (torch.ones(2, 8),))
    losses = {"name": "Loss", "unit": "dB", "format": ".2f", "values": {**LOSSES, "x": 1.0}}
    log = {"name": "Calls", "scale": "log", "values": {"embed": 1, "blocks.*.up": 100, "head": 0}}
    page = modeldiagrams.to_html(net, values=[losses, log], expand=["blocks.0", "blocks"])
    (folder / "net.html").write_text(page, encoding="utf-8")
    layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
    gains = {"name": "Gain", "format": "+.2f", "scale": "diverging", "values": GAINS}
    stack = modeldiagrams.to_html(modeldiagrams.trace(layers, (torch.ones(2, 8),)), values=gains)
    (folder / "stack.html").write_text(stack, encoding="utf-8")
    return folder


def open_file(reader: Reader, folder, name, lens=None):
    reader.page.goto((folder / f"{name}.html").as_uri())
    reader.page.wait_for_function("document.querySelector('model-graph').widget !== undefined")
    if lens is not None:
        reader.evaluate(f"e => e.widget.linked.lens.set('{lens}')")
        button(reader, "Table (T)").wait_for()
        wait_until(reader, lambda: reader.evaluate("e => e.shadowRoot.querySelector('.mg-cost') !== null"))


def legend(reader):
    return " ".join(reader.page.locator(".mg-scale").inner_text().split())


def near(bars, expected):
    assert {id_: pytest.approx(bar, abs=0.03) for id_, bar in bars.items()} == expected


def test_the_picture_before_and_after_a_reader_uses_it_is_the_same(reader: Reader, folder):
    """A box of equal blocks has the largest number of its blocks; numbers of inputs count, too."""
    # blocks.0.up stands for three, of which the second has the largest number
    expected = {"embed": [0, 1], "blocks.0.up": [0, 0.75], "blocks.0.down": [0, 0.5], "head": [0, 0.125]}
    expected["input:x"] = [0, 0.25]
    open_file(reader, folder, "net")
    near(reader.evaluate(BARS), expected)
    assert reader.evaluate(TEXTS % "embed") == "4.00 dB"
    open_file(reader, folder, "net", "numbers0")
    near(reader.evaluate(BARS), expected)
    assert reader.evaluate(TEXTS % "embed") == "4.00 dB"
    assert "Loss (dB) < 0.80 ≥ 0.80 ≥ 1.60 ≥ 2.40 ≥ 3.20" in legend(reader)
    assert "show the largest inside" in legend(reader)
    assert "Numbers that name no node" not in legend(reader)


def test_a_closed_module_shows_the_largest_inside(reader: Reader, folder):
    open_file(reader, folder, "net", "numbers0")
    reader.header("blocks").press(" ")
    wait_until(reader, lambda: "blocks" in reader.evaluate(BARS))
    near({"blocks": reader.evaluate(BARS)["blocks"]}, {"blocks": [0, 0.75]})
    assert reader.evaluate(TEXTS % "blocks") == "3.00 dB"


def test_two_ways_from_0(reader: Reader, folder):
    for lens in (None, "numbers0"):
        open_file(reader, folder, "stack", lens)
        near(reader.evaluate(BARS), {"0": [0, 0.5], "2": [0.5, 0.25], "4": [0.5, 0.125]})
        assert reader.evaluate(TEXTS % "0") == "-3.00"
        assert reader.evaluate(TEXTS % "4") == "+0.75"
    fills = [reader.node(id_).locator("> .mg-bar").evaluate("e => getComputedStyle(e).fill") for id_ in GAINS]
    assert fills[0] != fills[1] == fills[2]
    assert "the one furthest from 0. 3 of" in legend(reader)
    assert "≥ -0.60" in legend(reader)


def test_a_logarithmic_scale_says_what_it_cannot_show(reader: Reader, folder):
    open_file(reader, folder, "net", "numbers1")
    bars = reader.evaluate(BARS)
    assert set(bars) == {"embed", "blocks.0.up"}
    assert bars["blocks.0.up"] == pytest.approx([0, 1])
    assert "Not above 0, so without a bar: 1." in legend(reader)


def test_the_menu_and_links_have_the_names_and_kinds_of_nodes_come_back(reader: Reader, folder):
    open_file(reader, folder, "net")
    assert reader.evaluate("e => e.widget.linked.lens.get()") is None
    button(reader, "More controls").click()
    item(reader, "Calls").click()
    button(reader, "Table (T)").wait_for()
    assert reader.evaluate("e => e.widget.linked.lens.get()") == "numbers1"
    item(reader, "Kind").click()
    reader.page.wait_for_function("document.querySelector('model-graph').widget.linked.lens.get() === 'kind'")
    wait_until(reader, lambda: reader.evaluate(BARS) == {})
    assert "Linear" in reader.evaluate(TEXTS % "embed")
    assert reader.errors == []


def test_the_table_the_file_and_the_details_have_them(reader: Reader, folder, tmp_path):
    open_file(reader, folder, "net", "numbers0")
    button(reader, "Table (T)").click()
    heads = [text.rstrip(" ↕↑↓") for text in reader.page.locator("thead th").all_inner_texts()]
    assert heads[:4] == ["Box", "Loss", "Count", "Calls"]
    cells = reader.page.locator("tbody tr").first.locator("> *").all_inner_texts()
    assert cells[:4] == ["embed", "4.00 dB", "", "1"]
    rows = saved_rows(reader, tmp_path)
    assert {id_: float(row["Loss"]) for id_, row in rows.items() if row["Loss"] and "/" not in id_} == {
        "embed": 4,
        "blocks.0.up": 3,
        "blocks.0.down": 2,
        "head": 0.5,
    }
    assert violations(reader) == []
    reader.node("embed").click()
    details(reader).wait_for()
    assert facts(reader)["Numbers"] == ["Loss: 4.00 dB", "Calls: 1"]


def test_details_say_what_flowed_and_show_maps(reader: Reader, folder):
    torch.manual_seed(0)
    image = torch.eye(24).expand(1, 3, 24, 24)
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.Flatten(), nn.Linear(1936, 2))
    graph = modeldiagrams.trace(net, (image,), sample=True)
    (folder / "flows.html").write_text(modeldiagrams.to_html(graph, values="sample"), encoding="utf-8")
    open_file(reader, folder, "flows")
    relu = graph.samples.tensors["1/relu:0"]
    reader.node("1").click()
    details(reader).wait_for()
    said, once = facts(reader)["Values"]
    numbers = [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", said)]
    assert numbers[:5] == pytest.approx([relu.mean, relu.std, relu.min, relu.max, 100 * relu.zeros], rel=0.01, abs=1e-3)
    assert "mean of 4 maps" in said
    assert once == "in one pass"
    shown = details(reader).get_by_role("img")
    assert shown.get_attribute("alt").startswith("mean of 4 maps, 0 is black, ")
    assert shown.evaluate("image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])") == [24, 24]
    # of the input, an image of a line from the upper left: its pixels, as the browser shows them
    reader.node("input:input").click()
    wait_until(reader, lambda: "mean of 3 maps" in (shown.get_attribute("alt") or ""))
    pixels = shown.evaluate(
        """async image => {
          await image.decode();
          const context = Object.assign(document.createElement('canvas'), { width: 24, height: 24 }).getContext('2d');
          context.drawImage(image, 0, 0);
          return [...context.getImageData(0, 0, 24, 24).data].filter((_, i) => i % 4 === 0);
        }"""
    )
    assert torch.equal(torch.tensor(pixels).reshape(24, 24) / 255, torch.eye(24))
    reader.node("4").click()
    wait_until(reader, lambda: shown.count() == 0)
    assert violations(reader) == []
    assert reader.errors == []
