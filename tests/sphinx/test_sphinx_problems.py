"""Bad input: one located warning and a visible note each, everything else as if nothing had happened."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = """.. model-graph:: tinymodels.Net
   :inputs: [1, 4]
   :caption: Good

.. model-graph:: tinymodels.Chatty
   :inputs: [1, 4]
"""
BAD = {
    "model": ".. model-graph:: tinymodels.Missing\n   :inputs: [1, 4]\n",
    "module": ".. model-graph:: nosuchpackage.Model\n   :inputs: [1, 4]\n",
    "init": ".. model-graph:: tinymodels.RaisesInInit\n   :inputs: [1, 4]\n",
    "forward": ".. model-graph:: tinymodels.RaisesInForward\n   :inputs: [1, 4]\n",
    "exit": ".. model-graph:: tinymodels.Exits\n   :inputs: [1, 4]\n",
    "inputs": ".. model-graph:: tinymodels.Net\n   :inputs: [1, 5]\n   :no-index:\n",
    "inputs-form": ".. model-graph:: tinymodels.Net\n   :inputs: {x: {shape: [1, -4]}}\n",
    "graph-file": ".. model-graph:: broken.json\n",
    "graph-missing": ".. model-graph:: missing.json\n",
    "option": ".. model-graph:: tinymodels.Net\n   :inptus: [1, 4]\n   :name: anchored\n   :caption: Here\n",
    "value": ".. model-graph:: tinymodels.Net\n   :depth: deep\n",
    "empty": ".. model-graph::\n",
    "body": ".. model-graph:: tinymodels.Net\n\n   inputs: [1,\n",
}
KINDS = {
    "model": "model",
    "module": "model",
    "init": "model",
    "forward": "forward",
    "exit": "worker",
    "inputs": "forward",
    "inputs-form": "inputs",
    "graph-file": "graph-file",
    "graph-missing": "graph-file",
}


@pytest.fixture(scope="module")
def bad_site(site):
    """A page for every kind of bad input, and one without."""
    (site / "broken.json").write_text('{"format": "modeldiagrams", "version": "1.0", "nodes": 3}')
    for name, directive in BAD.items():
        (site / f"{name}.rst").write_text(f"Title of {name}\n{'=' * 40}\n\nBefore.\n\n{directive}\nAfter.\n")
    # a reference to a bad diagram is none of the problems
    (site / "good.rst").write_text(f"Good\n====\n\n:numref:`anchored`\n\n{GOOD}")
    pages = "".join(f"   {name}\n" for name in (*BAD, "good"))
    (site / "index.rst").write_text(f"Index\n=====\n\n.. toctree::\n\n{pages}")
    for page in ("api.rst", "plain.rst", "guide/deep.rst", "guide/myst.md"):
        (site / page).unlink()
    return site


@pytest.fixture(scope="module")
def result(bad_site, build, tmp_path_factory):
    return build(bad_site, tmp_path_factory.mktemp("bad") / "out")


@pytest.fixture(scope="module")
def out(result):
    return Path(result.args[-1])


def warnings_of(stderr: str, page: str) -> list[str]:
    return [line for line in stderr.splitlines() if re.search(rf"[/\\]{page}\.rst", line)]


def test_build_goes_through_without_torch(result):
    assert result.returncode == 0
    assert "Traceback" not in result.stderr
    assert "torch is loaded: False" in result.stdout


@pytest.mark.parametrize("name", BAD)
def test_one_located_typed_warning_and_a_note(name, result, out):
    (warning,) = warnings_of(result.stderr, name)
    assert f"{name}.rst:6: WARNING: model-graph: " in warning
    assert f"[modeldiagrams.{KINDS.get(name, 'option')}]" in result.stderr
    page = (out / f"{name}.html").read_text("utf-8")
    assert page.count('class="mg-problem"') == 1
    assert "Before." in page
    assert "After." in page


def test_unknown_option_is_answered_with_the_one_meant(result):
    assert "option 'inptus': unknown; did you mean 'inputs'?" in result.stderr


def test_partial_diagram_is_shown_with_its_note(out):
    page = (out / "forward.html").read_text("utf-8")
    assert "half way through" in page
    assert "<svg" in page
    assert "Block" in page


def test_good_page_is_untouched(result, out):
    assert not warnings_of(result.stderr, "good")
    page = (out / "good.html").read_text("utf-8")
    assert "mg-problem" not in page
    assert "<svg" in page


def test_strict_build_fails(bad_site, build, tmp_path, result):
    doctrees = Path(result.args[result.args.index("-d") + 1])
    strict = build(bad_site, tmp_path / "out", "-W", "--keep-going", doctrees=doctrees)
    assert strict.returncode == 1
    # bad pages were read again, although nothing changed: a second build is no quieter than the first
    assert strict.stderr.count("WARNING: model-graph") == len(BAD)
    assert (tmp_path / "out" / "good.html").is_file()


def test_warnings_can_be_suppressed_by_kind(make_site, build, tmp_path):
    source = make_site("", page=BAD["graph-missing"], other=BAD["value"])
    kinds = "suppress_warnings=modeldiagrams.graph-file,modeldiagrams.option"
    quiet = build(source, tmp_path / "out", "-W", "-D", kinds)
    assert quiet.returncode == 0, quiet.stderr


def test_a_death_is_told_with_its_place(result):
    assert "tracing tinymodels.Exits ended the tracing process with exit status 3" in result.stderr
    assert "tinymodels/__init__.py:" in result.stderr


def test_what_models_print_is_shown_to_the_verbose_only(result, bad_site, tmp_path):
    assert "hello from the model" not in result.stdout + result.stderr
    source = tmp_path / "source"
    shutil.copytree(bad_site / "tinymodels", source / "tinymodels")
    shutil.copy(bad_site / "conf.py", source)
    (source / "index.rst").write_text("Good\n====\n\n.. model-graph:: tinymodels.Chatty\n   :inputs: [1, 4]\n")
    command = [sys.executable, "-m", "sphinx", "-v", source, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "hello from the model" in done.stdout
