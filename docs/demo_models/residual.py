"""A small residual network for images."""

from __future__ import annotations

import torch
from torch import nn


def rings() -> torch.Tensor:
    """Make an image of rings around a disc, `(1, 3, 96, 96)`."""
    across = torch.linspace(-1, 1, 96)
    radius = (across[:, None] ** 2 + across[None] ** 2).sqrt()
    waves = [(frequency * radius).cos() / 2 + 0.5 for frequency in (8.0, 16.0, 24.0)]
    return torch.stack([wave * (radius < 1) for wave in waves])[None]


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions around which the input is carried unchanged, or projected where the shape changes."""

    def __init__(self, in_channels: int, out_channels: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(out_channels)
        self.activation = nn.ReLU()
        self.shortcut: nn.Module | None = None
        if stride != 1 or in_channels != out_channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, 1, stride, bias=False),
                nn.BatchNorm2d(out_channels),
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map `(batch, in_channels, height, width)` to `(batch, out_channels, height / stride, width / stride)`."""
        residual = x if self.shortcut is None else self.shortcut(x)
        y = self.activation(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        return self.activation(y + residual)


class ResidualCNN(nn.Module):
    """A stem, three stages of residual blocks and a linear classifier.

    Args:
        num_classes: How many classes there are to tell apart.
        width: Channels of the first stage; each later stage has twice as many.
        blocks: Residual blocks per stage.
    """

    def __init__(self, num_classes: int = 10, width: int = 32, blocks: int = 2) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        stages, channels = [], width
        for index in range(3):
            out_channels = width * 2**index
            first = ResidualBlock(channels, out_channels, stride=1 if index == 0 else 2)
            rest = [ResidualBlock(out_channels, out_channels) for _ in range(blocks - 1)]
            stages.append(nn.Sequential(first, *rest))
            channels = out_channels
        self.stages = nn.ModuleList(stages)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(channels, num_classes)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Map images `(batch, 3, height, width)` to class scores `(batch, num_classes)`."""
        x = self.stem(image)
        for stage in self.stages:
            x = stage(x)
        return self.classifier(self.pool(x).flatten(1))
