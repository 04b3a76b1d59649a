"""Hard: tables, clicks, series, agents, graphs, flows and memories, with dicts, states and optional parts.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Sequence, TypedDict, Union

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = [
    "RSSM",
    "CachedDecoder",
    "CouplingFlow",
    "DeepARNet",
    "DialogueMemory",
    "FTTransformer",
    "GraphGPS",
    "HyperLSTM",
    "InterestNet",
    "LatentODE",
    "MoleculeEnergy",
    "PointerNet",
    "RankingModel",
    "RecurrentActorCritic",
    "SASRec",
    "SwitchTransformerLayer",
    "TemporalFusion",
    "TwoTower",
]


class SparseFeat(NamedTuple):
    name: str
    vocabulary_size: int
    embedding_dim: int = 8


class DenseFeat(NamedTuple):
    name: str
    dimension: int = 1


class RankingModel(nn.Module):
    """DLRM: bags of ids by offsets, and interactions."""

    def __init__(
        self, m_spa: int, ln_emb: Sequence[int], ln_bot: Sequence[int], ln_top: Sequence[int], itersect_self=False
    ):
        super().__init__()
        self.emb_l = nn.ModuleList(nn.EmbeddingBag(n, m_spa, mode="sum") for n in ln_emb)
        self.bot_l = self.create_mlp(ln_bot)
        assert ln_bot[-1] == m_spa, "bottom mlp must end with the size of embeddings"
        fields = len(ln_emb) + 1
        num_int = fields * (fields - 1) // 2 + ln_bot[-1]
        self.top_l = self.create_mlp([num_int, *ln_top], sigmoid_layer=len(ln_top) - 1)

    def create_mlp(self, ln, sigmoid_layer=-1):
        layers = nn.ModuleList()
        for i in range(len(ln) - 1):
            layers.append(nn.Linear(int(ln[i]), int(ln[i + 1])))
            layers.append(nn.Sigmoid() if i == sigmoid_layer else nn.ReLU())
        return nn.Sequential(*layers)

    def apply_emb(self, lS_o, lS_i):
        ly = []
        for k, sparse_index_group_batch in enumerate(lS_i):
            ly.append(self.emb_l[k](sparse_index_group_batch, lS_o[k]))
        return ly

    def forward(self, dense_x, lS_o, lS_i):
        x = self.bot_l(dense_x)
        ly = self.apply_emb(lS_o, lS_i)
        (batch_size, d) = x.shape
        T = torch.cat([x, *ly], dim=1).view((batch_size, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        li, lj = torch.tril_indices(Z.shape[1], Z.shape[2], offset=-1)
        return self.top_l(torch.cat([x, Z[:, li, lj]], dim=1))


class InterestNet(nn.Module):
    """Deep interest network: dict of features, history beside the candidate."""

    def __init__(
        self,
        feature_columns: list[Union[SparseFeat, DenseFeat]],
        history_feature_list: list[str],
        hidden_units=(64, 32),
    ):
        super().__init__()
        self.sparse = [f for f in feature_columns if isinstance(f, SparseFeat)]
        self.dense = [f for f in feature_columns if isinstance(f, DenseFeat)]
        self.history = history_feature_list
        self.embedding_dict = nn.ModuleDict(
            {f.name: nn.Embedding(f.vocabulary_size, f.embedding_dim, padding_idx=0) for f in self.sparse}
        )
        hist_dim = sum(f.embedding_dim for f in self.sparse if f.name in history_feature_list)
        total = sum(f.embedding_dim for f in self.sparse) + sum(f.dimension for f in self.dense) + hist_dim
        self.att = nn.Sequential(nn.Linear(4 * hist_dim, 32), nn.PReLU(), nn.Linear(32, 1))
        dims = [total, *hidden_units]
        self.dnn = nn.Sequential(
            *[m for a, b in zip(dims, dims[1:]) for m in (nn.Linear(a, b), nn.ReLU())], nn.Linear(dims[-1], 1)
        )

    def forward(self, X: dict[str, Tensor]) -> Tensor:
        embedded = [self.embedding_dict[f.name](X[f.name].long()) for f in self.sparse]
        query = torch.cat([self.embedding_dict[n](X[n].long()) for n in self.history], dim=-1)
        keys = torch.cat([self.embedding_dict[n](X["hist_" + n].long()) for n in self.history], dim=-1)
        mask = X["hist_" + self.history[0]] != 0
        q = query.unsqueeze(1).expand_as(keys)
        score = self.att(torch.cat([q, keys, q - keys, q * keys], dim=-1)).squeeze(-1)
        score = score.masked_fill(~mask, 0.0)
        interest = torch.bmm(score.unsqueeze(1), keys).squeeze(1)
        dense = [X[f.name].float().view(-1, f.dimension) for f in self.dense]
        return torch.sigmoid(self.dnn(torch.cat([*embedded, interest, *dense], dim=-1)))


class GRN(nn.Module):
    def __init__(self, inp, hidden, out, dropout=0.1, context=None):
        super().__init__()
        self.fc1 = nn.Linear(inp, hidden)
        self.context = nn.Linear(context, hidden, bias=False) if context else None
        self.fc2 = nn.Linear(hidden, hidden)
        self.glu = nn.Linear(hidden, 2 * out)
        self.skip = nn.Linear(inp, out) if inp != out else nn.Identity()
        self.norm = nn.LayerNorm(out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, context=None):
        h = self.fc1(x)
        if context is not None:
            h = h + self.context(context)
        h = self.dropout(self.fc2(F.elu(h)))
        return self.norm(F.glu(self.glu(h), dim=-1) + self.skip(x))


class VariableSelection(nn.Module):
    def __init__(self, n_vars, hidden, context=None):
        super().__init__()
        self.flat = GRN(n_vars * hidden, hidden, n_vars, context=context)
        self.single = nn.ModuleList(GRN(hidden, hidden, hidden) for _ in range(n_vars))

    def forward(self, xs: list[Tensor], context=None):
        w = self.flat(torch.cat(xs, dim=-1), context).softmax(dim=-1).unsqueeze(-2)
        return (torch.stack([g(x) for g, x in zip(self.single, xs)], dim=-1) * w).sum(-1)


class TemporalFusion(nn.Module):
    def __init__(
        self, static_cardinalities: list[int], time_varying_known: int, time_varying_unknown: int, hidden_size=32,
        attention_heads=4, quantiles=(0.1, 0.5, 0.9),
    ):  # fmt: skip
        super().__init__()
        self.static_embeddings = nn.ModuleList(nn.Embedding(c, hidden_size) for c in static_cardinalities)
        self.known = nn.ModuleList(nn.Linear(1, hidden_size) for _ in range(time_varying_known))
        self.unknown = nn.ModuleList(nn.Linear(1, hidden_size) for _ in range(time_varying_unknown))
        self.static_context = GRN(hidden_size * len(static_cardinalities), hidden_size, hidden_size)
        self.vsn_enc = VariableSelection(time_varying_known + time_varying_unknown, hidden_size, hidden_size)
        self.vsn_dec = VariableSelection(time_varying_known, hidden_size, hidden_size)
        self.encoder = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.decoder = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.attention = nn.MultiheadAttention(hidden_size, attention_heads, batch_first=True)
        self.out = nn.Linear(hidden_size, len(quantiles))

    def forward(self, x: dict[str, Tensor]) -> dict[str, Tensor]:
        encoder_lengths = x["encoder_lengths"]
        enc, dec = x["encoder_cont"], x["decoder_cont"]
        static = torch.cat([e(x["static_cat"][:, i]) for i, e in enumerate(self.static_embeddings)], dim=-1)
        context = self.static_context(static)
        past = [f(enc[..., i : i + 1]) for i, f in enumerate([*self.known, *self.unknown])]
        future = [f(dec[..., i : i + 1]) for i, f in enumerate(self.known)]
        past = self.vsn_enc(past, context.unsqueeze(1).expand(-1, enc.size(1), -1))
        future = self.vsn_dec(future, context.unsqueeze(1).expand(-1, dec.size(1), -1))
        state = (context.unsqueeze(0), context.unsqueeze(0))
        packed = nn.utils.rnn.pack_padded_sequence(past, encoder_lengths.cpu(), batch_first=True, enforce_sorted=False)
        enc_out, state = self.encoder(packed, state)
        enc_out, _ = nn.utils.rnn.pad_packed_sequence(enc_out, batch_first=True, total_length=enc.size(1))
        dec_out, _ = self.decoder(future, state)
        keys = torch.cat([enc_out, dec_out], dim=1)
        pad = torch.arange(enc.size(1), device=enc.device)[None] >= encoder_lengths[:, None]
        pad = torch.cat([pad, torch.zeros(dec.shape[:2], dtype=torch.bool, device=enc.device)], dim=1)
        attended, weights = self.attention(dec_out, keys, keys, key_padding_mask=pad)
        return {"prediction": self.out(attended + dec_out), "attention": weights}


class DeepARNet(nn.Module):
    def __init__(
        self, freq: str, context_length: int, prediction_length: int, num_feat_dynamic_real: int,
        cardinality: list[int],
        embedding_dimension: Optional[list[int]] = None, hidden_size: int = 40, num_layers: int = 2,
        lags_seq: Optional[list[int]] = None,
    ):  # fmt: skip
        super().__init__()
        embedding_dimension = embedding_dimension or [min(50, (c + 1) // 2) for c in cardinality]
        self.lags_seq = lags_seq or {"H": [1, 24], "D": [1, 7]}.get(freq, [1, 2, 3])
        self.context_length, self.prediction_length = context_length, prediction_length
        self.embedders = nn.ModuleList(nn.Embedding(c, d) for c, d in zip(cardinality, embedding_dimension))
        size = len(self.lags_seq) + num_feat_dynamic_real + sum(embedding_dimension) + 1
        self.rnn = nn.LSTM(size, hidden_size, num_layers, batch_first=True)
        self.mu, self.sigma = nn.Linear(hidden_size, 1), nn.Linear(hidden_size, 1)

    @property
    def past_length(self):
        return self.context_length + max(self.lags_seq)

    def forward(
        self, feat_static_cat, past_time_feat, past_target, past_observed_values, future_time_feat, future_target=None
    ):
        assert past_target.shape[1] == self.past_length, "past_target must have past_length steps"
        context = past_target[:, -self.context_length :]
        observed = past_observed_values[:, -self.context_length :]
        scale = ((context.abs() * observed).sum(1, keepdim=True) / observed.sum(1, keepdim=True).clamp(min=1)).clamp(
            min=1e-3
        )
        static = torch.cat([e(feat_static_cat[:, i]) for i, e in enumerate(self.embedders)], dim=-1)
        static = torch.cat([static, scale.log()], dim=-1)
        lags = torch.stack(
            [past_target[:, -self.context_length - lag : past_target.shape[1] - lag] for lag in self.lags_seq], dim=-1
        ) / scale.unsqueeze(-1)
        x = torch.cat([
            lags, past_time_feat[:, -self.context_length :], static.unsqueeze(1).expand(-1, self.context_length, -1),
        ], dim=-1)  # fmt: skip
        out, state = self.rnn(x)
        last, preds = past_target[:, -1:], []
        for t in range(self.prediction_length):
            lag = (last / scale).unsqueeze(-1).expand(-1, 1, len(self.lags_seq))
            step, state = self.rnn(torch.cat([lag, future_time_feat[:, t : t + 1], static.unsqueeze(1)], dim=-1), state)
            last = self.mu(step).squeeze(-1) * scale
            preds.append(last)
        return torch.cat(preds, dim=1), F.softplus(self.sigma(out)).squeeze(-1) * scale


class CouplingFlow(nn.Module):
    def __init__(self, dim, hidden, n_layers=4, cond_dim=0):
        super().__init__()
        masks = torch.stack([(torch.arange(dim) + i) % 2 for i in range(n_layers)]).float()
        self.register_buffer("masks", masks)
        self.nets = nn.ModuleList(
            nn.Sequential(nn.Linear(dim + cond_dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, 2 * dim))
            for _ in range(n_layers)
        )
        self.cond_dim = cond_dim
        self.base_mean = nn.Parameter(torch.zeros(dim), requires_grad=False)

    def forward(self, x, cond=None, reverse=False):
        log_det = x.new_zeros(x.size(0))
        order = reversed(range(len(self.nets))) if reverse else range(len(self.nets))
        for i in order:
            m = self.masks[i]
            h = x * m
            if self.cond_dim > 0:
                h = torch.cat([h, cond], dim=1)
            s, t = self.nets[i](h).chunk(2, dim=1)
            s = torch.tanh(s) * (1 - m)
            t = t * (1 - m)
            if reverse:
                x = m * x + (1 - m) * (x - t) * torch.exp(-s)
                log_det = log_det - s.sum(1)
            else:
                x = m * x + (1 - m) * (x * torch.exp(s) + t)
                log_det = log_det + s.sum(1)
        log_prob = -0.5 * ((x - self.base_mean) ** 2 + math.log(2 * math.pi)).sum(1)
        return x, log_prob + log_det


class RecurrentActorCritic(nn.Module):
    """PPO with dict observations, LSTM, and resets where episodes end."""

    def __init__(self, obs_shapes: dict[str, tuple[int, ...]], n_actions: int, hidden: int = 128):
        super().__init__()
        self.encoders = nn.ModuleDict()
        for name, shape in obs_shapes.items():
            if len(shape) == 3:
                self.encoders[name] = nn.Sequential(
                    nn.Conv2d(shape[0], 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(),
                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, hidden),
                )  # fmt: skip
            else:
                self.encoders[name] = nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), hidden), nn.Tanh())
        self.lstm = nn.LSTM(hidden * len(obs_shapes), hidden)
        self.policy, self.value = nn.Linear(hidden, n_actions), nn.Linear(hidden, 1)

    def forward(self, obs: dict[str, Tensor], lstm_state: tuple[Tensor, Tensor], done: Tensor):
        hidden = torch.cat([self.encoders[k](obs[k]) for k in self.encoders], dim=-1)
        # sequence-major unroll, resetting the state where an episode ended
        batch_size = lstm_state[0].shape[1]
        hidden = hidden.reshape((-1, batch_size, self.lstm.input_size))
        done = done.reshape((-1, batch_size))
        new_hidden = []
        for x, d in zip(hidden, done):
            h, lstm_state = self.lstm(
                x.unsqueeze(0),
                ((1.0 - d).view(1, -1, 1) * lstm_state[0], (1.0 - d).view(1, -1, 1) * lstm_state[1]),
            )
            new_hidden += [h]
        new_hidden = torch.flatten(torch.cat(new_hidden), 0, 1)
        return self.policy(new_hidden), self.value(new_hidden), lstm_state


class PointerNet(nn.Module):
    def __init__(self, input_dim=2, embedding_dim=64, hidden_dim=64, n_glimpses=1, tanh_exploration=10):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(input_dim, embedding_dim) / math.sqrt(embedding_dim))
        self.encoder = nn.LSTM(embedding_dim, hidden_dim)
        self.decoder = nn.LSTMCell(embedding_dim, hidden_dim)
        self.start = nn.Parameter(torch.randn(embedding_dim))
        self.w_q, self.w_ref = nn.Linear(hidden_dim, hidden_dim), nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Parameter(torch.rand(hidden_dim))
        self.C = tanh_exploration
        self.n_glimpses = n_glimpses

    def attend(self, query, ref, mask):
        u = torch.einsum("h,sbh->bs", self.v, torch.tanh(self.w_q(query).unsqueeze(0) + self.w_ref(ref)))
        return (self.C * torch.tanh(u)).masked_fill(mask, float("-inf"))

    def forward(self, inputs, input_lengths=None):
        """inputs: (batch, cities, coordinates)"""
        batch_size, seq_len, input_dim = inputs.size()
        assert input_dim == self.embedding.size(0)
        embedded = torch.mm(inputs.transpose(0, 1).contiguous().view(-1, input_dim), self.embedding)
        embedded = embedded.view(seq_len, batch_size, -1)
        enc, (h, c) = self.encoder(embedded)
        h, c = h.squeeze(0), c.squeeze(0)
        mask = torch.zeros(batch_size, seq_len, dtype=torch.bool, device=inputs.device)
        if input_lengths is not None:
            mask = torch.arange(seq_len, device=inputs.device)[None] >= input_lengths[:, None]
        x = self.start.unsqueeze(0).repeat(batch_size, 1)
        probs, selections = [], []
        steps = seq_len if input_lengths is None else int(input_lengths.min())
        for _ in range(steps):
            h, c = self.decoder(x, (h, c))
            q = h
            for _ in range(self.n_glimpses):
                w = self.attend(q, enc, mask).softmax(-1)
                q = torch.einsum("bs,sbh->bh", w, enc)
            p = self.attend(q, enc, mask).softmax(-1)
            idx = p.argmax(-1)
            mask = mask.scatter(1, idx.unsqueeze(1), True)
            x = embedded[idx, torch.arange(batch_size)]
            probs.append(p)
            selections.append(idx)
        return torch.stack(probs, 1), torch.stack(selections, 1)


class DialogueMemory(nn.Module):
    """End-to-end memory network over stories of sentences."""

    def __init__(self, param):
        super().__init__()
        self.hops = param["hops"]
        vocab, dim = param["vocab_size"], param["embedding_size"]
        self.max_mem_size = param["max_mem_size"]
        for hop in range(self.hops + 1):
            self.add_module(f"C_{hop}", nn.Embedding(vocab, dim, padding_idx=0))
        self.temporal = nn.Parameter(torch.randn(self.max_mem_size, dim) * 0.1)

    def position_encoding(self, length, dim):
        pos = torch.arange(1, length + 1)[:, None] / length
        d = torch.arange(1, dim + 1)[None] / dim
        return 1 - pos - d * (1 - 2 * pos)

    def forward(self, story, query):
        """story: (batch, sentences, words); query: (batch, words)"""
        story_size = story.size()
        if story_size[1] > self.max_mem_size:
            story = story[:, -self.max_mem_size :]
        table = self.C_0(query)
        u = (table * self.position_encoding(query.size(1), table.size(-1)).to(table)).sum(1)
        for hop in range(self.hops):
            a = getattr(self, f"C_{hop}")(story.reshape(story.size(0), -1)).view(*story.shape, -1)
            pe = self.position_encoding(a.size(2), a.size(3)).to(a)
            m = (a * pe).sum(2) + self.temporal[: a.size(1)]
            prob = (m * u.unsqueeze(1)).sum(2).softmax(-1)
            c = getattr(self, f"C_{hop + 1}")(story.reshape(story.size(0), -1)).view(*story.shape, -1)
            o = ((c * pe).sum(2) + self.temporal[: a.size(1)]) * prob.unsqueeze(-1)
            u = u + o.sum(1)
        return (u @ getattr(self, f"C_{self.hops}").weight.t()).log_softmax(-1)


class HyperLSTM(nn.Module):
    """A small network makes the weights of the main recurrent cell, at each step."""

    def __init__(self, input_size, hidden_size, hyper_size, n_z):
        super().__init__()
        self.hidden_size = hidden_size
        self.hyper = nn.LSTMCell(hidden_size + input_size, hyper_size)
        self.z = nn.ModuleDict({k: nn.Linear(hyper_size, 4 * n_z) for k in ("h", "x", "b")})
        self.d = nn.ModuleDict({
            k: nn.ModuleList(nn.Linear(n_z, hidden_size, bias=k == "b") for _ in range(4)) for k in ("h", "x", "b")
        })  # fmt: skip
        self.w_h = nn.ParameterList(nn.Parameter(torch.randn(hidden_size, hidden_size) * 0.1) for _ in range(4))
        self.w_x = nn.ParameterList(nn.Parameter(torch.randn(hidden_size, input_size) * 0.1) for _ in range(4))

    def cell(self, x, h, c, h_hat, c_hat):
        h_hat, c_hat = self.hyper(torch.cat((h, x), dim=-1), (h_hat, c_hat))
        z = {k: self.z[k](h_hat).chunk(4, dim=-1) for k in ("h", "x", "b")}
        ifgo = [
            self.d["h"][i](z["h"][i]) * torch.einsum("ij,bj->bi", self.w_h[i], h)
            + self.d["x"][i](z["x"][i]) * torch.einsum("ij,bj->bi", self.w_x[i], x)
            + self.d["b"][i](z["b"][i])
            for i in range(4)
        ]
        i, f, g, o = ifgo
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c, h_hat, c_hat

    def forward(self, x: Tensor, state: Optional[tuple[Tensor, Tensor, Tensor, Tensor]] = None):
        n_steps, batch_size = x.shape[:2]
        if state is None:
            h = x.new_zeros(batch_size, self.hidden_size)
            c = x.new_zeros(batch_size, self.hidden_size)
            h_hat = x.new_zeros(batch_size, self.hyper.hidden_size)
            c_hat = x.new_zeros(batch_size, self.hyper.hidden_size)
        else:
            h, c, h_hat, c_hat = state
        out = []
        for t in range(n_steps):
            h, c, h_hat, c_hat = self.cell(x[t], h, c, h_hat, c_hat)
            out.append(h)
        return torch.stack(out), (h, c, h_hat, c_hat)


class SwitchTransformerLayer(nn.Module):
    """Top-1 routing with capacity; sequence first."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_experts: int,
        d_ff: int,
        capacity_factor: float,
        drop_tokens: bool,
        is_scale_prob: bool = True,
    ):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_heads)
        self.n_experts, self.capacity_factor = n_experts, capacity_factor
        self.drop_tokens, self.is_scale_prob = drop_tokens, is_scale_prob
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.switch = nn.Linear(d_model, n_experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)) for _ in range(n_experts)
        )

    def route(self, x: Tensor):
        seq_len, batch_size, d_model = x.shape
        x = x.view(-1, d_model)
        prob, routes = torch.max(self.switch(x).softmax(-1), dim=-1)
        indexes = [torch.eq(routes, i).nonzero(as_tuple=True)[0] for i in range(self.n_experts)]
        final = x.new_zeros(x.shape)
        capacity = int(self.capacity_factor * len(x) / self.n_experts)
        counts = x.new_tensor([len(ix) for ix in indexes])
        dropped = []
        if self.drop_tokens:
            for i in range(self.n_experts):
                if len(indexes[i]) > capacity:
                    dropped.append(indexes[i][capacity:])
                    indexes[i] = indexes[i][:capacity]
        for i in range(self.n_experts):
            final[indexes[i], :] = self.experts[i](x[indexes[i], :])
        if dropped:
            dropped = torch.cat(dropped)
            final[dropped, :] = x[dropped, :]
        if self.is_scale_prob:
            final = final * prob.view(-1, 1)
        return final.view(seq_len, batch_size, d_model), counts

    def forward(self, *, x: Tensor, mask: Optional[Tensor] = None):
        z = self.norm1(x)
        x = x + self.attn(z, z, z, attn_mask=mask)[0]
        ff, counts = self.route(self.norm2(x))
        return x + ff, counts


class ODEFunc(nn.Module):
    def __init__(self, latent_dim, nhidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent_dim, nhidden), nn.ELU(), nn.Linear(nhidden, latent_dim))
        self.nfe = 0

    def forward(self, t, x):
        self.nfe += 1
        return self.net(x)


def odeint(func, y0, t, method="rk4"):
    ys = [y0]
    for t0, t1 in zip(t[:-1], t[1:]):
        dt = t1 - t0
        y = ys[-1]
        if method == "euler":
            ys.append(y + dt * func(t0, y))
            continue
        k1 = func(t0, y)
        k2 = func(t0 + dt / 2, y + dt * k1 / 2)
        k3 = func(t0 + dt / 2, y + dt * k2 / 2)
        k4 = func(t1, y + dt * k3)
        ys.append(y + dt * (k1 + 2 * k2 + 2 * k3 + k4) / 6)
    return torch.stack(ys)


class LatentODE(nn.Module):
    def __init__(self, obs_dim, latent_dim=4, nhidden=20, rnn_nhidden=25, method="rk4"):
        super().__init__()
        self.latent_dim, self.method, self.rnn_nhidden = latent_dim, method, rnn_nhidden
        self.func = ODEFunc(latent_dim, nhidden)
        self.i2h = nn.Linear(2 * obs_dim + 1 + rnn_nhidden, rnn_nhidden)
        self.h2o = nn.Linear(rnn_nhidden, 2 * latent_dim)
        self.dec = nn.Sequential(nn.Linear(latent_dim, nhidden), nn.ReLU(), nn.Linear(nhidden, obs_dim))

    def forward(self, observed_data, observed_mask, observed_tp, tp_to_predict):
        h = torch.zeros(observed_data.size(0), self.rnn_nhidden, device=observed_data.device)
        deltas = torch.cat([observed_tp.new_zeros(1), observed_tp[1:] - observed_tp[:-1]])
        for t in reversed(range(observed_data.size(1))):
            obs = observed_data[:, t, :] * observed_mask[:, t, :]
            dt = deltas[t].expand(h.size(0), 1)
            h = torch.tanh(self.i2h(torch.cat((obs, observed_mask[:, t, :], dt, h), dim=1)))
        mean, logvar = self.h2o(h).split(self.latent_dim, dim=-1)
        z0 = mean + torch.randn_like(mean) * torch.exp(0.5 * logvar)
        pred_z = odeint(self.func, z0, tp_to_predict, self.method).permute(1, 0, 2)
        return self.dec(pred_z), mean, logvar


class QueryBatch(TypedDict):
    user_id: Tensor
    user_history: Tensor
    user_history_len: Tensor
    context: Tensor


class ItemBatch(TypedDict, total=False):
    item_id: Tensor
    title_ids: Tensor
    image_emb: Tensor


class TwoTower(nn.Module):
    def __init__(
        self,
        n_users: int,
        n_items: int,
        vocab: int,
        context_dim: int,
        image_dim: int,
        emb: int = 32,
        out: int = 16,
        temperature: float = 0.05,
    ):
        super().__init__()
        self.users, self.items = nn.Embedding(n_users, emb), nn.Embedding(n_items, emb, padding_idx=0)
        self.words = nn.EmbeddingBag(vocab, emb, padding_idx=0)
        self.user_mlp = nn.Sequential(nn.Linear(2 * emb + context_dim, 64), nn.ReLU(), nn.Linear(64, out))
        self.item_mlp = nn.Sequential(nn.Linear(2 * emb + image_dim, 64), nn.ReLU(), nn.Linear(64, out))
        self.temperature = temperature

    def query_tower(self, q: QueryBatch):
        hist = self.items(q["user_history"]).sum(1) / q["user_history_len"].clamp(min=1).unsqueeze(1)
        return F.normalize(self.user_mlp(torch.cat([self.users(q["user_id"]), hist, q["context"]], dim=-1)), dim=-1)

    def item_tower(self, i: ItemBatch):
        return F.normalize(
            self.item_mlp(torch.cat([self.items(i["item_id"]), self.words(i["title_ids"]), i["image_emb"]], dim=-1)),
            dim=-1,
        )

    def forward(self, query: QueryBatch, positive: ItemBatch, negatives: Optional[ItemBatch] = None):
        q, p = self.query_tower(query), self.item_tower(positive)
        if negatives is not None:
            p = torch.cat([p, self.item_tower(negatives)], dim=0)
        return q @ p.t() / self.temperature


class FTTransformer(nn.Module):
    def __init__(
        self, *, n_num_features: int, cat_cardinalities: Sequence[int], d_token: int, n_blocks: int, d_out: int
    ):
        super().__init__()
        assert n_num_features or cat_cardinalities
        self.num_w = nn.Parameter(torch.randn(n_num_features, d_token)) if n_num_features else None
        self.num_b = nn.Parameter(torch.randn(n_num_features, d_token)) if n_num_features else None
        if cat_cardinalities:
            self.register_buffer("category_offsets", torch.tensor([0, *cat_cardinalities[:-1]]).cumsum(0))
            self.cat = nn.Embedding(sum(cat_cardinalities), d_token)
        else:
            self.cat = None
        self.cls = nn.Parameter(torch.zeros(1, 1, d_token))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(d_token, 8, 2 * d_token, norm_first=True) for _ in range(n_blocks)
        )
        self.head = nn.Sequential(nn.LayerNorm(d_token), nn.ReLU(), nn.Linear(d_token, d_out))

    def forward(self, x_num: Optional[Tensor], x_cat: Optional[Tensor]) -> Tensor:
        assert x_num is not None or x_cat is not None
        some = x_num if x_num is not None else x_cat
        tokens = [self.cls.expand(len(some), -1, -1)]
        if self.num_w is not None:
            tokens.append(self.num_w[None] * x_num[..., None] + self.num_b[None])
        if self.cat is not None:
            tokens.append(self.cat(x_cat + self.category_offsets[None]))
        x = torch.cat(tokens, dim=1).transpose(0, 1)
        for block in self.blocks:
            x = block(x)
        return self.head(x[0])


@dataclass
class DecoderArgs:
    dim: int = 128
    n_layers: int = 2
    n_heads: int = 4
    n_kv_heads: Optional[int] = None
    vocab_size: int = -1  # set by the tokenizer
    multiple_of: int = 32
    max_batch_size: int = 4
    max_seq_len: int = 64
    norm_eps: float = 1e-5


def rotate(x, cos, sin):
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1).flatten(-2)


class CachedAttention(nn.Module):
    def __init__(self, args: DecoderArgs):
        super().__init__()
        self.n_heads = args.n_heads
        self.n_kv = args.n_kv_heads or args.n_heads
        self.head_dim = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, self.n_kv * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, self.n_kv * self.head_dim, bias=False)
        self.wo = nn.Linear(args.n_heads * self.head_dim, args.dim, bias=False)
        shape = (args.max_batch_size, args.max_seq_len, self.n_kv, self.head_dim)
        self.register_buffer("cache_k", torch.zeros(shape), persistent=False)
        self.register_buffer("cache_v", torch.zeros(shape), persistent=False)

    def forward(self, x, start_pos: int, cos, sin, mask):
        bsz, seqlen, _ = x.shape
        q = rotate(self.wq(x).view(bsz, seqlen, self.n_heads, self.head_dim), cos, sin)
        k = rotate(self.wk(x).view(bsz, seqlen, self.n_kv, self.head_dim), cos, sin)
        v = self.wv(x).view(bsz, seqlen, self.n_kv, self.head_dim)
        self.cache_k[:bsz, start_pos : start_pos + seqlen] = k.detach()
        self.cache_v[:bsz, start_pos : start_pos + seqlen] = v.detach()
        keys = torch.cat([self.cache_k[:bsz, :start_pos], k], dim=1).repeat_interleave(self.n_heads // self.n_kv, 2)
        values = torch.cat([self.cache_v[:bsz, :start_pos], v], dim=1).repeat_interleave(self.n_heads // self.n_kv, 2)
        scores = q.transpose(1, 2) @ keys.permute(0, 2, 3, 1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores + mask
        out = scores.softmax(-1) @ values.transpose(1, 2)
        return self.wo(out.transpose(1, 2).reshape(bsz, seqlen, -1))


class CachedDecoder(nn.Module):
    def __init__(self, params: DecoderArgs):
        super().__init__()
        self.params = params
        hidden = params.multiple_of * ((8 * params.dim // 3 + params.multiple_of - 1) // params.multiple_of)
        self.tok_embeddings = nn.Embedding(params.vocab_size, params.dim)
        self.attn = nn.ModuleList(CachedAttention(params) for _ in range(params.n_layers))
        self.w1 = nn.ModuleList(nn.Linear(params.dim, hidden, bias=False) for _ in range(params.n_layers))
        self.w2 = nn.ModuleList(nn.Linear(hidden, params.dim, bias=False) for _ in range(params.n_layers))
        self.norm = nn.LayerNorm(params.dim, params.norm_eps)
        self.output = nn.Linear(params.dim, params.vocab_size, bias=False)
        half = params.dim // params.n_heads // 2
        angles = torch.outer(torch.arange(2 * params.max_seq_len).float(), 10000 ** (-torch.arange(half) / half))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    @torch.inference_mode()
    def forward(self, tokens: torch.Tensor, start_pos: int):
        _bsz, seqlen = tokens.shape
        h = self.tok_embeddings(tokens)
        cos = self.cos[start_pos : start_pos + seqlen][:, None]
        sin = self.sin[start_pos : start_pos + seqlen][:, None]
        mask = None
        if seqlen > 1:
            mask = torch.full((seqlen, seqlen), float("-inf"), device=tokens.device).triu(1)
            mask = torch.hstack([torch.zeros((seqlen, start_pos), device=tokens.device), mask]).type_as(h)
        for attn, w1, w2 in zip(self.attn, self.w1, self.w2):
            h = h + attn(self.norm(h), start_pos, cos, sin, mask)
            h = h + w2(F.silu(w1(h)))
        return self.output(self.norm(h)).float()


def scatter_sum(src, index, dim_size):
    return src.new_zeros(dim_size, *src.shape[1:]).index_add_(0, index, src)


class GPSLayer(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.msg = nn.Sequential(nn.Linear(3 * dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.attn = nn.MultiheadAttention(dim, heads, dropout=dropout, batch_first=True)
        self.n1, self.n2 = nn.BatchNorm1d(dim), nn.BatchNorm1d(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, x, edge_index, edge_attr, batch):
        src, dst = edge_index
        m = self.msg(torch.cat([x[src], x[dst], edge_attr], dim=-1))
        h = self.n1(x + scatter_sum(m, dst, x.size(0)))
        counts = torch.bincount(batch)
        rows = torch.arange(x.size(0), device=x.device) - (counts.cumsum(0) - counts)[batch]
        dense = x.new_zeros(len(counts), int(counts.max()), x.size(1))
        dense[batch, rows] = x
        valid = torch.zeros(dense.shape[:2], dtype=torch.bool, device=x.device)
        valid[batch, rows] = True
        a = self.attn(dense, dense, dense, key_padding_mask=~valid, need_weights=False)[0][batch, rows]
        return self.n2(h + a + self.ff(h + a))


class GraphGPS(nn.Module):
    def __init__(self, cfg: dict[str, Any]):
        super().__init__()
        dim = cfg["gt"]["dim_hidden"]
        self.node_encoder = nn.ModuleList(nn.Embedding(n, dim) for n in cfg["dataset"]["node_types"])
        self.edge_encoder = nn.Linear(cfg["dataset"]["edge_dim"], dim)
        self.pe = nn.Linear(cfg["posenc"].get("dim_pe", 8), dim)
        self.layers = nn.ModuleList(
            GPSLayer(dim, cfg["gt"]["n_heads"], cfg["gt"]["dropout"]) for _ in range(cfg["gt"]["layers"])
        )
        self.head = nn.Linear(dim, cfg["dim_out"])

    def forward(self, x, edge_index, edge_attr, pe, batch=None):
        h = sum(emb(x[:, i]) for i, emb in enumerate(self.node_encoder)) + self.pe(pe)
        e = self.edge_encoder(edge_attr)
        if batch is None:
            batch = x.new_zeros(x.size(0))
        for layer in self.layers:
            h = layer(h, edge_index, e, batch)
        n_graphs = int(batch.max()) + 1
        pooled = scatter_sum(h, batch, n_graphs) / torch.bincount(batch, minlength=n_graphs).clamp(min=1)[:, None]
        return self.head(pooled)


class MoleculeEnergy(nn.Module):
    """SchNet with forces by the gradient."""

    def __init__(
        self,
        hidden_channels=64,
        num_filters=64,
        num_interactions=2,
        num_gaussians=25,
        cutoff=5.0,
        max_z=100,
        forces=True,
    ):
        super().__init__()
        self.embedding = nn.Embedding(max_z, hidden_channels, padding_idx=0)
        self.register_buffer("offset", torch.linspace(0.0, cutoff, num_gaussians))
        self.coeff = -0.5 / (cutoff / (num_gaussians - 1)) ** 2
        self.cutoff, self.forces = cutoff, forces
        self.filters = nn.ModuleList(
            nn.Sequential(nn.Linear(num_gaussians, num_filters), nn.Softplus(), nn.Linear(num_filters, num_filters))
            for _ in range(num_interactions)
        )
        self.lin1 = nn.ModuleList(nn.Linear(hidden_channels, num_filters, bias=False) for _ in range(num_interactions))
        self.lin2 = nn.ModuleList(nn.Linear(num_filters, hidden_channels) for _ in range(num_interactions))
        self.out = nn.Sequential(
            nn.Linear(hidden_channels, hidden_channels // 2), nn.Softplus(), nn.Linear(hidden_channels // 2, 1)
        )

    def forward(self, z: Tensor, pos: Tensor, batch: Optional[Tensor] = None):
        batch = torch.zeros_like(z) if batch is None else batch
        if self.forces:
            pos = pos.requires_grad_()
        with torch.enable_grad():
            h = self.embedding(z)
            dist = (pos[:, None] - pos[None]).norm(dim=-1)
            near = (dist < self.cutoff) & (batch[:, None] == batch[None]) & ~torch.eye(len(z), dtype=torch.bool)
            i, j = near.nonzero().t()
            d = (pos[i] - pos[j]).norm(dim=-1)
            rbf = torch.exp(self.coeff * (d[:, None] - self.offset) ** 2)
            c = 0.5 * (torch.cos(d * math.pi / self.cutoff) + 1.0)
            for filt, lin1, lin2 in zip(self.filters, self.lin1, self.lin2):
                w = filt(rbf) * c[:, None]
                h = h + lin2(torch.zeros_like(h[:, : w.size(1)]).index_add(0, i, lin1(h)[j] * w))
            e = self.out(h)
            energy = e.new_zeros(int(batch.max()) + 1, 1).index_add(0, batch, e)
        force = (
            -torch.autograd.grad(energy.sum(), pos, create_graph=self.training, allow_unused=True)[0]
            if self.forces
            else None
        )
        return energy, force


class RSSMState(NamedTuple):
    mean: Tensor
    std: Tensor
    stoch: Tensor
    deter: Tensor


class RSSM(nn.Module):
    """Recurrent state space model, rolled over a batch of episodes [time, batch, …]."""

    def __init__(self, action_size, stoch_size=30, deter_size=200, hidden_size=200, embed_size=1024, min_std=0.1):
        super().__init__()
        self.stoch_size, self.deter_size, self.min_std = stoch_size, deter_size, min_std
        self.fc_in = nn.Linear(stoch_size + action_size, hidden_size)
        self.cell = nn.GRUCell(hidden_size, deter_size)
        self.prior = nn.Sequential(nn.Linear(deter_size, hidden_size), nn.ELU(), nn.Linear(hidden_size, 2 * stoch_size))
        self.post = nn.Sequential(
            nn.Linear(deter_size + embed_size, hidden_size), nn.ELU(), nn.Linear(hidden_size, 2 * stoch_size)
        )

    def initial_state(self, batch_size, device=None):
        zeros = torch.zeros(batch_size, self.stoch_size, device=device)
        return RSSMState(zeros, zeros, zeros, torch.zeros(batch_size, self.deter_size, device=device))

    def stats(self, x, deter):
        mean, std = x.chunk(2, dim=-1)
        std = F.softplus(std) + self.min_std
        return RSSMState(mean, std, mean + std * torch.randn_like(std), deter)

    def forward(self, steps: int, obs_embed: Tensor, action: Tensor, nonterm: Tensor, prev_state: RSSMState):
        priors, posts = [], []
        for t in range(steps):
            x = F.elu(self.fc_in(torch.cat([prev_state.stoch * nonterm[t], action[t] * nonterm[t]], dim=-1)))
            deter = self.cell(x, prev_state.deter * nonterm[t])
            priors.append(self.stats(self.prior(deter), deter))
            prev_state = self.stats(self.post(torch.cat([deter, obs_embed[t]], dim=-1)), deter)
            posts.append(prev_state)
        return tuple(RSSMState(*(torch.stack(s) for s in zip(*states))) for states in (priors, posts))


class SASRec(nn.Module):
    def __init__(self, user_num, item_num, args):
        super().__init__()
        self.user_num, self.item_num, self.dev = user_num, item_num, args.device
        self.item_emb = nn.Embedding(item_num + 1, args.hidden_units, padding_idx=0)
        self.pos_emb = nn.Embedding(args.maxlen, args.hidden_units)
        self.emb_dropout = nn.Dropout(p=args.dropout_rate)
        self.attention_layers = nn.ModuleList()
        self.forward_layers = nn.ModuleList()
        for _ in range(args.num_blocks):
            self.attention_layers.append(nn.MultiheadAttention(args.hidden_units, args.num_heads, args.dropout_rate))
            self.forward_layers.append(nn.Conv1d(args.hidden_units, args.hidden_units, kernel_size=1))
        self.last_layernorm = nn.LayerNorm(args.hidden_units, eps=1e-8)

    def log2feats(self, log_seqs):
        seqs = self.item_emb(log_seqs.to(self.dev)) * self.item_emb.embedding_dim**0.5
        positions = torch.arange(log_seqs.shape[1]).unsqueeze(0).expand(log_seqs.shape[0], -1).to(self.dev)
        seqs = self.emb_dropout(seqs + self.pos_emb(positions))
        timeline_mask = log_seqs == 0
        seqs = seqs * ~timeline_mask.unsqueeze(-1).to(self.dev)
        tl = seqs.shape[1]
        attention_mask = ~torch.tril(torch.ones((tl, tl), dtype=torch.bool, device=self.dev))
        for attn, ff in zip(self.attention_layers, self.forward_layers):
            seqs = torch.transpose(seqs, 0, 1)
            out, _ = attn(seqs, seqs, seqs, attn_mask=attention_mask)
            seqs = torch.transpose(seqs + out, 0, 1)
            seqs = seqs + F.relu(ff(seqs.transpose(1, 2))).transpose(1, 2)
        return self.last_layernorm(seqs)

    def forward(self, user_ids, log_seqs, pos_seqs, neg_seqs):  # for training
        log_feats = self.log2feats(log_seqs)
        pos_logits = (log_feats * self.item_emb(pos_seqs.to(self.dev))).sum(dim=-1)
        neg_logits = (log_feats * self.item_emb(neg_seqs.to(self.dev))).sum(dim=-1)
        return pos_logits, neg_logits
