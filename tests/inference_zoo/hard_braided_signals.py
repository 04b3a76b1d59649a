"""Hard: grids with lead times, passages beside queries, wards, flows, prices, teams and beams, as a forward takes them.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = [
    "ColumnMixer",
    "DualRetriever",
    "FlowMatcher",
    "GlobalWeather",
    "IrregularClinic",
    "MultiViewLifter",
    "PhysicsSolver",
    "SpeechTranslator",
    "TeamActor",
    "WindowedEvents",
]


class GlobalWeather(nn.Module):
    """Variables as tokens, pooled at each patch; how far ahead is asked for is added."""

    def __init__(self, variables=20, img_size=(32, 64), patch_size=4, dim=96, heads=4):
        super().__init__()
        self.patch_size, self.grid = patch_size, (img_size[0] // patch_size, img_size[1] // patch_size)
        self.embed = nn.ModuleList(nn.Conv2d(1, dim, patch_size, patch_size) for _ in range(variables))
        self.var_query = nn.Parameter(torch.zeros(1, 1, dim))
        self.var_agg = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.pos_embed = nn.Parameter(torch.zeros(1, self.grid[0] * self.grid[1], dim))
        self.lead_time_embed = nn.Linear(1, dim)
        self.block = nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True)
        self.head = nn.Linear(dim, variables * patch_size**2)

    def forward(self, x, lead_times):
        tokens = [embed(x[:, i : i + 1]).flatten(2).transpose(1, 2) for i, embed in enumerate(self.embed)]
        x = torch.stack(tokens, dim=1)
        b, v, n, d = x.shape
        x = x.permute(0, 2, 1, 3).reshape(b * n, v, d)
        x, _ = self.var_agg(self.var_query.expand(b * n, -1, -1), x, x)
        x = x.squeeze(1).reshape(b, n, d) + self.pos_embed
        x = self.block(x + self.lead_time_embed(lead_times.unsqueeze(-1)).unsqueeze(1))
        out = self.head(x).view(b, *self.grid, self.patch_size, self.patch_size, v)
        return torch.einsum("bhwpqv->bvhpwq", out).reshape(b, v, self.grid[0] * self.patch_size, -1)


class DualRetriever(nn.Module):
    """Queries and passages, several of these for each query; all others of a batch are negatives."""

    def __init__(self, vocab_size=30000, hidden=64, n_passages=4, temperature=0.05):
        super().__init__()
        self.n_passages, self.temperature = n_passages, temperature
        self.embeddings = nn.Embedding(vocab_size, hidden)
        self.encoder = nn.TransformerEncoderLayer(hidden, 4, 128, batch_first=True)
        self.linear = nn.Linear(hidden, hidden)

    def encode(self, features):
        mask = features["attention_mask"]
        hidden = self.encoder(self.embeddings(features["input_ids"]), src_key_padding_mask=mask == 0)
        pooled = (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(self.linear(pooled), dim=-1)

    def forward(self, query: dict[str, Tensor], passage: dict[str, Tensor]):
        q_reps, p_reps = self.encode(query), self.encode(passage)
        scores = torch.matmul(q_reps, p_reps.transpose(0, 1)) / self.temperature
        target = torch.arange(scores.size(0), device=scores.device) * (p_reps.size(0) // q_reps.size(0))
        return {"scores": scores, "loss": F.cross_entropy(scores, target), "q_reps": q_reps}


class IrregularClinic(nn.Module):
    """What was measured when, with masks and gaps in time, a static record, and notes as vectors of each stay."""

    def __init__(self, n_vitals=17, n_static=5, note_dim=96, hidden=64):
        super().__init__()
        self.hidden = hidden
        self.decay = nn.Linear(n_vitals, hidden)
        self.decay_x = nn.Parameter(torch.zeros(n_vitals))
        self.register_buffer("means", torch.zeros(n_vitals))
        self.cell = nn.GRUCell(2 * n_vitals, hidden)
        self.static = nn.Linear(n_static, hidden)
        self.note_attn = nn.Linear(hidden, note_dim)
        self.out = nn.Linear(2 * hidden + note_dim, 1)

    def forward(self, values, observed, deltas, static, notes, note_mask=None):
        batch, steps, _ = values.shape
        h = values.new_zeros(batch, self.hidden)
        last = self.means.expand(batch, -1)
        for t in range(steps):
            x, m, d = values[:, t], observed[:, t], deltas[:, t]
            gamma = torch.exp(-F.relu(self.decay_x) * d)
            last = torch.where(m.bool(), x, last)
            x = m * x + (1 - m) * (gamma * last + (1 - gamma) * self.means)
            h = self.cell(torch.cat([x, m], dim=-1), h * torch.exp(-F.relu(self.decay(d))))
        scores = torch.bmm(notes, self.note_attn(h).unsqueeze(-1)).squeeze(-1)
        if note_mask is not None:
            scores = scores.masked_fill(~note_mask, -1e4)
        note = torch.bmm(scores.softmax(-1).unsqueeze(1), notes).squeeze(1)
        return torch.sigmoid(self.out(torch.cat([h, self.static(static), note], dim=-1))).squeeze(-1)


class FlowMatcher(nn.Module):
    """The velocity between noise and speech at a time, with text of the same frames and a prompt to go on from."""

    def __init__(self, mel_dim=80, text_num_embeds=256, text_dim=64, dim=128, heads=4, depth=2):
        super().__init__()
        self.dim = dim
        self.text_embed = nn.Embedding(text_num_embeds + 1, text_dim)
        self.proj = nn.Linear(2 * mel_dim + text_dim, dim)
        self.time_mlp = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.blocks = nn.ModuleList(nn.MultiheadAttention(dim, heads, batch_first=True) for _ in range(depth))
        self.mod = nn.ModuleList(nn.Linear(dim, 3 * dim) for _ in range(depth))
        self.proj_out = nn.Linear(dim, mel_dim)

    def embed_text(self, text, seq_len, drop_text):
        text = text + 1
        text = text[:, :seq_len]
        text = F.pad(text, (0, seq_len - text.shape[1]), value=0)
        if drop_text:
            text = torch.zeros_like(text)
        return self.text_embed(text)

    def forward(self, x, cond, text, time, drop_audio_cond: bool, drop_text: bool, mask: Optional[Tensor] = None):
        batch, seq_len = x.shape[0], x.shape[1]
        if time.ndim == 0:
            time = time.repeat(batch)
        freqs = torch.exp(torch.arange(self.dim // 2, device=x.device) * -(math.log(10000) / (self.dim // 2 - 1)))
        angles = 1000 * time.unsqueeze(1) * freqs.unsqueeze(0)
        t = self.time_mlp(torch.cat((angles.sin(), angles.cos()), dim=-1))
        if drop_audio_cond:
            cond = torch.zeros_like(cond)
        h = self.proj(torch.cat((x, cond, self.embed_text(text, seq_len, drop_text)), dim=-1))
        for attn, mod in zip(self.blocks, self.mod):
            shift, scale, gate = mod(F.silu(t)).chunk(3, dim=-1)
            normed = F.layer_norm(h, (self.dim,)) * (1 + scale[:, None]) + shift[:, None]
            padding = ~mask if mask is not None else None
            h = h + gate.unsqueeze(1) * attn(normed, normed, normed, key_padding_mask=padding)[0]
        return self.proj_out(h)


class Calibration(NamedTuple):
    """How the cameras of a rig stand."""

    intrinsics: Tensor
    extrinsics: Tensor


class MultiViewLifter(nn.Module):
    """Joints seen from several sides become one skeleton: rays through them are what a transformer reads."""

    def __init__(self, num_joints=17, dim=96, heads=4):
        super().__init__()
        self.num_joints = num_joints
        self.joint_embed = nn.Embedding(num_joints, dim)
        self.ray_embed = nn.Linear(7, dim)
        self.encoder = nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True)
        self.head = nn.Linear(dim, 3)

    def forward(self, keypoints2d, confidences, cameras: Calibration):
        b, v, j, _ = keypoints2d.shape
        homogeneous = torch.cat([keypoints2d, torch.ones_like(keypoints2d[..., :1])], dim=-1)
        rays = torch.matmul(homogeneous, torch.inverse(cameras.intrinsics).transpose(-1, -2))
        rotation, translation = cameras.extrinsics[..., :3, :3], cameras.extrinsics[..., :3, 3]
        rays = F.normalize(torch.matmul(rays, rotation), dim=-1)
        centres = -torch.matmul(rotation.transpose(-1, -2), translation.unsqueeze(-1)).squeeze(-1)
        centres = centres.unsqueeze(2).expand(b, v, j, 3)
        tokens = self.ray_embed(torch.cat([rays, centres, confidences.unsqueeze(-1)], dim=-1))
        tokens = tokens + self.joint_embed.weight[None, None]
        fused = self.encoder(tokens.permute(0, 2, 1, 3).reshape(b * j, v, -1))
        return self.head(fused.mean(1)).view(b, j, 3)


class PhysicsSolver(nn.Module):
    """Values of a field at points in space and time, after where it was measured; several kinds of points at once."""

    def __init__(self, width=64, n_sensors=100, coordinates=2):
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(n_sensors, width), nn.Tanh(), nn.Linear(width, width))
        self.trunk = nn.Sequential(nn.Linear(coordinates + 1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.bias = nn.Parameter(torch.zeros(1))

    def field(self, latent, points, t):
        return (latent.unsqueeze(1) * self.trunk(torch.cat([points, t], dim=-1))).sum(-1) + self.bias

    def forward(self, sensors, batch):
        latent = self.branch(sensors)
        inner = self.field(latent, batch["collocation"]["xy"], batch["collocation"]["t"])
        start = self.field(latent, batch["initial"]["xy"], torch.zeros_like(batch["initial"]["xy"][..., :1]))
        edge = self.field(latent, batch["boundary"]["xy"], batch["boundary"]["t"])
        residual = (start - batch["initial"]["u"]).pow(2).mean() + edge.pow(2).mean()
        return inner, residual


class SpeechTranslator(nn.Module):
    """Speech in, words of another language out, and those that were said along the way; lengths shrink with strides."""

    def __init__(self, input_feat=80, src_vocab=1000, tgt_vocab=2000, d_model=96, heads=4):
        super().__init__()
        self.subsample = nn.ModuleList(
            [nn.Conv1d(input_feat, 2 * d_model, 5, 2, 2), nn.Conv1d(d_model, 2 * d_model, 5, 2, 2)]
        )
        self.encoder = nn.TransformerEncoderLayer(d_model, heads, 192)
        self.ctc = nn.Linear(d_model, src_vocab)
        self.embed_tokens = nn.Embedding(tgt_vocab, d_model, padding_idx=1)
        self.decoder = nn.TransformerDecoderLayer(d_model, heads, 192)

    def forward(self, src_tokens, src_lengths, prev_output_tokens, tgt_lang_id=None):
        x = src_tokens.transpose(1, 2)
        for conv in self.subsample:
            x = F.glu(conv(x), dim=1)
            src_lengths = ((src_lengths.float() - 1) / 2 + 1).floor().long()
        x = x.permute(2, 0, 1)
        padding = torch.arange(x.size(0), device=x.device).unsqueeze(0) >= src_lengths.unsqueeze(1)
        memory = self.encoder(x, src_key_padding_mask=padding)
        y = self.embed_tokens(prev_output_tokens)
        if tgt_lang_id is not None:
            y = torch.cat([self.embed_tokens(tgt_lang_id).unsqueeze(1), y], dim=1)
        y = y.transpose(0, 1)
        causal = torch.triu(torch.full((y.size(0), y.size(0)), float("-inf"), device=y.device), 1)
        y = self.decoder(y, memory, tgt_mask=causal, memory_key_padding_mask=padding)
        return F.linear(y.transpose(0, 1), self.embed_tokens.weight), self.ctc(memory).log_softmax(-1), src_lengths


class TeamActor(nn.Module):
    """One policy for all agents of a team: own sight, what mates said, states since an episode began, legal moves."""

    def __init__(self, obs_dim=48, n_actions=12, n_agents=5, hidden=64, msg_dim=16):
        super().__init__()
        self.n_agents, self.hidden = n_agents, hidden
        self.base = nn.Sequential(nn.LayerNorm(obs_dim + n_agents), nn.Linear(obs_dim + n_agents, hidden), nn.ReLU())
        self.gru = nn.GRUCell(hidden + msg_dim, hidden)
        self.message = nn.Linear(hidden, msg_dim)
        self.logits = nn.Linear(hidden, n_actions)

    def forward(self, obs, rnn_states, masks, available_actions=None, comm_graph=None):
        batch = obs.shape[0]
        ids = torch.eye(self.n_agents, device=obs.device).expand(batch, -1, -1)
        x = self.base(torch.cat([obs, ids], dim=-1))
        message = self.message(rnn_states)
        if comm_graph is None:
            comm_graph = 1 - torch.eye(self.n_agents, device=obs.device).expand(batch, -1, -1)
        heard = torch.bmm(comm_graph, message) / comm_graph.sum(-1, keepdim=True).clamp(min=1)
        states = (rnn_states * masks).reshape(batch * self.n_agents, -1)
        h = self.gru(torch.cat([x, heard], dim=-1).view(batch * self.n_agents, -1), states)
        logits = self.logits(h).view(batch, self.n_agents, -1)
        if available_actions is not None:
            logits = logits.masked_fill(available_actions == 0, -1e10)
        return torch.distributions.Categorical(logits=logits).logits, h.view(batch, self.n_agents, -1)


class ColumnMixer(nn.Module):
    """A table whose columns are numbers and categories, in pairs of value and column as a sparse row."""

    def __init__(self, n_columns=40, n_categories=500, dim=64, heads=4, n_out=1):
        super().__init__()
        self.column = nn.Embedding(n_columns, dim)
        self.category = nn.Embedding(n_categories, dim)
        self.number = nn.Linear(1, dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.mixer = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, heads, 128, batch_first=True), 2)
        self.out = nn.Linear(dim, n_out)

    def forward(self, num_values, num_columns, cat_values, cat_columns, num_missing=None):
        numbers = self.number(num_values.unsqueeze(-1)) * self.column(num_columns)
        if num_missing is not None:
            numbers = numbers * (~num_missing).unsqueeze(-1)
        categories = self.category(cat_values) + self.column(cat_columns)
        cls = self.cls.expand(num_values.size(0), -1, -1)
        return self.out(self.mixer(torch.cat([cls, numbers, categories], dim=1))[:, 0])


@dataclass
class EventBatch:
    """Events of a camera without frames, those of all samples in one row."""

    xy: Tensor
    time: Tensor
    polarity: Tensor
    sample: Tensor
    batch_size: int


class WindowedEvents(nn.Module):
    """Events painted into voxels of time, which a small net classifies."""

    def __init__(self, bins=5, height=32, width=32, num_classes=10):
        super().__init__()
        self.bins, self.height, self.width = bins, height, width
        self.value = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
        self.net = nn.Sequential(
            nn.Conv2d(bins, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.AdaptiveAvgPool2d(1)
        )
        self.fc = nn.Linear(32, num_classes)

    def forward(self, events: EventBatch):
        t = events.time.clamp(0, 1)
        bins = (t * (self.bins - 1)).long()
        x, y = events.xy.long().unbind(-1)
        x, y = x.clamp(0, self.width - 1), y.clamp(0, self.height - 1)
        index = ((events.sample * self.bins + bins) * self.height + y) * self.width + x
        values = self.value(torch.stack([t, events.polarity], dim=-1)).squeeze(-1)
        voxels = values.new_zeros(events.batch_size * self.bins * self.height * self.width)
        voxels = voxels.index_add(0, index, values).view(-1, self.bins, self.height, self.width)
        return self.fc(self.net(voxels).flatten(1))
