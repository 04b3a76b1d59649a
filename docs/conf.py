"""Sphinx configuration of the documentation; that of MkDocs is ``mkdocs.yml``."""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import one_source  # noqa: E402  (in this folder)

project = "modeldiagrams"
copyright = "The modeldiagrams authors"  # noqa: A001  (Sphinx's name)
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_modeldiagrams",
]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# the same fence as in MkDocs
myst_fence_as_directive = ["model-graph", "model-diff", "model-changes", "model-history", "model-catalogue"]
html_theme = "furo"
html_title = "modeldiagrams"
# the first screen of the sidebar holds all groups
html_theme_options = {"light_css_variables": {"sidebar-item-spacing-vertical": "0.38rem"}}
html_static_path = ["pages/site.css"]
html_css_files = ["site.css"]
numfig = True
nitpicky = True
exclude_patterns = [*one_source.list_left_out(), *(["examples/catalogue"] if one_source.LIGHT in os.environ else [])]
# documents the demo models without importing torch
autodoc_mock_imports = ["torch"]
autodoc_typehints = "none"
default_role = "code"
modeldiagrams_autodoc = ["demo_models.DenseNet"]
# a busy machine needs more than a minute for the largest models
modeldiagrams_timeout = 600
modeldiagrams_source_link = {"demo_models": "https://example.org/docs/{path}#L{line}"}


def setup(app):  # noqa: ANN001, ANN201, D103  (Sphinx's hook)
    app.connect("source-read", _prepare)
    app.connect("build-finished", _keep_addresses)


def _prepare(app, name, content):  # noqa: ANN001, ANN202  (Sphinx's event)
    prepared = one_source.prepare(content[0], "sphinx", f"{name}.md")
    if prepared != content[0]:
        # references and navigation may change although this file doesn't
        app.env.note_reread()
    content[0] = prepared


def _keep_addresses(app, error):  # noqa: ANN001, ANN202  (Sphinx's event)
    if not error and app.builder.name == "html":
        one_source.write_redirects(Path(app.outdir), ".html")
