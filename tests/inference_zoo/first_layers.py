"""Found by the first layer: what its weights take."""

import torch
from torch import nn
from torch.nn import functional as F


class LeNet(nn.Module):
    """Only 32 × 32 fits its first Linear."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


class TinyViT(nn.Module):
    """Positions are learned: one size only."""

    def __init__(self, image_size=64, patch_size=16, dim=32):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, patch_size, patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.positions = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, 4, 64, batch_first=True), 2)
        self.head = nn.Linear(dim, 10)

    def forward(self, pixel_values):
        x = self.patches(pixel_values).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1) + self.positions
        return self.head(self.encoder(x)[:, 0])


class Film(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(3, 8, 3, padding=1)
        self.pool = nn.AdaptiveAvgPool3d(1)

    def forward(self, video):
        return self.pool(self.conv(video)).flatten(1)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.LazyLinear(8))

    def forward(self, x1, x2):
        return F.pairwise_distance(self.embed(x1), self.embed(x2))


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(7, 16, num_layers=2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class TimeFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(5, 9)

    def forward(self, sequence):
        steps, batch, _ = sequence.shape
        return self.rnn(sequence, torch.zeros(1, batch, 9))[0].reshape(steps * batch, 9)


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 8, 1)
        self.layers = nn.ModuleList(nn.Conv1d(8, 8, 2, dilation=2**i) for i in range(4))

    def forward(self, waveform):
        x = self.first(waveform)
        for layer in self.layers:
            x = x[..., layer.dilation[0] :] + layer(x).tanh()
        return x


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class BareWeights(nn.Module):
    """Parameters, no layers."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(9, 4)), nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return x @ self.weight + self.bias


class Generator(nn.Module):
    """Noise has a width and height of one."""

    def __init__(self, nz=20):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, 16, 4), nn.BatchNorm2d(16), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh()
        )

    def forward(self, z):
        assert z.shape[2:] == (1, 1), "noise is a point"
        return self.main(z)
