"""Hard: constructors in the manners of well-known libraries, whose settings are nested, looked up, parsed and unpacked.

Long because it is a list of models.
"""

from __future__ import annotations

import copy
import functools
import inspect
import logging
import math
import re
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Union

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger(__name__)

__all__ = [
    "ActionRecognizer",
    "ConfigurableMixer",
    "ConvASREncoder",
    "E2EAsr",
    "EfficientTrunk",
    "EssayScorer",
    "MobileTrunk",
    "PanopticMeta",
    "PlainConvUNet",
    "RegNetTrunk",
    "SpecTransformer",
    "TransformerClassifierModel",
]


# ---- a registry of parts, built from dicts with a type


class PartRegistry:
    def __init__(self, name):
        self.name = name
        self._module_dict = {}

    def register_module(self, name=None):
        def _register(cls):
            self._module_dict[name or cls.__name__] = cls
            return cls

        return _register

    def get(self, key):
        return self._module_dict.get(key)

    def build(self, cfg, **default_args):
        if not isinstance(cfg, dict):
            raise TypeError(f"cfg must be a dict, but got {type(cfg)}")
        if "type" not in cfg:
            raise KeyError(f'`cfg` must contain the key "type", but got {cfg}')
        args = cfg.copy()
        for name, value in default_args.items():
            args.setdefault(name, value)
        obj_type = args.pop("type")
        obj_cls = self.get(obj_type)
        if obj_cls is None:
            raise KeyError(f"{obj_type} is not in the {self.name} registry")
        return obj_cls(**args)


MODELS = PartRegistry("models")
LOSSES = PartRegistry("losses")


@LOSSES.register_module()
class CrossEntropyLoss(nn.Module):
    def __init__(self, loss_weight=1.0):
        super().__init__()
        self.loss_weight = loss_weight

    def forward(self, score, label):
        return self.loss_weight * F.cross_entropy(score, label)


@MODELS.register_module()
class FrameConvNet(nn.Module):
    arch_settings = {18: (1, 1), 34: (2, 2)}

    def __init__(self, depth, in_channels=3, base_channels=16, norm_eval=False):
        super().__init__()
        if depth not in self.arch_settings:
            raise KeyError(f"invalid depth {depth} for FrameConvNet")
        self.norm_eval = norm_eval
        layers, width = [], in_channels
        for stage, blocks in enumerate(self.arch_settings[depth]):
            for i in range(blocks):
                out = base_channels * 2**stage
                layers += [nn.Conv2d(width, out, 3, 2 if i == 0 else 1, 1), nn.BatchNorm2d(out), nn.ReLU()]
                width = out
        self.stages = nn.Sequential(*layers)

    def forward(self, x):
        return self.stages(x)


@MODELS.register_module()
class ConsensusHead(nn.Module):
    def __init__(self, num_classes, in_channels, loss_cls=None, dropout_ratio=0.4):
        super().__init__()
        self.loss_cls = LOSSES.build(loss_cls or {"type": "CrossEntropyLoss"})
        self.dropout = nn.Dropout(dropout_ratio)
        self.fc_cls = nn.Linear(in_channels, num_classes)

    def forward(self, x, num_segs):
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        x = x.reshape(-1, num_segs, x.shape[-1]).mean(1)
        return self.fc_cls(self.dropout(x))


class ActionRecognizer(nn.Module):
    def __init__(self, backbone, cls_head, neck=None, train_cfg=None, test_cfg=None):
        super().__init__()
        self.backbone = MODELS.build(backbone)
        self.neck = MODELS.build(neck) if neck is not None else None
        self.cls_head = MODELS.build(cls_head)
        self.train_cfg = train_cfg
        self.test_cfg = test_cfg

    def forward(self, inputs):
        batches, num_segs = inputs.shape[:2]
        x = self.backbone(inputs.view((batches * num_segs, *inputs.shape[2:])))
        if self.neck is not None:
            x = self.neck(x)
        return self.cls_head(x, num_segs)


# ---- a constructor that a decorator lets take a whole configuration


def configurable(init):
    @functools.wraps(init)
    def wrapped(self, *args, **kwargs):
        from_config = type(self).from_config
        if args and hasattr(args[0], "MODEL"):
            explicit = from_config(args[0], *args[1:], **kwargs)
            init(self, **explicit)
        else:
            init(self, *args, **kwargs)

    return wrapped


BACKBONES = {}


def register_backbone(fn):
    BACKBONES[fn.__name__] = fn
    return fn


class StemBackbone(nn.Module):
    def __init__(self, channels, out_features):
        super().__init__()
        self._out_features = out_features
        self.stem = nn.Conv2d(3, channels, 7, stride=4, padding=3)
        self.res2 = nn.Conv2d(channels, channels * 2, 3, padding=1)
        self.res3 = nn.Conv2d(channels * 2, channels * 4, 3, stride=2, padding=1)
        self._out_feature_channels = {"res2": channels * 2, "res3": channels * 4}

    def output_shape(self):
        return {name: self._out_feature_channels[name] for name in self._out_features}

    def forward(self, x):
        x = F.relu(self.stem(x))
        outputs = {}
        for name in ("res2", "res3"):
            x = F.relu(getattr(self, name)(x))
            if name in self._out_features:
                outputs[name] = x
        return outputs


@register_backbone
def build_stem_backbone(cfg):
    return StemBackbone(cfg.MODEL.RESNETS.STEM_OUT_CHANNELS, cfg.MODEL.RESNETS.OUT_FEATURES)


class PanopticMeta(nn.Module):
    @configurable
    def __init__(self, *, backbone, in_features, convs_dim, num_classes, pixel_mean, pixel_std, ignore_value=255):
        super().__init__()
        self.backbone = backbone
        self.in_features = in_features
        self.ignore_value = ignore_value
        shapes = backbone.output_shape()
        self.lateral = nn.ModuleDict({name: nn.Conv2d(shapes[name], convs_dim, 1) for name in in_features})
        self.predictor = nn.Conv2d(convs_dim, num_classes, 1)
        self.register_buffer("pixel_mean", torch.tensor(pixel_mean).view(-1, 1, 1), False)
        self.register_buffer("pixel_std", torch.tensor(pixel_std).view(-1, 1, 1), False)

    @classmethod
    def from_config(cls, cfg):
        backbone = BACKBONES[cfg.MODEL.BACKBONE.NAME](cfg)
        return {
            "backbone": backbone,
            "in_features": cfg.MODEL.SEM_SEG_HEAD.IN_FEATURES,
            "convs_dim": cfg.MODEL.SEM_SEG_HEAD.CONVS_DIM,
            "num_classes": cfg.MODEL.SEM_SEG_HEAD.NUM_CLASSES,
            "pixel_mean": cfg.MODEL.PIXEL_MEAN,
            "pixel_std": cfg.MODEL.PIXEL_STD,
        }

    def forward(self, images):
        features = self.backbone((images - self.pixel_mean) / self.pixel_std)
        size = images.shape[-2:]
        total = 0
        for name in self.in_features:
            total = total + F.interpolate(self.lateral[name](features[name]), size, mode="bilinear")
        return self.predictor(total)


# ---- a model with a task, whose arguments architectures fill

MODEL_REGISTRY, ARCH_REGISTRY = {}, {}


def register_model(name):
    def wrapper(cls):
        MODEL_REGISTRY[name] = cls
        return cls

    return wrapper


def register_model_architecture(model_name, arch_name):
    def wrapper(fn):
        ARCH_REGISTRY[arch_name] = (MODEL_REGISTRY[model_name], fn)
        return fn

    return wrapper


class SentenceEncoder(nn.Module):
    def __init__(self, args, dictionary, embed_tokens):
        super().__init__()
        self.dropout = args.dropout
        self.padding_idx = dictionary.pad()
        self.embed_tokens = embed_tokens
        dim = embed_tokens.embedding_dim
        self.embed_scale = 1.0 if args.no_scale_embedding else math.sqrt(dim)
        self.embed_positions = nn.Embedding(args.max_source_positions, dim)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, args.encoder_attention_heads, args.encoder_ffn_embed_dim, batch_first=True)
            for _ in range(args.encoder_layers)
        )

    def forward(self, src_tokens):
        mask = src_tokens.eq(self.padding_idx)
        positions = torch.arange(src_tokens.size(1), device=src_tokens.device)
        x = self.embed_scale * self.embed_tokens(src_tokens) + self.embed_positions(positions)
        x = F.dropout(x, self.dropout, self.training)
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=mask)
        return x


@register_model("transformer_classifier")
class TransformerClassifierModel(nn.Module):
    def __init__(self, args, task):
        super().__init__()
        self.args = args
        dictionary = task.source_dictionary
        embed_tokens = nn.Embedding(len(dictionary), args.encoder_embed_dim, dictionary.pad())
        self.encoder = SentenceEncoder(args, dictionary, embed_tokens)
        self.classification_heads = nn.ModuleDict()
        self.register_classification_head("sentence", len(task.label_dictionary), args.pooler_activation_fn)

    @classmethod
    def build_model(cls, args, task):
        base_architecture(args)
        return cls(args, task)

    def register_classification_head(self, name, num_classes, activation):
        inner = self.args.encoder_embed_dim
        act = {"tanh": nn.Tanh, "relu": nn.ReLU}[activation]
        self.classification_heads[name] = nn.Sequential(nn.Linear(inner, inner), act(), nn.Linear(inner, num_classes))

    def forward(self, src_tokens):
        return self.classification_heads["sentence"](self.encoder(src_tokens)[:, 0])


@register_model_architecture("transformer_classifier", "transformer_classifier_base")
def base_architecture(args):
    args.encoder_embed_dim = getattr(args, "encoder_embed_dim", 512)
    args.encoder_ffn_embed_dim = getattr(args, "encoder_ffn_embed_dim", 2048)
    args.encoder_layers = getattr(args, "encoder_layers", 6)
    args.encoder_attention_heads = getattr(args, "encoder_attention_heads", 8)
    args.dropout = getattr(args, "dropout", 0.1)
    args.max_source_positions = getattr(args, "max_source_positions", 512)
    args.no_scale_embedding = getattr(args, "no_scale_embedding", False)
    args.pooler_activation_fn = getattr(args, "pooler_activation_fn", "tanh")


# ---- types of encoders and subsampling, written in strings


class RecurrentStack(nn.Module):
    def __init__(self, idim, elayers, eunits, eprojs, subsample, typ):
        super().__init__()
        bidir = typ[0] == "b"
        for i in range(elayers):
            rnn = nn.LSTM if "lstm" in typ else nn.GRU
            setattr(self, f"rnn{i}", rnn(idim if i == 0 else eprojs, eunits, bidirectional=bidir, batch_first=True))
            setattr(self, f"bt{i}", nn.Linear(2 * eunits if bidir else eunits, eprojs))
        self.elayers = elayers
        self.subsample = subsample

    def forward(self, xs):
        for i in range(self.elayers):
            xs, _ = getattr(self, f"rnn{i}")(xs)
            if self.subsample[i + 1] > 1:
                xs = xs[:, :: self.subsample[i + 1]]
            xs = torch.tanh(getattr(self, f"bt{i}")(xs))
        return xs


class ConvFront(nn.Module):
    def __init__(self, in_channel=1):
        super().__init__()
        self.in_channel = in_channel
        self.conv1 = nn.Conv2d(in_channel, 64, 3, stride=1, padding=1)
        self.conv2 = nn.Conv2d(64, 128, 3, stride=1, padding=1)

    def forward(self, xs):
        xs = xs.view(xs.size(0), xs.size(1), self.in_channel, xs.size(2) // self.in_channel).transpose(1, 2)
        xs = F.max_pool2d(F.relu(self.conv1(xs)), 2, stride=2, ceil_mode=True)
        xs = F.max_pool2d(F.relu(self.conv2(xs)), 2, stride=2, ceil_mode=True).transpose(1, 2)
        return xs.contiguous().view(xs.size(0), xs.size(1), -1)


class E2EAsr(nn.Module):
    def __init__(self, idim, odim, args):
        super().__init__()
        self.etype = args.etype
        self.char_list = args.char_list
        self.sos = self.eos = odim - 1
        subsample = np.ones(args.elayers + 1, dtype=np.int64)
        if self.etype.endswith("p") and not self.etype.startswith("vgg"):
            ss = args.subsample.split("_")
            for j in range(min(args.elayers + 1, len(ss))):
                subsample[j] = int(ss[j])
        else:
            logger.warning("Subsampling is not performed for vgg*.")
        typ = self.etype.removeprefix("vgg").rstrip("p")
        if typ not in {"lstm", "gru", "blstm", "bgru"}:
            raise ValueError(f"Error: need to specify an appropriate encoder architecture, got {self.etype}")
        if self.etype.startswith("vgg"):
            width = 128 * math.ceil(math.ceil(idim / 2) / 2)
            enc = [ConvFront(), RecurrentStack(width, args.elayers, args.eunits, args.eprojs, subsample, typ)]
        else:
            enc = [RecurrentStack(idim, args.elayers, args.eunits, args.eprojs, subsample, typ)]
        self.enc = nn.Sequential(*enc)
        self.ctc_lo = nn.Linear(args.eprojs, odim)
        self.dropout_rate = args.dropout_rate

    def forward(self, xs_pad):
        hs = self.enc(xs_pad)
        return F.log_softmax(self.ctc_lo(F.dropout(hs, p=self.dropout_rate)), dim=-1)


# ---- a list of blocks as dicts


class JasperBlock(nn.Module):
    def __init__(self, inplanes, planes, *, repeat, kernel_size, stride, dilation, residual, separable, activation):
        super().__init__()
        kernel = kernel_size[0]
        padding = (dilation[0] * (kernel - 1)) // 2
        layers, width = [], inplanes
        for _ in range(repeat):
            if separable:
                layers.append(nn.Conv1d(width, width, kernel, stride[0], padding, dilation[0], groups=width))
                layers.append(nn.Conv1d(width, planes, 1))
            else:
                layers.append(nn.Conv1d(width, planes, kernel, stride[0], padding, dilation[0]))
            layers += [nn.BatchNorm1d(planes, eps=1e-3), activation]
            width = planes
        self.mconv = nn.Sequential(*layers)
        self.res = nn.Conv1d(inplanes, planes, 1) if residual else None

    def forward(self, x):
        out = self.mconv(x)
        return out + self.res(x) if self.res is not None else out


jasper_activations = {"hardtanh": nn.Hardtanh, "relu": nn.ReLU, "selu": nn.SELU, "swish": nn.SiLU}


class ConvASREncoder(nn.Module):
    """The encoder of a recognizer of speech; ``cfg.jasper`` lists its blocks."""

    def __init__(self, cfg, trainer=None):
        super().__init__()
        self._cfg = cfg
        self.trainer = trainer
        activation = jasper_activations[cfg["encoder"]["activation"]]()
        feat_in = cfg["encoder"]["feat_in"]
        blocks = []
        for lcfg in cfg["encoder"]["jasper"]:
            blocks.append(
                JasperBlock(
                    feat_in,
                    lcfg["filters"],
                    repeat=lcfg["repeat"],
                    kernel_size=lcfg["kernel"],
                    stride=lcfg["stride"],
                    dilation=lcfg["dilation"],
                    residual=lcfg["residual"],
                    separable=lcfg.get("separable", False),
                    activation=activation,
                )
            )
            feat_in = lcfg["filters"]
        self.encoder = nn.Sequential(*blocks)
        vocabulary = cfg["decoder"].get("vocabulary", None)
        num_classes = cfg["decoder"]["num_classes"]
        if vocabulary is not None and num_classes != len(vocabulary):
            raise ValueError("num_classes must be that of the vocabulary")
        self.decoder_layers = nn.Conv1d(feat_in, num_classes + 1, kernel_size=1, bias=True)

    def forward(self, audio_signal):
        return F.log_softmax(self.decoder_layers(self.encoder(audio_signal)).transpose(1, 2), dim=-1)


# ---- widths that a few numbers generate


@dataclass
class RegNetCfg:
    depth: int
    w0: int
    wa: float
    wm: float
    group_size: int
    bottle_ratio: float = 1.0
    se_ratio: float = 0.0
    stem_width: int = 32


def quantize(f, q=8):
    return int(round(f / q) * q)


def generate_widths(width_slope, width_initial, width_mult, depth, quant=8):
    assert width_slope >= 0 and width_initial > 0 and width_mult > 1 and width_initial % quant == 0
    cont = np.arange(depth) * width_slope + width_initial
    exps = np.round(np.log(cont / width_initial) / np.log(width_mult))
    widths = np.round(width_initial * np.power(width_mult, exps) / quant) * quant
    return [int(w) for w in np.unique(widths)], [int((widths == w).sum()) for w in np.unique(widths)]


class GroupedBottleneck(nn.Module):
    def __init__(self, in_chs, out_chs, stride, group_size, bottle_ratio, se_ratio):
        super().__init__()
        mid = quantize(out_chs * bottle_ratio)
        self.conv1 = nn.Conv2d(in_chs, mid, 1)
        self.conv2 = nn.Conv2d(mid, mid, 3, stride, 1, groups=mid // group_size)
        self.se = nn.Conv2d(mid, mid, 1) if se_ratio > 0 else None
        self.conv3 = nn.Conv2d(mid, out_chs, 1)
        self.downsample = nn.Conv2d(in_chs, out_chs, 1, stride)

    def forward(self, x):
        y = F.relu(self.conv2(F.relu(self.conv1(x))))
        if self.se is not None:
            y = y * torch.sigmoid(self.se(y.mean((2, 3), keepdim=True)))
        return F.relu(self.conv3(y) + self.downsample(x))


class RegNetTrunk(nn.Module):
    def __init__(self, cfg: RegNetCfg, in_chans=3, num_classes=1000, output_stride=32, global_pool="avg"):
        super().__init__()
        assert output_stride in (8, 16, 32)
        self.global_pool = global_pool
        self.stem = nn.Sequential(nn.Conv2d(in_chans, cfg.stem_width, 3, 2, 1), nn.BatchNorm2d(cfg.stem_width))
        prev = cfg.stem_width
        widths, depths = generate_widths(cfg.wa, cfg.w0, cfg.wm, cfg.depth)
        for i, (width, depth) in enumerate(zip(widths, depths)):
            group_size = min(cfg.group_size, width)
            chs = quantize(width, group_size)
            blocks = []
            for j in range(depth):
                stride = 2 if j == 0 else 1
                blocks.append(GroupedBottleneck(prev, chs, stride, group_size, cfg.bottle_ratio, cfg.se_ratio))
                prev = chs
            self.add_module(f"s{i + 1}", nn.Sequential(*blocks))
        self.num_stages = len(widths)
        self.fc = nn.Linear(prev, num_classes)

    def forward(self, x):
        x = self.stem(x)
        for i in range(self.num_stages):
            x = getattr(self, f"s{i + 1}")(x)
        x = x.mean((2, 3)) if self.global_pool == "avg" else x.amax((2, 3))
        return self.fc(x)


# ---- arguments that a configuration has to bind


class _Required:
    def __repr__(self):
        return "REQUIRED"


REQUIRED = _Required()
_BINDINGS = {}


def bind(name, value):
    _BINDINGS[name] = value


def bound_configurable(cls):
    init = cls.__init__
    signature = inspect.signature(init)

    @functools.wraps(init)
    def wrapper(self, *args, **kwargs):
        given = signature.bind_partial(self, *args, **kwargs).arguments
        for name, parameter in signature.parameters.items():
            key = f"{cls.__name__}.{name}"
            if name not in given and key in _BINDINGS:
                kwargs[name] = _BINDINGS[key]
            elif given.get(name, parameter.default) is REQUIRED:
                raise RuntimeError(f"Required bindings for `{cls.__name__}` not provided in config: ['{name}']")
        init(self, *args, **kwargs)

    cls.__init__ = wrapper
    return cls


@bound_configurable
class ConfigurableMixer(nn.Module):
    def __init__(self, num_patches=REQUIRED, hidden_dim=REQUIRED, depth=REQUIRED, num_classes=REQUIRED, expand=2):
        super().__init__()
        self.token_mix = nn.ModuleList()
        self.channel_mix = nn.ModuleList()
        for _ in range(depth):
            self.token_mix.append(
                nn.Sequential(
                    nn.Linear(num_patches, num_patches * expand),
                    nn.GELU(),
                    nn.Linear(num_patches * expand, num_patches),
                )
            )
            self.channel_mix.append(
                nn.Sequential(nn.LayerNorm(hidden_dim), nn.Linear(hidden_dim, hidden_dim), nn.GELU())
            )
        self.head = nn.Linear(hidden_dim, num_classes)

    def forward(self, tokens):
        for token_mix, channel_mix in zip(self.token_mix, self.channel_mix):
            tokens = tokens + token_mix(tokens.transpose(1, 2)).transpose(1, 2)
            tokens = tokens + channel_mix(tokens)
        return self.head(tokens.mean(1))


# ---- blocks in a small language

GlobalParams = namedtuple("GlobalParams", ["width", "depth", "batch_norm_epsilon", "dropout_rate", "num_classes"])
BlockArgs = namedtuple("BlockArgs", ["num_repeat", "kernel_size", "stride", "expand", "inputs", "outputs", "se_ratio"])


class BlockDecoder:
    @staticmethod
    def _decode_block_string(block_string):
        assert isinstance(block_string, str)
        options = {}
        for op in block_string.split("_"):
            splits = re.split(r"(\d.*)", op)
            if len(splits) >= 2:
                key, value = splits[:2]
                options[key] = value
        return BlockArgs(
            num_repeat=int(options["r"]),
            kernel_size=int(options["k"]),
            stride=int(options["s"][0]),
            expand=int(options["e"]),
            inputs=int(options["i"]),
            outputs=int(options["o"]),
            se_ratio=float(options["se"]) if "se" in options else None,
        )

    @staticmethod
    def decode(string_list):
        assert isinstance(string_list, list)
        return [BlockDecoder._decode_block_string(s) for s in string_list]


class MBBlock(nn.Module):
    def __init__(self, args, inputs, stride, eps):
        super().__init__()
        mid = inputs * args.expand
        self.expand = nn.Conv2d(inputs, mid, 1)
        self.depthwise = nn.Conv2d(mid, mid, args.kernel_size, stride, args.kernel_size // 2, groups=mid)
        self.bn = nn.BatchNorm2d(mid, eps=eps)
        self.has_se = args.se_ratio is not None and 0 < args.se_ratio <= 1
        if self.has_se:
            self.se = nn.Conv2d(mid, mid, 1)
        self.project = nn.Conv2d(mid, args.outputs, 1)
        self.skip = stride == 1 and inputs == args.outputs

    def forward(self, x):
        y = F.silu(self.bn(self.depthwise(F.silu(self.expand(x)))))
        if self.has_se:
            y = y * torch.sigmoid(self.se(F.adaptive_avg_pool2d(y, 1)))
        y = self.project(y)
        return x + y if self.skip else y


class EfficientTrunk(nn.Module):
    def __init__(self, blocks_args, global_params):
        super().__init__()
        blocks_args = BlockDecoder.decode(blocks_args)
        assert len(blocks_args) > 0, "block args must be greater than 0"
        self._conv_stem = nn.Conv2d(3, blocks_args[0].inputs, 3, 2, 1)
        self._blocks = nn.ModuleList()
        for args in blocks_args:
            for i in range(math.ceil(args.num_repeat * global_params.depth)):
                inputs, stride = (args.inputs, args.stride) if i == 0 else (args.outputs, 1)
                self._blocks.append(MBBlock(args, inputs, stride, global_params.batch_norm_epsilon))
        self._dropout = nn.Dropout(global_params.dropout_rate)
        self._fc = nn.Linear(blocks_args[-1].outputs, global_params.num_classes)

    def forward(self, inputs):
        x = F.silu(self._conv_stem(inputs))
        for block in self._blocks:
            x = block(x)
        return self._fc(self._dropout(F.adaptive_avg_pool2d(x, 1).flatten(1)))


# ---- settings of each residual, as objects that are checked


class InvertedSetting:
    def __init__(self, input_channels, kernel, expanded_channels, out_channels, use_se, activation, stride, width_mult):
        self.input_channels = self.adjust(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels = self.adjust(expanded_channels, width_mult)
        self.out_channels = self.adjust(out_channels, width_mult)
        self.use_se = use_se
        self.use_hs = activation == "HS"
        self.stride = stride

    @staticmethod
    def adjust(channels, width_mult):
        return max(8, int(channels * width_mult + 4) // 8 * 8)


class InvertedUnit(nn.Module):
    def __init__(self, cnf: InvertedSetting, norm_layer):
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        act = nn.Hardswish if cnf.use_hs else nn.ReLU
        wide = cnf.expanded_channels
        layers = [nn.Conv2d(cnf.input_channels, wide, 1), norm_layer(wide), act()]
        layers += [nn.Conv2d(wide, wide, cnf.kernel, cnf.stride, (cnf.kernel - 1) // 2, groups=wide), norm_layer(wide)]
        if cnf.use_se:
            layers.append(nn.Conv2d(wide, wide, 1))
        layers += [act(), nn.Conv2d(wide, cnf.out_channels, 1), norm_layer(cnf.out_channels)]
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        y = self.block(x)
        return x + y if self.use_res_connect else y


class MobileTrunk(nn.Module):
    def __init__(
        self,
        inverted_residual_setting: list[InvertedSetting],
        last_channel: int,
        num_classes: int = 1000,
        norm_layer=None,
    ):
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not all(isinstance(s, InvertedSetting) for s in inverted_residual_setting):
            raise TypeError("The inverted_residual_setting should be List[InvertedSetting]")
        norm_layer = norm_layer or functools.partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        first = inverted_residual_setting[0].input_channels
        layers = [nn.Conv2d(3, first, 3, 2, 1), norm_layer(first), nn.Hardswish()]
        layers += [InvertedUnit(cnf, norm_layer) for cnf in inverted_residual_setting]
        self.features = nn.Sequential(*layers)
        out = inverted_residual_setting[-1].out_channels
        self.classifier = nn.Sequential(
            nn.Linear(out, last_channel), nn.Hardswish(), nn.Linear(last_channel, num_classes)
        )

    def forward(self, x):
        return self.classifier(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


# ---- ops as classes with their arguments, and as many of each as there are stages


def maybe_convert_scalar_to_list(conv_op, scalar):
    if not isinstance(scalar, (tuple, list, np.ndarray)):
        return [scalar] * {nn.Conv1d: 1, nn.Conv2d: 2, nn.Conv3d: 3}[conv_op]
    return scalar


class StackedConvs(nn.Module):
    def __init__(self, num_convs, conv_op, cin, cout, kernel, stride, bias, norm, act):
        super().__init__()
        norm_op, norm_op_kwargs = norm
        nonlin, nonlin_kwargs = act
        layers = []
        for i in range(num_convs):
            pad = [k // 2 for k in maybe_convert_scalar_to_list(conv_op, kernel)]
            layers.append(conv_op(cin if i == 0 else cout, cout, kernel, stride if i == 0 else 1, pad, bias=bias))
            layers.append(norm_op(cout, **norm_op_kwargs))
            layers.append(nonlin(**nonlin_kwargs))
        self.convs = nn.Sequential(*layers)

    def forward(self, x):
        return self.convs(x)


class PlainConvUNet(nn.Module):
    def __init__(
        self,
        input_channels: int,
        n_stages: int,
        features_per_stage: Union[int, list[int], tuple[int, ...]],
        conv_op: type[nn.modules.conv._ConvNd],
        kernel_sizes: Union[int, list[int], tuple[int, ...]],
        strides: Union[int, list[int], tuple[int, ...]],
        n_conv_per_stage: Union[int, list[int], tuple[int, ...]],
        num_classes: int,
        n_conv_per_stage_decoder: Union[int, tuple[int, ...], list[int]],
        conv_bias: bool = False,
        norm_op: Union[type[nn.Module], None] = None,
        norm_op_kwargs: Union[dict, None] = None,
        nonlin: Union[type[nn.Module], None] = None,
        nonlin_kwargs: Union[dict, None] = None,
    ):
        super().__init__()
        if isinstance(n_conv_per_stage, int):
            n_conv_per_stage = [n_conv_per_stage] * n_stages
        if isinstance(features_per_stage, int):
            features_per_stage = [features_per_stage] * n_stages
        if isinstance(kernel_sizes, int):
            kernel_sizes = [kernel_sizes] * n_stages
        if isinstance(strides, int):
            strides = [strides] * n_stages
        if isinstance(n_conv_per_stage_decoder, int):
            n_conv_per_stage_decoder = [n_conv_per_stage_decoder] * (n_stages - 1)
        assert len(n_conv_per_stage) == n_stages, "n_conv_per_stage must have as many entries as we have stages"
        assert len(features_per_stage) == n_stages, "features_per_stage must have as many entries as we have stages"
        assert len(kernel_sizes) == n_stages
        assert len(strides) == n_stages
        assert len(n_conv_per_stage_decoder) == n_stages - 1
        if norm_op is None:
            norms = {nn.Conv1d: nn.InstanceNorm1d, nn.Conv2d: nn.InstanceNorm2d, nn.Conv3d: nn.InstanceNorm3d}
            norm_op = norms[conv_op]
        norm, act = (norm_op, norm_op_kwargs or {}), (nonlin or nn.LeakyReLU, nonlin_kwargs or {})
        transposed = {nn.Conv1d: nn.ConvTranspose1d, nn.Conv2d: nn.ConvTranspose2d, nn.Conv3d: nn.ConvTranspose3d}
        self.stages, self.ups, self.decoder = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        width = input_channels
        for s in range(n_stages):
            self.stages.append(
                StackedConvs(
                    n_conv_per_stage[s],
                    conv_op,
                    width,
                    features_per_stage[s],
                    kernel_sizes[s],
                    strides[s],
                    conv_bias,
                    norm,
                    act,
                )
            )
            width = features_per_stage[s]
        for s in range(1, n_stages):
            below, skip = features_per_stage[-s], features_per_stage[-(s + 1)]
            self.ups.append(transposed[conv_op](below, skip, strides[-s], strides[-s]))
            self.decoder.append(
                StackedConvs(
                    n_conv_per_stage_decoder[s - 1],
                    conv_op,
                    2 * skip,
                    skip,
                    kernel_sizes[-(s + 1)],
                    1,
                    conv_bias,
                    norm,
                    act,
                )
            )
        self.seg = conv_op(features_per_stage[0], num_classes, 1)

    def forward(self, x):
        skips = []
        for stage in self.stages:
            x = stage(x)
            skips.append(x)
        for s, (up, decoder) in enumerate(zip(self.ups, self.decoder)):
            x = decoder(torch.cat((up(x), skips[-(s + 2)]), 1))
        return self.seg(x)


# ---- modules as specifications


@dataclass
class ModelConfig:
    num_layers: int
    hidden_size: int
    num_attention_heads: int
    ffn_hidden_size: int = None
    layernorm_epsilon: float = 1e-5

    def __post_init__(self):
        if self.ffn_hidden_size is None:
            self.ffn_hidden_size = 4 * self.hidden_size
        if self.hidden_size % self.num_attention_heads != 0:
            raise ValueError("hidden_size must be divisible by num_attention_heads.")


@dataclass
class ModuleSpec:
    module: type
    params: dict = field(default_factory=dict)
    submodules: object = None


@dataclass
class LayerSubmodules:
    input_layernorm: Union[ModuleSpec, type]
    self_attention: Union[ModuleSpec, type]
    mlp: Union[ModuleSpec, type]


def build_module(spec, **kwargs):
    if isinstance(spec, type):
        return spec(**kwargs)
    if spec.submodules is not None:
        kwargs["submodules"] = spec.submodules
    return spec.module(**copy.deepcopy(spec.params), **kwargs)


class NormOfConfig(nn.LayerNorm):
    def __init__(self, config):
        super().__init__(config.hidden_size, eps=config.layernorm_epsilon)


class CoreAttention(nn.Module):
    def __init__(self, config, causal=True):
        super().__init__()
        self.causal = causal
        self.heads = config.num_attention_heads
        self.linear_qkv = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        self.linear_proj = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.linear_qkv(x).view(b, s, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.linear_proj(x.transpose(1, 2).reshape(b, s, d))


class GatedMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_fc1 = nn.Linear(config.hidden_size, 2 * config.ffn_hidden_size)
        self.linear_fc2 = nn.Linear(config.ffn_hidden_size, config.hidden_size)

    def forward(self, x):
        gate, x = self.linear_fc1(x).chunk(2, -1)
        return self.linear_fc2(F.silu(gate) * x)


class SpecLayer(nn.Module):
    def __init__(self, config: ModelConfig, submodules: LayerSubmodules):
        super().__init__()
        self.input_layernorm = build_module(submodules.input_layernorm, config=config)
        self.self_attention = build_module(submodules.self_attention, config=config)
        self.mlp = build_module(submodules.mlp, config=config)

    def forward(self, x):
        x = x + self.self_attention(self.input_layernorm(x))
        return x + self.mlp(x)


def get_layer_spec(causal=True):
    return ModuleSpec(
        module=SpecLayer,
        submodules=LayerSubmodules(
            input_layernorm=NormOfConfig,
            self_attention=ModuleSpec(module=CoreAttention, params={"causal": causal}),
            mlp=GatedMLP,
        ),
    )


class SpecTransformer(nn.Module):
    def __init__(
        self, config: ModelConfig, transformer_layer_spec: ModuleSpec, vocab_size: int, max_sequence_length: int
    ):
        super().__init__()
        self.config = config
        self.word_embeddings = nn.Embedding(vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(max_sequence_length, config.hidden_size)
        self.layers = nn.ModuleList(
            build_module(transformer_layer_spec, config=config) for _ in range(config.num_layers)
        )
        self.output_layer = nn.Linear(config.hidden_size, vocab_size, bias=False)

    def forward(self, input_ids, position_ids):
        x = self.word_embeddings(input_ids) + self.position_embeddings(position_ids)
        for layer in self.layers:
            x = layer(x)
        return self.output_layer(x)


# ---- a notebook's class of settings, as competitors write it


class CFG:
    debug = False
    num_workers = 4
    model = "bilstm-base"
    vocab_size = 30000
    hidden_size = 256
    num_layers = 2
    max_len = 512
    fc_dropout = 0.2
    target_cols = ["cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"]
    pooling = "attention"
    reinit = True


class AttentionPooling(nn.Module):
    def __init__(self, in_dim):
        super().__init__()
        self.attention = nn.Sequential(nn.Linear(in_dim, in_dim), nn.LayerNorm(in_dim), nn.GELU(), nn.Linear(in_dim, 1))

    def forward(self, last_hidden_state, attention_mask):
        w = self.attention(last_hidden_state).float()
        w[attention_mask == 0] = float("-inf")
        return torch.sum(torch.softmax(w, 1) * last_hidden_state, dim=1)


class EssayScorer(nn.Module):
    def __init__(self, cfg, config_path=None, pretrained=False):
        super().__init__()
        self.cfg = cfg
        if config_path is not None:
            self.config = torch.load(config_path)
        self.embeddings = nn.Embedding(cfg.vocab_size, cfg.hidden_size, padding_idx=0)
        self.model = nn.LSTM(
            cfg.hidden_size, cfg.hidden_size // 2, cfg.num_layers, batch_first=True, bidirectional=True
        )
        self.pool = AttentionPooling(cfg.hidden_size)
        self.fc = nn.Linear(cfg.hidden_size, len(cfg.target_cols))
        self.drop = nn.Dropout(cfg.fc_dropout)
        if cfg.reinit:
            self._init_weights(self.fc)

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            module.weight.data.normal_(mean=0.0, std=0.02)

    def forward(self, inputs):
        x, _ = self.model(self.embeddings(inputs["input_ids"]))
        return self.fc(self.drop(self.pool(x, inputs["attention_mask"])))
