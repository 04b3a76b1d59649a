"""Trainings of small models, watched and not."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import torch
from torch import nn

from modeldiagrams import load_recording, watch
from modeldiagrams.watching.recorder.listening import _listeners


def loss_of(result):
    """A loss for whatever a model returns."""
    if isinstance(result, torch.Tensor):
        return (result.float() ** 2).mean()
    if not isinstance(result, tuple | list):
        result = (result if isinstance(result, dict) else vars(result)).values()
    return sum(loss_of(value) for value in result if isinstance(value, torch.Tensor | tuple | dict))


def train(model, batches, watcher=None, *, step=None, optimizer=None):
    """Train on batches, tuples of arguments or dicts of them; returns the losses."""
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for batch in batches:
        loss = loss_of(model(**batch) if isinstance(batch, dict) else model(*batch))
        loss.backward()
        if step:
            step(optimizer)
        else:
            optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if watcher is not None:
            watcher.step(loss)
    return losses


def recorded(model, batches, path, **options):
    """The recording of a training."""
    with watch(model, path=path, **{"every": 1, **options}) as watcher:
        train(model, batches, watcher)
    return load_recording(path)


def hooks_on(model):
    """All hooks on modules and parameters of a model."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    found = [hook for module in model.modules() for kind in kinds for hook in getattr(module, kind)]
    return found + [p for p in model.parameters() if p._backward_hooks]


def listened_to(model):
    """The modules of a model whose calls somebody hears."""
    return [module for module in model.modules() if id(module) in _listeners]


@contextlib.contextmanager
def changes_nothing(make, batches, path, **options):
    """Weights, losses and random states are those of a training that isn't watched; yields the model that is."""
    plain = _made(make)
    losses = train(plain, batches)
    drawn = _drawn()
    model = _made(make)
    with watch(model, path=path, **{"every": 3, **options}) as watcher:
        assert train(model, batches, watcher) == losses
    assert _drawn() == drawn
    for (name, one), other in zip(plain.state_dict().items(), model.state_dict().values(), strict=True):
        assert torch.equal(one, other), name
    assert hooks_on(model) == []
    assert listened_to(model) == []
    yield model


def _made(make):
    _seed(0)
    model = make()
    _seed(1)
    return model


def _seed(seed):
    """Models draw from all three: masks of wav2vec2 come from NumPy."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (models draw from the global one)
    random.seed(seed)


def _drawn():
    """What the next draw of each gives."""
    return torch.rand(3).tolist(), np.random.rand(3).tolist(), random.random()  # noqa: NPY002, S311


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.act, self.b = nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 6)

    def forward(self, x):
        return self.b(self.act(self.a(x)))


class Small(nn.Module):
    """Convolution, batch norm, in-place ReLU, dropout, linear."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.act = nn.ReLU(inplace=True)
        self.drop = nn.Dropout()
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        return self.head(self.drop(self.act(self.norm(self.conv(x))).mean((2, 3))))


def images(steps, size=4):
    generator = torch.Generator().manual_seed(7)
    return [(torch.randn(size, 3, 8, 8, generator=generator),) for _ in range(steps)]


def vectors(steps, width=6, size=4):
    generator = torch.Generator().manual_seed(7)
    return [(torch.randn(size, width, generator=generator),) for _ in range(steps)]
