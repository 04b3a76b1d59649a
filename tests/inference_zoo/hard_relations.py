"""Hard: Graph networks, molecules, points and trees, as research repositories write them.

Long because it is a list of models.
"""

from __future__ import annotations

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "BipartiteAssigner",
    "BondMessagePassing",
    "DynamicEdgePoints",
    "EquivariantGraph",
    "MeshSimulator",
    "NeighbourSchNet",
    "PointPillars",
    "SyntaxTreeEncoder",
    "TemporalKnowledge",
    "TrafficGraph",
]


def scatter_sum(src, index, dim_size):
    out = src.new_zeros(dim_size, *src.shape[1:])
    return out.index_add_(0, index, src)


class GINEBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.BatchNorm1d(2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, x, edge_index, edge_emb):
        row, col = edge_index
        messages = F.relu(x[row] + edge_emb)
        return self.mlp((1 + self.eps) * x + scatter_sum(messages, col, x.size(0)))


class BondMessagePassing(nn.Module):
    """OGB-like: atoms and bonds with several categorical columns, graphs by ``batch``."""

    ATOM_DIMS = (119, 5, 12, 12, 10)
    BOND_DIMS = (5, 6, 2)

    def __init__(self, emb_dim=64, num_layers=3, num_tasks=1, drop_ratio=0.0):
        super().__init__()
        self.atom_encoder = nn.ModuleList(nn.Embedding(n, emb_dim) for n in self.ATOM_DIMS)
        self.bond_encoder = nn.ModuleList(nn.Embedding(n, emb_dim) for n in self.BOND_DIMS)
        self.convs = nn.ModuleList(GINEBlock(emb_dim) for _ in range(num_layers))
        self.drop_ratio = drop_ratio
        self.head = nn.Linear(emb_dim, num_tasks)

    def forward(self, x, edge_index, edge_attr, batch):
        h = sum(enc(x[:, i]) for i, enc in enumerate(self.atom_encoder))
        e = sum(enc(edge_attr[:, i]) for i, enc in enumerate(self.bond_encoder))
        for conv in self.convs:
            h = h + F.dropout(conv(h, edge_index, e), self.drop_ratio, training=self.training)
        num_graphs = int(batch.max()) + 1
        pooled = scatter_sum(h, batch, num_graphs)
        counts = torch.bincount(batch, minlength=num_graphs).clamp(min=1).unsqueeze(-1)
        return self.head(pooled / counts)


class EquivariantGraph(nn.Module):
    """E(n)-equivariant layers: features and coordinates, edges as two lists."""

    def __init__(self, in_node_nf=6, hidden_nf=32, in_edge_nf=2, n_layers=2):
        super().__init__()
        self.embedding = nn.Linear(in_node_nf, hidden_nf)
        self.edge_mlps = nn.ModuleList(
            nn.Sequential(nn.Linear(2 * hidden_nf + 1 + in_edge_nf, hidden_nf), nn.SiLU()) for _ in range(n_layers)
        )
        self.coord_mlps = nn.ModuleList(nn.Linear(hidden_nf, 1, bias=False) for _ in range(n_layers))
        self.node_mlps = nn.ModuleList(nn.Linear(2 * hidden_nf, hidden_nf) for _ in range(n_layers))

    def forward(self, h, x, edges, edge_attr):
        row, col = edges
        h = self.embedding(h)
        for edge_mlp, coord_mlp, node_mlp in zip(self.edge_mlps, self.coord_mlps, self.node_mlps):
            diff = x[row] - x[col]
            radial = (diff**2).sum(dim=1, keepdim=True)
            m = edge_mlp(torch.cat([h[row], h[col], radial, edge_attr], dim=1))
            x = x + scatter_sum(diff * coord_mlp(m), row, x.size(0))
            h = h + node_mlp(torch.cat([h, scatter_sum(m, row, h.size(0))], dim=1))
        return h, x


class GaussianSmearing(nn.Module):
    def __init__(self, start=0.0, stop=5.0, num=25):
        super().__init__()
        offset = torch.linspace(start, stop, num)
        self.coeff = -0.5 / (offset[1] - offset[0]).item() ** 2
        self.register_buffer("offset", offset)

    def forward(self, dist):
        return torch.exp(self.coeff * (dist.unsqueeze(-1) - self.offset) ** 2)


class NeighbourSchNet(nn.Module):
    """SchNet with padded neighbour lists: (B, A, N) indices into atoms."""

    def __init__(self, n_atom_basis=32, n_interactions=2, n_gaussians=25, cutoff=5.0, max_z=100):
        super().__init__()
        self.embedding = nn.Embedding(max_z, n_atom_basis, padding_idx=0)
        self.smear = GaussianSmearing(0.0, cutoff, n_gaussians)
        self.filters = nn.ModuleList(nn.Linear(n_gaussians, n_atom_basis) for _ in range(n_interactions))
        self.updates = nn.ModuleList(nn.Linear(n_atom_basis, n_atom_basis) for _ in range(n_interactions))
        self.out = nn.Sequential(nn.Linear(n_atom_basis, 16), nn.Softplus(), nn.Linear(16, 1))

    def forward(self, atomic_numbers, positions, neighbors, neighbor_mask, atom_mask):
        x = self.embedding(atomic_numbers)
        b, a, n = neighbors.shape
        flat = neighbors.reshape(b, a * n)
        nbr_pos = torch.gather(positions, 1, flat.unsqueeze(-1).expand(-1, -1, 3)).view(b, a, n, 3)
        r_ij = torch.norm(nbr_pos - positions.unsqueeze(2) + 1e-8, dim=-1)
        f_ij = self.smear(r_ij)
        for filt, update in zip(self.filters, self.updates):
            x_nbr = torch.gather(x, 1, flat.unsqueeze(-1).expand(-1, -1, x.size(-1))).view(b, a, n, -1)
            agg = (x_nbr * filt(f_ij) * neighbor_mask.unsqueeze(-1)).sum(2)
            x = x + update(agg)
        return (self.out(x) * atom_mask.unsqueeze(-1)).sum(1)


class DynamicEdgePoints(nn.Module):
    """DGCNN: k nearest neighbours in feature space; one-hot category of the object."""

    def __init__(self, k=8, num_parts=50, num_categories=16):
        super().__init__()
        self.k = k
        self.conv1 = nn.Sequential(nn.Conv2d(6, 32, 1, bias=False), nn.BatchNorm2d(32), nn.LeakyReLU(0.2))
        self.conv2 = nn.Sequential(nn.Conv2d(64, 32, 1, bias=False), nn.BatchNorm2d(32), nn.LeakyReLU(0.2))
        self.label = nn.Sequential(nn.Conv1d(num_categories, 16, 1), nn.LeakyReLU(0.2))
        self.glob = nn.Conv1d(64, 128, 1)
        self.seg = nn.Sequential(nn.Conv1d(128 + 16 + 64, 64, 1), nn.ReLU(), nn.Conv1d(64, num_parts, 1))

    def edge_features(self, x):
        inner = -2 * x.transpose(2, 1) @ x
        xx = (x**2).sum(1, keepdim=True)
        idx = (-xx - inner - xx.transpose(2, 1)).topk(self.k, dim=-1)[1]
        b, c, n = x.shape
        base = torch.arange(b, device=x.device).view(-1, 1, 1) * n
        points = x.transpose(2, 1).reshape(b * n, c)
        feature = points[(idx + base).view(-1)].view(b, n, self.k, c)
        centre = x.transpose(2, 1).unsqueeze(2).expand(-1, -1, self.k, -1)
        return torch.cat((feature - centre, centre), dim=3).permute(0, 3, 1, 2)

    def forward(self, x, label):
        batch_size, num_points = x.size(0), x.size(2)
        x1 = self.conv1(self.edge_features(x)).max(dim=-1)[0]
        x2 = self.conv2(self.edge_features(x1)).max(dim=-1)[0]
        local = torch.cat((x1, x2), dim=1)
        g = self.glob(local).max(dim=-1, keepdim=True)[0]
        label = self.label(label.view(batch_size, -1, 1))
        g = torch.cat((g, label), dim=1).repeat(1, 1, num_points)
        return self.seg(torch.cat((g, local), dim=1))


class PointPillars(nn.Module):
    """Pillars scattered into a canvas: voxels, points per voxel, coordinates."""

    def __init__(self, in_feats=4, channels=32, nx=32, ny=32, num_anchors=2, num_classes=3):
        super().__init__()
        self.nx, self.ny = nx, ny
        self.linear = nn.Linear(in_feats, channels, bias=False)
        self.norm = nn.BatchNorm1d(channels)
        self.backbone = nn.Sequential(
            nn.Conv2d(channels, 64, 3, 2, 1), nn.ReLU(), nn.Conv2d(64, 64, 3, 1, 1), nn.ReLU()
        )
        self.cls_head = nn.Conv2d(64, num_anchors * num_classes, 1)
        self.reg_head = nn.Conv2d(64, num_anchors * 7, 1)

    def forward(self, voxels, num_points_per_voxel, coors, batch_size=1):
        P = voxels.size(1)
        mask = torch.arange(P, device=voxels.device)[None, :] < num_points_per_voxel[:, None]
        x = self.linear(voxels) * mask.unsqueeze(-1)
        x = F.relu(self.norm(x.transpose(1, 2)).transpose(1, 2)).max(dim=1)[0]
        canvas = []
        for b in range(batch_size):
            here = coors[:, 0] == b
            idx = coors[here, 2] * self.nx + coors[here, 3]
            c = x.new_zeros(x.size(1), self.nx * self.ny)
            c[:, idx.long()] = x[here].t()
            canvas.append(c.view(-1, self.ny, self.nx))
        feats = self.backbone(torch.stack(canvas))
        return self.cls_head(feats), self.reg_head(feats)


class SyntaxTreeEncoder(nn.Module):
    """Child-sum Tree-LSTM over nested tuples (word, [children])."""

    def __init__(self, vocab_size=500, embed_dim=32, hidden=48, num_labels=5):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, embed_dim)
        self.iou = nn.Linear(embed_dim + hidden, 3 * hidden)
        self.fx = nn.Linear(embed_dim, hidden)
        self.fh = nn.Linear(hidden, hidden)
        self.hidden = hidden
        self.out = nn.Linear(hidden, num_labels)

    def node(self, words, tree, i):
        children = [self.node(words, tree, int(j)) for j in (tree == i).nonzero().flatten()]
        x = self.embed(words[i])
        h_sum = sum((h for h, _ in children), x.new_zeros(self.hidden))
        i_, o, u = self.iou(torch.cat([x, h_sum])).chunk(3)
        c = i_.sigmoid() * u.tanh()
        for h_k, c_k in children:
            c = c + torch.sigmoid(self.fx(x) + self.fh(h_k)) * c_k
        return o.sigmoid() * c.tanh(), c

    def forward(self, words, parents):
        # parents[i] is the parent of word i, -1 for the root
        root = int((parents < 0).nonzero()[0])
        h, _ = self.node(words, parents, root)
        return self.out(h)


class MeshSimulator(nn.Module):
    """MeshGraphNets: node type one-hot, velocities, senders and receivers in a dict."""

    def __init__(self, latent_size=32, num_node_types=9, message_passing_steps=2, out_dim=2):
        super().__init__()
        self.num_node_types = num_node_types
        self.node_enc = nn.Linear(2 + num_node_types, latent_size)
        self.edge_enc = nn.Linear(3, latent_size)
        self.edge_fns = nn.ModuleList(nn.Linear(3 * latent_size, latent_size) for _ in range(message_passing_steps))
        self.node_fns = nn.ModuleList(nn.Linear(2 * latent_size, latent_size) for _ in range(message_passing_steps))
        self.decoder = nn.Linear(latent_size, out_dim)

    def forward(self, inputs):
        node_type = F.one_hot(inputs["node_type"][:, 0].long(), self.num_node_types).float()
        nodes = self.node_enc(torch.cat([inputs["velocity"], node_type], dim=-1))
        senders, receivers = inputs["senders"], inputs["receivers"]
        rel = inputs["mesh_pos"][senders] - inputs["mesh_pos"][receivers]
        edges = self.edge_enc(torch.cat([rel, torch.norm(rel, dim=-1, keepdim=True)], dim=-1))
        for edge_fn, node_fn in zip(self.edge_fns, self.node_fns):
            edges = edges + F.relu(edge_fn(torch.cat([nodes[senders], nodes[receivers], edges], -1)))
            agg = scatter_sum(edges, receivers, nodes.shape[0])
            nodes = nodes + F.relu(node_fn(torch.cat([nodes, agg], -1)))
        return self.decoder(nodes)


class TemporalKnowledge(nn.Module):
    """Temporal knowledge graph completion: quadruples with negatives."""

    def __init__(self, num_entities=200, num_relations=20, num_timestamps=50, rank=32):
        super().__init__()
        self.ent = nn.Embedding(num_entities, 2 * rank)
        self.rel = nn.Embedding(num_relations, 2 * rank)
        self.time = nn.Embedding(num_timestamps, 2 * rank)
        self.rank = rank

    def forward(self, quads, negatives):
        s = self.ent(quads[:, 0])
        r = self.rel(quads[:, 1])
        o = self.ent(quads[:, 2])
        t = self.time(quads[:, 3])
        s_re, s_im = s[:, : self.rank], s[:, self.rank :]
        rt = r * t
        r_re, r_im = rt[:, : self.rank], rt[:, self.rank :]
        q = torch.cat([s_re * r_re - s_im * r_im, s_re * r_im + s_im * r_re], 1)
        pos = (q * o).sum(-1, keepdim=True)
        neg = torch.einsum("bd,bnd->bn", q, self.ent(negatives))
        return torch.cat([pos, neg], dim=1)


class TrafficGraph(nn.Module):
    """DCRNN-like: sensor readings (B, T, N, F), supports as a list of adjacency matrices, teacher forcing."""

    def __init__(self, num_nodes=20, input_dim=2, hidden=16, horizon=4, num_supports=2):
        super().__init__()
        self.num_nodes, self.hidden, self.horizon = num_nodes, hidden, horizon
        width = (num_supports + 1) * (input_dim + hidden)
        self.gates = nn.Linear(width, 2 * hidden)
        self.cand = nn.Linear(width, hidden)
        self.proj = nn.Linear(hidden, input_dim)

    def diffuse(self, x, supports):
        return torch.cat([x] + [torch.einsum("nm,bmf->bnf", a, x) for a in supports], dim=-1)

    def cell(self, x, h, supports):
        u, r = self.gates(self.diffuse(torch.cat([x, h], -1), supports)).sigmoid().chunk(2, -1)
        c = self.cand(self.diffuse(torch.cat([x, r * h], -1), supports)).tanh()
        return u * h + (1 - u) * c

    def forward(self, inputs, supports, targets=None):
        b = inputs.size(0)
        h = inputs.new_zeros(b, self.num_nodes, self.hidden)
        for t in range(inputs.size(1)):
            h = self.cell(inputs[:, t], h, supports)
        go, outs = inputs.new_zeros(b, self.num_nodes, inputs.size(-1)), []
        for t in range(self.horizon):
            h = self.cell(go, h, supports)
            go = self.proj(h)
            outs.append(go)
            if targets is not None:
                go = targets[:, t]
        return torch.stack(outs, dim=1)


class BipartiteAssigner(nn.Module):
    """Tracks to detections: pairwise costs from boxes and embeddings, dustbin column."""

    def __init__(self, emb_dim=64, hidden=32):
        super().__init__()
        self.track_proj = nn.Linear(emb_dim, hidden)
        self.det_proj = nn.Linear(emb_dim, hidden)
        self.geo = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.dustbin = nn.Parameter(torch.tensor(0.5))

    def forward(self, track_emb, track_boxes, det_emb, det_boxes):
        sim = self.track_proj(track_emb) @ self.det_proj(det_emb).transpose(-1, -2)
        d = track_boxes.unsqueeze(-2) - det_boxes.unsqueeze(-3)
        scores = sim / math.sqrt(sim.shape[-1]) + self.geo(d).squeeze(-1)
        bins = self.dustbin.expand(*scores.shape[:-1], 1)
        return F.log_softmax(torch.cat([scores, bins], dim=-1), dim=-1)
