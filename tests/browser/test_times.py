"""The lens on times: its numbers are the graph's, wherever a reader sees them, and it is there only with them."""

import re

import pytest
import torch

import modeldiagrams
from browser.axe import violations
from browser.controls import FOCUSED, button, details, facts, wait_selected
from browser.costs import Block, Net, saved_rows
from browser.readers import Reader


class BlockWithViews(Block):
    """What the picture leaves out takes time, too."""

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)).reshape(-1, 4 * x.shape[-1]).contiguous()).view_as(x)


def traced(**options):
    return modeldiagrams.trace(Net(BlockWithViews, width=64, classes=1000), (torch.ones(20, 8),), **options)


@pytest.fixture(scope="module")
def graph():
    return traced(measure_time=True)


@pytest.fixture(scope="module")
def folder(graph, tmp_path_factory):
    folder = tmp_path_factory.mktemp("times")
    for name, shown, depth in (("timed", graph, 0), ("open", graph, 2), ("plain", traced(), 0)):
        page = modeldiagrams.to_html(shown, depth=depth)
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return folder


def show(reader, folder, name="timed"):
    reader.page.goto((folder / f"{name}.html").as_uri())
    reader.page.wait_for_function("document.querySelector('model-graph').widget !== undefined")


def choose(reader):
    button(reader, "More controls").click()
    reader.page.get_by_role("menuitemradio", name="Own time").click()
    button(reader, "Table (T)").wait_for()
    reader.page.keyboard.press("Escape")


def rows_of(reader):
    return {row.get_attribute("data-row"): row for row in reader.page.locator("tr[data-row]").all()}


def share(part, whole):
    value = 100 * part / whole
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0")


def text_of(reader, node):
    return " ".join(reader.node(node).locator("text").all_text_contents())


def test_the_lens_shows_shares_of_the_time_by_mouse(reader: Reader, folder, graph, tmp_path):
    show(reader, folder)
    choose(reader)
    whole, blocks = graph.model.time_ns, graph.node("blocks").time_ns
    assert blocks == sum(graph.node(f"blocks.{i}").time_ns for i in range(3))
    assert f"{share(graph.node('head').time_ns, whole)} %" in text_of(reader, "head")
    assert f"{share(blocks, whole)} %" in text_of(reader, "blocks")
    assert reader.node("head").locator(".mg-bar").count() == 1
    button(reader, "Table (T)").click()
    found = saved_rows(reader, tmp_path)
    assert {name: int(row["time_ns"]) for name, row in found.items()} == {
        "embed": graph.node("embed").time_ns,
        "blocks": blocks,
        "head": graph.node("head").time_ns,
    }
    assert sum(int(row["time_ns"]) for row in found.values()) == whole
    assert [*rows_of(reader)] == sorted(found, key=lambda name: -int(found[name]["time_ns"]))
    heading = reader.page.locator("th[aria-sort=descending]")
    assert heading.inner_text().startswith("Own time")
    button(reader, "head").click()
    wait_selected(reader, "head")


def test_the_lens_works_by_keys(reader: Reader, folder):
    show(reader, folder)
    button(reader, "More controls").focus()
    reader.page.keyboard.press("ArrowDown")
    reader.page.get_by_role("menu").wait_for()
    reader.page.keyboard.press("o")
    assert (
        reader.page.evaluate("document.querySelector('model-graph').shadowRoot.activeElement.innerText") == "Own time"
    )
    reader.page.keyboard.press("Enter")
    button(reader, "Table (T)").wait_for()
    reader.page.keyboard.press("Escape")
    reader.node("head").focus()
    reader.page.keyboard.press("t")
    assert reader.evaluate("e => e.shadowRoot.activeElement.dataset.key") == "row head"
    reader.page.keyboard.press("Enter")
    assert reader.evaluate(FOCUSED) == "head"
    label = reader.node("head").get_attribute("aria-label")
    assert re.search(r"[\d.]+ % .*[\d.]+ [mµn]s", label), label
    assert violations(reader) == []


def test_the_lens_works_by_touch(reader_with, folder):
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": 380, "height": 700}) as reader:
        show(reader, folder)
        button(reader, "More controls").tap()
        reader.page.get_by_role("menuitemradio", name="Own time").tap()
        button(reader, "More controls").tap()
        button(reader, "Table (T)").tap()
        button(reader, "head").tap()
        wait_selected(reader, "head")
        assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_no_box_shows_is_told(reader: Reader, folder, graph, tmp_path):
    show(reader, folder, "open")
    choose(reader)
    button(reader, "Table (T)").click()
    shown = sum(int(row["time_ns"]) for row in saved_rows(reader, tmp_path).values())
    left_out = [f"blocks.{i}/{name}" for i in range(3) for name in ("reshape", "contiguous", "view_as")]
    assert graph.model.time_ns - shown == sum(graph.node(name).time_ns for name in left_out) > 0
    told = reader.page.locator(".mg-scale .mg-lens-hint").inner_text()
    missing = share(graph.model.time_ns - shown, graph.model.time_ns)
    assert f"No box of the picture contains {missing} %." in told


def test_details_tell_the_time_of_all_and_of_each(reader: Reader, folder, graph):
    show(reader, folder, "open")
    reader.node("head").focus()
    reader.page.keyboard.press("i")
    details(reader).wait_for()
    (line,) = facts(reader)["Own time"]
    assert line.endswith(f"({share(graph.node('head').time_ns, graph.model.time_ns)} %)")
    reader.node("blocks.0.up").focus()
    reader.page.keyboard.press("i")
    details(reader).get_by_text("blocks.0–2.up", exact=True).wait_for()
    times = sorted(graph.node(f"blocks.{i}.up").time_ns for i in range(3))
    together, each = facts(reader)["Own time"]
    assert re.fullmatch(rf"×3: [\d.]+ [mµ]s \({share(sum(times), graph.model.time_ns)} %\)", together)
    ends = re.findall(r"([\d.]+) ([mµ]s)", each)
    in_ns = [float(value) * {"ms": 1e6, "µs": 1e3}[unit] for value, unit in ends]
    assert in_ns == pytest.approx([times[0], times[-1]][: len(in_ns)], rel=0.05)


def test_there_is_no_lens_without_times(reader: Reader, folder, tmp_path):
    show(reader, folder, "plain")
    reader.evaluate("e => e.widget.linked.lens.set('time')")
    button(reader, "More controls").click()
    reader.page.get_by_role("menuitemradio", name="Kind").wait_for()
    assert reader.page.get_by_role("menuitemradio", name="Own time").count() == 0
    assert reader.page.get_by_role("menuitemradio", name="Kind").get_attribute("aria-checked") == "true"
    reader.page.get_by_role("menuitemradio", name="FLOPs", exact=True).click()
    reader.page.keyboard.press("Escape")
    button(reader, "Table (T)").click()
    assert "Own time" not in reader.page.get_by_role("table").inner_text()
    assert "time_ns" not in saved_rows(reader, tmp_path)["head"]
