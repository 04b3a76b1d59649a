"""Hard, once aside: recommendation in industry and in papers, with features of many fields."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["DIN", "DLRM", "NRMS", "DeepFM"]


class DeepFM(nn.Module):
    def __init__(self, feature_sizes, embedding_size=4, hidden_dims=[32, 32], num_classes=1, dropout=[0.5, 0.5]):
        super().__init__()
        self.field_size = len(feature_sizes)
        self.embedding_size = embedding_size
        self.fm_first_order_embeddings = nn.ModuleList(
            [nn.Embedding(feature_size, 1) for feature_size in feature_sizes]
        )
        self.fm_second_order_embeddings = nn.ModuleList(
            [nn.Embedding(feature_size, embedding_size) for feature_size in feature_sizes]
        )
        all_dims = [self.field_size * self.embedding_size] + hidden_dims
        for i in range(1, len(hidden_dims) + 1):
            setattr(self, "linear_" + str(i), nn.Linear(all_dims[i - 1], all_dims[i]))
            setattr(self, "dropout_" + str(i), nn.Dropout(dropout[i - 1]))
        self.n_hidden = len(hidden_dims)
        self.bias = nn.Parameter(torch.randn(1))

    def forward(self, Xi, Xv):
        """
        - Xi: index of the feature in each field, shape (N, field_size, 1)
        - Xv: value of the feature in each field, shape (N, field_size, 1)
        """
        first = [torch.sum(emb(Xi[:, i, :]), 1) * Xv[:, i] for i, emb in enumerate(self.fm_first_order_embeddings)]
        second = [torch.sum(emb(Xi[:, i, :]), 1) * Xv[:, i] for i, emb in enumerate(self.fm_second_order_embeddings)]
        fm_sum = sum(second)
        fm_second_order = (fm_sum * fm_sum - sum(item * item for item in second)) * 0.5
        deep_out = torch.cat(second, 1)
        for i in range(1, self.n_hidden + 1):
            deep_out = getattr(self, "dropout_" + str(i))(F.relu(getattr(self, "linear_" + str(i))(deep_out)))
        return torch.cat(first, 1).sum(1) + fm_second_order.sum(1) + deep_out.sum(1) + self.bias


class DLRM(nn.Module):
    def create_mlp(self, ln, sigmoid_layer):
        layers = nn.ModuleList()
        for i in range(0, ln.size - 1):
            n, m = int(ln[i]), int(ln[i + 1])
            layers.append(nn.Linear(n, m, bias=True))
            layers.append(nn.Sigmoid() if i == sigmoid_layer else nn.ReLU())
        return torch.nn.Sequential(*layers)

    def create_emb(self, m, ln):
        return nn.ModuleList(nn.EmbeddingBag(int(n), m, mode="sum") for n in ln)

    def __init__(self, m_spa, ln_emb, ln_bot, ln_top, arch_interaction_op="dot"):
        super().__init__()
        self.arch_interaction_op = arch_interaction_op
        self.emb_l = self.create_emb(m_spa, ln_emb)
        self.bot_l = self.create_mlp(ln_bot, -1)
        self.top_l = self.create_mlp(ln_top, ln_top.size - 2)

    def interact_features(self, x, ly):
        (batch_size, d) = x.shape
        T = torch.cat([x] + ly, dim=1).view((batch_size, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        li = torch.tensor([i for i in range(ni) for j in range(i)])
        lj = torch.tensor([j for i in range(nj) for j in range(i)])
        return torch.cat([x] + [Z[:, li, lj]], dim=1)

    def forward(self, dense_x, lS_o, lS_i):
        x = self.bot_l(dense_x)
        ly = [emb(lS_i[k], lS_o[k]) for k, emb in enumerate(self.emb_l)]
        return self.top_l(self.interact_features(x, ly))


def small_dlrm():
    # dense features 13, as in Criteo; 3 + 1 vectors interact: 6 pairs
    return DLRM(16, np.array([1000, 500, 50]), np.array([13, 64, 16]), np.array([22, 32, 1]))


class SparseFeat(namedtuple("SparseFeat", ["name", "vocabulary_size", "embedding_dim"])):
    __slots__ = ()

    def __new__(cls, name, vocabulary_size, embedding_dim=8):
        return super().__new__(cls, name, vocabulary_size, embedding_dim)


class DenseFeat(namedtuple("DenseFeat", ["name", "dimension"])):
    __slots__ = ()

    def __new__(cls, name, dimension=1):
        return super().__new__(cls, name, dimension)


class DIN(nn.Module):
    """Deep interest network: what one has clicked, weighed by the item that is offered."""

    def __init__(self, feature_columns, dnn_hidden_units=(64, 32), hist_key="hist_item_id", target_key="item_id"):
        super().__init__()
        self.sparse = [f for f in feature_columns if isinstance(f, SparseFeat)]
        self.dense = [f for f in feature_columns if isinstance(f, DenseFeat)]
        self.hist_key, self.target_key = hist_key, target_key
        self.embedding_dict = nn.ModuleDict(
            {f.name: nn.Embedding(f.vocabulary_size, f.embedding_dim) for f in self.sparse}
        )
        dim = self.embedding_dict[target_key].embedding_dim
        self.attention = nn.Sequential(nn.Linear(4 * dim, 32), nn.PReLU(), nn.Linear(32, 1))
        n = sum(f.embedding_dim for f in self.sparse) + sum(f.dimension for f in self.dense) + dim
        units = [n, *dnn_hidden_units]
        self.dnn = nn.Sequential(
            *[m for a, b in zip(units, units[1:]) for m in (nn.Linear(a, b), nn.PReLU())], nn.Linear(units[-1], 1)
        )

    def forward(self, X):
        parts = [self.embedding_dict[f.name](X[f.name]) for f in self.sparse]
        parts += [X[f.name].view(-1, f.dimension) for f in self.dense]
        query = self.embedding_dict[self.target_key](X[self.target_key]).unsqueeze(1)
        keys = self.embedding_dict[self.target_key](X[self.hist_key])
        queries = query.expand_as(keys)
        scores = self.attention(torch.cat([queries, keys, queries - keys, queries * keys], -1))
        scores = scores.masked_fill((X[self.hist_key] == 0).unsqueeze(-1), -1e9)
        interest = (scores.softmax(1) * keys).sum(1)
        return torch.sigmoid(self.dnn(torch.cat([*parts, interest], -1)))


class NRMSConfig:
    num_words = 5000
    word_embedding_dim = 96
    num_attention_heads = 8
    query_vector_dim = 64
    dropout_probability = 0.2


class AdditiveAttention(nn.Module):
    def __init__(self, query_vector_dim, candidate_vector_dim):
        super().__init__()
        self.linear = nn.Linear(candidate_vector_dim, query_vector_dim)
        self.attention_query_vector = nn.Parameter(torch.empty(query_vector_dim).uniform_(-0.1, 0.1))

    def forward(self, candidate_vector):
        weights = F.softmax(torch.matmul(torch.tanh(self.linear(candidate_vector)), self.attention_query_vector), dim=1)
        return torch.bmm(weights.unsqueeze(1), candidate_vector).squeeze(1)


class NewsEncoder(nn.Module):
    def __init__(self, config, pretrained_word_embedding):
        super().__init__()
        self.config = config
        if pretrained_word_embedding is None:
            self.word_embedding = nn.Embedding(config.num_words, config.word_embedding_dim, padding_idx=0)
        else:
            self.word_embedding = nn.Embedding.from_pretrained(pretrained_word_embedding, freeze=False, padding_idx=0)
        self.attn = nn.MultiheadAttention(config.word_embedding_dim, config.num_attention_heads, batch_first=True)
        self.additive_attention = AdditiveAttention(config.query_vector_dim, config.word_embedding_dim)

    def forward(self, news):
        vector = F.dropout(
            self.word_embedding(news["title"]), p=self.config.dropout_probability, training=self.training
        )
        vector, _ = self.attn(vector, vector, vector)
        return self.additive_attention(vector)


class NRMS(nn.Module):
    def __init__(self, config, pretrained_word_embedding=None):
        super().__init__()
        self.config = config
        self.news_encoder = NewsEncoder(config, pretrained_word_embedding)
        self.user_attn = nn.MultiheadAttention(config.word_embedding_dim, config.num_attention_heads, batch_first=True)
        self.user_additive = AdditiveAttention(config.query_vector_dim, config.word_embedding_dim)

    def forward(self, candidate_news, clicked_news):
        """
        Args:
            candidate_news: [{"title": batch_size * num_words_title} * (1 + K)]
            clicked_news: [{"title": batch_size * num_words_title} * num_clicked_news_a_user]
        """
        candidates = torch.stack([self.news_encoder(x) for x in candidate_news], dim=1)
        clicked = torch.stack([self.news_encoder(x) for x in clicked_news], dim=1)
        user = self.user_additive(self.user_attn(clicked, clicked, clicked)[0])
        return torch.bmm(candidates, user.unsqueeze(-1)).squeeze(-1)
