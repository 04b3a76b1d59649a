"""What the search finds, and how it shows hits."""

from browser.controls import FOCUSED, box, button, open_page, wait_selected, wait_until

LIT = """e => [...e.shadowRoot.querySelectorAll('.mg-stage .mg-found')].map(node => node.dataset.id)"""
"""Ids of the nodes that are lit."""


def options(reader):
    """The rows of the list, the chosen one marked."""
    rows = reader.page.get_by_role("option")
    return [
        ("> " if row.get_attribute("aria-selected") == "true" else "") + " ".join(row.inner_text().split())
        for row in rows.all()
    ]


def wait_options(reader, expected):
    wait_until(reader, lambda: options(reader) == expected, f"{expected}")


def test_hits_are_listed_and_lit_while_typing(reader, server):
    """What stands for several is one row, and opens as one box, unless its number is asked for."""
    open_page(reader, server, "rolled")
    reader.node("embed").focus()
    reader.page.keyboard.press("/")
    reader.page.keyboard.type("mlp up")
    wait_options(reader, ["> mlp.up ×6 Linear layers.*"])
    reader.page.get_by_text("6 found").wait_for()
    assert reader.evaluate(LIT) == ["layers.0"]
    assert reader.evaluate(FOCUSED) == "Search (/)"
    reader.page.keyboard.press("Enter")
    wait_selected(reader, "layers.0.mlp.up")
    assert not reader.page.get_by_role("listbox").is_visible()
    assert reader.node("layers.5").count() == 0
    assert reader.evaluate(LIT) == ["layers.0.mlp.up"]
    reader.page.keyboard.press("ControlOrMeta+A")
    reader.page.keyboard.type("5.mlp.up")
    wait_options(reader, ["> mlp.up Linear layers.5"])
    reader.page.keyboard.press("Enter")
    wait_selected(reader, "layers.5.mlp.up")
    reader.page.keyboard.press("Escape")
    assert reader.page.get_by_role("search").count() == 0
    assert reader.evaluate(LIT) == []
    assert reader.evaluate(FOCUSED) == "layers.5.mlp.up"


def test_arrows_choose_and_enter_goes_on_to_the_next_of_a_kind(reader, server):
    open_page(reader, server)
    button(reader, "Search").click()
    reader.page.keyboard.type("mlp")
    first, second = "mlp ×3 MLP layers.*", "mlp/gelu ×3 layers.*"
    wait_options(reader, [f"> {first}"])
    reader.page.keyboard.press("ControlOrMeta+A")
    reader.page.keyboard.type("mlp gelu")
    wait_options(reader, [f"> {second}"])
    reader.page.keyboard.press("ControlOrMeta+A")
    reader.page.keyboard.type("linear")
    rows = [f"attention.{part} ×3 Linear layers.*" for part in ("query", "key", "value")]
    rows = ["embed Linear", *rows, "mlp.up ×3 Linear layers.*", "mlp.down ×3 Linear layers.*", "head Linear"]
    wait_options(reader, [f"> {rows[0]}", *rows[1:]])
    field = reader.page.get_by_role("combobox", name="Search")
    for key, chosen in {"ArrowUp": 6, "ArrowDown": 0}.items():
        reader.page.keyboard.press(key)
        assert reader.page.get_by_role("option").nth(chosen).get_attribute("aria-selected") == "true"
    reader.page.keyboard.press("ArrowUp")
    reader.page.keyboard.press("ArrowUp")
    active = reader.page.get_by_role("option", selected=True).get_attribute("id")
    assert field.get_attribute("aria-activedescendant") == active
    for key, layer in (("Enter", 0), ("Enter", 1), ("Shift+Enter", 0), ("Shift+Enter", 2)):
        reader.page.keyboard.press(key)
        wait_selected(reader, f"layers.{layer}.mlp.down")
        reader.page.get_by_role("search").get_by_text(f"{layer + 1} of 3").wait_for()
    assert field.get_attribute("aria-expanded") == "false"
    reader.page.keyboard.press("ArrowDown")
    assert field.get_attribute("aria-expanded") == "true"
    button(reader, "Next (Enter)").click()
    wait_selected(reader, "layers.0.mlp.down")


def test_hit_is_chosen_with_the_mouse(reader, server):
    open_page(reader, server)
    button(reader, "Search").click()
    reader.page.keyboard.type("mlp.down")
    reader.page.get_by_role("option").click()
    wait_selected(reader, "layers.0.mlp.down")
    assert reader.evaluate(FOCUSED) == "Search (/)"
    reader.node("embed").click()
    assert not reader.page.get_by_role("listbox").is_visible()
    wait_selected(reader, "embed")


def test_hit_is_chosen_with_a_finger(reader_with, server):
    """List and field leave the upper half of a phone to the picture, and rows are large enough for a finger."""
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 640}) as reader:
        open_page(reader, server)
        button(reader, "Search").tap()
        reader.page.keyboard.type("mlp")
        row = reader.page.get_by_role("option")
        row.wait_for()
        assert box(row)["height"] >= 44
        assert box(reader.page.get_by_role("search"))["y"] >= 320
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 360
        row.tap()
        wait_selected(reader, "layers.0.mlp")


def test_search_matches_class_shape_and_letters_in_order(reader, server):
    open_page(reader, server)
    button(reader, "Search").click()
    found = {"pkg.attention": "3 found", "1x16x64 head": "1 found", "mpdwn": "these are similar", "zebra": "Nothing"}
    for typed, count in found.items():
        reader.page.get_by_role("combobox").fill(typed)
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


def test_key_that_the_page_takes_first_is_the_pages(reader, server):
    """A theme that listens while the event goes down, and opens its own search."""
    open_page(reader, server)
    reader.page.evaluate(
        """() => window.addEventListener("keydown", event => {
            if (event.key === "/") event.preventDefault();
        }, true)"""
    )
    reader.node("embed").focus()
    reader.page.keyboard.press("/")
    assert reader.page.get_by_role("search").count() == 0
    assert reader.evaluate(FOCUSED) == "embed"


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
    reader.page.get_by_role("combobox").evaluate(
        """field => {
            field.value = 'mlp';
            field.dispatchEvent(new Event('input'));
            field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
        }"""
    )
    wait_selected(reader, "layers.0.mlp")


def test_enter_that_ends_a_composition_chooses_nothing(reader, server):
    """Where several keys make one letter, Enter takes the letter."""
    open_page(reader, server)
    button(reader, "Search").click()
    reader.page.keyboard.type("head")
    wait_options(reader, ["> head Linear"])
    press = """(input, isComposing) => input.dispatchEvent(
        new KeyboardEvent('keydown', {key: 'Enter', isComposing, bubbles: true, cancelable: true}))"""
    field = reader.page.get_by_role("combobox")
    # whether the page lets it pass to the input method
    assert field.evaluate(press, True)
    assert not field.evaluate(press, False)
    wait_selected(reader, "head")
