"""Hard models of several fields, second half.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from typing import Dict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = [
    "AtmosWindows",
    "ClaimTriage",
    "DeformableReg",
    "EventMemory",
    "FoldTrunk",
    "GridDetect",
    "LaneForecaster",
    "MotionDenoiser",
    "ParallelTTS",
    "SessionGraph",
]


class _TimeEncode(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w = nn.Linear(1, dim)
        self.w.weight.data = (1 / 10 ** torch.linspace(0, 6, dim)).view(dim, 1)
        nn.init.zeros_(self.w.bias)

    def forward(self, t):
        return torch.cos(self.w(t.unsqueeze(-1)))


class EventMemory(nn.Module):
    """Link prediction on a stream of timed interactions."""

    def __init__(
        self, n_nodes, raw_msg_dim, memory_dim, time_dim, embedding_dim, mean_time_shift=0.0, std_time_shift=1.0
    ):
        super().__init__()
        self.register_buffer("memory", torch.zeros(n_nodes, memory_dim))
        self.register_buffer("last_update", torch.zeros(n_nodes))
        self.shift, self.scale = mean_time_shift, std_time_shift
        self.node_emb = nn.Embedding(n_nodes, memory_dim)
        self.time_enc = _TimeEncode(time_dim)
        self.gru = nn.GRUCell(2 * memory_dim + raw_msg_dim + time_dim, memory_dim)
        self.drift = nn.Linear(1, memory_dim)
        self.emb = nn.Linear(memory_dim, embedding_dim)
        self.lin_src, self.lin_dst = nn.Linear(embedding_dim, embedding_dim), nn.Linear(embedding_dim, embedding_dim)
        self.lin_final = nn.Linear(embedding_dim, 1)

    def messages(self, a, b, dt, raw):
        state = self.memory + self.node_emb.weight
        return torch.cat([state[a], state[b], raw, self.time_enc(dt)], -1)

    def embed(self, memory, n_id, t, last):
        delta = (t - last[n_id] - self.shift) / self.scale
        return self.emb((memory[n_id] + self.node_emb(n_id)) * (1 + self.drift(delta.unsqueeze(-1))))

    def score(self, z_a, z_b):
        return self.lin_final(F.relu(self.lin_src(z_a) + self.lin_dst(z_b))).squeeze(-1)

    def forward(self, src, dst, neg_dst, t, msg):
        both, other = torch.cat([src, dst]), torch.cat([dst, src])
        tt = torch.cat([t, t])
        m = self.messages(both, other, tt - self.last_update[both], torch.cat([msg, msg]))
        n_id, where = both.unique(return_inverse=True)
        count = torch.bincount(where).unsqueeze(-1)
        agg = m.new_zeros(n_id.numel(), m.size(-1)).index_add(0, where, m) / count
        memory = self.memory.index_copy(0, n_id, self.gru(agg, self.memory[n_id]))

        z_src = self.embed(memory, src, t, self.last_update)
        z_dst = self.embed(memory, dst, t, self.last_update)
        z_neg = self.embed(memory, neg_dst, t, self.last_update)
        self.memory = memory.detach()
        self.last_update = self.last_update.scatter_reduce(0, both, tt, "amax")
        return self.score(z_src, z_dst), self.score(z_src, z_neg)


class _TriangleMultiplication(nn.Module):
    def __init__(self, c_z, c_hidden, outgoing):
        super().__init__()
        self.eq = "ikc,jkc->ijc" if outgoing else "kic,kjc->ijc"
        self.ln_in, self.ln_out = nn.LayerNorm(c_z), nn.LayerNorm(c_hidden)
        self.ab, self.ab_gate = nn.Linear(c_z, 2 * c_hidden), nn.Linear(c_z, 2 * c_hidden)
        self.out, self.gate = nn.Linear(c_hidden, c_z), nn.Linear(c_z, c_z)

    def forward(self, z, pair_mask):
        z = self.ln_in(z)
        a, b = (self.ab(z) * self.ab_gate(z).sigmoid() * pair_mask[..., None]).chunk(2, -1)
        return self.out(self.ln_out(torch.einsum(self.eq, a, b))) * self.gate(z).sigmoid()


class _FoldBlock(nn.Module):
    def __init__(self, c_m, c_z, no_heads, c_opm=8):
        super().__init__()
        self.h = no_heads
        self.ln_m, self.ln_z = nn.LayerNorm(c_m), nn.LayerNorm(c_z)
        self.qkv, self.o = nn.Linear(c_m, 3 * c_m, bias=False), nn.Linear(c_m, c_m)
        self.bias = nn.Linear(c_z, no_heads, bias=False)
        self.trans = nn.Sequential(nn.LayerNorm(c_m), nn.Linear(c_m, 2 * c_m), nn.ReLU(), nn.Linear(2 * c_m, c_m))
        self.opm_in, self.opm_out = nn.Linear(c_m, 2 * c_opm), nn.Linear(c_opm * c_opm, c_z)
        self.tri_out = _TriangleMultiplication(c_z, c_z, True)
        self.tri_in = _TriangleMultiplication(c_z, c_z, False)

    def forward(self, m, z, msa_mask, pair_mask):
        S, N, C = m.shape
        q, k, v = self.qkv(self.ln_m(m)).view(S, N, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        bias = self.bias(self.ln_z(z)).permute(2, 0, 1)[None] + (1e9 * (msa_mask - 1))[:, None, None, :]
        att = (q @ k.transpose(-1, -2) / q.size(-1) ** 0.5 + bias).softmax(-1)
        m = m + self.o((att @ v).transpose(1, 2).reshape(S, N, C))
        m = m + self.trans(m)
        a, b = (self.opm_in(m) * msa_mask[..., None]).chunk(2, -1)
        norm = torch.einsum("si,sj->ij", msa_mask, msa_mask)[..., None] + 1e-3
        z = z + self.opm_out(torch.einsum("sic,sjd->ijcd", a, b).flatten(-2) / norm)
        z = z + self.tri_out(z, pair_mask)
        return m, z + self.tri_in(z, pair_mask)


class FoldTrunk(nn.Module):
    def __init__(self, tf_dim, msa_dim, c_m, c_z, relpos_k, no_blocks, no_heads, no_bins):
        super().__init__()
        self.tf_dim, self.relpos_k = tf_dim, relpos_k
        self.linear_tf_z_i, self.linear_tf_z_j = nn.Linear(tf_dim, c_z), nn.Linear(tf_dim, c_z)
        self.linear_tf_m, self.linear_msa_m = nn.Linear(tf_dim, c_m), nn.Linear(msa_dim, c_m)
        self.linear_relpos = nn.Linear(2 * relpos_k + 1, c_z)
        self.blocks = nn.ModuleList([_FoldBlock(c_m, c_z, no_heads) for _ in range(no_blocks)])
        self.distogram = nn.Linear(c_z, no_bins)
        self.plddt = nn.Sequential(nn.LayerNorm(c_m), nn.Linear(c_m, 50))

    def relpos(self, ri):
        d = (ri[:, None] - ri[None, :]).clamp(-self.relpos_k, self.relpos_k) + self.relpos_k
        return self.linear_relpos(F.one_hot(d, 2 * self.relpos_k + 1).float())

    def forward(self, feats: Dict[str, Tensor]):
        tf = F.one_hot(feats["aatype"], self.tf_dim).float()
        z = self.linear_tf_z_i(tf)[:, None] + self.linear_tf_z_j(tf)[None] + self.relpos(feats["residue_index"])
        m = self.linear_msa_m(feats["msa_feat"]) + self.linear_tf_m(tf)
        pair_mask = feats["seq_mask"][:, None] * feats["seq_mask"][None]
        for block in self.blocks:
            m, z = block(m, z, feats["msa_mask"], pair_mask)
        logits = self.distogram(z)
        return {"distogram_logits": logits + logits.transpose(0, 1), "plddt": self.plddt(m[0])}


class MotionDenoiser(nn.Module):
    def __init__(
        self, modeltype, njoints, nfeats, num_actions, latent_dim, ff_size, num_layers, num_heads, clip_dim, **kargs
    ):
        super().__init__()
        assert modeltype in ["trans_enc", "gru"], modeltype
        self.modeltype = modeltype
        self.input_feats = njoints * nfeats
        self.cond_mask_prob = kargs.get("cond_mask_prob", 0.0)
        self.poseEmbedding = nn.Linear(self.input_feats, latent_dim)
        self.poseFinal = nn.Linear(latent_dim, self.input_feats)
        pe = torch.zeros(500, latent_dim)
        pos = torch.arange(500).unsqueeze(1) * torch.exp(torch.arange(0, latent_dim, 2) * (-math.log(1e4) / latent_dim))
        pe[:, 0::2], pe[:, 1::2] = pos.sin(), pos.cos()
        self.register_buffer("pe", pe)
        self.time_embed = nn.Sequential(nn.Linear(latent_dim, latent_dim), nn.SiLU(), nn.Linear(latent_dim, latent_dim))
        self.embed_text = nn.Linear(clip_dim, latent_dim)
        self.action_embedding = nn.Parameter(torch.randn(num_actions, latent_dim))
        if modeltype == "trans_enc":
            layer = nn.TransformerEncoderLayer(latent_dim, num_heads, ff_size, kargs.get("dropout", 0.1), "gelu")
            self.seqTransEncoder = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
        else:
            self.gru = nn.GRU(latent_dim, latent_dim, num_layers)

    def mask_cond(self, cond):
        if self.training and self.cond_mask_prob > 0.0:
            drop = torch.bernoulli(torch.ones(len(cond), 1, device=cond.device) * self.cond_mask_prob)
            return cond * (1.0 - drop)
        return cond

    def forward(self, x, timesteps, y):
        bs, njoints, nfeats, nframes = x.shape
        emb = self.time_embed(self.pe[timesteps])
        emb = emb + self.mask_cond(self.embed_text(y["text_embed"]))
        emb = emb + self.action_embedding[y["action"][:, 0]]
        x = self.poseEmbedding(x.permute(3, 0, 1, 2).reshape(nframes, bs, njoints * nfeats))
        xseq = torch.cat((emb[None], x), dim=0)
        xseq = xseq + self.pe[: nframes + 1, None]
        if self.modeltype == "trans_enc":
            frames = y["mask"][:, 0, 0].bool()
            pad = torch.cat([torch.zeros_like(frames[:, :1]), ~frames], dim=1)
            out = self.seqTransEncoder(xseq, src_key_padding_mask=pad)[1:]
        else:
            out = self.gru(xseq)[0][1:] * y["mask"].permute(3, 0, 1, 2)[..., 0]
        return self.poseFinal(out).reshape(nframes, bs, njoints, nfeats).permute(1, 2, 3, 0)


class SessionGraph(nn.Module):
    def __init__(self, opt, n_node):
        super().__init__()
        self.hidden_size, self.nonhybrid, self.step = opt.hiddenSize, opt.nonhybrid, opt.step
        self.embedding = nn.Embedding(n_node, self.hidden_size)
        h = self.hidden_size
        self.w_ih = nn.Parameter(torch.Tensor(3 * h, 2 * h))
        self.w_hh = nn.Parameter(torch.Tensor(3 * h, h))
        self.b_ih = nn.Parameter(torch.Tensor(3 * h))
        self.b_hh = nn.Parameter(torch.Tensor(3 * h))
        self.edge_in, self.edge_out = nn.Linear(h, h), nn.Linear(h, h)
        self.linear_one, self.linear_two = nn.Linear(h, h), nn.Linear(h, h)
        self.linear_three = nn.Linear(h, 1, bias=False)
        self.linear_transform = nn.Linear(h * 2, h)
        stdv = 1.0 / math.sqrt(h)
        for weight in self.parameters():
            weight.data.uniform_(-stdv, stdv)

    def gnn_cell(self, A, hidden):
        n = A.size(1)
        into = torch.matmul(A[:, :, :n], self.edge_in(hidden))
        outof = torch.matmul(A[:, :, n : 2 * n], self.edge_out(hidden))
        gi = F.linear(torch.cat([into, outof], 2), self.w_ih, self.b_ih)
        gh = F.linear(hidden, self.w_hh, self.b_hh)
        i_r, i_i, i_n = gi.chunk(3, 2)
        h_r, h_i, h_n = gh.chunk(3, 2)
        z = torch.sigmoid(i_i + h_i)
        new = torch.tanh(i_n + torch.sigmoid(i_r + h_r) * h_n)
        return new + z * (hidden - new)

    def compute_scores(self, hidden, mask):
        last = hidden[torch.arange(mask.shape[0]).long(), (torch.sum(mask, 1) - 1).clamp(min=0)]
        q1 = self.linear_one(last).view(last.shape[0], 1, last.shape[1])
        alpha = self.linear_three(torch.sigmoid(q1 + self.linear_two(hidden)))
        a = torch.sum(alpha * hidden * mask.view(mask.shape[0], -1, 1).float(), 1)
        if not self.nonhybrid:
            a = self.linear_transform(torch.cat([a, last], 1))
        return torch.matmul(a, self.embedding.weight[1:].transpose(1, 0))

    def forward(self, alias_inputs, A, items, mask):
        hidden = self.embedding(items)
        for _ in range(self.step):
            hidden = self.gnn_cell(A, hidden)
        seq_hidden = torch.gather(hidden, 1, alias_inputs.unsqueeze(-1).expand(-1, -1, self.hidden_size))
        return self.compute_scores(seq_hidden, mask)


class GridDetect(nn.Module):
    def __init__(self, nc, anchors, ch, strides):
        super().__init__()
        self.nc, self.no = nc, nc + 5
        self.nl, self.na = len(anchors), len(anchors[0]) // 2
        self.strides = strides
        self.register_buffer("anchors", torch.tensor(anchors).float().view(self.nl, -1, 2))
        self.m = nn.ModuleList(nn.Conv2d(c, self.no * self.na, 1) for c in ch)
        self.im = nn.ParameterList(nn.Parameter(torch.ones(1, self.no * self.na, 1, 1)) for _ in ch)

    def _make_grid(self, nx, ny, like):
        yv, xv = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
        return torch.stack((xv, yv), 2).view(1, 1, ny, nx, 2).to(like)

    def forward(self, x, hw):
        x, z = list(x), []
        for i in range(self.nl):
            x[i] = self.im[i] * self.m[i](x[i])
            bs, _, ny, nx = x[i].shape
            x[i] = x[i].view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
            y = x[i].sigmoid()
            xy = (y[..., 0:2] * 2.0 - 0.5 + self._make_grid(nx, ny, y)) * self.strides[i]
            wh = (y[..., 2:4] * 2) ** 2 * self.anchors[i].view(1, self.na, 1, 1, 2)
            z.append(torch.cat((xy - wh / 2, xy + wh / 2, y[..., 4:]), -1).view(bs, -1, self.no))
        z = torch.cat(z, 1)
        # clip to the true size of each letterboxed picture
        limit = hw.flip(-1).repeat(1, 2).unsqueeze(1).to(z)
        boxes = torch.minimum(z[..., :4], limit).clamp(min=0)
        conf, cls = (z[..., 5:] * z[..., 4:5]).max(-1)
        return torch.cat([boxes, conf.unsqueeze(-1), cls.unsqueeze(-1).to(z)], -1), x


class _ObsEncoder(nn.Module):
    def __init__(self, obs_shapes, hidden):
        super().__init__()
        self.branches = nn.ModuleDict()
        for key, shape in obs_shapes.items():
            if len(shape) == 3:
                self.branches[key] = nn.Sequential(
                    nn.Conv2d(shape[0], 16, 3, padding=1),
                    nn.ReLU(),
                    nn.AdaptiveAvgPool2d(1),
                    nn.Flatten(),
                    nn.Linear(16, hidden),
                )
            else:
                self.branches[key] = nn.Sequential(nn.LayerNorm(shape[0]), nn.Linear(shape[0], hidden))

    def forward(self, obs):
        return sum(F.relu(net(obs[key])) for key, net in self.branches.items())


class TeamActorCritic(nn.Module):
    def __init__(self, args, obs_shapes, cent_obs_dim, n_actions):
        super().__init__()
        self.args = args
        hid = args.hidden_size
        self.base = _ObsEncoder(obs_shapes, hid)
        self.prev_action = nn.Embedding(n_actions, hid)
        self.rnn = nn.GRU(hid, hid, num_layers=args.recurrent_N)
        self.norm = nn.LayerNorm(hid)
        self.act = nn.Linear(hid, n_actions)
        self.critic = nn.Sequential(
            nn.Linear(cent_obs_dim, hid), nn.Tanh() if args.use_tanh else nn.ReLU(), nn.Linear(hid, 1)
        )

    def unroll(self, x, hxs, masks):
        # x arrives as (T * N, -1) during training and as (N, -1) when acting
        N = hxs.size(0)
        T = x.size(0) // N
        x, masks = x.view(T, N, -1), masks.view(T, N)
        h, outs = hxs.transpose(0, 1).contiguous(), []
        for t in range(T):
            out, h = self.rnn(x[t : t + 1], h * masks[t].view(1, N, 1))
            outs.append(out)
        return self.norm(torch.cat(outs, 0).reshape(T * N, -1)), h.transpose(0, 1)

    def forward(self, obs, share_obs, rnn_states, masks, last_actions, available_actions, action):
        feat = self.base(obs) + self.prev_action(last_actions.squeeze(-1))
        feat, rnn_states = self.unroll(feat, rnn_states, masks)
        logits = self.act(feat)
        logits = torch.where(available_actions == 0, torch.full_like(logits, -1e10), logits)
        logp = F.log_softmax(logits, -1)
        entropy = -(logp.exp() * logp).sum(-1).mean()
        return self.critic(share_obs), logp.gather(-1, action), entropy, rnn_states


class _Warp(nn.Module):
    def __init__(self, size, mode="bilinear"):
        super().__init__()
        self.mode = mode
        grid = torch.stack(torch.meshgrid([torch.arange(0, s) for s in size], indexing="ij"))
        self.register_buffer("grid", grid.unsqueeze(0).float(), persistent=False)

    def forward(self, src, flow):
        locs = self.grid + flow
        shape = flow.shape[2:]
        locs = torch.stack([2 * (locs[:, i] / (shape[i] - 1) - 0.5) for i in range(len(shape))], -1)
        return F.grid_sample(src, locs[..., list(range(len(shape)))[::-1]], align_corners=True, mode=self.mode)


class DeformableReg(nn.Module):
    def __init__(self, inshape, nb_features, int_steps, n_labels):
        super().__init__()
        ndims = len(inshape)
        assert ndims in (2, 3)
        Conv = getattr(nn, f"Conv{ndims}d")
        self.n_labels, self.int_steps, self.ndims = n_labels, int_steps, ndims
        enc_nf, dec_nf = nb_features
        self.down, self.up, prev, skips = nn.ModuleList(), nn.ModuleList(), 2, [2]
        for nf in enc_nf:
            self.down.append(nn.Sequential(Conv(prev, nf, 3, stride=2, padding=1), nn.LeakyReLU(0.2)))
            skips.append(nf)
            prev = nf
        skips.pop()
        for nf in dec_nf:
            self.up.append(nn.Sequential(Conv(prev + skips.pop(), nf, 3, padding=1), nn.LeakyReLU(0.2)))
            prev = nf
        self.flow = Conv(prev, ndims, kernel_size=3, padding=1)
        nn.init.normal_(self.flow.weight, 0, 1e-2)
        self.transformer = _Warp(inshape)

    def integrate(self, vec):
        vec = vec / 2**self.int_steps
        for _ in range(self.int_steps):
            vec = vec + self.transformer(vec, vec)
        return vec

    def forward(self, source, target, source_seg):
        x = torch.cat([source, target], dim=1)
        xs = [x]
        for layer in self.down:
            xs.append(layer(xs[-1]))
        x = xs.pop()
        for layer in self.up:
            skip = xs.pop()
            x = layer(torch.cat([F.interpolate(x, size=skip.shape[2:], mode="nearest"), skip], 1))
        svf = self.flow(x)
        disp = self.integrate(svf)
        seg = F.one_hot(source_seg, self.n_labels).movedim(-1, 1).to(x)
        return self.transformer(source, disp), self.transformer(seg, disp), svf


class _PolylineNet(nn.Module):
    def __init__(self, in_channels, hidden_dim, num_layers):
        super().__init__()
        dims = [in_channels] + [hidden_dim] * num_layers
        self.mlps = nn.ModuleList(
            nn.Sequential(nn.Linear(a if i == 0 else 2 * a, b), nn.LayerNorm(b), nn.ReLU())
            for i, (a, b) in enumerate(zip(dims[:-1], dims[1:]))
        )

    def forward(self, polylines, mask):
        keep = mask.unsqueeze(-1).float()
        x = polylines
        for i, mlp in enumerate(self.mlps):
            x = mlp(x) * keep
            pooled = x.amax(dim=2)
            if i < len(self.mlps) - 1:
                x = torch.cat([x, pooled.unsqueeze(2).expand_as(x)], -1)
        return pooled


class LaneForecaster(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.model_cfg = cfg
        D = cfg["D_MODEL"]
        self.agent_polyline_encoder = _PolylineNet(cfg["NUM_INPUT_ATTR_AGENT"] + 1, D, cfg["NUM_LAYER_IN_MLP_AGENT"])
        self.map_polyline_encoder = _PolylineNet(cfg["NUM_INPUT_ATTR_MAP"], D, cfg["NUM_LAYER_IN_MLP_MAP"])
        self.self_attn = nn.ModuleList(
            nn.MultiheadAttention(D, cfg["NUM_ATTN_HEAD"], batch_first=True) for _ in range(cfg["NUM_ATTN_LAYERS"])
        )
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(cfg["NUM_ATTN_LAYERS"]))
        self.pos = nn.Linear(3, D)
        self.queries = nn.Parameter(torch.randn(cfg["NUM_MODES"], D))
        self.decoder = nn.MultiheadAttention(D, cfg["NUM_ATTN_HEAD"], batch_first=True)
        self.reg = nn.Linear(D, cfg["NUM_FUTURE_FRAMES"] * 5)
        self.cls = nn.Linear(D, 1)

    def forward(self, batch_dict):
        input_dict = batch_dict["input_dict"]
        obj_trajs, obj_mask = input_dict["obj_trajs"], input_dict["obj_trajs_mask"].bool()
        map_polylines, map_mask = input_dict["map_polylines"], input_dict["map_polylines_mask"].bool()
        B, num_objects = obj_trajs.shape[:2]

        obj_in = torch.cat((obj_trajs, obj_mask[..., None].type_as(obj_trajs)), dim=-1)
        obj_feature = self.agent_polyline_encoder(obj_in, obj_mask)
        map_feature = self.map_polyline_encoder(map_polylines, map_mask)
        tokens = torch.cat((obj_feature, map_feature), dim=1)
        pos = torch.cat((input_dict["obj_trajs_last_pos"], input_dict["map_polylines_center"]), dim=1)
        tokens = tokens + self.pos(pos)
        valid = torch.cat((obj_mask.any(-1), map_mask.any(-1)), dim=1)
        invalid = ~valid & valid.any(1, keepdim=True)
        for attn, norm in zip(self.self_attn, self.norms):
            tokens = norm(tokens + attn(tokens, tokens, tokens, key_padding_mask=invalid)[0])

        track = input_dict["track_index_to_predict"]
        centre = tokens[torch.arange(B, device=track.device), track]
        q = self.queries[None] + centre[:, None]
        q = q + self.decoder(q, tokens, tokens, key_padding_mask=invalid)[0]
        trajs = self.reg(q).view(B, q.shape[1], self.model_cfg["NUM_FUTURE_FRAMES"], 5)
        return {"pred_scores": self.cls(q).squeeze(-1).softmax(-1), "pred_trajs": trajs}


class _VariancePredictor(nn.Module):
    def __init__(self, d, filter_size, kernel, dropout):
        super().__init__()
        self.conv1 = nn.Conv1d(d, filter_size, kernel, padding=(kernel - 1) // 2)
        self.conv2 = nn.Conv1d(filter_size, filter_size, kernel, padding=1)
        self.ln1, self.ln2 = nn.LayerNorm(filter_size), nn.LayerNorm(filter_size)
        self.drop, self.lin = nn.Dropout(dropout), nn.Linear(filter_size, 1)

    def forward(self, x, mask):
        x = self.drop(self.ln1(F.relu(self.conv1(x.transpose(1, 2))).transpose(1, 2)))
        x = self.drop(self.ln2(F.relu(self.conv2(x.transpose(1, 2))).transpose(1, 2)))
        return self.lin(x).squeeze(-1).masked_fill(mask, 0.0)


class ParallelTTS(nn.Module):
    def __init__(self, preprocess_config, model_config, n_symbols, n_speakers):
        super().__init__()
        t, v = model_config["transformer"], model_config["variance_predictor"]
        d = t["encoder_hidden"]
        n_mels = preprocess_config["mel"]["n_mel_channels"]
        self.src_emb = nn.Embedding(n_symbols + 1, d, padding_idx=0)
        self.speaker_emb = nn.Embedding(n_speakers, d)
        layer = lambda: nn.TransformerEncoderLayer(d, t["head"], t["filter"], t["dropout"], batch_first=True)
        self.encoder = nn.ModuleList(layer() for _ in range(t["encoder_layer"]))
        self.decoder = nn.ModuleList(layer() for _ in range(t["decoder_layer"]))
        self.predictors = nn.ModuleDict(
            {
                k: _VariancePredictor(d, v["filter_size"], v["kernel_size"], v["dropout"])
                for k in ("duration", "pitch", "energy")
            }
        )
        n_bins = model_config["variance_embedding"]["n_bins"]
        for name in ("pitch", "energy"):
            lo, hi = preprocess_config[name]["min"], preprocess_config[name]["max"]
            self.register_buffer(f"{name}_bins", torch.linspace(lo, hi, n_bins - 1))
            setattr(self, f"{name}_emb", nn.Embedding(n_bins, d))
        self.mel_linear = nn.Linear(d, n_mels)

    def forward(self, speakers, texts, src_lens, p_targets, e_targets, d_targets):
        src_mask = torch.arange(texts.shape[1], device=texts.device)[None] >= src_lens[:, None]
        x = self.src_emb(texts)
        for layer in self.encoder:
            x = layer(x, src_key_padding_mask=src_mask)
        x = x + self.speaker_emb(speakers).unsqueeze(1)
        log_d = self.predictors["duration"](x, src_mask)
        pitch = self.predictors["pitch"](x, src_mask)
        x = x + self.pitch_emb(torch.bucketize(p_targets, self.pitch_bins))
        energy = self.predictors["energy"](x, src_mask)
        x = x + self.energy_emb(torch.bucketize(e_targets, self.energy_bins))

        expanded = [torch.repeat_interleave(s[:n], r[:n], dim=0) for s, r, n in zip(x, d_targets, src_lens.tolist())]
        mel_lens = torch.tensor([len(e) for e in expanded], device=x.device)
        x = nn.utils.rnn.pad_sequence(expanded, batch_first=True)
        mel_mask = torch.arange(x.shape[1], device=x.device)[None] >= mel_lens[:, None]
        for layer in self.decoder:
            x = layer(x, src_key_padding_mask=mel_mask).masked_fill(mel_mask[..., None], 0)
        return self.mel_linear(x), pitch, energy, log_d, src_mask, mel_mask, mel_lens


class ClaimTriage(nn.Module):
    def __init__(self, settings, procedure_codes, token_count, decisions):
        super().__init__()
        self.decisions = list(decisions)
        width = settings.width
        self.codes = nn.EmbeddingBag(len(procedure_codes) + 1, width, mode="mean")
        self.tokens = nn.Embedding(token_count, width, padding_idx=0)
        self.reader = nn.GRU(width, width, batch_first=True)
        self.line = nn.Sequential(nn.Linear(settings.line_fields, width), nn.ReLU())
        self.line_weight = nn.Linear(width, 1)
        self.policy = nn.ModuleDict({k: nn.Embedding(n, settings.small) for k, n in settings.policy_levels.items()})
        joint = 3 * width + settings.small * len(settings.policy_levels) + 1
        self.trunk = nn.Sequential(nn.Linear(joint, width), nn.ReLU(), nn.Dropout(settings.dropout))
        self.decide = nn.Linear(width, len(self.decisions))
        self.reserve = nn.Linear(width, 1)

    def read_lines(self, lines):
        sizes = [len(claim) for claim in lines]
        h = self.line(torch.cat(lines))
        w = self.line_weight(h)
        return torch.stack([(a.softmax(0) * b).sum(0) for a, b in zip(w.split(sizes), h.split(sizes))])

    def read_codes(self, codes):
        starts = torch.tensor([0] + [len(c) for c in codes[:-1]]).cumsum(0)
        return self.codes(torch.cat(codes), starts)

    def read_story(self, story, story_len):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.tokens(story), story_len.cpu(), batch_first=True, enforce_sorted=False
        )
        return self.reader(packed)[1][-1]

    def forward(self, claims):
        parts = [
            self.read_lines(claims.lines),
            self.read_codes(claims.codes),
            self.read_story(claims.story, claims.story_len),
            *(emb(claims.policy[name]) for name, emb in self.policy.items()),
            torch.log1p(claims.days_open.float().clamp(min=0)).unsqueeze(1),
        ]
        h = self.trunk(torch.cat(parts, dim=1))
        return dict(zip(self.decisions, self.decide(h).unbind(1))), F.softplus(self.reserve(h)).squeeze(1)


class _WindowBlock(nn.Module):
    def __init__(self, dim, heads, window, grid, shift):
        super().__init__()
        self.window, self.grid, self.heads = window, grid, heads
        self.shift = [w // 2 if shift else 0 for w in window]
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        n = window[0] * window[1] * window[2]
        # earth-specific: one bias per kind of (level, latitude) window
        self.bias = nn.Parameter(torch.randn((grid[0] // window[0]) * (grid[1] // window[1]), 1, heads, n, n) * 0.02)
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        (Z, H, W), (z, h, w) = self.grid, self.window
        B, C = x.size(0), x.size(-1)
        t = self.n1(x).view(B, Z, H, W, C).roll([-s for s in self.shift], (1, 2, 3))
        t = t.view(B, Z // z, z, H // h, h, W // w, w, C).permute(0, 1, 3, 5, 2, 4, 6, 7)
        t = t.reshape(B, (Z // z) * (H // h), W // w, z * h * w, C)
        q, k, v = self.qkv(t).unflatten(-1, (3, self.heads, C // self.heads)).movedim(-3, 0).transpose(-2, -3)
        t = (q @ k.transpose(-1, -2) * q.size(-1) ** -0.5 + self.bias).softmax(-1) @ v
        t = self.proj(t.transpose(-2, -3).flatten(-2))
        t = t.view(B, Z // z, H // h, W // w, z, h, w, C).permute(0, 1, 4, 2, 5, 3, 6, 7)
        t = t.reshape(B, Z, H, W, C).roll(self.shift, (1, 2, 3)).view_as(x)
        x = x + t
        return x + self.mlp(self.n2(x))


class AtmosWindows(nn.Module):
    def __init__(self, resolution, n_levels, n_upper, n_surface, constants, patch_size, dim, num_heads, window, depth):
        super().__init__()
        pz, ph, pw = patch_size
        self.n_upper, self.n_surface = n_upper, n_surface
        self.register_buffer("constants", constants)
        lat, lon = resolution
        self.grid = (1 + n_levels // pz, lat // ph, lon // pw)
        self.patch_upper = nn.Conv3d(n_upper, dim, patch_size, patch_size)
        self.patch_surface = nn.Conv2d(n_surface + constants.size(0), dim, (ph, pw), (ph, pw))
        self.lead = nn.Sequential(nn.Linear(2, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.blocks = nn.ModuleList(_WindowBlock(dim, num_heads, window, self.grid, i % 2 == 1) for i in range(depth))
        self.back_upper = nn.ConvTranspose3d(dim, n_upper, patch_size, patch_size)
        self.back_surface = nn.ConvTranspose2d(dim, n_surface, (ph, pw), (ph, pw))

    def forward(self, upper, surface, lead_time):
        fixed = self.constants.expand(surface.size(0), -1, -1, -1)
        s = self.patch_surface(torch.cat([surface, fixed], 1)).unsqueeze(2)
        x = torch.cat([s, self.patch_upper(upper)], 2)
        x = x.flatten(2).transpose(1, 2)
        angle = lead_time.float() * (2 * math.pi / 24)
        x = x + self.lead(torch.stack([angle.sin(), angle.cos()], -1)).unsqueeze(1)
        for block in self.blocks:
            x = block(x)
        x = x.transpose(1, 2).unflatten(2, self.grid)
        return upper + self.back_upper(x[:, :, 1:]), surface + self.back_surface(x[:, :, 0])
