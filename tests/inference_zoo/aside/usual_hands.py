import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "DenoisingAutoencoder",
    "DigitNet",
    "EarthquakeNet",
    "GarmentCNN",
    "KeywordSpotter",
    "PatchMixer",
    "RatingFactors",
    "ReviewLSTM",
    "RoadSegmenter",
    "SentenceEncoder",
    "TrendLinear",
]


# ---- tutorials, courses


class GarmentCNN(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32 * 7 * 7, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(torch.flatten(x, 1))


class ReviewLSTM(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True)
        self.fc = nn.Linear(hidden_dim, output_dim)

    def forward(self, text):
        _, (hidden, _) = self.lstm(self.embedding(text))
        return self.fc(hidden[-1])


class DenoisingAutoencoder(nn.Module):
    def __init__(self, input_dim, hidden_dim, latent_dim):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(input_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, latent_dim))
        self.decoder = nn.Sequential(nn.Linear(latent_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, input_dim))

    def forward(self, x):
        noisy = x + 0.1 * torch.randn_like(x)
        return self.decoder(self.encoder(noisy))


# ---- papers


class MixBlock(nn.Module):
    def __init__(self, num_patches, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.token = nn.Sequential(
            nn.Linear(num_patches, 2 * num_patches), nn.GELU(), nn.Linear(2 * num_patches, num_patches)
        )
        self.channel = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.token(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel(self.norm2(x))


class PatchMixer(nn.Module):
    def __init__(self, image_size, patch_size, dim, depth, num_classes):
        super().__init__()
        assert image_size % patch_size == 0
        self.embed = nn.Conv2d(3, dim, patch_size, stride=patch_size)
        self.blocks = nn.Sequential(*[MixBlock((image_size // patch_size) ** 2, dim) for _ in range(depth)])
        self.head = nn.Linear(dim, num_classes)

    def forward(self, img):
        x = self.embed(img).flatten(2).transpose(1, 2)
        return self.head(self.blocks(x).mean(dim=1))


class TrendLinear(nn.Module):
    def __init__(self, seq_len, pred_len, kernel_size=25):
        super().__init__()
        self.pool = nn.AvgPool1d(kernel_size, stride=1, padding=kernel_size // 2, count_include_pad=False)
        self.trend = nn.Linear(seq_len, pred_len)
        self.season = nn.Linear(seq_len, pred_len)

    def forward(self, x):
        x = x.transpose(1, 2)
        trend = self.pool(x)
        return (self.trend(trend) + self.season(x - trend)).transpose(1, 2)


# ---- competitions


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Dropout(0.4), nn.Linear(64 * 5 * 5, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        x = self.features(x)
        return self.classifier(x.view(x.size(0), -1))


class EarthquakeNet(nn.Module):
    def __init__(self, in_channels, hidden_size, num_layers=2):
        super().__init__()
        self.conv = nn.Conv1d(in_channels, hidden_size, 10, stride=5)
        self.gru = nn.GRU(hidden_size, hidden_size, num_layers, batch_first=True)
        self.out = nn.Linear(hidden_size, 1)

    def forward(self, signal):
        h, _ = self.gru(F.relu(self.conv(signal)).transpose(1, 2))
        return self.out(h[:, -1])


class RatingFactors(nn.Module):
    def __init__(self, num_users, num_items, embedding_dim):
        super().__init__()
        self.user_emb = nn.Embedding(num_users, embedding_dim)
        self.item_emb = nn.Embedding(num_items, embedding_dim)
        self.user_bias = nn.Embedding(num_users, 1)
        self.item_bias = nn.Embedding(num_items, 1)

    def forward(self, user_ids, item_ids):
        dot = (self.user_emb(user_ids) * self.item_emb(item_ids)).sum(-1)
        return dot + self.user_bias(user_ids).squeeze(-1) + self.item_bias(item_ids).squeeze(-1)


# ---- companies, libraries


class SentenceEncoder(nn.Module):
    def __init__(self, vocab_size, hidden_size, num_layers, num_heads, max_length=128):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, hidden_size)
        self.positions = nn.Embedding(max_length, hidden_size)
        layer = nn.TransformerEncoderLayer(hidden_size, num_heads, 4 * hidden_size, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers)

    def forward(self, input_ids, attention_mask):
        x = self.tokens(input_ids) + self.positions(torch.arange(input_ids.size(1), device=input_ids.device))
        x = self.encoder(x, src_key_padding_mask=attention_mask == 0)
        weights = attention_mask.unsqueeze(-1).to(x.dtype)
        return F.normalize((x * weights).sum(1) / weights.sum(1).clamp(min=1), dim=-1)


class RoadSegmenter(nn.Module):
    def __init__(self, in_channels, out_channels, base_channels=16):
        super().__init__()
        c = base_channels
        self.enc1 = nn.Sequential(nn.Conv2d(in_channels, c, 3, padding=1), nn.ReLU())
        self.enc2 = nn.Sequential(nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * c, c, 2, stride=2)
        self.dec = nn.Sequential(nn.Conv2d(2 * c, c, 3, padding=1), nn.ReLU())
        self.head = nn.Conv2d(c, out_channels, 1)

    def forward(self, image):
        e1 = self.enc1(image)
        e2 = self.enc2(F.max_pool2d(e1, 2))
        return self.head(self.dec(torch.cat([e1, self.up(e2)], dim=1)))


class KeywordSpotter(nn.Module):
    def __init__(self, num_classes, n_mfcc=40, channels=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(n_mfcc, channels, 9, padding=4),
            nn.BatchNorm1d(channels),
            nn.ReLU(),
            nn.Conv1d(channels, channels, 9, padding=4, groups=channels),
            nn.Conv1d(channels, channels, 1),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Linear(channels, num_classes),
        )

    def forward(self, mfcc):
        return self.net(mfcc)
