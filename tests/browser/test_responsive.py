"""Long work leaves the browser its turns: the same picture in slices, on pages that go on meanwhile."""

import pytest

from browser.controls import wait_until

HURRY = """() => {
    // every look at the clock finds a slice's time used up; turns of the browser are counted, and as late as asked
    let now = 0;
    performance.now = () => now += 20;
    window.turns = 0;
    window.late = 0;
    const post = MessagePort.prototype.postMessage;
    MessagePort.prototype.postMessage = function (...words) {
        window.turns += 1;
        setTimeout(() => post.apply(this, words), window.late);
    };
}"""
TURNS = "window.turns"


@pytest.fixture
def hurried(reader_with, server):
    """A reader whose browser has no time for more than the least piece of work, with 32 expanded layers."""
    with reader_with() as reader:
        reader.page.goto(f"{server}/large.html")
        reader.page.evaluate(HURRY)
        yield reader


def test_long_work_gives_the_browser_its_turns(hurried, reader, server):
    hurried.evaluate("e => e.toggle('layers.0')")
    assert hurried.page.evaluate(TURNS) > 40
    sliced = hurried.evaluate("e => e.picture()")
    assert hurried.errors == []
    reader.page.goto(f"{server}/large.html")
    reader.evaluate("e => e.toggle('layers.0')")
    assert (reader.evaluate("e => e.picture()") == sliced) is True


def test_long_work_says_so_and_takes_what_is_asked_meanwhile(hurried):
    hurried.page.evaluate("window.late = 200")
    hurried.evaluate("e => void e.toggle('layers.0')")
    hurried.page.get_by_text("Loading…").wait_for()
    hurried.evaluate("e => void e.toggle('layers.1')")
    hurried.page.keyboard.press("Escape")
    hurried.page.evaluate("window.late = 0")
    hurried.node("layers.1.mlp").wait_for(state="detached")
    hurried.node("layers.0.mlp").wait_for(state="detached")
    wait_until(hurried, lambda: hurried.page.locator(".mg-note").inner_text() == "")
    assert hurried.errors == []


def test_diagram_that_leaves_the_page_while_it_works_comes_back_finished(hurried):
    hurried.page.evaluate("window.late = 200")
    hurried.evaluate("e => void e.toggle('layers.0')")
    hurried.page.get_by_text("Loading…").wait_for()
    hurried.page.evaluate("window.gone = document.querySelector('model-graph'); gone.remove()")
    turns = hurried.page.evaluate(TURNS)
    hurried.page.evaluate("document.body.append(gone); window.late = 0")
    hurried.node("layers.0.mlp").wait_for(state="detached")
    assert hurried.page.evaluate(TURNS) > turns
    assert hurried.errors == []
