"""Hard, once aside: graphs, of atoms and of papers."""

from __future__ import annotations

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["GAE", "MPNN", "RGCN", "GATNet", "SchNet"]


def scatter_add(src, index, dim_size):
    return torch.zeros(dim_size, *src.shape[1:], dtype=src.dtype).index_add_(0, index, src)


class GraphAttentionLayer(nn.Module):
    def __init__(self, in_features, out_features, dropout, alpha, concat=True):
        super().__init__()
        self.dropout, self.concat = dropout, concat
        self.W = nn.Parameter(torch.empty(in_features, out_features))
        nn.init.xavier_uniform_(self.W, gain=1.414)
        self.a1 = nn.Parameter(torch.randn(out_features, 1))
        self.a2 = nn.Parameter(torch.randn(out_features, 1))
        self.leakyrelu = nn.LeakyReLU(alpha)

    def forward(self, h, adj):
        Wh = torch.mm(h, self.W)
        e = self.leakyrelu(Wh @ self.a1 + (Wh @ self.a2).T)
        zero_vec = -9e15 * torch.ones_like(e)
        attention = F.softmax(torch.where(adj > 0, e, zero_vec), dim=1)
        attention = F.dropout(attention, self.dropout, training=self.training)
        h_prime = torch.matmul(attention, Wh)
        return F.elu(h_prime) if self.concat else h_prime


class GATNet(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout, alpha, nheads):
        super().__init__()
        self.dropout = dropout
        self.attentions = [
            GraphAttentionLayer(nfeat, nhid, dropout=dropout, alpha=alpha, concat=True) for _ in range(nheads)
        ]
        for i, attention in enumerate(self.attentions):
            self.add_module(f"attention_{i}", attention)
        self.out_att = GraphAttentionLayer(nhid * nheads, nclass, dropout=dropout, alpha=alpha, concat=False)

    def forward(self, x, adj):
        x = F.dropout(x, self.dropout, training=self.training)
        x = torch.cat([att(x, adj) for att in self.attentions], dim=1)
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(F.elu(self.out_att(x, adj)), dim=1)


class MPNN(nn.Module):
    """Messages by a network of the edges, states by a GRU, as for QM9."""

    def __init__(self, node_in_feats, edge_in_feats, node_out_feats, edge_hidden_feats, num_step_message_passing):
        super().__init__()
        self.node_out_feats = node_out_feats
        self.project = nn.Linear(node_in_feats, node_out_feats)
        self.edge_network = nn.Sequential(
            nn.Linear(edge_in_feats, edge_hidden_feats),
            nn.ReLU(),
            nn.Linear(edge_hidden_feats, node_out_feats * node_out_feats),
        )
        self.gru = nn.GRUCell(node_out_feats, node_out_feats)
        self.steps = num_step_message_passing

    def forward(self, node_feats, edge_index, edge_feats):
        h = F.relu(self.project(node_feats))
        weight = self.edge_network(edge_feats).view(-1, self.node_out_feats, self.node_out_feats)
        src, dst = edge_index[0], edge_index[1]
        for _ in range(self.steps):
            m = torch.bmm(h[src].unsqueeze(1), weight).squeeze(1)
            h = self.gru(scatter_add(m, dst, h.size(0)), h)
        return h


class RGCNConv(nn.Module):
    def __init__(self, in_feat, out_feat, num_rels, num_bases):
        super().__init__()
        self.bases = nn.Parameter(torch.randn(num_bases, in_feat, out_feat) / math.sqrt(in_feat))
        self.coefficients = nn.Parameter(torch.randn(num_rels, num_bases))
        self.loop_weight = nn.Parameter(torch.randn(in_feat, out_feat) / math.sqrt(in_feat))

    def forward(self, h, edge_index, edge_type):
        weight = torch.einsum("rb,bio->rio", self.coefficients, self.bases)
        msg = torch.einsum("ei,eio->eo", h[edge_index[0]], weight[edge_type])
        return scatter_add(msg, edge_index[1], h.size(0)) + h @ self.loop_weight


class RGCN(nn.Module):
    def __init__(self, num_nodes, h_dim, out_dim, num_rels, num_bases=-1):
        super().__init__()
        if num_bases < 0:
            num_bases = num_rels
        self.emb = nn.Embedding(num_nodes, h_dim)
        self.conv1 = RGCNConv(h_dim, h_dim, num_rels, num_bases)
        self.conv2 = RGCNConv(h_dim, out_dim, num_rels, num_bases)

    def forward(self, edge_index, edge_type):
        h = F.relu(self.conv1(self.emb.weight, edge_index, edge_type))
        return self.conv2(h, edge_index, edge_type)


class GCNEncoder(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin1 = nn.Linear(in_channels, 2 * out_channels)
        self.lin2 = nn.Linear(2 * out_channels, out_channels)

    def propagate(self, x, edge_index):
        row, col = edge_index
        deg = torch.bincount(col, minlength=x.size(0)).clamp(min=1).to(x.dtype)
        return scatter_add(x[row], col, x.size(0)) / deg.unsqueeze(-1)

    def forward(self, x, edge_index):
        x = F.relu(self.propagate(self.lin1(x), edge_index))
        return self.propagate(self.lin2(x), edge_index)


class InnerProductDecoder(nn.Module):
    def forward(self, z, edge_index, sigmoid=True):
        value = (z[edge_index[0]] * z[edge_index[1]]).sum(dim=1)
        return torch.sigmoid(value) if sigmoid else value


class GAE(nn.Module):
    def __init__(self, encoder, decoder=None):
        super().__init__()
        self.encoder = encoder
        self.decoder = InnerProductDecoder() if decoder is None else decoder

    def encode(self, *args, **kwargs):
        return self.encoder(*args, **kwargs)

    def forward(self, x, train_pos_edge_index, edge_label_index):
        z = self.encode(x, train_pos_edge_index)
        return self.decoder(z, edge_label_index)


class CFConv(nn.Module):
    def __init__(self, hidden, num_gaussians, num_filters):
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(num_gaussians, num_filters), nn.Softplus(), nn.Linear(num_filters, num_filters)
        )
        self.lin1 = nn.Linear(hidden, num_filters, bias=False)
        self.lin2 = nn.Linear(num_filters, hidden)

    def forward(self, x, i, j, edge_attr, C):
        W = self.mlp(edge_attr) * C.view(-1, 1)
        x = self.lin1(x)
        return self.lin2(F.softplus(scatter_add(x[j] * W, i, x.size(0))))


class SchNet(nn.Module):
    def __init__(self, hidden_channels, num_filters, num_interactions, num_gaussians, cutoff):
        super().__init__()
        self.cutoff = cutoff
        self.embedding = nn.Embedding(100, hidden_channels, padding_idx=0)
        self.register_buffer("offset", torch.linspace(0.0, cutoff, num_gaussians))
        self.interactions = nn.ModuleList(
            [CFConv(hidden_channels, num_gaussians, num_filters) for _ in range(num_interactions)]
        )
        self.lin1 = nn.Linear(hidden_channels, hidden_channels // 2)
        self.lin2 = nn.Linear(hidden_channels // 2, 1)

    def forward(self, z, pos, batch=None):
        """z: atomic numbers; pos: coordinates of each atom; batch: which molecule it belongs to."""
        assert z.dim() == 1 and z.dtype == torch.long
        batch = torch.zeros_like(z) if batch is None else batch
        dist = torch.cdist(pos, pos)
        near = (dist < self.cutoff) & (batch[:, None] == batch[None, :])
        near = near & ~torch.eye(len(z), dtype=torch.bool)
        i, j = near.nonzero(as_tuple=True)
        d = (pos[i] - pos[j]).norm(dim=-1)
        C = 0.5 * (torch.cos(d * math.pi / self.cutoff) + 1.0)
        edge_attr = torch.exp(-10.0 * (d.view(-1, 1) - self.offset.view(1, -1)) ** 2)
        h = self.embedding(z)
        for interaction in self.interactions:
            h = h + interaction(h, i, j, edge_attr, C)
        h = self.lin2(F.softplus(self.lin1(h)))
        return scatter_add(h, batch, int(batch.max()) + 1)
