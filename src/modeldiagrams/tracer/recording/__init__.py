"""Records ops and module calls on every thread."""
