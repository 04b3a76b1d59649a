"""Segments lesions; options of ``train.py`` are the only place where sizes are written."""

from inference_zoo.projects.hard_lesions.networks import LesionUNet

__all__ = ["LesionUNet"]
