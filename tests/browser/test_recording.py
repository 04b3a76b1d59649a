"""What a training recorded, on the diagram: steps, colours, findings, values over time, figures.

Long because all tests read the same few recordings, which are made here.
"""

import math

import pytest

from browser.axe import violations
from browser.controls import PATIENCE, button, wait_selected, wait_until
from browser.pages import encoder
from browser.readers import Readers
from browser.serving import served
from browser.versions import write_page
from modeldiagrams import Recording
from modeldiagrams.html.standalone import render_standalone
from modeldiagrams.watching.file.histogram import Histogram
from modeldiagrams.watching.file.records import Anomaly, Key, Loss, Moment, Row, Run
from samples import some

LAYERS = 4
BROKEN, DEAD = "layers.3.mlp", "layers.1.mlp"
NARROW = {"has_touch": True, "is_mobile": True, "viewport": {"width": 320, "height": 640}}
FORCED = {"forced_colors": "active"}


def row(size, **measures):
    bin_ = 256 + round(4 * math.log2(size))
    histogram = Histogram({bin_: 60, 0: 20, 20 - bin_: 20})
    return Row(**{"count": 100, "norm": 10 * size, "min": -size, "max": size, "histogram": histogram, **measures})


def moment(step):
    """The head is never seen, and the last layer's mlp is not finite at the end."""
    rows = {}
    for layer in range(LAYERS):
        for part, size in (("attention", 0.1), ("mlp", 2 * 10.0 ** (layer - 4))):
            node = f"layers.{layer}.{part}"
            bad = 30 if node == BROKEN and step >= 80 else 0
            dead = {"dead": 48, "units": 64} if node == DEAD and step >= 40 else {"units": 64}
            value = math.nan if bad else 10 * size
            rows[Key(node, "activation")] = row(1, bad=bad, norm=value, **dead)
            rows[Key(node, "gradient")] = row(size, bad=bad, norm=value)
    rows[Key("embed", "parameter", "weight")] = row(0.5)
    rows[Key("embed", "update", "weight")] = row(0.001, ratio=0.002)
    return Moment(step=step, last=step, rows=rows)  # reduced, so that it has the findings below


def recording(steps=10):
    found = [
        Anomaly(step=85, kind="nonfinite", node=BROKEN, what="activation", text=f"{BROKEN} is not finite"),
        Anomaly(step=40, kind="dead", node=DEAD, what="activation", text=f"75 % of the units of {DEAD} are dead"),
    ]
    moments = [moment(10 * i) for i in range(steps)]
    losses = [Loss(step, math.nan if step > 90 else 2 * math.exp(-step / 50)) for step in range(10 * steps)]
    return Recording([Run(step=0)], moments, losses, found)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, press):
    """The address of pages that show trainings: one on its own, and two side by side."""
    folder = tmp_path_factory.mktemp("trained")
    recording().save(press.folder / "first.mdwatch")
    recording(6).save(press.folder / "second.mdwatch")
    graph = encoder("Trained", layers=LAYERS, signature="layer")
    one = press.make(graph, depth=1, recording="first.mdwatch")
    two = press.make(
        encoder("Twice", layers=LAYERS, signature="layer"), depth=1, recording="[first.mdwatch, second.mdwatch]"
    )
    write_page(folder, "one", one)
    write_page(folder, "two", two)
    (folder / "alone.html").write_text(render_standalone(one), encoding="utf-8")
    with served(folder) as address:
        yield address


def show(reader, address, name="one"):
    reader.page.goto(f"{address}/{name}.html")
    if name != "alone":
        button(reader, "Show the training").click()
    slider(reader).wait_for(timeout=1000 * PATIENCE)
    return reader


@pytest.fixture
def shown(reader, trained):
    """A reader who looks at a training."""
    return show(reader, trained)


def slider(reader):
    return reader.page.get_by_role("slider")


def told(reader):
    return reader.page.locator(".mg-run-told").inner_text()


def tint(reader, node):
    return reader.node(node).get_attribute("data-tint")


def strips(reader, node):
    found = reader.node(node).locator("> .mg-strip").all()
    return [strip.get_attribute("data-tint") for strip in found]


def choose(reader, node):
    """Select a module without opening it."""
    reader.node(node).focus()
    reader.page.keyboard.press("i")
    reader.page.locator(".mg-heat").first.wait_for()


def go_to_step(reader, position):
    slider(reader).fill(str(position))


@pytest.mark.requests
def test_nothing_is_loaded_before_a_reader_asks(reader, trained):
    reader.page.goto(f"{trained}/one.html")
    button(reader, "Show the training").wait_for()
    assert {"recording.js", "core.js", "pkg.Trained.js"}.isdisjoint(reader.requests)


def test_it_begins_at_the_first_finding(shown):
    assert told(shown).startswith("Step 90 ")
    assert shown.page.get_by_label("Tint by").first.input_value() == "output"


def test_the_slider_moves_through_steps_by_keyboard_and_tells_them(shown):
    slider(shown).focus()
    shown.page.keyboard.press("Home")
    assert told(shown) == "Step 0 · loss 2"
    shown.page.keyboard.press("ArrowRight")
    assert told(shown).startswith("Step 10 · loss 1.8")
    assert slider(shown).get_attribute("aria-valuetext") == told(shown)


def test_a_box_has_the_colour_of_its_worst_repeat_and_a_strip_for_each(shown):
    shown.page.get_by_label("Tint by").first.select_option("gradient")
    go_to_step(shown, 2)
    assert strips(shown, "layers.0.mlp") == ["1", "3", "5", "7"]
    assert tint(shown, "layers.0.mlp") == "7"
    go_to_step(shown, 9)
    assert strips(shown, "layers.0.mlp") == ["1", "3", "5", "bad"]
    assert tint(shown, "layers.0.mlp") == "bad"


def test_what_was_not_seen_is_hatched_and_never_zero(shown):
    assert tint(shown, "head") == "unseen"
    assert shown.node("head").locator("> .mg-hatch").count() == 1
    # it was seen, and has no output
    assert tint(shown, "embed") == "none"
    assert shown.node("embed").locator("> .mg-hatch").count() == 0
    # calls of functions can't be recorded
    assert tint(shown, "layers.0/add") is None


def test_a_finding_leads_to_its_step_node_and_measure(shown):
    shown.page.get_by_role("button", name=f"Step 40 {DEAD}: 75 % of the units").click()
    wait_selected(shown, "layers.0.mlp")
    assert told(shown).startswith("Step 40 ")
    assert shown.page.get_by_label("Tint by").first.input_value() == "dead"
    assert strips(shown, "layers.0.mlp") == ["0", "6", "0", "0"]
    assert shown.page.get_by_label("Repeat").input_value() == DEAD


def test_a_node_shows_its_values_over_time_and_its_figures(shown):
    choose(shown, "layers.0.attention")
    shown.page.get_by_label("Tensor").select_option(label="Gradient of the output")
    figures = shown.page.locator(".mg-run-node .mg-run-table")
    rows = figures.locator("tbody tr").all_inner_texts()
    assert [text.split("\t")[0] for text in rows] == ["Output", "Gradient of the output"]
    assert "0.1" in rows[1].split("\t")
    # positive values above the row of zeros, negative ones below
    ink = shown.page.locator(".mg-heat").evaluate(
        """e => [0, 0.5, 0.95].map(y =>
          e.getContext('2d').getImageData(e.width / 3, y * e.height, 1, 1).data[3] > 0)"""
    )
    assert ink == [True, True, False]


def test_all_figures_of_a_step_are_a_table(shown):
    shown.page.get_by_text("Figures at step 90").click()
    table = shown.page.locator(".mg-run-all .mg-run-table")
    table.wait_for()
    assert table.locator("tbody tr").count() == 2 * 2 * LAYERS + 2
    last = table.locator("tbody tr", has_text=BROKEN).first.inner_text()
    assert "30 %" in last


def test_two_runs_are_side_by_side(reader, trained):
    show(reader, trained, "two")
    assert reader.page.get_by_label("Run", exact=True).locator("option").all_inner_texts() == [
        "first.mdwatch",
        "second.mdwatch",
    ]
    choose(reader, "layers.0.mlp")
    wait_until(reader, lambda: reader.page.locator(".mg-heat").count() == 2)
    reader.page.get_by_label("Tint by").first.select_option("gradient")
    assert len(strips(reader, "layers.0.mlp")) == 2 * LAYERS
    assert tint(reader, "layers.0.mlp") == "bad"
    reader.page.get_by_label("Run", exact=True).select_option("second.mdwatch")
    # it ended at step 50
    assert tint(reader, "layers.0.mlp") == "unseen"
    assert told(reader).endswith("second.mdwatch –")
    go_to_step(reader, 5)
    assert tint(reader, "layers.0.mlp") == "7"
    assert told(reader) == "Step 50 · loss first.mdwatch 0.81, second.mdwatch 0.81"


def test_opening_a_module_tints_its_inside(shown):
    shown.page.get_by_label("Tint by").first.select_option("gradient")
    shown.node("layers.0.attention").click()
    shown.node("layers.0.attention.query").wait_for()
    wait_until(shown, lambda: tint(shown, "layers.0.attention.query") == "unseen")
    assert tint(shown, "layers.0.attention") is None


def test_paper_and_readers_without_scripts_have_findings_and_loss_as_text(shown, reader_with, trained):
    text = shown.page.get_by_text("Training: first.mdwatch")
    assert text.is_hidden()
    shown.page.emulate_media(media="print")
    assert text.is_visible()
    assert shown.page.locator(".mg-run-below").is_hidden()
    with reader_with(java_script_enabled=False) as other:
        other.page.goto(f"{trained}/one.html")
        assert other.page.get_by_text("Training: first.mdwatch").is_visible()
        assert other.page.get_by_text("75 % of the units").is_visible()


def test_a_file_of_its_own_shows_it_at_once(reader, trained):
    show(reader, trained, "alone")
    assert told(reader).startswith("Step 90 ")


# with two runs there is all that one has
@pytest.mark.parametrize("name", some(["one", "two"], {"two"}))
def test_it_is_accessible(reader, trained, name):
    show(reader, trained, name)
    choose(reader, "layers.0.mlp")
    reader.page.get_by_text("Figures at step").click()
    assert violations(reader) == []


def test_a_narrow_screen_has_room_for_everything(readers: Readers, trained):
    with readers.open(**NARROW) as reader:
        show(reader, trained, "two")
        reader.node("layers.0.mlp").tap()
        reader.page.locator(".mg-heat").first.wait_for()
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 320
        thumb = slider(reader).bounding_box()
        assert thumb["height"] >= 40


def test_forced_colours_keep_what_tells_values(readers: Readers, trained):
    with readers.open(**FORCED) as reader:
        show(reader, trained)
        go_to_step(reader, 9)
        fills = reader.page.evaluate(
            """() => [...document.querySelector('model-graph').shadowRoot.querySelectorAll('.mg-tint-swatch')]
            .map(e => getComputedStyle(e).backgroundColor)"""
        )
        assert len(set(fills)) > 3


@pytest.fixture(scope="module")
def own_file(tmp_path_factory):
    """A recording that a reader has."""
    path = tmp_path_factory.mktemp("own") / "mine.mdwatch"
    path.write_bytes(recording(8).to_bytes())
    return path


def choose_file(reader, path):
    with reader.page.expect_file_chooser() as chooser:
        button(reader, "Open a recording").click()
    chooser.value.set_files(path)


def test_a_reader_opens_a_recording_beside_that_of_the_page(shown, own_file):
    choose_file(shown, own_file)
    runs = shown.page.get_by_label("Run", exact=True)
    runs.wait_for()
    assert runs.locator("option").all_inner_texts() == ["first.mdwatch", "mine.mdwatch"]
    assert len(strips(shown, "layers.0.mlp")) == 2 * LAYERS
    assert violations(shown) == []
    button(shown, "Close mine.mdwatch").click()
    assert not runs.is_visible()
    assert not button(shown, "Close mine.mdwatch").is_visible()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.txt", b"hello", "notes.txt can't be shown: it is not a recording"),
        ("other.mdwatch", None, "other.mdwatch can't be shown: it is a recording of another model"),
    ],
)
def test_other_files_are_told_and_change_nothing(shown, tmp_path, name, content, words):
    other = Recording([Run(step=0)], [Moment(step=0, rows={Key("stem", "activation"): row(1)})])
    (tmp_path / name).write_bytes(content or other.to_bytes())
    before = shown.page.locator(".mg-run-legend").inner_text()
    choose_file(shown, tmp_path / name)
    shown.page.locator(".mg-run-note", has_text=words).wait_for()
    assert shown.page.locator(".mg-run-legend").inner_text() == before


def test_a_recording_can_be_dropped_on_the_diagram(shown, own_file):
    shown.page.evaluate(
        """(bytes) => {
            const data = new DataTransfer();
            data.items.add(new File([Uint8Array.from(bytes)], "dropped.mdwatch"));
            const host = document.querySelector("model-graph");
            const over = new DragEvent("dragover", { dataTransfer: data, bubbles: true, cancelable: true });
            host.dispatchEvent(over);
            if (!over.defaultPrevented) throw new Error("the page would be left");
            host.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        list(own_file.read_bytes()),
    )
    button(shown, "Close dropped.mdwatch").wait_for()


def test_the_training_can_be_hidden_and_shown_again(shown):
    assert tint(shown, "layers.0.mlp") is not None
    button(shown, "Hide the training").click()
    assert tint(shown, "layers.0.mlp") is None
    assert not slider(shown).is_visible()
    assert not shown.page.locator(".mg-run-sheet").is_visible()
    button(shown, "Show the training").click()
    assert tint(shown, "layers.0.mlp") is not None
    assert slider(shown).is_visible()
