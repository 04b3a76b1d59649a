"""What changed: between two graphs, and between two versions of a documentation."""
