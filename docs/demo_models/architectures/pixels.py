"""Convolutional networks whose results have places: features on several scales."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from demo_models.convolutional import convolution
from demo_models.residual import ResidualBlock


class Fusion(nn.Module):
    """Every stream reads all others, each made as large as itself."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.paths = nn.ModuleList(
            nn.ModuleList(self._path(widths, source, target) for source in range(len(widths)))
            for target in range(len(widths))
        )

    @staticmethod
    def _path(widths: list[int], source: int, target: int) -> nn.Module:
        if source == target:
            return nn.Identity()
        if source > target:
            scale = nn.Upsample(scale_factor=2 ** (source - target))
            return nn.Sequential(nn.Conv2d(widths[source], widths[target], 1, bias=False), scale)
        steps = [convolution(widths[source + i], widths[source + i + 1], 3, 2) for i in range(target - source)]
        return nn.Sequential(*steps)

    def forward(self, streams: list[Tensor]) -> list[Tensor]:
        """Map streams, the largest first, to the same shapes."""
        fused = []
        for paths in self.paths:
            parts = [path(stream) for path, stream in zip(paths, streams, strict=True)]
            fused.append(torch.relu(sum(parts[1:], parts[0])))
        return fused


class Exchange(nn.Module):
    """Parallel streams of residual blocks, and what they exchange."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.streams = nn.ModuleList(
            nn.Sequential(ResidualBlock(width, width), ResidualBlock(width, width)) for width in widths
        )
        self.fusion = Fusion(widths)

    def forward(self, streams: list[Tensor]) -> list[Tensor]:
        """Map streams, the largest first, to the same shapes."""
        return self.fusion([stream(x) for stream, x in zip(self.streams, streams, strict=True)])


class HRNet(nn.Module):
    """Streams of three resolutions side by side, after Wang et al."""

    def __init__(self, width: int = 16, num_joints: int = 17) -> None:
        super().__init__()
        widths = [width, 2 * width, 4 * width]
        self.stem = nn.Sequential(convolution(3, width, 3, 2), convolution(width, width, 3, 2))
        self.stage1 = ResidualBlock(width, width)
        self.down1 = convolution(width, 2 * width, 3, 2)
        self.stage2 = Exchange(widths[:2])
        self.down2 = convolution(2 * width, 4 * width, 3, 2)
        self.stage3 = Exchange(widths)
        self.head = nn.Conv2d(width, num_joints, 1)

    def forward(self, image: Tensor) -> Tensor:
        """Map images `(batch, 3, height, width)` to a heat map for each joint."""
        high = self.stage1(self.stem(image))
        high, middle = self.stage2([high, self.down1(high)])
        high, _, _ = self.stage3([high, middle, self.down2(middle)])
        return self.head(high)


class Backbone(nn.Module):
    """Residual blocks that halve the size each; the results of all are used."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.stem = convolution(3, widths[0], 7, 2)
        self.stages = nn.ModuleList(
            ResidualBlock(narrow, wide, stride=2) for narrow, wide in zip([widths[0], *widths], widths, strict=False)
        )

    def forward(self, image: Tensor) -> list[Tensor]:
        """Map images `(batch, 3, height, width)` to features, the largest first."""
        x = self.stem(image)
        features = []
        for stage in self.stages:
            x = stage(x)
            features.append(x)
        return features


class Pyramid(nn.Module):
    """Carries what coarse features know back to fine ones."""

    def __init__(self, widths: list[int], pyramid: int) -> None:
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(width, pyramid, 1) for width in widths)
        self.smooth = nn.ModuleList(nn.Conv2d(pyramid, pyramid, 3, padding=1) for _ in widths)
        self.upsample = nn.Upsample(scale_factor=2)

    def forward(self, features: list[Tensor]) -> list[Tensor]:
        """Map features, the largest first, to features of one width."""
        levels = [lateral(x) for lateral, x in zip(self.lateral, features, strict=True)]
        for i in reversed(range(len(levels) - 1)):
            levels[i] = levels[i] + self.upsample(levels[i + 1])
        return [smooth(level) for smooth, level in zip(self.smooth, levels, strict=True)]


class RegionHead(nn.Module):
    """Tells where objects may be; the same weights read every level."""

    def __init__(self, channels: int, anchors: int) -> None:
        super().__init__()
        self.shared = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())
        self.objectness, self.boxes = nn.Conv2d(channels, anchors, 1), nn.Conv2d(channels, 4 * anchors, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map features of one level to scores and boxes of regions."""
        shared = self.shared(x)
        return self.objectness(shared), self.boxes(shared)


class FeaturePyramid(nn.Module):
    """A backbone, the pyramid of Lin et al. on it, and a head for regions as in Mask R-CNN by He et al."""

    def __init__(self, width: int = 16, pyramid: int = 32, anchors: int = 3) -> None:
        super().__init__()
        widths = [width, 2 * width, 4 * width]
        self.backbone = Backbone(widths)
        self.pyramid = Pyramid(widths, pyramid)
        self.head = RegionHead(pyramid, anchors)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """Map images to the scores and the boxes of regions, of three scales in a row."""
        scores, boxes = zip(*(self.head(level) for level in self.pyramid(self.backbone(image))), strict=True)
        return torch.cat([one.flatten(1) for one in scores], 1), torch.cat([one.flatten(1) for one in boxes], 1)
