"""Attention over dates with a learned query per head."""

import copy

import numpy as np
import torch
from torch import nn


def get_sinusoid_table(positions, T, d):
    denom = torch.pow(T, 2 * (torch.arange(d, device=positions.device).float() // 2) / d)
    table = positions.float().unsqueeze(-1) / denom
    return torch.stack([table[..., 0::2].sin(), table[..., 1::2].cos()], -1).flatten(-2)


class LTAE(nn.Module):
    def __init__(self, in_channels=128, n_head=16, d_k=8, mlp3=[256, 128], dropout=0.2, d_model=256, T=1000):
        """
        in_channels: width of the encoded dates
        d_k: width of the keys; every head has one learned query
        mlp3: widths of the layers after the heads, the first is d_model
        T: longest period of the position code
        """
        super().__init__()
        self.in_channels = in_channels
        self.n_head, self.d_k, self.T = n_head, d_k, T
        self.mlp3_dim = copy.deepcopy(mlp3)
        if d_model is not None:
            self.d_model = d_model
            self.inconv = nn.Sequential(nn.Conv1d(in_channels, d_model, 1), nn.GroupNorm(n_head, d_model))
        else:
            self.d_model = in_channels
            self.inconv = None
        assert self.mlp3_dim[0] == self.d_model
        self.Q = nn.Parameter(torch.zeros((n_head, d_k)))
        nn.init.normal_(self.Q, mean=0, std=np.sqrt(2.0 / d_k))
        self.fc1_k = nn.Linear(self.d_model, n_head * d_k)
        layers = []
        for i in range(len(self.mlp3_dim) - 1):
            layers += [nn.Linear(mlp3[i], mlp3[i + 1]), nn.BatchNorm1d(mlp3[i + 1]), nn.ReLU()]
        self.mlp = nn.Sequential(*layers)
        self.inlayernorm = nn.LayerNorm(self.in_channels)
        self.outlayernorm = nn.LayerNorm(mlp3[-1])
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, batch_positions, pad_mask=None):
        sz_b, seq_len, _d = x.shape
        x = self.inlayernorm(x)
        if self.inconv is not None:
            x = self.inconv(x.permute(0, 2, 1)).permute(0, 2, 1)
        x = x + get_sinusoid_table(batch_positions, self.T, self.d_model // self.n_head).repeat(1, 1, self.n_head)
        k = self.fc1_k(x).view(sz_b, seq_len, self.n_head, self.d_k)
        attn = torch.einsum("hk,bthk->hbt", self.Q, k) / self.d_k**0.5
        if pad_mask is not None:
            attn = attn.masked_fill(pad_mask.unsqueeze(0), -1e3)
        attn = self.dropout(attn.softmax(-1))
        v = x.view(sz_b, seq_len, self.n_head, -1)
        out = torch.einsum("hbt,bthd->bhd", attn, v).flatten(1)
        return self.outlayernorm(self.dropout(self.mlp(out))), attn
