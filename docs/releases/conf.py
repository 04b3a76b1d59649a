"""Sphinx configuration of one version of the package; copied next to its pages."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

project = "smallnet"
version = release = (ROOT / "VERSION").read_text("utf-8")
extensions = ["myst_parser", "sphinx_modeldiagrams"]
myst_fence_as_directive = ["model-graph", "model-diff", "model-history"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navbar_end": ["version-switcher", "theme-switcher"],
    "switcher": {"json_url": "/sphinx/switcher.json", "version_match": version},
    "check_switcher": False,
}
modeldiagrams_cache_dir = "../.cache/modeldiagrams"  # shared with MkDocs
include_patterns = ["*.md"]


def setup(app):  # noqa: ANN001, ANN201, D103  (Sphinx's hook)
    app.connect("source-read", _add_navigation)


def _add_navigation(_app, name, content):  # noqa: ANN001, ANN202  (Sphinx's event)
    if name == "index" and (ROOT / "pages" / "changes.md").is_file():
        content[0] += "\n```{toctree}\n:hidden:\n\nchanges\n```\n"


modeldiagrams_snapshots = "../model-graphs"
html_sidebars = {"**": ["sidebar-nav-bs"]}
