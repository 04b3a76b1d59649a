"""Hard: inputs that must fit each other, which go through several helpers and modules before they are used.

Long because it is a list of models.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "AVFusionNet",
    "ColumnRetriever",
    "ControlledUNet",
    "E2EVarNet",
    "EquivariantPotential",
    "GraphPropPredictor",
    "HierarchicalNeRF",
    "RoIRelationHead",
    "SpeculativeDecoder",
    "TemporalFusion",
    "VarlenEncoder",
    "WorldAgent",
]


# --- graphs with categorical features of atoms and bonds, and a virtual node


def segment_sum(src, index, size):
    out = src.new_zeros(size, src.size(-1))
    return out.index_add_(0, index, src)


class CategoryEncoder(nn.Module):
    def __init__(self, dims, emb_dim):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(d, emb_dim) for d in dims])
        for table in self.tables:
            nn.init.xavier_uniform_(table.weight)

    def forward(self, feats):
        out = 0
        for i in range(feats.shape[1]):
            out = out + self.tables[i](feats[:, i])
        return out


class GINEBlock(nn.Module):
    def __init__(self, emb_dim, bond_dims):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(emb_dim, 2 * emb_dim), nn.ReLU(), nn.Linear(2 * emb_dim, emb_dim))
        self.eps = nn.Parameter(torch.zeros(1))
        self.bonds = CategoryEncoder(bond_dims, emb_dim)

    def forward(self, h, edge_index, edge_attr):
        row, col = edge_index
        message = F.relu(h[row] + self.bonds(edge_attr))
        return self.mlp((1 + self.eps) * h + segment_sum(message, col, h.shape[0]))


class GraphPropPredictor(nn.Module):
    def __init__(self, num_tasks=12, num_layer=3, emb_dim=64, drop_ratio=0.5, atom_dims=(119, 5, 12), bond_dims=(5, 6)):
        super().__init__()
        self.drop_ratio = drop_ratio
        self.atom_encoder = CategoryEncoder(atom_dims, emb_dim)
        self.virtual = nn.Embedding(1, emb_dim)
        self.convs = nn.ModuleList([GINEBlock(emb_dim, bond_dims) for _ in range(num_layer)])
        self.norms = nn.ModuleList([nn.LayerNorm(emb_dim) for _ in range(num_layer)])
        self.virtual_mlps = nn.ModuleList([nn.Linear(emb_dim, emb_dim) for _ in range(num_layer - 1)])
        self.head = nn.Linear(emb_dim, num_tasks)

    def embed_nodes(self, data):
        x, edge_index, edge_attr, batch = data.x, data.edge_index, data.edge_attr, data.batch
        num_graphs = int(batch[-1]) + 1
        virtual = self.virtual(torch.zeros(num_graphs, dtype=edge_index.dtype, device=edge_index.device))
        h = self.atom_encoder(x)
        for layer, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            h = h + virtual[batch]
            new = norm(conv(h, edge_index, edge_attr))
            h = F.dropout(F.relu(new), self.drop_ratio, self.training) + h
            if layer < len(self.virtual_mlps):
                virtual = virtual + F.relu(self.virtual_mlps[layer](segment_sum(h, batch, num_graphs)))
        return h, num_graphs

    def forward(self, batched_data):
        h, n = self.embed_nodes(batched_data)
        batch = batched_data.batch
        count = segment_sum(torch.ones_like(h[:, :1]), batch, n).clamp(min=1)
        return self.head(segment_sum(h, batch, n) / count)


# --- forecasting with known and unknown, categorical and real columns


class GRN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size=None, context_size=None):
        super().__init__()
        output_size = output_size or hidden_size
        self.skip = nn.Linear(input_size, output_size) if input_size != output_size else nn.Identity()
        self.fc1 = nn.Linear(input_size, hidden_size)
        self.context = nn.Linear(context_size, hidden_size, bias=False) if context_size else None
        self.fc2 = nn.Linear(hidden_size, hidden_size)
        self.gate = nn.Linear(hidden_size, 2 * output_size)
        self.norm = nn.LayerNorm(output_size)

    def forward(self, x, context=None):
        h = self.fc1(x)
        if context is not None:
            context = self.context(context)
            h = h + (context.unsqueeze(1) if h.dim() == 3 else context)
        return self.norm(F.glu(self.gate(self.fc2(F.elu(h))), dim=-1) + self.skip(x))


class VariableSelection(nn.Module):
    def __init__(self, names, hidden_size, context_size=None):
        super().__init__()
        self.names = list(names)
        self.single = nn.ModuleDict({n: GRN(hidden_size, hidden_size) for n in self.names})
        self.weights = GRN(hidden_size * len(self.names), hidden_size, len(self.names), context_size)

    def forward(self, x, context=None):
        outs = torch.stack([self.single[n](x[n]) for n in self.names], dim=-1)
        weights = torch.softmax(self.weights(torch.cat([x[n] for n in self.names], dim=-1), context), dim=-1)
        return (outs * weights.unsqueeze(-2)).sum(-1)


class TemporalFusion(nn.Module):
    """Inputs are a dict as a data loader of time series gives it."""

    def __init__(
        self,
        static_cats={"store": 50, "region": 8},
        time_cats={"weekday": 7, "month": 12},
        time_reals=["price", "promo"],
        unknown_reals=["sales"],
        hidden_size=32,
        n_heads=4,
        n_quantiles=3,
    ):
        super().__init__()
        self.static_cats, self.time_cats = static_cats, time_cats
        self.known_reals, self.reals = time_reals, time_reals + unknown_reals
        self.embeddings = nn.ModuleDict(
            {n: nn.Embedding(c, hidden_size) for n, c in {**static_cats, **time_cats}.items()}
        )
        self.prescalers = nn.ModuleDict({n: nn.Linear(1, hidden_size) for n in self.reals})
        self.static_vsn = VariableSelection(static_cats, hidden_size)
        self.encoder_vsn = VariableSelection([*time_cats, *self.reals], hidden_size, hidden_size)
        self.decoder_vsn = VariableSelection([*time_cats, *time_reals], hidden_size, hidden_size)
        self.context = GRN(hidden_size, hidden_size)
        self.lstm_encoder = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.lstm_decoder = nn.LSTM(hidden_size, hidden_size, batch_first=True)
        self.attention = nn.MultiheadAttention(hidden_size, n_heads, batch_first=True)
        self.output = nn.Linear(hidden_size, n_quantiles)

    def embed(self, cat, cont, names, reals):
        out = {n: self.embeddings[n](cat[..., i]) for i, n in enumerate(names)}
        out.update({n: self.prescalers[n](cont[..., i].unsqueeze(-1)) for i, n in enumerate(reals)})
        return out

    def get_mask(self, encoder_lengths, encoder_steps, decoder_steps):
        past = torch.arange(encoder_steps, device=encoder_lengths.device)[None] >= encoder_lengths[:, None]
        return torch.cat([past, past.new_zeros(past.shape[0], decoder_steps)], dim=1)

    def forward(self, x):
        enc_steps = x["encoder_cont"].size(1)
        dec_steps = x["decoder_cont"].size(1)
        static = {n: self.embeddings[n](x["static_cat"][:, i]) for i, n in enumerate(self.static_cats)}
        context = self.context(self.static_vsn(static))
        past = self.encoder_vsn(self.embed(x["encoder_cat"], x["encoder_cont"], self.time_cats, self.reals), context)
        future = self.decoder_vsn(
            self.embed(x["decoder_cat"], x["decoder_cont"], self.time_cats, self.known_reals), context
        )
        state = (context.unsqueeze(0), context.unsqueeze(0))
        enc, state = self.lstm_encoder(past, state)
        dec, _ = self.lstm_decoder(future, state)
        both = torch.cat([enc, dec], dim=1)
        mask = self.get_mask(x["encoder_lengths"], enc_steps, dec_steps)
        attended, _ = self.attention(both[:, enc_steps:], both, both, key_padding_mask=mask)
        return {"prediction": self.output(attended + dec), "attention_mask": mask}


# --- frames and sound


class LogMel(nn.Module):
    def __init__(self, n_fft=400, hop=160, n_mels=64):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("fbank", torch.rand(n_mels, n_fft // 2 + 1))

    def forward(self, wav):
        spec = torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True)
        return torch.log(self.fbank @ spec.abs().pow(2) + 1e-6)


class FrameEncoder(nn.Module):
    def __init__(self, width, out_dim):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 4, 3), nn.BatchNorm2d(width), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(width, out_dim, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))

    def forward(self, frames):
        b, t = frames.shape[:2]
        x = self.body(self.stem(frames.flatten(0, 1)))
        return x.view(b, t, -1)


class AVFusionNet(nn.Module):
    def __init__(self, n_class=10, dim=128, depth=2, n_mels=64, max_len=512):
        super().__init__()
        self.mel = LogMel(n_mels=n_mels)
        self.video = FrameEncoder(32, dim)
        self.audio = nn.Conv1d(n_mels, dim, 3, stride=2, padding=1)
        self.kind = nn.Parameter(torch.randn(2, dim) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, max_len, dim) * 0.02)
        self.blocks = nn.ModuleList(
            [nn.TransformerEncoderLayer(dim, 4, 2 * dim, batch_first=True) for _ in range(depth)]
        )
        self.head = nn.Linear(dim, n_class)

    def encode_modalities(self, clip, wav):
        v = self.video(clip) + self.kind[0]
        a = self.audio(self.mel(wav)).transpose(1, 2) + self.kind[1]
        return v, a

    def build_mask(self, clip_lens, v, a):
        steps = torch.arange(v.size(1), device=v.device)
        v_pad = steps.expand(v.size(0), -1) >= clip_lens.unsqueeze(1)
        a_pad = torch.zeros(a.shape[:2], dtype=torch.bool, device=a.device)
        return torch.cat((v_pad, a_pad), 1)

    def forward(self, clip, wav, clip_lens):
        v, a = self.encode_modalities(clip, wav)
        pad = self.build_mask(clip_lens, v, a)
        x = torch.cat((v, a), dim=1)
        x = x + self.pos[:, : x.shape[1]]
        for blk in self.blocks:
            x = blk(x, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).float()
        return self.head((x * keep).sum(1) / keep.sum(1).clamp(min=1))


# --- an agent with observations of several kinds, and a state that is reset


class WorldAgent(nn.Module):
    """Time first: T x B x ...; `firsts` tells where episodes begin."""

    def __init__(self, n_actions=17, hidden=128, n_items=24, max_message=8, vocab=64):
        super().__init__()
        self.n_actions, self.hidden = n_actions, hidden
        self.cnn = nn.Sequential(
            nn.Conv2d(3, 16, 4, 2), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(hidden)
        )
        self.inventory = nn.Linear(n_items, hidden)
        self.message = nn.EmbeddingBag(vocab, hidden)
        self.core = nn.LSTMCell(3 * hidden + n_actions + 1, hidden)
        self.policy, self.baseline = nn.Linear(hidden, n_actions), nn.Linear(hidden, 1)

    def initial_state(self, batch_size):
        return torch.zeros(batch_size, self.hidden), torch.zeros(batch_size, self.hidden)

    def torso(self, obs, last_action, last_reward):
        T, B = last_action.shape
        image = self.cnn(obs["rgb"].flatten(0, 1).float() / 255.0)
        inventory = self.inventory(torch.log1p(obs["inventory"].flatten(0, 1)))
        message = self.message(obs["message"].flatten(0, 1))
        action = F.one_hot(last_action.view(T * B), self.n_actions).float()
        reward = torch.clamp(last_reward, -1, 1).view(T * B, 1)
        return torch.cat([image, inventory, message, action, reward], dim=-1).view(T, B, -1)

    def forward(self, obs, last_action, last_reward, firsts, core_state=None):
        x = self.torso(obs, last_action, last_reward)
        state = core_state if core_state is not None else self.initial_state(x.shape[1])
        outs = []
        for step, first in zip(x.unbind(0), firsts.unbind(0)):
            keep = (~first).float().unsqueeze(-1)
            state = self.core(step, tuple(s * keep for s in state))
            outs.append(state[0])
        h = torch.stack(outs)
        return self.policy(h), self.baseline(h).squeeze(-1), state


# --- MRI from several coils


def complex_mul(x, y):
    re = x[..., 0] * y[..., 0] - x[..., 1] * y[..., 1]
    im = x[..., 0] * y[..., 1] + x[..., 1] * y[..., 0]
    return torch.stack((re, im), dim=-1)


def complex_conj(x):
    return torch.stack((x[..., 0], -x[..., 1]), dim=-1)


def fft2c(x):
    x = torch.fft.ifftshift(torch.view_as_complex(x.contiguous()), dim=(-2, -1))
    return torch.view_as_real(torch.fft.fftshift(torch.fft.fftn(x, dim=(-2, -1), norm="ortho"), dim=(-2, -1)))


def ifft2c(x):
    x = torch.fft.ifftshift(torch.view_as_complex(x.contiguous()), dim=(-2, -1))
    return torch.view_as_real(torch.fft.fftshift(torch.fft.ifftn(x, dim=(-2, -1), norm="ortho"), dim=(-2, -1)))


class NormedRefiner(nn.Module):
    def __init__(self, chans):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(2, chans, 3, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(chans, 2, 3, padding=1)
        )

    def forward(self, x):
        b, c, h, w, two = x.shape
        assert two == 2
        x = x.permute(0, 4, 1, 2, 3).reshape(b, 2 * c, h, w)
        flat = x.view(b, 2, c // 1 * h * w)
        mean, std = flat.mean(dim=2).view(b, 2, 1, 1), flat.std(dim=2).view(b, 2, 1, 1)
        x = self.net((x - mean) / std) * std + mean
        return x.view(b, 2, c, h, w).permute(0, 2, 3, 4, 1).contiguous()


class VarNetCascade(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.dc_weight = nn.Parameter(torch.ones(1))

    def sens_expand(self, x, sens_maps):
        return fft2c(complex_mul(x, sens_maps))

    def sens_reduce(self, x, sens_maps):
        return complex_mul(ifft2c(x), complex_conj(sens_maps)).sum(dim=1, keepdim=True)

    def forward(self, current, ref, mask, sens_maps):
        zero = torch.zeros(1, 1, 1, 1, 1).to(current)
        soft = torch.where(mask, current - ref, zero) * self.dc_weight
        return current - soft - self.sens_expand(self.model(self.sens_reduce(current, sens_maps)), sens_maps)


class E2EVarNet(nn.Module):
    def __init__(self, num_cascades=3, chans=18, sens_chans=8):
        super().__init__()
        self.sens = NormedRefiner(sens_chans)
        self.cascades = nn.ModuleList([VarNetCascade(NormedRefiner(chans)) for _ in range(num_cascades)])

    def sens_net(self, kspace, mask):
        images = ifft2c(kspace * mask)
        b, c, h, w, comp = images.shape
        maps = self.sens(images.view(b * c, 1, h, w, comp)).view(b, c, h, w, comp)
        return maps / (maps**2).sum(dim=-1, keepdim=True).sum(dim=1, keepdim=True).sqrt()

    def forward(self, masked_kspace, mask):
        sens_maps = self.sens_net(masked_kspace, mask)
        pred = masked_kspace.clone()
        for cascade in self.cascades:
            pred = cascade(pred, masked_kspace, mask, sens_maps)
        image = ifft2c(pred)
        return (image**2).sum(-1).sqrt().pow(2).sum(1).sqrt()


# --- molecules with vectors


class PaiNNInteraction(nn.Module):
    def __init__(self, dim, n_rbf):
        super().__init__()
        self.dim = dim
        self.context = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, 3 * dim))
        self.filters = nn.Linear(n_rbf, 3 * dim)

    def forward(self, s, v, rbf, direction, idx_i, idx_j):
        x = self.context(s)[idx_j] * self.filters(rbf)
        ds, dv1, dv2 = torch.split(x, self.dim, dim=-1)
        dv = dv1.unsqueeze(1) * direction.unsqueeze(-1) + dv2.unsqueeze(1) * v[idx_j]
        s = s + torch.zeros_like(s).index_add(0, idx_i, ds)
        v = v + torch.zeros_like(v).index_add(0, idx_i, dv)
        return s, v


class EquivariantPotential(nn.Module):
    def __init__(self, n_atom_basis=64, n_interactions=2, n_rbf=20, cutoff=5.0, max_z=100):
        super().__init__()
        self.cutoff = cutoff
        self.embedding = nn.Embedding(max_z, n_atom_basis, padding_idx=0)
        self.register_buffer("centers", torch.linspace(0, cutoff, n_rbf))
        self.interactions = nn.ModuleList([PaiNNInteraction(n_atom_basis, n_rbf) for _ in range(n_interactions)])
        self.readout = nn.Sequential(nn.Linear(2 * n_atom_basis, n_atom_basis), nn.SiLU(), nn.Linear(n_atom_basis, 1))

    def geometry(self, inputs):
        R, idx_i, idx_j = inputs["_positions"], inputs["_idx_i"], inputs["_idx_j"]
        r_ij = R[idx_j] - R[idx_i] + inputs["_offsets"]
        d = torch.norm(r_ij, dim=1, keepdim=True)
        rbf = torch.exp(-((d - self.centers) ** 2)) * 0.5 * (torch.cos(math.pi * d / self.cutoff) + 1)
        return rbf, r_ij / d

    def forward(self, inputs):
        z, idx_m = inputs["_atomic_numbers"], inputs["_idx_m"]
        rbf, direction = self.geometry(inputs)
        s = self.embedding(z)
        v = s.new_zeros(s.shape[0], 3, s.shape[1])
        for inter in self.interactions:
            s, v = inter(s, v, rbf, direction, inputs["_idx_i"], inputs["_idx_j"])
        y = self.readout(torch.cat([s, v.norm(dim=1)], -1))
        n_mol = int(idx_m[-1]) + 1
        energy = torch.zeros(n_mol, 1, device=y.device).index_add(0, idx_m, y)
        inputs["energy"] = energy.squeeze(-1)
        return inputs


# --- second stage of a detector


class RoIRelationHead(nn.Module):
    def __init__(self, in_channels=64, out_size=7, strides=(8, 16, 32), num_classes=20, rep=256, groups=4):
        super().__init__()
        self.out_size, self.strides, self.groups = out_size, strides, groups
        self.lateral = nn.ModuleList([nn.Conv2d(in_channels, in_channels, 1) for _ in strides])
        self.fc6, self.fc7 = nn.Linear(in_channels * out_size**2, rep), nn.Linear(rep, rep)
        self.geo, self.qk = nn.Linear(4, groups), nn.Linear(rep, 2 * rep)
        self.cls, self.reg = nn.Linear(rep, num_classes + 1), nn.Linear(rep, 4)

    def grid_for(self, boxes, stride, feat):
        h, w = feat.shape[-2:]
        cx, cy = (boxes[..., 0] + boxes[..., 2]) / 2, (boxes[..., 1] + boxes[..., 3]) / 2
        bw, bh = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
        lin = torch.linspace(-0.5, 0.5, self.out_size, device=feat.device)
        gx = (cx[..., None] + lin * bw[..., None]) / (stride * w) * 2 - 1
        gy = (cy[..., None] + lin * bh[..., None]) / (stride * h) * 2 - 1
        n = boxes.shape[1]
        gx = gx[:, :, None, :].expand(-1, n, self.out_size, -1)
        gy = gy[:, :, :, None].expand(-1, n, -1, self.out_size)
        return torch.stack([gx, gy], dim=-1)

    def pool(self, feats, boxes):
        b, n, _ = boxes.shape
        pooled = 0
        for conv, stride, feat in zip(self.lateral, self.strides, feats):
            grid = self.grid_for(boxes, stride, feat).view(b, n * self.out_size, self.out_size, 2)
            pooled = pooled + F.grid_sample(conv(feat), grid, align_corners=False)
        c = pooled.shape[1]
        return pooled.view(b, c, n, self.out_size, self.out_size).transpose(1, 2)

    def relate(self, x, boxes):
        b, n, d = x.shape
        rel = boxes[:, :, None] - boxes[:, None]
        geo = self.geo(torch.sign(rel) * torch.log1p(rel.abs())).permute(0, 3, 1, 2)
        q, k = self.qk(x).view(b, n, 2, self.groups, d // self.groups).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-1, -2) / math.sqrt(q.size(-1)) + geo).softmax(-1)
        return x + (attn @ x.view(b, n, self.groups, -1).transpose(1, 2)).transpose(1, 2).reshape(b, n, d)

    def forward(self, features, proposals):
        x = self.pool(features, proposals).flatten(2)
        x = self.relate(F.relu(self.fc6(x)), proposals)
        x = F.relu(self.fc7(x))
        return self.cls(x), proposals + self.reg(x)


# --- diffusion with a control branch


def timestep_embedding(t, dim):
    freqs = torch.exp(-math.log(10000) * torch.arange(dim // 2, device=t.device) / (dim // 2))
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.cos(), args.sin()], dim=-1)


class CondBlock(nn.Module):
    def __init__(self, cin, cout, emb, ctx, heads=4):
        super().__init__()
        self.heads = heads
        self.norm, self.conv = nn.GroupNorm(8, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.emb = nn.Linear(emb, 2 * cout)
        self.q, self.kv, self.out = nn.Linear(cout, cout), nn.Linear(ctx, 2 * cout), nn.Linear(cout, cout)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def attend(self, x, context, mask):
        b, c, h, w = x.shape
        q = self.q(x.flatten(2).transpose(1, 2)).view(b, h * w, self.heads, -1).transpose(1, 2)
        k, v = self.kv(context).view(b, context.shape[1], 2, self.heads, -1).unbind(2)
        bias = (1 - mask.float())[:, None, None, :] * -1e4
        attn = (q @ k.permute(0, 2, 3, 1) * q.shape[-1] ** -0.5 + bias).softmax(-1)
        out = (attn @ v.transpose(1, 2)).transpose(1, 2).reshape(b, h * w, c)
        return x + self.out(out).transpose(1, 2).view(b, c, h, w)

    def forward(self, x, emb, context, mask):
        h = self.conv(F.silu(self.norm(x)))
        scale, shift = self.emb(emb)[:, :, None, None].chunk(2, dim=1)
        return self.attend(h * (1 + scale) + shift + self.skip(x), context, mask)


class ControlledUNet(nn.Module):
    def __init__(self, in_ch=4, base=32, mult=(1, 2), context_dim=96, hint_ch=3, n_class=1000):
        super().__init__()
        self.base = base
        emb = 4 * base
        self.time = nn.Sequential(nn.Linear(base, emb), nn.SiLU(), nn.Linear(emb, emb))
        self.label = nn.Embedding(n_class, emb)
        self.hint = nn.Sequential(
            nn.Conv2d(hint_ch, base, 3, stride=2, padding=1), nn.SiLU(), nn.Conv2d(base, base, 3, stride=4, padding=1)
        )
        self.inp = nn.Conv2d(in_ch, base, 3, padding=1)
        chs = [base * m for m in mult]
        self.down = nn.ModuleList([CondBlock(a, b, emb, context_dim) for a, b in zip([base, *chs], chs)])
        self.zero = nn.ModuleList([nn.Conv2d(c, c, 1) for c in chs])
        self.mid = CondBlock(chs[-1], chs[-1], emb, context_dim)
        self.up = nn.ModuleList(
            [CondBlock(2 * c, c2, emb, context_dim) for c, c2 in zip(chs[::-1], [*chs[::-1][1:], base])]
        )
        self.outp = nn.Conv2d(base, in_ch, 3, padding=1)

    def embed(self, timesteps, y):
        return self.time(timestep_embedding(timesteps, self.base)) + self.label(y)

    def forward(self, x, timesteps, cond, y):
        emb = self.embed(timesteps, y)
        ctx, mask = cond["crossattn"], cond["mask"]
        h, skips = self.inp(x) + self.hint(cond["hint"]), []
        for i, block in enumerate(self.down):
            h = block(h, emb, ctx, mask)
            skips.append(h + self.zero[i](h))
            h = F.avg_pool2d(h, 2)
        h = self.mid(h, emb, ctx, mask)
        for block in self.up:
            h = F.interpolate(h, size=skips[-1].shape[-2:], mode="nearest")
            h = block(torch.cat([h, skips.pop()], 1), emb, ctx, mask)
        return self.outp(h)


# --- a decoder that verifies a draft, with caches of each layer


def rotate(x, pos, base=10000.0):
    half = x.shape[-1] // 2
    inv = base ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    ang = pos[:, None, :, None].float() * inv
    x1, x2 = x[..., :half], x[..., half:]
    return torch.cat([x1 * ang.cos() - x2 * ang.sin(), x2 * ang.cos() + x1 * ang.sin()], -1)


class CachedAttention(nn.Module):
    def __init__(self, d, n_head, n_kv):
        super().__init__()
        self.n_head, self.n_kv, self.hd = n_head, n_kv, d // n_head
        self.wq, self.wk, self.wv = (
            nn.Linear(d, d, bias=False),
            nn.Linear(d, n_kv * self.hd, bias=False),
            nn.Linear(d, n_kv * self.hd, bias=False),
        )
        self.wo = nn.Linear(d, d, bias=False)

    def forward(self, x, positions, bias, past):
        b, s, _ = x.shape
        q = rotate(self.wq(x).view(b, s, self.n_head, self.hd).transpose(1, 2), positions)
        k = rotate(self.wk(x).view(b, s, self.n_kv, self.hd).transpose(1, 2), positions)
        v = self.wv(x).view(b, s, self.n_kv, self.hd).transpose(1, 2)
        pk, pv = past
        k, v = torch.cat([pk, k], dim=2), torch.cat([pv, v], dim=2)
        rep = self.n_head // self.n_kv
        scores = q @ k.repeat_interleave(rep, 1).transpose(2, 3) / math.sqrt(self.hd) + bias
        out = scores.softmax(-1) @ v.repeat_interleave(rep, 1)
        return self.wo(out.transpose(1, 2).reshape(b, s, -1)), (k, v)


class SpeculativeDecoder(nn.Module):
    def __init__(self, vocab_size=512, d_model=64, n_layer=2, n_head=4, n_kv_head=2):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.attn = nn.ModuleList([CachedAttention(d_model, n_head, n_kv_head) for _ in range(n_layer)])
        self.ffn = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.SiLU(), nn.Linear(4 * d_model, d_model))
                for _ in range(n_layer)
            ]
        )
        self.norms = nn.ModuleList([nn.LayerNorm(d_model) for _ in range(2 * n_layer)])
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)

    def tree_bias(self, tree_mask, past_len):
        b, s, _ = tree_mask.shape
        seen = tree_mask.new_ones(b, s, past_len)
        full = torch.cat([seen, tree_mask], dim=-1)
        return torch.zeros(full.shape, device=full.device).masked_fill(~full, float("-inf"))[:, None]

    def forward(self, draft_tokens, tree_mask, depth, past_key_values):
        past_len = past_key_values[0][0].shape[2]
        bias = self.tree_bias(tree_mask, past_len)
        positions = depth + past_len
        x, presents = self.tok(draft_tokens), []
        for i, (attn, ffn) in enumerate(zip(self.attn, self.ffn)):
            a, kv = attn(self.norms[2 * i](x), positions, bias, past_key_values[i])
            x = x + a
            x = x + ffn(self.norms[2 * i + 1](x))
            presents.append(kv)
        return self.lm_head(x), presents


# --- sequences of several lengths in one row


class VarlenEncoder(nn.Module):
    def __init__(self, vocab=1000, dim=64, heads=4, layers=2, max_pos=256, num_labels=5):
        super().__init__()
        self.heads = heads
        self.word, self.pos = nn.Embedding(vocab, dim), nn.Embedding(max_pos, dim)
        self.qkv = nn.ModuleList([nn.Linear(dim, 3 * dim) for _ in range(layers)])
        self.proj = nn.ModuleList([nn.Linear(dim, dim) for _ in range(layers)])
        self.norm = nn.ModuleList([nn.LayerNorm(dim) for _ in range(layers)])
        self.pooler, self.cls = nn.Linear(dim, dim), nn.Linear(dim, num_labels)

    def block_mask(self, cu_seqlens, total):
        marks = torch.zeros(total + 1, dtype=torch.long, device=cu_seqlens.device)
        marks = marks.index_add(0, cu_seqlens[1:-1].long(), torch.ones_like(cu_seqlens[1:-1].long()))
        doc = marks[:total].cumsum(0)
        return doc[:, None] == doc[None, :]

    def attend(self, i, x, mask):
        n, d = x.shape
        q, k, v = self.qkv[i](x).view(n, 3, self.heads, d // self.heads).permute(1, 2, 0, 3)
        scores = torch.einsum("hqd,hkd->hqk", q, k) / math.sqrt(d // self.heads)
        probs = scores.masked_fill(~mask, -1e4).softmax(-1)
        return self.proj[i](torch.einsum("hqk,hkd->qhd", probs, v).reshape(n, d))

    def forward(self, input_ids, position_ids, cu_seqlens):
        x = self.word(input_ids) + self.pos(position_ids)
        mask = self.block_mask(cu_seqlens, input_ids.numel())
        for i in range(len(self.qkv)):
            x = self.norm[i](x + self.attend(i, x, mask))
        first = x[cu_seqlens[:-1].long()]
        return self.cls(torch.tanh(self.pooler(first)))


# --- rays, coarse and fine


def sample_pdf(bins, weights, n):
    pdf = (weights + 1e-5) / (weights + 1e-5).sum(-1, keepdim=True)
    cdf = torch.cat([torch.zeros_like(pdf[..., :1]), pdf.cumsum(-1)], -1)
    u = torch.linspace(0, 1, n, device=bins.device).expand([*cdf.shape[:-1], n]).contiguous()
    inds = torch.searchsorted(cdf, u, right=True)
    below, above = (inds - 1).clamp(min=0), inds.clamp(max=cdf.shape[-1] - 1)
    pairs = torch.stack([below, above], -1)
    shape = [pairs.shape[0], pairs.shape[1], cdf.shape[-1]]
    cdf_g = cdf.unsqueeze(1).expand(shape).gather(2, pairs)
    bins_g = bins.unsqueeze(1).expand(shape).gather(2, pairs)
    denom = cdf_g[..., 1] - cdf_g[..., 0]
    t = (u - cdf_g[..., 0]) / torch.where(denom < 1e-5, torch.ones_like(denom), denom)
    return bins_g[..., 0] + t * (bins_g[..., 1] - bins_g[..., 0])


class HierarchicalNeRF(nn.Module):
    def __init__(self, n_images=100, n_coarse=16, n_fine=16, L_xyz=6, L_dir=4, W=64, app_dim=8):
        super().__init__()
        self.n_coarse, self.n_fine, self.L_xyz, self.L_dir = n_coarse, n_fine, L_xyz, L_dir
        self.appearance = nn.Embedding(n_images, app_dim)
        xyz, d = 3 + 6 * L_xyz, 3 + 6 * L_dir
        self.trunk = nn.ModuleDict(
            {k: nn.Sequential(nn.Linear(xyz, W), nn.ReLU(), nn.Linear(W, W)) for k in ("coarse", "fine")}
        )
        self.sigma = nn.ModuleDict({k: nn.Linear(W, 1) for k in ("coarse", "fine")})
        self.rgb = nn.ModuleDict({k: nn.Linear(W + d + app_dim, 3) for k in ("coarse", "fine")})

    def posenc(self, x, L):
        out = [x]
        for i in range(L):
            out += [torch.sin(2**i * x), torch.cos(2**i * x)]
        return torch.cat(out, -1)

    def query(self, kind, pts, dirs, app):
        h = self.trunk[kind](self.posenc(pts, self.L_xyz))
        side = torch.cat([self.posenc(dirs, self.L_dir), app], -1)[:, None].expand(-1, pts.shape[1], -1)
        return torch.sigmoid(self.rgb[kind](torch.cat([h, side], -1))), F.softplus(self.sigma[kind](h)).squeeze(-1)

    def render(self, kind, z, rays_o, rays_d, dirs, app):
        pts = rays_o[:, None] + z[..., None] * rays_d[:, None]
        rgb, sigma = self.query(kind, pts, dirs, app)
        dists = torch.cat([z[:, 1:] - z[:, :-1], torch.full_like(z[:, :1], 1e10)], -1)
        alpha = 1 - torch.exp(-sigma * dists)
        T = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
        weights = alpha * T
        return (weights[..., None] * rgb).sum(1), (weights * z).sum(1), weights

    def forward(self, rays, ts):
        rays_o, rays_d, near, far = rays[:, 0:3], rays[:, 3:6], rays[:, 6:7], rays[:, 7:8]
        dirs, app = F.normalize(rays_d, dim=-1), self.appearance(ts)
        z = near + (far - near) * torch.linspace(0, 1, self.n_coarse, device=rays.device)
        rgb0, depth0, w = self.render("coarse", z, rays_o, rays_d, dirs, app)
        mids = 0.5 * (z[:, 1:] + z[:, :-1])
        fine = sample_pdf(mids, w[:, 1:-1], self.n_fine).detach()
        z = torch.sort(torch.cat([z, fine], -1), -1)[0]
        rgb1, depth1, _ = self.render("fine", z, rays_o, rays_d, dirs, app)
        return {"rgb_coarse": rgb0, "rgb_fine": rgb1, "depth": depth1, "depth_coarse": depth0}


# --- late interaction, with negatives in groups


class ColumnRetriever(nn.Module):
    def __init__(self, vocab_size=2000, hidden=64, dim=32, n_layers=2, skip_ids=(0, 101, 102)):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, hidden, padding_idx=0)
        layer = nn.TransformerEncoderLayer(hidden, 4, 128, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.linear = nn.Linear(hidden, dim, bias=False)
        self.register_buffer("skip", torch.tensor(skip_ids))

    def encode(self, input_ids, attention_mask):
        x = self.encoder(self.emb(input_ids), src_key_padding_mask=attention_mask == 0)
        return F.normalize(self.linear(x), p=2, dim=2)

    def query(self, input_ids, attention_mask):
        return self.encode(input_ids, attention_mask)

    def doc(self, input_ids, attention_mask):
        keep = (input_ids[..., None] != self.skip).all(-1)
        mask = keep & attention_mask.bool()
        return self.encode(input_ids, attention_mask) * mask.unsqueeze(-1).float(), mask

    def score(self, Q, D, mask):
        sim = torch.einsum("bqd,bnkd->bnqk", Q, D).masked_fill(~mask[:, :, None], -9999.0)
        return sim.max(-1).values.sum(-1)

    def forward(self, Q, D):
        queries = self.query(*Q)
        ids, attn = D
        b, n, length = ids.shape
        docs, mask = self.doc(ids.view(b * n, length), attn.view(b * n, length))
        return self.score(queries, docs.view(b, n, length, -1), mask.view(b, n, length))
