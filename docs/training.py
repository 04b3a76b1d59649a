"""Makes `pages/howto/training.mdwatch`, the recording on the page about trainings: `python docs/training.py`.

The file is committed, because the last digits of a training differ between machines.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from demo_models import ResidualCNN
from torch import nn

import modeldiagrams

STEPS, EVERY, TOO_FAST = 120, 5, 80
"""From step 80 on, the learning rate is a hundred times too high."""


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    """Make images with a bright bar, and the bar's positions."""
    classes = torch.randint(4, (8,))
    images = torch.randn(8, 3, 32, 32)
    for image, place in zip(images, classes.tolist(), strict=True):
        image[:, 8 * place : 8 * place + 8] += 1
    return images, classes


def main() -> None:
    """Train with a fault, and write the recording."""
    torch.manual_seed(0)
    model = ResidualCNN(num_classes=4, width=8, blocks=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.mdwatch"
        with modeldiagrams.watch(model, every=EVERY, path=path, sample=512) as watcher:
            for step in range(STEPS):
                optimizer.param_groups[0]["lr"] = 2.0 if step >= TOO_FAST else 0.02
                images, classes = batch()
                loss = nn.functional.cross_entropy(model(images), classes)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                watcher.step(loss)
        whole = modeldiagrams.load_recording(path)
    moments = whole.reduced(12, per_octave=2).moments
    modeldiagrams.Recording(whole.runs, moments, whole.losses, whole.anomalies).save(
        Path(__file__).parent / "pages" / "howto" / "training.mdwatch"
    )


if __name__ == "__main__":
    main()
