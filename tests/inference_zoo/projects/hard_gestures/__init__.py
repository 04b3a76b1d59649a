"""Gestures from an armband; ``config.json`` has the architecture."""

from inference_zoo.projects.hard_gestures.model import GestureNet

__all__ = ["GestureNet"]
