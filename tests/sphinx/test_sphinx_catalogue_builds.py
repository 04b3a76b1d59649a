"""Catalogues in second and parallel builds, in other builders, and with bad input."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from modeldiagrams.hosting.catalogue_pages import name_pages

CATALOGUE = ".. model-catalogue:: nets\n"
SMALL = name_pages("models", ["nets.small"])["nets.small"]
FAILING = """
from torch import nn

class Good(nn.Module):
    def forward(self, x):
        return x.relu()

def _raise(self):
    raise ValueError("no such width")

for number in range(4):
    globals()[f"Bad{number}"] = type(f"Bad{number}", (Good,), {"__init__": _raise, "__module__": __name__})
"""


@pytest.fixture
def run(build, tmp_path):
    """Builds a site into the same folder again; returns messages and the documents that were read."""

    def run(source: Path, *arguments: str, builder: str = "html", status: int = 0) -> tuple[str, set[str]]:
        # translators' files have doctrees of their own
        doctrees = tmp_path / ("messages" if builder == "gettext" else "doctrees")
        options = {"doctrees": doctrees, "verbosity": "--no-color"}
        result = build(source, tmp_path / builder, *arguments, "-b", builder, **options)
        assert result.returncode == status, result.stderr
        return result.stderr, {*re.findall(r"reading sources\.\.\. \[ *\d+%\] (\S+)", result.stdout)}

    return run


def edit(file: Path, *change: str) -> None:
    """Replace a text some time later, as people do."""
    file.write_text(file.read_text("utf-8").replace(*change))
    later = file.stat().st_mtime + 10
    os.utime(file, (later, later))


def test_second_builds_read_what_changed(library, run, tmp_path):
    source = library("", models=CATALOGUE, api="Nothing.\n")
    every = {"index", "models", "api", "models/nets.Conv_", "models/nets.Large", SMALL}
    assert run(source, "-W")[1] == every
    assert run(source, "-W")[1] == set()
    page, folder = tmp_path / "html" / "models.html", tmp_path / "html" / "modeldiagrams"
    before = page.read_text("utf-8")
    edit(source / "nets.py", "width = 256", "width = 512")
    assert {"models", "models/nets.Large"} <= run(source, "-W")[1]
    assert page.read_text("utf-8") != before
    assert [*folder.glob("nets.Conv_*")]
    edit(source / "nets.py", "class Conv_", "class _Conv")
    assert "models/nets.Conv_" not in run(source, "-W")[1]
    assert {path.stem for path in (source / "models").glob("*.rst")} == {"nets.Large", Path(SMALL).name}
    assert "Conv_" not in page.read_text("utf-8") + (source / "models" / ".gitignore").read_text("utf-8")
    assert not [*folder.glob("nets.Conv_*")]
    (source / "models" / "mine.rst").write_text(":orphan:\n\nMine\n====\n")
    edit(source / "models.rst", CATALOGUE, "")
    run(source, "-W")
    assert [path.name for path in (source / "models").iterdir()] == ["mine.rst"]
    assert not folder.exists()


def test_documented_objects_follow_the_list(library, run, tmp_path):
    source = library("extensions += ['sphinx.ext.autodoc']", models=CATALOGUE, api=".. autoclass:: nets.Conv_\n")
    (source / "other.rst").write_text(":orphan:\n\nOther\n=====\n")
    edit(source / "models.rst", CATALOGUE, f"{CATALOGUE}   :exclude: *Conv_\n")
    run(source, "-W")
    api = tmp_path / "html" / "api.html"
    assert "Diagram" not in api.read_text("utf-8")
    edit(source / "models.rst", "   :exclude: *Conv_\n", "")
    read = run(source, "-W")[1]
    assert {"models", "api"} <= read
    assert "other" not in read
    assert 'href="models/nets.Conv_.html#' in api.read_text("utf-8")
    (source / "models.rst").rename(source / "zoo.rst")
    edit(source / "index.rst", "models", "zoo")
    run(source, "-W")
    assert 'href="zoo/nets.Conv_.html#' in api.read_text("utf-8")
    assert not (source / "models").exists()


def test_parallel_builds_write_the_same_files(library, build, tmp_path):
    source = library("", models=CATALOGUE, more=f"{CATALOGUE}   :depth: 1\n", a="A.\n", b="B.\n", c="C.\n", d="D.\n")
    contents = []
    for number, arguments in enumerate(([], ["-j", "2"])):
        out = tmp_path / str(number)
        result = build(source, out, "-W", *arguments)
        assert result.returncode == 0, result.stderr
        files = [*(out / "modeldiagrams").iterdir(), *out.rglob("models*.html"), *out.rglob("nets*.html")]
        contents.append({path.relative_to(out): path.read_bytes() for path in files})
    assert contents[0] == contents[1]


def test_one_document_has_no_pages_but_a_table(library, run, tmp_path):
    source = library("", models=f"{CATALOGUE}\n:model-graph:`nets.Large`, :model-graph:`nets.Conv_#conv`\n")
    for builder in ("latex", "man", "singlehtml", "gettext"):
        assert "models" in run(source, "-W", builder=builder)[1]
    assert not (source / "models").exists()
    (latex,) = (tmp_path / "latex").glob("*.tex")
    row = re.search(r"nets\.Large\}.*?\\\\", latex.read_text("utf-8"), re.DOTALL)
    assert row
    assert "1.28" in row[0]  # 4 · 256 + 256 parameters
    html = (tmp_path / "singlehtml" / "index.html").read_text("utf-8")
    assert "nets.Large" in html
    assert "models/" not in html
    # with the doctrees of web pages, too
    assert "models/nets.Large" in run(source, "-W")[1]
    for builder in ("latex", "singlehtml", "gettext"):
        assert not [name for name in run(source, "-W", builder=builder)[1] if "/" in name]
    assert not [*(tmp_path / "gettext").rglob("*nets*")]
    assert run(source, "-W")[1] == set()


def test_other_builders_have_a_table_with_references(library, run, tmp_path):
    source = library("project = 'P'\nversion = copyright = '1'", models=CATALOGUE)
    run(source, "-W", builder="text")
    text = (tmp_path / "text" / "models.txt").read_text("utf-8")
    row = next(line for line in text.splitlines() if "nets.Large" in line)
    assert [cell.strip() for cell in row.split("|")[1:-1]] == ['"nets.Large"', "1.28K", "2.05 k", "2 KiB", "x 1×4"]
    assert (tmp_path / "text" / "models" / "nets.Large.txt").is_file()
    run(source, "-W", builder="epub")
    page = (tmp_path / "epub" / "models.xhtml").read_text("utf-8")
    assert 'href="models/nets.Large.xhtml"' in page
    assert "<model-catalogue" not in page


def test_failing_models_cost_one_warning(library, run, tmp_path):
    source = library("", FAILING, models=CATALOGUE)
    for _ in range(2):
        messages, _ = run(source, "-W", "--keep-going", status=1)
        (warning,) = [line for line in messages.splitlines() if "WARNING" in line]
        assert "models.rst:4: WARNING: model-catalogue: 4 of 5 models have no complete diagram: nets.Bad0" in warning
    assert (tmp_path / "html" / "models" / "nets.Bad3.html").is_file()
    assert "no such width" in (tmp_path / "html" / "models.html").read_text("utf-8")
    edit(source / "nets.py", "raise ValueError", "super(Good, self).__init__()  #")
    run(source, "-W")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".. model-catalogue:: gone.models\n", "no module named 'gone'"),
        (".. model-catalogue:: nets\n   :deph: 1\n", "option `deph`: unknown"),
        (".. model-catalogue:: nets\n\n   of: [\n", "is not valid YAML"),
    ],
)
def test_mistakes_are_reported_once_and_where_they_are(library, run, tmp_path, text, message):
    source = library("", models=text)
    messages, _ = run(source, "-W", "--keep-going", status=1)
    (warning,) = [line for line in messages.splitlines() if "WARNING" in line]
    assert "models.rst:4: WARNING: model-catalogue: " in warning
    assert message in warning
    assert (tmp_path / "html" / "models.html").is_file()


def test_pages_stay_while_their_models_cannot_be_listed(library, run):
    source = library("", models=CATALOGUE)
    run(source, "-W")
    before = {path.name: path.read_bytes() for path in (source / "models").iterdir()}
    assert len(before) == 4
    for file, *mistake in (
        (source / "nets.py", "class Conv_", "class "),
        (source / "models.rst", "nets\n", "nets\n   :x:\n"),
    ):
        edit(file, *mistake)
        run(source)
        assert {path.name: path.read_bytes() for path in (source / "models").iterdir()} == before
        edit(file, *reversed(mistake))


def test_a_page_has_only_the_options_of_the_first_catalogue(library, run):
    source = library("", models=f"{CATALOGUE}   :depth: 1\n\n{CATALOGUE}   :depth: 0\n")
    run(source, "-W", builder="singlehtml")
    for builder in ("html", "dirhtml"):
        messages, _ = run(source, builder=builder)
        (warning,) = [line for line in messages.splitlines() if "WARNING" in line]
        assert "models.rst:7: WARNING: model-catalogue: an earlier catalogue on this page shows nets.Conv_" in warning


def test_failures_can_be_accepted(library, run):
    source = library("", FAILING, models=f"{CATALOGUE}   :nowarn:\n")
    run(source, "-W")
    run(library("modeldiagrams_on_error = 'placeholder'", FAILING, models=CATALOGUE), "-W")


def test_sources_that_cannot_be_written_end_the_build_with_a_sentence(library, run):
    source = library("", models=CATALOGUE)
    (source / "models").touch()  # tests may be run by root, who can write to all folders
    messages, _ = run(source, status=2)
    assert "model-catalogue: the page of a model can't be written" in messages
    assert "make the folder writable, or build a copy of it" in messages


def test_catalogue_is_read_again_if_its_file_is_gone(library, run, tmp_path):
    source = library("", models=CATALOGUE)
    run(source, builder="singlehtml")
    shutil.rmtree(tmp_path / "doctrees" / "model-diagrams")
    assert "models" in run(source, "-W", builder="singlehtml")[1]
