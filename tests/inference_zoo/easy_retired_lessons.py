"""Easy, once aside: what courses and official tutorials let beginners type."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["CIFARNet", "DigitAutoencoder", "FashionClassifier", "IrisNet", "LeNet5", "NameClassifier"]


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


class FashionClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.linear_relu_stack = nn.Sequential(
            nn.Linear(28 * 28, 512),
            nn.ReLU(),
            nn.Linear(512, 512),
            nn.ReLU(),
            nn.Linear(512, 10),
        )

    def forward(self, x):
        x = self.flatten(x)
        return self.linear_relu_stack(x)


class CIFARNet(nn.Module):
    """Three blocks, then a classifier; for pictures of 32 x 32."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(64, 128, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(0.25), nn.Linear(128 * 4 * 4, 256), nn.ReLU(), nn.Linear(256, num_classes)
        )

    def forward(self, x):
        x = self.features(x)
        x = x.view(x.size(0), -1)
        return self.classifier(x)


class IrisNet(nn.Module):
    def __init__(self, input_size=4, hidden_size=16, num_classes=3):
        super().__init__()
        self.l1 = nn.Linear(input_size, hidden_size)
        self.l2 = nn.Linear(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, num_classes)

    def forward(self, features):
        h = torch.relu(self.l1(features))
        h = torch.relu(self.l2(h))
        return torch.log_softmax(self.out(h), dim=1)


class DigitAutoencoder(nn.Module):
    def __init__(self, encoding_dim=32):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, encoding_dim))
        self.decoder = nn.Sequential(nn.Linear(encoding_dim, 128), nn.ReLU(), nn.Linear(128, 784), nn.Sigmoid())

    def forward(self, images):
        images = images.reshape(-1, 784)
        code = self.encoder(images)
        return self.decoder(code)


class NameClassifier(nn.Module):
    """Which language is a surname from? One letter after another, as one-hot vectors."""

    def __init__(self, n_letters=57, n_hidden=128, n_categories=18):
        super().__init__()
        self.rnn = nn.RNN(n_letters, n_hidden)
        self.h2o = nn.Linear(n_hidden, n_categories)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, line_tensor):
        _, hidden = self.rnn(line_tensor)
        return self.softmax(self.h2o(hidden[0]))
