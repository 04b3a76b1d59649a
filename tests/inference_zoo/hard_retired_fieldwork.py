"""Hard, once aside: groups that match pictures, map crops, read crystals and proteins, speak, solve equations.

Long because it is a list of models.
"""

from __future__ import annotations

import copy
from math import sqrt
from types import SimpleNamespace
from typing import Callable, List, Optional, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = ["CrystalGraphConvNet", "DeepONet", "LightMatcher", "ProteinMPNN", "PseLTae", "Tacotron"]


# --- matching of local features


def normalize_keypoints(kpts: torch.Tensor, size: Optional[torch.Tensor] = None) -> torch.Tensor:
    if size is None:
        size = 1 + kpts.max(-2).values - kpts.min(-2).values
    elif not isinstance(size, torch.Tensor):
        size = torch.tensor(size, device=kpts.device, dtype=kpts.dtype)
    size = size.to(kpts)
    shift = size / 2
    scale = size.max(-1).values / 2
    return (kpts - shift[..., None, :]) / scale[..., None, None]


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    x = x.unflatten(-1, (-1, 2))
    x1, x2 = x.unbind(dim=-1)
    return torch.stack((-x2, x1), dim=-1).flatten(start_dim=-2)


def apply_cached_rotary_emb(freqs: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return (t * freqs[0]) + (rotate_half(t) * freqs[1])


class LearnableFourierPositionalEncoding(nn.Module):
    def __init__(self, M: int, dim: int, gamma: float = 1.0) -> None:
        super().__init__()
        self.Wr = nn.Linear(M, dim // 2, bias=False)
        nn.init.normal_(self.Wr.weight.data, mean=0, std=gamma**-2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        projected = self.Wr(x)
        emb = torch.stack([torch.cos(projected), torch.sin(projected)], 0).unsqueeze(-3)
        return emb.repeat_interleave(2, dim=-1)


class SelfBlock(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.num_heads = num_heads
        assert embed_dim % num_heads == 0
        self.Wqkv = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.ffn = nn.Sequential(
            nn.Linear(2 * embed_dim, 2 * embed_dim),
            nn.LayerNorm(2 * embed_dim),
            nn.GELU(),
            nn.Linear(2 * embed_dim, embed_dim),
        )

    def forward(self, x: torch.Tensor, encoding: torch.Tensor) -> torch.Tensor:
        qkv = self.Wqkv(x).unflatten(-1, (self.num_heads, -1, 3)).transpose(1, 2)
        q, k, v = qkv[..., 0], qkv[..., 1], qkv[..., 2]
        q = apply_cached_rotary_emb(encoding, q)
        k = apply_cached_rotary_emb(encoding, k)
        context = F.scaled_dot_product_attention(q, k, v)
        message = self.out_proj(context.transpose(1, 2).flatten(start_dim=-2))
        return x + self.ffn(torch.cat([x, message], -1))


class CrossBlock(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.heads = num_heads
        dim_head = embed_dim // num_heads
        self.scale = dim_head**-0.5
        self.to_qk = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.to_v = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.to_out = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.ffn = nn.Sequential(
            nn.Linear(2 * embed_dim, 2 * embed_dim),
            nn.LayerNorm(2 * embed_dim),
            nn.GELU(),
            nn.Linear(2 * embed_dim, embed_dim),
        )

    def map_(self, func: Callable, x0: torch.Tensor, x1: torch.Tensor):
        return func(x0), func(x1)

    def forward(self, x0: torch.Tensor, x1: torch.Tensor) -> List[torch.Tensor]:
        qk0, qk1 = self.map_(self.to_qk, x0, x1)
        v0, v1 = self.map_(self.to_v, x0, x1)
        qk0, qk1, v0, v1 = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (qk0, qk1, v0, v1))
        sim = torch.einsum("bhid, bhjd -> bhij", qk0 * self.scale**0.5, qk1 * self.scale**0.5)
        attn01 = F.softmax(sim, dim=-1)
        attn10 = F.softmax(sim.transpose(-2, -1).contiguous(), dim=-1)
        m0 = torch.einsum("bhij, bhjd -> bhid", attn01, v1)
        m1 = torch.einsum("bhji, bhjd -> bhid", attn10.transpose(-2, -1), v0)
        m0, m1 = self.map_(lambda t: t.transpose(1, 2).flatten(start_dim=-2), m0, m1)
        m0, m1 = self.map_(self.to_out, m0, m1)
        return x0 + self.ffn(torch.cat([x0, m0], -1)), x1 + self.ffn(torch.cat([x1, m1], -1))


class LightMatcher(nn.Module):
    default_conf = {
        "name": "lightmatcher",
        "input_dim": 256,
        "descriptor_dim": 256,
        "add_scale_ori": False,
        "n_layers": 9,
        "num_heads": 4,
        "filter_threshold": 0.1,
        "weights": None,
    }

    required_data_keys = ["image0", "image1"]

    features = {
        "superpoint": {"weights": "superpoint_lightmatcher", "input_dim": 256},
        "disk": {"weights": "disk_lightmatcher", "input_dim": 128},
        "sift": {"weights": "sift_lightmatcher", "input_dim": 128, "add_scale_ori": True},
    }

    def __init__(self, features="superpoint", **conf) -> None:
        super().__init__()
        self.conf = conf = SimpleNamespace(**{**self.default_conf, **conf})
        if features is not None:
            if features not in self.features:
                raise ValueError(f"Unsupported features: {features} not in {{{','.join(self.features)}}}")
            for k, v in self.features[features].items():
                setattr(conf, k, v)

        if conf.input_dim != conf.descriptor_dim:
            self.input_proj = nn.Linear(conf.input_dim, conf.descriptor_dim, bias=True)
        else:
            self.input_proj = nn.Identity()

        head_dim = conf.descriptor_dim // conf.num_heads
        self.posenc = LearnableFourierPositionalEncoding(2 + 2 * conf.add_scale_ori, head_dim)

        h, n, d = conf.num_heads, conf.n_layers, conf.descriptor_dim
        self.self_attn = nn.ModuleList([SelfBlock(d, h) for _ in range(n)])
        self.cross_attn = nn.ModuleList([CrossBlock(d, h) for _ in range(n)])
        self.matchability = nn.Linear(d, 1, bias=True)
        self.final_proj = nn.Linear(d, d, bias=True)

    def forward(self, data: dict) -> dict:
        """
        Match keypoints and descriptors between two images

        Input (dict):
            image0: dict
                keypoints: [B x M x 2]
                descriptors: [B x M x D]
                image: [B x C x H x W] or image_size: [B x 2]
            image1: dict
                keypoints: [B x N x 2]
                descriptors: [B x N x D]
                image: [B x C x H x W] or image_size: [B x 2]
        Output (dict):
            log_assignment: [B x M+1 x N+1]
            matches0: [B x M]
            matching_scores0: [B x M]
        """
        for key in self.required_data_keys:
            assert key in data, f"Missing key {key} in data"
        data0, data1 = data["image0"], data["image1"]
        kpts0, kpts1 = data0["keypoints"], data1["keypoints"]
        b, m, _ = kpts0.shape
        b, n, _ = kpts1.shape
        size0, size1 = data0.get("image_size"), data1.get("image_size")
        kpts0 = normalize_keypoints(kpts0, size0).clone()
        kpts1 = normalize_keypoints(kpts1, size1).clone()
        if self.conf.add_scale_ori:
            kpts0 = torch.cat([kpts0] + [data0[k].unsqueeze(-1) for k in ("scales", "oris")], -1)
            kpts1 = torch.cat([kpts1] + [data1[k].unsqueeze(-1) for k in ("scales", "oris")], -1)
        desc0 = data0["descriptors"].detach().contiguous()
        desc1 = data1["descriptors"].detach().contiguous()

        assert desc0.shape[-1] == self.conf.input_dim
        assert desc1.shape[-1] == self.conf.input_dim

        desc0 = self.input_proj(desc0)
        desc1 = self.input_proj(desc1)
        encoding0 = self.posenc(kpts0)
        encoding1 = self.posenc(kpts1)
        for i in range(self.conf.n_layers):
            desc0 = self.self_attn[i](desc0, encoding0)
            desc1 = self.self_attn[i](desc1, encoding1)
            desc0, desc1 = self.cross_attn[i](desc0, desc1)

        mdesc0, mdesc1 = self.final_proj(desc0), self.final_proj(desc1)
        d = mdesc0.shape[-1]
        sim = torch.einsum("bmd,bnd->bmn", mdesc0 / d**0.25, mdesc1 / d**0.25)
        z0, z1 = self.matchability(desc0), self.matchability(desc1)
        scores = sim.new_full((b, m + 1, n + 1), 0)
        certainties = F.logsigmoid(z0) + F.logsigmoid(z1).transpose(1, 2)
        scores[:, :m, :n] = F.log_softmax(sim, 2) + F.log_softmax(sim, 1) + certainties
        scores[:, :-1, -1] = F.logsigmoid(-z0.squeeze(-1))
        scores[:, -1, :-1] = F.logsigmoid(-z1.squeeze(-1))

        max0 = scores[:, :-1, :-1].max(2)
        mscores0 = max0.values.exp()
        m0 = torch.where(mscores0 > self.conf.filter_threshold, max0.indices, -1)
        return {"log_assignment": scores, "matches0": m0, "matching_scores0": mscores0}


# --- crops in satellite image time series


class PixelSetEncoder(nn.Module):
    def __init__(self, input_dim, mlp1=[10, 32, 64], pooling="mean_std", mlp2=[64, 128], with_extra=True, extra_size=4):
        """
        Args:
            input_dim (int): Number of channels of the input tensors
            mlp1 (list):  Dimensions of the successive feature spaces of MLP1
            pooling (str): Pixel-embedding pooling strategy, can be chosen in ('mean','std','max','min')
                or any underscore-separated combination thereof.
            mlp2 (list): Dimensions of the successive feature spaces of MLP2
            with_extra (bool): Whether additional pre-computed features are passed between the two MLPs
            extra_size (int, optional): Number of channels of the additional features, if any.
        """
        super().__init__()
        self.input_dim = input_dim
        self.mlp1_dim = copy.deepcopy(mlp1)
        self.mlp2_dim = copy.deepcopy(mlp2)
        self.pooling = pooling
        self.with_extra = with_extra
        self.name = "PSE-{}-{}-{}".format("|".join(map(str, mlp1)), pooling, "|".join(map(str, mlp2)))
        self.output_dim = input_dim * len(pooling.split("_")) if len(self.mlp2_dim) == 0 else self.mlp2_dim[-1]

        inter_dim = self.mlp1_dim[-1] * len(pooling.split("_"))
        if self.with_extra:
            inter_dim += extra_size

        assert input_dim == mlp1[0]
        assert inter_dim == mlp2[0]

        layers = []
        for i in range(len(self.mlp1_dim) - 1):
            layers.append(LinearLayer(self.mlp1_dim[i], self.mlp1_dim[i + 1]))
        self.mlp1 = nn.Sequential(*layers)

        layers = []
        for i in range(len(self.mlp2_dim) - 1):
            layers.append(nn.Linear(self.mlp2_dim[i], self.mlp2_dim[i + 1]))
            layers.append(nn.BatchNorm1d(self.mlp2_dim[i + 1]))
            if i < len(self.mlp2_dim) - 2:
                layers.append(nn.ReLU())
        self.mlp2 = nn.Sequential(*layers)

    def forward(self, input):
        """
        The input of the PSE is a tuple of tensors as yielded by the PixelSetData class:
          (Pixel-Set, Pixel-Mask) or ((Pixel-Set, Pixel-Mask), Extra-features)
        Pixel-Set : Batch_size x (Sequence length) x Channel x Number of pixels
        Pixel-Mask : Batch_size x (Sequence length) x Number of pixels
        Extra-features : Batch_size x (Sequence length) x Number of features
        """
        a, b = input
        if len(a) == 2:
            out, mask = a
            extra = b
            batch, temp = out.shape[:2]
            extra = extra.view(batch * temp, -1)
        else:
            out, mask = a, b
            batch, temp = out.shape[:2]

        out = out.view(batch * temp, *out.shape[2:])
        mask = mask.view(batch * temp, -1)

        out = self.mlp1(out)
        out = torch.cat([pooling_methods[n](out, mask) for n in self.pooling.split("_")], dim=1)
        if self.with_extra:
            out = torch.cat([out, extra], dim=1)
        out = self.mlp2(out)
        return out.view(batch, temp, -1)


class LinearLayer(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.lin = nn.Linear(in_dim, out_dim)
        self.bn = nn.BatchNorm1d(out_dim)

    def forward(self, input):
        out = input.permute((0, 2, 1))  # to channel last
        out = self.lin(out)
        out = out.permute((0, 2, 1))  # to channel first
        return F.relu(self.bn(out))


def masked_mean(x, mask):
    out = x.permute((1, 0, 2))
    out = out * mask
    out = out.sum(dim=-1) / mask.sum(dim=-1)
    return out.permute((1, 0))


def masked_std(x, mask):
    m = masked_mean(x, mask)
    out = x.permute((2, 0, 1))
    out = out - m
    out = out.permute((2, 1, 0))
    out = out * mask
    d = mask.sum(dim=-1)
    out = (out**2).sum(dim=-1) / (d - 1).clamp(min=1)
    out = torch.sqrt(out + 10e-32)  # To ensure differentiability
    return out.permute(1, 0)


pooling_methods = {"mean": masked_mean, "std": masked_std}


class LTAE(nn.Module):
    def __init__(self, in_channels=128, n_head=16, d_k=8, n_neurons=[256, 128], dropout=0.2, d_model=256, T=1000):
        super().__init__()
        self.in_channels = in_channels
        self.n_neurons = copy.deepcopy(n_neurons)
        self.inconv = nn.Sequential(nn.Conv1d(in_channels, d_model, 1))
        self.d_model, self.n_head, self.d_k, self.T = d_model, n_head, d_k, T
        self.key = nn.Linear(d_model, n_head * d_k)
        self.query = nn.Parameter(torch.zeros(n_head, d_k))
        nn.init.normal_(self.query, mean=0, std=np.sqrt(2.0 / d_k))
        self.inlayernorm = nn.LayerNorm(in_channels)
        self.outlayernorm = nn.LayerNorm(n_neurons[-1])
        assert self.n_neurons[0] == d_model
        layers = []
        for i in range(len(self.n_neurons) - 1):
            layers.extend(
                [nn.Linear(self.n_neurons[i], self.n_neurons[i + 1]), nn.BatchNorm1d(n_neurons[i + 1]), nn.ReLU()]
            )
        self.mlp = nn.Sequential(*layers)
        self.dropout = nn.Dropout(dropout)

    def position_encoding(self, positions):
        d = self.d_model // self.n_head
        i = torch.arange(d, device=positions.device)
        angles = positions.unsqueeze(-1) / self.T ** (2 * (i // 2) / d)
        table = torch.where(i % 2 == 0, angles.sin(), angles.cos())
        return table.repeat(1, 1, self.n_head)

    def forward(self, x, positions):
        sz_b, seq_len, d = x.shape
        x = self.inlayernorm(x)
        x = self.inconv(x.permute(0, 2, 1)).permute(0, 2, 1)
        x = x + self.position_encoding(positions.float())
        k = self.key(x).view(sz_b, seq_len, self.n_head, self.d_k)
        attn = torch.einsum("hd,bthd->bht", self.query, k) / np.power(self.d_k, 0.5)
        attn = self.dropout(torch.softmax(attn, dim=-1))
        v = x.view(sz_b, seq_len, self.n_head, -1)
        out = torch.einsum("bht,bthd->bhd", attn, v).reshape(sz_b, -1)
        return self.outlayernorm(self.dropout(self.mlp(out)))


class PseLTae(nn.Module):
    """
    Pixel-Set encoder + Lightweight Temporal Attention Encoder sequence classifier
    """

    def __init__(
        self,
        input_dim=10,
        mlp1=[10, 32, 64],
        pooling="mean_std",
        mlp2=[132, 128],
        with_extra=True,
        extra_size=4,
        n_head=16,
        d_k=8,
        d_model=256,
        mlp3=[256, 128],
        dropout=0.2,
        T=1000,
        mlp4=[128, 64, 32],
        num_classes=20,
    ):
        super().__init__()
        self.spatial_encoder = PixelSetEncoder(
            input_dim, mlp1=mlp1, pooling=pooling, mlp2=mlp2, with_extra=with_extra, extra_size=extra_size
        )
        self.temporal_encoder = LTAE(mlp2[-1], n_head, d_k, mlp3, dropout, d_model, T)
        layers = []
        for i in range(len(mlp4) - 1):
            layers.extend([nn.Linear(mlp4[i], mlp4[i + 1]), nn.BatchNorm1d(mlp4[i + 1]), nn.ReLU()])
        self.decoder = nn.Sequential(*layers, nn.Linear(mlp4[-1], num_classes))

    def forward(self, input, positions):
        """
        Args:
           input(tuple): (Pixel-Set, Pixel-Mask) or ((Pixel-Set, Pixel-Mask), Extra-features)
           positions: days since the first acquisition, Batch_size x Sequence length
        """
        out = self.spatial_encoder(input)
        out = self.temporal_encoder(out, positions)
        return self.decoder(out)


# --- crystals


class ConvLayer(nn.Module):
    """
    Convolutional operation on graphs
    """

    def __init__(self, atom_fea_len, nbr_fea_len):
        super().__init__()
        self.atom_fea_len = atom_fea_len
        self.nbr_fea_len = nbr_fea_len
        self.fc_full = nn.Linear(2 * self.atom_fea_len + self.nbr_fea_len, 2 * self.atom_fea_len)
        self.sigmoid = nn.Sigmoid()
        self.softplus1 = nn.Softplus()
        self.bn1 = nn.BatchNorm1d(2 * self.atom_fea_len)
        self.bn2 = nn.BatchNorm1d(self.atom_fea_len)
        self.softplus2 = nn.Softplus()

    def forward(self, atom_in_fea, nbr_fea, nbr_fea_idx):
        N, M = nbr_fea_idx.shape
        # convolution
        atom_nbr_fea = atom_in_fea[nbr_fea_idx, :]
        total_nbr_fea = torch.cat(
            [atom_in_fea.unsqueeze(1).expand(N, M, self.atom_fea_len), atom_nbr_fea, nbr_fea], dim=2
        )
        total_gated_fea = self.fc_full(total_nbr_fea)
        total_gated_fea = self.bn1(total_gated_fea.view(-1, self.atom_fea_len * 2)).view(N, M, self.atom_fea_len * 2)
        nbr_filter, nbr_core = total_gated_fea.chunk(2, dim=2)
        nbr_filter = self.sigmoid(nbr_filter)
        nbr_core = self.softplus1(nbr_core)
        nbr_sumed = torch.sum(nbr_filter * nbr_core, dim=1)
        nbr_sumed = self.bn2(nbr_sumed)
        return self.softplus2(atom_in_fea + nbr_sumed)


class CrystalGraphConvNet(nn.Module):
    """
    Create a crystal graph convolutional neural network for predicting total
    material properties.
    """

    def __init__(
        self,
        orig_atom_fea_len,
        nbr_fea_len,
        atom_fea_len=64,
        n_conv=3,
        h_fea_len=128,
        n_h=1,
        classification=False,
    ):
        """
        Parameters
        ----------

        orig_atom_fea_len: int
          Number of atom features in the input.
        nbr_fea_len: int
          Number of bond features.
        atom_fea_len: int
          Number of hidden atom features in the convolutional layers
        n_conv: int
          Number of convolutional layers
        h_fea_len: int
          Number of hidden features after pooling
        n_h: int
          Number of hidden layers after pooling
        """
        super().__init__()
        self.classification = classification
        self.embedding = nn.Linear(orig_atom_fea_len, atom_fea_len)
        self.convs = nn.ModuleList(
            [ConvLayer(atom_fea_len=atom_fea_len, nbr_fea_len=nbr_fea_len) for _ in range(n_conv)]
        )
        self.conv_to_fc = nn.Linear(atom_fea_len, h_fea_len)
        self.conv_to_fc_softplus = nn.Softplus()
        if n_h > 1:
            self.fcs = nn.ModuleList([nn.Linear(h_fea_len, h_fea_len) for _ in range(n_h - 1)])
            self.softpluses = nn.ModuleList([nn.Softplus() for _ in range(n_h - 1)])
        if self.classification:
            self.fc_out = nn.Linear(h_fea_len, 2)
            self.logsoftmax = nn.LogSoftmax(dim=1)
            self.dropout = nn.Dropout()
        else:
            self.fc_out = nn.Linear(h_fea_len, 1)

    def forward(self, atom_fea, nbr_fea, nbr_fea_idx, crystal_atom_idx):
        """
        Forward pass

        N: Total number of atoms in the batch
        M: Max number of neighbors
        N0: Total number of crystals in the batch

        Parameters
        ----------

        atom_fea: Variable(torch.Tensor) shape (N, orig_atom_fea_len)
          Atom features from atom type
        nbr_fea: Variable(torch.Tensor) shape (N, M, nbr_fea_len)
          Bond features of each atom's M neighbors
        nbr_fea_idx: torch.LongTensor shape (N, M)
          Indices of M neighbors of each atom
        crystal_atom_idx: list of torch.LongTensor of length N0
          Mapping from the crystal idx to atom idx
        """
        atom_fea = self.embedding(atom_fea)
        for conv_func in self.convs:
            atom_fea = conv_func(atom_fea, nbr_fea, nbr_fea_idx)
        crys_fea = self.pooling(atom_fea, crystal_atom_idx)
        crys_fea = self.conv_to_fc(self.conv_to_fc_softplus(crys_fea))
        crys_fea = self.conv_to_fc_softplus(crys_fea)
        if self.classification:
            crys_fea = self.dropout(crys_fea)
        if hasattr(self, "fcs") and hasattr(self, "softpluses"):
            for fc, softplus in zip(self.fcs, self.softpluses):
                crys_fea = softplus(fc(crys_fea))
        out = self.fc_out(crys_fea)
        if self.classification:
            out = self.logsoftmax(out)
        return out

    def pooling(self, atom_fea, crystal_atom_idx):
        assert sum([len(idx_map) for idx_map in crystal_atom_idx]) == atom_fea.data.shape[0]
        summed_fea = [torch.mean(atom_fea[idx_map], dim=0, keepdim=True) for idx_map in crystal_atom_idx]
        return torch.cat(summed_fea, dim=0)


# --- protein design


def gather_edges(edges, neighbor_idx):
    # Features [B,N,N,C] at Neighbor indices [B,N,K] => Neighbor features [B,N,K,C]
    neighbors = neighbor_idx.unsqueeze(-1).expand(-1, -1, -1, edges.size(-1))
    return torch.gather(edges, 2, neighbors)


def gather_nodes(nodes, neighbor_idx):
    # Features [B,N,C] at Neighbor indices [B,N,K] => [B,N,K,C]
    neighbors_flat = neighbor_idx.view((neighbor_idx.shape[0], -1))
    neighbors_flat = neighbors_flat.unsqueeze(-1).expand(-1, -1, nodes.size(2))
    neighbor_features = torch.gather(nodes, 1, neighbors_flat)
    return neighbor_features.view(list(neighbor_idx.shape)[:3] + [-1])


def cat_neighbors_nodes(h_nodes, h_neighbors, E_idx):
    h_nodes = gather_nodes(h_nodes, E_idx)
    return torch.cat([h_neighbors, h_nodes], -1)


class MPNNLayer(nn.Module):
    def __init__(self, num_hidden, num_in, dropout=0.1, scale=30, update_edges=False):
        super().__init__()
        self.scale = scale
        self.update_edges = update_edges
        self.dropout = nn.Dropout(dropout)
        self.norm1 = nn.LayerNorm(num_hidden)
        self.norm2 = nn.LayerNorm(num_hidden)
        self.message = self._mlp(num_hidden + num_in, num_hidden)
        self.dense = nn.Sequential(
            nn.Linear(num_hidden, num_hidden * 4), nn.GELU(), nn.Linear(num_hidden * 4, num_hidden)
        )
        if update_edges:
            self.edge = self._mlp(num_hidden + num_in, num_hidden)
            self.norm3 = nn.LayerNorm(num_hidden)

    @staticmethod
    def _mlp(num_in, num_hidden):
        return nn.Sequential(
            nn.Linear(num_in, num_hidden),
            nn.GELU(),
            nn.Linear(num_hidden, num_hidden),
            nn.GELU(),
            nn.Linear(num_hidden, num_hidden),
        )

    def forward(self, h_V, h_E, E_idx=None, mask_V=None, mask_attend=None):
        h_EV = h_E if E_idx is None else cat_neighbors_nodes(h_V, h_E, E_idx)
        h_V_expand = h_V.unsqueeze(-2).expand(-1, -1, h_EV.size(-2), -1)
        h_message = self.message(torch.cat([h_V_expand, h_EV], -1))
        if mask_attend is not None:
            h_message = mask_attend.unsqueeze(-1) * h_message
        h_V = self.norm1(h_V + self.dropout(torch.sum(h_message, -2) / self.scale))
        h_V = self.norm2(h_V + self.dropout(self.dense(h_V)))
        if mask_V is not None:
            h_V = mask_V.unsqueeze(-1) * h_V
        if not self.update_edges:
            return h_V
        h_EV = cat_neighbors_nodes(h_V, h_E, E_idx)
        h_V_expand = h_V.unsqueeze(-2).expand(-1, -1, h_EV.size(-2), -1)
        h_E = self.norm3(h_E + self.dropout(self.edge(torch.cat([h_V_expand, h_EV], -1))))
        return h_V, h_E


class ProteinFeatures(nn.Module):
    def __init__(self, edge_features, num_positional_embeddings=16, num_rbf=16, top_k=30, max_relative_feature=32):
        """Extract protein features"""
        super().__init__()
        self.top_k = top_k
        self.num_rbf = num_rbf
        self.max_relative_feature = max_relative_feature
        self.embeddings = nn.Linear(2 * max_relative_feature + 1 + 1, num_positional_embeddings)
        edge_in = num_positional_embeddings + num_rbf * 25
        self.edge_embedding = nn.Linear(edge_in, edge_features, bias=False)
        self.norm_edges = nn.LayerNorm(edge_features)

    def _dist(self, X, mask, eps=1e-6):
        mask_2D = torch.unsqueeze(mask, 1) * torch.unsqueeze(mask, 2)
        dX = torch.unsqueeze(X, 1) - torch.unsqueeze(X, 2)
        D = mask_2D * torch.sqrt(torch.sum(dX**2, 3) + eps)
        D_max, _ = torch.max(D, -1, keepdim=True)
        D_adjust = D + (1.0 - mask_2D) * D_max
        return torch.topk(D_adjust, np.minimum(self.top_k, X.shape[1]), dim=-1, largest=False)

    def _rbf(self, D):
        D_mu = torch.linspace(2.0, 22.0, self.num_rbf, device=D.device).view([1, 1, 1, -1])
        D_sigma = (22.0 - 2.0) / self.num_rbf
        return torch.exp(-(((torch.unsqueeze(D, -1) - D_mu) / D_sigma) ** 2))

    def forward(self, X, mask, residue_idx, chain_labels):
        b = X[:, :, 1, :] - X[:, :, 0, :]
        c = X[:, :, 2, :] - X[:, :, 1, :]
        a = torch.cross(b, c, dim=-1)
        Cb = -0.58273431 * a + 0.56802827 * b - 0.54067466 * c + X[:, :, 1, :]
        atoms = [X[:, :, 0, :], X[:, :, 1, :], X[:, :, 2, :], X[:, :, 3, :], Cb]

        _, E_idx = self._dist(X[:, :, 1, :], mask)
        RBF_all = []
        for A in atoms:
            for B in atoms:
                D_A_B = torch.sqrt(torch.sum((A[:, :, None, :] - B[:, None, :, :]) ** 2, -1) + 1e-6)
                RBF_all.append(self._rbf(gather_edges(D_A_B[:, :, :, None], E_idx)[:, :, :, 0]))
        RBF_all = torch.cat(RBF_all, dim=-1)

        offset = residue_idx[:, :, None] - residue_idx[:, None, :]
        offset = gather_edges(offset[:, :, :, None], E_idx)[:, :, :, 0]  # [B, L, K]
        d_chains = ((chain_labels[:, :, None] - chain_labels[:, None, :]) == 0).long()
        E_chains = gather_edges(d_chains[:, :, :, None], E_idx)[:, :, :, 0]
        r = self.max_relative_feature
        d = torch.clip(offset + r, 0, 2 * r) * E_chains + (1 - E_chains) * (2 * r + 1)
        E_positional = self.embeddings(F.one_hot(d, 2 * r + 1 + 1).float())
        E = self.edge_embedding(torch.cat((E_positional, RBF_all), -1))
        return self.norm_edges(E), E_idx


class ProteinMPNN(nn.Module):
    def __init__(
        self,
        num_letters,
        node_features,
        edge_features,
        hidden_dim,
        num_encoder_layers=3,
        num_decoder_layers=3,
        vocab=21,
        k_neighbors=64,
        augment_eps=0.05,
        dropout=0.1,
    ):
        super().__init__()

        # Hyperparameters
        self.node_features = node_features
        self.edge_features = edge_features
        self.hidden_dim = hidden_dim
        self.augment_eps = augment_eps

        # Featurization layers
        self.features = ProteinFeatures(edge_features, top_k=k_neighbors)
        self.W_e = nn.Linear(edge_features, hidden_dim, bias=True)
        self.W_s = nn.Embedding(vocab, hidden_dim)

        self.encoder_layers = nn.ModuleList(
            [
                MPNNLayer(hidden_dim, hidden_dim * 2, dropout=dropout, update_edges=True)
                for _ in range(num_encoder_layers)
            ]
        )
        self.decoder_layers = nn.ModuleList(
            [MPNNLayer(hidden_dim, hidden_dim * 3, dropout=dropout) for _ in range(num_decoder_layers)]
        )
        self.W_out = nn.Linear(hidden_dim, num_letters, bias=True)

        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, X, S, mask, chain_M, residue_idx, chain_encoding_all, randn):
        """Graph-conditioned sequence model"""
        device = X.device
        if self.training and self.augment_eps > 0:
            X = X + self.augment_eps * torch.randn_like(X)

        # Prepare node and edge embeddings
        E, E_idx = self.features(X, mask, residue_idx, chain_encoding_all)
        h_V = torch.zeros((E.shape[0], E.shape[1], E.shape[-1]), device=E.device)
        h_E = self.W_e(E)

        # Encoder is unmasked self-attention
        mask_attend = gather_nodes(mask.unsqueeze(-1), E_idx).squeeze(-1)
        mask_attend = mask.unsqueeze(-1) * mask_attend
        for layer in self.encoder_layers:
            h_V, h_E = layer(h_V, h_E, E_idx, mask, mask_attend)

        # Concatenate sequence embeddings for autoregressive decoder
        h_S = self.W_s(S)
        h_ES = cat_neighbors_nodes(h_S, h_E, E_idx)

        # Build encoder embeddings
        h_EX_encoder = cat_neighbors_nodes(torch.zeros_like(h_S), h_E, E_idx)
        h_EXV_encoder = cat_neighbors_nodes(h_V, h_EX_encoder, E_idx)

        chain_M = chain_M * mask  # update chain_M to include missing regions
        decoding_order = torch.argsort((chain_M + 0.0001) * (torch.abs(randn)))
        mask_size = E_idx.shape[1]
        permutation_matrix_reverse = F.one_hot(decoding_order, num_classes=mask_size).float()
        order_mask_backward = torch.einsum(
            "ij, biq, bjp->bqp",
            (1 - torch.triu(torch.ones(mask_size, mask_size, device=device))),
            permutation_matrix_reverse,
            permutation_matrix_reverse,
        )
        mask_attend = torch.gather(order_mask_backward, 2, E_idx).unsqueeze(-1)
        mask_1D = mask.view([mask.size(0), mask.size(1), 1, 1])
        mask_bw = mask_1D * mask_attend
        mask_fw = mask_1D * (1.0 - mask_attend)

        h_EXV_encoder_fw = mask_fw * h_EXV_encoder
        for layer in self.decoder_layers:
            h_ESV = cat_neighbors_nodes(h_V, h_ES, E_idx)
            h_ESV = mask_bw * h_ESV + h_EXV_encoder_fw
            h_V = layer(h_V, h_ESV, mask_V=mask)

        logits = self.W_out(h_V)
        return F.log_softmax(logits, dim=-1)


# --- speech synthesis


class LinearNorm(nn.Module):
    def __init__(self, in_dim, out_dim, bias=True, w_init_gain="linear"):
        super().__init__()
        self.linear_layer = nn.Linear(in_dim, out_dim, bias=bias)
        nn.init.xavier_uniform_(self.linear_layer.weight, gain=nn.init.calculate_gain(w_init_gain))

    def forward(self, x):
        return self.linear_layer(x)


def conv_norm(in_channels, out_channels, kernel_size):
    return nn.Sequential(
        nn.Conv1d(in_channels, out_channels, kernel_size, padding=int((kernel_size - 1) / 2)),
        nn.BatchNorm1d(out_channels),
    )


def get_mask_from_lengths(lengths):
    max_len = torch.max(lengths).item()
    ids = torch.arange(0, max_len, device=lengths.device)
    return ids < lengths.unsqueeze(1)


class Encoder(nn.Module):
    """Encoder module:
    - Three 1-d convolution banks
    - Bidirectional LSTM
    """

    def __init__(self, hparams):
        super().__init__()
        dim = hparams.encoder_embedding_dim
        self.convolutions = nn.ModuleList(
            [conv_norm(dim, dim, hparams.encoder_kernel_size) for _ in range(hparams.encoder_n_convolutions)]
        )
        self.lstm = nn.LSTM(dim, int(dim / 2), 1, batch_first=True, bidirectional=True)

    def forward(self, x, input_lengths):
        for conv in self.convolutions:
            x = F.dropout(F.relu(conv(x)), 0.5, self.training)
        x = x.transpose(1, 2)

        # pytorch tensor are not reversible, hence the conversion
        input_lengths = input_lengths.cpu().numpy()
        x = pack_padded_sequence(x, input_lengths, batch_first=True)
        outputs, _ = self.lstm(x)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True)
        return outputs


class LocationSensitiveAttention(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        dim = hparams.attention_dim
        self.query_layer = LinearNorm(hparams.attention_rnn_dim, dim, bias=False, w_init_gain="tanh")
        self.memory_layer = LinearNorm(hparams.encoder_embedding_dim, dim, bias=False, w_init_gain="tanh")
        self.v = LinearNorm(dim, 1, bias=False)
        kernel = hparams.attention_location_kernel_size
        filters = hparams.attention_location_n_filters
        self.location_conv = nn.Conv1d(2, filters, kernel, padding=int((kernel - 1) / 2), bias=False)
        self.location_dense = LinearNorm(filters, dim, bias=False, w_init_gain="tanh")
        self.score_mask_value = -float("inf")

    def forward(self, attention_hidden_state, memory, processed_memory, attention_weights_cat, mask):
        processed_query = self.query_layer(attention_hidden_state.unsqueeze(1))
        location = self.location_dense(self.location_conv(attention_weights_cat).transpose(1, 2))
        energies = self.v(torch.tanh(processed_query + location + processed_memory)).squeeze(-1)
        if mask is not None:
            energies.data.masked_fill_(mask, self.score_mask_value)
        attention_weights = F.softmax(energies, dim=1)
        context = torch.bmm(attention_weights.unsqueeze(1), memory)
        return context.squeeze(1), attention_weights


class Decoder(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.n_mel_channels = hparams.n_mel_channels
        self.n_frames_per_step = hparams.n_frames_per_step
        self.encoder_embedding_dim = hparams.encoder_embedding_dim
        self.attention_rnn_dim = hparams.attention_rnn_dim
        self.decoder_rnn_dim = hparams.decoder_rnn_dim
        self.p_attention_dropout = hparams.p_attention_dropout
        self.p_decoder_dropout = hparams.p_decoder_dropout

        self.prenet = nn.ModuleList(
            [
                LinearNorm(hparams.n_mel_channels * hparams.n_frames_per_step, hparams.prenet_dim, bias=False),
                LinearNorm(hparams.prenet_dim, hparams.prenet_dim, bias=False),
            ]
        )
        self.attention_rnn = nn.LSTMCell(hparams.prenet_dim + self.encoder_embedding_dim, hparams.attention_rnn_dim)
        self.attention_layer = LocationSensitiveAttention(hparams)
        self.decoder_rnn = nn.LSTMCell(hparams.attention_rnn_dim + self.encoder_embedding_dim, hparams.decoder_rnn_dim)
        out_dim = hparams.decoder_rnn_dim + self.encoder_embedding_dim
        self.linear_projection = LinearNorm(out_dim, hparams.n_mel_channels * hparams.n_frames_per_step)
        self.gate_layer = LinearNorm(out_dim, 1, w_init_gain="sigmoid")

    def initialize_decoder_states(self, memory, mask):
        B, MAX_TIME, _ = memory.shape
        self.attention_hidden = memory.new_zeros(B, self.attention_rnn_dim)
        self.attention_cell = memory.new_zeros(B, self.attention_rnn_dim)
        self.decoder_hidden = memory.new_zeros(B, self.decoder_rnn_dim)
        self.decoder_cell = memory.new_zeros(B, self.decoder_rnn_dim)
        self.attention_weights = memory.new_zeros(B, MAX_TIME)
        self.attention_weights_cum = memory.new_zeros(B, MAX_TIME)
        self.attention_context = memory.new_zeros(B, self.encoder_embedding_dim)
        self.memory = memory
        self.processed_memory = self.attention_layer.memory_layer(memory)
        self.mask = mask

    def parse_decoder_inputs(self, decoder_inputs):
        # (B, n_mel_channels, T_out) -> (B, T_out, n_mel_channels)
        decoder_inputs = decoder_inputs.transpose(1, 2).contiguous()
        decoder_inputs = decoder_inputs.view(
            decoder_inputs.size(0), int(decoder_inputs.size(1) / self.n_frames_per_step), -1
        )
        # (B, T_out, n_mel_channels) -> (T_out, B, n_mel_channels)
        return decoder_inputs.transpose(0, 1)

    def decode(self, decoder_input):
        cell_input = torch.cat((decoder_input, self.attention_context), -1)
        self.attention_hidden, self.attention_cell = self.attention_rnn(
            cell_input, (self.attention_hidden, self.attention_cell)
        )
        self.attention_hidden = F.dropout(self.attention_hidden, self.p_attention_dropout, self.training)
        attention_weights_cat = torch.stack((self.attention_weights, self.attention_weights_cum), dim=1)
        self.attention_context, self.attention_weights = self.attention_layer(
            self.attention_hidden, self.memory, self.processed_memory, attention_weights_cat, self.mask
        )
        self.attention_weights_cum += self.attention_weights
        decoder_input = torch.cat((self.attention_hidden, self.attention_context), -1)
        self.decoder_hidden, self.decoder_cell = self.decoder_rnn(
            decoder_input, (self.decoder_hidden, self.decoder_cell)
        )
        self.decoder_hidden = F.dropout(self.decoder_hidden, self.p_decoder_dropout, self.training)
        hidden_context = torch.cat((self.decoder_hidden, self.attention_context), dim=1)
        return self.linear_projection(hidden_context), self.gate_layer(hidden_context), self.attention_weights

    def forward(self, memory, decoder_inputs, memory_lengths):
        """Decoder forward pass for training"""
        go_frame = memory.new_zeros(1, memory.size(0), self.n_mel_channels * self.n_frames_per_step)
        decoder_inputs = torch.cat((go_frame, self.parse_decoder_inputs(decoder_inputs)), dim=0)
        for linear in self.prenet:
            decoder_inputs = F.dropout(F.relu(linear(decoder_inputs)), p=0.5, training=True)

        self.initialize_decoder_states(memory, mask=~get_mask_from_lengths(memory_lengths))
        mel_outputs, gate_outputs, alignments = [], [], []
        while len(mel_outputs) < decoder_inputs.size(0) - 1:
            mel_output, gate_output, attention_weights = self.decode(decoder_inputs[len(mel_outputs)])
            mel_outputs += [mel_output]
            gate_outputs += [gate_output.squeeze(1)]
            alignments += [attention_weights]

        mel_outputs = torch.stack(mel_outputs).transpose(0, 1).contiguous()
        mel_outputs = mel_outputs.view(mel_outputs.size(0), -1, self.n_mel_channels).transpose(1, 2)
        return mel_outputs, torch.stack(gate_outputs).transpose(0, 1), torch.stack(alignments).transpose(0, 1)


class Tacotron(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.mask_padding = hparams.mask_padding
        self.fp16_run = hparams.fp16_run
        self.n_mel_channels = hparams.n_mel_channels
        self.n_frames_per_step = hparams.n_frames_per_step
        self.embedding = nn.Embedding(hparams.n_symbols, hparams.symbols_embedding_dim)
        std = sqrt(2.0 / (hparams.n_symbols + hparams.symbols_embedding_dim))
        val = sqrt(3.0) * std  # uniform bounds for std
        self.embedding.weight.data.uniform_(-val, val)
        self.encoder = Encoder(hparams)
        self.decoder = Decoder(hparams)
        dims = (
            [hparams.n_mel_channels]
            + [hparams.postnet_embedding_dim] * (hparams.postnet_n_convolutions - 1)
            + [hparams.n_mel_channels]
        )
        self.postnet = nn.ModuleList(
            [conv_norm(i, o, hparams.postnet_kernel_size) for i, o in zip(dims[:-1], dims[1:])]
        )

    def parse_output(self, outputs, output_lengths=None):
        if self.mask_padding and output_lengths is not None:
            mask = ~get_mask_from_lengths(output_lengths)
            mask = mask.expand(self.n_mel_channels, mask.size(0), mask.size(1))
            mask = mask.permute(1, 0, 2)

            outputs[0].data.masked_fill_(mask, 0.0)
            outputs[1].data.masked_fill_(mask, 0.0)
            outputs[2].data.masked_fill_(mask[:, 0, :], 1e3)  # gate energies

        return outputs

    def forward(self, inputs):
        text_inputs, text_lengths, mels, max_len, output_lengths = inputs
        text_lengths, output_lengths = text_lengths.data, output_lengths.data

        embedded_inputs = self.embedding(text_inputs).transpose(1, 2)
        encoder_outputs = self.encoder(embedded_inputs, text_lengths)
        mel_outputs, gate_outputs, alignments = self.decoder(encoder_outputs, mels, memory_lengths=text_lengths)

        x = mel_outputs
        for i, conv in enumerate(self.postnet):
            x = conv(x)
            if i < len(self.postnet) - 1:
                x = torch.tanh(x)
            x = F.dropout(x, 0.5, self.training)
        return self.parse_output([mel_outputs, mel_outputs + x, gate_outputs, alignments], output_lengths)


# --- operators


def get_activation(identifier):
    """Return the activation function."""
    if isinstance(identifier, str):
        return {
            "elu": F.elu,
            "relu": F.relu,
            "gelu": F.gelu,
            "selu": F.selu,
            "sigmoid": torch.sigmoid,
            "silu": F.silu,
            "sin": torch.sin,
            "swish": F.silu,
            "tanh": torch.tanh,
        }[identifier]
    if callable(identifier):
        return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier}")


def get_initializer(identifier):
    return {
        "Glorot normal": nn.init.xavier_normal_,
        "Glorot uniform": nn.init.xavier_uniform_,
        "He normal": nn.init.kaiming_normal_,
        "He uniform": nn.init.kaiming_uniform_,
        "zeros": nn.init.zeros_,
    }[identifier]


class FNN(nn.Module):
    """Fully-connected neural network."""

    def __init__(self, layer_sizes, activation, kernel_initializer):
        super().__init__()
        if isinstance(activation, list):
            if not (len(layer_sizes) - 1) == len(activation):
                raise ValueError(
                    "Total number of activation functions do not match with sum of hidden layers and output layer!"
                )
            self.activation = list(map(get_activation, activation))
        else:
            self.activation = get_activation(activation)
        initializer = get_initializer(kernel_initializer)
        self.linears = nn.ModuleList()
        for i in range(1, len(layer_sizes)):
            self.linears.append(nn.Linear(layer_sizes[i - 1], layer_sizes[i]))
            initializer(self.linears[-1].weight)
            nn.init.zeros_(self.linears[-1].bias)

    def forward(self, inputs):
        x = inputs
        for j, linear in enumerate(self.linears[:-1]):
            x = self.activation[j](linear(x)) if isinstance(self.activation, list) else self.activation(linear(x))
        return self.linears[-1](x)


class DeepONet(nn.Module):
    """Deep operator network.

    Args:
        layer_sizes_branch: A list of integers as the width of a fully connected network,
            or `(dim, f)` where `dim` is the input dimension and `f` is a network
            function. The width of the last layer in the branch and trunk net
            should be the same.
        layer_sizes_trunk (list): A list of integers as the width of a fully connected network.
        activation: If `activation` is a ``string``, then the same activation is used in
            both trunk and branch nets. If `activation` is a ``dict``, then the trunk
            net uses the activation `activation["trunk"]`, and the branch net uses
            `activation["branch"]`.
    """

    def __init__(self, layer_sizes_branch, layer_sizes_trunk, activation, kernel_initializer, regularization=None):
        super().__init__()
        if isinstance(activation, dict):
            activation_branch = activation["branch"]
            self.activation_trunk = get_activation(activation["trunk"])
        else:
            activation_branch = self.activation_trunk = get_activation(activation)
        if callable(layer_sizes_branch[1]):
            # User-defined network
            self.branch = layer_sizes_branch[1]
        else:
            # Fully connected network
            self.branch = FNN(layer_sizes_branch, activation_branch, kernel_initializer)
        self.trunk = FNN(layer_sizes_trunk, self.activation_trunk, kernel_initializer)
        self.b = nn.parameter.Parameter(torch.tensor(0.0))
        self.regularizer = regularization
        self._input_transform = None
        self._output_transform = None

    def apply_feature_transform(self, transform):
        self._input_transform = transform

    def apply_output_transform(self, transform):
        self._output_transform = transform

    def forward(self, inputs: Tuple[torch.Tensor, torch.Tensor]):
        x_func = inputs[0]
        x_loc = inputs[1]
        # Branch net to encode the input function
        x_func = self.branch(x_func)
        # Trunk net to encode the domain of the output function
        if self._input_transform is not None:
            x_loc = self._input_transform(x_loc)
        x_loc = self.activation_trunk(self.trunk(x_loc))
        # Dot product
        if x_func.shape[-1] != x_loc.shape[-1]:
            raise AssertionError("Output sizes of branch net and trunk net do not match.")
        x = torch.einsum("bi,bi->b", x_func, x_loc)
        x = torch.unsqueeze(x, 1)
        # Add bias
        x = x + self.b
        if self._output_transform is not None:
            x = self._output_transform(inputs, x)
        return x
