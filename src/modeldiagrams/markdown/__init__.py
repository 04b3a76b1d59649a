"""Diagrams in Markdown: the fence, and the extension for plain Python-Markdown."""
