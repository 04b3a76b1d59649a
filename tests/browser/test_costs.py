"""The table of costs, and the memory over the pass: their numbers are the graph's, and lead to the boxes and back."""

import re

import pytest
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten

import modeldiagrams
from browser.axe import violations
from browser.controls import FOCUSED, button, wait_selected, wait_until
from browser.costs import Block, Net, saved_rows
from browser.readers import Reader
from modeldiagrams.common.amounts import format_bytes


@pytest.fixture(scope="module")
def graph():
    return modeldiagrams.trace(Net(), (torch.ones(2, 8),))


@pytest.fixture(scope="module")
def page(graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("costs") / "net.html"
    path.write_text(modeldiagrams.to_html(graph, expand=["blocks.0", "blocks"]), encoding="utf-8")
    return path.as_uri()


def open_lens(reader, page, lens="flops"):
    reader.page.goto(page)
    reader.page.wait_for_function("document.querySelector('model-graph').widget !== undefined")
    reader.evaluate(f"e => e.widget.linked.lens.set('{lens}')")
    button(reader, "Table (T)").wait_for()


def open_table(reader, page, lens="flops"):
    open_lens(reader, page, lens)
    button(reader, "Table (T)").click()
    table(reader).wait_for()


def table(reader):
    return reader.page.get_by_role("table")


def column(reader, title):
    titles = [text.rstrip(" ↕↑↓") for text in table(reader).locator("thead th").all_inner_texts()]
    rows = table(reader).locator("tbody tr")
    return rows.locator(f":scope > :nth-child({titles.index(title) + 1})").all_inner_texts()


def test_the_costs_are_those_of_the_summary(reader: Reader, page, graph, tmp_path):
    open_table(reader, page)
    rows = saved_rows(reader, tmp_path).values()
    summary = modeldiagrams.summary(graph, depth=9).rows
    model = summary[0]
    for key, whole in (("flops", model["flops"]), ("activation_bytes", model["activation_bytes"])):
        assert sum(int(row[key] or 0) for row in rows) == whole
    assert sum(int(row["parameters"]) for row in rows) == model["parameters"]
    found = {row["name"]: row for row in rows}
    for name, path, count in (("embed", "embed", 1), ("blocks.0.up", "blocks.0–2.up", 3), ("head", "head", 1)):
        expected = next(row for row in summary if row["path"] == path)
        got = tuple(int(found[name][key]) for key in ("count", "parameters", "flops", "activation_bytes"))
        costs = (expected[key] for key in ("parameters", "flops", "activation_bytes"))
        assert got == (count, *(count * cost for cost in costs))


def test_every_column_sorts_both_ways(reader: Reader, page):
    open_table(reader, page)
    assert column(reader, "Box")[:2] == ["blocks.0.up", "blocks.0.down"]
    headings = table(reader).locator("thead th")
    assert headings.locator("xpath=self::*[@aria-sort='descending']").all_inner_texts() == ["FLOPs"]
    heading = headings.get_by_role("button", name="Box")
    heading.click()
    names = column(reader, "Box")
    assert names == sorted(names)
    assert reader.evaluate(FOCUSED).startswith("Box")
    heading.press("Enter")
    assert column(reader, "Box") == sorted(names, reverse=True)
    assert headings.first.get_attribute("aria-sort") == "descending"


def test_a_row_leads_to_its_box_and_back(reader: Reader, page):
    open_table(reader, page)
    button(reader, "head").click()
    wait_selected(reader, "head")
    assert reader.evaluate(FOCUSED) == "head"
    assert table(reader).locator("tr[aria-current]").get_attribute("data-row") == "head"
    reader.page.keyboard.press("t")
    assert reader.evaluate("e => e.shadowRoot.activeElement.dataset.key") == "row head"
    reader.page.keyboard.press("Enter")
    assert reader.evaluate(FOCUSED) == "head"


def test_opening_a_module_splits_its_row(reader: Reader, page):
    open_table(reader, page)
    reader.header("blocks").press(" ")
    table(reader).get_by_role("button", name="blocks", exact=True).wait_for()
    assert "blocks.0.up" not in column(reader, "Box")
    assert column(reader, "Count")[column(reader, "Box").index("blocks")] == "×3"


@pytest.mark.parametrize("is_changed", [False, True], ids=["at rest", "opened"])
def test_the_table_is_beside_a_picture_that_leaves_room_and_below_others(reader_with, page, is_changed):
    for width, is_beside in ((1300, True), (700, False), (360, False)):
        with reader_with(viewport={"width": width, "height": 1200}) as reader:
            open_lens(reader, page)
            if is_changed:
                reader.header("blocks").press(" ")
                reader.node("blocks").locator("> .mg-box").wait_for(state="attached")
            button(reader, "Table (T)").click()
            costs, stage = (reader.page.locator(part).bounding_box() for part in (".mg-costs", ".mg-stage"))
            assert (costs["x"] >= stage["x"] + stage["width"]) == is_beside
            assert (costs["y"] >= stage["y"] + stage["height"]) == (not is_beside)
            assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_finger_opens_the_table(reader_with, page):
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 640}) as reader:
        open_lens(reader, page)
        button(reader, "Table (T)").tap()
        button(reader, "head").tap()
        wait_selected(reader, "head")


def test_axe_finds_no_violation(reader: Reader, page):
    open_table(reader, page, "memory")
    assert violations(reader) == []


class Tidy(nn.Module):
    """Views, writes in place and a skip, and no variable that outlives its last use."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.block, self.head = Block(7), nn.Linear(392, 4)

    def forward(self, x):
        return self.head(self.block(self.stem(x)).transpose(1, 2).flatten(1)).mul_(2).view(2, 2)


class Holding(nn.Module):
    """Its variables hold tensors until it returns."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.out(torch.softmax(q @ k.transpose(-1, -2), -1) @ v).relu_()


class Alive(TorchFunctionMode):
    """What PyTorch itself holds at the end of each call: the bytes of all memory that the pass allocated."""

    def __init__(self, before):
        super().__init__()
        self.before = {tensor.untyped_storage()._cdata for tensor in before}
        self.memory = {}
        self.curve = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        tensors = [each for each in tree_flatten(result)[0] if isinstance(each, torch.Tensor)]
        for storage in (tensor.untyped_storage() for tensor in tensors):
            if storage._cdata not in self.before:
                self.memory[storage._cdata] = StorageWeakRef(storage), storage.nbytes()
        self.memory = {key: (ref, size) for key, (ref, size) in self.memory.items() if not ref.expired()}
        if tensors:
            self.curve.append(sum(size for _, size in self.memory.values()))
        return result


def measured(model, inputs):
    with torch.no_grad(), Alive([*model.parameters(), *model.buffers(), *inputs]) as alive:
        model(*inputs)
    return alive.curve


def drawn(reader):
    """The heights of the strip, op by op, as shares of its peak."""
    path = reader.page.locator(".mg-memory path").get_attribute("d")
    heights = [1 - float(height) for height in re.findall(r"L[\d.]+ ([\d.]+)", path)[:-1]]
    return heights[::2]


def open_memory(reader, model, inputs, tmp_path):
    path = tmp_path / "memory.html"
    graph = modeldiagrams.trace(model, inputs)
    path.write_text(modeldiagrams.to_html(graph), encoding="utf-8")
    open_lens(reader, path.as_uri(), "memory")
    reader.page.locator(".mg-memory path").wait_for(state="attached")


def test_the_memory_is_what_pytorch_holds(reader: Reader, tmp_path):
    model, inputs = Tidy().eval(), (torch.ones(1, 3, 16, 16),)
    open_memory(reader, model, inputs, tmp_path)
    curve = measured(model, inputs)
    assert drawn(reader) == pytest.approx([size / max(curve) for size in curve], abs=1e-4)
    assert f"Peak {format_bytes(max(curve))}: block/relu" in reader.page.get_by_role("button").all_inner_texts()


def test_what_variables_hold_longer_comes_on_top(reader: Reader, tmp_path):
    model, inputs = Holding().eval(), (torch.ones(1, 5, 16),)
    open_memory(reader, model, inputs, tmp_path)
    curve, shares = measured(model, inputs), drawn(reader)
    assert len(shares) == len(curve)
    most = 1380  # of what is needed: queries, keys and values, scores, and their product
    assert all(share * most <= held + 1 for share, held in zip(shares, curve, strict=True))
    assert [round(share * most) for share in shares[:6]] == curve[:6]
    assert "Peak 1.35 KiB: /matmul#2" in reader.page.get_by_role("button").all_inner_texts()


def lit(reader):
    return reader.evaluate("e => [...e.shadowRoot.querySelectorAll('.mg-running')].map(node => node.dataset.id)")


def test_keys_and_the_pointer_on_the_strip_light_the_node_that_runs(reader: Reader, page):
    open_lens(reader, page, "memory")
    strip = reader.page.get_by_role("slider", name="Activations alive over the pass")
    strip.wait_for()
    # of three blocks that are drawn as one, the box of their counterparts
    assert lit(reader) == ["blocks.0/relu"]
    # the slider says it: a live region would say it again
    assert reader.page.get_by_role("status").filter(has_text="Op ").count() == 0
    strip.press("Home")
    assert lit(reader) == ["embed"]
    assert strip.get_attribute("aria-valuetext") == "Op 1 of 14, embed/linear: 128 B alive"
    strip.press("End")
    assert lit(reader) == ["head"]
    size = strip.bounding_box()
    reader.page.mouse.move(size["x"] + 10, size["y"] + 20)
    assert lit(reader) == ["embed"]
    reader.page.mouse.move(size["x"] + 10, size["y"] - 200)
    assert lit(reader) == ["head"]
    reader.page.get_by_role("button", name="Peak").click()
    wait_selected(reader, "blocks.0/relu")
    assert reader.page.locator(".mg-memory-told").inner_text().startswith("Op 7 of 14, blocks.1/relu: 1.25 KiB")


def test_the_strip_goes_with_its_lens(reader: Reader, page):
    open_lens(reader, page, "memory")
    strip = reader.page.locator(".mg-memory-strip")
    strip.wait_for()
    reader.evaluate("e => e.widget.linked.lens.set('flops')")
    strip.wait_for(state="hidden")
    assert lit(reader) == []


def test_a_finger_moves_along_the_strip(reader_with, page):
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 640}) as reader:
        open_lens(reader, page, "memory")
        strip = reader.page.get_by_role("slider", name="Activations alive over the pass")
        strip.tap(position={"x": 9, "y": 30})
        wait_until(reader, lambda: lit(reader) == ["embed"])
