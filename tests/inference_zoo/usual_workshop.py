"""Usual: depths with a remainder, shapes of pictures, long windows, fields with offsets, one-hot sessions."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["ClickModel", "NextItemRNN", "PreActNet", "PromoterNet", "StyleCritic"]


class PreActUnit(nn.Module):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(inplanes)
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.match = nn.Conv2d(inplanes, planes, 1, stride, bias=False) if stride != 1 or inplanes != planes else None

    def forward(self, x):
        out = self.conv1(F.relu(self.bn1(x)))
        out = self.conv2(F.relu(self.bn2(out)))
        return out + (x if self.match is None else self.match(x))


class PreActNet(nn.Module):
    """Residual network for small pictures; its depth is 6n + 2."""

    def __init__(self, depth, num_classes):
        super().__init__()
        if (depth - 2) % 6 != 0:
            raise ValueError("depth should be 6n + 2")
        n = (depth - 2) // 6
        self.stem = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        planes, layers = 16, []
        for width, stride in ((16, 1), (32, 2), (64, 2)):
            for i in range(n):
                layers.append(PreActUnit(planes, width, stride if i == 0 else 1))
                planes = width
        self.layers = nn.Sequential(*layers)
        self.bn = nn.BatchNorm2d(64)
        self.fc = nn.Linear(64, num_classes)

    def forward(self, x):
        x = F.relu(self.bn(self.layers(self.stem(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class StyleCritic(nn.Module):
    """Real or not, patch by patch."""

    def __init__(self, img_shape, num_filters):
        super().__init__()
        in_channels = img_shape[0]
        layers = [nn.Conv2d(in_channels, num_filters, 4, 2, 1), nn.LeakyReLU(0.2)]
        for _ in range(2):
            layers += [
                nn.Conv2d(num_filters, num_filters * 2, 4, 2, 1),
                nn.InstanceNorm2d(num_filters * 2),
                nn.LeakyReLU(0.2),
            ]
            num_filters *= 2
        self.model = nn.Sequential(*layers, nn.Conv2d(num_filters, 1, 3, padding=1))

    def forward(self, img):
        return self.model(img)


class PromoterNet(nn.Module):
    """Which tracks are active at a piece of a genome?"""

    def __init__(self, seq_len, n_tracks):
        super().__init__()
        self.conv1 = nn.Conv1d(4, 64, 15)
        self.conv2 = nn.Conv1d(64, 96, 9)
        self.pool = nn.MaxPool1d(5, 5)
        length = int(np.floor((seq_len - 14) / 5))
        length = int(np.floor((length - 8) / 5))
        self.fc1 = nn.Linear(96 * length, 128)
        self.fc2 = nn.Linear(128, n_tracks)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        return self.fc2(F.relu(self.fc1(x.view(x.size(0), -1))))


class ClickModel(nn.Module):
    """A factorization machine over fields that share one table."""

    def __init__(self, field_dims, embed_dim):
        super().__init__()
        self.offsets = np.array((0, *np.cumsum(field_dims)[:-1]), dtype=np.int64)
        self.weights = nn.Embedding(sum(field_dims), 1)
        self.factors = nn.Embedding(sum(field_dims), embed_dim)
        self.deep = nn.Linear(len(field_dims) * embed_dim, 1)

    def forward(self, x):
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        v = self.factors(x)
        pairs = 0.5 * (v.sum(dim=1) ** 2 - (v**2).sum(dim=1)).sum(dim=1, keepdim=True)
        score = self.weights(x).sum(dim=1) + pairs + self.deep(v.flatten(1))
        return torch.sigmoid(score.squeeze(1))


class NextItemRNN(nn.Module):
    """The next item of each session, from its last one and what is remembered."""

    def __init__(self, input_size, hidden_size, output_size, batch_size=20):
        super().__init__()
        self.hidden_size, self.batch_size = hidden_size, batch_size
        self.onehot = torch.zeros(batch_size, output_size)
        self.rnn = nn.LSTM(input_size, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)

    def init_hidden(self):
        shape = (1, self.batch_size, self.hidden_size)
        return torch.zeros(*shape), torch.zeros(*shape)

    def forward(self, item, hidden):
        self.onehot.zero_()
        rows = self.onehot.scatter_(1, item.view(-1, 1), 1).unsqueeze(0)
        output, hidden = self.rnn(rows, hidden)
        return torch.tanh(self.out(output.squeeze(0))), hidden
