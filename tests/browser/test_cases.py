"""The chips above a diagram of several cases: what they dim and compare, by pointer, keyboard and link."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
import torch

import modeldiagrams
from browser.axe import violations
from browser.cased import Heads, united
from browser.controls import FOCUSED, wait_until
from browser.readers import Reader
from modeldiagrams.ir.check import check_graph


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    graph = united()
    check_graph(graph)
    path = tmp_path_factory.mktemp("cases") / "heads.html"
    path.write_text(modeldiagrams.to_html(graph, expand=["near"]), encoding="utf-8")
    return path.as_uri()


def opened(reader: Reader, page: str) -> None:
    reader.page.goto(page)
    chips(reader).first.wait_for()


def chips(reader: Reader):
    return reader.page.get_by_role("group", name="Cases").get_by_role("button")


def chip(reader: Reader, name: str):
    return chips(reader).filter(has_text=name)


def chip_below(reader: Reader):
    return reader.page.locator(".mg-modes > button")


def pressed(reader: Reader) -> list[str]:
    return [each.inner_text() for each in chips(reader).all() if each.get_attribute("aria-pressed") == "true"]


def dimmed(reader: Reader) -> set[str]:
    return set(
        reader.evaluate("e => [...e.shadowRoot.querySelectorAll('.mg-stage .mg-idle[data-id]')].map(n => n.dataset.id)")
    )


def size(reader: Reader) -> str | None:
    return reader.page.locator(".mg-stage [data-sizes]").first.text_content()


def test_a_chip_dims_what_its_case_does_not_run(reader: Reader, page):
    opened(reader, page)
    assert pressed(reader) == ["all"]
    assert dimmed(reader) == set()
    chip(reader, "near").click()
    assert pressed(reader) == ["a near"]
    assert "far" in dimmed(reader)
    assert not {"near", "stem"} & dimmed(reader)
    assert size(reader) == "3×8"
    chip(reader, "far").click()
    assert {"near"} <= dimmed(reader)
    assert size(reader) == "7×8"
    reader.page.keyboard.press("Escape")
    assert pressed(reader) == ["all"]
    assert size(reader) == "3×8 | 7×8"


def test_what_is_opened_later_is_dimmed_too(reader: Reader, page):
    opened(reader, page)
    chip(reader, "near").click()
    reader.node("far").click()
    wait_until(reader, lambda: reader.header("far").count() == 1)
    assert "far" in dimmed(reader)
    reader.header("near").click()
    wait_until(reader, lambda: reader.header("near").count() == 0)
    assert "near" not in dimmed(reader)


def test_two_cases_are_compared(reader: Reader, page):
    opened(reader, page)
    chip(reader, "compare").click()
    assert pressed(reader) == ["a near", "b far", "compare"]
    told = reader.page.locator(".mg-case-key")
    assert told.all_inner_texts() == ["only near: 2", "only far: 2", "sizes differ: 2"]
    assert reader.node("near").evaluate("e => e.classList.contains('mg-in-first')")
    # in the button that ends it, separated for screen readers
    assert chip_below(reader).text_content() == "Compared: near and far · only near: 2 · only far: 2 · sizes differ: 2"
    assert reader.node("far").evaluate("e => e.classList.contains('mg-in-second')")
    chip(reader, "compare").click()
    assert pressed(reader) == ["a near"]
    assert not told.first.is_visible()


def test_a_failed_case_says_why(reader: Reader, page):
    opened(reader, page)
    lost = chip(reader, "lost")
    assert lost.get_attribute("aria-disabled") == "true"
    assert "no such head" in lost.get_attribute("title")
    lost.click(force=True)
    assert pressed(reader) == ["all"]
    said = reader.page.locator(".mg-note", has_text="lost failed: no such head")
    assert said.is_visible()
    chip(reader, "near").click()
    said.wait_for(state="hidden")


def test_the_keyboard_and_screen_readers_reach_the_chips(reader: Reader, page):
    opened(reader, page)
    chips(reader).first.focus()
    reader.page.keyboard.press("Tab")
    assert reader.evaluate(FOCUSED) == "a near"
    reader.page.keyboard.press("Enter")
    assert pressed(reader) == ["a near"]
    assert reader.evaluate("e => [...e.shadowRoot.querySelectorAll('[role=status]')].at(-1).textContent").startswith(
        "Case: near"
    )
    assert violations(reader) == []


def test_a_link_contains_the_choice(reader: Reader, page):
    opened(reader, page)
    chip(reader, "far").click()
    assert reader.evaluate("e => e.widget.linked.case.get()") == "far"
    reader.page.goto("about:blank")
    name = "case=near:far&at=stem"
    opened(reader, page)
    graph = reader.evaluate("e => e.getAttribute('graph')")
    reader.evaluate(f"() => {{ location.hash = '#{graph}?{name}' }}")
    wait_until(reader, lambda: pressed(reader) == ["a near", "b far", "compare"])


def test_a_link_that_was_followed_before_the_chips_load_counts(reader: Reader, page, tmp_path):
    html = Path(url2pathname(urlsplit(page).path)).read_text(encoding="utf-8")
    late = tmp_path / "late.html"
    late.write_text(html.replace(" cases=", " later="), encoding="utf-8")
    graph = re.search(r' graph="([^"]*)"', html)[1]
    reader.page.goto(f"{late.as_uri()}#{graph}?case=near:far&at=stem")
    wait_until(reader, lambda: reader.evaluate("e => e.widget?.asked.case") == "near:far")
    reader.evaluate(
        "e => { e.setAttribute('cases', e.getAttribute('later')); document.dispatchEvent(new Event('mg-ready')) }"
    )
    wait_until(reader, lambda: pressed(reader) == ["a near", "b far", "compare"])


def test_pages_of_one_case_have_no_chips(reader: Reader, tmp_path):
    path = tmp_path / "plain.html"
    html = modeldiagrams.to_html(modeldiagrams.trace(Heads(), (torch.ones(3, 8),)))
    assert "modelDiagramsCased" not in html
    path.write_text(html, encoding="utf-8")
    reader.page.goto(path.as_uri())
    reader.page.wait_for_function("document.querySelector('model-graph').widget !== undefined")
    assert chips(reader).count() == 0
