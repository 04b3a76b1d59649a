import torch
from torch import nn
from torch.nn import functional as F

from .registry import BACKBONES, HEADS


@BACKBONES.register_module()
class StripNet(nn.Module):
    def __init__(self, in_channels, embed_dims, strip_size):
        super().__init__()
        self.stages = nn.ModuleList()
        for dim in embed_dims:
            self.stages.append(
                nn.Sequential(
                    nn.Conv2d(in_channels, dim, 3, 2, 1),
                    nn.Conv2d(dim, dim, (1, strip_size), padding=(0, strip_size // 2), groups=dim),
                    nn.Conv2d(dim, dim, (strip_size, 1), padding=(strip_size // 2, 0), groups=dim),
                    nn.ReLU(),
                )
            )
            in_channels = dim

    def forward(self, x):
        outs = []
        for stage in self.stages:
            x = stage(x)
            outs.append(x)
        return outs


@HEADS.register_module()
class AllMLPHead(nn.Module):
    def __init__(self, in_channels, channels, num_classes, dropout_ratio=0.1):
        super().__init__()
        self.projs = nn.ModuleList(nn.Conv2d(c, channels, 1) for c in in_channels)
        self.drop = nn.Dropout2d(dropout_ratio)
        self.cls = nn.Conv2d(channels * len(in_channels), num_classes, 1)

    def forward(self, feats):
        size = feats[0].shape[2:]
        x = torch.cat([F.interpolate(p(f), size) for p, f in zip(self.projs, feats)], 1)
        return self.cls(self.drop(x))
