"""Names of sizes in labels, the line that explains them, and the switch to numbers."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import modeldiagrams
from browser.axe import violations
from browser.controls import box, button, facts, item, loaded, settled, wait_until

NAMED = ["B×3×H×W", "B×8×H/4×W/4", "B×(N+1)×8"]
NUMBERS = ["2×3×32×64", "2×8×8×16", "2×129×8"]
LINE = "B batch · H×W image, 32×64 here, multiples of 4 · N = H·W/16"


class Patches(nn.Module):
    """An image becomes patches with a class token before them."""

    def __init__(self) -> None:
        super().__init__()
        self.cut = nn.Conv2d(3, 8, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, 8))
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8)) for _ in range(30))

    def forward(self, image):
        patches = torch.relu(self.cut(image)).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(image), -1, -1), patches], 1)
        for block in self.blocks:
            x = x + block(x)
        return x


@pytest.fixture(scope="module")
def graph():
    return modeldiagrams.trace(Patches(), (torch.zeros(2, 3, 32, 64),), dims="auto")


@pytest.fixture(scope="module")
def page(graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("sizes") / "patches.html"
    path.write_text(modeldiagrams.to_html(graph, depth=0), encoding="utf-8")
    return path.as_uri()


def labels(reader):
    return reader.page.locator(".mg-stage .mg-label").all_text_contents()


def shows(reader, texts):
    wait_until(reader, lambda: set(texts) <= set(labels(reader)), f"{texts} in {labels(reader)}")


def test_a_page_without_scripts_explains_the_names(page, reader_with):
    with reader_with(java_script_enabled=False) as reader:
        reader.page.goto(page)
        picture = reader.page.locator("svg.mg-svg")
        assert set(NAMED) <= set(picture.locator(".mg-label").all_text_contents())
        assert " · ".join(picture.locator(".mg-sizes text").all_text_contents()) == LINE
        assert LINE in picture.get_attribute("aria-label")


def test_a_key_changes_names_to_numbers_and_back_where_the_reader_is(page, reader):
    reader.page.goto(page)
    loaded(reader)
    shows(reader, NAMED)
    reader.node("/cat").scroll_into_view_if_needed()
    before = box(reader.node("cut"))
    reader.node("cut").click()
    for texts, lines in ((NUMBERS, 0), (NAMED, 1)):
        reader.page.keyboard.press("s")
        shows(reader, texts)
        assert reader.page.locator(".mg-stage .mg-sizes").count() == lines
        assert abs(box(reader.node("cut"))["y"] - before["y"]) < 2
    assert violations(reader) == []


def test_a_link_keeps_numbers_and_the_menu_changes_them(page, reader):
    reader.page.goto(f"{page}#Patches?numbers=yes")
    shows(reader, NUMBERS)
    button(reader, "More controls").click()
    switch = item(reader, "Numbers instead of names of sizes")
    assert switch.get_attribute("aria-checked") == "true"
    switch.click()
    shows(reader, NAMED)
    settled(reader)


def test_details_have_names_and_numbers(page, reader):
    reader.page.goto(page)
    reader.node("cut").click()
    wait_until(reader, lambda: "Outputs" in facts(reader))
    assert facts(reader)["Outputs"] == ["output: B×8×H/4×W/4 = 2×8×8×16 float32"]


def test_a_diagram_without_names_has_no_switch(reader, tmp_path):
    plain = modeldiagrams.trace(Patches(), (torch.zeros(2, 3, 32, 64),), dims=None)
    path = tmp_path / "plain.html"
    path.write_text(modeldiagrams.to_html(plain, depth=0), encoding="utf-8")
    reader.page.goto(path.as_uri())
    assert set(NUMBERS) <= set(labels(reader))
    button(reader, "More controls").click()
    item(reader, "Copy a link").wait_for()
    assert item(reader, "Numbers instead of names").count() == 0
