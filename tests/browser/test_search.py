"""What the search finds, and how it shows hits."""

from browser.controls import FOCUSED, box, button, open_page, wait_selected, wait_until


def test_search_reveals_hits_one_after_the_other(reader, server):
    open_page(reader, server, "rolled")
    reader.node("embed").focus()
    reader.page.keyboard.press("/")
    reader.page.keyboard.type("mlp up")
    reader.page.get_by_text("0 of 6").wait_for()
    reader.page.keyboard.press("Shift+Enter")
    reader.page.get_by_text("6 of 6").wait_for()
    reader.node("layers.5.mlp.up").wait_for()
    wait_selected(reader, "layers.5.mlp.up")
    reader.page.keyboard.press("Enter")
    reader.page.get_by_text("1 of 6").wait_for()
    reader.page.keyboard.press("Escape")
    assert reader.page.get_by_role("search").count() == 0
    assert reader.evaluate(FOCUSED) == "layers.0.mlp.up"


def test_search_matches_class_shape_and_letters_in_order(reader, server):
    open_page(reader, server)
    button(reader, "Search").click()
    found = {"pkg.attention": "0 of 3", "1x16x64 head": "0 of 1", "mpdwn": "0 of 3", "zebra": "Nothing"}
    for typed, count in found.items():
        reader.page.get_by_role("searchbox").fill(typed)
        reader.page.get_by_role("search").get_by_text(count).wait_for()


def test_focus_returns_if_no_hit_was_visited(reader, server):
    open_page(reader, server)
    for opener, key in (("embed", "/"), ("Search (/)", "Enter")):
        if key == "/":
            reader.node(opener).focus()
        else:
            button(reader, opener).focus()
        reader.page.keyboard.press(key)
        reader.page.keyboard.type("zebra")
        reader.page.get_by_role("search").get_by_text("Nothing").wait_for()
        reader.page.keyboard.press("Escape")
        assert reader.evaluate(FOCUSED) == opener


THEME = """() => {
    window.seen = [];
    for (const type of ["keydown", "keypress", "keyup"])
        for (const whole of [document, window])
            whole.addEventListener(type, event => event.isTrusted && window.seen.push(event.key));
}"""
"""The shortcuts of a theme: `n` for the next page, `/` for the site's search."""


def test_theme_gets_no_key_that_the_diagram_uses(reader, server):
    """It sees the element and not the text field inside, and would leave the page."""
    open_page(reader, server)
    reader.page.evaluate(THEME)
    seen, keyboard = (lambda: set(reader.page.evaluate("window.seen"))), reader.page.keyboard
    keyboard.press("Tab")
    assert seen() == {"Tab"}
    reader.node("embed").focus()
    keyboard.press("/")
    keyboard.type("np*")
    for key in ("ArrowDown", "Enter", "Shift+Enter", "Escape", "ArrowDown", "i", "Escape"):
        keyboard.press(key)
    assert seen() <= {"Tab", "Shift"}
    keyboard.press("n")
    keyboard.press("Control+k")
    assert seen() >= {"n", "k"}
    reader.page.evaluate("document.activeElement.blur()")
    keyboard.press("/")
    assert "/" in seen()
    assert reader.page.get_by_role("search").count() == 0


def test_hit_is_not_covered_by_the_details(reader, server):
    open_page(reader, server, "tall")
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("/")
    reader.page.keyboard.type("layers.1.mlp.up")
    reader.page.keyboard.press("Enter")
    reader.page.get_by_role("region", name="Details").get_by_text("layers.1.mlp.up").first.wait_for()
    hit, bar = reader.node("layers.1.mlp.up"), reader.page.get_by_role("search")
    wait_until(reader, lambda: 0 <= box(hit)["y"] <= box(bar)["y"] - box(hit)["height"])


def test_enter_waits_for_the_search(reader, server):
    """Enter goes to the first hit, although nothing was loaded when it was pressed."""
    open_page(reader, server)
    button(reader, "Search").click()
    reader.page.get_by_role("searchbox").evaluate(
        """field => {
            field.value = 'mlp';
            field.dispatchEvent(new Event('input'));
            field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
        }"""
    )
    wait_selected(reader, "layers.0.mlp")
