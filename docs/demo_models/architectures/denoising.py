"""The network that a diffusion model runs in each step."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class TimeEmbedding(nn.Module):
    """Sines of the time step, and two layers."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.Sequential(nn.Linear(width, out), nn.SiLU(), nn.Linear(out, out))

    def forward(self, step: Tensor) -> Tensor:
        """Map steps `(batch,)` to vectors `(batch, out)`."""
        angles = step[:, None] * torch.exp(-torch.linspace(0.0, 9.2, self.width // 2))
        return self.layers(torch.cat([angles.sin(), angles.cos()], -1))


class ResBlock(nn.Module):
    """Two convolutions with the time added between them, and a skip."""

    def __init__(self, channels: int, out: int, time: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, channels), nn.Conv2d(channels, out, 3, padding=1)
        self.time = nn.Linear(time, out)
        self.norm2, self.conv2 = nn.GroupNorm(8, out), nn.Conv2d(out, out, 3, padding=1)
        self.skip = nn.Conv2d(channels, out, 1) if channels != out else nn.Identity()
        self.activation = nn.SiLU()

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """Map `(batch, channels, height, width)` to `out` channels."""
        y = self.conv1(self.activation(self.norm1(x)))
        y = y + self.time(time)[:, :, None, None]
        return self.skip(x) + self.conv2(self.activation(self.norm2(y)))


class SelfAttention(nn.Module):
    """Attention between all places of an image."""

    def __init__(self, channels: int, heads: int = 4) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.attention = nn.MultiheadAttention(channels, heads, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        """Map `(batch, channels, height, width)` to the same shape."""
        places = self.norm(x).flatten(2).transpose(1, 2)
        attended, _ = self.attention(places, places, places, need_weights=False)
        return x + attended.transpose(1, 2).reshape(x.shape)


class DiffusionUNet(nn.Module):
    """Predicts the noise in an image, after Ho et al."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        time = 4 * width
        self.time = TimeEmbedding(width, time)
        self.inner = nn.Conv2d(3, width, 3, padding=1)
        self.down1, self.shrink1 = ResBlock(width, width, time), nn.Conv2d(width, width, 3, 2, 1)
        self.down2, self.shrink2 = ResBlock(width, 2 * width, time), nn.Conv2d(2 * width, 2 * width, 3, 2, 1)
        self.middle1 = ResBlock(2 * width, 4 * width, time)
        self.attention = SelfAttention(4 * width)
        self.middle2 = ResBlock(4 * width, 2 * width, time)
        self.grow2, self.up2 = nn.ConvTranspose2d(2 * width, 2 * width, 2, 2), ResBlock(4 * width, width, time)
        self.grow1, self.up1 = nn.ConvTranspose2d(width, width, 2, 2), ResBlock(2 * width, width, time)
        self.outer = nn.Sequential(nn.GroupNorm(8, width), nn.SiLU(), nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, image: Tensor, step: Tensor) -> Tensor:
        """Map noisy images `(batch, 3, height, width)` and steps `(batch,)` to the noise in them."""
        time = self.time(step)
        fine = self.down1(self.inner(image), time)
        coarse = self.down2(self.shrink1(fine), time)
        x = self.middle2(self.attention(self.middle1(self.shrink2(coarse), time)), time)
        x = self.up2(torch.cat([coarse, self.grow2(x)], 1), time)
        x = self.up1(torch.cat([fine, self.grow1(x)], 1), time)
        return self.outer(x)
