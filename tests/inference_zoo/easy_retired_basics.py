"""Easy, once aside: no constructor arguments, or only defaults."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["AudioNet", "CharRNN", "ConvAutoencoder", "FashionNet", "IrisNet", "UNetSmall", "WideDeep"]


class IrisNet(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, 3))

    def forward(self, x):
        return F.log_softmax(self.net(x), dim=1)


class FashionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(64 * 12 * 12, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(images)))), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


class ConvAutoencoder(nn.Module):
    def __init__(self, latent=64):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Flatten()
        )
        self.to_latent = nn.Linear(32 * 16 * 16, latent)
        self.from_latent = nn.Linear(latent, 32 * 16 * 16)
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Sigmoid()
        )

    def forward(self, x):
        z = self.to_latent(self.encoder(x))
        return self.decoder(self.from_latent(z).view(-1, 32, 16, 16)), z


class CharRNN(nn.Module):
    def __init__(self, vocab=65, hidden=128):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.lstm = nn.LSTM(hidden, hidden, 2, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, x, state=None):
        out, state = self.lstm(self.embed(x), state)
        return self.head(out), state


class AudioNet(nn.Module):
    def __init__(self, n_class=35):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 32, 80, stride=16)
        self.bn1 = nn.BatchNorm1d(32)
        self.conv2 = nn.Conv1d(32, 64, 3)
        self.fc = nn.Linear(64, n_class)

    def forward(self, waveform):
        x = F.max_pool1d(F.relu(self.bn1(self.conv1(waveform))), 4)
        x = F.relu(self.conv2(x))
        return self.fc(F.avg_pool1d(x, x.shape[-1]).permute(0, 2, 1))


class WideDeep(nn.Module):
    def __init__(self, wide=12, deep=8):
        super().__init__()
        self.wide = nn.Linear(wide, 1)
        self.deep = nn.Sequential(nn.Linear(deep, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x_wide, x_deep):
        return torch.sigmoid(self.wide(x_wide) + self.deep(x_deep)).squeeze(1)


class UNetSmall(nn.Module):
    def __init__(self, in_ch=1, out_ch=2):
        super().__init__()
        self.d1 = nn.Conv2d(in_ch, 16, 3, padding=1)
        self.d2 = nn.Conv2d(16, 32, 3, padding=1)
        self.up = nn.ConvTranspose2d(32, 16, 2, 2)
        self.out = nn.Conv2d(32, out_ch, 1)

    def forward(self, x):
        a = F.relu(self.d1(x))
        b = F.relu(self.d2(F.max_pool2d(a, 2)))
        return self.out(torch.cat([a, self.up(b)], dim=1))
