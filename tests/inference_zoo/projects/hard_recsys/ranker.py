import torch
from torch import nn

from inference_zoo.projects.hard_recsys.registry import register


class FeatureEmbedding(nn.Module):
    def __init__(self, schema):
        super().__init__()
        self.schema = schema
        self.tables = nn.ModuleDict({f.name: nn.Embedding(f.cardinality, f.embedding_dim) for f in schema.categorical})
        self.out_dim = sum(f.embedding_dim for f in schema.categorical) + len(schema.numeric)

    def forward(self, batch):
        parts = [self.tables[f.name](batch[f.name]) for f in self.schema.categorical]
        parts += [batch[f.name].float().unsqueeze(-1) for f in self.schema.numeric]
        return torch.cat(parts, dim=-1)


@register
class MultiDomainRanker(nn.Module):
    def __init__(self, schema, num_domains, tower_dims, gate, dropout):
        super().__init__()
        self.embedding = FeatureEmbedding(schema)
        self.num_domains = num_domains
        self.temperature = gate["temperature"]
        if gate["type"] not in ("softmax", "sigmoid"):
            raise ValueError(f"gate type {gate['type']} is not supported")
        self.gate_type = gate["type"]
        self.gates = nn.Linear(self.embedding.out_dim, num_domains)
        self.towers = nn.ModuleList()
        for _ in range(num_domains):
            layers, prev = [], self.embedding.out_dim
            for dim in tower_dims:
                layers += [nn.Linear(prev, dim), nn.ReLU(), nn.Dropout(dropout)]
                prev = dim
            self.towers.append(nn.Sequential(*layers, nn.Linear(prev, 1)))

    def forward(self, batch):
        x = self.embedding(batch)
        gates = self.gates(x) / self.temperature
        gates = gates.softmax(-1) if self.gate_type == "softmax" else gates.sigmoid()
        scores = torch.cat([tower(x) for tower in self.towers], dim=-1)
        return (scores * gates).sum(-1)


@register
class SequenceRanker(nn.Module):
    def __init__(self, schema, hidden_units, num_heads, num_blocks, dropout=0.2):
        super().__init__()
        (self.history,) = schema.sequences
        self.item = nn.Embedding(self.history.cardinality, hidden_units, padding_idx=0)
        self.position = nn.Embedding(self.history.max_len, hidden_units)
        layer = nn.TransformerEncoderLayer(hidden_units, num_heads, 2 * hidden_units, dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_blocks, enable_nested_tensor=False)

    def forward(self, history, candidates):
        steps = torch.arange(history.shape[1], device=history.device)
        x = self.encoder(self.item(history) + self.position(steps))
        return (x[:, -1:] * self.item(candidates)).sum(-1)
