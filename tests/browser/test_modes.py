"""What readers enter beyond the plain picture, and how they leave it: one step back each time."""

import pytest

from browser.axe import violations
from browser.controls import FOCUSED, button, expand, open_page, wait_selected, wait_until

TOUCH = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 700}}
IS_DIMMED = "e => e.shadowRoot.querySelector('.mg-stage .mg-dim') !== null"


def ways_out(reader):
    return reader.page.get_by_role("group", name="Active modes")


def way_out(reader, text):
    return ways_out(reader).get_by_role("button", name=text)


def select(reader, node):
    """Select a node, with its details, which may lie over other nodes."""
    reader.node(node).focus()
    reader.page.keyboard.press("i")
    wait_selected(reader, node)


def show_alone(reader, node="layers.0"):
    reader.header(node).focus()
    reader.page.keyboard.press("i")
    button(reader, "Show alone").click()
    reader.page.get_by_role("navigation").wait_for()


def follow(reader, node="embed"):
    select(reader, node)
    button(reader, "What follows").click()
    wait_until(reader, lambda: reader.evaluate(IS_DIMMED))


def is_plain(reader):
    return ways_out(reader).is_hidden() and not reader.evaluate(IS_DIMMED)


def test_one_module_alone_is_not_dimmed_by_a_path_of_the_model(reader, server):
    open_page(reader, server)
    expand(reader)
    follow(reader, "head")
    show_alone(reader)
    wait_until(reader, lambda: not reader.evaluate(IS_DIMMED))
    assert way_out(reader, "All paths").count() == 0


def test_closing_what_holds_the_selected_node_dims_nothing(reader, server):
    open_page(reader, server)
    expand(reader)
    follow(reader, "layers.0.mlp")
    reader.header("layers.0").focus()
    reader.page.keyboard.press("ArrowLeft")
    reader.node("layers.0.mlp").wait_for(state="detached")
    wait_until(reader, lambda: not reader.evaluate(IS_DIMMED))


def test_escape_goes_one_step_back_in_the_order_of_entering(reader, server):
    open_page(reader, server)
    expand(reader)
    reader.page.keyboard.press("Escape")
    show_alone(reader)
    reader.page.keyboard.press("/")
    search = reader.page.get_by_role("search")
    search.wait_for()
    reader.node("layers.0.mlp").focus()
    button(reader, "More controls").click()
    menu = reader.page.locator(".mg-menu")
    menu.wait_for()
    for left in (menu, search):
        reader.page.keyboard.press("Escape")
        left.wait_for(state="hidden")
        assert reader.page.get_by_role("navigation").is_visible()
    wait_until(reader, lambda: press_until_whole(reader))


def press_until_whole(reader):
    """The details come between, where they are open."""
    reader.page.keyboard.press("Escape")
    return reader.node("embed").count() == 1


def test_what_was_entered_last_is_left_first_though_others_stand_above_it(reader, server):
    """A search that was there before stays when one module alone is left."""
    open_page(reader, server)
    expand(reader)
    reader.page.keyboard.press("Escape")
    reader.header("layers.0").focus()
    reader.page.keyboard.press("/")
    search = reader.page.get_by_role("search")
    search.wait_for()
    show_alone(reader)
    reader.node("layers.0.mlp").focus()
    reader.page.keyboard.press("Escape")
    reader.node("embed").wait_for()
    assert search.is_visible()


def enter_path(reader):
    select(reader, "head")
    button(reader, "What leads here").click()
    return "All paths to head"


def enter_alone(reader):
    if reader.node("layers.0.mlp").count() == 0:
        expand(reader)
    show_alone(reader)
    return "layers.0 alone"


def enter_picking(reader):
    select(reader, "head")
    button(reader, "Path to…").click()
    return "Choose the other end."


def enter_fullscreen(reader):
    reader.node("head").hover()
    button(reader, "Fullscreen").click()
    return "Fullscreen"


MODES = [enter_path, enter_alone, enter_picking, enter_fullscreen]


@pytest.mark.parametrize("enter", MODES)
def test_every_mode_has_a_way_out_in_sight(reader, server, enter):
    open_page(reader, server)
    for way in ("mouse", "Enter", "Escape"):
        out = way_out(reader, enter(reader))
        out.wait_for()
        if way == "mouse":
            out.click()
        elif way == "Enter":
            out.press("Enter")
            # the focus is not lost with the button
            wait_until(reader, lambda: reader.evaluate(FOCUSED) is not None)
        else:
            reader.node("layers.0.mlp" if enter is enter_alone else "head").focus()
            reader.page.keyboard.press("Escape")
        wait_until(reader, lambda: is_plain(reader), way)
        reader.node("embed").wait_for()


def test_modes_are_left_by_touch(reader_with, server):
    with reader_with(**TOUCH) as reader:
        open_page(reader, server)
        for enter in MODES:
            out = way_out(reader, enter(reader))
            assert out.bounding_box()["height"] >= 44
            out.tap()
            wait_until(reader, lambda: is_plain(reader), enter.__name__)


def test_axe_finds_no_violation_in_modes(reader, server):
    open_page(reader, server)
    expand(reader)
    show_alone(reader)
    select(reader, "layers.0.mlp")
    button(reader, "What leads here").click()
    way_out(reader, "All paths to layers.0.mlp").wait_for()
    assert violations(reader) == []
