"""A small language model, hand-written, for graphs at other sizes of its inputs."""

from __future__ import annotations

import torch
from torch import nn


def attend(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5, -1)
    return weights @ value


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        parts = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        return self.proj(attend(*parts).transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.down(torch.relu(self.up(x)))


class Decoder(nn.Module):
    def __init__(self, width=16, heads=2, depth=3):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(100, width), nn.Embedding(512, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.head = nn.Linear(width, 100)

    def forward(self, input_ids):
        positions = self.positions(torch.arange(input_ids.shape[1]))
        return self.head(self.blocks(self.tokens(input_ids) + positions))
