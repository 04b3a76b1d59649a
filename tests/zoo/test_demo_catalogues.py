"""The demonstration's catalogues of whole libraries, built by both tools from committed graphs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from modeldiagrams.engine.catalogue.site_index import read_index

BUILD = Path(__file__).parents[2] / "docs" / "build.py"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("demo")
    subprocess.run([sys.executable, BUILD, output], check=True)
    return output


@pytest.mark.parametrize("tool", ["sphinx", "mkdocs"])
@pytest.mark.parametrize("library", ["torchvision", "transformers"])
def test_catalogues_show_all_committed_models(demo: Path, tool: str, library: str) -> None:
    """Each has a page with its diagram, although the library may not be installed."""
    lists = [file.read_text("utf-8").split() for file in (BUILD.parent / "model-graphs").glob("*.models.txt")]
    (names,) = (names for names in lists if names[0].startswith(library))
    page = demo / tool / "examples" / "catalogue" / (f"{library}/index.html" if tool == "mkdocs" else f"{library}.html")
    html = page.read_text("utf-8")
    assert "mg-problem" not in html
    for name in names:
        # names of functions have a code, because of classes that differ only in case
        form = rf"{re.escape(name)}(?:-[0-9a-f]{{8}})?"
        form = f"{form}/" if tool == "mkdocs" else rf"{library}/{form}\.html"
        address = re.search(f'href="({form})', html)[1]
        text = (page.parent / address / ("index.html" if tool == "mkdocs" else "")).read_text("utf-8")
        assert text.count("<model-graph ") == 1, name
        assert "mg-problem" not in text, name
    index = read_index((demo / tool / "modeldiagrams" / "index.json").read_bytes())
    assert {*names} <= {entry.model for entry in index.diagrams if entry.figures is not None}
