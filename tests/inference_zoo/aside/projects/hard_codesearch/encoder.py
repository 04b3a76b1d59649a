import json
import math

import torch
from torch import nn


class EncoderConfig:
    def __init__(self, **kwargs):
        self.vocab_size = kwargs.pop("vocab_size", 50265)
        self.hidden_size = kwargs.pop("hidden_size", 768)
        self.num_hidden_layers = kwargs.pop("num_hidden_layers", 12)
        self.num_attention_heads = kwargs.pop("num_attention_heads", 12)
        self.intermediate_size = kwargs.pop("intermediate_size", 3072)
        self.max_position_embeddings = kwargs.pop("max_position_embeddings", 514)
        self.pad_token_id = kwargs.pop("pad_token_id", 1)
        self.layer_norm_eps = kwargs.pop("layer_norm_eps", 1e-5)
        self.hidden_dropout_prob = kwargs.pop("hidden_dropout_prob", 0.1)
        for key, value in kwargs.items():
            setattr(self, key, value)

    @classmethod
    def from_pretrained(cls, path):
        with open(path, encoding="utf-8") as f:
            return cls(**json.load(f))


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, inputs_embeds, position_ids):
        return self.dropout(self.LayerNorm(inputs_embeds + self.position_embeddings(position_ids)))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.num_attention_heads
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.output = nn.Linear(config.hidden_size, config.hidden_size)
        self.norm1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.norm2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.ffn = nn.Sequential(
            nn.Linear(config.hidden_size, config.intermediate_size),
            nn.GELU(),
            nn.Linear(config.intermediate_size, config.hidden_size),
        )

    def forward(self, x, extended_attention_mask):
        b, n, d = x.shape
        q, k, v = (p(x).view(b, n, self.heads, -1).transpose(1, 2) for p in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads) + extended_attention_mask
        x = self.norm1(x + self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d)))
        return self.norm2(x + self.ffn(x))


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.layer = nn.ModuleList([Layer(config) for _ in range(config.num_hidden_layers)])
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, inputs_embeds, attention_mask, position_ids):
        if attention_mask.dim() == 2:
            attention_mask = attention_mask[:, None, :]
        mask = (1.0 - attention_mask[:, None].to(inputs_embeds.dtype)) * -10000.0
        x = self.embeddings(inputs_embeds, position_ids)
        for layer in self.layer:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))
