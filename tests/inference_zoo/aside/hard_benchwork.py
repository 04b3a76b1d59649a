"""Hard: chemistry, biology and medicine as their repositories have it: atoms, bonds, alignments, slides.

Long because it is a list of models.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["AlignmentFold", "InteractionNet", "MoleculeModel", "SlideAttention"]


# ---------------------------------------------------------------- atoms in space


class GaussianSmearing(nn.Module):
    def __init__(self, start=0.0, stop=5.0, num_gaussians=50):
        super().__init__()
        offset = torch.linspace(start, stop, num_gaussians)
        self.coeff = -0.5 / (offset[1] - offset[0]).item() ** 2
        self.register_buffer("offset", offset)

    def forward(self, dist):
        dist = dist.view(-1, 1) - self.offset.view(1, -1)
        return torch.exp(self.coeff * torch.pow(dist, 2))


class ShiftedSoftplus(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.log(torch.tensor(2.0)).item()

    def forward(self, x):
        return F.softplus(x) - self.shift


def scatter(src, index, dim_size, reduce="add"):
    out = src.new_zeros(dim_size, *src.shape[1:])
    out.index_add_(0, index, src)
    if reduce == "mean":
        count = src.new_zeros(dim_size).index_add_(0, index, src.new_ones(src.shape[0])).clamp(min=1)
        out = out / count.view(-1, *([1] * (src.dim() - 1)))
    return out


class CFConv(nn.Module):
    def __init__(self, in_channels, out_channels, num_filters, mlp, cutoff):
        super().__init__()
        self.lin1 = nn.Linear(in_channels, num_filters, bias=False)
        self.lin2 = nn.Linear(num_filters, out_channels)
        self.nn = mlp
        self.cutoff = cutoff

    def forward(self, x, edge_index, edge_weight, edge_attr):
        C = 0.5 * (torch.cos(edge_weight * np.pi / self.cutoff) + 1.0)
        W = self.nn(edge_attr) * C.view(-1, 1)
        x = self.lin1(x)
        x = scatter(x[edge_index[0]] * W, edge_index[1], x.size(0))
        return self.lin2(x)


class InteractionBlock(nn.Module):
    def __init__(self, hidden_channels, num_gaussians, num_filters, cutoff):
        super().__init__()
        mlp = nn.Sequential(
            nn.Linear(num_gaussians, num_filters), ShiftedSoftplus(), nn.Linear(num_filters, num_filters)
        )
        self.conv = CFConv(hidden_channels, hidden_channels, num_filters, mlp, cutoff)
        self.act = ShiftedSoftplus()
        self.lin = nn.Linear(hidden_channels, hidden_channels)

    def forward(self, x, edge_index, edge_weight, edge_attr):
        return self.lin(self.act(self.conv(x, edge_index, edge_weight, edge_attr)))


class InteractionNet(nn.Module):
    def __init__(
        self,
        hidden_channels: int = 128,
        num_filters: int = 128,
        num_interactions: int = 3,
        num_gaussians: int = 50,
        cutoff: float = 10.0,
        max_num_neighbors: int = 32,
        readout: str = "add",
        dipole: bool = False,
        mean: float | None = None,
        std: float | None = None,
        atomref: torch.Tensor | None = None,
    ):
        super().__init__()
        assert readout in ["add", "mean"]
        self.cutoff = cutoff
        self.max_num_neighbors = max_num_neighbors
        self.readout = "add" if dipole else readout
        self.mean, self.std, self.dipole = mean, std, dipole
        self.embedding = nn.Embedding(100, hidden_channels, padding_idx=0)
        self.distance_expansion = GaussianSmearing(0.0, cutoff, num_gaussians)
        self.interactions = nn.ModuleList(
            [InteractionBlock(hidden_channels, num_gaussians, num_filters, cutoff) for _ in range(num_interactions)]
        )
        self.lin1 = nn.Linear(hidden_channels, hidden_channels // 2)
        self.act = ShiftedSoftplus()
        self.lin2 = nn.Linear(hidden_channels // 2, 1)
        self.atomref = None
        if atomref is not None:
            self.atomref = nn.Embedding(100, 1)
            self.atomref.weight.data.copy_(atomref)

    def radius_graph(self, pos, batch):
        d = torch.cdist(pos, pos)
        adj = (d < self.cutoff) & (batch[:, None] == batch[None, :])
        adj.fill_diagonal_(False)
        return adj.nonzero().t()

    def forward(self, data):
        z, pos, batch = data.z, data.pos, data.batch
        assert z.dim() == 1 and z.dtype == torch.long
        batch = torch.zeros_like(z) if batch is None else batch

        h = self.embedding(z)
        edge_index = self.radius_graph(pos, batch)
        row, col = edge_index
        edge_weight = (pos[row] - pos[col]).norm(dim=-1)
        edge_attr = self.distance_expansion(edge_weight)
        for interaction in self.interactions:
            h = h + interaction(h, edge_index, edge_weight, edge_attr)
        h = self.lin2(self.act(self.lin1(h)))

        num_graphs = int(batch.max()) + 1
        if self.dipole:
            h = h * (pos - scatter(pos, batch, num_graphs, "mean")[batch])
        if self.mean is not None and self.std is not None:
            h = h * self.std + self.mean
        if self.atomref is not None:
            h = h + self.atomref(z)
        out = scatter(h, batch, num_graphs, self.readout)
        if self.dipole:
            out = torch.norm(out, dim=-1, keepdim=True)
        return out


# ---------------------------------------------------------------- messages along bonds

ATOM_FDIM = 133
BOND_FDIM = 14


def index_select_ND(source, index):
    return source.index_select(0, index.view(-1)).view(*index.size(), *source.size()[1:])


def get_activation_function(activation: str) -> nn.Module:
    if activation == "ReLU":
        return nn.ReLU()
    if activation == "LeakyReLU":
        return nn.LeakyReLU(0.1)
    if activation == "PReLU":
        return nn.PReLU()
    if activation == "SELU":
        return nn.SELU()
    raise ValueError(f"no activation {activation}")


class MPNEncoder(nn.Module):
    """Directed messages, one per bond and direction."""

    def __init__(self, args: Namespace, atom_fdim: int, bond_fdim: int):
        super().__init__()
        self.atom_fdim = atom_fdim
        self.bond_fdim = bond_fdim
        self.hidden_size = args.hidden_size
        self.bias = args.bias
        self.depth = args.depth
        self.undirected = args.undirected
        self.dropout_layer = nn.Dropout(p=args.dropout)
        self.act_func = get_activation_function(args.activation)
        self.cached_zero_vector = nn.Parameter(torch.zeros(self.hidden_size), requires_grad=False)
        self.W_i = nn.Linear(self.bond_fdim, self.hidden_size, bias=self.bias)
        self.W_h = nn.Linear(self.hidden_size, self.hidden_size, bias=self.bias)
        self.W_o = nn.Linear(self.atom_fdim + self.hidden_size, self.hidden_size)

    def forward(self, mol_graph):
        f_atoms, f_bonds, a2b, b2a, b2revb, a_scope = mol_graph
        inp = self.W_i(f_bonds)  # num_bonds x hidden_size
        message = self.act_func(inp)
        for _depth in range(self.depth - 1):
            if self.undirected:
                message = (message + message[b2revb]) / 2
            nei_a_message = index_select_ND(message, a2b)  # num_atoms x max_num_bonds x hidden
            a_message = nei_a_message.sum(dim=1)
            rev_message = message[b2revb]
            message = a_message[b2a] - rev_message
            message = self.W_h(message)
            message = self.dropout_layer(self.act_func(inp + message))
        nei_a_message = index_select_ND(message, a2b)
        a_input = torch.cat([f_atoms, nei_a_message.sum(dim=1)], dim=1)
        atom_hiddens = self.dropout_layer(self.act_func(self.W_o(a_input)))
        mol_vecs = []
        for a_start, a_size in a_scope:
            if a_size == 0:
                mol_vecs.append(self.cached_zero_vector)
            else:
                cur_hiddens = atom_hiddens.narrow(0, int(a_start), int(a_size))
                mol_vecs.append(cur_hiddens.sum(dim=0) / a_size)
        return torch.stack(mol_vecs, dim=0)


class MoleculeModel(nn.Module):
    """Encoder of the molecule and a feed-forward head."""

    def __init__(self, args):
        """
        :param args: arguments, see :func:`parse_train_args`
        """
        super().__init__()
        self.classification = args.dataset_type == "classification"
        self.multiclass = args.dataset_type == "multiclass"
        self.output_size = args.num_tasks * (args.multiclass_num_classes if self.multiclass else 1)
        self.num_classes = args.multiclass_num_classes if self.multiclass else None
        self.features_size = args.features_size if args.use_input_features else 0
        self.encoder = MPNEncoder(args, ATOM_FDIM, ATOM_FDIM + BOND_FDIM)
        self.create_ffn(args)
        self.sigmoid = nn.Sigmoid()

    def create_ffn(self, args):
        first_linear_dim = args.hidden_size + self.features_size
        dropout = nn.Dropout(args.dropout)
        activation = get_activation_function(args.activation)
        ffn = [dropout, nn.Linear(first_linear_dim, args.ffn_hidden_size)]
        for _ in range(args.ffn_num_layers - 2):
            ffn.extend([activation, dropout, nn.Linear(args.ffn_hidden_size, args.ffn_hidden_size)])
        ffn.extend([activation, dropout, nn.Linear(args.ffn_hidden_size, self.output_size)])
        self.ffn = nn.Sequential(*ffn)

    def forward(self, batch, features_batch=None):
        encodings = self.encoder(batch)
        if self.features_size:
            if isinstance(features_batch, list):
                features_batch = torch.from_numpy(np.stack(features_batch)).float()
            encodings = torch.cat([encodings, features_batch], dim=1)
        output = self.ffn(encodings)
        if self.classification and not self.training:
            output = self.sigmoid(output)
        if self.multiclass:
            output = output.reshape((output.size(0), -1, self.num_classes))
            if not self.training:
                output = output.softmax(dim=2)
        return output


def parse_train_args(argv=None):
    import argparse  # noqa: PLC0415

    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset_type", choices=["classification", "regression", "multiclass"], default="regression")
    parser.add_argument("--num_tasks", type=int, default=1)
    parser.add_argument("--multiclass_num_classes", type=int, default=3)
    parser.add_argument("--use_input_features", action="store_true")
    parser.add_argument("--features_size", type=int, default=200)
    parser.add_argument("--hidden_size", type=int, default=300)
    parser.add_argument("--bias", action="store_true", default=False)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--activation", type=str, default="ReLU")
    parser.add_argument("--undirected", action="store_true", default=False)
    parser.add_argument("--ffn_hidden_size", type=int, default=300)
    parser.add_argument("--ffn_num_layers", type=int, default=2)
    return parser.parse_args(argv)


# ---------------------------------------------------------------- alignments


class Attention(nn.Module):
    def __init__(self, c_q, c_hidden, no_heads, gating=True):
        super().__init__()
        self.no_heads = no_heads
        self.linear_q = nn.Linear(c_q, c_hidden * no_heads, bias=False)
        self.linear_k = nn.Linear(c_q, c_hidden * no_heads, bias=False)
        self.linear_v = nn.Linear(c_q, c_hidden * no_heads, bias=False)
        self.linear_o = nn.Linear(c_hidden * no_heads, c_q)
        self.linear_g = nn.Linear(c_q, c_hidden * no_heads) if gating else None

    def forward(self, x, biases):
        q, k, v = (
            lin(x).unflatten(-1, (self.no_heads, -1)).transpose(-2, -3)
            for lin in (self.linear_q, self.linear_k, self.linear_v)
        )
        a = torch.matmul(q, k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        for b in biases:
            a = a + b
        o = torch.matmul(a.softmax(-1), v).transpose(-2, -3).flatten(-2)
        if self.linear_g is not None:
            o = torch.sigmoid(self.linear_g(x)) * o
        return self.linear_o(o)


class OuterProductMean(nn.Module):
    def __init__(self, c_m, c_z, c_hidden, eps=1e-3):
        super().__init__()
        self.eps = eps
        self.layer_norm = nn.LayerNorm(c_m)
        self.linear_1 = nn.Linear(c_m, c_hidden)
        self.linear_2 = nn.Linear(c_m, c_hidden)
        self.linear_out = nn.Linear(c_hidden**2, c_z)

    def forward(self, m, mask):
        m = self.layer_norm(m)
        a, b = self.linear_1(m) * mask.unsqueeze(-1), self.linear_2(m) * mask.unsqueeze(-1)
        outer = torch.einsum("...sic,...sjd->...ijcd", a, b).flatten(-2)
        norm = torch.einsum("...si,...sj->...ij", mask, mask).unsqueeze(-1)
        return self.linear_out(outer) / (self.eps + norm)


class TriangleMultiplicativeUpdate(nn.Module):
    def __init__(self, c_z, c_hidden, _outgoing=True):
        super().__init__()
        self._outgoing = _outgoing
        self.linear_ab = nn.Linear(c_z, 2 * c_hidden)
        self.linear_ab_g = nn.Linear(c_z, 2 * c_hidden)
        self.linear_g = nn.Linear(c_z, c_z)
        self.linear_z = nn.Linear(c_hidden, c_z)
        self.layer_norm_in, self.layer_norm_out = nn.LayerNorm(c_z), nn.LayerNorm(c_hidden)

    def forward(self, z, mask):
        z = self.layer_norm_in(z)
        a, b = (self.linear_ab(z) * torch.sigmoid(self.linear_ab_g(z)) * mask.unsqueeze(-1)).chunk(2, -1)
        x = torch.einsum("...ikc,...jkc->...ijc" if self._outgoing else "...kic,...kjc->...ijc", a, b)
        return self.linear_z(self.layer_norm_out(x)) * torch.sigmoid(self.linear_g(z))


def transition(c, n=4):
    return nn.Sequential(nn.LayerNorm(c), nn.Linear(c, c * n), nn.ReLU(), nn.Linear(c * n, c))


class AlignmentBlock(nn.Module):
    def __init__(self, c_m, c_z, c_hidden_msa_att, c_hidden_opm, c_hidden_mul, no_heads_msa, inf=1e9, **kwargs):
        super().__init__()
        self.inf = inf
        self.norm_row, self.norm_col, self.norm_z = nn.LayerNorm(c_m), nn.LayerNorm(c_m), nn.LayerNorm(c_z)
        self.linear_z = nn.Linear(c_z, no_heads_msa, bias=False)
        self.msa_att_row = Attention(c_m, c_hidden_msa_att, no_heads_msa)
        self.msa_att_col = Attention(c_m, c_hidden_msa_att, no_heads_msa)
        self.msa_transition = transition(c_m)
        self.outer_product_mean = OuterProductMean(c_m, c_z, c_hidden_opm)
        self.tri_mul_out = TriangleMultiplicativeUpdate(c_z, c_hidden_mul)
        self.tri_mul_in = TriangleMultiplicativeUpdate(c_z, c_hidden_mul, _outgoing=False)
        self.pair_transition = transition(c_z)

    def forward(self, m, z, msa_mask, pair_mask):
        mask_bias = (self.inf * (msa_mask - 1))[..., :, None, None, :]
        pair_bias = self.linear_z(self.norm_z(z)).permute(0, 3, 1, 2).unsqueeze(1)
        m = m + self.msa_att_row(self.norm_row(m), [mask_bias, pair_bias])
        mt = m.transpose(1, 2)
        col_bias = (self.inf * (msa_mask.transpose(1, 2) - 1))[..., :, None, None, :]
        m = m + self.msa_att_col(self.norm_col(mt), [col_bias]).transpose(1, 2)
        m = m + self.msa_transition(m)
        z = z + self.outer_product_mean(m, msa_mask)
        z = z + self.tri_mul_out(z, pair_mask)
        z = z + self.tri_mul_in(z, pair_mask)
        return m, z + self.pair_transition(z)


class InputEmbedder(nn.Module):
    def __init__(self, tf_dim: int, msa_dim: int, c_z: int, c_m: int, relpos_k: int, **kwargs):
        super().__init__()
        self.linear_tf_z_i = nn.Linear(tf_dim, c_z)
        self.linear_tf_z_j = nn.Linear(tf_dim, c_z)
        self.linear_tf_m = nn.Linear(tf_dim, c_m)
        self.linear_msa_m = nn.Linear(msa_dim, c_m)
        self.relpos_k = relpos_k
        self.linear_relpos = nn.Linear(2 * relpos_k + 1, c_z)

    def relpos(self, ri: torch.Tensor):
        d = (ri[..., None] - ri[..., None, :]).clamp(-self.relpos_k, self.relpos_k) + self.relpos_k
        return self.linear_relpos(F.one_hot(d.long(), 2 * self.relpos_k + 1).float())

    def forward(self, tf, ri, msa):
        """
        tf: [*, N_res, tf_dim], ri: [*, N_res], msa: [*, N_clust, N_res, msa_dim]
        """
        pair_emb = self.linear_tf_z_i(tf)[..., None, :] + self.linear_tf_z_j(tf)[..., None, :, :]
        pair_emb = pair_emb + self.relpos(ri)
        msa_emb = self.linear_msa_m(msa) + self.linear_tf_m(tf).unsqueeze(-3)
        return msa_emb, pair_emb


class AlignmentFold(nn.Module):
    def __init__(self, config: dict[str, Any]):
        super().__init__()
        self.globals = config["globals"]
        self.config = config["model"]
        self.input_embedder = InputEmbedder(**self.config["input_embedder"])
        self.evoformer = nn.ModuleList(
            [
                AlignmentBlock(**self.config["evoformer_stack"])
                for _ in range(self.config["evoformer_stack"]["no_blocks"])
            ]
        )
        c_m, c_z = self.globals["c_m"], self.globals["c_z"]
        self.recycle_norm_m, self.recycle_norm_z = nn.LayerNorm(c_m), nn.LayerNorm(c_z)
        heads = self.config["heads"]
        self.distogram = nn.Linear(c_z, heads["distogram"]["no_bins"])
        self.masked_msa = nn.Linear(c_m, heads["masked_msa"]["c_out"])

    def iteration(self, feats, prevs):
        m, z = self.input_embedder(feats["target_feat"], feats["residue_index"], feats["msa_feat"])
        if prevs is not None:
            m_1_prev, z_prev = prevs
            m = torch.cat([m[:, :1] + self.recycle_norm_m(m_1_prev).unsqueeze(1), m[:, 1:]], 1)
            z = z + self.recycle_norm_z(z_prev)
        pair_mask = feats["seq_mask"][..., None] * feats["seq_mask"][..., None, :]
        for block in self.evoformer:
            m, z = block(m, z, feats["msa_mask"], pair_mask)
        return m, z

    def forward(self, batch):
        num_iters = self.config.get("max_recycling_iters", 0) + 1
        prevs, m, z = None, None, None
        for cycle_no in range(num_iters):
            is_final_iter = cycle_no == num_iters - 1
            with torch.set_grad_enabled(torch.is_grad_enabled() and is_final_iter):
                m, z = self.iteration(batch, prevs)
                prevs = m[:, 0], z
        outputs = {"msa": m, "pair": z, "masked_msa_logits": self.masked_msa(m)}
        logits = self.distogram(z)
        outputs["distogram_logits"] = logits + logits.transpose(-2, -3)
        return outputs


def model_config(name="finetuning", c_m=64, c_z=32):
    blocks = {"initial_training": 4, "finetuning": 2}[name]
    return {
        "globals": {"c_m": c_m, "c_z": c_z},
        "model": {
            "max_recycling_iters": 1,
            "input_embedder": {"tf_dim": 22, "msa_dim": 49, "c_z": c_z, "c_m": c_m, "relpos_k": 32},
            "evoformer_stack": {
                "c_m": c_m,
                "c_z": c_z,
                "c_hidden_msa_att": 16,
                "c_hidden_opm": 16,
                "c_hidden_mul": 32,
                "no_heads_msa": 4,
                "no_blocks": blocks,
            },
            "heads": {"distogram": {"no_bins": 64}, "masked_msa": {"c_out": 23}},
        },
    }


# ---------------------------------------------------------------- slides of tissue


class GatedScores(nn.Module):
    def __init__(self, dim, hidden, n_branches=1, dropout=0.0):
        super().__init__()
        self.tanh_branch = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Dropout(dropout))
        self.gate_branch = nn.Sequential(nn.Linear(dim, hidden), nn.Sigmoid(), nn.Dropout(dropout))
        self.score = nn.Linear(hidden, n_branches)

    def forward(self, x):
        return self.score(self.tanh_branch(x) * self.gate_branch(x))


class SlideAttention(nn.Module):
    """Multiple-instance learning: one bag is the features of all patches of a slide.

    size_arg is a key of SIZES, k_sample how many patches with the most and the least attention get pseudo labels,
    subtyping says that the classes exclude each other.
    """

    SIZES = {"small": (512, 256), "big": (512, 384)}

    def __init__(self, gate=True, size_arg="small", dropout=0.0, k_sample=8, n_classes=2,
                 instance_loss_fn=None, subtyping=False, embed_dim=1024):  # fmt: skip
        super().__init__()
        dim, hidden = self.SIZES[size_arg]
        self.fc = nn.Sequential(nn.Linear(embed_dim, dim), nn.ReLU(), nn.Dropout(dropout))
        if gate:
            self.attention_net = GatedScores(dim, hidden, n_classes, dropout)
        else:
            self.attention_net = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, n_classes))
        self.bag_classifiers = nn.ModuleList([nn.Linear(dim, 1) for _ in range(n_classes)])
        self.inst_classifiers = nn.ModuleList([nn.Linear(dim, 2) for _ in range(n_classes)])
        self.inst_loss = instance_loss_fn or nn.CrossEntropyLoss()
        self.k_sample = k_sample
        self.n_classes = n_classes
        self.subtyping = subtyping

    def inst_eval(self, a, h, c, positive):
        full = partial(torch.full, (self.k_sample,), device=h.device)
        top = h[a.topk(self.k_sample).indices]
        if not positive:
            return self.inst_loss(self.inst_classifiers[c](top), full(0))
        bottom = h[(-a).topk(self.k_sample).indices]
        targets = torch.cat([full(1), full(0)])
        return self.inst_loss(self.inst_classifiers[c](torch.cat([top, bottom])), targets)

    def forward(self, h, label=None, instance_eval=False, return_features=False, attention_only=False):
        h = self.fc(h)
        A = self.attention_net(h).t()  # n_classes x n_patches
        if attention_only:
            return A
        A_raw, A = A, A.softmax(dim=1)
        results = {}
        if instance_eval:
            losses = []
            for c in range(self.n_classes):
                positive = label.item() == c
                if positive or self.subtyping:
                    losses.append(self.inst_eval(A[c], h, c, positive))
            results["instance_loss"] = sum(losses) / (len(losses) if self.subtyping else 1)
        M = A @ h
        logits = torch.cat([clf(m) for clf, m in zip(self.bag_classifiers, M)]).unsqueeze(0)
        if return_features:
            results["features"] = M
        return logits, logits.softmax(1), logits.argmax(1), A_raw, results
