"""Hard: satellites, parsing, weather, folding, radiance, spikes, matching, poses, learners, scans, singing.

Long because it is a list of models.
"""

import copy
import math
from collections import OrderedDict
from functools import partial
from typing import Dict, NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "BiaffineTagger",
    "KeypointMatcher",
    "LearningProcessTracer",
    "MeshWeather",
    "MiniFold",
    "MultiResolutionPose",
    "ParcelClassifier",
    "RadianceField",
    "ScanStudyModel",
    "SingingAcousticModel",
    "SpikeDecoder",
]


# ============================== satellite time series ==============================


def _mlp(dims, last_relu=True):
    layers = []
    for i, (a, b) in enumerate(zip(dims[:-1], dims[1:])):
        layers.append(nn.Linear(a, b))
        if last_relu or i < len(dims) - 2:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


def _masked_mean(x, mask):
    return (x * mask).sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)


def _masked_std(x, mask):
    m = _masked_mean(x, mask)
    return ((((x - m.unsqueeze(-1)) * mask) ** 2).sum(dim=-1) / mask.sum(dim=-1).clamp(min=1) + 1e-6).sqrt()


_POOLING = {"mean": _masked_mean, "std": _masked_std}


class ParcelClassifier(nn.Module):
    def __init__(self, input_dim, mlp1, pooling, mlp2, n_head, d_k, mlp4, with_extra, extra_size, T=1000):
        super().__init__()
        mlp1, mlp2, mlp4 = copy.deepcopy(mlp1), copy.deepcopy(mlp2), copy.deepcopy(mlp4)
        self.with_extra = with_extra
        self.pooling = pooling
        assert input_dim == mlp1[0]
        assert mlp1[-1] * len(pooling.split("_")) == mlp2[0] - (extra_size if with_extra else 0)
        self.mlp1 = _mlp(mlp1)
        self.mlp2 = _mlp(mlp2, last_relu=False)
        self.d = mlp2[-1]
        self.n_head, self.d_k, self.T = n_head, d_k, T
        self.query = nn.Parameter(torch.randn(n_head, d_k) * math.sqrt(2.0 / d_k))
        self.key = nn.Linear(self.d, n_head * d_k)
        self.norm = nn.LayerNorm(self.d)
        self.decoder = _mlp(mlp4, last_relu=False)

    def positional(self, dates):
        i = torch.arange(self.d, device=dates.device)
        angle = dates.unsqueeze(-1).float() / torch.pow(torch.tensor(float(self.T)), 2 * (i // 2) / self.d)
        return torch.where(i % 2 == 0, angle.sin(), angle.cos())

    def forward(self, input, dates):
        a, b = input
        if self.with_extra:
            a, b, extra = a, b[0], b[1]
        out, mask = a, b
        # dates of a parcel are folded into the batch, all pixel-sets are one long list
        batch, temp = out.shape[:2]
        out = out.reshape(batch * temp, *out.shape[2:])
        mask = mask.reshape(batch * temp, -1).float()
        out = self.mlp1(out.transpose(1, 2)).transpose(1, 2)
        out = torch.cat([_POOLING[n](out, mask.unsqueeze(1)) for n in self.pooling.split("_")], dim=1)
        if self.with_extra:
            out = torch.cat([out, extra.reshape(batch * temp, -1)], dim=1)
        x = self.norm(self.mlp2(out).view(batch, temp, -1) + self.positional(dates))

        k = self.key(x).view(batch, temp, self.n_head, self.d_k)
        attn = (torch.einsum("hd,bthd->bht", self.query, k) / self.d_k**0.5).softmax(-1)
        v = x.view(batch, temp, self.n_head, -1)
        return self.decoder(torch.einsum("bht,bthc->bhc", attn, v).flatten(1))


# ============================== parsing ==============================


class Vocab(object):
    def __init__(self, tokens, pad="<pad>", unk="<unk>"):
        self.itos = [pad, unk] + [t for t in tokens if t not in (pad, unk)]
        self.stoi = {t: i for i, t in enumerate(self.itos)}
        self.pad_index, self.unk_index = 0, 1

    def __len__(self):
        return len(self.itos)

    def __getitem__(self, token):
        return self.stoi.get(token, self.unk_index)


class _Biaffine(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in + 1, n_in + 1) * 0.05)

    def forward(self, x, y):
        x = torch.cat((x, torch.ones_like(x[..., :1])), -1)
        y = torch.cat((y, torch.ones_like(y[..., :1])), -1)
        return torch.einsum("bxi,oij,byj->boxy", x, self.weight, y).squeeze(1)


class BiaffineTagger(nn.Module):
    def __init__(self, args, fields):
        super().__init__()
        self.args = args
        self.words, self.chars, self.tags, self.rels = fields["words"], fields["chars"], fields["tags"], fields["rels"]
        self.word_embed = nn.Embedding(len(self.words), args.n_embed, padding_idx=self.words.pad_index)
        self.char_embed = nn.Embedding(len(self.chars), args.n_char_embed, padding_idx=self.chars.pad_index)
        self.char_lstm = nn.LSTM(args.n_char_embed, args.n_feat // 2, batch_first=True, bidirectional=True)
        self.tag_embed = nn.Embedding(len(self.tags), args.n_feat, padding_idx=self.tags.pad_index)
        self.lstm = nn.LSTM(
            args.n_embed + 2 * args.n_feat,
            args.n_lstm_hidden,
            args.n_lstm_layers,
            batch_first=True,
            bidirectional=True,
            dropout=args.lstm_dropout,
        )
        mlp = partial(nn.Linear, 2 * args.n_lstm_hidden)
        self.arc_d, self.arc_h = mlp(args.n_mlp_arc), mlp(args.n_mlp_arc)
        self.rel_d, self.rel_h = mlp(args.n_mlp_rel), mlp(args.n_mlp_rel)
        self.arc_attn = _Biaffine(args.n_mlp_arc, 1)
        self.rel_attn = _Biaffine(args.n_mlp_rel, len(self.rels))

    def forward(self, words, chars, tags):
        mask = words.ne(self.words.pad_index)
        batch_size, seq_len, fix_len = chars.shape
        _, (h, _) = self.char_lstm(self.char_embed(chars.view(-1, fix_len)))
        char_repr = torch.cat((h[0], h[1]), -1).view(batch_size, seq_len, -1)
        x = torch.cat((self.word_embed(words), char_repr, self.tag_embed(tags)), -1)
        x, _ = self.lstm(x)
        arc_d, arc_h = F.leaky_relu(self.arc_d(x), 0.1), F.leaky_relu(self.arc_h(x), 0.1)
        rel_d, rel_h = F.leaky_relu(self.rel_d(x), 0.1), F.leaky_relu(self.rel_h(x), 0.1)
        # [batch_size, seq_len, seq_len]
        s_arc = self.arc_attn(arc_d, arc_h).masked_fill(~mask.unsqueeze(1), -1e9)
        # [batch_size, seq_len, seq_len, n_rels]
        s_rel = self.rel_attn(rel_d, rel_h).permute(0, 2, 3, 1)
        return s_arc, s_rel


# ============================== weather ==============================


class EdgeSet(NamedTuple):
    senders: torch.Tensor
    receivers: torch.Tensor
    features: torch.Tensor


class TaskSpec(NamedTuple):
    input_variables: tuple
    target_variables: tuple
    forcing_variables: tuple
    pressure_levels: tuple
    input_steps: int


_SURFACE = ("2m_temperature", "mean_sea_level_pressure", "10m_u_component_of_wind", "total_precipitation_6hr")


def _channels(variables, levels):
    return sum(1 if v in _SURFACE else len(levels) for v in variables)


class _Interaction(nn.Module):
    def __init__(self, width, edge_dim):
        super().__init__()
        self.embed = nn.Linear(edge_dim, width)
        self.edge = nn.Sequential(nn.Linear(3 * width, width), nn.SiLU(), nn.Linear(width, width), nn.LayerNorm(width))
        self.node = nn.Sequential(nn.Linear(2 * width, width), nn.SiLU(), nn.Linear(width, width), nn.LayerNorm(width))

    def forward(self, source, target, edges: EdgeSet):
        message = self.edge(
            torch.cat([self.embed(edges.features), source[edges.senders], target[edges.receivers]], dim=-1)
        )
        gathered = torch.zeros_like(target).index_add_(0, edges.receivers, message)
        return target + self.node(torch.cat([target, gathered], dim=-1))


class MeshWeather(nn.Module):
    def __init__(self, task: TaskSpec, latent_size, gnn_msg_steps, edge_dims: Dict[str, int]):
        super().__init__()
        inputs = _channels(task.input_variables, task.pressure_levels) * task.input_steps
        self.grid_in = nn.Linear(inputs + len(task.forcing_variables), latent_size)
        self.mesh_in = nn.Linear(3, latent_size)  # unit vectors of the icosahedron
        self.grid2mesh = _Interaction(latent_size, edge_dims["grid2mesh"])
        self.mesh = nn.ModuleList(_Interaction(latent_size, edge_dims["mesh"]) for _ in range(gnn_msg_steps))
        self.mesh2grid = _Interaction(latent_size, edge_dims["mesh2grid"])
        self.out = nn.Linear(latent_size, _channels(task.target_variables, task.pressure_levels))

    def forward(self, inputs, forcings, mesh_xyz, edges: Dict[str, EdgeSet]):
        n_grid = inputs.shape[0]
        # time steps are stacked along the channels
        grid = self.grid_in(torch.cat([inputs.reshape(n_grid, -1), forcings], dim=-1))
        mesh = self.mesh_in(F.normalize(mesh_xyz, dim=-1))
        mesh = self.grid2mesh(grid, mesh, edges["grid2mesh"])
        for step in self.mesh:
            mesh = step(mesh, mesh, edges["mesh"])
        return self.out(self.mesh2grid(mesh, grid, edges["mesh2grid"]))


# ============================== folding ==============================


class _FoldBlock(nn.Module):
    def __init__(self, c_m, c_z, c_hidden_opm, no_heads_msa, transition_n, inf):
        super().__init__()
        self.h, self.inf = no_heads_msa, inf
        self.norm_m, self.norm_z = nn.LayerNorm(c_m), nn.LayerNorm(c_z)
        self.qkv, self.pair_bias = nn.Linear(c_m, 3 * c_m, bias=False), nn.Linear(c_z, no_heads_msa, bias=False)
        self.o = nn.Linear(c_m, c_m)
        self.trans = nn.Sequential(nn.Linear(c_m, transition_n * c_m), nn.ReLU(), nn.Linear(transition_n * c_m, c_m))
        self.opm_a, self.opm_b = nn.Linear(c_m, c_hidden_opm), nn.Linear(c_m, c_hidden_opm)
        self.opm_out = nn.Linear(c_hidden_opm**2, c_z)
        self.tri_a, self.tri_b, self.tri_o = nn.Linear(c_z, c_z), nn.Linear(c_z, c_z), nn.Linear(c_z, c_z)

    def forward(self, m, z, msa_mask, pair_mask):
        s, n, c = m.shape
        q, k, v = (t.view(s, n, self.h, c // self.h) for t in self.qkv(self.norm_m(m)).chunk(3, -1))
        a = torch.einsum("sihc,sjhc->shij", q, k) / math.sqrt(c // self.h)
        a = a + self.pair_bias(self.norm_z(z)).permute(2, 0, 1) + self.inf * (msa_mask - 1)[:, None, None, :]
        m = m + self.o(torch.einsum("shij,sjhc->sihc", a.softmax(-1), v).reshape(s, n, c))
        m = m + self.trans(m)
        left, right = self.opm_a(m) * msa_mask.unsqueeze(-1), self.opm_b(m) * msa_mask.unsqueeze(-1)
        outer = torch.einsum("sic,sjd->ijcd", left, right).flatten(-2)
        norm = torch.einsum("si,sj->ij", msa_mask, msa_mask).unsqueeze(-1)
        z = z + self.opm_out(outer) / (norm + 1e-3)
        tri = torch.einsum("ikc,jkc->ijc", self.tri_a(z) * pair_mask.unsqueeze(-1), self.tri_b(z))
        return m, z + self.tri_o(self.norm_z(tri))


class MiniFold(nn.Module):
    def __init__(self, config):
        super().__init__()
        emb, evo, heads = config["input_embedder"], config["evoformer_stack"], config["heads"]
        c_m, c_z, self.relpos_k = evo["c_m"], evo["c_z"], emb["relpos_k"]
        self.tf_dim = emb["tf_dim"]
        self.linear_tf_i, self.linear_tf_j = nn.Linear(self.tf_dim, c_z), nn.Linear(self.tf_dim, c_z)
        self.linear_tf_m = nn.Linear(self.tf_dim, c_m)
        self.linear_msa = nn.Linear(emb["msa_dim"], c_m)
        self.linear_relpos = nn.Linear(2 * self.relpos_k + 1, c_z)
        self.blocks = nn.ModuleList()
        evo = dict(evo)
        for _ in range(evo.pop("no_blocks")):
            self.blocks.append(_FoldBlock(**evo))
        self.distogram = nn.Linear(c_z, heads["distogram"]["no_bins"])
        self.plddt = nn.Sequential(nn.LayerNorm(c_m), nn.Linear(c_m, heads["lddt"]["no_bins"]))

    def forward(self, feats):
        tf = F.one_hot(feats["aatype"], self.tf_dim).float()
        ri = feats["residue_index"]
        d = (ri[:, None] - ri[None]).clamp(-self.relpos_k, self.relpos_k) + self.relpos_k
        z = self.linear_tf_i(tf)[:, None] + self.linear_tf_j(tf)[None]
        z = z + self.linear_relpos(F.one_hot(d, 2 * self.relpos_k + 1).float())
        m = self.linear_msa(feats["msa_feat"]) + self.linear_tf_m(tf)
        seq_mask = feats["seq_mask"]
        pair_mask = seq_mask[:, None] * seq_mask[None]
        for block in self.blocks:
            m, z = block(m, z, feats["msa_mask"], pair_mask)
        logits = self.distogram(z)
        return {"distogram_logits": logits + logits.transpose(0, 1), "lddt_logits": self.plddt(m[0]), "pair": z}


# ============================== radiance ==============================


class PosEmbedding(nn.Module):
    def __init__(self, max_logscale, N_freqs):
        super().__init__()
        self.freqs = 2 ** torch.linspace(0, max_logscale, N_freqs)
        self.out_dim = 3 * (2 * N_freqs + 1)

    def forward(self, x):
        out = [x]
        for freq in self.freqs:
            out += [torch.sin(freq * x), torch.cos(freq * x)]
        return torch.cat(out, -1)


class RadianceField(nn.Module):
    def __init__(self, embedding_xyz, embedding_dir, hparams, D, W, skips):
        super().__init__()
        self.embedding_xyz, self.embedding_dir = embedding_xyz, embedding_dir
        self.skips, self.N_samples, self.white_back = skips, hparams.N_samples, hparams.white_back
        in_xyz, in_dir = embedding_xyz.out_dim, embedding_dir.out_dim
        for i in range(D):
            fan_in = in_xyz if i == 0 else (W + in_xyz if i in skips else W)
            setattr(self, f"xyz_encoding_{i + 1}", nn.Sequential(nn.Linear(fan_in, W), nn.ReLU(True)))
        self.D = D
        self.embedding_a = nn.Embedding(hparams.N_vocab, hparams.N_a)
        self.xyz_encoding_final = nn.Linear(W, W)
        self.dir_encoding = nn.Sequential(nn.Linear(W + in_dir + hparams.N_a, W // 2), nn.ReLU(True))
        self.static_sigma = nn.Sequential(nn.Linear(W, 1), nn.Softplus())
        self.static_rgb = nn.Sequential(nn.Linear(W // 2, 3), nn.Sigmoid())

    def query(self, xyz, d, a):
        input_xyz = self.embedding_xyz(xyz)
        h = input_xyz
        for i in range(self.D):
            if i in self.skips:
                h = torch.cat([input_xyz, h], -1)
            h = getattr(self, f"xyz_encoding_{i + 1}")(h)
        sigma = self.static_sigma(h).squeeze(-1)
        return self.static_rgb(self.dir_encoding(torch.cat([self.xyz_encoding_final(h), d, a], -1))), sigma

    def forward(self, rays, ts):
        rays_o, rays_d = rays[:, 0:3], rays[:, 3:6]
        near, far = rays[:, 6:7], rays[:, 7:8]
        steps = torch.linspace(0, 1, self.N_samples, device=rays.device)
        z_vals = near * (1 - steps) + far * steps
        xyz = rays_o.unsqueeze(1) + rays_d.unsqueeze(1) * z_vals.unsqueeze(2)
        dirs = self.embedding_dir(F.normalize(rays_d, dim=-1)).unsqueeze(1).expand(-1, self.N_samples, -1)
        a = self.embedding_a(ts).unsqueeze(1).expand(-1, self.N_samples, -1)
        rgb, sigma = self.query(xyz, dirs, a)
        deltas = torch.cat([z_vals[:, 1:] - z_vals[:, :-1], torch.full_like(z_vals[:, :1], 1e2)], -1)
        alphas = 1 - torch.exp(-deltas.abs() * sigma)
        trans = torch.cumprod(torch.cat([torch.ones_like(alphas[:, :1]), 1 - alphas + 1e-10], -1)[:, :-1], -1)
        weights = alphas * trans
        image = (weights.unsqueeze(-1) * rgb).sum(1)
        if self.white_back:
            image = image + 1 - weights.sum(1, keepdim=True)
        return {"rgb": image, "depth": (weights * z_vals).sum(1), "opacity": weights.sum(1)}


# ============================== spikes ==============================


class SpikeDecoder(nn.Module):
    def __init__(self, *, unit_ids, session_ids, readouts, dim, num_latents, latent_step, depth, heads):
        super().__init__()
        self.unit_vocab = {u: i + 1 for i, u in enumerate(sorted(unit_ids))}  # 0 pads
        self.session_vocab = {s: i for i, s in enumerate(session_ids)}
        self.readout_names = list(readouts)
        self.unit_emb = nn.Embedding(len(self.unit_vocab) + 1, dim, padding_idx=0)
        self.token_type_emb = nn.Embedding(4, dim)
        self.session_emb = nn.Embedding(len(self.session_vocab), dim)
        self.task_emb = nn.Embedding(len(readouts), dim)
        self.latents = nn.Parameter(torch.randn(num_latents, dim) * 0.02)
        self.register_buffer("latent_times", torch.arange(num_latents) * latent_step)
        attn = partial(nn.MultiheadAttention, dim, heads, batch_first=True)
        self.enc, self.dec = attn(), attn()
        self.proc = nn.ModuleList(attn() for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(depth))
        self.readouts = nn.ModuleDict({name: nn.Linear(dim, spec["dim"]) for name, spec in readouts.items()})
        self.register_buffer("inv_freq", 1.0 / (1e-2 * 4.0 ** torch.linspace(0, 5, dim // 2)))

    def timed(self, x, t):
        phase = t.unsqueeze(-1) * self.inv_freq
        return x + torch.cat([phase.sin(), phase.cos()], dim=-1)

    def forward(self, units, timestamps, token_type, spike_mask, session, query_times, query_task):
        x = self.unit_emb(units) + self.token_type_emb(token_type)
        x = self.timed(x, timestamps) * spike_mask.unsqueeze(-1)
        lat = self.timed(self.latents, self.latent_times).expand(x.shape[0], -1, -1)
        lat = lat + self.enc(lat, x, x, need_weights=False)[0]
        for norm, layer in zip(self.norms, self.proc):
            h = norm(lat)
            lat = lat + layer(h, h, h, need_weights=False)[0]
        q = self.timed(self.task_emb(query_task) + self.session_emb(session).unsqueeze(1), query_times)
        out = q + self.dec(q, lat, lat, need_weights=False)[0]
        # behaviours differ in width, so each gets the queries which ask for it
        return {name: self.readouts[name](out[query_task == i]) for i, name in enumerate(self.readout_names)}


# ============================== matching ==============================


class KeypointMatcher(nn.Module):
    default_config = {
        "descriptor_dim": 256,
        "keypoint_encoder": [32, 64],
        "GNN_layers": ["self", "cross"] * 2,
        "num_heads": 4,
        "sinkhorn_iterations": 10,
        "match_threshold": 0.2,
    }

    def __init__(self, config):
        super().__init__()
        self.config = {**self.default_config, **config}
        d = self.config["descriptor_dim"]
        sizes = [3] + self.config["keypoint_encoder"] + [d]
        self.kenc = nn.Sequential(
            *[
                nn.Sequential(nn.Conv1d(a, b, 1), nn.ReLU() if b != d else nn.Identity())
                for a, b in zip(sizes, sizes[1:])
            ]
        )
        self.names = self.config["GNN_layers"]
        self.attn = nn.ModuleList(
            nn.MultiheadAttention(d, self.config["num_heads"], batch_first=True) for _ in self.names
        )
        self.mlp = nn.ModuleList(
            nn.Sequential(nn.Linear(2 * d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d)) for _ in self.names
        )
        self.final_proj = nn.Conv1d(d, d, kernel_size=1)
        self.bin_score = nn.Parameter(torch.tensor(1.0))

    @staticmethod
    def normalize(kpts, size):
        size = size.to(kpts)  # width, height
        return (kpts - size[:, None] / 2) / (size.max(1, keepdim=True)[0] * 0.7)[:, None]

    def sinkhorn(self, scores):
        b, m, n = scores.shape
        scores = torch.cat([scores, self.bin_score.expand(b, m, 1)], -1)
        scores = torch.cat([scores, self.bin_score.expand(b, 1, n + 1)], 1)
        for _ in range(self.config["sinkhorn_iterations"]):
            scores = scores - scores.logsumexp(2, keepdim=True)
            scores = scores - scores.logsumexp(1, keepdim=True)
        return scores

    def forward(self, data):
        desc = []
        for i in "01":
            kpts = self.normalize(data["keypoints" + i], data["image_size" + i])
            enc = self.kenc(torch.cat([kpts.transpose(1, 2), data["scores" + i].unsqueeze(1)], dim=1))
            desc.append((data["descriptors" + i] + enc).transpose(1, 2))
        d0, d1 = desc
        for name, attn, mlp in zip(self.names, self.attn, self.mlp):
            s0, s1 = (d1, d0) if name == "cross" else (d0, d1)
            delta0 = mlp(torch.cat([d0, attn(d0, s0, s0)[0]], -1))
            delta1 = mlp(torch.cat([d1, attn(d1, s1, s1)[0]], -1))
            d0, d1 = d0 + delta0, d1 + delta1
        m0, m1 = self.final_proj(d0.transpose(1, 2)), self.final_proj(d1.transpose(1, 2))
        scores = self.sinkhorn(torch.einsum("bdn,bdm->bnm", m0, m1) / self.config["descriptor_dim"] ** 0.5)
        best, idx = scores[:, :-1, :-1].max(2)
        matches = torch.where(best.exp() > self.config["match_threshold"], idx, torch.full_like(idx, -1))
        return {"matches0": matches, "matching_scores0": best.exp(), "scores": scores}


# ============================== poses ==============================


class _Basic(nn.Module):
    expansion = 1

    def __init__(self, inplanes, planes):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.skip = nn.Conv2d(inplanes, planes, 1) if inplanes != planes else nn.Identity()

    def forward(self, x):
        return F.relu(self.bn1(self.conv1(x)) + self.skip(x))


class _Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inplanes, planes):
        super().__init__()
        out = planes * self.expansion
        self.body = nn.Sequential(
            nn.Conv2d(inplanes, planes, 1), nn.ReLU(), nn.Conv2d(planes, planes, 3, padding=1), nn.ReLU(),
            nn.Conv2d(planes, out, 1), nn.BatchNorm2d(out),
        )  # fmt: skip
        self.skip = nn.Conv2d(inplanes, out, 1) if inplanes != out else nn.Identity()

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


blocks_dict = {"BASIC": _Basic, "BOTTLENECK": _Bottleneck}


class MultiResolutionPose(nn.Module):
    def __init__(self, cfg, **kwargs):
        super(MultiResolutionPose, self).__init__()
        extra = cfg["MODEL"]["EXTRA"]
        self.conv1 = nn.Conv2d(3, 32, 3, 2, 1)
        self.conv2 = nn.Conv2d(32, 32, 3, 2, 1)
        pre = [32]
        self.stages = nn.ModuleList()
        self.fusions = nn.ModuleList()
        self.transitions = nn.ModuleList()
        for name in sorted(k for k in extra if k.startswith("STAGE")):
            stage = extra[name]
            block = blocks_dict[stage["BLOCK"]]
            assert stage["NUM_BRANCHES"] == len(stage["NUM_BLOCKS"]) == len(stage["NUM_CHANNELS"])
            widths = [c * block.expansion for c in stage["NUM_CHANNELS"]]
            trans, branches = nn.ModuleList(), nn.ModuleList()
            for i, width in enumerate(widths):
                if i < len(pre):
                    trans.append(nn.Conv2d(pre[i], width, 3, 1, 1))
                else:
                    trans.append(nn.Conv2d(pre[-1], width, 3, 2, 1))
                planes = stage["NUM_CHANNELS"][i]
                branches.append(nn.Sequential(*[block(width, planes) for _ in range(stage["NUM_BLOCKS"][i])]))
            self.transitions.append(trans)
            self.stages.append(branches)
            self.fusions.append(nn.ModuleList(nn.Conv2d(sum(widths), w, 1) for w in widths))
            pre = widths
        k = extra["FINAL_CONV_KERNEL"]
        self.final_layer = nn.Conv2d(pre[0], cfg["MODEL"]["NUM_JOINTS"], k, padding=1 if k == 3 else 0)

    def forward(self, x):
        xs = [F.relu(self.conv2(F.relu(self.conv1(x))))]
        for trans, branches, fusions in zip(self.transitions, self.stages, self.fusions):
            ys = [t(xs[i] if i < len(xs) else xs[-1]) for i, t in enumerate(trans)]
            ys = [b(y) for b, y in zip(branches, ys)]
            xs = []
            for y, fuse in zip(ys, fusions):
                same = [F.interpolate(o, size=y.shape[-2:], mode="bilinear", align_corners=False) for o in ys]
                xs.append(F.relu(y + fuse(torch.cat(same, 1))))
        return self.final_layer(xs[0])


# ============================== learners ==============================


class LearningProcessTracer(nn.Module):
    def __init__(self, n_at, n_it, n_exercise, n_question, d_a, d_e, d_k, q_matrix, dropout=0.2):
        super(LearningProcessTracer, self).__init__()
        self.d_k, self.d_a, self.d_e = d_k, d_a, d_e
        self.q_matrix = q_matrix
        self.n_question = n_question
        self.at_embed = nn.Embedding(n_at + 10, d_k)
        self.it_embed = nn.Embedding(n_it + 10, d_k)
        self.e_embed = nn.Embedding(n_exercise + 10, d_e)
        self.linear_1 = nn.Linear(d_a + d_e + d_k, d_k)
        self.linear_2 = nn.Linear(4 * d_k, d_k)
        self.linear_3 = nn.Linear(4 * d_k, d_k)
        self.linear_4 = nn.Linear(3 * d_k, d_k)
        self.linear_5 = nn.Linear(d_e + d_k, d_k)
        self.dropout = nn.Dropout(dropout)
        self.h_pre = nn.Parameter(nn.init.xavier_uniform_(torch.empty(n_question + 1, d_k)))

    def forward(self, e_data, at_data, a_data, it_data):
        batch_size, seq_len = e_data.size(0), e_data.size(1)
        e_embed_data = self.e_embed(e_data)
        at_embed_data = self.at_embed(at_data)
        it_embed_data = self.it_embed(it_data)
        a_data = a_data.view(-1, 1).repeat(1, self.d_a).view(batch_size, -1, self.d_a)
        all_learning = self.linear_1(torch.cat((e_embed_data, at_embed_data, a_data), 2))
        learning_pre = torch.zeros(batch_size, self.d_k)
        h_pre = self.h_pre.unsqueeze(0).repeat(batch_size, 1, 1)
        q_e = self.q_matrix[e_data[:, 0]].view(batch_size, 1, -1)
        h_tilde_pre = q_e.bmm(h_pre).view(batch_size, self.d_k)
        pred = torch.zeros(batch_size, seq_len)
        for t in range(0, seq_len - 1):
            q_e = self.q_matrix[e_data[:, t]].view(batch_size, 1, -1)
            it = it_embed_data[:, t]
            # learning gain
            learning = all_learning[:, t]
            x = torch.cat((learning_pre, it, learning, h_tilde_pre), 1)
            learning_gain = ((self.linear_2(x).tanh() + 1) / 2) * self.linear_3(x).sigmoid()
            LG_tilde = self.dropout(q_e.transpose(1, 2).bmm(learning_gain.view(batch_size, 1, -1)))
            # forgetting
            n_skill = self.n_question + 1
            lg = learning_gain.repeat(1, n_skill).view(batch_size, -1, self.d_k)
            its = it.repeat(1, n_skill).view(batch_size, -1, self.d_k)
            h = LG_tilde + self.linear_4(torch.cat((h_pre, lg, its), 2)).sigmoid() * h_pre
            # predict the next answer
            h_tilde = self.q_matrix[e_data[:, t + 1]].view(batch_size, 1, -1).bmm(h).view(batch_size, self.d_k)
            y = self.linear_5(torch.cat((e_embed_data[:, t + 1], h_tilde), 1)).sigmoid().sum(1) / self.d_k
            pred[:, t + 1] = y
            learning_pre, h_pre, h_tilde_pre = learning, h, h_tilde
        return pred


# ============================== scans ==============================


class GeM(nn.Module):
    def __init__(self, p=3, eps=1e-6):
        super().__init__()
        self.p, self.eps = nn.Parameter(torch.ones(1) * p), eps

    def forward(self, x):
        return F.avg_pool2d(x.clamp(min=self.eps).pow(self.p), x.shape[-2:]).pow(1.0 / self.p).flatten(1)


class ScanStudyModel(nn.Module):
    def __init__(self, CFG, backbone, n_features):
        super().__init__()
        self.cfg = CFG
        self.encoder = backbone
        self.pool = GeM() if CFG.pool == "gem" else nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.plane_emb = nn.Embedding(len(CFG.planes), 16)
        self.meta = nn.Sequential(nn.Linear(len(CFG.meta_cols), 16), nn.ReLU())
        self.lstm = nn.LSTM(n_features + 16, CFG.rnn_size, 2, batch_first=True, bidirectional=True, dropout=0.1)
        self.att = nn.Sequential(nn.Linear(2 * CFG.rnn_size, 64), nn.Tanh(), nn.Linear(64, 1))
        self.slice_head = nn.Linear(2 * CFG.rnn_size, len(CFG.slice_targets))
        self.study_head = nn.Linear(2 * CFG.rnn_size + 16, len(CFG.levels) * len(CFG.severities))

    def forward(self, image, plane, meta, slice_mask):
        # 2.5d: each slice comes with its neighbours as channels
        bs, n_slices, c, h, w = image.shape
        assert c == self.cfg.in_chans
        feat = self.pool(self.encoder(image.view(bs * n_slices, c, h, w))).view(bs, n_slices, -1)
        feat, _ = self.lstm(torch.cat([feat, self.plane_emb(plane)], -1))
        score = self.att(feat).squeeze(-1).masked_fill(slice_mask == 0, -1e4)
        study = (score.softmax(-1).unsqueeze(-1) * feat).sum(1)
        logits = self.study_head(torch.cat([study, self.meta(meta)], -1))
        return self.slice_head(feat), logits.view(bs, len(self.cfg.levels), len(self.cfg.severities))


# ============================== singing ==============================


class ConvPhoneEncoder(nn.Module):
    def __init__(self, hidden_size, kernel_size, n_layers):
        super().__init__()
        self.hidden_size = hidden_size
        layers = OrderedDict()
        for i in range(n_layers):
            layers[f"conv{i}"] = nn.Conv1d(hidden_size, hidden_size, kernel_size, padding=kernel_size // 2)
            layers[f"act{i}"] = nn.ReLU()
        self.net = nn.Sequential(layers)

    def forward(self, x, nonpadding):
        return (self.net((x * nonpadding).transpose(1, 2)).transpose(1, 2) + x) * nonpadding


class SingingAcousticModel(nn.Module):
    def __init__(self, phone_list, spk_map, hparams, encoder):
        super().__init__()
        self.hparams = hparams
        H = encoder.hidden_size
        self.txt_embed = nn.Embedding(len(phone_list) + 1, H, padding_idx=0)
        self.midi_embed = nn.Embedding(128, H)
        self.is_slur_embed = nn.Embedding(2, H)
        self.midi_dur_layer = nn.Linear(1, H)
        self.encoder = encoder
        if hparams["use_spk_id"]:
            self.spk_embed = nn.Embedding(len(spk_map), H)
        self.pitch_embed = nn.Embedding(hparams["f0_bin"], H)
        self.variances = hparams["variance_list"]
        self.variance_embeds = nn.ModuleDict({v: nn.Linear(1, H) for v in self.variances})
        self.decoder = nn.GRU(H, hparams["decoder_hidden"], batch_first=True, bidirectional=True)
        self.mel_out = nn.Linear(2 * hparams["decoder_hidden"], hparams["audio_num_mel_bins"])

    def f0_to_coarse(self, f0):
        n, lo, hi = self.hparams["f0_bin"], self.hparams["f0_min"], self.hparams["f0_max"]
        mel_min, mel_max = 1127 * math.log(1 + lo / 700), 1127 * math.log(1 + hi / 700)
        f0_mel = 1127 * (1 + f0.clamp(min=0) / 700).log()
        return ((f0_mel - mel_min) * (n - 2) / (mel_max - mel_min) + 1).round().long().clamp(1, n - 1)

    def forward(self, txt_tokens, pitch_midi, midi_dur, is_slur, mel2ph, f0, spk_id, variances):
        nonpadding = (txt_tokens > 0).float()[:, :, None]
        x = self.txt_embed(txt_tokens) + self.midi_embed(pitch_midi) + self.is_slur_embed(is_slur)
        x = self.encoder(x + self.midi_dur_layer(midi_dur[:, :, None]), nonpadding)
        # frame -> phone, zero is padding
        padded = F.pad(x, [0, 0, 1, 0])
        condition = torch.gather(padded, 1, mel2ph[..., None].repeat(1, 1, x.size(-1)))
        if self.hparams["use_spk_id"]:
            condition = condition + self.spk_embed(spk_id)[:, None, :]
        condition = condition + self.pitch_embed(self.f0_to_coarse(f0))
        for name in self.variances:
            condition = condition + self.variance_embeds[name](variances[name][:, :, None])
        out, _ = self.decoder(condition)
        return self.mel_out(out) * (mel2ph > 0).float()[:, :, None]
