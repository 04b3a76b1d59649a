"""Random pairs of one model: other names, orders and wrappings, and code that differs elsewhere, same results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    import random

ROLES = ("q", "k", "v", "out", "norm", "norm2", "up", "down")
NAMES = ("query", "key", "value", "q_proj", "k_proj", "v_proj", "a", "b", "c", "first", "second", "third", "dense", "w")
WIDTH = 8
NEUTRAL = ("scale", "shift", "drop", "gain", "adapter", "identity", "longer", "extra output", "module")
"""What differs without another result: `identity` is one more layer of the shape of all others."""


class Block(nn.Module):
    """The same mathematics under any names, registered and called in any order."""

    def __init__(self, random_: random.Random, names: dict[str, str], more: set[str], bias: bool) -> None:
        super().__init__()
        self.names, self.more = names, more
        self.called = random_.sample(("q", "k", "v"), 3)
        for role in random_.sample(ROLES, len(ROLES)):
            new = nn.LayerNorm(WIDTH) if role.startswith("norm") else nn.Linear(WIDTH, WIDTH, bias=bias)
            for parameter in new.parameters():
                nn.init.normal_(parameter)
            setattr(self, names[role], new)
        if "gain" in more:
            self.gain = nn.Parameter(torch.ones(WIDTH))
        if "adapter" in more:
            self.adapter = nn.Linear(WIDTH, WIDTH, bias=False)
            nn.init.zeros_(self.adapter.weight)
        if "identity" in more:
            self.same = nn.Linear(WIDTH, WIDTH, bias=False)
            nn.init.eye_(self.same.weight)
        self.act = nn.ReLU() if "module" in more else torch.relu
        self.drop = nn.Dropout(0.1) if "drop" in more else nn.Identity()

    def layer(self, role: str) -> Any:
        return getattr(self, self.names[role])

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer("norm")(x)
        found = {role: self.layer(role)(y) for role in self.called}
        weights = torch.softmax(found["q"] @ found["k"].transpose(-1, -2), -1)
        mixed = weights @ found["v"]
        if "identity" in self.more:
            mixed = self.same(mixed)
        x = x + self.drop(self.layer("out")(mixed)) if "drop" in self.more else x + self.layer("out")(mixed)
        y = self.layer("down")(self.act(self.layer("up")(self.layer("norm2")(x))))
        if "gain" in self.more:
            y = y * self.gain
        return x + y + self.adapter(x) if "adapter" in self.more else x + y


class Holder(nn.Module):
    def __init__(self, name: str, inner: nn.Module) -> None:
        super().__init__()
        self.name = name
        setattr(self, name, inner)

    def forward(self, x: Tensor) -> Tensor:
        return getattr(self, self.name)(x)


class Net(nn.Module):
    """Blocks and a head."""

    def __init__(self, random_: random.Random, depth: int, more: set[str], bias: bool = True) -> None:
        super().__init__()
        self.more = more
        names = dict(zip(ROLES, random_.sample(NAMES, len(ROLES)), strict=True))
        inner = more - {"longer"}
        self.found = [Block(random_, names, inner, bias) for _ in range(depth)]
        if "longer" in more:
            self.found.append(Block(random_, names, inner, bias))
            for role in ("out", "down"):
                for parameter in self.found[-1].layer(role).parameters():
                    nn.init.zeros_(parameter)
        holder = random_.choice(["", "", "inner", "block"])
        blocks = [Holder(holder, block) if holder else block for block in self.found]
        self.list = random_.choice(["layers", "blocks", "h"])
        setattr(self, self.list, nn.ModuleList(blocks))
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, x: Tensor) -> Any:
        if "scale" in self.more:
            x = x * 1.0
        for block in getattr(self, self.list):
            x = block(x)
        if "shift" in self.more:
            x = x + 0.0
        found = self.head(x)
        return (found, x.mean()) if "extra output" in self.more else found

    def jobs(self) -> dict[tuple[str, ...], str]:
        """What a weight does → its key."""
        paths = {id(module): path for path, module in self.named_modules()}
        found = {("head", name): f"head.{name}" for name, _ in self.head.named_parameters()}
        for number, block in enumerate(self.found):
            for role in ROLES:
                layer = block.layer(role)
                for name, _ in layer.named_parameters():
                    found[(str(number), role, name)] = f"{paths[id(layer)]}.{name}"
        return found


def random_pair(random_: random.Random) -> tuple[Net, Net, dict[str, str]]:
    """Two models that compute the same from the weights of the first, and key → key."""
    depth, bias = random_.choice([1, 2, 3]), random_.random() < 0.7
    one, other = (set(random_.sample(NEUTRAL, random_.choice([0, 1, 2]))) for _ in range(2))
    before, after = Net(random_, depth, one, bias).eval(), Net(random_, depth, other, bias).eval()
    jobs = after.jobs()
    mapping = {key: jobs[job] for job, key in before.jobs().items() if job in jobs and not _is_last(job, depth)}
    state = after.state_dict()
    state.update({new: before.state_dict()[old] for old, new in mapping.items()})
    after.load_state_dict(state)
    return before, after, mapping


def _is_last(job: tuple[str, ...], depth: int) -> bool:
    return job[0] == str(depth)
