from __future__ import annotations

import torch
from torch import Tensor, nn

SIZES = {
    "s": {"widths": (16, 32), "depth": 1, "neck": 32},
    "m": {"widths": (32, 64, 128), "depth": 2, "neck": 64},
}


def cbs(a: int, b: int, k: int = 3, s: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b), nn.SiLU())


class Detector(nn.Module):
    def __init__(self, *, widths, depth, neck, num_classes, reg_max=4):
        super().__init__()
        self.stages = nn.ModuleList()
        prev = 3
        for width in widths:
            self.stages.append(nn.Sequential(cbs(prev, width, s=2), *[cbs(width, width) for _ in range(depth)]))
            prev = width
        self.lateral = nn.ModuleList([nn.Conv2d(w, neck, 1) for w in widths])
        self.head = nn.Conv2d(neck, 4 * reg_max + num_classes, 1)
        self.reg_max, self.num_classes = reg_max, num_classes

    def forward(self, images: list[Tensor]):
        x = torch.stack(images)
        outs = []
        for stage, lateral in zip(self.stages, self.lateral, strict=True):
            x = stage(x)
            outs.append(self.head(lateral(x)).flatten(2))
        box, score = torch.cat(outs, 2).split([4 * self.reg_max, self.num_classes], 1)
        b, _, n = box.shape
        dist = box.view(b, 4, self.reg_max, n).softmax(2)
        bins = torch.arange(self.reg_max, dtype=torch.float, device=x.device)
        return {"boxes": (dist * bins[None, None, :, None]).sum(2).transpose(1, 2), "scores": score.sigmoid()}


def detector_s(**kwargs):
    return Detector(**SIZES["s"], **{"num_classes": 4, **kwargs})
