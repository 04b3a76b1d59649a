"""Models whose way depends on values, each with the cases that its author would name: together they take every way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

WIDTH = 4


def rows(value: float = 1.0, n: int = 2) -> Tensor:
    return torch.full((n, WIDTH), float(value))


def linear() -> nn.Linear:
    layer = nn.Linear(WIDTH, WIDTH)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(WIDTH))
        layer.bias.zero_()
    return layer


class EarlyExit(nn.Module):
    def __init__(self, depth: int = 4) -> None:
        super().__init__()
        self.layers = nn.ModuleList(linear() for _ in range(depth))
        self.exits = nn.ModuleList(nn.Linear(WIDTH, 3) for _ in range(depth))

    def forward(self, x: Tensor, sure_at: Tensor) -> Tensor:
        for i, (layer, leave) in enumerate(zip(self.layers, self.exits, strict=True)):
            x = layer(x).relu()
            if (sure_at == i).any():
                return leave(x).softmax(-1)
        return x.mean(-1)


class Gate(nn.Module):
    """The example of NNViz."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = linear(), linear()

    def forward(self, x: Tensor) -> Tensor:
        if x.mean() > 0:
            return self.a(x).relu()
        return self.b(x).tanh()


class Experts(nn.Module):
    def __init__(self, n: int = 3) -> None:
        super().__init__()
        self.experts = nn.ModuleList(nn.Sequential(linear(), nn.ReLU()) for _ in range(n))

    def forward(self, x: Tensor, chosen: Tensor) -> Tensor:
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            mask = chosen == i
            if mask.any():
                out = out + expert(x) * mask[:, None]
        return out


class FixedPoint(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step, self.repair = linear(), linear()

    def forward(self, x: Tensor) -> Tensor:
        z, n = x, 0
        while True:
            new = self.step(z) * 0.5
            distance = (new - z).abs().max().item()
            z, n = new, n + 1
            if distance < 0.1:
                break
            if n > 8:
                z = self.repair(z)
                break
        return z.sigmoid()


class AdaptiveComputation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step, self.halt = linear(), nn.Linear(WIDTH, 1)

    def forward(self, x: Tensor, patience: Tensor) -> Tensor:
        total, n = torch.zeros(len(x)), 0
        while bool((total < patience).any()) and n < 5:
            x = self.step(x)
            total = total + self.halt(x).squeeze(-1).sigmoid()
            n += 1
        return x


class GreedyDecoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head, self.end = nn.Embedding(5, WIDTH), nn.Linear(WIDTH, 5), nn.Linear(WIDTH, 2)

    def forward(self, token: Tensor, last: Tensor) -> Tensor:
        for _ in range(4):
            hidden = self.embed(token)
            token = self.head(hidden).argmax(-1)
            if (token == last).all():
                return self.end(hidden)
        return token.float().softmax(-1)


class LayerDrop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(linear() for _ in range(3))

    def forward(self, x: Tensor, kept: Tensor) -> Tensor:
        for i, layer in enumerate(self.layers):
            if kept[i].item() > 0.5:
                x = layer(x).relu()
        return x


class Lengths(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.pad = nn.Linear(WIDTH, WIDTH), linear()

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        state = x
        if lengths.min() < lengths.max():
            state = self.pad(state)
        for _ in range(int(lengths.max())):
            state = self.cell(state).tanh()
        return state


class Checks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = linear(), linear()

    def forward(self, x: Tensor) -> Tensor:
        if not x.isfinite().all():
            raise ValueError("x has values that are not finite")
        assert (x < 100).all(), "x is too large"
        return self.a(x) if x.sum() > 0 else self.b(x).exp()


class ShiftedNumbers(nn.Module):
    """One side makes ops of the same name as those after it, whose numbers shift."""

    def forward(self, x: Tensor) -> Tensor:
        x = x + 1
        if x.max() > 1.5:
            x = x + 2
            x = x * 3
        x = x + 4
        return x * 5


class Elif(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = linear(), linear(), linear()

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean().item()
        if mean > 1:
            x = self.a(x).relu()
        elif mean > 0:
            x = self.b(x).tanh()
        else:
            x = self.c(x).exp()
        return x


@dataclass(frozen=True)
class Deciding:
    """A model, and the inputs of its cases; the first one is explored."""

    make: type[nn.Module]
    cases: list[tuple[Any, ...]]


def _number(value: float) -> Tensor:
    return torch.tensor(value)


DECIDING = [
    Deciding(EarlyExit, [(rows(), _number(i)) for i in (0, 1, 2, 3, 9)]),
    Deciding(Gate, [(rows(1),), (rows(-1),)]),
    Deciding(Experts, [(rows(), torch.tensor(chosen)) for chosen in ([0, 0], [1, 1], [0, 2])]),
    Deciding(FixedPoint, [(rows(1),), (rows(1000.0),)]),
    Deciding(AdaptiveComputation, [(rows(), _number(p)) for p in (1.0, 2.5, 0.0)]),
    Deciding(GreedyDecoder, [(torch.zeros(2, dtype=torch.int64), _number(last)) for last in (9, 0, 1, 2, 3, 4)]),
    Deciding(LayerDrop, [(rows(), torch.tensor(kept)) for kept in ([1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0])]),
    Deciding(Lengths, [(rows(), torch.tensor(lengths)) for lengths in ([2, 2], [1, 3])]),
    Deciding(Checks, [(rows(1),), (rows(-1),)]),
    Deciding(ShiftedNumbers, [(rows(-1),), (rows(1),)]),
    Deciding(Elif, [(rows(2.0),), (rows(0.5),), (rows(-1.0),)]),
]
