"""Hard: tides, pipes, quays and other things of a port, in the manner of what once was kept aside and not found."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["BerthRanker", "PipeNetwork", "RouteScorer", "TideModel"]


class TideModel(nn.Module):
    """Which task it is only matters once it runs."""

    def __init__(self, configs):
        super().__init__()
        self.task_name = configs.task_name
        self.horizon = configs.horizon
        self.encoder = nn.GRU(configs.enc_in, configs.d_model, configs.e_layers, batch_first=True)
        self.head = nn.Linear(configs.d_model, configs.horizon * configs.c_out)
        self.classifier = nn.Linear(configs.d_model, configs.num_class)

    def predict(self, levels):
        _, h = self.encoder(levels)
        return self.head(h[-1]).view(levels.size(0), self.horizon, -1)

    def classify(self, levels):
        return self.classifier(self.encoder(levels)[0].mean(dim=1))

    def forward(self, levels):
        if self.task_name == "forecast":
            return self.predict(levels)
        if self.task_name == "storm_warning":
            return self.classify(levels)
        return None


class BerthRanker(nn.Module):
    """A configuration that is kept whole and asked in forward."""

    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.ships = nn.Embedding(cfg.n_ships, cfg.hidden_size)
        self.score = nn.Linear(cfg.hidden_size, 1)

    def pooled(self, ships):
        if self.cfg.pooling_name in ("first", "cls"):
            return ships[:, 0]
        if self.cfg.pooling_name == "avg":
            return ships.mean(1)
        raise ValueError(self.cfg.pooling_name)

    def forward(self, ship_ids):
        return self.score(self.pooled(self.ships(ship_ids))).squeeze(-1)


class PipeNetwork(nn.Module):
    """Pressure at the nodes of a network of pipes, whose matrix may come as an array or as lists."""

    def __init__(self, adj_mat, in_dim, hidden_dim):
        super().__init__()
        self.n_nodes = len(adj_mat)
        adj = np.array(adj_mat, dtype=np.float32) + np.eye(self.n_nodes, dtype=np.float32)
        self.register_buffer("adj", torch.from_numpy(adj / adj.sum(axis=1, keepdims=True)))
        self.gc1, self.gc2 = nn.Linear(in_dim, hidden_dim), nn.Linear(hidden_dim, 1)

    def forward(self, pressure):
        h = F.relu(torch.einsum("ij,bjf->bif", self.adj, self.gc1(pressure)))
        return torch.einsum("ij,bjf->bif", self.adj, self.gc2(h))


class RouteEncoder(nn.Module):
    def __init__(self, n_feat, n_hidden):
        super().__init__()
        self.own, self.neighbours = nn.Linear(n_feat, n_hidden), nn.Linear(n_feat, n_hidden)

    def forward(self, x, edge_index):
        source, target = edge_index
        return F.relu(self.own(x) + torch.zeros_like(x).index_add(0, target, x[source]) @ self.neighbours.weight.t())


class RouteScorer(nn.Module):
    """Which ports will be joined by a route; the encoder is called through a method that hands on what it gets."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def encode(self, *args):
        return F.normalize(self.encoder(*args), dim=-1)

    def forward(self, x, edge_index, pos_edge_index, neg_edge_index):
        z = self.encode(x, edge_index)
        scores = [(z[edges[0]] * z[edges[1]]).sum(dim=-1) for edges in (pos_edge_index, neg_edge_index)]
        return torch.cat(scores)
