"""Sphinx side of the demo site."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent
sys.path.insert(0, str(DOCS))

import reference  # noqa: E402

reference.write()

project = "modeldiagrams"
copyright = "The modeldiagrams authors"  # noqa: A001
extensions = ["sphinx.ext.autodoc", "sphinx_modeldiagrams"]
html_theme = "furo"
html_title = "modeldiagrams"
numfig = True
nitpicky = True
# the demo models are documented; torch itself is not imported by this process
autodoc_mock_imports = ["torch"]
autodoc_typehints = "none"
