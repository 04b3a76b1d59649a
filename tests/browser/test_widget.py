"""Reading a diagram: loading, keyboard, expanding and collapsing."""

import pytest

from browser.controls import box, item, settled

BEFORE_INTEREST = ["one.html", "model-graph.css", "model-graph.js"]


def test_initial_picture_needs_no_script(reader_with, site):
    with reader_with(java_script_enabled=False) as reader:
        reader.page.goto(f"{site.as_uri()}/one.html")
        assert reader.page.locator("model-graph > svg [data-id='layers.0']").is_visible()
        assert reader.page.locator("summary").is_visible()


def test_script_does_not_move_the_picture(reader, reader_with, site):
    url = f"{site.as_uri()}/two.html"
    with reader_with(java_script_enabled=False) as still:
        still.page.goto(url)
        before = box(still.page.locator("model-graph > svg").nth(1))
    reader.page.goto(url)
    assert box(reader.page.locator("model-graph").nth(1).locator(".mg-stage svg")) == before


@pytest.mark.requests
def test_nothing_is_loaded_before_a_reader_shows_interest(reader, address):
    reader.page.goto(f"{address}/one.html", wait_until="networkidle")
    assert sorted(set(reader.requests)) == sorted(BEFORE_INTEREST)
    reader.node("layers.0").hover()
    reader.page.wait_for_function(
        "window.modelDiagramsData?.size && window.modelDiagramsViz && !!window.modelDiagramsExplore"
    )
    assert sorted(set(reader.requests)) == sorted(
        [*BEFORE_INTEREST, "core.js", "explore.js", "pkg.Encoder.js", "viz.js"]
    )


@pytest.mark.requests
@pytest.mark.parametrize("by", ["pointer", "focus"])
def test_what_is_needed_is_loaded_when_a_reader_comes_near(reader, server, by):
    """And not before: 200 px away is elsewhere on the page."""
    reader.page.goto(f"{server}/two.html", wait_until="networkidle")
    reader.page.evaluate(
        """() => {
            const diagram = document.querySelector("model-graph");
            for (const [name, below] of [["far", 200], ["near", 20]]) {
                const button = document.createElement("button");
                Object.assign(button, { textContent: name, style: `display: block; margin-bottom: ${below}px` });
                diagram.before(button);
            }
            scrollTo(0, diagram.getBoundingClientRect().top - 400);
        }"""
    )
    for name in ("far", "near"):
        button = reader.page.get_by_role("button", name=name)
        if by == "pointer":
            place = box(button)
            reader.page.mouse.move(place["x"] + 9, place["y"] + 9)
        else:
            button.focus()
        if name == "far":
            reader.page.wait_for_timeout(300)
            assert sorted(set(reader.requests)) == ["model-graph.css", "model-graph.js", "two.html"]
    reader.page.wait_for_function("window.modelDiagramsData?.size && window.modelDiagramsViz")
    assert "pkg.Decoder.js" not in reader.requests


def test_click_expands_and_collapses(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.node("layers.0").click()
    reader.node("layers.0.attention").wait_for()
    reader.header("layers.0").click()
    reader.node("layers.0.attention").wait_for(state="detached")
    assert reader.node("layers.0").is_visible()


def test_toggled_module_stays_in_place(reader, server):
    reader.page.goto(f"{server}/two.html")
    reader.node("layers.0").scroll_into_view_if_needed()
    before = box(reader.node("layers.0"))
    scrolled = reader.page.evaluate("scrollY")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    settled(reader)
    after = box(reader.header("layers.0"))
    assert abs(after["y"] - before["y"]) < 12
    assert reader.page.evaluate("scrollY") == scrolled
    pointer_x = before["x"] + before["width"] / 2
    assert after["x"] <= pointer_x <= after["x"] + after["width"]


@pytest.mark.requests
def test_diagrams_of_one_page_are_independent(reader, server):
    reader.page.goto(f"{server}/two.html")
    reader.node("layers.0", 1).click()
    reader.node("layers.0.mlp", 1).wait_for()
    assert reader.node("layers.0.mlp", 0).count() == 0
    reader.node("layers.2", 0).click()
    reader.node("layers.2.mlp", 0).wait_for()
    assert "pkg.Encoder.js" in reader.requests
    assert reader.requests.count("viz.js") == 1


def test_keyboard_navigates_expands_and_collapses(reader, server):
    page = reader.page
    reader.page.goto(f"{server}/one.html")
    page.keyboard.press("Tab")
    focused = "e => e.shadowRoot.activeElement?.closest('[data-id]')?.dataset.id"
    assert reader.evaluate(focused) == "input:x"
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    assert reader.evaluate(focused) == "layers.0"
    assert reader.node("layers.0").get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    reader.node("layers.0.attention").wait_for()
    assert reader.evaluate(focused) == "layers.0"
    assert reader.header("layers.0").get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowRight")
    assert reader.evaluate(focused).startswith("layers.0")
    assert reader.evaluate(focused) != "layers.0"
    page.keyboard.press("ArrowLeft")
    assert reader.evaluate(focused) == "layers.0"
    page.keyboard.press("Space")
    reader.node("layers.0.attention").wait_for(state="detached")
    page.keyboard.press("End")
    assert reader.evaluate(focused) == "output:y"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert reader.evaluate("e => e.shadowRoot.activeElement?.ariaLabel") == "Zoom out"


def test_focused_node_is_outlined_and_revealed(reader, server):
    reader.page.set_viewport_size({"width": 500, "height": 300})
    reader.page.goto(f"{server}/tall.html")
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("End")
    last = reader.node("output:y")
    assert last.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    place = box(last)
    assert 0 <= place["y"] <= 300 - place["height"]


def test_tree_has_roles_and_a_name(reader, server):
    reader.page.goto(f"{server}/one.html")
    tree = reader.page.get_by_role("tree")
    assert tree.get_attribute("aria-label").startswith("Architecture of Encoder")
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    assert tree.get_attribute("aria-label").startswith("Architecture of Encoder")
    assert reader.node("layers.0.mlp").get_attribute("aria-level") == "2"


def test_no_animation_under_reduced_motion(reader_with, server):
    with reader_with(reduced_motion="reduce") as reader:
        reader.page.goto(f"{server}/one.html")
        reader.page.evaluate("() => { window.calls = 0; Element.prototype.animate = () => { window.calls += 1; }; }")
        reader.node("layers.0").click()
        reader.node("layers.0.mlp").wait_for()
        reader.page.get_by_role("button", name="Zoom in").click()
        assert reader.page.evaluate("calls") == 0


def test_repeats_unroll_and_roll_up(reader, server):
    """By the pill `×6`, then by the key."""
    reader.page.goto(f"{server}/rolled.html")
    pill = reader.page.get_by_role("button", name="Show all ×6")
    pill.click()
    reader.node("layers.5").wait_for()
    reader.node("layers.0").focus()
    reader.page.keyboard.press("r")
    reader.node("layers.5").wait_for(state="detached")
    assert reader.node("layers.0").is_visible()


def test_plumbing_can_be_shown_and_hidden(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.page.get_by_role("button", name="More controls").click()
    switch = item(reader, "reshapes")
    for shown in ("true", "false"):
        switch.click()
        reader.page.wait_for_function(
            "shown => document.querySelector('model-graph').shadowRoot"
            ".querySelector('[role=menuitemcheckbox]').getAttribute('aria-checked') === shown",
            arg=shown,
        )


def test_space_on_a_leaf_shows_its_details(reader, server):
    """As Enter does; the page does not scroll."""
    reader.page.goto(f"{server}/two.html")
    reader.node("embed").focus()
    scrolled = reader.page.evaluate("scrollY")
    reader.page.keyboard.press("Space")
    reader.page.get_by_role("region", name="Details").wait_for()
    assert reader.page.evaluate("scrollY") == scrolled
