"""Hard: space and fields: point clouds on the road, radiance, noise taken away, meshes that flow.

Long because it is a list of models.
"""

from __future__ import annotations

import enum
import math
from abc import abstractmethod

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["DenoisingUNet", "MeshSimulator", "PillarDetector", "RadianceSystem"]


# ---------------------------------------------------------------- lidar


class EasyDict(dict):
    def __init__(self, d=None, **kwargs):
        super().__init__()
        for k, v in {**(d or {}), **kwargs}.items():
            self[k] = EasyDict(v) if isinstance(v, dict) else v

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(name) from e


class PFNLayer(nn.Module):
    def __init__(self, in_channels, out_channels, use_norm=True, last_layer=False):
        super().__init__()
        self.last_layer = last_layer
        width = out_channels if last_layer else out_channels // 2
        self.linear = nn.Linear(in_channels, width, bias=not use_norm)
        self.norm = nn.BatchNorm1d(width, eps=1e-3, momentum=0.01) if use_norm else None

    def forward(self, inputs):
        x = self.linear(inputs)
        if self.norm is not None:
            x = self.norm(x.transpose(1, 2)).transpose(1, 2)
        x = F.relu(x)
        x_max = x.max(dim=1, keepdim=True).values
        return x_max if self.last_layer else torch.cat([x, x_max.expand_as(x)], dim=2)


class PillarVFE(nn.Module):
    def __init__(self, model_cfg, num_point_features, voxel_size, point_cloud_range, **kwargs):
        super().__init__()
        self.model_cfg = model_cfg
        self.use_absolute_xyz = model_cfg.USE_ABSLOTE_XYZ
        dims = [num_point_features + (6 if self.use_absolute_xyz else 3), *model_cfg.NUM_FILTERS]
        self.pfn_layers = nn.ModuleList(
            [
                PFNLayer(a, b, model_cfg.USE_NORM, last_layer=i == len(dims) - 2)
                for i, (a, b) in enumerate(zip(dims[:-1], dims[1:]))
            ]
        )
        size, low = torch.tensor(voxel_size).float(), torch.tensor(point_cloud_range[:3]).float()
        self.register_buffer("voxel_size", size, persistent=False)
        self.register_buffer("offset", low + size / 2, persistent=False)

    def get_output_feature_dim(self):
        return self.model_cfg.NUM_FILTERS[-1]

    def forward(self, batch_dict, **kwargs):
        points, num_points, coords = batch_dict["voxels"], batch_dict["voxel_num_points"], batch_dict["voxel_coords"]
        xyz = points[:, :, :3]
        mean = xyz.sum(dim=1, keepdim=True) / num_points.to(points).view(-1, 1, 1)
        # coords are (batch, z, y, x)
        center = coords[:, [3, 2, 1]].to(points) * self.voxel_size + self.offset
        parts = [points if self.use_absolute_xyz else points[..., 3:], xyz - mean, xyz - center.unsqueeze(1)]
        features = torch.cat(parts, dim=-1)
        valid = torch.arange(features.shape[1], device=points.device)[None] < num_points[:, None]
        features = features * valid.unsqueeze(-1).to(features)
        for pfn in self.pfn_layers:
            features = pfn(features)
        batch_dict["pillar_features"] = features.squeeze(1)
        return batch_dict


class PointPillarScatter(nn.Module):
    def __init__(self, model_cfg, grid_size, **kwargs):
        super().__init__()
        self.num_bev_features = model_cfg.NUM_BEV_FEATURES
        self.nx, self.ny, self.nz = grid_size
        assert self.nz == 1

    def forward(self, batch_dict, **kwargs):
        pillar_features, coords = batch_dict["pillar_features"], batch_dict["voxel_coords"]
        batch_spatial_features = []
        batch_size = coords[:, 0].max().int().item() + 1
        for batch_idx in range(batch_size):
            spatial_feature = torch.zeros(
                self.num_bev_features, self.nz * self.nx * self.ny, dtype=pillar_features.dtype
            )
            batch_mask = coords[:, 0] == batch_idx
            this_coords = coords[batch_mask, :]
            indices = this_coords[:, 1] + this_coords[:, 2] * self.nx + this_coords[:, 3]
            spatial_feature[:, indices.long()] = pillar_features[batch_mask, :].t()
            batch_spatial_features.append(spatial_feature)
        out = torch.stack(batch_spatial_features, 0)
        batch_dict["spatial_features"] = out.view(batch_size, self.num_bev_features * self.nz, self.ny, self.nx)
        return batch_dict


class BaseBEVBackbone(nn.Module):
    def __init__(self, model_cfg, input_channels):
        super().__init__()
        num_levels = len(model_cfg.LAYER_NUMS)
        c_in_list = [input_channels, *model_cfg.NUM_FILTERS[:-1]]
        self.blocks, self.deblocks = nn.ModuleList(), nn.ModuleList()
        for idx in range(num_levels):
            c_out = model_cfg.NUM_FILTERS[idx]
            cur_layers = []
            for k in range(model_cfg.LAYER_NUMS[idx] + 1):
                cin, stride = (c_in_list[idx], model_cfg.LAYER_STRIDES[idx]) if k == 0 else (c_out, 1)
                cur_layers += [
                    nn.Conv2d(cin, c_out, 3, stride, 1, bias=False),
                    nn.BatchNorm2d(c_out, eps=1e-3),
                    nn.ReLU(),
                ]
            self.blocks.append(nn.Sequential(*cur_layers))
            s, up = model_cfg.UPSAMPLE_STRIDES[idx], model_cfg.NUM_UPSAMPLE_FILTERS[idx]
            self.deblocks.append(
                nn.Sequential(nn.ConvTranspose2d(c_out, up, s, stride=s, bias=False), nn.BatchNorm2d(up), nn.ReLU())
            )
        self.num_bev_features = sum(model_cfg.NUM_UPSAMPLE_FILTERS)

    def forward(self, data_dict):
        x, ups = data_dict["spatial_features"], []
        for block, deblock in zip(self.blocks, self.deblocks):
            x = block(x)
            ups.append(deblock(x))
        data_dict["spatial_features_2d"] = torch.cat(ups, dim=1)
        return data_dict


class AnchorHeadSingle(nn.Module):
    def __init__(self, model_cfg, input_channels, num_class, **kwargs):
        super().__init__()
        self.num_anchors = sum(len(c.anchor_rotations) for c in model_cfg.ANCHOR_GENERATOR_CONFIG)
        self.num_class = num_class
        self.conv_cls = nn.Conv2d(input_channels, self.num_anchors * num_class, kernel_size=1)
        self.conv_box = nn.Conv2d(input_channels, self.num_anchors * 7, kernel_size=1)
        self.conv_dir_cls = None
        if model_cfg.get("USE_DIRECTION_CLASSIFIER", None) is not None:
            self.conv_dir_cls = nn.Conv2d(input_channels, self.num_anchors * model_cfg.NUM_DIR_BINS, kernel_size=1)
        nn.init.constant_(self.conv_cls.bias, -np.log((1 - 0.01) / 0.01))

    def forward(self, data_dict):
        x = data_dict["spatial_features_2d"]
        data_dict["batch_cls_preds"] = self.conv_cls(x).permute(0, 2, 3, 1).flatten(1, 2)
        data_dict["batch_box_preds"] = self.conv_box(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 7)
        if self.conv_dir_cls is not None:
            data_dict["dir_cls_preds"] = self.conv_dir_cls(x).permute(0, 2, 3, 1)
        return data_dict


class PillarDetector(nn.Module):
    def __init__(self, model_cfg, num_class, dataset):
        super().__init__()
        self.model_cfg = model_cfg
        self.num_class = num_class
        self.dataset = dataset
        self.class_names = dataset.class_names
        self.register_buffer("global_step", torch.LongTensor(1).zero_())
        self.module_list = self.build_networks()

    @property
    def mode(self):
        return "TRAIN" if self.training else "TEST"

    def build_networks(self):
        vfe = PillarVFE(
            self.model_cfg.VFE,
            num_point_features=self.dataset.num_point_features,
            voxel_size=self.dataset.voxel_size,
            point_cloud_range=self.dataset.point_cloud_range,
        )
        scatter = PointPillarScatter(self.model_cfg.MAP_TO_BEV, grid_size=self.dataset.grid_size)
        backbone = BaseBEVBackbone(self.model_cfg.BACKBONE_2D, scatter.num_bev_features)
        head = AnchorHeadSingle(self.model_cfg.DENSE_HEAD, backbone.num_bev_features, self.num_class)
        for name, module in zip(
            ("vfe", "map_to_bev_module", "backbone_2d", "dense_head"), (vfe, scatter, backbone, head)
        ):
            self.add_module(name, module)
        return [vfe, scatter, backbone, head]

    def forward(self, batch_dict):
        for cur_module in self.module_list:
            batch_dict = cur_module(batch_dict)
        return {k: batch_dict[k] for k in ("batch_cls_preds", "batch_box_preds", "dir_cls_preds") if k in batch_dict}


POINTPILLAR = EasyDict(
    VFE={"USE_NORM": True, "USE_ABSLOTE_XYZ": True, "NUM_FILTERS": [32]},
    MAP_TO_BEV={"NUM_BEV_FEATURES": 32},
    BACKBONE_2D={
        "LAYER_NUMS": [1, 2],
        "LAYER_STRIDES": [2, 2],
        "NUM_FILTERS": [32, 64],
        "UPSAMPLE_STRIDES": [1, 2],
        "NUM_UPSAMPLE_FILTERS": [32, 32],
    },
    DENSE_HEAD={
        "USE_DIRECTION_CLASSIFIER": True,
        "NUM_DIR_BINS": 2,
        "ANCHOR_GENERATOR_CONFIG": [EasyDict(class_name=n, anchor_rotations=[0, 1.57]) for n in ("Car", "Cyclist")],
    },
)
KITTI = EasyDict(
    class_names=["Car", "Cyclist"],
    num_point_features=4,
    voxel_size=[0.32, 0.32, 4],
    point_cloud_range=[0, -10.24, -3, 20.48, 10.24, 1],
    grid_size=[64, 64, 1],
)


# ---------------------------------------------------------------- radiance


class Embedding(nn.Module):
    """x and its sines and cosines at N_freqs octaves"""

    def __init__(self, in_channels, N_freqs, logscale=True):
        super().__init__()
        self.out_channels = in_channels * (2 * N_freqs + 1)
        octaves = torch.linspace(0, N_freqs - 1, N_freqs)
        self.freq_bands = 2**octaves if logscale else torch.linspace(1, 2 ** (N_freqs - 1), N_freqs)

    def forward(self, x):
        scaled = x.unsqueeze(-2) * self.freq_bands.to(x).unsqueeze(-1)
        return torch.cat([x, scaled.sin().flatten(-2), scaled.cos().flatten(-2)], -1)


class NeRF(nn.Module):
    def __init__(self, D=8, W=256, in_channels_xyz=63, in_channels_dir=27, skips=[4]):
        super().__init__()
        self.in_channels_xyz, self.in_channels_dir, self.skips = in_channels_xyz, in_channels_dir, skips
        dims = [in_channels_xyz] + [W + in_channels_xyz if i in skips else W for i in range(1, D)]
        self.pts_linears = nn.ModuleList([nn.Linear(d, W) for d in dims])
        self.feature_linear = nn.Linear(W, W)
        self.views_linear = nn.Linear(W + in_channels_dir, W // 2)
        self.alpha_linear = nn.Linear(W, 1)
        self.rgb_linear = nn.Linear(W // 2, 3)

    def forward(self, x, sigma_only=False):
        xyz, views = torch.split(x, [self.in_channels_xyz, self.in_channels_dir], dim=-1)
        h = xyz
        for i, l in enumerate(self.pts_linears):
            h = F.relu(l(torch.cat([xyz, h], -1) if i in self.skips else h))
        sigma = self.alpha_linear(h)
        if sigma_only:
            return sigma
        h = F.relu(self.views_linear(torch.cat([self.feature_linear(h), views], -1)))
        return torch.cat([torch.sigmoid(self.rgb_linear(h)), sigma], -1)


def sample_pdf(bins, weights, N_importance, det=False, eps=1e-5):
    pdf = F.normalize(weights + eps, p=1, dim=-1)
    cdf = F.pad(pdf.cumsum(-1), (1, 0))
    shape = (bins.shape[0], N_importance)
    u = (
        torch.linspace(0, 1, N_importance, device=bins.device).expand(shape)
        if det
        else torch.rand(shape, device=bins.device)
    )
    above = torch.searchsorted(cdf, u.contiguous(), right=True).clamp(1, cdf.shape[-1] - 1)
    c0, c1 = cdf.gather(1, above - 1), cdf.gather(1, above)
    b0, b1 = bins.gather(1, above - 1), bins.gather(1, above)
    return b0 + (u - c0) / (c1 - c0).clamp(min=eps) * (b1 - b0)


class RadianceSystem(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams
        self.embedding_xyz = Embedding(3, hparams.N_emb_xyz)
        self.embedding_dir = Embedding(3, hparams.N_emb_dir)
        kw = dict(in_channels_xyz=self.embedding_xyz.out_channels, in_channels_dir=self.embedding_dir.out_channels)
        self.nerf_coarse = NeRF(**kw)
        self.models = [self.nerf_coarse]
        if hparams.N_importance > 0:
            self.nerf_fine = NeRF(**kw)
            self.models += [self.nerf_fine]

    def inference(self, model, xyz_, dir_, dir_embedded, z_vals):
        N_rays, N_samples_ = xyz_.shape[:2]
        dir_embedded = torch.repeat_interleave(dir_embedded, repeats=N_samples_, dim=0)
        out_chunks = []
        xyz_ = xyz_.reshape(-1, 3)
        for i in range(0, xyz_.shape[0], self.hparams.chunk):
            xyz_embedded = self.embedding_xyz(xyz_[i : i + self.hparams.chunk])
            out_chunks += [model(torch.cat([xyz_embedded, dir_embedded[i : i + self.hparams.chunk]], 1))]
        rgbsigma = torch.cat(out_chunks, 0).view(N_rays, N_samples_, 4)
        rgbs, sigmas = rgbsigma[..., :3], rgbsigma[..., 3]
        deltas = z_vals[:, 1:] - z_vals[:, :-1]
        deltas = torch.cat([deltas, 1e10 * torch.ones_like(deltas[:, :1])], -1) * torch.norm(dir_.unsqueeze(1), dim=-1)
        noise = torch.randn_like(sigmas) * self.hparams.noise_std if self.training else 0
        alphas = 1 - torch.exp(-deltas * torch.relu(sigmas + noise))
        alphas_shifted = torch.cat([torch.ones_like(alphas[:, :1]), 1 - alphas + 1e-10], -1)
        weights = alphas * torch.cumprod(alphas_shifted, -1)[:, :-1]
        rgb_final = torch.sum(weights.unsqueeze(-1) * rgbs, -2)
        depth_final = torch.sum(weights * z_vals, -1)
        if self.hparams.white_back:
            rgb_final = rgb_final + 1 - weights.sum(1, keepdim=True)
        return rgb_final, depth_final, weights

    def forward(self, rays):
        """rays: (N_rays, 8) origins, directions, near and far bounds"""
        N_rays = rays.shape[0]
        rays_o, rays_d = rays[:, 0:3], rays[:, 3:6]
        near, far = rays[:, 6:7], rays[:, 7:8]
        dir_embedded = self.embedding_dir(rays_d)
        z_steps = torch.linspace(0, 1, self.hparams.N_samples, device=rays.device)
        if not self.hparams.use_disp:
            z_vals = near * (1 - z_steps) + far * z_steps
        else:
            z_vals = 1 / (1 / near * (1 - z_steps) + 1 / far * z_steps)
        z_vals = z_vals.expand(N_rays, self.hparams.N_samples)
        xyz = rays_o.unsqueeze(1) + rays_d.unsqueeze(1) * z_vals.unsqueeze(2)
        rgb, depth, weights = self.inference(self.models[0], xyz, rays_d, dir_embedded, z_vals)
        result = {"rgb_coarse": rgb, "depth_coarse": depth, "opacity_coarse": weights.sum(1)}
        if self.hparams.N_importance > 0:
            z_mid = 0.5 * (z_vals[:, :-1] + z_vals[:, 1:])
            z_ = sample_pdf(z_mid, weights[:, 1:-1], self.hparams.N_importance, det=not self.training).detach()
            z_vals, _ = torch.sort(torch.cat([z_vals, z_], -1), -1)
            xyz = rays_o.unsqueeze(1) + rays_d.unsqueeze(1) * z_vals.unsqueeze(2)
            rgb, depth, weights = self.inference(self.models[1], xyz, rays_d, dir_embedded, z_vals)
            result.update(rgb_fine=rgb, depth_fine=depth, opacity_fine=weights.sum(1))
        return result


# ---------------------------------------------------------------- denoising


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32) / half).to(timesteps.device)
    args = timesteps[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


def zero_module(module):
    for p in module.parameters():
        p.detach().normal_(std=1e-3)
    return module


def conv_nd(dims, *args, **kwargs):
    if dims == 1:
        return nn.Conv1d(*args, **kwargs)
    if dims == 2:
        return nn.Conv2d(*args, **kwargs)
    if dims == 3:
        return nn.Conv3d(*args, **kwargs)
    raise ValueError(f"unsupported dimensions: {dims}")


def normalization(channels):
    return nn.GroupNorm(32, channels)


class TimestepBlock(nn.Module):
    """forward() also gets the embedding of the timestep."""

    @abstractmethod
    def forward(self, x, emb):
        pass


class TimestepEmbedSequential(nn.Sequential, TimestepBlock):
    def forward(self, x, emb, context=None):
        for layer in self:
            if isinstance(layer, TimestepBlock):
                x = layer(x, emb)
            elif isinstance(layer, SpatialCrossAttention):
                x = layer(x, context)
            else:
                x = layer(x)
        return x


class ResBlock(TimestepBlock):
    def __init__(self, channels, emb_channels, dropout, out_channels=None, use_scale_shift_norm=False, dims=2):
        super().__init__()
        self.out_channels = out_channels or channels
        self.use_scale_shift_norm = use_scale_shift_norm
        self.in_layers = nn.Sequential(
            normalization(channels), nn.SiLU(), conv_nd(dims, channels, self.out_channels, 3, padding=1)
        )
        n_emb = 2 * self.out_channels if use_scale_shift_norm else self.out_channels
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb_channels, n_emb))
        self.out_layers = nn.Sequential(
            normalization(self.out_channels),
            nn.SiLU(),
            nn.Dropout(p=dropout),
            zero_module(conv_nd(dims, self.out_channels, self.out_channels, 3, padding=1)),
        )
        self.skip_connection = (
            nn.Identity() if self.out_channels == channels else conv_nd(dims, channels, self.out_channels, 1)
        )

    def forward(self, x, emb):
        h = self.in_layers(x)
        emb_out = self.emb_layers(emb).type(h.dtype)
        while len(emb_out.shape) < len(h.shape):
            emb_out = emb_out[..., None]
        if self.use_scale_shift_norm:
            out_norm, out_rest = self.out_layers[0], self.out_layers[1:]
            scale, shift = torch.chunk(emb_out, 2, dim=1)
            h = out_rest(out_norm(h) * (1 + scale) + shift)
        else:
            h = self.out_layers(h + emb_out)
        return self.skip_connection(x) + h


class SpatialCrossAttention(nn.Module):
    def __init__(self, channels, num_heads=1, context_dim=None):
        super().__init__()
        self.norm = normalization(channels)
        self.attn1 = nn.MultiheadAttention(channels, num_heads, batch_first=True)
        self.attn2 = (
            nn.MultiheadAttention(channels, num_heads, kdim=context_dim, vdim=context_dim, batch_first=True)
            if context_dim
            else None
        )
        self.proj_out = zero_module(nn.Linear(channels, channels))

    def forward(self, x, context=None):
        b, c, *spatial = x.shape
        h = self.norm(x).reshape(b, c, -1).transpose(1, 2)
        h = h + self.attn1(h, h, h, need_weights=False)[0]
        if self.attn2 is not None:
            h = h + self.attn2(h, context, context, need_weights=False)[0]
        return x + self.proj_out(h).transpose(1, 2).reshape(b, c, *spatial)


class Downsample(nn.Module):
    def __init__(self, channels, dims=2):
        super().__init__()
        self.op = conv_nd(dims, channels, channels, 3, stride=2, padding=1)

    def forward(self, x):
        return self.op(x)


class Upsample(nn.Module):
    def __init__(self, channels, dims=2):
        super().__init__()
        self.channels = channels
        self.conv = conv_nd(dims, channels, channels, 3, padding=1)

    def forward(self, x):
        assert x.shape[1] == self.channels
        return self.conv(F.interpolate(x, scale_factor=2, mode="nearest"))


class DenoisingUNet(nn.Module):
    """
    UNet that knows the timestep, and a class or a context.

    :param attention_resolutions: factors of downsampling with attention, as set, list or tuple.
    :param channel_mult: widths by level, in units of model_channels.
    :param num_classes: None for a model without classes.
    :param context_dim: width of the tokens that cross-attention looks at.
    """

    def __init__(  # noqa: C901
        self,
        image_size,
        in_channels,
        model_channels,
        out_channels,
        num_res_blocks,
        attention_resolutions,
        dropout=0,
        channel_mult=(1, 2, 4),
        dims=2,
        num_classes=None,
        num_heads=4,
        use_scale_shift_norm=False,
        context_dim=None,
    ):
        super().__init__()
        self.image_size = image_size
        self.in_channels = in_channels
        self.model_channels = model_channels
        self.num_classes = num_classes
        self.context_dim = context_dim
        time_embed_dim = model_channels * 4
        self.time_embed = nn.Sequential(
            nn.Linear(model_channels, time_embed_dim), nn.SiLU(), nn.Linear(time_embed_dim, time_embed_dim)
        )
        if self.num_classes is not None:
            self.label_emb = nn.Embedding(num_classes, time_embed_dim)

        def res(cin, cout):
            return ResBlock(cin, time_embed_dim, dropout, cout, use_scale_shift_norm, dims)

        ch = int(channel_mult[0] * model_channels)
        self.input_blocks = nn.ModuleList([TimestepEmbedSequential(conv_nd(dims, in_channels, ch, 3, padding=1))])
        input_block_chans, ds = [ch], 1
        for level, mult in enumerate(channel_mult):
            for _ in range(num_res_blocks):
                layers = [res(ch, int(mult * model_channels))]
                ch = int(mult * model_channels)
                if ds in attention_resolutions:
                    layers.append(SpatialCrossAttention(ch, num_heads, context_dim))
                self.input_blocks.append(TimestepEmbedSequential(*layers))
                input_block_chans.append(ch)
            if level != len(channel_mult) - 1:
                self.input_blocks.append(TimestepEmbedSequential(Downsample(ch, dims)))
                input_block_chans.append(ch)
                ds *= 2
        self.middle_block = TimestepEmbedSequential(
            res(ch, ch), SpatialCrossAttention(ch, num_heads, context_dim), res(ch, ch)
        )
        self.output_blocks = nn.ModuleList([])
        for level, mult in list(enumerate(channel_mult))[::-1]:
            for i in range(num_res_blocks + 1):
                layers = [res(ch + input_block_chans.pop(), int(model_channels * mult))]
                ch = int(model_channels * mult)
                if ds in attention_resolutions:
                    layers.append(SpatialCrossAttention(ch, num_heads, context_dim))
                if level and i == num_res_blocks:
                    layers.append(Upsample(ch, dims))
                    ds //= 2
                self.output_blocks.append(TimestepEmbedSequential(*layers))
        self.out = nn.Sequential(
            normalization(ch), nn.SiLU(), zero_module(conv_nd(dims, ch, out_channels, 3, padding=1))
        )

    def forward(self, x, timesteps, context=None, y=None):
        """
        :param x: [N x C x ...]
        :param timesteps: [N]
        :param context: [N x L x context_dim]
        :param y: [N] labels
        """
        assert (y is not None) == (self.num_classes is not None), "y is for models with classes"
        hs = []
        emb = self.time_embed(timestep_embedding(timesteps, self.model_channels))
        if self.num_classes is not None:
            assert y.shape == (x.shape[0],)
            emb = emb + self.label_emb(y)
        h = x
        for module in self.input_blocks:
            h = module(h, emb, context)
            hs.append(h)
        h = self.middle_block(h, emb, context)
        for module in self.output_blocks:
            h = torch.cat([h, hs.pop()], dim=1)
            h = module(h, emb, context)
        return self.out(h)


def create_model(
    image_size, num_channels, num_res_blocks, channel_mult="", attention_resolutions="16,8", class_cond=False
):
    if channel_mult == "":
        channel_mult = {256: (1, 1, 2, 2, 4, 4), 64: (1, 2, 3, 4), 32: (1, 2, 2)}[image_size]
    else:
        channel_mult = tuple(int(ch_mult) for ch_mult in channel_mult.split(","))
    attention_ds = tuple(image_size // int(res) for res in attention_resolutions.split(","))
    return DenoisingUNet(
        image_size,
        3,
        num_channels,
        3,
        num_res_blocks,
        attention_ds,
        channel_mult=channel_mult,
        num_classes=1000 if class_cond else None,
    )


# ---------------------------------------------------------------- flows on meshes


class NodeType(enum.IntEnum):
    NORMAL = 0
    OBSTACLE = 1
    AIRFOIL = 2
    HANDLE = 3
    INFLOW = 4
    OUTFLOW = 5
    WALL_BOUNDARY = 6
    SIZE = 9


class Normalizer(nn.Module):
    """Mean and deviation of what it has seen so far."""

    def __init__(self, size, max_accumulations=10**6, std_epsilon=1e-8, name="Normalizer"):
        super().__init__()
        self.name = name
        self._max_accumulations = max_accumulations
        self._std_epsilon = torch.tensor(std_epsilon)
        self.register_buffer("_acc_count", torch.tensor(0.0))
        self.register_buffer("_num_accumulations", torch.tensor(0.0))
        self.register_buffer("_acc_sum", torch.zeros(1, size))
        self.register_buffer("_acc_sum_squared", torch.zeros(1, size))

    def forward(self, batched_data, accumulate=True):
        if accumulate and self._num_accumulations < self._max_accumulations:
            self._accumulate(batched_data.detach())
        return (batched_data - self._mean()) / self._std_with_epsilon()

    def inverse(self, normalized_batch_data):
        return normalized_batch_data * self._std_with_epsilon() + self._mean()

    def _accumulate(self, batched_data):
        self._acc_sum += torch.sum(batched_data, axis=0, keepdims=True)
        self._acc_sum_squared += torch.sum(batched_data**2, axis=0, keepdims=True)
        self._acc_count += batched_data.shape[0]
        self._num_accumulations += 1

    def _mean(self):
        return self._acc_sum / torch.clamp(self._acc_count, min=1.0)

    def _std_with_epsilon(self):
        var = self._acc_sum_squared / torch.clamp(self._acc_count, min=1.0) - self._mean() ** 2
        return torch.maximum(torch.sqrt(var.clamp(min=0)), self._std_epsilon + (self._acc_count == 0))


def build_mlp(in_size, hidden_size, out_size, lay_norm=True):
    module = nn.Sequential(
        nn.Linear(in_size, hidden_size),
        nn.ReLU(),
        nn.Linear(hidden_size, hidden_size),
        nn.ReLU(),
        nn.Linear(hidden_size, out_size),
    )
    if lay_norm:
        return nn.Sequential(module, nn.LayerNorm(normalized_shape=out_size))
    return module


class GnBlock(nn.Module):
    def __init__(self, hidden_size=128):
        super().__init__()
        self.eb_module = build_mlp(3 * hidden_size, hidden_size, hidden_size)
        self.nb_module = build_mlp(2 * hidden_size, hidden_size, hidden_size)

    def forward(self, x, edge_attr, edge_index):
        senders_idx, receivers_idx = edge_index
        edge_new = self.eb_module(torch.cat([x[senders_idx], x[receivers_idx], edge_attr], dim=1))
        agg = torch.zeros_like(x).index_add(0, receivers_idx, edge_new)
        node_new = self.nb_module(torch.cat([x, agg], dim=-1))
        return x + node_new, edge_attr + edge_new


class MeshSimulator(nn.Module):
    def __init__(self, message_passing_num, node_input_size, edge_input_size, hidden_size=128):
        super().__init__()
        self.node_input_size = node_input_size
        self.node_encoder = build_mlp(node_input_size, hidden_size, hidden_size)
        self.edge_encoder = build_mlp(edge_input_size, hidden_size, hidden_size)
        self.processer_list = nn.ModuleList([GnBlock(hidden_size) for _ in range(message_passing_num)])
        self.decoder = build_mlp(hidden_size, hidden_size, 2, lay_norm=False)
        self._output_normalizer = Normalizer(size=2, name="output_normalizer")
        self._node_normalizer = Normalizer(size=node_input_size, name="node_normalizer")
        self._edge_normalizer = Normalizer(size=edge_input_size, name="edge_normalizer")

    def forward(self, graph, velocity_sequence_noise=None):
        # graph.x: [N, 3] is node type and velocity; graph.pos: [N, 2]; graph.edge_index: [2, E]
        node_type = graph.x[:, 0].long()
        frames = graph.x[:, 1:3]
        if self.training and velocity_sequence_noise is not None:
            frames = frames + velocity_sequence_noise
        one_hot = F.one_hot(node_type, NodeType.SIZE)
        node_attr = self._node_normalizer(torch.cat([frames, one_hot.float()], dim=-1), self.training)
        senders, receivers = graph.edge_index
        rel = graph.pos[senders] - graph.pos[receivers]
        edge_attr = self._edge_normalizer(torch.cat([rel, rel.norm(dim=-1, keepdim=True)], dim=-1), self.training)
        x, e = self.node_encoder(node_attr), self.edge_encoder(edge_attr)
        for model in self.processer_list:
            x, e = model(x, e, graph.edge_index)
        predicted = self.decoder(x)
        if self.training:
            target_acceration_normalized = self._output_normalizer(graph.y - frames, self.training)
            return predicted, target_acceration_normalized
        return frames + self._output_normalizer.inverse(predicted)
