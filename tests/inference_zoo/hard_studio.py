"""Hard: code of a studio that trains models for others: tables, sequences, sets, volumes, each written its own way.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Optional, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = [
    "AuctionRanker",
    "BoxRefiner",
    "CardinalityMixer",
    "ChurnTransformer",
    "CodecVocoder",
    "DocumentPairScorer",
    "EventStream",
    "FieldAwareMachine",
    "GatedVolumes",
    "MultiRateForecaster",
    "PatchMerger",
    "PointSetEncoder",
    "SlotReader",
    "TileStitcher",
]


class Act(Enum):
    RELU = "relu"
    SILU = "silu"


_BODIES: dict[str, type[nn.Module]] = {}


def body(name: str):
    def note(cls):
        _BODIES[name] = cls
        return cls

    return note


@body("mlp")
class MLPBody(nn.Module):
    def __init__(self, width: int, act: Act = Act.RELU):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(width, width), nn.ReLU() if act is Act.RELU else nn.SiLU(), nn.Linear(width, width)
        )

    def forward(self, x):
        return x + self.net(x)


@body("glu")
class GLUBody(nn.Module):
    def __init__(self, width: int, act: Act = Act.RELU):
        super().__init__()
        self.gate = nn.Linear(width, 2 * width)

    def forward(self, x):
        return x + F.glu(self.gate(x))


class AuctionRanker(nn.Module):
    """Ranks ads: a body by its name in a registry."""

    def __init__(self, n_features: int, body_name: str, depth: int = 2, width: int = 32):
        super().__init__()
        self.inp = nn.Linear(n_features, width)
        self.bodies = nn.ModuleList(_BODIES[body_name](width) for _ in range(depth))
        self.out = nn.Linear(width, 1)

    def forward(self, features):
        h = self.inp(features)
        for body_ in self.bodies:
            h = body_(h)
        return self.out(h).squeeze(-1)


class BoxRefiner(nn.Module):
    """Refines boxes: takes feature maps of several strides, and boxes per image."""

    def __init__(self, channels=64, strides=(8, 16, 32), pool=4):
        super().__init__()
        self.strides, self.pool = strides, pool
        self.lateral = nn.ModuleList(nn.Conv2d(channels, channels, 1) for _ in strides)
        self.fc = nn.Linear(channels * len(strides) + 4, 4)

    def forward(self, feats: list[Tensor], boxes: Tensor) -> Tensor:
        assert len(feats) == len(self.strides)
        pooled = [F.adaptive_avg_pool2d(conv(f), 1).flatten(1) for conv, f in zip(self.lateral, feats)]
        ctx = torch.cat(pooled, 1)[:, None].expand(-1, boxes.shape[1], -1)
        return boxes + self.fc(torch.cat([ctx, boxes], -1))


class CardinalityMixer(nn.Module):
    """Tables with categories: sizes of each are given."""

    def __init__(self, cardinalities: list[int], num_numerical: int, dim: int = 16, n_classes: int = 2):
        super().__init__()
        offsets = torch.tensor([0, *cardinalities[:-1]]).cumsum(0)
        self.register_buffer("offsets", offsets, persistent=False)
        self.embed = nn.Embedding(sum(cardinalities), dim)
        self.scale = nn.Parameter(torch.randn(num_numerical, dim))
        self.bias = nn.Parameter(torch.zeros(num_numerical, dim))
        self.mix = nn.Linear(dim * (len(cardinalities) + num_numerical), n_classes)

    def forward(self, x_cat: Tensor, x_num: Tensor) -> Tensor:
        cat = self.embed(x_cat + self.offsets)
        num = x_num[..., None] * self.scale + self.bias
        return self.mix(torch.cat([cat, num], dim=1).flatten(1))


@dataclass
class ChurnConfig:
    categories: tuple[int, ...]
    num_continuous: int
    dim: int = 32
    depth: int = 2
    heads: int = 4
    dim_head: int | None = None
    num_special_tokens: int = 2

    @property
    def total(self) -> int:
        return sum(self.categories) + self.num_special_tokens


class ChurnTransformer(nn.Module):
    """A table as tokens, by a configuration with properties."""

    def __init__(self, cfg: ChurnConfig):
        super().__init__()
        assert all(n > 0 for n in cfg.categories), "number of each category must be positive"
        self.cfg = cfg
        self.emb = nn.Embedding(cfg.total, cfg.dim)
        starts = F.pad(torch.tensor(list(cfg.categories)), (1, 0), value=cfg.num_special_tokens).cumsum(-1)[:-1]
        self.register_buffer("starts", starts)
        inner = cfg.dim_head * cfg.heads if cfg.dim_head is not None else cfg.dim
        self.cont = nn.Linear(cfg.num_continuous, cfg.dim) if cfg.num_continuous else None
        layer = nn.TransformerEncoderLayer(inner, cfg.heads, 2 * inner, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, cfg.depth, enable_nested_tensor=False)
        self.head = nn.Linear(inner, 1)

    def forward(self, x_categ, x_cont=None):
        assert x_categ.shape[-1] == len(self.cfg.categories), "wrong number of categories"
        tokens = [self.emb(x_categ + self.starts)]
        if self.cont is not None:
            assert x_cont is not None
            assert x_cont.shape[1] == self.cfg.num_continuous
            tokens.append(self.cont(x_cont)[:, None])
        return self.head(self.enc(torch.cat(tokens, 1)).mean(1))


class CodecVocoder(nn.Module):
    """Codes of several books to a wave."""

    def __init__(self, n_q=4, codebook_size=256, dim=32, ratios=(4, 4, 2)):
        super().__init__()
        self.n_q = n_q
        self.books = nn.ModuleList([nn.Embedding(codebook_size, dim) for _ in range(n_q)])
        layers = []
        for r in ratios:
            layers += [nn.ELU(), nn.ConvTranspose1d(dim, dim // 2, 2 * r, r, padding=r // 2)]
            dim //= 2
        self.up = nn.Sequential(*layers, nn.Conv1d(dim, 1, 7, padding=3))

    def forward(self, codes):
        b, k, t = codes.shape
        if k != self.n_q:
            raise ValueError(f"expected {self.n_q} codebooks, got {k}")
        z = sum(book(codes[:, i]) for i, book in enumerate(self.books))
        return torch.tanh(self.up(z.transpose(1, 2)))


class Pair(NamedTuple):
    query: Tensor
    document: Tensor


class DocumentPairScorer(nn.Module):
    """Scores a pair that comes as a named tuple of token ids."""

    def __init__(self, num_tokens, dim=32):
        super().__init__()
        self.tok = nn.EmbeddingBag(num_tokens, dim, mode="mean")
        self.w = nn.Bilinear(dim, dim, 1)

    def forward(self, pair: Pair):
        return self.w(self.tok(pair.query), self.tok(pair.document))


class EventStream(nn.Module):
    """Events with times and kinds, of different lengths."""

    def __init__(self, num_event_types: int, hidden: int = 32, num_layers: int = 1):
        super().__init__()
        self.kinds = nn.Embedding(num_event_types + 1, hidden, padding_idx=num_event_types)
        self.rnn = nn.GRU(hidden + 1, hidden, num_layers, batch_first=True)
        self.rate = nn.Linear(hidden, num_event_types)

    def forward(self, event_time, event_type, lengths=None):
        dt = torch.diff(event_time, dim=1, prepend=event_time[:, :1])
        x = torch.cat([self.kinds(event_type), torch.log1p(dt.clamp(min=0))[..., None]], -1)
        if lengths is not None:
            x = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, _ = self.rnn(x)
        if lengths is not None:
            out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        return F.softplus(self.rate(out))


class FieldAwareMachine(nn.Module):
    """A factorization machine over fields."""

    def __init__(self, field_dims, embed_dim=8, mlp_dims=(16, 8), dropout=0.2):
        super().__init__()
        self.num_fields = len(field_dims)
        self.embeddings = nn.ModuleList([nn.Embedding(sum(field_dims), embed_dim) for _ in field_dims])
        self.offsets = tuple(sum(field_dims[:i]) for i in range(len(field_dims)))
        layers, width = [], self.num_fields * embed_dim
        for d in mlp_dims:
            layers += [nn.Linear(width, d), nn.ReLU(), nn.Dropout(dropout)]
            width = d
        self.mlp = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x):
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        xs = [emb(x) for emb in self.embeddings]
        pairs = [xs[j][:, i] * xs[i][:, j] for i in range(self.num_fields) for j in range(i + 1, self.num_fields)]
        first = self.mlp(xs[0].flatten(1))
        return torch.sigmoid(first.squeeze(1) + torch.stack(pairs, 1).sum((1, 2)))


class GatedVolumes(nn.Module):
    """Volumes with a mask of the organ, and the age of who was scanned."""

    def __init__(self, in_channels=1, base=8, levels=3, metadata_dim=2):
        super().__init__()
        chans = [base * 2**i for i in range(levels)]
        self.stem = nn.Conv3d(in_channels + 1, chans[0], 3, padding=1)
        self.downs = nn.ModuleList(nn.Conv3d(a, b, 2, 2) for a, b in zip(chans, chans[1:]))
        self.film = nn.Linear(metadata_dim, 2 * chans[-1])
        self.head = nn.Linear(chans[-1], 1)

    def forward(self, volume, mask, metadata):
        if volume.ndim != 5:
            raise ValueError(f"expected N×C×D×H×W, got {volume.ndim} dimensions")
        x = self.stem(torch.cat([volume, mask.to(volume.dtype)], dim=1))
        for down in self.downs:
            x = F.gelu(down(x))
        scale, shift = self.film(metadata).chunk(2, dim=-1)
        x = x * (1 + scale[:, :, None, None, None]) + shift[:, :, None, None, None]
        return self.head(x.mean((2, 3, 4)))


class Scaler(Protocol):
    def transform(self, x: Tensor) -> Tensor: ...


class MultiRateForecaster(nn.Module):
    """Forecasts a series; an optional scaler is an object of the user's."""

    def __init__(self, lookback: int, horizon: int, n_series: int, rates=(1, 2, 4), scaler: Optional[Scaler] = None):
        super().__init__()
        self.lookback, self.rates, self.scaler = lookback, rates, scaler
        self.heads = nn.ModuleList(nn.Linear(lookback // r, horizon) for r in rates)
        self.mix = nn.Conv1d(n_series * len(rates), n_series, 1)

    def forward(self, x):  # (batch, lookback, n_series)
        if self.scaler is not None:
            x = self.scaler.transform(x)
        x = x.transpose(1, 2)
        if x.size(-1) != self.lookback:
            raise ValueError(f"lookback is {self.lookback}, got a series of {x.size(-1)}")
        outs = [head(F.avg_pool1d(x, r)) for r, head in zip(self.rates, self.heads)]
        return self.mix(torch.cat(outs, 1)).transpose(1, 2)


class PatchMerger(nn.Module):
    """Merges the patches of a grid whose size it is told."""

    def __init__(self, dim, spatial_merge_size=2, out_dim=None):
        super().__init__()
        self.m = spatial_merge_size
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim * self.m**2, out_dim or dim)

    def forward(self, hidden_states: Tensor, grid_hw: tuple[int, int]):
        h, w = grid_hw
        b, n, c = hidden_states.shape
        assert n == h * w, f"expected {h * w} patches, got {n}"
        x = self.norm(hidden_states).view(b, h // self.m, self.m, w // self.m, self.m, c)
        return self.proj(x.permute(0, 1, 3, 2, 4, 5).reshape(b, -1, c * self.m**2))


class PointSetEncoder(nn.Module):
    """Points with a mask of those that are there; positions first."""

    def __init__(self, point_dim=3, feat_dim=6, hidden=32, k=4):
        super().__init__()
        self.k = k
        self.pos = nn.Linear(point_dim, hidden)
        self.feat = nn.Linear(feat_dim, hidden)
        self.out = nn.Linear(hidden, hidden)

    def forward(self, xyz, feats, mask=None):
        near = torch.cdist(xyz, xyz).topk(self.k, largest=False).indices
        h = self.pos(xyz) + self.feat(feats)
        gathered = torch.gather(
            h[:, None].expand(-1, h.shape[1], -1, -1), 2, near[..., None].expand(-1, -1, -1, h.shape[-1])
        )
        h = self.out(gathered.max(2).values)
        if mask is not None:
            h = h.masked_fill(~mask[..., None], float("-inf"))
        return h.max(1).values


class SlotReader(nn.Module):
    """Reads slots of a memory that the caller keeps."""

    def __init__(self, args):
        super().__init__()
        self.slots = args.num_slots
        self.q = nn.Linear(args.hidden_size, args.memory_size)
        self.read = nn.Linear(args.memory_size, args.hidden_size)
        if getattr(args, "use_gate", False):
            self.gate = nn.Linear(2 * args.hidden_size, args.hidden_size)

    def forward(self, query, memory=None):
        if memory is None:
            memory = query.new_zeros(query.shape[0], self.slots, self.q.out_features)
        att = torch.softmax(self.q(query)[:, None] @ memory.transpose(1, 2) / math.sqrt(memory.shape[-1]), -1)
        got = self.read((att @ memory).squeeze(1))
        return query + (torch.sigmoid(self.gate(torch.cat([query, got], -1))) * got if hasattr(self, "gate") else got)


class TileStitcher(nn.Module):
    """Encodes tiles of one large image, and puts them where their positions say."""

    def __init__(self, tile_size=32, grid=(4, 4), embed_dim=24):
        super().__init__()
        self.grid, self.tile = grid, tile_size
        self.enc = nn.Sequential(nn.Conv2d(3, embed_dim, tile_size, tile_size), nn.Flatten())
        self.place = nn.Embedding(grid[0] * grid[1], embed_dim)
        self.dec = nn.Conv2d(embed_dim, 1, 1)

    def forward(self, tiles, positions):
        b, n, c, h, w = tiles.shape
        assert (h, w) == (self.tile, self.tile), f"tiles are {self.tile} px, got {h}×{w}"
        z = self.enc(tiles.flatten(0, 1)).view(b, n, -1) + self.place(positions)
        canvas = z.new_zeros(b, self.grid[0] * self.grid[1], z.shape[-1])
        canvas = canvas.scatter(1, positions[..., None].expand_as(z), z)
        return self.dec(canvas.transpose(1, 2).unflatten(2, self.grid))
