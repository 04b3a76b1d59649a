"""Hard: forecasting, driving, speech, trees, ranking, molecules, planning, tracking, events, music.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "BondMessageNet",
    "ClickRanker",
    "CompoundMusicModel",
    "ContinuousTimeLSTM",
    "DemandForecaster",
    "FrameTracker",
    "LaneMotionNet",
    "PillarDetector",
    "SentimentTree",
    "Transducer",
    "UnrolledPlanner",
]


# ---------------------------------------------------------------- forecasting


class _GRN(nn.Module):
    def __init__(self, d_in, d_hidden, d_out, d_ctx=None, dropout=0.1):
        super().__init__()
        self.fc1 = nn.Linear(d_in, d_hidden)
        self.ctx = nn.Linear(d_ctx, d_hidden, bias=False) if d_ctx else None
        self.fc2 = nn.Linear(d_hidden, d_hidden)
        self.gate = nn.Linear(d_hidden, 2 * d_out)
        self.skip = nn.Linear(d_in, d_out) if d_in != d_out else nn.Identity()
        self.norm = nn.LayerNorm(d_out)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, c=None):
        h = self.fc1(x)
        if c is not None:
            h = h + self.ctx(c)
        h = self.drop(self.fc2(F.elu(h)))
        return self.norm(self.skip(x) + F.glu(self.gate(h), dim=-1))


class DemandForecaster(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        data, net = cfg["data"], cfg["model"]
        self.horizon = data["horizon"]
        self.quantiles = net.get("quantiles", [0.1, 0.5, 0.9])
        d = net["hidden_size"]
        self.static_embs = nn.ModuleDict({k: nn.Embedding(n, d) for k, n in data["static_categoricals"].items()})
        self.calendar_embs = nn.ModuleDict({k: nn.Embedding(n, d) for k, n in data["calendar"].items()})
        self.static_grn = _GRN(len(self.static_embs) * d, d, d, dropout=net["dropout"])
        self.past_proj = nn.Linear(len(data["observed_reals"]) + 1, d)  # + target itself
        self.known_proj = nn.Linear(len(data["known_reals"]), d)
        self.encoder = nn.LSTM(d, d, batch_first=True)
        self.decoder = nn.LSTM(d, d, batch_first=True)
        self.enrich = _GRN(d, d, d, d_ctx=d, dropout=net["dropout"])
        self.attn = nn.MultiheadAttention(d, net["num_heads"], batch_first=True)
        self.out = nn.Linear(d, len(self.quantiles))

    def forward(self, batch):
        target, observed = batch["target"], batch["observed"]
        history = target.shape[1]
        static = torch.cat([emb(batch["static"][k]) for k, emb in self.static_embs.items()], dim=-1)
        static = self.static_grn(static)

        known = self.known_proj(batch["known"])
        for k, emb in self.calendar_embs.items():
            known = known + emb(batch["calendar"][k])
        assert known.shape[1] == history + self.horizon

        # scale by item level, undo at the end
        scale = target.abs().mean(dim=1, keepdim=True) + 1.0
        past = self.past_proj(torch.cat([(target / scale).unsqueeze(-1), observed], dim=-1))
        h0 = static.unsqueeze(0)
        enc, state = self.encoder(past + known[:, :history], (h0, torch.zeros_like(h0)))
        dec, _ = self.decoder(known[:, history:], state)
        seq = self.enrich(torch.cat([enc, dec], dim=1), static.unsqueeze(1))
        future, _ = self.attn(seq[:, history:], seq, seq)
        return self.out(future + dec) * scale.unsqueeze(-1)


# ---------------------------------------------------------------- lidar

_HEADS = {}


def _register_head(name):
    def deco(cls):
        _HEADS[name] = cls
        return cls

    return deco


@_register_head("center")
class _CenterHead(nn.Module):
    def __init__(self, in_channels, tasks, share_conv=32):
        super().__init__()
        self.shared = nn.Sequential(nn.Conv2d(in_channels, share_conv, 3, padding=1), nn.ReLU(inplace=True))
        self.heatmaps = nn.ModuleList(nn.Conv2d(share_conv, len(t["class_names"]), 1) for t in tasks)
        self.boxes = nn.ModuleList(nn.Conv2d(share_conv, 8, 1) for _ in tasks)

    def forward(self, x):
        x = self.shared(x)
        return [dict(hm=h(x).sigmoid(), reg=r(x)) for h, r in zip(self.heatmaps, self.boxes)]


class PillarDetector(nn.Module):
    def __init__(self, voxel_layer, pillar_channels, backbone, bbox_head):
        super().__init__()
        self.vx, self.vy = voxel_layer["voxel_size"][:2]
        rng = voxel_layer["point_cloud_range"]
        self.x_offset, self.y_offset = rng[0] + self.vx / 2, rng[1] + self.vy / 2
        self.nx = int(round((rng[3] - rng[0]) / self.vx))
        self.ny = int(round((rng[4] - rng[1]) / self.vy))
        # x y z r + offset to mean (3) + offset to centre (2)
        self.pfn = nn.Linear(4 + 5, pillar_channels, bias=False)
        self.pfn_norm = nn.BatchNorm1d(pillar_channels)
        self.channels = pillar_channels
        layers, c = [], pillar_channels
        for width, stride in zip(backbone["out_channels"], backbone["layer_strides"]):
            layers += [nn.Conv2d(c, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            c = width
        self.backbone = nn.Sequential(*layers)
        bbox_head = dict(bbox_head)
        self.bbox_head = _HEADS[bbox_head.pop("type")](in_channels=c, **bbox_head)

    def scatter(self, feats, coors, batch_size):
        canvas = feats.new_zeros(batch_size, self.ny * self.nx, self.channels)
        canvas[coors[:, 0], coors[:, 2] * self.nx + coors[:, 3]] = feats
        return canvas.transpose(1, 2).reshape(batch_size, self.channels, self.ny, self.nx)

    def forward(self, voxels, num_points, coors, batch_size):
        mean = voxels[:, :, :3].sum(1, keepdim=True) / num_points.type_as(voxels).view(-1, 1, 1)
        cx = voxels[:, :, 0] - (coors[:, 3].type_as(voxels).unsqueeze(1) * self.vx + self.x_offset)
        cy = voxels[:, :, 1] - (coors[:, 2].type_as(voxels).unsqueeze(1) * self.vy + self.y_offset)
        feats = torch.cat([voxels, voxels[:, :, :3] - mean, cx.unsqueeze(-1), cy.unsqueeze(-1)], dim=-1)
        valid = torch.arange(voxels.size(1), device=voxels.device).unsqueeze(0) < num_points.unsqueeze(1)
        feats = feats * valid.unsqueeze(-1).type_as(feats)
        feats = self.pfn_norm(self.pfn(feats).transpose(1, 2)).transpose(1, 2)
        feats = F.relu(feats).max(dim=1)[0]
        return self.bbox_head(self.backbone(self.scatter(feats, coors, batch_size)))


# ---------------------------------------------------------------- speech


class StackedEncoder(nn.Module):
    def __init__(self, idim, odim, layers, subsample=2):
        super().__init__()
        self.subsample = subsample
        self.rnn = nn.LSTM(idim * subsample, odim, layers, batch_first=True)
        self.output_size = odim

    def forward(self, xs, ilens):
        b, t, f = xs.shape
        t = t - t % self.subsample
        xs = xs[:, :t].reshape(b, t // self.subsample, f * self.subsample)
        olens = (ilens // self.subsample).clamp(min=1)
        packed = pack_padded_sequence(xs, olens.cpu(), batch_first=True, enforce_sorted=False)
        hs, _ = self.rnn(packed)
        hs, _ = pad_packed_sequence(hs, batch_first=True, total_length=xs.size(1))
        return hs, olens


class Transducer(nn.Module):
    def __init__(self, encoder, token_list, predictor_conf, joint_space_size, joint_activation_type):
        super().__init__()
        self.blank_id = token_list.index("<blank>")
        self.vocab_size = len(token_list)
        self.encoder = encoder
        dunits, dlayers = predictor_conf["dunits"], predictor_conf.get("dlayers", 1)
        self.embed = nn.Embedding(self.vocab_size, dunits, padding_idx=self.blank_id)
        self.predictor = nn.LSTM(dunits, dunits, dlayers, batch_first=True)
        self.lin_enc = nn.Linear(encoder.output_size, joint_space_size)
        self.lin_dec = nn.Linear(dunits, joint_space_size, bias=False)
        self.lin_out = nn.Linear(joint_space_size, self.vocab_size)
        self.joint_activation = {"tanh": nn.Tanh, "relu": nn.ReLU, "swish": nn.SiLU}[joint_activation_type]()

    def forward(self, speech, speech_lengths, text, text_lengths):
        assert speech.shape[0] == speech_lengths.shape[0] == text.shape[0] == text_lengths.shape[0]
        text = text[:, : int(text_lengths.max())]
        pad = torch.arange(text.size(1), device=text.device)[None] >= text_lengths[:, None]
        text = text.masked_fill(pad, self.blank_id)
        hs, hlens = self.encoder(speech, speech_lengths)
        ys_in = F.pad(text, (1, 0), value=self.blank_id)
        ds, _ = self.predictor(self.embed(ys_in))
        joint = self.joint_activation(self.lin_enc(hs).unsqueeze(2) + self.lin_dec(ds).unsqueeze(1))
        return F.log_softmax(self.lin_out(joint), dim=-1), hlens


# ---------------------------------------------------------------- trees


class TreeNode(object):
    def __init__(self, word_idx=None, children=()):
        self.word_idx = word_idx
        self.children = list(children)
        self.state = None

    @property
    def is_leaf(self):
        return len(self.children) == 0


class SentimentTree(nn.Module):
    def __init__(self, opt, wordemb):
        super(SentimentTree, self).__init__()
        self.wordemb = wordemb
        self.mem_dim = opt.mem_dim
        in_dim = wordemb.embedding_dim
        self.ioux = nn.Linear(in_dim, 3 * self.mem_dim)
        self.iouh = nn.Linear(self.mem_dim, 3 * self.mem_dim, bias=False)
        self.fx = nn.Linear(in_dim, self.mem_dim)
        self.fh = nn.Linear(self.mem_dim, self.mem_dim, bias=False)
        self.cls = nn.Linear(self.mem_dim, opt.num_classes)
        self.fine_grained = opt.fine_grained

    def node_forward(self, x, child_c, child_h):
        h_sum = child_h.sum(0, keepdim=True)
        i, o, u = torch.split(self.ioux(x) + self.iouh(h_sum), self.mem_dim, dim=1)
        f = torch.sigmoid(self.fh(child_h) + self.fx(x).expand_as(child_h))
        c = torch.sigmoid(i) * torch.tanh(u) + (f * child_c).sum(0, keepdim=True)
        return c, torch.sigmoid(o) * torch.tanh(c)

    def traverse(self, node, embs, outputs):
        for child in node.children:
            self.traverse(child, embs, outputs)
        if node.is_leaf:
            child_c = child_h = embs.new_zeros(1, self.mem_dim)
            x = embs[node.word_idx].unsqueeze(0)
        else:
            child_c = torch.cat([ch.state[0] for ch in node.children])
            child_h = torch.cat([ch.state[1] for ch in node.children])
            x = embs.new_zeros(1, embs.size(1))
        node.state = self.node_forward(x, child_c, child_h)
        outputs.append(self.cls(node.state[1]))

    def forward(self, tree, sent):
        outputs = []
        self.traverse(tree, self.wordemb(sent), outputs)
        if self.fine_grained:
            return F.log_softmax(torch.cat(outputs), dim=1)
        return F.log_softmax(outputs[-1], dim=1)


# ---------------------------------------------------------------- ranking

Feature = namedtuple("Feature", ["name", "kind", "cardinality", "dim"])


class ClickRanker(nn.Module):
    """Every field becomes one vector, pairs of vectors are multiplied, the rest is a tower."""

    def __init__(self, features, candidate_field, tower, activation):
        super().__init__()
        self.features = list(features)
        self.candidate_field = candidate_field
        dims = {f.dim for f in self.features}
        assert len(dims) == 1, "all fields must share one width"
        dim = dims.pop()
        self.tables = nn.ModuleDict()
        for f in self.features:
            if f.kind == "numeric":
                self.tables[f.name] = nn.Linear(1, dim)
            elif f.kind == "bag":
                self.tables[f.name] = nn.EmbeddingBag(f.cardinality, dim, mode="sum")
            elif f.kind in ("id", "history"):
                self.tables[f.name] = nn.Embedding(f.cardinality, dim, padding_idx=0)
            else:
                raise ValueError(f"unknown kind {f.kind!r} for {f.name}")
        n = len(self.features)
        act = getattr(nn, activation)
        layers, width = [], dim * n + n * (n - 1) // 2
        for w in tower:
            layers.extend([nn.Linear(width, w), act()])
            width = w
        self.tower = nn.Sequential(*layers, nn.Linear(width, 1))

    def lookup(self, f, value, query):
        table = self.tables[f.name]
        if f.kind == "numeric":
            return table(torch.log1p(value.clamp(min=0)).unsqueeze(-1))
        if f.kind == "bag":
            values, offsets = value
            return table(values, offsets)
        emb = table(value)
        if f.kind == "history":
            score = torch.einsum("bld,bd->bl", emb, query).masked_fill(value == 0, -1e9)
            emb = torch.einsum("bl,bld->bd", score.softmax(-1), emb)
        return emb

    def forward(self, inputs):
        query = self.tables[self.candidate_field](inputs[self.candidate_field])
        vectors = torch.stack([self.lookup(f, inputs[f.name], query) for f in self.features], dim=1)
        gram = vectors @ vectors.transpose(1, 2)
        i, j = torch.triu_indices(len(self.features), len(self.features), offset=1)
        return self.tower(torch.cat([vectors.flatten(1), gram[:, i, j]], dim=1)).squeeze(-1)


# ---------------------------------------------------------------- molecules


def _index_select_nd(source, index):
    return source.index_select(0, index.view(-1)).view(*index.size(), source.size(-1))


def _activation(name):
    if name == "ReLU":
        return nn.ReLU()
    elif name == "LeakyReLU":
        return nn.LeakyReLU(0.1)
    elif name == "tanh":
        return nn.Tanh()
    elif name == "ELU":
        return nn.ELU()
    raise ValueError(f'Activation "{name}" not supported.')


class BondMessageNet(nn.Module):
    def __init__(self, args, atom_fdim, bond_fdim):
        super().__init__()
        self.depth = args.depth
        self.hidden_size = args.hidden_size
        self.aggregation_norm = args.aggregation_norm
        self.act_func = _activation(args.activation)
        self.dropout_layer = nn.Dropout(p=args.dropout)
        self.cached_zero_vector = nn.Parameter(torch.zeros(self.hidden_size), requires_grad=False)
        # bond features arrive already joined with those of the atom they leave from
        self.W_i = nn.Linear(atom_fdim + bond_fdim, self.hidden_size, bias=args.bias)
        self.W_h = nn.Linear(self.hidden_size, self.hidden_size, bias=args.bias)
        self.W_o = nn.Linear(atom_fdim + self.hidden_size, self.hidden_size)
        self.ffn = nn.Sequential(
            nn.Linear(self.hidden_size + args.features_size, args.ffn_hidden_size),
            nn.ReLU(),
            nn.Linear(args.ffn_hidden_size, len(args.target_columns)),
        )

    def forward(self, mol_graph, features_batch):
        f_atoms, f_bonds, a2b, b2a, b2revb, a_scope = mol_graph
        inputs = self.W_i(f_bonds)
        message = self.act_func(inputs)
        for _ in range(self.depth - 1):
            a_message = _index_select_nd(message, a2b).sum(dim=1)
            message = a_message[b2a] - message[b2revb]
            message = self.dropout_layer(self.act_func(inputs + self.W_h(message)))
        a_message = _index_select_nd(message, a2b).sum(dim=1)
        atom_hiddens = self.dropout_layer(self.act_func(self.W_o(torch.cat([f_atoms, a_message], dim=1))))
        mol_vecs = []
        for a_start, a_size in a_scope:
            if a_size == 0:
                mol_vecs.append(self.cached_zero_vector)
            else:
                mol_vecs.append(atom_hiddens.narrow(0, a_start, a_size).sum(dim=0) / self.aggregation_norm)
        return self.ffn(torch.cat([torch.stack(mol_vecs), features_batch], dim=1))


# ---------------------------------------------------------------- planning


class _Residual(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(ch, ch, 3, 1, 1), nn.Conv2d(ch, ch, 3, 1, 1)

    def forward(self, x):
        return F.relu(x + self.conv2(F.relu(self.conv1(x))))


class UnrolledPlanner(nn.Module):
    def __init__(self, game, channels, n_blocks, support_size):
        super().__init__()
        self.action_space = list(game.action_space)
        c, h, w = game.observation_shape
        # stacked previous boards, plus the player to move
        planes = c * (game.stacked_observations + 1) + (1 if len(game.players) > 1 else 0)
        self.representation = nn.Sequential(
            nn.Conv2d(planes, channels, 3, 1, 1), nn.ReLU(), *[_Residual(channels) for _ in range(n_blocks)]
        )
        self.dynamics = nn.Sequential(
            nn.Conv2d(channels + 1, channels, 3, 1, 1), nn.ReLU(), *[_Residual(channels) for _ in range(n_blocks)]
        )
        full = 2 * support_size + 1
        self.reward = nn.Sequential(nn.Flatten(), nn.Linear(channels * h * w, full))
        self.policy = nn.Sequential(nn.Flatten(), nn.Linear(channels * h * w, len(self.action_space)))
        self.value = nn.Sequential(nn.Flatten(), nn.Linear(channels * h * w, full))

    @staticmethod
    def _rescale(s):
        lo = s.flatten(1).min(1)[0].view(-1, 1, 1, 1)
        hi = s.flatten(1).max(1)[0].view(-1, 1, 1, 1)
        return (s - lo) / (hi - lo + 1e-5)

    def recurrent(self, state, action):
        plane = torch.ones_like(state[:, :1]) * (action.float() / len(self.action_space)).view(-1, 1, 1, 1)
        nxt = self.dynamics(torch.cat([state, plane], dim=1))
        return self._rescale(nxt), self.reward(nxt)

    def forward(self, observation, actions):
        state = self._rescale(self.representation(observation))
        predictions = [(self.value(state), None, self.policy(state))]
        for k in range(actions.shape[1]):
            state, reward = self.recurrent(state, actions[:, k])
            predictions.append((self.value(state), reward, self.policy(state)))
        return predictions


# ---------------------------------------------------------------- tracking


class NestedTensor(object):
    def __init__(self, tensors, mask):
        self.tensors = tensors
        self.mask = mask

    def decompose(self):
        return self.tensors, self.mask


class SmallBackbone(nn.Module):
    def __init__(self, widths=(16, 32, 64)):
        super().__init__()
        ins = (3,) + tuple(widths[:-1])
        self.stages = nn.ModuleList(nn.Conv2d(i, o, 3, 2, 1) for i, o in zip(ins, widths))
        self.num_channels = list(widths)
        self.strides = [2 ** (i + 1) for i in range(len(widths))]

    def forward(self, tensor_list):
        x, out = tensor_list.tensors, []
        for stage in self.stages:
            x = F.relu(stage(x))
            m = F.interpolate(tensor_list.mask[None].float(), size=x.shape[-2:]).to(torch.bool)[0]
            out.append(NestedTensor(x, m))
        return out


class FrameTracker(nn.Module):
    def __init__(self, backbone, hidden_dim, nheads, num_classes, num_queries, num_feature_levels):
        super().__init__()
        self.backbone = backbone
        self.levels = num_feature_levels
        chans = backbone.num_channels[-num_feature_levels:]
        self.input_proj = nn.ModuleList(
            nn.Sequential(nn.Conv2d(c, hidden_dim, 1), nn.GroupNorm(8, hidden_dim)) for c in chans
        )
        self.level_embed = nn.Parameter(torch.randn(num_feature_levels, hidden_dim))
        self.query_embed = nn.Embedding(num_queries, hidden_dim)
        self.ref_proj = nn.Linear(4, hidden_dim)
        self.decoder = nn.TransformerDecoderLayer(hidden_dim, nheads, 2 * hidden_dim, batch_first=True)
        self.class_embed = nn.Linear(hidden_dim, num_classes + 1)
        self.bbox_embed = nn.Sequential(nn.Linear(hidden_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 4))

    def forward(self, samples, prev_targets):
        features = self.backbone(samples)[-self.levels :]
        srcs, masks = [], []
        for lvl, feat in enumerate(features):
            src, mask = feat.decompose()
            srcs.append(self.input_proj[lvl](src).flatten(2).transpose(1, 2) + self.level_embed[lvl])
            masks.append(mask.flatten(1))
        memory, mask = torch.cat(srcs, 1), torch.cat(masks, 1)
        memory = memory.masked_fill(mask.unsqueeze(-1), 0.0)
        bs = memory.shape[0]
        queries = self.query_embed.weight.unsqueeze(0).repeat(bs, 1, 1)
        tracks = torch.stack([t["hs_embed"] for t in prev_targets])
        boxes = torch.stack([t["boxes"] for t in prev_targets])
        # tracks of the frame before go first, object queries after them
        tgt = torch.cat([tracks + self.ref_proj(boxes), queries], dim=1)
        hs = self.decoder(tgt, memory)
        return {"pred_logits": self.class_embed(hs), "pred_boxes": self.bbox_embed(hs).sigmoid(), "hs_embed": hs}


# ---------------------------------------------------------------- events


class ContinuousTimeLSTM(nn.Module):
    """Marked point process whose memory decays between the events."""

    def __init__(self, model_config):
        super().__init__()
        self.num_types = model_config.num_event_types
        self.pad_id = model_config.num_event_types
        self.hidden = model_config.hidden_size
        self.beta = getattr(model_config, "softplus_beta", 1.0)
        self.type_emb = nn.Embedding(self.num_types + 1, self.hidden, padding_idx=self.pad_id)
        self.gates = nn.Linear(2 * self.hidden, 7 * self.hidden)
        self.intensity = nn.Linear(self.hidden, self.num_types)

    def recur(self, x, h, c, c_bar):
        i, f, i_bar, f_bar, o, z, d = self.gates(torch.cat([x, h], -1)).chunk(7, dim=-1)
        z = torch.tanh(z)
        c = f.sigmoid() * c + i.sigmoid() * z
        c_bar = f_bar.sigmoid() * c_bar + i_bar.sigmoid() * z
        return c, c_bar, F.softplus(d, beta=self.beta), o.sigmoid()

    @staticmethod
    def decay(c, c_bar, delta, dt):
        return c_bar + (c - c_bar) * torch.exp(-delta * dt)

    def forward(self, time_delta_seq, event_seq, batch_non_pad_mask, sample_dtimes):
        b, n = event_seq.shape
        h = c = c_bar = torch.zeros(b, self.hidden)
        at_event, at_sample = [], []
        for t in range(n):
            c, c_bar, delta, o = self.recur(self.type_emb(event_seq[:, t]), h, c, c_bar)
            inner = self.decay(c[:, None], c_bar[:, None], delta[:, None], sample_dtimes[:, t].unsqueeze(-1))
            at_sample.append(o[:, None] * torch.tanh(inner))
            c = self.decay(c, c_bar, delta, time_delta_seq[:, t : t + 1])
            h = o * torch.tanh(c)
            at_event.append(h)
        lam_event = F.softplus(self.intensity(torch.stack(at_event, 1)))
        lam_sample = F.softplus(self.intensity(torch.stack(at_sample, 1)))
        integral = lam_sample.sum(-1).mean(-1) * time_delta_seq
        mask = batch_non_pad_mask.float()
        event_ll = torch.log(lam_event.gather(-1, (event_seq % self.num_types).unsqueeze(-1)).squeeze(-1) + 1e-8)
        return ((event_ll - integral) * mask).sum(-1), lam_event


# ---------------------------------------------------------------- motion


class _SubGraph(nn.Module):
    def __init__(self, dim_in, dim, depth):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(depth):
            self.layers.append(
                nn.Sequential(nn.Linear(dim_in if i == 0 else 2 * dim, dim), nn.LayerNorm(dim), nn.ReLU())
            )

    def forward(self, x, valid):
        for layer in self.layers:
            x = layer(x)
            pooled = x.masked_fill(~valid.unsqueeze(-1), -1e4).max(dim=-2, keepdim=True)[0]
            x = torch.cat([x, pooled.expand_as(x)], dim=-1)
        return x.masked_fill(~valid.unsqueeze(-1), -1e4).max(dim=-2)[0]


class LaneMotionNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        enc, dec = cfg.ENCODER, cfg.DECODER
        self.num_modes, self.future = dec.NUM_MODES, dec.NUM_FUTURE_FRAMES
        self.lane_type = nn.Embedding(enc.NUM_LANE_TYPES, enc.TYPE_DIM)
        self.agent_net = _SubGraph(enc.NUM_INPUT_ATTR_AGENT, enc.D_MODEL, enc.NUM_LAYER_IN_MLP)
        self.map_net = _SubGraph(enc.NUM_INPUT_ATTR_MAP + enc.TYPE_DIM, enc.D_MODEL, enc.NUM_LAYER_IN_MLP)
        d = 2 * enc.D_MODEL
        layer = nn.TransformerEncoderLayer(d, enc.NUM_ATTN_HEAD, 2 * d, 0.0, batch_first=True)
        self.global_graph = nn.TransformerEncoder(layer, enc.NUM_ATTN_LAYERS, enable_nested_tensor=False)
        self.modes = nn.Parameter(torch.randn(self.num_modes, d))
        self.traj = nn.Linear(d, self.future * 2)
        self.score = nn.Linear(d, 1)

    def forward(self, input_dict):
        obj, obj_mask = input_dict["obj_trajs"], input_dict["obj_trajs_mask"]
        poly, poly_mask = input_dict["map_polylines"], input_dict["map_polylines_mask"]
        kinds = self.lane_type(input_dict["map_types"]).unsqueeze(2).expand(-1, -1, poly.shape[2], -1)
        agents = self.agent_net(obj, obj_mask)
        lanes = self.map_net(torch.cat([poly, kinds], dim=-1), poly_mask)
        tokens = torch.cat([agents, lanes], dim=1)
        usable = torch.cat([obj_mask.any(-1), poly_mask.any(-1)], dim=1)
        tokens = tokens * usable.unsqueeze(-1)
        tokens = self.global_graph(tokens)
        # one agent of each scene is predicted
        who = input_dict["track_index_to_predict"]
        centre = tokens[torch.arange(tokens.shape[0]), who]
        h = centre.unsqueeze(1) + self.modes
        last = obj[torch.arange(obj.shape[0]), who, -1, :2]
        trajs = self.traj(h).view(-1, self.num_modes, self.future, 2).cumsum(2) + last[:, None, None]
        return {"pred_scores": self.score(h).squeeze(-1).softmax(-1), "pred_trajs": trajs}


# ---------------------------------------------------------------- music


class CompoundMusicModel(nn.Module):
    def __init__(self, n_token, emb_sizes, d_model, n_layer, n_head):
        super(CompoundMusicModel, self).__init__()
        # --- tempo, chord, bar-beat, type, pitch, duration, velocity
        self.n_token = n_token
        self.emb_sizes = emb_sizes
        self.loss_func = nn.CrossEntropyLoss(reduction="none")

        # --- inputs
        self.word_emb_tempo = nn.Embedding(self.n_token[0], self.emb_sizes[0])
        self.word_emb_chord = nn.Embedding(self.n_token[1], self.emb_sizes[1])
        self.word_emb_barbeat = nn.Embedding(self.n_token[2], self.emb_sizes[2])
        self.word_emb_type = nn.Embedding(self.n_token[3], self.emb_sizes[3])
        self.word_emb_pitch = nn.Embedding(self.n_token[4], self.emb_sizes[4])
        self.in_linear = nn.Linear(sum(self.emb_sizes), d_model)
        self.pos = nn.Parameter(torch.randn(1, 512, d_model) / math.sqrt(d_model))

        layer = nn.TransformerEncoderLayer(d_model, n_head, d_model * 4, 0.1, "gelu", batch_first=True)
        self.transformer_encoder = nn.TransformerEncoder(layer, n_layer)

        # --- outputs, the type is given to the other heads
        self.project_concat_type = nn.Linear(d_model + self.emb_sizes[3], d_model)
        self.heads = nn.ModuleList([nn.Linear(d_model, n) for n in self.n_token])

    def compute_loss(self, predict, target, loss_mask):
        loss = self.loss_func(predict.permute(0, 2, 1), target)
        return torch.sum(loss * loss_mask) / torch.sum(loss_mask).clamp(min=1)

    def forward(self, x, target, loss_mask):
        emb_tempo = self.word_emb_tempo(x[..., 0])
        emb_chord = self.word_emb_chord(x[..., 1])
        emb_barbeat = self.word_emb_barbeat(x[..., 2])
        emb_type = self.word_emb_type(x[..., 3])
        emb_pitch = self.word_emb_pitch(x[..., 4])
        embs = torch.cat([emb_tempo, emb_chord, emb_barbeat, emb_type, emb_pitch], dim=-1)
        h = self.in_linear(embs) + self.pos[:, : x.size(1)]
        causal = torch.triu(torch.full((x.size(1), x.size(1)), float("-inf")), diagonal=1)
        h = self.transformer_encoder(h, mask=causal)

        tf_skip_type = self.word_emb_type(target[..., 3])
        y_ = self.project_concat_type(torch.cat([h, tf_skip_type], dim=-1))
        losses = []
        for i, head in enumerate(self.heads):
            y = head(h) if i == 3 else head(y_)
            losses.append(self.compute_loss(y, target[..., i], loss_mask))
        return losses
