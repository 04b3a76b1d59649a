"""Cells whose ops are joined in pairs."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Separable(nn.Sequential):
    """An activation, a depthwise and a pointwise convolution."""

    def __init__(self, width: int, kernel: int):
        depthwise = nn.Conv2d(width, width, kernel, padding=kernel // 2, groups=width)
        super().__init__(nn.ReLU(), depthwise, nn.Conv2d(width, width, 1), nn.BatchNorm2d(width))


class NormalCell(nn.Module):
    """The normal cell of NASNet by Zoph et al. (2018), figure 4."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.conv_prev, self.conv = (nn.Conv2d(width, width, 1) for _ in range(2))
        self.left = nn.ModuleList(
            [
                Separable(width, 5),
                Separable(width, 5),
                nn.AvgPool2d(3, 1, 1),
                nn.AvgPool2d(3, 1, 1),
                Separable(width, 3),
            ]
        )
        self.right = nn.ModuleList([Separable(width, 3), Separable(width, 3), nn.AvgPool2d(3, 1, 1)])

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        previous, current = self.conv_prev(before), self.conv(x)
        joins = [
            self.left[0](current) + self.right[0](previous),
            self.left[1](previous) + self.right[1](previous),
            self.left[2](current) + previous,
            self.left[3](previous) + self.right[2](previous),
            self.left[4](current) + current,
        ]
        return torch.cat([previous, *joins], 1)
