"""Hard, once aside: library code with registries, abstract bases, environments, caches and nested configurations."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "Agent",
    "BatchRanker",
    "CachedDecoder",
    "GatedExperts",
    "HeteroGNN",
    "LinearVAE",
    "MetaLearner",
    "RegistryDetector",
]


class Agent(nn.Module):
    """As single-file reinforcement learning writes it."""

    def __init__(self, envs):
        super().__init__()
        obs_size = int(torch.tensor(envs.single_observation_space.shape).prod())
        self.critic = nn.Sequential(nn.Linear(obs_size, 64), nn.Tanh(), nn.Linear(64, 1))
        self.actor = nn.Sequential(nn.Linear(obs_size, 64), nn.Tanh(), nn.Linear(64, envs.single_action_space.n))

    def get_value(self, x):
        return self.critic(x)

    def forward(self, x):
        return self.actor(x), self.get_value(x)


BACKBONES, NECKS = {}, {}


def register(registry):
    def wrap(cls):
        registry[cls.__name__] = cls
        return cls

    return wrap


@register(BACKBONES)
class PlainBackbone(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.c1 = nn.Conv2d(3, width, 3, 2, 1)
        self.c2 = nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.out_channels = (width, 2 * width)

    def forward(self, x):
        a = F.relu(self.c1(x))
        return a, F.relu(self.c2(a))


@register(NECKS)
class TopDown(nn.Module):
    def __init__(self, in_channels, out_channels=24):
        super().__init__()
        self.laterals = nn.ModuleList(nn.Conv2d(c, out_channels, 1) for c in in_channels)
        self.out_channels = out_channels

    def forward(self, features):
        low, high = (lateral(f) for lateral, f in zip(self.laterals, features, strict=True))
        return low + F.interpolate(high, scale_factor=2), high


def build(registry, cfg, **extra):
    cfg = dict(cfg)
    return registry[cfg.pop("type")](**cfg, **extra)


class RegistryDetector(nn.Module):
    def __init__(self, backbone, neck, num_classes):
        super().__init__()
        self.backbone = build(BACKBONES, backbone)
        self.neck = build(NECKS, neck, in_channels=self.backbone.out_channels)
        self.cls = nn.Conv2d(self.neck.out_channels, num_classes, 1)
        self.reg = nn.Conv2d(self.neck.out_channels, 4, 1)

    def forward(self, img):
        return [(self.cls(f), self.reg(f)) for f in self.neck(self.backbone(img))]


class BaseVAE(nn.Module, abc.ABC):
    @abc.abstractmethod
    def encode(self, input):
        raise NotImplementedError

    @abc.abstractmethod
    def decode(self, z):
        raise NotImplementedError


class LinearVAE(BaseVAE):
    def __init__(self, in_channels, latent_dim, hidden_dims=None, **kwargs):
        super().__init__()
        hidden_dims = hidden_dims or [32, 64]
        modules, width = [], in_channels
        for h_dim in hidden_dims:
            modules.append(nn.Sequential(nn.Conv2d(width, h_dim, 3, 2, 1), nn.BatchNorm2d(h_dim), nn.LeakyReLU()))
            width = h_dim
        self.encoder = nn.Sequential(*modules)
        self.size = kwargs.get("img_size", 64) // 2 ** len(hidden_dims)
        self.fc_mu = nn.Linear(width * self.size**2, latent_dim)
        self.fc_var = nn.Linear(width * self.size**2, latent_dim)
        self.fc_dec = nn.Linear(latent_dim, in_channels * 64)

    def encode(self, input):
        result = torch.flatten(self.encoder(input), start_dim=1)
        return [self.fc_mu(result), self.fc_var(result)]

    def decode(self, z):
        return self.fc_dec(z).view(z.size(0), -1, 8, 8)

    def forward(self, input, **kwargs):
        mu, log_var = self.encode(input)
        return [self.decode(mu + torch.exp(0.5 * log_var) * torch.randn_like(log_var)), input, mu, log_var]


class GatedExperts(nn.Module):
    def __init__(self, input_size, output_size, num_experts, hidden_size, k):
        super().__init__()
        assert k <= num_experts
        self.k, self.num_experts = k, num_experts
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(input_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, output_size))
            for _ in range(num_experts)
        )
        self.w_gate = nn.Parameter(torch.zeros(input_size, num_experts))

    def forward(self, x, loss_coef=1e-2):
        top, indices = (x @ self.w_gate).topk(self.k, dim=1)
        gates = torch.zeros(x.size(0), self.num_experts).scatter(1, indices, top.softmax(1))
        importance = gates.sum(0)
        loss = loss_coef * importance.var() / (importance.mean() ** 2 + 1e-10)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        return (gates.unsqueeze(-1) * outputs).sum(1), loss


@dataclass
class AttentionSettings:
    n_heads: int
    n_kv_heads: int | None = None
    rope_theta: float = 10000.0


@dataclass
class DecoderSettings:
    dim: int
    n_layers: int
    vocab_size: int
    attention: AttentionSettings
    max_seq_len: int = 128
    norm_eps: float = field(default=1e-5)


class CachedLayer(nn.Module):
    def __init__(self, s: DecoderSettings):
        super().__init__()
        self.n_heads = s.attention.n_heads
        self.head_dim = s.dim // s.attention.n_heads
        self.n_kv = s.attention.n_kv_heads or s.attention.n_heads
        self.wq = nn.Linear(s.dim, self.n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(s.dim, self.n_kv * self.head_dim, bias=False)
        self.wv = nn.Linear(s.dim, self.n_kv * self.head_dim, bias=False)
        self.wo = nn.Linear(self.n_heads * self.head_dim, s.dim, bias=False)
        self.norm = nn.LayerNorm(s.dim, eps=s.norm_eps)

    def forward(self, x, past):
        b, t, _ = x.shape
        h = self.norm(x)
        q = self.wq(h).view(b, t, self.n_heads, self.head_dim).transpose(1, 2)
        k = self.wk(h).view(b, t, self.n_kv, self.head_dim).transpose(1, 2)
        v = self.wv(h).view(b, t, self.n_kv, self.head_dim).transpose(1, 2)
        past_k, past_v = past
        k, v = torch.cat([past_k, k], dim=2), torch.cat([past_v, v], dim=2)
        out = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, -1)
        return x + self.wo(out), (k, v)


class CachedDecoder(nn.Module):
    def __init__(self, settings: DecoderSettings):
        super().__init__()
        self.tok_embeddings = nn.Embedding(settings.vocab_size, settings.dim)
        self.pos = nn.Embedding(settings.max_seq_len, settings.dim)
        self.layers = nn.ModuleList(CachedLayer(settings) for _ in range(settings.n_layers))
        self.output = nn.Linear(settings.dim, settings.vocab_size, bias=False)

    def forward(self, tokens, start_pos, past_key_values):
        _, length = tokens.shape
        h = self.tok_embeddings(tokens) + self.pos(torch.arange(length) + start_pos)
        present = []
        for layer, past in zip(self.layers, past_key_values, strict=True):
            h, kv = layer(h, past)
            present.append(kv)
        return self.output(h), present


class RankBatch(NamedTuple):
    user_id: torch.Tensor
    history: torch.Tensor
    history_mask: torch.Tensor
    candidates: torch.Tensor


class BatchRanker(nn.Module):
    def __init__(self, n_users: int, n_items: int, dim: int = 32):
        super().__init__()
        self.users = nn.Embedding(n_users, dim)
        self.items = nn.Embedding(n_items, dim, padding_idx=0)

    def forward(self, batch: RankBatch) -> torch.Tensor:
        seen = self.items(batch.history) * batch.history_mask.unsqueeze(-1)
        query = self.users(batch.user_id) + seen.sum(1) / batch.history_mask.sum(1, keepdim=True).clamp(min=1)
        return torch.einsum("bd,bcd->bc", query, self.items(batch.candidates))


class HeteroGNN(nn.Module):
    def __init__(self, metadata, hidden_channels, out_channels):
        super().__init__()
        node_types, edge_types = metadata
        self.lin_in = nn.ModuleDict({t: nn.Linear(16, hidden_channels) for t in node_types})
        self.convs = nn.ModuleDict({"__".join(e): nn.Linear(hidden_channels, hidden_channels) for e in edge_types})
        self.out = nn.Linear(hidden_channels, out_channels)
        self.target = node_types[0]

    def forward(self, x_dict, edge_index_dict):
        h = {t: F.relu(self.lin_in[t](x)) for t, x in x_dict.items()}
        for (src, rel, dst), edge_index in edge_index_dict.items():
            message = self.convs[f"{src}__{rel}__{dst}"](h[src])[edge_index[0]]
            h[dst] = h[dst].index_add(0, edge_index[1], message)
        return self.out(h[self.target])


class MetaLearner(nn.Module):
    def __init__(self, config, imgc):
        super().__init__()
        self.config = config
        self.vars = nn.ParameterList()
        for name, param in config:
            if name == "conv2d":
                self.vars.append(nn.Parameter(torch.ones(*param[:4])))
                self.vars.append(nn.Parameter(torch.zeros(param[0])))
            elif name == "linear":
                self.vars.append(nn.Parameter(torch.ones(*param)))
                self.vars.append(nn.Parameter(torch.zeros(param[0])))
            elif name not in ("relu", "flatten"):
                raise NotImplementedError
        self.imgc = imgc

    def forward(self, x, vars=None):
        vars = self.vars if vars is None else vars
        idx = 0
        for name, param in self.config:
            if name == "conv2d":
                x = F.conv2d(x, vars[idx], vars[idx + 1], stride=param[4], padding=param[5])
                idx += 2
            elif name == "linear":
                x = F.linear(x, vars[idx], vars[idx + 1])
                idx += 2
            elif name == "flatten":
                x = x.flatten(1)
            else:
                x = F.relu(x)
        return x
