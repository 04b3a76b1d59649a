from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TypedDict

import torch
from torch import Tensor, nn


@dataclass
class Variable:
    name: str
    levels: int = 1


@dataclass
class ForecastConfig:
    variables: list[Variable]
    steps: int
    dim: int = 32
    mesh: tuple[int, int] = (4, 8)
    decoder: dict[str, int] = field(default_factory=lambda: {"depth": 1})

    @property
    def channels(self) -> int:
        return sum(v.levels for v in self.variables)


class Sample(TypedDict):
    state: Tensor
    forcing: Tensor
    lead: Tensor


class Forecaster(nn.Module):
    def __init__(self, config: ForecastConfig, n_forcing: int):
        super().__init__()
        self.config = config
        h, w = config.mesh
        self.enc = nn.Conv2d(config.channels * config.steps + n_forcing, config.dim, 3, padding=1)
        self.pool = nn.AdaptiveAvgPool2d((h, w))
        self.pos = nn.Parameter(torch.zeros(1, h * w, config.dim))
        self.lead = nn.Embedding(40, config.dim)
        layer = nn.TransformerEncoderLayer(config.dim, 4, 2 * config.dim, batch_first=True)
        self.body = nn.TransformerEncoder(layer, config.decoder["depth"])
        self.dec = nn.Conv2d(config.dim, config.channels, 3, padding=1)

    @classmethod
    def from_json(cls, path, n_forcing):
        with open(path) as f:
            raw = json.load(f)
        raw["variables"] = [Variable(**v) for v in raw["variables"]]
        return cls(ForecastConfig(**raw), n_forcing)

    def forward(self, sample: Sample):
        state, forcing = sample["state"], sample["forcing"]
        b, t, c, lat, lon = state.shape
        x = self.enc(torch.cat([state.flatten(1, 2), forcing], 1))
        tokens = self.pool(x).flatten(2).transpose(1, 2) + self.pos + self.lead(sample["lead"])[:, None]
        tokens = self.body(tokens).transpose(1, 2).unflatten(2, self.config.mesh)
        x = x + nn.functional.interpolate(tokens, size=(lat, lon), mode="bilinear")
        return state[:, -1] + self.dec(x)


class Nowcaster(nn.Module):
    """Radar frames and the station measurements under them, any number of stations."""

    def __init__(self, n_frames: int, n_future: int, station_features: int, *, block: type[nn.Module] | None = None):
        super().__init__()
        width = 32
        self.frames = nn.Conv2d(n_frames, width, 3, padding=1)
        self.station = nn.Linear(station_features + 2, width)
        self.block = block(width) if block is not None else nn.Identity()
        self.out = nn.Conv2d(width, n_future, 3, padding=1)

    def forward(self, radar, stations, where, station_mask):
        """radar: (b, frames, h, w); stations: (b, n, f); where: (b, n, 2) in 0…1; station_mask: (b, n)"""
        x = self.frames(radar)
        s = self.station(torch.cat([stations, where], -1)) * station_mask.unsqueeze(-1)
        grid = where.unsqueeze(1) * 2 - 1
        local = nn.functional.grid_sample(x, grid, align_corners=False).squeeze(2).transpose(1, 2)
        context = (s * local).sum(1) / station_mask.sum(1, keepdim=True).clamp(min=1)
        return self.out(self.block(x + context[:, :, None, None]))
