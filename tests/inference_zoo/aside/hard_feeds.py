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
    def create_mlp(self, ln, sigmoid_layer):
        layers = nn.ModuleList()
        for i in range(0, ln.size - 1):
            n = ln[i]
            m = ln[i + 1]
            LL = nn.Linear(int(n), int(m), bias=True)
            W = np.random.normal(0.0, np.sqrt(2 / (m + n)), size=(m, n)).astype(np.float32)
            LL.weight.data = torch.tensor(W, requires_grad=True)
            layers.append(LL)
            if i == sigmoid_layer:
                layers.append(nn.Sigmoid())
            else:
                layers.append(nn.ReLU())
        return nn.Sequential(*layers)

    def create_emb(self, m, ln):
        emb_l = nn.ModuleList()
        for i in range(0, ln.size):
            n = ln[i]
            EE = nn.EmbeddingBag(int(n), m, mode="sum", sparse=True)
            W = np.random.uniform(low=-np.sqrt(1 / n), high=np.sqrt(1 / n), size=(n, m)).astype(np.float32)
            EE.weight.data = torch.tensor(W, requires_grad=True)
            emb_l.append(EE)
        return emb_l

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
        super(EmbeddingRanker, self).__init__()  # noqa: UP008
        if (
            (m_spa is not None)
            and (ln_emb is not None)
            and (ln_bot is not None)
            and (ln_top is not None)
            and (arch_interaction_op is not None)
        ):
            self.arch_interaction_op = arch_interaction_op
            self.arch_interaction_itself = arch_interaction_itself
            self.loss_threshold = loss_threshold
            self.emb_l = self.create_emb(m_spa, ln_emb)
            self.bot_l = self.create_mlp(ln_bot, sigmoid_bot)
            self.top_l = self.create_mlp(ln_top, sigmoid_top)

    def apply_emb(self, lS_o, lS_i, emb_l):
        # each embedding table has its own offsets and indices
        ly = []
        for k, sparse_index_group_batch in enumerate(lS_i):
            V = emb_l[k](sparse_index_group_batch, lS_o[k])
            ly.append(V)
        return ly

    def interact_features(self, x, ly):
        if self.arch_interaction_op == "dot":
            (batch_size, d) = x.shape
            T = torch.cat([x] + ly, dim=1).view((batch_size, -1, d))
            Z = torch.bmm(T, torch.transpose(T, 1, 2))
            _, ni, nj = Z.shape
            offset = 1 if self.arch_interaction_itself else 0
            li = torch.tensor([i for i in range(ni) for j in range(i + offset)])
            lj = torch.tensor([j for i in range(nj) for j in range(i + offset)])
            R = torch.cat([x] + [Z[:, li, lj]], dim=1)
        elif self.arch_interaction_op == "cat":
            R = torch.cat([x] + ly, dim=1)
        else:
            raise ValueError("ERROR: --arch-interaction-op=" + self.arch_interaction_op + " is not supported")
        return R

    def forward(self, dense_x, lS_o, lS_i):
        x = self.bot_l(dense_x)
        ly = self.apply_emb(lS_o, lS_i, self.emb_l)
        z = self.interact_features(x, ly)
        p = self.top_l(z)
        if 0.0 < self.loss_threshold and self.loss_threshold < 1.0:
            z = torch.clamp(p, min=self.loss_threshold, max=(1.0 - self.loss_threshold))
        else:
            z = p
        return z


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
            raise TypeError("Invalid feature column type,got", type(feat))
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
            raise ValueError("hidden_units is empty!!")
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

    :param dnn_feature_columns: An iterable containing all the features used by deep part of the model.
    :param history_feature_list: list, to indicate sequence sparse field
    :param dnn_hidden_units: list of positive integer, the layer number and units in each layer of deep net
    :param att_hidden_size: list of positive integer, the units in each layer of attention net
    :param att_weight_normalization: bool. Whether normalize the attention score of local activation unit.
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
        super(GNN, self).__init__()  # noqa: UP008
        self.step = step
        self.hidden_size = hidden_size
        self.input_size = hidden_size * 2
        self.gate_size = 3 * hidden_size
        self.w_ih = nn.Parameter(torch.Tensor(self.gate_size, self.input_size))
        self.w_hh = nn.Parameter(torch.Tensor(self.gate_size, self.hidden_size))
        self.b_ih = nn.Parameter(torch.Tensor(self.gate_size))
        self.b_hh = nn.Parameter(torch.Tensor(self.gate_size))
        self.linear_edge_in = nn.Linear(self.hidden_size, self.hidden_size, bias=True)
        self.linear_edge_out = nn.Linear(self.hidden_size, self.hidden_size, bias=True)

    def GNNCell(self, A, hidden):
        input_in = torch.matmul(A[:, :, : A.shape[1]], self.linear_edge_in(hidden))
        input_out = torch.matmul(A[:, :, A.shape[1] : 2 * A.shape[1]], self.linear_edge_out(hidden))
        inputs = torch.cat([input_in, input_out], 2)
        gi = F.linear(inputs, self.w_ih, self.b_ih)
        gh = F.linear(hidden, self.w_hh, self.b_hh)
        i_r, i_i, i_n = gi.chunk(3, 2)
        h_r, h_i, h_n = gh.chunk(3, 2)
        resetgate = torch.sigmoid(i_r + h_r)
        inputgate = torch.sigmoid(i_i + h_i)
        newgate = torch.tanh(i_n + resetgate * h_n)
        return newgate + inputgate * (hidden - newgate)

    def forward(self, A, hidden):
        for _i in range(self.step):
            hidden = self.GNNCell(A, hidden)
        return hidden


class SessionGraph(nn.Module):
    def __init__(self, opt, n_node):
        super(SessionGraph, self).__init__()  # noqa: UP008
        self.hidden_size = opt.hiddenSize
        self.n_node = n_node
        self.batch_size = opt.batchSize
        self.nonhybrid = opt.nonhybrid
        self.embedding = nn.Embedding(self.n_node, self.hidden_size)
        self.gnn = GNN(self.hidden_size, step=opt.step)
        self.linear_one = nn.Linear(self.hidden_size, self.hidden_size, bias=True)
        self.linear_two = nn.Linear(self.hidden_size, self.hidden_size, bias=True)
        self.linear_three = nn.Linear(self.hidden_size, 1, bias=False)
        self.linear_transform = nn.Linear(self.hidden_size * 2, self.hidden_size, bias=True)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / sqrt(self.hidden_size)
        for weight in self.parameters():
            weight.data.uniform_(-stdv, stdv)

    def compute_scores(self, hidden, mask):
        ht = hidden[torch.arange(mask.shape[0]).long(), torch.sum(mask, 1) - 1]  # batch_size x latent_size
        q1 = self.linear_one(ht).view(ht.shape[0], 1, ht.shape[1])
        q2 = self.linear_two(hidden)
        alpha = self.linear_three(torch.sigmoid(q1 + q2))
        a = torch.sum(alpha * hidden * mask.view(mask.shape[0], -1, 1).float(), 1)
        if not self.nonhybrid:
            a = self.linear_transform(torch.cat([a, ht], 1))
        b = self.embedding.weight[1:]  # n_nodes x latent_size
        return torch.matmul(a, b.transpose(1, 0))

    def forward(self, items, A, alias_inputs, mask):
        hidden = self.embedding(items)
        hidden = self.gnn(A, hidden)
        seq_hidden = torch.stack([hidden[i][alias_inputs[i]] for i in torch.arange(len(alias_inputs)).long()])
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
    xy = x.mm(torch.t(y))
    x_norm = torch.sqrt(torch.sum(x * x, dim=1)).reshape(-1, 1)
    y_norm = torch.sqrt(torch.sum(y * y, dim=1)).reshape(-1, 1)
    return xy / (x_norm.mm(torch.t(y_norm)) + 1e-6)


class ConceptStockNet(nn.Module):
    def __init__(self, d_feat=6, hidden_size=64, num_layers=2, dropout=0.0, base_model="GRU"):
        super().__init__()
        self.d_feat = d_feat
        self.hidden_size = hidden_size
        if base_model == "GRU":
            self.rnn = nn.GRU(d_feat, hidden_size, num_layers, batch_first=True, dropout=dropout)
        elif base_model == "LSTM":
            self.rnn = nn.LSTM(d_feat, hidden_size, num_layers, batch_first=True, dropout=dropout)
        else:
            raise ValueError("unknown base model name `%s`" % base_model)
        self.fc_es = nn.Linear(hidden_size, hidden_size)
        self.fc_es_fore = nn.Linear(hidden_size, hidden_size)
        self.fc_es_back = nn.Linear(hidden_size, hidden_size)
        self.fc_indi_fore = nn.Linear(hidden_size, hidden_size)
        self.fc_out = nn.Linear(hidden_size, 1)
        self.leaky_relu = nn.LeakyReLU()
        self.softmax_s2t = nn.Softmax(dim=0)
        self.softmax_t2s = nn.Softmax(dim=1)

    def forward(self, x, concept_matrix, market_value):
        # x: one day of all stocks, [N, d_feat * T]; concept_matrix: [N, K]; market_value: [N]
        x_hidden = x.reshape(len(x), self.d_feat, -1)
        x_hidden = x_hidden.permute(0, 2, 1)
        x_hidden, _ = self.rnn(x_hidden)
        x_hidden = x_hidden[:, -1, :]

        # predefined concepts, weighted by market value
        market_value_matrix = market_value.reshape(market_value.shape[0], 1).repeat(1, concept_matrix.shape[1])
        stock_to_concept = concept_matrix * market_value_matrix
        stock_to_concept_sum = torch.sum(stock_to_concept, 0).reshape(1, -1).repeat(stock_to_concept.shape[0], 1)
        stock_to_concept_sum = torch.mul(concept_matrix, stock_to_concept_sum)
        stock_to_concept_sum = stock_to_concept_sum + torch.ones_like(concept_matrix)
        stock_to_concept = stock_to_concept / stock_to_concept_sum
        hidden = torch.t(stock_to_concept).mm(x_hidden)
        hidden = hidden[hidden.sum(1) != 0]
        hidden = self.fc_es(hidden)
        concept_to_stock = self.softmax_t2s(cal_cos_similarity(x_hidden, hidden))
        e_shared_info = self.fc_es(concept_to_stock.mm(hidden))
        e_shared_back = self.fc_es_back(e_shared_info)
        output_es = self.leaky_relu(self.fc_es_fore(e_shared_info))

        # what no concept explains
        indi_info = x_hidden - e_shared_back
        output_indi = self.leaky_relu(self.fc_indi_fore(indi_info))
        pred_all = self.fc_out(output_es + output_indi).squeeze()
        return pred_all


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
