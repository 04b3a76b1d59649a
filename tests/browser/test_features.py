"""What a reader can learn from a `<model-graph>`, beyond opening and closing."""

import pytest

pytestmark = pytest.mark.browser

SELECTED = "e => e.shadowRoot.querySelector('.mg-stage .mg-selected')?.dataset.id"


def button(reader, name):
    return reader.page.get_by_role("button", name=name)


def details(reader):
    return reader.page.get_by_role("region", name="Details")


def facts(reader):
    """Label → lines of the details panel."""
    return {
        row.locator("dt").inner_text(): row.locator("dd").all_inner_texts()
        for row in details(reader).locator("dl").all()
    }


def open_page(reader, server, name="one"):
    reader.page.goto(f"{server}/{name}.html")


# -- details ----------------------------------------------------------------------------------------------------------


def test_click_on_a_node_tells_what_is_known_of_it(reader, server):
    open_page(reader, server, "rich")
    reader.node("head").click()
    panel = details(reader)
    panel.get_by_text("head", exact=True).wait_for()
    assert panel.get_by_role("link", name="Linear").get_attribute("href").endswith("#torch.nn.Linear")
    link = panel.get_by_role("link", name="src/pkg/model.py:12")
    assert link.get_attribute("href") == "https://example.org/blob/main/src/pkg/model.py#L12"
    told = facts(reader)
    assert told["Parameters"] == ["16 (25 %)"]
    assert told["FLOPs"] == ["2K (50 %)"]
    assert told["Activations"] == ["4 KiB (25 %)"]
    assert told["Arguments"] == ["64", "bias=false"]
    assert told["Weights"] == ["weight: 4×4 float32"]
    assert told["Tied weights"] == ["head.weight = embed.weight"]
    assert told["Inputs"] == ["input: 1×16×64 float32"]
    assert told["Outputs"] == ["output: 1×16×64 float32"]


def test_source_is_plain_text_without_a_link_from_the_host(reader, server):
    open_page(reader, server, "rich")
    reader.evaluate("e => e.removeAttribute('source-link')")
    reader.node("head").click()
    details(reader).get_by_text("src/pkg/model.py:12").wait_for()
    assert details(reader).get_by_role("link").count() == 1


def test_source_of_a_library_is_no_line_of_the_sites_repository(reader, server):
    open_page(reader, server, "rich")
    template = "https://example.org/blob/main/lib/{path:mypkg src}#L{line}"
    reader.evaluate(f"e => e.setAttribute('source-link', '{template}')")
    reader.node("head").click()
    link = details(reader).get_by_role("link", name="src/pkg/model.py:12")
    assert link.get_attribute("href") == "https://example.org/blob/main/lib/src/pkg/model.py#L12"
    several = (
        f"https://example.org/{{path:mypkg}} {template.replace('lib', 'second')} https://example.org/third/{{path}}"
    )
    reader.evaluate(f"e => e.setAttribute('source-link', '{several}')")
    reader.node("embed").click()
    details(reader).get_by_text("embed", exact=True).wait_for()
    reader.node("head").click()
    link = details(reader).get_by_role("link", name="src/pkg/model.py:12")
    assert link.get_attribute("href") == "https://example.org/blob/main/second/src/pkg/model.py#L12"
    reader.evaluate(f"e => e.setAttribute('source-link', '{template.replace(' src', '')}')")
    reader.node("embed").click()
    details(reader).get_by_text("embed", exact=True).wait_for()
    reader.node("head").click()
    details(reader).get_by_text("src/pkg/model.py:12").wait_for()
    assert details(reader).get_by_role("link", name="src/pkg/model.py:12").count() == 0


def test_source_link_can_only_be_a_web_address(reader, server):
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
    assert reader.evaluate("e => e.shadowRoot.activeElement.closest('[data-id]').dataset.id") == "layers.0"
    reader.page.keyboard.press("i")
    details(reader).wait_for()


def test_details_once_closed_stay_closed_when_a_module_is_opened(reader, server):
    open_page(reader, server)
    reader.node("layers.0").click()
    button(reader, "Close (Esc)").click()
    reader.node("layers.1").click()
    reader.node("layers.1.mlp").wait_for()
    assert not details(reader).is_visible()
    reader.node("embed").click()
    details(reader).wait_for()


def test_model_itself_has_details_with_what_was_assumed(reader, server):
    open_page(reader, server, "rich")
    button(reader, "More controls").click()
    button(reader, "Details").click()
    details(reader).get_by_text("Rich").first.wait_for()
    told = facts(reader)
    assert told["Assumed"] == ["x = [1, 16]: nothing was said"]
    assert told["Parameters"] == ["64"]


def test_details_are_below_the_picture_on_narrow_screens(reader_with, server):
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": 320, "height": 640}) as reader:
        open_page(reader, server)
        reader.node("embed").tap()
        details(reader).wait_for()
        stage = reader.page.locator(".mg-stage").bounding_box()
        assert details(reader).bounding_box()["y"] >= stage["y"] + stage["height"]
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_one_of_a_run_can_be_opened(reader, server):
    open_page(reader, server, "rolled")
    reader.node("layers.0").click()
    reader.page.get_by_label("Repeats").select_option("layers.3")
    reader.node("layers.3.mlp").wait_for()
    assert reader.node("layers.5").is_visible()
    assert reader.node("layers.5.mlp").count() == 0
    reader.page.wait_for_function(f"({SELECTED})(document.querySelector('model-graph')) === 'layers.3'")


# -- search -----------------------------------------------------------------------------------------------------------


def test_search_brings_hits_to_light_one_after_the_other(reader, server):
    open_page(reader, server, "rolled")
    reader.node("embed").focus()
    reader.page.keyboard.press("/")
    reader.page.keyboard.type("mlp up")
    reader.page.get_by_text("0 of 6").wait_for()
    reader.page.keyboard.press("Shift+Enter")
    reader.page.get_by_text("6 of 6").wait_for()
    reader.node("layers.5.mlp.up").wait_for()
    reader.page.wait_for_function(f"({SELECTED})(document.querySelector('model-graph')) === 'layers.5.mlp.up'")
    reader.page.keyboard.press("Enter")
    reader.page.get_by_text("1 of 6").wait_for()
    reader.page.keyboard.press("Escape")
    assert reader.page.get_by_role("search").count() == 0
    assert reader.evaluate("e => e.shadowRoot.activeElement.closest('[data-id]').dataset.id") == "layers.0.mlp.up"


@pytest.mark.parametrize(
    ("typed", "count"),
    [("pkg.attention", "0 of 3"), ("1x16x64 head", "0 of 1"), ("mpdwn", "0 of 3"), ("zebra", "Nothing")],
)
def test_search_by_class_shape_and_letters(reader, server, typed, count):
    open_page(reader, server)
    button(reader, "Search").click()
    reader.page.keyboard.type(typed)
    reader.page.get_by_role("search").get_by_text(count).wait_for()


# -- paths ------------------------------------------------------------------------------------------------------------


def lit(reader):
    """Nodes that do not step back."""
    return reader.evaluate(
        "e => e.shadowRoot.querySelector('.mg-dim')"
        " && [...e.shadowRoot.querySelectorAll('.mg-stage .mg-on')].map(n => n.dataset.id)"
    )


def test_what_leads_to_a_node_and_what_follows_are_lit(reader, server):
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


def test_shortest_way_between_two_nodes(reader, server):
    open_page(reader, server)
    reader.node("layers.1").click()
    reader.node("layers.1.mlp").wait_for()
    reader.node("layers.0").focus()
    reader.page.keyboard.press("i")
    button(reader, "Path to").click()
    reader.page.get_by_text("Choose the other end").wait_for()
    reader.node("layers.1/mul").click()
    reader.page.wait_for_function(
        "document.querySelector('model-graph').shadowRoot.querySelector('.mg-dim .mg-on')", timeout=5000
    )
    assert lit(reader) == ["layers.0", "layers.1/add", "layers.1/mul"]
    reader.evaluate("e => e.toggle('layers.1.attention')")
    reader.node("layers.1.attention.query").click()
    button(reader, "Path to").click()
    reader.node("layers.1.attention.key").click()
    reader.page.get_by_text("Nothing flows between these two").wait_for()
    reader.page.wait_for_timeout(100)
    assert reader.page.get_by_text("Nothing flows between these two").is_visible()


def test_hover_lights_the_edges_of_a_node(reader, server):
    open_page(reader, server)
    reader.node("embed").hover()
    reader.page.wait_for_function("window.modelDiagramsData?.size && window.modelDiagramsViz")
    reader.node("head").hover()
    reader.page.locator(".mg-near").wait_for(state="attached")
    reader.page.mouse.move(1, 1)
    reader.page.locator(".mg-near").wait_for(state="detached")


def test_edge_under_the_pointer_tells_its_tensor(reader, server):
    open_page(reader, server, "rich")
    reader.node("embed").hover()
    reader.page.wait_for_function("window.modelDiagramsData?.size && window.modelDiagramsViz")
    box = reader.node("embed").bounding_box()
    for down in (1, 4, 5):  # the data may come only after the first movement
        reader.page.mouse.move(box["x"] + box["width"] / 2 + 3, box["y"] + box["height"] + down)
    tip = reader.page.get_by_role("tooltip")
    tip.wait_for()
    assert tip.inner_text() == "hidden: 1×16×64 float32"


# -- colours ----------------------------------------------------------------------------------------------------------


def luminance(colour):
    channels = [float(value) / 255 for value in colour[:3]]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


PIXELS = """([text, fill]) => {
  const page = getComputedStyle(document.body).backgroundColor;
  const context = document.createElement('canvas').getContext('2d');
  const paint = (...colours) => {
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  return [paint(page, fill, text), paint(page, fill)];
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("by", ["parameters", "class"])
def test_words_stay_legible_on_every_colour(reader, server, by, dark):
    open_page(reader, server, "rich")
    if dark:
        reader.page.evaluate("document.body.style = 'background: #131416; color: #cfd0d0'")
    else:
        reader.page.evaluate("document.body.style = 'background: #fff; color: #222'")
    button(reader, "More controls").click()
    reader.page.get_by_label("Colour by").select_option(by)
    reader.page.locator(".mg-scale .mg-swatch").first.wait_for()
    for step in range(1, 9 if by == "class" else 6):
        reader.evaluate(
            "(e, step) => { e.shadowRoot.querySelector('.mg-stage [data-id=head]').dataset.step = step; }".replace(
                ", step)", f", step = {step})"
            )
        )
        colours = reader.evaluate(
            "e => { const node = e.shadowRoot.querySelector('.mg-stage [data-id=head]');"
            " return [getComputedStyle(node.querySelector('.mg-detail')).fill,"
            " getComputedStyle(node.querySelector('.mg-box')).fill]; }"
        )
        assert contrast(*reader.page.evaluate(PIXELS, colours)) >= 4.5


def test_colour_by_amount_has_a_scale_and_survives_a_toggle(reader, server):
    open_page(reader, server, "rich")
    button(reader, "More controls").click()
    reader.page.get_by_label("Colour by").select_option("flops")
    scale = reader.page.locator(".mg-scale")
    scale.get_by_text("FLOPs:").wait_for()
    assert scale.locator(".mg-entry").all_inner_texts()[0] == "1K"
    assert reader.node("head").get_attribute("data-step") == "5"
    reader.node("layers.0").click()
    reader.node("layers.0.mlp").wait_for()
    assert reader.node("head").get_attribute("data-step") == "5"
    assert reader.node("layers.0/add").get_attribute("data-step") == "0"
    reader.page.get_by_label("Colour by").select_option("kind", force=True)
    scale.wait_for(state="hidden")


# -- one module alone -------------------------------------------------------------------------------------------------


def test_one_module_alone_and_back_by_its_path(reader, server):
    open_page(reader, server)
    reader.node("layers.1").focus()
    reader.page.keyboard.press("i")
    button(reader, "Show alone").press("Enter")
    reader.node("layers.1.attention").wait_for()
    assert reader.node("head").count() == 0
    # what was pressed is gone, the focus stays in the picture
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


# -- opening and closing many -----------------------------------------------------------------------------------------


def test_open_to_a_level_and_back_to_what_the_author_shows(reader, server):
    open_page(reader, server)
    button(reader, "More controls").click()
    reader.page.get_by_role("group", name="Open to level").get_by_role("button", name="2").click()
    reader.node("layers.2.mlp.up").wait_for()
    button(reader, "As the author shows it").click()
    reader.node("layers.2.mlp").wait_for(state="detached")
    assert reader.node("layers.2").is_visible()


def test_everything_inside_one_module_opens_and_closes(reader, server):
    open_page(reader, server)
    reader.node("layers.1").focus()
    reader.page.keyboard.press("i")
    button(reader, "Open all inside").click()
    reader.node("layers.1.mlp.up").wait_for()
    assert reader.node("layers.0.mlp").count() == 0
    # the keyboard stays where it was, though the picture and the details are others
    button(reader, "Close all inside").press("Enter")
    reader.node("layers.1.mlp").wait_for(state="detached")
    assert reader.evaluate("e => e.shadowRoot.activeElement.textContent") == "Close all inside"


def test_asterisk_opens_the_modules_beside_one(reader, server):
    open_page(reader, server)
    reader.node("layers.0").focus()
    reader.page.keyboard.press("*")
    for layer in range(3):
        reader.node(f"layers.{layer}.mlp").wait_for()


# -- everyone ---------------------------------------------------------------------------------------------------------


def test_outline_shows_in_the_picture_and_is_marked(reader, server):
    open_page(reader, server)
    reader.page.locator("summary").click()
    row = reader.page.locator(".mg-outline").get_by_role("button", name="up").first
    row.press("Enter")
    reader.node("layers.0.mlp.up").wait_for()
    reader.page.wait_for_function(f"({SELECTED})(document.querySelector('model-graph')) === 'layers.0.mlp.up'")
    assert row.get_attribute("aria-current") == "true"
    reader.node("layers.0.mlp.up").focus()
    reader.page.keyboard.press("End")
    reader.page.keyboard.press("ArrowUp")
    head = reader.page.locator(".mg-outline").get_by_role("button", name="head")
    assert head.get_attribute("aria-current") == "true"
    assert row.get_attribute("aria-current") is None


def test_words_can_be_translated(reader, server):
    reader.page.add_init_script("globalThis.modelDiagramsStrings = { zoomIn: 'Vergrößern' }")
    open_page(reader, server)
    assert button(reader, "Vergrößern").count() == 1
    assert button(reader, "Zoom out").count() == 1


def test_details_work_where_nothing_can_be_drawn(reader, server):
    """Details need the data only; a page that forbids WebAssembly has them all the same."""
    reader.page.goto(f"{server}/one.html?csp")
    reader.node("embed").click()
    details(reader).get_by_text("embed", exact=True).wait_for()
    assert facts(reader)["Parameters"] == ["16 (25 %)"]
    # what needs more does not come by the pointer
    reader.node("head").hover()
    reader.page.mouse.move(450, 5)
    assert "viz.js" not in reader.requests


# -- toolbar ----------------------------------------------------------------------------------------------------------


def test_toolbar_is_beside_the_outline_and_over_no_node(reader, server):
    reader.page.set_viewport_size({"width": 500, "height": 420})
    open_page(reader, server, "tall")
    # as a picture with nothing at its left
    reader.evaluate("e => { e.shadowRoot.querySelector('.mg-canvas').style.marginLeft = '230px'; }")
    reader.page.locator(".mg-stage").hover(position={"x": 5, "y": 5})
    toolbar = reader.page.locator(".mg-toolbar")
    lefts = set()
    for down in range(0, 400, 40):
        reader.page.evaluate(f"scrollTo(0, {down})")
        reader.page.wait_for_timeout(50)
        bar = toolbar.bounding_box()
        nodes = [node.bounding_box() for node in reader.page.locator(".mg-stage .mg-node").all()]
        assert not any(overlap(bar, node) for node in nodes)
        lefts.add(bar["x"] < 200)
    assert True in lefts
    reader.page.locator("summary").scroll_into_view_if_needed()
    assert abs(toolbar.bounding_box()["y"] - reader.page.locator("summary").bounding_box()["y"]) < 8


def overlap(one, other):
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )
