"""Hard: block classes, factories of layers, registries, names of layers, settings as lists.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from collections import namedtuple
from enum import Enum
from typing import Callable, Optional, Sequence

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "BranchFusion",
    "CompactNet",
    "FactoryStack",
    "MixedMobileNet",
    "NoisePredictor",
    "PooledSentence",
    "RegisteredAutoencoder",
    "SuperResolver",
]


class ResnetBlock(nn.Module):
    def __init__(self, dim, dim_out, norm_layer, act, time_dim):
        super().__init__()
        self.time = nn.Linear(time_dim, dim_out)
        self.conv1, self.conv2 = nn.Conv2d(dim, dim_out, 3, padding=1), nn.Conv2d(dim_out, dim_out, 3, padding=1)
        self.norm1, self.norm2 = norm_layer(dim_out), norm_layer(dim_out)
        self.act = act()
        self.skip = nn.Conv2d(dim, dim_out, 1) if dim != dim_out else nn.Identity()

    def forward(self, x, t):
        h = self.act(self.norm1(self.conv1(x))) + self.time(t)[:, :, None, None]
        return self.act(self.norm2(self.conv2(h))) + self.skip(x)


class ConvNextBlock(nn.Module):
    def __init__(self, dim, dim_out, norm_layer, act, time_dim):
        super().__init__()
        self.time = nn.Linear(time_dim, dim)
        self.dw = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.net = nn.Sequential(
            norm_layer(dim),
            nn.Conv2d(dim, 2 * dim_out, 3, padding=1),
            act(),
            nn.Conv2d(2 * dim_out, dim_out, 3, padding=1),
        )
        self.skip = nn.Conv2d(dim, dim_out, 1) if dim != dim_out else nn.Identity()

    def forward(self, x, t):
        return self.net(self.dw(x) + self.time(t)[:, :, None, None]) + self.skip(x)


class NoisePredictor(nn.Module):
    def __init__(self, dim, dim_mults, channels, block_type, norm_layer, act):
        super().__init__()
        block = eval(block_type)  # noqa: S307
        act = getattr(nn, act) if isinstance(act, str) else act
        self.dim = dim
        time_dim = dim * 4
        self.time_mlp = nn.Sequential(nn.Linear(dim, time_dim), nn.GELU(), nn.Linear(time_dim, time_dim))
        dims = [dim, *[dim * m for m in dim_mults]]
        self.init = nn.Conv2d(channels, dim, 7, padding=3)
        self.downs, self.ups = nn.ModuleList(), nn.ModuleList()
        for a, b in zip(dims[:-1], dims[1:]):
            self.downs.append(nn.ModuleList([block(a, b, norm_layer, act, time_dim), nn.Conv2d(b, b, 4, 2, 1)]))
        for a, b in zip(reversed(dims[:-1]), reversed(dims[1:])):
            self.ups.append(
                nn.ModuleList([nn.ConvTranspose2d(b, b, 4, 2, 1), block(2 * b, a, norm_layer, act, time_dim)])
            )
        self.final = nn.Conv2d(dim, channels, 1)

    def forward(self, x, time):
        half = self.dim // 2
        freqs = torch.exp(torch.arange(half, device=x.device) * -(math.log(10000) / (half - 1)))
        emb = time[:, None] * freqs[None]
        t = self.time_mlp(torch.cat([emb.sin(), emb.cos()], -1))
        x, hs = self.init(x), []
        for block, down in self.downs:
            x = block(x, t)
            hs.append(x)
            x = down(x)
        for up, block in self.ups:
            x = block(torch.cat([up(x), hs.pop()], 1), t)
        return self.final(x)


ENCODERS: dict[str, type] = {}
DECODERS: dict[str, type] = {}


def register(registry, name):
    def wrap(cls):
        registry[name] = cls
        return cls

    return wrap


@register(ENCODERS, "conv")
class ConvEncoder(nn.Module):
    def __init__(self, in_channels, latent_dim, hidden_dims):
        super().__init__()
        layers = []
        for h in hidden_dims:
            layers += [nn.Conv2d(in_channels, h, 3, 2, 1), nn.BatchNorm2d(h), nn.LeakyReLU()]
            in_channels = h
        self.net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.fc = nn.Linear(h * 16, latent_dim)

    def forward(self, x):
        return self.fc(self.net(x))


@register(DECODERS, "deconv")
class DeconvDecoder(nn.Module):
    def __init__(self, out_channels, latent_dim, hidden_dims):
        super().__init__()
        self.width = hidden_dims[-1]
        self.fc = nn.Linear(latent_dim, self.width * 16)
        layers = []
        for a, b in zip(hidden_dims[::-1], [*hidden_dims[::-1][1:], out_channels]):
            layers += [nn.ConvTranspose2d(a, b, 4, 2, 1), nn.LeakyReLU()]
        self.net = nn.Sequential(*layers)

    def forward(self, z):
        return self.net(self.fc(z).view(-1, self.width, 4, 4))


class RegisteredAutoencoder(nn.Module):
    def __init__(self, encoder_name: str, decoder_name: str, latent_dim: int, hidden_dims: list, **kwargs):
        super().__init__()
        if encoder_name not in ENCODERS:
            raise KeyError(f"Unknown encoder {encoder_name!r}, choose one of {sorted(ENCODERS)}")
        channels = kwargs.pop("channels", 3)
        self.encoder = ENCODERS[encoder_name](channels, latent_dim, hidden_dims)
        self.decoder = DECODERS[decoder_name](channels, latent_dim, hidden_dims)

    def forward(self, x):
        return self.decoder(self.encoder(x))


class FactoryStack(nn.Module):
    """Layers are made by what the caller hands in."""

    def __init__(
        self,
        widths: Sequence[int],
        conv: Callable[..., nn.Module],
        norm: Callable[[int], nn.Module],
        activation: Callable[[], nn.Module],
        pool: Optional[Callable[..., nn.Module]],
        num_outputs: int,
    ):
        super().__init__()
        layers: list[nn.Module] = []
        for i, o in zip(widths, widths[1:]):
            layers.append(conv(i, o, kernel_size=3, padding=1, bias=norm is None))
            if norm is not None:
                layers.append(norm(o))
            layers.append(activation())
            if pool is not None:
                layers.append(pool(2))
        self.features = nn.Sequential(*layers)
        self.out = nn.Linear(widths[-1], num_outputs)

    def forward(self, x):
        return self.out(self.features(x).mean((-2, -1)))


def _make_divisible(v, divisor=8):
    return max(divisor, int(v + divisor / 2) // divisor * divisor)


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio, norm_layer):
        super().__init__()
        if stride not in [1, 2]:
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        hidden = round(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        layers = []
        if expand_ratio != 1:
            layers += [nn.Conv2d(inp, hidden, 1, bias=False), norm_layer(hidden), nn.ReLU6(inplace=True)]
        layers += [nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False), norm_layer(hidden), nn.ReLU6()]
        layers += [nn.Conv2d(hidden, oup, 1, bias=False), norm_layer(oup)]
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MixedMobileNet(nn.Module):
    def __init__(
        self,
        num_classes: int,
        width_mult: float,
        inverted_residual_setting: list[list[int]],
        last_channel: int,
        block=None,
        norm_layer=None,
    ):
        super().__init__()
        block = InvertedResidual if block is None else block
        norm_layer = nn.BatchNorm2d if norm_layer is None else norm_layer
        if len(inverted_residual_setting) == 0 or len(inverted_residual_setting[0]) != 4:
            raise ValueError(
                f"inverted_residual_setting should be non-empty or a 4-element list, got {inverted_residual_setting}"
            )
        ch = _make_divisible(32 * width_mult)
        features = [nn.Conv2d(3, ch, 3, 2, 1, bias=False), norm_layer(ch), nn.ReLU6()]
        for t, c, n, s in inverted_residual_setting:
            out = _make_divisible(c * width_mult)
            for i in range(n):
                features.append(block(ch, out, s if i == 0 else 1, expand_ratio=t, norm_layer=norm_layer))
                ch = out
        self.features = nn.Sequential(*features, nn.Conv2d(ch, last_channel, 1))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last_channel, num_classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


class BranchFusion(nn.Module):
    """One module of a network of several resolutions."""

    def __init__(self, num_branches, block, num_blocks, num_inchannels, num_channels, fuse_method):
        super().__init__()
        self._check_branches(num_branches, num_blocks, num_inchannels, num_channels)
        self.num_branches = num_branches
        self.fuse_method = fuse_method
        self.branches = nn.ModuleList(
            nn.Sequential(
                *[
                    block(num_inchannels[i] if k == 0 else num_channels[i], num_channels[i])
                    for k in range(num_blocks[i])
                ]
            )
            for i in range(num_branches)
        )
        self.to_first = nn.ModuleList(nn.Conv2d(c, num_channels[0], 1) for c in num_channels)

    def _check_branches(self, num_branches, num_blocks, num_inchannels, num_channels):
        if num_branches != len(num_blocks):
            raise ValueError(f"NUM_BRANCHES({num_branches}) <> NUM_BLOCKS({len(num_blocks)})")
        if num_branches != len(num_channels):
            raise ValueError(f"NUM_BRANCHES({num_branches}) <> NUM_CHANNELS({len(num_channels)})")
        if num_branches != len(num_inchannels):
            raise ValueError(f"NUM_BRANCHES({num_branches}) <> NUM_INCHANNELS({len(num_inchannels)})")

    def forward(self, x):
        ys = [branch(x[i]) for i, branch in enumerate(self.branches)]
        size = ys[0].shape[-2:]
        ys = [F.interpolate(conv(y), size) for conv, y in zip(self.to_first, ys)]
        if self.fuse_method == "sum":
            return torch.stack(ys).sum(0)
        if self.fuse_method == "concat":
            return torch.cat(ys, 1)
        raise NotImplementedError(self.fuse_method)


BlockArgs = namedtuple(
    "BlockArgs", ["num_repeat", "kernel_size", "stride", "input_filters", "output_filters", "se_ratio"]
)
GlobalParams = namedtuple(
    "GlobalParams",
    [
        "width_coefficient",
        "depth_coefficient",
        "dropout_rate",
        "num_classes",
        "batch_norm_momentum",
        "batch_norm_epsilon",
    ],
)


class SEConv(nn.Module):
    def __init__(self, args: BlockArgs, params: GlobalParams, inp, stride):
        super().__init__()
        out = _make_divisible(args.output_filters * params.width_coefficient)
        self.conv = nn.Conv2d(inp, out, args.kernel_size, stride, args.kernel_size // 2)
        self.bn = nn.BatchNorm2d(out, momentum=1 - params.batch_norm_momentum, eps=params.batch_norm_epsilon)
        self.has_se = args.se_ratio is not None and 0 < args.se_ratio <= 1
        if self.has_se:
            squeezed = max(1, int(out * args.se_ratio))
            self.reduce, self.expand = nn.Conv2d(out, squeezed, 1), nn.Conv2d(squeezed, out, 1)

    def forward(self, x):
        x = F.silu(self.bn(self.conv(x)))
        if self.has_se:
            x = x * torch.sigmoid(self.expand(F.silu(self.reduce(x.mean((2, 3), keepdim=True)))))
        return x


class CompactNet(nn.Module):
    def __init__(self, blocks_args: list, global_params: GlobalParams):
        super().__init__()
        assert isinstance(blocks_args, list), "blocks_args should be a list"
        assert len(blocks_args) > 0, "block args must be greater than 0"
        inp = _make_divisible(blocks_args[0].input_filters * global_params.width_coefficient)
        self.stem = nn.Conv2d(3, inp, 3, 2, 1)
        self.blocks = nn.ModuleList()
        for args in blocks_args:
            for i in range(math.ceil(args.num_repeat * global_params.depth_coefficient)):
                self.blocks.append(SEConv(args, global_params, inp, args.stride if i == 0 else 1))
                inp = self.blocks[-1].conv.out_channels
        self.dropout = nn.Dropout(global_params.dropout_rate)
        self.fc = nn.Linear(inp, global_params.num_classes)

    def forward(self, inputs):
        x = self.stem(inputs)
        for block in self.blocks:
            x = block(x)
        return self.fc(self.dropout(x.mean((2, 3))))


class Pooling(Enum):
    MEAN = "mean"
    MAX = "max"
    CLS = "cls"


class PooledSentence(nn.Module):
    def __init__(
        self,
        vocab_size: int,
        dim: int,
        heads: int,
        layers: int,
        pooling: Pooling,
        normalize: bool,
        dtype: torch.dtype,
        device: torch.device,
    ):
        super().__init__()
        self.pooling = pooling
        self.normalize = normalize
        factory = {"device": device, "dtype": dtype}
        self.embed = nn.Embedding(vocab_size, dim, **factory)
        layer = nn.TransformerEncoderLayer(dim, heads, dim * 4, batch_first=True, **factory)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        h = self.encoder(self.embed(input_ids), src_key_padding_mask=attention_mask == 0)
        if self.pooling is Pooling.MEAN:
            mask = attention_mask.unsqueeze(-1).to(h.dtype)
            out = (h * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        elif self.pooling is Pooling.MAX:
            out = h.masked_fill(attention_mask.unsqueeze(-1) == 0, -1e4).amax(1)
        elif self.pooling is Pooling.CLS:
            out = h[:, 0]
        else:
            raise ValueError(f"unknown pooling: {self.pooling}")
        return F.normalize(out, dim=-1) if self.normalize else out


class Upsampler(nn.Sequential):
    def __init__(self, conv, scale, n_feats, act=False):
        m = []
        if (scale & (scale - 1)) == 0:
            for _ in range(int(math.log2(scale))):
                m += [conv(n_feats, 4 * n_feats, 3), nn.PixelShuffle(2)]
                if act:
                    m.append(nn.ReLU())
        elif scale == 3:
            m += [conv(n_feats, 9 * n_feats, 3), nn.PixelShuffle(3)]
        else:
            raise NotImplementedError
        super().__init__(*m)


def default_conv(in_channels, out_channels, kernel_size, bias=True):
    return nn.Conv2d(in_channels, out_channels, kernel_size, padding=kernel_size // 2, bias=bias)


class MeanShift(nn.Conv2d):
    def __init__(self, rgb_range, rgb_mean, rgb_std, sign=-1):
        super().__init__(3, 3, kernel_size=1)
        std = torch.Tensor(rgb_std)
        self.weight.data = torch.eye(3).view(3, 3, 1, 1) / std.view(3, 1, 1, 1)
        self.bias.data = sign * rgb_range * torch.Tensor(rgb_mean) / std
        for p in self.parameters():
            p.requires_grad = False


class SuperResolver(nn.Module):
    def __init__(self, args, conv=default_conv):
        super().__init__()
        n_feats, scale = args.n_feats, args.scale[0]
        self.sub_mean = MeanShift(args.rgb_range, args.rgb_mean, args.rgb_std)
        self.head = conv(args.n_colors, n_feats, 3)
        self.body = nn.Sequential(
            *[nn.Sequential(conv(n_feats, n_feats, 3), nn.ReLU(True)) for _ in range(args.n_resblocks)]
        )
        self.res_scale = args.res_scale
        self.tail = nn.Sequential(Upsampler(conv, scale, n_feats), conv(n_feats, args.n_colors, 3))

    def forward(self, x):
        x = self.head(self.sub_mean(x))
        return self.tail(x + self.body(x).mul(self.res_scale))
