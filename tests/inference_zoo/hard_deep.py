"""Hard: deep and slow models: refinement, decoders with loops, solvers, samplers, hierarchies, volumes, large sizes.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = [
    "BeamCaptioner",
    "DDIMSampler",
    "DocumentReranker",
    "IterativeFlow",
    "LatentODE",
    "ListenAttendSpell",
    "MillionItemRecommender",
    "NeuralOperator3d",
    "PonderingReader",
    "SwinVolumeSegmenter",
]


def bilinear_sampler(img, coords):
    height, width = img.shape[-2:]
    xgrid, ygrid = coords.split([1, 1], dim=-1)
    grid = torch.cat([2 * xgrid / (width - 1) - 1, 2 * ygrid / (height - 1) - 1], dim=-1)
    return F.grid_sample(img, grid, align_corners=True)


def coords_grid(batch, ht, wd):
    coords = torch.meshgrid(torch.arange(ht), torch.arange(wd), indexing="ij")
    return torch.stack(coords[::-1], dim=0).float()[None].repeat(batch, 1, 1, 1)


class CorrelationPyramid:
    """All pairs of two feature maps, at several scales, looked up around points."""

    def __init__(self, fmap1, fmap2, num_levels=4, radius=4):
        self.num_levels, self.radius = num_levels, radius
        batch, dim, ht, wd = fmap1.shape
        corr = torch.matmul(fmap1.view(batch, dim, ht * wd).transpose(1, 2), fmap2.view(batch, dim, ht * wd))
        corr = corr.reshape(batch * ht * wd, 1, ht, wd) / math.sqrt(dim)
        self.pyramid = [corr]
        for _ in range(num_levels - 1):
            corr = F.avg_pool2d(corr, 2, stride=2)
            self.pyramid.append(corr)

    def __call__(self, coords):
        r = self.radius
        coords = coords.permute(0, 2, 3, 1)
        batch, h1, w1, _ = coords.shape
        d = torch.linspace(-r, r, 2 * r + 1)
        delta = torch.stack(torch.meshgrid(d, d, indexing="ij"), dim=-1).view(1, 2 * r + 1, 2 * r + 1, 2)
        out = []
        for i, corr in enumerate(self.pyramid):
            centroid = coords.reshape(batch * h1 * w1, 1, 1, 2) / 2**i
            out.append(bilinear_sampler(corr, centroid + delta).view(batch, h1, w1, -1))
        return torch.cat(out, dim=-1).permute(0, 3, 1, 2).contiguous().float()


class IterativeFlow(nn.Module):
    """Optical flow that a recurrent cell refines, twelve times."""

    def __init__(self, args, hidden_dim=96, context_dim=64):
        super().__init__()
        self.args, self.hdim, self.cdim = args, hidden_dim, context_dim
        planes = args.corr_levels * (2 * args.corr_radius + 1) ** 2
        self.fnet = self._encoder(128)
        self.cnet = self._encoder(hidden_dim + context_dim)
        self.convc = nn.Conv2d(planes, 64, 1)
        self.convf = nn.Conv2d(2, 32, 7, padding=3)
        self.conv = nn.Conv2d(96, 80 - 2, 3, padding=1)
        self.convz = nn.Conv2d(hidden_dim + context_dim + 80, hidden_dim, 3, padding=1)
        self.convr = nn.Conv2d(hidden_dim + context_dim + 80, hidden_dim, 3, padding=1)
        self.convq = nn.Conv2d(hidden_dim + context_dim + 80, hidden_dim, 3, padding=1)
        self.flow_head = nn.Sequential(nn.Conv2d(hidden_dim, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 2, 3, 1, 1))

    @staticmethod
    def _encoder(out):
        layers, width = [], 3
        for planes in (32, 64, 96):
            layers += [nn.Conv2d(width, planes, 3, stride=2, padding=1), nn.InstanceNorm2d(planes), nn.ReLU()]
            width = planes
        return nn.Sequential(*layers, nn.Conv2d(width, out, 1))

    def forward(self, image1, image2, iters=12, flow_init=None, test_mode=False):
        image1, image2 = 2 * (image1 / 255.0) - 1.0, 2 * (image2 / 255.0) - 1.0
        fmap1, fmap2 = self.fnet(torch.cat([image1, image2])).chunk(2)
        corr_fn = CorrelationPyramid(fmap1, fmap2, self.args.corr_levels, self.args.corr_radius)
        net, inp = torch.split(self.cnet(image1), [self.hdim, self.cdim], dim=1)
        net, inp = torch.tanh(net), torch.relu(inp)
        coords0 = coords_grid(image1.shape[0], image1.shape[2] // 8, image1.shape[3] // 8)
        coords1 = coords0.clone()
        if flow_init is not None:
            coords1 = coords1 + flow_init
        predictions = []
        for _ in range(iters):
            coords1 = coords1.detach()
            flow = coords1 - coords0
            motion = F.relu(self.conv(torch.cat([F.relu(self.convc(corr_fn(coords1))), F.relu(self.convf(flow))], 1)))
            x = torch.cat([inp, motion, flow], dim=1)
            hx = torch.cat([net, x], dim=1)
            z, r = torch.sigmoid(self.convz(hx)), torch.sigmoid(self.convr(hx))
            net = (1 - z) * net + z * torch.tanh(self.convq(torch.cat([r * net, x], dim=1)))
            coords1 = coords1 + self.flow_head(net)
            predictions.append(8 * F.interpolate(coords1 - coords0, scale_factor=8, mode="bilinear"))
        return predictions[-1] if test_mode else predictions


class DecoderCell(nn.Module):
    def __init__(self, vocab_size, embed_dim, feat_dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, embed_dim)
        self.attn = nn.Linear(feat_dim + hidden, 1)
        self.lstm = nn.LSTMCell(embed_dim + feat_dim, hidden)
        self.out = nn.Linear(hidden, vocab_size)

    def forward(self, word, feats, state):
        h, c = state
        scores = self.attn(torch.cat([feats, h[:, None].expand(-1, feats.size(1), -1)], -1)).softmax(1)
        h, c = self.lstm(torch.cat([self.embed(word), (scores * feats).sum(1)], -1), (h, c))
        return F.log_softmax(self.out(h), -1), (h, c)


class BeamCaptioner(nn.Module):
    """Captions by beam search over a grid of features."""

    def __init__(self, vocab_size, feat_dim=2048, embed_dim=64, hidden=64, beam_size=3, max_len=20, sos=1, eos=2):
        super().__init__()
        self.cell = DecoderCell(vocab_size, embed_dim, hidden, hidden)
        self.proj, self.init_h = nn.Linear(feat_dim, hidden), nn.Linear(hidden, hidden)
        self.vocab_size, self.beam_size, self.max_len = vocab_size, beam_size, max_len
        self.sos, self.eos = sos, eos

    def forward(self, att_feats):
        feats = self.proj(att_feats)
        batch, regions, dim = feats.shape
        k = self.beam_size
        feats = feats.unsqueeze(1).expand(batch, k, regions, dim).reshape(batch * k, regions, dim)
        h = torch.tanh(self.init_h(feats.mean(1)))
        state = (h, torch.zeros_like(h))
        words = torch.full((batch * k,), self.sos, dtype=torch.long)
        scores = torch.zeros(batch, k)
        sequences = torch.zeros(batch, k, 0, dtype=torch.long)
        for _ in range(self.max_len):
            logp, state = self.cell(words, feats, state)
            total = scores.unsqueeze(-1) + logp.view(batch, k, self.vocab_size)
            scores, index = total.view(batch, -1).topk(k, dim=-1)
            beam, word = index // self.vocab_size, index % self.vocab_size
            flat = (beam + torch.arange(batch).unsqueeze(1) * k).view(-1)
            state = tuple(s[flat] for s in state)
            sequences = torch.cat(
                [sequences.gather(1, beam.unsqueeze(-1).expand_as(sequences)), word.unsqueeze(-1)], -1
            )
            words = word.view(-1)
            if (words == self.eos).all():
                break
        return sequences[:, 0], scores[:, 0]


class PyramidalBLSTM(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.rnn = nn.LSTM(2 * input_size, hidden_size, bidirectional=True, batch_first=True)

    def forward(self, x):
        b, t, f = x.shape
        x = x[:, : t // 2 * 2].contiguous().view(b, t // 2, f * 2)
        return self.rnn(x)[0]


class ListenAttendSpell(nn.Module):
    """Speech to characters: a pyramid of recurrent layers, then a loop over characters."""

    def __init__(self, n_mels=80, listener_hidden=64, num_layers=3, vocab=30, speller_hidden=128, max_label_len=50):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(num_layers):
            self.layers.append(PyramidalBLSTM(n_mels if i == 0 else 2 * listener_hidden, listener_hidden))
        self.speller = nn.LSTM(vocab + speller_hidden, speller_hidden, 2, batch_first=True)
        self.phi, self.psi = nn.Linear(speller_hidden, 64), nn.Linear(2 * listener_hidden, 64)
        self.value = nn.Linear(2 * listener_hidden, speller_hidden)
        self.character = nn.Linear(2 * speller_hidden, vocab)
        self.vocab, self.max_label_len = vocab, max_label_len

    def forward(self, features: Tensor, ground_truth: Tensor | None = None, teacher_force_rate: float = 0.9):
        x = features
        for layer in self.layers:
            x = layer(x)
        keys, values = torch.relu(self.psi(x)), self.value(x)
        one_hot = None if ground_truth is None else F.one_hot(ground_truth, self.vocab).float()
        steps = self.max_label_len if one_hot is None else one_hot.size(1)
        symbol, context, state = x.new_zeros(x.size(0), 1, self.vocab), values[:, :1], None
        outputs = []
        for step in range(steps):
            out, state = self.speller(torch.cat([symbol, context], -1), state)
            energy = torch.bmm(torch.relu(self.phi(out)), keys.transpose(1, 2)).softmax(-1)
            context = torch.bmm(energy, values)
            logp = self.character(torch.cat([out, context], -1)).log_softmax(-1)
            outputs.append(logp)
            symbol = logp.exp() if one_hot is None else one_hot[:, step : step + 1]
        return torch.cat(outputs, 1)


class ODEFunc(nn.Module):
    def __init__(self, dim, units):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, units), nn.Tanh(), nn.Linear(units, dim))

    def forward(self, t, y):
        return self.net(y)


def rk4(func, y0, t):
    ys = [y0]
    for t0, t1 in zip(t[:-1], t[1:]):
        h, y = t1 - t0, ys[-1]
        k1 = func(t0, y)
        k2 = func(t0 + h / 2, y + h * k1 / 2)
        k3 = func(t0 + h / 2, y + h * k2 / 2)
        k4 = func(t1, y + h * k3)
        ys.append(y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6)
    return torch.stack(ys)


class LatentODE(nn.Module):
    """Irregular series: a recurrent encoder backwards in time, a solver forwards."""

    def __init__(self, obs_dim, latent_dim=20, rnn_units=40, ode_units=50):
        super().__init__()
        self.latent_dim = latent_dim
        self.encoder = nn.GRU(2 * obs_dim + 1, rnn_units, batch_first=True)
        self.to_z0 = nn.Linear(rnn_units, 2 * latent_dim)
        self.func = ODEFunc(latent_dim, ode_units)
        self.decoder = nn.Linear(latent_dim, obs_dim)

    def forward(self, data, mask, observed_tp, tp_to_predict):
        delta = F.pad(observed_tp[1:] - observed_tp[:-1], (1, 0))
        steps = delta[None, :, None].expand(data.size(0), -1, 1)
        x = torch.cat([data * mask, mask, steps], dim=-1).flip(1)
        _, h = self.encoder(x)
        mean, log_std = self.to_z0(h.squeeze(0)).chunk(2, dim=-1)
        z0 = mean + torch.randn_like(mean) * log_std.exp()
        z = rk4(self.func, z0, tp_to_predict).permute(1, 0, 2)
        return self.decoder(z), mean, log_std


class TimeResBlock(nn.Module):
    def __init__(self, cin, cout, emb):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.emb = nn.Linear(emb, cout)
        self.norm2, self.conv2 = nn.GroupNorm(8, cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.skip = nn.Identity() if cin == cout else nn.Conv2d(cin, cout, 1)

    def forward(self, x, emb):
        h = self.conv1(F.silu(self.norm1(x)))
        h = self.conv2(F.silu(self.norm2(h + self.emb(F.silu(emb))[:, :, None, None])))
        return h + self.skip(x)


class DDIMSampler(nn.Module):
    """Sampling is the forward pass: a U-Net, fifty times, with and without the class."""

    def __init__(self, channels=64, num_classes=10, timesteps=1000, ddim_steps=50, eta=0.0):
        super().__init__()
        self.channels, self.ddim_steps, self.eta = channels, ddim_steps, eta
        self.label = nn.Embedding(num_classes + 1, channels)
        self.time = nn.Sequential(nn.Linear(channels, channels), nn.SiLU(), nn.Linear(channels, channels))
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.down = nn.ModuleList([TimeResBlock(channels, channels, channels) for _ in range(3)])
        self.up = nn.ModuleList([TimeResBlock(2 * channels, channels, channels) for _ in range(3)])
        self.head = nn.Conv2d(channels, 3, 3, padding=1)
        betas = torch.linspace(1e-4, 0.02, timesteps)
        self.register_buffer("alphas_cumprod", torch.cumprod(1 - betas, 0))
        self.null, self.num_timesteps = num_classes, timesteps

    def eps(self, x, t, y):
        freqs = torch.exp(-math.log(10000) * torch.arange(self.channels // 2) / (self.channels // 2))
        args = t[:, None].float() * freqs[None]
        emb = self.time(torch.cat([args.cos(), args.sin()], -1)) + self.label(y)
        h, skips = self.stem(x), []
        for block in self.down:
            h = block(h, emb)
            skips.append(h)
            h = F.avg_pool2d(h, 2)
        for block in self.up:
            h = F.interpolate(h, scale_factor=2.0)
            h = block(torch.cat([h, skips.pop()], 1), emb)
        return self.head(h)

    @torch.no_grad()
    def forward(self, x_T, y, cfg_scale=3.0):
        times = torch.linspace(-1, self.num_timesteps - 1, self.ddim_steps + 1).long().flip(0).tolist()
        x = x_T
        for time, time_next in zip(times[:-1], times[1:]):
            t = torch.full((x.shape[0],), time, dtype=torch.long)
            eps, eps_null = self.eps(x, t, y), self.eps(x, t, torch.full_like(y, self.null))
            eps = eps_null + cfg_scale * (eps - eps_null)
            alpha = self.alphas_cumprod[time]
            alpha_next = self.alphas_cumprod[time_next] if time_next >= 0 else torch.ones(())
            x0 = (x - (1 - alpha).sqrt() * eps) / alpha.sqrt()
            sigma = self.eta * ((1 - alpha / alpha_next) * (1 - alpha_next) / (1 - alpha)).sqrt()
            x = alpha_next.sqrt() * x0 + (1 - alpha_next - sigma**2).sqrt() * eps + sigma * torch.randn_like(x)
        return x


class AttentivePool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj, self.query = nn.Linear(dim, dim), nn.Parameter(torch.randn(dim))

    def forward(self, x, mask):
        scores = torch.tanh(self.proj(x)) @ self.query
        return (scores.masked_fill(~mask, -1e4).softmax(-1).unsqueeze(-1) * x).sum(-2)


class DocumentReranker(nn.Module):
    """Documents as sentences as words as characters, scored against a query; levels of attention."""

    def __init__(self, vocab_size=50_000, char_vocab=100, dim=64, char_dim=16, heads=4, layers=4):
        super().__init__()
        self.words, self.chars = nn.Embedding(vocab_size, dim - 32, padding_idx=0), nn.Embedding(char_vocab, char_dim)
        self.char_cnn = nn.Conv1d(char_dim, 32, 5, padding=2)
        layer = partial(nn.TransformerEncoderLayer, dim, heads, 4 * dim, batch_first=True)
        self.word_level, self.sentence_level = nn.TransformerEncoder(layer(), layers), nn.TransformerEncoder(layer(), 2)
        self.word_pool, self.sentence_pool = AttentivePool(dim), AttentivePool(dim)
        self.score = nn.Bilinear(dim, dim, 1)

    def encode(self, ids, chars):
        batch, sents, words, length = chars.shape
        c = self.chars(chars.view(-1, length)).transpose(1, 2)
        c = F.relu(self.char_cnn(c)).amax(-1).view(batch, sents, words, -1)
        x = torch.cat([self.words(ids), c], dim=-1)
        mask = ids.ne(0)
        mask[..., 0] = True
        x = self.word_level(x.flatten(0, 1), src_key_padding_mask=~mask.flatten(0, 1)).view_as(x)
        x = self.word_pool(x, mask)
        return self.sentence_pool(self.sentence_level(x), mask.any(-1))

    def forward(self, batch):
        doc = self.encode(batch["doc_words"], batch["doc_chars"])
        query = self.encode(batch["query_words"].unsqueeze(1), batch["query_chars"].unsqueeze(1))
        return self.score(query, doc).squeeze(-1)


class MillionItemRecommender(nn.Module):
    """Sessions over a catalogue of a million items, scored against sampled candidates."""

    def __init__(self, n_items=1_000_000, n_users=200_000, emb=64, hidden=64, max_len=50, n_blocks=2, n_heads=2):
        super().__init__()
        self.item_emb = nn.Embedding(n_items + 1, emb, padding_idx=0)
        self.user_emb, self.pos_emb = nn.Embedding(n_users, emb), nn.Embedding(max_len, emb)
        self.attn = nn.ModuleList([nn.MultiheadAttention(emb, n_heads) for _ in range(n_blocks)])
        self.ffn = nn.ModuleList(
            [nn.Sequential(nn.Linear(emb, hidden), nn.ReLU(), nn.Linear(hidden, emb)) for _ in range(n_blocks)]
        )
        self.norm = nn.LayerNorm(emb)

    def log2feats(self, user_ids, log_seqs):
        seqs = self.item_emb(log_seqs) * self.item_emb.embedding_dim**0.5
        seqs = seqs + self.pos_emb(torch.arange(log_seqs.shape[1]))[None] + self.user_emb(user_ids)[:, None]
        timeline = (log_seqs == 0).unsqueeze(-1)
        seqs = seqs.masked_fill(timeline, 0)
        tl = seqs.shape[1]
        causal = ~torch.tril(torch.ones(tl, tl, dtype=torch.bool))
        for attn, ffn in zip(self.attn, self.ffn):
            x = seqs.transpose(0, 1)
            out, _ = attn(x, x, x, attn_mask=causal)
            seqs = (x + out).transpose(0, 1)
            seqs = (seqs + ffn(seqs)).masked_fill(timeline, 0)
        return self.norm(seqs)

    def forward(self, user_ids, log_seqs, pos_seqs, neg_seqs):
        feats = self.log2feats(user_ids, log_seqs)
        pos, neg = self.item_emb(pos_seqs), self.item_emb(neg_seqs)
        return (feats * pos).sum(-1), torch.einsum("bld,blnd->bln", feats, neg)


class SpectralConv3d(nn.Module):
    def __init__(self, cin, cout, modes1, modes2, modes3):
        super().__init__()
        self.cout, self.modes = cout, (modes1, modes2, modes3)
        shape = (cin, cout, modes1, modes2, modes3)
        self.weights = nn.ParameterList([nn.Parameter(torch.rand(*shape, dtype=torch.cfloat)) for _ in range(4)])

    def forward(self, x):
        b, (m1, m2, m3) = x.shape[0], self.modes
        ft = torch.fft.rfftn(x, dim=[-3, -2, -1])
        out = torch.zeros(b, self.cout, x.size(-3), x.size(-2), x.size(-1) // 2 + 1, dtype=torch.cfloat)
        corners = [
            (slice(m1), slice(m2)),
            (slice(-m1, None), slice(m2)),
            (slice(m1), slice(-m2, None)),
            (slice(-m1, None), slice(-m2, None)),
        ]
        for (i, j), weight in zip(corners, self.weights):
            out[:, :, i, j, :m3] = torch.einsum("bixyz,ioxyz->boxyz", ft[:, :, i, j, :m3], weight)
        return torch.fft.irfftn(out, s=(x.size(-3), x.size(-2), x.size(-1)))


class NeuralOperator3d(nn.Module):
    """Navier-Stokes in two dimensions and time: ten steps in, forty out."""

    def __init__(self, modes1=8, modes2=8, modes3=8, width=20, t_in=10, padding=6):
        super().__init__()
        self.padding = padding
        self.p = nn.Linear(t_in + 3, width)
        self.convs = nn.ModuleList([SpectralConv3d(width, width, modes1, modes2, modes3) for _ in range(4)])
        self.ws = nn.ModuleList([nn.Conv3d(width, width, 1) for _ in range(4)])
        self.q = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, 1))

    def get_grid(self, shape):
        b, sx, sy, sz = shape[:4]
        gx = torch.linspace(0, 1, sx).reshape(1, sx, 1, 1, 1).repeat(b, 1, sy, sz, 1)
        gy = torch.linspace(0, 1, sy).reshape(1, 1, sy, 1, 1).repeat(b, sx, 1, sz, 1)
        gz = torch.linspace(0, 1, sz).reshape(1, 1, 1, sz, 1).repeat(b, sx, sy, 1, 1)
        return torch.cat((gx, gy, gz), dim=-1)

    def forward(self, x):
        x = self.p(torch.cat((x, self.get_grid(x.shape)), dim=-1)).permute(0, 4, 1, 2, 3)
        x = F.pad(x, [0, self.padding])
        for i, (conv, w) in enumerate(zip(self.convs, self.ws)):
            x = conv(x) + w(x)
            x = F.gelu(x) if i < len(self.ws) - 1 else x
        x = x[..., : -self.padding].permute(0, 2, 3, 4, 1)
        return self.q(x)


class PonderingReader(nn.Module):
    """Adaptive computation: a cell that runs until it halts, in every step of a sequence."""

    def __init__(self, vocab, hidden=64, max_ponder=10, epsilon=0.01, n_answers=50):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.cell = nn.GRUCell(hidden + 1, hidden)
        self.halting, self.answer = nn.Linear(hidden, 1), nn.Linear(hidden, n_answers)
        self.max_ponder, self.epsilon = max_ponder, epsilon

    def forward(self, story, query):
        state = self.embed(query).mean(1)
        ponder = story.new_zeros(story.size(0), dtype=torch.float)
        for step in range(story.size(1)):
            x = self.embed(story[:, step]).sum(1)
            halted = torch.zeros(story.size(0))
            accumulated = torch.zeros_like(state)
            for n in range(self.max_ponder):
                flag = torch.full((story.size(0), 1), float(n == 0))
                state = self.cell(torch.cat([x, flag], -1), state)
                p = torch.sigmoid(self.halting(state)).squeeze(-1)
                last = (halted + p >= 1 - self.epsilon) | (n == self.max_ponder - 1)
                weight = torch.where(last, 1 - halted, p)
                accumulated = accumulated + weight.unsqueeze(-1) * state
                halted = halted + weight
                ponder = ponder + 1.0
                if bool(last.all()):
                    break
            state = accumulated
        return self.answer(state), ponder


class WindowAttention3D(nn.Module):
    def __init__(self, dim, window, heads):
        super().__init__()
        self.window, self.heads, self.scale = window, heads, (dim // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        n = window[0] * window[1] * window[2]
        self.bias = nn.Parameter(torch.zeros(heads, n, n))

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        attn = ((q * self.scale) @ k.transpose(-2, -1) + self.bias).softmax(-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(b, n, c))


class SwinVolumeSegmenter(nn.Module):
    """Segmentation of volumes: patches, windows of tokens, merging, and a decoder of transposed convolutions."""

    def __init__(
        self,
        img_size=(96, 96, 96),
        in_channels=1,
        out_channels=14,
        feature_size=24,
        depths=(2, 2),
        window_size=(6, 6, 6),
        num_heads=(3, 6),
    ):
        super().__init__()
        self.window = window_size
        self.patch_embed = nn.Conv3d(in_channels, feature_size, 2, 2)
        self.pos = nn.Parameter(torch.zeros(1, feature_size, *(s // 2 for s in img_size)))
        self.stages, self.merges = nn.ModuleList(), nn.ModuleList()
        dim = feature_size
        for depth, heads in zip(depths, num_heads):
            self.stages.append(nn.ModuleList([WindowAttention3D(dim, window_size, heads) for _ in range(depth)]))
            self.merges.append(nn.Conv3d(dim, 2 * dim, 2, 2))
            dim *= 2
        self.ups = nn.ModuleList(
            [nn.ConvTranspose3d(dim // 2**i, dim // 2 ** (i + 1), 2, 2) for i in range(len(depths))]
        )
        self.head = nn.ConvTranspose3d(feature_size, out_channels, 2, 2)

    def windows(self, x, block):
        b, c, d, h, w = x.shape
        wd, wh, ww = self.window
        x = x.view(b, c, d // wd, wd, h // wh, wh, w // ww, ww).permute(0, 2, 4, 6, 3, 5, 7, 1)
        x = block(x.reshape(-1, wd * wh * ww, c))
        x = x.view(b, d // wd, h // wh, w // ww, wd, wh, ww, c).permute(0, 7, 1, 4, 2, 5, 3, 6)
        return x.reshape(b, c, d, h, w)

    def forward(self, x_in):
        x = self.patch_embed(x_in) + self.pos
        skips = []
        for stage, merge in zip(self.stages, self.merges):
            for block in stage:
                x = x + self.windows(x, block)
            skips.append(x)
            x = merge(x)
        for up, skip in zip(self.ups, reversed(skips)):
            x = up(x) + skip
        return self.head(x)
