"""Hard: code of small companies: configurations of every make, factories, registries, tables of sizes.

Long because it is a list of models.
"""

from __future__ import annotations

import argparse
import functools
from collections import OrderedDict
from copy import deepcopy
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn as tnn
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "AudioTagger",
    "CheckoutRanker",
    "ClauseExtractor",
    "DemandModel",
    "EncoderDecoderSegmenter",
    "FraudScorer",
    "InvoiceParser",
    "MessageRouter",
    "PoseLifter",
    "SizedMixer",
    "VoiceCloner",
]


@dataclass
class EncoderSettings:
    dim: int = 48
    depth: int = 2
    heads: int = 4
    ff_mult: float = 2.0


@dataclass
class HeadSettings:
    kind: str = "mlp"
    hidden: list[int] = field(default_factory=lambda: [32, 16])


@dataclass
class ClauseSettings:
    vocab_size: int
    num_labels: int
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    head: HeadSettings = field(default_factory=HeadSettings)
    pad_id: int = 0
    label_smoothing: float = 0.1


def make_head(settings: HeadSettings, dim_in: int, dim_out: int) -> nn.Module:
    if settings.kind == "linear":
        return nn.Linear(dim_in, dim_out)
    if settings.kind != "mlp":
        raise ValueError(f"unknown head {settings.kind!r}")
    dims = [dim_in, *settings.hidden]
    layers: list[nn.Module] = []
    for a, b in zip(dims[:-1], dims[1:]):
        layers += [nn.Linear(a, b), nn.GELU()]
    return nn.Sequential(*layers, nn.Linear(dims[-1], dim_out))


class ClauseExtractor(nn.Module):
    """Tags the tokens of a contract with the clause they belong to."""

    def __init__(self, settings: ClauseSettings):
        super().__init__()
        self.settings = settings
        enc = settings.encoder
        self.embed = nn.Embedding(settings.vocab_size, enc.dim, padding_idx=settings.pad_id)
        layer = nn.TransformerEncoderLayer(enc.dim, enc.heads, int(enc.dim * enc.ff_mult), batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, enc.depth, enable_nested_tensor=False)
        self.head = make_head(settings.head, enc.dim, settings.num_labels)

    def forward(self, input_ids: Tensor, labels: Tensor | None = None):
        padding = input_ids.eq(self.settings.pad_id)
        hidden = self.encoder(self.embed(input_ids), src_key_padding_mask=padding)
        logits = self.head(hidden)
        if labels is None:
            return {"logits": logits}
        loss = F.cross_entropy(
            logits.transpose(1, 2), labels, ignore_index=-100, label_smoothing=self.settings.label_smoothing
        )
        return {"loss": loss, "logits": logits}


SIZES = {
    "tiny": dict(dim=32, depth=2, token_dim=16),
    "small": dict(dim=64, depth=4, token_dim=32),
    "base": dict(dim=128, depth=6, token_dim=64),
}


class MixerLayer(nn.Module):
    def __init__(self, patches, dim, token_dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.tokens = nn.Sequential(nn.Linear(patches, token_dim), nn.GELU(), nn.Linear(token_dim, patches))
        self.channels = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class MixerTrunk(nn.Module):
    def __init__(self, patches, *, dim, depth, token_dim):
        super().__init__()
        self.blocks = nn.Sequential(*[MixerLayer(patches, dim, token_dim) for _ in range(depth)])
        self.dim = dim

    def forward(self, x):
        return self.blocks(x).mean(1)


class SizedMixer(nn.Module):
    def __init__(self, size: str, image_size: int, patch: int, classes: int):
        super().__init__()
        if image_size % patch:
            raise ValueError("image_size must be a multiple of patch")
        options = SIZES[size]
        self.stem = nn.Conv2d(3, options["dim"], patch, patch)
        self.trunk = MixerTrunk((image_size // patch) ** 2, **options)
        self.fc = nn.Linear(self.trunk.dim, classes)

    def forward(self, img):
        return self.fc(self.trunk(self.stem(img).flatten(2).transpose(1, 2)))


REGISTRY: dict[str, type[nn.Module]] = {}


def register(name):
    def wrap(cls):
        REGISTRY[name] = cls
        return cls

    return wrap


@register("gru")
class GruBody(nn.Module):
    def __init__(self, dim, hidden, **_):
        super().__init__()
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.out_dim = hidden

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, last = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.size(1))
        return out, last[-1]


@register("conv")
class ConvBody(nn.Module):
    def __init__(self, dim, hidden, kernel=3):
        super().__init__()
        self.conv = nn.Conv1d(dim, hidden, kernel, padding=kernel // 2)
        self.out_dim = hidden

    def forward(self, x, lengths):
        out = torch.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        mask = torch.arange(x.size(1), device=x.device)[None] < lengths[:, None]
        out = out * mask.unsqueeze(-1)
        return out, out.sum(1) / lengths.unsqueeze(-1).clamp(min=1)


class MessageRouter(nn.Module):
    """Which team should answer this message?"""

    def __init__(self, vocab, teams, cfg: dict[str, Any]):
        super().__init__()
        cfg = deepcopy(cfg)
        body = cfg.pop("body")
        self.tokens = nn.Embedding(len(vocab), cfg["dim"])
        self.body = REGISTRY[body](**cfg)
        self.team = nn.Linear(self.body.out_dim, len(teams))
        self.urgent = nn.Linear(self.body.out_dim, 1)

    def forward(self, tokens, lengths):
        _, pooled = self.body(self.tokens(tokens), lengths)
        return self.team(pooled), self.urgent(pooled).squeeze(-1)


def parse_args(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--n-numeric", type=int, default=12)
    parser.add_argument("--hidden", type=int, nargs="+", default=[64, 32])
    parser.add_argument("--cat-sizes", type=int, nargs="+", default=[5, 11, 3])
    parser.add_argument("--emb-dim", type=int, default=4)
    parser.add_argument("--no-bn", action="store_true")
    parser.add_argument("--act", choices=["relu", "selu"], default="relu")
    return parser.parse_args(argv)


class FraudScorer(nn.Module):
    ACTS = {"relu": nn.ReLU, "selu": nn.SELU}

    def __init__(self, opt):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(n, opt.emb_dim) for n in opt.cat_sizes])
        width = opt.n_numeric + opt.emb_dim * len(opt.cat_sizes)
        layers = []
        for h in opt.hidden:
            layers.append(nn.Linear(width, h))
            if not opt.no_bn:
                layers.append(nn.BatchNorm1d(h))
            layers.append(self.ACTS[opt.act]())
            width = h
        self.mlp = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x_num, x_cat):
        cats = [emb(x_cat[:, i]) for i, emb in enumerate(self.embs)]
        return torch.sigmoid(self.mlp(torch.cat([x_num, *cats], dim=1)))


def train_fraud():
    opt = parse_args()
    model = FraudScorer(opt)
    return torch.optim.Adam(model.parameters())


class Attr(dict):
    """A dict whose keys are attributes."""

    __getattr__ = dict.__getitem__


DEFAULTS = Attr(
    audio=Attr(n_mels=40, hop=160),
    model=Attr(channels=[16, 32, 64], pool="max", dropout=0.2),
    n_tags=10,
)


class AudioTagger(tnn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.bn0 = tnn.BatchNorm1d(cfg.audio.n_mels)
        blocks, prev = [], 1
        for ch in cfg.model.channels:
            blocks.append(tnn.Sequential(tnn.Conv2d(prev, ch, 3, padding=1), tnn.BatchNorm2d(ch), tnn.ReLU()))
            prev = ch
        self.blocks = tnn.ModuleList(blocks)
        self.drop = tnn.Dropout(cfg.model.dropout)
        self.fc = tnn.Linear(prev, cfg.n_tags)

    def forward(self, mel):
        """mel: (batch, n_mels, frames)"""
        x = self.bn0(mel).unsqueeze(1)
        for block in self.blocks:
            x = F.avg_pool2d(block(x), 2)
        x = x.mean(2)
        x = x.amax(-1) if self.cfg.model.pool == "max" else x.mean(-1)
        return self.fc(self.drop(x))


class DemandModel(nn.Module):
    """Quantiles of the demand of the next days, from history, known future covariates and static ids."""

    def __init__(
        self, *, history, horizon, n_past, n_future, static_cards: dict[str, int], quantiles=(0.1, 0.5, 0.9), hidden=32
    ):
        super().__init__()
        self.horizon, self.history, self.quantiles = horizon, history, quantiles
        self.static = nn.ModuleDict({name: nn.Embedding(card, 8) for name, card in static_cards.items()})
        self.past = nn.LSTM(n_past + 1, hidden, batch_first=True)
        self.future = nn.LSTM(n_future, hidden, batch_first=True)
        self.init_h = nn.Linear(8 * len(static_cards), hidden)
        self.out = nn.Linear(hidden, len(quantiles))

    def forward(self, target, past_covariates, future_covariates, static):
        s = torch.cat([emb(static[name]) for name, emb in self.static.items()], dim=-1)
        h0 = torch.tanh(self.init_h(s)).unsqueeze(0)
        _, state = self.past(torch.cat([target.unsqueeze(-1), past_covariates], -1), (h0, torch.zeros_like(h0)))
        decoded, _ = self.future(future_covariates, state)
        return self.out(decoded)


def conv_bn(cin, cout, k=3, s=1):
    return nn.Sequential(
        OrderedDict(conv=nn.Conv2d(cin, cout, k, s, k // 2, bias=False), bn=nn.BatchNorm2d(cout), act=nn.ReLU(True))
    )


class UpBlock(nn.Module):
    def __init__(self, cin, cskip, cout):
        super().__init__()
        self.conv = conv_bn(cin + cskip, cout)

    def forward(self, x, skip):
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        return self.conv(torch.cat([x, skip], 1))


class EncoderDecoderSegmenter(nn.Module):
    def __init__(self, encoder_factory, decoder_channels, classes, activation=None):
        super().__init__()
        self.encoder = encoder_factory()
        chs = self.encoder.out_channels[::-1]
        ins = [chs[0], *decoder_channels[:-1]]
        self.decoder = nn.ModuleList([UpBlock(i, s, o) for i, s, o in zip(ins, chs[1:], decoder_channels)])
        self.head = nn.Conv2d(decoder_channels[-1], classes, 1)
        self.activation = activation or nn.Identity()

    def forward(self, image):
        feats = self.encoder(image)[::-1]
        x = feats[0]
        for up, skip in zip(self.decoder, feats[1:]):
            x = up(x, skip)
        return self.activation(self.head(x))


class PlainEncoder(nn.Module):
    def __init__(self, width=8, depth=3):
        super().__init__()
        self.out_channels = [width * 2**i for i in range(depth)]
        self.stages = nn.ModuleList(
            conv_bn(3 if i == 0 else self.out_channels[i - 1], c, s=1 if i == 0 else 2)
            for i, c in enumerate(self.out_channels)
        )

    def forward(self, x):
        feats = []
        for stage in self.stages:
            x = stage(x)
            feats.append(x)
        return feats


def build_segmenter(classes=4):
    encoder = functools.partial(PlainEncoder, width=8)
    return EncoderDecoderSegmenter(encoder, [32, 16], classes)


class PoseLifter(nn.Module):
    """2-D joints of some frames to 3-D joints of the middle one."""

    def __init__(
        self, num_joints_in, in_features, num_joints_out, filter_widths, causal=False, dropout=0.25, channels=64
    ):
        super().__init__()
        for fw in filter_widths:
            assert fw % 2 != 0, "only odd filter widths"
        self.num_joints_in, self.in_features, self.num_joints_out = num_joints_in, in_features, num_joints_out
        self.expand = nn.Conv1d(num_joints_in * in_features, channels, filter_widths[0])
        self.layers = nn.ModuleList()
        dilation = filter_widths[0]
        for fw in filter_widths[1:]:
            self.layers.append(nn.Conv1d(channels, channels, fw, dilation=dilation))
            dilation *= fw
        self.drop = nn.Dropout(dropout)
        self.shrink = nn.Conv1d(channels, num_joints_out * 3, 1)

    def forward(self, x):
        assert len(x.shape) == 4
        assert x.shape[-2] == self.num_joints_in
        assert x.shape[-1] == self.in_features
        sz = x.shape[:3]
        x = x.view(x.shape[0], x.shape[1], -1).permute(0, 2, 1)
        x = self.drop(F.relu(self.expand(x)))
        for layer in self.layers:
            x = self.drop(F.relu(layer(x)))
        x = self.shrink(x).permute(0, 2, 1)
        return x.view(sz[0], -1, self.num_joints_out, 3)


class InvoiceParser(nn.Module):
    """Words, their boxes on the page, and the page itself."""

    def __init__(self, config):
        super().__init__()
        d = config["hidden_size"]
        self.words = nn.Embedding(config["vocab_size"], d, padding_idx=config.get("pad_token_id", 0))
        self.x_pos = nn.Embedding(config["max_2d_position"], d)
        self.y_pos = nn.Embedding(config["max_2d_position"], d)
        self.page = nn.Sequential(nn.Conv2d(3, d, 16, 16), nn.ReLU())
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(d, config["num_heads"], 2 * d, batch_first=True)
            for _ in range(config["num_layers"])
        )
        self.tag = nn.Linear(d, len(config["tags"]))

    @classmethod
    def from_name(cls, name, **overrides):
        presets = {
            "mini": {"hidden_size": 32, "num_heads": 2, "num_layers": 2},
            "full": {"hidden_size": 256, "num_heads": 8, "num_layers": 6},
        }
        return cls({"vocab_size": 1000, "max_2d_position": 1001, "tags": ["O", "B", "I"], **presets[name], **overrides})

    def forward(self, input_ids, bbox, attention_mask, pixel_values):
        x = self.words(input_ids)
        x = (
            x
            + self.x_pos(bbox[..., 0])
            + self.y_pos(bbox[..., 1])
            + self.x_pos(bbox[..., 2])
            + self.y_pos(bbox[..., 3])
        )
        page = self.page(pixel_values).flatten(2).transpose(1, 2)
        n = x.size(1)
        x = torch.cat([x, page], dim=1)
        mask = torch.cat([attention_mask == 0, torch.zeros(page.shape[:2], dtype=torch.bool, device=page.device)], 1)
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=mask)
        return self.tag(x[:, :n])


class VoiceCloner(nn.Module):
    """Phonemes and the codes of a codec, with an optional cache of earlier steps."""

    def __init__(self, hp: SimpleNamespace):
        super().__init__()
        self.hp = hp
        self.text = nn.Embedding(hp.n_phonemes, hp.dim)
        self.codes = nn.ModuleList([nn.Embedding(hp.codebook_size, hp.dim) for _ in range(hp.n_codebooks)])
        self.rnn = nn.LSTM(hp.dim, hp.dim, batch_first=True)
        self.heads = nn.ModuleList([nn.Linear(hp.dim, hp.codebook_size) for _ in range(hp.n_codebooks)])

    def forward(self, phonemes, codes, speaker_embedding, state=None):
        """codes: (batch, n_codebooks, frames) of a neural codec."""
        audio = sum(emb(codes[:, i]) for i, emb in enumerate(self.codes))
        x = torch.cat([self.text(phonemes), audio + speaker_embedding.unsqueeze(1)], dim=1)
        out, state = self.rnn(x, state)
        out = out[:, phonemes.size(1) :]
        return torch.stack([head(out) for head in self.heads], dim=1), state


class CheckoutRanker(nn.Module):
    def __init__(self, schema, tower=(32, 16), activation=nn.ReLU, normalizer=None):
        super().__init__()
        self.schema = schema
        self.embeddings = nn.ModuleDict()
        self.numeric = []
        for feature in schema:
            if feature["type"] == "categorical":
                self.embeddings[feature["name"]] = nn.Embedding(feature["cardinality"], feature.get("dim", 8))
            elif feature["type"] == "numeric":
                self.numeric.append(feature["name"])
            else:
                raise KeyError(feature["type"])
        width = len(self.numeric) + sum(e.embedding_dim for e in self.embeddings.values())
        self.norm = normalizer(width) if normalizer else nn.Identity()
        layers = []
        for t in tower:
            layers += [nn.Linear(width, t), activation()]
            width = t
        self.tower = nn.Sequential(*layers)
        self.score = nn.Linear(width, 1)

    def forward(self, batch):
        parts = [self.embeddings[name](batch[name]) for name in self.embeddings]
        parts += [batch[name].unsqueeze(-1) for name in self.numeric]
        return self.score(self.tower(self.norm(torch.cat(parts, dim=-1)))).squeeze(-1)


SCHEMA = [
    {"name": "country", "type": "categorical", "cardinality": 40},
    {"name": "device", "type": "categorical", "cardinality": 6, "dim": 4},
    {"name": "basket_value", "type": "numeric"},
]
