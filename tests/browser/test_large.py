"""Pictures of hundreds of nodes, of which only the visible part is in the document."""

import pytest

from browser.controls import FOCUSED, button

NODES = "document.querySelector('model-graph').shadowRoot.querySelectorAll('.mg-stage [data-id]').length"


@pytest.fixture
def large(reader, server):
    """A page with 32 expanded layers, of which the reader has collapsed the first."""
    reader.page.goto(f"{server}/large.html")
    assert reader.page.evaluate(NODES) > 350
    reader.header("layers.0").hover()
    # the page's own picture is replaced as soon as everything is loaded
    reader.page.wait_for_function(f"{NODES} < 150")
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    return reader


def test_only_visible_nodes_are_in_the_document(large):
    assert large.page.evaluate(NODES) < 150
    assert large.node("layers.0").is_visible()
    assert large.node("layers.31").count() == 0


def test_only_visible_nodes_are_in_the_document_once_loaded(reader, server):
    reader.page.goto(f"{server}/large.html")
    reader.node("layers.0.mlp").hover()
    reader.page.wait_for_function(f"{NODES} < 150")
    assert reader.node("layers.0.mlp").is_visible()


def test_click_reaches_a_picture_that_is_about_to_be_replaced(reader, server):
    """What loads while the button is down replaces the picture after the click."""
    held = []
    reader.page.route("**/viz.js", lambda route: held.append(route))  # noqa: PLW0108 - Playwright can't wrap built-in methods
    reader.page.goto(f"{server}/large.html")
    reader.header("layers.0").hover()
    reader.page.mouse.down()
    while not held:
        reader.page.wait_for_timeout(10)
    held[0].continue_()
    reader.page.wait_for_function("globalThis.modelDiagramsViz")
    reader.page.wait_for_timeout(200)
    reader.page.mouse.up()
    reader.node("layers.0.mlp").wait_for(state="detached")


def test_panning_and_scrolling_draw_the_rest(large):
    x, y = 450, 350
    for _ in range(8):
        large.page.mouse.move(x, y + 100)
        large.page.mouse.down()
        large.page.mouse.move(x, y - 200, steps=4)
        large.page.mouse.up()
    assert large.node("layers.1").count() == 0
    assert any(large.node(f"layers.{i}.mlp").count() for i in range(3, 9))


def test_keyboard_reaches_every_node(large):
    large.node("layers.0").focus()
    large.page.keyboard.press("End")
    focused = "e => e.shadowRoot.activeElement?.closest('[data-id]')?.dataset.id"
    assert large.evaluate(focused) == "output:y"
    place = large.node("output:y").bounding_box()
    assert 0 <= place["y"] <= 700 - place["height"]
    large.page.keyboard.press("ArrowUp")
    assert large.evaluate(focused) == "head"
    large.page.keyboard.press("Home")
    assert large.evaluate(focused) == "input:x"
    assert large.node("output:y").count() == 0


STOPS = """e => [...e.shadowRoot.querySelectorAll('.mg-stage [tabindex="0"]')]
    .map(stop => stop.closest('[data-id]').dataset.id)"""
PAN = """async (e, steps = 60) => {
    const canvas = e.shadowRoot.querySelector('.mg-canvas');
    let redraws = 0;
    const watch = new MutationObserver(records => {
        const nodes = records.flatMap(record => [...record.addedNodes, ...record.removedNodes]);
        redraws += nodes.some(node => node.matches?.('[data-id]'));
    });
    watch.observe(canvas, { childList: true, subtree: true });
    const at = (type, y) => new MouseEvent(type, { clientX: 450, clientY: y, bubbles: true, buttons: 1, view: window });
    canvas.dispatchEvent(at('mousedown', 600));
    for (let i = 1; i <= steps; i++) {
        window.dispatchEvent(at('mousemove', 600 - (300 / steps) * i));
        await new Promise(requestAnimationFrame);
    }
    window.dispatchEvent(at('mouseup', 300));
    watch.disconnect();
    return redraws;
}"""


def test_panning_redraws_little_and_keeps_a_tab_stop(large):
    """Whether the selected node is visible or not."""
    large.node("layers.1/add").click()
    large.page.locator(".mg-stage .mg-selected").wait_for()
    large.page.keyboard.press("Escape")
    assert large.evaluate(PAN) <= 4
    large.evaluate("e => e.shadowRoot.activeElement.blur()")
    for _ in range(4):
        large.evaluate(f"e => ({PAN})(e, 3)")
    assert large.node("layers.1/add").count() == 0
    assert large.evaluate(PAN) <= 4
    (stop,) = large.evaluate(STOPS)
    assert stop != "layers.1/add"
    layer = next(i for i in range(32) if large.node(f"layers.{i}").count())
    assert large.header(f"layers.{layer}").get_attribute("aria-posinset") == str(layer + 3)
    assert large.header(f"layers.{layer}").get_attribute("aria-setsize") == "36"


def test_drawn_nodes_are_where_the_whole_picture_has_them(large):
    differing = large.evaluate(
        """async e => {
            const whole = new DOMParser().parseFromString(await e.picture(), "image/svg+xml");
            const at = x => [x.getAttribute("transform"), x.getAttribute("class").replace(" mg-selected", "")].join();
            const places = new Map([...whole.querySelectorAll("[data-id]")].map(x => [x.dataset.id, at(x)]));
            const shown = [...e.shadowRoot.querySelectorAll(".mg-stage [data-id]")];
            const order = [...places.keys()];
            const ranks = shown.map(x => order.indexOf(x.dataset.id));
            return shown.filter((x, i) => places.get(x.dataset.id) !== at(x) || ranks[i] < (ranks[i - 1] ?? -1)).length;
        }"""
    )
    assert differing == 0


def test_far_zoomed_out_picture_has_no_text_but_names_of_blocks(large):
    for _ in range(6):
        large.page.get_by_role("button", name="Zoom out").click()
    large.node("layers.7").wait_for()
    # matches visible texts only, so it is hidden when there is none
    large.page.locator(".mg-stage text:not(.mg-face > text) >> visible=true").first.wait_for(state="hidden")
    large.node("layers.7").hover()
    assert "layers.7" in large.page.get_by_role("tooltip").inner_text()


def test_wheel_shows_the_zoom_hint_once(reader, server):
    reader.page.goto(f"{server}/two.html")
    reader.node("embed").hover()
    reader.page.mouse.wheel(0, 10)
    reader.page.get_by_text("Ctrl + wheel zooms").wait_for()
    reader.page.goto(f"{server}/one.html")
    reader.node("embed").hover()
    reader.page.mouse.wheel(0, 10)
    reader.page.wait_for_timeout(100)
    assert reader.page.get_by_text("Ctrl + wheel zooms").count() == 0


def through_lens(reader, lens):
    reader.evaluate(f"e => e.widget.linked.lens.set('{lens}')")
    button(reader, "Table (T)").wait_for()


def go_to_end(reader):
    reader.evaluate("({ widget: { camera, tree } }) => camera.lookAt(200, tree.picture.viewBox.baseVal.height - 100)")
    reader.node("layers.31.mlp").wait_for(state="attached")


def test_panning_under_a_lens_only_paints_what_is_new(large):
    through_lens(large, "parameters")
    assert large.node("layers.31.mlp").count() == 0
    button(large, "Table (T)").focus()
    go_to_end(large)
    assert large.page.locator("[data-id^='layers.31.'] > .mg-bar").count() > 0
    # its legend and table are still those of before
    assert large.evaluate(FOCUSED) == "Table (T)"


def test_a_box_beyond_the_first_rows_of_the_table_leads_to_its_row(large):
    through_lens(large, "parameters")
    button(large, "Table (T)").click()
    rows = large.page.locator(".mg-cost-rows tbody tr")
    assert rows.count() == 200
    listed = rows.evaluate_all("rows => rows.map(row => row.dataset.row)")
    go_to_end(large)
    boxes = large.page.locator(".mg-stage .mg-node[data-step]").evaluate_all(
        "nodes => nodes.map(node => node.dataset.id)"
    )
    missing = next(box for box in boxes if box not in listed)
    large.evaluate(f"e => e.widget.focus(e.widget.tree.find('{missing}'))")
    large.page.keyboard.press("t")
    assert large.evaluate("e => e.shadowRoot.activeElement.dataset.key") == f"row {missing}"
    assert rows.count() == 201
