"""Models as people write them.

Long because it is a list of models.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "AcousticModel",
    "AffinityCNN",
    "BirdSED",
    "CaptionNet",
    "ClickRanker",
    "CondGenerator",
    "DecayGRU",
    "DemandForecaster",
    "FraudGraph",
    "HierAttn",
    "KnowledgeTracer",
    "LesionNet",
    "LocalSetSeg",
    "MoleculeGCN",
    "PyramidDetector",
    "RadianceMLP",
    "RecurrentActor",
    "RelNet",
    "ReturnTransformer",
    "RnaDegradation",
    "RotScorer",
    "SessionRanker",
    "SliceRNN",
    "SongLM",
    "SpanReader",
    "SpecCNN",
    "StagedNet",
    "StreamingASR",
    "TabularNN",
    "Translator",
    "TwoTower",
    "WordCharTagger",
    "XVector",
]


# ---- tutorials, courses


class SongLM(nn.Module):
    def __init__(self, cell, ntoken, ninp, nhid, nlayers, tie_weights):
        super().__init__()
        if cell not in ("LSTM", "GRU"):
            raise ValueError(f"unknown cell {cell!r}")
        self.embed = nn.Embedding(ntoken, ninp)
        self.rnn = getattr(nn, cell)(ninp, nhid, nlayers)
        self.out = nn.Linear(nhid, ntoken)
        if tie_weights:
            if nhid != ninp:
                raise ValueError("tied weights need nhid == ninp")
            self.out.weight = self.embed.weight

    def forward(self, notes, hidden):
        y, hidden = self.rnn(self.embed(notes), hidden)
        return F.log_softmax(self.out(y), dim=-1), hidden


class WordCharTagger(nn.Module):
    def __init__(self, n_words, n_chars, n_tags, w_emb, c_emb, hid):
        super().__init__()
        self.w = nn.Embedding(n_words, w_emb, padding_idx=0)
        self.c = nn.Embedding(n_chars, c_emb, padding_idx=0)
        self.char_conv = nn.Conv1d(c_emb, c_emb, 3, padding=1)
        self.lstm = nn.LSTM(w_emb + c_emb, hid, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hid, n_tags)

    def forward(self, words, chars, mask):
        b, t, l = chars.shape
        c = self.c(chars).view(b * t, l, -1).transpose(1, 2)
        c = self.char_conv(c).max(dim=2)[0].view(b, t, -1)
        y, _ = self.lstm(torch.cat([self.w(words), c], dim=2))
        return self.fc(y) * mask.unsqueeze(-1).float()


class EncoderCNN(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 7, stride=4)
        self.fc = nn.Linear(16, embed_size)

    def forward(self, images):
        return self.fc(F.relu(self.conv(images)).mean(dim=(2, 3)))


class DecoderLSTM(nn.Module):
    def __init__(self, vocab, embed_size, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, embed_size)
        self.lstm = nn.LSTM(embed_size, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, vocab)

    def forward(self, features, captions, lengths):
        e = torch.cat([features.unsqueeze(1), self.embed(captions)], dim=1)
        packed = nn.utils.rnn.pack_padded_sequence(e, lengths, batch_first=True, enforce_sorted=False)
        return self.fc(self.lstm(packed)[0].data)


class CaptionNet(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, images, captions, cap_lens):
        return self.decoder(self.encoder(images), captions, cap_lens)


class MoleculeGCN(nn.Module):
    def __init__(self, n_atom_feats, width, n_targets):
        super().__init__()
        self.lin1 = nn.Linear(n_atom_feats, width)
        self.lin2 = nn.Linear(width, width)
        self.readout = nn.Linear(width, n_targets)

    def propagate(self, h, edge_index):
        row, col = edge_index
        deg = torch.bincount(col, minlength=h.size(0)).clamp(min=1).unsqueeze(1)
        return torch.zeros_like(h).index_add(0, col, h[row]) / deg

    def forward(self, x, edge_index, batch):
        h = F.relu(self.propagate(self.lin1(x), edge_index))
        h = F.relu(self.propagate(self.lin2(h), edge_index))
        g = torch.zeros(int(batch.max()) + 1, h.size(1)).index_add(0, batch, h)
        return self.readout(g)


class RecurrentActor(nn.Module):
    def __init__(self, n_obs, n_act, rnn_units):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh())
        self.cell = nn.GRUCell(64, rnn_units)
        self.pi = nn.Linear(rnn_units, n_act)
        self.v = nn.Linear(rnn_units, 1)

    def forward(self, obs, hx, deterministic):
        hx = self.cell(self.body(obs), hx)
        dist = torch.distributions.Categorical(logits=self.pi(hx))
        action = dist.probs.argmax(-1) if deterministic else dist.sample()
        return action, dist.log_prob(action), self.v(hx).squeeze(-1), hx


class Translator(nn.Module):
    def __init__(self, n_src, n_trg, emb, n_heads, n_blocks, max_len, src_pad, trg_pad):
        super().__init__()
        self.src_pad, self.trg_pad = src_pad, trg_pad
        self.src_tok = nn.Embedding(n_src, emb, padding_idx=src_pad)
        self.trg_tok = nn.Embedding(n_trg, emb, padding_idx=trg_pad)
        self.pos = nn.Embedding(max_len, emb)
        self.core = nn.Transformer(emb, n_heads, n_blocks, n_blocks, 4 * emb, batch_first=True)
        self.generator = nn.Linear(emb, n_trg)

    def forward(self, src, trg):
        s = self.src_tok(src) + self.pos(torch.arange(src.size(1)))
        t = self.trg_tok(trg) + self.pos(torch.arange(trg.size(1)))
        future = torch.ones(trg.size(1), trg.size(1), dtype=torch.bool).triu(1)
        out = self.core(
            s,
            t,
            tgt_mask=future,
            src_key_padding_mask=src == self.src_pad,
            tgt_key_padding_mask=trg == self.trg_pad,
            memory_key_padding_mask=src == self.src_pad,
        )
        return self.generator(out)


class CondGenerator(nn.Module):
    def __init__(self, nz, ngf, nc, n_cls):
        super().__init__()
        self.label = nn.Embedding(n_cls, nz)
        self.net = nn.Sequential(
            nn.ConvTranspose2d(2 * nz, ngf * 2, 4, 1, 0),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, nc, 4, 2, 1),
            nn.Tanh(),
        )

    def forward(self, z, y):
        return self.net(torch.cat([z, self.label(y)], dim=1)[:, :, None, None])


class SpecCNN(nn.Module):
    def __init__(self, arch, n_in, n_out):
        super().__init__()
        layers = []
        for item in arch:
            if item == "M":
                layers.append(nn.MaxPool2d(2))
            else:
                layers += [nn.Conv2d(n_in, item, 3, padding=1), nn.BatchNorm2d(item), nn.ReLU()]
                n_in = item
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(n_in, n_out)

    def forward(self, x):
        return self.classifier(self.features(x).mean(dim=(-2, -1)))


# ---- papers


class HierAttn(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.emb = nn.Embedding(opt.n_vocab, opt.word_dim)
        self.word_rnn = nn.GRU(opt.word_dim, opt.rnn_dim, batch_first=True, bidirectional=True)
        self.word_att = nn.Linear(2 * opt.rnn_dim, 1)
        self.sent_rnn = nn.GRU(2 * opt.rnn_dim, opt.rnn_dim, batch_first=True, bidirectional=True)
        self.sent_att = nn.Linear(2 * opt.rnn_dim, 1)
        self.cls = nn.Linear(2 * opt.rnn_dim, opt.n_label)

    def forward(self, docs, sent_counts):
        b, s, w = docs.shape
        h, _ = self.word_rnn(self.emb(docs.view(b * s, w)))
        h = (self.word_att(h).softmax(1) * h).sum(1).view(b, s, -1)
        h, _ = self.sent_rnn(h)
        pad = torch.arange(s)[None, :] >= sent_counts[:, None]
        a = self.sent_att(h).squeeze(-1).masked_fill(pad, -1e9).softmax(1)
        return self.cls((a.unsqueeze(-1) * h).sum(1))


class RadianceMLP(nn.Module):
    def __init__(self, W, D, skips, L_xyz, L_dir):
        super().__init__()
        self.skips, self.L_xyz, self.L_dir = skips, L_xyz, L_dir
        n = 3 + 6 * L_xyz
        self.pts = nn.ModuleList([nn.Linear(n if i == 0 else W + n if i in skips else W, W) for i in range(D)])
        self.sigma = nn.Linear(W, 1)
        self.rgb = nn.Sequential(nn.Linear(W + 3 + 6 * L_dir, W // 2), nn.ReLU(), nn.Linear(W // 2, 3))

    @staticmethod
    def posenc(x, n_freqs):
        parts = [x]
        for i in range(n_freqs):
            parts += [torch.sin(2**i * x), torch.cos(2**i * x)]
        return torch.cat(parts, -1)

    def forward(self, xyz, viewdirs):
        p = self.posenc(xyz, self.L_xyz)
        h = p
        for i, layer in enumerate(self.pts):
            if i in self.skips and i > 0:
                h = torch.cat([h, p], -1)
            h = F.relu(layer(h))
        d = self.posenc(F.normalize(viewdirs, dim=-1), self.L_dir)
        return torch.sigmoid(self.rgb(torch.cat([h, d], -1))), F.relu(self.sigma(h))


class RelNet(nn.Module):
    def __init__(self, nfeat, nhid, nrel, nbases):
        super().__init__()
        self.basis = nn.Parameter(torch.randn(nbases, nfeat, nhid) * 0.1)
        self.comp = nn.Parameter(torch.randn(nrel, nbases))
        self.root = nn.Linear(nfeat, nhid)
        self.out = nn.Linear(nhid, nhid)

    def forward(self, data):
        src, dst = data.edge_index
        weight = torch.einsum("rb,bio->rio", self.comp, self.basis)[data.edge_type]
        msg = torch.bmm(data.x[src].unsqueeze(1), weight).squeeze(1)
        h = self.root(data.x)
        h = h.index_add(0, dst, msg)
        return self.out(F.relu(h))


class XVector(nn.Module):
    def __init__(self, n_mels, tdnn_dims, dilations, pooling, n_spk):
        super().__init__()
        assert len(tdnn_dims) == len(dilations)
        assert pooling in ("stats", "avg")
        dims = [n_mels] + list(tdnn_dims)
        self.tdnn = nn.ModuleList(
            [nn.Conv1d(i, o, 3, dilation=d, padding=d) for i, o, d in zip(dims, dims[1:], dilations)]
        )
        self.pooling = pooling
        self.spk = nn.Linear(dims[-1] * (2 if pooling == "stats" else 1), n_spk)

    def forward(self, mels, mel_lens):
        h = mels.transpose(1, 2)
        for conv in self.tdnn:
            h = F.relu(conv(h))
        m = (torch.arange(h.size(2)) < mel_lens.unsqueeze(1)).unsqueeze(1).float()
        mu = (h * m).sum(2) / m.sum(2)
        if self.pooling == "avg":
            return self.spk(mu)
        var = ((h - mu.unsqueeze(2)) ** 2 * m).sum(2) / m.sum(2)
        return self.spk(torch.cat([mu, (var + 1e-5).sqrt()], 1))


class LocalSetSeg(nn.Module):
    def __init__(self, n_part, c_feat, knn, dims):
        super().__init__()
        self.knn = knn
        self.lift = nn.Linear(3 + c_feat, dims[0])
        self.edges = nn.ModuleList([nn.Linear(2 * a, b) for a, b in zip(dims[:-1], dims[1:])])
        self.seg = nn.Linear(2 * dims[-1], n_part)

    def forward(self, xyz, feats):
        nn_idx = torch.cdist(xyz, xyz).topk(self.knn, largest=False).indices
        h = self.lift(torch.cat([xyz, feats], -1))
        rows = torch.arange(xyz.size(0))[:, None, None]
        for edge in self.edges:
            nbr = h[rows, nn_idx]
            center = h.unsqueeze(2).expand_as(nbr)
            h = F.leaky_relu(edge(torch.cat([center, nbr - center], -1))).max(2).values
        g = h.max(1, keepdim=True).values.expand_as(h)
        return self.seg(torch.cat([h, g], -1))


class RotScorer(nn.Module):
    def __init__(self, nentity, nrelation, hidden_dim, gamma):
        super().__init__()
        self.gamma = gamma
        self.entity = nn.Embedding(nentity, 2 * hidden_dim)
        self.phase = nn.Embedding(nrelation, hidden_dim)

    def forward(self, head, rel, tail, neg_tails):
        re_h, im_h = self.entity(head).chunk(2, -1)
        theta = self.phase(rel) * math.pi
        re, im = re_h * theta.cos() - im_h * theta.sin(), re_h * theta.sin() + im_h * theta.cos()
        rot = torch.cat([re, im], -1).unsqueeze(1)
        cand = self.entity(torch.cat([tail.unsqueeze(1), neg_tails], 1))
        return self.gamma - (rot - cand).norm(p=1, dim=-1)


class AffinityCNN(nn.Module):
    def __init__(self, n_smiles_chars, n_residues, emb, filters, drug_ksizes, prot_ksizes):
        super().__init__()
        self.drug_emb = nn.Embedding(n_smiles_chars + 1, emb, padding_idx=0)
        self.prot_emb = nn.Embedding(n_residues + 1, emb, padding_idx=0)
        self.drug_convs = self.stack(emb, filters, drug_ksizes)
        self.prot_convs = self.stack(emb, filters, prot_ksizes)
        self.regress = nn.Sequential(nn.Linear(6 * filters, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))

    def stack(self, c, f, ksizes):
        k1, k2, k3 = ksizes
        return nn.Sequential(
            nn.Conv1d(c, f, k1), nn.ReLU(), nn.Conv1d(f, 2 * f, k2), nn.ReLU(), nn.Conv1d(2 * f, 3 * f, k3), nn.ReLU()
        )

    def forward(self, smiles, protein):
        d = self.drug_convs(self.drug_emb(smiles).transpose(1, 2)).amax(-1)
        p = self.prot_convs(self.prot_emb(protein).transpose(1, 2)).amax(-1)
        return self.regress(torch.cat([d, p], -1)).squeeze(-1)


class DecayGRU(nn.Module):
    def __init__(self, n_vars, n_hid, x_mean):
        super().__init__()
        self.register_buffer("x_mean", torch.as_tensor(x_mean, dtype=torch.float32))
        self.gamma_x = nn.Parameter(torch.zeros(n_vars))
        self.gamma_h = nn.Linear(n_vars, n_hid)
        self.cell = nn.GRUCell(2 * n_vars, n_hid)
        self.risk = nn.Linear(n_hid, 1)

    def forward(self, values, observed, deltas):
        h = values.new_zeros(values.size(0), self.cell.hidden_size)
        last = self.x_mean.expand(values.size(0), -1)
        for t in range(values.size(1)):
            x, m, d = values[:, t], observed[:, t].float(), deltas[:, t]
            g = torch.exp(-F.relu(self.gamma_x * d))
            x_hat = m * x + (1 - m) * (g * last + (1 - g) * self.x_mean)
            last = m * x + (1 - m) * last
            h = self.cell(torch.cat([x_hat, m], -1), h * torch.exp(-F.relu(self.gamma_h(d))))
        return torch.sigmoid(self.risk(h))


class ReturnTransformer(nn.Module):
    def __init__(self, s_dim, a_dim, n_embd, n_head, n_layer, max_ep_len):
        super().__init__()
        self.time = nn.Embedding(max_ep_len, n_embd)
        self.ret = nn.Linear(1, n_embd)
        self.state = nn.Linear(s_dim, n_embd)
        self.act = nn.Linear(a_dim, n_embd)
        layer = nn.TransformerEncoderLayer(n_embd, n_head, 4 * n_embd, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, n_layer)
        self.predict = nn.Sequential(nn.Linear(n_embd, a_dim), nn.Tanh())

    def forward(self, states, actions, returns_to_go, timesteps):
        b, k, _ = states.shape
        t = self.time(timesteps)
        tokens = torch.stack([self.ret(returns_to_go) + t, self.state(states) + t, self.act(actions) + t], dim=2)
        tokens = tokens.reshape(b, 3 * k, -1)
        causal = torch.full((3 * k, 3 * k), float("-inf")).triu(1)
        h = self.blocks(tokens, mask=causal).view(b, k, 3, -1)
        return self.predict(h[:, :, 1])


# ---- competitions


class TinyBackbone(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.num_features = width
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.SiLU())

    def forward(self, x):
        return self.stem(x).mean((2, 3))


class LesionNet(nn.Module):
    def __init__(self, backbone, n_meta, meta_dims, out_dim):
        super().__init__()
        self.backbone = backbone
        self.meta = nn.Sequential(
            nn.Linear(n_meta, meta_dims[0]),
            nn.BatchNorm1d(meta_dims[0]),
            nn.SiLU(),
            nn.Linear(meta_dims[0], meta_dims[1]),
            nn.BatchNorm1d(meta_dims[1]),
            nn.SiLU(),
        )
        self.head = nn.Linear(backbone.num_features + meta_dims[1], out_dim)
        self.drops = nn.ModuleList([nn.Dropout(0.5) for _ in range(5)])

    def forward(self, image, meta):
        f = torch.cat([self.backbone(image), self.meta(meta)], 1)
        return sum(self.head(d(f)) for d in self.drops) / len(self.drops)


class KnowledgeTracer(nn.Module):
    def __init__(self, n_skill, max_seq, dim, nheads):
        super().__init__()
        self.inter = nn.Embedding(2 * n_skill + 1, dim)
        self.exercise = nn.Embedding(n_skill + 1, dim)
        self.pos = nn.Embedding(max_seq, dim)
        self.lag = nn.Linear(1, dim)
        self.att = nn.MultiheadAttention(dim, nheads)
        self.ffn = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, interactions, question_ids, lag_time):
        n = interactions.size(1)
        x = self.inter(interactions) + self.pos(torch.arange(n)) + self.lag(torch.log1p(lag_time).unsqueeze(-1))
        q = self.exercise(question_ids)
        x, q = x.permute(1, 0, 2), q.permute(1, 0, 2)
        future = torch.triu(torch.ones(n, n), diagonal=1).bool()
        y, _ = self.att(q, x, x, attn_mask=future)
        return self.ffn((y + q).permute(1, 0, 2)).squeeze(-1)


class TabularNN(nn.Module):
    def __init__(self, emb_szs, n_cont, out_sz, szs, ps):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(c, s) for c, s in emb_szs])
        self.bn_cont = nn.BatchNorm1d(n_cont)
        n_in = sum(s for _, s in emb_szs) + n_cont
        layers = []
        for sz, p in zip(szs, ps):
            layers += [nn.Linear(n_in, sz), nn.ReLU(inplace=True), nn.BatchNorm1d(sz), nn.Dropout(p)]
            n_in = sz
        self.layers = nn.Sequential(*layers, nn.Linear(n_in, out_sz))

    def forward(self, cats, conts):
        x = [emb(cats[:, i]) for i, emb in enumerate(self.embs)]
        return self.layers(torch.cat(x + [self.bn_cont(conts)], 1))


class SpanReader(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg["vocab"], cfg["hidden"], padding_idx=cfg["pad_id"])
        self.seg = nn.Embedding(2, cfg["hidden"])
        self.pos = nn.Parameter(torch.zeros(1, cfg["max_len"], cfg["hidden"]))
        layer = nn.TransformerEncoderLayer(cfg["hidden"], cfg["heads"], cfg["hidden"] * 2, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, cfg["layers"])
        self.span = nn.Linear(cfg["hidden"], 2)
        self.answerable = nn.Linear(cfg["hidden"], cfg["n_types"])

    def forward(self, ids, mask, token_type_ids):
        x = self.tok(ids) + self.seg(token_type_ids) + self.pos[:, : ids.size(1)]
        h = self.enc(x, src_key_padding_mask=(mask == 0))
        start, end = self.span(h).split(1, dim=-1)
        return start.squeeze(-1), end.squeeze(-1), self.answerable(h[:, 0])


class BirdSED(nn.Module):
    def __init__(self, CFG):
        super().__init__()
        self.bn0 = nn.BatchNorm2d(CFG.n_mels)
        self.enc = nn.Sequential(
            nn.Conv2d(1, CFG.base_ch, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(CFG.base_ch, CFG.base_ch * 2, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.site = nn.Embedding(CFG.n_sites, CFG.base_ch * 2)
        self.att = nn.Conv1d(CFG.base_ch * 2, CFG.n_birds, 1)
        self.cla = nn.Conv1d(CFG.base_ch * 2, CFG.n_birds, 1)

    def forward(self, batch):
        x = self.bn0(batch["melspec"].transpose(1, 2)).transpose(1, 2)
        h = self.enc(x).mean(2) + self.site(batch["site"]).unsqueeze(-1)
        w = torch.softmax(torch.tanh(self.att(h)), dim=-1)
        frame = torch.sigmoid(self.cla(h))
        return {"clipwise": (w * frame).sum(-1), "framewise": frame}


class DemandForecaster(nn.Module):
    def __init__(self, n_stores, n_families, emb_sz, n_lags, n_future_feats, horizon, rnn):
        super().__init__()
        self.horizon = horizon
        self.store = nn.Embedding(n_stores, emb_sz)
        self.family = nn.Embedding(n_families, emb_sz)
        self.rnn = {"gru": nn.GRU, "rnn": nn.RNN}[rnn](1, n_lags, batch_first=True)
        self.future = nn.Linear(n_future_feats, n_lags)
        self.out = nn.Sequential(nn.Linear(2 * n_lags + 2 * emb_sz, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, past_sales, store_nbr, family, promo):
        _, h = self.rnn(past_sales.unsqueeze(-1))
        static = torch.cat([h[-1], self.store(store_nbr), self.family(family)], 1)
        static = static.unsqueeze(1).expand(-1, self.horizon, -1)
        return self.out(torch.cat([static, self.future(promo)], -1)).squeeze(-1)


class SliceRNN(nn.Module):
    def __init__(self, cnn, feat_sz, cell_type, units, n_cls):
        super().__init__()
        self.cnn = cnn
        self.rnn = getattr(nn, cell_type)(feat_sz, units, batch_first=True, bidirectional=True)
        self.slice_head = nn.Linear(2 * units, n_cls)
        self.exam_head = nn.Linear(2 * units, n_cls)

    def forward(self, volume, slice_mask):
        b, s = volume.shape[:2]
        f = self.cnn(volume.flatten(0, 1)).view(b, s, -1)
        h, _ = self.rnn(f)
        exam = h.masked_fill(~slice_mask.unsqueeze(-1), -1e4).max(1).values
        return self.slice_head(h), self.exam_head(exam)


class RnaDegradation(nn.Module):
    def __init__(self, n_tokens, emb_dim, hid, n_bpp_feats, pred_len, n_targets):
        super().__init__()
        self.pred_len = pred_len
        self.embed = nn.Embedding(n_tokens, emb_dim)
        self.mix = nn.Linear(3 * emb_dim + n_bpp_feats, hid)
        self.gru = nn.GRU(hid, hid, num_layers=2, batch_first=True, bidirectional=True)
        self.pair = nn.Linear(2 * hid, 2 * hid)
        self.out = nn.Linear(2 * hid, n_targets)

    def forward(self, tokens, bpp_feats, bpps):
        b, l, _ = tokens.shape
        x = torch.cat([self.embed(tokens).reshape(b, l, -1), bpp_feats], -1)
        h, _ = self.gru(F.relu(self.mix(x)))
        h = h + torch.relu(self.pair(torch.bmm(bpps, h)))
        return self.out(h[:, : self.pred_len])


# ---- companies, libraries


class FeatureTower(nn.Module):
    def __init__(self, cardinalities, n_dense, emb, out):
        super().__init__()
        self.tables = nn.ModuleDict({name: nn.Embedding(n, emb) for name, n in cardinalities.items()})
        self.proj = nn.Linear(len(cardinalities) * emb + n_dense, out)

    def forward(self, feats):
        parts = [table(feats[name]) for name, table in self.tables.items()]
        return F.normalize(self.proj(torch.cat(parts + [feats["dense"]], dim=-1)), dim=-1)


class TwoTower(nn.Module):
    def __init__(self, user_tower, item_tower, temperature):
        super().__init__()
        self.user_tower = user_tower
        self.item_tower = item_tower
        self.temperature = temperature

    def forward(self, user, item):
        return self.user_tower(user) @ self.item_tower(item).T / self.temperature


@dataclass
class RankerConfig:
    catalog_size: int
    n_actions: int
    width: int
    n_interests: int


class SessionRanker(nn.Module):
    def __init__(self, config: RankerConfig):
        super().__init__()
        self.items = nn.Embedding(config.catalog_size, config.width, padding_idx=0)
        self.actions = nn.Embedding(config.n_actions, config.width)
        self.dwell = nn.Linear(1, config.width)
        self.interests = nn.Parameter(torch.randn(config.n_interests, config.width))

    def forward(self, item_ids, action_ids, dwell, candidates):
        x = self.items(item_ids) + self.actions(action_ids) + self.dwell(dwell.unsqueeze(-1))
        logits = torch.einsum("kd,btd->bkt", self.interests, x)
        logits = logits.masked_fill((item_ids == 0).unsqueeze(1), -1e9)
        user = torch.bmm(logits.softmax(-1), x)
        return torch.bmm(user, self.items(candidates).transpose(1, 2)).max(1).values


@dataclass
class ASRConfig:
    feat_bins: int
    enc_dim: int
    enc_heads: int
    enc_blocks: int
    bpe_size: int
    subsampling: int = 2


class StreamingASR(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        if cfg.enc_dim % cfg.enc_heads:
            raise ValueError("enc_dim must be divisible by enc_heads")
        self.factor = cfg.subsampling
        self.frontend = nn.Conv1d(cfg.feat_bins, cfg.enc_dim, self.factor, stride=self.factor)
        layer = nn.TransformerEncoderLayer(cfg.enc_dim, cfg.enc_heads, 2 * cfg.enc_dim, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, cfg.enc_blocks, enable_nested_tensor=False)
        self.ctc = nn.Linear(cfg.enc_dim, cfg.bpe_size + 1)

    def forward(self, feats, feat_lens):
        x = F.gelu(self.frontend(feats.transpose(1, 2))).transpose(1, 2)
        out_lens = torch.div(feat_lens, self.factor, rounding_mode="floor").clamp(min=1)
        pad = torch.arange(x.size(1)) >= out_lens.unsqueeze(1)
        return self.ctc(self.encoder(x, src_key_padding_mask=pad)).log_softmax(-1), out_lens


class FraudGraph(nn.Module):
    def __init__(self, in_feats, hidden_feats, etypes):
        super().__init__()
        self.self_loop = nn.Linear(in_feats, hidden_feats)
        self.rel = nn.ModuleDict({etype: nn.Linear(in_feats, hidden_feats, bias=False) for etype in etypes})
        self.score = nn.Linear(hidden_feats, 2)

    def forward(self, x, edges, seed_nodes):
        h = self.self_loop(x)
        for etype, lin in self.rel.items():
            src, dst = edges[etype]
            h = h.index_add(0, dst, lin(x)[src])
        return self.score(F.relu(h)[seed_nodes])


class ClickRanker(nn.Module):
    def __init__(self, m_spa, ln_emb, ln_bot, ln_top):
        super().__init__()
        if ln_bot[-1] != m_spa:
            raise ValueError(f"bottom MLP ends in {ln_bot[-1]}, embeddings have {m_spa}")
        n = len(ln_emb) + 1
        n_inter = n * (n - 1) // 2 + m_spa
        if ln_top[0] != n_inter:
            raise ValueError(f"top MLP starts with {ln_top[0]}, interactions have {n_inter}")
        self.emb_l = nn.ModuleList([nn.EmbeddingBag(rows, m_spa, mode="sum") for rows in ln_emb])
        self.bot_l, self.top_l = self.mlp(ln_bot), self.mlp(ln_top)

    def mlp(self, ln):
        return nn.Sequential(*[m for a, b in zip(ln[:-1], ln[1:]) for m in (nn.Linear(a, b), nn.ReLU())][:-1])

    def forward(self, dense_x, lS_i):
        x = self.bot_l(dense_x)
        stacked = torch.stack([x] + [emb(idx) for emb, idx in zip(self.emb_l, lS_i)], dim=1)
        i, j = torch.tril_indices(stacked.size(1), stacked.size(1), offset=-1)
        z = torch.bmm(stacked, stacked.transpose(1, 2))[:, i, j]
        return torch.sigmoid(self.top_l(torch.cat([x, z], 1)))


class PlainTrunk(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.out_channels = list(widths)
        self.stages = nn.ModuleList([nn.Conv2d(a, b, 3, 2, 1) for a, b in zip([3] + self.out_channels, widths)])

    def forward(self, x):
        feats = []
        for stage in self.stages:
            x = F.relu(stage(x))
            feats.append(x)
        return feats


class PyramidDetector(nn.Module):
    def __init__(self, trunk, pyramid_width, anchors_per_cell, n_things):
        super().__init__()
        self.trunk = trunk
        self.laterals = nn.ModuleList([nn.Conv2d(c, pyramid_width, 1) for c in trunk.out_channels])
        self.cls = nn.Conv2d(pyramid_width, anchors_per_cell * n_things, 3, padding=1)
        self.box = nn.Conv2d(pyramid_width, anchors_per_cell * 4, 3, padding=1)

    def forward(self, images):
        results = []
        for img in images:
            feats = [lat(f) for lat, f in zip(self.laterals, self.trunk(img.unsqueeze(0)))]
            for k in range(len(feats) - 1, 0, -1):
                feats[k - 1] = feats[k - 1] + F.interpolate(feats[k], size=feats[k - 1].shape[-2:])
            results.append({"logits": [self.cls(f)[0] for f in feats], "boxes": [self.box(f)[0] for f in feats]})
        return results


class AcousticModel(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.symbols = nn.Embedding(hparams.n_symbols, hparams.enc_width)
        self.speakers = nn.Embedding(hparams.n_speakers, hparams.enc_width)
        self.enc = nn.LSTM(hparams.enc_width, hparams.enc_width // 2, batch_first=True, bidirectional=True)
        self.duration = nn.Linear(hparams.enc_width, 1)
        self.dec = nn.GRU(hparams.enc_width, hparams.dec_width, batch_first=True)
        self.mel = nn.Linear(hparams.dec_width, hparams.n_mel_channels)

    def forward(self, phonemes, speaker, durations):
        h, _ = self.enc(self.symbols(phonemes) + self.speakers(speaker).unsqueeze(1))
        log_dur = self.duration(h).squeeze(-1)
        frames = [torch.repeat_interleave(h[i], durations[i], dim=0) for i in range(h.size(0))]
        y, _ = self.dec(nn.utils.rnn.pad_sequence(frames, batch_first=True))
        return self.mel(y), log_dur


class SqueezeUnit(nn.Module):
    def __init__(self, inplanes, planes, stride):
        super().__init__()
        self.conv = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn = nn.BatchNorm2d(planes)
        self.gate = nn.Linear(planes, planes)

    def forward(self, x):
        y = F.relu(self.bn(self.conv(x)))
        return y * torch.sigmoid(self.gate(y.mean((2, 3))))[:, :, None, None]


class StagedNet(nn.Module):
    def __init__(self, unit, repeats, planes, n_logits):
        super().__init__()
        if len(repeats) != len(planes):
            raise ValueError("one width per stage")
        self.stem = nn.Conv2d(3, planes[0], 3, 2, 1)
        stages, prev = [], planes[0]
        for n, p in zip(repeats, planes):
            for i in range(n):
                stages.append(unit(prev, p, 2 if i == 0 else 1))
                prev = p
        self.stages = nn.Sequential(*stages)
        self.fc = nn.Linear(prev, n_logits)

    def forward(self, x):
        return self.fc(self.stages(self.stem(x)).mean((2, 3)))
