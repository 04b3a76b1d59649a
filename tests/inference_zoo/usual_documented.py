"""Usual: models whose docstrings and comments say what goes in, in the styles of courses, papers and companies.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "AnomalyAutoencoder",
    "BeatTracker",
    "CoordConvRegressor",
    "DepthCompletion",
    "KeywordSpotter",
    "PoseRefiner",
    "ReviewScorer",
    "SignClassifier",
    "SleepStager",
    "SpectrogramDenoiser",
    "TurbineForecaster",
]


class KeywordSpotter(nn.Module):
    """Small-footprint keyword spotting.

    Args:
        n_mels (int): number of mel bins.
        n_keywords (int): number of keywords, including "unknown" and "silence".
    """

    def __init__(self, n_mels=40, n_keywords=12, width=32):
        super().__init__()
        self.stem = nn.Conv2d(1, width, (3, 3), stride=(2, 1), padding=1)
        self.blocks = nn.ModuleList([nn.Conv2d(width, width, 3, padding=2**i, dilation=2**i) for i in range(3)])
        self.norm = nn.BatchNorm2d(width)
        self.freq_pool = nn.Linear(n_mels, 1)
        self.out = nn.Linear(width, n_keywords)

    def forward(self, feats):
        """Compute keyword logits.

        Args:
            feats (torch.Tensor): log-mel features of shape ``(batch, frames, n_mels)``.

        Returns:
            torch.Tensor: logits, ``(batch, n_keywords)``.
        """
        x = self.stem(feats[:, None])
        for block in self.blocks:
            x = x + F.relu(self.norm(block(x)))
        x = self.freq_pool(x).squeeze(-1)
        return self.out(x.mean(dim=-1))


class SleepStager(nn.Module):
    def __init__(self, n_channels=2, n_samples=3000, n_classes=5, hidden_size=64):
        super().__init__()
        self.n_samples = n_samples
        self.encoder = nn.Sequential(
            nn.Conv1d(n_channels, 32, kernel_size=50, stride=6),
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.MaxPool1d(8),
            nn.Conv1d(32, hidden_size, kernel_size=8),
            nn.BatchNorm1d(hidden_size),
            nn.ReLU(),
        )
        n_out = self._n_out(n_channels)
        self.reduce = nn.Linear(hidden_size * n_out, hidden_size)
        self.rnn = nn.GRU(hidden_size, hidden_size, batch_first=True, bidirectional=True)
        self.classifier = nn.Linear(2 * hidden_size, n_classes)

    def _n_out(self, n_channels):
        with torch.no_grad():
            return self.encoder(torch.zeros(1, n_channels, self.n_samples)).shape[-1]

    def forward(self, x):
        # x: (batch, seq_len, n_channels, n_samples), a sequence of 30 s epochs
        bs, seq_len = x.shape[0], x.shape[1]
        x = x.flatten(0, 1)
        x = self.encoder(x).flatten(1)  # (bs * seq_len, hidden * n_out)
        x = F.relu(self.reduce(x))
        x = x.view(bs, seq_len, -1)  # (bs, seq_len, hidden)
        x, _ = self.rnn(x)
        return self.classifier(x)  # (bs, seq_len, n_classes)


class PoseRefiner(nn.Module):
    """Refines 2D detections with a temporal window, as in video pose pipelines."""

    def __init__(self, num_joints=17, in_features=3, window=27, channels=128):
        super().__init__()
        self.expand = nn.Conv1d(num_joints * in_features, channels, 3)
        self.layers = nn.ModuleList([nn.Conv1d(channels, channels, 3, dilation=3**i) for i in (1, 2)])
        self.shrink = nn.Conv1d(channels, num_joints * 2, 1)
        self.num_joints = num_joints

    def forward(self, keypoints):
        """
        :param keypoints: detections with confidence, shape [batch, window, num_joints, in_features]
        :type keypoints: torch.FloatTensor
        :return: refined positions of the centre frame, [batch, num_joints, 2]
        """
        b, t = keypoints.shape[:2]
        x = keypoints.reshape(b, t, -1).transpose(1, 2)
        x = F.relu(self.expand(x))
        for layer in self.layers:
            res = x[:, :, layer.dilation[0] : -layer.dilation[0]]
            x = res + F.relu(layer(x))
        x = self.shrink(x).mean(-1)
        return x.view(b, self.num_joints, 2)


class ReviewScorer(nn.Module):
    """Hierarchical attention over sentences of a review."""

    def __init__(self, vocab_size, embed_dim=64, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, embed_dim, padding_idx=0)
        self.word_rnn = nn.GRU(embed_dim, hidden, batch_first=True, bidirectional=True)
        self.word_query = nn.Parameter(torch.randn(2 * hidden))
        self.sent_rnn = nn.GRU(2 * hidden, hidden, batch_first=True, bidirectional=True)
        self.sent_query = nn.Parameter(torch.randn(2 * hidden))
        self.score = nn.Linear(2 * hidden, 1)

    @staticmethod
    def attend(h, query, mask):
        weights = (torch.tanh(h) @ query).masked_fill(~mask, -1e4).softmax(-1)
        return (weights.unsqueeze(-1) * h).sum(1)

    def forward(self, tokens, sent_mask: Optional[torch.Tensor] = None):
        """
        Parameters
        ----------
        tokens : LongTensor of shape (batch_size, num_sents, num_words)
            Word ids, 0 is padding.
        sent_mask : BoolTensor of shape (batch_size, num_sents), optional
            True for real sentences.

        Returns
        -------
        Tensor of shape (batch_size,)
        """
        B, S, W = tokens.size()
        flat = tokens.reshape(B * S, W)
        words, _ = self.word_rnn(self.embed(flat))
        sents = self.attend(words, self.word_query, flat != 0).view(B, S, -1)
        sents, _ = self.sent_rnn(sents)
        if sent_mask is None:
            sent_mask = torch.ones(B, S, dtype=torch.bool, device=tokens.device)
        return self.score(self.attend(sents, self.sent_query, sent_mask)).squeeze(-1)


class BeatTracker(nn.Module):
    """Beat and downbeat activation with a TCN.

    Shape:
        - Input: :math:`(N, 1, T, F)` where ``F`` is ``num_bands``
        - Output: :math:`(N, 2, T)`
    """

    def __init__(self, num_bands: int = 81, num_filters: int = 20, num_layers: int = 4):
        super().__init__()
        self.conv1 = nn.Conv2d(1, num_filters, (3, 3), padding=(1, 0))
        self.conv2 = nn.Conv2d(num_filters, num_filters, (1, 12))
        f = num_bands - 2
        f = f // 3 - 11
        self.conv3 = nn.Conv2d(num_filters, num_filters, (3, f // 3), padding=(1, 0))
        self.tcn = nn.Sequential(
            *[
                nn.Sequential(nn.Conv1d(num_filters, num_filters, 5, padding=2 * 2**i, dilation=2**i), nn.ELU())
                for i in range(num_layers)
            ]
        )
        self.head = nn.Conv1d(num_filters, 2, 1)

    def forward(self, x):
        x = F.elu(F.max_pool2d(self.conv1(x), (1, 3)))
        x = F.elu(F.max_pool2d(self.conv2(x), (1, 3)))
        x = F.elu(self.conv3(x))
        x = x.squeeze(-1)  # N x C x T
        return torch.sigmoid(self.head(self.tcn(x)))


class AnomalyAutoencoder(nn.Module):
    """LSTM autoencoder for multivariate sensor windows."""

    def __init__(self, n_sensors, window_size=64, latent_dim=16):
        super().__init__()
        self.window_size = window_size
        self.encoder = nn.LSTM(n_sensors, latent_dim)
        self.decoder = nn.LSTM(latent_dim, latent_dim)
        self.readout = nn.Linear(latent_dim, n_sensors)
        self.scale = nn.Parameter(torch.ones(n_sensors) / math.sqrt(n_sensors))

    def forward(self, x, return_score=False):
        """x: sensor readings, (window_size, batch, n_sensors)"""
        _, (h, _) = self.encoder(x)  # h: (1, batch, latent_dim)
        z = h.repeat(self.window_size, 1, 1)
        out, _ = self.decoder(z)
        recon = self.readout(out)
        if return_score:
            return ((recon - x) * self.scale).pow(2).mean(dim=(0, 2))
        return recon - x


class DepthCompletion(nn.Module):
    """Sparse-to-dense with guidance from colour.

    Input:
        rgb: 4D tensor of shape (B, 3, H, W) in [0, 1]
        sparse: 4D tensor of shape (B, 1, H, W); metres, 0 where there is no return of the lidar
    """

    def __init__(self, base=16):
        super().__init__()
        self.rgb_stem = nn.Conv2d(3, base, 3, padding=1)
        self.depth_stem = nn.Conv2d(1, base, 3, padding=1)
        self.down = nn.Conv2d(2 * base, 2 * base, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, rgb, sparse):
        valid = (sparse > 0).float()
        x = torch.cat([self.rgb_stem(rgb), self.depth_stem(sparse)], dim=1)
        x = F.relu(self.up(F.relu(self.down(x))))
        return sparse * valid + self.out(x) * (1 - valid)


class TurbineForecaster(nn.Module):
    """Direct multi-horizon forecasts with known covariates."""

    def __init__(self, num_features, num_known=4, horizon=24, hidden=32):
        super().__init__()
        self.horizon = horizon
        self.encoder = nn.GRU(num_features, hidden, batch_first=True)
        self.decoder = nn.GRU(num_known, hidden, batch_first=True)
        self.turbine = nn.Embedding(134, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, past, known, turbine_id):
        # past:       [batch, lookback, num_features]
        # known:      [batch, horizon, num_known]     calendar and weather forecast
        # turbine_id: [batch]                         which turbine, 0..133
        _, h = self.encoder(past)
        h = h + self.turbine(turbine_id).unsqueeze(0)
        y, _ = self.decoder(known, h)
        return self.out(y).squeeze(-1)


class SpectrogramDenoiser(nn.Module):
    def __init__(self, n_fft=512, channels=24):
        super().__init__()
        self.n_bins = n_fft // 2 + 1
        self.enc = nn.Conv1d(self.n_bins, channels, 1)
        self.gru = nn.GRU(channels, channels, batch_first=True, bidirectional=True)
        self.dec = nn.Linear(2 * channels, self.n_bins)

    def forward(self, spec: torch.Tensor) -> torch.Tensor:
        """Estimate a mask.

        Args:
            spec: Magnitude spectrogram with dimensions (batch, n_bins, time).

        Returns:
            Masked spectrogram with the same dimensions.
        """
        mag = torch.log1p(spec)
        h = self.enc(mag).transpose(1, 2)  # -> (batch, time, channels)
        h, _ = self.gru(h)
        mask = torch.sigmoid(self.dec(h)).transpose(1, 2)
        return mask * spec


class SignClassifier(nn.Module):
    """Isolated signs from landmarks."""

    def __init__(self, num_signs=250, max_len=32, num_landmarks=54, dim=96):
        super().__init__()
        self.pos = nn.Parameter(torch.zeros(max_len, dim))
        self.conv = nn.Conv2d(3, 16, (1, 5), padding=(0, 2))
        self.proj = nn.Linear(16 * num_landmarks, dim)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, 4, 192, batch_first=True), 1)
        self.head = nn.Linear(dim, num_signs)

    def forward(self, x, valid=None):
        """
        x: landmarks, (N, max_len, num_landmarks, 3)
        valid: (N, max_len) bool, optional
        """
        n, t, v, c = x.shape
        x = torch.nan_to_num(x - x.mean(dim=(1, 2), keepdim=True))
        x = self.conv(x.permute(0, 3, 1, 2))  # (N, 16, T, V)
        x = x.permute(0, 2, 1, 3).reshape(n, t, -1)
        x = self.proj(x) + self.pos
        x = self.blocks(x, src_key_padding_mask=None if valid is None else ~valid)
        return self.head(x.mean(1))


class CoordConvRegressor(nn.Module):
    """Keypoints from a heatmap head, with soft-argmax.

    Input: torch.FloatTensor (N x 3 x 256 x 192)
    Output: torch.FloatTensor (N x num_keypoints x 2)
    """

    def __init__(self, num_keypoints=17, width=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(5, width, 7, 4, 3),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, num_keypoints, 3, padding=1),
        )

    def forward(self, images):
        n, _, h, w = images.shape
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        coords = torch.stack([xs, ys]).to(images).expand(n, -1, -1, -1)
        heat = self.body(torch.cat([images, coords], 1))
        prob = heat.flatten(2).softmax(-1).view_as(heat)
        x = (prob.sum(2) * torch.linspace(-1, 1, heat.shape[-1])).sum(-1)
        y = (prob.sum(3) * torch.linspace(-1, 1, heat.shape[-2])).sum(-1)
        return torch.stack([x, y], dim=-1)
