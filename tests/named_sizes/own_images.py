"""Hand-written models of pictures."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn, randn

from named_sizes.known import add, fixed, free, images, known


def conv(channels, out, stride=1, kernel=3):
    return nn.Sequential(nn.Conv2d(channels, out, kernel, stride, kernel // 2), nn.BatchNorm2d(out), nn.ReLU())


@known(images, B=free(2), H=free(64), W=free(96))
class AdaptivePool(nn.Module):
    """The pooled 4 × 4 never change, although 64 / 16 = 4."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(conv(3, 8, 2), conv(8, 8, 2), nn.MaxPool2d(3, 2, 1), conv(8, 16, 2))
        self.pool, self.head = nn.AdaptiveAvgPool2d(4), nn.Linear(256, 5)

    def forward(self, x):
        return self.head(self.pool(self.features(x)).flatten(1))


@known(images, B=free(2), H=fixed(28, "view(-1, 1568)"), W=fixed(28, "view(-1, 1568)"))
class HardView(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = conv(3, 8), nn.Linear(8 * 14 * 14, 10)

    def forward(self, x):
        return self.head(F.max_pool2d(self.conv(x), 2).view(-1, 8 * 14 * 14))


class Down(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.body = nn.Sequential(conv(channels, out), conv(out, out))

    def forward(self, x):
        y = self.body(x)
        return y, F.max_pool2d(y, 2)


@known(images, B=free(1), H=free(64, 8), W=free(48, 8))
class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.downs = nn.ModuleList([Down(3, 4), Down(4, 8), Down(8, 16)])
        self.middle = conv(16, 32)
        self.ups = nn.ModuleList([nn.ConvTranspose2d(2 * c, c, 2, 2) for c in (16, 8, 4)])
        self.convs = nn.ModuleList([conv(2 * c, c) for c in (16, 8, 4)])
        self.head = nn.Conv2d(4, 2, 1)

    def forward(self, image):
        skips = []
        for down in self.downs:
            skip, image = down(image)
            skips.append(skip)
        image = self.middle(image)
        for up, merge, skip in zip(self.ups, self.convs, reversed(skips), strict=True):
            image = merge(torch.cat([skip, up(image)], 1))
        return self.head(image)


@known(images, B=free(1), H=free(108, least=92), W=free(124, least=92))
class ValidUNet(nn.Module):
    """As in the first paper: convolutions without padding, and crops. Sizes are 4 more than a multiple of 8."""

    def __init__(self):
        super().__init__()
        widths = [(3, 4), (4, 4), (4, 8), (8, 16)]
        self.blocks = nn.ModuleList([nn.Sequential(nn.Conv2d(a, b, 3), nn.Conv2d(b, b, 3)) for a, b in widths])
        self.ups = nn.ModuleList([nn.ConvTranspose2d(c, 4, 2, 2) for c in (16, 4, 4)])
        self.merges = nn.ModuleList([nn.Conv2d(c, 4, 3) for c in (12, 8, 8)])

    def forward(self, x):
        skips = []
        for block in self.blocks[:3]:
            skips.append(block(x))
            x = F.max_pool2d(skips[-1], 2)
        x = self.blocks[3](x)
        for up, merge, skip in zip(self.ups, self.merges, reversed(skips), strict=True):
            x = up(x)
            top, left = (skip.shape[2] - x.shape[2]) // 2, (skip.shape[3] - x.shape[3]) // 2
            x = merge(torch.cat([skip[:, :, top : top + x.shape[2], left : left + x.shape[3]], x], 1))
        return x


@known(lambda B, H, W: (randn(B, H, W, 8),), B=free(2), H=free(16), W=free(24))
class PaddedWindows(nn.Module):
    """Attention in windows of 8 × 8; always pads, by nothing where the size fits."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x):
        """x: (B, H, W, C)."""
        B, H, W, C = x.shape
        x = F.pad(x, (0, 0, 0, (8 - W % 8) % 8, 0, (8 - H % 8) % 8))
        rows, columns = x.shape[1] // 8, x.shape[2] // 8
        x = x.view(B, rows, 8, columns, 8, C).permute(0, 1, 3, 2, 4, 5).reshape(-1, 64, C)
        q, k, v = self.qkv(x).chunk(3, -1)
        x = F.scaled_dot_product_attention(q, k, v)
        x = x.view(B, rows, columns, 8, 8, C).permute(0, 1, 3, 2, 4, 5).reshape(B, rows * 8, columns * 8, C)
        return x[:, :H, :W].contiguous()


@known(images, B=free(2), H=free(32, 8), W=free(48, 8))
class ClassToken(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 24, 8, 8)
        self.cls = nn.Parameter(torch.zeros(1, 1, 24))
        self.layer = nn.TransformerEncoderLayer(24, 2, 48, batch_first=True)
        self.head = nn.Linear(24, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)
        return self.head(self.layer(x)[:, 0])


@known(images, B=free(2), H=free(48), W=free(64))
class ASPP(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv(3, 8, 4, 5)
        self.branches = nn.ModuleList([nn.Conv2d(8, 4, 3, padding=d, dilation=d) for d in (1, 2, 3)])
        self.pooled, self.head = nn.Conv2d(8, 4, 1), nn.Conv2d(16, 2, 1)

    def forward(self, x):
        y = self.stem(x)
        pooled = F.interpolate(self.pooled(F.adaptive_avg_pool2d(y, 1)), size=y.shape[-2:], mode="bilinear")
        y = self.head(torch.cat([branch(y) for branch in self.branches] + [pooled], 1))
        return F.interpolate(y, size=x.shape[-2:], mode="bilinear", align_corners=False)


@known(images, B=free(2), H=free(48), W=free(60))
class PoolingPyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv(3, 8, 2)
        self.convs = nn.ModuleList([nn.Conv2d(8, 2, 1) for _ in range(4)])

    def forward(self, x):
        x = self.stem(x)
        parts = [c(F.adaptive_avg_pool2d(x, n)) for c, n in zip(self.convs, (1, 2, 3, 6), strict=True)]
        return torch.cat([x, *(F.interpolate(part, x.shape[2:]) for part in parts)], 1)


@known(images, B=free(1), H=free(20), W=free(24))
class PixelShuffle(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv(3, 8), nn.Conv2d(8, 27, 3, padding=1), nn.PixelShuffle(3))

    def forward(self, low):
        return self.body(low) + F.interpolate(low, scale_factor=3)


@known(images, B=free(2), H=free(32, least=2), W=free(40, least=2))
class Rescaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = conv(6, 4)

    def forward(self, x):
        half = F.interpolate(x, scale_factor=0.5, mode="area")
        fixed_size = F.interpolate(half, size=(32, 32))
        return self.conv(torch.cat([half, half], 1)), fixed_size, F.interpolate(half, scale_factor=1.5)


@known(images, B=free(2), H=free(64, 16), W=free(96, 16))
class Anchors(nn.Module):
    """A detector's head over three levels: all places of all levels in one row."""

    def __init__(self):
        super().__init__()
        self.levels = nn.ModuleList([conv(3, 8, 4), conv(8, 8, 2), conv(8, 8, 2)])
        self.boxes = nn.Conv2d(8, 3 * 4, 1)

    def forward(self, x):
        boxes, anchors = [], []
        for stride, level in zip((4, 8, 16), self.levels, strict=True):
            x = level(x)
            rows, columns = x.shape[-2:]
            y, z = torch.meshgrid(torch.arange(rows) * stride, torch.arange(columns) * stride, indexing="ij")
            centres = torch.stack([z, y, z, y], -1).reshape(-1, 1, 4)
            anchors.append((centres + torch.tensor([-1.0, -1, 1, 1]) * torch.tensor([[1.0], [2], [3]])).view(-1, 4))
            boxes.append(self.boxes(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 4))
        return torch.cat(boxes, 1) + torch.cat(anchors)


@known(images, B=free(2), H=free(32, 8, most=400), W=free(64, 8, most=400))
class Queries(nn.Module):
    """DETR: the number of queries stays."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 16, 8, 8)
        self.transformer = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)
        self.queries = nn.Embedding(7, 16)
        self.boxes, self.row, self.column = nn.Linear(16, 4), nn.Embedding(50, 8), nn.Embedding(50, 8)

    def forward(self, x):
        x = self.backbone(x)
        B, _, h, w = x.shape
        row = self.row(torch.arange(h))[:, None].expand(h, w, 8)
        column = self.column(torch.arange(w))[None].expand(h, w, 8)
        memory = x.flatten(2).transpose(1, 2) + torch.cat([row, column], -1).flatten(0, 1)
        return self.boxes(self.transformer(memory, self.queries.weight.expand(B, -1, -1))).sigmoid()


@known(lambda B: (torch.rand(B, 1, 28, 28),), B=free(4))
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(784, 16), nn.Linear(8, 784)

    def forward(self, x):
        mean, log = self.encoder(x.view(-1, 784)).chunk(2, dim=1)
        return torch.sigmoid(self.decoder(mean + torch.randn_like(mean) * (0.5 * log).exp())).view(-1, 1, 28, 28)


@known(lambda B: (randn(B, 16),), B=free(3))
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 8 * 4 * 4)
        self.ups = nn.Sequential(nn.ConvTranspose2d(8, 4, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(4, 3, 4, 2, 1))

    def forward(self, z):
        return self.ups(self.fc(z).reshape(-1, 8, 4, 4)).tanh()


@known(lambda B, H, W: {"x": randn(B, 3, H, W), "t": torch.arange(B) + 5}, B=free(2), H=free(32, 2), W=free(40, 2))
class Diffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8))
        self.enter, self.down, self.up = nn.Conv2d(3, 8, 3, 1, 1), nn.Conv2d(8, 8, 3, 2, 1), nn.Conv2d(16, 8, 3, 1, 1)
        self.norm, self.attention, self.leave = nn.GroupNorm(2, 8), nn.Conv2d(8, 24, 1), nn.Conv2d(8, 3, 1)

    def forward(self, x, t):
        waves = t[:, None].float() * torch.exp(-torch.arange(4) / 4)[None]
        x = self.enter(x) + self.time(torch.cat([waves.sin(), waves.cos()], -1))[:, :, None, None]
        y = self.norm(self.down(x))
        b, c, h, w = y.shape
        q, k, v = self.attention(y).view(b, 3, c, h * w).unbind(1)
        y = y + torch.bmm(v, torch.bmm(q.transpose(1, 2), k).softmax(-1).transpose(1, 2)).view(b, c, h, w)
        return self.leave(self.up(torch.cat([x, F.interpolate(y, scale_factor=2.0)], 1)))


@known(lambda B, N: (randn(B, 4, N, N),), B=free(2), N=free(24))
class SquareOnly(nn.Module):
    """Adds a picture to its transpose: height and width are one size."""

    def forward(self, x):
        return (x + x.transpose(-1, -2)).relu().mean((-1, -2)), torch.diagonal(x, dim1=2, dim2=3)


@known(lambda B, H, W: (randn(B, 3, H, W), randn(B, 3, H, W)), B=free(2), H=free(24), W=free(32))
class Stereo(nn.Module):
    """Two inputs of one size, and a cost for each of 4 shifts."""

    def __init__(self):
        super().__init__()
        self.conv = conv(3, 8, 2)

    def forward(self, left, right):
        a, b = self.conv(left), self.conv(right)
        costs = [(a * F.pad(b, (d, 0))[..., : b.shape[-1]]).mean(1) for d in range(4)]
        return torch.stack(costs, 1).softmax(1)


@known(lambda B, T, H, W: (randn(B, 3, T, H, W),), B=free(1), T=free(8), H=free(32), W=free(48))
class Video(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv3d(3, 4, 3, (1, 2, 2), 1), nn.Conv3d(4, 8, 3, 2, 1)
        self.head = nn.Linear(8, 5)

    def forward(self, video):
        return self.head(self.b(self.a(video).relu()).mean((2, 3, 4)))


@known(lambda B, T, H, W: (randn(B, T, 3, H, W),), B=free(2), T=free(5), H=free(16), W=free(24))
class FramesInBatch(nn.Module):
    """Pictures of all clips go through a network together; the batch holds B·T of them."""

    def __init__(self):
        super().__init__()
        self.conv, self.rnn = conv(3, 6, 2), nn.GRU(6, 7, batch_first=True)

    def forward(self, clips):
        b, t = clips.shape[:2]
        features = self.conv(clips.flatten(0, 1)).mean((2, 3))
        return self.rnn(features.unflatten(0, (b, t)))[0][:, -1]


@known(images, B=free(2), H=free(24, least=7), W=free(28, least=7))
class Squeeze(nn.Module):
    """Channels and places are weighed; a Gram matrix of channels is returned, too."""

    def __init__(self):
        super().__init__()
        self.stem, self.fc, self.place = conv(3, 8), nn.Sequential(nn.Linear(8, 2), nn.Linear(2, 8)), nn.Conv2d(2, 1, 7)

    def forward(self, x):
        x = self.stem(x)
        x = x * self.fc(x.mean((2, 3)))[..., None, None].sigmoid()
        x = x[:, :, 3:-3, 3:-3] * self.place(torch.stack([x.mean(1), x.amax(1)], 1)).sigmoid()
        flat = x.reshape(x.shape[0], 8, -1)
        return x, flat @ flat.mT / flat.shape[-1]


class Strided(nn.Module):
    """Patches that leave a border out where the size does not fit."""

    def __init__(self, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, stride, stride), nn.Conv2d(8, 8, 3, padding=1))

    def forward(self, x):
        return self.body(x)


for stride in (3, 5, 7):
    add(f"own Strided {stride}", partial(Strided, stride), images, B=free(2), H=free(64), W=free(96))
