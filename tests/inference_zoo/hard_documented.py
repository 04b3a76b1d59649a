"""Hard: models whose docstrings and comments say what goes in: papers' repositories and companies.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

__all__ = [
    "CrossModalRetriever",
    "DockingScorer",
    "FlowPolicy",
    "LatentDynamics",
    "LatticeDecoder",
    "MeshDeformer",
    "PairformerStack",
    "RadianceField",
    "RelationHead",
    "SlotEncoder",
    "SparseMoELayer",
]


class RadianceField(nn.Module):
    """A coordinate network with a proposal over the samples of each ray."""

    def __init__(self, num_freqs: int = 6, dir_freqs: int = 2, hidden_dim: int = 64, num_samples: int = 16):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(num_freqs))
        self.register_buffer("dir_freqs", 2.0 ** torch.arange(dir_freqs))
        self.num_samples = num_samples
        self.trunk = nn.Sequential(nn.Linear(6 * num_freqs, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, hidden_dim))
        self.sigma = nn.Linear(hidden_dim, 1)
        self.rgb = nn.Sequential(nn.Linear(hidden_dim + 6 * dir_freqs, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 3))

    @staticmethod
    def encode(x, freqs):
        x = (x[..., None] * freqs).flatten(-2)
        return torch.cat([x.sin(), x.cos()], -1)

    def forward(self, rays_o, rays_d, near, far):
        """Render rays.

        Args:
            rays_o: [N_rays, 3] ray origins
            rays_d: [N_rays, 3] ray directions
            near: [N_rays, 1] near bound
            far: [N_rays, 1] far bound

        Returns:
            rgb: [N_rays, 3], depth: [N_rays]
        """
        t = torch.linspace(0, 1, self.num_samples, device=rays_o.device)
        z = near * (1 - t) + far * t  # [N_rays, N_samples]
        pts = rays_o[..., None, :] + rays_d[..., None, :] * z[..., :, None]
        h = F.relu(self.trunk(self.encode(pts, self.freqs)))
        dirs = self.encode(F.normalize(rays_d, dim=-1), self.dir_freqs)
        dirs = dirs[:, None].expand(-1, self.num_samples, -1)
        rgb = torch.sigmoid(self.rgb(torch.cat([h, dirs], -1)))
        alpha = 1 - torch.exp(-F.softplus(self.sigma(h)[..., 0]))
        trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
        w = alpha * trans
        return (w[..., None] * rgb).sum(-2), (w * z).sum(-1)


class DockingScorer(nn.Module):
    """Scores poses of a ligand against a pocket with distance features."""

    def __init__(self, n_lig_types, n_rec_types, dim=32, n_rbf=16, cutoff=10.0):
        super().__init__()
        self.lig_emb = nn.Embedding(n_lig_types, dim)
        self.rec_emb = nn.Embedding(n_rec_types, dim)
        self.register_buffer("centers", torch.linspace(0, cutoff, n_rbf))
        self.edge = nn.Sequential(nn.Linear(2 * dim + n_rbf, dim), nn.SiLU(), nn.Linear(dim, 1))
        self.cutoff = cutoff

    def forward(self, lig_z, lig_pos, rec_z, rec_pos, lig_mask=None):
        r"""
        Args:
            lig_z (LongTensor): atom types of the ligand, shape :math:`(B, L)`
            lig_pos (Tensor): coordinates in Å, shape :math:`(B, L, 3)`
            rec_z (LongTensor): residue types of the pocket, shape :math:`(B, R)`
            rec_pos (Tensor): positions of C-alpha atoms, shape :math:`(B, R, 3)`
            lig_mask (BoolTensor, optional): True where an atom is real, shape :math:`(B, L)`
        """
        dist = (lig_pos[:, :, None] - rec_pos[:, None]).norm(dim=-1)
        rbf = torch.exp(-((dist[..., None] - self.centers) ** 2))
        a = self.lig_emb(lig_z)[:, :, None].expand(-1, -1, rec_z.shape[1], -1)
        b = self.rec_emb(rec_z)[:, None].expand(-1, lig_z.shape[1], -1, -1)
        e = self.edge(torch.cat([a, b, rbf], -1)).squeeze(-1)
        e = e * (dist < self.cutoff)
        if lig_mask is not None:
            e = e * lig_mask[..., None]
        return e.sum((1, 2))


class TriangleUpdate(nn.Module):
    def __init__(self, c_z, c_hidden, outgoing=True):
        super().__init__()
        self.norm, self.out_norm = nn.LayerNorm(c_z), nn.LayerNorm(c_hidden)
        self.a, self.b = nn.Linear(c_z, c_hidden), nn.Linear(c_z, c_hidden)
        self.g, self.o = nn.Linear(c_z, c_z), nn.Linear(c_hidden, c_z)
        self.outgoing = outgoing

    def forward(self, z, mask):
        """z: [*, N, N, C_z], mask: [*, N, N]"""
        z = self.norm(z)
        a, b = self.a(z) * mask[..., None], self.b(z) * mask[..., None]
        eq = "...ikc,...jkc->...ijc" if self.outgoing else "...kic,...kjc->...ijc"
        return torch.sigmoid(self.g(z)) * self.o(self.out_norm(torch.einsum(eq, a, b)))


class PairformerStack(nn.Module):
    def __init__(self, c_s=64, c_z=32, c_hidden=16, no_blocks=2, no_heads=4):
        super().__init__()
        self.out = nn.ModuleList([TriangleUpdate(c_z, c_hidden) for _ in range(no_blocks)])
        self.inc = nn.ModuleList([TriangleUpdate(c_z, c_hidden, False) for _ in range(no_blocks)])
        self.bias = nn.ModuleList([nn.Linear(c_z, no_heads) for _ in range(no_blocks)])
        self.qkv = nn.ModuleList([nn.Linear(c_s, 3 * c_s) for _ in range(no_blocks)])
        self.no_heads = no_heads

    def forward(self, s: Tensor, z: Tensor, seq_mask: Tensor) -> Tuple[Tensor, Tensor]:
        """
        Args:
            s: [B, N_res, C_s] single representation
            z: [B, N_res, N_res, C_z] pair representation
            seq_mask: [B, N_res] 1 for residues that are resolved
        """
        pair_mask = seq_mask[..., :, None] * seq_mask[..., None, :]
        for out, inc, bias, qkv in zip(self.out, self.inc, self.bias, self.qkv):
            z = z + out(z, pair_mask)
            z = z + inc(z, pair_mask)
            q, k, v = qkv(s).unflatten(-1, (3, self.no_heads, -1)).unbind(-3)
            att = torch.einsum("...qhd,...khd->...hqk", q, k) / math.sqrt(q.shape[-1])
            att = att + bias(z).movedim(-1, -3) + (pair_mask[..., None, :, :] - 1) * 1e9
            s = s + torch.einsum("...hqk,...khd->...qhd", att.softmax(-1), v).flatten(-2)
        return s, z


@dataclass
class State:
    """
    deter: (B, deter_dim) recurrent state
    stoch: (B, stoch_dim, num_classes) one-hot samples
    """

    deter: Tensor
    stoch: Tensor


class LatentDynamics(nn.Module):
    """One imagined or observed step of a recurrent state-space model."""

    def __init__(self, action_dim, embed_dim=96, deter_dim=64, stoch_dim=8, num_classes=8):
        super().__init__()
        self.stoch_dim, self.num_classes = stoch_dim, num_classes
        self.inp = nn.Linear(stoch_dim * num_classes + action_dim, deter_dim)
        self.cell = nn.GRUCell(deter_dim, deter_dim)
        self.prior = nn.Linear(deter_dim, stoch_dim * num_classes)
        self.post = nn.Linear(deter_dim + embed_dim, stoch_dim * num_classes)

    def forward(self, prev: State, action: Tensor, embed: Optional[Tensor] = None, is_first: Optional[Tensor] = None):
        """
        Args:
            prev: state of the step before
            action: (B, action_dim)
            embed: (B, embed_dim), features of the observation; None while dreaming
            is_first: (B,) bool, where episodes begin
        """
        stoch, deter = prev.stoch, prev.deter
        if is_first is not None:
            keep = (~is_first).float()
            stoch, deter = stoch * keep[:, None, None], deter * keep[:, None]
        x = F.elu(self.inp(torch.cat([stoch.flatten(1), action], -1)))
        deter = self.cell(x, deter)
        logits = self.prior(deter) if embed is None else self.post(torch.cat([deter, embed], -1))
        logits = logits.view(-1, self.stoch_dim, self.num_classes)
        return State(deter, logits.softmax(-1)), logits


class MeshDeformer(nn.Module):
    """Moves the vertices of a template towards an image, with features pooled at projections."""

    def __init__(self, feat_dim=32, hidden=64, n_steps=3):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(3, feat_dim, 7, 4, 3), nn.ReLU(), nn.Conv2d(feat_dim, feat_dim, 3, 2, 1))
        self.msg = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(n_steps)])
        self.embed = nn.Linear(feat_dim + 3, hidden)
        self.move = nn.Linear(hidden, 3)

    def forward(self, img, verts, adj, K):
        """
        img:   B x 3 x H x W
        verts: B x V x 3, in the frame of the camera
        adj:   V x V, normalised adjacency
        K:     B x 3 x 3, intrinsics
        """
        feats = self.cnn(img)  # B x F x H/8 x W/8
        uvw = torch.einsum("bij,bvj->bvi", K, verts)
        uv = uvw[..., :2] / uvw[..., 2:].clamp(min=1e-3)
        grid = uv[:, :, None] * 2 - 1
        sampled = F.grid_sample(feats, grid, align_corners=False)[..., 0].transpose(1, 2)
        h = F.relu(self.embed(torch.cat([sampled, verts], -1)))
        for msg in self.msg:
            h = h + F.relu(adj @ msg(h))
        return verts + self.move(h)


class CrossModalRetriever(nn.Module):
    def __init__(self, vocab_size=1000, d_model=64, region_dim=256, n_heads=4):
        super().__init__()
        self.word = nn.Embedding(vocab_size, d_model)
        self.region = nn.Linear(region_dim, d_model)
        self.box = nn.Linear(5, d_model)
        self.cross = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.logit_scale = nn.Parameter(torch.tensor(2.66))

    def forward(self, batch: Dict[str, Tensor]) -> Tensor:
        """Similarity of every caption with every image.

        Args:
            batch: a dict with the keys
                - ``input_ids``: (B, L) token ids
                - ``token_mask``: (B, L), 1 for tokens and 0 for padding
                - ``regions``: (B, R, region_dim) features of a detector
                - ``boxes``: (B, R, 4), normalised xyxy
        """
        boxes = batch["boxes"]
        area = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
        regions = self.region(batch["regions"]) + self.box(torch.cat([boxes, area[..., None]], -1))
        words = self.word(batch["input_ids"])
        joint, _ = self.cross(words, regions, regions)
        mask = batch["token_mask"].to(joint.dtype)
        text = (joint * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        image = regions.mean(1)
        return self.logit_scale.exp() * F.normalize(text, dim=-1) @ F.normalize(image, dim=-1).T


class SlotEncoder(nn.Module):
    """Slots of a video, handed from frame to frame."""

    def __init__(self, num_slots=5, slot_dim=48, feat_dim=64, n_iters=2):
        super().__init__()
        self.init = nn.Parameter(torch.randn(num_slots, slot_dim) * 0.1)
        self.to_q, self.to_kv = nn.Linear(slot_dim, slot_dim), nn.Linear(feat_dim, 2 * slot_dim)
        self.gru = nn.GRUCell(slot_dim, slot_dim)
        self.n_iters = n_iters

    def step(self, slots, feats):
        k, v = self.to_kv(feats).chunk(2, -1)
        for _ in range(self.n_iters):
            q = self.to_q(slots)
            attn = torch.einsum("bnd,bkd->bnk", k, q).softmax(-1) + 1e-8
            attn = attn / attn.sum(1, keepdim=True)
            upd = torch.einsum("bnk,bnd->bkd", attn, v)
            slots = self.gru(upd.flatten(0, 1), slots.flatten(0, 1)).view_as(slots)
        return slots, attn

    def forward(self, feats, prev_slots=None):
        """
        Args:
            feats: `[b, t, n, d]` tokens of a frozen backbone, where n = h * w
            prev_slots: `[b, k, slot_dim]`, or None for the first clip

        Returns:
            slots: `[b, t, k, slot_dim]`
        """
        slots = self.init.expand(feats.shape[0], -1, -1) if prev_slots is None else prev_slots
        out = []
        for frame in feats.unbind(dim=1):
            slots, _ = self.step(slots, frame)
            out.append(slots)
        return torch.stack(out, 1)


class FlowPolicy(nn.Module):
    """A diffusion-style policy conditioned on several cameras and proprioception."""

    def __init__(
        self,
        action_dim: int = 7,
        horizon: int = 16,
        cond_dim: int = 64,
        camera_names: Sequence[str] = ("wrist", "front"),
    ):
        super().__init__()
        self.cameras = nn.ModuleDict(
            {
                name: nn.Sequential(
                    nn.Conv2d(3, 16, 8, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, cond_dim)
                )
                for name in camera_names
            }
        )
        self.proprio = nn.Linear(9, cond_dim)
        self.time = nn.Sequential(nn.Linear(1, cond_dim), nn.Mish(), nn.Linear(cond_dim, cond_dim))
        self.inp = nn.Conv1d(action_dim, cond_dim, 5, padding=2)
        self.film = nn.Linear(cond_dim, 2 * cond_dim)
        self.out = nn.Conv1d(cond_dim, action_dim, 1)

    def forward(self, sample: Tensor, timestep: Tensor, obs: Dict[str, Tensor]) -> Tensor:
        """
        Args:
            sample: (B, horizon, action_dim) noisy actions
            timestep: (B,) in [0, 1]
            obs: dict of observations:
                wrist: (B, 3, 96, 96)
                front: (B, 3, 96, 96)
                proprio: (B, 9), joint positions and gripper
        """
        cond = self.proprio(obs["proprio"]) + self.time(timestep[:, None])
        for name, net in self.cameras.items():
            cond = cond + net(obs[name])
        scale, shift = self.film(F.mish(cond)).chunk(2, -1)
        x = self.inp(sample.transpose(1, 2))
        x = F.mish(x * (1 + scale[..., None]) + shift[..., None])
        return self.out(x).transpose(1, 2)


class Roi(NamedTuple):
    boxes: Tensor  # (R, 4), xyxy in pixels
    batch_index: Tensor  # (R,) long, which image each belongs to
    image_size: Tuple[int, int]  # H, W


class RelationHead(nn.Module):
    """Relations of boxes by their geometry and pooled features."""

    def __init__(self, in_channels=32, geo_dim=16, n_predicates=50):
        super().__init__()
        self.feat = nn.Linear(in_channels, geo_dim)
        self.geo = nn.Sequential(nn.Linear(4, geo_dim), nn.ReLU(), nn.Linear(geo_dim, geo_dim))
        self.rel = nn.Bilinear(geo_dim, geo_dim, n_predicates)

    def forward(self, fmap: Tensor, rois: Roi):
        """
        fmap: (B, in_channels, H/8, W/8) map of the backbone
        rois: proposals of all images
        """
        h, w = rois.image_size
        size = torch.tensor([w, h, w, h], dtype=fmap.dtype)
        boxes = rois.boxes / size
        centre = boxes[:, :2] + boxes[:, 2:]
        sampled = F.grid_sample(fmap, (centre[None] - 1).expand(fmap.shape[0], -1, -1)[:, :, None], align_corners=False)
        sampled = sampled[..., 0].permute(0, 2, 1)  # B x R x C
        own = F.one_hot(rois.batch_index, fmap.shape[0]).to(fmap.dtype).t()
        feats = (sampled * own[..., None]).sum(0)  # R x C
        nodes = self.feat(feats) + self.geo(boxes)
        r = nodes.shape[0]
        return self.rel(nodes[:, None].expand(r, r, -1).contiguous(), nodes[None].expand(r, r, -1).contiguous())


class SparseMoELayer(nn.Module):
    """Routed experts with a capacity, as in a block of a decoder.

    Shape:
        - hidden: ``[seq_len, batch, d_model]``
        - residual: ``[seq_len, batch, d_model]``
        - key_padding: ``[batch, seq_len]``, True at padding
    """

    def __init__(self, d_model=48, n_experts=4, d_ff=64):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.w1 = nn.Parameter(torch.randn(n_experts, d_model, d_ff) / 8)
        self.w2 = nn.Parameter(torch.randn(n_experts, d_ff, d_model) / 8)
        self.router = nn.Parameter(torch.randn(d_model, n_experts) / 8)

    def forward(self, hidden, residual, key_padding):
        x = self.norm(hidden + residual)
        probs = (x @ self.router).softmax(-1).masked_fill(key_padding.t()[..., None], 0.0)
        h = F.gelu(torch.einsum("sbd,edf->sbef", x, self.w1))
        out = torch.einsum("sbef,efd->sbed", h, self.w2)
        return residual + torch.einsum("sbe,sbed->sbd", probs, out)


class LatticeDecoder(nn.Module):
    """A decoder over hypotheses, whose docstring is older than its code.

    Args:
        vocab (int): size of the vocabulary
        dim (int): width
    """

    def __init__(self, vocab=500, dim=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.acoustic = nn.Linear(80, dim)
        self.mix = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, frames, hyps, scores):
        """
        Args:
            frames: (B, T) raw audio
            hyps: (B, K, L) ids of the K best hypotheses
            scores: (B, K)
        """
        mem = self.acoustic(frames)  # (B, T, dim)
        b, k, l = hyps.shape
        tgt = self.embed(hyps).view(b, k * l, -1)
        out, _ = self.mix(tgt, mem, mem)
        return (self.out(out).view(b, k, l, -1) * scores.softmax(-1)[:, :, None, None]).sum(1)
