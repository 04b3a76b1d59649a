"""Hard: constructors that take configurations, names of variants, schedules of channels, graphs, feature columns.

Long because it is a list of models.
"""

from __future__ import annotations

import functools
import math
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "STGCN",
    "AttendedForecaster",
    "BaseBEVBackbone",
    "DCRNNEncoder",
    "DeepFM",
    "GraphTransformerNet",
    "HifiGenerator",
    "KGEModel",
    "LandSegmenter",
    "LitVAE",
    "PoseHighResolutionNet",
    "ResNet3D",
    "TabularTransformer",
    "TwoStageSegmentor",
    "UnetGenerator",
]


class DoubleConv(nn.Module):
    def __init__(self, in_ch, out_ch, norm, act):
        super().__init__()
        norm_cls = {"batch": nn.BatchNorm2d, "instance": nn.InstanceNorm2d}[norm]
        self.block = nn.Sequential(
            nn.Conv2d(in_ch, out_ch, 3, padding=1, bias=False),
            norm_cls(out_ch),
            getattr(nn, act)(),
            nn.Conv2d(out_ch, out_ch, 3, padding=1, bias=False),
            norm_cls(out_ch),
            getattr(nn, act)(),
        )

    def forward(self, x):
        return self.block(x)


class LandSegmenter(nn.Module):
    """Configured by Hydra: ``cfg.model.encoder`` and ``cfg.model.decoder``, ``cfg.data`` for the bands."""

    def __init__(self, cfg):
        super().__init__()
        enc, dec = cfg.model.encoder, cfg.model.decoder
        widths = [enc.width * 2**i for i in range(enc.depth)]
        self.downs = nn.ModuleList()
        prev = len(cfg.data.bands)
        for w in widths:
            self.downs.append(DoubleConv(prev, w, enc.norm, enc.act))
            prev = w
        self.ups = nn.ModuleList()
        for w in reversed(widths[:-1]):
            self.ups.append(
                nn.ModuleDict(
                    {"up": nn.ConvTranspose2d(prev, w, 2, 2), "conv": DoubleConv(2 * w, w, enc.norm, enc.act)}
                )
            )
            prev = w
        self.dropout = nn.Dropout2d(dec.dropout)
        self.classify = nn.Conv2d(prev, cfg.data.num_classes, 1)
        if cfg.model.freeze_encoder:
            for p in self.downs.parameters():
                p.requires_grad_(False)

    def forward(self, image):
        skips, x = [], image
        for i, down in enumerate(self.downs):
            x = down(x if i == 0 else F.max_pool2d(x, 2))
            skips.append(x)
        skips.pop()
        for up in self.ups:
            x = up["conv"](torch.cat([up["up"](x), skips.pop()], dim=1))
        return self.classify(self.dropout(x))


LRELU_SLOPE = 0.1


def get_padding(kernel_size, dilation=1):
    return int((kernel_size * dilation - dilation) / 2)


class ResBlock1(nn.Module):
    def __init__(self, h, channels, kernel_size=3, dilation=(1, 3, 5)):
        super().__init__()
        self.h = h
        self.convs1 = nn.ModuleList(
            [
                nn.Conv1d(channels, channels, kernel_size, 1, dilation=d, padding=get_padding(kernel_size, d))
                for d in dilation
            ]
        )
        self.convs2 = nn.ModuleList(
            [nn.Conv1d(channels, channels, kernel_size, 1, padding=get_padding(kernel_size)) for _ in dilation]
        )

    def forward(self, x):
        for c1, c2 in zip(self.convs1, self.convs2):
            x = c2(F.leaky_relu(c1(F.leaky_relu(x, LRELU_SLOPE)), LRELU_SLOPE)) + x
        return x


class ResBlock2(nn.Module):
    def __init__(self, h, channels, kernel_size=3, dilation=(1, 3)):
        super().__init__()
        self.h = h
        self.convs = nn.ModuleList(
            [
                nn.Conv1d(channels, channels, kernel_size, 1, dilation=d, padding=get_padding(kernel_size, d))
                for d in dilation
            ]
        )

    def forward(self, x):
        for c in self.convs:
            x = c(F.leaky_relu(x, LRELU_SLOPE)) + x
        return x


class HifiGenerator(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.h = h
        self.num_kernels = len(h.resblock_kernel_sizes)
        self.num_upsamples = len(h.upsample_rates)
        self.conv_pre = nn.utils.parametrizations.weight_norm(
            nn.Conv1d(h.num_mels, h.upsample_initial_channel, 7, 1, padding=3)
        )
        resblock = ResBlock1 if h.resblock == "1" else ResBlock2
        self.ups = nn.ModuleList()
        for i, (u, k) in enumerate(zip(h.upsample_rates, h.upsample_kernel_sizes)):
            self.ups.append(
                nn.ConvTranspose1d(
                    h.upsample_initial_channel // (2**i),
                    h.upsample_initial_channel // (2 ** (i + 1)),
                    k,
                    u,
                    padding=(k - u) // 2,
                )
            )
        self.resblocks = nn.ModuleList()
        for i in range(len(self.ups)):
            ch = h.upsample_initial_channel // (2 ** (i + 1))
            for k, d in zip(h.resblock_kernel_sizes, h.resblock_dilation_sizes):
                self.resblocks.append(resblock(h, ch, k, d))
        self.conv_post = nn.Conv1d(ch, 1, 7, 1, padding=3)

    def forward(self, x):
        x = self.conv_pre(x)
        for i in range(self.num_upsamples):
            x = self.ups[i](F.leaky_relu(x, LRELU_SLOPE))
            xs = None
            for j in range(self.num_kernels):
                if xs is None:
                    xs = self.resblocks[i * self.num_kernels + j](x)
                else:
                    xs += self.resblocks[i * self.num_kernels + j](x)
            x = xs / self.num_kernels
        return torch.tanh(self.conv_post(F.leaky_relu(x)))


BN_MOMENTUM = 0.1


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes, momentum=BN_MOMENTUM)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes, momentum=BN_MOMENTUM)
        self.downsample = downsample

    def forward(self, x):
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 1, bias=False)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.conv3 = nn.Conv2d(planes, planes * self.expansion, 1, bias=False)
        self.downsample = downsample

    def forward(self, x):
        out = self.conv3(F.relu(self.conv2(F.relu(self.conv1(x)))))
        return F.relu(out + (x if self.downsample is None else self.downsample(x)))


blocks_dict = {"BASIC": BasicBlock, "BOTTLENECK": Bottleneck}


class PoseHighResolutionNet(nn.Module):
    def __init__(self, cfg, **kwargs):
        super().__init__()
        extra = cfg["MODEL"]["EXTRA"]
        self.inplanes = 64
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU())
        self.layer1 = self._make_layer(Bottleneck, 64, 2)
        self.stage2_cfg = extra["STAGE2"]
        num_channels = self.stage2_cfg["NUM_CHANNELS"]
        block = blocks_dict[self.stage2_cfg["BLOCK"]]
        num_channels = [num_channels[i] * block.expansion for i in range(len(num_channels))]
        self.transition1 = nn.ModuleList([nn.Conv2d(256, c, 3, 2 if i else 1, 1) for i, c in enumerate(num_channels)])
        if self.stage2_cfg["NUM_BRANCHES"] != len(num_channels):
            raise ValueError(f"NUM_BRANCHES({self.stage2_cfg['NUM_BRANCHES']}) <> NUM_CHANNELS({len(num_channels)})")
        self.stage2 = nn.ModuleList()
        for i, c in enumerate(num_channels):
            self.inplanes = c
            self.stage2.append(
                self._make_layer(block, self.stage2_cfg["NUM_CHANNELS"][i], self.stage2_cfg["NUM_BLOCKS"][i])
            )
        self.final_layer = nn.Conv2d(
            num_channels[0],
            cfg["MODEL"]["NUM_JOINTS"],
            kernel_size=extra["FINAL_CONV_KERNEL"],
            padding=1 if extra["FINAL_CONV_KERNEL"] == 3 else 0,
        )

    def _make_layer(self, block, planes, blocks, stride=1):
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Conv2d(self.inplanes, planes * block.expansion, 1, stride, bias=False)
        layers = [block(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes * block.expansion
        layers += [block(self.inplanes, planes) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.layer1(self.stem(x))
        ys = [stage(t(x)) for t, stage in zip(self.transition1, self.stage2)]
        y = ys[0]
        for other in ys[1:]:
            y = y + F.interpolate(other, size=y.shape[-2:]).mean(1, keepdim=True)
        return self.final_layer(y)


class BaseBEVBackbone(nn.Module):
    def __init__(self, model_cfg, input_channels):
        super().__init__()
        self.model_cfg = model_cfg
        if self.model_cfg.get("LAYER_NUMS", None) is not None:
            assert (
                len(self.model_cfg.LAYER_NUMS) == len(self.model_cfg.LAYER_STRIDES) == len(self.model_cfg.NUM_FILTERS)
            )
            layer_nums = self.model_cfg.LAYER_NUMS
            layer_strides = self.model_cfg.LAYER_STRIDES
            num_filters = self.model_cfg.NUM_FILTERS
        else:
            layer_nums = layer_strides = num_filters = []
        if self.model_cfg.get("UPSAMPLE_STRIDES", None) is not None:
            assert len(self.model_cfg.UPSAMPLE_STRIDES) == len(self.model_cfg.NUM_UPSAMPLE_FILTERS)
            num_upsample_filters = self.model_cfg.NUM_UPSAMPLE_FILTERS
            upsample_strides = self.model_cfg.UPSAMPLE_STRIDES
        else:
            upsample_strides = num_upsample_filters = []
        c_in_list = [input_channels, *num_filters[:-1]]
        self.blocks, self.deblocks = nn.ModuleList(), nn.ModuleList()
        for idx in range(len(layer_nums)):
            cur_layers = [
                nn.ZeroPad2d(1),
                nn.Conv2d(c_in_list[idx], num_filters[idx], 3, stride=layer_strides[idx], padding=0, bias=False),
                nn.BatchNorm2d(num_filters[idx], eps=1e-3, momentum=0.01),
                nn.ReLU(),
            ]
            for _ in range(layer_nums[idx]):
                cur_layers += [nn.Conv2d(num_filters[idx], num_filters[idx], 3, padding=1, bias=False), nn.ReLU()]
            self.blocks.append(nn.Sequential(*cur_layers))
            if len(upsample_strides) > 0:
                stride = upsample_strides[idx]
                self.deblocks.append(
                    nn.ConvTranspose2d(num_filters[idx], num_upsample_filters[idx], stride, stride=stride)
                )
        self.num_bev_features = sum(num_upsample_filters)

    def forward(self, data_dict):
        x = data_dict["spatial_features"]
        ups = []
        for i in range(len(self.blocks)):
            x = self.blocks[i](x)
            ups.append(self.deblocks[i](x) if len(self.deblocks) > 0 else x)
        data_dict["spatial_features_2d"] = torch.cat(ups, dim=1) if len(ups) > 1 else ups[0]
        return data_dict


class Registry:
    def __init__(self, name):
        self._name, self._module_dict = name, {}

    def register_module(self):
        def _register(cls):
            self._module_dict[cls.__name__] = cls
            return cls

        return _register

    def get(self, key):
        return self._module_dict.get(key, None)

    def build(self, cfg, **default_args):
        args = {**cfg, **default_args}
        obj_type = args.pop("type")
        obj_cls = self.get(obj_type)
        if obj_cls is None:
            raise KeyError(f"{obj_type} is not in the {self._name} registry")
        return obj_cls(**args)


BACKBONES, NECKS, DECODE_HEADS = Registry("backbone"), Registry("neck"), Registry("decode_head")


@BACKBONES.register_module()
class TinyBackbone(nn.Module):
    def __init__(self, in_channels=3, base=16, num_stages=3, out_indices=(0, 1, 2)):
        super().__init__()
        self.stages = nn.ModuleList()
        for i in range(num_stages):
            self.stages.append(nn.Sequential(nn.Conv2d(in_channels, base * 2**i, 3, 2, 1), nn.ReLU()))
            in_channels = base * 2**i
        self.out_indices = out_indices

    def forward(self, x):
        outs = []
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i in self.out_indices:
                outs.append(x)
        return tuple(outs)


@NECKS.register_module()
class SumNeck(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(c, out_channels, 1) for c in in_channels])

    def forward(self, feats):
        outs = [conv(f) for conv, f in zip(self.convs, feats, strict=True)]
        return tuple(outs)


@DECODE_HEADS.register_module()
class FCNHead(nn.Module):
    def __init__(self, in_channels, channels, num_classes, in_index=-1, dropout_ratio=0.1):
        super().__init__()
        self.in_index = in_index
        self.convs = nn.Sequential(nn.Conv2d(in_channels, channels, 3, padding=1), nn.ReLU())
        self.dropout = nn.Dropout2d(dropout_ratio)
        self.conv_seg = nn.Conv2d(channels, num_classes, 1)

    def forward(self, inputs):
        return self.conv_seg(self.dropout(self.convs(inputs[self.in_index])))


class TwoStageSegmentor(nn.Module):
    def __init__(self, backbone, decode_head, neck=None, auxiliary_head=None, train_cfg=None, test_cfg=None):
        super().__init__()
        self.backbone = BACKBONES.build(backbone)
        if neck is not None:
            self.neck = NECKS.build(neck)
        self.decode_head = DECODE_HEADS.build(decode_head)
        if auxiliary_head is not None:
            self.auxiliary_head = DECODE_HEADS.build(auxiliary_head)
        self.train_cfg, self.test_cfg = train_cfg, test_cfg

    @property
    def with_neck(self):
        return hasattr(self, "neck") and self.neck is not None

    def extract_feat(self, img):
        x = self.backbone(img)
        if self.with_neck:
            x = self.neck(x)
        return x

    def forward(self, img):
        out = self.decode_head(self.extract_feat(img))
        return F.interpolate(out, size=img.shape[2:], mode="bilinear", align_corners=False)


class TabularTransformer(nn.Module):
    def __init__(
        self,
        *,
        categories,
        num_continuous,
        dim,
        depth,
        heads,
        dim_out=1,
        mlp_hidden_mults=(4, 2),
        mlp_act=None,
        num_special_tokens=2,
        continuous_mean_std=None,
        attn_dropout=0.0,
    ):
        super().__init__()
        assert all(n > 0 for n in categories), "number of each category must be positive"
        assert len(categories) + num_continuous > 0, "input shape must not be null"
        self.num_categories = len(categories)
        self.num_unique_categories = sum(categories)
        total_tokens = self.num_unique_categories + num_special_tokens
        categories_offset = F.pad(torch.tensor(list(categories)), (1, 0), value=num_special_tokens)
        self.register_buffer("categories_offset", categories_offset.cumsum(dim=-1)[:-1])
        if continuous_mean_std is not None:
            assert continuous_mean_std.shape == (num_continuous, 2)
        self.register_buffer("continuous_mean_std", continuous_mean_std)
        self.norm = nn.LayerNorm(num_continuous)
        self.num_continuous = num_continuous
        self.embeds = nn.Embedding(total_tokens, dim)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(dim, heads, dim * 4, attn_dropout, batch_first=True) for _ in range(depth)]
        )
        input_size = dim * self.num_categories + num_continuous
        hidden = [input_size * t // 8 for t in mlp_hidden_mults]
        dims = [input_size, *hidden, dim_out]
        mlp = []
        for ind, (a, b) in enumerate(zip(dims[:-1], dims[1:])):
            mlp.append(nn.Linear(a, b))
            if ind < len(dims) - 2:
                mlp.append(mlp_act if mlp_act is not None else nn.ReLU())
        self.mlp = nn.Sequential(*mlp)

    def forward(self, x_categ, x_cont):
        assert x_categ.shape[-1] == self.num_categories, (
            f"you must pass in {self.num_categories} values for your categories input"
        )
        x = self.embeds(x_categ + self.categories_offset)
        for layer in self.layers:
            x = layer(x)
        flat = x.flatten(1)
        assert x_cont.shape[1] == self.num_continuous, (
            f"you must pass in {self.num_continuous} values for your continuous input"
        )
        if self.continuous_mean_std is not None:
            mean, std = self.continuous_mean_std.unbind(dim=-1)
            x_cont = (x_cont - mean) / std
        return self.mlp(torch.cat([flat, self.norm(x_cont)], dim=-1))


class Block3D(nn.Module):
    expansion = 2

    def __init__(self, in_planes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = nn.Conv3d(in_planes, planes, 1, bias=False)
        self.conv2 = nn.Conv3d(planes, planes, 3, stride, 1, bias=False)
        self.conv3 = nn.Conv3d(planes, planes * self.expansion, 1, bias=False)
        self.downsample = downsample

    def forward(self, x):
        residual = x if self.downsample is None else self.downsample(x)
        return F.relu(self.conv3(F.relu(self.conv2(F.relu(self.conv1(x))))) + residual)


def downsample_basic_block(x, planes, stride):
    out = F.avg_pool3d(x, kernel_size=1, stride=stride)
    zero_pads = torch.zeros(out.size(0), planes - out.size(1), out.size(2), out.size(3), out.size(4))
    return torch.cat([out, zero_pads], dim=1)


class ResNet3D(nn.Module):
    def __init__(self, block, layers, block_inplanes, n_classes, shortcut_type, n_input_channels=3, conv1_t_size=7):
        super().__init__()
        self.in_planes = block_inplanes[0]
        self.conv1 = nn.Conv3d(
            n_input_channels, self.in_planes, (conv1_t_size, 7, 7), (1, 2, 2), (conv1_t_size // 2, 3, 3), bias=False
        )
        self.bn1 = nn.BatchNorm3d(self.in_planes)
        self.layer1 = self._make_layer(block, block_inplanes[0], layers[0], shortcut_type)
        self.layer2 = self._make_layer(block, block_inplanes[1], layers[1], shortcut_type, stride=2)
        self.layer3 = self._make_layer(block, block_inplanes[2], layers[2], shortcut_type, stride=2)
        self.avgpool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(block_inplanes[2] * block.expansion, n_classes)

    def _make_layer(self, block, planes, blocks, shortcut_type, stride=1):
        downsample = None
        if stride != 1 or self.in_planes != planes * block.expansion:
            if shortcut_type == "A":
                downsample = functools.partial(downsample_basic_block, planes=planes * block.expansion, stride=stride)
            else:
                downsample = nn.Sequential(
                    nn.Conv3d(self.in_planes, planes * block.expansion, 1, stride),
                    nn.BatchNorm3d(planes * block.expansion),
                )
        layers = [block(self.in_planes, planes, stride, downsample)]
        self.in_planes = planes * block.expansion
        for _ in range(1, blocks):
            layers.append(block(self.in_planes, planes))
        return nn.Sequential(*layers)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(self.avgpool(x).view(x.size(0), -1))


class LitVAE(nn.Module):
    """With the hyperparameters of a trainer; those of training come along."""

    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams
        h = self.hparams
        self.encoder = nn.Sequential(
            nn.Linear(h.input_height * h.input_height, h.enc_out_dim),
            nn.ReLU(),
            nn.Linear(h.enc_out_dim, h.enc_out_dim),
        )
        self.fc_mu = nn.Linear(h.enc_out_dim, h.latent_dim)
        self.fc_var = nn.Linear(h.enc_out_dim, h.latent_dim)
        self.decoder = nn.Sequential(
            nn.Linear(h.latent_dim, h.enc_out_dim), nn.ReLU(), nn.Linear(h.enc_out_dim, h.input_height * h.input_height)
        )
        self.kl_coeff = h.kl_coeff

    def forward(self, x):
        b = x.size(0)
        h = self.encoder(x.view(b, -1))
        mu, log_var = self.fc_mu(h), self.fc_var(h)
        z = mu + torch.exp(log_var / 2) * torch.randn_like(mu)
        return self.decoder(z).view_as(x), mu, log_var

    def training_step(self, batch, batch_idx):
        x, _ = batch
        x_hat, mu, log_var = self(x)
        kl = (-0.5 * (1 + log_var - mu**2 - log_var.exp())).sum(1).mean()
        return F.mse_loss(x_hat, x) + self.hparams.kl_coeff * kl

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr, weight_decay=self.hparams.weight_decay)


class KGEModel(nn.Module):
    def __init__(
        self,
        model_name,
        nentity,
        nrelation,
        hidden_dim,
        gamma,
        double_entity_embedding=False,
        double_relation_embedding=False,
    ):
        super().__init__()
        self.model_name = model_name
        self.nentity, self.nrelation, self.hidden_dim, self.epsilon = nentity, nrelation, hidden_dim, 2.0
        self.gamma = nn.Parameter(torch.Tensor([gamma]), requires_grad=False)
        self.embedding_range = nn.Parameter(
            torch.Tensor([(self.gamma.item() + self.epsilon) / hidden_dim]), requires_grad=False
        )
        self.entity_dim = hidden_dim * 2 if double_entity_embedding else hidden_dim
        self.relation_dim = hidden_dim * 2 if double_relation_embedding else hidden_dim
        self.entity_embedding = nn.Parameter(torch.zeros(nentity, self.entity_dim))
        nn.init.uniform_(self.entity_embedding, -self.embedding_range.item(), self.embedding_range.item())
        self.relation_embedding = nn.Parameter(torch.zeros(nrelation, self.relation_dim))
        nn.init.uniform_(self.relation_embedding, -self.embedding_range.item(), self.embedding_range.item())
        if model_name not in ["TransE", "DistMult", "RotatE"]:
            raise ValueError("model %s not supported" % model_name)
        if model_name == "RotatE" and (not double_entity_embedding or double_relation_embedding):
            raise ValueError("RotatE should use --double_entity_embedding")

    def forward(self, sample):
        head = torch.index_select(self.entity_embedding, dim=0, index=sample[:, 0]).unsqueeze(1)
        relation = torch.index_select(self.relation_embedding, dim=0, index=sample[:, 1]).unsqueeze(1)
        tail = torch.index_select(self.entity_embedding, dim=0, index=sample[:, 2]).unsqueeze(1)
        model_func = {"TransE": self.TransE, "DistMult": self.DistMult, "RotatE": self.RotatE}
        if self.model_name in model_func:
            return model_func[self.model_name](head, relation, tail)
        raise ValueError("model %s not supported" % self.model_name)

    def TransE(self, head, relation, tail):
        return self.gamma.item() - torch.norm(head + relation - tail, p=1, dim=2)

    def DistMult(self, head, relation, tail):
        return (head * relation * tail).sum(dim=2)

    def RotatE(self, head, relation, tail):
        re_head, im_head = torch.chunk(head, 2, dim=2)
        re_tail, im_tail = torch.chunk(tail, 2, dim=2)
        phase = relation / (self.embedding_range.item() / math.pi)
        re, im = torch.cos(phase), torch.sin(phase)
        score = torch.stack([re_head * re - im_head * im - re_tail, re_head * im + im_head * re - im_tail], dim=0)
        return self.gamma.item() - score.norm(dim=0).sum(dim=2)


SparseFeat = namedtuple("SparseFeat", ["name", "vocabulary_size", "embedding_dim"])
DenseFeat = namedtuple("DenseFeat", ["name", "dimension"])


def build_input_features(feature_columns):
    features, start = OrderedDict(), 0
    for feat in feature_columns:
        if feat.name in features:
            continue
        if isinstance(feat, SparseFeat):
            features[feat.name] = (start, start + 1)
            start += 1
        elif isinstance(feat, DenseFeat):
            features[feat.name] = (start, start + feat.dimension)
            start += feat.dimension
        else:
            raise TypeError("Invalid feature column type,got", type(feat))
    return features


class DeepFM(nn.Module):
    def __init__(
        self, linear_feature_columns, dnn_feature_columns, dnn_hidden_units=(64, 32), dnn_dropout=0, task="binary"
    ):
        super().__init__()
        self.feature_index = build_input_features(list(linear_feature_columns) + list(dnn_feature_columns))
        self.sparse = [c for c in dnn_feature_columns if isinstance(c, SparseFeat)]
        self.dense = [c for c in dnn_feature_columns if isinstance(c, DenseFeat)]
        self.embedding_dict = nn.ModuleDict(
            {c.name: nn.Embedding(c.vocabulary_size, c.embedding_dim) for c in self.sparse}
        )
        n = sum(c.embedding_dim for c in self.sparse) + sum(c.dimension for c in self.dense)
        units = [n, *dnn_hidden_units]
        self.dnn = nn.Sequential(
            *[m for a, b in zip(units, units[1:]) for m in (nn.Linear(a, b), nn.ReLU(), nn.Dropout(dnn_dropout))]
        )
        self.dnn_linear = nn.Linear(units[-1], 1, bias=False)
        if task not in ["binary", "multiclass", "regression"]:
            raise ValueError("task must be binary,multiclass or regression")
        self.task = task

    def forward(self, X):
        embs = [
            self.embedding_dict[c.name](
                X[:, self.feature_index[c.name][0] : self.feature_index[c.name][1]].long()
            ).squeeze(1)
            for c in self.sparse
        ]
        dense = [X[:, self.feature_index[c.name][0] : self.feature_index[c.name][1]] for c in self.dense]
        logit = self.dnn_linear(self.dnn(torch.cat(embs + dense, dim=-1)))
        return torch.sigmoid(logit) if self.task == "binary" else logit


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


class Graph:
    """Joints of a body."""

    def __init__(self, layout="openpose", strategy="uniform", max_hop=1):
        self.max_hop = max_hop
        self.get_edge(layout)
        hop = torch.full((self.num_node, self.num_node), float("inf"))
        for i, j in self.edge:
            hop[i, j] = hop[j, i] = 0.0 if i == j else 1.0
        adjacency = (hop <= max_hop).float()
        adjacency = adjacency / adjacency.sum(0, keepdim=True)
        if strategy == "uniform":
            self.A = adjacency[None]
        elif strategy == "distance":
            self.A = torch.stack([adjacency * (hop == k) for k in range(max_hop + 1)])
        else:
            raise ValueError("Do Not Exist This Strategy")

    def get_edge(self, layout):
        if layout == "openpose":
            self.num_node = 18
            links = [
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
            links = [(i, i + 1) for i in range(24)]
        else:
            raise ValueError("Do Not Exist This Layout.")
        self.edge = [(i, i) for i in range(self.num_node)] + links


class st_gcn(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, dropout=0.0, residual=True):
        super().__init__()
        assert len(kernel_size) == 2
        assert kernel_size[0] % 2 == 1
        self.k = kernel_size[1]
        self.gcn = nn.Conv2d(in_channels, out_channels * self.k, 1)
        self.tcn = nn.Sequential(
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
            nn.Conv2d(out_channels, out_channels, (kernel_size[0], 1), (stride, 1), ((kernel_size[0] - 1) // 2, 0)),
            nn.Dropout(dropout),
        )

    def forward(self, x, A):
        x = self.gcn(x)
        n, kc, t, v = x.size()
        x = torch.einsum("nkctv,kvw->nctw", (x.view(n, self.k, kc // self.k, t, v), A))
        return F.relu(self.tcn(x.contiguous())), A


class STGCN(nn.Module):
    def __init__(self, in_channels, num_class, graph_args, edge_importance_weighting, **kwargs):
        super().__init__()
        self.graph = Graph(**graph_args)
        A = self.graph.A.clone()
        self.register_buffer("A", A)
        kernel_size = (9, A.size(0))
        self.data_bn = nn.BatchNorm1d(in_channels * A.size(1))
        kwargs0 = {k: v for k, v in kwargs.items() if k != "dropout"}
        self.st_gcn_networks = nn.ModuleList(
            (
                st_gcn(in_channels, 64, kernel_size, 1, residual=False, **kwargs0),
                st_gcn(64, 64, kernel_size, 1, **kwargs),
                st_gcn(64, 128, kernel_size, 2, **kwargs),
            )
        )
        if edge_importance_weighting:
            self.edge_importance = nn.ParameterList(
                [nn.Parameter(torch.ones(self.A.size())) for _ in self.st_gcn_networks]
            )
        else:
            self.edge_importance = [1] * len(self.st_gcn_networks)
        self.fcn = nn.Conv2d(128, num_class, kernel_size=1)

    def forward(self, x):
        N, C, T, V, M = x.size()
        x = x.permute(0, 4, 3, 1, 2).contiguous().view(N * M, V * C, T)
        x = self.data_bn(x).view(N, M, V, C, T).permute(0, 1, 3, 4, 2).contiguous().view(N * M, C, T, V)
        for gcn, importance in zip(self.st_gcn_networks, self.edge_importance):
            x, _ = gcn(x, self.A * importance)
        x = F.avg_pool2d(x, x.size()[2:])
        x = x.view(N, M, -1, 1, 1).mean(dim=1)
        return self.fcn(x).view(x.size(0), -1)


class Seq2SeqAttrs:
    def __init__(self, adj_mx, **model_kwargs):
        self.adj_mx = adj_mx
        self.max_diffusion_step = int(model_kwargs.get("max_diffusion_step", 2))
        self.num_nodes = int(model_kwargs.get("num_nodes", 1))
        self.num_rnn_layers = int(model_kwargs.get("num_rnn_layers", 1))
        self.rnn_units = int(model_kwargs.get("rnn_units"))
        self.hidden_state_size = self.num_nodes * self.rnn_units


class DCRNNEncoder(nn.Module, Seq2SeqAttrs):
    def __init__(self, adj_mx, **model_kwargs):
        nn.Module.__init__(self)
        Seq2SeqAttrs.__init__(self, adj_mx, **model_kwargs)
        self.input_dim = int(model_kwargs.get("input_dim", 1))
        self.seq_len = int(model_kwargs.get("seq_len"))
        d = adj_mx.sum(1)
        self.register_buffer("walk", adj_mx / d.clamp(min=1e-6)[:, None])
        n = (self.max_diffusion_step + 1) * (self.input_dim + self.rnn_units)
        self.gate = nn.Linear(n, 2 * self.rnn_units)
        self.update = nn.Linear(n, self.rnn_units)

    def diffuse(self, x):
        out = [x]
        for _ in range(self.max_diffusion_step):
            out.append(torch.matmul(self.walk, out[-1]))
        return torch.cat(out, dim=-1)

    def forward(self, inputs, hidden_state=None):
        batch_size, seq_len, num_nodes, _ = inputs.shape
        assert num_nodes == self.adj_mx.shape[0]
        if hidden_state is None:
            hidden_state = inputs.new_zeros(batch_size, num_nodes, self.rnn_units)
        for t in range(seq_len):
            r, u = torch.sigmoid(self.gate(self.diffuse(torch.cat([inputs[:, t], hidden_state], -1)))).chunk(2, -1)
            c = torch.tanh(self.update(self.diffuse(torch.cat([inputs[:, t], r * hidden_state], -1))))
            hidden_state = u * hidden_state + (1.0 - u) * c
        return hidden_state


def get_norm_layer(norm_type="instance"):
    if norm_type == "batch":
        return functools.partial(nn.BatchNorm2d, affine=True, track_running_stats=True)
    if norm_type == "instance":
        return functools.partial(nn.InstanceNorm2d, affine=False, track_running_stats=False)
    if norm_type == "none":
        return lambda _: nn.Identity()
    raise NotImplementedError("normalization layer [%s] is not found" % norm_type)


class UnetSkipConnectionBlock(nn.Module):
    def __init__(
        self,
        outer_nc,
        inner_nc,
        input_nc=None,
        submodule=None,
        outermost=False,
        innermost=False,
        norm_layer=nn.BatchNorm2d,
    ):
        super().__init__()
        self.outermost = outermost
        if type(norm_layer) == functools.partial:
            use_bias = norm_layer.func == nn.InstanceNorm2d
        else:
            use_bias = norm_layer == nn.InstanceNorm2d
        if input_nc is None:
            input_nc = outer_nc
        downconv = nn.Conv2d(input_nc, inner_nc, 4, 2, 1, bias=use_bias)
        down = [nn.LeakyReLU(0.2), downconv] + ([] if outermost or innermost else [norm_layer(inner_nc)])
        up = [nn.ReLU(), nn.ConvTranspose2d(inner_nc if innermost else inner_nc * 2, outer_nc, 4, 2, 1, bias=use_bias)]
        up += [nn.Tanh()] if outermost else [norm_layer(outer_nc)]
        self.model = nn.Sequential(*(down + ([submodule] if submodule is not None else []) + up))

    def forward(self, x):
        return self.model(x) if self.outermost else torch.cat([x, self.model(x)], 1)


class UnetGenerator(nn.Module):
    def __init__(self, input_nc, output_nc, num_downs, ngf, norm):
        super().__init__()
        norm_layer = get_norm_layer(norm_type=norm)
        block = UnetSkipConnectionBlock(ngf * 8, ngf * 8, norm_layer=norm_layer, innermost=True)
        for _ in range(num_downs - 5):
            block = UnetSkipConnectionBlock(ngf * 8, ngf * 8, submodule=block, norm_layer=norm_layer)
        block = UnetSkipConnectionBlock(ngf * 4, ngf * 8, submodule=block, norm_layer=norm_layer)
        block = UnetSkipConnectionBlock(ngf * 2, ngf * 4, submodule=block, norm_layer=norm_layer)
        block = UnetSkipConnectionBlock(ngf, ngf * 2, submodule=block, norm_layer=norm_layer)
        self.model = UnetSkipConnectionBlock(
            output_nc, ngf, input_nc=input_nc, submodule=block, outermost=True, norm_layer=norm_layer
        )

    def forward(self, input):
        return self.model(input)


class Scaler(str, Enum):
    MEAN = "mean"
    STD = "std"
    NONE = "none"


@dataclass
class ForecasterConfig:
    prediction_length: int
    context_length: int
    input_size: int
    d_model: int
    encoder_layers: int
    nhead: int
    scaling: Scaler
    lags_sequence: list[int]
    distr_output: str = "student_t"
    num_static_categorical_features: int = 0
    cardinality: list[int] = field(default_factory=list)

    def __post_init__(self):
        if self.d_model % self.nhead != 0:
            raise ValueError(f"d_model ({self.d_model}) must be a multiple of nhead ({self.nhead})")
        if self.cardinality and len(self.cardinality) != self.num_static_categorical_features:
            raise ValueError("The cardinality should be a list of the same length as `num_static_categorical_features`")


C = TypeVar("C")


class ConfiguredMixin(Generic[C]):
    config_class: type

    @classmethod
    def from_config(cls, config: C):
        return cls(config)


class AttendedForecaster(nn.Module, ConfiguredMixin[ForecasterConfig]):
    config_class = ForecasterConfig

    def __init__(self, config):
        super().__init__()
        if not isinstance(config, self.config_class):
            raise TypeError(f"config must be a {self.config_class.__name__}")
        self.config = config
        self.value_embedding = nn.Linear(config.input_size * len(config.lags_sequence), config.d_model, bias=False)
        layer = nn.TransformerEncoderLayer(config.d_model, config.nhead, 2 * config.d_model, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, config.encoder_layers)
        n_params = {"student_t": 3, "normal": 2, "negative_binomial": 2}[config.distr_output]
        self.parameter_projection = nn.Linear(config.d_model, n_params * config.prediction_length)
        self.scaler = config.scaling

    @property
    def _past_length(self):
        return self.config.context_length + max(self.config.lags_sequence)

    def forward(self, past_values):
        if past_values.shape[1] != self._past_length:
            raise ValueError(f"past_values should have {self._past_length} steps, got {past_values.shape[1]}")
        if self.scaler == Scaler.MEAN:
            past_values = past_values / past_values.abs().mean(1, keepdim=True).clamp(min=1e-5)
        n = self.config.context_length
        lagged = [
            past_values[:, past_values.shape[1] - n - lag : past_values.shape[1] - lag]
            for lag in self.config.lags_sequence
        ]
        x = self.value_embedding(torch.cat(lagged, dim=-1))
        return self.parameter_projection(self.encoder(x)[:, -1])
