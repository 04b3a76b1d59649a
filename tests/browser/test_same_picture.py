"""Build and browser draw the same bytes."""

import shutil

import pytest

from browser.cased import united
from browser.pages import HOSTILE, encoder
from modeldiagrams import trace
from modeldiagrams.html import fragment as page
from modeldiagrams.options.parsing import parse_options
from truth.levels import FeaturePyramid, FlatDecoder
from truth.models import IMAGE, Segmenter, Supervised, TwoSkips

VIEWS = [{"depth": 0}, {"depth": 9, "direction": "LR"}, {"depth": None}]
MODELS = {
    "torch.nn.Transformer": {
        "kwargs": {"d_model": 32, "nhead": 4, "num_encoder_layers": 3, "num_decoder_layers": 2, "batch_first": True},
        "inputs": [[1, 8, 32], [1, 6, 32]],
    },
    "torch.nn.LSTM": {"args": [8, 16, 2], "inputs": [[5, 1, 8]]},
}


@pytest.fixture
def drawn_by_chromium(reader, tmp_path):
    """Draws a finished diagram again in Chromium, after toggling some nodes."""
    for name, file in page.list_viewer_files().items():
        shutil.copy(file, tmp_path / name)

    def draw(diagram, *toggles):
        (tmp_path / f"{diagram.id}.js").write_text(page.build_data_script(diagram), encoding="ascii")
        (tmp_path / "page.html").write_text(page.render_fragment(diagram, assets=""), encoding="utf-8")
        reader.page.goto(f"{tmp_path.as_uri()}/page.html")
        element = reader.page.locator("model-graph")
        for node in toggles:
            element.evaluate("(element, node) => element.toggle(node)", node)
        return element.evaluate("element => element.picture()")

    return draw


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_initial_pictures_are_equal(press, drawn_by_chromium, view):
    diagram = press.make(encoder(), **view)
    assert drawn_by_chromium(diagram) == diagram.picture.svg


def test_several_cases_are_equal(press, drawn_by_chromium):
    diagram = press.make(united())
    assert 'data-cases="0"' in diagram.picture.svg
    assert drawn_by_chromium(diagram) == diagram.picture.svg


def test_names_of_sizes_are_equal(press, drawn_by_chromium):
    diagram = press.make(trace(TwoSkips(), (IMAGE,), dims="auto"), depth=9)
    assert "B×8×H/2×W/2" in diagram.picture.svg
    assert drawn_by_chromium(diagram) == diagram.picture.svg


@pytest.mark.parametrize("graph", [encoder("Tall", layers=12), encoder(HOSTILE, word=HOSTILE)], ids=["tall", "hostile"])
def test_everything_open_is_equal(press, drawn_by_chromium, graph):
    diagram = press.make(graph, depth=9)
    assert drawn_by_chromium(diagram) == diagram.picture.svg


@pytest.mark.parametrize(("model", "depth"), [*((model, None) for model in MODELS), ("torch.nn.Transformer", 9)])
def test_initial_pictures_of_traced_models_are_equal(press, drawn_by_chromium, model, depth):
    diagram = press.maker.build(parse_options({"model": model, "depth": depth, **MODELS[model]}))
    assert diagram.problem is None
    assert drawn_by_chromium(diagram) == diagram.picture.svg


@pytest.mark.parametrize(
    "model",
    [Segmenter(between=True), Supervised(), TwoSkips(), FeaturePyramid(), FlatDecoder()],
    ids=lambda model: type(model).__name__,
)
def test_pictures_of_a_u_are_equal(press, drawn_by_chromium, model):
    diagram = press.make(trace(model.eval(), (IMAGE,)))
    assert drawn_by_chromium(diagram) == diagram.picture.svg


def test_pictures_after_toggling_are_equal(press, drawn_by_chromium):
    """Expanding draws what the option would; collapsing restores the first picture."""
    closed = press.make(encoder())
    opened = press.make(encoder(), depth=None, expand=["layers.0", "layers.0.mlp"])
    assert drawn_by_chromium(closed, "layers.0.mlp", "layers.0") == opened.picture.svg
    assert drawn_by_chromium(closed, "layers.0", "layers.0") == closed.picture.svg
