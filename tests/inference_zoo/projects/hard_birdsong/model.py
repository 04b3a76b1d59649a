import torch
from torch import nn


class SongNet(nn.Module):
    def __init__(self, n_mels, act, width, heads, class_weights=None):
        super().__init__()
        self.stem = nn.Conv1d(n_mels, width, 3, padding=1)
        self.act = act
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.out = nn.Linear(width, len(class_weights) if class_weights is not None else 10)
        self.weights = class_weights

    def forward(self, mel, valid):
        x = self.act(self.stem(mel)).transpose(1, 2)
        x, _ = self.attn(x, x, x, key_padding_mask=~valid)
        x = (x * valid.unsqueeze(-1)).sum(1) / valid.sum(1, keepdim=True)
        return self.out(x)


class SongPair(nn.Module):
    """Are two recordings of one bird?"""

    def __init__(self, net, chunk: int, margin: float):
        super().__init__()
        self.net, self.chunk, self.margin = net, chunk, margin
        self.project = nn.LazyLinear(16)

    def embed(self, wave):
        pieces = wave.unfold(-1, self.chunk, self.chunk)
        return self.project(self.net(pieces)).mean(1)

    def forward(self, first, second):
        gap = (self.embed(first) - self.embed(second)).norm(dim=-1)
        return torch.relu(self.margin - gap)
