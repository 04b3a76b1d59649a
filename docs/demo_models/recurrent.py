"""Recurrent classifiers for sequences."""

from __future__ import annotations

import torch
from torch import nn


class LSTMClassifier(nn.Module):
    """Embeds tokens, runs a bidirectional LSTM over them and classifies the mean of its states.

    Args:
        vocabulary: Number of distinct tokens.
        num_classes: How many classes there are to tell apart.
        hidden: Size of each direction's state.
    """

    def __init__(self, vocabulary: int = 1000, num_classes: int = 4, hidden: int = 128) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.dropout = nn.Dropout(0.1)
        self.lstm = nn.LSTM(hidden, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(2 * hidden)
        self.classifier = nn.Linear(2 * hidden, num_classes)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor | None = None) -> dict[str, torch.Tensor]:
        """Map token ids `(batch, length)` and an optional mask of the same shape to `{"logits": …, "state": …}`."""
        embedded = self.dropout(self.embedding(tokens))
        states, (last, _) = self.lstm(embedded)
        if mask is None:
            pooled = states.mean(1)
        else:
            weights = mask.to(states.dtype).unsqueeze(-1)
            pooled = (states * weights).sum(1) / weights.sum(1).clamp(min=1)
        return {"logits": self.classifier(self.norm(pooled)), "state": last}


class LSTMLoop(nn.Module):
    """Steps through a sequence by hand, as code for reinforcement learning or decoding does.

    Args:
        features: Size of each step's input.
        hidden: Size of the state.
        num_classes: How many classes there are to tell apart.
    """

    def __init__(self, features: int = 32, hidden: int = 64, num_classes: int = 4) -> None:
        super().__init__()
        self.hidden = hidden
        self.cell = nn.LSTMCell(features, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, num_classes)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        """Map `(batch, steps, features)` to class scores of the last step."""
        state = memory = sequence.new_zeros(len(sequence), self.hidden)
        for step in range(sequence.shape[1]):
            state, memory = self.cell(sequence[:, step], (state, memory))
            state = self.norm(state)
        return self.head(state)
