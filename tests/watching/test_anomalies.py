"""Planted faults are named first, at the right node and step; healthy trainings name none."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from modeldiagrams import load_recording, watch

STEP, STEPS = 8, 14


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None


class Layer(nn.Module):
    """A linear layer that can be made faulty."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.fault = inner, None

    def forward(self, x):
        out = self.inner(x)
        return out if self.fault is None else self.fault(out)


class Mlp(nn.Sequential):
    def __init__(self):
        super().__init__(*(nn.Sequential(Layer(nn.Linear(16, 16)), nn.ReLU()) for _ in range(4)), nn.Linear(16, 4))

    layer, act, before_act = "2.0", "2.1", "2.0.inner"

    def batch(self):
        return torch.randn(32, 16)


class Cnn(nn.Sequential):
    def __init__(self):
        blocks = [
            nn.Sequential(Layer(nn.Conv2d(8 if i else 3, 8, 3, padding=1)), nn.BatchNorm2d(8), nn.ReLU())
            for i in range(4)
        ]
        super().__init__(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))

    layer, act, before_act = "1.0", "1.2", "1.1"

    def batch(self):
        return torch.randn(8, 3, 8, 8)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(16), nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm2, self.up, self.act, self.down = (
            nn.LayerNorm(16),
            Layer(nn.Linear(16, 32)),
            nn.ReLU(),
            nn.Linear(32, 16),
        )

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(self.act(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.blocks = nn.Embedding(20, 16), nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 20)

    layer, act, before_act = "blocks.1.up", "blocks.1.act", "blocks.1.up.inner"

    def batch(self):
        return torch.randint(0, 20, (8, 6))

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


MODELS = (Mlp, Cnn, Transformer)


def train(model, path, fault=None, *, optimizer=None, steps=STEPS):
    """Train with a fault that is planted in some step."""
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    with watch(model, every=1, path=path) as watcher:
        for step in range(steps):
            batch = model.batch()
            if step == STEP and fault:
                batch = fault(model, optimizer, batch)
            out = model(batch)
            target = torch.zeros(out.shape[:-1], dtype=torch.long)
            loss = nn.functional.cross_entropy(out.reshape(-1, out.shape[-1]), target.reshape(-1))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1e9)
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
            watcher.step(loss)
    return load_recording(path)


def layer(model):
    return model.get_submodule(model.layer)


def plant(change):
    def fault(model, _, batch):
        layer(model).fault = change
        return batch

    return fault


def one_nan(out):
    out = out.clone()
    out.view(-1)[3] = math.nan
    return out


def infinite_weight(model, _, batch):
    with torch.no_grad():
        layer(model).inner.weight.view(-1)[5] = math.inf
    return batch


def dead(model, _, batch):
    with torch.no_grad():
        model.get_submodule(model.before_act).bias.fill_(-100)
    return batch


def grown_weight(model, _, batch):
    with torch.no_grad():
        layer(model).inner.weight *= 60
    return batch


def faster(_, optimizer, batch):
    for group in optimizer.param_groups:
        group["lr"] *= 100
        group["initial_lr"] *= 100
    return batch


def frozen(model, optimizer, batch):
    own = {id(parameter) for parameter in layer(model).parameters()}
    for group in optimizer.param_groups:
        group["params"] = [parameter for parameter in group["params"] if id(parameter) not in own]
    return batch


FAULTS = {
    "nan": (plant(one_nan), "nonfinite", "layer"),
    "weight": (infinite_weight, "nonfinite", "inner"),
    "backward": (plant(lambda out: Scaled.apply(out, math.nan)), "nonfinite", "inner"),
    "exploding": (plant(lambda out: Scaled.apply(out, 1e8)), "exploding", "layer"),
    "vanishing": (plant(lambda out: Scaled.apply(out, 1e-10)), "vanishing", "layer"),
    "dead": (dead, "dead", "act"),
    "frozen": (frozen, "frozen", "inner"),
    "grown weight": (grown_weight, "jump", "inner"),
    "grown activation": (plant(lambda out: out * 1000), "jump", "layer"),
    "rate": (faster, "jump", "model"),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("class_", MODELS)
def test_a_fault_is_named_first(tmp_path, class_, name):
    torch.manual_seed(0)
    model = class_()
    fault, kind, place = FAULTS[name]
    found = train(model, tmp_path / "run.mdwatch", fault).anomalies
    node = {"layer": model.layer, "inner": f"{model.layer}.inner", "model": "", "act": model.act}[place]
    assert (found[0].kind, found[0].node, found[0].step) == (kind, node, STEP), found[:4]


@pytest.mark.parametrize("class_", MODELS)
@pytest.mark.parametrize("optimizer", [torch.optim.AdamW, torch.optim.SGD])
def test_a_healthy_training_has_none(tmp_path, class_, optimizer):
    torch.manual_seed(0)
    model = class_()
    rate = 1e-2 if optimizer is torch.optim.SGD else 1e-3
    found = train(model, tmp_path / "run.mdwatch", optimizer=optimizer(model.parameters(), lr=rate), steps=25)
    assert found.anomalies == ()
