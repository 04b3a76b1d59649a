"""Finds roads; parts are built from the sections of a YAML file."""

from inference_zoo.projects.hard_roads.segmentors import RoadSegmentor

__all__ = ["RoadSegmentor"]
