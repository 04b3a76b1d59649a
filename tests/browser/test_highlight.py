"""Highlighted edges and paths, and the tensor on an edge."""

import pytest

from browser.controls import button, loaded, open_page


def lit(reader):
    """Ids of the nodes that are not dimmed."""
    return reader.evaluate(
        "e => e.shadowRoot.querySelector('.mg-dim')"
        " && [...e.shadowRoot.querySelectorAll('.mg-stage .mg-on')].map(n => n.dataset.id)"
    )


def test_upstream_and_downstream_are_highlighted(reader, server):
    open_page(reader, server)
    reader.node("layers.1").click()
    reader.node("layers.1.mlp").wait_for()
    reader.node("layers.1/add").click()
    button(reader, "What leads here").click()
    assert lit(reader) == ["input:x", "embed", "layers.0", "layers.1.attention", "layers.1/add"]
    button(reader, "What follows").click()
    assert lit(reader) == ["layers.1/add", "layers.1.mlp", "layers.1/mul", "layers.2", "head", "output:y"]
    button(reader, "What follows").click()
    assert lit(reader) is None
    button(reader, "What follows").click()
    # a click beside all nodes clears the selection
    corner = reader.page.locator(".mg-stage").bounding_box()
    reader.page.mouse.click(corner["x"] + 4, corner["y"] + 4)
    assert lit(reader) is None
    assert reader.page.locator(".mg-stage .mg-selected").count() == 0
    assert not reader.page.get_by_role("region", name="Details").is_visible()


def test_shortest_path_between_two_nodes_is_highlighted(reader, server):
    open_page(reader, server)
    reader.node("layers.1").click()
    reader.node("layers.1.mlp").wait_for()
    reader.node("layers.0").focus()
    reader.page.keyboard.press("i")
    button(reader, "Path to").click()
    button(reader, "Choose the other end").wait_for()
    reader.node("layers.1/mul").click()
    reader.page.locator(".mg-dim .mg-on").first.wait_for(state="attached")
    assert lit(reader) == ["layers.0", "layers.1/add", "layers.1/mul"]
    reader.evaluate("e => e.toggle('layers.1.attention')")
    reader.node("layers.1.attention.query").click()
    button(reader, "Path to").click()
    reader.node("layers.1.attention.key").click()
    reader.page.get_by_text("There is no path between these two").wait_for()
    reader.page.wait_for_timeout(100)
    assert reader.page.get_by_text("There is no path between these two").is_visible()
    assert lit(reader) is None


def test_path_can_be_chosen_by_keyboard(reader, server):
    """The focus returns from the button to the picture; moving there keeps the path's start."""
    open_page(reader, server)
    reader.node("embed").focus()
    reader.page.keyboard.press("Enter")
    button(reader, "Path to").press("Enter")
    button(reader, "Choose the other end").wait_for()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown"):
        reader.page.keyboard.press(key)
        reader.page.wait_for_timeout(50)
        reader.evaluate("e => e.toggle('')")
    assert button(reader, "Choose the other end").is_visible()
    reader.page.keyboard.press("End")
    reader.page.keyboard.press("Enter")
    reader.page.locator(".mg-dim .mg-on").first.wait_for(state="attached")
    assert [lit(reader)[0], lit(reader)[-1]] == ["embed", "output:y"]


def test_hover_highlights_the_edges_of_a_node(reader, server):
    open_page(reader, server)
    reader.node("embed").hover()
    loaded(reader)
    reader.node("head").hover()
    reader.page.locator(".mg-near").wait_for(state="attached")
    reader.page.mouse.move(1, 1)
    reader.page.locator(".mg-near").wait_for(state="detached")


def test_tooltip_shows_the_tensor_of_an_edge(reader, server):
    open_page(reader, server, "rich")
    reader.node("embed").hover()
    loaded(reader)
    box = reader.node("embed").bounding_box()
    reader.page.mouse.move(box["x"] + box["width"] / 2 + 3, box["y"] + box["height"] + 5)
    tip = reader.page.get_by_role("tooltip")
    tip.wait_for()
    assert tip.inner_text() == "hidden: 1×16×64 float32"


def test_tooltip_stays_inside_the_window(reader, server):
    """Above the pointer, where there is no room below."""
    open_page(reader, server, "tall")
    reader.node("embed").hover()
    loaded(reader)
    box = reader.node("embed").bounding_box()
    end = box["y"] + box["height"] + 2
    reader.page.evaluate("down => scrollTo(0, down)", end - 690)
    reader.page.set_viewport_size({"width": 900, "height": round(end) + 8})
    reader.page.mouse.move(box["x"] + box["width"] / 2 + 3, end + 4)
    tip = reader.page.get_by_role("tooltip")
    tip.wait_for()
    place = tip.bounding_box()
    assert place["y"] + place["height"] < end


@pytest.mark.parametrize(
    "lose", ["e.widget.select(undefined)", "e.widget.change(s => s.transitions.isolate('layers.0'))"]
)
def test_choosing_a_paths_end_stops_when_its_start_is_lost(reader, server, lose):
    open_page(reader, server)
    reader.node("layers.1").click()
    reader.node("layers.1.mlp").wait_for()
    reader.node("embed").focus()
    reader.page.keyboard.press("i")
    button(reader, "Path to").click()
    way_out = button(reader, "Choose the other end")
    way_out.wait_for()
    reader.evaluate(f"async e => {{ await {lose}; await e.widget.tasks.settled; }}")
    way_out.wait_for(state="detached")
    assert reader.evaluate("e => e.widget.nodePicker === undefined")


def test_a_redrawn_picture_keeps_the_place_and_the_focus_of_a_paths_way_out(reader, server):
    open_page(reader, server)
    reader.node("head").focus()
    reader.page.keyboard.press("i")
    button(reader, "What leads here").click()
    way_out = button(reader, "All paths to head")
    way_out.focus()
    reader.evaluate("async e => { e.widget.linked.lens.set('class'); await e.widget.tasks.settled; }")
    modes = reader.page.locator(".mg-modes button")
    assert modes.all_inner_texts() == ["All paths to head", "Colour by: Class"]
    reader.evaluate("async e => { await e.toggle('layers.0'); await e.widget.tasks.settled; }")
    reader.node("layers.0.mlp").wait_for()
    assert modes.all_inner_texts() == ["All paths to head", "Colour by: Class"]
    assert way_out.evaluate("e => e.getRootNode().activeElement === e")
