"""Diagrams that leave their page and come back: under instant navigation the document outlives them all."""

import pytest

pytestmark = pytest.mark.browser

TIMES = 20


def listeners(reader):
    """How many the document and the window have."""
    session = reader.page.context.new_cdp_session(reader.page)
    count = 0
    for target in ("document", "window"):
        found = session.send("Runtime.evaluate", {"expression": target})["result"]["objectId"]
        count += len(session.send("DOMDebugger.getEventListeners", {"objectId": found})["listeners"])
    session.detach()
    return count


def test_diagrams_that_left_the_page_hear_nothing_of_it(reader, server):
    reader.page.goto(f"{server}/tall.html")
    # as PyData's, whose content clips: the controls are kept in sight by what is heard of the document
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
    # one that is kept and put back goes on as before
    reader.page.evaluate("() => { window.kept = document.querySelector('model-graph'); kept.remove(); }")
    assert listeners(reader) == before
    for _ in range(TIMES):
        reader.page.evaluate("() => { document.querySelector('main').append(kept); kept.remove(); }")
    reader.page.evaluate("() => document.querySelector('main').append(kept)")
    reader.node("layers.1").hover()
    assert before < listeners(reader) <= there


def test_controls_are_in_sight_for_those_who_come_by_keyboard(reader, server):
    """Also on a page that clips its content, where `position: sticky` does not help."""
    reader.page.goto(f"{server}/tall.html")
    reader.page.add_style_tag(content="main { overflow: auto }")
    reader.page.evaluate("scrollTo(0, 100)")
    reader.page.keyboard.press("Tab")
    reader.page.wait_for_function(
        "e => { const { bottom } = e.shadowRoot.querySelector('.mg-toolbar').getBoundingClientRect();"
        " return bottom <= innerHeight && bottom > innerHeight - 60; }",
        arg=reader.page.query_selector("model-graph"),
    )
