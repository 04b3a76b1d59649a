"""Hard: models of products, with tables, sessions, regions and several towers."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "BehaviorSequenceRanker",
    "ColumnEncoderTable",
    "ContrastiveTwoTower",
    "LaneDetector",
    "LateFusionDriver",
    "MelanomaWithMeta",
    "PromptableSegmenter",
    "RegionCaptioner",
    "UpliftNet",
    "WaveToUnits",
]


class BehaviorSequenceRanker(nn.Module):
    def __init__(self, feature_map: dict, embedding_dim: int = 16, attention_units: tuple[int, ...] = (32,)):
        super().__init__()
        self.fields = list(feature_map)
        self.embeddings = nn.ModuleDict(
            {k: nn.Embedding(v["vocab_size"], embedding_dim) for k, v in feature_map.items()}
        )
        self.attention = nn.Sequential(
            nn.Linear(4 * embedding_dim, attention_units[0]), nn.PReLU(), nn.Linear(attention_units[0], 1)
        )
        self.item = nn.Embedding(1000, embedding_dim, padding_idx=0)
        self.out = nn.Linear((len(feature_map) + 2) * embedding_dim, 1)

    def forward(self, profile: dict[str, torch.Tensor], target_item, hist_items, hist_len):
        user = [self.embeddings[k](profile[k]) for k in self.fields]
        q, k = self.item(target_item), self.item(hist_items)
        qs = q.unsqueeze(1).expand_as(k)
        w = self.attention(torch.cat([qs, k, qs - k, qs * k], -1)).squeeze(-1)
        valid = torch.arange(hist_items.size(1), device=w.device)[None, :] < hist_len[:, None]
        interest = (w.masked_fill(~valid, 0.0).unsqueeze(-1) * k).sum(1)
        return torch.sigmoid(self.out(torch.cat([*user, q, interest], -1)))


@dataclass
class Column:
    name: str
    kind: t.Literal["numeric", "categorical"]
    size: int = 1


@dataclass
class TableSchema:
    columns: list[Column]
    target_size: int = 1
    width: int = 32


class ColumnEncoderTable(nn.Module):
    def __init__(self, schema: TableSchema):
        super().__init__()
        self.schema = schema
        self.encoders = nn.ModuleDict()
        for column in schema.columns:
            if column.kind == "categorical":
                self.encoders[column.name] = nn.Embedding(column.size + 1, schema.width)
            else:
                self.encoders[column.name] = nn.Linear(column.size, schema.width)
        self.mixer = nn.TransformerEncoderLayer(schema.width, 4, 64, batch_first=True)
        self.head = nn.Linear(schema.width, schema.target_size)

    def forward(self, table: t.Mapping[str, torch.Tensor]) -> torch.Tensor:
        tokens = [self.encoders[c.name](table[c.name]) for c in self.schema.columns]
        return self.head(self.mixer(torch.stack(tokens, dim=1)).mean(1))


class ContrastiveTwoTower(nn.Module):
    def __init__(self, query_tower: nn.Module, item_tower: nn.Module, temperature: float = 0.05):
        super().__init__()
        self.query_tower, self.item_tower, self.temperature = query_tower, item_tower, temperature

    def forward(self, query, item, negatives=None):
        q = F.normalize(self.query_tower(query), dim=-1)
        i = F.normalize(self.item_tower(item), dim=-1)
        return q @ i.t() / self.temperature


class LaneDetector(nn.Module):
    def __init__(self, size=(288, 800), cls_dim=(37, 10, 4), use_aux=False):
        super().__init__()
        self.cls_dim, self.use_aux = cls_dim, use_aux
        self.total_dim = cls_dim[0] * cls_dim[1] * cls_dim[2]
        self.model = nn.Sequential(
            nn.Conv2d(3, 16, 7, 4, 3), nn.ReLU(), nn.Conv2d(16, 32, 3, 4, 1), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1)
        )
        self.pool = nn.Conv2d(64, 8, 1)
        self.in_dim = 8 * (size[0] // 32) * (size[1] // 32)
        self.cls = nn.Sequential(nn.Linear(self.in_dim, 128), nn.ReLU(), nn.Linear(128, self.total_dim))

    def forward(self, x):
        fea = self.pool(self.model(x)).view(-1, self.in_dim)
        return self.cls(fea).view(-1, *self.cls_dim)


class LateFusionDriver(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.image_encoder = nn.Sequential(
            nn.Conv2d(3, 16, 5, 4), nn.ReLU(), nn.Conv2d(16, config.perception.features, 5, 4)
        )
        self.lidar_encoder = nn.Sequential(
            nn.Conv2d(config.perception.lidar_channels, 16, 5, 4),
            nn.ReLU(),
            nn.Conv2d(16, config.perception.features, 5, 4),
        )
        self.measure = nn.Linear(config.num_commands + 1, config.perception.features)
        self.join = nn.Linear(config.perception.features * 3, config.planner.hidden)
        self.decoder = nn.GRUCell(2 + 2, config.planner.hidden)
        self.output = nn.Linear(config.planner.hidden, 2)

    def forward(self, image_list, lidar_list, target_point, velocity, command):
        images = torch.stack([self.image_encoder(x).mean((2, 3)) for x in image_list], 1).mean(1)
        lidars = torch.stack([self.lidar_encoder(x).mean((2, 3)) for x in lidar_list], 1).mean(1)
        m = self.measure(torch.cat([velocity.unsqueeze(1), F.one_hot(command, self.config.num_commands).float()], 1))
        z = self.join(torch.cat([images, lidars, m], 1))
        x, wps = torch.zeros_like(target_point), []
        for _ in range(self.config.planner.pred_len):
            z = self.decoder(torch.cat([x, target_point], 1), z)
            x = x + self.output(z)
            wps.append(x)
        return torch.stack(wps, 1)


class MelanomaWithMeta(nn.Module):
    def __init__(self, arch, n_meta_features: int, out_dim: int):
        super().__init__()
        self.arch = arch
        self.arch.fc = nn.Identity()
        self.meta = nn.Sequential(nn.Linear(n_meta_features, 64), nn.BatchNorm1d(64), nn.SiLU(), nn.Dropout(p=0.3))
        self.ouput = nn.LazyLinear(out_dim)

    def forward(self, inputs):
        x, meta = inputs
        cnn_features = self.arch(x)
        if cnn_features.dim() == 4:
            cnn_features = cnn_features.mean((2, 3))
        return self.ouput(torch.cat((cnn_features, self.meta(meta)), dim=1))


class PromptableSegmenter(nn.Module):
    def __init__(
        self, image_size: int, patch: int, dim: int, depth: int, num_heads: int, num_multimask_outputs: int = 3
    ):
        super().__init__()
        self.image_size, self.grid = image_size, image_size // patch
        self.patchify = nn.Conv2d(3, dim, patch, patch)
        self.pos = nn.Parameter(torch.zeros(1, self.grid**2, dim))
        self.blocks = nn.ModuleList(
            [nn.TransformerEncoderLayer(dim, num_heads, batch_first=True) for _ in range(depth)]
        )
        self.register_buffer("gauss", torch.randn(2, dim // 2))
        self.label_embed = nn.Embedding(2, dim)
        self.mask_tokens = nn.Parameter(torch.zeros(num_multimask_outputs, dim))
        self.cross = nn.MultiheadAttention(dim, num_heads, batch_first=True)

    def forward(self, image: torch.Tensor, point_coords: torch.Tensor, point_labels: torch.Tensor):
        x = self.patchify(image).flatten(2).transpose(1, 2) + self.pos
        for block in self.blocks:
            x = block(x)
        coords = (2 * point_coords / self.image_size - 1) @ self.gauss
        prompt = torch.cat([coords.sin(), coords.cos()], -1) + self.label_embed(point_labels)
        tokens = torch.cat([self.mask_tokens.expand(x.size(0), -1, -1), prompt], 1)
        tokens = self.cross(tokens, x, x)[0][:, : self.mask_tokens.size(0)]
        return (tokens @ x.transpose(1, 2)).unflatten(-1, (self.grid, self.grid))


class RegionCaptioner(nn.Module):
    def __init__(self, word_map, attention_dim, embed_dim, decoder_dim, features_dim=2048, dropout=0.5):
        super().__init__()
        self.vocab_size = len(word_map)
        self.embedding = nn.Embedding(self.vocab_size, embed_dim)
        self.enc_att, self.dec_att = nn.Linear(features_dim, attention_dim), nn.Linear(decoder_dim, attention_dim)
        self.full_att = nn.Linear(attention_dim, 1)
        self.decode_step = nn.LSTMCell(embed_dim + features_dim, decoder_dim)
        self.init_h, self.init_c = nn.Linear(features_dim, decoder_dim), nn.Linear(features_dim, decoder_dim)
        self.fc = nn.Linear(decoder_dim, self.vocab_size)

    def forward(self, image_features, encoded_captions, caption_lengths):
        batch_size = image_features.size(0)
        caption_lengths, sort_ind = caption_lengths.squeeze(1).sort(dim=0, descending=True)
        image_features, encoded_captions = image_features[sort_ind], encoded_captions[sort_ind]
        embeddings = self.embedding(encoded_captions)
        mean = image_features.mean(1)
        h, c = self.init_h(mean), self.init_c(mean)
        decode_lengths = (caption_lengths - 1).tolist()
        predictions = torch.zeros(batch_size, max(decode_lengths), self.vocab_size)
        for step in range(max(decode_lengths)):
            n = sum([length > step for length in decode_lengths])
            att = self.full_att(torch.tanh(self.enc_att(image_features[:n]) + self.dec_att(h[:n]).unsqueeze(1)))
            context = (image_features[:n] * att.softmax(1)).sum(1)
            h, c = self.decode_step(torch.cat([embeddings[:n, step], context], dim=1), (h[:n], c[:n]))
            predictions[:n, step] = self.fc(h)
        return predictions, encoded_captions, decode_lengths, sort_ind


class UpliftNet(nn.Module):
    def __init__(self, input_size: int, treatments: t.Sequence[str], shared: t.Sequence[int], outcome: t.Sequence[int]):
        super().__init__()

        def block(sizes):
            return nn.Sequential(
                *[m for a, b in zip(sizes, sizes[1:], strict=False) for m in (nn.Linear(a, b), nn.ELU())]
            )

        self.representation = block([input_size, *shared])
        self.heads = nn.ModuleDict(
            {name: nn.Sequential(block([shared[-1], *outcome]), nn.Linear(outcome[-1], 1)) for name in treatments}
        )
        self.propensity = nn.Linear(shared[-1], len(treatments))

    def forward(self, features: torch.Tensor, treatment: torch.Tensor):
        phi = self.representation(features)
        outcomes = torch.cat([head(phi) for head in self.heads.values()], dim=1)
        return outcomes.gather(1, treatment.unsqueeze(1)), self.propensity(phi)


class WaveToUnits(nn.Module):
    def __init__(
        self,
        conv_layers: list[tuple[int, int, int]],
        embed_dim: int,
        num_units: int,
        layers: int = 2,
        heads: int = 4,
    ):
        super().__init__()
        self.convs, prev = nn.ModuleList(), 1
        for dim, k, stride in conv_layers:
            self.convs.append(nn.Sequential(nn.Conv1d(prev, dim, k, stride=stride, bias=False), nn.GELU()))
            prev = dim
        self.strides = [(k, s) for _, k, s in conv_layers]
        self.proj = nn.Linear(prev, embed_dim)
        self.mask_emb = nn.Parameter(torch.zeros(embed_dim))
        self.encoder = nn.ModuleList(
            [nn.TransformerEncoderLayer(embed_dim, heads, batch_first=True) for _ in range(layers)]
        )
        self.units = nn.Linear(embed_dim, num_units)

    def out_lengths(self, lengths):
        for k, s in self.strides:
            lengths = torch.div(lengths - k, s, rounding_mode="floor") + 1
        return lengths

    def forward(self, source: torch.Tensor, wav_lens: torch.Tensor, mask_prob: float = 0.0):
        x = source.unsqueeze(1)
        for conv in self.convs:
            x = conv(x)
        x = self.proj(x.transpose(1, 2))
        lens = self.out_lengths(wav_lens)
        pad = torch.arange(x.size(1), device=x.device)[None] >= lens[:, None]
        for layer in self.encoder:
            x = layer(x, src_key_padding_mask=pad)
        return self.units(x), lens
