"""Five more: conditional expressions, cases, chains of elif, loops that run zero times, early returns."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ways_by_hand.exits_and_phases import x
from ways_by_hand.reading import readings


class Expressions(nn.Module):
    """Conditional expressions, inside each other and inside calls."""

    def __init__(self, norm="layer", residual=True):
        super().__init__()
        self.fc, self.gate = nn.Linear(8, 8), nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8) if norm == "layer" else nn.Identity()
        self.residual = residual

    def forward(self, x, scale=None, temperature=1.0):
        width = 8 if self.residual else 16
        h = self.fc(x) if scale is None else self.fc(x * scale)
        h = h + (x if self.residual else torch.zeros_like(x))
        h = self.norm(h) if x.shape[0] > 1 else (h - h.mean() if self.training else h)
        h = torch.relu(h if h.isfinite().all() else torch.nan_to_num(h))
        return h / temperature if temperature != 1.0 else h.view(-1, width)


class Pooling(nn.Module):
    """A match statement over a setting, and one over an argument."""

    def __init__(self, pool="mean"):
        super().__init__()
        self.pool, self.attn, self.fc, self.up = pool, nn.Linear(8, 1), nn.Linear(8, 8), nn.Linear(8, 16)

    def forward(self, x, output="features"):
        match self.pool:
            case "mean":
                x = x.mean(1)
            case "max" | "amax":
                x = x.amax(1)
            case "attention":
                x = (self.attn(x).softmax(1) * x).sum(1)
            case "none":
                pass
            case _:
                raise ValueError(self.pool)
        match output:
            case "logits":
                x = self.up(x)
            case "features":
                x = self.fc(x)
            case [*names]:
                x = torch.stack([self.fc(x) for _ in names])
        return x


class Activations(nn.Module):
    """Chains of elif: one in the middle, one with no match, one on sizes."""

    def __init__(self, act="gelu", norm=""):
        super().__init__()
        self.act, self.norm, self.fc = act, norm, nn.Linear(8, 8)

    def forward(self, x):
        x = self.fc(x)
        if self.act == "relu":
            x = F.relu(x)
        elif self.act == "gelu":
            x = F.gelu(x)
        elif self.act == "silu":
            x = F.silu(x)
        else:
            raise NotImplementedError(self.act)
        if self.norm == "layer":
            x = F.layer_norm(x, (8,))
        elif self.norm == "l2":
            x = F.normalize(x, dim=-1)
        if x.ndim == 2:
            x = x[:, None]
        elif x.ndim == 4:
            x = x.flatten(1, 2)
        elif x.ndim > 4:
            raise ValueError("too many dimensions")
        else:
            x = x.contiguous()
        return x


class Loops(nn.Module):
    """Loops that run zero times: over modules, over a range, until a condition; and one with an else."""

    def __init__(self, extra=0):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.adapters = nn.ModuleList(nn.Linear(8, 8) for _ in range(extra))
        self.refinements = 0

    def forward(self, x, prompts=()):
        for prompt in prompts:
            x = x + prompt
        for adapter in self.adapters:
            x = x + adapter(x)
        x = self.fc(x)
        for _ in range(self.refinements):
            x = torch.tanh(x)
        while x.norm() > 1e6:
            x = x / 2
        for _ in range(x.shape[1] // 100):
            x = x[:, ::2]
        names = []
        for name in ():
            names.append(name)  # noqa: PERF402
        return x


class Returns(nn.Module):
    """Early returns of all kinds."""

    def __init__(self, num_classes=0, return_all=False):
        super().__init__()
        self.body, self.neck, self.head = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)
        self.num_classes, self.return_all = num_classes, return_all

    def forward_features(self, x):
        if x is None:
            return None
        h = self.body(x)
        if self.return_all:
            return [h, self.neck(h)]
        if x.shape[0] == 0:
            return h.new_zeros(0, 8)
        return h

    def forward(self, x, labels=None):
        h = self.forward_features(x)
        if not self.num_classes:
            return h
        h = self.neck(h)
        if labels is None:
            return self.head(h)
        return F.cross_entropy(self.head(h), labels)


SIDES = """
conditional expressions
    Expressions.forward  scale is None  no  input
    Expressions.forward  self.residual  no  configuration
    Expressions.forward  x.shape[0] > 1  yes  size
    Expressions.forward  self.training  yes  mode
    Expressions.forward  h.isfinite().all()  no  value
    Expressions.forward  temperature != 1.0  yes  input
match statements
    Pooling.forward  self.pool  'max' | 'amax'  configuration
    Pooling.forward  self.pool  'attention'  configuration
    Pooling.forward  output  'features'  input
    Pooling.forward  output  [*names]  input
chains of elif
    Activations.forward  self.act == 'relu'  yes  configuration
    Activations.forward  self.act == 'gelu'  no  configuration
    Activations.forward  self.norm == 'layer'  yes  configuration
    Activations.forward  self.norm == 'l2'  yes  configuration
    Activations.forward  x.ndim == 2  yes  size
    Activations.forward  x.ndim == 4  yes  size
loops that run zero times
    Loops.forward  prompts  yes  input
    Loops.forward  self.adapters  yes  configuration
    Loops.forward  range(self.refinements)  yes  configuration
    Loops.forward  x.norm() > 1000000.0  yes  value
    Loops.forward  range(x.shape[1] // 100)  yes  size
early returns
    Returns.forward_features  self.return_all  yes  configuration
    Returns.forward_features  x.shape[0] == 0  yes  size
    Returns.forward  not self.num_classes  no  configuration
early returns with classes
    Returns.forward_features  self.return_all  yes  configuration
    Returns.forward_features  x.shape[0] == 0  yes  size
    Returns.forward  labels is None  no  input
"""
MADE = {
    "conditional expressions": lambda: (Expressions(), (x(1, 8),), {}),
    "match statements": lambda: (Pooling(), (x(2, 5, 8),), {"output": "logits"}),
    "chains of elif": lambda: (Activations(), (x(2, 5, 8),), {}),
    "loops that run zero times": lambda: (Loops(), (x(2, 8),), {}),
    "early returns": lambda: (Returns(), (x(2, 8),), {}),
    "early returns with classes": lambda: (Returns(num_classes=4), (x(2, 8),), {}),
}
READINGS = readings(SIDES, MADE)
