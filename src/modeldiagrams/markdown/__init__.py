"""Diagrams in Markdown: the fence and the Python-Markdown extension."""
