"""Hard: Recommenders, agents, tables, retrieval and mixed media, as companies and competitions write them.

Long because it is a list of models.
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F

__all__ = [
    "BagRecommender",
    "CategoricalLists",
    "ContrastiveRetriever",
    "DecisionSequence",
    "MediaFusion",
    "NeighbourSampler",
    "RecurrentPPO",
    "SequentialTower",
    "SetPredictor",
    "WorldModel",
]


class BagRecommender(nn.Module):
    """DLRM: dense features, and for each table the indices with offsets."""

    def __init__(self, m_spa=16, ln_emb=(1000, 500, 200), n_dense=13, top=32):
        super().__init__()
        self.emb_l = nn.ModuleList(nn.EmbeddingBag(n, m_spa, mode="sum") for n in ln_emb)
        self.bot_l = nn.Sequential(nn.Linear(n_dense, 32), nn.ReLU(), nn.Linear(32, m_spa), nn.ReLU())
        n = len(ln_emb) + 1
        self.top_l = nn.Sequential(nn.Linear(m_spa + n * (n - 1) // 2, top), nn.ReLU(), nn.Linear(top, 1), nn.Sigmoid())

    def forward(self, dense_x, lS_o, lS_i):
        x = self.bot_l(dense_x)
        ly = []
        for k, sparse_index_group in enumerate(lS_i):
            ly.append(self.emb_l[k](sparse_index_group, lS_o[k]))
        T = torch.cat([x, *ly], dim=1).view(x.size(0), -1, x.size(1))
        Z = torch.bmm(T, T.transpose(1, 2))
        li, lj = torch.tril_indices(Z.size(1), Z.size(1), offset=-1)
        return self.top_l(torch.cat([x, Z[:, li, lj]], dim=1))


class CategoricalLists(nn.Module):
    """FT-Transformer on a competition's table: lists of columns of each kind, multi-hot tags with padding."""

    def __init__(self, cat_dims=(12, 7, 31), num_features=5, tag_vocab=40, d_token=24):
        super().__init__()
        self.cats = nn.ModuleList(nn.Embedding(c + 1, d_token) for c in cat_dims)
        self.num_w = nn.Parameter(torch.randn(num_features, d_token))
        self.num_b = nn.Parameter(torch.zeros(num_features, d_token))
        self.tags = nn.Embedding(tag_vocab, d_token, padding_idx=0)
        self.cls = nn.Parameter(torch.zeros(1, 1, d_token))
        self.enc = nn.TransformerEncoderLayer(d_token, 4, 48, batch_first=True)
        self.head = nn.Linear(d_token, 1)

    def forward(self, cat_cols: list[torch.Tensor], num: torch.Tensor, tags: torch.Tensor):
        tok = [e(c).unsqueeze(1) for e, c in zip(self.cats, cat_cols)]
        nums = torch.nan_to_num(num).unsqueeze(-1) * self.num_w + self.num_b
        present = (tags > 0).float().unsqueeze(-1)
        bag = (self.tags(tags) * present).sum(1, keepdim=True) / present.sum(1, keepdim=True).clamp(min=1.0)
        x = torch.cat([self.cls.expand(num.size(0), -1, -1), *tok, nums, bag], dim=1)
        return self.head(self.enc(x)[:, 0]).squeeze(-1)


class ContrastiveRetriever(nn.Module):
    """Bi-encoder with hard negatives: dicts as from a tokenizer, negatives (B, K, L)."""

    def __init__(self, vocab_size=800, dim=48, temperature=0.05, pooling="mean"):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, dim)
        self.enc = nn.TransformerEncoderLayer(dim, 4, 96, batch_first=True)
        self.temperature, self.pooling = temperature, pooling

    def encode(self, features: dict[str, torch.Tensor]):
        mask = features["attention_mask"]
        h = self.enc(self.emb(features["input_ids"]), src_key_padding_mask=mask == 0)
        if self.pooling == "cls":
            return F.normalize(h[:, 0], dim=-1)
        m = mask.unsqueeze(-1).to(h.dtype)
        return F.normalize((h * m).sum(1) / m.sum(1).clamp(min=1), dim=-1)

    def forward(self, query, positive, negatives):
        q, p = self.encode(query), self.encode(positive)
        b, k, length = negatives["input_ids"].shape
        n = self.encode({key: value.view(b * k, length) for key, value in negatives.items()}).view(b, k, -1)
        in_batch = q @ p.t()
        hard = torch.einsum("bd,bkd->bk", q, n)
        logits = torch.cat([in_batch, hard], dim=1) / self.temperature
        loss = F.cross_entropy(logits, torch.arange(b, device=logits.device))
        return {"loss": loss, "logits": logits}


class DecisionSequence(nn.Module):
    """Decision Transformer: states, actions, returns to go, timesteps, mask; interleaved."""

    def __init__(self, state_dim=17, act_dim=6, hidden_size=48, max_ep_len=1000, n_head=4):
        super().__init__()
        self.hidden_size = hidden_size
        self.embed_timestep = nn.Embedding(max_ep_len, hidden_size)
        self.embed_return = nn.Linear(1, hidden_size)
        self.embed_state = nn.Linear(state_dim, hidden_size)
        self.embed_action = nn.Linear(act_dim, hidden_size)
        self.ln = nn.LayerNorm(hidden_size)
        self.block = nn.TransformerEncoderLayer(hidden_size, n_head, 96, batch_first=True)
        self.predict_action = nn.Sequential(nn.Linear(hidden_size, act_dim), nn.Tanh())
        self.predict_return = nn.Linear(hidden_size, 1)

    def forward(self, states, actions, returns_to_go, timesteps, attention_mask=None):
        b, t = states.shape[0], states.shape[1]
        if attention_mask is None:
            attention_mask = torch.ones((b, t), dtype=torch.long, device=states.device)
        pos = self.embed_timestep(timesteps)
        s, a, r = (
            self.embed_state(states) + pos,
            self.embed_action(actions) + pos,
            self.embed_return(returns_to_go) + pos,
        )
        x = torch.stack((r, s, a), dim=1).permute(0, 2, 1, 3).reshape(b, 3 * t, self.hidden_size)
        pad = torch.stack([attention_mask] * 3, dim=1).permute(0, 2, 1).reshape(b, 3 * t) == 0
        causal = torch.triu(torch.ones(3 * t, 3 * t, dtype=torch.bool, device=x.device), 1)
        x = self.block(self.ln(x), src_mask=causal, src_key_padding_mask=pad)
        x = x.reshape(b, t, 3, self.hidden_size).permute(0, 2, 1, 3)
        return self.predict_action(x[:, 1]), self.predict_return(x[:, 2])


class RecurrentPPO(nn.Module):
    """Actor-critic: observations of a rollout (T, B, …), LSTM state as a tuple, episode starts reset it."""

    def __init__(self, n_stack=4, n_actions=6, hidden=64):
        super().__init__()
        self.hidden = hidden
        self.cnn = nn.Sequential(
            nn.Conv2d(n_stack, 16, 8, 4),
            nn.ReLU(),
            nn.Conv2d(16, 32, 4, 2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * 9 * 9, hidden),
            nn.ReLU(),
        )
        self.lstm = nn.LSTM(hidden, hidden)
        self.actor = nn.Linear(hidden, n_actions)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, obs, lstm_state, done, action=None):
        hidden = self.cnn(obs / 255.0)
        batch_size = lstm_state[0].shape[1]
        hidden = hidden.reshape((-1, batch_size, self.lstm.input_size))
        done = done.reshape((-1, batch_size))
        new_hidden = []
        for step, d in zip(hidden, done):
            h, lstm_state = self.lstm(
                step.unsqueeze(0),
                ((1.0 - d).view(1, -1, 1) * lstm_state[0], (1.0 - d).view(1, -1, 1) * lstm_state[1]),
            )
            new_hidden += [h]
        flat = torch.flatten(torch.cat(new_hidden), 0, 1)
        probs = torch.distributions.Categorical(logits=self.actor(flat))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(flat), lstm_state


class WorldModel(nn.Module):
    """RSSM: embeddings of observations, previous actions, is_first flags, a dict as state."""

    def __init__(self, embed=32, action_dim=4, deter=32, stoch=8, classes=8):
        super().__init__()
        self.deter, self.stoch, self.classes = deter, stoch, classes
        self.inp = nn.Linear(stoch * classes + action_dim, deter)
        self.cell = nn.GRUCell(deter, deter)
        self.prior = nn.Linear(deter, stoch * classes)
        self.post = nn.Linear(deter + embed, stoch * classes)
        self.reward = nn.Linear(deter + stoch * classes, 1)

    def initial(self, batch_size):
        return {
            "deter": torch.zeros(batch_size, self.deter),
            "stoch": torch.zeros(batch_size, self.stoch, self.classes),
        }

    def observe_step(self, state, action, embed, is_first):
        keep = (1.0 - is_first.float()).unsqueeze(-1)
        deter, stoch = state["deter"] * keep, state["stoch"] * keep.unsqueeze(-1)
        x = F.elu(self.inp(torch.cat([stoch.flatten(1), action * keep], -1)))
        deter = self.cell(x, deter)
        prior = self.prior(deter).view(-1, self.stoch, self.classes)
        post = self.post(torch.cat([deter, embed], -1)).view(-1, self.stoch, self.classes)
        return {"deter": deter, "stoch": post.softmax(-1)}, prior, post

    def forward(self, embed, action, is_first, state=None):
        if state is None:
            state = self.initial(embed.shape[0])
        priors, posts, rewards = [], [], []
        for t in range(embed.shape[1]):
            state, prior, post = self.observe_step(state, action[:, t], embed[:, t], is_first[:, t])
            priors.append(prior)
            posts.append(post)
            rewards.append(self.reward(torch.cat([state["deter"], state["stoch"].flatten(1)], -1)))
        return torch.stack(rewards, 1), torch.stack(priors, 1), torch.stack(posts, 1), state


class MediaFusion(nn.Module):
    """Video moments: clips, audio, subtitle tokens, each with a mask of what is present; missing media."""

    def __init__(
        self, dims: dict[str, int] = {"rgb": 128, "audio": 64}, vocab: int = 500, d: int = 48, max_len: int = 64
    ):
        super().__init__()
        self.proj = nn.ModuleDict({k: nn.Linear(v, d) for k, v in dims.items()})
        self.text = nn.Embedding(vocab, d, padding_idx=0)
        self.kind = nn.Embedding(len(dims) + 1, d)
        self.pos = nn.Embedding(max_len, d)
        self.enc = nn.TransformerEncoderLayer(d, 4, 96, batch_first=True)
        self.start, self.end = nn.Linear(d, 1), nn.Linear(d, 1)

    def forward(self, media: dict[str, torch.Tensor], masks: dict[str, torch.Tensor], text_ids: torch.Tensor):
        parts, keeps = [], []
        for i, (name, proj) in enumerate(self.proj.items()):
            x = proj(media[name])
            x = x + self.kind.weight[i] + self.pos.weight[: x.shape[1]]
            parts.append(x)
            keeps.append(masks[name].bool())
        t = self.text(text_ids) + self.kind.weight[-1]
        parts.append(t)
        keeps.append(text_ids != 0)
        x, keep = torch.cat(parts, 1), torch.cat(keeps, 1)
        h = self.enc(x, src_key_padding_mask=~keep)[:, : parts[0].shape[1]]
        return self.start(h).squeeze(-1).masked_fill(~keeps[0], -1e4), self.end(h).squeeze(-1).masked_fill(
            ~keeps[0], -1e4
        )


class NeighbourSampler(nn.Module):
    """PinSAGE in production: features per hop, from the targets outwards, with fan-outs."""

    def __init__(self, in_dim=32, hid=24, fanouts=(5, 3), n_edge_types=4):
        super().__init__()
        self.fanouts = fanouts
        self.self_fc = nn.ModuleList(nn.Linear(in_dim if i == 0 else hid, hid) for i in range(len(fanouts)))
        self.nbr_fc = nn.ModuleList(nn.Linear(in_dim if i == 0 else hid, hid) for i in range(len(fanouts)))
        self.etype = nn.Embedding(n_edge_types, 1)

    def forward(self, hops: list[torch.Tensor], edge_types: list[torch.Tensor]) -> torch.Tensor:
        layers = list(hops)
        for sf, nf in zip(self.self_fc, self.nbr_fc):
            nxt = []
            for i in range(len(layers) - 1):
                fan = self.fanouts[i]
                w = self.etype(edge_types[i]).view(-1, fan, 1).softmax(1)
                nbr = (layers[i + 1].view(-1, fan, layers[i + 1].size(-1)) * w).sum(1)
                nxt.append(F.relu(sf(layers[i]) + nf(nbr)))
            layers = nxt
        return F.normalize(layers[0], dim=-1)


class SequentialTower(nn.Module):
    """DIN in an ad stack: OrderedDict of sparse columns, behaviour sequence with keys length, dense block."""

    def __init__(self, item_num=400, cate_num=50, user_num=300, dim=16, dense_dim=6, max_hist=20):
        super().__init__()
        self.embeds = nn.ModuleDict(
            OrderedDict(
                item_id=nn.Embedding(item_num, dim),
                cate_id=nn.Embedding(cate_num, dim),
                user_id=nn.Embedding(user_num, dim),
            )
        )
        self.att = nn.Sequential(nn.Linear(8 * dim, 32), nn.PReLU(), nn.Linear(32, 1))
        self.dnn = nn.Sequential(nn.Linear(5 * dim + dense_dim, 32), nn.PReLU(), nn.Linear(32, 1))

    def forward(self, x: dict[str, torch.Tensor]):
        user = self.embeds["user_id"](x["user_id"])
        target = torch.cat([self.embeds["item_id"](x["item_id"]), self.embeds["cate_id"](x["cate_id"])], -1)
        hist = torch.cat([self.embeds["item_id"](x["hist_item_id"]), self.embeds["cate_id"](x["hist_cate_id"])], -1)
        t = target.unsqueeze(1).expand_as(hist)
        w = self.att(torch.cat([t, hist, t - hist, t * hist], -1)).squeeze(-1)
        keep = torch.arange(hist.size(1), device=w.device)[None] < x["hist_len"].view(-1, 1)
        w = w.masked_fill(~keep, -(2.0**31)).softmax(-1)
        interest = torch.bmm(w.unsqueeze(1), hist).squeeze(1)
        return torch.sigmoid(self.dnn(torch.cat([user, target, interest, x["dense"]], -1)))


class MAB(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.att = nn.MultiheadAttention(d, heads, batch_first=True)
        self.ff = nn.Linear(d, d)

    def forward(self, q, k, mask=None):
        h = q + self.att(q, k, k, key_padding_mask=mask)[0]
        return h + F.relu(self.ff(h))


class SetPredictor(nn.Module):
    """Jets of particles: four-momenta, one-hot kinds, charges; real particles by count."""

    def __init__(self, n_kinds=8, d=32, heads=4, n_classes=10, seeds=2):
        super().__init__()
        self.inp = nn.Linear(4 + n_kinds + 1, d)
        self.pair = nn.Linear(1, heads)
        self.sab = MAB(d, heads)
        self.S = nn.Parameter(torch.randn(1, seeds, d))
        self.pma = MAB(d, heads)
        self.fc = nn.Linear(seeds * d, n_classes)

    def forward(self, p4, pid, charge, n_particles):
        e, px, py, pz = p4.unbind(-1)
        pt = torch.sqrt(px**2 + py**2 + 1e-8)
        eta = torch.asinh(pz / pt)
        phi = torch.atan2(py, px)
        x = torch.stack([pt.log(), eta, phi, e.abs().log1p()], -1)
        x = self.inp(torch.cat([x, F.one_hot(pid, self.inp.in_features - 5).float(), charge.unsqueeze(-1)], -1))
        pad = torch.arange(p4.size(1), device=p4.device)[None] >= n_particles[:, None]
        x = self.sab(x, x, pad)
        return self.fc(self.pma(self.S.expand(x.size(0), -1, -1), x, pad).flatten(1))
