"""Five more: experts, halting, recursion, decorators, conditions over several lines."""

from __future__ import annotations

import functools

import torch
import torch.nn.functional as F
from torch import nn

from ways_by_hand.exits_and_phases import x
from ways_by_hand.reading import readings


class SparseMoe(nn.Module):
    """Sends each token to one expert; experts without tokens are left out."""

    def __init__(self, experts=4, jitter=0.0, shared=False, capacity=None):
        super().__init__()
        self.gate = nn.Linear(8, experts, bias=False)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(experts))
        self.shared_expert = nn.Linear(8, 8) if shared else None
        self.jitter, self.capacity = jitter, capacity
        with torch.no_grad():
            self.gate.weight.zero_()
            self.gate.weight[1] = 1.0

    def forward(self, x):
        if self.training and self.jitter:
            x = x * torch.empty_like(x).uniform_(1 - self.jitter, 1 + self.jitter)
        flat = x.reshape(-1, x.shape[-1])
        weight, chosen = self.gate(flat).softmax(-1).max(-1)
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            (where,) = torch.where(chosen == number)
            if where.numel() == 0:
                continue
            if self.capacity is not None and where.numel() > self.capacity:
                where = where[: self.capacity]
            out[where] = expert(flat[where]) * weight[where, None]
        if self.shared_expert is not None:
            out = out + self.shared_expert(flat)
        return out.view_as(x)


class Ponder(nn.Module):
    """Adaptive computation time: steps until every element has halted."""

    def __init__(self, max_steps=8, threshold=0.99):
        super().__init__()
        self.cell, self.halt = nn.GRUCell(8, 8), nn.Linear(8, 1)
        self.max_steps, self.threshold = max_steps, threshold
        nn.init.constant_(self.halt.bias, 9.0)

    def forward(self, x, state=None):
        if state is None:
            state = torch.zeros_like(x)
        halted, steps = torch.zeros(x.shape[0]), 0
        while True:
            state = self.cell(x, state)
            halted = halted + torch.sigmoid(self.halt(state)).squeeze(-1)
            steps += 1
            done = bool((halted > self.threshold).all())
            if done or steps == self.max_steps:
                break
            state = state * (halted < self.threshold).unsqueeze(-1)
        if steps == self.max_steps and not done:
            state = F.layer_norm(state, state.shape[-1:])
        return state


class TreeLstm(nn.Module):
    """Recursion over nested tuples."""

    def __init__(self):
        super().__init__()
        self.leaf, self.merge, self.unary = nn.Embedding(10, 8), nn.Linear(16, 8), nn.Linear(8, 8)

    def encode(self, tree, depth=0):
        if isinstance(tree, int):
            return self.leaf(torch.tensor([tree]))
        if len(tree) == 1:
            return self.unary(self.encode(tree[0], depth + 1))
        left, right = (self.encode(child, depth + 1) for child in tree)
        joined = torch.cat((left, right), dim=-1)
        if depth > 20:
            joined = joined.detach()
        return torch.tanh(self.merge(joined))

    def forward(self, tree, root=None):
        encoded = self.encode(tree)
        return encoded if root is None else encoded + self.unary(root)


def half_if_asked(forward):
    """As libraries wrap a forward: what runs is in here."""

    @functools.wraps(forward)
    def wrapper(self, *args, half=False, **kwargs):
        if half:
            args = [argument.bfloat16().float() for argument in args]
        out = forward(self, *args, **kwargs)
        return out.float() if out.dtype == torch.float64 else out

    return wrapper


def checkpointed(forward):
    @functools.wraps(forward)
    def wrapper(self, *args, **kwargs):
        if self.gradient_checkpointing and self.training:
            return torch.utils.checkpoint.checkpoint(forward, self, *args, use_reentrant=False, **kwargs)
        return forward(self, *args, **kwargs)

    return wrapper


class Wrapped(nn.Module):
    """Two decorators over the forward."""

    def __init__(self):
        super().__init__()
        self.fc, self.skip = nn.Linear(8, 8), nn.Linear(8, 8)
        self.gradient_checkpointing = False

    @half_if_asked
    @checkpointed
    def forward(self, x, residual=None):
        out = self.fc(x)
        if residual is not None:
            out = out + self.skip(residual)
        return out


class Several(nn.Module):
    """Conditions over several lines, with `and`, `or` and `not`."""

    def __init__(self, pos="learned", window=4):
        super().__init__()
        self.proj, self.local = nn.Linear(8, 8), nn.Conv1d(8, 8, 3, padding=1)
        self.pos_emb = nn.Parameter(torch.ones(8))
        self.pos, self.window = pos, window

    # fmt: off
    def forward(self, x, mask=None, positions=None):
        if (
            self.pos == "learned"
            and positions is not None
        ):
            x = x + self.pos_emb * positions[
                ..., None
            ]
        elif (
            self.pos == "learned"
            or self.pos == "absolute"
        ):
            x = x + self.pos_emb
        if (
            x.shape[1] > self.window  # long sequences only
            and not self.training
        ):
            x = x + self.local(
                x.transpose(1, 2)
            ).transpose(1, 2)
        if not (
            mask is None
            or mask.all()
        ):
            x = x * mask[..., None]
        return (
            self.proj(x)
            if x.abs().max() < 100
            else self.proj(
                x.clamp(-100, 100)
            )
        )


SIDES = """
mixture of experts
    SparseMoe.forward  self.training and self.jitter  yes  mode|configuration
    SparseMoe.forward  self.capacity is not None and where.numel() > self.capacity  yes  configuration
    SparseMoe.forward  self.shared_expert is not None  yes  configuration
halting loop
    Ponder.forward  state is None  yes  input
    Ponder.forward  done or steps == self.max_steps  no  value
    Ponder.forward  steps == self.max_steps and (not done)  yes  value|other
recursion over a tree
    TreeLstm.encode  len(tree) == 1  yes  size|input
    TreeLstm.encode  depth > 20  yes  other|input
    TreeLstm.forward  root is None  no  input
decorators over the forward
    half_if_asked.<locals>.wrapper  half  yes  input
    half_if_asked.<locals>.wrapper  out.dtype == torch.float64  yes  other|input
    checkpointed.<locals>.wrapper  self.gradient_checkpointing and self.training  yes  configuration|mode
    Wrapped.forward  residual is not None  yes  input
conditions over several lines
    Several.forward  self.pos == 'learned' and positions is not None  yes  input
    Several.forward  x.shape[1] > self.window and (not self.training)  yes  size
    Several.forward  not (mask is None or mask.all())  yes  value
    Several.forward  x.abs().max() < 100  no  value
"""
MADE = {
    "mixture of experts": lambda: (SparseMoe(), (x(1, 6, 8).abs(),), {}),
    "halting loop": lambda: (Ponder(), (x(2, 8),), {"state": x(2, 8)}),
    "recursion over a tree": lambda: (TreeLstm(), (((1, 2), (3, (4, 5))),), {}),
    "decorators over the forward": lambda: (Wrapped(), (x(2, 8),), {}),
    "conditions over several lines": lambda: (Several(), (x(2, 3, 8),), {"mask": torch.ones(2, 3)}),
}
READINGS = readings(SIDES, MADE)
