"""Hard, once aside: one model each of many fields."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "BasketRecommender",
    "BoxCaptionGrounder",
    "DemandForecaster",
    "DialogueTracker",
    "GraphPolicy",
    "LatentDynamics",
    "LidarPillars",
    "MoleculeDocking",
    "SeismicPicker",
    "WardRiskModel",
]


class BasketRecommender(nn.Module):
    def __init__(self, n_items, n_users, dim, max_baskets):
        super().__init__()
        self.items, self.users = nn.Embedding(n_items + 1, dim, padding_idx=0), nn.Embedding(n_users, dim)
        self.order = nn.Parameter(torch.zeros(max_baskets, dim))
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, user, baskets, basket_sizes):
        b, n, k = baskets.shape
        inside = torch.arange(k, device=baskets.device) < basket_sizes.unsqueeze(-1)
        pooled = (self.items(baskets) * inside.unsqueeze(-1)).sum(2) / basket_sizes.clamp(min=1).unsqueeze(-1)
        _, h = self.rnn(pooled + self.order[:n])
        return (h[-1] + self.users(user)) @ self.items.weight.t()


class BoxCaptionGrounder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.word = nn.Embedding(cfg["text"]["vocab_size"], cfg["text"]["dim"])
        self.region = nn.Linear(cfg["vision"]["feat_dim"] + 4, cfg["text"]["dim"])
        self.cross = nn.MultiheadAttention(cfg["text"]["dim"], cfg["num_heads"], batch_first=True)

    def forward(self, samples):
        boxes = samples["boxes"] / samples["image_size"].unsqueeze(1).repeat(1, 1, 2)
        regions = self.region(torch.cat([samples["features"], boxes], dim=-1))
        words = self.word(samples["caption"])
        attended, _ = self.cross(words, regions, regions, key_padding_mask=~samples["box_mask"].bool())
        return torch.einsum("bwd,brd->bwr", attended, regions)


class DemandForecaster(nn.Module):
    def __init__(self, emb_dims, no_of_cont, lin_layer_sizes, output_size, emb_dropout=0.1):
        super().__init__()
        self.emb_layers = nn.ModuleList([nn.Embedding(x, y) for x, y in emb_dims])
        self.no_of_cont = no_of_cont
        width = sum(y for _, y in emb_dims) + no_of_cont
        self.first_bn = nn.BatchNorm1d(no_of_cont)
        sizes = [width, *lin_layer_sizes]
        self.lin_layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)])
        self.output = nn.Linear(sizes[-1], output_size)
        self.drop = nn.Dropout(emb_dropout)

    def forward(self, cont_data, cat_data):
        x = torch.cat([layer(cat_data[:, i]) for i, layer in enumerate(self.emb_layers)], 1)
        x = torch.cat([self.drop(x), self.first_bn(cont_data)], 1)
        for layer in self.lin_layers:
            x = F.relu(layer(x))
        return self.output(x)


class DialogueTracker(nn.Module):
    def __init__(self, vocab, ontology, d_hid=64):
        super().__init__()
        self.emb = nn.Embedding(len(vocab), d_hid)
        self.encoders = nn.ModuleDict({slot: nn.LSTM(d_hid, d_hid, batch_first=True) for slot in ontology})
        self.values = nn.ParameterDict(
            {slot: nn.Parameter(torch.randn(len(ontology[slot]), d_hid)) for slot in ontology}
        )

    def forward(self, utterance, utterance_len):
        x = self.emb(utterance)
        last = torch.arange(x.size(0), device=x.device), utterance_len - 1
        return {slot: encoder(x)[0][last] @ self.values[slot].t() for slot, encoder in self.encoders.items()}


class GraphPolicy(nn.Module):
    def __init__(self, node_features, edge_features, hidden, n_rounds=2):
        super().__init__()
        self.n_rounds = n_rounds
        self.node, self.edge = nn.Linear(node_features, hidden), nn.Linear(edge_features, hidden)
        self.message = nn.Linear(3 * hidden, hidden)
        self.update = nn.GRUCell(hidden, hidden)
        self.score, self.value = nn.Linear(hidden, 1), nn.Linear(hidden, 1)

    def forward(self, obs):
        h, e = self.node(obs["nodes"]).relu(), self.edge(obs["edges"]).relu()
        src, dst = obs["edge_links"].unbind(-1)
        for _ in range(self.n_rounds):
            m = self.message(torch.cat([h[src], h[dst], e], -1)).relu()
            h = self.update(torch.zeros_like(h).index_add(0, dst, m), h)
        logits = self.score(h).squeeze(-1).masked_fill(obs["action_mask"] == 0, -1e9)
        return logits.softmax(-1), self.value(h.mean(0))


class LatentDynamics(nn.Module):
    def __init__(self, obs_size, control_size, latent_size, num_samples=3):
        super().__init__()
        self.num_samples, self.latent_size = num_samples, latent_size
        self.encode = nn.GRU(obs_size + control_size, 2 * latent_size)
        self.drift = nn.Sequential(nn.Linear(latent_size + control_size + 1, 64), nn.Tanh(), nn.Linear(64, latent_size))
        self.decode = nn.Linear(latent_size, obs_size)

    def forward(self, ts, xs, us):
        _, h = self.encode(torch.cat([xs, us], -1))
        mean, log_var = h[0].chunk(2, -1)
        z = mean + (0.5 * log_var).exp() * torch.randn(self.num_samples, *mean.shape)
        path = [z]
        for i in range(len(ts) - 1):
            dt = ts[i + 1] - ts[i]
            extra = torch.cat([us[i], ts[i].expand(us.size(1), 1)], -1).expand(self.num_samples, -1, -1)
            z = z + dt * self.drift(torch.cat([z, extra], -1))
            path.append(z)
        return self.decode(torch.stack(path)), mean


class LidarPillars(nn.Module):
    def __init__(self, point_dim, channels, grid, num_anchors=2):
        super().__init__()
        self.grid = grid
        self.pfn = nn.Linear(point_dim, channels)
        self.head = nn.Conv2d(channels, num_anchors * 7, 3, padding=1)

    def forward(self, pillars, coords, npoints):
        keep = torch.arange(pillars.size(1), device=pillars.device)[None] < npoints[:, None]
        feats = (self.pfn(pillars) * keep.unsqueeze(-1)).amax(1)
        canvas = feats.new_zeros(self.grid[0] * self.grid[1], feats.size(-1))
        index = (coords[:, 0] * self.grid[1] + coords[:, 1]).clamp(0, canvas.size(0) - 1)
        canvas = canvas.index_copy(0, index, feats)
        return self.head(canvas.t().reshape(1, -1, *self.grid))


class MoleculeDocking(nn.Module):
    def __init__(self, num_atom_types, num_residues, dim, cutoff):
        super().__init__()
        self.cutoff = cutoff
        self.atom, self.residue = nn.Embedding(num_atom_types, dim), nn.Embedding(num_residues, dim)
        self.pair = nn.Sequential(nn.Linear(2 * dim + 1, dim), nn.SiLU(), nn.Linear(dim, 1))

    def forward(self, ligand_z, ligand_pos, pocket_seq, pocket_pos):
        dist = torch.cdist(ligand_pos, pocket_pos)
        n, m = dist.shape[-2:]
        a = self.atom(ligand_z).unsqueeze(-2).expand(*ligand_z.shape, m, -1)
        r = self.residue(pocket_seq).unsqueeze(-3).expand_as(a)
        energy = self.pair(torch.cat([a, r, dist.unsqueeze(-1)], -1)).squeeze(-1)
        return (energy * (dist < self.cutoff)).sum((-1, -2))


@dataclass
class PickerConfig:
    in_channels: int
    in_samples: int
    phases: str
    kernel_size: int
    filters: list[int]


class SeismicPicker(nn.Module):
    def __init__(self, config: PickerConfig):
        super().__init__()
        self.config = config
        self.down, self.up, prev = nn.ModuleList(), nn.ModuleList(), config.in_channels
        for width in config.filters:
            self.down.append(nn.Conv1d(prev, width, config.kernel_size, 2, config.kernel_size // 2))
            prev = width
        for width in [*config.filters[-2::-1], config.filters[0]]:
            self.up.append(nn.Conv1d(prev, width, config.kernel_size, 1, config.kernel_size // 2))
            prev = width
        self.out = nn.Conv1d(prev, len(config.phases), 1)

    def forward(self, x):
        if x.shape[-1] != self.config.in_samples:
            raise ValueError(f"expected {self.config.in_samples} samples, got {x.shape[-1]}")
        for layer in self.down:
            x = F.relu(layer(x))
        for layer in self.up:
            x = F.relu(layer(F.interpolate(x, scale_factor=2)))
        return self.out(x).softmax(1)


class WardRiskModel(nn.Module):
    def __init__(self, n_codes, n_labs, n_static, hidden):
        super().__init__()
        self.codes = nn.EmbeddingBag(n_codes, hidden, mode="sum")
        self.labs = nn.GRU(2 * n_labs + 1, hidden, batch_first=True)
        self.static = nn.Linear(n_static, hidden)
        self.risk = nn.Linear(3 * hidden, 1)

    def forward(self, static, codes, labs, observed, hours_since_last):
        labs = torch.where(observed.bool(), labs, torch.zeros_like(labs))
        _, h = self.labs(torch.cat([labs, observed, hours_since_last.unsqueeze(-1)], -1))
        return torch.sigmoid(self.risk(torch.cat([self.codes(codes), h[-1], self.static(static)], -1)))
