"""Real LaTeX typesets what Sphinx writes."""

from __future__ import annotations

import subprocess

import pypdfium2
import pytest

from browser.pages import encoder
from graphs import changed_graph
from modeldiagrams.ir.serialize import save
from samples import png

LINE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="120"><rect width="9" height="9"/>'
    '<text x="20" y="40" font-family="monospace">Words of the image</text></svg>'
)

PAGE = """
Title
=====

Shown by :numref:`first`.

.. model-graph:: net.json
   :name: first
   :caption: A picture with a *caption*.
   :embed: {fc: {image: map.png, alt: Sixteen filters}, x: {image: line.svg, alt: A line}}

.. model-graph:: tall.json
   :caption: Taller than a page.
   :depth: 9
   :table:

.. model-diff:: net.json
   :before: changed.json

.. model-tour:: net.json
   :depth: 0

   .. model-note:: fc

      A *note* on the layer.

   .. tour-step:: The layer
      :focus: fc

      What :model:part:`the layer <fc>` does.
"""


@pytest.mark.zoo
def test_latexmk_typesets_pictures_with_their_captions(site, tmp_path, build):
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "net.json").write_bytes((site / "net.json").read_bytes())
    (source / "map.png").write_bytes(png(800, 400))
    (source / "line.svg").write_text(LINE)
    save(changed_graph(), source / "changed.json")
    save(encoder("Tall", layers=12), source / "tall.json")
    (source / "index.rst").write_text(PAGE)
    (source / "conf.py").write_text('extensions = ["sphinx_modeldiagrams"]\nproject = "fixture"\nnumfig = True\n')
    done = build(source, out, "-W", "-b", "latex")
    assert done.returncode == 0, done.stderr
    made = subprocess.run(
        ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", "fixture.tex"],
        cwd=out,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert made.returncode == 0, made.stdout[-3000:]
    log = (out / "fixture.log").read_text("utf-8", errors="replace")
    for complaint in ("Float too large", "PDF version", "Undefined control sequence", "not found", "undefined"):
        assert complaint not in log
    with pypdfium2.PdfDocument(out / "fixture.pdf") as document:
        text = "".join(page.get_textpage().get_text_range() for page in document)
    assert "Linear 4 → 2" in text
    assert "layers" in text
    assert "Output shape" in text
    assert "Words of the image" in text
    assert "Sixteen filters" in text
    assert "Shown by Fig. 1" in text
    assert "A picture with a caption." in text
    assert "What the layer does." in text
    assert "A note on the layer." in text
