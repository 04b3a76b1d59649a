"""Found by the names of inputs, and by the layers that they go into."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class LstmTagger(nn.Module):
    def __init__(self, vocab_size=200, dim=16):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, dim)
        self.lstm = nn.LSTM(dim, dim)
        self.tags = nn.Linear(dim, 5)

    def forward(self, sentence):
        embeds = self.word_embeddings(sentence)
        out, _ = self.lstm(embeds.view(len(sentence), 1, -1))
        return F.log_softmax(self.tags(out.view(len(sentence), -1)), dim=1)


class PackedGru(nn.Module):
    """Lengths must not exceed the sequence."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 8)
        self.gru = nn.GRU(8, 8, batch_first=True)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        return self.gru(packed)[1]


class NanoGpt(nn.Module):
    def __init__(self, n_embd=32, block_size=64):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(65, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList(nn.TransformerEncoderLayer(n_embd, 4, 64, batch_first=True) for _ in range(2))
        self.lm_head = nn.Linear(n_embd, 65, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, idx, targets=None):
        steps = idx.shape[1]
        x = self.wte(idx) + self.wpe(torch.arange(steps, device=idx.device))
        mask = nn.Transformer.generate_square_subsequent_mask(steps)
        for block in self.h:
            x = block(x, mask)
        logits = self.lm_head(x)
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


class BertLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.types = nn.Embedding(120, 32), nn.Embedding(2, 32)
        self.norm = nn.LayerNorm(32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)

    def forward(self, input_ids, attention_mask, token_type_ids):
        x = self.norm(self.words(input_ids) + self.types(token_type_ids))
        return self.layer(x, src_key_padding_mask=attention_mask == 0)


class Factorisation(nn.Module):
    def __init__(self, n_users=30, n_items=20):
        super().__init__()
        self.user_factors, self.item_factors = nn.Embedding(n_users, 8), nn.Embedding(n_items, 8)
        self.user_bias, self.item_bias = nn.Embedding(n_users, 1), nn.Embedding(n_items, 1)

    def forward(self, user, item):
        dot = (self.user_factors(user) * self.item_factors(item)).sum(-1, keepdim=True)
        return dot + self.user_bias(user) + self.item_bias(item)


class Diffusion(nn.Module):
    """Image and time step."""

    def __init__(self, dim=16):
        super().__init__()
        self.inlet = nn.Conv2d(3, dim, 3, padding=1)
        self.time = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.norm, self.outlet = nn.GroupNorm(4, dim), nn.Conv2d(dim, 3, 3, padding=1)
        self.dim = dim

    def forward(self, x, t):
        rates = torch.exp(torch.arange(self.dim // 2) * (-math.log(10_000) / self.dim))
        angles = t[:, None].float() * rates
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=1))
        return self.outlet(F.silu(self.norm(self.inlet(x)) + time[:, :, None, None]))


class MessagePassing(nn.Module):
    """Edges as pairs of node numbers."""

    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(10, 10), nn.GRUCell(10, 10)

    def forward(self, x, edge_index):
        source, target = edge_index
        received = torch.zeros_like(x).index_add(0, target, self.message(x[source]))
        return self.update(received, x)


class PointNet(nn.Module):
    """Coordinates first."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(3, 16, 1), nn.Conv1d(16, 32, 1)
        self.bn, self.fc = nn.BatchNorm1d(16), nn.Linear(32, 4)

    def forward(self, point_cloud):
        x = F.relu(self.bn(self.conv1(point_cloud)))
        return self.fc(self.conv2(x).amax(-1))


class KnowledgeGraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.entities, self.relations = nn.Embedding(40, 6), nn.Embedding(5, 6)

    def forward(self, head_ids, relation_ids, tail_ids):
        gap = self.entities(head_ids) + self.relations(relation_ids) - self.entities(tail_ids)
        return gap.norm(dim=-1)


class Multimodal(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision = nn.Sequential(nn.Conv2d(3, 8, 16, 16), nn.Flatten(2))
        self.language = nn.Embedding(90, 8)
        self.fusion = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, image, input_ids, attention_mask=None):
        words, patches = self.language(input_ids), self.vision(image).transpose(1, 2)
        return self.fusion(words, patches, patches)[0]
