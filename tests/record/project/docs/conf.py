import sys

sys.path.insert(0, "..")
extensions = ["sphinx.ext.autodoc", "sphinx_modeldiagrams"]
modeldiagrams_autodoc = True
