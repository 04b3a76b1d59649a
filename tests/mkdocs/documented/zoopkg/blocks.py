"""Parts."""

import torch


class Block(torch.nn.Module):
    """A layer and what bends it."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x).relu()
