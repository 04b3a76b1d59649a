"""Options of a diagram and settings of a site: declarations, parsing, and help."""
