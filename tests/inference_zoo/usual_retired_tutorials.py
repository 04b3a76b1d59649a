"""Usual, once aside: required arguments and several inputs, as tutorials and papers have them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "GPT",
    "ActorCritic",
    "BiDAFLite",
    "EncoderRNN",
    "FactorizationMachine",
    "GraphConvNet",
    "LSTMTagger",
    "MultiTask",
    "PointNetCls",
    "SmallGenerator",
    "TimeSeriesTransformer",
]


class LSTMTagger(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.word_embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim)
        self.hidden2tag = nn.Linear(hidden_dim, tagset_size)

    def forward(self, sentence):
        embeds = self.word_embeddings(sentence)
        lstm_out, _ = self.lstm(embeds.view(len(sentence), 1, -1))
        return F.log_softmax(self.hidden2tag(lstm_out.view(len(sentence), -1)), dim=1)


class ActorCritic(nn.Module):
    def __init__(self, num_inputs, num_actions, hidden_size, std=0.0):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(num_inputs, hidden_size), nn.Tanh(), nn.Linear(hidden_size, 1))
        self.actor = nn.Sequential(nn.Linear(num_inputs, hidden_size), nn.Tanh(), nn.Linear(hidden_size, num_actions))
        self.log_std = nn.Parameter(torch.ones(1, num_actions) * std)

    def forward(self, x):
        mu = self.actor(x)
        return mu, self.log_std.exp().expand_as(mu), self.critic(x)


class EncoderRNN(nn.Module):
    def __init__(self, n_src, emb, enc_hid, dec_hid, p):
        super().__init__()
        self.embedding = nn.Embedding(n_src, emb)
        self.rnn = nn.GRU(emb, enc_hid, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(enc_hid * 2, dec_hid)
        self.dropout = nn.Dropout(p)

    def forward(self, src, src_len):
        packed = pack_padded_sequence(
            self.dropout(self.embedding(src)), src_len.cpu(), batch_first=True, enforce_sorted=False
        )
        packed, h = self.rnn(packed)
        out, _ = pad_packed_sequence(packed, batch_first=True)
        return out, torch.tanh(self.fc(torch.cat((h[-2], h[-1]), dim=1)))


class FactorizationMachine(nn.Module):
    def __init__(self, field_dims, embed_dim):
        super().__init__()
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        self.linear = nn.Embedding(sum(field_dims), 1)
        offsets = torch.tensor([0, *torch.tensor(field_dims).cumsum(0)[:-1].tolist()])
        self.register_buffer("offsets", offsets)

    def forward(self, x):
        x = x + self.offsets.unsqueeze(0)
        e = self.embedding(x)
        pairs = 0.5 * (e.sum(1).pow(2) - e.pow(2).sum(1)).sum(1)
        return torch.sigmoid(self.linear(x).sum((1, 2)) + pairs)


class GraphConvNet(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(nfeat, nhid))
        self.w2 = nn.Parameter(torch.empty(nhid, nclass))
        nn.init.xavier_uniform_(self.w1)
        nn.init.xavier_uniform_(self.w2)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(torch.spmm(adj, torch.mm(x, self.w1)))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(torch.spmm(adj, torch.mm(x, self.w2)), dim=1)


class TimeSeriesTransformer(nn.Module):
    def __init__(self, n_vars, window, horizon, d_model, n_heads, n_layers):
        super().__init__()
        self.proj = nn.Linear(n_vars, d_model)
        self.pos = nn.Parameter(torch.zeros(1, window, d_model))
        layer = nn.TransformerEncoderLayer(d_model, n_heads, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, n_layers)
        self.head = nn.Linear(window * d_model, horizon * n_vars)
        self.horizon, self.n_vars = horizon, n_vars

    def forward(self, series):
        h = self.encoder(self.proj(series) + self.pos)
        return self.head(h.flatten(1)).view(-1, self.horizon, self.n_vars)


class SmallGenerator(nn.Module):
    def __init__(self, nz, ngf, nc):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 4),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 4, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, nc, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, noise):
        return self.main(noise)


class PointNetCls(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.conv1 = nn.Conv1d(3, 64, 1)
        self.conv2 = nn.Conv1d(64, 256, 1)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc = nn.Linear(256, k)

    def forward(self, pts):
        batch, dims, n = pts.size()
        assert dims == 3
        x = self.conv2(F.relu(self.bn1(self.conv1(pts))))
        return self.fc(x.max(2)[0].view(batch, -1))


class MultiTask(nn.Module):
    def __init__(self, backbone, heads):
        super().__init__()
        self.backbone = backbone
        self.heads = nn.ModuleDict({name: nn.Linear(32, n) for name, n in heads.items()})

    def forward(self, x):
        features = self.backbone(x)
        return {name: head(features) for name, head in self.heads.items()}


class BiDAFLite(nn.Module):
    def __init__(self, word_vocab, char_vocab, emb, hidden):
        super().__init__()
        self.word = nn.Embedding(word_vocab, emb)
        self.char = nn.Embedding(char_vocab, emb)
        self.rnn = nn.LSTM(2 * emb, hidden, bidirectional=True, batch_first=True)
        self.out = nn.Linear(4 * hidden, 2)

    def encode(self, words, chars):
        return self.rnn(torch.cat([self.word(words), self.char(chars).max(dim=2).values], -1))[0]

    def forward(self, context_words, context_chars, question_words, question_chars):
        c = self.encode(context_words, context_chars)
        q = self.encode(question_words, question_chars)
        attended = torch.softmax(c @ q.transpose(1, 2), -1) @ q
        return self.out(torch.cat([c, attended], -1))


@dataclass
class GPTConfig:
    block_size: int
    vocab_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.n_head = config.n_head
        self.ln = nn.LayerNorm(config.n_embd)
        self.attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.attn(self.ln(x)).split(c, dim=2)
        q, k, v = (y.view(b, t, self.n_head, c // self.n_head).transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.drop(self.proj(y.transpose(1, 2).contiguous().view(b, t, c)))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.vocab_size is not None
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.block_size, config.n_embd)
        self.h = nn.ModuleList([Block(config) for _ in range(config.n_layer)])
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    def forward(self, idx, targets=None):
        _, t = idx.size()
        assert t <= self.config.block_size
        x = self.wte(idx) + self.wpe(torch.arange(t, device=idx.device))
        for block in self.h:
            x = block(x)
        return self.head(x)
