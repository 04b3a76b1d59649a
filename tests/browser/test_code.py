"""From near, boxes show the lines of code that they come from, on pages that link to code."""

from __future__ import annotations

import re

import msgspec
import pytest
import torch
from torch import nn

import modeldiagrams
from browser.axe import violations
from browser.controls import button, details, loaded, settled, wait_until
from browser.serving import served
from browser.versions import write_page
from modeldiagrams.hosting.code_lines import find_code_lines
from samples import png, some

TEMPLATE = "https://example.org/blob/{{path:{}}}#L{{line}}"


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What follows is shown."""
        gate = torch.sigmoid(x * self.scale)
        return x * gate


class Coded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.gated = nn.Linear(8, 8), Gated()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.gated(self.first(x))
        return torch.nn.functional.softmax(x, dim=-1)


@pytest.fixture(scope="module")
def address(press, tmp_path_factory):
    graph = modeldiagrams.trace(Coded(), (torch.ones(2, 8),))
    (press.folder / "heat.png").write_bytes(png())
    embed = {"softmax": {"image": "heat.png", "alt": "Heat"}}
    said = press.make(graph, notes={"gated": "A note."}, embed=embed)
    made = msgspec.structs.replace(press.make(graph), sources=(__file__,))
    template = TEMPLATE.format(graph.model.source.partition("/")[0])
    coded = msgspec.structs.replace(made, source_link=template, code=find_code_lines(made, template))
    folder = tmp_path_factory.mktemp("coded")
    write_page(folder, "coded", coded)
    write_page(folder, "said", msgspec.structs.replace(coded, id="said", picture=said.picture, overlay=said.overlay))
    write_page(folder, "plain", msgspec.structs.replace(made, id="plain"))
    with served(folder) as server:
        yield server


FACES = """e => {
  const boxes = [...e.shadowRoot.querySelectorAll('.mg-coded')].map(node => {
    return [node.dataset.id, node.querySelector('.mg-box').getBoundingClientRect()];
  });
  return Object.fromEntries([...e.shadowRoot.querySelectorAll('.mg-code')].map(code => {
    const whole = code.getBoundingClientRect();
    const isAround = ([, box]) => {
      return whole.left >= box.left && whole.right <= box.right && whole.top >= box.top && whole.bottom <= box.bottom;
    };
    const texts = [...code.querySelectorAll('text')];
    return [boxes.find(isAround)?.[0] ?? 'none', {
      lines: texts.map(text => text.textContent.replaceAll('\u00a0', ' ')),
      sizes: texts.map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a),
    }];
  }));
}"""
"""Id of the box around it → what it says."""


def near(reader, steps=6):
    loaded(reader)
    for _ in range(steps):
        button(reader, "Zoom in").click()
        settled(reader)


def shown(reader):
    return reader.evaluate(FACES)


def open_near(reader, address, name="coded", steps=6):
    reader.page.goto(f"{address}/{name}.html")
    near(reader, steps)


def look_at(reader, node):
    reader.page.locator("model-graph").evaluate("(e, id) => e.widget.goTo(id)", node)
    settled(reader)


@pytest.mark.parametrize("width", some([1300, 360], {360}))
def test_boxes_say_where_they_are_called_and_what_they_run(reader_with, address, width):
    with reader_with(viewport={"width": width, "height": 800}) as reader:
        open_near(reader, address)
        wait_until(reader, lambda: shown(reader))
        seen = {}
        for node in ("first", "gated", "/softmax"):
            look_at(reader, node)
            wait_until(reader, lambda node=node: node in shown(reader))
            seen |= shown(reader)
        assert " ".join(line.strip() for line in seen["first"]["lines"][1:-1]) == "x = self.gated(self.first(x))"
        assert seen["gated"]["lines"][1].startswith("def forward(self, x")
        assert "return torch.nn.functional.softmax" in " ".join(seen["/softmax"]["lines"])
        assert "none" not in seen, seen
        assert min(size for face in seen.values() for size in face["sizes"]) >= 10
        assert violations(reader) == []
        assert reader.errors == []


def test_lines_go_when_the_reader_leaves(reader, address):
    open_near(reader, address)
    wait_until(reader, lambda: shown(reader))
    name = reader.node("first").get_attribute("aria-label")
    for _ in range(6):
        button(reader, "Zoom out").click()
        settled(reader)
    assert shown(reader) == {}
    assert reader.page.locator(".mg-code").count() == 0
    assert reader.node("first").get_attribute("aria-label") == name


@pytest.mark.parametrize("way", some(["click", "tap"], {"click"}))
def test_a_place_leads_to_the_code(reader_with, address, way):
    with reader_with(has_touch=way == "tap") as reader:
        open_near(reader, address)
        look_at(reader, "/softmax")
        wait_until(reader, lambda: "/softmax" in shown(reader))
        place = reader.page.locator(".mg-code a", has_text=re.compile(shown(reader)["/softmax"]["lines"][-1]))
        url = place.get_attribute("href")
        assert re.fullmatch(r"https://example\.org/blob/\S*test_code\.py#L\d+", url)
        asked = []
        reader.page.route("https://example.org/**", lambda route: (asked.append(route.request.url), route.abort()))
        place.tap() if way == "tap" else place.click()
        wait_until(reader, lambda: asked)
        assert asked[0] == url.partition("#")[0]


def test_with_the_keyboard_the_details_have_the_link(reader, address):
    open_near(reader, address)
    reader.node("/softmax").focus()
    reader.page.keyboard.press("i")
    details(reader).get_by_role("link", name="test_code.py").wait_for(timeout=20_000)


def test_numbers_of_notes_are_told_and_images_stay(reader, address):
    open_near(reader, address, "said")
    look_at(reader, "gated")
    wait_until(reader, lambda: "gated" in shown(reader))
    assert shown(reader)["gated"]["lines"][0].startswith("gated [1]")
    assert not reader.node("gated").locator(".mg-note").is_visible()
    look_at(reader, "/softmax")
    settled(reader)
    assert "/softmax" not in shown(reader)
    assert reader.node("/softmax").locator(".mg-image").is_visible()


def test_other_versions_and_amounts_show_no_code(reader, address):
    """Lines are those of this version."""
    open_near(reader, address)
    wait_until(reader, lambda: shown(reader))
    reader.evaluate("e => { e.shadowRoot.querySelector('.mg-stage').dataset.by = 'amount' }")
    wait_until(reader, lambda: shown(reader) == {})
    reader.evaluate("e => { delete e.shadowRoot.querySelector('.mg-stage').dataset.by }")
    wait_until(reader, lambda: shown(reader))
    reader.evaluate("e => { e.widget.session.difference = {}; e.widget.updateViewport() }")
    assert shown(reader) == {}


@pytest.mark.requests
def test_a_page_without_links_to_code_loads_no_script_for_it(reader, address):
    open_near(reader, address, "plain")
    assert shown(reader) == {}
    assert "code.js" not in reader.requests
