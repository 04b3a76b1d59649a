"""Hard: forwards that take dicts, objects, lists, states, masks and coupled sizes."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "BatchGraph",
    "ChannelsLast",
    "Coattention",
    "DictInput",
    "Flagged",
    "FourierLayer",
    "FrameList",
    "HierarchicalAttention",
    "MaskedPool",
    "NeRF",
    "PagedCell",
    "PointHead",
    "Recurrent",
    "Regularised",
    "SetTransformer",
    "SharedSizes",
    "Spectrogram",
    "Tracker",
    "TupleInput",
    "VisualQA",
]


class DictInput(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.image = nn.Embedding(500, 32), nn.Conv2d(3, 32, 3)
        self.out = nn.Linear(64, 2)

    def forward(self, batch):
        text = self.words(batch["text"]).mean(1)
        image = self.image(batch["image"]).mean((2, 3))
        return self.out(torch.cat([text, image], 1))


class TupleInput(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.a, self.b = nn.Linear(dim, 8), nn.Linear(2 * dim, 8)

    def forward(self, pair):
        left, right = pair
        return self.a(left) * self.b(right)


class BatchGraph(nn.Module):
    def __init__(self, in_feats=9, hidden=16):
        super().__init__()
        self.lin, self.out = nn.Linear(in_feats, hidden), nn.Linear(hidden, 1)

    def forward(self, data):
        x, edge_index, batch = data.x, data.edge_index, data.batch
        h = self.lin(x)
        h = h + torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        size = int(batch.max()) + 1
        return self.out(torch.zeros(size, h.size(1)).index_add(0, batch, h))


class FrameList(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv2d(3, 8, 3), nn.Linear(8, 4)

    def forward(self, frames: list[torch.Tensor]):
        return self.out(torch.stack([self.conv(frame).mean((2, 3)) for frame in frames]).mean(0))


class Recurrent(nn.Module):
    def __init__(self, obs=12, hidden=24):
        super().__init__()
        self.hidden = hidden
        self.fc, self.cell, self.q = nn.Linear(obs, 32), nn.LSTMCell(32, hidden), nn.Linear(hidden, 5)

    def init_hidden(self, n):
        return torch.zeros(n, self.hidden), torch.zeros(n, self.hidden)

    def forward(self, obs, hidden):
        h, c = self.cell(F.relu(self.fc(obs)), hidden)
        return self.q(h), (h, c)


class MaskedPool(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, q, kv, valid):
        scores = self.query(q) @ self.key(kv).transpose(-2, -1)
        scores = scores.masked_fill(valid[:, None, :] == 0, -1e9)
        return scores.softmax(-1) @ kv


class Coattention(nn.Module):
    def __init__(self, vocab=300, dim=24):
        super().__init__()
        self.embed, self.w, self.out = nn.Embedding(vocab, dim), nn.Linear(dim, dim), nn.Linear(4 * dim, 3)

    def forward(self, premise, hypothesis, p_len, h_len):
        p, h = self.embed(premise), self.embed(hypothesis)
        p_mask = torch.arange(p.size(1))[None] < p_len[:, None]
        h_mask = torch.arange(h.size(1))[None] < h_len[:, None]
        s = self.w(p) @ h.transpose(1, 2)
        a = s.masked_fill(~h_mask[:, None], -1e9).softmax(-1) @ h
        b = s.transpose(1, 2).masked_fill(~p_mask[:, None], -1e9).softmax(-1) @ p
        return self.out(torch.cat([p.mean(1), a.mean(1), h.mean(1), b.mean(1)], -1))


class HierarchicalAttention(nn.Module):
    def __init__(self, n_words=200, dim=20, hidden=16):
        super().__init__()
        self.embed = nn.Embedding(n_words, dim)
        self.words, self.sents = nn.GRU(dim, hidden, batch_first=True), nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, documents):
        b, s, w = documents.shape
        x, _ = self.words(self.embed(documents.reshape(b * s, w)))
        x, _ = self.sents(x.mean(1).reshape(b, s, -1))
        return x.mean(1)


class SetTransformer(nn.Module):
    def __init__(self, dim_in, n_heads, n_inds):
        super().__init__()
        self.inds = nn.Parameter(torch.randn(1, n_inds, 64))
        self.proj = nn.Linear(dim_in, 64)
        self.a, self.b = nn.MultiheadAttention(64, n_heads, batch_first=True), nn.MultiheadAttention(64, n_heads)

    def forward(self, sets):
        x = self.proj(sets)
        h, _ = self.a(self.inds.expand(x.size(0), -1, -1), x, x)
        return h


class NeRF(nn.Module):
    def __init__(self, pos_freqs, dir_freqs, width):
        super().__init__()
        self.pos_freqs, self.dir_freqs = pos_freqs, dir_freqs
        self.a = nn.Linear(3 + 6 * pos_freqs, width)
        self.b = nn.Linear(width + 3 + 6 * dir_freqs, 3)
        self.sigma = nn.Linear(width, 1)

    def encode(self, x, n):
        out = [x]
        for i in range(n):
            out += [torch.sin(2**i * x), torch.cos(2**i * x)]
        return torch.cat(out, -1)

    def forward(self, xyz, viewdirs):
        h = F.relu(self.a(self.encode(xyz, self.pos_freqs)))
        return torch.sigmoid(self.b(torch.cat([h, self.encode(viewdirs, self.dir_freqs)], -1))), self.sigma(h)


class FourierLayer(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.width, self.modes = width, modes
        self.weight = nn.Parameter(torch.randn(width, width, modes, dtype=torch.cfloat))

    def forward(self, u):
        ft = torch.fft.rfft(u)
        out = torch.zeros(u.size(0), self.width, u.size(-1) // 2 + 1, dtype=torch.cfloat)
        out[:, :, : self.modes] = torch.einsum("bix,iox->box", ft[:, :, : self.modes], self.weight)
        return torch.fft.irfft(out, n=u.size(-1))


class ChannelsLast(nn.Module):
    def __init__(self, height=48, width=64):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 5, stride=2)
        self.fc = nn.Linear(8 * ((height - 5) // 2 + 1) * ((width - 5) // 2 + 1), 6)

    def forward(self, screen):
        return self.fc(F.relu(self.conv(screen.permute(0, 3, 1, 2))).flatten(1))


class PointHead(nn.Module):
    def __init__(self, n_points=64):
        super().__init__()
        self.n_points = n_points
        self.mlp, self.out = nn.Linear(3, 32), nn.Linear(32 * n_points, 4)

    def forward(self, cloud):
        assert cloud.shape[1] == self.n_points, f"expected {self.n_points} points, got {cloud.shape[1]}"
        return self.out(F.relu(self.mlp(cloud)).flatten(1))


class VisualQA(nn.Module):
    def __init__(self, vocab_q, n_ans, img_feat, emb, hid):
        super().__init__()
        self.embed, self.gru = nn.Embedding(vocab_q, emb), nn.GRU(emb, hid, batch_first=True)
        self.att, self.img, self.cls = nn.Linear(img_feat + hid, 1), nn.Linear(img_feat, hid), nn.Linear(hid, n_ans)

    def forward(self, v, q):
        _, h = self.gru(self.embed(q))
        h = h.squeeze(0)
        k = v.size(1)
        weight = torch.softmax(self.att(torch.cat([v, h.unsqueeze(1).expand(-1, k, -1)], 2)), 1)
        return self.cls(self.img((weight * v).sum(1)) * h)


class Spectrogram(nn.Module):
    def __init__(self, n_fft=256, hop=128):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        self.fc = nn.Linear(n_fft // 2 + 1, 10)

    def forward(self, audio):
        spec = torch.stft(audio, self.n_fft, self.hop, window=self.window, return_complex=True).abs()
        return self.fc(spec.transpose(1, 2)).mean(1)


class Flagged(nn.Module):
    def __init__(self, dim=10):
        super().__init__()
        self.enc, self.dec = nn.Linear(dim, 4), nn.Linear(4, dim)

    def forward(self, x, decode, alpha):
        z = self.enc(x)
        if decode:
            z = self.dec(z)
        return z * alpha


class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 11, 2), nn.ReLU(), nn.Conv2d(16, 32, 5, 2))

    def forward(self, template, search):
        z, x = self.backbone(template), self.backbone(search)
        b, c, h, w = x.shape
        out = F.conv2d(x.view(1, b * c, h, w), z, groups=b)
        return out.permute(1, 0, 2, 3)


class PagedCell(nn.Module):
    def __init__(self, slots=8, width=12, ctrl=20):
        super().__init__()
        self.slots, self.width = slots, width
        self.key, self.write = nn.Linear(ctrl, width), nn.Linear(ctrl, width)

    def forward(self, controller, memory):
        weight = torch.softmax(torch.einsum("bw,bsw->bs", self.key(controller), memory), -1)
        read = torch.einsum("bs,bsw->bw", weight, memory)
        return read, memory + torch.einsum("bs,bw->bsw", weight, self.write(controller))


class Regularised(nn.Module):
    def __init__(self, n_feat=6):
        super().__init__()
        self.net = nn.Linear(n_feat, 1)

    def forward(self, x, y, reduction):
        loss = F.mse_loss(self.net(x).squeeze(-1), y, reduction="none")
        if reduction == "mean":
            return loss.mean()
        if reduction == "sum":
            return loss.sum()
        raise ValueError(reduction)


class SharedSizes(nn.Module):
    def __init__(self, seq_in=24, n_exog=3):
        super().__init__()
        self.time, self.mix = nn.Linear(seq_in, 12), nn.Linear(1 + n_exog, 8)

    def forward(self, y_past, x_exog):
        joint = torch.cat([y_past.unsqueeze(-1), x_exog], -1)
        return self.time(self.mix(joint).transpose(1, 2))
