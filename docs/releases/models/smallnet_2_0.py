"""A small classifier of images: wider, with an attention over channels, and a head of two layers."""

import torch
from torch import nn


class ChannelAttention(nn.Module):
    """Weighs channels by what the whole image shows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.weigh = nn.Sequential(nn.Conv2d(width, width // 4, 1), nn.GELU(), nn.Conv2d(width // 4, width, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(self.weigh(self.pool(x)))


class Block(nn.Module):
    """Two convolutions and an attention, around which the input is carried."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.attention = ChannelAttention(width)
        self.act = nn.GELU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.act(self.norm1(self.conv1(x)))
        return self.act(x + self.attention(self.norm2(self.conv2(y))))


class SmallNet(nn.Module):
    """A stem, residual blocks and a classifier of two layers."""

    def __init__(self, num_classes: int = 10, width: int = 48, blocks: int = 3) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(blocks)))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Sequential(nn.Linear(width, 128), nn.GELU(), nn.Linear(128, num_classes))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.blocks(self.stem(image))
        return self.head(self.pool(x).flatten(1))
