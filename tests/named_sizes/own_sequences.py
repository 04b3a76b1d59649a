"""Hand-written models of texts, sounds and other sequences."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn, randn

from named_sizes.known import fixed, free, known, loop, tokens


def sequence(B, T):
    return (randn(B, T, 24),)


def text(B, T):
    return {"tokens": tokens(B, T)}


def attend(q, k, v):
    return (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1) @ v


class Attention(nn.Module):
    def __init__(self, d=24, heads=4):
        super().__init__()
        self.heads, self.q, self.kv, self.out = heads, nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, memory=None, mask=None):
        q, (k, v) = self.q(x), self.kv(x if memory is None else memory).chunk(2, -1)
        q, k, v = self.split(q), self.split(k), self.split(v)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        scores = scores if mask is None else scores.masked_fill(mask, -1e9)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


@known(lambda B, L: (randn(B, 1, L),), B=free(2), L=free(1600, least=400))
class WaveStrides(nn.Module):
    """As wav2vec: strides 5, 2, 2 and kernels that fit none of them."""

    def __init__(self):
        super().__init__()
        self.convs = nn.Sequential(nn.Conv1d(1, 8, 10, 5), nn.GELU(), nn.Conv1d(8, 8, 3, 2), nn.Conv1d(8, 8, 2, 2))

    def forward(self, waveform):
        return self.convs(waveform).transpose(1, 2)


@known(lambda B, L: {"audio": randn(B, L)}, B=free(2), L=free(2048, least=256))
class Spectrogram(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(256))
        self.conv = nn.Conv1d(129, 8, 3, 2, 1)

    def forward(self, audio):
        spectrum = torch.stft(audio, 256, 128, window=self.window, return_complex=True).abs()
        return self.conv(spectrum.clamp(min=1e-5).log())


@known(sequence, B=free(2), T=free(7))
class BuiltInLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(24, 10, 2, batch_first=True, bidirectional=True), nn.Linear(20, 3)

    def forward(self, x):
        out, (h, _) = self.lstm(x)
        return self.head(out), h.transpose(0, 1).flatten(1)


@known(lambda B, T: (randn(B, T, 24), torch.full((B,), T)), B=free(3), T=free(6))
class PackedLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(24, 8, batch_first=True)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]


@known(sequence, B=free(2), T=loop(5))
class HandLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.step = nn.Linear(24, 8), nn.Linear(8, 8)

    def forward(self, x):
        h, outputs = x.new_zeros(x.shape[0], 8), []
        for t in range(x.shape[1]):
            h = torch.tanh(self.enter(x[:, t]) + self.step(h))
            outputs.append(h)
        return torch.stack(outputs, 1)


@known(lambda T, B: (randn(T, B, 24),), T=loop(5), B=free(2))
class GRULoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRUCell(24, 8), nn.Linear(8, 2)

    def forward(self, inputs):
        """inputs: (T, B, 24)."""
        h = None
        for step in inputs:
            h = self.cell(step, h)
        return self.head(h)


@known(
    lambda B, T, P: {"x": randn(B, T, 24), "past_keys": randn(B, 4, P, 6), "past_values": randn(B, 4, P, 6)},
    B=free(2),
    T=free(1),
    P=free(9),
)
class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, past_keys, past_values):
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, 6)).permute(2, 0, 3, 1, 4)
        keys, values = torch.cat([past_keys, k], 2), torch.cat([past_values, v], 2)
        return self.out(attend(q, keys, values).transpose(1, 2).flatten(2)), keys, values


@known(lambda B, T, S: {"x": randn(B, T, 24), "memory": randn(B, S, 24)}, B=free(2), T=free(5), S=free(8))
class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.cross = Attention(), Attention()

    def forward(self, x, memory):
        """Args:
        x: (B, T, D)
        memory: (B, S, D)
        """
        x = x + self.own(x)
        return x + self.cross(x, memory)


@known(
    lambda B, T: {"x": randn(B, T, 24), "mask": torch.zeros(B, 1, 1, T, dtype=torch.bool)},
    B=free(2),
    T=free(10, most=32),
)
class Masks(nn.Module):
    """A mask that is broadcast over heads and queries, and a causal one cut out of a buffer."""

    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.register_buffer("causal", torch.ones(32, 32).triu(1).bool(), persistent=False)

    def forward(self, x, mask):
        T = x.shape[1]
        return self.attention(x, mask=self.causal[:T, :T] | mask)


@known(sequence, B=free(2), T=loop(6))
class ScanLoop(nn.Module):
    """Mamba's selective scan, step by step."""

    def __init__(self):
        super().__init__()
        self.enter, self.BC, self.dt = nn.Linear(24, 16), nn.Linear(16, 8), nn.Linear(16, 16)
        self.A = nn.Parameter(torch.rand(16, 4))

    def forward(self, x):
        u = self.enter(x)
        B, C = self.BC(u).chunk(2, -1)
        dt = F.softplus(self.dt(u))
        decay, gain = torch.exp(-dt[..., None] * self.A), dt[..., None] * B[:, :, None] * u[..., None]
        state, ys = torch.zeros_like(gain[:, 0]), []
        for t in range(u.shape[1]):
            state = decay[:, t] * state + gain[:, t]
            ys.append((state * C[:, t, None]).sum(-1))
        return torch.stack(ys, 1)


@known(sequence, B=free(2), T=free(6))
class ScanAtOnce(nn.Module):
    """The same without a loop: sums of logarithms."""

    def __init__(self):
        super().__init__()
        self.gate, self.value = nn.Linear(24, 16), nn.Linear(24, 16)

    def forward(self, x):
        log = F.logsigmoid(self.gate(x)).cumsum(1)
        return log.exp() * torch.cumsum(self.value(x) * (-log).exp(), 1)


@known(sequence, B=free(2), T=free(14))
class LinearAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return (F.elu(q) + 1) @ ((F.elu(k) + 1).mT @ v)


@known(sequence, B=free(2), T=free(14))
class SoftmaxAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)

    def forward(self, x):
        return attend(*self.qkv(x).chunk(3, -1))


@known(text, B=free(2), T=free(12, most=64))
class LearntPositions(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions, self.layer = nn.Embedding(50, 24), nn.Embedding(64, 24), Attention()

    def forward(self, tokens):
        return self.layer(self.words(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device)))


@known(text, B=free(2), T=free(12, most=40))
class SlicedPositions(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.pos = nn.Embedding(50, 24), nn.Parameter(torch.zeros(1, 40, 24))

    def forward(self, tokens):
        return (self.words(tokens) + self.pos[:, : tokens.size(1)]).mean(1)


@known(text, B=free(2), T=free(12))
class Sinusoidal(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.layer = nn.Embedding(50, 24), Attention()

    def forward(self, tokens):
        place = torch.arange(tokens.size(1))[:, None]
        waves = torch.zeros(tokens.size(1), 24)
        waves[:, 0::2] = torch.sin(place * torch.exp(torch.arange(0, 24, 2) / -24))
        waves[:, 1::2] = torch.cos(place * torch.exp(torch.arange(0, 24, 2) / -24))
        return self.layer(self.words(tokens) + waves)


@known(sequence, B=free(2), T=free(12))
class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)
        self.register_buffer("frequencies", 1.0 / 10000 ** (torch.arange(0, 6, 2) / 6))

    def forward(self, x):
        """x: (batch, time, 24)."""
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, 6)).permute(2, 0, 3, 1, 4)
        angles = torch.outer(torch.arange(x.shape[1]).float(), self.frequencies).repeat(1, 2)

        def rotate(y):
            a, b = y.chunk(2, -1)
            return y * angles.cos() + torch.cat([-b, a], -1) * angles.sin()

        y = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        return y.transpose(1, 2).flatten(2)


@known(sequence, B=free(2), T=free(9))
class RelativeBias(nn.Module):
    """A learnt bias for each distance up to 8, and a row of 2·T − 1 distances."""

    def __init__(self):
        super().__init__()
        self.bias, self.qk, self.waves = nn.Embedding(17, 4), nn.Linear(24, 48), nn.Linear(1, 6)

    def forward(self, x):
        T = x.shape[1]
        place = torch.arange(T)
        bias = self.bias((place[None] - place[:, None]).clamp(-8, 8) + 8).permute(2, 0, 1)
        q, k = self.qk(x).unflatten(-1, (2, 4, 6)).permute(2, 0, 3, 1, 4)
        distances = self.waves(torch.arange(T - 1, -T, -1.0)[:, None])
        shifted = F.pad(q @ distances.T, (1, 0)).view(x.shape[0], 4, -1, T)[:, :, 1:].view(x.shape[0], 4, T, -1)
        return q @ k.mT + bias + shifted[..., :T]


@known(sequence, B=free(2), T=free(24))
class AsLongAsWide(nn.Module):
    """T = 24 = features, and 4 heads of 6 = 24."""

    def __init__(self):
        super().__init__()
        self.attention, self.mix = Attention(), nn.Linear(24, 24)

    def forward(self, x):
        return self.attention(self.mix(x)).mT @ x


@known(sequence, B=free(1), T=free(8))
class OneInBatch(nn.Module):
    """B = 1, and ones that stay: a mean that keeps its dimension, a token, a mask."""

    def __init__(self):
        super().__init__()
        self.token, self.head = nn.Parameter(torch.zeros(1, 1, 24)), nn.Linear(24, 1)

    def forward(self, x):
        mask = torch.ones(1, 1, x.shape[1])
        x = torch.cat([self.token.repeat(x.shape[0], 1, 1), x], 1)
        return self.head(x), x.mean(0, keepdim=True), mask, x.mean(1, keepdim=True)


@known(lambda B, T: (randn(B, T, 24),), B=free(2), T=free(8))
class Einops(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)

    def forward(self, x):
        from zoo.apart import import_from_zoo  # noqa: PLC0415

        rearrange = import_from_zoo("einops").rearrange
        q, k, v = rearrange(self.qkv(x), "b t (three h d) -> three b h t d", three=3, h=4)
        y = torch.einsum(
            "b h i j, b h j d -> b h i d", torch.einsum("b h i d, b h j d -> b h i j", q, k).softmax(-1), v
        )
        return rearrange(y, "b h t d -> b t (h d)")


@known(sequence, B=free(2), T=free(8))
class Lengths(nn.Module):
    """Asks for sizes by `len`, which makes plain numbers of them."""

    def __init__(self):
        super().__init__()
        self.step = nn.GRU(24, 6, batch_first=True)

    def forward(self, x):
        state = torch.zeros(1, len(x), 6)
        out, _ = self.step(x, state)
        return torch.zeros(len(x), len(x[0]), 2).to(out) + out.sum(-1, keepdim=True)


@known(sequence, B=free(2), T=loop(8))
class Halves(nn.Module):
    """Calls itself on halves of the sequence."""

    def __init__(self):
        super().__init__()
        self.join = nn.Linear(48, 24)

    def merge(self, x):
        if x.shape[1] == 1:
            return x[:, 0]
        middle = x.shape[1] // 2
        return self.join(torch.cat([self.merge(x[:, :middle]), self.merge(x[:, middle:])], -1)).tanh()

    def forward(self, x):
        return self.merge(x)


@known(lambda S, T, B: (randn(S, B, 24), randn(T, B, 24)), S=free(6), T=free(4), B=free(2))
class Translator(nn.Module):
    """Time comes first."""

    def __init__(self):
        super().__init__()
        self.body = nn.Transformer(24, 2, 1, 1, 32)

    def forward(self, source, target):
        """Source of shape (S, B, E), target of shape (T, B, E)."""
        return self.body(source, target, tgt_mask=nn.Transformer.generate_square_subsequent_mask(target.shape[0]))


@known(
    lambda B, T: (randn(B, T, 24), torch.zeros(B, T, dtype=torch.bool)),
    B=free(2),
    T=free(6),
)
class PaddingMask(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(24, 4, batch_first=True)

    def forward(self, x, key_padding_mask):
        return self.attention(x, x, x, key_padding_mask=key_padding_mask)


@known(sequence, B=free(2), T=free(32, 8))
class Chunks(nn.Module):
    """Attention inside chunks of 8 and with the chunk before; a strided summary of all."""

    def __init__(self):
        super().__init__()
        self.attention, self.summary = Attention(), Attention()

    def forward(self, x):
        B, T, D = x.shape
        chunks = x.view(B, T // 8, 8, D)
        before = F.pad(chunks, (0, 0, 0, 0, 1, 0))[:, :-1]
        both = torch.cat([before, chunks], 2).flatten(0, 1)
        y = self.attention(chunks.flatten(0, 1), both).view(B, T, D)
        return y + self.summary(x, y[:, 7::8])


@known(sequence, B=free(2), T=free(20, least=4))
class CausalConvolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(24, 24, 3, padding=2 * d, dilation=d) for d in (1, 2, 4)])

    def forward(self, x):
        x = x.transpose(1, 2)
        for layer in self.convs:
            x = x + layer(x)[:, :, : x.shape[2]].relu()
        return F.avg_pool1d(x, 3, 2, ceil_mode=True), F.max_pool1d(x, 4)


@known(lambda B, T, C: {"characters": tokens(B, T, C)}, B=free(2), T=free(5), C=free(6, least=3))
class Characters(nn.Module):
    """Words of letters; B·T words go through a convolution at once."""

    def __init__(self):
        super().__init__()
        self.letters, self.conv, self.rnn = nn.Embedding(50, 8), nn.Conv1d(8, 12, 3), nn.LSTM(12, 6, batch_first=True)

    def forward(self, characters):
        B, T, C = characters.shape
        x = self.letters(characters).view(B * T, C, 8).transpose(1, 2)
        return self.rnn(self.conv(x).amax(-1).view(B, T, -1))[0]


@known(lambda B, T: (randn(B, T, 24),), B=free(2), T=fixed(16, "the linear layer over tokens"))
class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.channels = nn.Linear(16, 16), nn.Linear(24, 24)

    def forward(self, x):
        return self.channels(x + self.tokens(x.mT).mT)


@known(lambda B: {"start": tokens(B)}, B=free(2))
class Decoder(nn.Module):
    """Ten greedy steps, each with a longer sequence."""

    def __init__(self):
        super().__init__()
        self.words, self.attention, self.head = nn.Embedding(50, 24), Attention(), nn.Linear(24, 50)

    def forward(self, start):
        sequence = start[:, None]
        for _ in range(10):
            last = self.head(self.attention(self.words(sequence))[:, -1])
            sequence = torch.cat([sequence, last.argmax(-1, keepdim=True)], 1)
        return sequence


@known(sequence, B=free(2), T=free(12))
class LastTokens(nn.Module):
    """Keeps at most the last 20: more tokens change nothing."""

    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        return self.attention(x[:, -20:])


@known(sequence, B=free(2), T=free(12))
class NearAndFar(nn.Module):
    """Distances in 8 buckets up to 100, and other steps where more than 100 tokens come."""

    def __init__(self):
        super().__init__()
        self.bias, self.qk = nn.Embedding(8, 1), nn.Linear(24, 48)

    def forward(self, x):
        q, k = self.qk(x).chunk(2, -1)
        place = torch.arange(x.shape[1])
        bucket = (place[None] - place[:, None]).abs().clamp(max=100) // 13
        if x.shape[1] > 100:
            k = F.avg_pool1d(k.mT, 2).mT
            bucket = bucket[:, 1::2]
        return (q @ k.mT + self.bias(bucket).squeeze(-1)).softmax(-1)
