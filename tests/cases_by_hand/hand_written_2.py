"""Eleven more: halting, recursion, depth by token, decoding, fixed points, programs, other settings, a U-Net."""

from __future__ import annotations

import itertools

import torch
import torch.nn.functional as F
from torch import nn

from cases_by_hand.dynamic import Dynamic, numbers


class Halting(nn.Module):
    """Adaptive computation time."""

    def __init__(self):
        super().__init__()
        self.cell, self.halt, self.out = nn.GRUCell(8, 8), nn.Linear(8, 1), nn.Linear(8, 2)

    def forward(self, x, enough):
        h, total = torch.zeros_like(x), torch.zeros(x.shape[0], 1)
        for _ in range(6):
            h = self.cell(x, h)
            total = total + self.halt(h).sigmoid()
            if (total > enough).all():
                break
        else:
            h = F.layer_norm(h, (8,))
        return self.out(h)


class RecursiveTree(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf, self.join = nn.Embedding(9, 8), Join()
        self.out = nn.Linear(8, 2)

    def encode(self, tree):
        if isinstance(tree, int):
            return self.leaf(torch.tensor([tree]))
        left, right = tree
        return self.join(self.encode(left), self.encode(right))

    def forward(self, tree):
        return self.out(self.encode(tree))


class Join(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 8)

    def forward(self, left, right):
        return torch.tanh(self.fc(torch.cat((left, right), -1)))


class NestedTree(nn.Module):
    """A module that calls itself."""

    def __init__(self):
        super().__init__()
        self.fc, self.up = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x, depth):
        h = torch.relu(self.fc(x))
        if depth > 0:
            h = h + self.up(self(h[:, :], depth - 1))
        return h


class MixtureOfDepths(nn.Module):
    """Only the tokens that a router takes go through a block; if none, the block is left out."""

    def __init__(self):
        super().__init__()
        self.routers = nn.ModuleList(nn.Linear(8, 1) for _ in range(3))
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.GELU()) for _ in range(3))

    def forward(self, x, least):
        for router, block in zip(self.routers, self.blocks, strict=True):
            weight = router(x).squeeze(-1)
            chosen = weight > least
            if not chosen.any():
                continue
            if chosen.all():
                x = x + block(x) * weight.unsqueeze(-1)
            else:
                x = x.index_put((chosen,), x[chosen] + block(x[chosen]) * weight[chosen].unsqueeze(-1))
        return x


class Decoder(nn.Module):
    """Greedy decoding and beam search around one step."""

    def __init__(self, words=6):
        super().__init__()
        self.embed, self.cell, self.out = nn.Embedding(words, 8), nn.GRUCell(8, 8), nn.Linear(8, words)
        self.words = words

    def step(self, token, h):
        h = self.cell(self.embed(token), h)
        return self.out(h).log_softmax(-1), h

    def forward(self, h, target):
        """Teacher forcing."""
        losses = []
        for now, following in itertools.pairwise(target):
            logits, h = self.step(now[None], h)
            losses.append(-logits[0, following])
        return torch.stack(losses).mean()

    def greedy(self, h, most, end):
        token, words = torch.zeros(1, dtype=torch.long), []
        while len(words) < most:
            logits, h = self.step(token, h)
            token = logits.argmax(-1)
            words.append(token)
            if token.item() == end:
                break
        return torch.cat(words)

    def beam(self, h, most, width):
        token, score = torch.zeros(1, dtype=torch.long), torch.zeros(1)
        for _ in range(most):
            logits, h = self.step(token, h)
            score, flat = (score[:, None] + logits).flatten().topk(width)
            h, token = h[flat // self.words], flat % self.words
        return token[score.argmax()]


class FixedPoint(nn.Module):
    def __init__(self):
        super().__init__()
        self.f, self.out = nn.Linear(8, 8), nn.Linear(8, 2)
        with torch.no_grad():
            self.f.weight.mul_(0.3)

    def forward(self, x, tolerance):
        z = torch.zeros_like(x)
        while True:
            new = torch.tanh(self.f(z) + x)
            if (new - z).norm() < tolerance:
                return self.out(new)
            z = new


class Program(nn.Module):
    """Runs the modules that a tensor names, in its order."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(8, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 8, bias=False)])

    def forward(self, x, program):
        for number in program.tolist():
            x = self.parts[number](x)
        return x


class Checked(nn.Module):
    """Checks that read values, the same op at several lines, helpers, weights used directly."""

    def __init__(self):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(8)), nn.Buffer(torch.zeros(8))
        self.fc = nn.Linear(8, 8)

    def forward(self, x, normalize, twice):
        if not torch.isfinite(x).all():
            raise FloatingPointError
        if normalize:
            x = standardized(x) * self.scale + self.shift
        x = self.fc(x)
        if twice:
            x = standardized(self.fc(x))
        return x * self.scale


def standardized(x):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)


class Unet(nn.Module):
    """Leaves out the deepest levels of small pictures, and deep supervision in evaluation."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(2, 2, 3, padding=1) for _ in range(3))
        self.up = nn.ModuleList(nn.Conv2d(4, 2, 3, padding=1) for _ in range(3))
        self.out = nn.ModuleList(nn.Conv2d(2, 1, 1) for _ in range(3))

    def forward(self, x):
        skips, outs = [], []
        for down in self.down:
            if x.shape[-1] < 4:
                break
            skips.append(x)
            x = F.max_pool2d(down(x).relu(), 2)
        for up, out, skip in zip(self.up, self.out, reversed(skips), strict=False):
            x = up(torch.cat((F.interpolate(x, scale_factor=2), skip), 1)).relu()
            if self.training:
                outs.append(out(x))
        return outs if self.training else x.softmax(1)


class Diffusion(nn.Module):
    """A denoiser: one step in training, a loop for samples, guidance that doubles the batch."""

    def __init__(self):
        super().__init__()
        self.time, self.label, self.net = nn.Embedding(10, 8), nn.Embedding(4, 8), nn.Linear(8, 8)

    def denoise(self, x, t, label=None):
        h = x + self.time(t)
        if label is not None:
            h = h + self.label(label)
        return self.net(torch.nn.functional.silu(h))

    def forward(self, x, t, label=None):
        noise = torch.randn_like(x)
        return F.mse_loss(self.denoise(x + noise, t, label), noise)

    def sample(self, n, steps, label=None, guidance=1.0):
        x = torch.randn(n, 8)
        for step in reversed(range(steps)):
            t = torch.full((n,), step)
            if guidance == 1.0:
                noise = self.denoise(x, t, label)
            else:
                both = self.denoise(torch.cat((x, x)), torch.cat((t, t)))
                free, led = both.chunk(2)
                noise = free + guidance * (led - free)
            x = x - noise
        return x


class Settings(nn.Module):
    def __init__(self, depth=2, width=4, *, norm=True, tied=False):
        super().__init__()
        self.embed = nn.Embedding(7, width)
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=not tied) for _ in range(depth))
        self.norm = nn.LayerNorm(width) if norm else nn.Identity()
        self.out = nn.Linear(width, 7, bias=False)
        if tied:
            self.out.weight = self.embed.weight

    def forward(self, words):
        x = self.embed(words)
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.out(self.norm(x))


def _settings(_):
    words = torch.arange(3)[None]
    every = ({}, {"depth": 3}, {"width": 8}, {"norm": False}, {"tied": True})
    return {str(given): {"args": (words,), "model": Settings(**given)} for given in every}


def _decoding(_):
    h = numbers(1, 8)
    return {
        "teacher": {"args": (h, torch.tensor([0, 2, 1]))},
        "greedy": {"args": (h, 4, 99), "method": "greedy"},
        "stopped": {"args": (h, 9, 2), "method": "greedy"},
        "beam": {"args": (h, 3, 2), "method": "beam"},
    }


MODELS = [
    Dynamic(
        "adaptive computation",
        Halting,
        lambda _: {f"enough at {e}": {"args": (numbers(2, 8), e)} for e in (0.3, 1.4, 99.0)},
    ),
    Dynamic(
        "tree",
        RecursiveTree,
        lambda _: {
            "pair": {"args": ((1, 2),)},
            "left": {"args": ((((1, 2), 3), 4),)},
            "right": {"args": ((1, (2, (3, 4))),)},
            "leaf": {"args": (5,)},
        },
    ),
    Dynamic(
        "module in itself",
        NestedTree,
        lambda _: {f"depth {depth}": {"args": (numbers(1, 8), depth)} for depth in (2, 0, 4)},
    ),
    Dynamic(
        "mixture of depths",
        MixtureOfDepths,
        lambda _: {
            name: {"args": (numbers(2, 3, 8), least)} for name, least in (("some", 0.0), ("all", -9), ("none", 9))
        },
    ),
    Dynamic("decoding", Decoder, _decoding),
    Dynamic("other settings", Settings, _settings),
    Dynamic(
        "fixed point",
        FixedPoint,
        lambda _: {f"to {tolerance}": {"args": (numbers(1, 8), tolerance)} for tolerance in (1.0, 0.01, 0.0001)},
    ),
    Dynamic(
        "program",
        Program,
        lambda _: {
            "".join(map(str, order)): {"args": (numbers(1, 8), torch.tensor(order))}
            for order in ([0, 1, 2], [0, 1, 0, 3], [3, 2, 1, 0])
        },
    ),
    Dynamic(
        "helpers and weights",
        Checked,
        lambda _: {
            f"{normalize} {twice}": {"args": (numbers(2, 8), normalize, twice)}
            for normalize, twice in ((False, False), (True, False), (False, True), (True, True))
        },
    ),
    Dynamic(
        "U-Net",
        Unet,
        lambda _: {
            "large": {"args": (numbers(1, 2, 16, 16),)},
            "small": {"args": (numbers(1, 2, 4, 4),)},
            "train": {"args": (numbers(1, 2, 8, 8),), "training": True},
        },
    ),
    Dynamic(
        "diffusion",
        Diffusion,
        lambda _: {
            "train": {"args": (numbers(2, 8), torch.tensor([3, 4])), "training": True},
            "labelled": {"args": (numbers(2, 8), torch.tensor([3, 4]), torch.tensor([0, 1])), "training": True},
            "sample": {"args": (2, 3), "method": "sample"},
            "guided": {"args": (2, 2), "kwargs": {"guidance": 2.0}, "method": "sample"},
        },
    ),
]
