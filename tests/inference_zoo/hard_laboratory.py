"""Hard: the code of research groups, with hidden states, graphs, time steps and configurations of their own.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "ConditionalUNet1d",
    "DeepSetsCritic",
    "DualPathSeparator",
    "EquivariantMessagePassing",
    "GraphBatchClassifier",
    "MarkedPointProcess",
    "MixtureOfExpertsLM",
    "NeuralTuringCell",
    "PackedTagger",
    "PointTransformer",
    "RecurrentPolicy",
    "SlotAttentionVideo",
    "SpeechEncoder",
    "WorldModel",
    "XLMemoryDecoder",
]


class SinusoidalEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half, device=t.device) / (half - 1))
        angles = t[:, None].float() * freqs[None]
        return torch.cat([angles.sin(), angles.cos()], dim=-1)


class ResidualBlock1d(nn.Module):
    def __init__(self, c_in, c_out, cond_dim, groups=8):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv1d(c_in, c_out, 3, padding=1), nn.GroupNorm(groups, c_out), nn.Mish())
        self.conv2 = nn.Sequential(nn.Conv1d(c_out, c_out, 3, padding=1), nn.GroupNorm(groups, c_out), nn.Mish())
        self.film = nn.Linear(cond_dim, c_out * 2)
        self.skip = nn.Conv1d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

    def forward(self, x, cond):
        scale, shift = self.film(cond)[..., None].chunk(2, dim=1)
        return self.conv2(self.conv1(x) * scale + shift) + self.skip(x)


class ConditionalUNet1d(nn.Module):
    def __init__(self, action_dim, global_cond_dim, diffusion_step_embed_dim=64, down_dims=(32, 64)):
        super().__init__()
        self.step = nn.Sequential(
            SinusoidalEmbedding(diffusion_step_embed_dim), nn.Linear(diffusion_step_embed_dim, 64), nn.Mish()
        )
        cond = 64 + global_cond_dim
        dims = [action_dim, *down_dims]
        self.down = nn.ModuleList([ResidualBlock1d(a, b, cond) for a, b in zip(dims, dims[1:], strict=False)])
        self.pool = nn.MaxPool1d(2)
        self.up = nn.ModuleList(
            [ResidualBlock1d(2 * b, a, cond) for a, b in zip(down_dims[::-1][1:], down_dims[::-1], strict=False)]
        )
        self.final = nn.Conv1d(down_dims[0], action_dim, 1)

    def forward(self, sample, timestep, global_cond):
        x = sample.moveaxis(-1, -2)
        cond = torch.cat([self.step(timestep), global_cond], dim=-1)
        skips = []
        for block in self.down:
            x = block(x, cond)
            skips.append(x)
        for block in self.up:
            x = block(torch.cat([x, skips.pop()], dim=1), cond)
        return self.final(x).moveaxis(-1, -2)


class DeepSetsCritic(nn.Module):
    def __init__(self, entity_dim, action_space, hidden=(64, 64)):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(entity_dim, hidden[0]), nn.ReLU(), nn.Linear(hidden[0], hidden[1]))
        self.rho = nn.Linear(hidden[1] + action_space.shape[0], 1)

    def forward(self, entities, entity_mask, action):
        h = self.phi(entities) * entity_mask.unsqueeze(-1)
        pooled = h.sum(dim=1) / entity_mask.sum(dim=1, keepdim=True).clamp(min=1)
        return self.rho(torch.cat([pooled, action], dim=-1)).squeeze(-1)


class DualPathBlock(nn.Module):
    def __init__(self, n_feats, n_hidden):
        super().__init__()
        self.intra = nn.LSTM(n_feats, n_hidden, batch_first=True, bidirectional=True)
        self.inter = nn.LSTM(n_feats, n_hidden, batch_first=True, bidirectional=True)
        self.intra_fc = nn.Linear(2 * n_hidden, n_feats)
        self.inter_fc = nn.Linear(2 * n_hidden, n_feats)

    def forward(self, x):
        b, n, k, s = x.shape
        intra = x.permute(0, 3, 2, 1).reshape(b * s, k, n)
        x = x + self.intra_fc(self.intra(intra)[0]).reshape(b, s, k, n).permute(0, 3, 2, 1)
        inter = x.permute(0, 2, 3, 1).reshape(b * k, s, n)
        return x + self.inter_fc(self.inter(inter)[0]).reshape(b, k, s, n).permute(0, 3, 1, 2)


class DualPathSeparator(nn.Module):
    def __init__(self, n_src, enc_dim, kernel_size, chunk_size, n_blocks, hid_size):
        super().__init__()
        self.n_src, self.chunk_size = n_src, chunk_size
        self.encoder = nn.Conv1d(1, enc_dim, kernel_size, stride=kernel_size // 2, bias=False)
        self.blocks = nn.ModuleList([DualPathBlock(enc_dim, hid_size) for _ in range(n_blocks)])
        self.mask = nn.Conv1d(enc_dim, enc_dim * n_src, 1)
        self.decoder = nn.ConvTranspose1d(enc_dim, 1, kernel_size, stride=kernel_size // 2, bias=False)

    def forward(self, mixture):
        if mixture.ndim == 2:
            mixture = mixture.unsqueeze(1)
        w = F.relu(self.encoder(mixture))
        batch, n, frames = w.shape
        gap = (self.chunk_size - frames % self.chunk_size) % self.chunk_size
        x = F.pad(w, (0, gap)).view(batch, n, -1, self.chunk_size).transpose(2, 3)
        for block in self.blocks:
            x = block(x)
        x = x.transpose(2, 3).reshape(batch, n, -1)[..., :frames]
        masks = self.mask(x).view(batch, self.n_src, n, frames).sigmoid()
        sources = (masks * w.unsqueeze(1)).view(batch * self.n_src, n, frames)
        return self.decoder(sources).view(batch, self.n_src, -1)


class EGCL(nn.Module):
    def __init__(self, input_nf, hidden_nf, edges_in_d=0, act_fn=nn.SiLU()):
        super().__init__()
        self.edge_mlp = nn.Sequential(nn.Linear(2 * input_nf + 1 + edges_in_d, hidden_nf), act_fn)
        self.node_mlp = nn.Sequential(
            nn.Linear(hidden_nf + input_nf, hidden_nf), act_fn, nn.Linear(hidden_nf, input_nf)
        )
        self.coord_mlp = nn.Sequential(nn.Linear(hidden_nf, hidden_nf), act_fn, nn.Linear(hidden_nf, 1, bias=False))

    def forward(self, h, edges, coord, edge_attr=None):
        row, col = edges
        diff = coord[row] - coord[col]
        radial = diff.pow(2).sum(1, keepdim=True)
        parts = [h[row], h[col], radial] + ([edge_attr] if edge_attr is not None else [])
        m = self.edge_mlp(torch.cat(parts, dim=1))
        coord = coord + torch.zeros_like(coord).index_add_(0, row, diff * self.coord_mlp(m))
        agg = torch.zeros(h.size(0), m.size(1), device=h.device).index_add_(0, row, m)
        return h + self.node_mlp(torch.cat([h, agg], dim=1)), coord


class EquivariantMessagePassing(nn.Module):
    def __init__(self, in_node_nf, hidden_nf, out_node_nf, in_edge_nf=0, n_layers=3):
        super().__init__()
        self.embedding_in = nn.Linear(in_node_nf, hidden_nf)
        self.layers = nn.ModuleList([EGCL(hidden_nf, hidden_nf, in_edge_nf) for _ in range(n_layers)])
        self.embedding_out = nn.Linear(hidden_nf, out_node_nf)

    def forward(self, h, x, edges, edge_attr):
        h = self.embedding_in(h)
        for layer in self.layers:
            h, x = layer(h, edges, x, edge_attr)
        return self.embedding_out(h), x


def scatter_mean(src, index, size):
    total = src.new_zeros(size, src.size(-1)).index_add(0, index, src)
    count = src.new_zeros(size).index_add(0, index, src.new_ones(index.size(0)))
    return total / count.clamp(min=1).unsqueeze(-1)


class GraphBatchClassifier(nn.Module):
    def __init__(self, num_node_types, num_edge_types, emb_dim=64, num_layer=3, num_tasks=1, JK="last"):
        super().__init__()
        self.JK = JK
        self.x_embedding = nn.Embedding(num_node_types, emb_dim)
        self.edge_embeddings = nn.ModuleList([nn.Embedding(num_edge_types, emb_dim) for _ in range(num_layer)])
        self.mlps = nn.ModuleList([nn.Linear(emb_dim, emb_dim) for _ in range(num_layer)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(emb_dim) for _ in range(num_layer)])
        self.graph_pred_linear = nn.Linear(emb_dim, num_tasks)

    def forward(self, batched_data):
        x, edge_index, edge_attr, batch = (
            batched_data.x,
            batched_data.edge_index,
            batched_data.edge_attr,
            batched_data.batch,
        )
        h = self.x_embedding(x)
        for mlp, norm, edge in zip(self.mlps, self.norms, self.edge_embeddings, strict=False):
            message = F.relu(h[edge_index[0]] + edge(edge_attr))
            h = norm(mlp(h + torch.zeros_like(h).index_add(0, edge_index[1], message))).relu()
        return self.graph_pred_linear(scatter_mean(h, batch, int(batched_data.num_graphs)))


class MarkedPointProcess(nn.Module):
    def __init__(self, num_marks, d_model, n_head=4, n_layers=2, d_time=16):
        super().__init__()
        self.num_marks = num_marks
        self.mark_emb = nn.Embedding(num_marks + 1, d_model - d_time, padding_idx=num_marks)
        self.time_proj = nn.Linear(1, d_time)
        layer = nn.TransformerEncoderLayer(d_model, n_head, 4 * d_model, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.intensity = nn.Sequential(nn.Linear(d_model, num_marks), nn.Softplus())

    def forward(self, event_times, event_marks, non_pad_mask):
        dt = torch.diff(event_times, dim=1, prepend=torch.zeros_like(event_times[:, :1]))
        h = torch.cat([self.time_proj(dt.unsqueeze(-1)).sin(), self.mark_emb(event_marks)], dim=-1)
        length = event_marks.size(1)
        causal = torch.triu(torch.ones(length, length, dtype=torch.bool, device=h.device), 1)
        h = self.encoder(h, mask=causal, src_key_padding_mask=~non_pad_mask)
        lam = self.intensity(h)
        target = F.one_hot(event_marks.clamp(max=self.num_marks - 1), self.num_marks)
        log_like = (torch.log(lam + 1e-8) * target).sum(-1) * non_pad_mask
        return log_like.sum() - (lam.sum(-1) * dt * non_pad_mask).sum()


@dataclass
class RouterConfig:
    num_experts: int = 4
    top_k: int = 2
    jitter: float = 0.0


@dataclass
class MoEConfig:
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    max_position_embeddings: int
    router: RouterConfig = field(default_factory=RouterConfig)


class SparseMoE(nn.Module):
    def __init__(self, cfg: MoEConfig):
        super().__init__()
        self.top_k = cfg.router.top_k
        self.gate = nn.Linear(cfg.hidden_size, cfg.router.num_experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(cfg.router.num_experts, cfg.hidden_size, cfg.intermediate_size) * 0.02)
        self.w2 = nn.Parameter(torch.randn(cfg.router.num_experts, cfg.intermediate_size, cfg.hidden_size) * 0.02)

    def forward(self, x):
        flat = x.flatten(0, 1)
        weights, chosen = self.gate(flat).softmax(-1).topk(self.top_k, dim=-1)
        out = torch.einsum("td,edh->teh", flat, self.w1).relu()
        out = torch.einsum("teh,ehd->ted", out, self.w2)
        picked = out.gather(1, chosen.unsqueeze(-1).expand(-1, -1, out.size(-1)))
        return (picked * weights.unsqueeze(-1)).sum(1).view_as(x), self.gate(flat)


class MixtureOfExpertsLM(nn.Module):
    def __init__(self, config: MoEConfig):
        super().__init__()
        self.tok = nn.Embedding(config.vocab_size, config.hidden_size)
        self.pos = nn.Parameter(torch.zeros(1, config.max_position_embeddings, config.hidden_size))
        self.layers = nn.ModuleList([SparseMoE(config) for _ in range(config.num_hidden_layers)])
        self.norms = nn.ModuleList([nn.LayerNorm(config.hidden_size) for _ in range(config.num_hidden_layers)])
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, input_ids, labels=None):
        h = self.tok(input_ids) + self.pos[:, : input_ids.shape[1]]
        aux = []
        for layer, norm in zip(self.layers, self.norms, strict=False):
            out, gate = layer(norm(h))
            aux.append(gate.logsumexp(-1).square().mean())
            h = h + out
        logits = self.lm_head(h)
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten()) if labels is not None else None
        return {"loss": loss, "logits": logits, "z_loss": torch.stack(aux).mean()}


MemoryState = namedtuple("MemoryState", ["memory", "read_weights", "write_weights", "hidden"])


class NeuralTuringCell(nn.Module):
    def __init__(self, input_size, output_size, controller_size, memory_slots, memory_width):
        super().__init__()
        self.slots, self.width, self.hidden = memory_slots, memory_width, controller_size
        self.controller = nn.GRUCell(input_size + memory_width, controller_size)
        self.heads = nn.Linear(controller_size, 3 * memory_width + 2)
        self.out = nn.Linear(controller_size + memory_width, output_size)

    def initial_state(self, batch_size):
        return MemoryState(
            torch.zeros(batch_size, self.slots, self.width),
            torch.zeros(batch_size, self.slots),
            torch.zeros(batch_size, self.slots),
            torch.zeros(batch_size, self.hidden),
        )

    def address(self, memory, key, beta):
        return (F.cosine_similarity(memory, key.unsqueeze(1), dim=-1) * F.softplus(beta)).softmax(-1)

    def forward(self, x, state):
        memory, read_w, write_w, hidden = state
        read = torch.bmm(read_w.unsqueeze(1), memory).squeeze(1)
        hidden = self.controller(torch.cat([x, read], -1), hidden)
        parts = self.heads(hidden).split([self.width, self.width, self.width, 1, 1], dim=-1)
        read_w = self.address(memory, parts[0], parts[3])
        write_w = 0.5 * write_w + 0.5 * self.address(memory, parts[1], parts[4])
        memory = memory + write_w.unsqueeze(-1) * parts[2].unsqueeze(1)
        read = torch.einsum("bs,bsw->bw", read_w, memory)
        return self.out(torch.cat([hidden, read], -1)), MemoryState(memory, read_w, write_w, hidden)


class PackedTagger(nn.Module):
    def __init__(self, word_vocab, char_vocab, tagset, word_dim=50, char_dim=16, hidden=64):
        super().__init__()
        self.words = nn.Embedding(len(word_vocab), word_dim, padding_idx=0)
        self.chars = nn.Embedding(len(char_vocab), char_dim, padding_idx=0)
        self.char_lstm = nn.LSTM(char_dim, char_dim, bidirectional=True, batch_first=True)
        self.lstm = nn.LSTM(word_dim + 2 * char_dim, hidden, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * hidden, len(tagset))

    def forward(self, word_ids, char_ids, seq_lens, char_lens):
        b, t, c = char_ids.size()
        packed = pack_padded_sequence(
            self.chars(char_ids.view(b * t, c)), char_lens.view(-1).cpu(), batch_first=True, enforce_sorted=False
        )
        _, (h, _) = self.char_lstm(packed)
        char_repr = torch.cat([h[0], h[1]], dim=-1).view(b, t, -1)
        x = torch.cat([self.words(word_ids), char_repr], dim=-1)
        packed = pack_padded_sequence(x, seq_lens.cpu(), batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=t)
        return self.out(out)


def square_distance(src, dst):
    return (src[:, :, None] - dst[:, None]).pow(2).sum(-1)


def index_points(points, idx):
    batch = torch.arange(points.shape[0], device=points.device).view(-1, *[1] * (idx.dim() - 1)).expand_as(idx)
    return points[batch, idx]


class PointTransformerBlock(nn.Module):
    def __init__(self, d_points, d_model, k):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_points, d_model), nn.Linear(d_model, d_points)
        self.fc_delta = nn.Sequential(nn.Linear(3, d_model), nn.ReLU(), nn.Linear(d_model, d_model))
        self.fc_gamma = nn.Linear(d_model, d_model)
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.k = k

    def forward(self, xyz, features):
        knn_idx = square_distance(xyz, xyz).argsort()[:, :, : self.k]
        q, k, v = self.qkv(self.fc1(features)).chunk(3, -1)
        pos = self.fc_delta(xyz[:, :, None] - index_points(xyz, knn_idx))
        attn = self.fc_gamma(q[:, :, None] - index_points(k, knn_idx) + pos).softmax(dim=-2)
        return self.fc2(torch.einsum("bmnf,bmnf->bmf", attn, index_points(v, knn_idx) + pos)) + features


class PointTransformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        npoints, nblocks, nneighbor = cfg.num_point, cfg.model.nblocks, cfg.model.nneighbor
        n_c, d_points = cfg.num_class, cfg.input_dim
        self.npoints = npoints
        self.fc1 = nn.Sequential(nn.Linear(d_points, 32), nn.ReLU(), nn.Linear(32, 32))
        self.blocks = nn.ModuleList(
            [PointTransformerBlock(32, cfg.model.transformer_dim, nneighbor) for _ in range(nblocks)]
        )
        self.head = nn.Linear(32, n_c)

    def forward(self, x):
        xyz = x[..., :3]
        points = self.fc1(x)
        for block in self.blocks:
            points = block(xyz, points)
        return self.head(points.mean(1))


class RecurrentPolicy(nn.Module):
    def __init__(self, obs_shape, num_actions, recurrent_hidden_size=128):
        super().__init__()
        c, h, w = obs_shape
        self.base = nn.Sequential(
            nn.Conv2d(c, 32, 8, stride=4), nn.ReLU(), nn.Conv2d(32, 32, 4, stride=2), nn.ReLU(), nn.Flatten()
        )
        with torch.no_grad():
            n_flat = self.base(torch.zeros(1, c, h, w)).shape[1]
        self.fc = nn.Linear(n_flat, recurrent_hidden_size)
        self.gru = nn.GRU(recurrent_hidden_size + num_actions, recurrent_hidden_size)
        self.actor = nn.Linear(recurrent_hidden_size, num_actions)
        self.critic = nn.Linear(recurrent_hidden_size, 1)
        self.num_actions = num_actions

    def forward(self, obs, prev_action, rnn_hxs, masks):
        x = F.relu(self.fc(self.base(obs / 255.0)))
        x = torch.cat([x, F.one_hot(prev_action, self.num_actions).float()], dim=1)
        N = rnn_hxs.size(0)
        T = x.size(0) // N
        x, masks = x.view(T, N, -1), masks.view(T, N, 1)
        outputs, h = [], rnn_hxs
        for t in range(T):
            out, h = self.gru(x[t : t + 1], (h * masks[t]).unsqueeze(0))
            h = h.squeeze(0)
            outputs.append(out)
        x = torch.cat(outputs).view(T * N, -1)
        return self.actor(x), self.critic(x), h


class SlotAttentionVideo(nn.Module):
    def __init__(self, resolution, num_slots, slot_dim, num_iterations=2):
        super().__init__()
        self.num_slots, self.num_iterations, self.slot_dim = num_slots, num_iterations, slot_dim
        self.encoder = nn.Sequential(nn.Conv2d(3, slot_dim, 5, padding=2), nn.ReLU())
        self.pos = nn.Parameter(torch.randn(1, resolution[0] * resolution[1], slot_dim))
        self.mu = nn.Parameter(torch.randn(1, 1, slot_dim))
        self.kv = nn.Linear(slot_dim, 2 * slot_dim)
        self.q = nn.Linear(slot_dim, slot_dim)
        self.gru = nn.GRUCell(slot_dim, slot_dim)

    def forward(self, video):
        B, T, C, H, W = video.shape
        feats = self.encoder(video.flatten(0, 1)).flatten(2).transpose(1, 2) + self.pos
        k, v = self.kv(feats.view(B, T, H * W, -1)).chunk(2, -1)
        slots, history = self.mu.expand(B, self.num_slots, -1), []
        for t in range(T):
            for _ in range(self.num_iterations):
                attn = torch.einsum("bkd,bnd->bkn", self.q(slots), k[:, t]).softmax(1)
                updates = (attn / attn.sum(-1, keepdim=True)) @ v[:, t]
                slots = self.gru(updates.flatten(0, 1), slots.flatten(0, 1)).view_as(slots)
            history.append(slots)
        return torch.stack(history, 1)


def lengths_to_padding_mask(lens, max_len):
    return torch.arange(max_len, device=lens.device)[None] >= lens[:, None]


class SpeechEncoder(nn.Module):
    def __init__(self, args, tgt_dict):
        super().__init__()
        dim = args.encoder_embed_dim
        self.subsample = nn.ModuleList(
            [
                nn.Conv1d(
                    args.input_feat_per_channel * args.input_channels, args.conv_channels, 5, stride=2, padding=2
                ),
                nn.Conv1d(args.conv_channels // 2, dim * 2, 5, stride=2, padding=2),
            ]
        )
        self.scale = 1.0 if args.no_scale_embedding else math.sqrt(dim)
        self.layers = nn.ModuleList(
            [
                nn.TransformerEncoderLayer(dim, args.encoder_attention_heads, args.encoder_ffn_embed_dim)
                for _ in range(args.encoder_layers)
            ]
        )
        self.ctc_proj = nn.Linear(dim, len(tgt_dict))

    def forward(self, src_tokens, src_lengths):
        x = src_tokens.transpose(1, 2)
        for conv in self.subsample:
            x = F.glu(conv(x), dim=1)
            src_lengths = torch.div(src_lengths - 1, 2, rounding_mode="floor") + 1
        x = self.scale * x.permute(2, 0, 1)
        mask = lengths_to_padding_mask(src_lengths, x.size(0))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=mask)
        return {"encoder_out": [self.ctc_proj(x)], "encoder_padding_mask": [mask]}


class WorldModel(nn.Module):
    def __init__(self, embed_size, action_size, stoch=16, discrete=8, deter=64):
        super().__init__()
        self.stoch, self.discrete, self.deter = stoch, discrete, deter
        self.img_in = nn.Sequential(nn.Linear(stoch * discrete + action_size, deter), nn.ELU())
        self.cell = nn.GRUCell(deter, deter)
        self.prior = nn.Linear(deter, stoch * discrete)
        self.post = nn.Linear(deter + embed_size, stoch * discrete)

    def initial(self, batch_size, device="cpu"):
        return {
            "logit": torch.zeros(batch_size, self.stoch, self.discrete, device=device),
            "stoch": torch.zeros(batch_size, self.stoch, self.discrete, device=device),
            "deter": torch.zeros(batch_size, self.deter, device=device),
        }

    def step(self, state, action, embed):
        x = self.img_in(torch.cat([state["stoch"].flatten(1), action], -1))
        deter = self.cell(x, state["deter"])
        logit = self.post(torch.cat([deter, embed], -1)).view(-1, self.stoch, self.discrete)
        return {"logit": logit, "stoch": logit.softmax(-1), "deter": deter}

    def forward(self, embed, action, is_first, state=None):
        if state is None:
            state = self.initial(action.shape[0], action.device)
        outs = []
        for t in range(action.shape[1]):
            keep = 1.0 - is_first[:, t].float()
            state = {k: v * keep.view(-1, *[1] * (v.dim() - 1)) for k, v in state.items()}
            state = self.step(state, action[:, t] * keep[:, None], embed[:, t])
            outs.append(self.prior(state["deter"]).view_as(state["logit"]) - state["logit"])
        return torch.stack(outs, 1), state


class RelAttention(nn.Module):
    def __init__(self, n_head, d_model, d_head):
        super().__init__()
        self.n_head, self.d_head = n_head, d_head
        self.qkv = nn.Linear(d_model, 3 * n_head * d_head, bias=False)
        self.o = nn.Linear(n_head * d_head, d_model, bias=False)

    def forward(self, w, mems=None):
        qlen, bsz = w.size(0), w.size(1)
        cat = w if mems is None else torch.cat([mems, w], 0)
        q, k, v = self.qkv(cat).chunk(3, dim=-1)
        klen = k.size(0)
        q = q[-qlen:].view(qlen, bsz, self.n_head, self.d_head)
        k, v = (z.view(klen, bsz, self.n_head, self.d_head) for z in (k, v))
        prob = (torch.einsum("ibnd,jbnd->ijbn", q, k) / self.d_head**0.5).softmax(1)
        return w + self.o(torch.einsum("ijbn,jbnd->ibnd", prob, v).reshape(qlen, bsz, -1))


class XLMemoryDecoder(nn.Module):
    def __init__(self, n_token, n_layer, n_head, d_model, d_head, mem_len=8):
        super().__init__()
        self.emb = nn.Embedding(n_token, d_model)
        self.layers = nn.ModuleList([RelAttention(n_head, d_model, d_head) for _ in range(n_layer)])
        self.crit = nn.Linear(d_model, n_token)
        self.mem_len = mem_len

    def forward(self, data, target, *mems):
        h = self.emb(data)
        new = []
        for i, layer in enumerate(self.layers):
            new.append(h.detach()[-self.mem_len :])
            h = layer(h, mems[i] if mems else None)
        logit = self.crit(h)
        loss = -logit.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
        return [loss, *new]
