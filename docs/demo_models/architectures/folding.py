"""The trunk of a network that folds proteins."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class BiasedAttention(nn.Module):
    """Attention along the second-last axis, with a bias for pairs and a gate."""

    def __init__(self, width: int, pair: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.bias, self.gate = nn.Linear(pair, heads, bias=False), nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor, pair: Tensor) -> Tensor:
        """Map `(rows, length, width)` and a pair representation `(length, length, pair)` to the shape of the first."""
        x = self.norm(x)
        q, k, v = (layer(x).unflatten(-1, (self.heads, -1)) for layer in (self.query, self.key, self.value))
        scores = torch.einsum("rqhc,rkhc->rhqk", q, k) / q.shape[-1] ** 0.5 + self.bias(pair).permute(2, 0, 1)
        mixed = torch.einsum("rhqk,rkhc->rqhc", scores.softmax(-1), v).flatten(-2)
        return self.output(torch.sigmoid(self.gate(x)) * mixed)


class Transition(nn.Sequential):
    """Two layers for each place."""

    def __init__(self, width: int) -> None:
        super().__init__(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))


class OuterProductMean(nn.Module):
    """What columns of the alignment say about pairs of residues."""

    def __init__(self, width: int, pair: int, hidden: int = 8) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.left, self.right = nn.Linear(width, hidden), nn.Linear(width, hidden)
        self.output = nn.Linear(hidden * hidden, pair)

    def forward(self, alignment: Tensor) -> Tensor:
        """Map `(sequences, length, width)` to `(length, length, pair)`."""
        x = self.norm(alignment)
        outer = torch.einsum("sic,sjd->ijcd", self.left(x), self.right(x)) / len(x)
        return self.output(outer.flatten(-2))


class TriangleMultiplication(nn.Module):
    """Updates each edge by the two others of every triangle it is in."""

    def __init__(self, pair: int, equation: str) -> None:
        super().__init__()
        self.equation = equation
        self.norm, self.mixed = nn.LayerNorm(pair), nn.LayerNorm(pair)
        self.left, self.right = nn.Linear(pair, pair), nn.Linear(pair, pair)
        self.gate, self.output = nn.Linear(pair, pair), nn.Linear(pair, pair)

    def forward(self, pair: Tensor) -> Tensor:
        """Map `(length, length, pair)` to the same shape."""
        z = self.norm(pair)
        mixed = torch.einsum(self.equation, self.left(z), self.right(z))
        return torch.sigmoid(self.gate(z)) * self.output(self.mixed(mixed))


class EvoformerBlock(nn.Module):
    """Lets an alignment and a pair representation inform each other."""

    def __init__(self, width: int, pair: int) -> None:
        super().__init__()
        self.row_attention = BiasedAttention(width, pair)
        self.transition = Transition(width)
        self.outer_product_mean = OuterProductMean(width, pair)
        self.triangle_outgoing = TriangleMultiplication(pair, "ikc,jkc->ijc")
        self.triangle_incoming = TriangleMultiplication(pair, "kic,kjc->ijc")
        self.triangle_attention = BiasedAttention(pair, pair)
        self.pair_transition = Transition(pair)

    def forward(self, alignment: Tensor, pair: Tensor) -> tuple[Tensor, Tensor]:
        """Map both representations to their shapes."""
        alignment = alignment + self.row_attention(alignment, pair)
        alignment = alignment + self.transition(alignment)
        pair = pair + self.outer_product_mean(alignment)
        pair = pair + self.triangle_outgoing(pair)
        pair = pair + self.triangle_incoming(pair)
        pair = pair + self.triangle_attention(pair, pair)
        pair = pair + self.pair_transition(pair)
        return alignment, pair


class Evoformer(nn.Module):
    """Blocks on an alignment and on pairs of residues, after AlphaFold 2 by Jumper et al."""

    def __init__(self, residues: int = 23, width: int = 32, pair: int = 16, blocks: int = 12) -> None:
        super().__init__()
        self.alignment = nn.Linear(residues, width)
        self.left, self.right = nn.Linear(residues, pair), nn.Linear(residues, pair)
        self.blocks = nn.ModuleList(EvoformerBlock(width, pair) for _ in range(blocks))
        self.single = nn.Linear(width, 2 * width)

    def forward(self, alignment: Tensor) -> tuple[Tensor, Tensor]:
        """Map an alignment `(sequences, length, residues)` to representations of residues and pairs."""
        target = alignment[0]
        pair = self.left(target)[:, None] + self.right(target)[None]
        x = self.alignment(alignment)
        for block in self.blocks:
            x, pair = block(x, pair)
        return self.single(x[0]), pair
