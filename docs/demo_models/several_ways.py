"""Models that take several ways."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class VAE(nn.Module):
    """A variational autoencoder, with the methods of a module of Lightning."""

    def __init__(self, pixels: int = 784, width: int = 256, latent: int = 16) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, width), nn.ReLU())
        self.mean = nn.Linear(width, latent)
        self.deviation = nn.Linear(width, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, pixels), nn.Sigmoid())

    def forward(self, image: Tensor) -> Tensor:
        """Map images `(batch, 784)` to their reconstructions."""
        return self.decode(self.mean(self.encoder(image)))

    def decode(self, code: Tensor) -> Tensor:
        """Map codes `(batch, 16)` to images."""
        image: Tensor = self.decoder(code)
        return image

    def training_step(self, image: Tensor) -> Tensor:
        """Compute the loss of a batch: reconstruction, and divergence from a normal distribution."""
        hidden = self.encoder(image)
        mean, log_variance = self.mean(hidden), self.deviation(hidden)
        code = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        divergence = (mean**2 + log_variance.exp() - 1 - log_variance).sum(1).mean() / 2
        return functional.binary_cross_entropy(self.decode(code), image.sigmoid()) + divergence


class EarlyExit(nn.Module):
    """Ends after the first block whose answer is certain."""

    def __init__(self, width: int = 32, depth: int = 4, classes: int = 10, threshold: float = 0.9) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(depth))
        self.heads = nn.ModuleList(nn.Linear(width, classes) for _ in range(depth))
        self.threshold = threshold

    def forward(self, features: Tensor) -> Tensor:
        """Map features `(1, 32)` to the scores of classes."""
        for block, head in zip(self.blocks, self.heads, strict=True):
            features = block(features)
            scores: Tensor = head(features)
            if scores.softmax(-1).max() > self.threshold:
                return scores
        return scores
