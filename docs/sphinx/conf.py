"""Sphinx side of the demo site."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent
sys.path.insert(0, str(DOCS))

import reference  # noqa: E402

reference.write()

project = "modeldiagrams"
copyright = "The modeldiagrams authors"  # noqa: A001
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_modeldiagrams",
]
html_theme = "furo"
html_title = "modeldiagrams"
numfig = True
nitpicky = True
# autosummary's table of methods names what its pages don't document
nitpick_ignore = [("py:obj", "demo_models.DenseNet.forward")]
# two dozen models take a while: `make gallery` builds that page, too
exclude_patterns = [] if tags.has("gallery") else ["gallery.rst"]  # noqa: F821  (Sphinx gives the tags)
suppress_warnings = ["toc.excluded"]
# the demo models are documented; torch itself is not imported by this process
autodoc_mock_imports = ["torch"]
autodoc_typehints = "none"
modeldiagrams_autodoc = ["demo_models.DenseNet"]
modeldiagrams_source_link = {"demo_models": "https://example.org/docs/{path}#L{line}"}
