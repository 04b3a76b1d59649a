"""A graph neural network in plain PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class MessagePassing(nn.Module):
    """Nodes send messages along edges, add up what arrives, and update themselves."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU())
        self.update = nn.GRUCell(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Map node states `(nodes, width)` and edges `(2, edges)`, int64, to new node states."""
        source, target = edges
        messages = self.message(torch.cat([nodes[source], nodes[target]], -1))
        arrived = torch.zeros_like(nodes).index_add(0, target, messages)
        return self.norm(self.update(arrived, nodes))


class GraphNetwork(nn.Module):
    """Embeds atoms, passes messages three times and predicts one number for the graph."""

    def __init__(self, kinds: int = 16, width: int = 64, rounds: int = 3) -> None:
        super().__init__()
        self.embedding = nn.Embedding(kinds, width)
        self.rounds = nn.ModuleList(MessagePassing(width) for _ in range(rounds))
        self.readout = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, atoms: Tensor, bonds: Tensor) -> Tensor:
        """Map kinds of atoms `(atoms,)` and bonds `(2, bonds)`, both int64, to one value."""
        nodes = self.embedding(atoms)
        for layer in self.rounds:
            nodes = layer(nodes, bonds)
        return self.readout(nodes.sum(0))
