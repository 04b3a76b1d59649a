"""Long work leaves the browser its turns: the same picture in slices, on pages that go on meanwhile.

Long because what a reader can do meanwhile is tested for each way to start long work.
"""

import pytest

from browser.controls import wait_until
from browser.pages import HEAD, encoder
from browser.serving import served
from modeldiagrams.html import fragment as page
from modeldiagrams.html.standalone import render_standalone
from samples import some

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


def test_what_is_said_is_in_sight_on_a_phone(reader_with, server):
    """Below a picture that is taller than the window, where the controls are, it would not be."""
    with reader_with(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 640}) as reader:
        reader.page.goto(f"{server}/tall.html")
        reader.page.evaluate(HURRY)
        reader.page.evaluate("window.late = 200")
        reader.header("layers.0").tap()
        said = reader.page.get_by_text("Loading…")
        said.wait_for()
        place = said.bounding_box()
        assert 0 <= place["y"] <= 640 - place["height"]
        reader.page.get_by_role("button", name="Stop (Esc)").tap()
        reader.page.get_by_text("Stopped.").wait_for()
        reader.page.evaluate("window.late = 0")


def _slow(hurried):
    """Begin to close the first layer, which takes long, and wait until the diagram says so."""
    hurried.page.evaluate("window.late = 200")
    hurried.header("layers.0").click()
    hurried.page.get_by_text("Loading…").wait_for()


def _by_key(hurried):
    hurried.page.keyboard.press("Escape")


def _by_button(hurried):
    hurried.page.get_by_role("button", name="Stop (Esc)").click()


def _by_another_click(hurried):
    hurried.header("layers.0").click()


# the button is also pressed on a phone, above
@pytest.mark.parametrize("stop", some([_by_key, _by_button, _by_another_click], {_by_key, _by_another_click}))
def test_long_work_can_be_stopped(hurried, stop):
    """It and what waits for it; what is asked later is done, and Escape then has its other meanings."""
    _slow(hurried)
    hurried.evaluate("({ widget }) => void widget.change(session => session.transitions.toggle('layers.1'))")
    hurried.evaluate("({ widget }) => widget.select('layers.0')")
    stop(hurried)
    hurried.page.get_by_text("Stopped.").wait_for()
    hurried.page.evaluate("window.late = 0")
    hurried.evaluate("e => e.toggle('layers.2')")
    closed = "({ widget: { session } }) => session.initial.expanded.filter(id => !session.state.expanded.includes(id))"
    assert hurried.evaluate(closed) == ["layers.2"]
    assert hurried.page.locator(".mg-note").inner_text() == ""
    assert hurried.evaluate("e => e.widget.selected") == "layers.0"
    hurried.header("layers.0").focus()
    hurried.page.keyboard.press("Escape")
    assert hurried.evaluate("e => e.widget.selected") is None
    assert hurried.errors == []


def test_a_search_between_two_slices_finds_what_is_typed(hurried):
    """It takes its time at once: it is in no slice."""
    hurried.page.get_by_role("button", name="Search").click()
    hurried.page.keyboard.type("zebra")
    hurried.page.get_by_role("search").get_by_text("Nothing").wait_for()
    hurried.page.evaluate("window.late = 200")
    hurried.evaluate("({ widget }) => void widget.change(({ state }) => ({ ...state, plumbing: true }))")
    hurried.page.get_by_text("Loading…").wait_for()
    hurried.page.keyboard.press("ControlOrMeta+A")
    hurried.page.keyboard.type("mlp up")
    hurried.page.get_by_role("option").first.wait_for()
    assert hurried.page.get_by_text("Loading…").is_visible()
    hurried.page.evaluate("window.late = 0")
    wait_until(hurried, lambda: hurried.page.locator(".mg-note").inner_text() == "")
    assert hurried.errors == []


def test_escape_closes_what_lies_over_the_picture_before_it_stops_work(hurried):
    """A reader closes the menu, and wants what it was asked for."""
    hurried.page.get_by_role("button", name="More controls").click()
    menu = hurried.page.get_by_role("menu")
    menu.wait_for()
    hurried.page.evaluate("window.late = 200")
    menu.get_by_text("1", exact=True).click()
    hurried.page.get_by_text("Loading…").wait_for()
    hurried.page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    hurried.page.evaluate("window.late = 0")
    hurried.node("layers.0.mlp.up").wait_for(state="detached")
    assert hurried.node("layers.0.mlp").count() == 1
    assert hurried.errors == []


def test_focus_stays_in_the_diagram_when_work_ends_while_its_button_has_it(hurried):
    _slow(hurried)
    hurried.page.get_by_role("button", name="Stop (Esc)").focus()
    hurried.page.evaluate("window.late = 0")
    hurried.node("layers.0.mlp").wait_for(state="detached")
    wait_until(hurried, lambda: hurried.page.locator(".mg-note").inner_text() == "")
    assert hurried.evaluate("e => e.shadowRoot.activeElement?.closest('[role=tree]') !== null") is True


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


@pytest.fixture(scope="module")
def huge(site, press):
    """Name of a page with a model of thousands of nodes."""
    graph = encoder("Huge", layers=120)
    assert len(graph.nodes) >= 2000
    made = press.make(graph, depth=2)
    (site / "modeldiagrams" / f"{made.id}.js").write_text(page.build_data_script(made), encoding="ascii")
    (site / "huge.html").write_text(f"{HEAD}{page.render_fragment(made, assets='modeldiagrams/')}", encoding="utf-8")
    (site / "huge_one.html").write_text(render_standalone(made), encoding="utf-8")
    return "huge.html"


def _toggled(reader, address):
    """The picture after a toggle, and the scripts of the page's workers, `blob:` for one that the page made."""
    reader.page.goto(address)
    reader.evaluate("e => e.toggle('layers.0')")
    names = [worker.url.rpartition("/")[2] for worker in reader.page.workers]
    workers = ["blob:" if worker.url.startswith("blob:") else names[i] for i, worker in enumerate(reader.page.workers)]
    assert reader.page.locator(".mg-note").inner_text() == ""
    assert reader.errors == []
    return reader.evaluate("e => e.picture()"), workers


def test_large_models_are_laid_out_in_a_worker_where_the_page_allows_it(reader, server, huge):
    picture, workers = _toggled(reader, f"{server}/{huge}")
    assert workers == ["viz.js"]
    for policy in ("wasm", "types"):
        same, workers = _toggled(reader, f"{server}/{huge}?{policy}")
        assert (same == picture, workers) == (True, ["viz.js"])
    same, workers = _toggled(reader, f"{server}/{huge}?no-worker")
    assert (same == picture, workers) == (True, [])


def test_pages_that_have_no_address_for_a_worker_make_one(reader, site, server, huge):
    """On disk, in one file, and with scripts on another host."""
    picture, _ = _toggled(reader, f"{server}/{huge}")
    text = (site / huge).read_text("utf-8")
    with served(site) as other:
        (site / "far.html").write_text(text.replace('"modeldiagrams/', f'"{other}/modeldiagrams/'), encoding="utf-8")
        for address in (f"{site.as_uri()}/{huge}", f"{site.as_uri()}/huge_one.html", f"{server}/far.html"):
            same, workers = _toggled(reader, address)
            assert (same == picture, workers) == (True, ["blob:"]), address


REVOKED = """const { revokeObjectURL } = URL;
window.revoked = [];
URL.revokeObjectURL = url => { window.revoked.push(url); revokeObjectURL.call(URL, url); };"""


def test_a_worker_is_made_without_a_word_in_the_console_where_scripts_need_types(reader_with, site, server, huge):
    """With scripts on another host, whose address no worker can have; the one that is made is given back."""
    text, said = (site / huge).read_text("utf-8"), []
    with served(site) as other, reader_with(once=True) as reader:
        (site / "typed.html").write_text(text.replace('"modeldiagrams/', f'"{other}/modeldiagrams/'), encoding="utf-8")
        reader.page.add_init_script(REVOKED)
        reader.page.on("console", lambda message: said.append(message.text))
        _, workers = _toggled(reader, f"{server}/typed.html?named-types")
        assert (workers, said) == (["blob:"], [])
        assert [url.partition(":")[0] for url in reader.page.evaluate("window.revoked")] == ["blob"]


CRASH = """() => {
    const { set } = Object.getOwnPropertyDescriptor(Worker.prototype, "onmessage");
    window.crashes = 0;
    Object.defineProperty(Worker.prototype, "onmessage", {
        set(listener) {
            set.call(this, (event) => {
                const isIt = WHICH;
                if (isIt) window.crashes += 1;
                listener(isIt ? { data: { number: event.data.number || -1 } } : event);
            });
        },
    });
}"""


@pytest.mark.parametrize("which", ["event.data.number === 0", "event.data.number > 0 && window.crashes === 0"])
def test_a_worker_that_crashes_costs_no_picture(reader_with, server, huge, which):
    """At its start, or while it draws: as the worker then answers."""
    with reader_with() as reader:
        picture, _ = _toggled(reader, f"{server}/{huge}")
        reader.page.add_init_script(f"({CRASH.replace('WHICH', which)})()")
        same, _ = _toggled(reader, f"{server}/{huge}")
        assert reader.page.evaluate("window.crashes") > 0
        assert (same == picture) is True


SILENCE = """() => {
    const { set } = Object.getOwnPropertyDescriptor(Worker.prototype, "onmessage");
    const terminate = Worker.prototype.terminate;
    Object.assign(window, { silent: 0, ended: 0 });
    Worker.prototype.terminate = function () {
        window.ended += 1;
        terminate.call(this);
    };
    Object.defineProperty(Worker.prototype, "onmessage", {
        set(listener) {
            set.call(this, (event) => {
                if (WHICH) window.silent += 1;
                else listener(event);
            });
        },
    });
}"""


@pytest.mark.parametrize("which", ["true", "event.data.number > 0"])
def test_a_worker_that_never_answers_is_given_up(reader_with, server, huge, which):
    """It does not start, or answers no question; the page's own engine does the rest, and all of the next."""
    with reader_with(once=True) as reader:
        picture, _ = _toggled(reader, f"{server}/{huge}")
        reader.page.clock.install()
        reader.page.add_init_script(f"({SILENCE.replace('WHICH', which)})()")
        reader.page.goto(f"{server}/{huge}")
        reader.evaluate("e => { e.toggle('layers.0').then(() => { window.isDone = true; }); }")
        reader.page.wait_for_function("window.silent === 1")
        reader.page.clock.fast_forward(9_000)
        assert reader.page.evaluate("window.isDone") is None
        reader.page.clock.fast_forward(2_000)
        reader.page.wait_for_function("window.isDone")
        same = reader.evaluate("e => e.picture()")
        assert (same == picture) is True
        assert reader.page.evaluate("[silent, ended]") == [1, 1]
        assert reader.page.workers == []


def test_small_models_need_no_worker(reader, server):
    assert _toggled(reader, f"{server}/one.html")[1] == []


def test_a_large_diagram_that_is_restored_without_its_picture_draws_it(reader, server, huge):
    reader.page.goto(f"{server}/{huge}")
    reader.page.evaluate(
        """() => {
            const host = document.querySelector("model-graph");
            const copy = document.createElement("model-graph");
            for (const { name, value } of host.attributes) copy.setAttribute(name, value);
            host.replaceWith(copy);
        }"""
    )
    reader.page.locator("model-graph svg [data-id]").first.wait_for()
    assert reader.errors == []
