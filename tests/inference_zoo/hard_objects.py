"""Hard: constructors that take choices, lists, classes, modules and configurations.

Long because it is a list of models.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "MLP",
    "AnyRNN",
    "Backboned",
    "ConfigNet",
    "Contrastive",
    "DictConfigured",
    "EncoderDecoder",
    "Ensemble",
    "FieldNet",
    "HParamsNet",
    "KnowledgeGraph",
    "Nested",
    "ResNet",
    "StageNet",
    "TwoTower",
    "VocabModel",
    "factory_net",
]

ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


class MLP(nn.Module):
    def __init__(self, sizes, act):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True))
        self.act = ACTIVATIONS[act]()

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.act(layer(x))
        return self.layers[-1](x)


class AnyRNN(nn.Module):
    def __init__(self, cell, n_in, n_hidden, n_out):
        super().__init__()
        if cell == "lstm":
            self.rnn = nn.LSTM(n_in, n_hidden, batch_first=True)
        elif cell == "gru":
            self.rnn = nn.GRU(n_in, n_hidden, batch_first=True)
        else:
            raise ValueError(f"unknown cell {cell}")
        self.out = nn.Linear(n_hidden, n_out)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


class Encoder(nn.Module):
    def __init__(self, input_dim, hid_dim):
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(input_dim, hid_dim), nn.GRU(hid_dim, hid_dim, batch_first=True)

    def forward(self, src):
        return self.rnn(self.embedding(src))


class Decoder(nn.Module):
    def __init__(self, output_dim, hid_dim):
        super().__init__()
        self.output_dim = output_dim
        self.embedding, self.rnn = nn.Embedding(output_dim, hid_dim), nn.GRU(hid_dim, hid_dim, batch_first=True)
        self.fc = nn.Linear(hid_dim, output_dim)

    def forward(self, token, hidden):
        out, hidden = self.rnn(self.embedding(token.unsqueeze(1)), hidden)
        return self.fc(out.squeeze(1)), hidden


class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, src, trg, teacher_forcing_ratio=0.5):
        _, hidden = self.encoder(src)
        outputs, token = [], trg[:, 0]
        for t in range(1, trg.shape[1]):
            out, hidden = self.decoder(token, hidden)
            outputs.append(out)
            token = trg[:, t]
        return torch.stack(outputs, 1)


class Bottleneck(nn.Module):
    expansion = 2

    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.a, self.b = nn.Conv2d(inplanes, planes, 3, stride, 1), nn.Conv2d(planes, planes * 2, 1)
        self.skip = nn.Conv2d(inplanes, planes * 2, 1, stride)

    def forward(self, x):
        return F.relu(self.b(F.relu(self.a(x))) + self.skip(x))


class ResNet(nn.Module):
    def __init__(self, block, layers, n_classes):
        super().__init__()
        self.width, self.stem = 16, nn.Conv2d(3, 16, 3, padding=1)
        self.stages = nn.Sequential(*[self.stage(block, 16 * 2**i, n) for i, n in enumerate(layers)])
        self.fc = nn.Linear(self.width, n_classes)

    def stage(self, block, planes, n):
        blocks = []
        for i in range(n):
            blocks.append(block(self.width, planes, 2 if i == 0 else 1))
            self.width = planes * block.expansion
        return nn.Sequential(*blocks)

    def forward(self, x):
        return self.fc(self.stages(self.stem(x)).mean((2, 3)))


class ConfigNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.d_model)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(cfg.d_model, cfg.n_heads, cfg.d_ff, batch_first=True)
            for _ in range(cfg.n_layers)
        )
        self.norm = nn.LayerNorm(cfg.d_model, eps=cfg.eps)
        self.head = nn.Linear(cfg.d_model, cfg.n_out)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class HParamsNet(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams
        self.l1 = nn.Linear(hparams.in_dim, hparams.hidden)
        self.drop = nn.Dropout(hparams.drop_prob)
        self.l2 = nn.Linear(hparams.hidden, hparams.out_dim)
        if hparams.pretrain:
            raise FileNotFoundError("checkpoint.ckpt")

    def forward(self, x):
        return self.l2(self.drop(F.relu(self.l1(x.flatten(1)))))


class DictConfigured(nn.Module):
    def __init__(self, params):
        super().__init__()
        self.conv = nn.Conv1d(params["n_channels"], params["filters"], params["kernel"])
        self.pool = nn.AdaptiveMaxPool1d(1)
        self.fc = nn.Linear(params["filters"], params.get("n_classes", 5))

    def forward(self, signal):
        return self.fc(self.pool(F.relu(self.conv(signal))).squeeze(-1))


@dataclass
class TowerConfig:
    n_ids: int
    dim: int
    hidden: list[int]


@dataclass
class PairConfig:
    query: TowerConfig
    item: TowerConfig
    scale: float = 1.0


class Tower(nn.Module):
    def __init__(self, config: TowerConfig):
        super().__init__()
        self.table = nn.EmbeddingBag(config.n_ids, config.dim)
        sizes = [config.dim, *config.hidden, 16]
        self.mlp = nn.Sequential(*[nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True)])

    def forward(self, ids):
        return self.mlp(self.table(ids))


class TwoTower(nn.Module):
    def __init__(self, config: PairConfig):
        super().__init__()
        self.query, self.item, self.scale = Tower(config.query), Tower(config.item), config.scale

    def forward(self, query_ids, item_ids):
        return (self.query(query_ids) * self.item(item_ids)).sum(-1) * self.scale


class Nested(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.stem = nn.Conv2d(cfg.data.channels, cfg.model.width, 3, padding=1)
        self.act = getattr(nn, cfg.model.activation)()
        self.blocks = nn.ModuleList(nn.Conv2d(cfg.model.width, cfg.model.width, 1) for _ in range(cfg.model.depth))
        self.head = nn.Linear(cfg.model.width, cfg.data.num_classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + self.act(block(x))
        return self.head(x.mean((2, 3)))


class Backboned(nn.Module):
    def __init__(self, backbone, n_classes, feat_dim):
        super().__init__()
        self.backbone, self.head = backbone, nn.Linear(feat_dim, n_classes)

    def forward(self, images):
        return self.head(self.backbone(images))


class Contrastive(nn.Module):
    def __init__(self, base_encoder, dim, temperature):
        super().__init__()
        self.encoder_q, self.encoder_k = base_encoder(num_classes=dim), base_encoder(num_classes=dim)
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters(), strict=True):
            k.requires_grad = False
            k.data.copy_(q.data)
        self.temperature = temperature

    def forward(self, im_q, im_k):
        q, k = F.normalize(self.encoder_q(im_q), dim=1), F.normalize(self.encoder_k(im_k), dim=1)
        return q @ k.t() / self.temperature


class Ensemble(nn.Module):
    def __init__(self, models):
        super().__init__()
        self.models = nn.ModuleList(models)

    def forward(self, x):
        return torch.stack([model(x) for model in self.models]).mean(0)


class FieldNet(nn.Module):
    def __init__(self, field_dims, emb, mlp_dims, dropout):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, emb) for n in field_dims)
        layers, width = [], len(field_dims) * emb
        for dim in mlp_dims:
            layers += [nn.Linear(width, dim), nn.ReLU(), nn.Dropout(dropout)]
            width = dim
        self.mlp = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x):
        return self.mlp(torch.cat([table(x[:, i]) for i, table in enumerate(self.tables)], 1))


class StageNet(nn.Module):
    def __init__(self, stages, norm_layer, num_out):
        super().__init__()
        layers, width = [], 3
        for out, stride in stages:
            layers += [nn.Conv2d(width, out, 3, stride, 1), norm_layer(out), nn.ReLU()]
            width = out
        self.features, self.out = nn.Sequential(*layers), nn.Linear(width, num_out)

    def forward(self, x):
        return self.out(self.features(x).mean((2, 3)))


class VocabModel(nn.Module):
    def __init__(self, vocab, tag2idx, dim):
        super().__init__()
        self.pad = vocab["<pad>"]
        self.embed = nn.Embedding(len(vocab), dim, padding_idx=self.pad)
        self.out = nn.Linear(dim, len(tag2idx))

    def forward(self, ids):
        mask = (ids != self.pad).float().unsqueeze(-1)
        return self.out(self.embed(ids) * mask)


class KnowledgeGraph(nn.Module):
    def __init__(self, triples_factory, embedding_dim, scoring):
        super().__init__()
        self.entity = nn.Embedding(triples_factory.num_entities, embedding_dim)
        self.relation = nn.Embedding(triples_factory.num_relations, embedding_dim)
        if scoring not in {"distmult", "transe"}:
            raise ValueError(f"scoring must be distmult or transe, not {scoring}")
        self.scoring = scoring

    def forward(self, h, r, t):
        h, r, t = self.entity(h), self.relation(r), self.entity(t)
        return (h * r * t).sum(-1) if self.scoring == "distmult" else -(h + r - t).norm(dim=-1)


def factory_net(arch, width, out):
    """A factory with a choice."""
    if arch not in ["wide", "deep"]:
        raise KeyError(arch)
    depth = 1 if arch == "wide" else 3
    return nn.Sequential(*[nn.Linear(width, width) for _ in range(depth)], nn.Linear(width, out))
