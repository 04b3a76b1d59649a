"""Usual: models of text and series with required arguments and several inputs."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "BiLSTM",
    "CharWordTagger",
    "DecoderRNN",
    "LanguageModel",
    "MLMHead",
    "Matcher",
    "NBeats",
    "PositionalEncoding",
    "PriceForecaster",
    "SentimentClassifier",
    "SkipGram",
    "TransformerClassifier",
]


class LanguageModel(nn.Module):
    def __init__(self, n_token, n_inp, n_hid, n_layers):
        super().__init__()
        self.encoder = nn.Embedding(n_token, n_inp)
        self.rnn = nn.LSTM(n_inp, n_hid, n_layers)
        self.decoder = nn.Linear(n_hid, n_token)

    def forward(self, tokens, hidden):
        out, hidden = self.rnn(self.encoder(tokens), hidden)
        return self.decoder(out), hidden


class BiLSTM(nn.Module):
    def __init__(self, words, tags, emb, hid):
        super().__init__()
        self.e = nn.Embedding(words, emb, padding_idx=0)
        self.r = nn.LSTM(emb, hid // 2, batch_first=True, bidirectional=True)
        self.o = nn.Linear(hid, tags)

    def forward(self, sent, lens):
        x = pack_padded_sequence(self.e(sent), lens, batch_first=True, enforce_sorted=False)
        y, _ = pad_packed_sequence(self.r(x)[0], batch_first=True)
        return self.o(y)


class SentimentClassifier(nn.Module):
    def __init__(self, vocab, pad_idx, emb, out, drop_p):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, padding_idx=pad_idx)
        self.drop = nn.Dropout(drop_p)
        self.fc = nn.Linear(emb, out)

    def forward(self, text):
        e = self.drop(self.embedding(text))
        return self.fc(F.avg_pool2d(e, (e.shape[1], 1)).squeeze(1))


class SkipGram(nn.Module):
    def __init__(self, n_vocab, n_emb):
        super().__init__()
        self.center, self.context = nn.Embedding(n_vocab, n_emb), nn.Embedding(n_vocab, n_emb)

    def forward(self, center, pos, neg):
        v = self.center(center)
        good = (v * self.context(pos)).sum(-1)
        bad = torch.bmm(self.context(neg), v.unsqueeze(2)).squeeze(2)
        return F.logsigmoid(good) + F.logsigmoid(-bad).sum(1)


class CharWordTagger(nn.Module):
    def __init__(self, n_words, n_chars, n_tags, word_emb, char_emb, hidden):
        super().__init__()
        self.words, self.chars = nn.Embedding(n_words, word_emb), nn.Embedding(n_chars, char_emb)
        self.conv = nn.Conv1d(char_emb, char_emb, 3, padding=1)
        self.lstm = nn.LSTM(word_emb + char_emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_tags)

    def forward(self, words, chars, mask):
        b, t, c = chars.shape
        x = self.chars(chars).view(b * t, c, -1).transpose(1, 2)
        x = self.conv(x).max(-1).values.view(b, t, -1)
        h, _ = self.lstm(torch.cat([self.words(words), x], -1))
        return self.out(h) * mask.unsqueeze(-1)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout, max_len):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(position * div), torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return self.dropout(x + self.pe[: x.size(0)])


class TransformerClassifier(nn.Module):
    def __init__(self, ntoken, nclass, ninp, nhead, nlayers, seq_length):
        super().__init__()
        self.embed, self.pos = nn.Embedding(ntoken, ninp), nn.Embedding(seq_length, ninp)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(ninp, nhead, batch_first=True), nlayers)
        self.cls = nn.Linear(ninp, nclass)

    def forward(self, x, mask=None):
        x = self.embed(x) + self.pos(torch.arange(x.size(1)))
        return self.cls(self.encoder(x, src_key_padding_mask=mask).mean(1))


class DecoderRNN(nn.Module):
    def __init__(self, hidden, out_size):
        super().__init__()
        self.embedding = nn.Embedding(out_size, hidden)
        self.gru = nn.GRU(hidden, hidden)
        self.out = nn.Linear(hidden, out_size)

    def forward(self, input, hidden):
        x = F.relu(self.embedding(input).view(1, 1, -1))
        x, hidden = self.gru(x, hidden)
        return F.log_softmax(self.out(x[0]), dim=1), hidden


class MLMHead(nn.Module):
    def __init__(self, width, n_vocab):
        super().__init__()
        self.dense, self.norm, self.decoder = nn.Linear(width, width), nn.LayerNorm(width), nn.Linear(width, n_vocab)

    def forward(self, features, masked_tokens=None):
        if masked_tokens is not None:
            features = features[masked_tokens, :]
        return self.decoder(self.norm(F.gelu(self.dense(features))))


class PriceForecaster(nn.Module):
    def __init__(self, n_series, lookback, horizon, units):
        super().__init__()
        self.lookback = lookback
        self.norm = nn.BatchNorm1d(n_series)
        self.net = nn.Sequential(nn.Linear(n_series * lookback, units), nn.ReLU(), nn.Linear(units, horizon))

    def forward(self, history):
        x = self.norm(history.transpose(1, 2))
        return self.net(x.reshape(x.size(0), -1))


class NBeats(nn.Module):
    def __init__(self, backcast, forecast, units, stacks):
        super().__init__()
        self.backcast = backcast
        self.stacks = nn.ModuleList(
            nn.Sequential(nn.Linear(backcast, units), nn.ReLU(), nn.Linear(units, backcast + forecast))
            for _ in range(stacks)
        )

    def forward(self, series):
        total = 0
        for stack in self.stacks:
            y = stack(series)
            series, total = series - y[:, : self.backcast], total + y[:, self.backcast :]
        return total


class Matcher(nn.Module):
    def __init__(self, n_vocab, emb, hidden, temp):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(n_vocab, emb), nn.LSTM(emb, hidden, batch_first=True)
        self.temp = temp

    def encode(self, ids, mask):
        out, _ = self.lstm(self.embed(ids))
        return (out * mask.unsqueeze(-1)).sum(1) / mask.sum(-1, keepdim=True)

    def forward(self, a_ids, a_mask, b_ids, b_mask):
        return F.cosine_similarity(self.encode(a_ids, a_mask), self.encode(b_ids, b_mask)) / self.temp
