"""Flow of rivers; shown in a notebook only."""

from inference_zoo.projects.hard_rivers.lstm import RiverLSTM

__all__ = ["RiverLSTM"]
