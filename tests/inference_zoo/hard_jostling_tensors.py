"""Hard: rays, cameras, prompts, clips, agents, proteins, patients and caches, as a forward's arguments.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Any, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = [
    "BundleUpdate",
    "ConeCaster",
    "EntityAgent",
    "HabitatPolicy",
    "InteractiveMasks",
    "MSAFolding",
    "NoisedQueryDetector",
    "PackedVisionTower",
    "PagedDecoder",
    "PatientRecordTransformer",
    "PlaneSweepDepth",
    "ReferringVideoSegmenter",
]

Rays = namedtuple("Rays", ("origins", "directions", "viewdirs", "radii", "near", "far"))


class ConeCaster(nn.Module):
    """Renders cones instead of rays: frustums as Gaussians, encoded by what they cover."""

    def __init__(self, num_samples=32, num_levels=2, min_deg=0, max_deg=12, net_width=128, white_bkgd=True):
        super().__init__()
        self.num_samples, self.num_levels, self.white_bkgd = num_samples, num_levels, white_bkgd
        self.register_buffer("scales", 2.0 ** torch.arange(min_deg, max_deg))
        self.trunk = nn.Sequential(
            nn.Linear(6 * (max_deg - min_deg), net_width), nn.ReLU(), nn.Linear(net_width, net_width), nn.ReLU()
        )
        self.density = nn.Linear(net_width, 1)
        self.color = nn.Sequential(nn.Linear(net_width + 3, net_width // 2), nn.ReLU(), nn.Linear(net_width // 2, 3))

    def cast(self, t, origins, directions, radii):
        t0, t1 = t[..., :-1], t[..., 1:]
        mu, hw = (t0 + t1) / 2, (t1 - t0) / 2
        t_mean = mu + 2 * mu * hw**2 / (3 * mu**2 + hw**2)
        r_var = radii**2 * (mu**2 / 4 + 5 / 12 * hw**2)
        mean = origins[..., None, :] + t_mean[..., None] * directions[..., None, :]
        return mean, r_var[..., None].expand_as(mean)

    def encode(self, mean, var):
        y = (mean[..., None, :] * self.scales[:, None]).flatten(-2)
        y_var = (var[..., None, :] * self.scales[:, None] ** 2).flatten(-2)
        return torch.cat([torch.exp(-0.5 * y_var) * torch.sin(y), torch.exp(-0.5 * y_var) * torch.cos(y)], dim=-1)

    def forward(self, rays: Rays, randomized: bool = False):
        steps = torch.linspace(0.0, 1.0, self.num_samples + 1, device=rays.origins.device)
        t = rays.near * (1 - steps) + rays.far * steps
        outputs = []
        for _ in range(self.num_levels):
            h = self.trunk(self.encode(*self.cast(t, rays.origins, rays.directions, rays.radii)))
            sigma = F.softplus(self.density(h)[..., 0] - 1)
            view = rays.viewdirs[..., None, :].expand(*h.shape[:-1], 3)
            rgb = torch.sigmoid(self.color(torch.cat([h, view], dim=-1)))
            delta = (t[..., 1:] - t[..., :-1]) * torch.norm(rays.directions[..., None, :], dim=-1)
            alpha = 1 - torch.exp(-sigma * delta)
            passed = torch.cat(
                [torch.ones_like(alpha[..., :1]), torch.cumprod(1 - alpha + 1e-10, dim=-1)[..., :-1]], dim=-1
            )
            weights = alpha * passed
            comp = (weights[..., None] * rgb).sum(dim=-2)
            acc = weights.sum(dim=-1)
            if self.white_bkgd:
                comp = comp + (1 - acc[..., None])
            outputs.append((comp, (weights * 0.5 * (t[..., :-1] + t[..., 1:])).sum(-1), acc))
        return outputs


class ConvGRU(nn.Module):
    def __init__(self, h_planes=64, i_planes=192):
        super().__init__()
        self.convz = nn.Conv2d(h_planes + i_planes, h_planes, 3, padding=1)
        self.convr = nn.Conv2d(h_planes + i_planes, h_planes, 3, padding=1)
        self.convq = nn.Conv2d(h_planes + i_planes, h_planes, 3, padding=1)

    def forward(self, net, *inputs):
        inp = torch.cat(inputs, dim=1)
        z = torch.sigmoid(self.convz(torch.cat([net, inp], dim=1)))
        r = torch.sigmoid(self.convr(torch.cat([net, inp], dim=1)))
        q = torch.tanh(self.convq(torch.cat([r * net, inp], dim=1)))
        return (1 - z) * net + z * q


class BundleUpdate(nn.Module):
    """One step of a visual odometry: flow of each edge of a graph of frames is revised, frames get their damping."""

    def __init__(self, cor_planes=4 * 49, dim=64):
        super().__init__()
        self.corr_encoder = nn.Sequential(
            nn.Conv2d(cor_planes, dim, 1), nn.ReLU(), nn.Conv2d(dim, dim, 3, padding=1), nn.ReLU()
        )
        self.flow_encoder = nn.Sequential(
            nn.Conv2d(4, dim, 7, padding=3), nn.ReLU(), nn.Conv2d(dim, dim // 2, 3, padding=1), nn.ReLU()
        )
        self.gru = ConvGRU(dim, dim + dim + dim // 2)
        self.delta = nn.Conv2d(dim, 2, 3, padding=1)
        self.weight = nn.Sequential(nn.Conv2d(dim, 2, 3, padding=1), nn.Sigmoid())
        self.eta = nn.Conv2d(dim, 1, 3, padding=1)

    def aggregate(self, net, ii):
        batch, num, ch, ht, wd = net.shape
        _, ix = torch.unique(ii, return_inverse=True)
        frames = int(ix.max()) + 1
        total = net.new_zeros(batch, frames, ch, ht, wd).index_add(1, ix, net)
        count = torch.bincount(ix, minlength=frames).view(1, -1, 1, 1, 1)
        return F.softplus(self.eta((total / count).view(-1, ch, ht, wd))).view(batch, frames, ht, wd)

    def forward(self, net, inp, corr, flow=None, ii=None, jj=None):
        batch, num, ch, ht, wd = net.shape
        if flow is None:
            flow = torch.zeros(batch, num, 4, ht, wd, device=net.device)
        output_dim = (batch, num, -1, ht, wd)
        net = net.view(batch * num, -1, ht, wd)
        inp = inp.view(batch * num, -1, ht, wd)
        corr = self.corr_encoder(corr.view(batch * num, -1, ht, wd))
        flow = self.flow_encoder(flow.view(batch * num, -1, ht, wd))
        net = self.gru(net, inp, corr, flow)
        delta = self.delta(net).view(*output_dim).permute(0, 1, 3, 4, 2)
        weight = self.weight(net).view(*output_dim).permute(0, 1, 3, 4, 2)
        net = net.view(*output_dim)
        if ii is not None:
            return net, delta, weight, self.aggregate(net, ii.to(net.device))
        return net, delta, weight


def homography_warp(src, src_proj, ref_proj, depths):
    batch, channels, height, width = src.shape
    planes = depths.shape[1]
    proj = torch.matmul(src_proj, torch.inverse(ref_proj))
    rot, trans = proj[:, :3, :3], proj[:, :3, 3:4]
    y, x = torch.meshgrid(torch.arange(height, dtype=src.dtype), torch.arange(width, dtype=src.dtype), indexing="ij")
    xyz = torch.stack((x.reshape(-1), y.reshape(-1), torch.ones(height * width))).to(src.device)
    rotated = torch.matmul(rot, xyz.unsqueeze(0).repeat(batch, 1, 1))
    points = rotated.unsqueeze(2) * depths.view(batch, 1, planes, 1) + trans.view(batch, 3, 1, 1)
    xy = points[:, :2] / (points[:, 2:3] + 1e-6)
    grid = torch.stack((xy[:, 0] / ((width - 1) / 2) - 1, xy[:, 1] / ((height - 1) / 2) - 1), dim=3)
    warped = F.grid_sample(src, grid.view(batch, planes * height, width, 2), align_corners=True)
    return warped.view(batch, channels, planes, height, width)


class PlaneSweepDepth(nn.Module):
    """Depth of the first of several views, by sweeping planes through the cameras' projections."""

    def __init__(self, refine=True, base=8):
        super().__init__()
        self.refine = refine
        self.feature = nn.Sequential(
            nn.Conv2d(3, base, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(base, 2 * base, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv2d(2 * base, 4 * base, 5, stride=2, padding=2),
        )
        self.regularize = nn.Sequential(
            nn.Conv3d(4 * base, base, 3, padding=1), nn.ReLU(), nn.Conv3d(base, 1, 3, padding=1)
        )
        self.refinement = nn.Sequential(nn.Conv2d(4, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 1, 3, padding=1))

    def forward(self, imgs, proj_matrices, depth_values):
        imgs = torch.unbind(imgs, 1)
        proj_matrices = torch.unbind(proj_matrices, 1)
        assert len(imgs) == len(proj_matrices), "Different number of images and projection matrices"
        num_depth, num_views = depth_values.shape[1], len(imgs)
        features = [self.feature(img) for img in imgs]
        ref = features[0].unsqueeze(2).repeat(1, 1, num_depth, 1, 1)
        volume_sum, volume_sq = ref, ref**2
        for src, src_proj in zip(features[1:], proj_matrices[1:]):
            warped = homography_warp(src, src_proj, proj_matrices[0], depth_values)
            volume_sum = volume_sum + warped
            volume_sq = volume_sq + warped**2
        variance = volume_sq / num_views - (volume_sum / num_views) ** 2
        prob = F.softmax(self.regularize(variance).squeeze(1), dim=1)
        depth = torch.sum(prob * depth_values.view(*depth_values.shape, 1, 1), 1)
        if not self.refine:
            return {"depth": depth, "photometric_confidence": prob.max(1)[0]}
        small = F.interpolate(imgs[0], depth.shape[-2:], mode="bilinear", align_corners=False)
        refined = depth.unsqueeze(1) + self.refinement(torch.cat((small, depth.unsqueeze(1)), dim=1))
        return {"depth": depth, "refined_depth": refined, "photometric_confidence": prob.max(1)[0]}


class NestedTensor:
    def __init__(self, tensors, mask: Optional[Tensor]):
        self.tensors = tensors
        self.mask = mask

    def decompose(self):
        return self.tensors, self.mask


class NoisedQueryDetector(nn.Module):
    """Detects with queries; while it trains, noised boxes of the targets go along as further queries."""

    def __init__(self, num_classes=91, num_queries=50, hidden_dim=128, nheads=8, label_noise=0.2):
        super().__init__()
        self.num_queries, self.num_classes, self.label_noise = num_queries, num_classes, label_noise
        self.backbone = nn.Sequential(nn.Conv2d(3, 32, 7, 8, 3), nn.ReLU(), nn.Conv2d(32, hidden_dim, 3, 4, 1))
        self.query_embed = nn.Embedding(num_queries, hidden_dim)
        self.label_enc = nn.Embedding(num_classes + 1, hidden_dim)
        self.box_enc = nn.Linear(4, hidden_dim)
        self.encoder = nn.TransformerEncoderLayer(hidden_dim, nheads, 256, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(hidden_dim, nheads, 256, batch_first=True)
        self.class_embed = nn.Linear(hidden_dim, num_classes)
        self.bbox_embed = nn.Sequential(nn.Linear(hidden_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 4))

    def noised(self, targets, batch):
        most = max(len(t["labels"]) for t in targets)
        queries = self.query_embed.weight.new_zeros(batch, most, self.query_embed.weight.shape[1])
        for i, target in enumerate(targets):
            labels, boxes = target["labels"], target["boxes"]
            flip = torch.rand(labels.shape) < self.label_noise
            labels = torch.where(flip, torch.randint_like(labels, 0, self.num_classes), labels)
            boxes = (boxes + 0.1 * torch.randn_like(boxes)).clamp(0, 1)
            queries[i, : len(labels)] = self.label_enc(labels) + self.box_enc(boxes)
        return queries

    def forward(self, samples: NestedTensor, targets: Optional[list[dict[str, Tensor]]] = None):
        images, mask = samples.decompose()
        features = self.backbone(images)
        mask = F.interpolate(mask[None].float(), size=features.shape[-2:]).to(torch.bool)[0]
        memory = self.encoder(features.flatten(2).transpose(1, 2), src_key_padding_mask=mask.flatten(1))
        queries = self.query_embed.weight.unsqueeze(0).repeat(images.shape[0], 1, 1)
        if self.training and targets is not None:
            queries = torch.cat([self.noised(targets, images.shape[0]), queries], dim=1)
        hidden = self.decoder(queries, memory, memory_key_padding_mask=mask.flatten(1))
        return {"pred_logits": self.class_embed(hidden), "pred_boxes": self.bbox_embed(hidden).sigmoid()}


class InteractiveMasks(nn.Module):
    """Cuts out what clicks and boxes point at: a list of records, each with a picture and prompts of its own."""

    mask_threshold = 0.0

    def __init__(self, embed_dim=64, img_size=256, num_multimask=3):
        super().__init__()
        self.img_size, self.embed_dim = img_size, embed_dim
        self.image_encoder = nn.Sequential(
            nn.Conv2d(3, embed_dim, 16, 16), nn.GELU(), nn.Conv2d(embed_dim, embed_dim, 3, padding=1)
        )
        self.register_buffer("gaussian", torch.randn(2, embed_dim // 2))
        self.point_embeddings = nn.ModuleList([nn.Embedding(1, embed_dim) for _ in range(4)])
        self.not_a_point = nn.Embedding(1, embed_dim)
        self.mask_tokens = nn.Embedding(num_multimask + 1, embed_dim)
        self.transformer = nn.TransformerDecoderLayer(embed_dim, 4, 128, batch_first=True)
        self.iou_head = nn.Linear(embed_dim, 1)
        self.register_buffer("pixel_mean", torch.tensor([123.7, 116.3, 103.5]).view(-1, 1, 1), False)

    def fourier(self, coords):
        coords = 2 * math.pi * ((2 * coords / self.img_size - 1) @ self.gaussian)
        return torch.cat([coords.sin(), coords.cos()], dim=-1)

    def prompt(self, points, labels, boxes):
        sparse = []
        if points is not None:
            embedded = self.fourier(points + 0.5)
            unknown = (labels == -1).unsqueeze(-1)
            embedded = torch.where(unknown, self.not_a_point.weight, embedded)
            for value in (0, 1):
                embedded = embedded + (labels == value).unsqueeze(-1) * self.point_embeddings[value].weight
            sparse.append(embedded)
        if boxes is not None:
            corners = self.fourier(boxes.reshape(-1, 2, 2) + 0.5)
            corners = corners + torch.stack([self.point_embeddings[2].weight[0], self.point_embeddings[3].weight[0]])
            sparse.append(corners)
        return torch.cat(sparse, dim=1)

    def preprocess(self, x):
        x = (x - self.pixel_mean) / 58.0
        h, w = x.shape[-2:]
        return F.pad(x, (0, self.img_size - w, 0, self.img_size - h))

    def forward(self, batched_input: list[dict[str, Any]], multimask_output: bool):
        images = torch.stack([self.preprocess(record["image"]) for record in batched_input], dim=0)
        embeddings = self.image_encoder(images)
        outputs = []
        for record, embedding in zip(batched_input, embeddings):
            points = (record["point_coords"], record["point_labels"]) if "point_coords" in record else (None, None)
            sparse = self.prompt(*points, record.get("boxes", None))
            tokens = torch.cat([self.mask_tokens.weight.expand(sparse.shape[0], -1, -1), sparse], dim=1)
            memory = embedding.flatten(1).t().expand(sparse.shape[0], -1, -1)
            hidden = self.transformer(tokens, memory)[:, : self.mask_tokens.num_embeddings]
            hidden = hidden[:, 1:] if multimask_output else hidden[:, :1]
            masks = torch.einsum("bkc,chw->bkhw", hidden, embedding)
            masks = F.interpolate(masks, (self.img_size, self.img_size), mode="bilinear", align_corners=False)
            masks = masks[..., : record["original_size"][0], : record["original_size"][1]]
            outputs.append(
                {
                    "masks": masks > self.mask_threshold,
                    "iou_predictions": self.iou_head(hidden).squeeze(-1),
                    "low_res_logits": masks,
                }
            )
        return outputs


class ReferringVideoSegmenter(nn.Module):
    """Follows through a clip what a sentence names; frames and words that are filled up are masked."""

    def __init__(self, vocab_size=30522, d_model=96, nheads=8, num_queries=5):
        super().__init__()
        self.visual = nn.Sequential(nn.Conv2d(3, d_model, 8, 8), nn.ReLU())
        self.words = nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.text = nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model, nheads, 192, batch_first=True), 1)
        self.fuse = nn.MultiheadAttention(d_model, nheads)
        self.instance = nn.Embedding(num_queries, d_model)
        self.decoder = nn.MultiheadAttention(d_model, nheads)
        self.score = nn.Linear(d_model, 1)

    def forward(self, clip, frame_valid, text_ids, text_attention_mask):
        b, t, c, h, w = clip.shape
        padding = ~text_attention_mask.bool()
        text = self.text(self.words(text_ids), src_key_padding_mask=padding).transpose(0, 1)
        features = self.visual(clip.flatten(0, 1))
        hw = features.shape[-2:]
        features = features.view(b, t, -1, *hw).permute(1, 3, 4, 0, 2).flatten(0, 2)
        fused, _ = self.fuse(features, text, text, key_padding_mask=padding)
        features = features * fused
        keys = ~frame_valid.bool()[:, :, None].expand(b, t, hw[0] * hw[1]).flatten(1)
        queries = self.instance.weight.unsqueeze(1).repeat(1, b, 1)
        hidden, _ = self.decoder(queries, features, features, key_padding_mask=keys)
        masks = torch.einsum("qbc,nbc->bqn", hidden, features).view(b, -1, t, *hw)
        masks = masks * frame_valid[:, None, :, None, None]
        return F.interpolate(masks.flatten(1, 2), size=(h, w)).view(b, -1, t, h, w), self.score(hidden).transpose(0, 1)


class HabitatPolicy(nn.Module):
    """An agent at home: what it sees and where it shall go, what it did before, and whether an episode began anew."""

    def __init__(self, num_actions=4, hidden_size=256, embed=32, depth_only=False):
        super().__init__()
        self.depth_only = depth_only
        self.prev_action_embedding = nn.Embedding(num_actions + 1, embed)
        self.tgt_embedding = nn.Linear(3, embed)
        channels = 1 if depth_only else 4
        self.visual = nn.Sequential(
            nn.Conv2d(channels, 32, 8, 4),
            nn.ReLU(),
            nn.Conv2d(32, 32, 4, 2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
        )
        self.rnn = nn.GRU(32 * 16 + 2 * embed, hidden_size, num_layers=2)
        self.action = nn.Linear(hidden_size, num_actions)
        self.critic = nn.Linear(hidden_size, 1)

    def see(self, observations):
        frames = []
        if not self.depth_only:
            frames.append(observations["rgb"].permute(0, 3, 1, 2).float() / 255.0)
        frames.append(observations["depth"].permute(0, 3, 1, 2))
        return self.visual(torch.cat(frames, dim=1))

    def recur(self, x, states, masks):
        states = states.permute(1, 0, 2)
        n = states.size(1)
        if x.size(0) == n:
            states = torch.where(masks.view(1, -1, 1), states, states.new_zeros(()))
            x, states = self.rnn(x.unsqueeze(0), states)
            x = x.squeeze(0)
        else:
            steps = x.size(0) // n
            x, masks = x.view(steps, n, -1), masks.view(steps, n)
            outs = []
            for t in range(steps):
                out, states = self.rnn(x[t : t + 1], states * masks[t].view(1, -1, 1))
                outs.append(out)
            x = torch.cat(outs).flatten(0, 1)
        return x, states.permute(1, 0, 2)

    def forward(self, observations, rnn_hidden_states, prev_actions, masks):
        goal = observations["pointgoal_with_gps_compass"]
        goal = torch.stack([goal[:, 0], torch.cos(-goal[:, 1]), torch.sin(-goal[:, 1])], -1)
        prev = torch.where(masks.view(-1), prev_actions.view(-1) + 1, torch.zeros_like(prev_actions.view(-1)))
        x = torch.cat([self.see(observations), self.tgt_embedding(goal), self.prev_action_embedding(prev)], dim=1)
        x, states = self.recur(x, rnn_hidden_states, masks)
        return self.action(x).log_softmax(-1), self.critic(x), states


class EntityAgent(nn.Module):
    """Plays with many units: scalars, a map, entities as many as there are, and an action of several parts."""

    def __init__(self, scalar_dim=40, entity_dim=64, n_actions=50, n_delays=16, map_channels=6, core=128):
        super().__init__()
        self.scalar = nn.Linear(scalar_dim, core)
        self.unit_type = nn.Embedding(260, 16)
        self.entity = nn.Linear(entity_dim + 16, core)
        self.entity_attn = nn.TransformerEncoderLayer(core, 4, 256, batch_first=True)
        self.spatial = nn.Sequential(
            nn.Conv2d(map_channels + 8, 32, 4, 2, 1), nn.ReLU(), nn.Conv2d(32, core, 4, 2, 1), nn.ReLU()
        )
        self.scatter = nn.Linear(core, 8)
        self.core = nn.LSTM(3 * core, core)
        self.action_type = nn.Linear(core, n_actions)
        self.delay = nn.Linear(core, n_delays)
        self.key = nn.Linear(core, 32)
        self.query = nn.Linear(core, 32)

    def forward(
        self,
        scalar_features,
        unit_types,
        entity_features,
        entity_locations,
        entity_num,
        spatial,
        hidden_state,
        legal_actions,
    ):
        batch, count, _ = entity_features.shape
        valid = torch.arange(count, device=entity_num.device).unsqueeze(0) < entity_num.unsqueeze(1)
        entities = self.entity(torch.cat([entity_features, self.unit_type(unit_types)], dim=-1))
        entities = self.entity_attn(entities, src_key_padding_mask=~valid) * valid.unsqueeze(-1)
        height, width = spatial.shape[-2:]
        where = entity_locations[..., 1] * width + entity_locations[..., 0]
        painted = spatial.new_zeros(batch, 8, height * width)
        painted = painted.scatter_add(2, where.unsqueeze(1).expand(-1, 8, -1), self.scatter(entities).transpose(1, 2))
        picture = self.spatial(torch.cat([spatial, painted.view(batch, 8, height, width)], dim=1)).mean((2, 3))
        pooled = entities.sum(1) / entity_num.unsqueeze(-1)
        x, hidden_state = self.core(
            torch.cat([F.relu(self.scalar(scalar_features)), pooled, picture], -1).unsqueeze(0), hidden_state
        )
        x = x.squeeze(0)
        logits = self.action_type(x).masked_fill(~legal_actions, -1e9)
        targets = torch.einsum("bd,bnd->bn", self.query(x), self.key(entities)).masked_fill(~valid, -1e9)
        return logits, self.delay(x), targets, hidden_state


class MSAFolding(nn.Module):
    """Sequences that evolved together and pairs of residues inform each other; distances come out."""

    def __init__(self, tf_dim=22, msa_dim=49, c_z=64, c_m=96, relpos_k=32, heads=8, bins=64):
        super().__init__()
        self.relpos_k = relpos_k
        self.linear_tf_z_i, self.linear_tf_z_j = nn.Linear(tf_dim, c_z), nn.Linear(tf_dim, c_z)
        self.linear_tf_m, self.linear_msa_m = nn.Linear(tf_dim, c_m), nn.Linear(msa_dim, c_m)
        self.linear_relpos = nn.Linear(2 * relpos_k + 1, c_z)
        self.row_bias = nn.Linear(c_z, heads, bias=False)
        self.row_qkv, self.row_out = nn.Linear(c_m, 3 * c_m), nn.Linear(c_m, c_m)
        self.outer = nn.Linear(c_m, 16)
        self.outer_out = nn.Linear(256, c_z)
        self.distogram = nn.Linear(c_z, bins)
        self.heads = heads

    def embed(self, feats):
        tf, ri, msa = feats["target_feat"], feats["residue_index"], feats["msa_feat"]
        d = ri[:, :, None] - ri[:, None, :]
        d = F.one_hot((d + self.relpos_k).clamp(0, 2 * self.relpos_k), 2 * self.relpos_k + 1).to(tf.dtype)
        z = self.linear_tf_z_i(tf)[:, :, None] + self.linear_tf_z_j(tf)[:, None] + self.linear_relpos(d)
        m = self.linear_msa_m(msa) + self.linear_tf_m(tf).unsqueeze(1).expand(-1, msa.shape[1], -1, -1)
        return m, z

    def row_attention(self, m, z, mask):
        b, s, r, c = m.shape
        q, k, v = self.row_qkv(m).view(b, s, r, 3, self.heads, -1).unbind(3)
        logits = torch.einsum("bsqhd,bskhd->bshqk", q, k) / math.sqrt(c // self.heads)
        logits = logits + self.row_bias(z).permute(0, 3, 1, 2).unsqueeze(1)
        logits = logits + 1e9 * (mask[:, :, None, None, :] - 1)
        return self.row_out(torch.einsum("bshqk,bskhd->bsqhd", logits.softmax(-1), v).reshape(b, s, r, c))

    def forward(self, batch):
        m, z = self.embed(batch)
        msa_mask = batch["msa_mask"]
        pair_mask = batch["seq_mask"][..., :, None] * batch["seq_mask"][..., None, :]
        m = m + self.row_attention(m, z, msa_mask)
        a = self.outer(m) * msa_mask.unsqueeze(-1)
        outer = torch.einsum("bsic,bsjd->bijcd", a, a).flatten(-2)
        norm = torch.einsum("bsi,bsj->bij", msa_mask, msa_mask).unsqueeze(-1)
        z = (z + self.outer_out(outer / (norm + 1e-3))) * pair_mask.unsqueeze(-1)
        logits = self.distogram(z)
        return {"distogram_logits": logits + logits.transpose(1, 2), "msa": m, "pair": z}


class PatientRecordTransformer(nn.Module):
    """Visits of a patient as one sequence of codes, with ages, segments and places in time."""

    def __init__(
        self, vocab_size=1500, age_vocab_size=110, seg_vocab_size=2, max_position=256, hidden_size=96, num_labels=301
    ):
        super().__init__()
        self.word = nn.Embedding(vocab_size, hidden_size)
        self.segment = nn.Embedding(seg_vocab_size, hidden_size)
        self.age = nn.Embedding(age_vocab_size, hidden_size)
        self.posi = nn.Embedding.from_pretrained(torch.randn(max_position, hidden_size))
        self.norm = nn.LayerNorm(hidden_size)
        self.blocks = nn.ModuleList(nn.MultiheadAttention(hidden_size, 6, batch_first=True) for _ in range(2))
        self.ffn = nn.ModuleList(
            nn.Sequential(nn.Linear(hidden_size, 192), nn.GELU(), nn.Linear(192, hidden_size)) for _ in range(2)
        )
        self.pooler = nn.Linear(hidden_size, hidden_size)
        self.classifier = nn.Linear(hidden_size, num_labels)

    def forward(self, input_ids, age_ids=None, seg_ids=None, posi_ids=None, attention_mask=None, labels=None):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        if age_ids is None:
            age_ids = torch.zeros_like(input_ids)
        if seg_ids is None:
            seg_ids = torch.zeros_like(input_ids)
        if posi_ids is None:
            posi_ids = torch.zeros_like(input_ids)
        x = self.norm(self.word(input_ids) + self.segment(seg_ids) + self.age(age_ids) + self.posi(posi_ids))
        for attn, ffn in zip(self.blocks, self.ffn):
            x = x + attn(x, x, x, key_padding_mask=attention_mask == 0)[0]
            x = x + ffn(x)
        logits = self.classifier(torch.tanh(self.pooler(x[:, 0])))
        if labels is not None:
            return nn.MultiLabelSoftMarginLoss()(logits, labels.float()), logits
        return logits


@dataclass
class AttentionMetadata:
    """What a scheduler knows of the sequences of one step."""

    slot_mapping: Tensor
    block_tables: Tensor
    context_lens: Tensor


class PagedAttention(nn.Module):
    def __init__(self, hidden, heads, block_size):
        super().__init__()
        self.heads, self.block_size = heads, block_size
        self.qkv_proj = nn.Linear(hidden, 3 * hidden, bias=False)
        self.o_proj = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x, kv_cache, meta):
        n, hidden = x.shape
        q, k, v = (p.view(n, self.heads, -1) for p in self.qkv_proj(x).chunk(3, dim=-1))
        key_cache, value_cache = kv_cache
        flat_k = key_cache.flatten(0, 1).index_copy(0, meta.slot_mapping, k)
        flat_v = value_cache.flatten(0, 1).index_copy(0, meta.slot_mapping, v)
        keys = flat_k.view_as(key_cache)[meta.block_tables].flatten(1, 2)
        values = flat_v.view_as(value_cache)[meta.block_tables].flatten(1, 2)
        scores = torch.einsum("nhd,nlhd->nhl", q, keys) / math.sqrt(q.shape[-1])
        seen = torch.arange(keys.shape[1], device=x.device)[None] < meta.context_lens[:, None]
        weights = scores.masked_fill(~seen[:, None], float("-inf")).softmax(-1)
        return self.o_proj(torch.einsum("nhl,nlhd->nhd", weights, values).reshape(n, hidden))


class PagedDecoder(nn.Module):
    """A language model as a server runs it: one token of each sequence, caches in blocks that a table points to."""

    def __init__(self, vocab_size=32000, hidden_size=128, num_heads=4, num_layers=2, block_size=16):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.rotary = nn.Embedding(2048, hidden_size)
        self.layers = nn.ModuleList(PagedAttention(hidden_size, num_heads, block_size) for _ in range(num_layers))
        self.norm = nn.LayerNorm(hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size, bias=False)

    def forward(
        self,
        input_ids: Tensor,
        positions: Tensor,
        kv_caches: list[tuple[Tensor, Tensor]],
        attn_metadata: AttentionMetadata,
    ) -> Tensor:
        hidden = self.embed_tokens(input_ids) + self.rotary(positions)
        for i in range(len(self.layers)):
            hidden = hidden + self.layers[i](hidden, kv_caches[i], attn_metadata)
        return self.lm_head(self.norm(hidden))


class PackedVisionBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def attend(self, x, cu_seqlens):
        length = x.shape[0]
        q, k, v = self.qkv(x).reshape(length, 3, self.heads, -1).permute(1, 2, 0, 3).unbind(0)
        mask = torch.zeros(1, length, length, dtype=torch.bool, device=x.device)
        for i in range(1, len(cu_seqlens)):
            mask[..., cu_seqlens[i - 1] : cu_seqlens[i], cu_seqlens[i - 1] : cu_seqlens[i]] = True
        out = F.scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), attn_mask=mask)
        return self.proj(out.squeeze(0).transpose(0, 1).reshape(length, -1))

    def forward(self, x, cu_seqlens):
        x = x + self.attend(self.norm1(x), cu_seqlens)
        return x + self.mlp(self.norm2(x))


class PackedVisionTower(nn.Module):
    """Pictures of any size packed into one row of patches; sequences end where the counts add up to."""

    def __init__(self, patch_size=14, in_channels=3, embed_dim=64, hidden_size=128, depth=2, num_heads=4, merge=2):
        super().__init__()
        self.in_channels, self.patch_size, self.merge = in_channels, patch_size, merge
        self.patch_embed = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size, bias=False)
        self.blocks = nn.ModuleList(PackedVisionBlock(embed_dim, num_heads) for _ in range(depth))
        self.merger = nn.Sequential(
            nn.LayerNorm(embed_dim * merge**2), nn.Linear(embed_dim * merge**2, hidden_size), nn.GELU()
        )

    def forward(self, hidden_states: Tensor, cu_seqlens: Tensor) -> Tensor:
        hidden_states = hidden_states.view(-1, self.in_channels, self.patch_size, self.patch_size)
        hidden_states = self.patch_embed(hidden_states).flatten(1)
        for block in self.blocks:
            hidden_states = block(hidden_states, cu_seqlens=cu_seqlens)
        return self.merger(hidden_states.view(-1, hidden_states.shape[-1] * self.merge**2))
