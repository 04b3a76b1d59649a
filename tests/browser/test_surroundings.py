"""`<model-graph>` in places that make it hard: policies, failures, hosts that move it about, paper, hostile text."""

import pytest

from browser.pages import HOSTILE

pytestmark = pytest.mark.browser


def expand(reader, diagram=0):
    reader.node("layers.0", diagram).click()
    reader.node("layers.0.mlp", diagram).wait_for()


def test_policy_without_webassembly_keeps_the_picture_and_says_so(reader, server):
    reader.page.goto(f"{server}/one.html?csp")
    reader.node("layers.0").click()
    reader.page.get_by_text("stays a picture").wait_for()
    assert reader.node("layers.0").is_visible()
    assert "viz.js" not in reader.requests
    before = reader.node("layers.0").bounding_box()["width"]
    reader.page.get_by_role("button", name="Zoom in").click()
    reader.page.wait_for_timeout(200)
    assert reader.node("layers.0").bounding_box()["width"] > before


def test_failed_load_says_so_and_can_be_tried_again(reader, site):
    reader.page.goto(f"{site.as_uri()}/missing.html")
    reader.evaluate("e => e.toggle('layers.0')")
    reader.page.get_by_text("pkg.Missing.js did not load").wait_for()
    data = (site / "modeldiagrams" / "pkg.Encoder.js").read_text().replace("pkg.Encoder", "pkg.Missing", 1)
    target = site / "modeldiagrams" / "pkg.Missing.js"
    target.write_text(data)
    reader.page.get_by_role("button", name="Try again").click()
    reader.node("layers.0.mlp").wait_for()
    assert reader.page.locator(".mg-note").inner_text() == ""
    target.unlink()


def test_script_may_come_many_times_and_in_two_versions(reader, address):
    reader.page.goto(f"{address}/again.html")
    reader.page.add_script_tag(url="modeldiagrams/model-graph.js")
    expand(reader, 0)
    expand(reader, 1)
    assert reader.page.locator("model-graph .mg-stage").count() == 2


def test_instant_navigation_there_and_back(reader, server):
    """As Material does it: the content is exchanged by script, and scripts in it are run again."""
    reader.page.goto(f"{server}/one.html")
    exchange = """async page => {
        const text = await (await fetch(page)).text();
        history.pushState({}, "", page);
        const content = new DOMParser().parseFromString(text, "text/html").querySelector("main");
        document.querySelector("main").replaceWith(document.importNode(content, true));
        for (const old of document.querySelectorAll("main script")) {
            const script = document.createElement("script");
            script.src = old.src;
            old.replaceWith(script);
            await new Promise(done => { script.onload = done; });
        }
    }"""
    for name in ("two.html", "one.html"):
        reader.page.evaluate(exchange, name)
        expand(reader)


def test_moving_the_element_keeps_its_state(reader, server):
    reader.page.goto(f"{server}/one.html")
    expand(reader)
    reader.evaluate(
        "e => { const box = document.createElement('div'); document.body.append(box); e.remove(); box.append(e); }"
    )
    assert reader.node("layers.0.mlp").is_visible()
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")


def test_works_where_it_was_hidden_at_first(reader, server):
    reader.page.goto(f"{server}/hidden.html")
    reader.page.locator("#fold > summary").click()
    assert reader.node("embed").bounding_box()["width"] > 20
    expand(reader)


def test_element_defined_before_the_parser_reaches_it(reader, server):
    reader.page.goto(f"{server}/again.html")
    assert reader.page.locator("model-graph .mg-stage svg").count() == 2


def test_standalone_file_works_from_disk_and_asks_for_nothing(reader, site):
    reader.page.goto(f"{site.as_uri()}/alone.html")
    expand(reader)
    assert reader.requests == ["alone.html"]


def test_standalone_file_works_in_a_sandboxed_frame(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.page.evaluate(
        """async () => {
            const frame = document.createElement("iframe");
            frame.sandbox = "allow-scripts";
            frame.width = frame.height = 600;
            frame.srcdoc = await (await fetch("alone.html")).text();
            document.body.replaceChildren(frame);
        }"""
    )
    frame = reader.page.frame_locator("iframe")
    frame.locator("[data-id='layers.0']").click()
    frame.locator("[data-id='layers.0.mlp']").wait_for()


def test_paper_gets_the_whole_still_picture(reader, server):
    reader.page.goto(f"{server}/tall.html")
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    for _ in range(5):
        reader.page.get_by_role("button", name="Zoom in").click()
    reader.page.emulate_media(media="print")
    still = reader.page.locator(".mg-still svg")
    assert still.locator("[data-id='layers.0.mlp']").is_visible()
    assert not reader.page.locator(".mg-stage").is_visible()
    assert not reader.page.locator(".mg-toolbar").is_visible()
    width, height = still.evaluate(
        "e => [e.clientWidth / e.width.baseVal.value, e.clientHeight / e.height.baseVal.value]"
    )
    assert width == pytest.approx(height, rel=0.01)
    assert still.bounding_box()["height"] <= reader.page.evaluate("document.documentElement.scrollHeight")


def test_paper_gets_the_whole_picture_when_it_was_only_zoomed(reader, server):
    reader.page.goto(f"{server}/one.html")
    before = reader.page.locator(".mg-stage svg").bounding_box()
    for _ in range(5):
        reader.page.get_by_role("button", name="Zoom in").click()
    reader.page.emulate_media(media="print")
    assert reader.page.locator(".mg-stage svg").bounding_box() == before


def test_hostile_text_is_only_text(reader, address):
    reader.page.goto(f"{address}/hostile.html")
    assert HOSTILE.replace("\u202e", "\ufffd") in reader.page.locator(".mg-problem").inner_text()
    expand(reader)
    reader.page.locator(".mg-outline > summary").click()
    assert reader.page.locator("img").count() == 0
    assert reader.evaluate("e => e.shadowRoot.querySelectorAll('img, script, a').length") == 0


def test_sizes_of_the_author_hold_with_and_without_script(reader, reader_with, server):
    url = f"{server}/sized.html"
    with reader_with(java_script_enabled=False) as still:
        still.page.goto(url)
        assert still.page.locator("model-graph").bounding_box()["width"] == 400
        picture = still.page.locator("model-graph > svg").bounding_box()
    assert picture["height"] == pytest.approx(150)
    reader.page.goto(url)
    assert reader.page.locator(".mg-stage svg").bounding_box() == picture


def test_wide_pictures_fit_narrow_pages_and_small_ones_are_not_enlarged(reader, server):
    reader.page.goto(f"{server}/one.html")
    natural = "e => e.shadowRoot.querySelector('.mg-stage svg').width.baseVal.value"
    assert reader.page.locator(".mg-stage svg").bounding_box()["width"] == reader.evaluate(natural)
    reader.page.set_viewport_size({"width": 120, "height": 600})
    assert reader.page.locator(".mg-stage svg").bounding_box()["width"] <= 120


def test_page_styles_do_not_reach_the_widget_nor_the_other_way_round(reader, server):
    reader.page.goto(f"{server}/one.html")
    reader.page.add_style_tag(content="svg, text, button, rect { fill: red !important; display: none !important; }")
    assert reader.node("embed").is_visible()
    reader.page.set_content("<p class='mg-note mg-stage'>x</p><svg class='x'><text>y</text></svg><button>z</button>")
    plain = reader.page.evaluate("getComputedStyle(document.querySelector('button')).cursor")
    assert plain == "default"


def test_colours_follow_the_page_live(reader, server):
    reader.page.goto(f"{server}/one.html")
    colour = "e => getComputedStyle(e.shadowRoot.querySelector('.mg-stage text')).fill"
    reader.page.evaluate("document.body.style.color = 'rgb(10, 10, 10)'")
    dark_on_light = reader.evaluate(colour)
    reader.page.evaluate("document.body.style.color = 'rgb(240, 240, 240)'")
    assert reader.evaluate(colour) != dark_on_light
