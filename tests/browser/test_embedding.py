"""`<model-graph>` in pages that change: included twice, moved, hidden, created by script, removed."""

import pytest

from browser.controls import expand
from browser.pages import HEAD

TIMES = 20


def test_script_may_be_included_several_times(reader, server):
    reader.page.goto(f"{server}/again.html")
    reader.page.add_script_tag(url="modeldiagrams/model-graph.js")
    expand(reader, 0)
    expand(reader, 1)
    assert reader.page.locator("model-graph .mg-stage").count() == 2


def test_first_of_two_script_versions_serves_all_diagrams(reader, site, server):
    """Pages of two builds may be put together."""
    script = (site / "modeldiagrams" / "model-graph.js").read_text("utf-8")
    (site / "modeldiagrams" / "other-version.js").write_text(f"globalThis.otherVersion = 1;{script}", encoding="utf-8")
    text = (site / "again.html").read_text("utf-8")
    other = text.replace("</main>", '<script src="modeldiagrams/other-version.js" defer></script></main>')
    (site / "versions.html").write_text(other, encoding="utf-8")
    reader.page.goto(f"{server}/versions.html")
    assert reader.page.evaluate("otherVersion") == 1
    for diagram in (0, 1):
        expand(reader, diagram)


def test_element_may_be_defined_before_it_is_parsed(reader, server):
    reader.page.goto(f"{server}/again.html")
    assert reader.page.locator("model-graph .mg-stage svg").count() == 2


def test_instant_navigation_there_and_back(reader, server):
    """Material exchanges the content by script and runs the scripts in it again."""
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


def test_element_created_and_removed_by_script(reader, site, server):
    """Application frameworks build content late."""
    body = (site / "one.html").read_text("utf-8").partition("<main>")[2].partition("</main>")[0]
    (site / "late.html").write_text(f"{HEAD}<title>late</title><main></main>", encoding="utf-8")
    reader.page.goto(f"{server}/late.html")
    reader.page.add_script_tag(url="modeldiagrams/model-graph.js")
    for _ in range(2):
        reader.page.evaluate("html => { document.querySelector('main').innerHTML = html; }", body)
        expand(reader)
    reader.page.evaluate("document.querySelector('main').replaceChildren()")
    reader.page.evaluate("scrollTo(0, 10); location.hash = 'x'")


def test_moving_the_element_keeps_its_state(reader, server):
    reader.page.goto(f"{server}/one.html")
    expand(reader)
    reader.evaluate(
        "e => { const box = document.createElement('div'); document.body.append(box); e.remove(); box.append(e); }"
    )
    assert reader.node("layers.0.mlp").is_visible()
    reader.header("layers.0").click()
    reader.node("layers.0.mlp").wait_for(state="detached")


def test_initially_hidden_diagram_works_once_visible(reader, server):
    reader.page.goto(f"{server}/hidden.html")
    reader.page.locator("#fold > summary").click()
    assert reader.node("embed").bounding_box()["width"] > 20
    expand(reader)


def test_picture_changed_while_hidden_is_centred_when_shown(reader, server):
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


def test_last_of_many_diagrams_works(reader, site, server):
    """Twenty on a page are no single long task."""
    body = (site / "one.html").read_text("utf-8").partition("<main>")[2].partition("</main>")[0]
    (site / "many.html").write_text(f"{HEAD}<title>many</title><main>{body * 20}</main>", encoding="utf-8")
    reader.page.goto(f"{server}/many.html")
    reader.page.wait_for_function("[...document.querySelectorAll('model-graph')].every(e => e.shadowRoot !== null)")
    expand(reader, 19)


@pytest.mark.requests
def test_keyboard_focus_prefetches_data_and_layout_engine(reader, server):
    reader.page.goto(f"{server}/one.html", wait_until="networkidle")
    assert "viz.js" not in reader.requests
    reader.page.keyboard.press("Tab")
    reader.page.wait_for_function("window.modelDiagramsData?.size && window.modelDiagramsViz")


@pytest.mark.requests
def test_standalone_file_works_from_disk_without_requests(reader, site):
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


def listeners(reader):
    """Number of event listeners of the document and the window."""
    session = reader.page.context.new_cdp_session(reader.page)
    count = 0
    for target in ("document", "window"):
        found = session.send("Runtime.evaluate", {"expression": target})["result"]["objectId"]
        count += len(session.send("DOMDebugger.getEventListeners", {"objectId": found})["listeners"])
    session.detach()
    return count


def test_removed_diagrams_keep_no_listeners(reader, server):
    reader.page.goto(f"{server}/tall.html")
    # as on PyData's pages, where listeners of the document keep the controls visible
    reader.page.add_style_tag(content="main { overflow: auto }")
    reader.page.evaluate(
        """async () => {
            const text = await (await fetch(location)).text();
            window.fresh = new DOMParser().parseFromString(text, "text/html").querySelector("main").innerHTML;
        }"""
    )
    reader.page.evaluate("() => document.querySelector('main').replaceChildren()")
    before = listeners(reader)
    use = """async () => {
        const frames = async () => { for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); };
        const main = document.querySelector('main');
        main.innerHTML = fresh;
        await frames();
        const made = main.querySelector('model-graph');
        made.dispatchEvent(new PointerEvent('pointerenter'));
        await made.toggle('layers.0');
        await frames();
    }"""
    for _ in range(TIMES):
        reader.page.evaluate(use)
    there = listeners(reader)
    assert before < there < before + TIMES / 2
    # an element that is removed and inserted again listens again
    reader.page.evaluate("() => { window.kept = document.querySelector('model-graph'); kept.remove(); }")
    assert listeners(reader) == before
    for _ in range(TIMES):
        reader.page.evaluate("() => { document.querySelector('main').append(kept); kept.remove(); }")
    reader.page.evaluate("() => document.querySelector('main').append(kept)")
    reader.node("layers.1").hover()
    assert before < listeners(reader) <= there


def test_copy_of_a_live_diagram_works(reader, server):
    """Turbo keeps pages as copies of their elements, and reveal.js prints from copies."""
    reader.page.goto(f"{server}/one.html")
    expand(reader)
    reader.page.evaluate("""() => {
        const content = document.querySelector("main");
        content.replaceWith(content.cloneNode(true));
    }""")
    assert reader.node("layers.0.mlp").count() == 0  # the copy begins with the page's own picture
    expand(reader)
    assert reader.page.locator("model-graph .mg-stage svg").count() == 1


def test_copy_of_a_live_diagram_begins_as_its_original_did(reader, server):
    picture = "e => e.shadowRoot.querySelector('.mg-canvas > svg').outerHTML"
    reader.page.goto(f"{server}/one.html")
    before = reader.evaluate(picture)
    reader.evaluate("""async e => {
        const { widget } = e;
        await widget.tasks.load();
        widget.select("layers.0");
        widget.linked.path.set("after");
        widget.linked.lens.set("parameters");
        e.style.setProperty("--mg-around", "black");
    }""")
    reader.page.locator(".mg-dim .mg-cost").first.wait_for()
    reader.page.evaluate("""() => {
        const content = document.querySelector("main");
        content.replaceWith(content.cloneNode(true));
    }""")
    reader.page.wait_for_function("document.querySelector('model-graph').widget !== undefined")
    assert reader.evaluate(picture) == before
    assert reader.evaluate("e => e.style.getPropertyValue('--mg-around')") == ""


def test_diagram_restored_from_html_text_is_drawn_again(reader, server):
    """htmx keeps pages as `innerHTML`, in which the picture is not: it is in the shadow root."""
    reader.page.goto(f"{server}/one.html")
    nodes = "e => [...e.shadowRoot.querySelectorAll('.mg-stage [data-id]')].map(n => n.dataset.id)"
    before = reader.evaluate(nodes)
    expand(reader)
    reader.page.evaluate("() => { const main = document.querySelector('main'); main.innerHTML = main.innerHTML; }")
    reader.node("embed").wait_for()
    assert reader.evaluate(nodes) == before
    expand(reader)
