"""Hard: libraries and platforms: registries, keys and conditions as objects, options of a command line.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

__all__ = [
    "EncoderDecoder",
    "FullyConnectedArch",
    "LMModel",
    "RibonanzaNet",
    "TrackingNetwork",
    "VoteNet",
]


# segmentation, from a registry


class Registry:
    def __init__(self, name, parent=None):
        self._name = name
        self._module_dict = {}
        self.parent = parent

    def register_module(self, name=None):
        def _register(cls):
            self._module_dict[name or cls.__name__] = cls
            return cls

        return _register

    def build(self, cfg, **default_args):
        args = {**default_args, **cfg}
        obj_type = args.pop("type")
        if obj_type not in self._module_dict:
            raise KeyError(f"{obj_type} is not in the {self._name} registry")
        return self._module_dict[obj_type](**args)


MODELS = Registry("model")


def build_norm_layer(cfg, num_features):
    cfg_ = cfg.copy()
    layer_type = cfg_.pop("type")
    requires_grad = cfg_.pop("requires_grad", True)
    layer = {"BN": nn.BatchNorm2d, "SyncBN": nn.SyncBatchNorm}[layer_type](num_features, **cfg_)
    for param in layer.parameters():
        param.requires_grad = requires_grad
    return layer


class ConvModule(nn.Module):
    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, norm_cfg=None, act_cfg=dict(type="ReLU")
    ):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, bias=norm_cfg is None)
        self.norm = build_norm_layer(norm_cfg, out_channels) if norm_cfg is not None else None
        self.activate = getattr(nn, act_cfg["type"])() if act_cfg is not None else None

    def forward(self, x):
        x = self.conv(x)
        if self.norm is not None:
            x = self.norm(x)
        return self.activate(x) if self.activate is not None else x


@MODELS.register_module()
class MobileNetish(nn.Module):
    def __init__(self, widths=(16, 32, 64, 128), out_indices=(0, 1, 2, 3), norm_cfg=dict(type="BN")):
        super().__init__()
        self.out_indices = out_indices
        self.stages = nn.ModuleList()
        in_channels = 3
        for width in widths:
            self.stages.append(
                nn.Sequential(
                    ConvModule(in_channels, width, 3, stride=2, padding=1, norm_cfg=norm_cfg),
                    ConvModule(width, width, 3, padding=1, norm_cfg=norm_cfg),
                )
            )
            in_channels = width

    def forward(self, x):
        outs = []
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i in self.out_indices:
                outs.append(x)
        return tuple(outs)


class BaseDecodeHead(nn.Module):
    def __init__(
        self,
        in_channels,
        channels,
        *,
        num_classes,
        dropout_ratio=0.1,
        norm_cfg=None,
        in_index=-1,
        input_transform=None,
        ignore_index=255,
        align_corners=False,
        loss_weight=1.0,
    ):
        super().__init__()
        self.in_channels = in_channels
        self.channels = channels
        self.num_classes = num_classes
        self.norm_cfg = norm_cfg
        self.in_index = in_index
        self.input_transform = input_transform
        self.ignore_index = ignore_index
        self.align_corners = align_corners
        self.loss_weight = loss_weight
        self.conv_seg = nn.Conv2d(channels, num_classes, kernel_size=1)
        self.dropout = nn.Dropout2d(dropout_ratio) if dropout_ratio > 0 else None

    def _transform_inputs(self, inputs):
        if self.input_transform == "multiple_select":
            return [inputs[i] for i in self.in_index]
        return inputs[self.in_index]

    def cls_seg(self, feat):
        if self.dropout is not None:
            feat = self.dropout(feat)
        return self.conv_seg(feat)

    def loss(self, inputs, batch_data_samples):
        seg_logits = self.forward(inputs)
        seg_label = torch.stack([sample["gt_sem_seg"] for sample in batch_data_samples])
        seg_logits = F.interpolate(seg_logits, seg_label.shape[-2:], mode="bilinear", align_corners=self.align_corners)
        loss = F.cross_entropy(seg_logits, seg_label, ignore_index=self.ignore_index)
        accuracy = (seg_logits.argmax(1) == seg_label).float().mean()
        return {"loss_ce": self.loss_weight * loss, "acc_seg": accuracy}


@MODELS.register_module()
class SegformerHead(BaseDecodeHead):
    def __init__(self, interpolate_mode="bilinear", **kwargs):
        super().__init__(input_transform="multiple_select", **kwargs)
        self.interpolate_mode = interpolate_mode
        num_inputs = len(self.in_channels)
        assert num_inputs == len(self.in_index)
        self.convs = nn.ModuleList(
            [ConvModule(self.in_channels[i], self.channels, 1, norm_cfg=self.norm_cfg) for i in range(num_inputs)]
        )
        self.fusion_conv = ConvModule(self.channels * num_inputs, self.channels, 1, norm_cfg=self.norm_cfg)

    def forward(self, inputs):
        # Receive 4 stage backbone feature map: 1/4, 1/8, 1/16, 1/32
        inputs = self._transform_inputs(inputs)
        outs = []
        for idx in range(len(inputs)):
            x = self.convs[idx](inputs[idx])
            outs.append(F.interpolate(x, inputs[0].shape[2:], mode=self.interpolate_mode, align_corners=False))
        return self.cls_seg(self.fusion_conv(torch.cat(outs, dim=1)))


@MODELS.register_module()
class FCNHead(BaseDecodeHead):
    def __init__(self, num_convs=2, kernel_size=3, **kwargs):
        super().__init__(**kwargs)
        convs = [ConvModule(self.in_channels, self.channels, kernel_size, padding=1, norm_cfg=self.norm_cfg)]
        for _ in range(num_convs - 1):
            convs.append(ConvModule(self.channels, self.channels, kernel_size, padding=1, norm_cfg=self.norm_cfg))
        self.convs = nn.Sequential(*convs)

    def forward(self, inputs):
        return self.cls_seg(self.convs(self._transform_inputs(inputs)))


@MODELS.register_module()
class EncoderDecoder(nn.Module):
    """Encoder Decoder segmentors.

    EncoderDecoder typically consists of backbone, decode_head, auxiliary_head.
    Note that auxiliary_head is only used for deep supervision during training,
    which could be dumped during inference.
    """

    def __init__(
        self,
        backbone,
        decode_head,
        neck=None,
        auxiliary_head=None,
        train_cfg=None,
        test_cfg=None,
        data_preprocessor=None,
        pretrained=None,
    ):
        super().__init__()
        if pretrained is not None:
            assert backbone.get("pretrained") is None, "both backbone and segmentor set pretrained weight"
            backbone.pretrained = pretrained
        self.backbone = MODELS.build(backbone)
        if neck is not None:
            self.neck = MODELS.build(neck)
        self.decode_head = MODELS.build(decode_head)
        self.align_corners = self.decode_head.align_corners
        self.num_classes = self.decode_head.num_classes
        if auxiliary_head is not None:
            self.auxiliary_head = MODELS.build(auxiliary_head)
        self.train_cfg = train_cfg
        self.test_cfg = test_cfg
        self.data_preprocessor = data_preprocessor

    @property
    def with_neck(self):
        return hasattr(self, "neck") and self.neck is not None

    @property
    def with_auxiliary_head(self):
        return hasattr(self, "auxiliary_head") and self.auxiliary_head is not None

    def extract_feat(self, inputs):
        x = self.backbone(inputs)
        if self.with_neck:
            x = self.neck(x)
        return x

    def loss(self, inputs, data_samples):
        x = self.extract_feat(inputs)
        losses = {f"decode.{k}": v for k, v in self.decode_head.loss(x, data_samples).items()}
        if self.with_auxiliary_head:
            losses.update({f"aux.{k}": v for k, v in self.auxiliary_head.loss(x, data_samples).items()})
        return losses

    def predict(self, inputs, data_samples=None):
        if data_samples is not None:
            batch_img_metas = [data_sample["metainfo"] for data_sample in data_samples]
        else:
            batch_img_metas = [dict(ori_shape=inputs.shape[2:], img_shape=inputs.shape[2:])] * inputs.shape[0]
        seg_logits = self.decode_head.forward(self.extract_feat(inputs))
        seg_logits = F.interpolate(seg_logits, size=inputs.shape[2:], mode="bilinear", align_corners=self.align_corners)
        results = []
        for logit, meta in zip(seg_logits, batch_img_metas):
            resized = F.interpolate(
                logit[None], size=meta["ori_shape"], mode="bilinear", align_corners=self.align_corners
            )
            results.append({"seg_logits": resized[0], "pred_sem_seg": resized[0].argmax(dim=0, keepdim=True)})
        return results

    def _forward(self, inputs, data_samples=None):
        return self.decode_head.forward(self.extract_feat(inputs))

    def forward(self, inputs, data_samples=None, mode="tensor"):
        """The unified entry for a forward process in both training and test.

        - "tensor": Forward the whole network and return tensor or tuple of tensor without any post-processing.
        - "predict": Forward and return the predictions, which are fully processed to a list of data samples.
        - "loss": Forward and return a dict of losses according to the given inputs and data samples.
        """
        if mode == "loss":
            return self.loss(inputs, data_samples)
        if mode == "predict":
            return self.predict(inputs, data_samples)
        if mode == "tensor":
            return self._forward(inputs, data_samples)
        raise RuntimeError(f'Invalid mode "{mode}". Only supports loss, predict and tensor mode')


# 3D detection by votes


def furthest_point_sample(xyz, npoint):
    B, N, _ = xyz.shape
    inds = torch.zeros(B, npoint, dtype=torch.long, device=xyz.device)
    distance = torch.full((B, N), 1e10, device=xyz.device)
    last = torch.zeros(B, dtype=torch.long, device=xyz.device)
    for i in range(npoint):
        inds[:, i] = last
        picked = xyz[torch.arange(B), last].unsqueeze(1)
        distance = torch.minimum(distance, ((xyz - picked) ** 2).sum(-1))
        last = distance.argmax(-1)
    return inds


def gather_operation(features, idx):
    """features: (B, C, N), idx: (B, ...) -> (B, C, ...)"""
    B, C, _ = features.shape
    flat = idx.reshape(B, 1, -1).expand(-1, C, -1)
    return torch.gather(features, 2, flat).view(B, C, *idx.shape[1:])


class SharedMLP(nn.Sequential):
    def __init__(self, args, bn=True):
        super().__init__()
        for i in range(len(args) - 1):
            self.add_module(f"layer{i}", nn.Conv2d(args[i], args[i + 1], 1, bias=not bn))
            self.add_module(f"bn{i}", nn.BatchNorm2d(args[i + 1]))
            self.add_module(f"relu{i}", nn.ReLU(inplace=True))


class PointnetSAModuleVotes(nn.Module):
    def __init__(self, *, mlp, npoint=None, radius=None, nsample=None, use_xyz=True, normalize_xyz=False):
        super().__init__()
        self.npoint = npoint
        self.radius = radius
        self.nsample = nsample
        self.use_xyz = use_xyz
        self.normalize_xyz = normalize_xyz
        mlp_spec = list(mlp)
        if use_xyz and len(mlp_spec) > 0:
            mlp_spec[0] += 3
        self.mlp_module = SharedMLP(mlp_spec)

    def forward(self, xyz, features=None, inds=None):
        xyz_flipped = xyz.transpose(1, 2).contiguous()
        if inds is None:
            inds = furthest_point_sample(xyz, self.npoint)
        else:
            assert inds.shape[1] == self.npoint
        new_xyz = gather_operation(xyz_flipped, inds).transpose(1, 2).contiguous()
        dist, idx = torch.cdist(new_xyz, xyz).topk(self.nsample, largest=False)
        idx = torch.where(dist > self.radius, idx[..., :1], idx)
        grouped_xyz = gather_operation(xyz_flipped, idx) - new_xyz.transpose(1, 2).unsqueeze(-1)
        if self.normalize_xyz:
            grouped_xyz = grouped_xyz / self.radius
        grouped = grouped_xyz
        if features is not None:
            grouped_features = gather_operation(features, idx)
            grouped = torch.cat([grouped_xyz, grouped_features], dim=1) if self.use_xyz else grouped_features
        new_features = self.mlp_module(grouped)
        new_features = F.max_pool2d(new_features, kernel_size=[1, new_features.size(3)]).squeeze(-1)
        return new_xyz, new_features, inds


class PointnetFPModule(nn.Module):
    def __init__(self, *, mlp):
        super().__init__()
        self.mlp = SharedMLP(mlp)

    def forward(self, unknown, known, unknow_feats, known_feats):
        dist, idx = torch.cdist(unknown, known).topk(3, largest=False)
        dist_recip = 1.0 / (dist + 1e-8)
        weight = dist_recip / torch.sum(dist_recip, dim=2, keepdim=True)
        interpolated = (gather_operation(known_feats, idx) * weight.unsqueeze(1)).sum(-1)
        new_features = torch.cat([interpolated, unknow_feats], dim=1)
        return self.mlp(new_features.unsqueeze(-1)).squeeze(-1)


class Pointnet2Backbone(nn.Module):
    def __init__(self, input_feature_dim=0):
        super().__init__()
        kwargs = dict(use_xyz=True, normalize_xyz=True)
        self.sa1 = PointnetSAModuleVotes(
            npoint=512, radius=0.2, nsample=32, mlp=[input_feature_dim, 64, 64, 128], **kwargs
        )
        self.sa2 = PointnetSAModuleVotes(npoint=256, radius=0.4, nsample=16, mlp=[128, 128, 128, 256], **kwargs)
        self.sa3 = PointnetSAModuleVotes(npoint=128, radius=0.8, nsample=16, mlp=[256, 128, 128, 256], **kwargs)
        self.fp1 = PointnetFPModule(mlp=[256 + 256, 256, 256])

    def forward(self, pointcloud, end_points=None):
        if not end_points:
            end_points = {}
        xyz = pointcloud[..., 0:3].contiguous()
        features = pointcloud[..., 3:].transpose(1, 2).contiguous() if pointcloud.size(-1) > 3 else None
        xyz, features, fps_inds = self.sa1(xyz, features)
        xyz2, features2, _ = self.sa2(xyz, features)
        xyz3, features3, _ = self.sa3(xyz2, features2)
        end_points["fp2_features"] = self.fp1(xyz2, xyz3, features2, features3)
        end_points["fp2_xyz"] = xyz2
        num_seed = xyz2.shape[1]
        end_points["fp2_inds"] = fps_inds[:, 0:num_seed]  # indices among the entire input point clouds
        return end_points


class VotingModule(nn.Module):
    def __init__(self, vote_factor, seed_feature_dim):
        super().__init__()
        self.vote_factor = vote_factor
        self.in_dim = seed_feature_dim
        self.out_dim = self.in_dim  # due to residual feature, in_dim has to be == out_dim
        self.conv1 = nn.Conv1d(self.in_dim, self.in_dim, 1)
        self.conv2 = nn.Conv1d(self.in_dim, (3 + self.out_dim) * self.vote_factor, 1)
        self.bn1 = nn.BatchNorm1d(self.in_dim)

    def forward(self, seed_xyz, seed_features):
        batch_size, num_seed = seed_xyz.shape[0], seed_xyz.shape[1]
        num_vote = num_seed * self.vote_factor
        net = self.conv2(F.relu(self.bn1(self.conv1(seed_features))))
        net = net.transpose(2, 1).view(batch_size, num_seed, self.vote_factor, 3 + self.out_dim)
        vote_xyz = (seed_xyz.unsqueeze(2) + net[..., 0:3]).contiguous().view(batch_size, num_vote, 3)
        vote_features = seed_features.transpose(2, 1).unsqueeze(2) + net[..., 3:]
        vote_features = vote_features.contiguous().view(batch_size, num_vote, self.out_dim)
        return vote_xyz, vote_features.transpose(2, 1).contiguous()


class VoteNet(nn.Module):
    r"""
    A deep neural network for 3D object detection with end-to-end optimizable hough voting.

    Parameters
    ----------
    num_class: int
        Number of semantics classes to predict over -- size of softmax classifier
    num_heading_bin: int
    num_size_cluster: int
    mean_size_arr: numpy array, (num_size_cluster, 3)
    input_feature_dim: (default: 0)
        Input dim in the feature descriptor for each point.
    num_proposal: int (default: 128)
        Number of proposals/detections generated from the network.
    vote_factor: (default: 1)
        Number of votes generated from each seed point.
    """

    def __init__(
        self,
        num_class,
        num_heading_bin,
        num_size_cluster,
        mean_size_arr,
        input_feature_dim=0,
        num_proposal=128,
        vote_factor=1,
        sampling="vote_fps",
    ):
        super().__init__()
        self.num_class = num_class
        self.num_heading_bin = num_heading_bin
        self.num_size_cluster = num_size_cluster
        self.mean_size_arr = mean_size_arr
        assert mean_size_arr.shape[0] == self.num_size_cluster
        self.num_proposal = num_proposal
        self.sampling = sampling
        self.backbone_net = Pointnet2Backbone(input_feature_dim=input_feature_dim)
        self.vgen = VotingModule(vote_factor, 256)
        self.vote_aggregation = PointnetSAModuleVotes(
            npoint=num_proposal, radius=0.3, nsample=16, mlp=[256, 128, 128, 128], normalize_xyz=True
        )
        # Object proposal/detection: objectness scores (2), center residual (3), heading, size, semantic class
        self.pnet = nn.Sequential(
            nn.Conv1d(128, 128, 1),
            nn.BatchNorm1d(128),
            nn.ReLU(),
            nn.Conv1d(128, 2 + 3 + num_heading_bin * 2 + num_size_cluster * 4 + num_class, 1),
        )

    def forward(self, inputs):
        """
        Args:
            inputs: dict {point_clouds}
                point_clouds: Variable(torch.cuda.FloatTensor), (B, N, 3 + input_channels) tensor
        Returns:
            end_points: dict
        """
        end_points = {}
        end_points = self.backbone_net(inputs["point_clouds"], end_points)

        # --------- HOUGH VOTING ---------
        xyz = end_points["fp2_xyz"]
        features = end_points["fp2_features"]
        end_points["seed_inds"] = end_points["fp2_inds"]
        end_points["seed_xyz"] = xyz
        end_points["seed_features"] = features
        xyz, features = self.vgen(xyz, features)
        features_norm = torch.norm(features, p=2, dim=1)
        features = features.div(features_norm.unsqueeze(1))
        end_points["vote_xyz"] = xyz
        end_points["vote_features"] = features

        # --------- PROPOSALS ---------
        if self.sampling == "vote_fps":
            xyz, features, fps_inds = self.vote_aggregation(xyz, features)
        elif self.sampling == "random":
            sample_inds = torch.randint(0, xyz.shape[1], (xyz.shape[0], self.num_proposal), device=xyz.device)
            xyz, features, fps_inds = self.vote_aggregation(xyz, features, sample_inds)
        end_points["aggregated_vote_xyz"] = xyz
        end_points["aggregated_vote_inds"] = fps_inds
        return self.decode_scores(self.pnet(features), end_points)

    def decode_scores(self, net, end_points):
        net = net.transpose(2, 1)  # (batch_size, num_proposal, ...)
        objectness, center, heading, heading_res, size, size_res, sem_cls = net.split(
            [
                2,
                3,
                self.num_heading_bin,
                self.num_heading_bin,
                self.num_size_cluster,
                self.num_size_cluster * 3,
                self.num_class,
            ],
            dim=-1,
        )
        end_points["objectness_scores"] = objectness
        end_points["center"] = end_points["aggregated_vote_xyz"] + center
        end_points["heading_scores"] = heading
        end_points["heading_residuals"] = heading_res * (np.pi / self.num_heading_bin)
        end_points["size_scores"] = size
        size_res = size_res.unflatten(-1, (self.num_size_cluster, 3))
        mean_sizes = torch.from_numpy(self.mean_size_arr.astype(np.float32)).to(net.device)
        end_points["size_residuals"] = size_res * mean_sizes.unsqueeze(0).unsqueeze(0)
        end_points["sem_cls_scores"] = sem_cls
        return end_points


# physics: keys of variables


class Key:
    """Class describing keys used for graph unroll: a variable's name, size and the derivatives taken of it."""

    def __init__(self, name, size=1, derivatives=(), scale=(0.0, 1.0)):
        self.name = name
        self.size = size
        self.derivatives = derivatives
        self.scale = scale

    @classmethod
    def from_str(cls, name):
        split = name.split("__")
        return cls(split[0], derivatives=[Key(s) for s in split[1:]])

    @classmethod
    def convert_list(cls, ls):
        return [key if isinstance(key, cls) else cls.from_str(key) for key in ls]

    def __str__(self):
        return "__".join([self.name, *[str(x) for x in self.derivatives]])


class WeightNormLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        self.weight_g = nn.Parameter(torch.ones(out_features, 1))
        self.bias = nn.Parameter(torch.zeros(out_features))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x):
        norm = self.weight.norm(dim=1, p=2, keepdim=True)
        return F.linear(x, self.weight_g * self.weight / norm, self.bias)


class Arch(nn.Module):
    """Base class for all neural networks"""

    def __init__(self, input_keys, output_keys, detach_keys=[], periodicity=None):
        super().__init__()
        self.input_keys = input_keys
        self.output_keys = output_keys
        self.periodicity = periodicity
        self.detach_keys = detach_keys
        self.input_key_dict = {str(var): var.size for var in input_keys}
        self.output_key_dict = {str(var): var.size for var in output_keys}
        self.input_scales = {str(k): k.scale for k in self.input_keys}
        self.output_scales = {str(k): k.scale for k in self.output_keys}

    def prepare_input(self, in_vars: dict[str, Tensor], mask: dict, dim: int):
        x = [in_vars[key] for key in mask]
        x = [(v - self.input_scales[key][0]) / self.input_scales[key][1] for key, v in zip(mask, x)]
        return torch.cat(x, dim=dim)

    def prepare_output(self, y: Tensor, dim: int):
        sizes = list(self.output_key_dict.values())
        out = dict(zip(self.output_key_dict, torch.split(y, sizes, dim=dim)))
        return {k: v * self.output_scales[k][1] + self.output_scales[k][0] for k, v in out.items()}


class FullyConnectedArch(Arch):
    """Fully Connected Neural Network.

    Parameters
    ----------
    input_keys : List[Key]
        Input key list.
    output_keys : List[Key]
        Output key list.
    layer_size : int, optional
        Layer size for every hidden layer of the model, by default 512
    nr_layers : int, optional
        Number of hidden layers of the model, by default 6
    adaptive_activations : bool, optional
        Use an adaptive activation functions, by default False

    Variable Shape
    --------------
    - Input variable tensor shape: :math:`[N, size]`
    - Output variable tensor shape: :math:`[N, size]`
    """

    def __init__(
        self,
        input_keys: list[Key],
        output_keys: list[Key],
        detach_keys: list[Key] = [],
        layer_size: int = 512,
        nr_layers: int = 6,
        skip_connections: bool = False,
        activation_fn=F.silu,
        adaptive_activations: bool = False,
        periodicity: dict[str, tuple[float, float]] | None = None,
        weight_norm: bool = True,
    ) -> None:
        super().__init__(input_keys, output_keys, detach_keys, periodicity)
        if self.periodicity is not None:
            in_features = sum([x.size for x in self.input_keys if x.name not in periodicity])
            in_features += sum([2 * x.size for x in self.input_keys if x.name in periodicity])
        else:
            in_features = sum(self.input_key_dict.values())
        out_features = sum(self.output_key_dict.values())
        linear = WeightNormLinear if weight_norm else nn.Linear
        self.activation_fn = activation_fn
        self.skip_connections = skip_connections
        self.activation_par = nn.Parameter(torch.ones(1)) if adaptive_activations else None
        self.layers = nn.ModuleList()
        for i in range(nr_layers):
            self.layers.append(linear(in_features if i == 0 else layer_size, layer_size))
        self.final_layer = nn.Linear(layer_size, out_features)

    def _tensor_forward(self, x: Tensor) -> Tensor:
        x_skip = None
        for i, layer in enumerate(self.layers):
            x = layer(x)
            x = self.activation_fn(x if self.activation_par is None else self.activation_par * x)
            if self.skip_connections and i % 2 == 0:
                if x_skip is not None:
                    x, x_skip = x + x_skip, x
                else:
                    x_skip = x
        return self.final_layer(x)

    def forward(self, in_vars: dict[str, Tensor]) -> dict[str, Tensor]:
        if self.periodicity is not None:
            in_vars = dict(in_vars)
            for key, (low, high) in self.periodicity.items():
                phase = 2.0 * math.pi * (in_vars[key] - low) / (high - low)
                in_vars[key] = torch.cat([phase.sin(), phase.cos()], dim=-1)
        x = self.prepare_input(in_vars, mask=self.input_key_dict, dim=-1)
        for detached in self.detach_keys:
            assert str(detached) in self.input_key_dict
        y = self._tensor_forward(x)
        return self.prepare_output(y, dim=-1)


# music from descriptions


@dataclass
class ConditioningAttributes:
    text: dict[str, str | None] = field(default_factory=dict)
    wav: dict[str, Tensor] = field(default_factory=dict)

    @property
    def text_attributes(self):
        return self.text.keys()


class LUTConditioner(nn.Module):
    """Lookup table text conditioner: words are hashed into a table."""

    def __init__(self, n_bins: int, dim: int, output_dim: int, pad_idx: int = 0):
        super().__init__()
        self.embed = nn.Embedding(n_bins, dim)
        self.output_proj = nn.Linear(dim, output_dim)
        self.n_bins = n_bins
        self.pad_idx = pad_idx

    def tokenize(self, texts):
        words = [(text or "").lower().split() for text in texts]
        longest = max(1, *[len(w) for w in words])
        tokens = torch.full((len(words), longest), self.pad_idx)
        for i, sentence in enumerate(words):
            for j, word in enumerate(sentence):
                tokens[i, j] = 1 + sum(ord(c) * (k + 1) for k, c in enumerate(word)) % (self.n_bins - 1)
        return tokens.to(self.embed.weight.device)

    def forward(self, tokens):
        mask = tokens != self.pad_idx
        return self.output_proj(self.embed(tokens)) * mask.unsqueeze(-1), mask


class ConditioningProvider(nn.Module):
    def __init__(self, conditioners: dict[str, nn.Module]):
        super().__init__()
        self.conditioners = nn.ModuleDict(conditioners)

    def tokenize(self, inputs: list[ConditioningAttributes]):
        assert all(isinstance(x, ConditioningAttributes) for x in inputs), "Got unexpected types input for conditioner!"
        return {
            name: conditioner.tokenize([x.text.get(name) for x in inputs])
            for name, conditioner in self.conditioners.items()
        }

    def forward(self, tokenized: dict[str, Tensor]):
        return {name: self.conditioners[name](tokens) for name, tokens in tokenized.items()}


class ConditionFuser(nn.Module):
    FUSING_METHODS = ["sum", "prepend", "cross"]

    def __init__(self, fuse2cond: dict[str, list[str]]):
        super().__init__()
        assert all(k in self.FUSING_METHODS for k in fuse2cond), (
            f"Got invalid fuse method, allowed: {self.FUSING_METHODS}"
        )
        self.fuse2cond = fuse2cond
        self.cond2fuse = {cond: method for method, conds in fuse2cond.items() for cond in conds}

    def forward(self, input, conditions):
        assert set(conditions.keys()).issubset(self.cond2fuse), "given conditions contain unknown attributes for fuser"
        cross_attention_output = None
        for cond_type, (cond, _) in conditions.items():
            op = self.cond2fuse[cond_type]
            if op == "sum":
                input = input + cond.mean(1, keepdim=True)
            elif op == "prepend":
                input = torch.cat([cond, input], dim=1)
            elif cross_attention_output is not None:
                cross_attention_output = torch.cat([cross_attention_output, cond], dim=1)
            else:
                cross_attention_output = cond
        return input, cross_attention_output


class StreamingTransformerLayer(nn.Module):
    def __init__(self, d_model, num_heads, dim_feedforward, cross_attention=False):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
        self.norm1 = nn.LayerNorm(d_model)
        self.cross_attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True) if cross_attention else None
        self.norm_cross = nn.LayerNorm(d_model) if cross_attention else None
        self.linear1 = nn.Linear(d_model, dim_feedforward, bias=False)
        self.linear2 = nn.Linear(dim_feedforward, d_model, bias=False)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, cross_attention_src=None):
        T = x.shape[1]
        y = self.norm1(x)
        causal = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        x = x + self.self_attn(y, y, y, attn_mask=causal, need_weights=False)[0]
        if self.cross_attention is not None and cross_attention_src is not None:
            y = self.norm_cross(x)
            x = x + self.cross_attention(y, cross_attention_src, cross_attention_src, need_weights=False)[0]
        return x + self.linear2(F.gelu(self.linear1(self.norm2(x))))


class LMModel(nn.Module):
    """Transformer-based language model on multiple streams of codes.

    Args:
        condition_provider (ConditioningProvider): Conditioning provider from metadata.
        fuser (ConditionFuser): Fuser handling the fusing of conditions with language model input.
        n_q (int): Number of parallel streams to model.
        card (int): Cardinality, vocabulary size.
        dim (int): Dimension of the transformer encoder.
        num_heads (int): Number of heads for the transformer encoder.
    """

    def __init__(
        self,
        condition_provider: ConditioningProvider,
        fuser: ConditionFuser,
        n_q: int = 8,
        card: int = 1024,
        dim: int = 128,
        num_heads: int = 8,
        hidden_scale: int = 4,
        num_layers: int = 4,
        norm: str = "layer_norm",
        emb_lr: float | None = None,
        bias_proj: bool = True,
    ):
        super().__init__()
        self.condition_provider = condition_provider
        self.fuser = fuser
        self.card = card
        embed_dim = self.card + 1
        self.n_q = n_q
        self.dim = dim
        self.emb = nn.ModuleList([nn.Embedding(embed_dim, dim) for _ in range(n_q)])
        cross = len(fuser.fuse2cond.get("cross", [])) > 0
        self.transformer = nn.ModuleList(
            [
                StreamingTransformerLayer(dim, num_heads, int(hidden_scale * dim), cross_attention=cross)
                for _ in range(num_layers)
            ]
        )
        self.out_norm = nn.LayerNorm(dim, eps=1e-5) if norm else None
        self.linears = nn.ModuleList([nn.Linear(dim, self.card, bias=bias_proj) for _ in range(n_q)])

    @property
    def special_token_id(self) -> int:
        return self.card

    @property
    def num_codebooks(self) -> int:
        return self.n_q

    def create_sin_embedding(self, positions, max_period=10000):
        half_dim = self.dim // 2
        adim = torch.arange(half_dim, device=positions.device).view(1, 1, -1)
        phase = positions / (max_period ** (adim / (half_dim - 1)))
        return torch.cat([torch.cos(phase), torch.sin(phase)], dim=-1)

    def forward(
        self,
        sequence: Tensor,
        conditions: list[ConditioningAttributes],
        condition_tensors: dict[str, tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """Apply language model on sequence and conditions.

        Given a tensor of sequence of shape [B, K, S] with K the number of codebooks and
        S the sequence steps, return the logits with shape [B, K, S, card].
        """
        _, K, S = sequence.shape
        assert K == self.num_codebooks, "Sequence shape must match the specified number of codebooks"
        input_ = sum([self.emb[k](sequence[:, k]) for k in range(K)])
        if condition_tensors is None:
            # apply dropout modules and encode conditions
            tokenized = self.condition_provider.tokenize(conditions)
            condition_tensors = self.condition_provider(tokenized)
        else:
            assert not conditions, "Shouldn't pass both conditions and condition_tensors."

        input_, cross_attention_input = self.fuser(input_, condition_tensors)
        positions = torch.arange(input_.shape[1], device=input_.device).view(1, -1, 1)
        out = input_ + self.create_sin_embedding(positions.to(input_.dtype))
        for layer in self.transformer:
            out = layer(out, cross_attention_src=cross_attention_input)
        if self.out_norm:
            out = self.out_norm(out)
        logits = torch.stack([self.linears[k](out) for k in range(K)], dim=1)  # [B, K, S, card]

        # remove the prefix from the model outputs
        if len(self.fuser.fuse2cond.get("prepend", [])) > 0:
            logits = logits[:, :, -S:]
        return logits


# tracking by points


class Residual(nn.Module):
    def __init__(self, inp_dim, out_dim, stride=1):
        super().__init__()
        self.conv1 = nn.Sequential(
            nn.Conv2d(inp_dim, out_dim, 3, padding=1, stride=stride, bias=False),
            nn.BatchNorm2d(out_dim, momentum=0.1),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_dim, out_dim, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_dim, momentum=0.1),
        )
        self.skip = (
            nn.Sequential(nn.Conv2d(inp_dim, out_dim, 1, stride=stride, bias=False), nn.BatchNorm2d(out_dim))
            if stride != 1 or inp_dim != out_dim
            else nn.Sequential()
        )

    def forward(self, x):
        return F.relu(self.conv1(x) + self.skip(x))


def fill_fc_weights(layers):
    for m in layers.modules():
        if isinstance(m, nn.Conv2d) and m.bias is not None:
            nn.init.constant_(m.bias, 0)


class BaseModel(nn.Module):
    def __init__(self, heads, head_convs, num_stacks, last_channel, opt=None):
        super().__init__()
        head_kernel = 3 if opt is None else opt.head_kernel
        self.num_stacks = num_stacks
        self.heads = heads
        for head in self.heads:
            classes = self.heads[head]
            head_conv = head_convs[head]
            if len(head_conv) > 0:
                out = nn.Conv2d(head_conv[-1], classes, kernel_size=1, stride=1, padding=0, bias=True)
                convs = [nn.Conv2d(last_channel, head_conv[0], head_kernel, padding=head_kernel // 2, bias=True)]
                for k in range(1, len(head_conv)):
                    convs.append(nn.Conv2d(head_conv[k - 1], head_conv[k], kernel_size=1, bias=True))
                layers = []
                for conv in convs:
                    layers += [conv, nn.ReLU(inplace=True)]
                fc = nn.Sequential(*layers, out)
            else:
                fc = nn.Sequential(nn.Conv2d(last_channel, classes, kernel_size=1, stride=1, padding=0, bias=True))
            if "hm" in head:
                fc[-1].bias.data.fill_(opt.prior_bias)
            else:
                fill_fc_weights(fc)
            self.__setattr__(head, fc)

    def imgpre2feats(self, x, pre_img=None, pre_hm=None):
        raise NotImplementedError

    def forward(self, x, pre_img=None, pre_hm=None):
        if (pre_hm is not None) or (pre_img is not None):
            feats = self.imgpre2feats(x, pre_img, pre_hm)
        else:
            feats = self.imgpre2feats(x)
        out = []
        for s in range(self.num_stacks):
            z = {}
            for head in self.heads:
                z[head] = self.__getattr__(head)(feats[s])
            out.append(z)
        return out


class TrackingNetwork(BaseModel):
    def __init__(self, num_layers, heads, head_convs, opt):
        super().__init__(heads, head_convs, 1, 64, opt=opt)
        self.opt = opt
        channels = {18: [16, 32, 64, 128], 34: [16, 32, 64, 256]}[num_layers]
        self.base_layer = self._stem(3, channels[0])
        if opt.pre_img:
            self.pre_img_layer = self._stem(3, channels[0])
        if opt.pre_hm:
            self.pre_hm_layer = self._stem(1, channels[0])
        self.levels = nn.ModuleList(
            [Residual(channels[i], channels[i + 1], stride=2) for i in range(len(channels) - 1)]
        )
        self.ups = nn.ModuleList(
            [
                nn.ConvTranspose2d(c, 64, 2 ** max(i, 1), stride=2**i) if i else nn.Conv2d(c, 64, 1)
                for i, c in enumerate(channels[2:])
            ]
        )

    def _stem(self, inp, out):
        return nn.Sequential(
            nn.Conv2d(inp, out, kernel_size=7, stride=1, padding=3, bias=False),
            nn.BatchNorm2d(out, momentum=0.1),
            nn.ReLU(inplace=True),
        )

    def img2feats(self, x):
        return self.imgpre2feats(x)

    def imgpre2feats(self, x, pre_img=None, pre_hm=None):
        x = self.base_layer(x)
        if pre_img is not None:
            x = x + self.pre_img_layer(pre_img)
        if pre_hm is not None:
            x = x + self.pre_hm_layer(pre_hm)
        y = []
        for level in self.levels:
            x = level(x)
            y.append(x)
        return [sum(up(f) for up, f in zip(self.ups, y[1:]))]


# a competition: reactivity of RNA


class CFG:
    dim = 192
    depth = 4
    head_size = 32
    max_len = 206
    n_types = 4
    use_bpp = True
    drop_path = 0.1


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim=16, M=10000):
        super().__init__()
        self.dim = dim
        self.M = M

    def forward(self, x):
        half_dim = self.dim // 2
        emb = math.log(self.M) / half_dim
        emb = torch.exp(torch.arange(half_dim, device=x.device) * (-emb))
        emb = x[..., None] * emb[None, ...]
        return torch.cat((emb.sin(), emb.cos()), dim=-1)


class DropPath(nn.Module):
    def __init__(self, drop_prob: float = 0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        if self.drop_prob == 0.0 or not self.training:
            return x
        keep = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(1 - self.drop_prob)
        return x * keep / (1 - self.drop_prob)


class BiasedBlock(nn.Module):
    def __init__(self, dim, num_heads, drop_path):
        super().__init__()
        self.num_heads = num_heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.gamma = nn.Parameter(torch.ones(num_heads))
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.drop_path = DropPath(drop_path)

    def attn(self, x, bias, key_padding_mask):
        B, L, C = x.shape
        q, k, v = self.qkv(x).view(B, L, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        a = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if bias is not None:
            a = a + self.gamma[None, :, None, None] * bias[:, None]
        a = a.masked_fill(key_padding_mask[:, None, None], torch.finfo(a.dtype).min).softmax(-1)
        return self.proj((a @ v).transpose(1, 2).reshape(B, L, C))

    def forward(self, x, bias, key_padding_mask):
        x = x + self.drop_path(self.attn(self.norm1(x), bias, key_padding_mask))
        return x + self.drop_path(self.mlp(self.norm2(x)))


class RibonanzaNet(nn.Module):
    def __init__(self, cfg=CFG, **kwargs):
        super().__init__()
        dim = cfg.dim
        self.cfg = cfg
        self.emb = nn.Embedding(cfg.n_types, dim)
        self.pos_enc = SinusoidalPosEmb(dim)
        self.conv = nn.Conv1d(dim, dim, 5, padding=2)
        dpr = np.linspace(0, cfg.drop_path, cfg.depth)
        self.blocks = nn.ModuleList([BiasedBlock(dim, dim // cfg.head_size, float(dpr[i])) for i in range(cfg.depth)])
        self.proj_out = nn.Linear(dim, 2)

    def forward(self, x0):
        mask = x0["mask"]
        Lmax = mask.sum(-1).max()
        mask = mask[:, :Lmax]
        x = x0["seq"][:, :Lmax]
        bpp = x0["bpp"][:, :Lmax, :Lmax] if self.cfg.use_bpp else None

        pos = torch.arange(Lmax, device=x.device).unsqueeze(0)
        pos = self.pos_enc(pos)
        x = self.emb(x)
        x = x + pos
        x = x + self.conv((x * mask.unsqueeze(-1)).transpose(1, 2)).transpose(1, 2)
        for block in self.blocks:
            x = block(x, bpp, ~mask)
        x = self.proj_out(x)
        return F.pad(x, (0, 0, 0, self.cfg.max_len - x.shape[1]))
