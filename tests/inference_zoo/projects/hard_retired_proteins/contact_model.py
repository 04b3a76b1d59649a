"""Attention maps of a language model tell which residues touch."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["ProteinContactModel"]


class Layer(nn.Module):
    def __init__(self, dim, heads, ffn_mult):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.fc1, self.fc2 = nn.Linear(dim, ffn_mult * dim), nn.Linear(ffn_mult * dim, dim)

    def forward(self, x, padding_mask):
        h = self.norm1(x)
        h, attn = self.self_attn(h, h, h, key_padding_mask=padding_mask, average_attn_weights=False)
        x = x + h
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x)))), attn


class ProteinContactModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        model, alphabet = cfg["model"], cfg["alphabet"]
        self.padding_idx, self.mask_idx = alphabet["padding_idx"], alphabet["mask_idx"]
        self.token_dropout = model.get("token_dropout", False)
        dim = model["embed_dim"]
        if dim % model["attention_heads"]:
            raise ValueError(f"embed_dim ({dim}) must be divisible by attention_heads ({model['attention_heads']})")
        self.embed_tokens = nn.Embedding(alphabet["size"], dim, padding_idx=self.padding_idx)
        self.embed_positions = nn.Embedding(model["max_positions"], dim)
        self.layers = nn.ModuleList(
            [Layer(dim, model["attention_heads"], model["ffn_mult"]) for _ in range(model["num_layers"])]
        )
        self.norm = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, alphabet["size"])
        self.regression = nn.Linear(model["num_layers"] * model["attention_heads"], 1)

    def forward(self, tokens, return_contacts=True):
        assert tokens.ndim == 2
        padding_mask = tokens.eq(self.padding_idx)  # B, T
        x = self.embed_tokens(tokens)
        if self.token_dropout:
            x = x.masked_fill((tokens == self.mask_idx).unsqueeze(-1), 0.0)
        x = x + self.embed_positions(torch.arange(tokens.size(1), device=tokens.device))
        attns = []
        for layer in self.layers:
            x, attn = layer(x, padding_mask)
            attns.append(attn)
        out = {"logits": self.lm_head(self.norm(x))}
        if return_contacts:
            maps = torch.cat(attns, dim=1)  # B, layers * heads, T, T
            maps = maps + maps.transpose(-1, -2)
            out["contacts"] = torch.sigmoid(self.regression(maps.permute(0, 2, 3, 1)).squeeze(-1))
        return out
