"""Hard: models whose inputs depend on each other: neighbours, caches, boxes, events, keys of space, trees and scales.

Long because it is a list of models.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "AtomCoordinates",
    "CharWordTagger",
    "ChildSumTree",
    "CrystalRegressor",
    "FormReader",
    "HawkesTransformer",
    "KSpaceUnroller",
    "KeypointMatcher",
    "OfflineController",
    "ScaleCascade",
    "SparseCitations",
    "StreamingRecogniser",
]


class CrystalConv(nn.Module):
    def __init__(self, atom_fea_len, nbr_fea_len):
        super().__init__()
        self.full = nn.Linear(2 * atom_fea_len + nbr_fea_len, 2 * atom_fea_len)
        self.bn1, self.bn2 = nn.BatchNorm1d(2 * atom_fea_len), nn.BatchNorm1d(atom_fea_len)

    def forward(self, atoms, bonds, neighbours):
        n, m = neighbours.shape
        around = atoms[neighbours, :]
        total = torch.cat([atoms.unsqueeze(1).expand(n, m, atoms.size(-1)), around, bonds], dim=2)
        gated = self.bn1(self.full(total).view(n * m, -1)).view(n, m, -1)
        gate, core = gated.chunk(2, dim=2)
        return F.softplus(atoms + self.bn2((gate.sigmoid() * F.softplus(core)).sum(1)))


class CrystalRegressor(nn.Module):
    """Energies of crystals: atoms of all of them, their neighbours, and which atoms each crystal has."""

    def __init__(self, orig_atom_fea_len=92, nbr_fea_len=41, atom_fea_len=64, n_conv=3, h_fea_len=128):
        super().__init__()
        self.embedding = nn.Linear(orig_atom_fea_len, atom_fea_len)
        self.convs = nn.ModuleList([CrystalConv(atom_fea_len, nbr_fea_len) for _ in range(n_conv)])
        self.fc = nn.Linear(atom_fea_len, h_fea_len)
        self.out = nn.Linear(h_fea_len, 1)

    def forward(self, atom_fea, nbr_fea, nbr_fea_idx, crystal_atom_idx):
        x = self.embedding(atom_fea)
        for conv in self.convs:
            x = conv(x, nbr_fea, nbr_fea_idx)
        assert sum(len(idx) for idx in crystal_atom_idx) == x.shape[0]
        pooled = torch.cat([x[idx].mean(dim=0, keepdim=True) for idx in crystal_atom_idx], dim=0)
        return self.out(F.softplus(self.fc(F.softplus(pooled))))


class CachedAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, cache=None):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.heads, d // self.heads).transpose(1, 2) for f in (self.q, self.k, self.v))
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)).softmax(-1)
        return self.o((weights @ v).transpose(1, 2).reshape(b, t, d)), (k, v)


class StreamingRecogniser(nn.Module):
    """Speech chunk by chunk: what attention saw before and the last frames of each convolution are kept."""

    def __init__(self, n_mels=80, dim=144, heads=4, layers=2, kernel=9, vocab_size=500):
        super().__init__()
        self.kernel = kernel
        self.embed = nn.Linear(n_mels, dim)
        self.attention = nn.ModuleList([CachedAttention(dim, heads) for _ in range(layers)])
        self.convs = nn.ModuleList([nn.Conv1d(dim, dim, kernel, groups=dim) for _ in range(layers)])
        self.ctc = nn.Linear(dim, vocab_size)

    def forward(self, chunk, attn_cache, conv_cache):
        x = self.embed(chunk)
        new_attn, new_conv = [], []
        for i, (attention, conv) in enumerate(zip(self.attention, self.convs)):
            y, kept = attention(x, (attn_cache[0][i], attn_cache[1][i]))
            new_attn.append(kept)
            x = x + y
            frames = torch.cat([conv_cache[i], x.transpose(1, 2)], dim=-1)
            new_conv.append(frames[..., -(self.kernel - 1) :])
            x = x + conv(frames).transpose(1, 2)
        return self.ctc(x).log_softmax(-1), new_attn, torch.stack(new_conv)


class CharWordTagger(nn.Module):
    """Tags words by themselves and by their characters; both are packed by their lengths."""

    def __init__(self, n_words=5000, n_chars=90, n_tags=17, word_dim=100, char_dim=25, hidden=200):
        super().__init__()
        self.word_emb = nn.Embedding(n_words, word_dim, padding_idx=0)
        self.char_emb = nn.Embedding(n_chars, char_dim, padding_idx=0)
        self.char_lstm = nn.LSTM(char_dim, char_dim, bidirectional=True, batch_first=True)
        self.lstm = nn.LSTM(word_dim + 2 * char_dim, hidden, bidirectional=True, batch_first=True)
        self.emission = nn.Linear(2 * hidden, n_tags)

    def forward(self, words, chars, word_lens, char_lens):
        b, t, c = chars.size()
        flat = self.char_emb(chars.view(b * t, c))
        packed = pack_padded_sequence(flat, char_lens.view(-1).cpu(), batch_first=True, enforce_sorted=False)
        _, (h, _) = self.char_lstm(packed)
        by_chars = torch.cat([h[0], h[1]], dim=-1).view(b, t, -1)
        x = torch.cat([self.word_emb(words), by_chars], dim=-1)
        packed = pack_padded_sequence(x, word_lens.cpu(), batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=t)
        return self.emission(out)


class FormReader(nn.Module):
    """Reads forms: words, where each stands on the page (0 to 1000), and the page itself."""

    def __init__(self, vocab_size=30522, hidden_size=128, max_position_embeddings=512, max_2d=1024, num_labels=7):
        super().__init__()
        self.words = nn.Embedding(vocab_size, hidden_size, padding_idx=0)
        self.positions = nn.Embedding(max_position_embeddings, hidden_size)
        self.x, self.y = nn.Embedding(max_2d, hidden_size), nn.Embedding(max_2d, hidden_size)
        self.h, self.w = nn.Embedding(max_2d, hidden_size), nn.Embedding(max_2d, hidden_size)
        self.page = nn.Sequential(nn.Conv2d(3, hidden_size, 16, 16), nn.ReLU(), nn.AdaptiveAvgPool2d((7, 7)))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(hidden_size, 4, 256, batch_first=True), 2)
        self.classifier = nn.Linear(hidden_size, num_labels)

    def forward(self, input_ids, bbox, image, attention_mask=None, position_ids=None):
        b, t = input_ids.shape
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        if position_ids is None:
            position_ids = torch.arange(t, device=input_ids.device).expand(b, t)
        x = self.words(input_ids) + self.positions(position_ids)
        x = x + self.x(bbox[:, :, 0]) + self.y(bbox[:, :, 1]) + self.x(bbox[:, :, 2]) + self.y(bbox[:, :, 3])
        x = x + self.h((bbox[:, :, 3] - bbox[:, :, 1]).clamp(min=0)) + self.w((bbox[..., 2] - bbox[..., 0]).clamp(0))
        page = self.page(image).flatten(2).transpose(1, 2)
        seen = torch.cat([attention_mask, attention_mask.new_ones(b, page.size(1))], dim=1)
        out = self.encoder(torch.cat([x, page], dim=1), src_key_padding_mask=seen == 0)
        return self.classifier(out[:, :t])


def normalised(keypoints, shape):
    _, _, height, width = shape
    size = torch.tensor([width, height], dtype=torch.float32)[None]
    return (keypoints - (size / 2)[:, None, :]) / (size.max(1, keepdim=True).values * 0.7)[:, None, :]


class KeypointMatcher(nn.Module):
    """Which points of two pictures are the same: a dict of places, scores and descriptors of both."""

    def __init__(self, descriptor_dim=128, heads=4, layers=2):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv1d(3, 32, 1), nn.ReLU(), nn.Conv1d(32, descriptor_dim, 1))
        self.layers = nn.ModuleList(
            [nn.MultiheadAttention(descriptor_dim, heads, batch_first=True) for _ in range(2 * layers)]
        )
        self.final = nn.Conv1d(descriptor_dim, descriptor_dim, 1)
        self.bin = nn.Parameter(torch.tensor(1.0))

    def forward(self, data):
        desc0, desc1 = data["descriptors0"], data["descriptors1"]
        kpts0 = normalised(data["keypoints0"], data["image0"].shape)
        kpts1 = normalised(data["keypoints1"], data["image1"].shape)
        desc0 = desc0 + self.encode(torch.cat([kpts0.transpose(1, 2), data["scores0"].unsqueeze(1)], dim=1))
        desc1 = desc1 + self.encode(torch.cat([kpts1.transpose(1, 2), data["scores1"].unsqueeze(1)], dim=1))
        a, b = desc0.transpose(1, 2), desc1.transpose(1, 2)
        for own, cross in zip(self.layers[::2], self.layers[1::2]):
            a, b = a + own(a, a, a)[0], b + own(b, b, b)[0]
            a, b = a + cross(a, b, b)[0], b + cross(b, a, a)[0]
        a, b = self.final(a.transpose(1, 2)), self.final(b.transpose(1, 2))
        scores = torch.einsum("bdn,bdm->bnm", a, b) / a.shape[1] ** 0.5
        batch, n, m = scores.shape
        bins0, bins1 = self.bin.expand(batch, n, 1), self.bin.expand(batch, 1, m + 1)
        couplings = torch.cat([torch.cat([scores, bins0], -1), bins1], 1)
        return {"scores": couplings.log_softmax(-1), "matches0": couplings[:, :-1].argmax(-1)}


class ChildSumTree(nn.Module):
    """Nodes of many trees in one list, worked through in levels from the leaves up."""

    def __init__(self, in_features=50, out_features=64, num_classes=5):
        super().__init__()
        self.out_features = out_features
        self.W_iou = nn.Linear(in_features, 3 * out_features)
        self.U_iou = nn.Linear(out_features, 3 * out_features, bias=False)
        self.W_f, self.U_f = nn.Linear(in_features, out_features), nn.Linear(out_features, out_features, bias=False)
        self.out = nn.Linear(out_features, num_classes)

    def forward(self, forest, adjacency_list, node_order, edge_order):
        h = forest.new_zeros(forest.size(0), self.out_features)
        c = torch.zeros_like(h)
        for level in range(int(node_order.max()) + 1):
            here = node_order == level
            x = forest[here]
            if level == 0:
                iou = self.W_iou(x)
            else:
                edges = adjacency_list[edge_order == level]
                parents, children = edges[:, 0], edges[:, 1]
                summed = torch.zeros_like(h).index_add(0, parents, h[children])
                forget = torch.sigmoid(self.W_f(forest[parents]) + self.U_f(h[children])) * c[children]
                iou = self.W_iou(x) + self.U_iou(summed[here])
            i, o, u = iou.chunk(3, dim=1)
            cell = i.sigmoid() * u.tanh()
            if level > 0:
                cell = cell + torch.zeros_like(c).index_add(0, parents, forget)[here]
            c = c.masked_scatter(here[:, None], cell)
            h = h.masked_scatter(here[:, None], o.sigmoid() * cell.tanh())
        return self.out(h)


class ScaleCascade(nn.Module):
    """Sharpens a picture from coarse to fine: a list of the same picture in three sizes."""

    def __init__(self, channels=32, scales=3):
        super().__init__()
        self.heads = nn.ModuleList([nn.Conv2d(3 if i == 0 else 6, channels, 5, padding=2) for i in range(scales)])
        self.bodies = nn.ModuleList([nn.Conv2d(channels, channels, 3, padding=1) for _ in range(scales)])
        self.tails = nn.ModuleList([nn.Conv2d(channels, 3, 5, padding=2) for _ in range(scales)])

    def forward(self, pyramid):
        """pyramid[0] is the smallest."""
        outputs = []
        for i, (head, body, tail) in enumerate(zip(self.heads, self.bodies, self.tails)):
            x = pyramid[i]
            if outputs:
                before = F.interpolate(outputs[-1], size=x.shape[-2:], mode="bilinear", align_corners=False)
                x = torch.cat([x, before], dim=1)
            x = F.relu(head(x))
            outputs.append(tail(x + F.relu(body(x))) + pyramid[i])
        return outputs[::-1]


class OfflineController(nn.Module):
    """Plans as a language model does: returns to go, states and actions, interleaved, each with its time."""

    def __init__(self, state_dim=17, act_dim=6, hidden_size=128, max_length=20, max_ep_len=1000, n_layer=2):
        super().__init__()
        self.state_dim, self.act_dim, self.hidden_size = state_dim, act_dim, hidden_size
        self.embed_timestep = nn.Embedding(max_ep_len, hidden_size)
        self.embed_return, self.embed_state = nn.Linear(1, hidden_size), nn.Linear(state_dim, hidden_size)
        self.embed_action = nn.Linear(act_dim, hidden_size)
        self.norm = nn.LayerNorm(hidden_size)
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(hidden_size, 4, 256, batch_first=True), n_layer)
        self.predict_state, self.predict_action = nn.Linear(hidden_size, state_dim), nn.Linear(hidden_size, act_dim)

    def forward(self, states, actions, rewards, returns_to_go, timesteps, attention_mask=None):
        batch_size, seq_length = states.shape[0], states.shape[1]
        if attention_mask is None:
            attention_mask = torch.ones((batch_size, seq_length), dtype=torch.long)
        time = self.embed_timestep(timesteps)
        parts = (self.embed_return(returns_to_go), self.embed_state(states), self.embed_action(actions))
        stacked = torch.stack([part + time for part in parts], dim=1).permute(0, 2, 1, 3)
        stacked = self.norm(stacked.reshape(batch_size, 3 * seq_length, self.hidden_size))
        mask = torch.stack([attention_mask] * 3, dim=1).permute(0, 2, 1).reshape(batch_size, 3 * seq_length)
        x = self.body(stacked, src_key_padding_mask=mask == 0)
        x = x.reshape(batch_size, seq_length, 3, self.hidden_size).permute(0, 2, 1, 3)
        return self.predict_state(x[:, 2]), self.predict_action(x[:, 1]).tanh()


class KSpaceUnroller(nn.Module):
    """Pictures from what a scanner measured: real and imaginary parts of all coils, and which lines were measured."""

    def __init__(self, cascades=2, chans=16):
        super().__init__()
        self.nets = nn.ModuleList(
            [
                nn.Sequential(nn.Conv2d(2, chans, 3, padding=1), nn.ReLU(), nn.Conv2d(chans, 2, 3, padding=1))
                for _ in range(cascades)
            ]
        )
        self.weights = nn.Parameter(torch.ones(cascades))

    def forward(self, masked_kspace, mask, sens_maps):
        kspace = masked_kspace.clone()
        sens = torch.view_as_complex(sens_maps)
        for net, weight in zip(self.nets, self.weights):
            coils = torch.fft.ifft2(torch.view_as_complex(kspace), norm="ortho")
            image = torch.view_as_real((coils * sens.conj()).sum(dim=1))
            refined = net(image.permute(0, 3, 1, 2)).permute(0, 2, 3, 1).contiguous()
            expanded = torch.view_as_complex(refined).unsqueeze(1) * sens
            model_term = torch.view_as_real(torch.fft.fft2(expanded, norm="ortho"))
            zero = torch.zeros_like(kspace)
            kspace = kspace - torch.where(mask.bool(), kspace - masked_kspace, zero) * weight - model_term
        return torch.view_as_complex(kspace).abs().pow(2).sum(1).sqrt()


class HawkesTransformer(nn.Module):
    """When something happens next, and what: times that grow, kinds of events, and which of them are padding."""

    def __init__(self, num_types=22, d_model=64, d_inner=128, n_layers=2, n_head=4):
        super().__init__()
        self.num_types = num_types
        self.register_buffer("position_vec", torch.pow(10000.0, 2 * (torch.arange(d_model) // 2) / d_model))
        self.event_emb = nn.Embedding(num_types + 1, d_model, padding_idx=0)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(d_model, n_head, d_inner, batch_first=True) for _ in range(n_layers)]
        )
        self.alpha = nn.Parameter(torch.tensor(-0.1))
        self.intensity, self.time_predictor = nn.Linear(d_model, num_types), nn.Linear(d_model, 1, bias=False)

    def temporal_enc(self, time, non_pad_mask):
        result = time.unsqueeze(-1) / self.position_vec
        result = torch.where(torch.arange(result.size(-1)) % 2 == 0, result.sin(), result.cos())
        return result * non_pad_mask

    def forward(self, event_type, event_time):
        non_pad_mask = event_type.ne(0).float().unsqueeze(-1)
        x, tem = self.event_emb(event_type), self.temporal_enc(event_time, non_pad_mask)
        length = event_type.size(1)
        causal = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        for layer in self.layers:
            x = layer(x + tem, src_mask=causal, src_key_padding_mask=event_type.eq(0)) * non_pad_mask
        since = torch.diff(event_time, dim=1) * non_pad_mask[:, 1:, 0]
        rates = F.softplus(self.intensity(x)[:, :-1] + self.alpha * since.unsqueeze(-1))
        return rates, self.time_predictor(x)


class SparseCitations(nn.Module):
    """Papers that cite each other: the matrix is made of its places and values."""

    def __init__(self, nfeat=1433, nhid=16, nclass=7, dropout=0.5):
        super().__init__()
        self.first, self.second = nn.Linear(nfeat, nhid), nn.Linear(nhid, nclass)
        self.dropout = dropout

    def forward(self, features, adj_indices, adj_values):
        n = features.shape[0]
        adj = torch.sparse_coo_tensor(adj_indices, adj_values, (n, n))
        x = F.relu(torch.sparse.mm(adj, self.first(features)))
        x = F.dropout(x, self.dropout, training=self.training)
        return torch.spmm(adj, self.second(x)).log_softmax(dim=1)


class AtomCoordinates(nn.Module):
    """Moves atoms by messages that turn with them: kinds, places, bonds with their features, and molecules."""

    def __init__(self, num_atom_types=10, hidden=64, edge_dim=4, layers=3):
        super().__init__()
        self.embed = nn.Embedding(num_atom_types, hidden)
        width = 2 * hidden + 1 + edge_dim
        self.edge = nn.ModuleList([nn.Sequential(nn.Linear(width, hidden), nn.SiLU()) for _ in range(layers)])
        self.coord = nn.ModuleList([nn.Linear(hidden, 1, bias=False) for _ in range(layers)])
        self.node = nn.ModuleList([nn.Linear(2 * hidden, hidden) for _ in range(layers)])
        self.readout = nn.Linear(hidden, 1)

    def forward(self, z, pos, edge_index, edge_attr, batch):
        row, col = edge_index
        h = self.embed(z)
        for edge, coord, node in zip(self.edge, self.coord, self.node):
            diff = pos[row] - pos[col]
            radial = diff.pow(2).sum(dim=-1, keepdim=True)
            m = edge(torch.cat([h[row], h[col], radial, edge_attr], dim=-1))
            pos = pos + torch.zeros_like(pos).index_add_(0, row, diff * coord(m))
            h = h + node(torch.cat([h, h.new_zeros(h.shape).index_add_(0, row, m)], dim=-1))
        num_graphs = int(batch.max()) + 1
        energy = h.new_zeros(num_graphs, 1).index_add_(0, batch, self.readout(h))
        return energy, pos
