"""Arguments whose names say little: by what the constructor does with them."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F


class AdsMultiTask(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.tables = nn.ModuleList([nn.EmbeddingBag(n, args.emb_width, mode="sum") for n in args.table_sizes])
        d = args.num_dense + args.emb_width * len(args.table_sizes)
        self.experts = nn.ModuleList([nn.Linear(d, args.expert_width) for _ in range(args.num_experts)])
        self.gates = nn.ModuleDict({t: nn.Linear(d, args.num_experts) for t in args.tasks})
        self.towers = nn.ModuleDict({t: nn.Linear(args.expert_width, 1) for t in args.tasks})

    def forward(self, dense, sparse):
        assert len(sparse) == len(self.tables)
        x = torch.cat([dense] + [table(ids) for table, ids in zip(self.tables, sparse)], dim=1)
        experts = torch.stack([torch.relu(e(x)) for e in self.experts], dim=1)
        out = {}
        for task, gate in self.gates.items():
            mixed = (gate(x).softmax(-1).unsqueeze(-1) * experts).sum(1)
            out[task] = torch.sigmoid(self.towers[task](mixed)).squeeze(-1)
        return out


class PoemWriter(nn.Module):
    def __init__(self, cell, n_symbols, emb, units, depth):
        super().__init__()
        if cell not in ("LSTM", "GRU", "RNN"):
            raise ValueError("cell must be LSTM, GRU or RNN, got %r" % cell)
        self.embed = nn.Embedding(n_symbols, emb)
        self.rnn = getattr(nn, cell)(emb, units, depth, batch_first=True)
        self.head = nn.Linear(units, n_symbols)

    def forward(self, symbols, state):
        out, state = self.rnn(self.embed(symbols), state)
        return self.head(out), state


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


class GraphTransformerNet(nn.Module):
    def __init__(self, net_params):
        super().__init__()
        num_atom_type, num_bond_type = net_params["num_atom_type"], net_params["num_bond_type"]
        hidden_dim, num_heads, out_dim = net_params["hidden_dim"], net_params["n_heads"], net_params["out_dim"]
        in_feat_dropout, dropout, n_layers = net_params["in_feat_dropout"], net_params["dropout"], net_params["L"]
        self.readout, self.lap_pos_enc = net_params["readout"], net_params["lap_pos_enc"]
        self.device = net_params["device"]
        if self.lap_pos_enc:
            self.embedding_lap_pos_enc = nn.Linear(net_params["pos_enc_dim"], hidden_dim)
        self.embedding_h = nn.Embedding(num_atom_type, hidden_dim)
        self.embedding_e = nn.Embedding(num_bond_type, num_heads)
        self.in_feat_dropout = nn.Dropout(in_feat_dropout)
        self.layers = nn.ModuleList(
            [nn.MultiheadAttention(hidden_dim, num_heads, dropout, batch_first=True) for _ in range(n_layers - 1)]
        )
        self.layers.append(nn.MultiheadAttention(hidden_dim, num_heads, dropout, batch_first=True))
        self.num_heads = num_heads
        self.MLP_layer = nn.Sequential(nn.Linear(hidden_dim, out_dim), nn.ReLU(), nn.Linear(out_dim, 1))

    def forward(self, h, e, h_lap_pos_enc=None):
        h = self.in_feat_dropout(self.embedding_h(h))
        if self.lap_pos_enc:
            h = h + self.embedding_lap_pos_enc(h_lap_pos_enc.float())
        bias = self.embedding_e(e).permute(0, 3, 1, 2).flatten(0, 1)
        for conv in self.layers:
            h = h + conv(h, h, h, attn_mask=bias, need_weights=False)[0]
        if self.readout == "sum":
            hg = h.sum(1)
        elif self.readout == "max":
            hg = h.amax(1)
        else:
            hg = h.mean(1)
        return self.MLP_layer(hg)


class TextTower(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        self.proj = nn.Linear(width, width)

    def forward(self, text):
        return self.proj(self.token(text)[torch.arange(text.shape[0]), text.argmax(dim=-1)])


class ClipLike(nn.Module):
    def __init__(self, embed_dim, vision_cfg, text_cfg):
        super().__init__()
        self.visual = nn.Sequential(
            nn.Conv2d(3, vision_cfg["width"], vision_cfg["patch_size"], vision_cfg["patch_size"]),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(vision_cfg["width"], embed_dim),
        )
        self.text = TextTower(text_cfg["vocab_size"], text_cfg["width"])
        self.text_projection = nn.Parameter(torch.randn(text_cfg["width"], embed_dim))
        self.logit_scale = nn.Parameter(torch.ones([]) * 2.66)

    def forward(self, image, text):
        i = F.normalize(self.visual(image), dim=-1)
        t = F.normalize(self.text(text) @ self.text_projection, dim=-1)
        return self.logit_scale.exp() * i @ t.t()


class PipeNetwork(nn.Module):
    """Pressure at the nodes of a network of pipes, whose matrix may come as an array or as lists."""

    def __init__(self, adj_mat, in_dim, hidden_dim):
        super().__init__()
        self.n_nodes = len(adj_mat)
        adj = np.array(adj_mat, dtype=np.float32) + np.eye(self.n_nodes, dtype=np.float32)
        self.register_buffer("adj", torch.from_numpy(adj / adj.sum(axis=1, keepdims=True)))
        self.gc1, self.gc2 = nn.Linear(in_dim, hidden_dim), nn.Linear(hidden_dim, 1)

    def forward(self, pressure):
        h = F.relu(torch.einsum("ij,bjf->bif", self.adj, self.gc1(pressure)))
        return torch.einsum("ij,bjf->bif", self.adj, self.gc2(h))


class DictConfigured(nn.Module):
    def __init__(self, params):
        super().__init__()
        self.conv = nn.Conv1d(params["n_channels"], params["filters"], params["kernel"])
        self.pool = nn.AdaptiveMaxPool1d(1)
        self.fc = nn.Linear(params["filters"], params.get("n_classes", 5))

    def forward(self, signal):
        return self.fc(self.pool(F.relu(self.conv(signal))).squeeze(-1))


class Nested(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.stem = nn.Conv2d(cfg.data.channels, cfg.model.width, 3, padding=1)
        self.act = getattr(nn, cfg.model.activation)()
        self.blocks = nn.ModuleList(nn.Conv2d(cfg.model.width, cfg.model.width, 1) for _ in range(cfg.model.depth))
        self.head = nn.Linear(cfg.model.width, cfg.data.num_classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + self.act(block(x))
        return self.head(x.mean((2, 3)))


@dataclass
class LlamaArgs:
    dim: int = 64
    n_layers: int = 2
    n_heads: int = 4
    n_kv_heads: int | None = 2
    vocab_size: int = -1  # set later by the tokenizer
    max_seq_len: int = 64
    max_batch_size: int = 4


class CachedAttention(nn.Module):
    def __init__(self, args: LlamaArgs):
        super().__init__()
        self.h, self.kv = args.n_heads, args.n_kv_heads or args.n_heads
        self.hd = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, self.h * self.hd, bias=False)
        self.wk = nn.Linear(args.dim, self.kv * self.hd, bias=False)
        self.wv = nn.Linear(args.dim, self.kv * self.hd, bias=False)
        self.wo = nn.Linear(self.h * self.hd, args.dim, bias=False)

    def forward(self, x, past, mask):
        b, s, _ = x.shape
        q = self.wq(x).view(b, s, self.h, self.hd).transpose(1, 2)
        k = self.wk(x).view(b, s, self.kv, self.hd).transpose(1, 2)
        v = self.wv(x).view(b, s, self.kv, self.hd).transpose(1, 2)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        present = (k, v)
        k, v = (t.repeat_interleave(self.h // self.kv, dim=1) for t in present)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(out.transpose(1, 2).reshape(b, s, -1)), present


class CacheDecoder(nn.Module):
    def __init__(self, params: LlamaArgs):
        super().__init__()
        assert params.vocab_size > 0, "set vocab_size from the tokenizer"
        self.params = params
        self.tok_embeddings = nn.Embedding(params.vocab_size, params.dim)
        self.layers = nn.ModuleList(CachedAttention(params) for _ in range(params.n_layers))
        self.norm = nn.RMSNorm(params.dim)
        self.output = nn.Linear(params.dim, params.vocab_size, bias=False)

    def forward(self, tokens: Tensor, past_key_values: list[tuple[Tensor, Tensor]] | None = None):
        h = self.tok_embeddings(tokens)
        start = 0 if past_key_values is None else past_key_values[0][0].size(2)
        s = tokens.size(1)
        mask = torch.ones(s, start + s, dtype=torch.bool, device=tokens.device).tril(start)
        presents = []
        for i, layer in enumerate(self.layers):
            out, present = layer(self.norm(h), past_key_values[i] if past_key_values else None, mask)
            h = h + out
            presents.append(present)
        return self.output(self.norm(h)), presents


class PriceForecaster(nn.Module):
    def __init__(self, n_series, lookback, horizon, units):
        super().__init__()
        self.lookback = lookback
        self.norm = nn.BatchNorm1d(n_series)
        self.net = nn.Sequential(nn.Linear(n_series * lookback, units), nn.ReLU(), nn.Linear(units, horizon))

    def forward(self, history):
        x = self.norm(history.transpose(1, 2))
        return self.net(x.reshape(x.size(0), -1))
