"""Passes of two thousand ops, whose union must not take long: nested, flat, and one line again and again."""

from __future__ import annotations

import torch
from torch import nn

from cases_by_hand.dynamic import Dynamic


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, gated):
        h = self.up(self.norm(x))
        if gated:
            h = h.sigmoid() * h
        h = self.down(torch.relu(h))
        return x + h if gated else x + h * 2


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(Part() for _ in range(330))

    def forward(self, x, turn):
        for number, part in enumerate(self.parts):
            if number % 9 != turn:
                x = part(x, (number + turn) % 2)
        return x


class Flat(nn.Module):
    def forward(self, x, turns, skip):
        for turn in range(turns):
            x = torch.relu(x + 1)
            if turn % 7 != skip:
                x = x * 2
            x = x.tanh()
            if turn % 5 == skip:
                x = x - 1
            x = x.sigmoid()
        return x


class OneLine(nn.Module):
    def forward(self, x, turns):
        for _ in range(turns):
            x = torch.relu(x)
        return x


def passes(*arguments):
    return lambda _: {str(given): {"args": (torch.ones(2, 4), *given)} for given in arguments}


MODELS = [
    Dynamic("nested", Nested, passes((0,), (1,))),
    Dynamic("flat", Flat, passes((400, 1), (410, 3))),
    Dynamic("one line", OneLine, passes((2100,), (2000,))),
]
