"""Hard: vision code of research repositories: detection, matching, flow, tracking and reading text.

Long because it is a list of models.
"""

from __future__ import annotations

import argparse
import copy
import math
from types import SimpleNamespace
from typing import List, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["FlowField", "PointMatcher", "RecognitionBuilder", "SetDetector", "SiameseModelBuilder"]


# ---------------------------------------------------------------- detection with queries


class NestedTensor:
    def __init__(self, tensors, mask: Optional[Tensor]):
        self.tensors = tensors
        self.mask = mask

    def to(self, device):
        mask = self.mask.to(device) if self.mask is not None else None
        return NestedTensor(self.tensors.to(device), mask)

    def decompose(self):
        return self.tensors, self.mask


def nested_tensor_from_tensor_list(tensor_list: List[Tensor]):
    if tensor_list[0].ndim != 3:
        raise ValueError("expected a list of C x H x W images")
    max_size = [max(s) for s in zip(*[list(img.shape) for img in tensor_list])]
    tensor = torch.zeros(len(tensor_list), *max_size, dtype=tensor_list[0].dtype)
    mask = torch.ones(len(tensor_list), *max_size[1:], dtype=torch.bool)
    for img, pad_img, m in zip(tensor_list, tensor, mask):
        pad_img[: img.shape[0], : img.shape[1], : img.shape[2]].copy_(img)
        m[: img.shape[1], : img.shape[2]] = False
    return NestedTensor(tensor, mask)


class PositionEmbeddingSine(nn.Module):
    def __init__(self, num_pos_feats=64, temperature=10000):
        super().__init__()
        self.num_pos_feats = num_pos_feats
        self.temperature = temperature

    def forward(self, mask):
        not_mask = ~mask
        eps = 1e-6
        y_embed = not_mask.cumsum(1, dtype=torch.float32)
        x_embed = not_mask.cumsum(2, dtype=torch.float32)
        y_embed = y_embed / (y_embed[:, -1:, :] + eps) * 2 * math.pi
        x_embed = x_embed / (x_embed[:, :, -1:] + eps) * 2 * math.pi
        dim_t = torch.arange(self.num_pos_feats, dtype=torch.float32, device=mask.device)
        dim_t = self.temperature ** (2 * (dim_t // 2) / self.num_pos_feats)
        pos_x = x_embed[..., None] / dim_t
        pos_y = y_embed[..., None] / dim_t
        pos_x = torch.stack((pos_x[..., 0::2].sin(), pos_x[..., 1::2].cos()), dim=4).flatten(3)
        pos_y = torch.stack((pos_y[..., 0::2].sin(), pos_y[..., 1::2].cos()), dim=4).flatten(3)
        return torch.cat((pos_y, pos_x), dim=3).permute(0, 3, 1, 2)


class Backbone(nn.Module):
    def __init__(self, hidden_dim, width=32):
        super().__init__()
        layers, cin = [], 3
        for i in range(5):
            cout = min(width * 2**i, 256)
            layers += [nn.Conv2d(cin, cout, 3, 2, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True)]
            cin = cout
        self.body = nn.Sequential(*layers)
        self.position = PositionEmbeddingSine(hidden_dim // 2)
        self.num_channels = cin

    def forward(self, tensor_list: NestedTensor):
        x = self.body(tensor_list.tensors)
        m = tensor_list.mask
        mask = F.interpolate(m[None].float(), size=x.shape[-2:]).to(torch.bool)[0]
        out = NestedTensor(x, mask)
        return [out], [self.position(mask).to(x.dtype)]


class DecoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward, dropout):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout)
        self.multihead_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout)
        self.ffn = nn.Sequential(nn.Linear(d_model, dim_feedforward), nn.ReLU(), nn.Linear(dim_feedforward, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    @staticmethod
    def with_pos_embed(tensor, pos: Optional[Tensor]):
        return tensor if pos is None else tensor + pos

    def forward(self, tgt, memory, memory_key_padding_mask=None, pos=None, query_pos=None):
        q = k = self.with_pos_embed(tgt, query_pos)
        tgt = self.norm1(tgt + self.self_attn(q, k, value=tgt)[0])
        tgt2 = self.multihead_attn(
            self.with_pos_embed(tgt, query_pos),
            self.with_pos_embed(memory, pos),
            value=memory,
            key_padding_mask=memory_key_padding_mask,
        )[0]
        tgt = self.norm2(tgt + tgt2)
        return self.norm3(tgt + self.ffn(tgt))


class Transformer(nn.Module):
    def __init__(self, d_model=256, nhead=8, num_encoder_layers=3, num_decoder_layers=3, dim_feedforward=1024):
        super().__init__()
        enc = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward, 0.1)
        self.encoder = nn.TransformerEncoder(enc, num_encoder_layers, enable_nested_tensor=False)
        dec = DecoderLayer(d_model, nhead, dim_feedforward, 0.1)
        self.decoder = nn.ModuleList([copy.deepcopy(dec) for _ in range(num_decoder_layers)])
        self.d_model = d_model

    def forward(self, src, mask, query_embed, pos_embed):
        bs, _c, _h, _w = src.shape
        src = src.flatten(2).permute(2, 0, 1)
        pos_embed = pos_embed.flatten(2).permute(2, 0, 1)
        query_embed = query_embed.unsqueeze(1).repeat(1, bs, 1)
        mask = mask.flatten(1)
        memory = self.encoder(src + pos_embed, src_key_padding_mask=mask)
        tgt = torch.zeros_like(query_embed)
        intermediate = []
        for layer in self.decoder:
            tgt = layer(tgt, memory, mask, pos_embed, query_embed)
            intermediate.append(tgt)
        return torch.stack(intermediate).transpose(1, 2)


class SetDetector(nn.Module):
    """Predicts a set of boxes."""

    def __init__(self, backbone, transformer, num_classes, num_queries, aux_loss=False):
        """
        backbone: makes features and their position codes, see build_backbone
        transformer: has d_model; turns features and queries into one vector per query and layer
        num_classes: without the one that stands for "nothing"
        num_queries: no image can have more objects than that
        aux_loss: also return what the earlier layers of the decoder predict
        """
        super().__init__()
        self.num_queries = num_queries
        self.transformer = transformer
        hidden_dim = transformer.d_model
        self.class_embed = nn.Linear(hidden_dim, num_classes + 1)
        self.bbox_embed = nn.Sequential(
            nn.Linear(hidden_dim, hidden_dim),
            nn.ReLU(),
            nn.Linear(hidden_dim, hidden_dim),
            nn.ReLU(),
            nn.Linear(hidden_dim, 4),
        )
        self.query_embed = nn.Embedding(num_queries, hidden_dim)
        self.input_proj = nn.Conv2d(backbone.num_channels, hidden_dim, kernel_size=1)
        self.backbone = backbone
        self.aux_loss = aux_loss

    def forward(self, samples: NestedTensor):
        if isinstance(samples, (list, torch.Tensor)):
            samples = nested_tensor_from_tensor_list(samples)
        features, pos = self.backbone(samples)
        src, mask = features[-1].decompose()
        assert mask is not None
        hs = self.transformer(self.input_proj(src), mask, self.query_embed.weight, pos[-1])
        outputs_class = self.class_embed(hs)
        outputs_coord = self.bbox_embed(hs).sigmoid()
        out = {"pred_logits": outputs_class[-1], "pred_boxes": outputs_coord[-1]}
        if self.aux_loss:
            out["aux_outputs"] = [
                {"pred_logits": a, "pred_boxes": b} for a, b in zip(outputs_class[:-1], outputs_coord[:-1])
            ]
        return out


def build_backbone(args):
    return Backbone(args.hidden_dim)


def build(args):
    num_classes = 20 if args.dataset_file != "coco" else 91
    return SetDetector(
        build_backbone(args),
        Transformer(args.hidden_dim, args.nheads, args.enc_layers, args.dec_layers, args.dim_feedforward),
        num_classes=num_classes,
        num_queries=args.num_queries,
        aux_loss=args.aux_loss,
    )


def get_args_parser():
    parser = argparse.ArgumentParser("Set transformer detector", add_help=False)
    parser.add_argument("--dataset_file", default="coco")
    parser.add_argument("--hidden_dim", default=256, type=int)
    parser.add_argument("--nheads", default=8, type=int)
    parser.add_argument("--enc_layers", default=3, type=int)
    parser.add_argument("--dec_layers", default=3, type=int)
    parser.add_argument("--dim_feedforward", default=1024, type=int)
    parser.add_argument("--num_queries", default=100, type=int)
    parser.add_argument("--no_aux_loss", dest="aux_loss", action="store_false")
    return parser


# ---------------------------------------------------------------- local feature matching


def normalize_keypoints(kpts: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    size = size.to(kpts)
    shift = size / 2
    scale = size.max(-1).values / 2
    return (kpts - shift[..., None, :]) / scale[..., None, None]


class FourierPositions(nn.Module):
    def __init__(self, M: int, dim: int, gamma: float = 1.0) -> None:
        super().__init__()
        self.Wr = nn.Linear(M, dim // 2, bias=False)
        nn.init.normal_(self.Wr.weight.data, mean=0, std=gamma**-2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        projected = self.Wr(x)
        emb = torch.stack([torch.cos(projected), torch.sin(projected)], 0).unsqueeze(-3)
        return emb.repeat_interleave(2, dim=-1)


def rotate_half(x):
    x1, x2 = x.unflatten(-1, (-1, 2)).unbind(dim=-1)
    return torch.stack((-x2, x1), dim=-1).flatten(start_dim=-2)


class MatchLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.Wqkv = nn.Linear(dim, 3 * dim)
        self.self_ffn = nn.Sequential(
            nn.Linear(2 * dim, 2 * dim), nn.LayerNorm(2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)
        )
        self.to_qk = nn.Linear(dim, dim)
        self.to_v = nn.Linear(dim, dim)
        self.cross_ffn = copy.deepcopy(self.self_ffn)

    def self_block(self, x, enc):
        q, k, v = self.Wqkv(x).unflatten(-1, (self.heads, -1, 3)).transpose(1, 2).unbind(-1)
        q = q * enc[0] + rotate_half(q) * enc[1]
        k = k * enc[0] + rotate_half(k) * enc[1]
        context = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)
        return x + self.self_ffn(torch.cat([x, context], -1))

    def cross_block(self, x, source):
        q, k, v = (
            t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for t in (self.to_qk(x), self.to_qk(source), self.to_v(source))
        )
        m = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)
        return self.cross_ffn(torch.cat([x, m], -1)) + x

    def forward(self, desc0, desc1, enc0, enc1):
        desc0, desc1 = self.self_block(desc0, enc0), self.self_block(desc1, enc1)
        return self.cross_block(desc0, desc1), self.cross_block(desc1, desc0)


class PointMatcher(nn.Module):
    default_conf = {
        "name": "matcher",
        "input_dim": 256,
        "descriptor_dim": 256,
        "n_layers": 3,
        "num_heads": 4,
        "filter_threshold": 0.1,
        "weights": None,
    }
    required_data_keys = ["image0", "image1"]

    def __init__(self, **conf):
        super().__init__()
        self.conf = conf = SimpleNamespace(**{**self.default_conf, **conf})
        if conf.input_dim != conf.descriptor_dim:
            self.input_proj = nn.Linear(conf.input_dim, conf.descriptor_dim, bias=True)
        else:
            self.input_proj = nn.Identity()
        head_dim = conf.descriptor_dim // conf.num_heads
        self.posenc = FourierPositions(2, head_dim)
        h, n, d = conf.num_heads, conf.n_layers, conf.descriptor_dim
        self.transformers = nn.ModuleList([MatchLayer(d, h) for _ in range(n)])
        self.matchability = nn.Linear(d, 1)
        self.final_proj = nn.Linear(d, d)
        if conf.weights is not None:
            self.load_state_dict(torch.load(conf.weights, map_location="cpu"), strict=False)

    def forward(self, data: dict) -> dict:
        """
        data["image0"] and data["image1"] each have
            keypoints (B, M, 2) in pixels, descriptors (B, M, D), image_size (B, 2)
        Returns log_assignment (B, M, N), and for the first image matches0 (-1: none) and matching_scores0
        """
        for key in self.required_data_keys:
            assert key in data, f"Missing key {key} in data"
        data0, data1 = data["image0"], data["image1"]
        kpts0 = normalize_keypoints(data0["keypoints"], data0["image_size"])
        kpts1 = normalize_keypoints(data1["keypoints"], data1["image_size"])
        desc0, desc1 = data0["descriptors"].contiguous(), data1["descriptors"].contiguous()
        assert desc0.shape[-1] == self.conf.input_dim
        assert desc1.shape[-1] == self.conf.input_dim
        desc0, desc1 = self.input_proj(desc0), self.input_proj(desc1)
        enc0, enc1 = self.posenc(kpts0), self.posenc(kpts1)
        for layer in self.transformers:
            desc0, desc1 = layer(desc0, desc1, enc0, enc1)
        m0, m1 = self.final_proj(desc0), self.final_proj(desc1)
        sim = torch.einsum("bmd,bnd->bmn", m0, m1) / m0.shape[-1] ** 0.5
        z0, z1 = F.logsigmoid(self.matchability(desc0)), F.logsigmoid(self.matchability(desc1))
        scores = F.log_softmax(sim, 2) + F.log_softmax(sim, 1) + z0 + z1.transpose(1, 2)
        max0 = scores.max(2)
        mscores0 = max0.values.exp()
        m0 = torch.where(mscores0 > self.conf.filter_threshold, max0.indices, -1)
        return {"log_assignment": scores, "matches0": m0, "matching_scores0": mscores0}


# ---------------------------------------------------------------- optical flow


def coords_grid(batch, ht, wd, device):
    coords = torch.meshgrid(torch.arange(ht, device=device), torch.arange(wd, device=device), indexing="ij")
    return torch.stack(coords[::-1], dim=0).float()[None].repeat(batch, 1, 1, 1)


class CorrBlock:
    def __init__(self, fmap1, fmap2, num_levels=4, radius=4):
        self.num_levels = num_levels
        self.radius = radius
        batch, dim, ht, wd = fmap1.shape
        corr = torch.matmul(fmap1.flatten(2).transpose(1, 2), fmap2.flatten(2)) / dim**0.5
        corr = corr.reshape(batch * ht * wd, 1, ht, wd)
        self.corr_pyramid = [corr]
        for _ in range(num_levels - 1):
            corr = F.avg_pool2d(corr, 2, stride=2)
            self.corr_pyramid.append(corr)

    def __call__(self, coords):
        r = self.radius
        batch, _, h1, w1 = coords.shape
        coords = coords.permute(0, 2, 3, 1).reshape(batch * h1 * w1, 1, 1, 2)
        d = torch.linspace(-r, r, 2 * r + 1, device=coords.device)
        delta = torch.stack(torch.meshgrid(d, d, indexing="ij"), dim=-1)[None]
        out = []
        for i, corr in enumerate(self.corr_pyramid):
            H, W = corr.shape[-2:]
            xgrid, ygrid = (coords / 2**i + delta).split([1, 1], dim=-1)
            grid = torch.cat([2 * xgrid / (W - 1) - 1, 2 * ygrid / (H - 1) - 1], dim=-1)
            out.append(F.grid_sample(corr, grid, align_corners=True).view(batch, h1, w1, -1))
        return torch.cat(out, dim=-1).permute(0, 3, 1, 2).contiguous()


class SmallEncoder(nn.Module):
    def __init__(self, output_dim=128, norm_fn="batch", dropout=0.0):
        super().__init__()
        norm = {"batch": nn.BatchNorm2d, "instance": nn.InstanceNorm2d, "none": lambda c: nn.Sequential()}[norm_fn]
        self.net = nn.Sequential(
            nn.Conv2d(3, 32, 7, 2, 3), norm(32), nn.ReLU(inplace=True),
            nn.Conv2d(32, 64, 3, 2, 1), norm(64), nn.ReLU(inplace=True),
            nn.Conv2d(64, 96, 3, 2, 1), norm(96), nn.ReLU(inplace=True),
        )  # fmt: skip
        self.conv2 = nn.Conv2d(96, output_dim, 1)
        self.dropout = nn.Dropout2d(p=dropout) if dropout > 0 else None

    def forward(self, x):
        is_list = isinstance(x, (tuple, list))
        if is_list:
            batch_dim = x[0].shape[0]
            x = torch.cat(x, dim=0)
        x = self.conv2(self.net(x))
        if self.training and self.dropout is not None:
            x = self.dropout(x)
        return torch.split(x, [batch_dim, batch_dim], dim=0) if is_list else x


class UpdateBlock(nn.Module):
    def __init__(self, args, hidden_dim=96, input_dim=64):
        super().__init__()
        cor_planes = args.corr_levels * (2 * args.corr_radius + 1) ** 2
        self.convc1 = nn.Conv2d(cor_planes, 96, 1)
        self.convf1 = nn.Conv2d(2, 64, 7, padding=3)
        self.conv = nn.Conv2d(96 + 64, 80, 3, padding=1)
        cin = hidden_dim + input_dim + 82
        self.convz = nn.Conv2d(cin, hidden_dim, 3, padding=1)
        self.convr = nn.Conv2d(cin, hidden_dim, 3, padding=1)
        self.convq = nn.Conv2d(cin, hidden_dim, 3, padding=1)
        self.flow_head = nn.Sequential(
            nn.Conv2d(hidden_dim, 128, 3, padding=1), nn.ReLU(), nn.Conv2d(128, 2, 3, padding=1)
        )

    def forward(self, net, inp, corr, flow):
        m = F.relu(self.conv(torch.cat([F.relu(self.convc1(corr)), F.relu(self.convf1(flow))], 1)))
        x = torch.cat([inp, m, flow], 1)
        hx = torch.cat([net, x], 1)
        z, r = torch.sigmoid(self.convz(hx)), torch.sigmoid(self.convr(hx))
        q = torch.tanh(self.convq(torch.cat([r * net, x], 1)))
        net = (1 - z) * net + z * q
        return net, self.flow_head(net)


class FlowField(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.hidden_dim = hdim = 96
        self.context_dim = cdim = 64
        args.corr_levels = 4
        args.corr_radius = 3
        if "dropout" not in self.args:
            self.args.dropout = 0
        fdim = 128 if args.small else 256
        self.fnet = SmallEncoder(fdim, norm_fn="instance", dropout=args.dropout)
        self.cnet = SmallEncoder(hdim + cdim, norm_fn="none" if args.small else "batch", dropout=args.dropout)
        self.update_block = UpdateBlock(self.args, hidden_dim=hdim)

    def freeze_bn(self):
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.eval()

    def forward(self, image1, image2, iters=12, flow_init=None, upsample=True, test_mode=False):
        """Frames have values from 0 to 255."""
        image1 = 2 * (image1 / 255.0) - 1.0
        image2 = 2 * (image2 / 255.0) - 1.0
        fmap1, fmap2 = self.fnet([image1.contiguous(), image2.contiguous()])
        corr_fn = CorrBlock(fmap1.float(), fmap2.float(), self.args.corr_levels, self.args.corr_radius)
        net, inp = torch.split(self.cnet(image1), [self.hidden_dim, self.context_dim], dim=1)
        net, inp = torch.tanh(net), torch.relu(inp)
        N, _, H, W = image1.shape
        coords0 = coords_grid(N, H // 8, W // 8, image1.device)
        coords1 = coords_grid(N, H // 8, W // 8, image1.device)
        if flow_init is not None:
            coords1 = coords1 + flow_init
        flow_predictions = []
        for _itr in range(iters):
            coords1 = coords1.detach()
            net, delta_flow = self.update_block(net, inp, corr_fn(coords1), coords1 - coords0)
            coords1 = coords1 + delta_flow
            flow_up = 8 * F.interpolate(coords1 - coords0, scale_factor=8, mode="bilinear", align_corners=True)
            flow_predictions.append(flow_up)
        if test_mode:
            return coords1 - coords0, flow_up
        return flow_predictions


# ---------------------------------------------------------------- tracking


class CfgNode(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


cfg = CfgNode()
cfg.BACKBONE = CfgNode(TYPE="alexnetlegacy", KWARGS=CfgNode(width_mult=0.5))
cfg.ADJUST = CfgNode(ADJUST=True, TYPE="AdjustLayer", KWARGS=CfgNode(in_channels=128, out_channels=64))
cfg.RPN = CfgNode(TYPE="DepthwiseRPN", KWARGS=CfgNode(anchor_num=5, in_channels=64, out_channels=64))
cfg.TRAIN = CfgNode(CLS_WEIGHT=1.0, LOC_WEIGHT=1.2, EXEMPLAR_SIZE=127, SEARCH_SIZE=255)


class AlexNetLegacy(nn.Module):
    def __init__(self, width_mult=1):
        super().__init__()
        c = [int(x * width_mult) for x in (96, 256, 384, 384, 256)]
        self.features = nn.Sequential(
            nn.Conv2d(3, c[0], 11, 2), nn.BatchNorm2d(c[0]), nn.MaxPool2d(3, 2), nn.ReLU(inplace=True),
            nn.Conv2d(c[0], c[1], 5), nn.BatchNorm2d(c[1]), nn.MaxPool2d(3, 2), nn.ReLU(inplace=True),
            nn.Conv2d(c[1], c[2], 3), nn.BatchNorm2d(c[2]), nn.ReLU(inplace=True),
            nn.Conv2d(c[2], c[4], 3), nn.BatchNorm2d(c[4]),
        )  # fmt: skip

    def forward(self, x):
        return self.features(x)


class AdjustLayer(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.downsample = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels)
        )

    def forward(self, x):
        return self.downsample(x)


def xcorr_depthwise(x, kernel):
    batch, channel = kernel.shape[:2]
    out = F.conv2d(
        x.reshape(1, batch * channel, *x.shape[2:]),
        kernel.reshape(batch * channel, 1, *kernel.shape[2:]),
        groups=batch * channel,
    )
    return out.view(batch, channel, *out.shape[2:])


class DepthwiseXCorr(nn.Module):
    def __init__(self, in_channels, hidden, out_channels):
        super().__init__()
        self.conv_kernel = nn.Sequential(
            nn.Conv2d(in_channels, hidden, 3, bias=False), nn.BatchNorm2d(hidden), nn.ReLU(inplace=True)
        )
        self.conv_search = nn.Sequential(
            nn.Conv2d(in_channels, hidden, 3, bias=False), nn.BatchNorm2d(hidden), nn.ReLU(inplace=True)
        )
        self.head = nn.Sequential(
            nn.Conv2d(hidden, hidden, 1), nn.ReLU(inplace=True), nn.Conv2d(hidden, out_channels, 1)
        )

    def forward(self, kernel, search):
        return self.head(xcorr_depthwise(self.conv_search(search), self.conv_kernel(kernel)))


class DepthwiseRPN(nn.Module):
    def __init__(self, anchor_num=5, in_channels=256, out_channels=256):
        super().__init__()
        self.cls = DepthwiseXCorr(in_channels, out_channels, 2 * anchor_num)
        self.loc = DepthwiseXCorr(in_channels, out_channels, 4 * anchor_num)

    def forward(self, z_f, x_f):
        return self.cls(z_f, x_f), self.loc(z_f, x_f)


BACKBONES = {"alexnetlegacy": AlexNetLegacy}
NECKS = {"AdjustLayer": AdjustLayer}
RPNS = {"DepthwiseRPN": DepthwiseRPN}


def select_cross_entropy_loss(pred, label):
    pred, label = pred.reshape(-1, 2), label.reshape(-1)
    loss = F.nll_loss(pred, label.clamp(min=0), reduction="none")
    pos, neg = (label == 1).float(), (label == 0).float()
    return 0.5 * (loss * pos).sum() / pos.sum().clamp(min=1) + 0.5 * (loss * neg).sum() / neg.sum().clamp(min=1)


class SiameseModelBuilder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = BACKBONES[cfg.BACKBONE.TYPE](**cfg.BACKBONE.KWARGS)
        if cfg.ADJUST.ADJUST:
            self.neck = NECKS[cfg.ADJUST.TYPE](**cfg.ADJUST.KWARGS)
        self.rpn_head = RPNS[cfg.RPN.TYPE](**cfg.RPN.KWARGS)

    def template(self, z):
        zf = self.backbone(z)
        if cfg.ADJUST.ADJUST:
            zf = self.neck(zf)
        self.zf = zf

    def track(self, x):
        xf = self.backbone(x)
        if cfg.ADJUST.ADJUST:
            xf = self.neck(xf)
        cls, loc = self.rpn_head(self.zf, xf)
        return {"cls": cls, "loc": loc}

    def log_softmax(self, cls):
        b, a2, h, w = cls.size()
        cls = cls.view(b, 2, a2 // 2, h, w).permute(0, 2, 3, 4, 1).contiguous()
        return F.log_softmax(cls, dim=4)

    def forward(self, data):
        """One step of training; at test time see template() and track()."""
        template = data["template"]
        search = data["search"]
        label_cls = data["label_cls"]
        label_loc = data["label_loc"]
        label_loc_weight = data["label_loc_weight"]

        zf = self.backbone(template)
        xf = self.backbone(search)
        if cfg.ADJUST.ADJUST:
            zf = self.neck(zf)
            xf = self.neck(xf)
        cls, loc = self.rpn_head(zf, xf)

        cls = self.log_softmax(cls)
        cls_loss = select_cross_entropy_loss(cls, label_cls)
        b, _, sh, sw = loc.size()
        diff = (loc.view(b, 4, -1, sh, sw) - label_loc).abs().sum(dim=1).view(b, -1, sh, sw)
        loc_loss = (diff * label_loc_weight).sum().div(b)
        return {
            "total_loss": cfg.TRAIN.CLS_WEIGHT * cls_loss + cfg.TRAIN.LOC_WEIGHT * loc_loss,
            "cls_loss": cls_loss,
            "loc_loss": loc_loss,
        }


# ---------------------------------------------------------------- scene text


class ConvEncoder(nn.Module):
    """32 x 100 images become 25 vectors."""

    def __init__(self, with_lstm=True, n_group=1):
        super().__init__()
        self.with_lstm = with_lstm
        plan = [(3, 32, 1), (32, 64, 2), (64, 128, 2), (128, 256, (2, 1)), (256, 256, (2, 1)), (256, 256, (2, 1))]
        self.layers = nn.Sequential(
            *[nn.Sequential(nn.Conv2d(i, o, 3, s, 1), nn.BatchNorm2d(o), nn.ReLU(True)) for i, o, s in plan]
        )
        if with_lstm:
            self.rnn = nn.LSTM(256, 128, bidirectional=True, num_layers=2, batch_first=True)
        self.out_planes = 256

    def forward(self, x):
        cnn_feat = self.layers(x).squeeze(2).transpose(2, 1)
        if self.with_lstm:
            cnn_feat, _ = self.rnn(cnn_feat)
        return cnn_feat


class AttentionRecognitionHead(nn.Module):
    def __init__(self, num_classes, in_planes, sDim, attDim, max_len_labels):
        super().__init__()
        self.num_classes = num_classes
        self.sDim = sDim
        self.max_len_labels = max_len_labels
        self.sEmbed = nn.Linear(sDim, attDim)
        self.xEmbed = nn.Linear(in_planes, attDim)
        self.wEmbed = nn.Linear(attDim, 1)
        self.tgt_embedding = nn.Embedding(num_classes + 1, attDim)
        self.gru = nn.GRUCell(in_planes + attDim, sDim)
        self.fc = nn.Linear(sDim, num_classes)

    def forward(self, x):
        x, targets, lengths = x
        batch_size = x.size(0)
        state = x.new_zeros(batch_size, self.sDim)
        outputs = []
        for i in range(int(max(lengths))):
            y_prev = x.new_full((batch_size,), self.num_classes, dtype=torch.long) if i == 0 else targets[:, i - 1]
            alpha = F.softmax(
                self.wEmbed(torch.tanh(self.xEmbed(x) + self.sEmbed(state).unsqueeze(1))).squeeze(-1), dim=1
            )
            context = torch.bmm(alpha.unsqueeze(1), x).squeeze(1)
            state = self.gru(torch.cat([self.tgt_embedding(y_prev), context], 1), state)
            outputs.append(self.fc(state))
        return torch.stack(outputs, 1)


class SequenceCrossEntropyLoss(nn.Module):
    def __init__(self, ignore_index=-100, sample_normalize=True):
        super().__init__()
        self.ignore_index = ignore_index
        self.sample_normalize = sample_normalize

    def forward(self, input, target, length):
        batch_size, max_length = target.size(0), int(max(length))
        target = target[:, :max_length]
        mask = (torch.arange(max_length, device=target.device)[None] < length[:, None]).float()
        loss = F.cross_entropy(input.transpose(1, 2), target, reduction="none", ignore_index=self.ignore_index)
        loss = (loss * mask).sum()
        return loss / batch_size if self.sample_normalize else loss


_encoders = {"ResNet_ASTER": ConvEncoder}


class RecognitionBuilder(nn.Module):
    """Rectification, encoder and attention decoder by name."""

    def __init__(self, arch, rec_num_classes, sDim, attDim, max_len_labels, eos, STN_ON=False):
        super().__init__()
        self.arch = arch
        self.rec_num_classes = rec_num_classes
        self.max_len_labels = max_len_labels
        self.eos = eos
        self.STN_ON = STN_ON
        self.encoder = _encoders[self.arch](with_lstm=True)
        self.decoder = AttentionRecognitionHead(rec_num_classes, self.encoder.out_planes, sDim, attDim, max_len_labels)
        self.rec_crit = SequenceCrossEntropyLoss()
        if self.STN_ON:
            self.stn_head = nn.Sequential(nn.AdaptiveAvgPool2d((8, 16)), nn.Flatten(), nn.Linear(3 * 8 * 16, 6))

    def forward(self, input_dict):
        return_dict = {"losses": {}, "output": {}}
        x, rec_targets, rec_lengths = input_dict["images"], input_dict["rec_targets"], input_dict["rec_lengths"]
        if self.STN_ON:
            theta = self.stn_head(x).view(-1, 2, 3)
            x = F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False), align_corners=False)
        encoder_feats = self.encoder(x).contiguous()
        rec_pred = self.decoder([encoder_feats, rec_targets, rec_lengths])
        loss_rec = self.rec_crit(rec_pred, rec_targets, rec_lengths)
        return_dict["losses"]["loss_rec"] = loss_rec
        if not self.training:
            return_dict["output"]["pred_rec"] = rec_pred.argmax(-1)
            return_dict["output"]["scores"] = rec_pred.softmax(-1).amax(-1)
        return return_dict
