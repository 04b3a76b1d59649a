"""Hard: constructors that take data: graphs, matrices, columns, spaces; and numbers that depend on each other.

Long because it is a list of models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "ActionPolicy",
    "EmbeddingMatrixCNN",
    "RelationalGCN",
    "RetentionLM",
    "SkeletonNet",
    "SplitMixer",
    "TabularEmbedder",
    "TrafficForecaster",
    "VariableSelector",
    "WarmStarted",
]


class TrafficForecaster(nn.Module):
    """Graph WaveNet in short: ``supports`` are transition matrices, ``aptinit`` may start the adaptive one."""

    def __init__(
        self,
        device,
        num_nodes,
        dropout,
        supports,
        in_dim,
        out_dim,
        residual_channels,
        skip_channels,
        kernel_size,
        blocks,
        layers,
        aptinit=None,
    ):
        super().__init__()
        self.dropout = dropout
        self.supports = [torch.as_tensor(s).to(device) for s in supports]
        if aptinit is None:
            self.nodevec1 = nn.Parameter(torch.randn(num_nodes, 10, device=device))
            self.nodevec2 = nn.Parameter(torch.randn(10, num_nodes, device=device))
        else:
            m, p, n = torch.svd(aptinit)
            self.nodevec1 = nn.Parameter(torch.mm(m[:, :10], torch.diag(p[:10] ** 0.5)))
            self.nodevec2 = nn.Parameter(torch.mm(torch.diag(p[:10] ** 0.5), n[:, :10].t()))
        self.start = nn.Conv2d(in_dim, residual_channels, 1)
        order = len(self.supports) + 1
        self.filters, self.gates, self.skips, self.mixes = (nn.ModuleList() for _ in range(4))
        for _ in range(blocks):
            for i in range(layers):
                pad = (0, (kernel_size - 1) * 2**i // 2)
                self.filters.append(
                    nn.Conv2d(residual_channels, residual_channels, (1, kernel_size), dilation=2**i, padding=pad)
                )
                self.gates.append(
                    nn.Conv2d(residual_channels, residual_channels, (1, kernel_size), dilation=2**i, padding=pad)
                )
                self.skips.append(nn.Conv2d(residual_channels, skip_channels, 1))
                self.mixes.append(nn.Conv2d((order + 1) * residual_channels, residual_channels, 1))
        self.end = nn.Conv2d(skip_channels, out_dim, 1)

    def forward(self, x):
        adp = F.softmax(F.relu(self.nodevec1 @ self.nodevec2), dim=1)
        x, skip = self.start(x), 0
        for f, g, s, mix in zip(self.filters, self.gates, self.skips, self.mixes):
            h = torch.tanh(f(x)) * torch.sigmoid(g(x))
            length = min(h.shape[-1], x.shape[-1])
            h = h[..., :length]
            skip = skip[..., :length] + s(h) if torch.is_tensor(skip) else s(h)
            hops = [h] + [torch.einsum("ncvl,vw->ncwl", h, a) for a in [*self.supports, adp]]
            x = F.dropout(mix(torch.cat(hops, 1)), self.dropout, self.training) + x[..., :length]
        return self.end(F.relu(skip))


class Graph:
    """Joints and bones of a skeleton."""

    def __init__(self, layout, strategy, max_hop=1):
        if layout == "openpose":
            self.num_node = 18
            pairs = [
                (4, 3),
                (3, 2),
                (7, 6),
                (6, 5),
                (13, 12),
                (12, 11),
                (10, 9),
                (9, 8),
                (11, 5),
                (8, 2),
                (5, 1),
                (2, 1),
            ]
        elif layout == "ntu-rgb+d":
            self.num_node = 25
            pairs = [(0, 1), (1, 20), (2, 20), (3, 2), (4, 20), (5, 4), (6, 5), (7, 6), (8, 20), (9, 8), (10, 9)]
        else:
            raise ValueError("Do Not Exist This Layout.")
        A = np.eye(self.num_node)
        for i, j in pairs:
            A[i, j] = A[j, i] = 1
        A = A / A.sum(0)
        if strategy == "uniform":
            self.A = A[None]
        elif strategy == "distance":
            self.A = np.stack([np.eye(self.num_node), A - np.diag(np.diag(A))])
        else:
            raise ValueError("Do Not Exist This Strategy")


class SkeletonNet(nn.Module):
    def __init__(self, in_channels, num_class, graph_args, edge_importance_weighting, **kwargs):
        super().__init__()
        self.graph = Graph(**graph_args)
        A = torch.tensor(self.graph.A, dtype=torch.float32, requires_grad=False)
        self.register_buffer("A", A)
        kernel = A.size(0)
        self.data_bn = nn.BatchNorm1d(in_channels * A.size(1))
        widths = [in_channels, 64, 128]
        self.gcns = nn.ModuleList(nn.Conv2d(a, b * kernel, 1) for a, b in zip(widths, widths[1:]))
        self.tcns = nn.ModuleList(nn.Conv2d(b, b, (9, 1), padding=(4, 0)) for b in widths[1:])
        self.kernel = kernel
        if edge_importance_weighting:
            self.edge_importance = nn.ParameterList([nn.Parameter(torch.ones(A.size())) for _ in self.gcns])
        else:
            self.edge_importance = [1] * len(self.gcns)
        self.fcn = nn.Conv2d(widths[-1], num_class, 1)

    def forward(self, x):
        N, C, T, V, M = x.size()
        x = x.permute(0, 4, 3, 1, 2).contiguous().view(N * M, V * C, T)
        x = self.data_bn(x).view(N, M, V, C, T).permute(0, 1, 3, 4, 2).contiguous().view(N * M, C, T, V)
        for gcn, tcn, importance in zip(self.gcns, self.tcns, self.edge_importance):
            x = gcn(x)
            n, kc, t, v = x.size()
            x = torch.einsum("nkctv,kvw->nctw", x.view(n, self.kernel, kc // self.kernel, t, v), self.A * importance)
            x = F.relu(tcn(x))
        x = F.avg_pool2d(x, x.size()[2:]).view(N, M, -1, 1, 1).mean(dim=1)
        return self.fcn(x).view(N, -1)


class EmbeddingMatrixCNN(nn.Module):
    def __init__(
        self,
        embedding_matrix: np.ndarray,
        class_weights: torch.Tensor,
        filter_sizes,
        num_filters,
        dropout,
        train_embeddings,
    ):
        super().__init__()
        vocab_size, embed_dim = embedding_matrix.shape
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.embedding.weight = nn.Parameter(torch.tensor(embedding_matrix, dtype=torch.float32))
        self.embedding.weight.requires_grad = train_embeddings
        self.convs = nn.ModuleList([nn.Conv2d(1, num_filters, (k, embed_dim)) for k in filter_sizes])
        self.register_buffer("class_weights", class_weights)
        self.fc = nn.Linear(num_filters * len(filter_sizes), class_weights.size(0))
        self.dropout = nn.Dropout(dropout)

    def forward(self, text, labels=None):
        x = self.embedding(text).unsqueeze(1)
        x = torch.cat([F.relu(conv(x)).squeeze(3).amax(2) for conv in self.convs], 1)
        logits = self.fc(self.dropout(x))
        if labels is not None:
            return F.cross_entropy(logits, labels, weight=self.class_weights), logits
        return logits


class RelationalGCN(nn.Module):
    def __init__(self, num_nodes, h_dim, num_rels, num_bases, num_layers, self_loop, dropout):
        super().__init__()
        if num_bases > num_rels or num_bases < 0:
            num_bases = num_rels
        self.embedding = nn.Embedding(num_nodes, h_dim)
        self.bases = nn.ParameterList(nn.Parameter(torch.empty(num_bases, h_dim, h_dim)) for _ in range(num_layers))
        self.comps = nn.ParameterList(nn.Parameter(torch.empty(num_rels, num_bases)) for _ in range(num_layers))
        for p in [*self.bases, *self.comps]:
            nn.init.xavier_uniform_(p, gain=nn.init.calculate_gain("relu"))
        self.loops = nn.ModuleList(nn.Linear(h_dim, h_dim) for _ in range(num_layers)) if self_loop else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, edge_index, edge_type):
        x = self.embedding.weight
        src, dst = edge_index
        for i, (basis, comp) in enumerate(zip(self.bases, self.comps)):
            weight = torch.einsum("rb,bio->rio", comp, basis)
            msg = torch.einsum("ei,eio->eo", x[src], weight[edge_type])
            out = torch.zeros_like(x).index_add(0, dst, msg)
            if self.loops is not None:
                out = out + self.loops[i](x)
            x = self.dropout(F.relu(out))
        return x


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class ActionPolicy(nn.Module):
    """PPO from frames, for discrete and continuous actions."""

    def __init__(self, observation_space, action_space, hidden_sizes, log_std_init):
        super().__init__()
        channels, height, width = observation_space.shape
        self.cnn = nn.Sequential(
            nn.Conv2d(channels, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Flatten()
        )
        with torch.no_grad():
            n_flatten = self.cnn(torch.zeros(1, *observation_space.shape)).shape[1]
        sizes = [n_flatten, *hidden_sizes]
        self.mlp = nn.Sequential(
            *[m for a, b in zip(sizes, sizes[1:]) for m in (layer_init(nn.Linear(a, b)), nn.Tanh())]
        )
        self.discrete = hasattr(action_space, "n")
        if self.discrete:
            self.actor = layer_init(nn.Linear(sizes[-1], action_space.n), std=0.01)
        else:
            self.actor = layer_init(nn.Linear(sizes[-1], action_space.shape[0]), std=0.01)
            self.log_std = nn.Parameter(torch.ones(action_space.shape[0]) * log_std_init)
        self.critic = layer_init(nn.Linear(sizes[-1], 1), std=1)

    def forward(self, obs):
        h = self.mlp(self.cnn(obs / 255.0))
        return self.actor(h), self.critic(h)


class SplitMixer(nn.Module):
    """Channels go to convolutions of several sizes: ``splits`` must add up."""

    def __init__(self, dim, splits, kernel_sizes, depth, num_classes):
        super().__init__()
        assert sum(splits) == dim, f"splits {splits} must sum to dim {dim}"
        assert len(splits) == len(kernel_sizes)
        self.splits = splits
        self.stem = nn.Conv2d(3, dim, 4, 4)
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.Conv2d(s, s, k, padding=k // 2, groups=s) for s, k in zip(splits, kernel_sizes))
            for _ in range(depth)
        )
        self.mixes = nn.ModuleList(nn.Conv2d(dim, dim, 1) for _ in range(depth))
        self.head = nn.Linear(dim, num_classes)

    def forward(self, x):
        x = self.stem(x)
        for convs, mix in zip(self.layers, self.mixes):
            parts = torch.split(x, self.splits, dim=1)
            x = x + mix(torch.cat([conv(p) for conv, p in zip(convs, parts)], 1))
        return self.head(x.mean((2, 3)))


class Retention(nn.Module):
    def __init__(self, embed_dim, value_dim, num_heads, gate_fn):
        super().__init__()
        if embed_dim % num_heads or value_dim % num_heads:
            raise ValueError("embed_dim and value_dim must be multiples of num_heads")
        self.heads, self.key_dim, self.head_dim = num_heads, embed_dim // num_heads, value_dim // num_heads
        if gate_fn not in ("swish", "gelu"):
            raise NotImplementedError
        self.gate_fn = F.silu if gate_fn == "swish" else F.gelu
        self.q, self.k = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.v, self.g = nn.Linear(embed_dim, value_dim), nn.Linear(embed_dim, value_dim)
        self.out = nn.Linear(value_dim, embed_dim)
        self.norm = nn.LayerNorm(self.head_dim, elementwise_affine=False)
        self.register_buffer("decay", torch.log(1 - 2 ** (-5 - torch.arange(num_heads, dtype=torch.float))))

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q(x).view(b, t, self.heads, self.key_dim).transpose(1, 2)
        k = self.k(x).view(b, t, self.heads, self.key_dim).transpose(1, 2)
        v = self.v(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
        steps = torch.arange(t, device=x.device)
        distance = (steps[:, None] - steps[None]).clamp(min=0)
        mask = torch.exp(distance[None] * self.decay[:, None, None]) * (steps[:, None] >= steps[None])
        y = self.norm((q @ k.transpose(-1, -2) * mask) @ v).transpose(1, 2).reshape(b, t, -1)
        return self.out(self.gate_fn(self.g(x)) * y)


class RetentionLM(nn.Module):
    def __init__(self, args):
        super().__init__()
        dim, v_dim = args.decoder_embed_dim, args.decoder_value_embed_dim
        self.embed = nn.Embedding(args.vocab_size, dim)
        self.scale = 1.0 if args.no_scale_embedding else dim**0.5
        self.layers = nn.ModuleList(
            Retention(dim, v_dim, args.decoder_retention_heads, args.activation_fn) for _ in range(args.decoder_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(dim, eps=args.layernorm_eps) for _ in range(args.decoder_layers))
        self.drop = nn.Dropout(args.dropout)
        self.out = nn.Linear(dim, args.vocab_size, bias=False)
        if args.share_decoder_input_output_embed:
            self.out.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens) * self.scale
        for norm, layer in zip(self.norms, self.layers):
            x = x + self.drop(layer(norm(x)))
        return self.out(x)


class TabularEmbedder(nn.Module):
    """As fastai's: ``emb_szs`` pairs of cardinality and width, ``ps`` a rate for each layer."""

    def __init__(self, emb_szs, n_cont, out_sz, layers, ps, embed_p, y_range, use_bn):
        super().__init__()
        assert len(layers) == len(ps)
        self.embeds = nn.ModuleList([nn.Embedding(ni, nf) for ni, nf in emb_szs])
        self.emb_drop = nn.Dropout(embed_p)
        self.bn_cont = nn.BatchNorm1d(n_cont) if use_bn else None
        n_emb = sum(e.embedding_dim for e in self.embeds)
        sizes = [n_emb + n_cont, *layers]
        blocks = []
        for n_in, n_out, p in zip(sizes[:-1], sizes[1:], ps):
            blocks += [nn.Linear(n_in, n_out), nn.ReLU(inplace=True), nn.Dropout(p)]
        self.layers = nn.Sequential(*blocks, nn.Linear(sizes[-1], out_sz))
        self.y_range = y_range

    def forward(self, x_cat, x_cont):
        x = torch.cat([e(x_cat[:, i]) for i, e in enumerate(self.embeds)], 1)
        x = self.emb_drop(x)
        if self.bn_cont is not None:
            x_cont = self.bn_cont(x_cont)
        x = self.layers(torch.cat([x, x_cont], 1))
        if self.y_range is not None:
            x = (self.y_range[1] - self.y_range[0]) * torch.sigmoid(x) + self.y_range[0]
        return x


class VariableSelector(nn.Module):
    """``columns`` says for each real or categorical column how it comes in; the order is that of the frame."""

    def __init__(self, columns: list[dict[str, Any]], hidden: int, horizon: int, quantiles: tuple[float, ...]):
        super().__init__()
        self.embedders = nn.ModuleList()
        for column in columns:
            if column["type"] == "categorical":
                self.embedders.append(nn.Embedding(column["cardinality"], hidden))
            elif column["type"] == "real":
                self.embedders.append(nn.Linear(1, hidden))
            else:
                raise ValueError(f"unknown type of column: {column['type']}")
        self.select = nn.Linear(hidden * len(columns), len(columns))
        self.lstm = nn.LSTM(hidden, hidden, batch_first=True)
        self.horizon, self.quantiles = horizon, quantiles
        self.out = nn.Linear(hidden, horizon * len(quantiles))

    def forward(self, x):
        parts = []
        for i, embed in enumerate(self.embedders):
            column = x[..., i]
            parts.append(embed(column.long()) if isinstance(embed, nn.Embedding) else embed(column.unsqueeze(-1)))
        weights = self.select(torch.cat(parts, -1)).softmax(-1)
        mixed = (torch.stack(parts, -1) * weights.unsqueeze(-2)).sum(-1)
        last = self.lstm(mixed)[0][:, -1]
        return self.out(last).view(-1, self.horizon, len(self.quantiles))


class Configurable:
    """Keeps what it was made with."""

    def __init__(self, *, name: str, **kwargs):
        self.name = name
        super().__init__(**kwargs)


class HasOptimizer:
    def __init__(self, *, lr: float, betas: tuple[float, float], **kwargs):
        super().__init__(**kwargs)
        self.lr, self.betas = lr, betas
        if not 0.0 <= betas[0] < 1.0 or not 0.0 <= betas[1] < 1.0:
            raise ValueError(f"Invalid beta parameters: {betas}")


class WarmStarted(Configurable, HasOptimizer, nn.Module):
    """Starts from a checkpoint where there is one."""

    def __init__(self, pretrained: str, num_classes: int, width: int, freeze_stages: int, **kwargs):
        super().__init__(**kwargs)
        self.stages = nn.ModuleList(
            nn.Sequential(nn.Conv2d(3 if i == 0 else width * 2 ** (i - 1), width * 2**i, 3, 2, 1), nn.ReLU())
            for i in range(4)
        )
        self.fc = nn.Linear(width * 8, num_classes)
        if pretrained is not None and pretrained != "":
            state = torch.load(pretrained, map_location="cpu")["state_dict"]
            self.load_state_dict({k.removeprefix("module."): v for k, v in state.items()}, strict=False)
        assert freeze_stages <= 4
        for stage in self.stages[:freeze_stages]:
            stage.requires_grad_(False)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.fc(x.mean((2, 3)))
