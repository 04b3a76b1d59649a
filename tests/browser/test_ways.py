"""What readers do by finger and by keys alone; other files here do the same by mouse."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from browser.controls import FOCUSED, SELECTED, box, button, details, open_page, wait_selected, wait_until
from browser.readers import Reader
from browser.serving import served
from browser.test_menu import STAGE
from browser.test_modes import IS_DIMMED, way_out
from browser.versions import NEW, OLD, diagram, network, write_version
from samples import some

PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 740}}
WAYS = {"finger": PHONE, "keys": {}}
STARTS = {"SVG": b"<svg", "PNG": b"\x89PNG", "JSON": b"{"}
"""Kind of file → what it begins with."""


class Hand(NamedTuple):
    """A reader who has no mouse."""

    reader: Reader
    way: str

    def press(self, control):
        if self.way == "finger":
            control.tap()
        else:
            control.press("Enter")

    def choose(self, name):
        """Open the menu and choose what has this name."""
        self.press(button(self.reader, "More controls").first)
        entry = self.reader.page.get_by_role("menu").get_by_text(name, exact=True)
        entry.wait_for()
        if self.way == "finger":
            entry.tap()
            return
        for _ in range(60):
            if self.reader.evaluate(FOCUSED) == name:
                break
            self.reader.page.keyboard.press("ArrowDown")
        self.reader.page.keyboard.press("Enter")

    def open_details(self, node):
        """Of a node, all of them."""
        if self.way == "finger":
            self.reader.node(node).tap()
            self.reader.page.get_by_role("button", name="More", exact=True).tap()
        else:
            self.reader.node(node).focus()
            self.reader.page.keyboard.press("i")
        details(self.reader).get_by_text("Path to…").wait_for()


@pytest.fixture(params=WAYS)
def hand(request, reader_with):
    with reader_with(**WAYS[request.param]) as reader:
        yield Hand(reader, request.param)


FINGER = pytest.mark.parametrize("hand", some(WAYS, {"finger"}), indirect=True)
KEYS = pytest.mark.parametrize("hand", some(WAYS, {"keys"}), indirect=True)
"""Where one of them tells enough in every run: other tests choose in the menu and press buttons by the other way."""


@pytest.mark.parametrize("kind", some(STARTS, {"SVG"}))
def test_files_are_saved(hand, server, tmp_path, kind):
    open_page(hand.reader, server)
    with hand.reader.page.expect_download() as download:
        hand.choose(kind)
    assert download.value.suggested_filename == f"Encoder.{kind.lower()}"
    download.value.save_as(tmp_path / kind)
    assert (tmp_path / kind).read_bytes().startswith(STARTS[kind])


@pytest.mark.parametrize("way", some(WAYS, {"finger"}))
def test_pdf_is_printed(reader_with, server, way):
    with reader_with(once=True, **WAYS[way]) as reader:
        reader.page.add_init_script("print = () => { window.printed = document.title; };")
        open_page(reader, server)
        Hand(reader, way).choose("PDF")
        reader.page.wait_for_function("window.printed === 'Encoder'")


@KEYS
def test_theme_is_chosen(hand, server):
    open_page(hand.reader, server)
    before = hand.reader.evaluate(STAGE)
    hand.choose("Dark")
    wait_until(hand.reader, lambda: hand.reader.evaluate(STAGE) == "rgb(21, 23, 26)")
    # the menu stays, to try another
    other = hand.reader.page.get_by_role("menuitemradio", name="Same as the page")
    hand.press(other)
    wait_until(hand.reader, lambda: hand.reader.evaluate(STAGE) == before)


@KEYS
def test_link_and_command_are_copied(hand, server):
    hand.reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(hand.reader, server)
    hand.choose("all")
    hand.reader.node("layers.0.mlp.up").wait_for()
    hand.press(button(hand.reader, "More controls"))
    hand.choose("Copy a link to this view")
    hand.reader.page.get_by_text("The link was copied.").wait_for()
    assert hand.reader.page.evaluate("navigator.clipboard.readText()") == hand.reader.page.url
    assert "Encoder?open=" in hand.reader.page.url
    hand.choose("Copy the command that draws this")
    hand.reader.page.get_by_text("The command was copied.").wait_for()


@FINGER
def test_view_is_the_author_s_again(hand, server):
    open_page(hand.reader, server)
    hand.choose("1")
    hand.reader.node("layers.0.mlp").wait_for()
    hand.press(hand.reader.page.get_by_role("menu").get_by_text("Reset to the author’s view"))
    hand.reader.node("layers.0.mlp").wait_for(state="detached")


@FINGER
def test_help_is_opened_from_the_menu(hand, server):
    open_page(hand.reader, server)
    hand.choose("Keys and gestures (?)")
    help_ = hand.reader.page.get_by_role("dialog", name="Keys and gestures")
    help_.wait_for()
    hand.press(help_.get_by_role("button", name="Close"))
    help_.wait_for(state="hidden")


@FINGER
def test_details_of_the_model_are_opened_from_the_menu(hand, server):
    open_page(hand.reader, server, "rich")
    hand.choose("Details (I)")
    details(hand.reader).get_by_text("Rich").first.wait_for()


@FINGER
def test_fullscreen_is_entered_and_left(hand, server):
    open_page(hand.reader, server)
    hand.press(button(hand.reader, "Fullscreen"))
    out = way_out(hand.reader, "Fullscreen")
    out.wait_for()
    assert hand.reader.page.evaluate("document.fullscreenElement !== null")
    hand.press(out)
    hand.reader.page.wait_for_function("document.fullscreenElement === null")


def test_the_other_end_of_a_path_is_chosen(hand, server):
    open_page(hand.reader, server)
    hand.open_details("head")
    hand.press(button(hand.reader, "Path to…"))
    out = way_out(hand.reader, "Choose the other end")
    out.wait_for()
    hand.press(hand.reader.node("embed"))
    way_out(hand.reader, "Path from head to embed").wait_for()
    wait_until(hand.reader, lambda: hand.reader.evaluate(IS_DIMMED))
    assert hand.reader.evaluate("e => e.widget.selected") == "head"


def test_one_module_is_shown_alone_and_the_trail_leads_back(hand, server):
    open_page(hand.reader, server)
    hand.open_details("layers.1")
    hand.press(button(hand.reader, "Show alone"))
    trail = hand.reader.page.get_by_role("navigation", name="Path in the model")
    trail.wait_for()
    hand.reader.node("embed").wait_for(state="detached")
    hand.press(trail.get_by_role("button", name="Encoder"))
    hand.reader.node("embed").wait_for()


@FINGER
def test_name_of_a_node_is_copied(hand, server):
    hand.reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(hand.reader, server)
    hand.open_details("embed")
    hand.press(button(hand.reader, "Copy the name"))
    wait_until(hand.reader, lambda: hand.reader.page.evaluate("navigator.clipboard.readText()") == "embed")


def test_search_goes_on_to_the_next_and_back(hand, server):
    open_page(hand.reader, server)
    hand.press(button(hand.reader, "Search"))
    hand.reader.page.keyboard.type("mlp up")
    row = hand.reader.page.get_by_role("option")
    row.wait_for()
    if hand.way == "finger":
        row.tap()
    else:
        hand.reader.page.keyboard.press("Enter")
    wait_selected(hand.reader, "layers.0.mlp.up")
    for name, layer in (("Next", 1), ("Previous", 0)):
        hand.press(hand.reader.page.get_by_role("search").get_by_role("button", name=name))
        wait_selected(hand.reader, f"layers.{layer}.mlp.up")


@FINGER
def test_zoom_buttons(hand, server):
    open_page(hand.reader, server)
    width = lambda: box(hand.reader.node("embed"))["width"]  # noqa: E731
    before = width()
    hand.press(button(hand.reader, "Zoom in"))
    wait_until(hand.reader, lambda: width() > 1.2 * before)
    hand.press(button(hand.reader, "Show the whole picture"))
    wait_until(hand.reader, lambda: width() == before)


@KEYS
def test_outline_leads_to_its_module(hand, server):
    open_page(hand.reader, server)
    hand.press(hand.reader.page.locator("summary"))
    hand.press(hand.reader.page.locator(".mg-outline").get_by_role("button", name="up").first)
    wait_selected(hand.reader, "layers.0.mlp.up")


@FINGER
def test_table_of_costs_is_saved(hand, server):
    open_page(hand.reader, server, "rich")
    hand.choose("Parameters")
    hand.reader.page.keyboard.press("Escape")
    hand.press(button(hand.reader, "Table (T)"))
    with hand.reader.page.expect_download() as download:
        hand.press(button(hand.reader, "Save as CSV"))
    assert download.value.suggested_filename == "Rich.csv"


@pytest.fixture(scope="module")
def versions(tmp_path_factory, press):
    """A documentation in two versions; the later one names both."""
    root = tmp_path_factory.mktemp("versions")
    write_version(root / "new", "", diagram(press, network(**NEW), versions={"old": "../old/"}))
    write_version(root / "old", "", diagram(press, network(**OLD)))
    with served(root) as address:
        yield address


@KEYS
def test_another_version_is_compared(hand, versions):
    page = hand.reader.page
    page.goto(f"{versions}/new/index.html")
    hand.choose("Compare with another version…")
    page.get_by_label("Compare with").select_option("old")
    bar = page.get_by_role("region", name="Changes")
    hand.press(bar.get_by_role("button", name="AvgPool1d removed"))
    wait_selected(hand.reader, "−pool")
    hand.press(bar.get_by_role("button", name="Next change"))
    wait_until(hand.reader, lambda: hand.reader.evaluate(SELECTED) != "−pool")
    hand.press(bar.get_by_role("button", name="Close"))
    bar.wait_for(state="hidden")


def test_a_pill_shows_repeats_by_finger(reader_with, server):
    """By keys, letters do the same."""
    with reader_with(**PHONE) as reader:
        open_page(reader, server, "rolled")
        reader.page.get_by_role("button", name="Show all ×6").tap()
        reader.node("layers.5").wait_for()
