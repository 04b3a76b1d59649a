"""Small models with the structures that pictures have been untrue about.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.profiler import record_function


class SineEmbedding(nn.Module):
    """Positions of a map of features, from its size alone."""

    def forward(self, features: Tensor) -> Tensor:
        height, width = features.shape[-2:]
        rows = torch.arange(height)[:, None, None].expand(height, width, 4) / height
        columns = torch.arange(width)[None, :, None].expand(height, width, 4) / width
        return torch.cat([rows.sin(), columns.cos()], dim=-1).permute(2, 0, 1)[None]


class Attention(nn.Module):
    """Queries and keys know their positions."""

    def __init__(self, width: int):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x: Tensor, context: Tensor, positions: Tensor | None) -> Tensor:
        known = context if positions is None else context + positions
        scores = self.query(x) @ self.key(known).transpose(1, 2)
        return x + torch.softmax(scores / math.sqrt(x.shape[-1]), -1) @ self.value(context)


class Detector(nn.Module):
    """Like DETR: the parent reshapes an embedding of positions, which every layer adds to its keys."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Conv2d(3, 8, 4, 4)
        self.position_embedding = SineEmbedding()
        self.encoder = nn.ModuleList([Attention(8) for _ in range(3)])
        self.queries = nn.Embedding(5, 8)
        self.decoder = nn.ModuleList([Attention(8) for _ in range(3)])

    def forward(self, image: Tensor) -> Tensor:
        features = self.backbone(image)
        positions = self.position_embedding(features).flatten(2).transpose(1, 2)
        memory = features.flatten(2).transpose(1, 2)
        for layer in self.encoder:
            memory = layer(memory, memory, positions)
        x = self.queries.weight[None]
        for layer in self.decoder:
            x = layer(x, memory, positions)
        return x


class Cell(nn.Module):
    """A cell that reads the two before it."""

    def __init__(self, width: int):
        super().__init__()
        self.last = nn.Conv2d(width, width, 1)
        self.before = nn.Conv2d(width, width, 1)

    def forward(self, before: Tensor, last: Tensor) -> Tensor:
        return torch.relu(self.before(before)) + self.last(last)


class Searched(nn.Module):
    """Like NASNet: every cell reads two cells, also across a reduction."""

    def __init__(self, cells: int):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.first = nn.ModuleList([Cell(8) for _ in range(cells)])
        self.reduce = Cell(8)
        self.second = nn.ModuleList([Cell(8) for _ in range(cells)])

    def forward(self, image: Tensor) -> Tensor:
        before = last = self.stem(image)
        for cell in [*self.first, self.reduce, *self.second]:
            before, last = last, cell(before, last)
        return last.mean((2, 3))


class Neighbour(nn.Module):
    """A block that another kind of block reads together with the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.fc(self.norm(x))


class LastTwo(nn.Module):
    """A chain of equal blocks, of which the last two feed what follows, like PNASNet's before a wider cell."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Neighbour() for _ in range(4)])
        self.head = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            before, x = x, block(x)
        return self.head(x * torch.sigmoid(before))


class Skips(nn.Module):
    """Like UNETR: a decoder reads some blocks of a chain."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Neighbour() for _ in range(6)])
        self.up = nn.ModuleList([nn.Linear(16, 8) for _ in range(2)])

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for block in self.blocks:
            x = block(x)
            kept.append(x)
        for up, skip in zip(self.up, (kept[3], kept[1]), strict=True):
            x = up(torch.cat([x, skip], -1))
        return x


class AllStates(nn.Module):
    """Every block's output goes into one list: one line says it."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Neighbour() for _ in range(4)])

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        states = []
        for block in self.blocks:
            x = block(x)
            states.append(x)
        return x, torch.stack(states).mean(0)


class Expert(nn.Module):
    """One of several."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.down = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(torch.relu(self.up(x)))


class Mixture(nn.Module):
    """Experts that weigh in one after the other, each where it was chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(8, 6)
        self.experts = nn.ModuleList([Expert() for _ in range(6)])

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = torch.softmax(self.router(x), -1).topk(2, -1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            share = ((chosen == i) * weights).sum(-1, keepdim=True)
            out = out + share * expert(x)
        return out


class SparseMixture(Mixture):
    """Like Mixtral: each expert reads its tokens only, and adds to them."""

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.reshape(-1, 8)
        weights, chosen = torch.softmax(self.router(tokens), -1).topk(2, -1)
        mask = nn.functional.one_hot(chosen, 6).permute(2, 1, 0)
        out = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            rank, token = torch.where(mask[i])
            out.index_add_(0, token, expert(tokens[token]) * weights[token, rank, None])
        return out.reshape(x.shape)


class Checked(nn.Module):
    """Like Qwen2-VL: compares counts and reads sizes; also a loss and a choice that only Python has."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.head = nn.Linear(8, 8)

    def forward(self, tokens: Tensor) -> Tensor:
        special = tokens == 10
        torch._assert_async(((special.sum() * 4).eq(special.sum() * 4)).all())
        if (tokens.prod(-1) // 4).tolist() == [1]:
            raise ValueError
        x = self.embed(tokens)
        if not (x.abs().max() < 1e6).item():
            raise ValueError
        y = self.head(x.masked_fill(special[..., None], 0))
        self.loss = nn.functional.mse_loss(y, x).item()
        self.best = y.argmax(-1).tolist()
        return y


class RMSNorm(nn.Module):
    """A norm written out."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Normed(nn.Module):
    """Few parts besides a norm, which the page has room for."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = RMSNorm()
        self.fc = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.fc(self.norm(x))


class Level(nn.Module):
    """A block that also reads the time."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.norm, self.time, self.conv = (
            nn.BatchNorm2d(width),
            nn.Linear(8, width),
            nn.Conv2d(width, out, 3, padding=1),
        )

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        return self.conv(torch.relu(self.norm(x) + self.time(time)[:, :, None, None]))


class Denoiser(nn.Module):
    """A U: skips are nested, all levels read one embedding, and the size of a skip decides how much its join grows."""

    def __init__(self) -> None:
        super().__init__()
        widths = [4, 8, 16]
        self.time = nn.Sequential(nn.Linear(1, 8), nn.SiLU())
        self.inner = nn.Conv2d(3, 4, 1)
        self.down = nn.ModuleList(Level(width, 2 * width) for width in widths)
        self.middle = Level(32, 32)
        self.up = nn.ModuleList(Level(4 * width, width) for width in reversed(widths))
        self.outer = nn.Conv2d(4, 3, 1)

    def forward(self, image: Tensor) -> Tensor:
        time = self.time(image.new_ones(1, 1))
        x, skips = self.inner(image), []
        for down in self.down:
            skips.append(down(x, time))
            x = nn.functional.max_pool2d(skips[-1], 2)
        x = self.middle(x, time)
        for up in self.up:
            skip = skips.pop()
            x = up(torch.cat([skip, nn.functional.interpolate(x, size=skip.shape[2:])], 1), time)
        return self.outer(x)


class Enclosed(nn.Module):
    """A U in a container, and its input used again after it."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.last = Denoiser(), nn.Conv2d(3, 3, 1)

    def forward(self, image: Tensor) -> Tensor:
        return image - self.last(self.net(image * 2))


class Supervised(nn.Module):
    """A U with more beside its levels: a layer that makes the step of time as wide, and on the way up a head."""

    def __init__(self) -> None:
        super().__init__()
        widths = [4, 8, 16]
        self.time, self.inner = nn.Linear(1, 1), nn.Conv2d(3, 4, 1)
        self.down = nn.ModuleList(nn.Conv2d(width, 2 * width, 3, 2, 1) for width in widths)
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * width, width, 2, 2) for width in reversed(widths))
        self.before = nn.ModuleList(nn.Linear(1, 2 * width) for width in widths)
        self.after = nn.ModuleList(nn.Linear(1, width) for width in reversed(widths))
        self.heads = nn.ModuleList(nn.Conv2d(width, 1, 1) for width in reversed(widths))

    def forward(self, image: Tensor) -> list[Tensor]:
        time = self.time(image.new_ones(1, 1))
        x, skips, found = self.inner(image), [], []
        for down, embed in zip(self.down, self.before, strict=True):
            skips.append(x)
            x = down(x) + embed(time)[:, :, None, None]
        for up, embed, head in zip(self.up, self.after, self.heads, strict=True):
            x = up(x) * skips.pop() + embed(time)[:, :, None, None]
            found.append(head(x))
        return found


class Encoded(nn.Module):
    """A level that hands on two tensors to skip, and one to the next level."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second, self.shrink = (
            nn.Conv2d(width, width, 1),
            nn.Conv2d(width, 2 * width, 1),
            nn.Conv2d(2 * width, 2 * width, 3, 2, 1),
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        fine = self.first(x)
        coarse = self.second(fine)
        return self.shrink(coarse), coarse, fine


class Decoded(nn.Module):
    """A level that reads both again."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.grow = nn.ConvTranspose2d(2 * width, 2 * width, 2, 2)
        self.second, self.first = nn.Conv2d(4 * width, width, 1), nn.Conv2d(2 * width, width, 1)

    def forward(self, x: Tensor, coarse: Tensor, fine: Tensor) -> Tensor:
        x = self.second(torch.cat([coarse, self.grow(x)], 1))
        return self.first(torch.cat([fine, x], 1))


class TwoSkips(nn.Module):
    """A U with two skips in each level."""

    def __init__(self) -> None:
        super().__init__()
        widths = [4, 8, 16]
        self.inner, self.outer = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 3, 1)
        self.down = nn.ModuleList(map(Encoded, widths))
        self.middle = nn.Conv2d(32, 32, 1)
        self.up = nn.ModuleList(map(Decoded, reversed(widths)))

    def forward(self, image: Tensor) -> Tensor:
        x, skips = self.inner(image), []
        for down in self.down:
            x, *own = down(x)
            skips.append(own)
        x = self.middle(x)
        for up in self.up:
            x = up(x, *skips.pop())
        return self.outer(x)


class Encoder(nn.Module):
    """The features of all levels, as libraries for segmentation write it."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 1)
        self.stages = nn.ModuleList(
            nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(narrow, wide, 3, padding=1), nn.ReLU())
            for narrow, wide in pairwise(widths)
        )

    def forward(self, image: Tensor) -> list[Tensor]:
        found = [self.stem(image)]
        for stage in self.stages:
            found.append(stage(found[-1]))
        return found


class Upwards(nn.Module):
    """A level of a decoder."""

    def __init__(self, wide: int, narrow: int) -> None:
        super().__init__()
        self.grow, self.merge = nn.ConvTranspose2d(wide, narrow, 2, 2), nn.Conv2d(2 * narrow, narrow, 3, padding=1)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        return self.merge(torch.cat([skip, self.grow(x)], 1))


class Decoder(nn.Module):
    """Reads all of them, from the last to the first."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Upwards(wide, narrow) for narrow, wide in reversed([*pairwise(widths)]))

    def forward(self, *features: Tensor) -> Tensor:
        *skips, x = features
        for block in self.blocks:
            x = block(x, skips.pop())
        return x


class Segmenter(nn.Module):
    """A U of two containers, with something between them or not."""

    def __init__(self, between: bool) -> None:
        super().__init__()
        widths = [4, 8, 16, 32]
        self.encoder, self.decoder, self.head = Encoder(widths), Decoder(widths), nn.Conv2d(4, 2, 1)
        self.bottleneck = nn.Sequential(nn.Conv2d(32, 32, 1), nn.ReLU()) if between else None

    def forward(self, image: Tensor) -> Tensor:
        *skips, x = self.encoder(image)
        if self.bottleneck is not None:
            x = self.bottleneck(x)
        return self.head(self.decoder(*skips, x))


class EqualLevels(nn.Module):
    """A U of equal blocks, as in U-ViT."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)) for _ in range(3))
        self.middle = nn.Linear(8, 8)
        self.up = nn.ModuleList(nn.Sequential(nn.Linear(16, 8), nn.GELU(), nn.LayerNorm(8)) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        skips = []
        for down in self.down:
            x = down(x)
            skips.append(x)
        x = self.middle(x)
        for up in self.up:
            x = up(torch.cat([x, skips.pop()], -1))
        return x


IMAGE = torch.zeros(1, 3, 16, 16)
WORDS = torch.zeros(2, 7, dtype=torch.long)
SEQUENCE = torch.zeros(2, 5, 8)


def turned(x: Tensor) -> Tensor:
    """Half of the axes for the other half."""
    left, right = x.chunk(2, -1)
    return torch.cat((-right, left), -1)


def rotated(q: Tensor, k: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    """Functions in a function."""
    sine, cosine = angles.sin(), angles.cos()
    return q * cosine + turned(q) * sine, k * cosine + turned(k) * sine


def normalised(x: Tensor, scale: Tensor) -> Tensor:
    """By the root of the mean square, written out."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * scale


class Functions(nn.Module):
    """Functions in functions and in a row, with weights, with modules, and with all that a module does."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(8, 8), nn.Linear(8, 8)
        self.scale = nn.Parameter(torch.ones(8))

    def _mixed(self, q: Tensor, k: Tensor) -> Tensor:
        return torch.softmax(q @ k.transpose(-1, -2), -1) @ k

    def forward(self, x: Tensor) -> Tensor:
        h = normalised(x, self.scale)
        q, k = rotated(self.q(h), self.k(h), x[..., :1])
        with record_function("mix and project"):
            h = self.q(self._mixed(q, k)) + x
        for _ in range(3):
            h = normalised(h, self.scale)
        return h + q


class Features(nn.Module):
    """The features of all levels."""

    def __init__(self) -> None:
        super().__init__()
        self.levels = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))
        self.norms = nn.ModuleList(nn.LayerNorm(8) for _ in range(4))

    def forward(self, x: Tensor) -> list[Tensor]:
        found = []
        for level, norm in zip(self.levels, self.norms, strict=True):
            x = norm(level(x).relu())
            found.append(x)
        return found


class Pyramid(nn.Module):
    """Each repeat of the decoder reads another level of one encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Features()
        self.decoder = nn.ModuleList(nn.Linear(16, 8) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        *levels, x = self.encoder(x)
        for layer in self.decoder:
            x = layer(torch.cat([x, levels.pop()], -1)).tanh()
        return x


MODELS: dict[str, tuple[type[nn.Module], tuple[object, ...], Tensor]] = {
    "detector": (Detector, (), IMAGE),
    "searched": (Searched, (4,), IMAGE),
    "searched_short": (Searched, (2,), IMAGE),
    "last_two": (LastTwo, (), SEQUENCE),
    "skips": (Skips, (), SEQUENCE),
    "denoiser": (Denoiser, (), IMAGE),
    "enclosed": (Enclosed, (), IMAGE),
    "supervised": (Supervised, (), IMAGE),
    "two_skips": (TwoSkips, (), IMAGE),
    "equal_levels": (EqualLevels, (), SEQUENCE),
    "segmenter": (Segmenter, (False,), IMAGE),
    "bottleneck": (Segmenter, (True,), IMAGE),
    "all_states": (AllStates, (), SEQUENCE),
    "functions": (Functions, (), SEQUENCE),
    "mixture": (Mixture, (), SEQUENCE),
    "sparse_mixture": (SparseMixture, (), SEQUENCE),
    "normed": (Normed, (), SEQUENCE),
    "checked": (Checked, (), WORDS),
    "pyramid": (Pyramid, (), SEQUENCE),
}
