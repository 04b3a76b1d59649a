"""Usual: what is common: classifiers, autoencoders and networks for rows, texts and pictures."""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "CellUNet",
    "ConvVAE",
    "DocumentClassifier",
    "FraudScorer",
    "MoleculeMLP",
    "PetClassifier",
    "ReviewSentiment",
    "SensorAutoencoder",
    "ShapeSDF",
    "ToxicTextCNN",
    "XrayGemNet",
]


class PetClassifier(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(32 * 16 * 16, 128)
        self.fc2 = nn.Linear(128, num_classes)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = x.view(-1, 32 * 16 * 16)
        return self.fc2(F.relu(self.fc1(x)))


class ReviewSentiment(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, num_layers=2, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(hidden_dim * 2, output_dim)

    def forward(self, text):
        _, (hidden, _) = self.lstm(self.embedding(text))
        return self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1))


class ConvVAE(nn.Module):
    def __init__(self, in_channels, latent_dim):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(in_channels, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1), nn.ReLU(), nn.Flatten()
        )
        self.mu = nn.Linear(32 * 8 * 8, latent_dim)
        self.logvar = nn.Linear(32 * 8 * 8, latent_dim)
        self.fc = nn.Linear(latent_dim, 32 * 8 * 8)
        self.dec = nn.Sequential(
            nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, in_channels, 4, 2, 1)
        )

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return torch.sigmoid(self.dec(self.fc(z).view(-1, 32, 8, 8))), mu, logvar


class ShapeSDF(nn.Module):
    def __init__(self, latent_dim, hidden_dim, num_layers=4):
        super().__init__()
        self.inp = nn.Linear(latent_dim + 3, hidden_dim)
        self.mid = nn.ModuleList(nn.Linear(hidden_dim, hidden_dim) for _ in range(num_layers - 2))
        self.out = nn.Linear(hidden_dim, 1)

    def forward(self, latent, xyz):
        z = latent.unsqueeze(1).expand(-1, xyz.size(1), -1)
        h = F.softplus(self.inp(torch.cat([z, xyz], dim=-1)), beta=100)
        for layer in self.mid:
            h = h + F.softplus(layer(h), beta=100)
        return torch.tanh(self.out(h))


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1),
        nn.BatchNorm2d(cout),
        nn.ReLU(),
        nn.Conv2d(cout, cout, 3, padding=1),
        nn.BatchNorm2d(cout),
        nn.ReLU(),
    )


class CellUNet(nn.Module):
    def __init__(self, in_channels, out_channels, base_channels=16):
        super().__init__()
        c = base_channels
        self.d1, self.d2, self.mid = double_conv(in_channels, c), double_conv(c, 2 * c), double_conv(2 * c, 4 * c)
        self.up2, self.up1 = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2), nn.ConvTranspose2d(2 * c, c, 2, 2)
        self.u2, self.u1 = double_conv(4 * c, 2 * c), double_conv(2 * c, c)
        self.last = nn.Conv2d(c, out_channels, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([self.up2(m), b], 1))
        a = self.u1(torch.cat([self.up1(b), a], 1))
        return self.last(a)


class MoleculeMLP(nn.Module):
    def __init__(self, num_features, num_targets, hidden_size):
        super().__init__()
        self.batch_norm1 = nn.BatchNorm1d(num_features)
        self.dense1 = nn.utils.parametrizations.weight_norm(nn.Linear(num_features, hidden_size))
        self.batch_norm2 = nn.BatchNorm1d(hidden_size)
        self.dropout2 = nn.Dropout(0.3)
        self.dense2 = nn.utils.parametrizations.weight_norm(nn.Linear(hidden_size, num_targets))

    def forward(self, x):
        x = F.leaky_relu(self.dense1(self.batch_norm1(x)))
        return self.dense2(self.dropout2(self.batch_norm2(x)))


class GeM(nn.Module):
    def __init__(self, p=3.0, eps=1e-6):
        super().__init__()
        self.p = nn.Parameter(torch.ones(1) * p)
        self.eps = eps

    def forward(self, x):
        return F.adaptive_avg_pool2d(x.clamp(min=self.eps).pow(self.p), 1).pow(1.0 / self.p)


class XrayGemNet(nn.Module):
    def __init__(self, in_channels, num_classes, dropout=0.5):
        super().__init__()
        layers, width = [], in_channels
        for w in (16, 32, 64):
            layers += [nn.Conv2d(width, w, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(w), nn.SiLU()]
            width = w
        self.features = nn.Sequential(*layers)
        self.pool = GeM()
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(width, num_classes)

    def forward(self, image):
        return self.head(self.drop(self.pool(self.features(image)).flatten(1)))


class ToxicTextCNN(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_classes, kernel_sizes=(2, 3, 4)):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.spatial = nn.Dropout1d(0.2)
        self.convs = nn.ModuleList([nn.Conv1d(embed_dim, 32, k) for k in kernel_sizes])
        self.linear_out = nn.Linear(32 * len(kernel_sizes), num_classes)

    def forward(self, input_ids):
        x = self.spatial(self.embedding(input_ids).transpose(1, 2))
        x = torch.cat([F.relu(conv(x)).amax(dim=2) for conv in self.convs], dim=1)
        return self.linear_out(x)


class FraudScorer(nn.Module):
    def __init__(self, input_dim: int, hidden_dim: int = 64, dropout: float = 0.1):
        super().__init__()
        self.norm = nn.LayerNorm(input_dim)
        self.wide = nn.Linear(input_dim, 1)
        self.deep = nn.Sequential(
            nn.Linear(input_dim, hidden_dim), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden_dim, 1)
        )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.wide(features) + self.deep(self.norm(features))).squeeze(-1)


class DocumentClassifier(nn.Module):
    def __init__(self, vocab_size, hidden_size, num_heads, num_layers, num_labels):
        super().__init__()
        self.embeddings = nn.Embedding(vocab_size, hidden_size)
        layer = nn.TransformerEncoderLayer(hidden_size, num_heads, 4 * hidden_size, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
        self.classifier = nn.Linear(hidden_size, num_labels)

    def forward(self, input_ids, attention_mask):
        x = self.encoder(self.embeddings(input_ids), src_key_padding_mask=attention_mask == 0)
        m = attention_mask.unsqueeze(-1).float()
        return self.classifier((x * m).sum(1) / m.sum(1).clamp(min=1.0))


@dataclass
class SensorAEOutput:
    reconstruction: torch.Tensor
    score: torch.Tensor


class SensorAutoencoder(nn.Module):
    def __init__(self, num_sensors, hidden_dim, latent_dim):
        super().__init__()
        self.encoder = nn.LSTM(num_sensors, hidden_dim, batch_first=True)
        self.to_latent = nn.Linear(hidden_dim, latent_dim)
        self.decoder = nn.LSTM(latent_dim, hidden_dim, batch_first=True)
        self.to_sensors = nn.Linear(hidden_dim, num_sensors)

    def forward(self, window):
        _, (h, _) = self.encoder(window)
        z = self.to_latent(h[-1]).unsqueeze(1).repeat(1, window.size(1), 1)
        rec = self.to_sensors(self.decoder(z)[0])
        return SensorAEOutput(rec, (rec - window).pow(2).mean(dim=(1, 2)))
