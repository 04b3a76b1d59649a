"""Models of a few layers, each with what one rule on reading pictures is about."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class FeedForward(nn.Sequential):
    """Two linear layers with an activation between them."""

    def __init__(self, width: int = 32) -> None:
        super().__init__(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))


class Block(nn.Module):
    """Modules, an op, and a sum around which the input is carried."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width)

    def forward(self, x: Tensor) -> Tensor:
        """Map `(batch, width)` to the same shape."""
        return x + torch.tanh(self.feed_forward(self.norm(x)))


def rotate(q: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn pairs of channels by an angle, as rotary embeddings do."""
    first, second = q.chunk(2, -1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)


class Angles(nn.Module):
    """Two outputs with names."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.rate = nn.Linear(width, width // 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return cosines and sines."""
        angle = self.rate(x)
        cos = angle.cos()
        sin = angle.sin()
        return cos, sin


class Rotary(nn.Module):
    """A function of the model that makes several ops."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.angles = Angles(width)

    def forward(self, x: Tensor) -> Tensor:
        """Map `(batch, steps, width)` to the same shape."""
        return rotate(self.query(x), *self.angles(x))


class Stacked(nn.Module):
    """Six equal blocks between two other layers."""

    def __init__(self, width: int = 32, blocks: int = 6) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = nn.Linear(width, 100)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map `(batch, steps)`, int64, to scores."""
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Towers(nn.Module):
    """Two encoders that meet late."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        pooled = (nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.image_encoder = nn.Sequential(nn.Conv2d(3, width, 4, stride=4), nn.ReLU(), *pooled)
        self.text_encoder = nn.Sequential(nn.Linear(64, width), FeedForward(width))

    def forward(self, image: Tensor, text: Tensor) -> Tensor:
        """Map images and features of texts to similarities."""
        return self.image_encoder(image) @ self.text_encoder(text).T


class ConvolutionBlock(nn.Module):
    """A convolution with its normalisation and activation."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.act = nn.ReLU()
        self.pool = nn.MaxPool2d(2)

    def forward(self, image: Tensor) -> Tensor:
        """Map `(batch, 3, height, width)` to 16 channels of half the size."""
        return self.pool(self.act(self.norm(self.conv(image))))


class Twins(nn.Module):
    """One encoder, called twice."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.encoder = FeedForward(width)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return how alike two rows of features are."""
        return torch.cosine_similarity(self.encoder(left), self.encoder(right))
