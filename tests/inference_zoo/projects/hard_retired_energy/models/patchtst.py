"""A series is a sentence, its patches are the words."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["Model"]


class RevIN(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.affine_weight = nn.Parameter(torch.ones(num_features))
        self.affine_bias = nn.Parameter(torch.zeros(num_features))

    def norm(self, x):
        mean = x.mean(1, keepdim=True).detach()
        stdev = torch.sqrt(x.var(1, keepdim=True, unbiased=False) + self.eps).detach()
        return (x - mean) / stdev * self.affine_weight + self.affine_bias, mean, stdev

    def denorm(self, x, mean, stdev):
        return (x - self.affine_bias) / (self.affine_weight + self.eps) * stdev + mean


class Flatten_Head(nn.Module):
    def __init__(self, individual, n_vars, nf, target_window):
        super().__init__()
        self.individual = individual
        self.n_vars = n_vars
        if individual:
            self.linears = nn.ModuleList([nn.Linear(nf, target_window) for _ in range(n_vars)])
        else:
            self.linear = nn.Linear(nf, target_window)

    def forward(self, x):  # x: [bs x nvars x patch_num x d_model]
        x = x.flatten(start_dim=-2)
        if self.individual:
            return torch.stack([linear(x[:, i]) for i, linear in enumerate(self.linears)], dim=1)
        return self.linear(x)


class Model(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.revin = RevIN(configs.enc_in) if configs.revin else None
        self.patch_len, self.stride = configs.patch_len, configs.stride
        patch_num = int((configs.seq_len - configs.patch_len) / configs.stride + 1)
        if configs.padding_patch == "end":
            self.padding_patch_layer = nn.ReplicationPad1d((0, configs.stride))
            patch_num += 1
        self.padding_patch = configs.padding_patch
        self.W_P = nn.Linear(configs.patch_len, configs.d_model)
        self.W_pos = nn.Parameter(torch.zeros(patch_num, configs.d_model))
        layer = nn.TransformerEncoderLayer(
            configs.d_model, configs.n_heads, configs.d_ff, configs.dropout, batch_first=True
        )
        self.backbone = nn.TransformerEncoder(layer, configs.e_layers)
        self.head = Flatten_Head(configs.individual, configs.enc_in, configs.d_model * patch_num, configs.pred_len)

    def forward(self, x):  # x: [Batch, Input length, Channel]
        if self.revin is not None:
            x, mean, stdev = self.revin.norm(x)
        z = x.permute(0, 2, 1)
        if self.padding_patch == "end":
            z = self.padding_patch_layer(z)
        z = z.unfold(dimension=-1, size=self.patch_len, step=self.stride)
        u = self.W_P(z)
        b, c, n, d = u.shape
        u = self.backbone(u.reshape(b * c, n, d) + self.W_pos).reshape(b, c, n, d)
        x = self.head(u).permute(0, 2, 1)
        return x if self.revin is None else self.revin.denorm(x, mean, stdev)
