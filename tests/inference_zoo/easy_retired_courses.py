"""Easy, once aside: models of courses and first projects, whose sizes are written out."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["AtariQNetwork", "DigitAutoencoder", "ImageClassifier", "KeywordSpotter", "TextClassificationModel"]


def conv_bn(c_in, c_out, pool=False):
    layers = [nn.Conv2d(c_in, c_out, 3, padding=1, bias=False), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True)]
    if pool:
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers)


class ImageClassifier(nn.Module):
    """The ResNet-9 of many courses."""

    def __init__(self, in_channels=3, num_classes=10):
        super().__init__()
        self.prep = nn.Sequential(conv_bn(in_channels, 32), conv_bn(32, 64, pool=True))
        self.res = nn.Sequential(conv_bn(64, 64), conv_bn(64, 64))
        self.down = nn.Sequential(conv_bn(64, 128, pool=True), conv_bn(128, 256, pool=True))
        self.classifier = nn.Sequential(nn.MaxPool2d(4), nn.Flatten(), nn.Dropout(0.2), nn.Linear(256, num_classes))

    def forward(self, xb):
        out = self.prep(xb)
        out = self.res(out) + out
        return self.classifier(self.down(out))


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size=20_000, embed_dim=64, num_class=4):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim)
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        self.embedding.weight.data.uniform_(-0.5, 0.5)
        self.fc.weight.data.uniform_(-0.5, 0.5)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


class AtariQNetwork(nn.Module):
    def __init__(self, n_actions=6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(4, 32, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3),
            nn.ReLU(),
        )
        self.value = nn.Sequential(nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 1))
        self.advantage = nn.Sequential(nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, n_actions))

    def forward(self, x):
        x = self.features(x / 255.0).view(x.size(0), -1)
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(dim=1, keepdim=True)


class KeywordSpotter(nn.Module):
    def __init__(self, n_mfcc=40, n_keywords=12):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, (20, 8))
        self.pool = nn.MaxPool2d(3)
        self.fc = nn.Linear(16 * 7 * 31, n_keywords)
        self.n_mfcc = n_mfcc

    def forward(self, mfcc):
        x = mfcc.unsqueeze(1)
        x = self.pool(torch.relu(self.conv(x)))
        return self.fc(x.reshape(x.shape[0], -1))


class DigitAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(28 * 28, 128), nn.ReLU(True), nn.Linear(128, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 128), nn.ReLU(True), nn.Linear(128, 28 * 28), nn.Tanh())

    def forward(self, img):
        code = self.encoder(img.view(img.size(0), -1))
        decoded = self.decoder(F.normalize(code, dim=1))
        return decoded.view(img.size()), code
