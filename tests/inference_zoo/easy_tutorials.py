"""Easy: no constructor arguments, or only defaults; one or two plain inputs."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["DQN", "VAE", "LeNet", "Net", "SiameseNet", "SimpleGRU", "TextCNN", "TinyTransformer"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(28 * 28, 512), nn.Linear(512, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x.view(-1, 28 * 28))))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.f1, self.f2 = nn.Linear(256, 120), nn.Linear(120, 10)

    def forward(self, img):
        x = F.max_pool2d(F.relu(self.c1(img)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.f2(F.relu(self.f1(x.view(x.size(0), -1))))


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mu, self.logvar = nn.Linear(784, 400), nn.Linear(400, 20), nn.Linear(400, 20)
        self.dec, self.out = nn.Linear(20, 400), nn.Linear(400, 784)

    def forward(self, x):
        h = F.relu(self.enc(x.view(-1, 784)))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.out(F.relu(self.dec(z)))), mu, logvar


class DQN(nn.Module):
    def __init__(self, n_observations=4, n_actions=2):
        super().__init__()
        self.layer1, self.layer2 = nn.Linear(n_observations, 128), nn.Linear(128, n_actions)

    def forward(self, x):
        return self.layer2(F.relu(self.layer1(x)))


class TextCNN(nn.Module):
    def __init__(self, vocab=5000, dim=100, classes=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList(nn.Conv2d(1, 100, (k, dim)) for k in (3, 4, 5))
        self.fc = nn.Linear(300, classes)

    def forward(self, text):
        x = self.embed(text).unsqueeze(1)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]
        return self.fc(torch.cat([F.max_pool1d(y, y.size(2)).squeeze(2) for y in x], 1))


class SiameseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(1, 8, 7), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.fc = nn.Linear(128, 1)

    def forward(self, image1, image2):
        return torch.sigmoid(self.fc((self.cnn(image1) - self.cnn(image2)).abs()))


class SimpleGRU(nn.Module):
    def __init__(self, features=7, hidden=32):
        super().__init__()
        self.gru, self.fc = nn.GRU(features, hidden, batch_first=True), nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.gru(x)
        return self.fc(out[:, -1])


class TinyTransformer(nn.Module):
    def __init__(self, vocab_size=1000, d_model=64):
        super().__init__()
        self.src, self.tgt = nn.Embedding(vocab_size, d_model), nn.Embedding(vocab_size, d_model)
        self.transformer = nn.Transformer(d_model, 4, 1, 1, 128, batch_first=True)
        self.out = nn.Linear(d_model, vocab_size)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        return self.out(self.transformer(self.src(src), self.tgt(tgt), tgt_mask=mask))
