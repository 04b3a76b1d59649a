"""Models whose levels are read one by one: feature pyramids, and U-Nets with outputs at the side."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from truth.models import IMAGE, Encoder

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from demo_models.architectures.pixels import FeaturePyramid


class FlatPyramid(nn.Module):
    """A feature pyramid without containers, whose laterals run in the order of the way down, as in torchvision."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.ModuleList(nn.Conv2d(3 if i == 0 else 8, 8, 3, 2, 1) for i in range(4))
        self.inner = nn.ModuleList(nn.Conv2d(8, 8, 1) for _ in range(4))
        self.layer = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(4))
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, image: Tensor) -> Tensor:
        features = []
        for stage in self.stages:
            image = stage(image).relu()
            features.append(image)
        last = self.inner[3](features[3])
        results = [self.layer[3](last)]
        for i in (2, 1, 0):
            last = self.inner[i](features[i]) + functional.interpolate(last, scale_factor=2)
            results.append(self.layer[i](last))
        return torch.cat([self.head(result).flatten(1) for result in results], 1)


class Bottom(nn.Module):
    """What torchvision does with the levels of a backbone: each output follows its level, and the lowest is pooled."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.ModuleList(nn.Conv2d(width, 8, 1) for width in (4, 8, 16, 32))
        self.layer = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(4))
        self.lower = nn.MaxPool2d(1, 2)

    def forward(self, features: list[Tensor]) -> list[Tensor]:
        last = self.inner[3](features[3])
        results = [self.layer[3](last)]
        for i in (2, 1, 0):
            upper = functional.interpolate(last, size=features[i].shape[-2:])
            last = self.inner[i](features[i]) + upper
            results.insert(0, self.layer[i](last))
        return [*results, self.lower(results[-1])]


class Backbone(nn.Module):
    """A body and a feature pyramid in one container."""

    def __init__(self) -> None:
        super().__init__()
        self.body = Encoder([4, 8, 16, 32])
        self.fpn = Bottom()

    def forward(self, image: Tensor) -> list[Tensor]:
        return self.fpn(self.body(image))


class Detector(nn.Module):
    """Like the detectors of torchvision: a head reads all levels of the backbone."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, image: Tensor) -> Tensor:
        return torch.cat([self.head(level).flatten(1) for level in self.backbone(image)], 1)


class Inner(nn.Module):
    """A U-Net whose input is added to what it makes."""

    def __init__(self, depth: int, narrow: int, wide: int, out: int) -> None:
        super().__init__()
        self.inner = nn.Conv2d(narrow, out, 1)
        self.down = nn.ModuleList(nn.Conv2d(out if i == 0 else wide, wide, 3, 2, 1) for i in range(depth))
        self.bottom = nn.Conv2d(wide, wide, 3, padding=1)
        self.up = nn.ModuleList(nn.Conv2d(2 * wide, out if i == 0 else wide, 1) for i in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        x = y = self.inner(x)
        levels = []
        for down in self.down:
            y = down(y).relu()
            levels.append(y)
        y = self.bottom(y)
        for level, up in zip(reversed(levels), reversed(self.up), strict=True):
            y = functional.interpolate(up(torch.cat([y, level], 1)), scale_factor=2)
        return x + y


class NestedU(nn.Module):
    """Like U²-Net: U-Nets are the levels of one; what is found on each is resized and fused."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([Inner(3, 3, 4, 8), Inner(3, 8, 8, 16), Inner(2, 16, 16, 32)])
        self.bottom = Inner(2, 32, 16, 32)
        self.up = nn.ModuleList([Inner(3, 8 + 8, 4, 8), Inner(3, 16 + 16, 8, 8), Inner(2, 32 + 32, 16, 16)])
        self.side = nn.ModuleList(nn.Conv2d(width, 1, 3, padding=1) for width in (8, 8, 16, 32))
        self.pool = nn.MaxPool2d(2)
        self.fuse = nn.Conv2d(4, 1, 1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        levels = []
        for down in self.down:
            image = down(image)
            levels.append(image)
            image = self.pool(image)
        found = [self.bottom(image)]
        for level, up in zip(reversed(levels), reversed(self.up), strict=True):
            resized = functional.interpolate(found[-1], size=level.shape[2:])
            found.append(up(torch.cat([resized, level], 1)))
        size = found[-1].shape[2:]
        sides = [functional.interpolate(side(x), size=size) for side, x in zip(self.side, reversed(found), strict=True)]
        return self.fuse(torch.cat(sides, 1)), sides[-1]


class FlatDecoder(nn.Module):
    """A U-Net whose encoder is a container, and whose decoder is not."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder([4, 8, 16, 32])
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * width, width, 2, 2) for width in (16, 8, 4))
        self.merge = nn.ModuleList(nn.Conv2d(2 * width, width, 3, padding=1) for width in (16, 8, 4))

    def forward(self, image: Tensor) -> Tensor:
        *levels, x = self.encoder(image)
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([up(x), levels.pop()], 1))
        return x


LEVELS: dict[str, tuple[type[nn.Module], tuple[object, ...], Tensor]] = {
    "feature_pyramid": (FeaturePyramid, (), IMAGE),
    "flat_pyramid": (FlatPyramid, (), IMAGE),
    "detector": (Detector, (), IMAGE),
    "flat_decoder": (FlatDecoder, (), IMAGE),
    "nested": (NestedU, (), torch.zeros(1, 3, 64, 64)),
}
