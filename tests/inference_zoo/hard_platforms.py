"""Hard: from platforms of companies and from competitions: registries, feature tables, sequences, fusion.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "PLE",
    "BiEncoder",
    "ConformerEncoder",
    "Darknet",
    "DeepInterest",
    "FPNHead",
    "Informer",
    "MixedInputModel",
    "ProductMatcher",
    "SASRec",
    "WhaleNet",
]


class MixedInputModel(nn.Module):
    def __init__(self, emb_szs, n_cont, emb_drop, out_sz, szs, drops, use_bn=True):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(c, s) for c, s in emb_szs])
        n_emb = sum(e.embedding_dim for e in self.embs)
        self.n_emb, self.n_cont = n_emb, n_cont
        szs = [n_emb + n_cont, *szs]
        self.lins = nn.ModuleList([nn.Linear(szs[i], szs[i + 1]) for i in range(len(szs) - 1)])
        self.bns = nn.ModuleList([nn.BatchNorm1d(sz) for sz in szs[1:]])
        self.outp = nn.Linear(szs[-1], out_sz)
        self.emb_drop = nn.Dropout(emb_drop)
        self.drops = nn.ModuleList([nn.Dropout(drop) for drop in drops])
        self.bn = nn.BatchNorm1d(n_cont)
        self.use_bn = use_bn

    def forward(self, x_cat, x_cont):
        if self.n_emb != 0:
            x = torch.cat([e(x_cat[:, i]) for i, e in enumerate(self.embs)], 1)
            x = self.emb_drop(x)
        if self.n_cont != 0:
            x2 = self.bn(x_cont)
            x = torch.cat([x, x2], 1) if self.n_emb != 0 else x2
        for lin, drop, bn in zip(self.lins, self.drops, self.bns, strict=False):
            x = F.relu(lin(x))
            if self.use_bn:
                x = bn(x)
            x = drop(x)
        return self.outp(x)


HEADS = {}


def register(cls):
    HEADS[cls.__name__] = cls
    return cls


def build_norm_layer(cfg, num_features):
    layers = {"BN": nn.BatchNorm2d, "GN": lambda c: nn.GroupNorm(8, c)}
    cfg = dict(cfg)
    kind = cfg.pop("type")
    if kind not in layers:
        raise KeyError(f"Unrecognized norm type {kind}")
    return layers[kind](num_features)


@register
class FPNHead(nn.Module):
    def __init__(
        self, in_channels, feature_strides, channels, num_classes, norm_cfg=dict(type="BN"), align_corners=False
    ):
        super().__init__()
        assert len(feature_strides) == len(in_channels)
        assert min(feature_strides) == feature_strides[0]
        self.feature_strides = feature_strides
        self.align_corners = align_corners
        self.scale_heads = nn.ModuleList()
        for i in range(len(feature_strides)):
            head_length = max(1, int(math.log2(feature_strides[i]) - math.log2(feature_strides[0])))
            layers = []
            for k in range(head_length):
                layers += [
                    nn.Conv2d(in_channels[i] if k == 0 else channels, channels, 3, padding=1),
                    build_norm_layer(norm_cfg, channels),
                    nn.ReLU(inplace=True),
                ]
                if feature_strides[i] != feature_strides[0]:
                    layers.append(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=align_corners))
            self.scale_heads.append(nn.Sequential(*layers))
        self.conv_seg = nn.Conv2d(channels, num_classes, 1)

    def forward(self, inputs):
        output = self.scale_heads[0](inputs[0])
        for i in range(1, len(self.feature_strides)):
            output = output + F.interpolate(
                self.scale_heads[i](inputs[i]), size=output.shape[2:], mode="bilinear", align_corners=self.align_corners
            )
        return self.conv_seg(output)


class SASRec(nn.Module):
    def __init__(self, user_num, item_num, args):
        super().__init__()
        self.user_num = user_num
        self.item_num = item_num
        self.dev = args.device
        self.item_emb = nn.Embedding(self.item_num + 1, args.hidden_units, padding_idx=0)
        self.pos_emb = nn.Embedding(args.maxlen, args.hidden_units)
        self.emb_dropout = nn.Dropout(p=args.dropout_rate)
        self.attention_layers = nn.ModuleList()
        self.forward_layers = nn.ModuleList()
        for _ in range(args.num_blocks):
            self.attention_layers.append(nn.MultiheadAttention(args.hidden_units, args.num_heads, args.dropout_rate))
            self.forward_layers.append(nn.Sequential(nn.Conv1d(args.hidden_units, args.hidden_units, 1), nn.ReLU()))
        self.last_layernorm = nn.LayerNorm(args.hidden_units, eps=1e-8)

    def log2feats(self, log_seqs):
        seqs = self.item_emb(log_seqs) * self.item_emb.embedding_dim**0.5
        poss = torch.arange(log_seqs.shape[1], device=log_seqs.device).unsqueeze(0).expand_as(log_seqs)
        seqs = self.emb_dropout(seqs + self.pos_emb(poss))
        timeline_mask = log_seqs == 0
        seqs = seqs * ~timeline_mask.unsqueeze(-1)
        tl = seqs.shape[1]
        attention_mask = ~torch.tril(torch.ones((tl, tl), dtype=torch.bool, device=log_seqs.device))
        for attn, ffn in zip(self.attention_layers, self.forward_layers, strict=True):
            seqs = torch.transpose(seqs, 0, 1)
            out, _ = attn(seqs, seqs, seqs, attn_mask=attention_mask)
            seqs = torch.transpose(seqs + out, 0, 1)
            seqs = seqs + ffn(seqs.transpose(-1, -2)).transpose(-1, -2)
        return self.last_layernorm(seqs)

    def forward(self, user_ids, log_seqs, pos_seqs, neg_seqs):
        log_feats = self.log2feats(log_seqs)
        pos_logits = (log_feats * self.item_emb(pos_seqs)).sum(dim=-1)
        neg_logits = (log_feats * self.item_emb(neg_seqs)).sum(dim=-1)
        return pos_logits, neg_logits


class ExpertLayer(nn.Module):
    def __init__(self, in_features, expert_dims, n_expert):
        super().__init__()
        self.experts = nn.ModuleList(
            [nn.Sequential(nn.Linear(in_features, expert_dims), nn.ReLU()) for _ in range(n_expert)]
        )

    def forward(self, x):
        return [expert(x) for expert in self.experts]


class PLE(nn.Module):
    def __init__(
        self,
        sparse_features: dict,
        dense_features: list,
        n_task,
        n_expert_specific,
        n_expert_shared,
        expert_dims,
        tower_dims,
    ):
        super().__init__()
        self.sparse_features, self.dense_features = sparse_features, dense_features
        self.embeds = nn.ModuleDict({name: nn.Embedding(n, 8) for name, n in sparse_features.items()})
        dims = 8 * len(sparse_features) + len(dense_features)
        self.specific = nn.ModuleList([ExpertLayer(dims, expert_dims, n_expert_specific) for _ in range(n_task)])
        self.shared = ExpertLayer(dims, expert_dims, n_expert_shared)
        self.gates = nn.ModuleList([nn.Linear(dims, n_expert_specific + n_expert_shared) for _ in range(n_task)])
        self.towers = nn.ModuleList()
        for _ in range(n_task):
            layers, last = [], expert_dims
            for d in tower_dims:
                layers += [nn.Linear(last, d), nn.ReLU(), nn.Dropout(0.1)]
                last = d
            self.towers.append(nn.Sequential(*layers, nn.Linear(last, 1), nn.Sigmoid()))

    def forward(self, features):
        sparse = [self.embeds[name](features[name].long()) for name in self.sparse_features]
        dense = [features[name].float().unsqueeze(-1) for name in self.dense_features]
        x = torch.cat([*sparse, *dense], dim=-1)
        shared = self.shared(x)
        out = []
        for specific, gate, tower in zip(self.specific, self.gates, self.towers, strict=True):
            experts = torch.stack([*specific(x), *shared], dim=1)
            mixed = (gate(x).softmax(-1).unsqueeze(-1) * experts).sum(1)
            out.append(tower(mixed))
        return torch.cat(out, dim=1)


class ConvSubsampling(nn.Module):
    def __init__(self, out_channels):
        super().__init__()
        self.sequential = nn.Sequential(
            nn.Conv2d(1, out_channels, 3, stride=2),
            nn.ReLU(),
            nn.Conv2d(out_channels, out_channels, 3, stride=2),
            nn.ReLU(),
        )

    def forward(self, inputs, input_lengths):
        out = self.sequential(inputs.unsqueeze(1))
        b, c, t, d = out.size()
        out = out.permute(0, 2, 1, 3).contiguous().view(b, t, c * d)
        return out, (input_lengths >> 2) - 1


class ConformerBlock(nn.Module):
    def __init__(self, d, heads, kernel):
        super().__init__()
        assert (kernel - 1) % 2 == 0, "kernel_size should be a odd number for 'SAME' padding"
        self.ff1 = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d))
        self.norm = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.conv = nn.Sequential(
            nn.Conv1d(d, 2 * d, 1),
            nn.GLU(dim=1),
            nn.Conv1d(d, d, kernel, padding=(kernel - 1) // 2, groups=d),
            nn.SiLU(),
        )
        self.ff2 = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d))

    def forward(self, x, mask):
        x = x + 0.5 * self.ff1(x)
        y = self.norm(x)
        x = x + self.attn(y, y, y, key_padding_mask=mask)[0]
        x = x + self.conv(x.transpose(1, 2)).transpose(1, 2)
        return x + 0.5 * self.ff2(x)


class ConformerEncoder(nn.Module):
    def __init__(self, num_classes, input_dim, encoder_dim, num_layers, num_attention_heads, conv_kernel_size):
        super().__init__()
        self.conv_subsample = ConvSubsampling(encoder_dim)
        self.input_projection = nn.Linear(encoder_dim * (((input_dim - 1) // 2 - 1) // 2), encoder_dim)
        self.layers = nn.ModuleList(
            [ConformerBlock(encoder_dim, num_attention_heads, conv_kernel_size) for _ in range(num_layers)]
        )
        self.fc = nn.Linear(encoder_dim, num_classes, bias=False)

    def forward(self, inputs, input_lengths):
        x, lengths = self.conv_subsample(inputs, input_lengths)
        x = self.input_projection(x)
        mask = torch.arange(x.size(1), device=x.device)[None] >= lengths[:, None]
        for layer in self.layers:
            x = layer(x, mask)
        return self.fc(x).log_softmax(-1), lengths


@dataclass
class EncoderArgs:
    vocab_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    max_position: int
    pad_token_id: int = 0


@dataclass
class BiEncoderArgs:
    encoder: EncoderArgs
    pooling: str
    share_weights: bool = True
    temperature: float = 0.05
    projection_dims: list[int] = field(default_factory=lambda: [64])


class TextEncoder(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.tok = nn.Embedding(args.vocab_size, args.hidden_size, padding_idx=args.pad_token_id)
        self.pos = nn.Embedding(args.max_position, args.hidden_size)
        layer = nn.TransformerEncoderLayer(args.hidden_size, args.num_heads, 4 * args.hidden_size, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, args.num_layers, enable_nested_tensor=False)

    def forward(self, input_ids, attention_mask):
        pos = torch.arange(input_ids.shape[1], device=input_ids.device)
        x = self.tok(input_ids) + self.pos(pos)
        return self.encoder(x, src_key_padding_mask=attention_mask == 0)


class BiEncoder(nn.Module):
    def __init__(self, args: BiEncoderArgs):
        super().__init__()
        self.args = args
        self.query_encoder = TextEncoder(args.encoder)
        self.passage_encoder = self.query_encoder if args.share_weights else TextEncoder(args.encoder)
        dims = [args.encoder.hidden_size, *args.projection_dims]
        self.proj = nn.Sequential(*[nn.Linear(a, b) for a, b in zip(dims, dims[1:], strict=False)])

    def pool(self, hidden, mask):
        if self.args.pooling == "cls":
            return hidden[:, 0]
        if self.args.pooling == "mean":
            m = mask.unsqueeze(-1).float()
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1e-6)
        raise ValueError(f"unknown pooling {self.args.pooling}, choose from cls, mean")

    def forward(self, batch):
        q, p = batch["query"], batch["passage"]
        q_emb = self.proj(self.pool(self.query_encoder(q["input_ids"], q["attention_mask"]), q["attention_mask"]))
        p_emb = self.proj(self.pool(self.passage_encoder(p["input_ids"], p["attention_mask"]), p["attention_mask"]))
        scores = F.normalize(q_emb, dim=-1) @ F.normalize(p_emb, dim=-1).T / self.args.temperature
        out = {"scores": scores}
        if "labels" in batch:
            out["loss"] = F.cross_entropy(scores, batch["labels"])
        return out


def conv_bn(c1, c2, k, s):
    return nn.Sequential(
        OrderedDict(conv=nn.Conv2d(c1, c2, k, s, k // 2, bias=False), bn=nn.BatchNorm2d(c2), act=nn.LeakyReLU(0.1))
    )


class Darknet(nn.Module):
    """One-stage detector whose layers are written as a list of `[from, kind, arguments]`."""

    def __init__(self, layout, nc, anchors):
        super().__init__()
        self.nc, self.na = nc, len(anchors[0]) // 2
        self.layout = layout
        ch, layers = [3], []
        for source, kind, *args in layout:
            c1 = ch[source] if isinstance(source, int) else sum(ch[s] for s in source)
            if kind == "conv":
                c2, k, s = args
                layers.append(conv_bn(c1, c2, k, s))
            elif kind == "upsample":
                c2 = c1
                layers.append(nn.Upsample(scale_factor=2))
            elif kind == "concat":
                c2 = c1
                layers.append(nn.Identity())
            elif kind == "detect":
                c2 = self.na * (nc + 5)
                layers.append(nn.Conv2d(c1, c2, 1))
            else:
                raise ValueError(f"unknown layer kind {kind}")
            ch.append(c2)
        self.layers = nn.ModuleList(layers)
        self.register_buffer("anchors", torch.tensor(anchors).float().view(len(anchors), -1, 2))

    def forward(self, x):
        ys, detections = [x], []
        for (source, kind, *_), layer in zip(self.layout, self.layers, strict=True):
            value = ys[source] if isinstance(source, int) else torch.cat([ys[s] for s in source], 1)
            value = layer(value)
            if kind == "detect":
                b, _, h, w = value.shape
                detections.append(value.view(b, self.na, self.nc + 5, h, w).permute(0, 1, 3, 4, 2).contiguous())
            ys.append(value)
        return detections


class GeM(nn.Module):
    def __init__(self, p=3, eps=1e-6):
        super().__init__()
        self.p = nn.Parameter(torch.ones(1) * p)
        self.eps = eps

    def forward(self, x):
        return F.avg_pool2d(x.clamp(min=self.eps).pow(self.p), (x.size(-2), x.size(-1))).pow(1.0 / self.p)


class CFG:
    model_name = "tiny"
    size = 64
    target_size = 15
    embedding_size = 128
    s = 30.0
    m = 0.5


class ArcMargin(nn.Module):
    def __init__(self, in_features, out_features, s, m):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, in_features))
        self.s, self.m = s, m

    def forward(self, x, label):
        cosine = F.linear(F.normalize(x), F.normalize(self.weight)).clamp(-1 + 1e-7, 1 - 1e-7)
        phi = torch.cos(torch.acos(cosine) + self.m)
        one_hot = torch.zeros_like(cosine).scatter_(1, label.view(-1, 1).long(), 1)
        return self.s * (one_hot * phi + (1 - one_hot) * cosine)


class WhaleNet(nn.Module):
    def __init__(self, cfg, backbone, neck_channels, pretrained=False):
        super().__init__()
        self.cfg = cfg
        self.backbone = backbone
        self.pool = GeM()
        self.embedding = nn.Linear(neck_channels, cfg.embedding_size)
        self.fc = ArcMargin(cfg.embedding_size, cfg.target_size, cfg.s, cfg.m)

    def forward(self, images, labels):
        features = self.backbone(images)
        pooled = self.pool(features).flatten(1)
        embedding = self.embedding(pooled)
        return self.fc(embedding, labels)


class TokenEmbedding(nn.Module):
    def __init__(self, c_in, d_model):
        super().__init__()
        self.tokenConv = nn.Conv1d(c_in, d_model, kernel_size=3, padding=1, padding_mode="circular", bias=False)

    def forward(self, x):
        return self.tokenConv(x.permute(0, 2, 1)).transpose(1, 2)


class DataEmbedding(nn.Module):
    def __init__(self, c_in, d_model, freq, dropout):
        super().__init__()
        freq_map = {"h": 4, "t": 5, "s": 6, "m": 1, "a": 1, "w": 2, "d": 3, "b": 3}
        self.value_embedding = TokenEmbedding(c_in, d_model)
        self.temporal_embedding = nn.Linear(freq_map[freq], d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, x_mark):
        return self.dropout(self.value_embedding(x) + self.temporal_embedding(x_mark))


class Informer(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.pred_len = configs.pred_len
        self.label_len = configs.label_len
        self.output_attention = configs.output_attention
        self.enc_embedding = DataEmbedding(configs.enc_in, configs.d_model, configs.freq, configs.dropout)
        self.dec_embedding = DataEmbedding(configs.dec_in, configs.d_model, configs.freq, configs.dropout)
        enc = nn.TransformerEncoderLayer(
            configs.d_model,
            configs.n_heads,
            configs.d_ff,
            configs.dropout,
            activation=configs.activation,
            batch_first=True,
        )
        dec = nn.TransformerDecoderLayer(
            configs.d_model,
            configs.n_heads,
            configs.d_ff,
            configs.dropout,
            activation=configs.activation,
            batch_first=True,
        )
        self.encoder = nn.TransformerEncoder(enc, configs.e_layers)
        self.decoder = nn.TransformerDecoder(dec, configs.d_layers)
        self.projection = nn.Linear(configs.d_model, configs.c_out, bias=True)

    def forward(self, x_enc, x_mark_enc, x_dec, x_mark_dec, mask=None):
        enc_out = self.encoder(self.enc_embedding(x_enc, x_mark_enc))
        dec_out = self.decoder(self.dec_embedding(x_dec, x_mark_dec), enc_out, tgt_mask=mask)
        dec_out = self.projection(dec_out)
        return dec_out[:, -self.pred_len :, :]


class ProductMatcher(nn.Module):
    """Is it the same product? By title, picture, and attributes."""

    def __init__(self, text_config, image_dim, attribute_cardinalities, fusion="concat", num_labels=2):
        super().__init__()
        self.text = nn.Embedding(text_config["vocab_size"], text_config["hidden_size"], padding_idx=0)
        self.gru = nn.GRU(
            text_config["hidden_size"],
            text_config["hidden_size"],
            text_config["num_layers"],
            batch_first=True,
            bidirectional=True,
        )
        self.image = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(16, image_dim, 3, 2, 1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.attributes = nn.ModuleDict({k: nn.Embedding(n, 8) for k, n in attribute_cardinalities.items()})
        dim = 2 * text_config["hidden_size"] + image_dim + 8 * len(attribute_cardinalities)
        self.fusion = fusion
        if fusion == "concat":
            self.fuse = nn.Linear(dim, 128)
        elif fusion == "gated":
            self.fuse = nn.Sequential(nn.Linear(dim, 256), nn.GLU())
        else:
            raise NotImplementedError(fusion)
        self.classifier = nn.Linear(128 * 3, num_labels)

    def embed(self, item):
        h, _ = self.gru(self.text(item["title_ids"]))
        parts = [h.mean(1), self.image(item["image"])]
        parts += [emb(item["attributes"][k]) for k, emb in self.attributes.items()]
        return self.fuse(torch.cat(parts, dim=-1))

    def forward(self, left, right):
        a, b = self.embed(left), self.embed(right)
        return self.classifier(torch.cat([a, b, (a - b).abs()], dim=-1))


class Dice(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.bn = nn.BatchNorm1d(dim)
        self.alpha = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        p = torch.sigmoid(self.bn(x))
        return p * x + (1 - p) * self.alpha * x


class LocalActivation(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(4 * dim, hidden), nn.PReLU(), nn.Linear(hidden, 1))

    def forward(self, query, keys, keys_length):
        q = query.unsqueeze(1).expand_as(keys)
        score = self.mlp(torch.cat([q, keys, q - keys, q * keys], dim=-1)).squeeze(-1)
        mask = torch.arange(keys.size(1), device=keys.device)[None] < keys_length[:, None]
        return (score.masked_fill(~mask, 0.0).unsqueeze(-1) * keys).sum(1)


class DeepInterest(nn.Module):
    def __init__(self, n_users, n_items, n_cates, embed_dim, hidden_units=(80, 40)):
        super().__init__()
        self.user = nn.Embedding(n_users, embed_dim)
        self.item = nn.Embedding(n_items, embed_dim)
        self.cate = nn.Embedding(n_cates, embed_dim)
        self.attention = LocalActivation(2 * embed_dim, 36)
        dims = [5 * embed_dim, *hidden_units]
        self.mlp = nn.Sequential(
            *[nn.Sequential(nn.Linear(a, b), Dice(b)) for a, b in zip(dims, dims[1:], strict=False)]
        )
        self.out = nn.Linear(dims[-1], 1)

    def forward(self, user_id, item_id, cate_id, hist_items, hist_cates, hist_len):
        target = torch.cat([self.item(item_id), self.cate(cate_id)], dim=-1)
        history = torch.cat([self.item(hist_items), self.cate(hist_cates)], dim=-1)
        interest = self.attention(target, history, hist_len)
        x = torch.cat([self.user(user_id), target, interest], dim=-1)
        return torch.sigmoid(self.out(self.mlp(x))).squeeze(-1)
