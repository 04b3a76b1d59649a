"""Bad diagrams in Sphinx: typed warnings, strict and repeated builds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

BAD = {
    "model": ".. model-graph:: tinymodels.Missing\n   :inputs: [1, 4]\n",
    "forward": ".. model-graph:: tinymodels.RaisesInForward\n   :inputs: [1, 4]\n",
    "graph-file": ".. model-graph:: missing.json\n",
    "option": ".. model-graph:: tinymodels.Net\n   :inptus: [1, 4]\n   :name: anchored\n   :caption: Here\n",
}
GOOD = """
:numref:`anchored` refers to a figure whose diagram is bad.

.. model-graph:: tinymodels.Chatty
   :inputs: [1, 4]
"""


@pytest.fixture(scope="module")
def bad_site(site):
    """A page for each kind of problem, and one without."""
    for name, directive in BAD.items():
        (site / f"{name}.rst").write_text(f"Title of {name}\n{'=' * 40}\n\n{directive}")
    (site / "good.rst").write_text(f"Good\n====\n{GOOD}")
    pages = "".join(f"   {name}\n" for name in (*BAD, "good"))
    (site / "index.rst").write_text(f"Index\n=====\n\n.. toctree::\n\n{pages}")
    for page in ("api.rst", "plain.rst", "guide/deep.rst", "guide/myst.md"):
        (site / page).unlink()
    return site


@pytest.fixture(scope="module")
def result(bad_site, build, tmp_path_factory):
    return build(bad_site, tmp_path_factory.mktemp("bad") / "out", verbosity="-v")


def test_build_succeeds_without_torch(result):
    assert result.returncode == 0
    assert "torch is loaded: False" in result.stdout


@pytest.mark.parametrize("kind", BAD)
def test_warning_has_the_type_of_its_problem(kind, result):
    (line,) = [line for line in result.stderr.splitlines() if f"{kind}.rst:4: WARNING: model-graph: " in line]
    assert f"[modeldiagrams.{kind}]" in result.stderr[result.stderr.index(line) :]


def test_output_of_models_is_only_shown_in_verbose_builds(result, bad_site, build, tmp_path):
    assert "tinymodels.Chatty printed:\nhello from the model" in result.stdout
    quiet = build(bad_site, tmp_path / "out")
    assert "hello from the model" not in quiet.stdout + quiet.stderr


def test_strict_build_fails_and_warns_again(bad_site, build, tmp_path, result):
    doctrees = Path(result.args[result.args.index("-d") + 1])
    strict = build(bad_site, tmp_path / "out", "-W", "--keep-going", doctrees=doctrees)
    assert strict.returncode == 1
    # pages with problems were read again, although nothing changed
    assert strict.stderr.count("WARNING: model-graph") == len(BAD)
    assert (tmp_path / "out" / "good.html").is_file()


def test_warnings_can_be_suppressed_by_kind(make_site, build, tmp_path):
    source = make_site("", page=BAD["graph-file"], other=".. model-graph:: net.json\n   :depth: deep\n")
    kinds = "suppress_warnings=modeldiagrams.graph-file,modeldiagrams.option"
    quiet = build(source, tmp_path / "out", "-W", "-D", kinds)
    assert quiet.returncode == 0, quiet.stderr


def test_wrong_names_of_sizes_are_located_warnings(make_site, build, tmp_path):
    conf = f"import sys\nsys.path.insert(0, {str(Path(__file__).parents[1])!r})"
    net = ".. model-graph:: tinymodels.Net\n   :inputs: [2, 4]\n   :dims: "
    pages = {"page": f"{net}{{x: [B]}}", "other": f"{net}{{y: [B, 4]}}", "third": f"{net}{{x: 3}}"}
    pages["fourth"] = f"{net}{{x: [B, F]}}"
    errors = build(make_site(conf, **pages), tmp_path / "out").stderr
    warned = {line.rpartition("/")[2].partition(" [modeld")[0] for line in errors.splitlines()}
    subject = "4: WARNING: model-graph: tinymodels.Net: option `dims`,"
    assert f"page.rst:{subject} x: expected 2 names or numbers, for 2×4, got [B]" in warned
    assert f"other.rst:{subject} y: the model gets no tensor or whole number of this name; there are: x" in warned
    assert any(line.startswith(f"fourth.rst:{subject[:-1]}: F names 4, which can't change alone") for line in warned)
    for name in ("page", "other", "fourth"):
        assert "<svg" in (tmp_path / "out" / f"{name}.html").read_text("utf-8")
    assert "third.rst:4: WARNING: model-graph: option `dims`: x: expected a list of names and numbers" in errors


def test_notes_that_cannot_be_shown_are_located_warnings(make_site, build, tmp_path):
    source = make_site(
        page="""
        .. model-note:: fc

           Alone.

        .. model-graph:: net.json

           .. model-note:: fc

              One.

           .. model-note:: fc

              Two.
        """
    )
    log = build(source, tmp_path / "out").stderr
    assert re.search(r"page\.rst:5: ERROR: `model-note` belongs inside `model-graph` or `model-tour`", log)
    assert re.search(r"page\.rst:9: ERROR: two notes have the same pattern; write both in one", log)
