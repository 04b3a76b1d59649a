"""A path is shown on the map, too: what is not on it is dimmed."""

from __future__ import annotations

import pytest

from browser.axe import violations
from browser.controls import button, settled, wait_selected, wait_until
from browser.test_map import cell, is_map, open_map
from samples import some

TOUCH = {"has_touch": True, "viewport": {"width": 900, "height": 700}}
BRIGHT = """e => [...e.shadowRoot.querySelectorAll('.mg-atlas [data-cell]')]
  .filter(cell => getComputedStyle(cell).opacity === '1').map(cell => cell.dataset.cell)"""


def select_by_key(reader):
    """On the map itself."""
    reader.evaluate("e => e.widget.focus(e.widget.tree.find('layers.2/add'))")
    reader.page.keyboard.press("i")


def select_in_picture(reader, press):
    """At the node's place, and then back to the map."""
    press(cell(reader, "layers.2"), position={"x": 4, "y": 4})
    wait_until(reader, lambda: not is_map(reader))
    settled(reader)
    press(reader.node("layers.2/add"))
    press(reader.page.get_by_role("button", name="More", exact=True))


# mouse and finger choose in the picture as anywhere
@pytest.mark.parametrize("way", some(["mouse", "touch", "keys"], {"keys"}))
def test_a_path_is_shown_on_the_map(reader_with, server, way):
    with reader_with(**(TOUCH if way == "touch" else {})) as reader:
        open_map(reader, server)
        assert len(reader.evaluate(BRIGHT)) >= 32
        if way == "keys":
            select_by_key(reader)
        else:
            select_in_picture(reader, lambda at, **where: at.tap(**where) if way == "touch" else at.click(**where))
        wait_selected(reader, "layers.2/add")
        leads_here, whole = button(reader, "What leads here"), button(reader, "Show the whole picture")
        if way == "keys":
            leads_here.press("Enter")
        elif way == "touch":
            leads_here.tap()
            whole.tap()
        else:
            leads_here.click()
            whole.click()
        wait_until(reader, lambda: is_map(reader) and "layers.31" not in reader.evaluate(BRIGHT))
        layers = [node for node in reader.evaluate(BRIGHT) if node.count(".") == 1]
        assert layers == ["layers.0", "layers.1", "layers.2"]
        assert "layers.2.mlp" not in reader.evaluate(BRIGHT)
        assert violations(reader) == []
        reader.page.get_by_role("button", name="All paths to layers.2/add").click()
        wait_until(reader, lambda: "layers.31" in reader.evaluate(BRIGHT))
