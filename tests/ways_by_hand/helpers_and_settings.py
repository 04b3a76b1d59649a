"""Five more: comprehensions and lambdas, helper functions, checks, settings, types and values."""

from __future__ import annotations

import logging
import math
import warnings
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

from ways_by_hand.exits_and_phases import x
from ways_by_hand.reading import readings

logger = logging.getLogger(__name__)
USE_FLASH = False


class Comprehending(nn.Module):
    """Conditions in comprehensions, in lambdas, in functions inside the forward."""

    def __init__(self):
        super().__init__()
        self.branches = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.down = nn.ModuleList([nn.Identity(), nn.Linear(8, 8), nn.Identity()])
        self.use_gate = False
        self.gate = lambda h, on: torch.sigmoid(h) * h if on else h

    def forward(self, x, drop_path=None):
        outs = [branch(x) if x.shape[-1] == 8 else branch(x[..., :8]) for branch in self.branches]
        outs = {i: self.gate(out, self.use_gate) for i, out in enumerate(outs)}
        outs = [d(o) for d, o in zip(self.down, outs.values(), strict=True) if not isinstance(d, nn.Identity)]

        def mix(parts, weights=None):
            if weights is not None:
                parts = [part * weight for part, weight in zip(parts, weights, strict=True)]
            return torch.stack(parts).sum(0)

        drop = lambda h: h if drop_path is None else F.dropout(h, drop_path)  # noqa: E731
        return drop(mix(outs))


def rotate_half(t):
    a, b = t.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def apply_rotary(t, freqs=None, interleaved=False):
    if freqs is None:
        freqs = torch.arange(t.shape[-1], dtype=t.dtype)
    if interleaved:
        return t * freqs.cos() + t.flip(-1) * freqs.sin()
    return t * freqs.cos() + rotate_half(t) * freqs.sin()


def pad_to(t, multiple):
    rest = t.shape[1] % multiple
    needs = rest != 0
    if needs:
        t = F.pad(t, (0, 0, 0, multiple - rest))
    return t


class Helped(nn.Module):
    """What decides is in helper functions and in locals."""

    def __init__(self, multiple=4):
        super().__init__()
        self.q, self.multiple = nn.Linear(8, 8), multiple
        self.is_decoder = False

    def forward(self, x, mask=None):
        x = pad_to(x, self.multiple)
        q = apply_rotary(self.q(x))
        use_mask = mask is not None
        has_padding = (x == 0).any()
        decoder = self.is_decoder
        if use_mask:
            q = q * mask[..., None]
        if has_padding:
            q = q.masked_fill(x == 0, 0.0)
        if decoder:
            q = q.cumsum(1)
        if USE_FLASH:
            return F.scaled_dot_product_attention(q, q, q)
        return q @ q.transpose(1, 2)


class Checked(nn.Module):
    """Sides that only raise, warn, log, assert or set a flag are none."""

    def __init__(self):
        super().__init__()
        self.fc, self.warned = nn.Linear(8, 8), False

    def forward(self, x, lengths=None, return_dict=None, verbose=False):
        if x.ndim != 3:
            raise ValueError(f"expected three dimensions, got {tuple(x.shape)}")
        if x.shape[-1] % 2 == 1:
            warnings.warn("odd width", stacklevel=2)
        if verbose:
            logger.info("input of %s", x.shape)
            print(x.shape)
        if not self.warned and x.shape[1] > 512:
            logger.warning("long input")
            self.warned = True
        if return_dict is None:
            return_dict = False
        if lengths is not None:
            assert len(lengths) == x.shape[0]
        if torch.isnan(x).any():
            raise FloatingPointError("nan in the input")
        y = self.fc(x)
        if lengths is not None:
            y = y * (torch.arange(y.shape[1])[None, :, None] < lengths[:, None, None])
        if return_dict:
            return {"y": y}
        return y


class Configured(nn.Module):
    """Settings: of a configuration, in attributes, by `hasattr` and `getattr`."""

    def __init__(self, **settings):
        super().__init__()
        defaults = {"pre_norm": True, "tie": False, "dropout": 0.0, "pos": "rope", "softcap": None, "cross": False}
        self.config = SimpleNamespace(**{**defaults, **settings})
        self.norm, self.fc, self.out = nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 8)
        if self.config.cross:
            self.cross = nn.Linear(8, 8)

    def forward(self, x, memory=None):
        cfg = self.config
        h = self.norm(x) if cfg.pre_norm else x
        if cfg.pos == "rope":
            h = h * torch.cos(torch.arange(8.0))
        else:
            h = h + torch.arange(8.0)
        h = self.fc(h)
        if cfg.dropout > 0 and self.training:
            h = F.dropout(h, cfg.dropout)
        if hasattr(self, "cross"):
            h = h + self.cross(memory)
        if getattr(cfg, "softcap", None) is not None:
            h = torch.tanh(h / cfg.softcap) * cfg.softcap
        if not self.config.pre_norm:
            h = self.norm(h)
        logits = F.linear(h, self.fc.weight) if self.config.tie else self.out(h)
        return logits * math.sqrt(8) if getattr(cfg, "scale_logits", False) else logits


class Typed(nn.Module):
    """Types, dtypes, devices, shapes, lengths and values, directly and through locals."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, extra=None):
        if isinstance(x, (list, tuple)):
            x = torch.cat(x, dim=0)
        if x.dtype == torch.float16:
            x = x.float()
        if x.device.type == "cuda":
            x = x.contiguous()
        batch, length, width = x.shape
        if length % 2:
            x = F.pad(x, (0, 0, 0, 1))
        if len(x) > 4:
            x = torch.cat([self.fc(part) for part in x.split(4)])
        else:
            x = self.fc(x)
        if x.numel() == batch * width:
            x = x.squeeze(1)
        peak = x.abs().max().item()
        if peak > 1e3:
            x = x / peak
        if (x < -1e6).any():
            x = x.clamp(min=-1e6)
        if torch.isinf(x).sum().item() > 0 or peak != peak:
            x = torch.zeros_like(x)
        if torch.is_autocast_enabled("cpu"):
            x = x.float()
        return x if extra is None else torch.cat((x, extra), dim=1)


SIDES = """
comprehensions and lambdas
    Comprehending.forward  x.shape[-1] == 8  no  size
    Comprehending.__init__  on  yes  configuration|input
    Comprehending.forward.<locals>.mix  weights is not None  yes  input
    Comprehending.forward  drop_path is None  no  input
helper functions and locals
    apply_rotary  interleaved  yes  input
    pad_to  needs  yes  size
    Helped.forward  use_mask  yes  input
    Helped.forward  has_padding  yes  value
    Helped.forward  decoder  yes  configuration
    Helped.forward  USE_FLASH  yes  other
checks that are none
    Checked.forward  lengths is not None  yes  input
settings
    Configured.forward  cfg.pos == 'rope'  no  configuration
    Configured.forward  cfg.dropout > 0 and self.training  yes  configuration|mode
    Configured.forward  hasattr(self, 'cross')  yes  configuration
    Configured.forward  getattr(cfg, 'softcap', None) is not None  yes  configuration
    Configured.forward  not self.config.pre_norm  yes  configuration
    Configured.forward  self.config.tie  yes  configuration
    Configured.forward  getattr(cfg, 'scale_logits', False)  yes  configuration
types, dtypes, shapes and values
    Typed.forward  isinstance(x, (list, tuple))  yes  input
    Typed.forward  x.dtype == torch.float16  yes  input|other
    Typed.forward  x.device.type == 'cuda'  yes  input|other
    Typed.forward  length % 2  yes  size
    Typed.forward  len(x) > 4  yes  size
    Typed.forward  x.numel() == batch * width  yes  size
    Typed.forward  peak > 1000.0  yes  value
    Typed.forward  (x < -1000000.0).any()  yes  value
    Typed.forward  torch.isinf(x).sum().item() > 0 or peak != peak  yes  value
    Typed.forward  torch.is_autocast_enabled('cpu')  yes  other
    Typed.forward  extra is None  no  input
"""
MADE = {
    "comprehensions and lambdas": lambda: (Comprehending(), (x(2, 8),), {}),
    "helper functions and locals": lambda: (Helped(), (x(2, 4, 8),), {}),
    "checks that are none": lambda: (Checked(), (x(2, 5, 8),), {}),
    "settings": lambda: (Configured(), (x(2, 8),), {}),
    "types, dtypes, shapes and values": lambda: (Typed(), (x(2, 6, 8),), {}),
}
READINGS = readings(SIDES, MADE)
