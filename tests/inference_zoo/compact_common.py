"""Hard: what is common: code of tutorials, papers, competitions and companies, with arguments of every kind.

Long because it is a list of models.
"""

import math
import random
from dataclasses import dataclass, field
from typing import Dict, List, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "CLSTM",
    "RGCN",
    "AdsMultiTask",
    "AnswerTracer",
    "BirdSED",
    "CaptionDecoder",
    "CondWaveNet",
    "ContactNet",
    "CopyDec",
    "CouplingFlow",
    "DigitCVAE",
    "FaceGenerator",
    "LesionMetaNet",
    "MolCouplingNet",
    "MovieMF",
    "NeuralBanditRanker",
    "NextClickModel",
    "PartSegPN",
    "PoemWriter",
    "PortfolioAgent",
    "RecurrentActorCritic",
    "RotE",
    "SaltUnet",
    "SharpenNet",
    "SignatureTriplet",
    "SingleShotDetector",
    "StoreSalesNN",
    "TextLineRecognizer",
    "Translator",
    "TurbineModel",
    "TwoTowerRetriever",
    "VisualQuestionAnswering",
    "WordCharTagger",
]


# ---------------------------------------------------------------- tutorials


class ReaderRNN(nn.Module):
    def __init__(self, n_words_in, emb, units):
        super().__init__()
        self.embed = nn.Embedding(n_words_in, emb, padding_idx=0)
        self.rnn = nn.GRU(emb, units, batch_first=True)

    def forward(self, src, src_len):
        packed = pack_padded_sequence(self.embed(src), src_len.cpu(), batch_first=True, enforce_sorted=False)
        _, h = self.rnn(packed)
        return h


class WriterRNN(nn.Module):
    def __init__(self, n_words_out, emb, units):
        super().__init__()
        self.n_words_out = n_words_out
        self.embed = nn.Embedding(n_words_out, emb)
        self.rnn = nn.GRU(emb, units, batch_first=True)
        self.out = nn.Linear(units, n_words_out)

    def forward(self, token, h):
        y, h = self.rnn(self.embed(token).unsqueeze(1), h)
        return self.out(y.squeeze(1)), h


class Translator(nn.Module):
    def __init__(self, reader, writer, sos_id):
        super().__init__()
        self.reader = reader
        self.writer = writer
        self.sos_id = sos_id

    def forward(self, src, src_len, trg, teacher_forcing=0.5):
        h = self.reader(src, src_len)
        token = torch.full((src.size(0),), self.sos_id, dtype=torch.long, device=src.device)
        outputs = []
        for t in range(trg.size(1)):
            logits, h = self.writer(token, h)
            outputs.append(logits)
            token = trg[:, t] if random.random() < teacher_forcing else logits.argmax(1)  # noqa: S311
        return torch.stack(outputs, 1)


class WordCharTagger(nn.Module):
    def __init__(self, n_words, n_chars, n_tags, word_emb, char_emb, units):
        super().__init__()
        self.word_embedding = nn.Embedding(n_words, word_emb)
        self.char_embedding = nn.Embedding(n_chars, char_emb, padding_idx=0)
        self.char_conv = nn.Conv1d(char_emb, char_emb, 3, padding=1)
        self.lstm = nn.LSTM(word_emb + char_emb, units, batch_first=True, bidirectional=True)
        self.to_tags = nn.Linear(2 * units, n_tags)

    def forward(self, words, chars, mask):
        b, n_w, n_c = chars.shape
        c = self.char_embedding(chars.view(b * n_w, n_c)).transpose(1, 2)
        c = self.char_conv(c).max(dim=2)[0].view(b, n_w, -1)
        x = torch.cat([self.word_embedding(words), c], dim=-1)
        out, _ = self.lstm(x)
        return self.to_tags(out) * mask.unsqueeze(-1).float()


class CaptionDecoder(nn.Module):
    def __init__(self, n_vocab, emb_dim, feat_dim, attn_dim, dec_dim):
        super().__init__()
        self.n_vocab = n_vocab
        self.embedding = nn.Embedding(n_vocab, emb_dim)
        self.W_feat = nn.Linear(feat_dim, attn_dim)
        self.W_hid = nn.Linear(dec_dim, attn_dim)
        self.score = nn.Linear(attn_dim, 1)
        self.init_h = nn.Linear(feat_dim, dec_dim)
        self.init_c = nn.Linear(feat_dim, dec_dim)
        self.cell = nn.LSTMCell(emb_dim + feat_dim, dec_dim)
        self.fc = nn.Linear(dec_dim, n_vocab)

    def forward(self, img_feats, captions, cap_lens):
        h, c = self.init_h(img_feats.mean(1)), self.init_c(img_feats.mean(1))
        words = self.embedding(captions)
        steps = int(cap_lens.max()) - 1
        preds = torch.zeros(captions.size(0), steps, self.n_vocab)
        for t in range(steps):
            e = self.score(torch.tanh(self.W_feat(img_feats) + self.W_hid(h).unsqueeze(1))).squeeze(2)
            alpha = torch.softmax(e, dim=1)
            ctx = (alpha.unsqueeze(2) * img_feats).sum(1)
            h, c = self.cell(torch.cat([words[:, t], ctx], dim=1), (h, c))
            preds[:, t] = self.fc(h) * (cap_lens - 1 > t).unsqueeze(1)
        return preds


class DigitCVAE(nn.Module):
    def __init__(self, n_pixels, n_digits, n_hidden, n_latent):
        super().__init__()
        self.n_digits = n_digits
        self.enc = nn.Linear(n_pixels + n_digits, n_hidden)
        self.mu = nn.Linear(n_hidden, n_latent)
        self.log_var = nn.Linear(n_hidden, n_latent)
        self.dec = nn.Sequential(
            nn.Linear(n_latent + n_digits, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_pixels), nn.Sigmoid()
        )

    def forward(self, img, digit):
        y = F.one_hot(digit, self.n_digits).float()
        h = F.relu(self.enc(torch.cat([img.flatten(1), y], dim=1)))
        mu, log_var = self.mu(h), self.log_var(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * log_var)
        return self.dec(torch.cat([z, y], dim=1)), mu, log_var


class PoemWriter(nn.Module):
    def __init__(self, cell, n_symbols, emb, units, depth):
        super().__init__()
        if cell not in ("LSTM", "GRU", "RNN"):
            raise ValueError("cell must be LSTM, GRU or RNN, got %r" % cell)
        self.embed = nn.Embedding(n_symbols, emb)
        self.rnn = getattr(nn, cell)(emb, units, depth, batch_first=True)
        self.head = nn.Linear(units, n_symbols)

    def forward(self, symbols, state):
        out, state = self.rnn(self.embed(symbols), state)
        return self.head(out), state


class SignatureTriplet(nn.Module):
    def __init__(self, tower, tower_out, margin):
        super().__init__()
        self.tower = tower
        self.project = nn.Linear(tower_out, 16)
        self.margin = margin

    def embed(self, img):
        return F.normalize(self.project(self.tower(img).flatten(1)), dim=1)

    def forward(self, anchor, genuine, forged):
        a, g, f = self.embed(anchor), self.embed(genuine), self.embed(forged)
        return F.relu((a - g).pow(2).sum(1) - (a - f).pow(2).sum(1) + self.margin).mean()


class MovieMF(nn.Module):
    def __init__(self, n_users, n_movies, n_factors, y_range):
        super().__init__()
        self.user_factors = nn.Embedding(n_users, n_factors)
        self.user_bias = nn.Embedding(n_users, 1)
        self.movie_factors = nn.Embedding(n_movies, n_factors)
        self.movie_bias = nn.Embedding(n_movies, 1)
        self.y_range = y_range

    def forward(self, x):
        users, movies = x[:, 0], x[:, 1]
        res = (self.user_factors(users) * self.movie_factors(movies)).sum(dim=1, keepdim=True)
        res = res + self.user_bias(users) + self.movie_bias(movies)
        lo, hi = self.y_range
        return torch.sigmoid(res) * (hi - lo) + lo


class SharpenNet(nn.Module):
    def __init__(self, zoom, n_filters, n_res):
        super().__init__()
        self.zoom = zoom
        self.first = nn.Conv2d(1, n_filters, 5, padding=2)
        self.res = nn.ModuleList([nn.Conv2d(n_filters, n_filters, 3, padding=1) for _ in range(n_res)])
        self.last = nn.Conv2d(n_filters, zoom**2, 3, padding=1)

    def forward(self, y_channel):
        x = torch.relu(self.first(y_channel))
        for conv in self.res:
            x = x + torch.relu(conv(x))
        up = F.interpolate(y_channel, scale_factor=self.zoom, mode="bicubic", align_corners=False)
        return up + F.pixel_shuffle(self.last(x), self.zoom)


class FaceGenerator(nn.Module):
    def __init__(self, noise_size, n_attributes, g_maps, out_size):
        super().__init__()
        n_up = int(math.log2(out_size)) - 2
        assert 2 ** (n_up + 2) == out_size, "out_size should be a power of two"
        ch = g_maps * 2**n_up
        self.attr = nn.Linear(n_attributes, noise_size)
        self.start = nn.ConvTranspose2d(2 * noise_size, ch, 4)
        layers = []
        for _ in range(n_up):
            layers += [nn.ConvTranspose2d(ch, ch // 2, 4, 2, 1), nn.BatchNorm2d(ch // 2), nn.ReLU()]
            ch //= 2
        self.ups = nn.Sequential(*layers, nn.Conv2d(ch, 3, 3, padding=1), nn.Tanh())

    def forward(self, noise, attributes):
        z = torch.cat([noise, self.attr(attributes.float())], dim=1)
        return self.ups(torch.relu(self.start(z[:, :, None, None])))


# ----------------------------------------------------------------- research


class RGCNLayer(nn.Module):
    def __init__(self, nin, nout, nrel, nbases):
        super().__init__()
        self.basis = nn.Parameter(torch.randn(nbases, nin, nout) * 0.1)
        self.comb = nn.Parameter(torch.randn(nrel, nbases))
        self.loop = nn.Linear(nin, nout)

    def forward(self, x, edge_index, edge_type):
        src, dst = edge_index
        w = torch.einsum("rb,bio->rio", self.comb, self.basis)
        msg = torch.bmm(x[src].unsqueeze(1), w[edge_type]).squeeze(1)
        deg = torch.zeros(x.size(0)).index_add_(0, dst, torch.ones(dst.size(0))).clamp(min=1)
        agg = torch.zeros(x.size(0), msg.size(1)).index_add_(0, dst, msg)
        return self.loop(x) + agg / deg.unsqueeze(1)


class RGCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, nrel, nbases, dropout):
        super().__init__()
        self.gc1 = RGCNLayer(nfeat, nhid, nrel, nbases)
        self.gc2 = RGCNLayer(nhid, nclass, nrel, nbases)
        self.dropout = dropout

    def forward(self, x, edge_index, edge_type):
        x = F.relu(self.gc1(x, edge_index, edge_type))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.gc2(x, edge_index, edge_type), dim=1)


class CouplingFlow(nn.Module):
    def __init__(self, d_x, d_c, d_h, K):
        super().__init__()
        assert d_x % 2 == 0
        self.nets = nn.ModuleList(
            nn.Sequential(nn.Linear(d_x // 2 + d_c, d_h), nn.Tanh(), nn.Linear(d_h, d_x)) for _ in range(K)
        )

    def forward(self, x, c, inverse=False):
        logdet = x.new_zeros(x.size(0))
        for net in reversed(self.nets) if inverse else self.nets:
            if inverse:
                x = x.flip(1)
            a, b = x.chunk(2, dim=1)
            s, t = net(torch.cat([a, c], 1)).chunk(2, dim=1)
            s = torch.tanh(s)
            b = (b - t) * torch.exp(-s) if inverse else b * torch.exp(s) + t
            logdet = logdet + (-s if inverse else s).sum(1)
            x = torch.cat([a, b], 1)
            if not inverse:
                x = x.flip(1)
        return x, logdet


class CondWaveNet(nn.Module):
    def __init__(self, n_q, res_c, skip_c, cond_c, n_stack, n_layer, hop):
        super().__init__()
        self.emb = nn.Embedding(n_q, res_c)
        self.up = nn.ConvTranspose1d(cond_c, cond_c, hop, stride=hop)
        dil = [2**i for i in range(n_layer)] * n_stack
        self.conv = nn.ModuleList(nn.Conv1d(res_c, 2 * res_c, 2, dilation=d) for d in dil)
        self.cond = nn.ModuleList(nn.Conv1d(cond_c, 2 * res_c, 1) for _ in dil)
        self.res = nn.ModuleList(nn.Conv1d(res_c, res_c, 1) for _ in dil)
        self.skip = nn.ModuleList(nn.Conv1d(res_c, skip_c, 1) for _ in dil)
        self.out = nn.Conv1d(skip_c, n_q, 1)

    def forward(self, x, mel):
        h = self.emb(x).transpose(1, 2)
        c = self.up(mel)
        assert c.size(2) == h.size(2), (c.size(), h.size())
        s = 0
        for conv, cond, res, skip in zip(self.conv, self.cond, self.res, self.skip):
            z = conv(F.pad(h, (conv.dilation[0], 0))) + cond(c)
            f, g = z.chunk(2, dim=1)
            z = torch.tanh(f) * torch.sigmoid(g)
            s = s + skip(z)
            h = h + res(z)
        return self.out(F.relu(s))


class PartSegPN(nn.Module):
    def __init__(self, c_in, n_cat, n_part, mlp):
        super().__init__()
        self.n_cat = n_cat
        dims = [c_in] + list(mlp)
        self.mlp = nn.ModuleList(nn.Conv1d(i, o, 1) for i, o in zip(dims[:-1], dims[1:]))
        self.seg = nn.Conv1d(sum(mlp) + mlp[-1] + n_cat, n_part, 1)

    def forward(self, pts, cat):
        B, _, N = pts.shape
        feats = []
        for m in self.mlp:
            pts = F.relu(m(pts))
            feats.append(pts)
        g = pts.max(2)[0]
        g = torch.cat([g, F.one_hot(cat, self.n_cat).float()], 1)
        return self.seg(torch.cat(feats + [g.unsqueeze(2).expand(-1, -1, N)], 1)).transpose(1, 2)


class ContactNet(nn.Module):
    def __init__(self, n_aa, d_m, d_z, h, n_bin):
        super().__init__()
        assert d_m % h == 0
        self.emb = nn.Embedding(n_aa, d_m)
        self.row = nn.MultiheadAttention(d_m, h, batch_first=True)
        self.a, self.b = nn.Linear(d_m, d_z), nn.Linear(d_m, d_z)
        self.z = nn.Linear(1, d_z)
        self.out = nn.Linear(d_z, n_bin)

    def forward(self, msa, res_idx, res_mask):
        B, S, L = msa.shape
        m = self.emb(msa).view(B * S, L, -1)
        pad = (~res_mask).repeat_interleave(S, 0)
        m = m + self.row(m, m, m, key_padding_mask=pad)[0]
        m = m.view(B, S, L, -1)
        o = torch.einsum("bsid,bsjd->bijd", self.a(m), self.b(m)) / S
        d = (res_idx[:, :, None] - res_idx[:, None, :]).abs().float().log1p().unsqueeze(-1)
        z = self.out(F.relu(o + self.z(d)))
        pm = res_mask[:, :, None] & res_mask[:, None, :]
        return ((z + z.transpose(1, 2)) / 2).masked_fill(~pm.unsqueeze(-1), 0.0)


class RotE(nn.Module):
    def __init__(self, n_ent, n_rel, dim, gamma, eps):
        super().__init__()
        self.gamma = gamma
        self.rng = (gamma + eps) / dim
        self.ent = nn.Parameter(torch.empty(n_ent, 2 * dim).uniform_(-self.rng, self.rng))
        self.rel = nn.Parameter(torch.empty(n_rel, dim).uniform_(-self.rng, self.rng))

    def forward(self, pos, neg, mode):
        h, t = self.ent[pos[:, 0]].unsqueeze(1), self.ent[pos[:, 2]].unsqueeze(1)
        if mode == "head-batch":
            h = self.ent[neg]
        elif mode == "tail-batch":
            t = self.ent[neg]
        else:
            raise ValueError("mode %s not supported" % mode)
        phase = self.rel[pos[:, 1]].unsqueeze(1) / (self.rng / math.pi)
        (hr, hi), (tr, ti) = h.chunk(2, -1), t.chunk(2, -1)
        re = hr * phase.cos() - hi * phase.sin() - tr
        im = hr * phase.sin() + hi * phase.cos() - ti
        return self.gamma - torch.stack([re, im]).norm(dim=0).sum(-1)


class CopyDec(nn.Module):
    def __init__(self, V, d_e, d_h):
        super().__init__()
        self.E = nn.Embedding(V, d_e)
        self.rnn = nn.LSTMCell(d_e + d_h, d_h)
        self.Wa = nn.Linear(d_h, d_h, bias=False)
        self.gen = nn.Linear(2 * d_h, V)
        self.sw = nn.Linear(2 * d_h + d_e, 1)

    def forward(self, y, s, ctx, enc_out, enc_mask, src_ext, n_oov):
        e = self.E(y)
        s = self.rnn(torch.cat([e, ctx], 1), s)
        a = torch.bmm(enc_out, self.Wa(s[0]).unsqueeze(2)).squeeze(2)
        a = F.softmax(a.masked_fill(enc_mask == 0, -1e9), 1)
        ctx = torch.bmm(a.unsqueeze(1), enc_out).squeeze(1)
        p = torch.sigmoid(self.sw(torch.cat([s[0], ctx, e], 1)))
        pv = F.softmax(self.gen(torch.cat([s[0], ctx], 1)), 1) * p
        pv = torch.cat([pv, pv.new_zeros(pv.size(0), n_oov)], 1)
        return pv.scatter_add(1, src_ext, a * (1 - p)), s, ctx


class CLSTM(nn.Module):
    def __init__(self, in_c, hid_c, ks, t_out):
        super().__init__()
        assert len(hid_c) == len(ks)
        cs = [in_c] + list(hid_c)
        self.hid_c, self.t_out = hid_c, t_out
        self.gates = nn.ModuleList(
            nn.Conv2d(cs[i] + cs[i + 1], 4 * cs[i + 1], k, padding=k // 2) for i, k in enumerate(ks)
        )
        self.out = nn.Conv2d(hid_c[-1], in_c, 1)

    def step(self, x, st):
        new = []
        for g, (h, c) in zip(self.gates, st):
            i, f, o, u = g(torch.cat([x, h], 1)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(u)  # noqa: PLW2901
            x = torch.sigmoid(o) * torch.tanh(c)
            new.append((x, c))
        return self.out(x), new

    def forward(self, radar):
        b, t, _, h, w = radar.shape
        st = [(radar.new_zeros(b, k, h, w), radar.new_zeros(b, k, h, w)) for k in self.hid_c]
        for i in range(t):
            y, st = self.step(radar[:, i], st)
        ys = [y]
        for _ in range(self.t_out - 1):
            y, st = self.step(y, st)
            ys.append(y)
        return torch.stack(ys, 1)


# ------------------------------------------------------------- competitions


class ScSE(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.c = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(ch, max(ch // 4, 1), 1),
            nn.ReLU(),
            nn.Conv2d(max(ch // 4, 1), ch, 1),
            nn.Sigmoid(),
        )
        self.s = nn.Sequential(nn.Conv2d(ch, 1, 1), nn.Sigmoid())

    def forward(self, x):
        return x * self.c(x) + x * self.s(x)


class SaltUnet(nn.Module):
    def __init__(self, widths, att_block, deep_sup):
        super().__init__()
        self.deep_sup = deep_sup
        self.down = nn.ModuleList()
        ch = 1
        for w in widths:
            self.down.append(nn.Sequential(nn.Conv2d(ch, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU(), att_block(w)))
            ch = w
        rev = list(widths)[::-1]
        self.up = nn.ModuleList(nn.Conv2d(a + b, b, 3, padding=1) for a, b in zip(rev[:-1], rev[1:]))
        self.logit = nn.Conv2d(widths[0], 1, 1)
        self.ds = nn.ModuleList(nn.Conv2d(w, 1, 1) for w in rev[1:])

    def forward(self, img):
        skips, x = [], img
        for i, d in enumerate(self.down):
            x = d(x if i == 0 else F.max_pool2d(x, 2))
            skips.append(x)
        aux = []
        for up, ds, skip in zip(self.up, self.ds, skips[-2::-1]):
            x = F.interpolate(x, size=skip.shape[2:], mode="bilinear", align_corners=False)
            x = F.relu(up(torch.cat([x, skip], 1)))
            aux.append(F.interpolate(ds(x), size=img.shape[2:]))
        return (self.logit(x), aux) if self.deep_sup else self.logit(x)


class BirdSED(nn.Module):
    def __init__(self, sr, n_fft, hop, n_mels, n_birds):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        freqs = torch.linspace(0, sr / 2, n_fft // 2 + 1)
        mel = 2595 * torch.log10(1 + freqs / 700)
        centers = torch.linspace(0, float(mel[-1]), n_mels + 2)
        width = centers[1] - centers[0]
        self.register_buffer("fb", F.relu(1 - (mel[:, None] - centers[None, 1:-1]).abs() / width))
        self.bn0 = nn.BatchNorm2d(n_mels)
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.att = nn.Conv1d(16, n_birds, 1)
        self.cla = nn.Conv1d(16, n_birds, 1)

    def forward(self, wave):
        win = torch.hann_window(self.n_fft, device=wave.device)
        spec = torch.stft(wave, self.n_fft, self.hop, window=win, return_complex=True).abs() ** 2
        x = torch.log(spec.transpose(1, 2) @ self.fb + 1e-6)
        x = self.bn0(x.unsqueeze(1).transpose(1, 3)).transpose(1, 3)
        x = F.relu(self.conv(x)).mean(3)
        norm_att = torch.softmax(torch.tanh(self.att(x)), dim=-1)
        frame = torch.sigmoid(self.cla(x))
        return {"clipwise_output": (norm_att * frame).sum(2), "framewise_output": frame.transpose(1, 2)}


class StoreSalesNN(nn.Module):
    def __init__(self, emb_szs, n_cont, layers, ps):
        super().__init__()
        assert len(layers) == len(ps)
        self.embs = nn.ModuleList([nn.Embedding(c, s) for c, s in emb_szs])
        self.bn_cont = nn.BatchNorm1d(n_cont)
        sizes = [sum(s for _, s in emb_szs) + n_cont] + list(layers)
        seq = []
        for i, p in enumerate(ps):
            seq += [nn.Linear(sizes[i], sizes[i + 1]), nn.ReLU(), nn.BatchNorm1d(sizes[i + 1]), nn.Dropout(p)]
        self.layers = nn.Sequential(*seq, nn.Linear(sizes[-1], 1))

    def forward(self, x_cat, x_cont):
        x = torch.cat([e(x_cat[:, i]) for i, e in enumerate(self.embs)], 1)
        return self.layers(torch.cat([x, self.bn_cont(x_cont)], 1))


class LesionMetaNet(nn.Module):
    def __init__(self, backbone, n_feats, n_meta, meta_dims, out_dim):
        super().__init__()
        self.backbone = backbone
        self.dropouts = nn.ModuleList([nn.Dropout(0.5) for _ in range(5)])
        self.meta = nn.Sequential(
            nn.Linear(n_meta, meta_dims[0]),
            nn.BatchNorm1d(meta_dims[0]),
            nn.SiLU(),
            nn.Linear(meta_dims[0], meta_dims[1]),
            nn.BatchNorm1d(meta_dims[1]),
            nn.SiLU(),
        )
        self.myfc = nn.Linear(n_feats + meta_dims[1], out_dim)

    def forward(self, image, x_meta):
        x = self.backbone(image)
        if x.dim() == 4:
            x = x.mean(dim=(2, 3))
        x = torch.cat((x, self.meta(x_meta)), dim=1)
        return sum(self.myfc(d(x)) for d in self.dropouts) / len(self.dropouts)


class NextClickModel(nn.Module):
    def __init__(self, n_aids, n_types, max_len, d, n_head, n_blk):
        super().__init__()
        self.aid = nn.Embedding(n_aids + 1, d, padding_idx=0)
        self.typ = nn.Embedding(n_types, d)
        self.pos = nn.Embedding(max_len, d)
        self.dt = nn.Linear(1, d)
        layer = nn.TransformerEncoderLayer(d, n_head, 2 * d, dropout=0.1, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, n_blk, enable_nested_tensor=False)

    def forward(self, batch):
        aid = batch["aid"]
        L = aid.size(1)
        x = self.aid(aid) + self.typ(batch["type"]) + self.pos(torch.arange(L, device=aid.device))
        x = x + self.dt(torch.log1p(batch["ts_diff"].clamp(min=0)).unsqueeze(-1))
        causal = torch.ones(L, L, dtype=torch.bool, device=aid.device).triu(1)
        x = self.blocks(x, mask=causal)
        last = x[torch.arange(x.size(0)), batch["len"] - 1]
        return last @ self.aid.weight[1:].T


class MolCouplingNet(nn.Module):
    def __init__(self, n_atom, n_bond, dim, n_step):
        super().__init__()
        self.atom = nn.Embedding(n_atom, dim)
        self.bond = nn.Embedding(n_bond, dim)
        self.dist = nn.Linear(1, dim)
        self.msg = nn.Linear(3 * dim, dim)
        self.gru = nn.GRUCell(dim, dim)
        self.n_step = n_step
        self.head = nn.Linear(2 * dim, 1)

    def forward(self, data):
        h = self.atom(data.z)
        i, j = data.edge_index
        d = (data.pos[i] - data.pos[j]).norm(dim=1, keepdim=True)
        e = self.bond(data.edge_type) + self.dist(d)
        for _ in range(self.n_step):
            m = F.relu(self.msg(torch.cat([h[i], h[j], e], 1)))
            h = self.gru(torch.zeros_like(h).index_add_(0, j, m), h)
        a, b = data.pair_index
        return self.head(torch.cat([h[a] + h[b], h[a] * h[b]], 1)).squeeze(1)


class AnswerTracer(nn.Module):
    def __init__(self, n_skill, n_part, max_seq, embed_dim, nhead):
        super().__init__()
        self.n_skill = n_skill
        self.inter_emb = nn.Embedding(2 * n_skill + 1, embed_dim)
        self.e_emb = nn.Embedding(n_skill + 1, embed_dim)
        self.part_emb = nn.Embedding(n_part + 1, embed_dim)
        self.pos_emb = nn.Embedding(max_seq - 1, embed_dim)
        self.att = nn.MultiheadAttention(embed_dim, nhead, dropout=0.2)
        self.ln = nn.LayerNorm(embed_dim)
        self.pred = nn.Linear(embed_dim, 1)

    def forward(self, past_ids, past_correct, next_ids, next_part):
        x = past_ids + self.n_skill * past_correct
        n = x.size(1)
        x = self.inter_emb(x) + self.pos_emb(torch.arange(n, device=x.device)).unsqueeze(0)
        q = self.e_emb(next_ids) + self.part_emb(next_part)
        x, q = x.permute(1, 0, 2), q.permute(1, 0, 2)
        future = torch.triu(torch.ones(n, n, device=x.device), 1).bool()
        att, w = self.att(q, x, x, attn_mask=future)
        return self.pred(self.ln(att + q).permute(1, 0, 2)).squeeze(-1), w


class TurbineModel(nn.Module):
    def __init__(self, CFG):
        super().__init__()
        self.CFG = CFG
        self.id_emb = nn.Embedding(CFG.n_turbines, CFG.id_dim)
        self.enc = nn.GRU(len(CFG.hist_cols) + CFG.id_dim, CFG.hidden, batch_first=True)
        self.dec = nn.GRUCell(len(CFG.known_cols), CFG.hidden)
        self.out = nn.Linear(CFG.hidden, len(CFG.quantiles))

    def forward(self, inputs):
        hist, known, tid = inputs["hist"], inputs["known"], inputs["turbine_id"]
        assert known.size(1) == self.CFG.horizon
        ids = self.id_emb(tid).unsqueeze(1).expand(-1, hist.size(1), -1)
        h = self.enc(torch.cat([hist, ids], -1))[1][0]
        adj = inputs["adj"].softmax(-1)
        h = 0.5 * h + 0.5 * adj @ h
        preds = []
        for t in range(self.CFG.horizon):
            h = self.dec(known[:, t], h)
            preds.append(self.out(h))
        return torch.stack(preds, 1)


# ------------------------------------------------------------------ company

BACKBONES = {}
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU}


def register_backbone(name):
    def wrap(cls):
        BACKBONES[name] = cls
        return cls

    return wrap


@register_backbone("plain")
class PlainBackbone(nn.Module):
    def __init__(self, in_channels, channels, act="relu"):
        super().__init__()
        self.stages = nn.ModuleList()
        for c in channels:
            self.stages.append(nn.Sequential(nn.Conv2d(in_channels, c, 3, 2, 1), ACTIVATIONS[act]()))
            in_channels = c
        self.out_channels = list(channels)

    def forward(self, x):
        outs = []
        for stage in self.stages:
            x = stage(x)
            outs.append(x)
        return outs


@register_backbone("tall")
class TallBackbone(nn.Module):
    def __init__(self, in_channels, width):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, width, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, stride=(2, 1), padding=1)
        self.out_channels = width

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x))))


class SingleShotDetector(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        bb = dict(cfg["backbone"])
        self.backbone = BACKBONES[bb.pop("type")](**bb)
        self.levels = cfg["head"]["levels"]
        self.num_classes = cfg["head"]["num_classes"]
        n_anchor = len(cfg["head"]["aspect_ratios"])
        chans = [self.backbone.out_channels[i] for i in self.levels]
        self.cls_heads = nn.ModuleList(nn.Conv2d(c, n_anchor * self.num_classes, 3, padding=1) for c in chans)
        self.box_heads = nn.ModuleList(nn.Conv2d(c, n_anchor * 4, 3, padding=1) for c in chans)

    def forward(self, images: List[torch.Tensor]):
        h, w = max(i.shape[1] for i in images), max(i.shape[2] for i in images)
        x = torch.stack([F.pad(i, (0, w - i.shape[2], 0, h - i.shape[1])) for i in images])
        feats = self.backbone(x)
        scores, boxes = [], []
        for lvl, cls, box in zip(self.levels, self.cls_heads, self.box_heads):
            scores.append(cls(feats[lvl]).permute(0, 2, 3, 1).reshape(len(images), -1, self.num_classes))
            boxes.append(box(feats[lvl]).permute(0, 2, 3, 1).reshape(len(images), -1, 4))
        return {"scores": torch.cat(scores, 1).sigmoid(), "boxes": torch.cat(boxes, 1)}


@dataclass
class TowerConfig:
    cardinalities: Dict[str, int]
    emb_dim: int = 8
    mlp: List[int] = field(default_factory=lambda: [32])


@dataclass
class RetrieverConfig:
    query_vocab: int
    item: TowerConfig
    out_dim: int
    temperature: float = 0.07


class TwoTowerRetriever(nn.Module):
    def __init__(self, config: RetrieverConfig):
        super().__init__()
        self.config = config
        self.query_emb = nn.EmbeddingBag(config.query_vocab, config.out_dim, mode="mean")
        item = config.item
        self.item_embs = nn.ModuleDict({k: nn.Embedding(n, item.emb_dim) for k, n in item.cardinalities.items()})
        dims = [item.emb_dim * len(item.cardinalities), *item.mlp]
        hidden = [m for a, b in zip(dims[:-1], dims[1:]) for m in (nn.Linear(a, b), nn.ReLU())]
        self.item_mlp = nn.Sequential(*hidden, nn.Linear(dims[-1], config.out_dim))

    def forward(self, query_tokens, query_offsets, item_features):
        q = F.normalize(self.query_emb(query_tokens, query_offsets), dim=-1)
        parts = [emb(item_features[name]) for name, emb in self.item_embs.items()]
        v = F.normalize(self.item_mlp(torch.cat(parts, dim=-1)), dim=-1)
        return q @ v.t() / self.config.temperature


class TextLineRecognizer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.backbone = BACKBONES[config["backbone"]["name"]](**config["backbone"]["params"])
        feat_h = -(-config["line_height"] // 4)
        self.line_height = config["line_height"]
        enc = config["encoder"]
        self.rnn = getattr(nn, enc["cell"])(
            self.backbone.out_channels * feat_h, enc["hidden"], enc["layers"], bidirectional=True, batch_first=True
        )
        self.ctc = nn.Linear(2 * enc["hidden"], len(config["alphabet"]) + 1)

    def forward(self, lines, widths):
        if lines.size(2) != self.line_height:
            raise ValueError(f"expected lines of height {self.line_height}, got {lines.size(2)}")
        x = self.backbone(lines)
        x = x.permute(0, 3, 1, 2).flatten(2)
        steps = torch.div(widths + 1, 2, rounding_mode="floor").clamp(max=x.size(1))
        packed = pack_padded_sequence(x, steps.cpu(), batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.ctc(out).log_softmax(-1), steps


class RecurrentActorCritic(nn.Module):
    def __init__(self, obs_sizes, action_dims, embed_width, core_cls):
        super().__init__()
        self.encoders = nn.ModuleDict({k: nn.Linear(n, embed_width) for k, n in obs_sizes.items()})
        self.core = core_cls(embed_width * len(obs_sizes), embed_width)
        self.policy_heads = nn.ModuleList(nn.Linear(embed_width, n) for n in action_dims)
        self.value_head = nn.Linear(embed_width, 1)

    def forward(self, obs, hidden, not_done):
        x = torch.cat([torch.relu(enc(obs[k])) for k, enc in self.encoders.items()], dim=-1)
        hidden = self.core(x, hidden * not_done.unsqueeze(-1))
        logits = [head(hidden) for head in self.policy_heads]
        return logits, self.value_head(hidden).squeeze(-1), hidden


class QuestionEncoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.output_dim = width
        self.embed = nn.Embedding(vocab_size, width, padding_idx=0)
        self.attn = nn.Linear(width, 1)

    def forward(self, tokens):
        x = self.embed(tokens)
        a = self.attn(x).squeeze(-1).masked_fill(tokens == 0, -1e4).softmax(-1)
        return (a.unsqueeze(-1) * x).sum(1)


class RegionEncoder(nn.Module):
    def __init__(self, region_dim, width):
        super().__init__()
        self.output_dim = width
        self.fc = nn.Linear(region_dim + 4, width)

    def forward(self, regions, boxes):
        return torch.relu(self.fc(torch.cat([regions, boxes], dim=-1)))


class VisualQuestionAnswering(nn.Module):
    def __init__(self, vision_encoder, text_encoder, fusion, num_answers):
        super().__init__()
        self.vision_encoder = vision_encoder
        self.text_encoder = text_encoder
        dv, dt = vision_encoder.output_dim, text_encoder.output_dim
        self.score = nn.Linear(dv + dt, 1)
        if fusion == "concat":
            self.fuse, width = (lambda a, b: torch.cat([a, b], dim=-1)), dv + dt
        elif fusion == "product":
            assert dv == dt, "product fusion needs equal widths"
            self.fuse, width = torch.mul, dv
        else:
            raise KeyError(fusion)
        self.classifier = nn.Linear(width, num_answers)

    def forward(self, region_feats, boxes, question):
        v = self.vision_encoder(region_feats, boxes)
        q = self.text_encoder(question)
        a = self.score(torch.cat([v, q.unsqueeze(1).expand(-1, v.size(1), -1)], dim=-1)).softmax(dim=1)
        return self.classifier(self.fuse((a * v).sum(1), q))


class NeuralBanditRanker(nn.Module):
    def __init__(self, context_width, num_arms, arm_width, hidden_widths, activation_cls, explore):
        super().__init__()
        self.arms = nn.Embedding(num_arms, arm_width)
        layers, width = [], context_width + arm_width
        for h in hidden_widths:
            layers += [nn.Linear(width, h), activation_cls()]
            width = h
        self.trunk = nn.Sequential(*layers)
        self.mean = nn.Linear(width, 1)
        self.log_std = nn.Linear(width, 1)
        self.explore = explore

    def forward(self, context, candidates, available):
        arms = self.arms(candidates)
        ctx = context.unsqueeze(1).expand(-1, arms.size(1), -1)
        h = self.trunk(torch.cat([ctx, arms], dim=-1))
        ucb = self.mean(h) + self.explore * self.log_std(h).exp()
        return ucb.squeeze(-1).masked_fill(~available, float("-inf"))


class AdsMultiTask(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.tables = nn.ModuleList([nn.EmbeddingBag(n, args.emb_width, mode="sum") for n in args.table_sizes])
        d = args.num_dense + args.emb_width * len(args.table_sizes)
        self.experts = nn.ModuleList([nn.Linear(d, args.expert_width) for _ in range(args.num_experts)])
        self.gates = nn.ModuleDict({t: nn.Linear(d, args.num_experts) for t in args.tasks})
        self.towers = nn.ModuleDict({t: nn.Linear(args.expert_width, 1) for t in args.tasks})

    def forward(self, dense, sparse):
        assert len(sparse) == len(self.tables)
        x = torch.cat([dense] + [table(ids) for table, ids in zip(self.tables, sparse)], dim=1)
        experts = torch.stack([torch.relu(e(x)) for e in self.experts], dim=1)
        out = {}
        for task, gate in self.gates.items():
            mixed = (gate(x).softmax(-1).unsqueeze(-1) * experts).sum(1)
            out[task] = torch.sigmoid(self.towers[task](mixed)).squeeze(-1)
        return out


@dataclass
class AgentSettings:
    tickers: List[str]
    indicators: List[str]
    lookback: int
    model_width: int
    attention_heads: int
    allow_short: bool = False

    def __post_init__(self):
        if self.model_width % self.attention_heads:
            raise ValueError("model_width must be a multiple of attention_heads")


class PortfolioAgent(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        n = len(settings.indicators)
        self.temporal = nn.Conv1d(n, settings.model_width, settings.lookback)
        self.cross = nn.MultiheadAttention(settings.model_width, settings.attention_heads, batch_first=True)
        self.score = nn.Linear(settings.model_width + 1, 1)
        self.cash = nn.Parameter(torch.zeros(1))

    def forward(self, history, prev_weights, tradable: Optional[torch.Tensor] = None):
        b, a, n, t = history.shape
        x = torch.relu(self.temporal(history.reshape(b * a, n, t))).view(b, a, -1)
        x = x + self.cross(x, x, x)[0]
        s = self.score(torch.cat([x, prev_weights[:, 1:].unsqueeze(-1)], dim=-1)).squeeze(-1)
        if tradable is not None:
            s = s.masked_fill(~tradable, -1e4)
        s = torch.cat([self.cash.expand(b, 1), s], dim=1)
        return torch.tanh(s) if self.settings.allow_short else s.softmax(dim=-1)
