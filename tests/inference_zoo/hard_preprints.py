"""Hard: what repositories of papers publish, with their configurations, conditions and batches.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "CLIP",
    "DETR",
    "GINE",
    "GPT",
    "VQVAE",
    "DiT",
    "FastSpeech2",
    "PixelSAC",
    "PointNet2Cls",
    "TemporalFusion",
    "TimeSformer",
    "UNetModel",
]


@dataclass
class VQVAEConfig:
    in_channels: int
    num_hiddens: int
    num_residual_layers: int
    num_embeddings: int
    embedding_dim: int
    commitment_cost: float = 0.25


class VectorQuantizer(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, commitment_cost):
        super().__init__()
        self.embedding_dim = embedding_dim
        self.commitment_cost = commitment_cost
        self.codebook = nn.Embedding(num_embeddings, embedding_dim)

    def forward(self, z):
        z = z.permute(0, 2, 3, 1).contiguous()
        flat = z.view(-1, self.embedding_dim)
        dist = (
            flat.pow(2).sum(1, keepdim=True) + self.codebook.weight.pow(2).sum(1) - 2 * flat @ self.codebook.weight.t()
        )
        idx = dist.argmin(1)
        q = self.codebook(idx).view(z.shape)
        loss = F.mse_loss(q, z.detach()) + self.commitment_cost * F.mse_loss(q.detach(), z)
        q = z + (q - z).detach()
        return q.permute(0, 3, 1, 2).contiguous(), loss, idx


class VQVAE(nn.Module):
    def __init__(self, cfg: VQVAEConfig):
        super().__init__()
        h = cfg.num_hiddens
        self.encoder = nn.Sequential(
            nn.Conv2d(cfg.in_channels, h // 2, 4, 2, 1), nn.ReLU(), nn.Conv2d(h // 2, h, 4, 2, 1), nn.ReLU()
        )
        self.res = nn.ModuleList([nn.Conv2d(h, h, 3, 1, 1) for _ in range(cfg.num_residual_layers)])
        self.pre_vq = nn.Conv2d(h, cfg.embedding_dim, 1)
        self.vq = VectorQuantizer(cfg.num_embeddings, cfg.embedding_dim, cfg.commitment_cost)
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(cfg.embedding_dim, h, 4, 2, 1),
            nn.ReLU(),
            nn.ConvTranspose2d(h, cfg.in_channels, 4, 2, 1),
        )

    def forward(self, x):
        z = self.encoder(x)
        for layer in self.res:
            z = z + F.relu(layer(z))
        q, vq_loss, _ = self.vq(self.pre_vq(z))
        recon = self.decoder(q)
        return recon, vq_loss + F.mse_loss(recon, x)


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class TimestepEmbedder(nn.Module):
    def __init__(self, hidden_size, frequency_embedding_size=256):
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(frequency_embedding_size, hidden_size), nn.SiLU(), nn.Linear(hidden_size, hidden_size)
        )
        self.size = frequency_embedding_size

    def forward(self, t):
        half = self.size // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half).to(t.device)
        args = t[:, None].float() * freqs[None]
        return self.mlp(torch.cat([torch.cos(args), torch.sin(args)], dim=-1))


class LabelEmbedder(nn.Module):
    def __init__(self, num_classes, hidden_size, dropout_prob):
        super().__init__()
        self.embedding_table = nn.Embedding(num_classes + int(dropout_prob > 0), hidden_size)
        self.num_classes, self.dropout_prob = num_classes, dropout_prob

    def forward(self, labels, train):
        if train and self.dropout_prob > 0:
            drop = torch.rand(labels.shape[0], device=labels.device) < self.dropout_prob
            labels = torch.where(drop, self.num_classes, labels)
        return self.embedding_table(labels)


class DiTBlock(nn.Module):
    def __init__(self, hidden_size, num_heads, mlp_ratio=4.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(hidden_size, elementwise_affine=False, eps=1e-6)
        self.qkv = nn.Linear(hidden_size, 3 * hidden_size)
        self.proj = nn.Linear(hidden_size, hidden_size)
        self.num_heads = num_heads
        self.norm2 = nn.LayerNorm(hidden_size, elementwise_affine=False, eps=1e-6)
        mlp = int(hidden_size * mlp_ratio)
        self.mlp = nn.Sequential(nn.Linear(hidden_size, mlp), nn.GELU(approximate="tanh"), nn.Linear(mlp, hidden_size))
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(hidden_size, 6 * hidden_size))

    def attend(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.num_heads, c // self.num_heads).permute(2, 0, 3, 1, 4).unbind(0)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, c))

    def forward(self, x, c):
        sa, ca, ga, sm, cm, gm = self.ada(c).chunk(6, dim=1)
        x = x + ga.unsqueeze(1) * self.attend(modulate(self.norm1(x), sa, ca))
        return x + gm.unsqueeze(1) * self.mlp(modulate(self.norm2(x), sm, cm))


class DiT(nn.Module):
    def __init__(
        self, input_size, patch_size, in_channels, hidden_size, depth, num_heads, num_classes, class_dropout_prob=0.1
    ):
        super().__init__()
        self.in_channels, self.patch_size = in_channels, patch_size
        self.x_embedder = nn.Conv2d(in_channels, hidden_size, patch_size, patch_size)
        self.t_embedder = TimestepEmbedder(hidden_size)
        self.y_embedder = LabelEmbedder(num_classes, hidden_size, class_dropout_prob)
        self.pos_embed = nn.Parameter(torch.zeros(1, (input_size // patch_size) ** 2, hidden_size), requires_grad=False)
        self.blocks = nn.ModuleList([DiTBlock(hidden_size, num_heads) for _ in range(depth)])
        self.out = nn.Linear(hidden_size, patch_size * patch_size * in_channels)

    def unpatchify(self, x):
        p, c = self.patch_size, self.in_channels
        h = w = int(x.shape[1] ** 0.5)
        assert h * w == x.shape[1]
        x = x.reshape(x.shape[0], h, w, p, p, c)
        return torch.einsum("nhwpqc->nchpwq", x).reshape(x.shape[0], c, h * p, w * p)

    def forward(self, x, t, y):
        x = self.x_embedder(x).flatten(2).transpose(1, 2) + self.pos_embed
        c = self.t_embedder(t) + self.y_embedder(y, self.training)
        for block in self.blocks:
            x = block(x, c)
        return self.unpatchify(self.out(x))


class DETR(nn.Module):
    def __init__(self, backbone, transformer, num_classes, num_queries, aux_loss=False):
        super().__init__()
        self.num_queries = num_queries
        self.transformer = transformer
        hidden_dim = transformer.d_model
        self.class_embed = nn.Linear(hidden_dim, num_classes + 1)
        self.bbox_embed = nn.Sequential(nn.Linear(hidden_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 4))
        self.query_embed = nn.Embedding(num_queries, hidden_dim)
        self.input_proj = nn.Conv2d(backbone.num_channels, hidden_dim, kernel_size=1)
        self.backbone = backbone
        self.aux_loss = aux_loss

    def forward(self, samples):
        src = self.input_proj(self.backbone(samples))
        src = src.flatten(2).permute(0, 2, 1)
        query = self.query_embed.weight.unsqueeze(0).repeat(src.shape[0], 1, 1)
        hs = self.transformer(src, query)
        return {"pred_logits": self.class_embed(hs), "pred_boxes": self.bbox_embed(hs).sigmoid()}


def square_distance(src, dst):
    return ((src[:, :, None] - dst[:, None]) ** 2).sum(-1)


def index_points(points, idx):
    batch = torch.arange(points.shape[0], device=points.device).view(-1, *[1] * (idx.dim() - 1)).expand_as(idx)
    return points[batch, idx]


class SetAbstraction(nn.Module):
    def __init__(self, npoint, nsample, in_channel, mlp):
        super().__init__()
        self.npoint, self.nsample = npoint, nsample
        self.convs, self.bns = nn.ModuleList(), nn.ModuleList()
        last = in_channel
        for out in mlp:
            self.convs.append(nn.Conv2d(last, out, 1))
            self.bns.append(nn.BatchNorm2d(out))
            last = out

    def forward(self, xyz, points):
        xyz = xyz.permute(0, 2, 1)
        centres = xyz[:, :: max(1, xyz.shape[1] // self.npoint)][:, : self.npoint]
        idx = square_distance(centres, xyz).topk(self.nsample, dim=-1, largest=False)[1]
        grouped = index_points(xyz, idx) - centres.unsqueeze(2)
        if points is not None:
            grouped = torch.cat([grouped, index_points(points.permute(0, 2, 1), idx)], dim=-1)
        x = grouped.permute(0, 3, 2, 1)
        for conv, bn in zip(self.convs, self.bns, strict=True):
            x = F.relu(bn(conv(x)))
        return centres.permute(0, 2, 1), x.max(2)[0]


class PointNet2Cls(nn.Module):
    def __init__(self, num_class, normal_channel=True):
        super().__init__()
        in_channel = 6 if normal_channel else 3
        self.normal_channel = normal_channel
        self.sa1 = SetAbstraction(64, 16, in_channel, [32, 64])
        self.sa2 = SetAbstraction(16, 8, 64 + 3, [64, 128])
        self.fc1 = nn.Linear(128, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, num_class)

    def forward(self, xyz):
        B, _, _ = xyz.shape
        if self.normal_channel:
            norm = xyz[:, 3:, :]
            xyz = xyz[:, :3, :]
        else:
            norm = None
        l1_xyz, l1_points = self.sa1(xyz, norm)
        _l2_xyz, l2_points = self.sa2(l1_xyz, l1_points)
        x = l2_points.max(-1)[0].view(B, 128)
        return F.log_softmax(self.fc2(F.relu(self.bn1(self.fc1(x)))), -1), l2_points


class GINEConv(nn.Module):
    def __init__(self, emb_dim):
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(emb_dim, 2 * emb_dim), nn.BatchNorm1d(2 * emb_dim), nn.ReLU(), nn.Linear(2 * emb_dim, emb_dim)
        )
        self.eps = nn.Parameter(torch.zeros(1))
        self.bond_encoder = nn.Linear(4, emb_dim)

    def forward(self, x, edge_index, edge_attr):
        row, col = edge_index
        messages = F.relu(x[row] + self.bond_encoder(edge_attr))
        out = torch.zeros_like(x).index_add(0, col, messages)
        return self.mlp((1 + self.eps) * x + out)


class GINE(nn.Module):
    def __init__(self, num_layer, emb_dim, num_tasks, drop_ratio=0.5, JK="last", graph_pooling="sum"):
        super().__init__()
        self.atom_encoder = nn.Embedding(120, emb_dim)
        self.convs = nn.ModuleList([GINEConv(emb_dim) for _ in range(num_layer)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(emb_dim) for _ in range(num_layer)])
        self.drop_ratio, self.JK = drop_ratio, JK
        if graph_pooling not in ("sum", "mean"):
            raise ValueError("Invalid graph pooling type.")
        self.graph_pooling = graph_pooling
        self.graph_pred_linear = nn.Linear(emb_dim, num_tasks)

    def forward(self, batched_data):
        x, edge_index = batched_data.x, batched_data.edge_index
        edge_attr, batch = batched_data.edge_attr, batched_data.batch
        h = self.atom_encoder(x)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = F.dropout(F.relu(norm(conv(h, edge_index, edge_attr))), self.drop_ratio, training=self.training)
        n = int(batch.max()) + 1
        pooled = h.new_zeros(n, h.size(1)).index_add(0, batch, h)
        if self.graph_pooling == "mean":
            pooled = pooled / torch.bincount(batch, minlength=n).unsqueeze(1)
        return self.graph_pred_linear(pooled)


@dataclass
class GPTConfig:
    block_size: int
    vocab_size: int
    n_layer: int
    n_head: int
    n_embd: int
    n_expert: int
    top_k: int
    dropout: float
    bias: bool


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.n_head, self.n_embd, self.dropout = config.n_head, config.n_embd, config.dropout
        self.register_buffer(
            "mask",
            torch.tril(torch.ones(config.block_size, config.block_size)).view(
                1, 1, config.block_size, config.block_size
            ),
        )

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (y.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for y in (q, k, v))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf")).softmax(-1)
        return self.c_proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))


class MoE(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate = nn.Linear(config.n_embd, config.n_expert, bias=False)
        self.experts = nn.ModuleList(
            [
                nn.Sequential(
                    nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(), nn.Linear(4 * config.n_embd, config.n_embd)
                )
                for _ in range(config.n_expert)
            ]
        )
        self.top_k = config.top_k

    def forward(self, x):
        weights, chosen = self.gate(x).topk(self.top_k, dim=-1)
        weights = weights.softmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            share = (weights * (chosen == i)).sum(-1, keepdim=True)
            out = out + share * expert(x)
        return out


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)
        self.attn, self.moe = CausalSelfAttention(config), MoE(config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.moe(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.vocab_size is not None
        assert config.block_size is not None
        self.config = config
        self.transformer = nn.ModuleDict(
            dict(
                wte=nn.Embedding(config.vocab_size, config.n_embd),
                wpe=nn.Embedding(config.block_size, config.n_embd),
                drop=nn.Dropout(config.dropout),
                h=nn.ModuleList([Block(config) for _ in range(config.n_layer)]),
                ln_f=nn.LayerNorm(config.n_embd),
            )
        )
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, idx, targets=None):
        _b, t = idx.size()
        assert t <= self.config.block_size, (
            f"Cannot forward sequence of length {t}, block size is only {self.config.block_size}"
        )
        pos = torch.arange(0, t, dtype=torch.long, device=idx.device)
        x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(pos))
        for block in self.transformer.h:
            x = block(x)
        logits = self.lm_head(self.transformer.ln_f(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss


def get_mask_from_lengths(lengths, max_len=None):
    max_len = int(lengths.max()) if max_len is None else max_len
    ids = torch.arange(0, max_len, device=lengths.device).unsqueeze(0).expand(lengths.shape[0], -1)
    return ids >= lengths.unsqueeze(1)


class FastSpeech2(nn.Module):
    def __init__(self, preprocess_config, model_config):
        super().__init__()
        hidden = model_config["transformer"]["encoder_hidden"]
        heads = model_config["transformer"]["encoder_head"]
        self.word_emb = nn.Embedding(361, hidden, padding_idx=0)
        layer = nn.TransformerEncoderLayer(
            hidden, heads, model_config["transformer"]["conv_filter_size"], batch_first=True
        )
        self.encoder = nn.TransformerEncoder(
            layer, model_config["transformer"]["encoder_layer"], enable_nested_tensor=False
        )
        self.duration_predictor = nn.Linear(hidden, 1)
        self.pitch_predictor = nn.Linear(hidden, 1)
        self.pitch_embedding = nn.Linear(1, hidden)
        self.mel_linear = nn.Linear(hidden, preprocess_config["preprocessing"]["mel"]["n_mel_channels"])
        self.speaker_emb = None
        if model_config["multi_speaker"]:
            self.speaker_emb = nn.Embedding(10, hidden)

    def forward(self, speakers, texts, src_lens, max_src_len, p_targets=None, p_control=1.0):
        src_masks = get_mask_from_lengths(src_lens, max_src_len)
        output = self.encoder(self.word_emb(texts), src_key_padding_mask=src_masks)
        if self.speaker_emb is not None:
            output = output + self.speaker_emb(speakers).unsqueeze(1).expand(-1, max_src_len, -1)
        log_d = self.duration_predictor(output).squeeze(-1).masked_fill(src_masks, 0.0)
        pitch = self.pitch_predictor(output).squeeze(-1) * p_control
        output = output + self.pitch_embedding((p_targets if p_targets is not None else pitch).unsqueeze(-1))
        return self.mel_linear(output), log_d, pitch, src_masks


class PixelEncoder(nn.Module):
    def __init__(self, obs_shape, feature_dim, num_layers=2, num_filters=32):
        super().__init__()
        assert len(obs_shape) == 3
        self.convs = nn.ModuleList([nn.Conv2d(obs_shape[0], num_filters, 3, stride=2)])
        for _ in range(num_layers - 1):
            self.convs.append(nn.Conv2d(num_filters, num_filters, 3, stride=1))
        with torch.no_grad():
            flat = self.forward_conv(torch.zeros(1, *obs_shape)).shape[1]
        self.fc = nn.Linear(flat, feature_dim)
        self.ln = nn.LayerNorm(feature_dim)

    def forward_conv(self, obs):
        obs = obs / 255.0
        for conv in self.convs:
            obs = torch.relu(conv(obs))
        return obs.reshape(obs.size(0), -1)

    def forward(self, obs, detach=False):
        h = self.forward_conv(obs)
        if detach:
            h = h.detach()
        return torch.tanh(self.ln(self.fc(h)))


class PixelSAC(nn.Module):
    def __init__(self, obs_shape, action_shape, hidden_dim, encoder_feature_dim, log_std_min=-10, log_std_max=2):
        super().__init__()
        self.encoder = PixelEncoder(obs_shape, encoder_feature_dim)
        self.trunk = nn.Sequential(
            nn.Linear(encoder_feature_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 2 * action_shape[0])
        )
        self.Q1 = nn.Sequential(
            nn.Linear(encoder_feature_dim + action_shape[0], hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 1)
        )
        self.Q2 = nn.Sequential(
            nn.Linear(encoder_feature_dim + action_shape[0], hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 1)
        )
        self.log_std_min, self.log_std_max = log_std_min, log_std_max

    def forward(self, obs, action, detach_encoder=False):
        h = self.encoder(obs, detach=detach_encoder)
        mu, log_std = self.trunk(h).chunk(2, dim=-1)
        log_std = self.log_std_min + 0.5 * (self.log_std_max - self.log_std_min) * (torch.tanh(log_std) + 1)
        obs_action = torch.cat([h, action], dim=1)
        return mu, log_std, self.Q1(obs_action), self.Q2(obs_action)


class DividedAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.time, self.space = (nn.MultiheadAttention(dim, heads, batch_first=True) for _ in range(2))
        self.n1, self.n2, self.n3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, t):
        b, n, d = x.shape
        s = n // t
        xt = self.n1(x).view(b, t, s, d).transpose(1, 2).reshape(b * s, t, d)
        x = x + self.time(xt, xt, xt)[0].view(b, s, t, d).transpose(1, 2).reshape(b, n, d)
        xs = self.n2(x).view(b * t, s, d)
        x = x + self.space(xs, xs, xs)[0].reshape(b, n, d)
        return x + self.mlp(self.n3(x))


class TimeSformer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        num_patches = (args.image_size // args.patch_size) ** 2
        self.patch_dim = 3 * args.patch_size**2
        self.to_patch = nn.Linear(self.patch_dim, args.dim)
        self.pos_embedding = nn.Parameter(torch.randn(1, args.num_frames * num_patches, args.dim))
        self.layers = nn.ModuleList([DividedAttention(args.dim, args.heads) for _ in range(args.depth)])
        self.head = nn.Sequential(nn.LayerNorm(args.dim), nn.Linear(args.dim, args.num_classes))

    def forward(self, video):
        b, f, _c, h, w = video.shape
        p = self.args.patch_size
        assert h % p == 0 and w % p == 0, f"height {h} and width {w} of video must be divisible by the patch size {p}"
        x = video.unfold(3, p, p).unfold(4, p, p).permute(0, 1, 3, 4, 2, 5, 6).reshape(b, -1, self.patch_dim)
        x = self.to_patch(x) + self.pos_embedding
        for layer in self.layers:
            x = layer(x, f)
        return self.head(x.mean(1))


class GatedResidual(nn.Module):
    def __init__(self, in_dim, hidden, ctx=None):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(in_dim, hidden), nn.Linear(hidden, 2 * hidden)
        self.ctx = nn.Linear(ctx, hidden, bias=False) if ctx else None
        self.skip = nn.Linear(in_dim, hidden) if in_dim != hidden else nn.Identity()
        self.norm = nn.LayerNorm(hidden)

    def forward(self, x, c=None):
        h = self.fc1(x)
        if c is not None:
            h = h + self.ctx(c).unsqueeze(1)
        return self.norm(self.skip(x) + F.glu(self.fc2(F.elu(h)), -1))


class TemporalFusion(nn.Module):
    def __init__(
        self, static_cardinalities, num_observed, num_known, hidden_size, quantiles=(0.1, 0.5, 0.9), num_heads=4
    ):
        super().__init__()
        self.static = nn.ModuleList([nn.Embedding(c, hidden_size) for c in static_cardinalities])
        self.observed = GatedResidual(num_observed + num_known, hidden_size, hidden_size)
        self.known = GatedResidual(num_known, hidden_size, hidden_size)
        self.enc = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.dec = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.attn = nn.MultiheadAttention(hidden_size, num_heads, batch_first=True)
        self.out = nn.Linear(hidden_size, len(quantiles))

    def forward(self, x):
        ctx = torch.stack([e(x["static_cat"][:, i]) for i, e in enumerate(self.static)]).mean(0)
        past = self.observed(torch.cat([x["observed"], x["known_past"]], dim=-1), ctx)
        future = self.known(x["known_future"], ctx)
        enc, state = self.enc(past)
        dec, _ = self.dec(future, state)
        seq = torch.cat([enc, dec], dim=1)
        steps = dec.size(1)
        mask = torch.triu(torch.ones(steps, seq.size(1), dtype=torch.bool, device=seq.device), 1 + enc.size(1))
        a, w = self.attn(dec, seq, seq, attn_mask=mask)
        return {"prediction": self.out(dec + a), "attention": w}


class CLIP(nn.Module):
    def __init__(
        self,
        embed_dim: int,
        image_resolution: int,
        vision_layers: tuple[int, int] | int,
        vision_width: int,
        vision_patch_size: int,
        context_length: int,
        vocab_size: int,
        transformer_width: int,
        transformer_heads: int,
        transformer_layers: int,
    ):
        super().__init__()
        self.context_length = context_length
        vision_heads = vision_width // 64
        self.conv1 = nn.Conv2d(3, vision_width, vision_patch_size, vision_patch_size, bias=False)
        n = (image_resolution // vision_patch_size) ** 2
        self.class_embedding = nn.Parameter(torch.randn(vision_width))
        self.visual_pos = nn.Parameter(torch.randn(n + 1, vision_width))
        vit = nn.TransformerEncoderLayer(vision_width, vision_heads, 4 * vision_width, batch_first=True)
        self.visual = nn.TransformerEncoder(vit, vision_layers)
        self.visual_proj = nn.Parameter(torch.randn(vision_width, embed_dim))
        self.token_embedding = nn.Embedding(vocab_size, transformer_width)
        self.positional_embedding = nn.Parameter(torch.empty(context_length, transformer_width))
        text = nn.TransformerEncoderLayer(transformer_width, transformer_heads, 4 * transformer_width, batch_first=True)
        self.transformer = nn.TransformerEncoder(text, transformer_layers)
        self.text_projection = nn.Parameter(torch.empty(transformer_width, embed_dim))
        self.logit_scale = nn.Parameter(torch.ones([]) * math.log(1 / 0.07))

    def encode_image(self, image):
        x = self.conv1(image).flatten(2).permute(0, 2, 1)
        x = torch.cat([self.class_embedding.expand(x.shape[0], 1, -1), x], dim=1) + self.visual_pos
        return self.visual(x)[:, 0] @ self.visual_proj

    def encode_text(self, text):
        x = self.token_embedding(text) + self.positional_embedding
        x = self.transformer(x)
        return x[torch.arange(x.shape[0]), text.argmax(dim=-1)] @ self.text_projection

    def forward(self, image, text):
        image_features, text_features = self.encode_image(image), self.encode_text(text)
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = text_features / text_features.norm(dim=1, keepdim=True)
        logits_per_image = self.logit_scale.exp() * image_features @ text_features.t()
        return logits_per_image, logits_per_image.t()


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32, device=timesteps.device) / half)
    args = timesteps[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, channels, emb_channels, out_channels):
        super().__init__()
        self.in_layers = nn.Sequential(
            nn.GroupNorm(32, channels), nn.SiLU(), nn.Conv2d(channels, out_channels, 3, padding=1)
        )
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb_channels, out_channels))
        self.out_layers = nn.Sequential(
            nn.GroupNorm(32, out_channels), nn.SiLU(), nn.Conv2d(out_channels, out_channels, 3, padding=1)
        )
        self.skip = nn.Identity() if channels == out_channels else nn.Conv2d(channels, out_channels, 1)

    def forward(self, x, emb):
        return self.skip(x) + self.out_layers(self.in_layers(x) + self.emb_layers(emb)[..., None, None])


class SpatialTransformer(nn.Module):
    def __init__(self, channels, heads, context_dim):
        super().__init__()
        self.norm = nn.GroupNorm(32, channels)
        self.attn = nn.MultiheadAttention(channels, heads, kdim=context_dim, vdim=context_dim, batch_first=True)

    def forward(self, x, context):
        b, c, h, w = x.shape
        q = self.norm(x).view(b, c, h * w).transpose(1, 2)
        return x + self.attn(q, context, context)[0].transpose(1, 2).view(b, c, h, w)


class UNetModel(nn.Module):
    def __init__(
        self,
        in_channels,
        model_channels,
        out_channels,
        num_res_blocks,
        attention_resolutions,
        channel_mult,
        num_heads,
        context_dim,
    ):
        super().__init__()
        self.model_channels = model_channels
        emb = 4 * model_channels
        self.time_embed = nn.Sequential(nn.Linear(model_channels, emb), nn.SiLU(), nn.Linear(emb, emb))
        self.conv_in = nn.Conv2d(in_channels, model_channels, 3, padding=1)
        self.down, self.up, chans, ch, ds = nn.ModuleList(), nn.ModuleList(), [model_channels], model_channels, 1
        for level, mult in enumerate(channel_mult):
            for _ in range(num_res_blocks):
                layers = [ResBlock(ch, emb, mult * model_channels)]
                ch = mult * model_channels
                if ds in attention_resolutions:
                    layers.append(SpatialTransformer(ch, num_heads, context_dim))
                self.down.append(nn.ModuleList(layers))
                chans.append(ch)
            if level != len(channel_mult) - 1:
                self.down.append(nn.ModuleList([nn.Conv2d(ch, ch, 3, stride=2, padding=1)]))
                chans.append(ch)
                ds *= 2
        self.middle = nn.ModuleList(
            [ResBlock(ch, emb, ch), SpatialTransformer(ch, num_heads, context_dim), ResBlock(ch, emb, ch)]
        )
        for level, mult in list(enumerate(channel_mult))[::-1]:
            for i in range(num_res_blocks + 1):
                layers = [ResBlock(ch + chans.pop(), emb, mult * model_channels)]
                ch = mult * model_channels
                if ds in attention_resolutions:
                    layers.append(SpatialTransformer(ch, num_heads, context_dim))
                if level and i == num_res_blocks:
                    layers.append(nn.Upsample(scale_factor=2))
                    ds //= 2
                self.up.append(nn.ModuleList(layers))
        self.out = nn.Sequential(nn.GroupNorm(32, ch), nn.SiLU(), nn.Conv2d(ch, out_channels, 3, padding=1))

    def apply_layers(self, layers, x, emb, context):
        for layer in layers:
            if isinstance(layer, ResBlock):
                x = layer(x, emb)
            elif isinstance(layer, SpatialTransformer):
                x = layer(x, context)
            else:
                x = layer(x)
        return x

    def forward(self, x, timesteps, context=None):
        emb = self.time_embed(timestep_embedding(timesteps, self.model_channels))
        h = self.conv_in(x)
        hs = [h]
        for layers in self.down:
            h = self.apply_layers(layers, h, emb, context)
            hs.append(h)
        h = self.apply_layers(self.middle, h, emb, context)
        for layers in self.up:
            h = self.apply_layers(layers, torch.cat([h, hs.pop()], dim=1), emb, context)
        return self.out(h)
