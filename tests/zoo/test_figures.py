"""Images that authors make with the real Matplotlib and PIL."""

from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path

import pytest

from modeldiagrams.ir.pictures import as_picture
from modeldiagrams.overlay.image_files import read_image

APART = str(Path(sys.prefix) / "figures")


@pytest.fixture(autouse=True)
def libraries(monkeypatch):
    monkeypatch.syspath_prepend(APART)
    monkeypatch.setenv("MPLBACKEND", "agg")


@pytest.fixture
def plot():
    """Axes with what heads of attention look at."""
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(4, 3))
    axes.imshow([[i * j % 7 for i in range(12)] for j in range(12)])
    axes.set_title("heads <of> attention & more")
    yield axes
    pyplot.close(figure)


def test_a_figure_is_the_same_bytes_each_time(plot):
    first = as_picture(plot.figure)
    assert first == as_picture(plot.figure) == as_picture(plot)
    image = read_image(first, "")
    assert (image.width, image.height) == (600, 450)


@pytest.mark.parametrize("form", ["svg", "jpg", "png"])
def test_files_that_a_figure_saves_are_images(plot, form):
    file = io.BytesIO()
    plot.figure.savefig(file, format=form)
    image = read_image(file.getvalue(), "")
    assert image.width / image.height == pytest.approx(4 / 3)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1", "LA"])
def test_images_of_pil_are_png_files(mode):
    new = importlib.import_module("PIL.Image").new
    assert read_image(as_picture(new(mode, (30, 20))), "").width == 30
