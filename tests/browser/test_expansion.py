"""Expanding and collapsing many modules, and isolating one."""

from browser.controls import button, item, open_page


def test_isolated_module_and_back_by_its_path(reader, server):
    open_page(reader, server)
    reader.node("layers.1").focus()
    reader.page.keyboard.press("i")
    button(reader, "Show alone").press("Enter")
    reader.node("layers.1.attention").wait_for()
    assert reader.node("head").count() == 0
    # the button that was pressed is gone; the focus stays in the picture
    in_tree = "e => e.shadowRoot.activeElement?.closest('[role=tree]') != null"
    assert reader.evaluate(in_tree)
    trail = reader.page.get_by_role("navigation", name="Path in the model")
    assert trail.get_by_role("button").all_inner_texts() == ["Encoder", "layers.1"]
    reader.node("layers.1.mlp").click()
    reader.node("layers.1.mlp.up").wait_for()
    trail.get_by_role("button", name="Encoder").press("Enter")
    reader.node("head").wait_for()
    assert not trail.is_visible()
    assert reader.evaluate(in_tree)


def test_expand_to_a_level_and_reset(reader, server):
    open_page(reader, server)
    button(reader, "More controls").click()
    reader.page.get_by_role("group", name="Open to level").get_by_role("menuitem", name="2").click()
    reader.node("layers.2.mlp.up").wait_for()
    item(reader, "Reset to the author’s view").click()
    reader.node("layers.2.mlp").wait_for(state="detached")
    assert reader.node("layers.2").is_visible()


def test_everything_inside_a_module_expands_and_collapses(reader, server):
    open_page(reader, server)
    reader.node("layers.1").focus()
    reader.page.keyboard.press("i")
    button(reader, "Open all inside").click()
    reader.node("layers.1.mlp.up").wait_for()
    assert reader.node("layers.0.mlp").count() == 0
    # the focus stays on the button, although picture and details were replaced
    button(reader, "Close all inside").press("Enter")
    reader.node("layers.1.mlp").wait_for(state="detached")
    assert reader.evaluate("e => e.shadowRoot.activeElement.textContent") == "Close all inside"


def test_asterisk_expands_siblings(reader, server):
    open_page(reader, server)
    reader.node("layers.0").focus()
    reader.page.keyboard.press("*")
    for layer in range(3):
        reader.node(f"layers.{layer}.mlp").wait_for()
