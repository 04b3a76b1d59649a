"""Details of equal blocks that are drawn as one: of all, and of each where they differ."""

from __future__ import annotations

import msgspec
import pytest

from browser.controls import button, details, facts, wait_until
from browser.pages import HEAD, encoder
from modeldiagrams.html import fragment as page

NARROW = {"viewport": {"width": 500, "height": 700}}
TOUCH = {**NARROW, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def stack(site, press):
    """Name of a page with six layers drawn as one, of which two say something of their own."""
    graph = encoder("Stack", layers=6, signature="layer")
    own = {"layers.2": {"attributes": {"window": 128}}, "layers.5": {"attributes": {"window": 256}}}
    nodes = tuple(
        msgspec.structs.replace(node, **own.get(node.id, {"attributes": {"window": 64}}))
        if node.id in {f"layers.{i}" for i in range(6)}
        else node
        for node in graph.nodes
    )
    made = press.make(msgspec.structs.replace(graph, nodes=nodes))
    (site / "modeldiagrams" / f"{made.id}.js").write_text(page.build_data_script(made), encoding="ascii")
    (site / "stack.html").write_text(f"{HEAD}{page.render_fragment(made, assets='modeldiagrams/')}", encoding="utf-8")
    return "stack.html"


def by_mouse(reader):
    reader.node("layers.0").click()
    button(reader, "More").last.click()


def by_touch(reader):
    reader.node("layers.0").tap()
    button(reader, "More").last.tap()


def by_keys(reader):
    reader.node("layers.0").focus()
    reader.page.keyboard.press("i")


@pytest.mark.parametrize(("ask", "context"), [(by_mouse, NARROW), (by_touch, TOUCH), (by_keys, NARROW)])
def test_details_of_a_stack_tell_where_its_blocks_differ(reader_with, server, stack, ask, context):
    with reader_with(**context) as reader:
        reader.page.goto(f"{server}/{stack}")
        ask(reader)
        details(reader).get_by_text("layers.0–5", exact=True).wait_for()
        wait_until(reader, lambda: "Parameters" in facts(reader))
        assert facts(reader)["Parameters"] == ["×6: 96 (150 %)", "each 16 (25 %)"]
        said = [line for lines in facts(reader).values() for line in lines]
        assert {"layers.2: window=128", "layers.5: window=256"} <= set(said), facts(reader)
