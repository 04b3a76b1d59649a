"""Picture files are equal in every build, and have replacements if a library is missing."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from graphs import small_graph
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.render.picture_file import PictureFile
from option_helpers import make_options
from sphinx_modeldiagrams import static

CONF = """
import sys
extensions = ["sphinx_modeldiagrams"]
project = "fixture"
for name in {missing!r}:
    sys.modules[name] = None
"""
PAGE = """
Title
=====

.. model-graph:: net.json
   :caption: First

.. model-graph:: net.json
   :direction: LR
   :no-index:
"""


@pytest.fixture
def source(site, tmp_path):
    """Makes a site of one page with two diagrams, where some libraries can't be imported."""

    def make(*missing, **config):
        folder = tmp_path / "source"
        folder.mkdir(exist_ok=True)
        (folder / "net.json").write_bytes((site / "net.json").read_bytes())
        (folder / "index.rst").write_text(PAGE)
        settings = "".join(f"{name} = {value!r}\n" for name, value in config.items())
        (folder / "conf.py").write_text(CONF.format(missing=missing) + settings)
        return folder

    return make


def pictures(text):
    return re.findall(r"\\sphinxincludegraphics(?:\[(.*?)\])?\{\{(.*?)\}(\.\w+)\}", text)


def test_latex_gets_png_without_typst_and_without_a_warning(source, tmp_path, build):
    done = build(source("typst"), tmp_path / "out", "-b", "latex", "-W", verbosity="-N")
    assert done.returncode == 0, done.stderr
    found = pictures((tmp_path / "out" / "fixture.tex").read_text("utf-8"))
    assert [suffix for _, _, suffix in found] == [".png", ".png"]
    assert all((tmp_path / "out" / f"{base}{suffix}").is_file() for _, base, suffix in found)
    # as large as the vector picture, though of twice as many pixels
    assert all(size.startswith("width=") for size, _, _ in found)
    assert done.stdout.count('diagrams are PNG files here; for PDF: pip install "modeldiagrams[pdf]"') == 1


def test_latex_gets_outlines_without_typst_and_resvg(source, tmp_path, build):
    done = build(source("typst", "resvg_py"), tmp_path / "out", "-b", "latex", "-W", verbosity="-N")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "fixture.tex").read_text("utf-8")
    assert pictures(text) == []
    assert "Architecture of Net" in text
    assert "Linear" in text
    assert done.stdout.count('diagrams are text here; for PDF: pip install "modeldiagrams[pdf]"') == 1


def test_different_pictures_of_one_id_have_different_files(tmp_path, monkeypatch):
    contents = [b"<svg/>", b"<svg>other</svg>"]
    waiting = iter(contents)
    drawing = SimpleNamespace(draw_file=lambda *_, **__: PictureFile(content=next(waiting), width=1))
    monkeypatch.setattr(static, "domain_of", lambda _: SimpleNamespace(diagram_builder=drawing))
    book = SimpleNamespace(
        format="html",
        supported_image_types=["image/svg+xml"],
        doctreedir=tmp_path / ".doctrees",
        outdir=tmp_path,
        config=SimpleNamespace(epub_exclude_files=["mine.svg"]),
        env=SimpleNamespace(docname="index", images=SimpleNamespace(add_file=lambda *_: None)),
    )
    diagram = Diagram(id="net", options=make_options(model="mypkg.Net"), graph=small_graph())
    files = [Path(static.draw_picture(diagram, book)["uri"]) for _ in contents]
    assert [file.read_bytes() for file in files] == contents
    assert set(book.config.epub_exclude_files) == {"mine.svg", *(str(file.relative_to(tmp_path)) for file in files)}


def test_second_latex_build_reuses_identical_pictures(source, tmp_path, build):
    folder, doctrees = source(latex_elements={"papersize": "a4paper"}), tmp_path / "doctrees"
    made = []
    for out in (tmp_path / "one", tmp_path / "two"):
        done = build(folder, out, "-W", "-b", "latex", doctrees=doctrees)
        assert done.returncode == 0, done.stderr
        drawn = {path.name: path.read_bytes() for path in out.glob("*.pdf")}
        assert len(drawn) == 2
        kept = sorted(path.name for path in folder.glob(".cache/modeldiagrams/*.picture.json.gz"))
        assert kept
        made.append((drawn, kept))
    assert made[0] == made[1]


def test_epub_holds_each_picture_once(source, tmp_path, build):
    """Without ``-d``, Sphinx keeps its doctrees in the book's folder, and what we drew in them."""
    out = tmp_path / "out"
    for _ in range(2):
        done = build(source(epub_show_urls="no", version="1"), out, "-b", "epub", doctrees=out / ".doctrees")
        assert done.returncode == 0, done.stderr
        with zipfile.ZipFile(out / "fixture.epub") as book:
            assert len([name for name in book.namelist() if name.endswith(".svg")]) == 2


def test_crash_while_drawing_costs_one_picture_and_warns_at_its_page(source, tmp_path, build):
    library = tmp_path / "library"
    library.mkdir()
    (library / "typst.py").write_text(
        "import os, signal\ndef compile(*_, **__):\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    folder = source()
    with (folder / "conf.py").open("a") as conf:
        conf.write(f"import os\nos.environ['PYTHONPATH'] = {str(library)!r}\n")
    done = build(folder, tmp_path / "out", "-b", "latex")
    assert done.returncode == 0
    text = (tmp_path / "out" / "fixture.tex").read_text("utf-8")
    assert pictures(text) == []
    assert "Architecture of Net" in text
    assert done.stderr.count("WARNING") == 2
    assert "index" in done.stderr
    assert "could not be drawn: drawing ended the tracing process by signal SIGSEGV" in done.stderr
