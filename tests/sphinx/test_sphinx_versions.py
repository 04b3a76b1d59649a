"""The oldest supported Sphinx, and later versions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.zoo

ROOT = Path(__file__).parents[2]
OLDEST_PYTHON = {"7.4": 11, "8.0": 11, "8.1": 11, "8.2": 11, "9.0": 11, "9.1": 12, "9.2": 13}
"""Version of Sphinx, of which the newest is taken → the Python 3 it needs, and we do."""


def _python(minor: int) -> str | None:
    """An interpreter of this version: the tests' own, if that is new enough, or another on this machine."""
    if sys.version_info >= (3, minor):
        return sys.executable
    other = shutil.which(f"python3.{minor}")
    runs = other and subprocess.run([other, "-c", ""], check=False, capture_output=True).returncode == 0
    return other if runs else None


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


@pytest.mark.parametrize("version", [version for version, minor in OLDEST_PYTHON.items() if _python(minor)])
def test_supported_version_of_sphinx_builds_the_site(version, wheel, site, tmp_path):
    interpreter = _python(OLDEST_PYTHON[version])
    subprocess.run([interpreter, "-m", "venv", tmp_path / "venv"], check=True)
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
    assert "- fc: Linear" in (tmp_path / "text" / "index.txt").read_text("utf-8")
