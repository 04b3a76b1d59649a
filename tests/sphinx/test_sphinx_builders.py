"""Builders that make no web pages get ordinary nodes: none breaks, each says what the model holds."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest

# builder → where the outline must be found
OUTPUTS = {
    "text": "index.txt",
    "latex": "fixture.tex",
    "man": "fixture.1",
    "texinfo": "fixture.texi",
    "xml": "index.xml",
    "pseudoxml": "index.pseudoxml",
}
SILENT = ("gettext", "dummy", "changes", "linkcheck", "json", "htmlhelp")

SCRIPT = """
import sys
from sphinx.cmd.build import main
source, out, *builders = sys.argv[1:]
for builder in builders:
    doctrees = f"{out}/doctrees-{builder == 'gettext'}"
    code = main(["-q", "-W", "-n", "-b", builder, "-d", doctrees, source, f"{out}/{builder}"])
    print(builder, code)
"""


@pytest.fixture(scope="module")
def built(site, tmp_path_factory):
    """One process runs all builders over one reading of the sources."""
    out = tmp_path_factory.mktemp("builders")
    (site / "conf.py").write_text((site / "conf.py").read_text() + MORE_CONFIG)
    command = [sys.executable, "-c", SCRIPT, site, out, *OUTPUTS, "epub", *SILENT]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    return out, result


MORE_CONFIG = """
html_theme = "basic"
epub_show_urls = "no"
man_pages = [("index", "fixture", "fixture", [], 1)]
texinfo_documents = [("index", "fixture", "fixture", "nobody", "fixture", "fixture", "fixture")]
version = "1"
copyright = "nobody"
"""


@pytest.mark.parametrize("builder", [*OUTPUTS, "epub", *SILENT])
def test_builder_runs_without_a_warning(built, builder):
    _, result = built
    assert f"{builder} 0" in result.stdout.splitlines(), result.stderr


@pytest.mark.parametrize("builder", OUTPUTS)
def test_outline_stands_in_place_of_the_diagram(built, builder):
    out, _ = built
    text = (out / builder / OUTPUTS[builder]).read_text("utf-8")
    assert "Architecture of Net" in text
    assert "Linear" in text
    assert "adjacency" not in text


def test_book_has_outline_and_no_script(built):
    out, _ = built
    with zipfile.ZipFile(next((out / "epub").glob("*.epub"))) as book:
        page = book.read("index.xhtml").decode()
        assert not [name for name in book.namelist() if "modeldiagrams" in name]
    assert "Architecture of Net" in page
    assert "model-graph" not in page


def test_only_the_caption_is_for_translators(built):
    out, _ = built
    catalogue = (out / "gettext" / "index.pot").read_text("utf-8")
    assert "The *net* of this page." in catalogue
    assert "Architecture of" not in catalogue
    assert '"fc"' not in catalogue
