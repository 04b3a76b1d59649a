"""Draws graphs as SVG, PNG and PDF with the viewer in an embedded V8."""
