"""The oldest Sphinx that is promised, and those between it and the one that the other tests run with."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.zoo

ROOT = Path(__file__).parents[2]
BUILDERS = ("html", "dirhtml", "singlehtml", "text", "latex", "epub", "gettext")
CONF = """
import os
extensions += ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
autodoc_mock_imports = ["torch"]
autosummary_generate = True
modeldiagrams_autodoc = True
# PyTorch is not installed beside this Sphinx
modeldiagrams_python = os.environ["FIXTURE_PYTHON"]
nitpick_ignore_regex = [("py:.*", ".*forward|torch.*")]
version = "1"
copyright = "nobody"
"""
PAGE = """
Documented
==========

:model-graph:`tinymodels.Net`, :model-graph:`mypkg.Net#fc`

.. autoclass:: tinymodels.Net

.. currentmodule:: tinymodels

.. autosummary::
   :toctree: generated

   Block
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """This package, as it is installed."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (path,) = out.glob("*.whl")
    return path


@pytest.mark.parametrize("version", ["7.4", "8.0", "8.1", "8.2", "9.0"])
def test_version_of_sphinx(version, wheel, site, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, f"sphinx~={version}.0", "myst-parser", f"{wheel}[pdf]"], check=True)

    conf, index = site / "conf.py", site / "index.rst"
    if "autosummary" not in conf.read_text():
        conf.write_text(conf.read_text() + CONF)
        index.write_text(index.read_text() + "   documented\n")
        (site / "documented.rst").write_text(PAGE)
    environment = {**os.environ, "FIXTURE_PYTHON": sys.executable, "NO_COLOR": "1"}
    for builder in BUILDERS:
        command = [python, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", "-j", "2", "-b", builder]
        result = subprocess.run(
            [*command, "-d", tmp_path / f"doctrees-{builder == 'gettext'}", site, tmp_path / builder],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert result.returncode == 0, (builder, result.stderr)
    page = (tmp_path / "html" / "documented.html").read_text("utf-8")
    assert '<model-graph graph="tinymodels.Net' in page
    assert '<model-graph graph="tinymodels.Block' in (tmp_path / "html/generated/tinymodels.Block.html").read_text()
    assert "└── fc  Linear" in (tmp_path / "text" / "index.txt").read_text("utf-8")
