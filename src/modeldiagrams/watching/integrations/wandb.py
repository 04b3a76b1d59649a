"""Adds a recording to a run of Weights & Biases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import wandb

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.watching.reader import load_recording

if TYPE_CHECKING:
    import os

__all__ = ["to_wandb"]


def to_wandb(
    path: str | os.PathLike[str],
    run: Any = None,
    *,
    page: str | os.PathLike[str] | None = None,
    name: str = "recording",
) -> Any:
    """Add a recording to a run as an artifact, and optionally a page that shows it. Needs wandb.

    Args:
        path: The file that `watch` wrote.
        run: The run, or None for the active one.
        page: An HTML file with the diagram of the model and the recording.
        name: The name of the artifact.

    Returns:
        The artifact.

    Raises:
        ModelDiagramsError: if no run is active.
        RecordingError: if the file is not a recording.
    """
    recording = load_recording(path)
    run = run or wandb.run
    if run is None:
        raise ModelDiagramsError("expected an active run of Weights & Biases: call wandb.init() first, or pass `run`")
    facts = {"steps": len(recording.steps), "anomalies": [anomaly.text for anomaly in recording.anomalies[:10]]}
    artifact = wandb.Artifact(name, type="modeldiagrams", metadata=facts)
    artifact.add_file(str(path), Path(path).name)
    if page is not None:
        artifact.add_file(str(page), Path(page).name)
        run.log({name: wandb.Html(Path(page).read_text("utf-8"), inject=False)})
    run.log_artifact(artifact)
    return artifact
