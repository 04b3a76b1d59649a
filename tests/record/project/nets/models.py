"""Models whose arguments no rule could guess."""

from dataclasses import dataclass

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, plan, act=nn.ReLU):
        super().__init__()
        self.fc = nn.Linear(plan["in"], plan["out"])
        self.act = act()

    def forward(self, x):
        return self.act(self.fc(x))


class Classifier(nn.Module):
    """Changes the list that it is given."""

    def __init__(self, plan, head, depth=2):
        super().__init__()
        plan.append(head.in_features)
        self.blocks = nn.Sequential(*(Block({"in": a, "out": b}) for a, b in zip(plan, plan[1:])))
        self.head, self.depth = head, depth

    def forward(self, x, scale=1.0, mask=None):
        x.mul_(scale)  # its own input
        return self.head(self.blocks(x))


@dataclass
class TaggerConfig:
    width: int = 8
    tags: tuple[str, ...] = ("a", "b")


class Tagger(nn.Module):
    def __init__(self, cfg, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(len(vocabulary), cfg.width)
        self.out = nn.Linear(cfg.width, len(cfg.tags))

    def forward(self, ids, lengths):
        keep = torch.arange(ids.shape[1]) < lengths[:, None]
        return self.out(self.embedding(ids)) * keep[..., None]


class Reader(nn.Module):
    def __init__(self, file):
        super().__init__()
        self.fc = nn.Linear(len(file.read()), 1)

    def forward(self, x):
        return self.fc(x)


class Hidden(nn.Module):
    """Named nowhere in the documentation."""

    def forward(self, x):
        return x + 1
