"""Hard: tides, pipes, quays and other things of a port, in the manner of what once was kept aside and not found."""

from __future__ import annotations

from typing import Optional, Sequence, Union

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "BerthRanker",
    "BuoyNetwork",
    "CraneMonitor",
    "HullInspector",
    "PilotPolicy",
    "PipeNetwork",
    "QuayScanner",
    "RouteScorer",
    "SonarClassifier",
    "StowagePlanner",
    "TideModel",
    "VoyageReader",
]


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


class CraneMonitor(nn.Module):
    """Sensors that are normalized by what was measured before; the values may come as lists or as tensors."""

    def __init__(
        self,
        num_sensors: int,
        hidden_size: int,
        sensor_mean: Union[torch.Tensor, Sequence[float]],
        sensor_std: Optional[Union[torch.Tensor, Sequence[float]]],
    ):
        super().__init__()
        self.register_buffer("mean", torch.as_tensor(sensor_mean, dtype=torch.float32))
        self.register_buffer("std", torch.as_tensor(sensor_std, dtype=torch.float32))
        self.gru = nn.GRU(num_sensors, hidden_size, batch_first=True)
        self.alarm = nn.Linear(hidden_size, 1)

    def forward(self, readings, observed):
        x = torch.where(observed > 0, (readings - self.mean) / self.std, torch.zeros_like(readings))
        return torch.sigmoid(self.alarm(self.gru(x)[0][:, -1]))


class QuayScanner(nn.Module):
    """A map of depths of any number of axes, which has to be that of the constructor."""

    def __init__(self, *, dim, depth, num_axes=2, channels=1):
        super().__init__()
        self.num_axes = num_axes
        self.embed = nn.Linear(channels + num_axes, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.out = nn.Linear(dim, 1)

    def forward(self, depths):
        b, *axes, _ = depths.shape
        if len(axes) != self.num_axes:
            raise ValueError(f"expected {self.num_axes} axes, got {len(axes)}")
        places = torch.meshgrid(*[torch.linspace(-1, 1, n) for n in axes], indexing="ij")
        grid = torch.stack(places, dim=-1).expand(b, *axes, self.num_axes)
        tokens = self.embed(torch.cat((depths, grid), dim=-1)).flatten(1, -2)
        return self.out(self.blocks(tokens)).view(b, *axes)


class StowagePlanner(nn.Module):
    """Learns to load a ship by playing; the rules are an object that is asked for its sizes."""

    def __init__(self, env, params):
        super().__init__()
        self.rows, self.bays = env.getGridSize()
        self.num_moves = env.get_action_count()
        self.conv = nn.Conv2d(2, params.num_filters, 3, padding=1)
        self.policy = nn.Linear(params.num_filters * self.rows * self.bays, self.num_moves)
        self.value = nn.Linear(params.num_filters * self.rows * self.bays, 1)

    def forward(self, loads, weights):
        x = torch.stack((loads, weights), dim=1)
        x = F.relu(self.conv(x)).view(-1, self.conv.out_channels * self.rows * self.bays)
        return F.log_softmax(self.policy(x), dim=1), torch.tanh(self.value(x))


class SonarClassifier(nn.Module):
    """Bands by time, which are not square, flattened: the linear layer wants one number of both."""

    def __init__(self, n_bands=48, n_classes=6):
        super().__init__()
        self.n_bands = n_bands
        self.conv1, self.conv2 = nn.Conv2d(1, 8, (5, 3)), nn.Conv2d(8, 16, 3)
        self.fc = nn.Linear(16 * 10 * 23, n_classes)  # one second of sound: 98 steps

    def forward(self, bands):
        x = F.max_pool2d(F.relu(self.conv1(bands.unsqueeze(1))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(torch.flatten(x, 1))


class HullInspector(nn.Module):
    """A last convolution as large as the map: of any larger picture, the linear layer gets too much."""

    def __init__(self, num_classes, base=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, base, 3, 2, 1), nn.ReLU(), nn.Conv2d(base, 2 * base, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(2 * base, 2 * base, 3, 2, 1), nn.ReLU(),
        )  # fmt: skip
        self.whole = nn.Conv2d(2 * base, 4 * base, 12)  # pictures are 96 x 96
        self.fc = nn.Linear(4 * base, num_classes)

    def forward(self, x):
        x = self.whole(self.features(x))
        return self.fc(x.view(x.size(0), -1))


class PilotPolicy(nn.Module):
    """Denoises a course, given what the ship sees: an optional argument that the first layer counts on."""

    def __init__(self, action_dim, cond_dim, hidden_dim=64):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.step = nn.Sequential(nn.Linear(hidden_dim, hidden_dim), nn.SiLU())
        self.film = nn.Linear(hidden_dim + cond_dim, 2 * hidden_dim)
        self.enter = nn.Conv1d(action_dim, hidden_dim, 3, padding=1)
        self.leave = nn.Conv1d(hidden_dim, action_dim, 3, padding=1)

    def forward(self, sample, timestep: Union[torch.Tensor, float, int], cond=None):
        freqs = torch.arange(self.hidden_dim // 2, dtype=torch.float32).mul(-0.2).exp()
        angles = torch.as_tensor(timestep).reshape(-1, 1) * freqs
        feature = self.step(torch.cat((angles.sin(), angles.cos()), dim=-1))
        if cond is not None:
            feature = torch.cat([feature, cond], dim=-1)
        scale, shift = self.film(feature).unsqueeze(-1).chunk(2, dim=1)
        x = self.enter(sample.transpose(1, 2))
        return self.leave(F.mish(x * (1 + scale) + shift)).transpose(1, 2)


class VoyageReader(nn.Module):
    """Logs of voyages, sorted by lengths that come as a column and are sizes of what follows."""

    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.embed = nn.Embedding(vocab_size, embed_dim)
        self.cell = nn.GRUCell(embed_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, vocab_size)

    def forward(self, entries, entry_lengths):
        lengths, order = entry_lengths.squeeze(1).sort(dim=0, descending=True)
        words = self.embed(entries[order])
        steps = (lengths - 1).tolist()
        h = torch.zeros(words.size(0), self.hidden_dim)
        made = []
        for t in range(max(steps)):
            h = self.cell(words[:, t, :], h)
            made.append(self.out(h))
        return torch.stack(made, dim=1), order


class BuoyNetwork(nn.Module):
    """Waves at all buoys of a network, whose features lie side by side; what else it is made with has defaults."""

    def __init__(self, distances_adj, **model_kwargs):
        super().__init__()
        self.n_buoys = len(distances_adj)
        self.units = int(model_kwargs.get("rnn_units", 24))
        self.in_features = int(model_kwargs.get("in_features", 3))
        adj = torch.as_tensor(np.asarray(distances_adj), dtype=torch.float32)
        self.register_buffer("support", adj / adj.sum(1, keepdim=True).clamp(min=1e-6))
        self.gate = nn.Linear(2 * (self.in_features + self.units), self.units)
        self.head = nn.Linear(self.units, 1)

    def forward(self, waves):
        """waves: (steps, batch, buoys * features)"""
        h = torch.zeros(waves.shape[1], self.n_buoys, self.units)
        for step in range(waves.shape[0]):
            x = torch.cat([waves[step].reshape(waves.shape[1], self.n_buoys, -1), h], dim=-1)
            h = torch.tanh(self.gate(torch.cat([x, self.support @ x], dim=-1)))
        return self.head(h).squeeze(-1)
