"""Networks that stand for a scene."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def fourier_features(x: Tensor, octaves: int) -> Tensor:
    """Sines and cosines of growing frequency beside the coordinates themselves."""
    angles = x[..., None] * torch.pi * 2 ** torch.arange(octaves)
    return torch.cat([x, angles.sin().flatten(-2), angles.cos().flatten(-2)], -1)


class NeRF(nn.Module):
    """Colour and density at points of a scene, after Mildenhall et al."""

    def __init__(self, width: int = 256, octaves: int = 10, view_octaves: int = 4) -> None:
        super().__init__()
        self.octaves, self.view_octaves = octaves, view_octaves
        encoded, encoded_view = 3 + 6 * octaves, 3 + 6 * view_octaves
        self.first = nn.ModuleList(nn.Linear(encoded if i == 0 else width, width) for i in range(5))
        self.second = nn.ModuleList(nn.Linear(width + encoded if i == 0 else width, width) for i in range(3))
        self.density = nn.Linear(width, 1)
        self.feature = nn.Linear(width, width)
        self.view = nn.Linear(width + encoded_view, width // 2)
        self.colour = nn.Linear(width // 2, 3)
        self.activation = nn.ReLU()

    def forward(self, position: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
        """Map points and viewing directions, both `(points, 3)`, to colours and densities."""
        encoded = fourier_features(position, self.octaves)
        x = encoded
        for layer in self.first:
            x = self.activation(layer(x))
        x = torch.cat([encoded, x], -1)
        for layer in self.second:
            x = self.activation(layer(x))
        density = self.activation(self.density(x))
        seen = torch.cat([self.feature(x), fourier_features(direction, self.view_octaves)], -1)
        colour = self.colour(self.activation(self.view(seen))).sigmoid()
        return colour, density
