from __future__ import annotations

import torch
from torch import nn

from inference_zoo.projects.hard_captions.settings import CaptionerSettings, EncoderSettings


def build_encoder(settings: EncoderSettings):
    if settings.name == "conv":
        return nn.Sequential(nn.Conv2d(3, settings.out_dim, 7, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    if settings.name == "patch":
        return nn.Sequential(nn.Conv2d(3, settings.out_dim, 16, 16), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    raise ValueError(f"no encoder is called {settings.name}")


class Captioner(nn.Module):
    def __init__(self, settings: CaptionerSettings, vocab):
        super().__init__()
        enc, dec = settings.encoder, settings.decoder
        self.encoder = build_encoder(enc)
        if not enc.pretrained:
            for p in self.encoder.parameters():
                nn.init.normal_(p, std=0.02)
        self.start, self.pad = vocab("<start>"), vocab("<pad>")
        self.embed = nn.Embedding(len(vocab), dec.hidden, padding_idx=self.pad)
        cell = {"lstm": nn.LSTM, "gru": nn.GRU}[dec.kind]
        self.rnn = cell(
            dec.hidden, dec.hidden, dec.layers, batch_first=True, dropout=dec.dropout if dec.layers > 1 else 0.0
        )
        self.project = nn.Linear(enc.out_dim, dec.hidden)
        self.out = nn.Linear(dec.hidden, len(vocab))

    def forward(self, images, captions, lengths):
        features = self.project(self.encoder(images)).unsqueeze(1)
        inputs = torch.cat([features, self.embed(captions)], dim=1)
        packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        hidden, _ = self.rnn(packed)
        return self.out(hidden.data)


class PrefixMapper(nn.Module):
    """Features of an image → a prefix of a language model."""

    def __init__(self, prefix_size: int, lm, prefix_length: int, clip_length: int, num_layers: int):
        super().__init__()
        width = lm.transformer.wte.weight.shape[1]
        self.clip_length = clip_length
        self.linear = nn.Linear(prefix_size, clip_length * width)
        self.prefix_const = nn.Parameter(torch.randn(prefix_length, width))
        layer = nn.TransformerEncoderLayer(width, 8, 2 * width, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)

    def forward(self, prefix):
        x = self.linear(prefix).view(prefix.shape[0], self.clip_length, -1)
        const = self.prefix_const.unsqueeze(0).expand(prefix.shape[0], *self.prefix_const.shape)
        return self.transformer(torch.cat((x, const), dim=1))[:, self.clip_length :]
