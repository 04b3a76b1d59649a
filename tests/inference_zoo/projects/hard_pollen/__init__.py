"""Grains of pollen, by holograms; the README shows how a model is made."""

from inference_zoo.projects.hard_pollen.holo import HoloClassifier

__all__ = ["HoloClassifier"]
