"""Hard: repositories beside papers: graphs, point clouds, diffusion, spectra, states, closures.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from functools import partial as bind
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import einsum, nn
from torch.nn import Linear as Lin
from torch.nn import ModuleList as L
from torch.nn import Sequential as Seq

__all__ = [
    "EGNN",
    "ComplexUNet",
    "ConditionalUNet1d",
    "EdgeConvNet",
    "FourierNeuralOperator3d",
    "LatentODE",
    "MaskedAutoencoder",
    "MoETransformer",
    "NeuralProcess",
    "PointTransformerSeg",
    "RecurrentWorldModel",
    "ResidualVQ",
    "SlotVideo",
    "TemporalGraphNet",
    "TextToImagePrior",
]


def scatter_sum(src, index, n):
    out = src.new_zeros(n, src.size(-1))
    return out.index_add_(0, index, src)


class EGNNLayer(nn.Module):
    def __init__(self, hidden, edge_dim, act=nn.SiLU):
        super().__init__()
        self.edge_mlp = Seq(Lin(2 * hidden + 1 + edge_dim, hidden), act(), Lin(hidden, hidden), act())
        self.node_mlp = Seq(Lin(2 * hidden, hidden), act(), Lin(hidden, hidden))
        self.coord_mlp = Seq(Lin(hidden, hidden), act(), Lin(hidden, 1, bias=False))

    def forward(self, h, x, edges, edge_attr):
        row, col = edges
        diff = x[row] - x[col]
        radial = diff.pow(2).sum(1, keepdim=True)
        m = self.edge_mlp(torch.cat([h[row], h[col], radial, edge_attr], 1))
        x = x + scatter_sum(diff * self.coord_mlp(m), row, x.size(0))
        h = h + self.node_mlp(torch.cat([h, scatter_sum(m, row, h.size(0))], 1))
        return h, x


class EGNN(nn.Module):
    def __init__(self, in_node_nf, hidden_nf, out_node_nf, in_edge_nf=0, n_layers=4):
        super().__init__()
        self.embedding_in = Lin(in_node_nf, hidden_nf)
        self.embedding_out = Lin(hidden_nf, out_node_nf)
        self.layers = L([EGNNLayer(hidden_nf, in_edge_nf) for _ in range(n_layers)])

    def forward(self, h, x, edges, edge_attr):
        h = self.embedding_in(h)
        for layer in self.layers:
            h, x = layer(h, x, edges, edge_attr)
        return self.embedding_out(h), x


class EdgeConvNet(nn.Module):
    """Graph classification: x, edge_index and the batch vector as torch_geometric has them, in one object."""

    def __init__(self, dataset, hidden=32, dropout=0.5):
        super().__init__()
        self.convs = L()
        width = dataset.num_features
        for _ in range(2):
            self.convs.append(Seq(Lin(2 * width, hidden), nn.ReLU(), Lin(hidden, hidden)))
            width = hidden
        self.dropout = dropout
        self.lin = Lin(hidden, dataset.num_classes)

    def forward(self, data):
        x, edge_index, batch = data.x, data.edge_index, data.batch
        for conv in self.convs:
            src, dst = edge_index[0], edge_index[1]
            msg = conv(torch.cat([x[dst], x[src] - x[dst]], dim=-1))
            x = F.relu(scatter_sum(msg, dst, x.size(0)))
        pooled = x.new_zeros(int(batch.max()) + 1, x.size(-1)).index_add_(0, batch, x)
        return F.log_softmax(self.lin(F.dropout(pooled, self.dropout, self.training)), dim=-1)


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(torch.arange(half, device=t.device) * -(math.log(10000) / (half - 1)))
        args = t[:, None] * freqs[None, :]
        return torch.cat((args.sin(), args.cos()), dim=-1)


class ResBlock1d(nn.Module):
    def __init__(self, cin, cout, cond_dim, groups=8):
        super().__init__()
        self.block1 = Seq(nn.Conv1d(cin, cout, 5, padding=2), nn.GroupNorm(groups, cout), nn.Mish())
        self.block2 = Seq(nn.Conv1d(cout, cout, 5, padding=2), nn.GroupNorm(groups, cout), nn.Mish())
        self.cond = Seq(nn.Mish(), Lin(cond_dim, 2 * cout))
        self.res = nn.Conv1d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, cond):
        out = self.block1(x)
        scale, bias = self.cond(cond).unsqueeze(-1).chunk(2, dim=1)
        return self.block2(scale * out + bias) + self.res(x)


class ConditionalUNet1d(nn.Module):
    """Denoises a trajectory of actions, given the observation."""

    def __init__(self, action_dim, obs_dim, obs_horizon, down_dims=(32, 64), step_embed_dim=32):
        super().__init__()
        self.step = Seq(
            SinusoidalPosEmb(step_embed_dim),
            Lin(step_embed_dim, 4 * step_embed_dim),
            nn.Mish(),
            Lin(4 * step_embed_dim, step_embed_dim),
        )
        cond = step_embed_dim + obs_dim * obs_horizon
        dims = [action_dim, *down_dims]
        self.downs = L([L([ResBlock1d(a, b, cond), nn.Conv1d(b, b, 3, 2, 1)]) for a, b in zip(dims, dims[1:])])
        self.mid = ResBlock1d(dims[-1], dims[-1], cond)
        self.ups = L(
            [
                L([nn.ConvTranspose1d(b, b, 4, 2, 1), ResBlock1d(2 * b, a if i else b, cond)])
                for i, (a, b) in reversed(list(enumerate(zip(dims, dims[1:]))))
            ]
        )
        self.final = nn.Conv1d(dims[1], action_dim, 1)

    def forward(self, sample, timestep, global_cond):
        """sample: (B, T, action_dim), timestep: (B,) or int, global_cond: (B, obs_horizon, obs_dim)"""
        x = sample.moveaxis(-1, -2)
        if not torch.is_tensor(timestep):
            timestep = torch.tensor([timestep], dtype=torch.long, device=sample.device)
        timestep = timestep.expand(sample.shape[0])
        cond = torch.cat([self.step(timestep), global_cond.flatten(start_dim=1)], dim=-1)
        skips = []
        for res, down in self.downs:
            x = res(x, cond)
            skips.append(x)
            x = down(x)
        x = self.mid(x, cond)
        for up, res in self.ups:
            x = res(torch.cat([up(x), skips.pop()], dim=1), cond)
        return self.final(x).moveaxis(-1, -2)


class SpectralConv3d(nn.Module):
    def __init__(self, cin, cout, m1, m2, m3):
        super().__init__()
        self.m1, self.m2, self.m3 = m1, m2, m3
        self.cout = cout
        self.w = nn.Parameter(torch.randn(cin, cout, m1, m2, m3, dtype=torch.cfloat) / (cin * cout))

    def forward(self, x):
        ft = torch.fft.rfftn(x, dim=[-3, -2, -1])
        out = torch.zeros(x.size(0), self.cout, *ft.shape[-3:], dtype=torch.cfloat, device=x.device)
        m1, m2, m3 = self.m1, self.m2, self.m3
        out[:, :, :m1, :m2, :m3] = einsum("bixyz,ioxyz->boxyz", ft[:, :, :m1, :m2, :m3], self.w)
        return torch.fft.irfftn(out, s=x.shape[-3:])


class FourierNeuralOperator3d(nn.Module):
    def __init__(self, modes1, modes2, modes3, width, T_in=10):
        super().__init__()
        self.fc0 = Lin(T_in + 3, width)
        self.convs = L([SpectralConv3d(width, width, modes1, modes2, modes3) for _ in range(2)])
        self.ws = L([nn.Conv3d(width, width, 1) for _ in range(2)])
        self.fc1, self.fc2 = Lin(width, 64), Lin(64, 1)

    def grid(self, shape, device):
        b, *sizes = shape
        axes = [torch.linspace(0, 1, s, device=device) for s in sizes]
        return torch.stack(torch.meshgrid(*axes, indexing="ij"), -1)[None].expand(b, *sizes, 3)

    def forward(self, x):
        x = torch.cat((x, self.grid(x.shape[:-1], x.device)), dim=-1)
        x = self.fc0(x).permute(0, 4, 1, 2, 3)
        for conv, w in zip(self.convs, self.ws):
            x = F.gelu(conv(x) + w(x))
        return self.fc2(F.gelu(self.fc1(x.permute(0, 2, 3, 4, 1))))


class LatentODE(nn.Module):
    def __init__(self, obs_dim, latent_dim, nhidden, rnn_nhidden, nbatch):
        super().__init__()
        self.nhidden, self.nbatch = rnn_nhidden, nbatch
        self.i2h = Lin(obs_dim + rnn_nhidden, rnn_nhidden)
        self.h2o = Lin(rnn_nhidden, latent_dim * 2)
        self.func = Seq(Lin(latent_dim, nhidden), nn.ELU(), Lin(nhidden, latent_dim))
        self.dec = Seq(Lin(latent_dim, nhidden), nn.ReLU(), Lin(nhidden, obs_dim))

    def init_hidden(self):
        return torch.zeros(self.nbatch, self.nhidden)

    def forward(self, trajs, ts):
        h = self.init_hidden()
        for t in reversed(range(trajs.size(1))):
            h = torch.tanh(self.i2h(torch.cat((trajs[:, t, :], h), dim=1)))
        mean, logvar = self.h2o(h).chunk(2, dim=-1)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * logvar)
        zs = [z]
        for i in range(1, len(ts)):
            z = z + (ts[i] - ts[i - 1]) * self.func(z)
            zs.append(z)
        return self.dec(torch.stack(zs, 1)), mean, logvar


class MaskedAutoencoder(nn.Module):
    def __init__(self, *, encoder, decoder_dim, masking_ratio=0.75, decoder_depth=1, decoder_heads=4):
        super().__init__()
        assert 0 < masking_ratio < 1
        self.masking_ratio = masking_ratio
        self.encoder = encoder
        num_patches, encoder_dim = encoder.pos_embedding.shape[-2:]
        self.patch = encoder.patch_size
        pixels = 3 * self.patch**2
        self.enc_to_dec = Lin(encoder_dim, decoder_dim) if encoder_dim != decoder_dim else nn.Identity()
        self.mask_token = nn.Parameter(torch.randn(decoder_dim))
        layer = nn.TransformerEncoderLayer(decoder_dim, decoder_heads, 2 * decoder_dim, batch_first=True)
        self.decoder = nn.TransformerEncoder(layer, decoder_depth)
        self.decoder_pos = nn.Embedding(num_patches, decoder_dim)
        self.to_pixels = Lin(decoder_dim, pixels)

    def forward(self, img):
        patches = F.unfold(img, self.patch, stride=self.patch).transpose(1, 2)
        b, n, _ = patches.shape
        tokens = self.encoder.to_tokens(patches) + self.encoder.pos_embedding[:, :n]
        masked = int(self.masking_ratio * n)
        order = torch.rand(b, n, device=img.device).argsort(-1)
        hidden, seen = order[:, :masked], order[:, masked:]
        rows = torch.arange(b, device=img.device)[:, None]
        encoded = self.enc_to_dec(self.encoder.blocks(tokens[rows, seen])) + self.decoder_pos(seen)
        blanks = self.mask_token[None, None].expand(b, masked, -1) + self.decoder_pos(hidden)
        full = torch.zeros(b, n, encoded.shape[-1], device=img.device)
        full[rows, seen] = encoded
        full[rows, hidden] = blanks
        predicted = self.to_pixels(self.decoder(full)[rows, hidden])
        return F.mse_loss(predicted, patches[rows, hidden])


class TinyViT(nn.Module):
    def __init__(self, image_size=32, patch_size=8, dim=32, depth=2, heads=4):
        super().__init__()
        self.patch_size = patch_size
        self.to_tokens = Lin(3 * patch_size**2, dim)
        self.pos_embedding = nn.Parameter(torch.randn(1, (image_size // patch_size) ** 2, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth)

    def forward(self, x):
        patches = F.unfold(x, self.patch_size, stride=self.patch_size).transpose(1, 2)
        return self.blocks(self.to_tokens(patches) + self.pos_embedding).mean(1)


class Expert(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.up, self.down = Lin(d, f), Lin(f, d)

    def forward(self, x):
        return self.down(F.silu(self.up(x)))


class Router(nn.Module):
    def __init__(self, d, n, k):
        super().__init__()
        self.k, self.gate = k, Lin(d, n, bias=False)

    def forward(self, x, bias):
        scores = self.gate(x).sigmoid()
        top = (scores + bias).topk(self.k, dim=-1).indices
        weights = scores.gather(-1, top)
        return weights / weights.sum(-1, keepdim=True), top


class MoETransformer(nn.Module):
    """`router_bias` balances the load without a loss: one row a layer, updated outside."""

    def __init__(self, vocab, d_model, n_layer, n_head, n_experts, top_k, d_ff=None):
        super().__init__()
        assert d_model % n_head == 0
        d_ff = d_ff or 2 * d_model
        self.tok = nn.Embedding(vocab, d_model)
        self.attn = L([nn.MultiheadAttention(d_model, n_head, batch_first=True) for _ in range(n_layer)])
        self.routers = L([Router(d_model, n_experts, top_k) for _ in range(n_layer)])
        self.experts = L([L([Expert(d_model, d_ff) for _ in range(n_experts)]) for _ in range(n_layer)])
        self.norm = nn.LayerNorm(d_model)
        self.head = Lin(d_model, vocab, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, idx, router_bias):
        x = self.tok(idx)
        mask = torch.triu(torch.ones(idx.size(1), idx.size(1), dtype=torch.bool, device=idx.device), 1)
        loads = []
        for layer, (attn, router, experts) in enumerate(zip(self.attn, self.routers, self.experts)):
            h = self.norm(x)
            x = x + attn(h, h, h, attn_mask=mask, need_weights=False)[0]
            flat = self.norm(x).flatten(0, 1)
            weights, chosen = router(flat, router_bias[layer])
            out = torch.zeros_like(flat)
            for e, expert in enumerate(experts):
                gate = (weights * (chosen == e)).sum(-1, keepdim=True)
                out = out + gate * expert(flat)
            loads.append(F.one_hot(chosen, len(experts)).sum((0, 1)))
            x = x + out.view_as(x)
        return self.head(self.norm(x)), torch.stack(loads)


class NeuralProcess(nn.Module):
    def __init__(self, x_dim, y_dim, r_dim, z_dim, h_dim):
        super().__init__()
        self.enc = Seq(Lin(x_dim + y_dim, h_dim), nn.ReLU(), Lin(h_dim, r_dim))
        self.mu, self.sigma = Lin(r_dim, z_dim), Lin(r_dim, z_dim)
        self.dec = Seq(Lin(x_dim + z_dim, h_dim), nn.ReLU())
        self.out_mu, self.out_sigma = Lin(h_dim, y_dim), Lin(h_dim, y_dim)

    def posterior(self, x, y):
        b, n, _ = x.size()
        r = self.enc(torch.cat((x.reshape(b * n, -1), y.reshape(b * n, -1)), dim=1)).view(b, n, -1).mean(1)
        return torch.distributions.Normal(self.mu(r), 0.1 + 0.9 * torch.sigmoid(self.sigma(r)))

    def forward(self, x_context, y_context, x_target, y_target=None):
        b, n, _ = x_target.size()
        q = self.posterior(x_context, y_context)
        if self.training and y_target is not None:
            q = self.posterior(x_target, y_target)
        z = q.rsample().unsqueeze(1).expand(b, n, -1)
        h = self.dec(torch.cat((x_target, z), -1))
        return self.out_mu(h), 0.1 + 0.9 * F.softplus(self.out_sigma(h))


class PointTransformerSeg(nn.Module):
    """Packed clouds: all points of a batch one after another, `o` where each cloud ends."""

    def __init__(self, c=6, k=13, planes=(32, 64), nsample=4):
        super().__init__()
        self.c, self.nsample = c, nsample
        self.lin = Seq(Lin(c, planes[0]), nn.LayerNorm(planes[0]), nn.ReLU())
        self.q, self.kk, self.v = (Lin(planes[0], planes[1]) for _ in range(3))
        self.pos = Seq(Lin(3, 3), nn.ReLU(), Lin(3, planes[1]))
        self.cls = Lin(planes[1], k)

    def forward(self, pxo):
        p, x, o = pxo
        x = self.lin(torch.cat((p, x), 1))
        outs, start = [], 0
        for end in o.tolist():
            pi, xi = p[start:end], x[start:end]
            idx = torch.cdist(pi, pi).topk(min(self.nsample, len(pi)), largest=False).indices
            rel = self.pos(pi[idx] - pi[:, None])
            attn = (self.q(xi)[:, None] - self.kk(xi)[idx] + rel).softmax(1)
            outs.append((attn * (self.v(xi)[idx] + rel)).sum(1))
            start = end
        return self.cls(torch.cat(outs))


State = namedtuple("State", ["deter", "stoch", "logits"])


class RecurrentWorldModel(nn.Module):
    def __init__(self, action_size, embed, deter=64, stoch=8, classes=8):
        super().__init__()
        self.deter, self.stoch, self.classes = deter, stoch, classes
        self.pre = Seq(Lin(stoch * classes + action_size, deter), nn.ELU())
        self.cell = nn.GRUCell(deter, deter)
        self.post = Lin(deter + embed, stoch * classes)
        self.prior = Lin(deter, stoch * classes)
        self.reward = Lin(deter + stoch * classes, 1)

    def initial(self, batch):
        return State(
            torch.zeros(batch, self.deter),
            torch.zeros(batch, self.stoch, self.classes),
            torch.zeros(batch, self.stoch, self.classes),
        )

    def step(self, state, action, embed):
        h = self.cell(self.pre(torch.cat([state.stoch.flatten(1), action], -1)), state.deter)
        logits = self.post(torch.cat([h, embed], -1)).view(-1, self.stoch, self.classes)
        sample = F.softmax(logits, -1)
        return State(h, sample, logits)

    def forward(self, embeds, actions, is_first, state=None):
        """All inputs are (time, batch, …)."""
        if state is None:
            state = self.initial(embeds.size(1))
        rewards = []
        for embed, action, first in zip(embeds, actions, is_first):
            keep = (1.0 - first.float()).unsqueeze(-1)
            state = State(state.deter * keep, state.stoch * keep.unsqueeze(-1), state.logits)
            state = self.step(state, action * keep, embed)
            rewards.append(self.reward(torch.cat([state.deter, state.stoch.flatten(1)], -1)))
        return torch.stack(rewards), state


class ResidualVQ(nn.Module):
    def __init__(self, dim, codebook_size, num_quantizers):
        super().__init__()
        self.codebooks = nn.Parameter(torch.randn(num_quantizers, codebook_size, dim))

    def decode(self, codes):
        return sum(F.embedding(codes[..., i], cb) for i, cb in enumerate(self.codebooks))

    def forward(self, x, return_all=False):
        residual, out, codes = x, torch.zeros_like(x), []
        for cb in self.codebooks:
            dist = torch.cdist(residual, cb[None].expand(x.size(0), -1, -1))
            index = dist.argmin(-1)
            q = F.embedding(index, cb)
            q = residual + (q - residual).detach()
            residual = residual - q.detach()
            out = out + q
            codes.append(index)
        return out, torch.stack(codes, -1)


class SlotVideo(nn.Module):
    def __init__(self, resolution, num_slots, hid_dim, num_iterations=3):
        super().__init__()
        self.resolution, self.num_slots, self.hid_dim, self.iters = resolution, num_slots, hid_dim, num_iterations
        self.enc = Seq(nn.Conv2d(3, hid_dim, 5, 2, 2), nn.ReLU(), nn.Conv2d(hid_dim, hid_dim, 5, 2, 2), nn.ReLU())
        h, w = resolution[0] // 4, resolution[1] // 4
        self.pos = nn.Parameter(torch.zeros(1, hid_dim, h, w))
        self.q, self.k, self.v = (Lin(hid_dim, hid_dim, bias=False) for _ in range(3))
        self.gru = nn.GRUCell(hid_dim, hid_dim)
        self.slots_mu = nn.Parameter(torch.randn(1, 1, hid_dim))
        self.dec = nn.ConvTranspose2d(hid_dim, 4, 8, 4, 2)
        self.size = (h, w)

    def correct(self, slots, feats):
        k, v = self.k(feats), self.v(feats)
        for _ in range(self.iters):
            attn = (einsum("bid,bjd->bij", self.q(slots), k) * self.hid_dim**-0.5).softmax(1) + 1e-8
            updates = einsum("bjd,bij->bid", v, attn / attn.sum(-1, keepdim=True))
            slots = self.gru(updates.flatten(0, 1), slots.flatten(0, 1)).view_as(slots)
        return slots

    def forward(self, video):
        b, t = video.shape[:2]
        slots = self.slots_mu.expand(b, self.num_slots, -1)
        frames = []
        for i in range(t):
            feats = (self.enc(video[:, i]) + self.pos).flatten(2).transpose(1, 2)
            slots = self.correct(slots, feats)
            maps = slots.flatten(0, 1)[:, :, None, None].expand(-1, -1, *self.size)
            rgba = self.dec(maps).unflatten(0, (b, self.num_slots))
            rgb, alpha = rgba[:, :, :3], rgba[:, :, 3:].softmax(1)
            frames.append((rgb * alpha).sum(1))
        return torch.stack(frames, 1), slots


class Event(NamedTuple):
    src: torch.Tensor
    dst: torch.Tensor
    t: torch.Tensor
    msg: torch.Tensor


class TemporalGraphNet(nn.Module):
    """A memory for each node, updated by events between two nodes."""

    def __init__(self, num_nodes, raw_msg_dim, memory_dim, time_dim):
        super().__init__()
        self.register_buffer("memory", torch.zeros(num_nodes, memory_dim))
        self.register_buffer("last", torch.zeros(num_nodes))
        self.time = Lin(1, time_dim)
        self.gru = nn.GRUCell(2 * memory_dim + raw_msg_dim + time_dim, memory_dim)
        self.link = Seq(Lin(2 * memory_dim, memory_dim), nn.ReLU(), Lin(memory_dim, 1))

    def forward(self, event: Event):
        src, dst, t, msg = event
        dt = (t - self.last[src]).unsqueeze(-1)
        x = torch.cat([self.memory[src], self.memory[dst], msg, self.time(dt).cos()], -1)
        z_src = self.gru(x, self.memory[src])
        return self.link(torch.cat([z_src, self.memory[dst]], -1)).sigmoid()


class ComplexConv2d(nn.Module):
    def __init__(self, cin, cout, **kw):
        super().__init__()
        self.re, self.im = nn.Conv2d(cin, cout, **kw), nn.Conv2d(cin, cout, **kw)

    def forward(self, z):
        a, b = z.real, z.imag
        return torch.complex(self.re(a) - self.im(b), self.re(b) + self.im(a))


class ComplexUNet(nn.Module):
    """Takes complex spectrograms (batch, 1, frequencies, frames), gives a mask."""

    def __init__(self, channels, depth=2):
        super().__init__()
        conv = bind(ComplexConv2d, kernel_size=3, padding=1)
        sizes = [1] + [channels * 2**i for i in range(depth)]
        self.down = L([conv(a, b) for a, b in zip(sizes, sizes[1:])])
        self.up = L([conv(b, a) for a, b in reversed(list(zip(sizes, sizes[1:])))])

    def forward(self, spec):
        z = spec
        for conv in self.down:
            z = conv(z)
            z = torch.complex(z.real.relu(), z.imag.relu())
        for conv in self.up:
            z = conv(z)
        mask = torch.tanh(z.abs()) * torch.exp(1j * z.angle())
        return spec * mask


@dataclass
class PriorInput:
    text_embed: torch.Tensor
    text_tokens: torch.Tensor
    noised_image_embed: torch.Tensor
    t: torch.Tensor


class TextToImagePrior(nn.Module):
    def __init__(self, dim, depth, heads, num_timesteps=None, max_text_len=32):
        super().__init__()
        self.to_time = nn.Embedding(num_timesteps, dim) if num_timesteps else Seq(SinusoidalPosEmb(dim), Lin(dim, dim))
        self.learned_query = nn.Parameter(torch.randn(dim))
        self.null = nn.Parameter(torch.randn(1, max_text_len, dim))
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True), depth)

    def forward(self, inp: PriorInput):
        b, n, d = inp.text_tokens.shape
        text = inp.text_tokens + self.null[:, :n]
        tokens = torch.cat(
            [
                text,
                inp.text_embed[:, None],
                self.to_time(inp.t)[:, None],
                inp.noised_image_embed[:, None],
                self.learned_query.expand(b, 1, -1),
            ],
            dim=1,
        )
        return self.blocks(tokens)[:, -1]
