"""Hard: constructors that read layer specifications: rows, small languages, tables, nested settings, registries.

Long because it is a list of models.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "CaptionTransformer",
    "CompactMobileNet",
    "CompoundVision",
    "DarkCfgNet",
    "EncodecLike",
    "ExclusiveNorms",
    "LetterVGG",
    "OperatorAlgebra",
    "RegistryClassifier",
    "StagedConvNeXt",
    "TabularTowers",
]


def _make_divisible(v, divisor=8):
    new_v = max(divisor, int(v + divisor / 2) // divisor * divisor)
    return new_v if new_v >= 0.9 * v else new_v + divisor


class InvertedBottleneck(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio):
        super().__init__()
        assert stride in [1, 2]
        hidden = int(inp * expand_ratio)
        self.identity = stride == 1 and inp == oup
        self.conv = nn.Sequential(
            nn.Conv2d(inp, hidden, 1, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, oup, 1, bias=False),
            nn.BatchNorm2d(oup),
        )

    def forward(self, x):
        return x + self.conv(x) if self.identity else self.conv(x)


class CompactMobileNet(nn.Module):
    """The rows of cfgs are t, c, n, s."""

    def __init__(self, cfgs, num_classes, width_mult=1.0):
        super().__init__()
        input_channel = _make_divisible(32 * width_mult)
        layers = [nn.Conv2d(3, input_channel, 3, 2, 1, bias=False), nn.BatchNorm2d(input_channel), nn.ReLU6()]
        for t, c, n, s in cfgs:
            output_channel = _make_divisible(c * width_mult)
            for i in range(n):
                layers.append(InvertedBottleneck(input_channel, output_channel, s if i == 0 else 1, t))
                input_channel = output_channel
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(output_channel, num_classes)

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), 1).flatten(1)
        return self.classifier(x)


class LetterVGG(nn.Module):
    """``spec`` is such as "32-64-M-128-M"."""

    def __init__(self, spec, n_classes, batch_norm=False):
        super().__init__()
        layers, in_ch = [], 3
        for word in spec.split("-"):
            if word == "M":
                layers.append(nn.MaxPool2d(2))
                continue
            out_ch = int(word)
            layers.append(nn.Conv2d(in_ch, out_ch, 3, padding=1))
            if batch_norm:
                layers.append(nn.BatchNorm2d(out_ch))
            layers.append(nn.ReLU(inplace=True))
            in_ch = out_ch
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(in_ch, n_classes)

    def forward(self, images):
        return self.head(self.features(images).mean(dim=(2, 3)))


class DarkCfgNet(nn.Module):
    """Builds layers from a list of dicts, as cfg files of darknet are parsed."""

    def __init__(self, blocks, img_channels=3):
        super().__init__()
        self.blocks = blocks
        self.layers = nn.ModuleList()
        filters = [img_channels]
        for idx, block in enumerate(blocks):
            module = nn.Sequential()
            if block["type"] == "convolutional":
                out = int(block["filters"])
                size = int(block["size"])
                pad = (size - 1) // 2 if block.get("pad") else 0
                module.add_module(f"conv_{idx}", nn.Conv2d(filters[-1], out, size, int(block["stride"]), pad))
                if block.get("batch_normalize", 0):
                    module.add_module(f"bn_{idx}", nn.BatchNorm2d(out))
                if block["activation"] == "leaky":
                    module.add_module(f"leaky_{idx}", nn.LeakyReLU(0.1, inplace=True))
            elif block["type"] == "maxpool":
                out = filters[-1]
                module.add_module(f"maxpool_{idx}", nn.MaxPool2d(int(block["size"]), int(block["stride"])))
            elif block["type"] == "upsample":
                out = filters[-1]
                module.add_module(f"up_{idx}", nn.Upsample(scale_factor=int(block["stride"])))
            else:
                raise ValueError(f"unknown block type {block['type']}")
            self.layers.append(module)
            filters.append(out)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class ConvNeXtBlock(nn.Module):
    def __init__(self, dim, layer_scale):
        super().__init__()
        self.dw = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim)
        self.pw1 = nn.Linear(dim, 4 * dim)
        self.pw2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(layer_scale * torch.ones(dim))

    def forward(self, x):
        y = self.norm(self.dw(x).permute(0, 2, 3, 1))
        y = self.gamma * self.pw2(F.gelu(self.pw1(y)))
        return x + y.permute(0, 3, 1, 2)


class StagedConvNeXt(nn.Module):
    def __init__(self, depths, dims, drop_rates, in_chans, num_classes):
        super().__init__()
        if len(depths) != len(dims):
            raise ValueError(f"depths and dims should have the same length, got {len(depths)} and {len(dims)}")
        assert len(drop_rates) == sum(depths), "one rate for each block"
        self.stem = nn.Conv2d(in_chans, dims[0], 4, 4)
        self.stages = nn.ModuleList()
        for i, (depth, dim) in enumerate(zip(depths, dims)):
            down = nn.Identity() if i == 0 else nn.Conv2d(dims[i - 1], dim, 2, 2)
            blocks = [ConvNeXtBlock(dim, 1e-6) for _ in range(depth)]
            self.stages.append(nn.Sequential(down, *blocks))
        self.head = nn.Linear(dims[-1], num_classes)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean([-2, -1]))


class NormKind(enum.Enum):
    NONE = "none"
    BATCH = "batch"
    GROUP = "group"


class ExclusiveNorms(nn.Module):
    """Flags of which one excludes the other, and an enumeration."""

    def __init__(self, in_dim, hidden, out_dim, norm: NormKind, use_dropout, dropout_p, residual, heads):
        super().__init__()
        if use_dropout and norm is NormKind.BATCH:
            raise ValueError("dropout and batch norm don't go together")
        if residual and in_dim != hidden:
            raise ValueError("residual needs in_dim == hidden")
        if hidden % heads:
            raise ValueError(f"hidden ({hidden}) must be divisible by heads ({heads})")
        self.head_dim = hidden // heads
        self.heads = heads
        self.residual = residual
        self.lin = nn.Linear(in_dim, hidden)
        self.norm = {
            NormKind.NONE: nn.Identity,
            NormKind.BATCH: lambda: nn.BatchNorm1d(hidden),
            NormKind.GROUP: lambda: nn.GroupNorm(heads, hidden),
        }[norm]()
        self.drop = nn.Dropout(dropout_p) if use_dropout else nn.Identity()
        self.mix = nn.Linear(self.head_dim, self.head_dim)
        self.out = nn.Linear(hidden, out_dim)

    def forward(self, x):
        h = self.drop(F.relu(self.norm(self.lin(x))))
        h = self.mix(h.view(x.shape[0], self.heads, self.head_dim)).flatten(1)
        return self.out(h + x if self.residual else h)


class Registry:
    def __init__(self):
        self._classes = {}

    def register(self, name):
        def wrap(cls):
            self._classes[name] = cls
            return cls

        return wrap

    def build(self, cfg, **extra):
        cfg = dict(cfg)
        kind = cfg.pop("name")
        if kind not in self._classes:
            raise KeyError(f"{kind} is not registered, choose from {list(self._classes)}")
        return self._classes[kind](**cfg, **extra)


STEMS, HEADS = Registry(), Registry()


@STEMS.register("conv")
class ConvStem(nn.Module):
    def __init__(self, in_channels, width, kernel_size=3):
        super().__init__()
        self.out_channels = width
        self.conv = nn.Conv2d(in_channels, width, kernel_size, padding=kernel_size // 2)

    def forward(self, x):
        return F.relu(self.conv(x))


@STEMS.register("patch")
class PatchStem(nn.Module):
    def __init__(self, in_channels, width, patch):
        super().__init__()
        self.out_channels = width
        self.conv = nn.Conv2d(in_channels, width, patch, patch)

    def forward(self, x):
        return self.conv(x)


@HEADS.register("linear")
class LinearHead(nn.Module):
    def __init__(self, in_channels, num_classes):
        super().__init__()
        self.fc = nn.Linear(in_channels, num_classes)

    def forward(self, x):
        return self.fc(x.mean((2, 3)))


class RegistryClassifier(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.stem = STEMS.build(config.model.stem)
        self.body = nn.Sequential(
            *[
                nn.Sequential(nn.Conv2d(self.stem.out_channels, self.stem.out_channels, 3, padding=1), nn.ReLU())
                for _ in range(config.model.body.num_blocks)
            ]
        )
        self.head = HEADS.build(config.model.head, in_channels=self.stem.out_channels)

    @classmethod
    def from_config(cls, config):
        return cls(config)

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


class EncodecLike(nn.Module):
    """Strides by which a wave is shortened; channels double."""

    def __init__(self, sample_rate, n_filters, ratios, dimension, norm, activation, activation_params, lstm):
        super().__init__()
        assert norm in ["none", "weight_norm"], norm
        self.sample_rate = sample_rate
        self.hop = 1
        act = getattr(nn, activation)
        mult = 1
        layers = [nn.Conv1d(1, n_filters, 7, padding=3)]
        for ratio in reversed(ratios):
            conv = nn.Conv1d(mult * n_filters, 2 * mult * n_filters, ratio * 2, stride=ratio, padding=ratio // 2)
            layers += [act(**activation_params), nn.utils.weight_norm(conv) if norm == "weight_norm" else conv]
            mult *= 2
            self.hop *= ratio
        self.encoder = nn.Sequential(*layers)
        self.lstm = nn.LSTM(mult * n_filters, mult * n_filters, lstm, batch_first=True) if lstm else None
        self.proj = nn.Conv1d(mult * n_filters, dimension, 7, padding=3)

    def forward(self, wav):
        z = self.encoder(wav)
        if self.lstm is not None:
            z = z + self.lstm(z.transpose(1, 2))[0].transpose(1, 2)
        return self.proj(z)


@dataclass
class AttnConfig:
    n_heads: int
    head_dim: int
    rotary: bool = False


@dataclass
class BlockConfig:
    attn: AttnConfig
    ffn_mult: int
    norm_type: str = "rms"


@dataclass
class CaptionConfig:
    vocab: int
    block: BlockConfig
    n_layers: int
    extra: dict = field(default_factory=dict)

    @property
    def width(self):
        return self.block.attn.n_heads * self.block.attn.head_dim


class CaptionLayer(nn.Module):
    def __init__(self, cfg: BlockConfig, width):
        super().__init__()
        self.cfg = cfg
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width)
        inner = cfg.ffn_mult * width
        self.ff = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(b, t, 3, self.cfg.attn.n_heads, -1).permute(2, 0, 3, 1, 4)
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        return x + self.ff(self.norms[1](x))


class CaptionTransformer(nn.Module):
    def __init__(self, cfg: CaptionConfig, tied: bool):
        super().__init__()
        self.tok = nn.Embedding(cfg.vocab, cfg.width)
        self.layers = nn.ModuleList(CaptionLayer(cfg.block, cfg.width) for _ in range(cfg.n_layers))
        self.lm_head = nn.Linear(cfg.width, cfg.vocab, bias=False)
        if tied:
            self.lm_head.weight = self.tok.weight

    def forward(self, tokens):
        x = self.tok(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(x)


class CompoundVision(nn.Module):
    """A name from a table gives multipliers of width and depth."""

    VARIANTS = {"nano": (0.25, 0.33), "tiny": (0.375, 0.33), "small": (0.5, 0.33), "base": (1.0, 1.0)}

    def __init__(self, variant, stage_specs, num_outputs):
        super().__init__()
        if variant not in self.VARIANTS:
            raise ValueError(f"variant must be one of {sorted(self.VARIANTS)}, got {variant!r}")
        w, d = self.VARIANTS[variant]
        ch = int(64 * w)
        self.stem = nn.Conv2d(3, ch, 3, 2, 1)
        stages = []
        for spec in stage_specs:
            out, repeats = int(spec["channels"] * w), max(1, round(spec["repeats"] * d))
            stages.append(nn.Sequential(nn.Conv2d(ch, out, 3, spec["stride"], 1), nn.BatchNorm2d(out), nn.SiLU()))
            for _ in range(repeats - 1):
                stages.append(nn.Sequential(nn.Conv2d(out, out, 3, 1, 1), nn.BatchNorm2d(out), nn.SiLU()))
            ch = out
        self.stages = nn.Sequential(*stages)
        self.fc = nn.Linear(ch, num_outputs)

    def forward(self, x):
        return self.fc(self.stages(self.stem(x)).mean((-2, -1)))


class OperatorAlgebra(nn.Module):
    """Operations of a searched cell: (name, index of its input) in pairs."""

    OPS = {
        "skip": lambda c: nn.Identity(),
        "sep3": lambda c: nn.Sequential(nn.Conv2d(c, c, 3, padding=1, groups=c), nn.Conv2d(c, c, 1), nn.BatchNorm2d(c)),
        "pool": lambda c: nn.AvgPool2d(3, 1, 1),
    }

    def __init__(self, genotype, channels, num_classes):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        op_names, indices = zip(*genotype.normal)
        self.concat = genotype.normal_concat
        assert len(op_names) % 2 == 0
        self.indices = indices
        self.ops = nn.ModuleList([self.OPS[name](channels) for name in op_names])
        self.classifier = nn.Linear(channels * len(self.concat), num_classes)

    def forward(self, x):
        s = self.stem(x)
        states = [s, s]
        for i in range(len(self.ops) // 2):
            a = self.ops[2 * i](states[self.indices[2 * i]])
            b = self.ops[2 * i + 1](states[self.indices[2 * i + 1]])
            states.append(a + b)
        out = torch.cat([states[i] for i in self.concat], dim=1)
        return self.classifier(out.mean((2, 3)))


class TabularTowers(nn.Module):
    """Passes what it doesn't know on to towers by keyword."""

    def __init__(self, cat_dims, cont_features, layers, p, tower_type, **tower_kwargs):
        super().__init__()
        self.embeds = nn.ModuleList([nn.Embedding(ni, nf) for ni, nf in cat_dims])
        n_emb = sum(nf for _, nf in cat_dims)
        self.bn = nn.BatchNorm1d(cont_features)
        sizes = [n_emb + cont_features, *layers]
        towers = {"mlp": self._mlp, "res": self._res}
        self.tower = towers[tower_type.lower()](sizes, p, **tower_kwargs)

    @staticmethod
    def _mlp(sizes, p):
        parts = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            parts += [nn.Linear(a, b), nn.ReLU(), nn.Dropout(p)]
        return nn.Sequential(*parts)

    @staticmethod
    def _res(sizes, p, depth=2):
        return nn.Sequential(
            nn.Linear(sizes[0], sizes[-1]), nn.Dropout(p), *[nn.Linear(sizes[-1], sizes[-1]) for _ in range(depth)]
        )

    def forward(self, x_cat, x_cont):
        x = torch.cat([e(x_cat[:, i]) for i, e in enumerate(self.embeds)], 1)
        return self.tower(torch.cat([x, self.bn(x_cont)], 1))
