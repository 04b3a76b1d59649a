"""From a graph to a picture: SVG, PNG and PDF, drawn by the viewer in an embedded V8."""
