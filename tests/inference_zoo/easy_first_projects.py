"""Easy: first projects, with every size written out or a default."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "AirQualityLSTM",
    "AlexNetSmall",
    "BidirectionalTagger",
    "DepthwiseNet",
    "GeneratorDC",
    "HousePrices",
    "Word2Vec",
    "ZooAutoencoder1d",
]


class AlexNetSmall(nn.Module):
    def __init__(self, num_classes=100):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 24, 11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
            nn.Conv2d(24, 48, 5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
        )
        self.classifier = nn.Sequential(nn.Dropout(), nn.Linear(48 * 13 * 13, 128), nn.Linear(128, num_classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class HousePrices(nn.Module):
    def __init__(self, n_features=79):
        super().__init__()
        self.bn = nn.BatchNorm1d(n_features)
        self.fc1 = nn.Linear(n_features, 64)
        self.fc2 = nn.Linear(64, 1)

    def forward(self, features):
        return self.fc2(F.relu(self.fc1(self.bn(features)))).squeeze(-1)


class AirQualityLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden_size, self.num_layers = 50, 2
        self.lstm = nn.LSTM(8, self.hidden_size, self.num_layers, batch_first=True)
        self.fc = nn.Linear(self.hidden_size, 1)

    def forward(self, x):
        h0 = torch.zeros(self.num_layers, x.size(0), self.hidden_size).to(x.device)
        c0 = torch.zeros(self.num_layers, x.size(0), self.hidden_size).to(x.device)
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1, :])


class GeneratorDC(nn.Module):
    def __init__(self, latent_dim=100, img_size=32, channels=1):
        super().__init__()
        self.init_size = img_size // 4
        self.l1 = nn.Sequential(nn.Linear(latent_dim, 128 * self.init_size**2))
        self.conv_blocks = nn.Sequential(
            nn.BatchNorm2d(128),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(128, 64, 3, padding=1),
            nn.Upsample(scale_factor=2),
        )
        self.out = nn.Conv2d(64, channels, 3, padding=1)

    def forward(self, z):
        out = self.l1(z)
        out = out.view(out.shape[0], 128, self.init_size, self.init_size)
        return torch.tanh(self.out(self.conv_blocks(out)))


class Word2Vec(nn.Module):
    def __init__(self, vocab_size=500, embedding_dim=10, context_size=2):
        super().__init__()
        self.embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.linear1 = nn.Linear(context_size * embedding_dim, 128)
        self.linear2 = nn.Linear(128, vocab_size)

    def forward(self, inputs):
        embeds = self.embeddings(inputs).view((1, -1))
        return F.log_softmax(self.linear2(F.relu(self.linear1(embeds))), dim=1)


class BidirectionalTagger(nn.Module):
    def __init__(self, vocab=1000, tags=9):
        super().__init__()
        self.emb = nn.Embedding(vocab, 50, padding_idx=0)
        self.lstm = nn.LSTM(50, 32, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(64, tags)

    def forward(self, input_ids, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.emb(input_ids), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        out, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.fc(out)


class DepthwiseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.depth = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.point = nn.Conv2d(16, 32, 1)
        self.head = nn.Linear(32 * 7 * 7, 5)

    def forward(self, image):
        x = F.adaptive_avg_pool2d(F.relu6(self.point(self.depth(self.stem(image)))), 7)
        return self.head(x.flatten(1))


class ZooAutoencoder1d(nn.Module):
    """Of heartbeats: 140 samples each."""

    def __init__(self, seq_len=140, n_features=1, embedding_dim=16):
        super().__init__()
        self.seq_len, self.n_features = seq_len, n_features
        self.rnn = nn.LSTM(n_features, embedding_dim, batch_first=True)
        self.back = nn.LSTM(embedding_dim, embedding_dim, batch_first=True)
        self.out = nn.Linear(embedding_dim, n_features)

    def forward(self, x):
        x = x.reshape((1, self.seq_len, self.n_features))
        _, (hidden, _) = self.rnn(x)
        x = hidden.reshape(1, 1, -1).repeat(1, self.seq_len, 1)
        return self.out(self.back(x)[0]).reshape(self.seq_len, self.n_features)
