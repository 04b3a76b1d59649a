"""Scripts that do not load: messages and retries."""

import pytest

from browser.controls import expand, wait_until


def test_missing_data_shows_a_message_and_can_be_retried(reader, site):
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


def test_a_page_copied_to_another_folder_finds_data_beside_the_viewer(reader, site):
    """As `print-site` does, with addresses relative to where the diagram was."""
    page = (site / "missing.html").read_text().replace("pkg.Missing", "pkg.Encoder")
    data = 'src="modeldiagrams/pkg.Encoder.js"'
    assert data in page
    copied = page.replace('"modeldiagrams/', '"../../modeldiagrams/').replace(data.replace("m", "../../m", 1), data)
    target = site / "copied" / "all" / "index.html"
    target.parent.mkdir(parents=True)
    target.write_text(copied)
    reader.page.goto(target.as_uri())
    reader.evaluate("e => e.toggle('layers.0')")
    reader.node("layers.0.mlp").wait_for()


REGISTER = "(globalThis.modelDiagramsData ??= new Map).set"


@pytest.mark.parametrize(
    "content",
    ["", f"/* another diagram */ {REGISTER}('x', {{}})", f"/* half */ {REGISTER}('pkg.Missing', {{graph: {{}}}})"],
)
def test_broken_data_can_be_retried(reader, site, content):
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


@pytest.mark.requests
def test_missing_layout_engine_can_be_retried(reader, server):
    """The announcement follows the retry; the pointer alone never loads again."""
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
    assert reader.requests.count("viz.js") <= asked + 1  # prefetched when the pointer enters
    reader.page.unroute("**/viz.js")
    again = reader.page.get_by_role("button", name="Try again")
    again.focus()  # which loads what is missing
    reader.page.wait_for_function("globalThis.modelDiagramsViz")
    reader.page.wait_for_timeout(200)
    again.press("Enter")
    status.get_by_text("layers.0 closed").wait_for(state="attached")
    assert reader.evaluate("e => e.shadowRoot.activeElement?.closest('[role=tree]') !== null")


def test_retry_repeats_everything_that_failed(reader, server):
    """The details of a node and its edges, not only the last of them."""
    reader.page.route("**/pkg.Encoder.js", lambda route: route.abort())
    reader.page.goto(f"{server}/one.html")
    reader.node("embed").click()
    reader.page.get_by_text("pkg.Encoder.js did not load").wait_for()
    reader.page.unroute("**/pkg.Encoder.js")
    reader.page.get_by_role("button", name="Try again").click()
    reader.page.get_by_role("region", name="Details").wait_for()
    reader.page.locator(".mg-lit").wait_for(state="attached")
    wait_until(reader, lambda: reader.page.locator(".mg-note").inner_text() == "")


def test_load_error_stays_until_a_load_succeeds(reader, server):
    """Actions that need no layout leave it; the next action that loads the layout clears it."""
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


def test_search_waits_for_what_searches(reader, server):
    """The field opens at once; what is typed is found when the script has loaded, even if that takes another try."""
    reader.page.route("**/explore.js", lambda route: route.abort())
    reader.page.goto(f"{server}/one.html")
    reader.page.get_by_role("button", name="Search").click()
    reader.page.keyboard.type("head")
    reader.page.get_by_text("explore.js did not load").wait_for()
    reader.page.unroute("**/explore.js")
    reader.page.get_by_role("button", name="Try again").click()
    reader.page.get_by_role("search").get_by_text("1 found").wait_for()
    wait_until(reader, lambda: reader.page.locator(".mg-note").inner_text() == "")
