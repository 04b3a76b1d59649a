"""Inputs that a person would choose, of those with which a model runs: kinds, ranks and sizes that code means."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from modeldiagrams.target.inference.defects import oddness
from target.found_inputs import found


class Routed(nn.Module):
    """Attention with its batch second, which no name tells."""

    def __init__(self):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(32), nn.MultiheadAttention(32, 4)

    def forward(self, x):
        z = self.norm(x)
        return x + self.attention(z, z, z)[0]


class Transposed(nn.Module):
    """Ids whose batch is second, as names of sizes tell."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(50, 8), nn.Linear(8, 2)

    def forward(self, source):
        batch_size = source.shape[1]
        h = source.new_zeros(batch_size, 8).float()
        for row in source:
            h = torch.tanh(h + self.table(row))
        return self.out(h)


class Watching(nn.Module):
    """Pictures of a few cameras."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, 2)

    def forward(self, x):
        b, cameras, c, h, w = x.shape
        return self.conv(x.view(b * cameras, c, h, w)).mean((2, 3)).view(b, cameras, -1).amax(1)


class Beats(nn.Module):
    """Waves, of any length from one kernel on."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 7)

    def forward(self, wav):
        return self.conv(wav).amax(-1)


class Moving(nn.Module):
    """A graph whose nodes are somewhere: of that only distances count."""

    def __init__(self):
        super().__init__()
        self.edge, self.node = nn.Linear(2 * 6 + 1, 6), nn.Linear(6, 6)

    def forward(self, h, x, edge_index):
        row, col = edge_index
        far = ((x[row] - x[col]) ** 2).sum(1, keepdim=True)
        m = self.edge(torch.cat([h[row], h[col], far], 1))
        return self.node(torch.zeros_like(h).index_add_(0, row, m))


class Spanned(nn.Module):
    """Spans and their mask, which suits a single one, too."""

    def __init__(self):
        super().__init__()
        self.start, self.end = nn.Embedding(20, 4), nn.Embedding(20, 4)

    def forward(self, spans, span_mask):
        h = torch.cat([self.start(spans[..., 0]), self.end(spans[..., 1])], -1)
        return h * span_mask.unsqueeze(-1)


class Scored(nn.Module):
    """Two sums of features, which are as many whatever comes before them."""

    def __init__(self):
        super().__init__()
        self.few, self.many = nn.Linear(5, 1), nn.Linear(9, 1)

    def forward(self, x_few, x_many):
        return torch.sigmoid(self.few(x_few) + self.many(x_many)).squeeze(1)


class Plates(nn.Module):
    """Reads plates that are wider than high."""

    def __init__(self, input_shape=(3, 32, 96)):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, 2, 1)
        self.out = nn.Linear(8 * input_shape[1] // 2, 30)

    def forward(self, x):
        x = self.conv(x)
        return self.out(x.reshape(x.shape[0], -1, x.shape[-1]).permute(2, 0, 1))


class Padded(nn.Module):
    """Ids, and as a number how many there are at most."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 8)

    def forward(self, ids, max_len):
        x = self.table(ids)
        return x * (torch.arange(max_len)[None] < 4).unsqueeze(-1)


class Voices(nn.Module):
    """A speaker whom this model has no use for."""

    def __init__(self, use_speakers=False):
        super().__init__()
        self.table, self.speakers = nn.Embedding(30, 8), nn.Embedding(4, 8) if use_speakers else None

    def forward(self, phonemes_ids, speaker_ids):
        x = self.table(phonemes_ids)
        return x if self.speakers is None else x + self.speakers(speaker_ids)[:, None]


class Tagged(nn.Module):
    """Words of one sentence, without a batch."""

    def __init__(self):
        super().__init__()
        self.table, self.lstm = nn.Embedding(30, 8), nn.LSTM(8, 8)

    def forward(self, sentence):
        return self.lstm(self.table(sentence).view(len(sentence), 1, -1))[0]


class Blended(nn.Module):
    """Networks for pictures, as libraries make them."""

    def __init__(self, models):
        super().__init__()
        self.models = nn.ModuleList(models)
        for model in self.models:
            model.reset_classifier(0)
        self.out = nn.Linear(sum(model.num_features for model in models), 2)

    def forward(self, x):
        return self.out(torch.cat([model(x) for model in self.models], 1))


class Normalized(nn.Module):
    """Colours that are moved before a network gets them."""

    def __init__(self, model, mean):
        super().__init__()
        self.model = model
        self.register_buffer("mean", torch.as_tensor(mean).view(1, -1, 1, 1))

    def forward(self, x):
        return self.model(x - self.mean)


class Contexts(nn.Module):
    """Values beside places, as wide as arguments of the constructor say."""

    def __init__(self, x_dim=6, y_dim=2):
        super().__init__()
        self.inner = nn.Linear(x_dim + y_dim, 16)

    def forward(self, x_context, y_context):
        return self.inner(torch.cat([x_context, y_context], -1))


@pytest.mark.parametrize(
    ("model", "name", "expected"),
    [
        (Routed, "x", [16, 1, 32]),
        (Watching, "x", [1, 2, 3, 32, 32]),
        (Beats, "wav", [1, 1, 4000]),
        (Moving, "x", [8, 3]),
        (Scored, "x_few", [1, 5]),
        (Scored, "x_many", [1, 9]),
        (Plates, "x", [1, 3, 32, 96]),
        (Padded, "max_len", {"value": 16}),
        (Blended, "x", [1, 3, 32, 32]),
        (Normalized, "x", [1, 3, 32, 32]),
        (Contexts, "x_context", [1, 6]),
    ],
)
def test_floats_are_those_that_a_person_would_choose(model, name, expected):
    assert found(model)[name] == expected


@pytest.mark.parametrize(
    ("model", "name", "shape"),
    [
        (Transposed, "source", [16, 1]),
        (Spanned, "spans", [1, 16, 2]),
        (Voices, "speaker_ids", [1]),
        (Padded, "ids", [1, 16]),
        (Tagged, "sentence", [16]),
    ],
)
def test_ids_are_those_that_a_person_would_choose(model, name, shape):
    assert found(model)[name]["shape"] == shape


@pytest.mark.parametrize(
    ("entries", "odd"),
    [
        ({"x": [1, 8], "y": [1, 3, 32, 32], "image": [1, 1, 28, 28]}, 0),
        ({"x": [16, 1, 8]}, 0),
        ({"x": [1, 1, 8]}, 1),
        ({"x": [7, 16, 8]}, 1),
        ({"x": [1, 16, 8], "mask": {"shape": [1], "dtype": "bool"}}, 1),
        ({"x": [1, 16, 8], "lengths": {"shape": [24], "dtype": "int64"}}, 1),
    ],
)
def test_what_fits_only_by_broadcasting_is_odder(entries, odd):
    assert oddness(entries, lambda size: size == 7) == odd
