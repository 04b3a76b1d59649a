"""Renders diagrams as HTML."""
