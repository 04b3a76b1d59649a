"""Small hand-written models to edit. `UNet` is held out: the comparison was never tuned on it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from edits.subject import Line, Subject

WIDTH = 24


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (self.split(layer(x)) for layer in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / 4.0
        found = self.drop(scores.softmax(-1)) @ value
        return self.out(found.transpose(1, 2).flatten(2))


class Feed(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, inner)
        self.act = nn.GELU()
        self.down = nn.Linear(inner, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        return self.drop(self.down(self.act(self.up(x))))


class EncoderBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, 4)
        self.norm2 = nn.LayerNorm(width)
        self.feed = Feed(width, 2 * width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.feed(self.norm2(x))


class Encoder(nn.Module):
    """A classifier of text: embeddings, blocks, a head."""

    def __init__(self, width: int = WIDTH, depth: int = 3) -> None:
        super().__init__()
        self.tokens = nn.Embedding(50, width)
        self.places = nn.Embedding(16, width)
        self.register_buffer("numbers", torch.arange(16), persistent=False)
        self.blocks = nn.ModuleList(EncoderBlock(width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 7)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + self.places(self.numbers[: ids.shape[1]])
        for block in self.blocks:
            x = block(x)
        return self.head(torch.tanh(self.norm(x).mean(1)))


class ConvBlock(nn.Module):
    def __init__(self, given: int, width: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(given, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(width),
        )
        self.act = nn.ReLU()
        self.skip = None
        if stride > 1:
            self.skip = nn.Sequential(nn.Conv2d(given, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        skip = x if self.skip is None else self.skip(x)
        return self.act(self.body(x) + skip)


class Convnet(nn.Module):
    """A residual network with three stages."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2))
        self.stage1 = nn.Sequential(ConvBlock(width, width), ConvBlock(width, width))
        self.stage2 = nn.Sequential(
            ConvBlock(width, 2 * width, 2), ConvBlock(2 * width, 2 * width), ConvBlock(2 * width, 2 * width)
        )
        self.head = nn.Linear(2 * width, 10)

    def forward(self, image: Tensor) -> Tensor:
        x = self.stage2(self.stage1(self.stem(image)))
        return self.head(x.mean((2, 3)))


class Recurrent(nn.Module):
    """A tagger: a recurrent network over embeddings, and two heads."""

    def __init__(self, width: int = 20) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, width)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.mix = nn.Sequential(nn.Linear(width, 2 * width), nn.Tanh(), nn.Dropout(0.2), nn.Linear(2 * width, width))
        self.norm = nn.LayerNorm(width)
        self.tags = nn.Linear(width, 5)

    def forward(self, words: Tensor) -> Tensor:
        x, _ = self.rnn(self.embed(words))
        x = self.norm(x + self.mix(x))
        return torch.sigmoid(self.tags(x))


class TimeBlock(nn.Module):
    """A residual block that knows the time."""

    def __init__(self, given: int, width: int) -> None:
        super().__init__()
        self.norm_in = nn.GroupNorm(4, given)
        self.conv_in = nn.Conv2d(given, width, 3, padding=1)
        self.time = nn.Linear(32, width)
        self.norm_out = nn.GroupNorm(4, width)
        self.conv_out = nn.Conv2d(width, width, 3, padding=1)
        self.act = nn.SiLU()
        self.short = nn.Conv2d(given, width, 1) if given != width else nn.Identity()

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        y = self.conv_in(self.act(self.norm_in(x))) + self.time(time)[:, :, None, None]
        return self.short(x) + self.conv_out(self.act(self.norm_out(y)))


class UNet(nn.Module):
    """Down and up again, with skips, told the time."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 32))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.ModuleList([TimeBlock(width, width), TimeBlock(width, 2 * width)])
        self.shrink = nn.ModuleList([nn.AvgPool2d(2), nn.AvgPool2d(2)])
        self.middle = nn.ModuleList([TimeBlock(2 * width, 2 * width), TimeBlock(2 * width, 2 * width)])
        self.grow = nn.ModuleList(
            [nn.ConvTranspose2d(2 * width, 2 * width, 2, 2), nn.ConvTranspose2d(width, width, 2, 2)]
        )
        self.up = nn.ModuleList([TimeBlock(4 * width, width), TimeBlock(2 * width, width)])
        self.last = nn.Sequential(nn.GroupNorm(4, width), nn.SiLU(), nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, image: Tensor, time: Tensor) -> Tensor:
        time = self.time(time)
        x = self.first(image)
        skips = []
        for block, shrink in zip(self.down, self.shrink, strict=True):
            x = block(x, time)
            skips.append(x)
            x = shrink(x)
        for block in self.middle:
            x = block(x, time)
        for grow, block in zip(self.grow, self.up, strict=True):
            x = block(torch.cat([grow(x), skips.pop()], 1), time)
        return self.last(x)


def _ids(length: int) -> dict[str, Tensor]:
    return {"ids": torch.arange(2 * length).view(2, length) % 50}


def _image(size: int) -> dict[str, Tensor]:
    return {"image": torch.zeros(1, 3, size, size)}


def _timed(size: int) -> dict[str, Tensor]:
    return {**_image(size), "time": torch.zeros(1, 8)}


SIZE = [Line("size")]

ENCODER = Subject("encoder", Encoder, lambda: _ids(6), {"width": (lambda: Encoder(2 * WIDTH), SIZE)}, lambda: _ids(9))
CONVNET = Subject("convnet", Convnet, lambda: _image(32), {"width": (lambda: Convnet(32), SIZE)}, lambda: _image(64))
RECURRENT = Subject(
    "recurrent",
    Recurrent,
    lambda: {"words": torch.zeros(2, 6, dtype=torch.int64)},
    {"width": (lambda: Recurrent(40), SIZE)},
)
UNET = Subject("unet", UNet, lambda: _timed(16), {"width": (lambda: UNet(32), SIZE)}, lambda: _timed(32))
DEVELOPMENT = (ENCODER, CONVNET, RECURRENT)
