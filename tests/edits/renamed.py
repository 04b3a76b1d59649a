"""Models that differ in names only, and the migration of their weights, which PyTorch itself judges."""

from __future__ import annotations

import random

import torch
from torch import nn

import modeldiagrams

ROLES = ("q", "k", "v", "out", "norm", "up", "down")
NAMES = ("query", "key", "value", "q_proj", "k_proj", "v_proj", "a", "b", "c", "first", "second", "third", "dense", "w")
WIDTH = 8


class Attention(nn.Module):
    """The same mathematics under any names, registered and called in any order."""

    def __init__(self, names, registered, called):
        super().__init__()
        self.names, self.called = names, called
        for role in registered:
            setattr(self, names[role], nn.LayerNorm(WIDTH) if role == "norm" else nn.Linear(WIDTH, WIDTH))

    def layer(self, role):
        return getattr(self, self.names[role])

    def forward(self, x):
        y = self.layer("norm")(x)
        found = {role: self.layer(role)(y) for role in self.called}
        weights = torch.softmax(found["q"] @ found["k"].transpose(-1, -2), -1)
        x = x + self.layer("out")(weights @ found["v"])
        return x + self.layer("down")(torch.relu(self.layer("up")(x)))


class Holder(nn.Module):
    def __init__(self, name, inner):
        super().__init__()
        self.name = name
        setattr(self, name, inner)

    def forward(self, x):
        return getattr(self, self.name)(x)


class Net(nn.Module):
    def __init__(self, random_, depth=2):
        super().__init__()
        names = dict(zip(ROLES, random_.sample(NAMES, len(ROLES)), strict=True))
        registered, called = random_.sample(ROLES, len(ROLES)), random_.sample(ROLES[:3], 3)
        blocks = [Attention(names, registered, called) for _ in range(depth)]
        if random_.random() < 0.5:
            blocks = [Holder(random_.choice(["inner", "block", "module"]), block) for block in blocks]
        self.list = random_.choice(["layers", "blocks", "h"])
        setattr(self, self.list, nn.ModuleList(blocks))
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, x):
        for block in getattr(self, self.list):
            x = block(x)
        return self.head(x)


def given():
    return torch.randn(2, 5, WIDTH, generator=torch.Generator().manual_seed(3))


def traced(model):
    return modeldiagrams.trace(model.eval(), (given(),))


def check_migration(seed):
    """Weights of a random model are migrated to one with other names and give the same results there."""
    random_ = random.Random(seed)  # noqa: S311
    before, after = Net(random_).eval(), Net(random_).eval()
    found = modeldiagrams.diff(traced(before), traced(after))
    assert found.same_computation
    after.load_state_dict(found.migrate(before.state_dict()))
    torch.testing.assert_close(after(given()), before(given()))
