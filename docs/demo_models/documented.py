"""A model whose docstring requests its diagram."""

from __future__ import annotations

import torch
from torch import nn


class Autoencoder(nn.Module):
    """Squeezes vectors through a narrow code and restores them.

    Args:
        size: Size of the vectors.
        code: Size of the code.

    :model-graph: {inputs: [1, 64], direction: LR,
        caption: "The autoencoder, from left to right."}
    """

    def __init__(self, size: int = 64, code: int = 8) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(size, 32), nn.ReLU(), nn.Linear(32, code))
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map `(batch, size)` to `(batch, size)`."""
        return self.decoder(self.encoder(x))
