"""Parcels as sets of pixels."""

import torch
from torch import nn


class linlayer(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.lin = nn.Linear(in_dim, out_dim)
        self.bn = nn.BatchNorm1d(out_dim)
        self.in_dim = in_dim
        self.out_dim = out_dim

    def forward(self, input):
        out = input.permute((0, 2, 1))  # to channel last
        out = self.lin(out)
        out = out.permute((0, 2, 1))  # to channel first
        return torch.relu(self.bn(out))


def masked_mean(x, mask):
    out = x.permute((1, 0, 2))
    out = out * mask
    out = out.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)
    return out.permute((1, 0))


def masked_std(x, mask):
    m = masked_mean(x, mask)
    out = x.permute((2, 0, 1)) - m
    out = out.permute((2, 1, 0)) * mask
    d = mask.sum(dim=-1).clamp(min=2)
    out = torch.sqrt((out**2).sum(dim=-1) / (d - 1) + 10e-32)
    return out.permute(1, 0)


def maximum(x, mask):
    return x.masked_fill(mask.unsqueeze(1) == 0, 0).max(dim=-1).values


def mean(x, mask):
    return masked_mean(x, mask)


def std(x, mask):
    return masked_std(x, mask)


pooling_methods = {"mean": mean, "std": std, "max": maximum}


class PixelSetEncoder(nn.Module):
    """
    input_dim: bands of a pixel
    mlp1: widths of the layers for pixels
    pooling: statistics over the pixels of a parcel, 'mean', 'std', 'max' with underscores between
    mlp2: widths of the layers for parcels
    with_extra: extra_size features of the parcel join its statistics
    """

    def __init__(self, input_dim, mlp1=[10, 32, 64], pooling="mean_std", mlp2=[64, 128], with_extra=True, extra_size=4):
        super().__init__()
        self.input_dim = input_dim
        self.mlp1_dim = list(mlp1)
        self.mlp2_dim = list(mlp2)
        self.pooling = pooling
        self.with_extra = with_extra
        self.extra_size = extra_size
        inter_dim = self.mlp1_dim[-1] * len(pooling.split("_"))
        if self.with_extra:
            self.name = "extra"
            inter_dim += self.extra_size
        assert input_dim == mlp1[0]
        assert inter_dim == mlp2[0]
        self.mlp1 = nn.Sequential(*[linlayer(a, b) for a, b in zip(mlp1[:-1], mlp1[1:])])
        layers = []
        for i in range(len(self.mlp2_dim) - 1):
            layers.append(nn.Linear(self.mlp2_dim[i], self.mlp2_dim[i + 1]))
            layers.append(nn.BatchNorm1d(self.mlp2_dim[i + 1]))
            if i < len(self.mlp2_dim) - 2:
                layers.append(nn.ReLU())
        self.mlp2 = nn.Sequential(*layers)

    def forward(self, input):
        """
        input: (pixels, mask), or ((pixels, mask), extra) if with_extra
            pixels: batch x (dates) x bands x pixels
            mask: batch x (dates) x pixels
            extra: batch x (dates) x extra_size
        """
        a, b = input
        if len(a) == 2:
            out, mask = a
            extra = b
        else:
            out, mask = a, b
            extra = None
        reshape_needed = len(out.shape) == 4
        if reshape_needed:
            batch, temp = out.shape[:2]
            out = out.view(batch * temp, *out.shape[2:])
            mask = mask.view(batch * temp, -1)
            if extra is not None:
                extra = extra.view(batch * temp, -1)
        out = self.mlp1(out)
        out = torch.cat([pooling_methods[n](out, mask) for n in self.pooling.split("_")], dim=1)
        if self.with_extra:
            out = torch.cat([out, extra], dim=1)
        out = self.mlp2(out)
        if reshape_needed:
            out = out.view(batch, temp, -1)
        return out
