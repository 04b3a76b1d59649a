"""Readers set the sizes of inputs: shapes and costs follow, and what the model doesn't take changes nothing."""

import re

import msgspec
import pytest
import torch

import modeldiagrams
from browser.axe import violations
from browser.controls import button, facts, item, wait_until
from browser.costs import saved_rows
from modeldiagrams.common.amounts import format_bytes, format_flops
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.size_costs import costs_at
from sized_decoder import Decoder

PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 800}}
EMBEDDED = re.compile(r"^\d+×\d+×16$")
"""A shape behind the embedding, in numbers."""


@pytest.fixture(scope="module")
def graph():
    """With times, and a limit of T."""
    given = Decoder(), (torch.zeros(2, 16, dtype=torch.long),)
    named = modeldiagrams.trace(*given, dims={"input_ids": ["B", "T"]}).sizes
    limited = msgspec.structs.replace(named.sizes["T"], at_least=2, at_most=512, limit="positions.weight")
    sizes = msgspec.structs.replace(named, sizes={**named.sizes, "T": limited})
    graph = msgspec.structs.replace(modeldiagrams.trace(*given, measure_time=True), sizes=sizes)
    check_graph(graph)
    return graph


@pytest.fixture(scope="module")
def folder(graph, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes")
    plain = msgspec.structs.replace(graph, sizes=None)
    for name, shown in (("named", graph), ("plain", plain)):
        (folder / f"{name}.html").write_text(modeldiagrams.to_html(shown), encoding="utf-8")
    return folder


def open_page(reader, folder, name="named", fragment=""):
    reader.page.goto((folder / f"{name}.html").as_uri() + fragment)
    reader.page.wait_for_function("document.querySelector('model-graph').widget !== undefined")


def opener(reader):
    return button(reader, "Set the sizes of inputs")


def open_sizes(reader, folder):
    """With the keyboard alone."""
    open_page(reader, folder)
    opener(reader).press("Enter")
    field(reader, "B").wait_for()


def field(reader, name):
    return reader.page.get_by_role("spinbutton", name=re.compile(f"^{name} "))


def sentence(reader):
    return reader.page.locator(".mg-size-told")


def set_to(reader, name, size):
    field(reader, name).press("Control+a")
    reader.page.keyboard.type(str(size))
    reader.page.keyboard.press("Enter")


def shapes(reader):
    return {text for text in reader.page.locator(".mg-stage .mg-label").all_text_contents() if text}


def wait_shape(reader, shape):
    wait_until(reader, lambda: shape in shapes(reader), shape)


def told(graph, **sizes):
    """The amounts in the sentence."""
    costs = costs_at(graph, sizes)[None]
    return f"{format_bytes(costs.activation_bytes.amount)} activations", f"{format_flops(costs.flops.amount)}FLOPs"


def test_a_size_that_the_keyboard_sets_changes_shapes_and_costs(reader, folder, graph):
    open_sizes(reader, folder)
    assert field(reader, "B").evaluate("e => e === e.getRootNode().activeElement")
    assert sentence(reader).inner_text().startswith("B = 2, T = 16: ")
    assert "B×T×16" in shapes(reader)
    reader.page.keyboard.press("Tab")
    set_to(reader, "T", 256)
    wait_shape(reader, "2×256×16")
    assert {text for text in shapes(reader) if EMBEDDED.match(text)} == {"2×256×16"}
    said = sentence(reader).inner_text()
    assert said.startswith("T = 256: ")
    assert all(amount in said for amount in told(graph, T=256)), said
    assert "attention" in said
    assert sentence(reader).get_attribute("role") == "status"
    reader.page.keyboard.press("ArrowUp")
    wait_shape(reader, "2×257×16")
    reader.page.keyboard.press("Shift+ArrowDown")
    wait_shape(reader, "2×128×16")
    assert field(reader, "T").get_attribute("aria-valuenow") == "128"
    # names again, at these sizes
    reader.evaluate("e => e.shadowRoot.querySelector('.mg-stage [data-id]').focus()")
    reader.page.keyboard.press("s")
    wait_shape(reader, "B×T×16")
    assert "128 here" in reader.page.locator(".mg-stage .mg-sizes").text_content()
    assert sentence(reader).inner_text().startswith("T = 128: ")


def test_what_the_model_does_not_take_is_said_and_the_picture_stays(reader, folder):
    open_sizes(reader, folder)
    set_to(reader, "T", 32)
    wait_shape(reader, "2×32×16")
    for entered, reason in (
        ("4096", "T = 4096: the model takes at most 512 (positions.weight)"),
        ("1", "T = 1: expected at least 2, the smallest that was tried; for smaller ones, trace the model at one"),
        ("many", "T = many: expected a whole number such as 16"),
    ):
        set_to(reader, "T", entered)
        sentence(reader).get_by_text(reason).wait_for()
        assert field(reader, "T").get_attribute("aria-invalid") == "true"
        assert "2×32×16" in shapes(reader)
        assert reader.evaluate("e => e.widget.linked.sizes.get()") == "T:32"
    set_to(reader, "B", 3)
    wait_shape(reader, "3×32×16")
    assert field(reader, "T").input_value() == "32"
    set_to(reader, "T", 4096)
    sentence(reader).get_by_text("at most 512").wait_for()
    reader.page.keyboard.press("ArrowDown")  # to the next that it takes
    wait_shape(reader, "3×512×16")
    assert field(reader, "T").get_attribute("aria-invalid") is None


def test_every_feature_tells_costs_at_these_sizes(reader, folder, graph, tmp_path):
    open_sizes(reader, folder)
    reader.evaluate("e => e.widget.linked.lens.set('memory')")
    button(reader, "Table (T)").wait_for()
    set_to(reader, "T", 64)
    wait_shape(reader, "2×64×16")
    costs = costs_at(graph, {"T": 64})
    legend = reader.page.locator(".mg-scale", has_text="Activations:")
    assert "At T = 64." in legend.inner_text()
    assert told(graph, T=64)[0].removesuffix(" activations") in legend.inner_text()
    button(reader, "Table (T)").click()
    rows = saved_rows(reader, tmp_path)
    assert int(rows["head"]["flops"]) == costs["head"].flops.amount
    assert int(rows["blocks.0.up"]["activation_bytes"]) == 3 * costs["blocks.0.up"].activation_bytes.amount
    assert all(not row.get("time_ns") for row in rows.values())
    fresh = modeldiagrams.trace(Decoder(), (torch.zeros(2, 64, dtype=torch.long),))
    (tmp_path / "fresh.html").write_text(modeldiagrams.to_html(fresh), encoding="utf-8")
    strip = reader.page.get_by_role("button", name=re.compile("^Peak"))
    peak = strip.inner_text()
    reader.evaluate("e => e.widget.select('head')")
    wait_until(reader, lambda: "Costs at" in facts(reader))
    assert facts(reader)["Costs at"] == ["T = 64"]
    assert "Own time" not in facts(reader)
    reader.page.goto((tmp_path / "fresh.html").as_uri())
    reader.page.wait_for_function("document.querySelector('model-graph').widget !== undefined")
    reader.evaluate("e => e.widget.linked.lens.set('memory')")
    strip.wait_for()
    assert strip.inner_text() == peak


def test_closing_keeps_the_sizes_and_a_button_or_escape_gives_them_up(reader, folder):
    open_sizes(reader, folder)
    set_to(reader, "T", 64)
    wait_shape(reader, "2×64×16")
    reader.page.keyboard.press("Escape")
    field(reader, "T").wait_for(state="hidden")
    assert opener(reader).evaluate("e => e === e.getRootNode().activeElement")
    chip = button(reader, "T = 64")
    chip.wait_for()
    assert "2×64×16" in shapes(reader)
    reader.page.keyboard.press("Escape")
    wait_shape(reader, "B×T×16")
    assert chip.count() == 0
    opener(reader).press("Enter")
    set_to(reader, "B", 7)
    wait_shape(reader, "7×16×16")
    button(reader, "Reset").press("Enter")
    wait_shape(reader, "B×T×16")
    assert field(reader, "B").input_value() == "2"


def test_a_link_restores_the_sizes(reader, reader_with, folder):
    open_sizes(reader, folder)
    set_to(reader, "T", 64)
    wait_shape(reader, "2×64×16")
    before = reader.page.url
    button(reader, "More controls").click()
    item(reader, "Copy a link").click()
    reader.page.wait_for_function("before => location.href !== before", arg=before)
    link = reader.page.url
    assert "sizes=T:64" in link
    with reader_with() as other:
        other.page.goto(link)
        wait_shape(other, "2×64×16")
        button(other, "T = 64").wait_for()
        other.page.goto(link.replace("T:64", "T:9999"))
        other.page.reload()
        other.page.get_by_text("T = 9999: the model takes at most 512 (positions.weight)").wait_for()
        assert "2×9999×16" not in shapes(other)


def test_fingers_set_sizes(reader_with, folder):
    with reader_with(**PHONE) as reader:
        open_page(reader, folder)
        reader.page.locator(".mg-stage .mg-sizes").tap()
        field(reader, "T").wait_for()
        larger = button(reader, re.compile("^Larger T"))
        size = larger.bounding_box()
        assert min(size["width"], size["height"]) >= 44
        larger.tap()
        wait_shape(reader, "2×17×16")
        button(reader, re.compile("^Smaller T")).tap()
        wait_shape(reader, "B×T×16")
        assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_no_violation(reader, folder):
    open_sizes(reader, folder)
    set_to(reader, "T", 1)
    sentence(reader).get_by_text("at least").wait_for()
    assert violations(reader) == []


def test_only_a_graph_with_names_has_sizes_to_set_and_no_paper_has(reader, folder):
    open_page(reader, folder, "plain")
    assert opener(reader).count() == 0
    open_sizes(reader, folder)
    reader.page.emulate_media(media="print")
    assert not field(reader, "T").is_visible()
    assert not opener(reader).is_visible()
