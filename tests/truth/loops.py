"""Small models with loops of many kinds."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from truth.models import SEQUENCE, WORDS, Neighbour


class LookBack(nn.Module):
    """Additive attention over the words of a source."""

    def __init__(self, width: int):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.score = nn.Linear(width, 1)

    def forward(self, state: Tensor, keys: Tensor) -> Tensor:
        weights = torch.softmax(self.score(torch.tanh(self.query(state)[:, None] + keys)), 1)
        return (weights * keys).sum(1)


class Translator(nn.Module):
    """Sequence to sequence: token, context and state go from step to step."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.encoder = nn.LSTM(8, 8, batch_first=True)
        self.cell = nn.LSTMCell(16, 8)
        self.attention = LookBack(8)
        self.head = nn.Linear(16, 20)

    def forward(self, source: Tensor) -> Tensor:
        keys, (h, c) = self.encoder(self.embed(source))
        h, c = h[0], c[0]
        context = torch.zeros_like(h)
        token = torch.zeros(source.shape[0], dtype=torch.long)
        outputs = []
        for _ in range(5):
            h, c = self.cell(torch.cat([self.embed(token), context], -1), (h, c))
            context = self.attention(h, keys)
            logits = self.head(torch.cat([h, context], -1))
            token = logits.argmax(-1)
            outputs.append(logits)
        return torch.stack(outputs, 1)


class Greedy(nn.Module):
    """Greedy decoding with a state."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.cell = nn.GRUCell(8, 8)
        self.head = nn.Linear(8, 20)

    def forward(self, start: Tensor) -> Tensor:
        token, state, tokens = start, torch.zeros(start.shape[0], 8), []
        for _ in range(6):
            state = self.cell(self.embed(token), state)
            token = self.head(state).argmax(-1)
            tokens.append(token)
        return torch.stack(tokens, 1)


class FixedPoint(nn.Module):
    """The same function until it settles: a deep equilibrium."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: Tensor) -> Tensor:
        z = torch.zeros_like(x)
        for _ in range(6):
            z = self.norm(torch.tanh(self.inner(z) + x))
        return z


class Denoiser(nn.Module):
    """Predicts noise for a step of diffusion."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Embedding(10, 8)
        self.mix = nn.Linear(8, 16)
        self.out = nn.Linear(16, 8)

    def forward(self, x: Tensor, step: Tensor) -> Tensor:
        return self.out(torch.relu(self.mix(x + self.time(step))))


class Diffusion(nn.Module):
    """Sampling: noise becomes less in steps."""

    alphas: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.denoiser = Denoiser()
        self.register_buffer("alphas", torch.linspace(0.9, 0.99, 5))

    def forward(self, noise: Tensor) -> Tensor:
        x = noise
        for step in range(4, -1, -1):
            predicted = self.denoiser(x, torch.tensor([step]))
            x = (x - (1 - self.alphas[step]) * predicted) / self.alphas[step].sqrt()
        return x


class Scan(nn.Module):
    """Mamba's scan, step by step; a cache of its shape takes the last state."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 24)
        self.decay = nn.Parameter(torch.ones(8, 4))
        self.out = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        u, b, delta = self.project(x).split([8, 8, 8], -1)
        decay = torch.exp(-delta[..., None] * self.decay)
        added = u[..., None] * b[..., None, :4]
        state = torch.zeros(x.shape[0], 8, 4)
        ys = []
        for t in range(x.shape[1]):
            state = decay[:, t] * state + added[:, t]
            ys.append((state @ b[:, t, 4:, None]).squeeze(-1))
        return self.out(torch.stack(ys, 1)), torch.zeros_like(state).copy_(state)


class Handwritten(nn.Module):
    """A recurrence in ops: the weights that every step reads belong to none of them."""

    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Parameter(torch.ones(8, 8))
        self.keep = nn.Parameter(torch.ones(8, 8))

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(x.shape[0], 8)
        for t in range(5):
            state = torch.tanh(x[:, t] @ self.read + state @ self.keep)
        return state


class Unrolled(nn.Module):
    """One cell over time, and nothing else in the step."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        h = c = torch.zeros(x.shape[0], 8)
        for t in range(5):
            h, c = self.cell(x[:, t], (h, c))
        return h


class Controller(nn.Module):
    """A step as a module of its own, which opens."""

    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(8, 8)
        self.keep = nn.Linear(8, 8)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        return torch.tanh(self.read(x) + self.keep(state))


class Machine(nn.Module):
    """The state of a module that opens begins as zeros, which no picture shows."""

    def __init__(self) -> None:
        super().__init__()
        self.controller = Controller()
        self.gate = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(x.shape[0], 8)
        for t in range(5):
            state = self.gate(self.controller(x[:, t], state)).sigmoid()
        return state


class Albert(nn.Module):
    """One layer, applied again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = Neighbour()

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(4):
            x = self.layer(x)
        return x


LOOPS: dict[str, tuple[type[nn.Module], tuple[object, ...], Tensor]] = {
    "translator": (Translator, (), WORDS),
    "greedy": (Greedy, (), torch.zeros(2, dtype=torch.long)),
    "fixed_point": (FixedPoint, (), SEQUENCE),
    "diffusion": (Diffusion, (), torch.zeros(2, 8)),
    "scan": (Scan, (), SEQUENCE),
    "handwritten": (Handwritten, (), SEQUENCE),
    "machine": (Machine, (), SEQUENCE),
    "unrolled": (Unrolled, (), SEQUENCE),
    "albert": (Albert, (), SEQUENCE),
}
