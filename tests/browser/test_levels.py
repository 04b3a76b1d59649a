"""From afar, containers are blocks with legible names, which lead to their insides."""

from collections import OrderedDict

import pytest
import torch
from torch import nn

import modeldiagrams
from browser.axe import violations
from browser.controls import FOCUSED, SELECTED, button, loaded, settled, wait_until
from browser.serving import served
from browser.test_large import NODES, PAN
from browser.versions import NEW, OLD, difference, network, write_page
from samples import some

LABELS = """e => [...e.shadowRoot.querySelectorAll('.mg-expanded.mg-block')].map(block => {
  const whole = block.querySelector(':scope > .mg-panel').getBoundingClientRect();
  const texts = [...block.querySelectorAll(':scope > .mg-header > .mg-face > text')];
  const scale = block.getScreenCTM().a;
  return {
    id: block.dataset.id,
    text: texts.map(text => text.textContent),
    size: Math.min(...texts.map(text => parseFloat(getComputedStyle(text).fontSize) * scale)),
    isInside: texts.every(text => {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      return left >= whole.left && right <= whole.right && top >= whole.top && bottom <= whole.bottom;
    }),
  };
})"""
LEGIBLE = 9
"""Least height of text, px on screen."""
WATCH = """e => {
  const canvas = e.shadowRoot.querySelector('.mg-canvas');
  e.painted = 0;
  const count = records => {
    e.painted += records.filter(r => r.target.matches('.mg-header, .mg-expanded, .mg-face')).length;
  };
  const attributeFilter = ['class'];
  new MutationObserver(count).observe(canvas, { attributes: true, attributeFilter, childList: true, subtree: true });
}"""


def open_far(reader, server, steps):
    """A picture of 32 open layers, so small that its own text is illegible."""
    reader.page.goto(f"{server}/large.html")
    reader.header("layers.0").hover()
    reader.page.wait_for_function(f"{NODES} < 150")
    for _ in range(steps):
        button(reader, "Zoom out").click()
        settled(reader)
    reader.page.locator(".mg-expanded.mg-block").first.wait_for(timeout=20_000)


def scale(reader):
    return reader.evaluate("e => e.shadowRoot.querySelector('.mg-canvas > svg').getScreenCTM().a")


@pytest.mark.parametrize("width", some([1400, 740, 360], {360}))
def test_names_are_legible_and_inside_their_blocks(reader_with, server, width):
    with reader_with(viewport={"width": width, "height": 700}) as reader:
        open_far(reader, server, 3)
        seen = set()
        for _ in range(3):
            for label in reader.evaluate(LABELS):
                assert label["size"] >= LEGIBLE - 0.01, label
                assert label["isInside"], label
                seen.add(label["text"][0].rpartition(".")[0])
            button(reader, "Zoom out").click()
            settled(reader)
        assert "layers" in seen
        assert reader.errors == []


NAMES = """e => [...e.shadowRoot.querySelectorAll('.mg-stage :is(.mg-node:not(.mg-glyph), .mg-titled)')].map(node => {
  const whole = node.querySelector(':scope > :is(.mg-box, .mg-panel)').getBoundingClientRect();
  const text = node.querySelector('.mg-face > text') ?? node.querySelector('text');
  const { left, top, right, bottom } = text.getBoundingClientRect();
  const isInside = left >= whole.left && right <= whole.right && top >= whole.top - 1 && bottom <= whole.bottom + 1;
  return [node.dataset.id, parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a, isInside];
})"""


def test_names_of_boxes_and_titles_are_legible(reader, server):
    """Of what is closed or shown with its inside, where the picture's own text is below 7 px."""
    steps = 2
    reader.page.goto(f"{server}/one.html")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    for _ in range(steps):
        button(reader, "Zoom out").click()
        settled(reader)
    assert scale(reader) < 7 / 12
    found = reader.evaluate(NAMES)
    assert {"embed", "layers.1", "layers.0.mlp"} <= {node for node, *_ in found}
    covered = reader.page.locator(".mg-expanded.mg-block [data-id]").evaluate_all("all => all.map(e => e.dataset.id)")
    for node, size, is_inside in found:
        if node in covered or node.partition(":")[0] in {"input", "output"}:
            continue
        assert size >= 7 - 0.01, node
        assert is_inside, node
    # as when they are near
    assert reader.node("layers.1").get_attribute("aria-label").split() == ["layers.1", "Layer", "·", "16"]
    for _ in range(steps):
        button(reader, "Zoom in").click()
        settled(reader)
    assert reader.page.locator(".mg-stage .mg-face").count() == 0


def test_the_wheel_leads_through_the_levels_and_back(reader, server):
    open_far(reader, server, 5)
    assert {label["text"][0].rpartition(".")[0] for label in reader.evaluate(LABELS)} == {"layers"}
    reader.header("layers.0").hover()
    reader.page.keyboard.down("Control")
    while reader.page.locator(".mg-expanded.mg-block").count():
        before = scale(reader)
        reader.page.mouse.wheel(0, -60)
        wait_until(reader, lambda before=before: scale(reader) > before)
    reader.page.keyboard.up("Control")
    assert 0.3 <= scale(reader) < 0.85
    assert reader.node("layers.0.mlp").first.is_visible()


# a finger does the same on the map
@pytest.mark.parametrize("way", some(["click", "Enter", "tap"], {"click", "Enter"}))
def test_a_block_leads_to_its_inside(reader_with, server, way):
    with reader_with(has_touch=way == "tap") as reader:
        open_far(reader, server, 5)
        block = reader.header("layers.1")
        if way == "Enter":
            block.focus()
            reader.page.keyboard.press("Enter")
        else:
            block.tap() if way == "tap" else block.click()
        settled(reader)
        assert scale(reader) >= 0.6
        assert reader.page.locator(".mg-expanded.mg-block").count() == 0
        # neither closed nor selected
        assert reader.node("layers.1.mlp").is_visible()
        assert reader.evaluate(SELECTED) is None
        place = reader.node("layers.1").bounding_box()
        assert place["x"] >= 0
        assert place["y"] < 350


def test_the_tree_is_that_of_the_picture(reader, server):
    """Screen readers and arrow keys meet the same nodes; the focused one can be seen."""
    open_far(reader, server, 5)
    name = reader.header("layers.0").get_attribute("aria-label")
    assert name is not None
    assert name.split() == ["layers.0", "Layer", "·", "16"]
    reader.header("layers.0").focus()
    reader.page.keyboard.press("ArrowRight")
    assert reader.evaluate(FOCUSED) == "layers.0.attention"
    inside = reader.node("layers.0").locator("> .mg-inside")
    wait_until(reader, lambda: inside.evaluate("e => getComputedStyle(e).opacity") == "1")


def test_moving_paints_no_blocks_anew(reader, server):
    open_far(reader, server, 3)
    reader.evaluate(WATCH)
    reader.evaluate(f"e => ({PAN})(e, 3)")
    within = reader.evaluate("e => e.painted")
    blocks = len(reader.evaluate(LABELS))
    # only for what comes into the document
    assert within <= 8 * blocks


def test_blocks_are_accessible(reader, server):
    open_far(reader, server, 5)
    assert violations(reader) == []


def test_blocks_in_forced_colours(reader_with, server):
    with reader_with(forced_colors="active") as reader:
        open_far(reader, server, 5)
        panel = reader.node("layers.0").locator("> .mg-panel")
        ground = reader.page.evaluate(
            "() => { const e = document.createElement('i'); document.body.append(e);"
            " e.style.color = 'Canvas'; return getComputedStyle(e).color }"
        )
        assert panel.evaluate("e => getComputedStyle(e).fill") == ground


def test_blocks_hide_their_inside_in_pictures_that_are_drawn_whole(reader, server):
    """Below 150 nodes; nothing of the inside is seen, nor in the way of the pointer."""
    reader.page.goto(f"{server}/tall.html")
    reader.header("layers.0").hover()
    loaded(reader)
    while not reader.page.locator(".mg-expanded.mg-block").count():
        button(reader, "Zoom out").click()
        settled(reader)
    seen = """e => [...e.shadowRoot.querySelectorAll('.mg-expanded.mg-block [data-id]')].filter(node => {
      const chain = [];
      for (let at = node; at.tagName !== 'svg'; at = at.parentElement) chain.push(getComputedStyle(at));
      return !chain.some(style => style.opacity === '0') || !chain.some(style => style.pointerEvents === 'none');
    }).map(node => node.dataset.id)"""
    assert reader.page.locator(".mg-expanded.mg-block [data-id]").count() > 0
    assert reader.evaluate(seen) == []
    # unless the focus is there
    block = reader.page.locator(".mg-expanded.mg-block").first.get_attribute("data-id")
    reader.header(block).focus()
    reader.page.keyboard.press("ArrowRight")
    focused = reader.evaluate(FOCUSED)
    assert focused.startswith(f"{block}.")
    assert reader.node(focused).evaluate("e => getComputedStyle(e.parentElement).opacity") == "1"
    assert reader.node(focused).evaluate("e => getComputedStyle(e).opacity") == "1"


def zoom_out(reader, least):
    while scale(reader) > least:
        button(reader, "Zoom out").click()
        settled(reader)


class LongNames(nn.Module):
    """From afar, the names in its body don't fit."""

    def __init__(self):
        super().__init__()
        layers = {"first_projection_of_inputs": nn.Linear(8, 16), "second_projection_of_inputs": nn.Linear(16, 32)}
        self.body, self.head = nn.Sequential(OrderedDict(layers)), nn.Linear(32, 100)

    def forward(self, x):
        return self.head(self.body(x))


def test_blocks_say_what_their_costs_are_under_a_lens(reader, tmp_path):
    path = tmp_path / "net.html"
    path.write_text(
        modeldiagrams.to_html(modeldiagrams.trace(LongNames(), (torch.ones(2, 8),)), expand=["body"]), "utf-8"
    )
    reader.page.goto(path.as_uri())
    reader.page.wait_for_function("document.querySelector('model-graph').widget !== undefined")
    loaded(reader)
    before = reader.header("body").get_attribute("aria-label")
    zoom_out(reader, 0.4)
    face = reader.header("body").locator(".mg-face-block")
    face.wait_for(state="attached", timeout=5000)
    name = reader.header("body").get_attribute("aria-label")
    assert name == before
    reader.evaluate("e => e.widget.linked.lens.set('flops')")
    panel = reader.node("body").locator("> .mg-panel")
    wait_until(reader, lambda: panel.get_attribute("data-step"))
    share = (8 * 16 + 16 * 32) / (8 * 16 + 16 * 32 + 32 * 100)
    assert panel.get_attribute("data-step") == str(1 + sum(share >= bound for bound in (0.01, 0.05, 0.2, 0.5)))
    assert f"{100 * share:.0f} %" in reader.header("body").get_attribute("aria-label")
    # names that are written larger are not read twice
    assert reader.node("head").get_attribute("aria-label").split().count("head") == 1
    assert panel.evaluate("e => getComputedStyle(e).fill") != "none"
    reader.evaluate("e => e.widget.linked.lens.set('kind')")
    wait_until(reader, lambda: panel.get_attribute("data-step") is None)


def test_blocks_show_what_changed_and_what_is_selected_in_them(reader, press, tmp_path):
    write_page(tmp_path, "diff", difference(press, network(**OLD), network(**NEW), name="diff"))
    with served(tmp_path) as address:
        reader.page.goto(f"{address}/diff.html")
        reader.node("stem").hover()
        loaded(reader)
        widths = """e => [...e.shadowRoot.querySelectorAll('.mg-stage .mg-expanded.mg-block')].map(block => {
          const { strokeWidth, strokeDasharray } = getComputedStyle(block.querySelector(':scope > .mg-panel'));
          const hasChange = block.querySelector('.mg-added, .mg-removed, .mg-changed') !== null;
          return [block.dataset.id, hasChange, parseFloat(strokeWidth) * block.getScreenCTM().a, strokeDasharray];
        })"""
        reader.evaluate("e => e.widget.change(s => s.transitions.expandTo(9))")
        zoom_out(reader, 0.16)
        wait_until(reader, lambda: reader.evaluate(widths))
        found = reader.evaluate(widths)
        assert any(has_change for _, has_change, *_ in found)
        for node, has_change, width, dashes in found:
            is_marked = has_change or dashes != "none"
            assert width == pytest.approx(2.5 if is_marked else 1.25, abs=0.1), node
