"""Tiny models for the golden files, each named by the odd thing it shows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


class Residual(nn.Module):
    """``x → linear → relu → + → output`` with a skip from ``x`` to ``+``."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.relu(self.fc(x))


class Repeated(nn.Module):
    """One module called twice: ``x → fc → fc#2 → output``."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.fc(x))


class Stack(nn.Module):
    """Four equal residual blocks, one after the other: rolled to one."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Residual() for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return x


@dataclass
class Result:
    scores: Tensor
    extra: dict[str, list[Tensor]]


class Nested(nn.Module):
    """Keyword inputs in a dict, outputs in a dataclass holding a dict of lists."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, *, batch: dict[str, Tensor], scale: Tensor) -> Result:
        hidden = self.fc(batch["x"])
        return Result(
            scores=hidden * scale, extra={"parts": list(hidden.split(1, dim=-1)), "mask": [batch["mask"] > 0]}
        )


class BareWeights(nn.Module):
    """A parameter, a buffer and a plain tensor attribute used beside a submodule."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.token = nn.Parameter(torch.zeros(1, 4))
        self.register_buffer("mean", torch.zeros(4))
        self.scale = torch.ones(4)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(torch.cat([self.token, (x - self.mean) * self.scale]))


class RaisesMidway(nn.Module):
    """Shapes that do not fit at the third op; what came before is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(self.fc(x))
        return torch.cat([hidden, torch.ones(2, 2, 2)])


class InPlace(nn.Module):
    """Writes through a view and into a slice; later readers see the writers."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        y = self.fc(x)
        y[:, 0].add_(1)
        y[:, 1] = torch.sin(x[:, 1])
        return torch.relu(y)
