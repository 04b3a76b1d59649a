"""Hard: inputs of several kinds, whose sizes and structures depend on each other."""

from __future__ import annotations

from typing import TypedDict

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "BeamScorer",
    "BoxRefiner",
    "CoordinateField",
    "DecisionTransformer",
    "DiffusionPolicy",
    "GraphBatchNet",
    "InteractionNetwork",
    "LayoutEncoder",
    "NextBasket",
    "PackedEncoder",
    "PyramidFusion",
    "TypedInput",
    "VideoQA",
    "WindowedAttention",
]


class BeamScorer(nn.Module):
    def __init__(self, vocab=40, dim=24, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, layers)
        self.out = nn.Linear(2 * dim, vocab)

    def forward(self, y, hidden, encoder_out):
        """One step: y [batch], hidden (h, c), encoder_out [batch, time, dim]."""
        out, hidden = self.rnn(self.embed(y).unsqueeze(0), hidden)
        scores = torch.bmm(encoder_out, out.permute(1, 2, 0)).softmax(dim=1)
        context = (scores * encoder_out).sum(1)
        return self.out(torch.cat([out[0], context], -1)), hidden


class BoxRefiner(nn.Module):
    def __init__(self, num_classes=5, dim=32):
        super().__init__()
        self.project = nn.Linear(4, dim)
        self.label = nn.Embedding(num_classes, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 4, batch_first=True)
        self.delta = nn.Linear(dim, 4)

    def forward(self, boxes, labels):
        assert boxes.shape[-1] == 4, "boxes are (x1, y1, x2, y2)"
        assert boxes.shape[:2] == labels.shape
        return boxes + self.delta(self.layer(self.project(boxes) + self.label(labels)))


class CoordinateField(nn.Module):
    def __init__(self, latent=16, resolution=12):
        super().__init__()
        self.planes = nn.Parameter(torch.randn(1, latent, resolution, resolution))
        self.mlp = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, coordinates):
        """Coordinates [batch, points, 2] in -1…1."""
        grid = coordinates.unsqueeze(1)
        planes = self.planes.expand(coordinates.shape[0], -1, -1, -1)
        features = F.grid_sample(planes, grid, align_corners=True)
        return self.mlp(features.squeeze(2).transpose(1, 2))


class DecisionTransformer(nn.Module):
    def __init__(self, state_dim, act_dim, hidden_size, max_ep_len):
        super().__init__()
        self.hidden_size = hidden_size
        self.embed_timestep = nn.Embedding(max_ep_len, hidden_size)
        self.embed_return = nn.Linear(1, hidden_size)
        self.embed_state = nn.Linear(state_dim, hidden_size)
        self.embed_action = nn.Linear(act_dim, hidden_size)
        self.block = nn.TransformerEncoderLayer(hidden_size, 4, batch_first=True)
        self.predict_action = nn.Linear(hidden_size, act_dim)

    def forward(self, states, actions, returns_to_go, timesteps):
        batch_size, seq_length = states.shape[0], states.shape[1]
        time = self.embed_timestep(timesteps)
        parts = (self.embed_return(returns_to_go), self.embed_state(states), self.embed_action(actions))
        stacked = torch.stack([part + time for part in parts], dim=1).permute(0, 2, 1, 3)
        x = self.block(stacked.reshape(batch_size, 3 * seq_length, self.hidden_size))
        return self.predict_action(x.reshape(batch_size, seq_length, 3, self.hidden_size)[:, :, 1])


class DiffusionPolicy(nn.Module):
    def __init__(self, action_dim=6, horizon=16, obs_dim=10, n_obs_steps=2):
        super().__init__()
        self.horizon, self.n_obs_steps = horizon, n_obs_steps
        self.cond = nn.Linear(obs_dim * n_obs_steps + 1, 32)
        self.down = nn.Conv1d(action_dim, 32, 3, padding=1)
        self.up = nn.Conv1d(32, action_dim, 3, padding=1)

    def forward(self, sample, timestep, global_cond):
        b, t, d = sample.shape
        if t != self.horizon:
            raise ValueError(f"expected horizon {self.horizon}, got {t}")
        cond = torch.cat([global_cond.flatten(1), timestep.float().view(b, 1)], dim=-1)
        x = self.down(sample.transpose(1, 2)) + self.cond(cond).unsqueeze(-1)
        return self.up(F.mish(x)).transpose(1, 2)


class GraphBatchNet(nn.Module):
    def __init__(self, num_atom_types=20, num_bond_types=4, dim=16):
        super().__init__()
        self.atoms, self.bonds = nn.Embedding(num_atom_types, dim), nn.Embedding(num_bond_types, dim)
        self.update = nn.Linear(2 * dim, dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, z, edge_index, edge_type, batch):
        h, (source, target) = self.atoms(z), edge_index
        message = h[source] * self.bonds(edge_type)
        h = self.update(torch.cat([h, torch.zeros_like(h).index_add(0, target, message)], -1))
        graphs = int(batch.max()) + 1
        return self.out(h.new_zeros(graphs, h.shape[1]).index_add(0, batch, h))


class InteractionNetwork(nn.Module):
    def __init__(self, n_objects=4, n_relations=12, object_dim=5, effect_dim=8):
        super().__init__()
        self.relational = nn.Linear(2 * object_dim + 1, effect_dim)
        self.object = nn.Linear(object_dim + effect_dim, 2)
        self.n_objects, self.n_relations = n_objects, n_relations

    def forward(self, objects, sender_relations, receiver_relations, relation_info):
        senders = sender_relations.permute(0, 2, 1).bmm(objects)
        receivers = receiver_relations.permute(0, 2, 1).bmm(objects)
        effects = F.relu(self.relational(torch.cat([senders, receivers, relation_info], 2)))
        return self.object(torch.cat([objects, receiver_relations.bmm(effects)], 2))


class LayoutEncoder(nn.Module):
    def __init__(self, vocab=100, dim=24, max_2d=64):
        super().__init__()
        self.word, self.x, self.y = nn.Embedding(vocab, dim), nn.Embedding(max_2d, dim), nn.Embedding(max_2d, dim)
        self.encoder = nn.TransformerEncoderLayer(dim, 4, batch_first=True)

    def forward(self, input_ids, bbox, attention_mask=None):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        left, upper, right, lower = (bbox[:, :, i] for i in range(4))
        position = self.x(left) + self.y(upper) + self.x(right) + self.y(lower)
        return self.encoder(self.word(input_ids) + position, src_key_padding_mask=attention_mask == 0)


class NextBasket(nn.Module):
    def __init__(self, n_items=50, dim=16):
        super().__init__()
        self.items = nn.EmbeddingBag(n_items, dim, mode="sum")
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, n_items)

    def forward(self, baskets):
        """A list of baskets for each time step, all of the same users."""
        steps = torch.stack([self.items(basket) for basket in baskets], dim=1)
        return self.out(self.rnn(steps)[0][:, -1])


class PackedEncoder(nn.Module):
    def __init__(self, n_mels=20, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(n_mels, hidden)
        self.proj = nn.Linear(hidden, hidden)

    def forward(self, features, feature_lengths):
        """Features [time, batch, mels]."""
        packed = nn.utils.rnn.pack_padded_sequence(features, feature_lengths.tolist(), enforce_sorted=False)
        out, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0])
        last = out[feature_lengths - 1, torch.arange(out.size(1))]
        return self.proj(last)


class PyramidFusion(nn.Module):
    def __init__(self, in_channels=(8, 16, 32), out_channels=12):
        super().__init__()
        self.inner = nn.ModuleList(nn.Conv2d(c, out_channels, 1) for c in in_channels)

    def forward(self, features):
        assert len(features) == len(self.inner)
        results = [conv(f) for conv, f in zip(self.inner, features, strict=True)]
        for i in range(len(results) - 1, 0, -1):
            results[i - 1] = results[i - 1] + F.interpolate(results[i], size=results[i - 1].shape[-2:])
        return results


class Sample(TypedDict):
    image: torch.Tensor
    instruction: torch.Tensor
    proprio: torch.Tensor


class TypedInput(nn.Module):
    def __init__(self, vocab_size=60, proprio_dim=7):
        super().__init__()
        self.vision = nn.Sequential(nn.Conv2d(3, 16, 8, 8), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.text = nn.EmbeddingBag(vocab_size, 16)
        self.head = nn.Linear(32 + proprio_dim, 7)

    def forward(self, sample: Sample) -> torch.Tensor:
        parts = [self.vision(sample["image"]), self.text(sample["instruction"]), sample["proprio"]]
        return self.head(torch.cat(parts, dim=-1))


class VideoQA(nn.Module):
    def __init__(self, vocab=80, dim=32):
        super().__init__()
        self.frame = nn.Conv2d(3, dim, 16, 16)
        self.temporal = nn.GRU(dim, dim, batch_first=True)
        self.words = nn.Embedding(vocab, dim)
        self.cross = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.out = nn.Linear(dim, 10)

    def forward(self, video, question, question_mask):
        b, t, c, h, w = video.shape
        frames = self.frame(video.reshape(b * t, c, h, w)).mean((2, 3)).view(b, t, -1)
        memory, _ = self.temporal(frames)
        x, _ = self.cross(self.words(question), memory, memory)
        return self.out((x * question_mask.unsqueeze(-1)).sum(1) / question_mask.sum(1, keepdim=True))


class WindowedAttention(nn.Module):
    def __init__(self, dim=24, window_size=4, num_heads=3, resolution=16):
        super().__init__()
        self.window, self.heads, self.resolution = window_size, num_heads, resolution
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x):
        b, length, c = x.shape
        side, w = self.resolution, self.window
        assert length == side * side, "input feature has wrong size"
        x = x.view(b, side // w, w, side // w, w, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, c)
        q, k, v = self.qkv(x).reshape(-1, w * w, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        x = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(-1, w * w, c)
        x = self.proj(x).view(b, side // w, side // w, w, w, c).permute(0, 1, 3, 2, 4, 5)
        return x.reshape(b, length, c)
