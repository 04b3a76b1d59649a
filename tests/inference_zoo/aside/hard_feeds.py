"""Hard: recommenders, advertisements, forecasts, stocks and students, as their libraries and contests write them.

Long because it is a list of models.
"""

from collections import OrderedDict, defaultdict, namedtuple
from math import sqrt

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "ClickInterestNet",
    "ConceptStockNet",
    "EmbeddingRanker",
    "ExerciseTransformer",
    "LongForecaster",
    "SessionGraph",
]


# ------------------------------------------------- embedding tables and dot products


class EmbeddingRanker(nn.Module):
    def __init__(
        self,
        m_spa=None,
        ln_emb=None,
        ln_bot=None,
        ln_top=None,
        arch_interaction_op=None,
        arch_interaction_itself=False,
        sigmoid_bot=-1,
        sigmoid_top=-1,
        loss_threshold=0.0,
    ):
        super(EmbeddingRanker, self).__init__()
        self.arch_interaction_op = arch_interaction_op
        self.arch_interaction_itself = arch_interaction_itself
        self.loss_threshold = loss_threshold
        if all(v is not None for v in (m_spa, ln_emb, ln_bot, ln_top)):
            self.emb_l = nn.ModuleList([self.create_table(int(n), m_spa) for n in ln_emb])
            self.bot_l = self.create_mlp(ln_bot, sigmoid_bot)
            self.top_l = self.create_mlp(ln_top, sigmoid_top)

    def create_table(self, n, m):
        table = nn.EmbeddingBag(n, m, mode="sum", sparse=True)
        bound = 1 / np.sqrt(n)
        nn.init.uniform_(table.weight, -bound, bound)
        return table

    def create_mlp(self, ln, sigmoid_layer):
        layers = []
        for i, (n, m) in enumerate(zip(ln[:-1], ln[1:])):
            fc = nn.Linear(int(n), int(m))
            fc.weight.data = torch.from_numpy(np.random.normal(0.0, np.sqrt(2 / (m + n)), (m, n)).astype(np.float32))
            layers += [fc, nn.Sigmoid() if i == sigmoid_layer else nn.ReLU()]
        return nn.Sequential(*layers)

    def apply_emb(self, lS_o, lS_i):
        # tables have bags of their own
        return [E(idx, off) for E, idx, off in zip(self.emb_l, lS_i, lS_o)]

    def interact_features(self, x, ly):
        if self.arch_interaction_op == "cat":
            return torch.cat([x, *ly], dim=1)
        if self.arch_interaction_op == "dot":
            T = torch.stack([x, *ly], dim=1)
            Z = T @ T.mT
            li, lj = torch.tril_indices(T.shape[1], T.shape[1], offset=0 if self.arch_interaction_itself else -1)
            return torch.cat([x, Z[:, li, lj]], dim=1)
        raise ValueError("arch_interaction_op is " + str(self.arch_interaction_op))

    def forward(self, dense_x, lS_o, lS_i):
        x = self.bot_l(dense_x)
        z = self.interact_features(x, self.apply_emb(lS_o, lS_i))
        p = self.top_l(z)
        if 0.0 < self.loss_threshold < 1.0:
            p = p.clamp(self.loss_threshold, 1.0 - self.loss_threshold)
        return p


# ------------------------------------------------- click-through rate with feature columns

DEFAULT_GROUP_NAME = "default_group"


class SparseFeat(
    namedtuple("SparseFeat", ["name", "vocabulary_size", "embedding_dim", "embedding_name", "group_name"])
):
    __slots__ = ()

    def __new__(cls, name, vocabulary_size, embedding_dim=4, embedding_name=None, group_name=DEFAULT_GROUP_NAME):
        if embedding_name is None:
            embedding_name = name
        if embedding_dim == "auto":
            embedding_dim = 6 * int(pow(vocabulary_size, 0.25))
        return super().__new__(cls, name, vocabulary_size, embedding_dim, embedding_name, group_name)

    def __hash__(self):
        return self.name.__hash__()


class VarLenSparseFeat(namedtuple("VarLenSparseFeat", ["sparsefeat", "maxlen", "combiner", "length_name"])):
    __slots__ = ()

    def __new__(cls, sparsefeat, maxlen, combiner="mean", length_name=None):
        return super().__new__(cls, sparsefeat, maxlen, combiner, length_name)

    @property
    def name(self):
        return self.sparsefeat.name


class DenseFeat(namedtuple("DenseFeat", ["name", "dimension"])):
    __slots__ = ()

    def __new__(cls, name, dimension=1):
        return super().__new__(cls, name, dimension)


def build_input_features(feature_columns):
    features = OrderedDict()
    start = 0
    for feat in feature_columns:
        if feat.name in features:
            continue
        if isinstance(feat, SparseFeat):
            width = 1
        elif isinstance(feat, DenseFeat):
            width = feat.dimension
        elif isinstance(feat, VarLenSparseFeat):
            width = feat.maxlen
        else:
            raise TypeError(f"unknown column {type(feat)}")
        features[feat.name] = (start, start + width)
        start += width
        if isinstance(feat, VarLenSparseFeat) and feat.length_name is not None and feat.length_name not in features:
            features[feat.length_name] = (start, start + 1)
            start += 1
    return features


class Dice(nn.Module):
    def __init__(self, emb_size, epsilon=1e-8):
        super().__init__()
        self.bn = nn.BatchNorm1d(emb_size, eps=epsilon)
        self.alpha = nn.Parameter(torch.zeros((emb_size,)))

    def forward(self, x):
        x_p = torch.sigmoid(self.bn(x.flatten(0, -2)).view_as(x))
        return self.alpha * (1 - x_p) * x + x_p * x


def activation_layer(act_name, hidden_size=None):
    if isinstance(act_name, str):
        if act_name.lower() == "sigmoid":
            return nn.Sigmoid()
        if act_name.lower() == "dice":
            assert hidden_size
            return Dice(hidden_size)
        if act_name.lower() == "relu":
            return nn.ReLU(inplace=True)
    elif issubclass(act_name, nn.Module):
        return act_name()
    raise NotImplementedError


class DNN(nn.Module):
    def __init__(self, inputs_dim, hidden_units, activation="relu", dropout_rate=0, use_bn=False, init_std=0.0001):
        super().__init__()
        if len(hidden_units) == 0:
            raise ValueError("no hidden_units")
        hidden_units = [inputs_dim] + list(hidden_units)
        self.dropout = nn.Dropout(dropout_rate)
        self.linears = nn.ModuleList([nn.Linear(a, b) for a, b in zip(hidden_units[:-1], hidden_units[1:])])
        self.bn = nn.ModuleList([nn.BatchNorm1d(b) for b in hidden_units[1:]]) if use_bn else None
        self.activation_layers = nn.ModuleList([activation_layer(activation, b) for b in hidden_units[1:]])

    def forward(self, inputs):
        deep_input = inputs
        for i in range(len(self.linears)):
            fc = self.linears[i](deep_input)
            if self.bn is not None:
                fc = self.bn[i](fc)
            deep_input = self.dropout(self.activation_layers[i](fc))
        return deep_input


class AttentionSequencePooling(nn.Module):
    def __init__(self, embedding_dim, att_hidden_units=(80, 40), att_activation="sigmoid", weight_normalization=False):
        super().__init__()
        self.weight_normalization = weight_normalization
        self.dnn = DNN(4 * embedding_dim, att_hidden_units, att_activation)
        self.dense = nn.Linear(att_hidden_units[-1], 1)

    def forward(self, query, keys, keys_length):
        max_length = keys.size(1)
        queries = query.expand(-1, max_length, -1)
        attention_input = torch.cat([queries, keys, queries - keys, queries * keys], dim=-1)
        score = self.dense(self.dnn(attention_input)).transpose(1, 2)
        mask = torch.arange(max_length, device=keys.device)[None, None] < keys_length.view(-1, 1, 1)
        if self.weight_normalization:
            score = F.softmax(score.masked_fill(~mask, -(2**32) + 1), dim=-1)
        else:
            score = torch.where(mask, score, torch.zeros_like(score))
        return torch.matmul(score, keys)


class ClickInterestNet(nn.Module):
    """Interest of a user in an item by attention over the history.

    :param dnn_feature_columns: list of SparseFeat, DenseFeat and VarLenSparseFeat
    :param history_feature_list: names of the sparse features that have a history, called hist_<name>
    :param dnn_hidden_units: widths of the layers of the tower
    :param att_hidden_size: widths of the layers that score a pair of item and past item
    :param att_weight_normalization: softmax over the history
    """

    def __init__(self, dnn_feature_columns, history_feature_list, dnn_hidden_units=(256, 128), att_hidden_size=(64, 16),
                 att_activation="Dice", att_weight_normalization=False, dnn_dropout=0, dnn_use_bn=False):  # fmt: skip
        super().__init__()
        self.feature_index = build_input_features(dnn_feature_columns)
        self.sparse_feature_columns = [x for x in dnn_feature_columns if isinstance(x, SparseFeat)]
        self.dense_feature_columns = [x for x in dnn_feature_columns if isinstance(x, DenseFeat)]
        self.varlen_columns = [x for x in dnn_feature_columns if isinstance(x, VarLenSparseFeat)]
        self.history_feature_list = history_feature_list
        self.history_feature_columns = [
            c for c in self.varlen_columns if c.name in ["hist_" + h for h in history_feature_list]
        ]
        self.embedding_dict = nn.ModuleDict(
            {f.embedding_name: nn.Embedding(f.vocabulary_size, f.embedding_dim) for f in self.sparse_feature_columns}
        )
        for tensor in self.embedding_dict.values():
            nn.init.normal_(tensor.weight, mean=0, std=0.01)
        att_emb_dim = sum(f.embedding_dim for f in self.sparse_feature_columns if f.name in history_feature_list)
        self.attention = AttentionSequencePooling(
            att_emb_dim, att_hidden_size, att_activation, att_weight_normalization
        )
        sparse_dim = sum(f.embedding_dim for f in self.sparse_feature_columns)
        dense_dim = sum(f.dimension for f in self.dense_feature_columns)
        self.dnn = DNN(sparse_dim + att_emb_dim + dense_dim, dnn_hidden_units, "relu", dnn_dropout, dnn_use_bn)
        self.dnn_linear = nn.Linear(dnn_hidden_units[-1], 1, bias=False)

    def lookup(self, X, name, embedding_name):
        start, end = self.feature_index[name]
        return self.embedding_dict[embedding_name](X[:, start:end].long())

    def forward(self, X):
        sparse = [self.lookup(X, f.name, f.embedding_name) for f in self.sparse_feature_columns]
        query = torch.cat(
            [e for e, f in zip(sparse, self.sparse_feature_columns) if f.name in self.history_feature_list], -1
        )
        keys = torch.cat(
            [self.lookup(X, c.name, c.sparsefeat.embedding_name) for c in self.history_feature_columns], -1
        )
        start, end = self.feature_index[self.history_feature_columns[0].length_name]
        hist = self.attention(query, keys, X[:, start:end].long())
        dense = [X[:, slice(*self.feature_index[f.name])] for f in self.dense_feature_columns]
        deep_input = torch.cat([torch.cat([*sparse, hist], dim=-1).flatten(1), *dense], dim=-1)
        return torch.sigmoid(self.dnn_linear(self.dnn(deep_input)))


# ------------------------------------------------- sessions as graphs


class GNN(nn.Module):
    def __init__(self, hidden_size, step=1):
        super(GNN, self).__init__()
        self.step = step
        self.hidden_size = hidden_size
        self.linear_edge_in = nn.Linear(hidden_size, hidden_size)
        self.linear_edge_out = nn.Linear(hidden_size, hidden_size)
        self.w_ih = nn.Parameter(torch.Tensor(3 * hidden_size, 2 * hidden_size))
        self.w_hh = nn.Parameter(torch.Tensor(3 * hidden_size, hidden_size))
        self.b_ih = nn.Parameter(torch.Tensor(3 * hidden_size))
        self.b_hh = nn.Parameter(torch.Tensor(3 * hidden_size))

    def cell(self, A, hidden):
        n = A.shape[1]
        a = torch.cat([A[:, :, :n] @ self.linear_edge_in(hidden), A[:, :, n : 2 * n] @ self.linear_edge_out(hidden)], 2)
        ir, ii, inew = F.linear(a, self.w_ih, self.b_ih).chunk(3, 2)
        hr, hi, hnew = F.linear(hidden, self.w_hh, self.b_hh).chunk(3, 2)
        new = torch.tanh(inew + torch.sigmoid(ir + hr) * hnew)
        return new + torch.sigmoid(ii + hi) * (hidden - new)

    def forward(self, A, hidden):
        for _ in range(self.step):
            hidden = self.cell(A, hidden)
        return hidden


class SessionGraph(nn.Module):
    def __init__(self, opt, n_node):
        super(SessionGraph, self).__init__()
        d = opt.hiddenSize
        self.hidden_size = d
        self.n_node = n_node
        self.batch_size = opt.batchSize
        self.nonhybrid = opt.nonhybrid
        self.embedding = nn.Embedding(n_node, d)
        self.gnn = GNN(d, step=opt.step)
        self.linear_one = nn.Linear(d, d)
        self.linear_two = nn.Linear(d, d)
        self.linear_three = nn.Linear(d, 1, bias=False)
        self.linear_transform = nn.Linear(2 * d, d)
        bound = 1 / sqrt(d)
        for p in self.parameters():
            p.data.uniform_(-bound, bound)

    def compute_scores(self, hidden, mask):
        last = hidden[torch.arange(len(mask)), mask.sum(1) - 1]
        alpha = self.linear_three(torch.sigmoid(self.linear_one(last).unsqueeze(1) + self.linear_two(hidden)))
        s = (alpha * hidden * mask.unsqueeze(-1).float()).sum(1)
        if not self.nonhybrid:
            s = self.linear_transform(torch.cat([s, last], 1))
        return s @ self.embedding.weight[1:].t()  # item 0 is padding

    def forward(self, items, A, alias_inputs, mask):
        hidden = self.gnn(A, self.embedding(items))
        get = lambda i: hidden[i][alias_inputs[i]]
        seq_hidden = torch.stack([get(i) for i in range(len(alias_inputs))])
        return self.compute_scores(seq_hidden, mask)


# ------------------------------------------------- long sequences


class TokenEmbedding(nn.Module):
    def __init__(self, c_in, d_model):
        super().__init__()
        self.tokenConv = nn.Conv1d(c_in, d_model, kernel_size=3, padding=1, padding_mode="circular")

    def forward(self, x):
        return self.tokenConv(x.permute(0, 2, 1)).transpose(1, 2)


class FixedEmbedding(nn.Module):
    def __init__(self, c_in, d_model):
        super().__init__()
        position = torch.arange(0, c_in).float().unsqueeze(1)
        div_term = (torch.arange(0, d_model, 2).float() * -(np.log(10000.0) / d_model)).exp()
        w = torch.zeros(c_in, d_model)
        w[:, 0::2] = torch.sin(position * div_term)
        w[:, 1::2] = torch.cos(position * div_term)
        self.emb = nn.Embedding(c_in, d_model)
        self.emb.weight = nn.Parameter(w, requires_grad=False)

    def forward(self, x):
        return self.emb(x).detach()


class TemporalEmbedding(nn.Module):
    def __init__(self, d_model, embed_type="fixed", freq="h"):
        super().__init__()
        Embed = FixedEmbedding if embed_type == "fixed" else nn.Embedding
        if freq == "t":
            self.minute_embed = Embed(4, d_model)
        self.hour_embed = Embed(24, d_model)
        self.weekday_embed = Embed(7, d_model)
        self.day_embed = Embed(32, d_model)
        self.month_embed = Embed(13, d_model)

    def forward(self, x):
        x = x.long()
        minute_x = self.minute_embed(x[:, :, 4]) if hasattr(self, "minute_embed") else 0.0
        return (
            self.hour_embed(x[:, :, 3])
            + self.weekday_embed(x[:, :, 2])
            + self.day_embed(x[:, :, 1])
            + self.month_embed(x[:, :, 0])
            + minute_x
        )


class TimeFeatureEmbedding(nn.Module):
    def __init__(self, d_model, freq="h"):
        super().__init__()
        freq_map = {"h": 4, "t": 5, "s": 6, "m": 1, "a": 1, "w": 2, "d": 3, "b": 3}
        self.embed = nn.Linear(freq_map[freq], d_model, bias=False)

    def forward(self, x):
        return self.embed(x)


class DataEmbedding(nn.Module):
    def __init__(self, c_in, d_model, embed_type="fixed", freq="h", dropout=0.1):
        super().__init__()
        self.value_embedding = TokenEmbedding(c_in, d_model)
        self.temporal_embedding = (
            TemporalEmbedding(d_model, embed_type, freq)
            if embed_type != "timeF"
            else TimeFeatureEmbedding(d_model, freq)
        )
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, x_mark):
        return self.dropout(self.value_embedding(x) + self.temporal_embedding(x_mark))


class series_decomp(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.kernel_size = kernel_size
        self.avg = nn.AvgPool1d(kernel_size=kernel_size, stride=1, padding=0)

    def forward(self, x):
        front = x[:, 0:1, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        end = x[:, -1:, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        moving_mean = self.avg(torch.cat([front, x, end], dim=1).permute(0, 2, 1)).permute(0, 2, 1)
        return x - moving_mean, moving_mean


class AutoCorrelation(nn.Module):
    def __init__(self, d_model, n_heads, factor=1):
        super().__init__()
        self.factor, self.n_heads = factor, n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, queries, keys, values):
        B, L, _ = queries.shape
        S = keys.shape[1]
        q, k, v = self.q(queries), self.k(keys), self.v(values)
        if L > S:
            zeros = torch.zeros_like(q[:, : (L - S), :])
            k, v = torch.cat([k, zeros], dim=1), torch.cat([v, zeros], dim=1)
        else:
            k, v = k[:, :L], v[:, :L]
        corr = torch.fft.irfft(torch.fft.rfft(q, dim=1) * torch.conj(torch.fft.rfft(k, dim=1)), n=L, dim=1).mean(-1)
        top_k = max(1, int(self.factor * np.log(L)))
        weights, delay = torch.topk(corr, top_k, dim=-1)
        weights = torch.softmax(weights, dim=-1)
        index = (torch.arange(L, device=q.device).view(1, 1, L) + delay.unsqueeze(-1)) % L
        rolled = torch.stack([v[b][index[b]] for b in range(B)])
        return self.o((rolled * weights[:, :, None, None]).sum(1))


class LongForecaster(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.seq_len = configs.seq_len
        self.label_len = configs.label_len
        self.pred_len = configs.pred_len
        self.output_attention = configs.output_attention
        self.decomp = series_decomp(configs.moving_avg)
        self.enc_embedding = DataEmbedding(
            configs.enc_in, configs.d_model, configs.embed, configs.freq, configs.dropout
        )
        self.dec_embedding = DataEmbedding(
            configs.dec_in, configs.d_model, configs.embed, configs.freq, configs.dropout
        )
        self.encoder = nn.ModuleList(
            [AutoCorrelation(configs.d_model, configs.n_heads, configs.factor) for _ in range(configs.e_layers)]
        )
        self.decoder = nn.ModuleList(
            [AutoCorrelation(configs.d_model, configs.n_heads, configs.factor) for _ in range(2 * configs.d_layers)]
        )
        self.norm = nn.LayerNorm(configs.d_model)
        self.trend = nn.Conv1d(configs.d_model, configs.c_out, 3, padding=1, padding_mode="circular", bias=False)
        self.projection = nn.Linear(configs.d_model, configs.c_out, bias=True)

    def forward(self, x_enc, x_mark_enc, x_dec, x_mark_dec, enc_self_mask=None, dec_self_mask=None, dec_enc_mask=None):
        # decomp init
        mean = torch.mean(x_enc, dim=1).unsqueeze(1).repeat(1, self.pred_len, 1)
        _, trend_init = self.decomp(x_enc)
        trend_init = torch.cat([trend_init[:, -self.label_len :, :], mean], dim=1)
        # enc
        enc_out = self.enc_embedding(x_enc, x_mark_enc)
        for attn in self.encoder:
            enc_out, _ = self.decomp(enc_out + attn(enc_out, enc_out, enc_out))
        enc_out = self.norm(enc_out)
        # dec
        x = self.dec_embedding(x_dec, x_mark_dec)
        trend = trend_init
        for self_attn, cross_attn in zip(self.decoder[::2], self.decoder[1::2]):
            x, t1 = self.decomp(x + self_attn(x, x, x))
            x, t2 = self.decomp(x + cross_attn(x, enc_out, enc_out))
            trend = trend + self.trend((t1 + t2).permute(0, 2, 1)).transpose(1, 2)
        dec_out = trend + self.projection(x)
        return dec_out[:, -self.pred_len :, :]  # [B, L, D]


# ------------------------------------------------- stocks and their concepts


def cal_cos_similarity(x, y):
    return F.normalize(x, dim=1, eps=1e-6) @ F.normalize(y, dim=1, eps=1e-6).t()


class ConceptStockNet(nn.Module):
    def __init__(self, d_feat=6, hidden_size=64, num_layers=2, dropout=0.0, base_model="GRU"):
        super().__init__()
        self.d_feat = d_feat
        self.hidden_size = hidden_size
        if base_model not in ("GRU", "LSTM"):
            raise ValueError("base_model must be GRU or LSTM, not %s" % base_model)
        self.rnn = getattr(nn, base_model)(d_feat, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc_ps = nn.Linear(hidden_size, hidden_size)
        self.fc_ps_fore = nn.Linear(hidden_size, hidden_size)
        self.fc_ps_back = nn.Linear(hidden_size, hidden_size)
        self.fc_indi = nn.Linear(hidden_size, hidden_size)
        self.fc_out = nn.Linear(hidden_size, 1)
        self.leaky_relu = nn.LeakyReLU()

    def forward(self, x, concept_matrix, market_value):
        # x: all stocks of one day, [N, d_feat * T]; concept_matrix: [N, K]; market_value: [N]
        N = x.shape[0]
        seq = x.reshape(N, self.d_feat, -1).permute(0, 2, 1)
        x_hidden = self.rnn(seq)[0][:, -1, :]

        # predefined concepts: the larger a company, the more of its concept it is
        cap = concept_matrix * market_value.reshape(N, 1)
        share = cap / (concept_matrix * cap.sum(0, keepdim=True) + 1)
        hidden = share.t().mm(x_hidden)
        hidden = self.fc_ps(hidden[hidden.abs().sum(1) > 0])
        attn = torch.softmax(cal_cos_similarity(x_hidden, hidden), dim=1)
        shared = attn.mm(hidden)
        output_ps = self.leaky_relu(self.fc_ps_fore(shared))

        # what no concept explains
        output_indi = self.leaky_relu(self.fc_indi(x_hidden - self.fc_ps_back(shared)))
        return self.fc_out(output_ps + output_indi).squeeze()


# ------------------------------------------------- answers of students


class conf:
    EMBED_DIMS = 128
    ENC_HEADS = DEC_HEADS = 8
    NUM_ENCODER = NUM_DECODER = 2
    MAX_SEQ = 100
    TOTAL_EXE = 13523
    TOTAL_CAT = 7
    LAG_BINS = 301


def get_ut_mask(seq_len):
    return torch.from_numpy(np.triu(np.ones((seq_len, seq_len)), k=1).astype("bool"))


class EncoderEmbedding(nn.Module):
    def __init__(self, n_exercises, n_categories, n_dims, seq_len):
        super().__init__()
        self.n_dims = n_dims
        self.seq_len = seq_len
        self.exercise_embed = nn.Embedding(n_exercises + 1, n_dims, padding_idx=0)
        self.category_embed = nn.Embedding(n_categories + 1, n_dims, padding_idx=0)
        self.position_embed = nn.Embedding(seq_len, n_dims)

    def forward(self, exercises, categories):
        e = self.exercise_embed(exercises)
        c = self.category_embed(categories)
        seq = torch.arange(self.seq_len, device=exercises.device).unsqueeze(0)
        return self.position_embed(seq) + c + e


class DecoderEmbedding(nn.Module):
    def __init__(self, n_responses, n_dims, seq_len):
        super().__init__()
        self.seq_len = seq_len
        self.response_embed = nn.Embedding(n_responses, n_dims)
        self.time_embed = nn.Linear(1, n_dims, bias=False)
        self.lag_embed = nn.Embedding(conf.LAG_BINS, n_dims)
        self.position_embed = nn.Embedding(seq_len, n_dims)

    def forward(self, responses, elapsed, lag):
        r = self.response_embed(responses)
        t = self.time_embed(torch.log1p(elapsed.float()).unsqueeze(-1))
        seq = torch.arange(self.seq_len, device=responses.device).unsqueeze(0)
        return self.position_embed(seq) + r + t + self.lag_embed(lag.clamp(0, conf.LAG_BINS - 1))


class ExerciseTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder_embedding = EncoderEmbedding(conf.TOTAL_EXE, conf.TOTAL_CAT, conf.EMBED_DIMS, conf.MAX_SEQ)
        self.decoder_embedding = DecoderEmbedding(3, conf.EMBED_DIMS, conf.MAX_SEQ)
        self.transformer = nn.Transformer(
            conf.EMBED_DIMS,
            conf.ENC_HEADS,
            conf.NUM_ENCODER,
            conf.NUM_DECODER,
            4 * conf.EMBED_DIMS,
            0.1,
            batch_first=True,
        )
        self.fc = nn.Linear(conf.EMBED_DIMS, 1)

    def forward(self, x, y=None):
        enc = self.encoder_embedding(x["input_ids"], x["input_cat"])
        # responses move by one: the start token is 2
        resp = F.pad(x["responses"], (1, 0), value=2)[:, :-1]
        dec = self.decoder_embedding(resp, x["input_rtime"], x["lag_time"])
        m = get_ut_mask(conf.MAX_SEQ).to(enc.device)
        out = self.transformer(enc, dec, src_mask=m, tgt_mask=m, memory_mask=m)
        out = self.fc(out).squeeze(-1)
        if y is None:
            return torch.sigmoid(out)
        target_mask = x["input_ids"] != 0
        return F.binary_cross_entropy_with_logits(out[target_mask], y[target_mask].float())


def describe(model):
    counts = defaultdict(int)
    for name, p in model.named_parameters():
        counts[name.split(".")[0]] += p.numel()
    return dict(counts)


if __name__ == "__main__":
    ln_emb = np.array([10, 20, 30])
    net = EmbeddingRanker(16, ln_emb, np.array([13, 64, 16]), np.array([22, 32, 1]), "dot", sigmoid_top=1)
    print(describe(net))
