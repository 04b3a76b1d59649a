"""The menu, the help, and what is seen of the controls before a reader uses them.

Long because each of the many entries of the menu has a test of its own.
"""

import pytest

from browser.axe import violations
from browser.controls import FOCUSED, box, button, expand, item, open_page, wait_until

TOUCH = {"has_touch": True, "is_mobile": True, "viewport": {"width": 360, "height": 740}}
NO_STORAGE = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('denied', 'SecurityError'); },
});"""
STAGE = "e => getComputedStyle(e.shadowRoot.querySelector('.mg-stage')).backgroundColor"


SIZE = """e => {
  const { width, height } = e.shadowRoot.querySelector('.mg-stage svg').viewBox.baseVal;
  return [width, height];
}"""


def open_menu(reader):
    button(reader, "More controls").first.click()
    menu = reader.page.get_by_role("menu", name="More controls")
    menu.wait_for()
    return menu


def focused(reader):
    return reader.evaluate(FOCUSED)


@pytest.mark.requests
def test_menu_is_loaded_when_it_is_opened(reader, address):
    reader.page.goto(f"{address}/one.html")
    reader.node("embed").hover()
    reader.page.wait_for_function("window.modelDiagramsExplore !== undefined")
    assert "menu.js" not in reader.requests
    open_menu(reader)
    assert reader.requests.count("menu.js") == 1


def test_menu_is_used_by_keys(reader, server):
    open_page(reader, server)
    more = button(reader, "More controls")
    assert more.get_attribute("aria-haspopup") == "menu"
    more.press("ArrowUp")
    menu = reader.page.get_by_role("menu")
    menu.wait_for()
    wait_until(reader, lambda: focused(reader) == "Keys and gestures (?)")
    walked = []
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp", "Home", "End", "s", "s", "r", "r"):
        reader.page.keyboard.press(key)
        walked.append(focused(reader))
    assert walked == [
        *("0", "1", "0", "Keys and gestures (?)", "0", "Keys and gestures (?)"),
        *("Same as the page", "SVG", "Reset to the author’s view", "Right"),
    ]
    reader.page.keyboard.press("Enter")
    right = menu.get_by_role("menuitemradio", name="Right")
    wait_until(reader, lambda: right.get_attribute("aria-checked") == "true")
    assert menu.is_visible()
    reader.page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    assert focused(reader) == "More controls"
    assert more.get_attribute("aria-expanded") == "false"
    more.press("Enter")
    menu.wait_for()
    reader.page.keyboard.press("Tab")
    menu.wait_for(state="hidden")


def test_menu_that_did_not_load_can_be_tried_again(reader, server):
    reader.page.route("**/menu.js", lambda route: route.abort())
    open_page(reader, server)
    button(reader, "More controls").click()
    retry = button(reader, "Try again")
    retry.wait_for()
    reader.page.unroute("**/menu.js")
    retry.click()
    reader.page.get_by_role("menu").wait_for()


def test_menu_is_used_by_touch(reader_with, server):
    with reader_with(**TOUCH) as reader:
        open_page(reader, server)
        button(reader, "More controls").tap()
        item(reader, "Right").tap()
        wait_until(reader, lambda: box(reader.node("head"))["x"] > box(reader.node("embed"))["x"] + 50)
        button(reader, "More controls").tap()
        reader.page.get_by_role("menu").wait_for(state="hidden")


def test_direction_is_that_of_the_picture(reader, server):
    open_page(reader, server)
    expand(reader)
    menu = open_menu(reader)
    down, right = (menu.get_by_role("menuitemradio", name=name) for name in ("Down", "Right"))
    assert down.get_attribute("aria-checked") == "true"
    right.click()
    wait_until(reader, lambda: right.get_attribute("aria-checked") == "true")
    assert down.get_attribute("aria-checked") == "false"
    embed, head = box(reader.node("embed")), box(reader.node("head"))
    assert abs(embed["y"] - head["y"]) < abs(embed["x"] - head["x"])
    item(reader, "Reset to the author’s view").click()
    wait_until(reader, lambda: down.get_attribute("aria-checked") == "true")


def test_theme_is_the_reader_s(reader, server):
    open_page(reader, server)
    before = reader.evaluate(STAGE)
    open_menu(reader)
    item(reader, "Dark").click()
    assert reader.evaluate(STAGE) == "rgb(21, 23, 26)"
    assert "contrast" not in "".join(violations(reader))
    item(reader, "Same as the page").click()
    assert reader.evaluate(STAGE) == before


def test_axe_finds_no_violation_in_menu_and_help(reader, server):
    open_page(reader, server)
    open_menu(reader)
    assert violations(reader) == []
    item(reader, "Keys and gestures").click()
    reader.page.get_by_role("dialog").wait_for()
    assert violations(reader) == []


def test_help_lists_keys_and_keeps_the_focus(reader, server):
    open_page(reader, server)
    reader.node("embed").focus()
    reader.page.keyboard.press("?")
    help_ = reader.page.get_by_role("dialog", name="Keys and gestures")
    help_.wait_for()
    text = help_.inner_text()
    for key in ("Ctrl", "Arrows", "Enter", "Esc", "/", "tap", "×12"):
        assert key in text
    # letters don't act behind it, and the focus does not go there
    reader.page.keyboard.press("/")
    for _ in range(3):
        reader.page.keyboard.press("Tab")
    assert reader.page.get_by_role("search").count() == 0
    assert focused(reader) in {"Close (Esc)", None}
    reader.page.keyboard.press("Escape")
    help_.wait_for(state="hidden")
    assert focused(reader) == "embed"


@pytest.mark.parametrize("touch", [False, True])
def test_help_is_closed_by_its_button_and_beside_it(reader_with, server, touch):
    with reader_with(**(TOUCH if touch else {})) as reader:
        open_page(reader, server)
        help_ = reader.page.get_by_role("dialog")
        for way in ("button", "beside"):
            reader.node("embed").focus()
            reader.page.keyboard.press("?")
            help_.wait_for()
            assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            close = help_.get_by_role("button", name="Close")
            if way == "button":
                close.tap() if touch else close.click()
            else:
                reader.page.mouse.click(2, 2)
            help_.wait_for(state="hidden")


CLOSE_AND_ASK = """e => {
  e.shadowRoot.querySelector('.mg-help > .mg-close').click();
  const key = new KeyboardEvent('keydown', { key: '?', code: 'Slash', bubbles: true, composed: true });
  e.shadowRoot.querySelector('[role=treeitem]').dispatchEvent(key);
}"""


def test_help_that_was_just_closed_can_be_asked_for_again(reader, server):
    """A browser tells late that a dialog was closed."""
    open_page(reader, server)
    reader.node("embed").focus()
    reader.page.keyboard.press("?")
    help_ = reader.page.get_by_role("dialog")
    help_.wait_for()
    reader.evaluate(CLOSE_AND_ASK)
    reader.page.wait_for_timeout(100)
    assert help_.is_visible()
    # letters do nothing behind it
    reader.page.keyboard.press("/")
    assert reader.page.get_by_role("search").count() == 0


def test_at_rest_a_sign_says_that_the_picture_can_be_explored(reader, server):
    """It covers nothing, and gives its place to the controls, which shift nothing."""
    open_page(reader, server)
    sign = reader.page.locator(".mg-rest > span")
    opacity = "e => getComputedStyle(e).opacity"
    assert sign.inner_text() == "Explore"
    assert sign.evaluate(opacity) == "1"
    place, summary = box(sign), box(reader.page.locator("summary"))
    stage = box(reader.page.locator(".mg-stage"))
    assert place["y"] >= stage["y"] + stage["height"] - 1
    assert abs(place["y"] + place["height"] / 2 - summary["y"] - summary["height"] / 2) < 8
    height = reader.page.evaluate("document.documentElement.scrollHeight")
    reader.node("embed").hover()
    wait_until(reader, lambda: sign.evaluate(opacity) == "0")
    more = box(button(reader, "More controls"))
    assert more["x"] <= place["x"] + place["width"] <= more["x"] + more["width"]
    assert reader.page.evaluate("document.documentElement.scrollHeight") == height


def test_controls_keep_their_place_while_the_pointer_is_on_the_diagram(reader, server):
    reader.page.set_viewport_size({"width": 500, "height": 420})
    open_page(reader, server, "tall")
    reader.page.locator(".mg-stage").hover(position={"x": 5, "y": 5})
    toolbar = reader.page.locator(".mg-toolbar")
    lefts = set()
    for down in range(0, 600, 50):
        reader.page.evaluate(f"scrollTo(0, {down})")
        reader.page.mouse.move(250, 200 + down % 20)
        lefts.add(box(toolbar)["x"])
    assert len(lefts) == 1


def test_zoom_hint_comes_once_per_reader(reader, server):
    open_page(reader, server)
    reader.node("embed").hover()
    reader.page.mouse.wheel(0, 10)
    hint = reader.page.get_by_text("Ctrl + wheel zooms")
    hint.wait_for()
    # another visit
    reader.page.evaluate("sessionStorage.clear()")
    open_page(reader, server, "rich")
    reader.node("embed").hover()
    reader.page.mouse.wheel(0, 10)
    reader.page.wait_for_function("window.modelDiagramsData?.size")
    assert hint.count() == 0


def test_zoom_hint_needs_no_storage(reader_with, server):
    """Private windows may have none."""
    with reader_with(once=True) as reader:
        reader.page.add_init_script(NO_STORAGE)
        open_page(reader, server)
        reader.node("embed").hover()
        reader.page.mouse.wheel(0, 10)
        reader.page.get_by_text("Ctrl + wheel zooms").wait_for()


def test_command_that_draws_the_same_is_copied(reader_with, server):
    with reader_with(once=True, permissions=["clipboard-read", "clipboard-write"]) as reader:
        open_page(reader, server)
        expand(reader)
        open_menu(reader)
        item(reader, "Copy the command").click()
        reader.page.get_by_text("The command was copied.").wait_for()
        line = reader.page.evaluate("navigator.clipboard.readText()")
        assert line == "modeldiagrams render Encoder.json -o Encoder.html --expand '[\"layers.0\"]' --direction TB"


def test_pdf_is_the_picture_alone_on_a_page_of_its_size(reader_with, server):
    """Made by the browser's own printing: the page calls it, and this reader's browser then writes the file."""
    with reader_with(once=True) as reader:
        reader.page.add_init_script("print = () => { window.printed = document.title; };")
        open_page(reader, server, "two")
        expand(reader)
        title = reader.page.title()
        open_menu(reader)
        item(reader, "PDF").click()
        reader.page.wait_for_function("window.printed === 'Encoder'")
        reader.page.emulate_media(media="print")
        shown = reader.page.locator("body > :visible")
        assert shown.count() == 1
        assert reader.page.get_by_text("Text of the page").first.is_hidden()
        natural = reader.evaluate(SIZE)
        place = box(shown.locator("svg"))
        assert [place["width"], place["height"]] == natural
        reader.page.emulate_media(media="null")
        pdf = reader.page.pdf(prefer_css_page_size=True)
        assert pdf.count(b"/Type /Page\n") == 1
        # printing has ended: nothing of it is left
        assert reader.page.title() == title
        assert reader.page.locator(".mg-print").count() == 0
        assert reader.page.evaluate("document.adoptedStyleSheets.length") == 0


def test_theme_is_remembered_for_all_diagrams(reader, server):
    """Also of the next page; "as the page" is forgotten."""
    open_page(reader, server, "two")
    open_menu(reader)
    item(reader, "Dark").first.click()
    dark = "rgb(21, 23, 26)"
    assert [reader.evaluate(STAGE, diagram) for diagram in (0, 1)] == [dark, dark]
    open_page(reader, server)
    wait_until(reader, lambda: reader.evaluate(STAGE) == dark)
    open_menu(reader)
    assert item(reader, "Dark").get_attribute("aria-checked") == "true"
    item(reader, "Same as the page").click()
    reader.page.reload()
    reader.node("embed").hover()
    reader.page.wait_for_function("window.modelDiagramsExplore !== undefined")
    assert reader.evaluate(STAGE) != dark


def test_theme_needs_no_storage(reader_with, server):
    with reader_with(once=True) as reader:
        reader.page.add_init_script(NO_STORAGE)
        open_page(reader, server)
        open_menu(reader)
        item(reader, "Dark").click()
        assert reader.evaluate(STAGE) == "rgb(21, 23, 26)"
