"""Networks for sentences and sounds."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Attention(nn.Module):
    """Additive attention, after Bahdanau et al."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.score = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, state: Tensor, memory: Tensor) -> Tensor:
        """Map a state `(batch, width)` and a memory `(batch, length, width)` to a context `(batch, width)`."""
        scores = self.score(torch.tanh(self.query(state)[:, None] + self.key(memory)))
        return (scores.softmax(1) * memory).sum(1)


class Seq2Seq(nn.Module):
    """An encoder, and a decoder that attends to it and feeds back what it says, after Bahdanau et al."""

    def __init__(self, vocabulary: int = 1000, width: int = 64, steps: int = 6) -> None:
        super().__init__()
        self.steps = steps
        self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, width)
        self.encoder = nn.LSTM(width, width // 2, batch_first=True, bidirectional=True)
        self.attention = Attention(width)
        self.cell = nn.LSTMCell(2 * width, width)
        self.output = nn.Linear(width, vocabulary)

    def forward(self, sentence: Tensor) -> Tensor:
        """Map token ids `(batch, length)` to scores of the words of a translation, chosen greedily."""
        memory, _ = self.encoder(self.source(sentence))
        hidden = memory[:, -1]
        cell = torch.zeros_like(hidden)
        word = torch.zeros_like(sentence[:, 0])
        scores = []
        for _ in range(self.steps):
            context = self.attention(hidden, memory)
            hidden, cell = self.cell(torch.cat([self.target(word), context], -1), (hidden, cell))
            scores.append(self.output(hidden))
            word = scores[-1].argmax(-1)
        return torch.stack(scores, 1)


class CausalConv1d(nn.Conv1d):
    """A dilated convolution that sees only the past."""

    def __init__(self, channels: int, out: int, dilation: int) -> None:
        super().__init__(channels, out, 2, dilation=dilation)
        self.pad = nn.ConstantPad1d((dilation, 0), 0.0)

    def forward(self, x: Tensor) -> Tensor:
        """Map `(batch, channels, time)` to `out` channels."""
        return super().forward(self.pad(x))


class GatedBlock(nn.Module):
    """A gated activation unit with a residual and a skip connection."""

    def __init__(self, channels: int, skip: int, dilation: int) -> None:
        super().__init__()
        self.filter = CausalConv1d(channels, channels, dilation)
        self.gate = CausalConv1d(channels, channels, dilation)
        self.residual, self.skip = nn.Conv1d(channels, channels, 1), nn.Conv1d(channels, skip, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map `(batch, channels, time)` to the same shape, and to what the output reads."""
        z = torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))
        return x + self.residual(z), self.skip(z)


class WaveNet(nn.Module):
    """Dilated causal convolutions whose skips add up, after van den Oord et al."""

    def __init__(self, channels: int = 32, skip: int = 64, levels: int = 256, layers: int = 8) -> None:
        super().__init__()
        self.embed = CausalConv1d(1, channels, 1)
        self.blocks = nn.ModuleList(GatedBlock(channels, skip, 2**i) for i in range(layers))
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(skip, skip, 1), nn.ReLU(), nn.Conv1d(skip, levels, 1))

    def forward(self, sound: Tensor) -> Tensor:
        """Map samples `(batch, 1, time)` to scores of the levels of the next ones."""
        x = self.embed(sound)
        total = torch.zeros(())
        for block in self.blocks:
            x, skip = block(x)
            total = total + skip
        return self.head(total)
