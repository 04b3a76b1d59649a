"""Convolutional networks that classify images."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn


class AlexNet(nn.Module):
    """Five convolutions and three linear layers, after Krizhevsky et al., on one device."""

    def __init__(self, width: int = 16, num_classes: int = 10) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, 11, stride=4, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(width, 3 * width, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(3 * width, 6 * width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(6 * width, 4 * width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(4 * width, 4 * width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(3, 2),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(),
            nn.Linear(4 * width * 6 * 6, 64 * width),
            nn.ReLU(),
            nn.Dropout(),
            nn.Linear(64 * width, 64 * width),
            nn.ReLU(),
            nn.Linear(64 * width, num_classes),
        )

    def forward(self, image: Tensor) -> Tensor:
        """Map images `(batch, 3, 224, 224)` to class scores."""
        return self.classifier(self.features(image).flatten(1))


class VGG(nn.Module):
    """Stacks of small convolutions between poolings, after Simonyan and Zisserman: their network with 16 layers."""

    def __init__(self, width: int = 8, num_classes: int = 10) -> None:
        super().__init__()
        channels = 3
        self.stages = nn.ModuleList()
        for factor, depth in ((1, 2), (2, 2), (4, 3), (8, 3), (8, 3)):
            layers: list[nn.Module] = []
            for _ in range(depth):
                layers += [nn.Conv2d(channels, factor * width, 3, padding=1), nn.ReLU()]
                channels = factor * width
            self.stages.append(nn.Sequential(*layers, nn.MaxPool2d(2)))
        self.classifier = nn.Sequential(
            nn.Linear(channels * 7 * 7, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, num_classes)
        )

    def forward(self, image: Tensor) -> Tensor:
        """Map images `(batch, 3, 224, 224)` to class scores."""
        for stage in self.stages:
            image = stage(image)
        return self.classifier(image.flatten(1))


class SqueezeExcitation(nn.Module):
    """Weighs channels by what the whole image holds, after Hu et al."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.squeeze = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, channels // 4, 1)
        self.expand = nn.Conv2d(channels // 4, channels, 1)
        self.inner, self.gate = nn.ReLU(), nn.Hardsigmoid()

    def forward(self, x: Tensor) -> Tensor:
        """Map `(batch, channels, height, width)` to the same shape."""
        return x * self.gate(self.expand(self.inner(self.reduce(self.squeeze(x)))))


class BlockShape(NamedTuple):
    """Sizes of an inverted residual."""

    wide: int
    out: int
    kernel: int
    stride: int
    attends: bool


class InvertedResidual(nn.Module):
    """Expands channels, filters each of them alone, and projects back."""

    def __init__(self, channels: int, shape: BlockShape) -> None:
        super().__init__()
        wide, out, kernel, stride, attends = shape
        activation = nn.Hardswish if attends else nn.ReLU
        self.expand = nn.Sequential(nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide), activation())
        self.depthwise = nn.Sequential(
            nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            activation(),
        )
        self.attention = SqueezeExcitation(wide) if attends else None
        self.project = nn.Sequential(nn.Conv2d(wide, out, 1, bias=False), nn.BatchNorm2d(out))
        self.has_skip = stride == 1 and channels == out

    def forward(self, x: Tensor) -> Tensor:
        """Map `(batch, channels, height, width)` to `out` channels."""
        y = self.depthwise(self.expand(x))
        if self.attention is not None:
            y = self.attention(y)
        y = self.project(y)
        return x + y if self.has_skip else y


class MobileNetV3(nn.Module):
    """Inverted residuals, the later ones with squeeze-and-excitation, after Howard et al.; a short one."""

    BLOCKS = tuple(
        BlockShape(*shape)
        for shape in (
            (16, 16, 3, 2, True),
            (72, 24, 3, 2, False),
            (88, 24, 3, 1, False),
            (96, 40, 5, 2, True),
            (240, 40, 5, 1, True),
            (240, 40, 5, 1, True),
            (120, 48, 5, 1, True),
            (144, 48, 5, 1, True),
        )
    )

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        channels = 16
        self.stem = nn.Sequential(nn.Conv2d(3, channels, 3, 2, 1, bias=False), nn.BatchNorm2d(channels), nn.Hardswish())
        self.blocks = nn.ModuleList()
        for shape in self.BLOCKS:
            self.blocks.append(InvertedResidual(channels, shape))
            channels = shape.out
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Sequential(
            nn.Linear(channels, 128), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(128, num_classes)
        )

    def forward(self, image: Tensor) -> Tensor:
        """Map images `(batch, 3, height, width)` to class scores."""
        x = self.stem(image)
        for block in self.blocks:
            x = block(x)
        return self.head(self.pool(x).flatten(1))
