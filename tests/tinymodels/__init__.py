"""Models that documentation fixtures show: small, and each bad one bad in one way."""

import os

import torch
from torch import nn


class Block(nn.Module):
    """One of two equal layers of `Net`."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.linear(x).relu()


class Net(nn.Module):
    def __init__(self, depth: int = 2) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(depth))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


class RaisesInInit(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        raise ValueError("no such weights")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


class RaisesInForward(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.block(x)
        raise RuntimeError("half way through")


class Exits(Net):
    """Ends the process it runs in, after a word to whoever listens."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        print("a last word")
        os._exit(3)


class Chatty(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("hello from the model")
        return super().forward(x)
