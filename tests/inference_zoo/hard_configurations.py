"""Hard: configurations of every make, registries, bases, and parts that are built by name.

Long because it is a list of models.
"""

from __future__ import annotations

import abc
import argparse
import enum
import functools
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "ActorWithSpaces",
    "ArgsTransformer",
    "BlockList",
    "ClipLike",
    "ComposedModel",
    "FlatConfigMamba",
    "KwargsNet",
    "LitClassifier",
    "MetricHead",
    "MixedFeatures",
    "OptimizedMLP",
    "SpecEncoder",
    "StagedBackbone",
    "ViTConfigured",
    "WeightedFusion",
    "build_decoder",
]


class ArgsTransformer(nn.Module):
    def __init__(self, args: argparse.Namespace):
        super().__init__()
        self.args = args
        self.embed_tokens = nn.Embedding(args.vocab_size, args.embed_dim, padding_idx=args.padding_idx)
        self.layers = nn.ModuleList([])
        for _ in range(args.num_layers):
            self.layers.append(
                nn.TransformerEncoderLayer(
                    args.embed_dim, args.attention_heads, args.ffn_embed_dim, args.dropout, args.activation_fn
                )
            )
        self.out = nn.Linear(args.embed_dim, args.vocab_size, bias=getattr(args, "output_bias", True))

    def forward(self, src_tokens):
        x = self.embed_tokens(src_tokens).transpose(0, 1)
        for layer in self.layers:
            x = layer(x)
        return self.out(x.transpose(0, 1))


class Pooling(enum.Enum):
    MEAN = "mean"
    MAX = "max"


@dataclass
class VisionSettings:
    image_size: int
    patch_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    mlp_ratio: float
    pooling: Pooling
    qkv_bias: bool = True


class ViTConfigured(nn.Module):
    def __init__(self, config: VisionSettings):
        super().__init__()
        if config.image_size % config.patch_size:
            raise ValueError(f"image size {config.image_size} is not divisible by {config.patch_size}")
        self.pooling = Pooling(config.pooling)
        n = (config.image_size // config.patch_size) ** 2
        self.patch_embed = nn.Conv2d(3, config.hidden_size, config.patch_size, config.patch_size)
        self.pos_embed = nn.Parameter(torch.zeros(1, n, config.hidden_size))
        width = int(config.hidden_size * config.mlp_ratio)
        layer = nn.TransformerEncoderLayer(config.hidden_size, config.num_heads, width, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, config.num_layers)

    def forward(self, pixel_values):
        x = self.patch_embed(pixel_values).flatten(2).transpose(1, 2) + self.pos_embed
        x = self.encoder(x)
        return x.mean(1) if self.pooling is Pooling.MEAN else x.amax(1)


MODELS: dict[str, type] = {}


def register_model(name):
    def wrap(cls):
        MODELS[name] = cls
        return cls

    return wrap


@register_model("lstm")
class LSTMPart(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.rnn = nn.LSTM(input_size, hidden_size, batch_first=True)

    def forward(self, x):
        return self.rnn(x)[0]


@register_model("mlp")
class MLPPart(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.net = nn.Linear(input_size, hidden_size)

    def forward(self, x):
        return F.gelu(self.net(x))


class ComposedModel(nn.Module):
    def __init__(self, model_name, input_size, hidden_size, num_classes):
        super().__init__()
        self.body = MODELS[model_name](input_size, hidden_size)
        self.head = nn.Linear(hidden_size, num_classes)

    def forward(self, x):
        return self.head(self.body(x).mean(1))


class KwargsNet(nn.Module):
    def __init__(self, **kwargs):
        super().__init__()
        width = kwargs["width"]
        self.stem = nn.Linear(kwargs.get("in_features", 12), width)
        self.blocks = nn.Sequential(*(nn.Linear(width, width) for _ in range(kwargs.get("depth", 2))))
        self.out = nn.Linear(width, kwargs["n_outputs"])

    def forward(self, x):
        return self.out(self.blocks(torch.relu(self.stem(x))))


class LitClassifier(nn.Module):
    """As trainers write it: the network comes in, the rest is for training."""

    def __init__(self, net: nn.Module, optimizer: Any, scheduler: Any, compile: bool):
        super().__init__()
        self.net = net
        self.optimizer, self.scheduler, self.compile_net = optimizer, scheduler, compile
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.net(x)


class MetricHead(nn.Module):
    def __init__(self, in_features: int, out_features: int, s: float, m: float, loss: Literal["arc", "cos"]):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, in_features))
        self.s, self.m, self.loss = s, m, loss
        if loss not in {"arc", "cos"}:
            raise ValueError(loss)

    def forward(self, embeddings, label):
        cosine = F.linear(F.normalize(embeddings), F.normalize(self.weight))
        one_hot = torch.zeros_like(cosine).scatter_(1, label.view(-1, 1).long(), 1)
        phi = cosine - self.m if self.loss == "cos" else torch.cos(torch.acos(cosine.clamp(-1, 1)) + self.m)
        return self.s * (one_hot * phi + (1.0 - one_hot) * cosine)


@dataclass
class FeatureSpec:
    name: str
    vocab_size: int
    dim: int = 8


class MixedFeatures(nn.Module):
    def __init__(self, specs: list[FeatureSpec], dense_dim: int):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(s.vocab_size, s.dim) for s in specs)
        self.out = nn.Linear(sum(s.dim for s in specs) + dense_dim, 1)

    def forward(self, sparse, dense):
        parts = [table(sparse[:, i]) for i, table in enumerate(self.tables)]
        return self.out(torch.cat([*parts, dense], dim=-1))


class OptimizedMLP(nn.Module):
    def __init__(self, trial, in_features, n_classes):
        super().__init__()
        layers, width = [], in_features
        for i in range(trial.suggest_int("n_layers", 1, 3)):
            out = trial.suggest_int(f"n_units_l{i}", 4, 128)
            layers += [nn.Linear(width, out), nn.ReLU(), nn.Dropout(trial.suggest_float(f"dropout_l{i}", 0.2, 0.5))]
            width = out
        self.net = nn.Sequential(*layers, nn.Linear(width, n_classes))

    def forward(self, x):
        return self.net(x)


class BaseEncoder(nn.Module, abc.ABC):
    @property
    @abc.abstractmethod
    def output_dim(self):
        raise NotImplementedError


class SpecEncoder(BaseEncoder):
    def __init__(self, cfg: dict):
        super().__init__()
        self.conv = nn.Conv1d(cfg["n_mels"], cfg["channels"], cfg["kernel_size"], padding="same")
        self.norms = nn.ModuleDict({"batch": nn.BatchNorm1d(cfg["channels"]), "none": nn.Identity()})
        self.norm = cfg.get("norm", "batch")
        self._dim = cfg["channels"]

    @property
    def output_dim(self):
        return self._dim

    def forward(self, melspec):
        return self.norms[self.norm](self.conv(melspec)).mean(-1)


class StagedBackbone(nn.Module):
    def __init__(self, depths, dims, drop_path_rate, norm_layer):
        super().__init__()
        rates = [x.item() for x in torch.linspace(0, drop_path_rate, sum(depths))]
        self.stem = nn.Conv2d(3, dims[0], 4, 4)
        self.stages, cur = nn.ModuleList(), 0
        for i, depth in enumerate(depths):
            blocks = [
                nn.Sequential(
                    norm_layer(dims[i]), nn.Conv2d(dims[i], dims[i], 3, padding=1), nn.Dropout(rates[cur + j])
                )
                for j in range(depth)
            ]
            if i < len(depths) - 1:
                blocks.append(nn.Conv2d(dims[i], dims[i + 1], 2, 2))
            self.stages.append(nn.Sequential(*blocks))
            cur += depth

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return x.mean([-2, -1])


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


class BlockList(nn.Module):
    def __init__(self, config):
        super().__init__()
        layers, channels = [], config["in_channels"]
        for block in config["blocks"]:
            layers.append(nn.Conv2d(channels, block["out"], block["kernel"], block["stride"], block["kernel"] // 2))
            layers.append(nn.ReLU())
            channels = block["out"]
        self.features = nn.Sequential(*layers)
        self.out = nn.Linear(channels, config["classes"])

    def forward(self, x):
        return self.out(self.features(x).mean((2, 3)))


@dataclass
class ModelArgs:
    d_model: int
    n_layer: int
    vocab_size: int
    d_state: int = 8
    expand: int = 2
    dt_rank: int | str = "auto"
    d_inner: int = field(init=False)

    def __post_init__(self):
        self.d_inner = self.expand * self.d_model
        if self.dt_rank == "auto":
            self.dt_rank = max(1, self.d_model // 16)


class FlatConfigMamba(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.args = args
        self.embedding = nn.Embedding(args.vocab_size, args.d_model)
        self.in_proj = nn.ModuleList(nn.Linear(args.d_model, args.d_inner) for _ in range(args.n_layer))
        self.x_proj = nn.ModuleList(nn.Linear(args.d_inner, args.dt_rank) for _ in range(args.n_layer))
        self.out_proj = nn.ModuleList(nn.Linear(args.d_inner, args.d_model) for _ in range(args.n_layer))

    def forward(self, input_ids):
        x = self.embedding(input_ids)
        for a, b, c in zip(self.in_proj, self.x_proj, self.out_proj, strict=True):
            h = a(x)
            x = x + c(h * torch.sigmoid(b(h).mean(-1, keepdim=True)))
        return F.linear(x, self.embedding.weight)


class WeightedFusion(nn.Module):
    def __init__(self, branches: nn.ModuleDict, fusion: str, dim: int):
        super().__init__()
        self.branches = nn.ModuleDict(branches)
        self.fuse = {"sum": sum, "max": functools.partial(functools.reduce, torch.maximum)}[fusion]
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        return self.out(self.fuse([branch(x) for branch in self.branches.values()]))


class ActorWithSpaces(nn.Module):
    def __init__(self, observation_space, action_space, hidden_sizes, activation):
        super().__init__()
        sizes = [observation_space.shape[0], *list(hidden_sizes)]
        layers = []
        for a, b in zip(sizes[:-1], sizes[1:], strict=True):
            layers += [nn.Linear(a, b), activation()]
        self.net = nn.Sequential(*layers)
        self.mu = nn.Linear(sizes[-1], action_space.shape[0])
        self.act_limit = action_space.high[0]

    def forward(self, obs):
        return self.act_limit * torch.tanh(self.mu(self.net(obs)))


def build_decoder(name, encoder_channels, decoder_channels, classes):
    if len(encoder_channels) != len(decoder_channels):
        raise ValueError("encoder and decoder must have as many stages as each other")
    if name == "unet":
        act = nn.ReLU()
    elif name == "fpn":
        act = nn.Identity()
    else:
        raise ValueError(f"Unknown decoder {name}")
    stages = [
        nn.Sequential(nn.Conv2d(e, d, 1), act) for e, d in zip(encoder_channels[:1], decoder_channels, strict=False)
    ]
    return nn.Sequential(*stages, nn.Conv2d(decoder_channels[0], classes, 1))
