"""Small convolutional networks with well-known wiring."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn


def convolution(in_channels: int, out_channels: int, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    """Convolution, normalisation and activation; keeps the size where the stride is 1."""
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
    )


class DenseBlock(nn.Module):
    """Every layer reads the outputs of all layers before it."""

    def __init__(self, channels: int, growth: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(convolution(channels + index * growth, growth) for index in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        """Map `(batch, channels, height, width)` to the same, with the channels of all layers appended."""
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        return torch.cat(features, 1)


class DenseNet(nn.Module):
    """Two dense blocks with a transition between them, after Huang et al."""

    def __init__(self, growth: int = 16, layers: int = 4, num_classes: int = 10) -> None:
        super().__init__()
        channels = 2 * growth
        self.stem = convolution(3, channels, 7, 2)
        self.block1 = DenseBlock(channels, growth, layers)
        channels += growth * layers
        self.transition = nn.Sequential(convolution(channels, channels // 2, 1), nn.AvgPool2d(2))
        self.block2 = DenseBlock(channels // 2, growth, layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(channels // 2 + growth * layers, num_classes)

    def forward(self, image: Tensor) -> Tensor:
        """Map images `(batch, 3, height, width)` to class scores."""
        x = self.block2(self.transition(self.block1(self.stem(image))))
        return self.classifier(self.pool(x).flatten(1))


class InceptionBlock(nn.Module):
    """Four parallel branches with different kernels."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.point = convolution(channels, width, 1)
        self.small = nn.Sequential(convolution(channels, width, 1), convolution(width, width, 3))
        self.large = nn.Sequential(convolution(channels, width, 1), convolution(width, width, 5))
        self.pooled = nn.Sequential(nn.MaxPool2d(3, 1, padding=1), convolution(channels, width, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Map `(batch, channels, height, width)` to `4 * width` channels."""
        return torch.cat([self.point(x), self.small(x), self.large(x), self.pooled(x)], 1)


class Inception(nn.Module):
    """Three inception blocks between a stem and a classifier, after Szegedy et al."""

    def __init__(self, width: int = 32, num_classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(convolution(3, width, 7, 2), nn.MaxPool2d(3, 2, padding=1))
        self.mixed1 = InceptionBlock(width, width)
        self.mixed2 = InceptionBlock(4 * width, width)
        self.mixed3 = InceptionBlock(4 * width, width)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(4 * width, num_classes)

    def forward(self, image: Tensor) -> Tensor:
        """Map images `(batch, 3, height, width)` to class scores."""
        x = self.mixed3(self.mixed2(self.mixed1(self.stem(image))))
        return self.classifier(self.pool(x).flatten(1))


class UNet(nn.Module):
    """Encoder and decoder with a skip connection on each level, after Ronneberger et al."""

    def __init__(self, width: int = 32, levels: int = 3, num_classes: int = 2) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(levels + 1)]
        self.inner = convolution(3, width)
        self.down = nn.ModuleList(
            nn.Sequential(nn.MaxPool2d(2), convolution(narrow, wide)) for narrow, wide in pairwise(widths)
        )
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(wide, narrow, 2, 2) for narrow, wide in zip(widths[-2::-1], widths[:0:-1], strict=True)
        )
        self.merge = nn.ModuleList(convolution(2 * narrow, narrow) for narrow in widths[-2::-1])
        self.head = nn.Conv2d(width, num_classes, 1)

    def forward(self, image: Tensor) -> Tensor:
        """Map images `(batch, 3, height, width)` to class scores of every pixel."""
        x = self.inner(image)
        bridges = []
        for down in self.down:
            bridges.append(x)
            x = down(x)
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([bridges.pop(), up(x)], 1))
        return self.head(x)


class Generator(nn.Module):
    """Noise to images, after the generator of DCGAN by Radford et al."""

    def __init__(self, noise: int = 100, width: int = 64) -> None:
        super().__init__()
        widths = [8 * width, 4 * width, 2 * width, width]
        self.seed = nn.Sequential(nn.ConvTranspose2d(noise, widths[0], 4), nn.BatchNorm2d(widths[0]), nn.ReLU())
        self.grow = nn.ModuleList(
            nn.Sequential(nn.ConvTranspose2d(wide, narrow, 4, 2, 1), nn.BatchNorm2d(narrow), nn.ReLU())
            for wide, narrow in pairwise(widths)
        )
        self.image = nn.ConvTranspose2d(width, 3, 4, 2, 1)

    def forward(self, noise: Tensor) -> Tensor:
        """Map noise `(batch, noise)` to images `(batch, 3, 64, 64)` with values from -1 to 1."""
        x = self.seed(noise[:, :, None, None])
        for grow in self.grow:
            x = grow(x)
        return torch.tanh(self.image(x))


class SearchedCell(nn.Module):
    """A cell as found by architecture search: each node adds two transformed earlier nodes."""

    def __init__(self, channels: int, sources: tuple[tuple[int, int], ...]) -> None:
        super().__init__()
        self.sources = sources
        self.left = nn.ModuleList(convolution(channels, channels) for _ in sources)
        self.right = nn.ModuleList(nn.AvgPool2d(3, 1, padding=1) for _ in sources)
        self.shrink = convolution(channels * len(sources), channels, 1)

    def forward(self, before: Tensor, x: Tensor) -> Tensor:
        """Map the outputs of the two cells before, of one shape, to the next one."""
        nodes = [before, x]
        for (one, other), left, right in zip(self.sources, self.left, self.right, strict=True):
            nodes.append(left(nodes[one]) + right(nodes[other]))
        return self.shrink(torch.cat(nodes[2:], 1))


class SearchedNet(nn.Module):
    """Three searched cells, each fed by the two before it, after NASNet by Zoph et al."""

    def __init__(self, channels: int = 16, cells: int = 3, num_classes: int = 10) -> None:
        super().__init__()
        sources = ((0, 1), (1, 0), (2, 1), (2, 3), (0, 4))
        self.stem = convolution(3, channels)
        self.cells = nn.ModuleList(SearchedCell(channels, sources) for _ in range(cells))
        self.classifier = nn.Linear(channels, num_classes)

    def forward(self, image: Tensor) -> Tensor:
        """Map images `(batch, 3, height, width)` to class scores."""
        before = x = self.stem(image)
        for cell in self.cells:
            before, x = x, cell(before, x)
        return self.classifier(x.mean((2, 3)))
