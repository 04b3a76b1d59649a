"""Arguments of constructors by their names, annotations and defaults."""

from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


class NeedsClasses(nn.Module):
    def __init__(self, num_classes, in_channels):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(in_channels, 8, 3), nn.Linear(8, num_classes)

    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))


class NeedsSizes(nn.Module):
    def __init__(self, vocab_size: int, hidden_size: int, num_layers: int, dropout: float, bidirectional: bool = False):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden_size)
        self.rnn = nn.LSTM(hidden_size, hidden_size, num_layers, dropout=dropout, bidirectional=bidirectional)

    def forward(self, ids):
        return self.rnn(self.embed(ids))[0]


class NeedsHeads(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(d_model, nhead, dim_feedforward, batch_first=True)

    def forward(self, tgt_features, memory):
        return self.layer(tgt_features, memory)


class NeedsWidths(nn.Module):
    def __init__(self, input_dim: int, hidden_dims: list[int], output_dim: int):
        super().__init__()
        widths = [input_dim, *hidden_dims, output_dim]
        self.layers = nn.ModuleList(map(nn.Linear, widths[:-1], widths[1:]))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return self.layers[-1](x)


@dataclass
class Settings:
    width: int = 24
    depth: int = 2
    sizes: list[int] = field(default_factory=lambda: [3, 5])


class NeedsSettings(nn.Module):
    """A configuration of the author's own."""

    def __init__(self, config: Settings) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Conv1d(config.width, config.width, size, padding="same") for size in config.sizes
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = x + block(x)
        return x


def make_patches(img_size, patch_size, embed_dim):
    """A factory."""
    count = (img_size // patch_size) ** 2
    return nn.Sequential(
        nn.Conv2d(3, embed_dim, patch_size, patch_size),
        nn.Flatten(2),
        nn.Linear(count, 5),
        nn.LayerNorm([embed_dim, 5]),
    )


class SpeakerEncoder(nn.Module):
    def __init__(self, mel_n_channels, model_hidden_size, model_num_layers, model_embedding_size):
        super().__init__()
        self.lstm = nn.LSTM(mel_n_channels, model_hidden_size, model_num_layers, batch_first=True)
        self.linear = nn.Linear(model_hidden_size, model_embedding_size)

    def forward(self, utterances, hidden_init=None):
        _, (hidden, _) = self.lstm(utterances, hidden_init)
        embeds = F.relu(self.linear(hidden[-1]))
        return embeds / (torch.norm(embeds, dim=1, keepdim=True) + 1e-5)
