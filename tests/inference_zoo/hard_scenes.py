"""Hard: Vision, video, radiance fields, diffusion and flows, as papers' repositories write them.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "AnchorDetector",
    "ConditionalGlow",
    "ConditionedDenoiser",
    "DeformableQueries",
    "FlowVideoInterpolator",
    "GroundedBoxes",
    "HyperField",
    "ImplicitUpsampler",
    "LatentRadiance",
    "MaskedVideoAutoencoder",
    "SlotVideo",
    "StereoCostVolume",
]


class AnchorDetector(nn.Module):
    """Single shot: images and their true sizes; targets as a list of dicts while training."""

    def __init__(self, num_classes=20, strides=(8, 16), sizes=((16, 32), (64, 128)), width=32):
        super().__init__()
        self.strides, self.sizes, self.num_classes = strides, sizes, num_classes
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, 2, 1),
        )
        self.down = nn.Conv2d(width, width, 3, 2, 1)
        self.cls = nn.Conv2d(width, 2 * num_classes, 3, 1, 1)
        self.reg = nn.Conv2d(width, 2 * 4, 3, 1, 1)

    def anchors(self, feats):
        out = []
        for f, s, sizes in zip(feats, self.strides, self.sizes):
            h, w = f.shape[-2:]
            ys, xs = torch.meshgrid(torch.arange(h) * s, torch.arange(w) * s, indexing="ij")
            centre = torch.stack([xs, ys], -1).reshape(-1, 1, 2).float()
            wh = torch.tensor([[a, a] for a in sizes]).float()[None]
            out.append(
                torch.cat([centre.expand(-1, len(sizes), -1), wh.expand(centre.size(0), -1, -1)], -1).flatten(0, 1)
            )
        return torch.cat(out)

    def forward(self, images, img_metas, targets=None):
        p1 = self.stem(images)
        feats = [p1, self.down(p1)]
        anchors = self.anchors(feats).to(images.device)
        b = images.size(0)
        logits = torch.cat([self.cls(f).permute(0, 2, 3, 1).reshape(b, -1, self.num_classes) for f in feats], 1)
        deltas = torch.cat([self.reg(f).permute(0, 2, 3, 1).reshape(b, -1, 4) for f in feats], 1)
        boxes = torch.cat(
            [anchors[:, :2] + deltas[..., :2] * anchors[:, 2:], anchors[:, 2:] * deltas[..., 2:].exp()], -1
        )
        limit = torch.stack([torch.as_tensor(m["img_shape"][:2]) for m in img_metas]).to(boxes)
        if self.training and targets is not None:
            return {"loss": sum(F.l1_loss(bx[: len(t["boxes"])], t["boxes"]) for bx, t in zip(boxes, targets))}
        centres = torch.minimum(boxes[..., :2].clamp(min=0), limit.flip(-1)[:, None])
        return torch.cat([centres, boxes[..., 2:]], -1), logits.sigmoid()


def timestep_embedding(t, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half, device=t.device) / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.cos(), args.sin()], dim=-1)


class ConditionedDenoiser(nn.Module):
    """Latent diffusion: noisy latents, timesteps, and a dict of what it is conditioned on."""

    def __init__(self, in_channels=4, model_channels=32, context_dim=48, adm_dim=16):
        super().__init__()
        self.model_channels = model_channels
        self.time_embed = nn.Sequential(nn.Linear(model_channels, 64), nn.SiLU(), nn.Linear(64, 64))
        self.label_emb = nn.Linear(adm_dim, 64)
        self.inp = nn.Conv2d(2 * in_channels, 64, 3, padding=1)
        self.norm = nn.GroupNorm(8, 64)
        self.attn = nn.MultiheadAttention(64, 4, kdim=context_dim, vdim=context_dim, batch_first=True)
        self.mid = nn.Conv2d(64, 64, 3, padding=1)
        self.out = nn.Conv2d(64, in_channels, 3, padding=1)

    def forward(self, x, timesteps, cond):
        emb = self.time_embed(timestep_embedding(timesteps, self.model_channels))
        emb = emb + self.label_emb(cond["vector"])
        h = self.inp(torch.cat([x, cond["concat"]], dim=1)) + emb[:, :, None, None]
        b, c, hh, ww = h.shape
        q = self.norm(h).flatten(2).transpose(1, 2)
        ctx = torch.cat(cond["crossattn"], dim=1)
        h = h + self.attn(q, ctx, ctx, need_weights=False)[0].transpose(1, 2).view(b, c, hh, ww)
        return self.out(F.silu(self.mid(h)))


class Coupling(nn.Module):
    def __init__(self, channels, cond_channels, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(channels // 2 + cond_channels, hidden, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(hidden, channels, 3, padding=1),
        )

    def forward(self, z, cond, logdet):
        z1, z2 = z.chunk(2, dim=1)
        shift, scale = self.net(torch.cat([z1, cond], 1)).chunk(2, dim=1)
        scale = torch.sigmoid(scale + 2.0)
        return torch.cat([z1, (z2 + shift) * scale], 1), logdet + scale.log().sum(dim=[1, 2, 3])


class ConditionalGlow(nn.Module):
    """Super-resolving flow: high and low resolution images, log-det, reverse by a flag."""

    def __init__(self, scale=2, n_flows=2, lr_channels=3, hidden=16):
        super().__init__()
        self.scale = scale
        c = 3 * scale**2
        self.cond = nn.Conv2d(lr_channels, hidden, 3, padding=1)
        self.perm = nn.ParameterList(nn.Parameter(torch.linalg.qr(torch.randn(c, c))[0]) for _ in range(n_flows))
        self.flows = nn.ModuleList(Coupling(c, hidden) for _ in range(n_flows))

    def forward(self, gt, lr, reverse=False):
        if reverse:
            raise NotImplementedError
        z = F.pixel_unshuffle(gt, self.scale)
        cond = self.cond(lr)
        logdet = gt.new_zeros(gt.size(0))
        for w, flow in zip(self.perm, self.flows):
            z = F.conv2d(z, w[:, :, None, None])
            logdet = logdet + torch.linalg.slogdet(w)[1] * z.size(2) * z.size(3)
            z, logdet = flow(z, cond, logdet)
        nll = 0.5 * (z**2).sum(dim=(1, 2, 3)) - logdet
        return z, nll / (math.log(2.0) * gt[0].numel())


class DeformableQueries(nn.Module):
    """Multi-scale sampling: flattened levels with their shapes and where each starts."""

    def __init__(self, embed_dims=64, num_heads=4, num_levels=3, num_points=2):
        super().__init__()
        self.num_heads, self.num_levels, self.num_points = num_heads, num_levels, num_points
        self.sampling_offsets = nn.Linear(embed_dims, num_heads * num_levels * num_points * 2)
        self.attention_weights = nn.Linear(embed_dims, num_heads * num_levels * num_points)
        self.value_proj = nn.Linear(embed_dims, embed_dims)
        self.output_proj = nn.Linear(embed_dims, embed_dims)

    def forward(self, query, reference_points, value, spatial_shapes, level_start_index):
        bs, num_query, c = query.shape
        assert (spatial_shapes[:, 0] * spatial_shapes[:, 1]).sum() == value.shape[1]
        v = self.value_proj(value).view(bs, value.shape[1], self.num_heads, -1)
        off = self.sampling_offsets(query).view(bs, num_query, self.num_heads, self.num_levels, self.num_points, 2)
        w = self.attention_weights(query).view(bs, num_query, self.num_heads, -1).softmax(-1)
        norm = torch.stack([spatial_shapes[..., 1], spatial_shapes[..., 0]], -1)
        loc = reference_points[:, :, None, :, None, :] + off / norm[None, None, None, :, None, :]
        grid, sampled = 2 * loc - 1, []
        for lvl, ((h, wd), start) in enumerate(zip(spatial_shapes.tolist(), level_start_index.tolist())):
            vl = v[:, start : start + h * wd].flatten(2).transpose(1, 2).reshape(bs * self.num_heads, -1, h, wd)
            gl = grid[:, :, :, lvl].transpose(1, 2).flatten(0, 1)
            sampled.append(F.grid_sample(vl, gl, align_corners=False))
        w = w.transpose(1, 2).reshape(bs * self.num_heads, 1, num_query, -1)
        out = (torch.stack(sampled, -2).flatten(-2) * w).sum(-1).view(bs, c, num_query)
        return self.output_proj(out.transpose(1, 2))


def backwarp(img, flow):
    b, _, h, w = img.shape
    ys, xs = torch.meshgrid(torch.arange(h, device=img.device), torch.arange(w, device=img.device), indexing="ij")
    x = 2 * ((xs[None] + flow[:, 0]) / max(w - 1, 1) - 0.5)
    y = 2 * ((ys[None] + flow[:, 1]) / max(h - 1, 1) - 0.5)
    return F.grid_sample(img, torch.stack([x, y], -1), align_corners=True)


class FlowVideoInterpolator(nn.Module):
    """Two frames and a time between them; flows at half resolution."""

    def __init__(self, c=24):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(7, c, 3, 2, 1), nn.PReLU(c), nn.Conv2d(c, c, 3, 2, 1), nn.PReLU(c))
        self.up = nn.Sequential(nn.ConvTranspose2d(c, c, 4, 2, 1), nn.PReLU(c), nn.ConvTranspose2d(c, 5, 4, 2, 1))

    def forward(self, img0, img1, timestep):
        t = timestep.view(-1, 1, 1, 1).expand(-1, 1, img0.shape[2], img0.shape[3])
        out = self.up(self.net(torch.cat((img0, img1, t), 1)))
        flow0, flow1, mask = out[:, :2], out[:, 2:4], torch.sigmoid(out[:, 4:5])
        return backwarp(img0, flow0) * mask + backwarp(img1, flow1) * (1 - mask)


class GroundedBoxes(nn.Module):
    """Phrase grounding: region features with boxes, tokens, and spans of phrases."""

    def __init__(self, v_dim=128, vocab=1000, dim=64, heads=4):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.vis = nn.Linear(v_dim, dim)
        self.loc = nn.Linear(5, dim)
        self.cross = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.scale = nn.Parameter(torch.tensor(10.0))

    def forward(self, features, boxes, image_wh, input_ids, attention_mask, phrase_spans):
        wh = torch.cat([image_wh, image_wh], -1)[:, None].float()
        norm = boxes / wh
        area = (norm[..., 2] - norm[..., 0]) * (norm[..., 3] - norm[..., 1])
        v = self.vis(features) + self.loc(torch.cat([norm, area.unsqueeze(-1)], -1))
        t = self.tok(input_ids)
        t = t + self.cross(t, v, v)[0]
        t = t * attention_mask.unsqueeze(-1)
        pos = torch.arange(t.size(1), device=t.device)
        inside = (pos >= phrase_spans[..., :1]) & (pos < phrase_spans[..., 1:])
        w = inside.float() / inside.sum(-1, keepdim=True).clamp(min=1)
        phrases = F.normalize(w @ t, dim=-1)
        return self.scale * phrases @ F.normalize(v, dim=-1).transpose(1, 2)


class HyperField(nn.Module):
    """A hypernetwork makes the weights of a coordinate network for each scene."""

    def __init__(self, latent=32, hidden=16, layers=2, in_dim=2, out_dim=3):
        super().__init__()
        dims = [in_dim] + [hidden] * layers + [out_dim]
        self.shapes = list(zip(dims[:-1], dims[1:]))
        self.heads = nn.ModuleList(nn.Linear(latent, i * o + o) for i, o in self.shapes)
        self.encoder = nn.Sequential(nn.Linear(in_dim + out_dim, latent), nn.ReLU(), nn.Linear(latent, latent))

    def forward(self, model_input):
        support = torch.cat([model_input["context_coords"], model_input["context_rgb"]], dim=-1)
        z = self.encoder(support).mean(dim=1)
        x = model_input["query_coords"]
        for n, ((i, o), head) in enumerate(zip(self.shapes, self.heads)):
            params = head(z)
            w, b = params[:, : i * o].view(-1, o, i), params[:, i * o :]
            x = torch.einsum("boi,bni->bno", w, x) + b.unsqueeze(1)
            if n < len(self.shapes) - 1:
                x = torch.sin(30 * x)
        return {"rgb": x, "latent": z}


class ImplicitUpsampler(nn.Module):
    """LIIF: features of a picture, queried at coordinates with the size of a cell."""

    def __init__(self, feat_dim=32, hidden=64):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, feat_dim, 3, padding=1), nn.ReLU(), nn.Conv2d(feat_dim, feat_dim, 3, padding=1)
        )
        self.imnet = nn.Sequential(nn.Linear(feat_dim * 9 + 2 + 2, hidden), nn.ReLU(), nn.Linear(hidden, 3))

    def forward(self, inp, coord, cell):
        feat = self.encoder(inp)
        b, c, h, w = feat.shape
        feat = F.unfold(feat, 3, padding=1).view(b, c * 9, h, w)
        ys = torch.linspace(-1 + 1 / h, 1 - 1 / h, h, device=feat.device)
        xs = torch.linspace(-1 + 1 / w, 1 - 1 / w, w, device=feat.device)
        grid = torch.stack(torch.meshgrid(ys, xs, indexing="ij"), 0)[None].expand(b, -1, -1, -1)
        at = coord.flip(-1).unsqueeze(1)
        q_feat = F.grid_sample(feat, at, mode="nearest", align_corners=False)[:, :, 0].permute(0, 2, 1)
        q_coord = F.grid_sample(grid, at, mode="nearest", align_corners=False)[:, :, 0].permute(0, 2, 1)
        rel = (coord - q_coord) * torch.tensor([h, w], device=feat.device)
        rel_cell = cell * torch.tensor([h, w], device=feat.device)
        return self.imnet(torch.cat([q_feat, rel, rel_cell], dim=-1))


class LatentRadiance(nn.Module):
    """NeRF with appearance codes: rays as origin, direction, near and far; index of the picture."""

    def __init__(self, n_samples=8, n_freqs=4, n_images=20, appearance=8, width=32):
        super().__init__()
        self.n_samples, self.n_freqs = n_samples, n_freqs
        self.appearance = nn.Embedding(n_images, appearance)
        self.xyz = nn.Sequential(nn.Linear(3 + 6 * n_freqs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.sigma = nn.Linear(width, 1)
        self.rgb = nn.Sequential(nn.Linear(width + 3 + appearance, width), nn.ReLU(), nn.Linear(width, 3), nn.Sigmoid())

    def encode(self, x):
        freqs = 2.0 ** torch.arange(self.n_freqs, device=x.device)
        xb = (x[..., None] * freqs).flatten(-2)
        return torch.cat([x, xb.sin(), xb.cos()], -1)

    def forward(self, rays, ts):
        o, d, near, far = rays[:, :3], rays[:, 3:6], rays[:, 6:7], rays[:, 7:8]
        steps = torch.linspace(0, 1, self.n_samples, device=rays.device)
        z = near * (1 - steps) + far * steps
        xyz = o[:, None] + d[:, None] * z[..., None]
        h = self.xyz(self.encode(xyz))
        sigma = F.softplus(self.sigma(h)).squeeze(-1)
        a = self.appearance(ts)[:, None].expand(-1, self.n_samples, -1)
        dirs = F.normalize(d, dim=-1)[:, None].expand(-1, self.n_samples, -1)
        rgb = self.rgb(torch.cat([h, dirs, a], -1))
        delta = torch.cat([z[:, 1:] - z[:, :-1], torch.full_like(z[:, :1], 1e2)], -1)
        alpha = 1 - torch.exp(-sigma * delta)
        trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
        w = alpha * trans
        return {"rgb": (w[..., None] * rgb).sum(1), "depth": (w * z).sum(1)}


def sinusoid(n, d):
    pos = np.arange(n)[:, None] / np.power(10000, 2 * (np.arange(d) // 2) / d)
    pos[:, 0::2], pos[:, 1::2] = np.sin(pos[:, 0::2]), np.cos(pos[:, 1::2])
    return torch.tensor(pos, dtype=torch.float)[None]


class MaskedVideoAutoencoder(nn.Module):
    """VideoMAE: clips (B, C, T, H, W) and a boolean mask with as many hidden patches in each clip."""

    def __init__(self, img_size=32, patch_size=8, num_frames=8, tubelet=2, dim=48, dec_dim=32):
        super().__init__()
        self.num_patches = (img_size // patch_size) ** 2 * (num_frames // tubelet)
        self.patch = nn.Conv3d(3, dim, (tubelet, patch_size, patch_size), (tubelet, patch_size, patch_size))
        self.enc = nn.TransformerEncoderLayer(dim, 4, 96, batch_first=True)
        self.to_dec = nn.Linear(dim, dec_dim, bias=False)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, dec_dim))
        self.dec = nn.TransformerEncoderLayer(dec_dim, 4, 64, batch_first=True)
        self.head = nn.Linear(dec_dim, 3 * tubelet * patch_size**2)
        self.register_buffer("pos", sinusoid(self.num_patches, dim))
        self.register_buffer("dec_pos", sinusoid(self.num_patches, dec_dim))

    def forward(self, x, mask):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.pos
        b, _, c = x.shape
        vis = self.enc(x[~mask].reshape(b, -1, c))
        vis = self.to_dec(vis)
        pos = self.dec_pos.expand(b, -1, -1)
        pos_vis = pos[~mask].reshape(b, -1, pos.size(-1))
        pos_mask = pos[mask].reshape(b, -1, pos.size(-1))
        full = self.dec(torch.cat([vis + pos_vis, self.mask_token + pos_mask], dim=1))
        return self.head(full[:, -pos_mask.shape[1] :])


@dataclass
class SlotState:
    slots: torch.Tensor
    step: int = 0
    extras: dict[str, Any] = field(default_factory=dict)


class SlotVideo(nn.Module):
    """SAVi: video (B, T, 3, H, W) and boxes in the first frame as conditions for slots."""

    def __init__(self, slot_size=32, num_iterations=2, resolution=(32, 32)):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 32, 5, 2, 2), nn.ReLU(), nn.Conv2d(32, slot_size, 5, 2, 2))
        self.pos = nn.Parameter(torch.randn(1, slot_size, resolution[0] // 4, resolution[1] // 4))
        self.init_slots = nn.Sequential(nn.Linear(4, slot_size), nn.ReLU(), nn.Linear(slot_size, slot_size))
        self.q, self.k, self.v = (nn.Linear(slot_size, slot_size, bias=False) for _ in range(3))
        self.gru = nn.GRUCell(slot_size, slot_size)
        self.predictor = nn.TransformerEncoderLayer(slot_size, 4, 64, batch_first=True)
        self.n_iter = num_iterations
        self.decoder = nn.ConvTranspose2d(slot_size, 4, 4, 4)

    def attend(self, state, feats):
        k, v, slots = self.k(feats), self.v(feats), state.slots
        for _ in range(self.n_iter):
            a = torch.softmax(k @ self.q(slots).transpose(1, 2) / slots.size(-1) ** 0.5, -1) + 1e-8
            upd = (a / a.sum(1, keepdim=True)).transpose(1, 2) @ v
            slots = self.gru(upd.flatten(0, 1), slots.flatten(0, 1)).view_as(slots)
        return SlotState(slots, state.step + 1)

    def forward(self, video, conditioning):
        b, t = video.shape[:2]
        state = SlotState(self.init_slots(conditioning))
        outs = []
        for i in range(t):
            f = self.encoder(video[:, i]) + self.pos
            state = self.attend(state, f.flatten(2).transpose(1, 2))
            grid = (state.slots[:, :, :, None, None] + self.pos[:, None]).flatten(0, 1)
            rgba = self.decoder(grid).view(b, -1, 4, *video.shape[-2:])
            outs.append((rgba[:, :, :3] * rgba[:, :, 3:].softmax(1)).sum(1))
            state = SlotState(self.predictor(state.slots), state.step)
        return torch.stack(outs, 1), state.slots


class StereoCostVolume(nn.Module):
    """Stereo matching with calibrated cameras: left, right, focal length times baseline."""

    def __init__(self, maxdisp=32, c=16):
        super().__init__()
        self.maxdisp = maxdisp
        self.feature = nn.Sequential(nn.Conv2d(3, c, 3, 2, 1), nn.ReLU(), nn.Conv2d(c, c, 3, 2, 1))
        self.agg = nn.Sequential(nn.Conv3d(2 * c, c, 3, 1, 1), nn.ReLU(), nn.Conv3d(c, 1, 3, 1, 1))

    def forward(self, left, right, focal_baseline):
        fl, fr = self.feature(left), self.feature(right)
        b, c, h, w = fl.shape
        cost = fl.new_zeros(b, 2 * c, self.maxdisp // 4, h, w)
        for i in range(self.maxdisp // 4):
            cost[:, :c, i, :, i:] = fl[:, :, :, i:]
            cost[:, c:, i, :, i:] = fr[:, :, :, : w - i] if i else fr
        prob = F.interpolate(self.agg(cost), scale_factor=4, mode="trilinear").squeeze(1).softmax(1)
        disp = (prob * torch.arange(self.maxdisp, device=left.device).view(1, -1, 1, 1)).sum(1)
        return focal_baseline.view(-1, 1, 1) / (disp + 1e-3)
