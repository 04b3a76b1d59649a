"""Hard: robots, molecules, speech, scenes and signals, as laboratories publish their models.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = [
    "DETRVAE",
    "RAFT",
    "RSSM",
    "RWKV",
    "ControlNet",
    "EEGNet",
    "Evoformer",
    "HeteroGNN",
    "PerceiverIO",
    "QMixer",
    "RadianceRenderer",
    "SchNet",
    "Transducer",
]


class RSSM(nn.Module):
    def __init__(self, embed_dim, action_dim, stoch, deter, hidden, discrete=0, act=nn.ELU):
        super().__init__()
        self.stoch, self.deter = stoch, deter
        self.img_in = nn.Sequential(nn.Linear(stoch + action_dim, hidden), act())
        self.cell = nn.GRUCell(hidden, deter)
        self.prior = nn.Sequential(nn.Linear(deter, hidden), act(), nn.Linear(hidden, 2 * stoch))
        self.post = nn.Sequential(nn.Linear(deter + embed_dim, hidden), act(), nn.Linear(hidden, 2 * stoch))

    def initial(self, batch_size, device=None):
        return {
            "mean": torch.zeros(batch_size, self.stoch, device=device),
            "std": torch.zeros(batch_size, self.stoch, device=device),
            "stoch": torch.zeros(batch_size, self.stoch, device=device),
            "deter": torch.zeros(batch_size, self.deter, device=device),
        }

    def dist(self, x):
        mean, std = x.chunk(2, -1)
        std = F.softplus(std) + 0.1
        return {"mean": mean, "std": std, "stoch": mean + std * torch.randn_like(mean)}

    def forward(self, prev_state, prev_action, embed, is_first=None):
        if is_first is not None:
            prev_action = prev_action * (1.0 - is_first)[:, None]
        x = self.img_in(torch.cat([prev_state["stoch"], prev_action], -1))
        deter = self.cell(x, prev_state["deter"])
        prior = {**self.dist(self.prior(deter)), "deter": deter}
        post = {**self.dist(self.post(torch.cat([deter, embed], -1))), "deter": deter}
        return post, prior


class QMixer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.n_agents = args.n_agents
        self.state_dim = int(math.prod(args.state_shape)) if not isinstance(args.state_shape, int) else args.state_shape
        self.embed_dim = args.mixing_embed_dim
        if getattr(args, "hypernet_layers", 1) == 1:
            self.hyper_w_1 = nn.Linear(self.state_dim, self.embed_dim * self.n_agents)
            self.hyper_w_final = nn.Linear(self.state_dim, self.embed_dim)
        elif getattr(args, "hypernet_layers", 1) == 2:
            h = args.hypernet_embed
            self.hyper_w_1 = nn.Sequential(
                nn.Linear(self.state_dim, h), nn.ReLU(), nn.Linear(h, self.embed_dim * self.n_agents)
            )
            self.hyper_w_final = nn.Sequential(nn.Linear(self.state_dim, h), nn.ReLU(), nn.Linear(h, self.embed_dim))
        self.hyper_b_1 = nn.Linear(self.state_dim, self.embed_dim)
        self.V = nn.Sequential(nn.Linear(self.state_dim, self.embed_dim), nn.ReLU(), nn.Linear(self.embed_dim, 1))

    def forward(self, agent_qs, states):
        bs = agent_qs.size(0)
        states = states.reshape(-1, self.state_dim)
        agent_qs = agent_qs.view(-1, 1, self.n_agents)
        w1 = torch.abs(self.hyper_w_1(states)).view(-1, self.n_agents, self.embed_dim)
        b1 = self.hyper_b_1(states).view(-1, 1, self.embed_dim)
        hidden = F.elu(torch.bmm(agent_qs, w1) + b1)
        w_final = torch.abs(self.hyper_w_final(states)).view(-1, self.embed_dim, 1)
        y = torch.bmm(hidden, w_final) + self.V(states).view(-1, 1, 1)
        return y.view(bs, -1, 1)


class TriangleMultiplication(nn.Module):
    def __init__(self, c_z, c_hidden):
        super().__init__()
        self.norm = nn.LayerNorm(c_z)
        self.a, self.b, self.gate = nn.Linear(c_z, c_hidden), nn.Linear(c_z, c_hidden), nn.Linear(c_z, c_z)
        self.norm_out, self.out = nn.LayerNorm(c_hidden), nn.Linear(c_hidden, c_z)

    def forward(self, z, mask):
        z = self.norm(z)
        a, b = self.a(z) * mask[..., None], self.b(z) * mask[..., None]
        x = torch.einsum("bikc,bjkc->bijc", a, b)
        return self.out(self.norm_out(x)) * torch.sigmoid(self.gate(z))


class Evoformer(nn.Module):
    def __init__(self, c_m, c_z, c_hidden, no_heads, no_blocks):
        super().__init__()
        self.no_heads = no_heads
        self.blocks = nn.ModuleList()
        for _ in range(no_blocks):
            self.blocks.append(
                nn.ModuleDict(
                    {
                        "bias": nn.Linear(c_z, no_heads, bias=False),
                        "qkv": nn.Linear(c_m, 3 * c_m),
                        "o": nn.Linear(c_m, c_m),
                        "opm": nn.Linear(c_m, c_hidden),
                        "opm_out": nn.Linear(c_hidden * c_hidden, c_z),
                        "tri": TriangleMultiplication(c_z, c_hidden),
                    }
                )
            )

    def row_attention(self, block, m, z, mask):
        b, s, r, c = m.shape
        h = self.no_heads
        q, k, v = (x.view(b, s, r, h, c // h).transpose(2, 3) for x in block["qkv"](m).chunk(3, -1))
        bias = block["bias"](z).permute(0, 3, 1, 2)[:, None]
        att = q @ k.transpose(-1, -2) / math.sqrt(c // h) + bias
        att = att + (mask[:, :, None, None, :] - 1.0) * 1e9
        return block["o"]((att.softmax(-1) @ v).transpose(2, 3).reshape(b, s, r, c))

    def forward(self, m, z, msa_mask, pair_mask):
        for block in self.blocks:
            m = m + self.row_attention(block, m, z, msa_mask)
            x = block["opm"](m) * msa_mask[..., None]
            outer = torch.einsum("bsic,bsjd->bijcd", x, x).flatten(-2)
            z = z + block["opm_out"](outer)
            z = z + block["tri"](z, pair_mask)
        return m, z


class GaussianSmearing(nn.Module):
    def __init__(self, start, stop, num_gaussians):
        super().__init__()
        offset = torch.linspace(start, stop, num_gaussians)
        self.coeff = -0.5 / float(stop - start) ** 2
        self.register_buffer("offset", offset)

    def forward(self, dist):
        return torch.exp(self.coeff * (dist.view(-1, 1) - self.offset.view(1, -1)) ** 2)


class SchNet(nn.Module):
    def __init__(self, hidden_channels, num_filters, num_interactions, num_gaussians, cutoff, max_z=100):
        super().__init__()
        self.cutoff = cutoff
        self.embedding = nn.Embedding(max_z, hidden_channels, padding_idx=0)
        self.distance_expansion = GaussianSmearing(0.0, cutoff, num_gaussians)
        self.filters = nn.ModuleList([nn.Linear(num_gaussians, num_filters) for _ in range(num_interactions)])
        self.lin_in = nn.ModuleList(
            [nn.Linear(hidden_channels, num_filters, bias=False) for _ in range(num_interactions)]
        )
        self.lin_out = nn.ModuleList([nn.Linear(num_filters, hidden_channels) for _ in range(num_interactions)])
        self.readout = nn.Sequential(
            nn.Linear(hidden_channels, hidden_channels // 2), nn.Softplus(), nn.Linear(hidden_channels // 2, 1)
        )

    def forward(self, z: Tensor, pos: Tensor, batch: Tensor | None = None) -> Tensor:
        batch = torch.zeros_like(z) if batch is None else batch
        h = self.embedding(z)
        dist = (pos[:, None] - pos[None]).norm(dim=-1)
        same = (batch[:, None] == batch[None]).float()
        weight = same * 0.5 * (torch.cos(dist * math.pi / self.cutoff) + 1.0)
        n = z.size(0)
        rbf = self.distance_expansion(dist).view(n, n, -1)
        for filters, lin_in, lin_out in zip(self.filters, self.lin_in, self.lin_out, strict=True):
            w = F.softplus(filters(rbf)) * weight[..., None]
            h = h + lin_out((w * lin_in(h)[None]).sum(1))
        energies = self.readout(h)
        out = energies.new_zeros(int(batch.max()) + 1, 1)
        return out.index_add(0, batch, energies)


def positional(x, freqs):
    out = [x]
    for i in range(freqs):
        out += [torch.sin(2.0**i * x), torch.cos(2.0**i * x)]
    return torch.cat(out, -1)


class RadianceRenderer(nn.Module):
    def __init__(self, hidden, n_samples, xyz_freqs, dir_freqs, white_bkgd=True):
        super().__init__()
        self.n_samples, self.xyz_freqs, self.dir_freqs, self.white_bkgd = n_samples, xyz_freqs, dir_freqs, white_bkgd
        self.trunk = nn.Sequential(
            nn.Linear(3 + 6 * xyz_freqs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.sigma = nn.Linear(hidden, 1)
        self.rgb = nn.Sequential(
            nn.Linear(hidden + 3 + 6 * dir_freqs, hidden // 2), nn.ReLU(), nn.Linear(hidden // 2, 3), nn.Sigmoid()
        )

    def forward(self, rays_o, rays_d, near, far):
        t = torch.linspace(0.0, 1.0, self.n_samples, device=rays_o.device)
        z = near[:, None] * (1 - t) + far[:, None] * t
        pts = rays_o[:, None] + rays_d[:, None] * z[..., None]
        h = self.trunk(positional(pts, self.xyz_freqs))
        dirs = F.normalize(rays_d, dim=-1)[:, None].expand(-1, self.n_samples, -1)
        rgb = self.rgb(torch.cat([h, positional(dirs, self.dir_freqs)], -1))
        delta = torch.cat([z[:, 1:] - z[:, :-1], torch.full_like(z[:, :1], 1e10)], -1)
        alpha = 1 - torch.exp(-F.relu(self.sigma(h)[..., 0]) * delta)
        trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha[:, :-1] + 1e-10], -1), -1)
        weights = alpha * trans
        out = (weights[..., None] * rgb).sum(1)
        if self.white_bkgd:
            out = out + (1 - weights.sum(-1, keepdim=True))
        return {"rgb": out, "depth": (weights * z).sum(-1), "acc": weights.sum(-1)}


class ConvGRU(nn.Module):
    def __init__(self, hidden_dim, input_dim):
        super().__init__()
        self.convz = nn.Conv2d(hidden_dim + input_dim, hidden_dim, 3, padding=1)
        self.convr = nn.Conv2d(hidden_dim + input_dim, hidden_dim, 3, padding=1)
        self.convq = nn.Conv2d(hidden_dim + input_dim, hidden_dim, 3, padding=1)

    def forward(self, h, x):
        hx = torch.cat([h, x], dim=1)
        z, r = torch.sigmoid(self.convz(hx)), torch.sigmoid(self.convr(hx))
        q = torch.tanh(self.convq(torch.cat([r * h, x], dim=1)))
        return (1 - z) * h + z * q


class RAFT(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.hidden_dim, self.context_dim = (96, 64) if args.small else (128, 128)
        if "dropout" not in self.args:
            self.args.dropout = 0
        dim = self.hidden_dim + self.context_dim
        self.fnet = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.Conv2d(64, 128, 3, 4, 1), nn.InstanceNorm2d(128)
        )
        self.cnet = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.Conv2d(64, dim, 3, 4, 1), nn.Dropout2d(self.args.dropout)
        )
        r = args.corr_radius
        self.encoder = nn.Conv2d((2 * r + 1) ** 2 + 2, self.hidden_dim, 3, padding=1)
        self.gru = ConvGRU(self.hidden_dim, self.hidden_dim + self.context_dim)
        self.flow_head = nn.Conv2d(self.hidden_dim, 2, 3, padding=1)

    def coords(self, b, h, w, device):
        ys, xs = torch.meshgrid(torch.arange(h, device=device), torch.arange(w, device=device), indexing="ij")
        return torch.stack([xs, ys], 0).float()[None].repeat(b, 1, 1, 1)

    def lookup(self, corr, coords):
        b, h, w, _, _ = corr.shape
        r = self.args.corr_radius
        d = torch.linspace(-r, r, 2 * r + 1, device=corr.device)
        delta = torch.stack(torch.meshgrid(d, d, indexing="ij"), -1).view(1, 2 * r + 1, 2 * r + 1, 2)
        centroid = coords.permute(0, 2, 3, 1).reshape(b * h * w, 1, 1, 2)
        grid = (centroid + delta) / torch.tensor([w - 1, h - 1], device=corr.device) * 2 - 1
        out = F.grid_sample(corr.reshape(b * h * w, 1, h, w), grid, align_corners=True)
        return out.view(b, h, w, -1).permute(0, 3, 1, 2)

    def forward(self, image1, image2, iters=3, flow_init=None):
        image1, image2 = 2 * (image1 / 255.0) - 1.0, 2 * (image2 / 255.0) - 1.0
        fmap1, fmap2 = self.fnet(image1), self.fnet(image2)
        b, c, h, w = fmap1.shape
        corr = (
            torch.matmul(fmap1.view(b, c, h * w).transpose(1, 2), fmap2.view(b, c, h * w)).view(b, h, w, h, w) / c**0.5
        )
        net, inp = self.cnet(image1).split([self.hidden_dim, self.context_dim], dim=1)
        net, inp = torch.tanh(net), torch.relu(inp)
        coords0 = self.coords(b, h, w, image1.device)
        coords1 = coords0.clone()
        if flow_init is not None:
            coords1 = coords1 + flow_init
        flows = []
        for _ in range(iters):
            coords1 = coords1.detach()
            flow = coords1 - coords0
            motion = F.relu(self.encoder(torch.cat([self.lookup(corr, coords1), flow], dim=1)))
            net = self.gru(net, torch.cat([inp, motion], dim=1))
            coords1 = coords1 + self.flow_head(net)
            flows.append(F.interpolate(8 * (coords1 - coords0), scale_factor=8, mode="bilinear", align_corners=True))
        return flows


class Transducer(nn.Module):
    def __init__(self, n_mels, vocab_size, encoder_dim, predictor_dim, joint_dim, num_encoder_layers, blank_id=0):
        super().__init__()
        self.blank_id = blank_id
        self.encoder = nn.LSTM(n_mels, encoder_dim, num_encoder_layers, batch_first=True, bidirectional=True)
        self.embed = nn.Embedding(vocab_size, predictor_dim, padding_idx=blank_id)
        self.predictor = nn.LSTM(predictor_dim, predictor_dim, batch_first=True)
        self.enc_proj, self.pred_proj = nn.Linear(2 * encoder_dim, joint_dim), nn.Linear(predictor_dim, joint_dim)
        self.joint = nn.Linear(joint_dim, vocab_size)

    def forward(self, features, feature_lengths, targets, target_lengths):
        """features (B, n_mels, T), targets (B, U)."""
        x = features.transpose(1, 2)
        packed = nn.utils.rnn.pack_padded_sequence(x, feature_lengths.cpu(), batch_first=True, enforce_sorted=False)
        enc, _ = self.encoder(packed)
        enc, enc_lengths = nn.utils.rnn.pad_packed_sequence(enc, batch_first=True)
        y = F.pad(targets, (1, 0), value=self.blank_id)
        pred, _ = self.predictor(self.embed(y))
        joint = torch.tanh(self.enc_proj(enc)[:, :, None] + self.pred_proj(pred)[:, None])
        return self.joint(joint).log_softmax(-1), enc_lengths, target_lengths


def zero_module(module):
    for p in module.parameters():
        p.detach().zero_()
    return module


class ControlNet(nn.Module):
    def __init__(self, in_channels, hint_channels, model_channels, channel_mult, context_dim):
        super().__init__()
        self.model_channels = model_channels
        dims = [model_channels * m for m in channel_mult]
        self.time = nn.Sequential(nn.Linear(model_channels, dims[-1]), nn.SiLU(), nn.Linear(dims[-1], dims[-1]))
        self.input = nn.Conv2d(in_channels, dims[0], 3, padding=1)
        self.hint = nn.Sequential(
            nn.Conv2d(hint_channels, 16, 3, padding=1), nn.SiLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.SiLU(),
            nn.Conv2d(32, 64, 3, 2, 1), nn.SiLU(), zero_module(nn.Conv2d(64, dims[0], 3, 2, 1)),
        )  # fmt: skip
        self.blocks, self.embs, self.attns, self.zeros = (nn.ModuleList() for _ in range(4))
        for a, b in zip([dims[0], *dims], dims, strict=False):
            self.blocks.append(nn.Conv2d(a, b, 3, padding=1))
            self.embs.append(nn.Linear(dims[-1], b))
            self.attns.append(nn.MultiheadAttention(b, 4, kdim=context_dim, vdim=context_dim, batch_first=True))
            self.zeros.append(zero_module(nn.Conv2d(b, b, 1)))

    def forward(self, x, hint, timesteps, context, **kwargs):
        half = self.model_channels // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half, device=x.device) / half)
        args = timesteps[:, None].float() * freqs[None]
        emb = self.time(torch.cat([args.cos(), args.sin()], dim=-1))
        h = self.input(x) + self.hint(hint)
        outs = []
        for block, e, attn, zero in zip(self.blocks, self.embs, self.attns, self.zeros, strict=True):
            h = F.silu(block(h) + e(emb)[:, :, None, None])
            tokens = h.flatten(2).transpose(1, 2)
            h = h + attn(tokens, context, context)[0].transpose(1, 2).reshape(h.shape)
            outs.append(zero(h))
        return outs


class RWKVState(NamedTuple):
    num: Tensor
    den: Tensor
    last: Tensor


class RWKV(nn.Module):
    def __init__(self, vocab_size, n_embd, n_layer, ctx_len):
        super().__init__()
        self.n_layer, self.ctx_len, self.n_embd = n_layer, ctx_len, n_embd
        self.emb = nn.Embedding(vocab_size, n_embd)
        self.key, self.value, self.receptance, self.ffn = (
            nn.ModuleList([nn.Linear(n_embd, n_embd, bias=False) for _ in range(n_layer)]) for _ in range(4)
        )
        self.decay = nn.ParameterList([nn.Parameter(torch.ones(n_embd)) for _ in range(n_layer)])
        self.mix = nn.ParameterList([nn.Parameter(torch.ones(n_embd) * 0.5) for _ in range(n_layer)])
        self.head = nn.Linear(n_embd, vocab_size, bias=False)

    def init_state(self, batch):
        zeros = torch.zeros(self.n_layer, batch, self.n_embd)
        return RWKVState(zeros, zeros + 1e-9, zeros)

    def forward(self, idx, state: RWKVState | None = None):
        B, T = idx.size()
        assert self.ctx_len >= T, "Cannot forward, because len(input) > model ctx_len."
        num, den, last = self.init_state(B) if state is None else state
        x = self.emb(idx)
        nums, dens, lasts = [], [], []
        for i in range(self.n_layer):
            a, b, prev, out = num[i], den[i], last[i], []
            for t in range(T):
                mixed = x[:, t] * self.mix[i] + prev * (1 - self.mix[i])
                k, v, r = (
                    self.key[i](mixed).clamp(max=30).exp(),
                    self.value[i](mixed),
                    self.receptance[i](mixed).sigmoid(),
                )
                out.append(r * (a + k * v) / (b + k))
                w = torch.exp(-torch.exp(self.decay[i]))
                a, b, prev = a * w + k * v, b * w + k, x[:, t]
            x = x + self.ffn[i](torch.stack(out, 1))
            nums.append(a)
            dens.append(b)
            lasts.append(prev)
        return self.head(x), RWKVState(torch.stack(nums), torch.stack(dens), torch.stack(lasts))


class PerceiverIO(nn.Module):
    def __init__(
        self, *, depth, dim, queries_dim, num_latents, latent_dim, cross_heads=1, latent_heads=8, logits_dim=None
    ):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(num_latents, latent_dim))
        self.cross = nn.MultiheadAttention(latent_dim, cross_heads, kdim=dim, vdim=dim, batch_first=True)
        self.layers = nn.ModuleList(
            [
                nn.TransformerEncoderLayer(latent_dim, latent_heads, 4 * latent_dim, batch_first=True)
                for _ in range(depth)
            ]
        )
        self.decoder = nn.MultiheadAttention(
            queries_dim, cross_heads, kdim=latent_dim, vdim=latent_dim, batch_first=True
        )
        self.to_logits = nn.Linear(queries_dim, logits_dim) if logits_dim is not None else nn.Identity()

    def forward(self, data, mask=None, queries=None):
        x = self.latents.unsqueeze(0).expand(data.shape[0], -1, -1)
        x = x + self.cross(x, data, data, key_padding_mask=None if mask is None else ~mask)[0]
        for layer in self.layers:
            x = layer(x)
        if queries is None:
            return x
        if queries.ndim == 2:
            queries = queries.unsqueeze(0).expand(data.shape[0], -1, -1)
        return self.to_logits(self.decoder(queries, x, x)[0])


class DETRVAE(nn.Module):
    """Action chunking with transformers: imitates a teleoperated arm."""

    def __init__(self, backbones, state_dim, num_queries, camera_names, hidden_dim=64, latent_dim=32):
        super().__init__()
        self.num_queries, self.camera_names, self.latent_dim = num_queries, camera_names, latent_dim
        self.backbones = nn.ModuleList(backbones)
        self.input_proj = nn.Conv2d(backbones[0].num_channels, hidden_dim, 1)
        self.transformer = nn.Transformer(hidden_dim, 4, 2, 2, 128, batch_first=True)
        self.action_head, self.is_pad_head = nn.Linear(hidden_dim, state_dim), nn.Linear(hidden_dim, 1)
        self.query_embed = nn.Embedding(num_queries, hidden_dim)
        self.proprio = nn.Linear(state_dim, hidden_dim)
        self.cls_embed = nn.Embedding(1, hidden_dim)
        self.encoder_action_proj = nn.Linear(state_dim, hidden_dim)
        self.latent_proj = nn.Linear(hidden_dim, 2 * latent_dim)
        self.latent_out_proj = nn.Linear(latent_dim, hidden_dim)

    def forward(self, qpos, image, env_state, actions=None, is_pad=None):
        bs = qpos.shape[0]
        if actions is not None:
            embed = self.encoder_action_proj(actions) * (~is_pad).unsqueeze(-1)
            mu, logvar = self.latent_proj(embed.mean(1)).chunk(2, -1)
            latent = mu + (0.5 * logvar).exp() * torch.randn_like(mu)
        else:
            mu = logvar = None
            latent = torch.zeros(bs, self.latent_dim, device=qpos.device)
        cams = []
        for cam_id, _ in enumerate(self.camera_names):
            features = self.backbones[cam_id](image[:, cam_id])
            cams.append(self.input_proj(features).flatten(2).transpose(1, 2))
        src = torch.cat([self.latent_out_proj(latent)[:, None], self.proprio(qpos)[:, None], *cams], dim=1)
        hs = self.transformer(src, self.query_embed.weight.unsqueeze(0).expand(bs, -1, -1))
        return self.action_head(hs), self.is_pad_head(hs), [mu, logvar]


class EEGNet(nn.Module):
    def __init__(self, nb_classes, Chans, Samples, dropoutRate=0.5, kernLength=64, F1=8, D=2, F2=16):
        super().__init__()
        self.firstconv = nn.Sequential(
            nn.Conv2d(1, F1, (1, kernLength), padding=(0, kernLength // 2), bias=False), nn.BatchNorm2d(F1)
        )
        self.depthwise = nn.Sequential(
            nn.Conv2d(F1, F1 * D, (Chans, 1), groups=F1, bias=False),
            nn.BatchNorm2d(F1 * D), nn.ELU(), nn.AvgPool2d((1, 4)), nn.Dropout(dropoutRate),
        )  # fmt: skip
        self.separable = nn.Sequential(
            nn.Conv2d(F1 * D, F2, (1, 16), padding=(0, 8), bias=False),
            nn.BatchNorm2d(F2),
            nn.ELU(),
            nn.AvgPool2d((1, 8)),
        )
        self.classify = nn.Linear(F2 * (Samples // 32), nb_classes)

    def forward(self, x):
        x = self.separable(self.depthwise(self.firstconv(x)))
        x = x.view(x.size(0), -1)
        return self.classify(x)


class HeteroGNN(nn.Module):
    def __init__(self, metadata, in_dims, hidden_channels, out_channels, num_layers, target_node):
        super().__init__()
        node_types, edge_types = metadata
        self.target_node = target_node
        self.lins = nn.ModuleDict({n: nn.Linear(in_dims[n], hidden_channels) for n in node_types})
        self.convs = nn.ModuleList(
            [
                nn.ModuleDict({"__".join(e): nn.Linear(2 * hidden_channels, hidden_channels) for e in edge_types})
                for _ in range(num_layers)
            ]
        )
        self.out = nn.Linear(hidden_channels, out_channels)

    def forward(self, x_dict, edge_index_dict):
        h = {n: F.relu(self.lins[n](x)) for n, x in x_dict.items()}
        for conv in self.convs:
            new = {n: x.clone() for n, x in h.items()}
            for (src, rel, dst), edge_index in edge_index_dict.items():
                m = conv[f"{src}__{rel}__{dst}"](torch.cat([h[src][edge_index[0]], h[dst][edge_index[1]]], -1))
                new[dst] = new[dst].index_add(0, edge_index[1], m)
            h = {n: F.relu(x) for n, x in new.items()}
        return self.out(h[self.target_node])
