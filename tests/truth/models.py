"""Small models with the structures that pictures have been untrue about, and with loops of many kinds."""

from __future__ import annotations

import math

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


# -- loops ------------------------------------------------------------------------------------------------------------


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


MODELS: dict[str, tuple[type[nn.Module], tuple[object, ...], Tensor]] = {
    "detector": (Detector, (), IMAGE),
    "searched": (Searched, (4,), IMAGE),
    "searched_short": (Searched, (2,), IMAGE),
    "last_two": (LastTwo, (), SEQUENCE),
    "skips": (Skips, (), SEQUENCE),
    "all_states": (AllStates, (), SEQUENCE),
    "functions": (Functions, (), SEQUENCE),
}

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
