"""Hard: clouds, scenes, agents, proteins and voices, whose parts pass through helpers before a layer sees them.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "BEVFusion",
    "CloudSegmenter",
    "DecisionSequence",
    "EvoBlockStack",
    "HyperRelational",
    "JaggedRanker",
    "MeshDeformer",
    "MotionForecaster",
    "SelectiveStepper",
    "SpeakerSeparator",
    "TabularWithHistory",
    "TransducerASR",
]


# --- clouds of points, in levels


def square_distance(src, dst):
    dist = -2 * torch.matmul(src, dst.permute(0, 2, 1))
    dist += torch.sum(src**2, -1)[:, :, None]
    return dist + torch.sum(dst**2, -1)[:, None, :]


def index_points(points, idx):
    B = points.shape[0]
    view_shape = [B] + [1] * (idx.dim() - 1)
    batch = torch.arange(B, device=points.device).view(view_shape).expand_as(idx)
    return points[batch, idx]


class LocalGrouper(nn.Module):
    def __init__(self, in_dim, out_dim, k, ratio):
        super().__init__()
        self.k, self.ratio = k, ratio
        self.mlp = nn.Sequential(nn.Conv2d(in_dim + 3, out_dim, 1), nn.BatchNorm2d(out_dim), nn.ReLU())

    def forward(self, xyz, feats):
        centers = xyz[:, :: self.ratio]
        idx = square_distance(centers, xyz).topk(self.k, dim=-1, largest=False)[1]
        grouped = torch.cat([index_points(xyz, idx) - centers.unsqueeze(2), index_points(feats, idx)], dim=-1)
        return centers, self.mlp(grouped.permute(0, 3, 1, 2)).max(-1)[0].transpose(1, 2)


class Propagation(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.mlp = nn.Sequential(nn.Conv1d(in_dim, out_dim, 1), nn.BatchNorm1d(out_dim), nn.ReLU())

    def forward(self, xyz1, xyz2, f1, f2):
        dists, idx = square_distance(xyz1, xyz2).sort(dim=-1)
        dists, idx = dists[:, :, :3], idx[:, :, :3]
        w = 1.0 / (dists + 1e-8)
        w = w / w.sum(dim=2, keepdim=True)
        up = (index_points(f2, idx) * w.unsqueeze(-1)).sum(dim=2)
        return self.mlp(torch.cat([f1, up], -1).transpose(1, 2)).transpose(1, 2)


class CloudSegmenter(nn.Module):
    """A shape's category tells which parts it may have."""

    def __init__(self, num_parts=50, num_categories=16, extra=3, width=32, k=8):
        super().__init__()
        self.num_categories = num_categories
        self.stem = nn.Linear(3 + extra, width)
        self.down = nn.ModuleList([LocalGrouper(width * 2**i, width * 2 ** (i + 1), k, 2) for i in range(2)])
        self.up = nn.ModuleList([Propagation(width * 4 + width * 2, width * 2), Propagation(width * 2 + width, width)])
        self.head = nn.Sequential(nn.Linear(width + num_categories, width), nn.ReLU(), nn.Linear(width, num_parts))

    def encode(self, xyz, feats):
        levels = [(xyz, self.stem(torch.cat([xyz, feats], -1)))]
        for stage in self.down:
            levels.append(stage(*levels[-1]))
        return levels

    def forward(self, xyz, normals, category):
        levels = self.encode(xyz, normals)
        x2, f2 = levels.pop()
        for layer in self.up:
            x1, f1 = levels.pop()
            f2, x2 = layer(x1, x2, f1, f2), x1
        onehot = F.one_hot(category, self.num_categories).to(f2.dtype)
        return self.head(torch.cat([f2, onehot[:, None].expand(-1, f2.size(1), -1)], dim=-1))


# --- several cameras and a lidar, seen from above


class CameraToBEV(nn.Module):
    def __init__(self, c, bev, z=2, extent=50.0):
        super().__init__()
        self.bev, self.z = bev, z
        lin = torch.linspace(-extent, extent, bev)
        zs = torch.linspace(-1, 3, z)
        grid = torch.stack(torch.meshgrid(zs, lin, lin, indexing="ij"), -1).flip(-1)
        self.register_buffer("points", grid.reshape(-1, 3))
        self.reduce = nn.Conv2d(c * z, c, 1)

    def forward(self, feats, lidar2img, img_shape):
        b, n, c, h, w = feats.shape
        pts = torch.cat([self.points, torch.ones_like(self.points[:, :1])], -1)
        cam = torch.einsum("bnij,pj->bnpi", lidar2img, pts)
        depth = cam[..., 2:3].clamp(min=1e-5)
        uv = cam[..., :2] / depth / img_shape[:, None, None, :] * 2 - 1
        valid = (cam[..., 2] > 0) & (uv.abs() < 1).all(-1)
        sampled = F.grid_sample(feats.flatten(0, 1), uv.flatten(0, 1).unsqueeze(2), align_corners=False)
        sampled = sampled.view(b, n, c, -1) * valid.unsqueeze(2)
        bev = sampled.sum(1) / valid.sum(1, keepdim=True).clamp(min=1)
        return self.reduce(bev.view(b, c * self.z, self.bev, self.bev))


class BEVFusion(nn.Module):
    def __init__(self, c=32, bev=16, lidar_ch=10, num_classes=4, heads=4):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, c, 7, 4, 3), nn.ReLU(), nn.Conv2d(c, c, 3, 2, 1), nn.ReLU())
        self.lift = CameraToBEV(c, bev)
        self.lidar = nn.Conv2d(lidar_ch, c, 3, padding=1)
        self.fuse = nn.Conv2d(2 * c, c, 3, padding=1)
        self.can_bus = nn.Sequential(nn.Linear(18, c), nn.ReLU(), nn.Linear(c, c))
        self.temporal = nn.Conv2d(2 * c, c, 3, padding=1)
        self.heatmap, self.box = nn.Conv2d(c, num_classes, 1), nn.Conv2d(c, 8, 1)

    def extract_img(self, imgs):
        B, N = imgs.shape[:2]
        f = self.backbone(imgs.reshape(B * N, *imgs.shape[2:]))
        return f.reshape(B, N, *f.shape[1:])

    def forward(self, imgs, lidar_bev, metas, prev_bev=None):
        cam = self.lift(self.extract_img(imgs), metas["lidar2img"], metas["img_shape"])
        x = self.fuse(torch.cat([cam, self.lidar(lidar_bev)], dim=1))
        x = x + self.can_bus(metas["can_bus"])[:, :, None, None]
        prev = prev_bev if prev_bev is not None else x
        x = self.temporal(torch.cat([x, prev], 1))
        return {"heatmap": self.heatmap(x).sigmoid(), "bbox": self.box(x), "bev": x}


# --- returns, states and actions as one sequence


class CausalBlock(nn.Module):
    def __init__(self, d, heads, max_len):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.register_buffer("causal", torch.tril(torch.ones(max_len, max_len, dtype=torch.bool))[None, None])

    def forward(self, x, pad):
        B, T, C = x.size()
        q, k, v = (
            t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in self.qkv(self.ln1(x)).split(C, dim=2)
        )
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(~self.causal[:, :, :T, :T], -1e9)
        att = att.masked_fill(~pad[:, None, None].bool(), -1e9).softmax(-1)
        x = x + self.proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.ln2(x))


class DecisionSequence(nn.Module):
    def __init__(self, state_dim=17, act_dim=6, hidden_size=64, max_ep_len=1000, n_blocks=2, n_heads=4, context=20):
        super().__init__()
        self.hidden_size = hidden_size
        self.embed_timestep = nn.Embedding(max_ep_len, hidden_size)
        self.embed_return, self.embed_state = nn.Linear(1, hidden_size), nn.Linear(state_dim, hidden_size)
        self.embed_action, self.embed_ln = nn.Linear(act_dim, hidden_size), nn.LayerNorm(hidden_size)
        self.blocks = nn.ModuleList([CausalBlock(hidden_size, n_heads, 3 * context) for _ in range(n_blocks)])
        self.predict_state, self.predict_return = nn.Linear(hidden_size, state_dim), nn.Linear(hidden_size, 1)
        self.predict_action = nn.Sequential(nn.Linear(hidden_size, act_dim), nn.Tanh())

    def tokenize(self, states, actions, rtg, timesteps):
        when = self.embed_timestep(timesteps)
        s, a, r = self.embed_state(states) + when, self.embed_action(actions) + when, self.embed_return(rtg) + when
        B, T = states.shape[0], states.shape[1]
        return torch.stack((r, s, a), dim=1).permute(0, 2, 1, 3).reshape(B, 3 * T, self.hidden_size)

    def forward(self, states, actions, rewards, returns_to_go, timesteps, attention_mask=None):
        B, T = states.shape[:2]
        if attention_mask is None:
            attention_mask = torch.ones((B, T), dtype=torch.long, device=states.device)
        x = self.embed_ln(self.tokenize(states, actions, returns_to_go, timesteps))
        pad = torch.stack([attention_mask] * 3, dim=1).permute(0, 2, 1).reshape(B, 3 * T)
        for block in self.blocks:
            x = block(x, pad)
        x = x.reshape(B, T, 3, self.hidden_size).permute(0, 2, 1, 3)
        return self.predict_state(x[:, 2]), self.predict_action(x[:, 1]), self.predict_return(x[:, 2])


# --- alignments of proteins, and pairs of residues


class GatedRowAttention(nn.Module):
    def __init__(self, c_m, c_z, heads=4, c=8):
        super().__init__()
        self.heads, self.c = heads, c
        self.norm_m, self.norm_z = nn.LayerNorm(c_m), nn.LayerNorm(c_z)
        self.q, self.k, self.v = (nn.Linear(c_m, heads * c, bias=False) for _ in range(3))
        self.b, self.g, self.o = nn.Linear(c_z, heads, bias=False), nn.Linear(c_m, heads * c), nn.Linear(heads * c, c_m)

    def forward(self, m, z, msa_mask):
        m = self.norm_m(m)
        q, k, v, g = (f(m).unflatten(-1, (self.heads, self.c)) for f in (self.q, self.k, self.v, self.g))
        logits = torch.einsum("bsihc,bsjhc->bshij", q * self.c**-0.5, k)
        logits = logits + self.b(self.norm_z(z)).permute(0, 3, 1, 2).unsqueeze(1)
        logits = logits + (1e9 * (msa_mask - 1))[:, :, None, None, :]
        out = torch.einsum("bshij,bsjhc->bsihc", logits.softmax(-1), v) * g.sigmoid()
        return self.o(out.flatten(-2))


class TriangleUpdate(nn.Module):
    def __init__(self, c_z, c, outgoing):
        super().__init__()
        self.equation = "bikc,bjkc->bijc" if outgoing else "bkic,bkjc->bijc"
        self.norm, self.norm_out = nn.LayerNorm(c_z), nn.LayerNorm(c)
        self.a, self.b, self.g, self.o = (
            nn.Linear(c_z, 2 * c),
            nn.Linear(c_z, 2 * c),
            nn.Linear(c_z, c_z),
            nn.Linear(c, c_z),
        )

    def forward(self, z, pair_mask):
        z = self.norm(z)
        a, b = F.glu(self.a(z)) * pair_mask[..., None], F.glu(self.b(z)) * pair_mask[..., None]
        return self.g(z).sigmoid() * self.o(self.norm_out(torch.einsum(self.equation, a, b)))


class EvoBlockStack(nn.Module):
    def __init__(self, c_m=32, c_z=16, msa_dim=49, target_dim=22, max_rel=32, no_blocks=2, bins=64):
        super().__init__()
        self.max_rel = max_rel
        self.msa_proj, self.t_m = nn.Linear(msa_dim, c_m), nn.Linear(target_dim, c_m)
        self.left, self.right, self.rel = (
            nn.Linear(target_dim, c_z),
            nn.Linear(target_dim, c_z),
            nn.Embedding(2 * max_rel + 1, c_z),
        )
        self.rows = nn.ModuleList([GatedRowAttention(c_m, c_z) for _ in range(no_blocks)])
        self.opm = nn.ModuleList([nn.Linear(64, c_z) for _ in range(no_blocks)])
        self.ab = nn.ModuleList([nn.Linear(c_m, 16) for _ in range(no_blocks)])
        self.tri = nn.ModuleList([TriangleUpdate(c_z, 16, i % 2 == 0) for i in range(no_blocks)])
        self.distogram = nn.Linear(c_z, bins)

    def embed(self, target_feat, residue_index, msa_feat):
        z = self.left(target_feat)[:, :, None] + self.right(target_feat)[:, None]
        offset = (residue_index[:, :, None] - residue_index[:, None]).clamp(-self.max_rel, self.max_rel) + self.max_rel
        return self.msa_proj(msa_feat) + self.t_m(target_feat).unsqueeze(1), z + self.rel(offset)

    def outer(self, i, m, mask):
        a, b = (self.ab[i](m) * mask.unsqueeze(-1)).chunk(2, -1)
        return self.opm[i](torch.einsum("bsic,bsjd->bijcd", a, b).flatten(-2))

    def forward(self, feats):
        m, z = self.embed(feats["target_feat"], feats["residue_index"], feats["msa_feat"])
        seq_mask, msa_mask = feats["seq_mask"], feats["msa_mask"]
        pair_mask = seq_mask[..., None] * seq_mask[..., None, :]
        for i, row in enumerate(self.rows):
            m = m + row(m, z, msa_mask)
            z = z + self.outer(i, m, msa_mask)
            z = z + self.tri[i](z, pair_mask)
        logits = self.distogram(z)
        return {"single": m[:, 0], "pair": z, "distogram": logits + logits.transpose(1, 2)}


# --- facts with qualifiers


class HyperRelational(nn.Module):
    def __init__(self, num_ent=500, num_rel=30, dim=64, n_heads=4, layers=1, max_qpairs=6):
        super().__init__()
        self.ent, self.rel = nn.Embedding(num_ent, dim, padding_idx=0), nn.Embedding(num_rel, dim, padding_idx=0)
        self.pos = nn.Embedding(2 * max_qpairs + 2, dim)
        layer = nn.TransformerEncoderLayer(dim, n_heads, 2 * dim, batch_first=False)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.w_q, self.loop = nn.Linear(2 * dim, dim), nn.Parameter(torch.zeros(1, dim))
        self.conv_in, self.conv_out = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)

    def rotate(self, h, r):
        h_re, h_im = h.chunk(2, -1)
        r_re, r_im = r.chunk(2, -1)
        return torch.cat([h_re * r_re - h_im * r_im, h_re * r_im + h_im * r_re], -1)

    def message_passing(self, edge_index, edge_type, quals):
        x = self.ent.weight
        q_rel, q_ent, q_edge = quals[0], quals[1], quals[2]
        qual = self.rotate(x[q_ent], self.rel(q_rel))
        agg = torch.zeros(edge_type.size(0), x.size(1), device=x.device).index_add(0, q_edge, qual)
        rel = self.w_q(torch.cat([self.rel(edge_type), agg], dim=1))
        msg = self.conv_in(self.rotate(x[edge_index[1]], rel))
        out = torch.zeros_like(x).index_add(0, edge_index[0], msg)
        return torch.tanh(out + self.conv_out(x) + self.loop)

    def forward(self, edge_index, edge_type, quals, sub, rel, qual_rel, qual_ent):
        ents = self.message_passing(edge_index, edge_type, quals)
        q = torch.stack([self.rel(qual_rel), ents[qual_ent]], 2).flatten(1, 2)
        x = torch.cat([ents[sub].unsqueeze(1), self.rel(rel).unsqueeze(1), q], 1).transpose(0, 1)
        pos = self.pos(torch.arange(x.shape[0], device=x.device)).unsqueeze(1)
        pad = torch.cat(
            [torch.zeros(sub.shape[0], 2, dtype=torch.bool, device=x.device), (qual_ent == 0).repeat_interleave(2, 1)],
            1,
        )
        x = self.encoder(x + pos, src_key_padding_mask=pad).mean(0)
        return x @ ents.t()


# --- histories of different lengths, as values and offsets


class JaggedFeature(NamedTuple):
    values: torch.Tensor
    offsets: torch.Tensor


def pool_jagged(emb, offsets):
    total = torch.cat([emb.new_zeros(1, emb.size(1)), emb.cumsum(0)])
    return total[offsets[1:]] - total[offsets[:-1]]


class JaggedRanker(nn.Module):
    def __init__(self, feature_sizes={"clicks": 1000, "carts": 500, "queries": 2000}, dense=13, dim=16, num_tasks=2):
        super().__init__()
        self.names = list(feature_sizes)
        self.tables = nn.ModuleDict({k: nn.Embedding(n, dim) for k, n in feature_sizes.items()})
        self.bottom = nn.Sequential(nn.Linear(dense, 32), nn.ReLU(), nn.Linear(32, dim))
        f = len(self.names) + 1
        self.register_buffer("tri", torch.triu_indices(f, f, 1))
        self.top = nn.Sequential(nn.Linear(dim + f * (f - 1) // 2, 32), nn.ReLU(), nn.Linear(32, num_tasks))

    def interact(self, dense, sparse):
        x = torch.stack([dense, *sparse], dim=1)
        inter = torch.bmm(x, x.transpose(1, 2))[:, self.tri[0], self.tri[1]]
        return torch.cat([dense, inter], dim=1)

    def forward(self, dense_features, clicks: JaggedFeature, carts: JaggedFeature, queries: JaggedFeature):
        sparse = [
            pool_jagged(self.tables[n](f.values), f.offsets) for n, f in zip(self.names, (clicks, carts, queries))
        ]
        return self.top(self.interact(self.bottom(dense_features), sparse))


# --- meshes that follow a picture


class GraphConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.w0, self.w1 = nn.Linear(i, o), nn.Linear(i, o)

    def forward(self, x, edges):
        h = self.w1(x)
        src, dst = edges[:, 0], edges[:, 1]
        out = torch.zeros_like(h).scatter_add(0, src[:, None].expand(-1, h.size(1)), h[dst])
        return F.relu(self.w0(x) + out.scatter_add(0, dst[:, None].expand(-1, h.size(1)), h[src]))


class MeshDeformer(nn.Module):
    """One mesh for each picture, all with the same number of vertices."""

    def __init__(self, feat=32, hidden=64, stages=2):
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(3, feat, 3, 2, 1), nn.ReLU())
        self.enc2 = nn.Sequential(nn.Conv2d(feat, 2 * feat, 3, 2, 1), nn.ReLU())
        self.bottleneck = nn.Linear(3 * feat, hidden)
        self.stages = nn.ModuleList(
            [
                nn.ModuleList([GraphConv(hidden + 3 + (hidden if s else 0), hidden), GraphConv(hidden, hidden)])
                for s in range(stages)
            ]
        )
        self.offsets = nn.ModuleList([nn.Linear(hidden, 3) for _ in range(stages)])

    def project(self, verts, maps, K):
        cam = torch.bmm(verts, K.transpose(1, 2))
        uv = cam[..., :2] / cam[..., 2:].clamp(min=1e-3)
        return torch.cat(
            [F.grid_sample(m, uv.unsqueeze(2), align_corners=True).squeeze(-1).transpose(1, 2) for m in maps], -1
        )

    def forward(self, image, vertices, edges, K):
        f1 = self.enc1(image)
        maps = [f1, self.enc2(f1)]
        B, V, _ = vertices.shape
        shift = (torch.arange(B, device=edges.device) * V).view(B, 1, 1)
        flat_edges = (edges.unsqueeze(0) + shift).reshape(-1, 2)
        x, outs = None, []
        for convs, off in zip(self.stages, self.offsets):
            f = self.bottleneck(self.project(vertices, maps, K)).reshape(B * V, -1)
            parts = [f, vertices.reshape(B * V, 3)] + ([x] if x is not None else [])
            x = convs[1](convs[0](torch.cat(parts, 1), flat_edges), flat_edges)
            vertices = vertices + torch.tanh(off(x)).view(B, V, 3)
            outs.append(vertices)
        return outs


# --- agents and lanes


class PolylineEncoder(nn.Module):
    def __init__(self, in_dim, dim):
        super().__init__()
        self.pre, self.post = nn.Linear(in_dim, dim), nn.Linear(2 * dim, dim)

    def forward(self, polylines, mask):
        h = F.relu(self.pre(polylines)).masked_fill(~mask.unsqueeze(-1), 0.0)
        pooled = h.max(dim=2)[0]
        h = self.post(torch.cat([h, pooled.unsqueeze(2).expand_as(h)], -1))
        return h.masked_fill(~mask.unsqueeze(-1), -1e4).max(dim=2)[0], mask.any(-1)


class MotionForecaster(nn.Module):
    def __init__(self, agent_attr=29, map_attr=9, dim=64, layers=2, modes=6, horizon=30):
        super().__init__()
        self.modes, self.horizon = modes, horizon
        self.agents, self.lanes = PolylineEncoder(agent_attr + 1, dim), PolylineEncoder(map_attr, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, batch_first=True)
        self.context = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.intent = nn.Embedding(modes, dim)
        self.cross = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.traj, self.score = nn.Linear(dim, horizon * 4), nn.Linear(dim, 1)

    def encode(self, batch):
        trajs, tmask = batch["obj_trajs"], batch["obj_trajs_mask"]
        assert trajs.dim() == 4 and tmask.dtype == torch.bool
        agents, a_valid = self.agents(torch.cat([trajs, tmask[..., None].type_as(trajs)], -1), tmask)
        lanes, l_valid = self.lanes(batch["map_polylines"], batch["map_polylines_mask"])
        tokens, valid = torch.cat([agents, lanes], 1), torch.cat([a_valid, l_valid], 1)
        return self.context(tokens, src_key_padding_mask=~valid), valid, agents

    def forward(self, batch_dict):
        tokens, valid, agents = self.encode(batch_dict["input_dict"])
        track = batch_dict["input_dict"]["track_index_to_predict"]
        center = agents[torch.arange(track.shape[0], device=track.device), track]
        q = center.unsqueeze(1) + self.intent.weight
        out, _ = self.cross(q, tokens, tokens, key_padding_mask=~valid)
        traj = self.traj(out).view(-1, self.modes, self.horizon, 4)
        batch_dict["pred_scores"] = self.score(out).squeeze(-1).softmax(-1)
        batch_dict["pred_trajs"] = traj.cumsum(dim=2)
        return batch_dict


# --- one step of a state space model, with both of its caches


@dataclass
class StepCache:
    conv_state: torch.Tensor
    ssm_state: torch.Tensor


class SelectiveStepper(nn.Module):
    def __init__(self, d_model=32, d_state=16, d_conv=4, expand=2, dt_rank=4, vocab=256):
        super().__init__()
        self.d_inner, self.d_state, self.d_conv, self.dt_rank = expand * d_model, d_state, d_conv, dt_rank
        self.embed = nn.Embedding(vocab, d_model)
        self.in_proj = nn.Linear(d_model, 2 * self.d_inner, bias=False)
        self.conv1d = nn.Conv1d(self.d_inner, self.d_inner, d_conv, groups=self.d_inner, padding=d_conv - 1)
        self.x_proj = nn.Linear(self.d_inner, dt_rank + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(dt_rank, self.d_inner)
        self.A_log = nn.Parameter(torch.zeros(self.d_inner, d_state))
        self.D = nn.Parameter(torch.ones(self.d_inner))
        self.out_proj, self.head = nn.Linear(self.d_inner, d_model, bias=False), nn.Linear(d_model, vocab)

    def conv_step(self, x, state):
        state = torch.cat([state[..., 1:], x.unsqueeze(-1)], dim=-1)
        y = (state * self.conv1d.weight.squeeze(1)).sum(-1) + self.conv1d.bias
        return F.silu(y), state

    def ssm_step(self, x, state):
        dt, B, C = self.x_proj(x).split([self.dt_rank, self.d_state, self.d_state], dim=-1)
        dt = F.softplus(self.dt_proj(dt))
        dA = torch.exp(torch.einsum("bd,dn->bdn", dt, -torch.exp(self.A_log)))
        state = state * dA + x.unsqueeze(-1) * torch.einsum("bd,bn->bdn", dt, B)
        return torch.einsum("bdn,bn->bd", state, C) + self.D * x, state

    def forward(self, token, cache: StepCache):
        x, z = self.in_proj(self.embed(token)).chunk(2, dim=-1)
        x, conv_state = self.conv_step(x, cache.conv_state)
        y, ssm_state = self.ssm_step(x, cache.ssm_state)
        return self.head(self.out_proj(y * F.silu(z))), StepCache(conv_state, ssm_state)


# --- voices apart, with a sample of the one that is wanted


class DualPathBlock(nn.Module):
    def __init__(self, d, hidden):
        super().__init__()
        self.intra, self.inter = (nn.LSTM(d, hidden, batch_first=True, bidirectional=True) for _ in range(2))
        self.p1, self.p2 = nn.Linear(2 * hidden, d), nn.Linear(2 * hidden, d)
        self.film = nn.Linear(d, 2 * d)

    def forward(self, x, spk):
        B, K, S, D = x.shape
        h = self.p1(self.intra(x.transpose(1, 2).reshape(B * S, K, D))[0]).view(B, S, K, D).transpose(1, 2)
        x = x + h
        h = self.p2(self.inter(x.reshape(B * K, S, D))[0]).view(B, K, S, D)
        g, b = self.film(spk).chunk(2, -1)
        return (x + h) * g[:, None, None] + b[:, None, None]


class SpeakerSeparator(nn.Module):
    def __init__(self, n_filters=64, kernel=16, dim=32, hidden=32, chunk=8, blocks=2):
        super().__init__()
        self.chunk, self.kernel = chunk, kernel
        self.encoder = nn.Conv1d(1, n_filters, kernel, kernel // 2, bias=False)
        self.decoder = nn.ConvTranspose1d(n_filters, 1, kernel, kernel // 2, bias=False)
        self.bottleneck = nn.Conv1d(n_filters, dim, 1)
        self.speaker = nn.GRU(n_filters, dim, batch_first=True)
        self.blocks = nn.ModuleList([DualPathBlock(dim, hidden) for _ in range(blocks)])
        self.mask = nn.Conv1d(dim, n_filters, 1)

    def segment(self, x):
        hop = self.chunk // 2
        rest = (hop - x.shape[-1] % hop) % hop
        x = F.pad(x, (hop, hop + rest))
        return x.unfold(-1, self.chunk, hop).permute(0, 3, 2, 1), rest

    def overlap_add(self, x, rest):
        B, K, S, D = x.shape
        hop, L = self.chunk // 2, (S - 1) * self.chunk // 2 + self.chunk
        out = F.fold(x.permute(0, 3, 1, 2).reshape(B, D * K, S), (1, L), (1, K), stride=(1, hop)).squeeze(2)
        return out[..., hop : L - hop - rest]

    def embed(self, ref, ref_lens):
        h = F.relu(self.encoder(ref.unsqueeze(1))).transpose(1, 2)
        packed = nn.utils.rnn.pack_padded_sequence(h, ref_lens.cpu(), batch_first=True, enforce_sorted=False)
        return self.speaker(packed)[1].squeeze(0)

    def forward(self, mixture, reference, reference_lens):
        spk = self.embed(reference, reference_lens)
        w = F.relu(self.encoder(mixture.unsqueeze(1)))
        x, rest = self.segment(self.bottleneck(w))
        for block in self.blocks:
            x = block(x, spk)
        mask = torch.sigmoid(self.mask(self.overlap_add(x, rest)))
        return self.decoder(w * mask).squeeze(1)


# --- columns, and what happened before


class TabularWithHistory(nn.Module):
    def __init__(self, cat_dims=(7, 24, 100), num_continuous=5, event_types=40, seq_cont=2, d=32, heads=4):
        super().__init__()
        self.cats = nn.ModuleList([nn.Embedding(n + 1, d) for n in cat_dims])
        self.w, self.b = nn.Parameter(torch.randn(num_continuous, d)), nn.Parameter(torch.zeros(num_continuous, d))
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        self.event, self.event_cont, self.gap = (
            nn.Embedding(event_types, d, padding_idx=0),
            nn.Linear(seq_cont, d),
            nn.Linear(1, d),
        )
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.out = nn.Sequential(nn.LayerNorm(2 * d), nn.Linear(2 * d, 1))

    def columns(self, x_cat, x_num):
        tokens = [emb(col) for emb, col in zip(self.cats, x_cat)]
        nums = x_num[:, :, None] * self.w[None] + self.b[None]
        return torch.cat([self.cls.expand(x_num.size(0), -1, -1), torch.stack(tokens, 1), nums], dim=1)

    def history(self, events, values, days):
        gaps = torch.log1p((days[:, 1:] - days[:, :-1]).clamp(min=0))
        gaps = F.pad(gaps, (1, 0))
        h, _ = self.rnn(self.event(events) + self.event_cont(values) + self.gap(gaps.unsqueeze(-1)))
        return h, events.eq(0)

    def forward(self, x_cat, x_num, events, event_values, event_days):
        tokens = self.columns(x_cat, x_num)
        h, pad = self.history(events, event_values, event_days)
        read, _ = self.attn(tokens, h, h, key_padding_mask=pad)
        return self.out(torch.cat([tokens[:, 0], read[:, 0]], -1)).squeeze(-1)


# --- speech to text with a joint network


class TransducerASR(nn.Module):
    def __init__(self, n_mels=80, vocab=100, d=64, blank=0, layers=2):
        super().__init__()
        self.blank = blank
        self.sub = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 3, 2, 1), nn.ReLU())
        self.proj = nn.Linear(16 * (n_mels // 4), d)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(d, 4, 2 * d, batch_first=True) for _ in range(layers)])
        self.embed, self.pred = nn.Embedding(vocab, d, padding_idx=blank), nn.LSTM(d, d, batch_first=True)
        self.enc_ffn, self.pred_ffn, self.joint = nn.Linear(d, d), nn.Linear(d, d, bias=False), nn.Linear(d, vocab)

    def subsampled(self, lens):
        for _ in range(2):
            lens = torch.div(lens - 1, 2, rounding_mode="floor") + 1
        return lens

    def encode(self, feats, feat_lens):
        x = self.sub(feats.unsqueeze(1))
        b, c, t, f = x.size()
        x = self.proj(x.transpose(1, 2).contiguous().view(b, t, c * f))
        lens = self.subsampled(feat_lens)
        pad = torch.arange(t, device=x.device)[None, :] >= lens[:, None]
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=pad)
        return x, lens

    def predict(self, targets):
        ys = F.pad(targets, (1, 0), value=self.blank)
        out, _ = self.pred(self.embed(ys))
        return out

    def forward(self, speech, speech_lengths, text, text_lengths):
        enc, enc_lens = self.encode(speech, speech_lengths)
        dec = self.predict(text)
        joint = self.enc_ffn(enc).unsqueeze(2) + self.pred_ffn(dec).unsqueeze(1)
        logits = self.joint(torch.tanh(joint)).log_softmax(-1)
        steps = torch.arange(logits.size(2), device=logits.device)
        return logits.masked_fill(steps[None, None, :, None] > text_lengths[:, None, None, None], 0.0), enc_lens
