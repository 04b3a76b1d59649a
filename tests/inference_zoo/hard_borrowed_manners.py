"""Hard: constructors in further manners of libraries: factories of layers by dimension, policies, stages as tuples.

Long because it is a list of models.
"""

from __future__ import annotations

import abc
import copy
from collections.abc import Iterable
from enum import Enum
from typing import Literal, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "BlockwiseNet",
    "CellVAE",
    "DecoderOnlyModel",
    "DimensionalUNet",
    "FcPolicyNetwork",
    "ForecastMLP",
    "PillarEncoder",
    "PlannedTrunk",
    "RNNEncoder",
    "SetAggregator",
]


# ---- layers by the number of dimensions, activations as pairs


class LayerFactory:
    def __init__(self):
        self.factories = {}

    def register(self, name, fn):
        self.factories[name.upper()] = fn

    def __getitem__(self, args):
        name, dims = args
        if name.upper() not in self.factories:
            raise KeyError(f"Factory function {name} is not registered")
        return self.factories[name.upper()](dims)


Conv = LayerFactory()
Conv.register("conv", lambda dim: (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dim - 1])
Conv.register("convtrans", lambda dim: (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[dim - 1])
Norm = {
    "INSTANCE": (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d),
    "BATCH": (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d),
}


def split_args(args):
    if isinstance(args, str):
        return args, {}
    name, values = args
    return name, values


class DimensionalUNet(nn.Module):
    def __init__(self, spatial_dims: int, in_channels: int, out_channels: int, channels, strides, norm, bias=True):
        super().__init__()
        if len(channels) < 2:
            raise ValueError("the length of `channels` should be no less than 2.")
        delta = len(strides) - (len(channels) - 1)
        if delta < 0:
            raise ValueError("the length of `strides` should equal to `len(channels) - 1`.")
        name, values = split_args(norm)
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        width = in_channels
        for c, s in zip(channels, [1, *strides]):
            conv = Conv["conv", spatial_dims](width, c, 3, stride=s, padding=1, bias=bias)
            self.down.append(nn.Sequential(conv, Norm[name.upper()][spatial_dims - 1](c, **values), nn.PReLU()))
            width = c
        for c, s in zip(channels[-2::-1], strides[::-1]):
            self.up.append(Conv["convtrans", spatial_dims](width, c, s, stride=s))
            width = c
        self.final = Conv["conv", spatial_dims](width, out_channels, 1)

    def forward(self, x):
        skips = []
        for layer in self.down:
            x = layer(x)
            skips.append(x)
        for layer, skip in zip(self.up, skips[-2::-1]):
            x = layer(x) + skip
        return self.final(x)


# ---- an encoder of a toolkit for translation


class Embeddings(nn.Module):
    def __init__(self, word_vec_size, word_vocab_size, word_padding_idx):
        super().__init__()
        self.embedding_size = word_vec_size
        self.word_padding_idx = word_padding_idx
        self.make_embedding = nn.Embedding(word_vocab_size, word_vec_size, padding_idx=word_padding_idx)

    def forward(self, source):
        return self.make_embedding(source)


def rnn_factory(rnn_type, **kwargs):
    return getattr(nn, rnn_type)(**kwargs)


class RNNEncoder(nn.Module):
    def __init__(self, rnn_type, bidirectional, num_layers, hidden_size, dropout, embeddings, use_bridge=False):
        super().__init__()
        assert embeddings is not None
        num_directions = 2 if bidirectional else 1
        assert hidden_size % num_directions == 0
        hidden_size = hidden_size // num_directions
        self.embeddings = embeddings
        self.rnn = rnn_factory(
            rnn_type,
            input_size=embeddings.embedding_size,
            hidden_size=hidden_size,
            num_layers=num_layers,
            dropout=dropout,
            bidirectional=bidirectional,
        )
        self.use_bridge = use_bridge
        if self.use_bridge:
            self.bridge = nn.Linear(hidden_size, hidden_size)

    @classmethod
    def from_opt(cls, opt, embeddings):
        return cls(opt.rnn_type, opt.brnn, opt.enc_layers, opt.enc_rnn_size, opt.dropout, embeddings, opt.bridge)

    def forward(self, src):
        emb = self.embeddings(src)
        memory_bank, encoder_final = self.rnn(emb)
        return encoder_final, memory_bank


# ---- numbers of a data set of series


class ForecastMLP(nn.Module):
    def __init__(
        self,
        embedding_sizes: dict[str, tuple[int, int]],
        x_categoricals: list[str],
        x_reals: list[str],
        hidden_size: int,
        n_hidden_layers: int,
        output_size: int,
        activation_class: str = "ReLU",
    ):
        super().__init__()
        self.x_categoricals = x_categoricals
        self.embeddings = nn.ModuleDict({name: nn.Embedding(*size) for name, size in embedding_sizes.items()})
        self.n_reals = len(x_reals)
        width = self.n_reals + sum(embedding_sizes[name][1] for name in x_categoricals)
        layers = []
        for _ in range(n_hidden_layers):
            layers += [nn.Linear(width, hidden_size), getattr(nn, activation_class)()]
            width = hidden_size
        self.mlp = nn.Sequential(*layers, nn.Linear(width, output_size))

    def forward(self, x):
        cat, cont = x["decoder_cat"], x["decoder_cont"]
        parts = [self.embeddings[name](cat[..., i]) for i, name in enumerate(self.x_categoricals)]
        return self.mlp(torch.cat([*parts, cont], dim=-1))


# ---- stages as named tuples


class Stage(NamedTuple):
    kind: str
    width: int
    repeats: int
    stride: int


class Plan(NamedTuple):
    stem: int
    stages: tuple[Stage, ...]
    head: int


class SpatialUnit(nn.Module):
    def __init__(self, width, out, stride):
        super().__init__()
        self.conv = nn.Conv2d(width, out, 3, stride, 1)

    def forward(self, x):
        return F.relu(self.conv(x))


class AttentionUnit(nn.Module):
    def __init__(self, width, out, stride):
        super().__init__()
        self.reduce = nn.Conv2d(width, out, stride, stride)
        self.attn = nn.MultiheadAttention(out, 2, batch_first=True)

    def forward(self, x):
        x = self.reduce(x)
        tokens = x.flatten(2).transpose(1, 2)
        return (tokens + self.attn(tokens, tokens, tokens)[0]).transpose(1, 2).reshape(x.shape)


UNITS = {"c": SpatialUnit, "t": AttentionUnit}


class PlannedTrunk(nn.Module):
    def __init__(self, plan: Plan, num_classes: int):
        super().__init__()
        self.stem = nn.Conv2d(3, plan.stem, 4, 4)
        width, layers = plan.stem, []
        for stage in plan.stages:
            for i in range(stage.repeats):
                layers.append(UNITS[stage.kind](width, stage.width, stage.stride if i == 0 else 1))
                width = stage.width
        self.layers = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Linear(width, plan.head), nn.GELU(), nn.Linear(plan.head, num_classes))

    def forward(self, x):
        return self.head(self.layers(self.stem(x)).mean((2, 3)))


# ---- a configuration class with a base, and a model that checks it


class ModelSettings:
    model_type = ""
    attribute_map = {}

    def __init__(self, **kwargs):
        self.output_attentions = kwargs.pop("output_attentions", False)
        self.pad_token_id = kwargs.pop("pad_token_id", 0)
        for key, value in kwargs.items():
            setattr(self, key, value)

    def __getattribute__(self, key):
        if key != "attribute_map" and key in super().__getattribute__("attribute_map"):
            key = super().__getattribute__("attribute_map")[key]
        return super().__getattribute__(key)

    def to_dict(self):
        return copy.deepcopy(self.__dict__)


class DecoderSettings(ModelSettings):
    model_type = "decoder"
    attribute_map = {"hidden_size": "n_embd", "num_hidden_layers": "n_layer"}

    def __init__(self, vocab_size, n_embd, n_layer, n_head, n_positions=128, **kwargs):
        self.vocab_size = vocab_size
        self.n_embd = n_embd
        self.n_layer = n_layer
        self.n_head = n_head
        self.n_positions = n_positions
        super().__init__(**kwargs)


class BaseModel(nn.Module):
    def __init__(self, config, *inputs, **kwargs):
        super().__init__()
        if not isinstance(config, ModelSettings):
            raise ValueError(f"Parameter config in `{type(self).__name__}(config)` should be an instance of a config")
        self.config = config


class DecoderOnlyModel(BaseModel):
    def __init__(self, config):
        super().__init__(config)
        self.wte = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.wpe = nn.Embedding(config.n_positions, config.hidden_size)
        self.h = nn.ModuleList(
            nn.TransformerEncoderLayer(config.hidden_size, config.n_head, 4 * config.hidden_size, batch_first=True)
            for _ in range(config.num_hidden_layers)
        )
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, input_ids):
        length = input_ids.shape[1]
        mask = torch.triu(torch.full((length, length), float("-inf"), device=input_ids.device), diagonal=1)
        x = self.wte(input_ids) + self.wpe(torch.arange(length, device=input_ids.device))
        for block in self.h:
            x = block(x, src_mask=mask)
        return self.lm_head(x)


# ---- a net that its own description builds


class ConvLayer(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride, kernel_size // 2)

    def forward(self, x):
        return F.relu6(self.conv(x))

    @staticmethod
    def build_from_config(config):
        return ConvLayer(**config)


class IdentityLayer(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.same = in_channels == out_channels

    def forward(self, x):
        return x

    @staticmethod
    def build_from_config(config):
        return IdentityLayer(**config)


def set_layer_from_config(layer_config):
    if layer_config is None:
        return None
    name2layer = {ConvLayer.__name__: ConvLayer, IdentityLayer.__name__: IdentityLayer}
    layer_config = dict(layer_config)
    layer_name = layer_config.pop("name")
    return name2layer[layer_name].build_from_config(layer_config)


class BlockwiseNet(nn.Module):
    def __init__(self, net_config, num_classes):
        super().__init__()
        self.first_conv = set_layer_from_config(net_config["first_conv"])
        self.blocks = nn.ModuleList(set_layer_from_config(block["conv"]) for block in net_config["blocks"])
        self.dropout = nn.Dropout(net_config.get("dropout_rate", 0.2))
        self.classifier = nn.LazyLinear(num_classes)

    def forward(self, x):
        x = self.first_conv(x)
        for block in self.blocks:
            x = x + block(x)
        return self.classifier(self.dropout(x.mean((2, 3))))


# ---- counts of genes in cells of several batches


class CellVAE(nn.Module):
    def __init__(
        self,
        n_input: int,
        n_batch: int,
        n_cats_per_cov: Iterable[int],
        library_log_means: np.ndarray,
        n_hidden: int = 32,
        n_latent: int = 8,
        gene_likelihood: Literal["zinb", "nb", "poisson"] = "zinb",
    ):
        super().__init__()
        self.n_batch = n_batch
        self.n_cat_list = [n_batch, *([] if n_cats_per_cov is None else n_cats_per_cov)]
        self.register_buffer("library_log_means", torch.from_numpy(library_log_means).float())
        self.encoder = nn.Sequential(nn.Linear(n_input, n_hidden), nn.BatchNorm1d(n_hidden), nn.ReLU())
        self.mean_encoder, self.var_encoder = nn.Linear(n_hidden, n_latent), nn.Linear(n_hidden, n_latent)
        self.decoder = nn.Sequential(nn.Linear(n_latent + sum(self.n_cat_list), n_hidden), nn.ReLU())
        self.px_scale = nn.Linear(n_hidden, n_input)
        self.px_dropout = nn.Linear(n_hidden, n_input) if gene_likelihood == "zinb" else None

    def forward(self, x, *cat_list):
        h = self.encoder(torch.log1p(x.abs()))
        mean, var = self.mean_encoder(h), self.var_encoder(h).exp()
        z = mean + var.sqrt() * torch.randn_like(mean)
        covariates = [z.new_zeros(z.shape[0], n) for n in self.n_cat_list]
        h = self.decoder(torch.cat([z, *covariates], dim=-1))
        library = x.sum(1, keepdim=True) + self.library_log_means.mean()
        return F.softmax(self.px_scale(h), -1) * library


# ---- spaces, a number of outputs and a configuration of a policy


def get_activation_fn(name):
    if name in ["linear", None]:
        return None
    if name == "relu":
        return nn.ReLU
    if name == "tanh":
        return nn.Tanh
    raise ValueError(f"Unknown activation ({name})!")


class FcPolicyNetwork(nn.Module):
    def __init__(self, obs_space, action_space, num_outputs, model_config, name):
        super().__init__()
        hiddens = list(model_config.get("fcnet_hiddens", [])) + list(model_config.get("post_fcnet_hiddens", []))
        activation = get_activation_fn(model_config.get("fcnet_activation"))
        self.free_log_std = model_config.get("free_log_std")
        self.scale = model_config["custom_model_config"]["scale"]
        self.name = name
        prev = int(np.prod(obs_space.shape))
        if self.free_log_std:
            num_outputs = num_outputs // 2
        layers = []
        for size in hiddens:
            layers.append(nn.Linear(prev, size))
            if activation is not None:
                layers.append(activation())
            prev = size
        self._hidden_layers = nn.Sequential(*layers)
        self._logits = nn.Linear(prev, num_outputs)
        self._value_branch = nn.Linear(prev, 1)
        self.action_dim = action_space.n

    def forward(self, input_dict):
        obs = input_dict["obs_flat"].float()
        features = self._hidden_layers(obs.reshape(obs.shape[0], -1))
        return self.scale * self._logits(features), self._value_branch(features).squeeze(1)


# ---- sizes of voxels and a range of points


class PillarEncoder(nn.Module):
    def __init__(self, model_cfg, num_point_features, voxel_size, point_cloud_range, **kwargs):
        super().__init__()
        self.model_cfg = model_cfg
        self.use_norm = self.model_cfg.USE_NORM
        self.with_distance = self.model_cfg.WITH_DISTANCE
        num_point_features += 6 if self.model_cfg.USE_ABSOLUTE_XYZ else 3
        if self.with_distance:
            num_point_features += 1
        num_filters = [num_point_features, *list(self.model_cfg.NUM_FILTERS)]
        assert len(num_filters) > 0
        self.pfn_layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(num_filters[:-1], num_filters[1:]))
        self.voxel_x, self.voxel_y, self.voxel_z = voxel_size[0], voxel_size[1], voxel_size[2]
        self.x_offset = self.voxel_x / 2 + point_cloud_range[0]
        self.y_offset = self.voxel_y / 2 + point_cloud_range[1]
        self.z_offset = self.voxel_z / 2 + point_cloud_range[2]

    def forward(self, voxel_features, coords):
        center = voxel_features[:, :, :3] - voxel_features[:, :, :3].mean(dim=1, keepdim=True)
        offset = torch.stack(
            (
                voxel_features[:, :, 0] - (coords[:, 3:4] * self.voxel_x + self.x_offset),
                voxel_features[:, :, 1] - (coords[:, 2:3] * self.voxel_y + self.y_offset),
                voxel_features[:, :, 2] - (coords[:, 1:2] * self.voxel_z + self.z_offset),
            ),
            dim=-1,
        )
        features = [voxel_features if self.model_cfg.USE_ABSOLUTE_XYZ else voxel_features[..., 3:], center, offset]
        if self.with_distance:
            features.append(torch.norm(voxel_features[:, :, :3], 2, 2, keepdim=True))
        x = torch.cat(features, dim=-1)
        for layer in self.pfn_layers:
            x = F.relu(layer(x))
        return x.amax(dim=1)


# ---- an aggregator that a base class makes, by an enumeration


class PoolType(Enum):
    MEAN = "mean"
    ATTENTION = "attention"


class Pooler(nn.Module, abc.ABC):
    @abc.abstractmethod
    def pool(self, x):
        raise NotImplementedError

    def forward(self, x):
        return self.pool(x)

    @classmethod
    def create(cls, pool_type, dim):
        for subclass in cls.__subclasses__():
            if subclass.pool_type is pool_type:
                return subclass(dim)
        raise NotImplementedError(f"no pooler for {pool_type}")


class MeanPooler(Pooler):
    pool_type = PoolType.MEAN

    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)

    def pool(self, x):
        return self.norm(x).mean(1)


class AttentionPooler(Pooler):
    pool_type = PoolType.ATTENTION

    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def pool(self, x):
        return (torch.softmax(self.score(x), 1) * x).sum(1)


class SetAggregator(nn.Module):
    def __init__(self, pool_type: PoolType, dims: dict[str, int], out_dim: int, device: torch.device):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dims["in"], dims["hidden"]), nn.ReLU()).to(device)
        self.pooler = Pooler.create(pool_type, dims["hidden"]).to(device)
        self.decoder = nn.Linear(dims["hidden"], out_dim, device=device)

    def forward(self, elements):
        return self.decoder(self.pooler(self.encoder(elements)))
