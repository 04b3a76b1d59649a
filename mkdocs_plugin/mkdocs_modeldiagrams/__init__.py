"""Diagrams of PyTorch models in MkDocs: ``plugins: [modeldiagrams]``."""

from mkdocs_modeldiagrams.plugin import ModelDiagramsPlugin

__all__ = ["ModelDiagramsPlugin"]
