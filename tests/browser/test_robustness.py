"""`<model-graph>` under policies, with files that fail to come, in pages that change: what works goes on working."""

import pytest

from browser.pages import HEAD

pytestmark = pytest.mark.browser


def expand(reader, diagram=0):
    reader.node("layers.0", diagram).click()
    reader.node("layers.0.mlp", diagram).wait_for()


@pytest.mark.parametrize("policy", ["wasm", "types", "named-types"])
def test_policies_that_allow_it_change_nothing(reader, server, policy):
    """WebAssembly by name, nothing inline, nothing from elsewhere; Trusted Types."""
    reader.page.goto(f"{server}/one.html?{policy}")
    expand(reader)
    assert reader.page.locator(".mg-note").inner_text() == ""
    assert reader.page.locator(".mg-stage").evaluate("e => getComputedStyle(e).position") == "relative"


def test_policy_against_all_types_of_ours_keeps_the_picture(reader, server):
    reader.page.goto(f"{server}/one.html?no-types")
    reader.node("layers.0").click()
    reader.page.locator(".mg-note:not(:empty)").wait_for()
    assert reader.node("layers.0").is_visible()


REGISTER = "(globalThis.modelDiagramsData ??= new Map).set"


@pytest.mark.parametrize(
    "content",
    ["", f"/* another diagram */ {REGISTER}('x', {{}})", f"/* half */ {REGISTER}('pkg.Missing', {{graph: {{}}}})"],
)
def test_data_that_came_broken_can_be_asked_for_again(reader, site, content):
    target = site / "modeldiagrams" / "pkg.Missing.js"
    target.write_text(content)
    reader.page.goto(f"{site.as_uri()}/missing.html")
    reader.evaluate("e => e.toggle('layers.0')")
    reader.page.get_by_text("pkg.Missing.js did not load").wait_for()
    data = (site / "modeldiagrams" / "pkg.Encoder.js").read_text().replace("pkg.Encoder", "pkg.Missing", 1)
    target.write_text(data)
    reader.page.get_by_role("button", name="Try again").click()
    reader.node("layers.0.mlp").wait_for()
    target.unlink()


def test_layout_engine_that_fails_to_come_can_be_asked_for_again(reader, server):
    """What follows a toggle follows the second try; the pointer alone never asks, and there is no empty map."""
    reader.page.route("**/viz.js", lambda route: route.abort())
    reader.page.goto(f"{server}/large.html")
    reader.evaluate("e => e.toggle('layers.0')")
    reader.page.get_by_text("viz.js did not load").wait_for()
    status = reader.page.locator("model-graph [role=status].mg-unseen-text")
    assert status.text_content() == ""
    asked = reader.requests.count("viz.js")
    reader.evaluate(
        "e => { for (let i = 0; i < 4; i++) e.shadowRoot.querySelector('[aria-label=\"Zoom in\"]').click(); }"
    )
    for x in range(100, 800, 50):
        reader.page.mouse.move(x, 300)
    assert not reader.page.locator(".mg-map").is_visible()
    assert reader.requests.count("viz.js") <= asked + 1  # the pointer's coming, ahead of the need
    reader.page.unroute("**/viz.js")
    reader.page.get_by_role("button", name="Try again").press("Enter")
    status.get_by_text("layers.0 closed").wait_for(state="attached")
    reader.page.locator(".mg-map").wait_for()
    assert reader.evaluate("e => e.shadowRoot.activeElement?.closest('[role=tree]') !== null")


def test_everything_that_failed_is_tried_again(reader, server):
    """Not only what was asked for last: the details of a node, and its edges."""
    reader.page.route("**/pkg.Encoder.js", lambda route: route.abort())
    reader.page.goto(f"{server}/one.html")
    reader.node("embed").click()
    reader.page.get_by_text("pkg.Encoder.js did not load").wait_for()
    reader.page.unroute("**/pkg.Encoder.js")
    reader.page.get_by_role("button", name="Try again").click()
    reader.page.get_by_role("region", name="Details").wait_for()
    reader.page.locator(".mg-lit").wait_for(state="attached")
    assert reader.page.locator(".mg-note").inner_text() == ""


def test_what_did_not_load_is_told_until_it_did(reader, server):
    """What works without it does not wipe the words away; another press that works does."""
    reader.page.route("**/viz.js", lambda route: route.abort())
    reader.page.goto(f"{server}/one.html")
    reader.node("embed").click()
    reader.page.get_by_role("region", name="Details").wait_for()
    reader.node("head").click()
    reader.page.get_by_role("region", name="Details").get_by_text("head").first.wait_for()
    reader.page.get_by_text("viz.js did not load").wait_for()
    reader.page.unroute("**/viz.js")
    expand(reader)
    assert reader.page.locator(".mg-note").inner_text() == ""


def test_diagram_runs_no_script_from_elsewhere(reader, site, server):
    """An element in text that somebody else wrote can't bring one."""
    text = (site / "one.html").read_text("utf-8").replace('src="modeldiagrams/pkg.', 'src="https://x.invalid/pkg.')
    (site / "foreign.html").write_text(text, encoding="utf-8")
    reader.page.goto(f"{server}/foreign.html")
    reader.evaluate("e => e.toggle('layers.0')")
    reader.page.locator(".mg-note:not(:empty)").wait_for()
    assert "pkg.Encoder.js" not in reader.requests


def test_two_versions_of_the_script(reader, site, server):
    """As where pages of two builds are put together: the first one serves all diagrams."""
    script = (site / "modeldiagrams" / "model-graph.js").read_text("utf-8")
    (site / "modeldiagrams" / "other-version.js").write_text(f"globalThis.otherVersion = 1;{script}", encoding="utf-8")
    text = (site / "again.html").read_text("utf-8")
    other = text.replace("</main>", '<script src="modeldiagrams/other-version.js" defer></script></main>')
    (site / "versions.html").write_text(other, encoding="utf-8")
    reader.page.goto(f"{server}/versions.html")
    assert reader.page.evaluate("otherVersion") == 1
    for diagram in (0, 1):
        expand(reader, diagram)


def test_a_tab_that_was_closed_while_the_picture_changed(reader, server):
    reader.page.goto(f"{server}/hidden.html")
    reader.evaluate("e => e.toggle('layers.0')")
    reader.page.locator("#fold > summary").click()
    assert reader.node("layers.0.mlp").bounding_box()["width"] > 20
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    reader.page.locator("#fold > summary").click()
    reader.evaluate("e => e.toggle('layers.1')")
    reader.page.locator("#fold > summary").click()
    stage, svg = (reader.page.locator(name).bounding_box() for name in (".mg-stage", ".mg-stage svg"))
    assert abs(svg["x"] + svg["width"] / 2 - stage["x"] - stage["width"] / 2) < 10


def test_element_made_by_script_and_thrown_away(reader, site, server):
    """A page that builds its content late, as application frameworks do."""
    body = (site / "one.html").read_text("utf-8").partition("<main>")[2].partition("</main>")[0]
    (site / "late.html").write_text(f"{HEAD}<title>late</title><main></main>", encoding="utf-8")
    reader.page.goto(f"{server}/late.html")
    reader.page.add_script_tag(url="modeldiagrams/model-graph.js")
    for _ in range(2):
        reader.page.evaluate("html => { document.querySelector('main').innerHTML = html; }", body)
        expand(reader)
    reader.page.evaluate("document.querySelector('main').replaceChildren()")
    reader.page.evaluate("scrollTo(0, 10); location.hash = 'x'")


def test_focus_fetches_what_a_press_will_need(reader, server):
    reader.page.goto(f"{server}/one.html", wait_until="networkidle")
    assert "viz.js" not in reader.requests
    reader.page.keyboard.press("Tab")
    reader.page.wait_for_function("window.modelDiagramsData?.size && window.modelDiagramsViz")


def test_paper_gets_a_large_picture_as_the_page_shipped_it(reader, server):
    reader.page.goto(f"{server}/large.html")
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")
    reader.page.emulate_media(media="print")
    still = reader.page.locator(".mg-still svg")
    assert still.locator("[data-id='layers.39.mlp']").is_visible()
    assert not reader.page.locator(".mg-map").is_visible()


def test_many_diagrams_come_to_life_one_by_one(reader, site, server):
    """Twenty on a page are no single long task."""
    body = (site / "one.html").read_text("utf-8").partition("<main>")[2].partition("</main>")[0]
    (site / "many.html").write_text(f"{HEAD}<title>many</title><main>{body * 20}</main>", encoding="utf-8")
    reader.page.goto(f"{server}/many.html")
    reader.page.wait_for_function("[...document.querySelectorAll('model-graph')].every(e => e.shadowRoot !== null)")
    expand(reader, 19)


def test_paper_shows_nothing_of_what_a_reader_did(reader, server):
    reader.page.goto(f"{server}/one.html")
    fill = "e => getComputedStyle(e).fill"
    box = reader.node("embed").locator(".mg-box")
    before = box.evaluate(fill)
    reader.node("head").click()
    reader.page.get_by_role("button", name="What leads here").click()
    reader.page.get_by_role("button", name="More controls").click()
    reader.page.get_by_label("Colour by").last.select_option("flops")
    reader.page.locator(".mg-scale").wait_for()
    assert box.evaluate(fill) != before
    reader.page.emulate_media(media="print")
    assert box.evaluate(fill) == before
    for part in (".mg-lit", ".mg-panel-sheet", ".mg-scale", ".mg-tip"):
        assert not reader.page.locator(part).is_visible()
