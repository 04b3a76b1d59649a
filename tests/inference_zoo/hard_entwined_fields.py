"""Hard: crops and boxes, points and rays, spans, noise, jagged rows, frequencies and memories that depend on others.

Long because it is a list of models.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

__all__ = [
    "BoxRefiner",
    "CloudUpsampler",
    "FrameMemory",
    "FrequencyForecaster",
    "JaggedHistory",
    "RaySampler",
    "ScoreNetwork",
    "SpanRelations",
    "TeamObserver",
    "TriModalReader",
]


class BoxRefiner(nn.Module):
    """Crops maps of several scales where boxes are, and moves the boxes."""

    def __init__(self, in_channels=64, pool=7, num_classes=20):
        super().__init__()
        self.pool = pool
        self.body = nn.Sequential(nn.Linear(in_channels * pool * pool, 128), nn.ReLU())
        self.cls, self.reg = nn.Linear(128, num_classes + 1), nn.Linear(128, 4)

    def crop(self, feature, boxes):
        x1, y1, x2, y2 = boxes.unbind(-1)
        steps = torch.linspace(0, 1, self.pool, device=boxes.device)
        gx = x1[:, None] + (x2 - x1)[:, None] * steps
        gy = y1[:, None] + (y2 - y1)[:, None] * steps
        grid = torch.stack([gx[:, None, :].expand(-1, self.pool, -1), gy[:, :, None].expand(-1, -1, self.pool)], -1)
        return F.grid_sample(feature.expand(len(grid), -1, -1, -1), grid * 2 - 1, align_corners=False)

    def forward(self, features, proposals):
        outputs = []
        for feature, boxes in zip(features, proposals):
            x = self.body(self.crop(feature.unsqueeze(0), boxes).flatten(1))
            outputs.append((self.cls(x), boxes + self.reg(x)))
        return outputs


class CloudUpsampler(nn.Module):
    """Features of points from those around them: coordinates and features, neighbours by distance."""

    def __init__(self, in_channels=6, hidden=64, k=8, num_classes=13):
        super().__init__()
        self.k = k
        self.stem = nn.Linear(in_channels, hidden)
        self.delta = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        self.q, self.kv = nn.Linear(hidden, hidden), nn.Linear(hidden, 2 * hidden)
        self.head = nn.Linear(hidden, num_classes)

    def forward(self, xyz, features):
        b, n, _ = xyz.shape
        x = self.stem(features)
        idx = torch.cdist(xyz, xyz).topk(min(self.k, n), dim=-1, largest=False).indices
        rows = torch.arange(b, device=xyz.device).view(b, 1, 1)
        around = xyz[rows, idx]
        position = self.delta(xyz.unsqueeze(2) - around)
        key, value = self.kv(x)[rows, idx].chunk(2, dim=-1)
        weights = (self.q(x).unsqueeze(2) - key + position).softmax(dim=2)
        return self.head(x + (weights * (value + position)).sum(dim=2))


class ScoreNetwork(nn.Module):
    """Noise of a level by time, for what is known of the rest: values, times of the schedule, and what is given."""

    def __init__(self, channels=32, steps=100, side_dim=16, features=7):
        super().__init__()
        betas = torch.linspace(1e-4, 0.02, steps)
        self.register_buffer("alpha_bar", torch.cumprod(1 - betas, 0))
        self.register_buffer("table", torch.randn(steps, 64))
        self.time = nn.Linear(64, channels)
        self.side = nn.Conv1d(side_dim + features, channels, 1)
        self.input, self.output = nn.Conv1d(2, channels, 1), nn.Conv1d(channels, 1, 1)

    def forward(self, observed_data, cond_mask, side_info, t):
        b, k, length = observed_data.shape
        a = self.alpha_bar[t].sqrt()[:, None, None]
        noise = torch.randn_like(observed_data)
        noisy = a * observed_data + (1 - a**2).sqrt() * noise
        x = torch.stack([cond_mask * observed_data, (1 - cond_mask) * noisy], dim=1)
        x = self.input(x.reshape(b, 2, k * length)).reshape(b, -1, k, length)
        x = x + self.time(self.table[t])[:, :, None, None]
        x = x + self.side(torch.cat([side_info, observed_data], dim=1)).unsqueeze(2)
        return self.output(F.silu(x).reshape(b, -1, k * length)).reshape(b, k, length)


class RaySampler(nn.Module):
    """Colours along rays between near and far."""

    def __init__(self, n_samples=16, freqs=6, hidden=64):
        super().__init__()
        self.n_samples = n_samples
        self.register_buffer("bands", 2.0 ** torch.arange(freqs))
        self.trunk = nn.Sequential(nn.Linear(3 + 6 * freqs, hidden), nn.ReLU())
        self.sigma, self.rgb = nn.Linear(hidden, 1), nn.Linear(hidden + 3, 3)

    def encode(self, x):
        scaled = (x[..., None, :] * self.bands[:, None]).flatten(-2)
        return torch.cat([x, scaled.sin(), scaled.cos()], dim=-1)

    def forward(self, rays_o, rays_d, near, far):
        t = torch.linspace(0, 1, self.n_samples, device=rays_o.device)
        z = near[..., None] * (1 - t) + far[..., None] * t
        pts = rays_o[..., None, :] + rays_d[..., None, :] * z[..., :, None]
        h = self.trunk(self.encode(pts))
        dirs = F.normalize(rays_d, dim=-1)[..., None, :].expand(pts.shape)
        rgb = self.rgb(torch.cat([h, dirs], dim=-1)).sigmoid()
        dists = torch.cat([z[..., 1:] - z[..., :-1], torch.full_like(z[..., :1], 1e10)], dim=-1)
        alpha = 1 - torch.exp(-F.relu(self.sigma(h)[..., 0]) * dists)
        trans = torch.cumprod(torch.cat([torch.ones_like(alpha[..., :1]), 1 - alpha + 1e-10], -1), -1)[..., :-1]
        weights = alpha * trans
        return (weights[..., None] * rgb).sum(-2), (weights * z).sum(-1)


class SpanRelations(nn.Module):
    """Which spans of a sentence are related: pieces, where words begin, and spans by their first and last word."""

    def __init__(self, vocab_size=28996, dim=96, max_width=10, num_relations=6):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.encoder = nn.LSTM(dim, dim // 2, bidirectional=True, batch_first=True)
        self.width = nn.Embedding(max_width, 20)
        self.pair = nn.Sequential(nn.Linear(2 * (2 * dim + 20), 64), nn.ReLU(), nn.Linear(64, num_relations))

    def forward(self, input_ids, word_starts, spans, span_mask):
        x, _ = self.encoder(self.embed(input_ids))
        words = torch.gather(x, 1, word_starts.unsqueeze(-1).expand(-1, -1, x.size(-1)))
        batch = torch.arange(words.size(0), device=words.device)[:, None]
        start, end = words[batch, spans[..., 0]], words[batch, spans[..., 1]]
        width = self.width((spans[:, :, 1] - spans[:, :, 0]).clamp(0, self.width.num_embeddings - 1))
        span = torch.cat([start, end, width], dim=-1) * span_mask.unsqueeze(-1)
        s = span.size(1)
        pairs = torch.cat([span.unsqueeze(2).expand(-1, -1, s, -1), span.unsqueeze(1).expand(-1, s, -1, -1)], dim=-1)
        return self.pair(pairs)


class TeamObserver(nn.Module):
    """Observations as a dict: what an agent senses, who is near, and which of these and of its actions are possible."""

    def __init__(self, self_dim=10, entity_dim=6, hidden=64, n_actions=9):
        super().__init__()
        self.me, self.others = nn.Linear(self_dim, hidden), nn.Linear(entity_dim, hidden)
        self.attend = nn.MultiheadAttention(hidden, 4, batch_first=True)
        self.rnn = nn.GRUCell(2 * hidden, hidden)
        self.policy, self.value = nn.Linear(hidden, n_actions), nn.Linear(hidden, 1)

    def forward(self, obs, state):
        me = F.relu(self.me(obs["agent"]))
        others = F.relu(self.others(obs["entities"]))
        seen, _ = self.attend(me.unsqueeze(1), others, others, key_padding_mask=~obs["entity_mask"])
        h = self.rnn(torch.cat([me, seen.squeeze(1)], dim=-1), state)
        logits = self.policy(h).masked_fill(~obs["avail_actions"], -1e9)
        return torch.distributions.Categorical(logits=logits).probs, self.value(h).squeeze(-1), h


class JaggedHistory(nn.Module):
    """What users did as one row of values with the number of each user; users beside it."""

    def __init__(self, num_items=2000, num_users=500, dim=32):
        super().__init__()
        self.items, self.users = nn.Embedding(num_items, dim), nn.EmbeddingBag(num_users, dim, mode="sum")
        self.score = nn.Linear(2 * dim, dim)
        self.bias = nn.Parameter(torch.zeros(num_items))

    def forward(self, values, segment_ids, user_ids):
        emb = self.items(values)
        n = user_ids.size(0)
        total = emb.new_zeros(n, emb.size(1)).index_add(0, segment_ids, emb)
        count = torch.zeros(n, device=emb.device).index_add(0, segment_ids, torch.ones_like(segment_ids).float())
        history = total / count.clamp(min=1).unsqueeze(1)
        query = self.score(torch.cat([history, self.users(user_ids.unsqueeze(1))], dim=1))
        return query @ self.items.weight.t() + self.bias


class FrequencyForecaster(nn.Module):
    """Forecasts by the low frequencies of a normalised window."""

    def __init__(self, seq_len=96, pred_len=24, cut_freq=20, enc_in=7):
        super().__init__()
        self.seq_len, self.pred_len, self.cut_freq = seq_len, pred_len, cut_freq
        self.ratio = (seq_len + pred_len) / seq_len
        self.up = nn.Linear(cut_freq, int(cut_freq * self.ratio)).to(torch.cfloat)

    def forward(self, x):
        mean = x.mean(dim=1, keepdim=True)
        x = x - mean
        std = torch.sqrt(x.var(dim=1, keepdim=True) + 1e-5)
        spec = torch.fft.rfft(x / std, dim=1)[:, : self.cut_freq, :]
        up = self.up(spec.permute(0, 2, 1)).permute(0, 2, 1)
        full = torch.zeros(spec.size(0), (self.seq_len + self.pred_len) // 2 + 1, spec.size(2), dtype=up.dtype)
        full[:, : up.size(1), :] = up
        return torch.fft.irfft(full, dim=1) * self.ratio * std + mean


class TriModalReader(nn.Module):
    """Words, sound and faces of a speaker, each as long as it is, with lengths."""

    def __init__(self, vocab_size=20000, audio_dim=74, video_dim=35, dim=40, num_outputs=1):
        super().__init__()
        self.text = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.audio, self.video = nn.Conv1d(audio_dim, dim, 1, bias=False), nn.Conv1d(video_dim, dim, 1, bias=False)
        self.cross = nn.ModuleDict({k: nn.MultiheadAttention(dim, 4, batch_first=True) for k in ("ta", "tv")})
        self.rnn = nn.GRU(3 * dim, dim, batch_first=True)
        self.out = nn.Linear(dim, num_outputs)

    def forward(self, text, audio, video, lengths):
        t = self.text(text)
        a = self.audio(audio.transpose(1, 2)).transpose(1, 2)
        v = self.video(video.transpose(1, 2)).transpose(1, 2)
        ta, _ = self.cross["ta"](t, a, a)
        tv, _ = self.cross["tv"](t, v, v)
        fused = torch.cat([t, ta, tv], dim=-1)
        packed = pack_padded_sequence(fused, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, h = self.rnn(packed)
        return self.out(h[-1])


class FrameMemory(nn.Module):
    """Masks of objects in a frame by what memory has of frames before it."""

    def __init__(self, dim=64, key_dim=16):
        super().__init__()
        self.key, self.value = nn.Conv2d(3, key_dim, 16, 16), nn.Conv2d(4, dim, 16, 16)
        self.decode = nn.Conv2d(2 * dim, 1, 3, padding=1)
        self.query_value = nn.Conv2d(3, dim, 16, 16)

    def forward(self, frame, memory_frames, memory_masks):
        b, t, c, h, w = memory_frames.shape
        mk = self.key(memory_frames.view(b * t, c, h, w))
        mv = self.value(torch.cat([memory_frames.flatten(0, 1), memory_masks.flatten(0, 1)], dim=1))
        mk = mk.view(b, t, -1, *mk.shape[-2:]).transpose(1, 2).flatten(2)
        mv = mv.view(b, t, -1, *mv.shape[-2:]).transpose(1, 2).flatten(2)
        q = self.key(frame)
        affinity = (mk.transpose(1, 2) @ q.flatten(2) / q.shape[1] ** 0.5).softmax(dim=1)
        read = (mv @ affinity).view(b, -1, *q.shape[-2:])
        logits = self.decode(torch.cat([read, self.query_value(frame)], dim=1))
        return F.interpolate(logits, size=(h, w), mode="bilinear", align_corners=False)
