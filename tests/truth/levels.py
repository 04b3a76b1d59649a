"""Models whose levels are read one by one: feature pyramids, and U-Nets with outputs at the side."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from truth.models import IMAGE

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


LEVELS: dict[str, tuple[type[nn.Module], tuple[object, ...], Tensor]] = {
    "feature_pyramid": (FeaturePyramid, (), IMAGE),
    "flat_pyramid": (FlatPyramid, (), IMAGE),
}
