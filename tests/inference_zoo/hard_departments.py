"""Hard models of several fields, first half.

Long because it is a list of models.
"""

import math
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "ColumnMMoE",
    "DeepHedger",
    "EnergyPaiNN",
    "FleetRouter",
    "FusionForecaster",
    "HashRadiance",
    "LiftToBEV",
    "PenSynthesis",
    "RecurrentFlow",
    "SpanCoref",
    "VoiceFilterTCN",
]


# ---------------------------------------------------------------- molecules


class _PaiNNBlock(nn.Module):
    def __init__(self, F_dim, n_rbf):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(F_dim, F_dim), nn.SiLU(), nn.Linear(F_dim, 3 * F_dim))
        self.filt = nn.Linear(n_rbf, 3 * F_dim)
        self.U = nn.Linear(F_dim, F_dim, bias=False)
        self.V = nn.Linear(F_dim, F_dim, bias=False)
        self.a = nn.Sequential(nn.Linear(2 * F_dim, F_dim), nn.SiLU(), nn.Linear(F_dim, 3 * F_dim))

    def forward(self, s, v, idx_i, idx_j, rbf, fcut, unit):
        x = self.phi(s)[idx_j] * (self.filt(rbf) * fcut[:, None])
        ds, dvv, dvr = x.chunk(3, dim=-1)
        s = s.index_add(0, idx_i, ds)
        v = v.index_add(0, idx_i, v[idx_j] * dvv[:, None] + unit[..., None] * dvr[:, None])
        Uv, Vv = self.U(v), self.V(v)
        avv, asv, ass = self.a(torch.cat([s, (Vv**2).sum(1).add(1e-8).sqrt()], -1)).chunk(3, dim=-1)
        return s + ass + asv * (Uv * Vv).sum(1), v + avv[:, None] * Uv


class EnergyPaiNN(nn.Module):
    def __init__(self, n_atom_basis, n_interactions, n_rbf, cutoff, max_z, atomref=None):
        super().__init__()
        self.embedding = nn.Embedding(max_z, n_atom_basis, padding_idx=0)
        self.blocks = nn.ModuleList([_PaiNNBlock(n_atom_basis, n_rbf) for _ in range(n_interactions)])
        self.register_buffer("freqs", torch.arange(1, n_rbf + 1) * math.pi / cutoff)
        self.cutoff = cutoff
        self.readout = nn.Sequential(
            nn.Linear(n_atom_basis, n_atom_basis // 2), nn.SiLU(), nn.Linear(n_atom_basis // 2, 1)
        )
        self.atomref = None if atomref is None else nn.Embedding.from_pretrained(atomref)

    def forward(self, data):
        idx_i, idx_j = data.edge_index
        rij = data.pos[idx_j] - data.pos[idx_i]
        dij = rij.norm(dim=-1).clamp(min=1e-3)
        unit = rij / dij[:, None]
        rbf = torch.sin(dij[:, None] * self.freqs) / dij[:, None]
        fcut = 0.5 * (torch.cos(dij * math.pi / self.cutoff) + 1.0) * (dij < self.cutoff)

        s = self.embedding(data.z)
        v = s.new_zeros(s.size(0), 3, s.size(1))
        for block in self.blocks:
            s, v = block(s, v, idx_i, idx_j, rbf, fcut, unit)

        e = self.readout(s)
        if self.atomref is not None:
            e = e + self.atomref(data.z)
        n_mol = int(data.batch.max()) + 1
        return e.new_zeros(n_mol, 1).index_add(0, data.batch, e).squeeze(-1)


# ---------------------------------------------------------------- neural field with per-image appearance


class HashRadiance(nn.Module):
    PRIMES = (1, 2654435761, 805459861)

    def __init__(self, n_levels, feat_per_level, log2_T, base_res, max_res, bound, N_vocab, N_a=8, n_samples=24):
        super().__init__()
        self.T = 2**log2_T
        self.bound, self.n_samples = bound, n_samples
        b = math.exp((math.log(max_res) - math.log(base_res)) / max(n_levels - 1, 1))
        self.resolutions = [int(base_res * b**i) for i in range(n_levels)]
        self.tables = nn.Parameter(torch.empty(n_levels, self.T, feat_per_level).uniform_(-0.1, 0.1))
        self.embedding_a = nn.Embedding(N_vocab, N_a)
        self.sigma_net = nn.Sequential(nn.Linear(n_levels * feat_per_level, 64), nn.ReLU(), nn.Linear(64, 16))
        self.rgb_net = nn.Sequential(nn.Linear(15 + 3 + N_a, 64), nn.ReLU(), nn.Linear(64, 3), nn.Sigmoid())
        offs = [[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
        self.register_buffer("corners", torch.tensor(offs))

    def encode(self, xyz):
        x = ((xyz / self.bound).clamp(-1, 1) + 1) / 2
        out = []
        for table, res in zip(self.tables, self.resolutions):
            scaled = x * res
            low = scaled.floor()
            w = (scaled - low)[:, None]
            c = low.long()[:, None] + self.corners
            h = c[..., 0] * self.PRIMES[0] ^ c[..., 1] * self.PRIMES[1] ^ c[..., 2] * self.PRIMES[2]
            weight = torch.where(self.corners.bool(), w, 1 - w).prod(-1, keepdim=True)
            out.append((table[h % self.T] * weight).sum(1))
        return torch.cat(out, -1)

    def forward(self, rays, ts):
        rays_o, rays_d = rays[:, 0:3], rays[:, 3:6]
        near, far = rays[:, 6:7], rays[:, 7:8]
        N_rays = rays.shape[0]
        z_steps = torch.linspace(0, 1, self.n_samples, device=rays.device)
        z_vals = near * (1 - z_steps) + far * z_steps
        xyz = rays_o[:, None] + rays_d[:, None] * z_vals[..., None]
        h = self.sigma_net(self.encode(xyz.reshape(-1, 3))).view(N_rays, self.n_samples, 16)
        dirs = F.normalize(rays_d, dim=-1)[:, None].expand(-1, self.n_samples, -1)
        a = self.embedding_a(ts)[:, None].expand(-1, self.n_samples, -1)
        rgb = self.rgb_net(torch.cat([h[..., 1:], dirs, a], -1))
        sigma = F.softplus(h[..., 0])
        deltas = torch.cat([z_vals[:, 1:] - z_vals[:, :-1], torch.full_like(z_vals[:, :1], 1e2)], -1).abs()
        alphas = 1 - torch.exp(-deltas * sigma)
        trans = torch.cumprod(torch.cat([torch.ones_like(alphas[:, :1]), 1 - alphas + 1e-10], -1), -1)[:, :-1]
        weights = alphas * trans
        return {
            "rgb": (weights[..., None] * rgb).sum(1),
            "depth": (weights * z_vals).sum(1),
            "opacity": weights.sum(1),
        }


# ---------------------------------------------------------------- optical flow


def _bilinear(img, coords):
    H, W = img.shape[-2:]
    x, y = coords.split([1, 1], dim=-1)
    x = 2 * x / max(W - 1, 1) - 1
    y = 2 * y / max(H - 1, 1) - 1
    return F.grid_sample(img, torch.cat([x, y], dim=-1), align_corners=True)


class _ConvGRU(nn.Module):
    def __init__(self, hidden, inp):
        super().__init__()
        self.convz = nn.Conv2d(hidden + inp, hidden, 3, padding=1)
        self.convr = nn.Conv2d(hidden + inp, hidden, 3, padding=1)
        self.convq = nn.Conv2d(hidden + inp, hidden, 3, padding=1)

    def forward(self, h, x):
        hx = torch.cat([h, x], 1)
        z, r = torch.sigmoid(self.convz(hx)), torch.sigmoid(self.convr(hx))
        q = torch.tanh(self.convq(torch.cat([r * h, x], 1)))
        return (1 - z) * h + z * q


class RecurrentFlow(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.hdim = hdim = args.hidden_dim
        self.cdim = cdim = args.context_dim
        self.fnet = self._encoder(args.feature_dim, "instance")
        self.cnet = self._encoder(hdim + cdim, "none")
        planes = args.corr_levels * (2 * args.corr_radius + 1) ** 2
        self.motion = nn.Sequential(nn.Conv2d(planes + 2, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 62, 3, padding=1))
        self.gru = _ConvGRU(hdim, cdim + 64)
        self.flow_head = nn.Sequential(
            nn.Conv2d(hdim, 64, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(64, 2, 3, padding=1)
        )

    @staticmethod
    def _encoder(out, norm_fn):
        mods, prev = [], 3
        for w in (32, 48, 64):
            mods.append(nn.Conv2d(prev, w, 3, stride=2, padding=1))
            if norm_fn == "instance":
                mods.append(nn.InstanceNorm2d(w))
            mods.append(nn.ReLU(inplace=True))
            prev = w
        return nn.Sequential(*mods, nn.Conv2d(prev, out, 1))

    def lookup(self, pyramid, coords):
        r = self.args.corr_radius
        b, _, h, w = coords.shape
        d = torch.linspace(-r, r, 2 * r + 1, device=coords.device)
        delta = torch.stack(torch.meshgrid(d, d, indexing="ij"), dim=-1)
        centre = coords.permute(0, 2, 3, 1).reshape(b * h * w, 1, 1, 2)
        outs = [_bilinear(c, centre / 2**i + delta).view(b, h, w, -1) for i, c in enumerate(pyramid)]
        return torch.cat(outs, dim=-1).permute(0, 3, 1, 2)

    def forward(self, image1, image2, iters=3, flow_init=None):
        image1 = 2 * (image1 / 255.0) - 1.0
        image2 = 2 * (image2 / 255.0) - 1.0
        fmap1, fmap2 = self.fnet(torch.cat([image1, image2], 0)).chunk(2, 0)
        b, dim, h, w = fmap1.shape
        corr = torch.einsum("bcn,bcm->bnm", fmap1.flatten(2), fmap2.flatten(2)) / dim**0.5
        pyramid = [corr.reshape(b * h * w, 1, h, w)]
        for _ in range(self.args.corr_levels - 1):
            pyramid.append(F.avg_pool2d(pyramid[-1], 2, stride=2))
        net, inp = torch.split(self.cnet(image1), [self.hdim, self.cdim], dim=1)
        net, inp = torch.tanh(net), torch.relu(inp)

        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        coords0 = torch.stack([xs, ys]).float().to(fmap1)[None].repeat(b, 1, 1, 1)
        coords1 = coords0 if flow_init is None else coords0 + flow_init
        predictions = []
        for _ in range(iters):
            coords1 = coords1.detach()
            flow = coords1 - coords0
            mot = F.relu(self.motion(torch.cat([self.lookup(pyramid, coords1), flow], 1)))
            net = self.gru(net, torch.cat([inp, mot, flow], 1))
            coords1 = coords1 + self.flow_head(net)
            predictions.append(8 * F.interpolate(coords1 - coords0, scale_factor=8, mode="bilinear"))
        return predictions


# ---------------------------------------------------------------- coreference


def _ffnn(i, h, o, p):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Dropout(p), nn.Linear(h, o))


class SpanCoref(nn.Module):
    def __init__(self, config, vocab_size, num_genres):
        super().__init__()
        self.config = config
        self.emb_size = e = config["feature_emb_size"]
        H = config["hidden_size"]
        self.words = nn.Embedding(vocab_size, H)
        self.encoder = nn.LSTM(H, H // 2, batch_first=True, bidirectional=True)
        self.width_bins = [1, 2, 3, 4, 5, 8, 16]
        self.emb_width = nn.Embedding(len(self.width_bins) + 1, e)
        self.emb_genre = nn.Embedding(num_genres, e)
        self.emb_same_speaker = nn.Embedding(2, e)
        self.mention_attn = nn.Linear(H, 1)
        span = 3 * H + e
        self.mention_score = _ffnn(span, config["ffnn_size"], 1, config["dropout_rate"])
        self.pair_score = _ffnn(3 * span + 2 * e, config["ffnn_size"], 1, config["dropout_rate"])

    def get_spans(self, doc, starts, ends):
        token = torch.arange(doc.size(0), device=doc.device)[None]
        inside = (token >= starts[:, None]) & (token <= ends[:, None])
        attn = self.mention_attn(doc).squeeze(-1)[None].masked_fill(~inside, -1e10).softmax(-1)
        bins = torch.tensor(self.width_bins, device=doc.device)
        width = self.emb_width(torch.bucketize(ends - starts + 1, bins))
        return torch.cat([doc[starts], doc[ends], attn @ doc, width], -1)

    def forward(self, input_ids, input_mask, speaker_ids, genre, cand_starts, cand_ends):
        # segments are encoded on their own, then flattened to one document
        doc, _ = self.encoder(self.words(input_ids))
        doc, speakers = doc[input_mask], speaker_ids[input_mask]
        spans = self.get_spans(doc, cand_starts, cand_ends)
        scores = self.mention_score(spans).squeeze(-1)
        k = min(self.config["max_top_antecedents"], scores.size(0))
        top_scores, top = scores.topk(k)
        top, order = top.sort()
        top_scores, g = top_scores[order], spans[top]
        spk = speakers[cand_starts[top]]
        same = self.emb_same_speaker((spk[:, None] == spk[None]).long())
        gen = self.emb_genre(genre).expand(k, k, -1)
        a, b = g[:, None].expand(k, k, -1), g[None].expand(k, k, -1)
        pair = self.pair_score(torch.cat([a, b, a * b, same, gen], -1)).squeeze(-1)
        pair = pair + top_scores[:, None] + top_scores[None]
        later = torch.ones(k, k, device=pair.device).tril(-1).bool()
        pair = pair.masked_fill(~later, -1e4)
        dummy = pair.new_zeros(k, 1)
        return scores, top, torch.cat([dummy, pair], 1)


# ---------------------------------------------------------------- option hedging


class DeepHedger(nn.Module):
    def __init__(self, nInstruments, nInfo, nHidden, strike, riskAversion, costRate=1e-3):
        super().__init__()
        self.nInstruments = nInstruments
        self.strike, self.costRate, self.riskAversion = strike, costRate, riskAversion
        self.cell = nn.GRUCell(2 * nInstruments + nInfo + 1, nHidden)
        self.holdings = nn.Linear(nHidden, nInstruments)
        self.premium = nn.Parameter(torch.zeros(()))

    def payoff(self, S):
        return torch.relu(S[:, -1, 0] - self.strike)

    def forward(self, S, info, tGrid):
        nPaths, nSteps = S.size(0), S.size(1) - 1
        position = S.new_zeros(nPaths, self.nInstruments)
        state = S.new_zeros(nPaths, self.cell.hidden_size)
        wealth = self.premium.expand(nPaths)
        for k in range(nSteps):
            tau = (tGrid[-1] - tGrid[k]).expand(nPaths, 1)
            moneyness = S[:, k] / self.strike
            state = self.cell(torch.cat([moneyness, position, info[:, k], tau], dim=1), state)
            target = self.holdings(state)
            wealth = wealth - self.costRate * ((target - position).abs() * S[:, k]).sum(1)
            wealth = wealth + (target * (S[:, k + 1] - S[:, k])).sum(1)
            position = target
        pnl = wealth - self.payoff(S)
        # entropic risk
        risk = (torch.logsumexp(-self.riskAversion * pnl, 0) - math.log(nPaths)) / self.riskAversion
        return risk, pnl


# ---------------------------------------------------------------- handwriting


class PenSynthesis(nn.Module):
    def __init__(self, hidden_size, n_chars, n_attn, n_mix):
        super().__init__()
        self.n_chars, self.K, self.M = n_chars, n_attn, n_mix
        self.hidden_size = hidden_size
        self.rnn1 = nn.LSTMCell(3 + n_chars, hidden_size)
        self.window = nn.Linear(hidden_size, 3 * n_attn)
        self.rnn2 = nn.LSTM(3 + n_chars + hidden_size, hidden_size, batch_first=True)
        self.mdn = nn.Linear(hidden_size, 6 * n_mix + 1)

    def forward(self, strokes, strokes_mask, chars, chars_mask):
        inp, tgt = strokes[:, :-1], strokes[:, 1:]
        bs, T, _ = inp.shape
        onehot = F.one_hot(chars, self.n_chars).to(inp) * chars_mask.unsqueeze(-1)
        u = torch.arange(chars.size(1), device=inp.device).view(1, 1, -1)
        w = onehot[:, 0]
        kappa = inp.new_zeros(bs, self.K, 1)
        hc, seq, phis = None, [], []
        for t in range(T):
            hc = self.rnn1(torch.cat([inp[:, t], w], -1), hc)
            alpha, beta, dk = self.window(hc[0]).exp().unsqueeze(-1).chunk(3, dim=1)
            kappa = kappa + 0.1 * dk
            phi = (alpha * torch.exp(-beta * (kappa - u) ** 2)).sum(1, keepdim=True)
            w = phi.bmm(onehot).squeeze(1)
            phis.append(phi)
            seq.append(torch.cat([inp[:, t], w, hc[0]], -1))
        out, _ = self.rnn2(torch.stack(seq, 1))
        y = self.mdn(out)
        pi, mu, ls, rho = y[..., :-1].split([self.M, 2 * self.M, 2 * self.M, self.M], -1)
        mu, ls, rho = mu.view(bs, T, 2, self.M), ls.view(bs, T, 2, self.M), torch.tanh(rho) * 0.99
        zx, zy = ((tgt[..., :2].unsqueeze(-1) - mu) * torch.exp(-ls)).unbind(2)
        one_r = 1 - rho**2
        logp = -(zx**2 + zy**2 - 2 * rho * zx * zy) / (2 * one_r) - ls.sum(2) - 0.5 * torch.log(one_r)
        ll = torch.logsumexp(F.log_softmax(pi, -1) + logp - math.log(2 * math.pi), -1)
        pen = F.binary_cross_entropy_with_logits(y[..., -1], tgt[..., 2], reduction="none")
        m = strokes_mask[:, 1:]
        loss = ((pen - ll) * m).sum() / m.sum().clamp(min=1)
        return loss, torch.cat(phis, 1)


# ---------------------------------------------------------------- forecasting


class _GRN(nn.Module):
    def __init__(self, inp, hidden, out, ctx=None, dropout=0.1):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(inp, hidden), nn.Linear(hidden, hidden)
        self.context = nn.Linear(ctx, hidden, bias=False) if ctx else None
        self.gate = nn.Sequential(nn.Dropout(dropout), nn.Linear(hidden, 2 * out), nn.GLU())
        self.skip = nn.Linear(inp, out) if inp != out else nn.Identity()
        self.norm = nn.LayerNorm(out)

    def forward(self, x, c=None):
        h = self.fc1(x)
        if c is not None:
            h = h + self.context(c)
        return self.norm(self.skip(x) + self.gate(self.fc2(F.elu(h))))


class FusionForecaster(nn.Module):
    def __init__(
        self, hidden_size, heads, embedding_sizes, x_categoricals, x_reals, static_categoricals, quantiles, dropout=0.1
    ):
        super().__init__()
        self.x_categoricals, self.x_reals, self.static = x_categoricals, x_reals, static_categoricals
        self.input_embeddings = nn.ModuleDict({n: nn.Embedding(*embedding_sizes[n]) for n in x_categoricals})
        self.resize = nn.ModuleDict({n: nn.Linear(embedding_sizes[n][1], hidden_size) for n in x_categoricals})
        self.prescalers = nn.ModuleDict({n: nn.Linear(1, hidden_size) for n in x_reals})
        self.dynamic = [n for n in (*x_categoricals, *x_reals) if n not in static_categoricals]
        self.static_context = _GRN(hidden_size * len(static_categoricals), hidden_size, hidden_size, dropout=dropout)
        self.selection = _GRN(
            hidden_size * len(self.dynamic), hidden_size, len(self.dynamic), ctx=hidden_size, dropout=dropout
        )
        self.lstm_encoder = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.lstm_decoder = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.attn = nn.MultiheadAttention(hidden_size, heads, dropout=dropout, batch_first=True)
        self.output_layer = nn.Linear(hidden_size, len(quantiles))

    def forward(self, x):
        cat = torch.cat([x["encoder_cat"], x["decoder_cat"]], dim=1)
        cont = torch.cat([x["encoder_cont"], x["decoder_cont"]], dim=1)
        T = x["encoder_cont"].size(1)
        vectors = {n: self.resize[n](self.input_embeddings[n](cat[..., i])) for i, n in enumerate(self.x_categoricals)}
        vectors.update({n: self.prescalers[n](cont[..., i].unsqueeze(-1)) for i, n in enumerate(self.x_reals)})
        static = self.static_context(torch.cat([vectors[n][:, 0] for n in self.static], -1))
        stacked = torch.stack([vectors[n] for n in self.dynamic], -2)
        weights = self.selection(stacked.flatten(2), static.unsqueeze(1)).softmax(-1)
        selected = (stacked * weights.unsqueeze(-1)).sum(-2)
        packed = nn.utils.rnn.pack_padded_sequence(
            selected[:, :T], x["encoder_lengths"].cpu(), batch_first=True, enforce_sorted=False
        )
        enc, hidden = self.lstm_encoder(packed)
        enc, _ = nn.utils.rnn.pad_packed_sequence(enc, batch_first=True, total_length=T)
        dec, _ = self.lstm_decoder(selected[:, T:], hidden)
        steps = torch.arange(dec.size(1), device=dec.device)
        pad = torch.cat(
            [
                torch.arange(T, device=dec.device)[None] >= x["encoder_lengths"][:, None],
                steps[None] >= x["decoder_lengths"][:, None],
            ],
            1,
        )
        future = torch.cat([steps.new_zeros(len(steps), T), steps[None] > steps[:, None]], 1).bool()
        out, attention = self.attn(dec, torch.cat([enc, dec], 1), torch.cat([enc, dec], 1), pad, attn_mask=future)
        return {"prediction": self.output_layer(out + dec), "attention": attention, "variables": weights}


# ---------------------------------------------------------------- multi-task ranking


class _Column(nn.Module):
    def __init__(self, spec, tables):
        super().__init__()
        self.kind = spec["type"]
        self.key = spec.get("share_with", spec["name"])
        if self.kind == "numeric":
            self.proj = nn.Linear(1, spec["dim"])
        elif self.key == spec["name"]:
            tables[self.key] = nn.Embedding(spec["vocab_size"], spec["dim"], padding_idx=spec.get("pad"))

    def forward(self, x, tables):
        if self.kind == "numeric":
            return self.proj(torch.log1p(x.abs()).unsqueeze(-1) * torch.sign(x).unsqueeze(-1))
        e = tables[self.key](x)
        if self.kind == "sequence":
            valid = (x != 0).unsqueeze(-1).float()
            e = (e * valid).sum(1) / valid.sum(1).clamp(min=1.0)
        return e


class ColumnMMoE(nn.Module):
    def __init__(self, feature_specs, num_experts, expert_hidden_units, tower_hidden_units, tasks, **kwargs):
        super().__init__()
        self.tables = nn.ModuleDict()
        self.columns = nn.ModuleDict(OrderedDict((s["name"], _Column(s, self.tables)) for s in feature_specs))
        width = sum(s["dim"] for s in feature_specs)
        self.experts = nn.ModuleList([self._mlp(width, expert_hidden_units) for _ in range(num_experts)])
        self.gates = nn.ModuleDict({t: nn.Linear(width, num_experts, bias=False) for t in tasks})
        self.towers = nn.ModuleDict(
            {
                t: nn.Sequential(
                    self._mlp(expert_hidden_units[-1], tower_hidden_units), nn.Linear(tower_hidden_units[-1], 1)
                )
                for t in tasks
            }
        )
        self.tasks = tasks
        self.net_dropout = nn.Dropout(kwargs.get("net_dropout", 0.0))

    @staticmethod
    def _mlp(inp, units):
        layers = []
        for u in units:
            layers += [nn.Linear(inp, u), nn.ReLU()]
            inp = u
        return nn.Sequential(*layers)

    def forward(self, inputs):
        x = torch.cat([col(inputs[name], self.tables) for name, col in self.columns.items()], dim=-1)
        x = self.net_dropout(x)
        experts = torch.stack([e(x) for e in self.experts], dim=1)
        y = {}
        for task in self.tasks:
            g = F.softmax(self.gates[task](x), dim=-1).unsqueeze(-1)
            y[task + "_pred"] = self.towers[task]((g * experts).sum(1)).sigmoid().squeeze(-1)
        return y


# ---------------------------------------------------------------- bird's eye view


class LiftToBEV(nn.Module):
    def __init__(self, grid_conf, data_aug_conf, camC, outC):
        super().__init__()
        self.downsample = 8
        rows = [grid_conf["xbound"], grid_conf["ybound"], grid_conf["zbound"]]
        self.register_buffer("dx", torch.tensor([float(r[2]) for r in rows]))
        self.register_buffer("lo", torch.tensor([float(r[0]) for r in rows]))
        self.nx = [int((r[1] - r[0]) / r[2]) for r in rows]
        self.camC = camC
        self.register_buffer("frustum", self.create_frustum(grid_conf["dbound"], data_aug_conf["final_dim"]))
        self.D = self.frustum.shape[0]
        trunk, prev = [], 3
        for c in (16, 32, 64):
            trunk += [nn.Conv2d(prev, c, 3, 2, 1, bias=False), nn.BatchNorm2d(c), nn.ReLU(inplace=True)]
            prev = c
        self.trunk = nn.Sequential(*trunk)
        self.depthnet = nn.Conv2d(prev, self.D + camC, kernel_size=1)
        self.bevencode = nn.Sequential(
            nn.Conv2d(camC * self.nx[2], 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, outC, 1)
        )

    def create_frustum(self, dbound, final_dim):
        ogfH, ogfW = final_dim
        fH, fW = ogfH // self.downsample, ogfW // self.downsample
        ds = torch.arange(*dbound, dtype=torch.float).view(-1, 1, 1).expand(-1, fH, fW)
        xs = torch.linspace(0, ogfW - 1, fW).view(1, 1, fW).expand_as(ds)
        ys = torch.linspace(0, ogfH - 1, fH).view(1, fH, 1).expand_as(ds)
        return torch.stack((xs, ys, ds), -1)

    def geometry(self, rots, trans, intrins, post_rots, post_trans):
        B, N = trans.shape[:2]
        # undo the augmentation, then camera to ego
        pts = self.frustum - post_trans.view(B, N, 1, 1, 1, 3)
        pts = torch.inverse(post_rots).view(B, N, 1, 1, 1, 3, 3) @ pts.unsqueeze(-1)
        pts = torch.cat((pts[..., :2, :] * pts[..., 2:3, :], pts[..., 2:3, :]), -2)
        combine = rots @ torch.inverse(intrins)
        return (combine.view(B, N, 1, 1, 1, 3, 3) @ pts).squeeze(-1) + trans.view(B, N, 1, 1, 1, 3)

    def forward(self, x, rots, trans, intrins, post_rots, post_trans):
        geom = self.geometry(rots, trans, intrins, post_rots, post_trans)
        B, N, C, imH, imW = x.shape
        f = self.depthnet(self.trunk(x.view(B * N, C, imH, imW)))
        depth, feat = f[:, : self.D].softmax(1), f[:, self.D :]
        lifted = depth.unsqueeze(1) * feat.unsqueeze(2)
        lifted = lifted.view(B, N, self.camC, *lifted.shape[2:]).permute(0, 1, 3, 4, 5, 2).reshape(-1, self.camC)

        cell = ((geom - self.lo) / self.dx).floor().long().view(-1, 3)
        batch = torch.arange(B, device=x.device).repeat_interleave(cell.size(0) // B)
        nx, ny, nz = self.nx
        kept = (cell >= 0).all(1) & (cell[:, 0] < nx) & (cell[:, 1] < ny) & (cell[:, 2] < nz)
        cell, batch, lifted = cell[kept], batch[kept], lifted[kept]
        rank = ((batch * nz + cell[:, 2]) * nx + cell[:, 0]) * ny + cell[:, 1]
        bev = lifted.new_zeros(B * nz * nx * ny, self.camC).index_add(0, rank, lifted)
        bev = bev.view(B, nz, nx, ny, self.camC).permute(0, 1, 4, 2, 3).reshape(B, nz * self.camC, nx, ny)
        return self.bevencode(bev)


# ---------------------------------------------------------------- vehicle routing


class FleetRouter(nn.Module):
    def __init__(self, embedding_dim, n_heads, n_encode_layers, tanh_clipping, normalization):
        super().__init__()
        assert normalization in ("batch", "instance")
        self.embedding_dim, self.n_heads, self.tanh_clipping = embedding_dim, n_heads, tanh_clipping
        self.init_embed_depot = nn.Linear(2, embedding_dim)
        self.init_embed = nn.Linear(3, embedding_dim)
        norm = nn.BatchNorm1d if normalization == "batch" else nn.InstanceNorm1d
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "att": nn.MultiheadAttention(embedding_dim, n_heads, batch_first=True),
                    "n1": norm(embedding_dim),
                    "ff": nn.Sequential(nn.Linear(embedding_dim, 128), nn.ReLU(), nn.Linear(128, embedding_dim)),
                    "n2": norm(embedding_dim),
                }
            )
            for _ in range(n_encode_layers)
        )
        self.project_node = nn.Linear(embedding_dim, 3 * embedding_dim, bias=False)
        self.project_fixed = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.project_step = nn.Linear(embedding_dim + 1, embedding_dim, bias=False)

    def encode(self, input):
        depot = self.init_embed_depot(input["depot"])[:, None, :]
        h = torch.cat([depot, self.init_embed(torch.cat((input["loc"], input["demand"][:, :, None]), -1))], 1)
        for l in self.layers:
            h = l["n1"]((h + l["att"](h, h, h)[0]).transpose(1, 2)).transpose(1, 2)
            h = l["n2"]((h + l["ff"](h)).transpose(1, 2)).transpose(1, 2)
        return h

    def forward(self, input):
        h = self.encode(input)
        B, n, d = h.shape
        rows = torch.arange(B, device=h.device)
        gk, gv, lk = self.project_node(h).chunk(3, dim=-1)
        fixed = self.project_fixed(h.mean(1))
        coords = torch.cat([input["depot"][:, None], input["loc"]], 1)
        demand = F.pad(input["demand"], (1, 0))
        visited = torch.zeros(B, n, dtype=torch.bool, device=h.device)
        used, prev = h.new_zeros(B), torch.zeros(B, dtype=torch.long, device=h.device)
        cost, ll = h.new_zeros(B), h.new_zeros(B)
        for _ in range(2 * n):
            block = visited | (used[:, None] + demand > 1.0)
            block[:, 0] = (prev == 0) & ~block[:, 1:].all(1)
            q = fixed + self.project_step(torch.cat([h[rows, prev], 1 - used[:, None]], -1))
            split = lambda t: t.view(B, -1, self.n_heads, d // self.n_heads).transpose(1, 2)
            att = F.scaled_dot_product_attention(split(q), split(gk), split(gv), attn_mask=~block[:, None, None])
            glimpse = att.transpose(1, 2).reshape(B, d)
            logits = torch.tanh((lk @ glimpse[..., None]).squeeze(-1) / d**0.5) * self.tanh_clipping
            log_p = F.log_softmax(logits.masked_fill(block, -1e9), -1)
            pick = log_p.argmax(-1)
            ll = ll + log_p[rows, pick]
            cost = cost + (coords[rows, pick] - coords[rows, prev]).norm(dim=-1)
            used = torch.where(pick == 0, torch.zeros_like(used), used + demand[rows, pick])
            visited = visited.scatter(1, pick[:, None], True)
            visited[:, 0] = False
            prev = pick
            if bool(visited[:, 1:].all()):
                break
        cost = cost + (coords[:, 0] - coords[rows, prev]).norm(dim=-1)
        return cost, ll


# ---------------------------------------------------------------- target speaker extraction


class _TCNBlock(nn.Module):
    def __init__(self, B, H, P, dilation):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(B, H, 1),
            nn.PReLU(),
            nn.GroupNorm(1, H),
            nn.Conv1d(H, H, P, padding=dilation * (P - 1) // 2, dilation=dilation, groups=H),
            nn.PReLU(),
            nn.GroupNorm(1, H),
            nn.Conv1d(H, B, 1),
        )

    def forward(self, x):
        return x + self.net(x)


class VoiceFilterTCN(nn.Module):
    def __init__(self, N, L, B, H, P, X, R, num_spks):
        super().__init__()
        assert P % 2 == 1
        self.L = L
        self.encoder = nn.Conv1d(1, N, L, stride=L // 2, bias=False)
        self.decoder = nn.ConvTranspose1d(N, 1, L, stride=L // 2, bias=False)
        self.ln = nn.GroupNorm(1, N)
        self.bottleneck = nn.Conv1d(N, B, 1)
        self.spk_net = nn.Sequential(nn.Conv1d(N, B, 1), _TCNBlock(B, H, P, 1), _TCNBlock(B, H, P, 2))
        self.stacks = nn.ModuleList(nn.Sequential(*[_TCNBlock(B, H, P, 2**i) for i in range(X)]) for _ in range(R))
        self.films = nn.ModuleList(nn.Linear(B, 2 * B) for _ in range(R))
        self.mask = nn.Conv1d(B, N, 1)
        self.pred_linear = nn.Linear(B, num_spks)

    def forward(self, x, aux, aux_len):
        if x.dim() >= 3:
            raise RuntimeError("accept a 1/2D tensor as input, but got {:d}D".format(x.dim()))
        w = F.relu(self.encoder(x.unsqueeze(1)))
        a = self.spk_net(F.relu(self.encoder(aux.unsqueeze(1))))
        frames = ((aux_len - self.L) // (self.L // 2) + 1).clamp(min=1)
        keep = (torch.arange(a.size(-1), device=a.device)[None] < frames[:, None]).unsqueeze(1)
        spk = (a * keep).sum(-1) / frames[:, None].float()
        y = self.bottleneck(self.ln(w))
        for film, stack in zip(self.films, self.stacks):
            gamma, beta = film(spk).unsqueeze(-1).chunk(2, 1)
            y = stack((1 + gamma) * y + beta)
        s = self.decoder(w * torch.sigmoid(self.mask(y))).squeeze(1)
        return F.pad(s, (0, x.size(-1) - s.size(-1))), self.pred_linear(spk)
