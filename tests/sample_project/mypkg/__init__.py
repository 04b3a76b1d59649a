"""A small project with models in many styles, imported by path as a documentation build does."""

from mypkg.models import Model, Widths, make_model, ready

__all__ = ["Model", "Widths", "make_model", "ready"]
