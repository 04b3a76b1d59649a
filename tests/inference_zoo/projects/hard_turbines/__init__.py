"""Faults of wind turbines; composed by Hydra."""

from inference_zoo.projects.hard_turbines.nets import FaultDetector

__all__ = ["FaultDetector"]
