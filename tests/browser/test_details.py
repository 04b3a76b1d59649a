"""The details panel: its content, its links, and how it opens and closes.

Long because it is a list of what readers do with one panel.
"""

import pytest

from browser.controls import FOCUSED, box, button, details, facts, item, open_page, settled, wait_selected, wait_until


def test_click_on_a_node_shows_its_details(reader, server):
    open_page(reader, server, "rich")
    reader.node("head").click()
    panel = details(reader)
    panel.get_by_text("head", exact=True).wait_for()
    assert panel.get_by_role("link", name="Linear").get_attribute("href").endswith("#torch.nn.Linear")
    link = panel.get_by_role("link", name="src/pkg/model.py:12")
    assert link.get_attribute("href") == "https://example.org/blob/main/src/pkg/model.py#L12"
    shown_facts = facts(reader)
    assert shown_facts["Parameters"] == ["16 (25 %)"]
    assert shown_facts["FLOPs"] == ["2 k (50 %)"]
    assert shown_facts["Activations"] == ["4 KiB (25 %)"]
    assert shown_facts["Arguments"] == ["64", "bias=false"]
    assert shown_facts["Weights"] == ["weight: 4×4 float32"]
    assert shown_facts["Tied weights"] == ["head.weight = embed.weight"]
    assert shown_facts["Inputs"] == ["input: 1×16×64 float32"]
    assert shown_facts["Outputs"] == ["output: 1×16×64 float32"]


def test_source_is_plain_text_without_a_template(reader, server):
    open_page(reader, server, "rich")
    reader.evaluate("e => e.removeAttribute('source-link')")
    reader.node("head").click()
    details(reader).get_by_text("src/pkg/model.py:12").wait_for()
    assert details(reader).get_by_role("link").count() == 1


def test_source_of_a_library_has_no_link_to_the_sites_repository(reader, server):
    open_page(reader, server, "rich")
    template = "https://example.org/blob/main/lib/{path:mypkg src}#L{line}"
    reader.evaluate(f"e => e.setAttribute('source-link', '{template}')")
    reader.node("head").click()
    link = details(reader).get_by_role("link", name="src/pkg/model.py:12")
    assert link.get_attribute("href") == "https://example.org/blob/main/lib/src/pkg/model.py#L12"
    several = (
        f"https://example.org/{{path:mypkg}} {template.replace('lib', 'second')} https://example.org/third/{{path}}"
    )
    reopen_details(reader, several)
    link = details(reader).get_by_role("link", name="src/pkg/model.py:12")
    assert link.get_attribute("href") == "https://example.org/blob/main/second/src/pkg/model.py#L12"
    reopen_details(reader, template.replace(" src", ""))
    assert details(reader).get_by_role("link", name="src/pkg/model.py:12").count() == 0


def reopen_details(reader, template):
    """Show the details of the same node again, with another template of source links."""
    reader.evaluate(f"e => e.setAttribute('source-link', '{template}')")
    reader.node("embed").click()
    details(reader).get_by_text("embed", exact=True).wait_for()
    reader.node("head").click()
    details(reader).get_by_text("src/pkg/model.py:12").wait_for()


def test_source_link_is_a_web_address(reader, server):
    open_page(reader, server, "rich")
    reader.evaluate("e => e.setAttribute('source-link', 'javascript:alert(1)//{path}{line}')")
    reader.node("head").click()
    details(reader).get_by_text("src/pkg/model.py:12").wait_for()
    assert details(reader).get_by_role("link").count() == 1


def test_details_follow_the_keyboard_and_close_with_escape(reader, server):
    open_page(reader, server)
    reader.node("embed").focus()
    reader.page.keyboard.press("Enter")
    details(reader).get_by_text("embed", exact=True).wait_for()
    reader.page.keyboard.press("ArrowDown")
    details(reader).get_by_text("layers.0", exact=True).wait_for()
    assert reader.node("layers.0").get_attribute("aria-selected") == "true"
    reader.page.keyboard.press("Escape")
    details(reader).wait_for(state="hidden")
    assert reader.evaluate(FOCUSED) == "layers.0"
    reader.page.keyboard.press("i")
    details(reader).wait_for()


def test_closed_details_stay_closed_when_a_module_is_expanded(reader, server):
    open_page(reader, server)
    reader.node("layers.0").click()
    button(reader, "Close (Esc)").click()
    reader.node("layers.1").click()
    reader.node("layers.1.mlp").wait_for()
    assert not details(reader).is_visible()
    reader.node("embed").click()
    details(reader).wait_for()


def test_details_of_the_model_include_assumptions(reader, server):
    open_page(reader, server, "rich")
    button(reader, "More controls").click()
    item(reader, "Details").click()
    details(reader).get_by_text("Rich").first.wait_for()
    shown_facts = facts(reader)
    assert shown_facts["Assumed"] == ["after 3 tries", "x = [1, 16]: nothing was said"]
    assert shown_facts["Parameters"] == ["64"]
    # the whole model is shown
    assert button(reader, "Show alone").count() == 0


def test_details_leave_half_of_a_narrow_screen_to_the_picture(reader_with, server):
    """The tapped node stays visible; the menu replaces the details."""
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": 320, "height": 640}) as reader:
        open_page(reader, server, "tall")
        reader.node("layers.0.mlp.up").scroll_into_view_if_needed()
        reader.node("layers.0.mlp.up").tap()
        details(reader).wait_for()
        button(reader, "Search").tap()
        reader.page.keyboard.press("Enter")
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 320
        foot = reader.page.locator(".mg-foot").bounding_box()
        assert foot["y"] >= 320
        assert foot["y"] + foot["height"] <= 640
        node = reader.node("layers.0.mlp.up").bounding_box()
        assert node["y"] >= 0
        assert node["y"] + node["height"] <= details(reader).bounding_box()["y"]
        button(reader, "More controls").tap()
        details(reader).wait_for(state="hidden")
        foot = reader.page.locator(".mg-foot").bounding_box()
        assert foot["y"] >= 320
        assert foot["y"] + foot["height"] <= 640


def more(reader):
    return reader.page.get_by_role("button", name="More", exact=True)


def test_details_stand_beside_the_picture_where_there_is_room(reader, server):
    """They cover nothing of what the click has opened, and go on a line of their own when the room is gone."""
    reader.page.set_viewport_size({"width": 1400, "height": 900})
    open_page(reader, server)
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    panel = details(reader)
    panel.get_by_text("Show alone").wait_for()
    settled(reader)
    picture, beside = box(reader.page.locator(".mg-stage svg[role=tree]").first), box(panel)
    assert beside["x"] >= picture["x"] + picture["width"] or beside["x"] + beside["width"] <= picture["x"]
    stage = box(reader.page.locator(".mg-stage"))
    assert stage["x"] <= beside["x"]
    assert beside["x"] + beside["width"] <= stage["x"] + stage["width"]
    assert stage["y"] <= beside["y"]
    reader.page.set_viewport_size({"width": 500, "height": 900})
    more(reader).wait_for()
    assert not panel.get_by_text("Show alone").is_visible()


def test_details_are_one_line_until_more_is_wanted(reader, server):
    reader.page.set_viewport_size({"width": 500, "height": 700})
    open_page(reader, server)
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    panel = details(reader)
    panel.get_by_text("Parameters 16 (25 %)").wait_for()
    assert box(panel)["height"] < 60
    more(reader).focus()
    reader.page.keyboard.press("Enter")
    panel.get_by_text("Show alone").wait_for()
    reader.page.get_by_role("button", name="Less").click()
    panel.get_by_text("Show alone").wait_for(state="hidden")
    reader.page.keyboard.press("Escape")
    panel.wait_for(state="hidden")
    reader.node("head").focus()
    reader.page.keyboard.press("i")
    panel.get_by_text("Show alone").or_(panel.get_by_text("Path to…")).wait_for()


def test_details_of_a_stack_tell_of_all_its_blocks(reader, server):
    reader.page.set_viewport_size({"width": 500, "height": 700})
    open_page(reader, server, "rolled")
    reader.node("layers.0").focus()
    reader.page.keyboard.press("i")
    details(reader).get_by_text("layers.0–5", exact=True).wait_for()
    assert details(reader).get_by_text("×6", exact=True).is_visible()
    assert facts(reader)["Parameters"] == ["×6: 96 (150 %)", "each 16 (25 %)"]


def selected_text(reader):
    """What is selected in the picture."""
    return reader.evaluate("e => e.shadowRoot.getSelection().toString().trim()")


def test_name_is_copied_and_text_of_the_picture_is_selected(reader, server):
    """With Shift, a click selects text, and opens and closes nothing."""
    reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(reader, server)
    reader.node("embed").focus()
    reader.page.keyboard.press("i")
    button(reader, "Copy the name").click()
    reader.page.get_by_role("status").get_by_text("Copied").wait_for(state="attached")
    assert reader.page.evaluate("navigator.clipboard.readText()") == "embed"
    reader.page.keyboard.press("Escape")
    reader.node("layers.0").locator("text").first.click(modifiers=["Shift"], force=True)
    assert selected_text(reader) == "layers.0"
    assert reader.node("layers.0.mlp").count() == 0


def test_details_are_visible_in_a_narrow_window_that_clips_content(reader_with, server):
    """`position: sticky` does not help there; the tapped node is not covered."""
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 780}) as reader:
        open_page(reader, server, "rich")
        reader.page.add_style_tag(content="main { overflow: auto; padding: 400px 0 1000px }")
        reader.node("layers.1").focus()
        reader.page.evaluate("scrollTo(0, 0)")
        reader.page.keyboard.press("i")
        details(reader).wait_for()
        foot = reader.page.locator(".mg-foot").bounding_box()
        assert foot["y"] + foot["height"] <= 781
        node = reader.node("layers.1").bounding_box()
        assert node["y"] + node["height"] <= foot["y"]


def test_controls_are_visible_in_a_narrow_window_with_the_details(reader, server):
    """Also for a mouse, where the toolbar takes no room of its own otherwise."""
    reader.page.set_viewport_size({"width": 390, "height": 700})
    open_page(reader, server, "tall")
    reader.node("embed").click()
    details(reader).wait_for()
    toolbar = reader.page.locator(".mg-toolbar").bounding_box()
    assert toolbar["y"] + toolbar["height"] <= 700
    assert toolbar["y"] >= details(reader).bounding_box()["y"]


def test_one_of_several_repeats_can_be_opened(reader, server):
    open_page(reader, server, "rolled")
    reader.node("layers.0").focus()
    reader.page.keyboard.press("i")
    reader.page.get_by_label("Repeats").select_option("layers.3")
    reader.node("layers.3.mlp").wait_for()
    assert reader.node("layers.5").is_visible()
    assert reader.node("layers.5.mlp").count() == 0
    wait_selected(reader, "layers.3")


@pytest.mark.requests
def test_details_work_without_webassembly(reader, server):
    """Details need only the data."""
    reader.page.goto(f"{server}/one.html?csp")
    reader.node("embed").click()
    details(reader).get_by_text("embed", exact=True).wait_for()
    assert facts(reader)["Parameters"] == ["16 (25 %)"]
    # the pointer triggers nothing that needs the layout engine
    reader.node("head").hover()
    reader.page.mouse.move(450, 5)
    assert "viz.js" not in reader.requests


def test_outline_row_reveals_its_module_and_is_marked(reader, server):
    open_page(reader, server)
    reader.page.locator("summary").click()
    row = reader.page.locator(".mg-outline").get_by_role("button", name="up").first
    row.press("Enter")
    reader.node("layers.0.mlp.up").wait_for()
    wait_selected(reader, "layers.0.mlp.up")
    assert row.get_attribute("aria-current") == "true"
    reader.node("layers.0.mlp.up").focus()
    reader.page.keyboard.press("End")
    reader.page.keyboard.press("ArrowUp")
    head = reader.page.locator(".mg-outline").get_by_role("button", name="head")
    assert head.get_attribute("aria-current") == "true"
    assert row.get_attribute("aria-current") is None


def test_details_of_the_model_return_the_focus_to_the_menu(reader, server):
    open_page(reader, server)
    button(reader, "More controls").press("Enter")
    item(reader, "Details").press("Enter")
    details(reader).wait_for()
    button(reader, "Close (Esc)").press("Enter")
    details(reader).wait_for(state="hidden")
    assert reader.evaluate(FOCUSED) == "More controls"


def test_details_are_copied_and_announced(reader, server):
    reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(reader, server, "rich")
    reader.node("head").focus()
    reader.page.keyboard.press("i")
    reader.page.get_by_role("status").get_by_text("Details of head").wait_for(state="attached")
    details(reader).get_by_role("button", name="Copy", exact=True).click()
    reader.page.get_by_role("status").get_by_text("Copied").wait_for(state="attached")
    text = reader.page.evaluate("navigator.clipboard.readText()")
    assert "FLOPs\n2 k (50 %)" in text
    assert "src/pkg/model.py:12" in text


def test_node_covered_by_its_details_is_revealed(reader, server):
    reader.page.set_viewport_size({"width": 900, "height": 400})
    open_page(reader, server, "tall")
    reader.page.mouse.move(450, 350)
    lowest = reader.evaluate(
        """e => [...e.shadowRoot.querySelectorAll('.mg-stage .mg-node')].filter(node => {
            const { top, bottom } = node.getBoundingClientRect();
            return top > 300 && bottom < 360;
        })[0].dataset.id"""
    )
    reader.node(lowest).click(force=True)
    details(reader).wait_for()
    wait_until(reader, lambda: bottom(reader.node(lowest)) <= box(details(reader))["y"])


def bottom(locator):
    place = box(locator)
    return place["y"] + place["height"]


def test_details_make_room_for_a_picture_that_is_zoomed(reader, server):
    """Beside it while there is room, below it while there is none."""
    reader.page.set_viewport_size({"width": 1000, "height": 900})
    open_page(reader, server)
    reader.node("embed").focus()
    reader.page.keyboard.press("i")
    panel = reader.page.locator(".mg-panel-sheet.mg-side")
    panel.wait_for()
    for _ in range(6):
        reader.evaluate("e => e.widget.camera.zoomBy(1.4)")
    panel.wait_for(state="detached")
    reader.evaluate("e => e.widget.camera.fit()")
    panel.wait_for()


def test_a_page_is_told_of_no_error_when_its_window_changes(reader_with, server):
    """Details and table, which find another place then, and a map: also of those that break nothing."""
    with reader_with(once=True, viewport={"width": 1300, "height": 800}) as reader:
        reader.page.add_init_script("window.told = []; addEventListener('error', event => told.push(event.message))")
        open_page(reader, server)
        reader.node("layers.0").click()
        details(reader).wait_for()
        reader.evaluate("e => e.widget.linked.lens.set('parameters')")
        button(reader, "Table (T)").click()
        for width in (500, 1300, 900, 1400):
            reader.page.set_viewport_size({"width": width, "height": 800})
            reader.page.wait_for_timeout(200)
        assert reader.page.evaluate("told") == []
