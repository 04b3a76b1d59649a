"""Hard: code of papers of several fields.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

__all__ = [
    "AttentiveNeuralProcess",
    "CoAttentionReader",
    "CrystalGraphNet",
    "DecisionTransformer",
    "FourierOperator",
    "HyperNetPolicy",
    "KnowledgeGraphScorer",
    "LatentDiffusionBlock",
    "MultiAgentMixer",
    "PointerGenerator",
    "RadianceField",
    "SceneFlow",
    "SpeakerVerifier",
    "StateSpaceForecaster",
    "Tacotron",
    "TreeLSTM",
]


class MLP(nn.Module):
    def __init__(self, sizes, activation=nn.ReLU, out_activation=None):
        super().__init__()
        layers = []
        for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:], strict=False)):
            layers.append(nn.Linear(a, b))
            if i < len(sizes) - 2:
                layers.append(activation())
            elif out_activation is not None:
                layers.append(out_activation())
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


class AttentiveNeuralProcess(nn.Module):
    def __init__(self, x_dim, y_dim, r_dim, z_dim, num_heads=2):
        super().__init__()
        self.encoder = MLP([x_dim + y_dim, r_dim, r_dim])
        self.latent = nn.Linear(r_dim, 2 * z_dim)
        self.key = nn.Linear(x_dim, r_dim)
        self.attn = nn.MultiheadAttention(r_dim, num_heads, batch_first=True)
        self.decoder = MLP([x_dim + r_dim + z_dim, r_dim, 2 * y_dim])

    def forward(self, context_x, context_y, target_x):
        r = self.encoder(torch.cat([context_x, context_y], -1))
        mu, log_sigma = self.latent(r.mean(1)).chunk(2, -1)
        z = mu + log_sigma.exp() * torch.randn_like(mu)
        det, _ = self.attn(self.key(target_x), self.key(context_x), r)
        n = target_x.size(1)
        out = self.decoder(torch.cat([target_x, det, z[:, None].expand(-1, n, -1)], -1))
        mean, std = out.chunk(2, -1)
        return torch.distributions.Normal(mean, 0.1 + 0.9 * F.softplus(std)).mean, mu


class CoAttentionReader(nn.Module):
    def __init__(self, word_mat, char_mat, config):
        super().__init__()
        self.word_emb = nn.Embedding.from_pretrained(torch.as_tensor(word_mat), freeze=True)
        self.char_emb = nn.Embedding.from_pretrained(torch.as_tensor(char_mat), freeze=False)
        wemb, cemb, d = self.word_emb.embedding_dim, self.char_emb.embedding_dim, config.d_model
        self.conv = nn.Conv1d(cemb, d, 3, padding=1)
        self.proj = nn.Linear(wemb + d, d)
        self.w = nn.Parameter(torch.empty(3 * d).uniform_(-0.1, 0.1))
        self.out = nn.Linear(4 * d, 2)

    def embed(self, w, c):
        b, n, k = c.shape
        ch = self.conv(self.char_emb(c).view(b * n, k, -1).transpose(1, 2)).amax(-1).view(b, n, -1)
        return self.proj(torch.cat([self.word_emb(w), ch], -1))

    def forward(self, Cwid, Ccid, Qwid, Qcid):
        mask = (torch.ones_like(Cwid) * 0 != Cwid).float()
        C, Q = self.embed(Cwid, Ccid), self.embed(Qwid, Qcid)
        wc, wq, wm = self.w.chunk(3)
        S = (C @ wc).unsqueeze(2) + (Q @ wq).unsqueeze(1) + (C * wm) @ Q.transpose(1, 2)
        A = S.softmax(2) @ Q
        B = S.softmax(2) @ S.softmax(1).transpose(1, 2) @ C
        start, end = self.out(torch.cat([C, A, C * A, C * B], -1)).unbind(-1)
        return start.masked_fill(mask == 0, -1e30), end.masked_fill(mask == 0, -1e30)


class CrystalConv(nn.Module):
    def __init__(self, atom_fea_len, nbr_fea_len):
        super().__init__()
        self.atom_fea_len = atom_fea_len
        self.fc_full = nn.Linear(2 * atom_fea_len + nbr_fea_len, 2 * atom_fea_len)
        self.bn = nn.BatchNorm1d(2 * atom_fea_len)

    def forward(self, atom_in_fea, nbr_fea, nbr_fea_idx):
        N, M = nbr_fea_idx.shape
        atom_nbr_fea = atom_in_fea[nbr_fea_idx, :]
        total = torch.cat([atom_in_fea.unsqueeze(1).expand(N, M, self.atom_fea_len), atom_nbr_fea, nbr_fea], dim=2)
        gated = self.bn(self.fc_full(total).view(-1, self.atom_fea_len * 2)).view(N, M, -1)
        f, core = gated.chunk(2, dim=2)
        return F.softplus(atom_in_fea + (f.sigmoid() * F.softplus(core)).sum(1))


class CrystalGraphNet(nn.Module):
    def __init__(self, orig_atom_fea_len, nbr_fea_len, atom_fea_len=64, n_conv=3, h_fea_len=128, n_h=1):
        super().__init__()
        self.embedding = nn.Linear(orig_atom_fea_len, atom_fea_len)
        self.convs = nn.ModuleList([CrystalConv(atom_fea_len, nbr_fea_len) for _ in range(n_conv)])
        self.conv_to_fc = nn.Linear(atom_fea_len, h_fea_len)
        self.fc_out = nn.Linear(h_fea_len, 1)

    def pooling(self, atom_fea, crystal_atom_idx):
        assert sum(len(idx) for idx in crystal_atom_idx) == atom_fea.shape[0]
        return torch.cat([torch.mean(atom_fea[idx], dim=0, keepdim=True) for idx in crystal_atom_idx], dim=0)

    def forward(self, atom_fea, nbr_fea, nbr_fea_idx, crystal_atom_idx):
        atom_fea = self.embedding(atom_fea)
        for conv in self.convs:
            atom_fea = conv(atom_fea, nbr_fea, nbr_fea_idx)
        crys = self.pooling(atom_fea, crystal_atom_idx)
        return self.fc_out(F.softplus(self.conv_to_fc(F.softplus(crys))))


class DecisionTransformer(nn.Module):
    def __init__(self, state_dim, act_dim, hidden_size, max_length=None, max_ep_len=1000, action_tanh=True, **kwargs):
        super().__init__()
        self.state_dim, self.act_dim, self.hidden_size = state_dim, act_dim, hidden_size
        layer = nn.TransformerEncoderLayer(hidden_size, kwargs.get("n_head", 1), 4 * hidden_size, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, kwargs.get("n_layer", 2), enable_nested_tensor=False)
        self.embed_timestep = nn.Embedding(max_ep_len, hidden_size)
        self.embed_return = nn.Linear(1, hidden_size)
        self.embed_state = nn.Linear(state_dim, hidden_size)
        self.embed_action = nn.Linear(act_dim, hidden_size)
        self.embed_ln = nn.LayerNorm(hidden_size)
        self.predict_action = nn.Sequential(nn.Linear(hidden_size, act_dim), *([nn.Tanh()] if action_tanh else []))

    def forward(self, states, actions, returns_to_go, timesteps, attention_mask=None):
        batch_size, seq_length = states.shape[0], states.shape[1]
        if attention_mask is None:
            attention_mask = torch.ones((batch_size, seq_length), dtype=torch.long, device=states.device)
        time = self.embed_timestep(timesteps)
        tokens = [self.embed_return(returns_to_go), self.embed_state(states), self.embed_action(actions)]
        stacked = torch.stack([t + time for t in tokens], dim=1).permute(0, 2, 1, 3)
        stacked = self.embed_ln(stacked.reshape(batch_size, 3 * seq_length, self.hidden_size))
        pad = attention_mask.repeat_interleave(3, dim=1) == 0
        x = self.transformer(stacked, src_key_padding_mask=pad)
        return self.predict_action(x.reshape(batch_size, seq_length, 3, self.hidden_size)[:, :, 1])


class SpectralConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, modes1, modes2):
        super().__init__()
        self.modes1, self.modes2, self.out_channels = modes1, modes2, out_channels
        scale = 1 / (in_channels * out_channels)
        self.weights = nn.Parameter(scale * torch.rand(in_channels, out_channels, modes1, modes2, dtype=torch.cfloat))

    def forward(self, x):
        x_ft = torch.fft.rfft2(x)
        out_ft = torch.zeros(
            x.size(0), self.out_channels, x.size(-2), x.size(-1) // 2 + 1, dtype=torch.cfloat, device=x.device
        )
        out_ft[:, :, : self.modes1, : self.modes2] = torch.einsum(
            "bixy,ioxy->boxy", x_ft[:, :, : self.modes1, : self.modes2], self.weights
        )
        return torch.fft.irfft2(out_ft, s=(x.size(-2), x.size(-1)))


class FourierOperator(nn.Module):
    def __init__(self, modes1, modes2, width, in_steps, layers=3):
        super().__init__()
        self.p = nn.Linear(in_steps + 2, width)
        self.convs = nn.ModuleList([SpectralConv2d(width, width, modes1, modes2) for _ in range(layers)])
        self.ws = nn.ModuleList([nn.Conv2d(width, width, 1) for _ in range(layers)])
        self.q = nn.Linear(width, 1)

    def get_grid(self, shape, device):
        batchsize, size_x, size_y = shape[0], shape[1], shape[2]
        gridx = torch.linspace(0, 1, size_x).reshape(1, size_x, 1, 1).repeat([batchsize, 1, size_y, 1])
        gridy = torch.linspace(0, 1, size_y).reshape(1, 1, size_y, 1).repeat([batchsize, size_x, 1, 1])
        return torch.cat((gridx, gridy), dim=-1).to(device)

    def forward(self, x):
        grid = self.get_grid(x.shape, x.device)
        x = self.p(torch.cat((x, grid), dim=-1)).permute(0, 3, 1, 2)
        for conv, w in zip(self.convs, self.ws, strict=False):
            x = F.gelu(conv(x) + w(x))
        return self.q(x.permute(0, 2, 3, 1))


class HyperNetPolicy(nn.Module):
    def __init__(self, env_spec, context_dim, layer_sizes, nonlinearity: Callable = torch.tanh):
        super().__init__()
        self.sizes = [env_spec.observation_space.shape[0], *layer_sizes, env_spec.action_space.shape[0]]
        self.nonlinearity = nonlinearity
        total = sum(a * b + b for a, b in zip(self.sizes, self.sizes[1:], strict=False))
        self.hyper = nn.Sequential(nn.Linear(context_dim, 64), nn.ReLU(), nn.Linear(64, total))

    def forward(self, obs, context):
        theta, at, x = self.hyper(context), 0, obs.unsqueeze(1)
        for i, (a, b) in enumerate(zip(self.sizes, self.sizes[1:], strict=False)):
            w = theta[:, at : at + a * b].view(-1, a, b)
            bias = theta[:, at + a * b : at + a * b + b].unsqueeze(1)
            at += a * b + b
            x = torch.baddbmm(bias, x, w)
            if i < len(self.sizes) - 2:
                x = self.nonlinearity(x)
        return x.squeeze(1)


class KnowledgeGraphScorer(nn.Module):
    def __init__(self, nentity, nrelation, hidden_dim, gamma, model_name="RotatE"):
        super().__init__()
        if model_name not in ("TransE", "DistMult", "RotatE"):
            raise ValueError(f"model {model_name} not supported")
        self.model_name, self.gamma = model_name, gamma
        self.embedding_range = (gamma + 2.0) / hidden_dim
        factor = 2 if model_name == "RotatE" else 1
        self.entity_embedding = nn.Parameter(torch.zeros(nentity, hidden_dim * factor))
        self.relation_embedding = nn.Parameter(torch.zeros(nrelation, hidden_dim))

    def forward(self, sample, mode="single"):
        if mode == "single":
            head = torch.index_select(self.entity_embedding, 0, sample[:, 0]).unsqueeze(1)
            relation = torch.index_select(self.relation_embedding, 0, sample[:, 1]).unsqueeze(1)
            tail = torch.index_select(self.entity_embedding, 0, sample[:, 2]).unsqueeze(1)
        elif mode == "tail-batch":
            head_part, tail_part = sample
            head = self.entity_embedding[head_part[:, 0]].unsqueeze(1)
            relation = self.relation_embedding[head_part[:, 1]].unsqueeze(1)
            tail = self.entity_embedding[tail_part]
        else:
            raise ValueError(f"mode {mode} not supported")
        re_h, im_h = head.chunk(2, -1)
        re_t, im_t = tail.chunk(2, -1)
        phase = relation / (self.embedding_range / math.pi)
        re, im = re_h * phase.cos() - im_h * phase.sin() - re_t, re_h * phase.sin() + im_h * phase.cos() - im_t
        return self.gamma - torch.stack([re, im]).norm(dim=0).sum(-1)


class CrossAttention(nn.Module):
    def __init__(self, query_dim, context_dim=None, heads=8, dim_head=64):
        super().__init__()
        inner = heads * dim_head
        self.heads = heads
        self.to_q = nn.Linear(query_dim, inner, bias=False)
        self.to_k = nn.Linear(context_dim or query_dim, inner, bias=False)
        self.to_v = nn.Linear(context_dim or query_dim, inner, bias=False)
        self.to_out = nn.Linear(inner, query_dim)

    def forward(self, x, context=None):
        context = x if context is None else context
        q, k, v = (
            t.view(t.size(0), -1, self.heads, t.size(-1) // self.heads).transpose(1, 2)
            for t in (self.to_q(x), self.to_k(context), self.to_v(context))
        )
        out = F.scaled_dot_product_attention(q, k, v)
        return self.to_out(out.transpose(1, 2).flatten(2))


class LatentDiffusionBlock(nn.Module):
    def __init__(self, channels, emb_channels, context_dim, n_heads, d_head):
        super().__init__()
        self.emb_channels = emb_channels
        self.in_layers = nn.Sequential(
            nn.GroupNorm(32, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1)
        )
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb_channels, channels))
        self.norm = nn.GroupNorm(32, channels)
        self.attn1 = CrossAttention(channels, None, n_heads, d_head)
        self.attn2 = CrossAttention(channels, context_dim, n_heads, d_head)

    def timestep_embedding(self, timesteps, max_period=10000):
        half = self.emb_channels // 2
        freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32) / half).to(timesteps.device)
        args = timesteps[:, None].float() * freqs[None]
        return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)

    def forward(self, x, timesteps, context):
        h = self.in_layers(x) + self.emb_layers(self.timestep_embedding(timesteps))[:, :, None, None]
        b, c, height, width = h.shape
        tokens = self.norm(h).view(b, c, height * width).transpose(1, 2)
        tokens = tokens + self.attn1(tokens)
        tokens = tokens + self.attn2(tokens, context)
        return x + tokens.transpose(1, 2).reshape(b, c, height, width)


class MultiAgentMixer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.n_agents = args.n_agents
        self.state_dim = int(torch.tensor(args.state_shape).prod())
        self.embed_dim = args.mixing_embed_dim
        if getattr(args, "hypernet_layers", 1) == 1:
            self.hyper_w_1 = nn.Linear(self.state_dim, self.embed_dim * self.n_agents)
        else:
            self.hyper_w_1 = MLP([self.state_dim, args.hypernet_embed, self.embed_dim * self.n_agents])
        self.hyper_w_final = nn.Linear(self.state_dim, self.embed_dim)
        self.hyper_b_1 = nn.Linear(self.state_dim, self.embed_dim)
        self.V = nn.Sequential(nn.Linear(self.state_dim, self.embed_dim), nn.ReLU(), nn.Linear(self.embed_dim, 1))

    def forward(self, agent_qs, states):
        bs = agent_qs.size(0)
        states = states.reshape(-1, self.state_dim)
        agent_qs = agent_qs.view(-1, 1, self.n_agents)
        w1 = torch.abs(self.hyper_w_1(states)).view(-1, self.n_agents, self.embed_dim)
        hidden = F.elu(torch.bmm(agent_qs, w1) + self.hyper_b_1(states).view(-1, 1, self.embed_dim))
        y = torch.bmm(hidden, torch.abs(self.hyper_w_final(states)).view(-1, self.embed_dim, 1))
        return (y + self.V(states).view(-1, 1, 1)).view(bs, -1, 1)


class PointerGenerator(nn.Module):
    def __init__(self, params):
        super().__init__()
        self.vocab_size = params["vocab_size"]
        self.emb = nn.Embedding(params["vocab_size"], params["embedding_size"])
        self.enc = nn.LSTM(params["embedding_size"], params["hidden_size"], batch_first=True)
        self.dec = nn.LSTMCell(params["embedding_size"], params["hidden_size"])
        self.w = nn.Linear(2 * params["hidden_size"], 1)
        self.p_gen = nn.Linear(params["hidden_size"] + params["embedding_size"], 1)
        self.out = nn.Linear(2 * params["hidden_size"], params["vocab_size"])

    def forward(self, source, source_ext, target, max_oov):
        memory, (h, c) = self.enc(self.emb(source))
        h, c, logits = h[0], c[0], []
        for t in range(target.size(1)):
            y = self.emb(target[:, t])
            h, c = self.dec(y, (h, c))
            score = self.w(torch.cat([memory, h.unsqueeze(1).expand(-1, memory.size(1), -1)], -1)).squeeze(-1)
            attn = score.softmax(-1)
            context = (attn.unsqueeze(-1) * memory).sum(1)
            p = torch.sigmoid(self.p_gen(torch.cat([h, y], -1)))
            vocab = p * self.out(torch.cat([h, context], -1)).softmax(-1)
            extended = F.pad(vocab, (0, max_oov))
            logits.append(extended.scatter_add(1, source_ext, (1 - p) * attn))
        return torch.stack(logits, 1)


class RadianceField(nn.Module):
    def __init__(self, D=4, W=64, input_ch=3, input_ch_views=3, skips=(2,), multires=4, use_viewdirs=True):
        super().__init__()
        self.skips, self.multires, self.use_viewdirs = skips, multires, use_viewdirs
        e, v = input_ch * (1 + 2 * multires), input_ch_views
        self.pts = nn.ModuleList([nn.Linear(e, W)] + [nn.Linear(W + (e if i in skips else 0), W) for i in range(D - 1)])
        self.alpha = nn.Linear(W, 1)
        self.feature, self.view, self.rgb = nn.Linear(W, W), nn.Linear(W + v, W // 2), nn.Linear(W // 2, 3)

    def encode(self, x):
        out = [x]
        for i in range(self.multires):
            out += [torch.sin(2.0**i * x), torch.cos(2.0**i * x)]
        return torch.cat(out, -1)

    def forward(self, rays_o, rays_d, z_vals):
        pts = rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None]
        e = self.encode(pts)
        h = e
        for i, layer in enumerate(self.pts):
            h = F.relu(layer(h))
            if i in self.skips:
                h = torch.cat([e, h], -1)
        sigma = F.relu(self.alpha(h))[..., 0]
        dirs = F.normalize(rays_d, dim=-1)[..., None, :].expand(pts.shape)
        rgb = self.rgb(F.relu(self.view(torch.cat([self.feature(h), dirs], -1)))).sigmoid()
        delta = torch.cat([z_vals[..., 1:] - z_vals[..., :-1], torch.full_like(z_vals[..., :1], 1e10)], -1)
        alpha = 1.0 - torch.exp(-sigma * delta)
        trans = torch.cumprod(torch.cat([torch.ones_like(alpha[..., :1]), 1.0 - alpha + 1e-10], -1), -1)[..., :-1]
        return ((alpha * trans)[..., None] * rgb).sum(-2)


class SceneFlow(nn.Module):
    def __init__(self, npoint, nsample, feat_dim):
        super().__init__()
        self.npoint, self.nsample = npoint, nsample
        self.point = nn.Sequential(nn.Conv1d(feat_dim + 3, 32, 1), nn.BatchNorm1d(32), nn.ReLU())
        self.cost = nn.Sequential(nn.Conv2d(32 + 32 + 3, 32, 1), nn.ReLU())
        self.flow = nn.Conv1d(32, 3, 1)

    def group(self, query, ref, feats):
        dist = torch.cdist(query.transpose(1, 2), ref.transpose(1, 2))
        idx = dist.topk(self.nsample, dim=-1, largest=False)[1]
        b = torch.arange(idx.size(0), device=idx.device)[:, None, None]
        return ref.transpose(1, 2)[b, idx], feats.transpose(1, 2)[b, idx]

    def forward(self, pc1, pc2, feature1, feature2):
        f1, f2 = self.point(torch.cat([pc1, feature1], 1)), self.point(torch.cat([pc2, feature2], 1))
        xyz, near = self.group(pc1[:, :, : self.npoint], pc2, f2)
        rel = xyz - pc1[:, :, : self.npoint].transpose(1, 2).unsqueeze(2)
        own = f1[:, :, : self.npoint].transpose(1, 2).unsqueeze(2).expand_as(near)
        cost = self.cost(torch.cat([own, near, rel], -1).permute(0, 3, 1, 2)).amax(-1)
        return self.flow(cost)


class SpeakerVerifier(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.hp = hparams
        self.lstm = nn.LSTM(
            hparams.mel_n_channels, hparams.model_hidden_size, hparams.model_num_layers, batch_first=True
        )
        self.linear = nn.Linear(hparams.model_hidden_size, hparams.model_embedding_size)

    def forward(self, utterances, lengths, speakers_per_batch):
        packed = pack_padded_sequence(utterances, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        embeds = F.normalize(F.relu(self.linear(hidden[-1])), dim=1)
        embeds = embeds.view(speakers_per_batch, -1, embeds.size(-1))
        centroids = F.normalize(embeds.mean(1), dim=1)
        return torch.einsum("sud,cd->suc", embeds, centroids)


class Forecast(NamedTuple):
    loc: torch.Tensor
    scale: torch.Tensor


class StateSpaceForecaster(nn.Module):
    def __init__(
        self, cardinality, embedding_dimension, freq_lags, num_feat_dynamic_real, context_length, num_cells=40
    ):
        super().__init__()
        self.lags_seq, self.context_length = freq_lags, context_length
        self.embed = nn.ModuleList([nn.Embedding(c, d) for c, d in zip(cardinality, embedding_dimension, strict=False)])
        width = len(freq_lags) + num_feat_dynamic_real + sum(embedding_dimension)
        self.rnn = nn.LSTM(width, num_cells, batch_first=True)
        self.proj = nn.Linear(num_cells, 2)

    def forward(self, feat_static_cat, past_time_feat, past_target, past_observed_values) -> Forecast:
        scale = (past_target.abs() * past_observed_values).mean(1, keepdim=True).clamp(min=1e-3)
        target = past_target / scale
        n = self.context_length
        lagged = torch.stack(
            [target[:, target.size(1) - n - lag : target.size(1) - lag] for lag in self.lags_seq], dim=-1
        )
        static = torch.cat([e(feat_static_cat[:, i]) for i, e in enumerate(self.embed)], -1)
        x = torch.cat([lagged, past_time_feat[:, -n:], static.unsqueeze(1).expand(-1, n, -1)], -1)
        loc, s = self.proj(self.rnn(x)[0]).chunk(2, -1)
        return Forecast(loc.squeeze(-1) * scale, F.softplus(s).squeeze(-1) * scale)


class Tacotron(nn.Module):
    def __init__(self, num_chars, num_mels, r, prenet_dims=(64, 32), encoder_dim=64):
        super().__init__()
        self.r, self.num_mels = r, num_mels
        self.embedding = nn.Embedding(num_chars, encoder_dim, padding_idx=0)
        self.encoder = nn.GRU(encoder_dim, encoder_dim // 2, batch_first=True, bidirectional=True)
        self.prenet = MLP([num_mels, *prenet_dims])
        self.cell = nn.GRUCell(prenet_dims[-1] + encoder_dim, encoder_dim)
        self.attn = nn.Linear(encoder_dim, encoder_dim)
        self.out = nn.Linear(2 * encoder_dim, num_mels * r)
        self.stop = nn.Linear(2 * encoder_dim, 1)

    def forward(self, text, text_lengths, mel_specs):
        memory, _ = self.encoder(self.embedding(text))
        steps = torch.arange(text.size(1), device=text.device)
        mask = steps[None] >= text_lengths[:, None]
        h, ctx, outs, stops = memory[:, 0], memory[:, 0], [], []
        for t in range(0, mel_specs.size(1), self.r):
            x = self.prenet(mel_specs[:, t])
            h = self.cell(torch.cat([x, ctx], -1), h)
            score = torch.bmm(memory, self.attn(h).unsqueeze(-1)).squeeze(-1).masked_fill(mask, float("-inf"))
            ctx = torch.bmm(score.softmax(-1).unsqueeze(1), memory).squeeze(1)
            both = torch.cat([h, ctx], -1)
            outs.append(self.out(both).view(-1, self.r, self.num_mels))
            stops.append(self.stop(both))
        return torch.cat(outs, 1), torch.cat(stops, 1)


class TreeLSTM(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.out_features = out_features
        self.W_iou = nn.Linear(in_features, 3 * out_features)
        self.U_iou = nn.Linear(out_features, 3 * out_features, bias=False)
        self.W_f, self.U_f = nn.Linear(in_features, out_features), nn.Linear(out_features, out_features, bias=False)

    def forward(self, features, node_order, adjacency_list, edge_order):
        n = node_order.shape[0]
        h = torch.zeros(n, self.out_features, device=features.device)
        c = torch.zeros(n, self.out_features, device=features.device)
        for step in range(int(node_order.max()) + 1):
            node_mask, edge_mask = node_order == step, edge_order == step
            x = features[node_mask]
            iou = self.W_iou(x)
            if step > 0:
                edges = adjacency_list[edge_mask]
                parents, children = edges[:, 0], edges[:, 1]
                h_sum = torch.zeros_like(h).index_add(0, parents, h[children])
                f = torch.sigmoid(self.W_f(features[parents]) + self.U_f(h[children]))
                fc = torch.zeros_like(c).index_add(0, parents, f * c[children])[node_mask]
                iou = iou + self.U_iou(h_sum[node_mask])
            i, o, u = iou.chunk(3, dim=1)
            new = i.sigmoid() * u.tanh() + (fc if step > 0 else 0)
            c = c.masked_scatter(node_mask[:, None], new)
            h = h.masked_scatter(node_mask[:, None], o.sigmoid() * new.tanh())
        return h
