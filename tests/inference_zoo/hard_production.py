"""Hard: what competitions and companies put into production: tables, detection, several modalities, registries.

Long because it is a list of models.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = [
    "AnchorFreeDetector",
    "CLIPReranker",
    "DeepFM",
    "DocumentLayoutModel",
    "FTTransformer",
    "HierarchicalForecaster",
    "MMoE",
    "MetaArchitecture",
    "MultiScaleSegmenter",
    "MultimodalFusion",
    "SessionRecommender",
    "SiamTracker",
    "StereoMatcher",
    "TabularResNet",
    "VideoQA",
]


class AnchorFreeDetector(nn.Module):
    def __init__(self, backbone_channels: list[int], num_classes: int, fpn_channels: int = 64):
        super().__init__()
        self.num_classes = num_classes
        stem, self.stages, prev = nn.Conv2d(3, 16, 3, 2, 1), nn.ModuleList(), 16
        self.stem = stem
        for ch in backbone_channels:
            self.stages.append(nn.Sequential(nn.Conv2d(prev, ch, 3, 2, 1), nn.BatchNorm2d(ch), nn.SiLU()))
            prev = ch
        self.lateral = nn.ModuleList([nn.Conv2d(ch, fpn_channels, 1) for ch in backbone_channels])
        self.cls = nn.Conv2d(fpn_channels, num_classes, 3, padding=1)
        self.box = nn.Conv2d(fpn_channels, 4, 3, padding=1)

    def losses(self, logits, boxes, targets):
        total = logits.sum() * 0.0
        for i, target in enumerate(targets):
            onehot = F.one_hot(target["labels"], self.num_classes).float().amax(0)
            total = total + F.binary_cross_entropy_with_logits(logits[i].amax(0), onehot)
            total = total + (boxes[i][: len(target["boxes"])] - target["boxes"]).abs().mean()
        return {"loss": total}

    def forward(self, images: list[Tensor], targets: list[dict[str, Tensor]] | None = None):
        x = self.stem(torch.stack(images))
        feats = []
        for stage in self.stages:
            x = stage(x)
            feats.append(x)
        out = None
        logits, boxes = [], []
        for lateral, feat in zip(list(self.lateral)[::-1], feats[::-1], strict=False):
            p = lateral(feat)
            out = p if out is None else p + F.interpolate(out, size=p.shape[-2:])
            logits.append(self.cls(out).flatten(2).transpose(1, 2))
            boxes.append(self.box(out).flatten(2).transpose(1, 2).exp())
        logits, boxes = torch.cat(logits, 1), torch.cat(boxes, 1)
        if targets is not None:
            return self.losses(logits, boxes, targets)
        return [{"boxes": b, "scores": s.sigmoid()} for b, s in zip(boxes, logits, strict=False)]


class TowerConfig(NamedTuple):
    width: int
    layers: int
    heads: int


class TextTower(nn.Module):
    def __init__(self, vocab_size: int, context_length: int, cfg: TowerConfig):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, cfg.width)
        self.positional_embedding = nn.Parameter(torch.empty(context_length, cfg.width))
        nn.init.normal_(self.positional_embedding, std=0.01)
        self.blocks = nn.ModuleList(
            [nn.TransformerEncoderLayer(cfg.width, cfg.heads, batch_first=True) for _ in range(cfg.layers)]
        )

    def forward(self, text):
        x = self.token_embedding(text) + self.positional_embedding
        for block in self.blocks:
            x = block(x)
        return x[torch.arange(x.shape[0]), text.argmax(dim=-1)]


class CLIPReranker(nn.Module):
    def __init__(self, embed_dim: int, text_cfg: TowerConfig, vocab_size: int = 500, context_length: int = 20):
        super().__init__()
        self.text = TextTower(vocab_size, context_length, text_cfg)
        self.text_projection = nn.Linear(text_cfg.width, embed_dim)
        self.logit_scale = nn.Parameter(torch.ones([]))

    def forward(self, query, candidates, image_features):
        b, n, length = candidates.shape
        q = F.normalize(self.text_projection(self.text(query)), dim=-1)
        c = F.normalize(self.text_projection(self.text(candidates.view(b * n, length))), dim=-1).view(b, n, -1)
        i = F.normalize(image_features, dim=-1)
        return self.logit_scale.exp() * torch.einsum("bd,bnd->bn", q + i, c)


class DeepFM(nn.Module):
    def __init__(self, feature_columns, embed_dim=8, hidden_units=(64, 32), dropout=0.1):
        super().__init__()
        self.dense_feature_cols, self.sparse_feature_cols = feature_columns
        self.embed_layers = nn.ModuleDict(
            {
                "embed_" + str(i): nn.Embedding(feat["feat_num"], embed_dim)
                for i, feat in enumerate(self.sparse_feature_cols)
            }
        )
        width = len(self.dense_feature_cols) + len(self.sparse_feature_cols) * embed_dim
        sizes = [width, *hidden_units]
        self.dnn = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)])
        self.linear = nn.Linear(width, 1)
        self.final = nn.Linear(hidden_units[-1], 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        n_dense = len(self.dense_feature_cols)
        dense, sparse = x[:, :n_dense], x[:, n_dense:].long()
        embeds = torch.stack([self.embed_layers[f"embed_{i}"](sparse[:, i]) for i in range(sparse.shape[1])], dim=1)
        fm = 0.5 * (embeds.sum(1).pow(2) - embeds.pow(2).sum(1)).sum(1, keepdim=True)
        flat = torch.cat([embeds.flatten(1), dense], dim=-1)
        deep = flat
        for layer in self.dnn:
            deep = self.dropout(F.relu(layer(deep)))
        return torch.sigmoid(self.linear(flat) + fm + self.final(deep))


class DocumentLayoutModel(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        h = config["hidden_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], h)
        self.x_position_embeddings = nn.Embedding(config["max_2d_position_embeddings"], h)
        self.y_position_embeddings = nn.Embedding(config["max_2d_position_embeddings"], h)
        self.visual = nn.Conv2d(3, h, config["patch_size"], config["patch_size"])
        self.norm = nn.LayerNorm(h, eps=config.get("layer_norm_eps", 1e-5))
        layer = nn.TransformerEncoderLayer(
            h, config["num_attention_heads"], config["intermediate_size"], batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, config["num_hidden_layers"], enable_nested_tensor=False)
        self.classifier = nn.Linear(h, len(config["label2id"]))

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        ids, bbox = batch["input_ids"], batch["bbox"]
        x = self.word_embeddings(ids)
        x = x + self.x_position_embeddings(bbox[:, :, 0]) + self.y_position_embeddings(bbox[:, :, 1])
        x = x + self.x_position_embeddings(bbox[:, :, 2]) + self.y_position_embeddings(bbox[:, :, 3])
        v = self.visual(batch["pixel_values"]).flatten(2).transpose(1, 2)
        pad = batch["attention_mask"].eq(0)
        mask = torch.cat([pad, pad.new_zeros(v.shape[:2])], dim=1)
        h = self.encoder(self.norm(torch.cat([x, v], dim=1)), src_key_padding_mask=mask)
        return self.classifier(h[:, : ids.size(1)])


class FeatureTokenizer(nn.Module):
    def __init__(self, n_num_features: int, cat_cardinalities: list[int], d_token: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_num_features, d_token))
        self.bias = nn.Parameter(torch.randn(n_num_features, d_token))
        offsets = torch.tensor([0, *cat_cardinalities[:-1]]).cumsum(0)
        self.register_buffer("category_offsets", offsets)
        self.cat_embeddings = nn.Embedding(sum(cat_cardinalities), d_token)
        self.cls = nn.Parameter(torch.zeros(1, 1, d_token))

    def forward(self, x_num, x_cat):
        num = self.weight[None] * x_num[..., None] + self.bias[None]
        cat = self.cat_embeddings(x_cat + self.category_offsets[None])
        return torch.cat([self.cls.expand(len(num), -1, -1), num, cat], dim=1)


class FTTransformer(nn.Module):
    def __init__(self, *, n_num_features, cat_cardinalities, d_token, n_blocks, n_heads, d_out):
        super().__init__()
        self.tokenizer = FeatureTokenizer(n_num_features, cat_cardinalities, d_token)
        self.blocks = nn.ModuleList(
            [nn.TransformerEncoderLayer(d_token, n_heads, 2 * d_token, batch_first=True) for _ in range(n_blocks)]
        )
        self.head = nn.Sequential(nn.LayerNorm(d_token), nn.ReLU(), nn.Linear(d_token, d_out))

    def forward(self, x_num: Tensor, x_cat: Tensor) -> Tensor:
        x = self.tokenizer(x_num, x_cat)
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, 0])


class HierarchicalForecaster(nn.Module):
    def __init__(self, static_cardinalities, known_reals, observed_reals, hidden, horizon, quantiles=(0.1, 0.5, 0.9)):
        super().__init__()
        self.horizon = horizon
        self.static_embeddings = nn.ModuleList([nn.Embedding(n, hidden) for n in static_cardinalities])
        self.past = nn.LSTM(len(known_reals) + len(observed_reals), hidden, batch_first=True)
        self.future = nn.LSTM(len(known_reals), hidden, batch_first=True)
        self.gate = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, len(quantiles))

    def forward(self, x: dict[str, Tensor]):
        static = sum(emb(x["static_categoricals"][:, i]) for i, emb in enumerate(self.static_embeddings))
        past = torch.cat([x["past_known"], x["past_observed"]], dim=-1)
        state = (static.unsqueeze(0), torch.zeros_like(static).unsqueeze(0))
        _, state = self.past(past, state)
        out, _ = self.future(x["future_known"], state)
        assert out.size(1) == self.horizon, f"expected {self.horizon} future steps, got {out.size(1)}"
        return self.out(out * self.gate(out).sigmoid())


BACKBONES = {}
HEADS = {}


def register(registry):
    def wrap(cls):
        registry[cls.__name__] = cls
        return cls

    return wrap


@register(BACKBONES)
class TinyConvNet(nn.Module):
    def __init__(self, in_channels, widths, norm_cfg=None):
        if norm_cfg is None:
            norm_cfg = {"type": "BN"}
        super().__init__()
        norms = {"BN": nn.BatchNorm2d, "IN": nn.InstanceNorm2d}
        self.layers = nn.ModuleList()
        for width in widths:
            self.layers.append(
                nn.Sequential(nn.Conv2d(in_channels, width, 3, 2, 1), norms[norm_cfg["type"]](width), nn.ReLU())
            )
            in_channels = width
        self.out_channels = in_channels

    def forward(self, x):
        outs = []
        for layer in self.layers:
            x = layer(x)
            outs.append(x)
        return tuple(outs)


@register(HEADS)
class LinearHead(nn.Module):
    def __init__(self, in_channels, num_classes, dropout_ratio=0.0):
        super().__init__()
        self.fc = nn.Linear(in_channels, num_classes)
        self.dropout = nn.Dropout(dropout_ratio)

    def forward(self, feats):
        return self.fc(self.dropout(feats[-1].mean((2, 3))))


def build_from_cfg(cfg, registry, **default_args):
    args = copy.deepcopy(cfg)
    cls = registry[args.pop("type")]
    return cls(**args, **default_args)


class MetaArchitecture(nn.Module):
    def __init__(self, backbone, head, train_cfg=None, test_cfg=None):
        super().__init__()
        self.backbone = build_from_cfg(backbone, BACKBONES)
        self.head = build_from_cfg(head, HEADS, in_channels=self.backbone.out_channels)

    def forward(self, img, img_metas=None, return_loss=False):
        return self.head(self.backbone(img))


class MMoE(nn.Module):
    def __init__(self, feature_dict, emb_dim, n_expert, expert_hidden, tower_hidden, tasks):
        super().__init__()
        self.features = feature_dict
        self.emb = nn.ModuleDict({name: nn.Embedding(size, emb_dim) for name, size in feature_dict.items()})
        width = emb_dim * len(feature_dict)
        self.experts = nn.ModuleList([nn.Linear(width, expert_hidden) for _ in range(n_expert)])
        self.gates = nn.ModuleDict({task: nn.Linear(width, n_expert) for task in tasks})
        self.towers = nn.ModuleDict(
            {
                task: nn.Sequential(nn.Linear(expert_hidden, tower_hidden), nn.ReLU(), nn.Linear(tower_hidden, 1))
                for task in tasks
            }
        )

    def forward(self, inputs):
        x = torch.cat([self.emb[name](inputs[name]) for name in self.features], dim=-1)
        experts = torch.stack([F.relu(expert(x)) for expert in self.experts], dim=1)
        out = {}
        for task, gate in self.gates.items():
            weights = gate(x).softmax(-1).unsqueeze(1)
            out[task] = torch.sigmoid(self.towers[task]((weights @ experts).squeeze(1)))
        return out


class MultiScaleSegmenter(nn.Module):
    def __init__(self, encoder, decoder_channels: Sequence[int], classes: int, aux: bool = False):
        super().__init__()
        self.encoder = encoder
        enc = list(encoder.out_channels)[1:][::-1]
        ins = [enc[0], *decoder_channels[:-1]]
        skips = [*enc[1:], 0]
        self.blocks = nn.ModuleList(
            [nn.Conv2d(i + s, o, 3, padding=1) for i, s, o in zip(ins, skips, decoder_channels, strict=False)]
        )
        self.head = nn.Conv2d(decoder_channels[-1], classes, 1)

    def forward(self, x):
        feats = self.encoder(x)[1:][::-1]
        y, skips = feats[0], feats[1:]
        for i, block in enumerate(self.blocks):
            y = F.interpolate(y, scale_factor=2.0)
            if i < len(skips):
                y = torch.cat([y, skips[i]], dim=1)
            y = F.relu(block(y))
        return self.head(y)


class Modality(StrEnum):
    TEXT = "text"
    AUDIO = "audio"
    VISION = "vision"


class MultimodalFusion(nn.Module):
    def __init__(self, orig_dims: dict[str, int], output_dim: int, proj_dim: int = 30, num_heads: int = 5):
        super().__init__()
        self.proj = nn.ModuleDict({m: nn.Conv1d(d, proj_dim, 1, bias=False) for m, d in orig_dims.items()})
        self.cross = nn.ModuleDict({m: nn.MultiheadAttention(proj_dim, num_heads, batch_first=True) for m in orig_dims})
        self.out = nn.Linear(len(orig_dims) * proj_dim, output_dim)

    def forward(self, features: dict[str, Tensor], masks: dict[str, Tensor] | None = None):
        z = {m: self.proj[m](x.transpose(1, 2)).transpose(1, 2) for m, x in features.items()}
        pooled = []
        for m, query in z.items():
            context = torch.cat([v for k, v in z.items()], dim=1)
            pooled.append(self.cross[m](query, context, context)[0].mean(1))
        return self.out(torch.cat(pooled, dim=-1))


class SessionRecommender(nn.Module):
    def __init__(self, opt, n_node):
        super().__init__()
        self.hidden_size, self.n_node, self.step = opt.hidden_size, n_node, opt.step
        self.nonhybrid = opt.nonhybrid
        self.embedding = nn.Embedding(n_node, self.hidden_size)
        self.edge_in = nn.Linear(self.hidden_size, self.hidden_size)
        self.edge_out = nn.Linear(self.hidden_size, self.hidden_size)
        self.cell = nn.GRUCell(2 * self.hidden_size, self.hidden_size)
        self.q1, self.q2 = nn.Linear(self.hidden_size, self.hidden_size), nn.Linear(self.hidden_size, self.hidden_size)
        self.q3 = nn.Linear(self.hidden_size, 1, bias=False)
        self.merge = nn.Linear(2 * self.hidden_size, self.hidden_size)

    def forward(self, alias_inputs, items, A, mask):
        h = self.embedding(items)
        n = A.shape[1]
        for _ in range(self.step):
            a_in, a_out = A[:, :, :n] @ self.edge_in(h), A[:, :, n : 2 * n] @ self.edge_out(h)
            inputs = torch.cat([a_in, a_out], 2)
            h = self.cell(inputs.flatten(0, 1), h.flatten(0, 1)).view_as(h)
        seq = torch.stack([h[i][alias_inputs[i]] for i in range(len(alias_inputs))])
        last = seq[torch.arange(mask.shape[0]).long(), torch.sum(mask, 1) - 1]
        alpha = self.q3(torch.sigmoid(self.q1(last)[:, None] + self.q2(seq)))
        a = torch.sum(alpha * seq * mask.view(mask.shape[0], -1, 1).float(), 1)
        if not self.nonhybrid:
            a = self.merge(torch.cat([a, last], 1))
        return a @ self.embedding.weight[1:].t()


class SiamTracker(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        ch = cfg.BACKBONE.CHANNELS
        self.backbone = nn.Sequential(nn.Conv2d(3, ch, 7, 4), nn.ReLU(), nn.Conv2d(ch, ch, 3, 2), nn.ReLU())
        self.anchor_num = len(cfg.ANCHOR.RATIOS) * len(cfg.ANCHOR.SCALES)
        self.cls_head = nn.Conv2d(ch, 2 * self.anchor_num, 1)
        self.loc_head = nn.Conv2d(ch, 4 * self.anchor_num, 1)
        if cfg.ADJUST.ADJUST:
            self.neck = nn.Conv2d(ch, ch, 1)
        self.has_neck = cfg.ADJUST.ADJUST

    def xcorr(self, x, kernel):
        b, c = x.shape[:2]
        out = F.conv2d(x.reshape(1, b * c, *x.shape[2:]), kernel.reshape(b * c, 1, *kernel.shape[2:]), groups=b * c)
        return out.view(b, c, *out.shape[2:])

    def forward(self, data):
        z, x = self.backbone(data["template"]), self.backbone(data["search"])
        if self.has_neck:
            z, x = self.neck(z), self.neck(x)
        corr = self.xcorr(x, z)
        cls = self.cls_head(corr)
        b, a2, h, w = cls.size()
        cls = cls.view(b, 2, a2 // 2, h, w).permute(0, 2, 3, 4, 1).log_softmax(dim=4)
        return {"cls": cls, "loc": self.loc_head(corr)}


class StereoMatcher(nn.Module):
    def __init__(self, maxdisp, feat_ch=16):
        super().__init__()
        assert maxdisp % 4 == 0, "maxdisp has to be a multiple of 4"
        self.maxdisp = maxdisp
        self.feature = nn.Sequential(nn.Conv2d(3, feat_ch, 3, 2, 1), nn.ReLU(), nn.Conv2d(feat_ch, feat_ch, 3, 2, 1))
        self.cost = nn.Sequential(nn.Conv3d(2 * feat_ch, 16, 3, 1, 1), nn.ReLU(), nn.Conv3d(16, 1, 3, 1, 1))

    def forward(self, left, right):
        fl, fr = self.feature(left), self.feature(right)
        b, c, h, w = fl.shape
        volume = fl.new_zeros(b, 2 * c, self.maxdisp // 4, h, w)
        for i in range(self.maxdisp // 4):
            if i > 0:
                volume[:, :c, i, :, i:] = fl[:, :, :, i:]
                volume[:, c:, i, :, i:] = fr[:, :, :, :-i]
            else:
                volume[:, :c, i], volume[:, c:, i] = fl, fr
        cost = F.interpolate(self.cost(volume), [self.maxdisp, left.size(2), left.size(3)], mode="trilinear").squeeze(1)
        disp = torch.arange(self.maxdisp, device=cost.device).view(1, -1, 1, 1)
        return (cost.softmax(dim=1) * disp).sum(1)


class TabularResNet(nn.Module):
    def __init__(self, cat_idxs, cat_dims, cat_emb_dims, input_dim, out_dim, hidden=64, n_blocks=2):
        super().__init__()
        self.cat_idxs = cat_idxs
        self.embs = nn.ModuleList([nn.Embedding(n, d) for n, d in zip(cat_dims, cat_emb_dims, strict=False)])
        mask = torch.ones(input_dim, dtype=torch.bool)
        mask[cat_idxs] = 0
        self.register_buffer("continuous_idx", mask)
        self.inp = nn.Linear(int(input_dim - len(cat_idxs) + sum(cat_emb_dims)), hidden)
        self.blocks = nn.ModuleList(
            [nn.Sequential(nn.BatchNorm1d(hidden), nn.Linear(hidden, hidden), nn.ReLU()) for _ in range(n_blocks)]
        )
        self.out = nn.Linear(hidden, out_dim)

    def forward(self, x):
        cols = [emb(x[:, i].long()) for i, emb in zip(self.cat_idxs, self.embs, strict=False)]
        h = self.inp(torch.cat([x[:, self.continuous_idx], *cols], dim=1))
        for block in self.blocks:
            h = h + block(h)
        return self.out(h)


class VideoQA(nn.Module):
    def __init__(self, vocab, answer_list, video_dim, hidden, n_clips):
        super().__init__()
        self.n_clips = n_clips
        self.word = nn.Embedding(len(vocab), hidden)
        self.q_rnn = nn.LSTM(hidden, hidden, batch_first=True)
        self.v_fc = nn.Linear(video_dim, hidden)
        self.clip_pos = nn.Embedding(n_clips, hidden)
        self.attn = nn.MultiheadAttention(hidden, 4, batch_first=True)
        self.cls = nn.Linear(2 * hidden, len(answer_list))

    def forward(self, inputs: tuple[Tensor, Tensor, Tensor]):
        video, question, question_len = inputs
        B, n, f, _ = video.shape
        assert n == self.n_clips
        q, _ = self.q_rnn(self.word(question))
        q = q[torch.arange(B), question_len - 1]
        v = self.v_fc(video).mean(2) + self.clip_pos.weight
        ctx = self.attn(q.unsqueeze(1), v, v)[0].squeeze(1)
        return self.cls(torch.cat([q, ctx], dim=-1))
