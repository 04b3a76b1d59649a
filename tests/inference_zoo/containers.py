"""Inputs in dicts, lists and tuples, any number of them, and plain values: by annotations and uses in forward."""

import torch
from torch import nn
from torch.nn import functional as F


class TakesBatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.image_encoder = nn.Conv2d(3, 8, 4, 4)
        self.text_encoder = nn.Embedding(60, 8)

    def forward(self, batch):
        image = self.image_encoder(batch["image"]).mean((2, 3))
        return F.cosine_similarity(image, self.text_encoder(batch["text_ids"]).mean(1))


class TakesPair(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(5, 4), nn.Linear(6, 4)

    def forward(self, inputs):
        left, right = inputs
        return self.left(left) + self.right(right)


class TakesAny(nn.Module):
    """Any number of inputs by position."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(7, 3)

    def forward(self, *xs):
        return torch.stack([self.proj(x) for x in xs]).sum(0)


class TakesList(nn.Module):
    """A pyramid of features."""

    def __init__(self):
        super().__init__()
        self.laterals = nn.ModuleList(nn.Conv2d(8, 4, 1) for _ in range(2))

    def forward(self, features: list[torch.Tensor]):
        return [lateral(feature) for lateral, feature in zip(self.laterals, features, strict=True)]


class KeywordOnly(nn.Module):
    def __init__(self):
        super().__init__()
        self.audio, self.text = nn.Conv1d(1, 8, 10, 5), nn.Embedding(30, 8)

    def forward(self, *, audio, text):
        return self.audio(audio).mean(-1) + self.text(text).mean(1)


class Flags(nn.Module):
    """Plain numbers beside a tensor."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(9, 9)

    def forward(self, x: torch.Tensor, steps: int, scale: float, normalise: bool):
        for _ in range(steps):
            x = self.fc(x) * scale
        return F.normalize(x) if normalise else x


class LstmState(nn.Module):
    """The state is a pair that is unpacked."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)

    def forward(self, x, state):
        h, c = state
        return self.cell(x, (h, c))


class PositionsAndNames(nn.Module):
    """Neither a list nor a plain map says what it is called with."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, *xs, mask, flag=False):
        return sum(map(self.fc, xs)) * mask.float().mean()


class PositionOnly(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, /, mask):
        return self.fc(x) * mask.float().mean()
