"""Eleven models that people write: exits, modes, phases, optional arguments, tasks, masks."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from cases_by_hand.dynamic import Dynamic, numbers


class EarlyExitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))
        self.heads = nn.ModuleList(nn.Linear(8, 3) for _ in range(4))

    def forward(self, x, threshold):
        for block, head in zip(self.blocks, self.heads, strict=True):
            x = F.relu(block(x))
            logits = head(x)
            if logits.softmax(-1).max() > threshold:
                return logits
        return logits * 2


class Autoencoder(nn.Module):
    """A VAE: loss in training, reconstruction in evaluation, samples from another method."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 4))
        self.decoder = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 8))

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, -1)
        z = mean
        if self.training:
            z = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        y = self.decoder(z)
        if not self.training:
            return y.sigmoid()
        divergence = (mean**2 + log_variance.exp() - 1 - log_variance).sum()
        return F.mse_loss(y, x) + divergence

    def sample(self, n):
        return self.decoder(torch.randn(n, 2)).sigmoid()


class Adversaries(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 6))
        self.critic = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(), nn.Linear(8, 1))

    def forward(self, z):
        return self.generator(z)

    def critic_step(self, z, real):
        fake = self.generator(z).detach()
        mix = torch.lerp(real, fake, 0.5)
        return self.critic(fake).mean() - self.critic(real).mean() + self.critic(mix).square().mean()

    def generator_step(self, z):
        return -self.critic(self.generator(z)).mean()


class LayerDrop(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(6))

    def forward(self, x, keep):
        for number, layer in enumerate(self.layers):
            if number in keep:
                x = x + F.gelu(layer(x))
        return x


class TaskHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, stride=2, padding=1))
        self.classify, self.segment, self.depth = nn.Linear(4, 5), nn.Conv2d(4, 2, 1), nn.Conv2d(4, 1, 1)

    def forward(self, x, task):
        h = self.trunk(x)
        match task:
            case "classes":
                return self.classify(h.mean((2, 3)))
            case "segments":
                return F.interpolate(self.segment(h), scale_factor=2)
            case _:
                return self.depth(h).sigmoid()


class OptionalArguments(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.kv, self.out = nn.Linear(8, 8), nn.Linear(8, 16), nn.Linear(8, 8)

    def forward(self, x, context=None, mask=None, bias=None, past=None):
        q = self.q(x)
        k, v = self.kv(x if context is None else context).chunk(2, -1)
        if past is not None:
            k, v = torch.cat((past[0], k), 1), torch.cat((past[1], v), 1)
        scores = q @ k.transpose(1, 2)
        if bias is not None:
            scores = scores + bias
        if mask is not None:
            scores = scores.masked_fill(mask, -1e9)
        return self.out(scores.softmax(-1) @ v), (k, v)


class Choices(nn.Module):
    """if, elif, else on values; one after the other, and with one line for two of them."""

    def __init__(self):
        super().__init__()
        self.low, self.middle, self.high = nn.Linear(8, 8), nn.Linear(8, 8), nn.Bilinear(8, 8, 8)

    def forward(self, x):
        level = x.mean()
        if level < 0:
            x = self.low(x).abs()
        elif level < 1:
            x = self.middle(x)
        else:
            x = self.high(x, x).tanh()
        x = x.relu() if x.sum() > 5 else x.sigmoid()
        if x.shape[0] > 2:
            x = x.mean(0, keepdim=True)
        return x + 1


class Shifted(nn.Module):
    """An optional part that shifts the numbers of all equal ops after it."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, extra):
        if extra:
            x = x + 1
            x = torch.relu(x * 2)
        x = x + 2
        x = torch.relu(self.fc(x) * 3)
        if not extra:
            x = x + 3
        return torch.relu(x + 4) * 5


class TwiceTheSame(nn.Module):
    """A sum of two tensors, or of one and itself."""

    def forward(self, x, deep):
        a = torch.relu(x)
        b = torch.tanh(a) if deep else a
        return b + a


class Lengths(nn.Module):
    """Packs if there are lengths; another number of steps for each."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(4, 8), nn.Linear(8, 2)

    def forward(self, x, lengths=None):
        h = x.new_zeros(x.shape[0], 8)
        for step in range(x.shape[1]):
            new = self.cell(x[:, step], h)
            h = new if lengths is None else torch.where((step < lengths)[:, None], new, h)
        return self.out(h)


class RoutedExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 4), nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        best = self.gate(x).argmax(-1)
        y = torch.zeros_like(x)
        for number in best.unique().tolist():
            chosen = best == number
            y[chosen] = self.experts[number](x[chosen])
        return y


def _optional_arguments(_):
    x, past = numbers(1, 3, 8), (numbers(1, 2, 8), numbers(1, 2, 8))
    return {
        "plain": {"args": (x,)},
        "masked": {"args": (x,), "kwargs": {"mask": torch.ones(3, 3, dtype=torch.bool).triu(1)}},
        "across": {"args": (x,), "kwargs": {"context": numbers(1, 5, 8), "bias": numbers(3, 5)}},
        "step": {"args": (x[:, :1],), "kwargs": {"past": past}},
    }


MODELS = [
    Dynamic(
        "early exit",
        EarlyExitNet,
        lambda _: {f"exit {t}": {"args": (numbers(1, 8), t)} for t in (0.0, 0.45, 1.0)},
    ),
    Dynamic(
        "VAE",
        Autoencoder,
        lambda _: {
            "train": {"args": (numbers(2, 8),), "training": True},
            "eval": {"args": (numbers(2, 8),)},
            "sample": {"args": (3,), "method": "sample"},
        },
    ),
    Dynamic(
        "GAN",
        Adversaries,
        lambda _: {
            "generate": {"args": (numbers(3, 4),)},
            "critic": {"args": (numbers(3, 4), numbers(3, 6)), "method": "critic_step", "training": True},
            "generator": {"args": (numbers(3, 4),), "method": "generator_step", "training": True},
        },
    ),
    Dynamic(
        "layer drop",
        LayerDrop,
        lambda _: {
            "".join(map(str, keep)) or "none": {"args": (numbers(1, 8), keep)}
            for keep in ((0, 2, 3), (0, 1, 2, 3, 4, 5), (), (1, 4))
        },
    ),
    Dynamic(
        "task heads",
        TaskHeads,
        lambda _: {task: {"args": (numbers(1, 3, 8, 8), task)} for task in ("classes", "segments", "depth")},
    ),
    Dynamic("optional arguments", OptionalArguments, _optional_arguments),
    Dynamic(
        "if, elif, else",
        Choices,
        lambda _: {
            "low": {"args": (torch.full((1, 8), -1.0),)},
            "middle": {"args": (torch.full((3, 8), 0.5),)},
            "high": {"args": (torch.full((1, 8), 2.0),)},
        },
    ),
    Dynamic(
        "shifted numbers",
        Shifted,
        lambda _: {"short": {"args": (numbers(1, 8), False)}, "long": {"args": (numbers(1, 8), True)}},
    ),
    Dynamic(
        "twice the same tensor",
        TwiceTheSame,
        lambda _: {"deep": {"args": (numbers(1, 8), True)}, "flat": {"args": (numbers(1, 8), False)}},
    ),
    Dynamic(
        "lengths",
        Lengths,
        lambda _: {
            "three": {"args": (numbers(2, 3, 4),)},
            "five": {"args": (numbers(2, 5, 4),)},
            "padded": {"args": (numbers(2, 5, 4), torch.tensor([2, 5]))},
        },
    ),
    Dynamic(
        "mixture of experts",
        RoutedExperts,
        lambda _: {
            f"tokens {seed}": {"args": (torch.randn(3, 8, generator=torch.Generator().manual_seed(seed)),)}
            for seed in range(4)
        },
    ),
]
