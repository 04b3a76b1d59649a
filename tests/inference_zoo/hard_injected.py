"""Hard: constructors that are given parts: encoders, backbones, tokenizers, spaces, tensors, factories, lists.

Long because it is a list of models.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "BertForIntents",
    "BiLSTMCRF",
    "CaptioningModel",
    "Detect",
    "DualTower",
    "GaussianDiffusion",
    "HybridMixer",
    "ImplicitField",
    "LateFusionEnsemble",
    "MLPActorCritic",
    "MultiTaskNet",
    "NormalizedClassifier",
    "Seq2Seq",
    "SpeakerNet",
    "TokenPredictor",
    "VectorsCNN",
]


class Encoder(nn.Module):
    def __init__(self, input_dim, emb_dim, hid_dim, n_layers, dropout):
        super().__init__()
        self.hid_dim = hid_dim
        self.n_layers = n_layers
        self.embedding = nn.Embedding(input_dim, emb_dim)
        self.rnn = nn.LSTM(emb_dim, hid_dim, n_layers, dropout=dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(self, src):
        embedded = self.dropout(self.embedding(src))
        outputs, (hidden, cell) = self.rnn(embedded)
        return hidden, cell


class Decoder(nn.Module):
    def __init__(self, output_dim, emb_dim, hid_dim, n_layers, dropout):
        super().__init__()
        self.output_dim = output_dim
        self.hid_dim = hid_dim
        self.n_layers = n_layers
        self.embedding = nn.Embedding(output_dim, emb_dim)
        self.rnn = nn.LSTM(emb_dim, hid_dim, n_layers, dropout=dropout)
        self.fc_out = nn.Linear(hid_dim, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input, hidden, cell):
        input = input.unsqueeze(0)
        embedded = self.dropout(self.embedding(input))
        output, (hidden, cell) = self.rnn(embedded, (hidden, cell))
        return self.fc_out(output.squeeze(0)), hidden, cell


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder, device):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.device = device
        assert encoder.hid_dim == decoder.hid_dim, "Hidden dimensions of encoder and decoder must be equal!"
        assert encoder.n_layers == decoder.n_layers, "Encoder and decoder must have equal number of layers!"

    def forward(self, src, trg):
        batch_size, trg_len = trg.shape[1], trg.shape[0]
        outputs = torch.zeros(trg_len, batch_size, self.decoder.output_dim).to(self.device)
        hidden, cell = self.encoder(src)
        input = trg[0, :]
        for t in range(1, trg_len):
            output, hidden, cell = self.decoder(input, hidden, cell)
            outputs[t] = output
            input = trg[t]
        return outputs


class MultiTaskNet(nn.Module):
    """Several classifiers on the features of a pretrained backbone."""

    def __init__(self, backbone, tasks: dict[str, int], embedding_size=None, dropout=0.2):
        super().__init__()
        in_features = backbone.fc.in_features
        backbone.fc = nn.Identity()
        self.backbone = backbone
        if embedding_size is not None:
            self.neck = nn.Sequential(nn.Linear(in_features, embedding_size), nn.ReLU())
            in_features = embedding_size
        else:
            self.neck = nn.Identity()
        self.heads = nn.ModuleDict()
        for task, num_classes in tasks.items():
            self.heads[task] = nn.Sequential(nn.Dropout(dropout), nn.Linear(in_features, num_classes))

    def forward(self, images):
        features = self.neck(self.backbone(images))
        return {task: head(features) for task, head in self.heads.items()}


class Detect(nn.Module):
    stride = None

    def __init__(self, nc, anchors, ch):
        super().__init__()
        self.nc = nc
        self.no = nc + 5
        self.nl = len(anchors)
        self.na = len(anchors[0]) // 2
        self.grid = [torch.empty(0) for _ in range(self.nl)]
        self.register_buffer("anchors", torch.tensor(anchors).float().view(self.nl, -1, 2))
        self.m = nn.ModuleList(nn.Conv2d(x, self.no * self.na, 1) for x in ch)

    def forward(self, x):
        z = []
        for i in range(self.nl):
            x[i] = self.m[i](x[i])
            bs, _, ny, nx = x[i].shape
            x[i] = x[i].view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
            yv, xv = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
            grid = torch.stack((xv, yv), 2).expand(1, self.na, ny, nx, 2).float()
            y = x[i].sigmoid()
            xy = y[..., 0:2] * 2 + grid - 0.5
            wh = (y[..., 2:4] * 2) ** 2 * self.anchors[i].view(1, self.na, 1, 1, 2)
            z.append(torch.cat((xy, wh, y[..., 4:]), -1).view(bs, -1, self.no))
        return torch.cat(z, 1), x


class NormalizedClassifier(nn.Module):
    def __init__(self, model, mean, std, temperature):
        super().__init__()
        self.register_buffer("mean", torch.as_tensor(mean).view(1, -1, 1, 1))
        self.register_buffer("std", torch.as_tensor(std).view(1, -1, 1, 1))
        self.model = model
        self.temperature = nn.Parameter(torch.tensor(float(temperature)))

    def forward(self, x):
        return self.model((x - self.mean) / self.std) / self.temperature


class FrequencyEncoding(nn.Module):
    def __init__(self, in_dim, n_frequencies, include_input=True):
        super().__init__()
        self.include_input = include_input
        self.register_buffer("freqs", 2.0 ** torch.arange(n_frequencies))
        self.out_dim = in_dim * (2 * n_frequencies + include_input)

    def forward(self, x):
        y = (x[..., None] * self.freqs).flatten(-2)
        parts = [torch.sin(y), torch.cos(y)]
        return torch.cat([x, *parts] if self.include_input else parts, -1)


class ImplicitField(nn.Module):
    def __init__(self, pos_encoding, dir_encoding, hidden, n_layers, skips):
        super().__init__()
        self.pos_encoding, self.dir_encoding = pos_encoding, dir_encoding
        self.skips = skips
        d = pos_encoding.out_dim
        self.layers = nn.ModuleList([nn.Linear(d, hidden)])
        for i in range(1, n_layers):
            self.layers.append(nn.Linear(hidden + d if i in skips else hidden, hidden))
        self.sigma = nn.Linear(hidden, 1)
        self.feature = nn.Linear(hidden, hidden)
        self.rgb = nn.Sequential(
            nn.Linear(hidden + dir_encoding.out_dim, hidden // 2), nn.ReLU(), nn.Linear(hidden // 2, 3)
        )

    def forward(self, points, view_dirs):
        enc = self.pos_encoding(points)
        h = enc
        for i, layer in enumerate(self.layers):
            if i in self.skips:
                h = torch.cat([h, enc], -1)
            h = F.relu(layer(h))
        sigma = F.softplus(self.sigma(h))
        rgb = torch.sigmoid(self.rgb(torch.cat([self.feature(h), self.dir_encoding(view_dirs)], -1)))
        return rgb, sigma


class VectorsCNN(nn.Module):
    def __init__(self, pretrained_vectors, n_filters, filter_sizes, output_dim, dropout, pad_idx):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(pretrained_vectors, freeze=False, padding_idx=pad_idx)
        self.convs = nn.ModuleList([nn.Conv2d(1, n_filters, (fs, pretrained_vectors.shape[1])) for fs in filter_sizes])
        self.fc = nn.Linear(len(filter_sizes) * n_filters, output_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, text):
        embedded = self.embedding(text).unsqueeze(1)
        conved = [F.relu(conv(embedded)).squeeze(3) for conv in self.convs]
        pooled = [F.max_pool1d(conv, conv.shape[2]).squeeze(2) for conv in conved]
        return self.fc(self.dropout(torch.cat(pooled, dim=1)))


class BertForIntents(nn.Module):
    def __init__(self, bert, intent_labels, slot_labels, dropout_rate):
        super().__init__()
        self.bert = bert
        self.num_intents = len(intent_labels)
        self.num_slots = len(slot_labels)
        self.slot_pad_id = slot_labels.index("PAD") if "PAD" in slot_labels else -100
        self.dropout = nn.Dropout(dropout_rate)
        self.intent = nn.Linear(bert.config.hidden_size, self.num_intents)
        self.slot = nn.Linear(bert.config.hidden_size, self.num_slots)

    def forward(self, input_ids, attention_mask, token_type_ids, intent_label_ids=None, slot_labels_ids=None):
        outputs = self.bert(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        sequence_output, pooled_output = outputs[0], outputs[1]
        intent_logits = self.intent(self.dropout(pooled_output))
        slot_logits = self.slot(self.dropout(sequence_output))
        loss = 0
        if intent_label_ids is not None:
            loss = loss + F.cross_entropy(intent_logits, intent_label_ids.view(-1))
        if slot_labels_ids is not None:
            loss = loss + F.cross_entropy(
                slot_logits.view(-1, self.num_slots), slot_labels_ids.view(-1), ignore_index=self.slot_pad_id
            )
        return loss, (intent_logits, slot_logits)


START_TAG = "<START>"
STOP_TAG = "<STOP>"


class BiLSTMCRF(nn.Module):
    def __init__(self, word2idx, tag_to_ix, embedding_dim, hidden_dim):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.tag_to_ix = tag_to_ix
        self.tagset_size = len(tag_to_ix)
        self.word_embeds = nn.Embedding(len(word2idx), embedding_dim, padding_idx=word2idx["<pad>"])
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=1, bidirectional=True, batch_first=True)
        self.hidden2tag = nn.Linear(hidden_dim, self.tagset_size)
        self.transitions = nn.Parameter(torch.randn(self.tagset_size, self.tagset_size))
        self.transitions.data[tag_to_ix[START_TAG], :] = -10000
        self.transitions.data[:, tag_to_ix[STOP_TAG]] = -10000

    def forward(self, sentence):
        feats = self.hidden2tag(self.lstm(self.word_embeds(sentence))[0])
        alpha = feats.new_full((feats.size(0), self.tagset_size), -10000.0)
        alpha[:, self.tag_to_ix[START_TAG]] = 0.0
        for t in range(feats.size(1)):
            alpha = torch.logsumexp(alpha[:, None, :] + self.transitions[None], dim=-1) + feats[:, t]
        return torch.logsumexp(alpha + self.transitions[self.tag_to_ix[STOP_TAG]], dim=-1)


def combined_shape(length, shape=None):
    if shape is None:
        return (length,)
    return (length, shape) if isinstance(shape, int) else (length, *shape)


def mlp(sizes, activation, output_activation=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        act = activation if j < len(sizes) - 2 else output_activation
        layers += [nn.Linear(sizes[j], sizes[j + 1]), act()]
    return nn.Sequential(*layers)


class MLPActorCritic(nn.Module):
    def __init__(self, observation_space, action_space, hidden_sizes=(64, 64), activation=nn.Tanh):
        super().__init__()
        obs_dim = observation_space.shape[0]
        self.discrete = hasattr(action_space, "n")
        act_dim = action_space.n if self.discrete else action_space.shape[0]
        self.pi = mlp([obs_dim, *list(hidden_sizes), act_dim], activation)
        self.v = mlp([obs_dim, *list(hidden_sizes), 1], activation)
        if not self.discrete:
            self.log_std = nn.Parameter(-0.5 * torch.ones(act_dim))
            self.register_buffer("scale", torch.as_tensor((action_space.high - action_space.low) / 2.0))

    def forward(self, obs):
        out = self.pi(obs)
        if not self.discrete:
            out = torch.tanh(out) * self.scale
        return out, torch.squeeze(self.v(obs), -1)


class GaussianDiffusion(nn.Module):
    def __init__(self, denoise_fn, *, image_size, betas, objective="pred_noise"):
        super().__init__()
        self.denoise_fn = denoise_fn
        self.image_size = image_size
        self.objective = objective
        assert objective in {"pred_noise", "pred_x0"}, "objective must be pred_noise or pred_x0"
        betas = torch.as_tensor(betas, dtype=torch.float32)
        assert (betas > 0).all() and (betas <= 1).all()
        alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)
        self.num_timesteps = betas.shape[0]
        self.register_buffer("sqrt_alphas_cumprod", torch.sqrt(alphas_cumprod))
        self.register_buffer("sqrt_one_minus_alphas_cumprod", torch.sqrt(1.0 - alphas_cumprod))

    def q_sample(self, x_start, t, noise):
        a = self.sqrt_alphas_cumprod.gather(-1, t).view(-1, 1, 1, 1)
        b = self.sqrt_one_minus_alphas_cumprod.gather(-1, t).view(-1, 1, 1, 1)
        return a * x_start + b * noise

    def forward(self, img):
        b, c, h, w = img.shape
        assert h == self.image_size and w == self.image_size, f"height and width of image must be {self.image_size}"
        t = torch.randint(0, self.num_timesteps, (b,), device=img.device).long()
        noise = torch.randn_like(img)
        pred = self.denoise_fn(self.q_sample(img, t, noise), t)
        target = noise if self.objective == "pred_noise" else img
        return F.mse_loss(pred, target)


class Mlp(nn.Module):
    def __init__(self, in_features, hidden_features=None, act_layer=nn.GELU, drop=0.0):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden_features or in_features)
        self.act = act_layer()
        self.fc2 = nn.Linear(hidden_features or in_features, in_features)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        return self.drop(self.fc2(self.act(self.fc1(x))))


class SpatialGating(nn.Module):
    def __init__(self, dim, seq_len, mlp_ratio, mlp_layer, norm_layer, act_layer, drop, drop_path):
        super().__init__()
        tokens_dim, channels_dim = [
            int(x * dim) for x in (mlp_ratio if isinstance(mlp_ratio, tuple) else (mlp_ratio / 2, mlp_ratio))
        ]
        self.norm1 = norm_layer(dim)
        self.mlp_tokens = mlp_layer(seq_len, tokens_dim, act_layer=act_layer, drop=drop)
        self.drop_path = nn.Dropout(drop_path) if drop_path > 0.0 else nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp_channels = mlp_layer(dim, channels_dim, act_layer=act_layer, drop=drop)

    def forward(self, x):
        x = x + self.drop_path(self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2))
        return x + self.drop_path(self.mlp_channels(self.norm2(x)))


class HybridMixer(nn.Module):
    def __init__(
        self,
        num_classes,
        img_size,
        patch_size,
        num_blocks,
        embed_dim,
        block_layer,
        mlp_layer,
        norm_layer,
        act_layer,
        mlp_ratio=(0.5, 4.0),
        in_chans=3,
        drop_rate=0.0,
        global_pool="avg",
    ):
        super().__init__()
        self.global_pool = global_pool
        self.num_features = embed_dim
        self.stem = nn.Conv2d(in_chans, embed_dim, patch_size, patch_size)
        n = (img_size // patch_size) ** 2
        self.blocks = nn.Sequential(
            *[
                block_layer(
                    embed_dim,
                    n,
                    mlp_ratio,
                    mlp_layer=mlp_layer,
                    norm_layer=norm_layer,
                    act_layer=act_layer,
                    drop=drop_rate,
                    drop_path=0.0,
                )
                for _ in range(num_blocks)
            ]
        )
        self.norm = norm_layer(embed_dim)
        self.head = nn.Linear(embed_dim, num_classes) if num_classes > 0 else nn.Identity()

    def forward(self, x):
        x = self.blocks(self.stem(x).flatten(2).transpose(1, 2))
        x = self.norm(x)
        if self.global_pool == "avg":
            x = x.mean(dim=1)
        return self.head(x)


mixer_defaults = partial(
    HybridMixer, block_layer=SpatialGating, mlp_layer=Mlp, norm_layer=partial(nn.LayerNorm, eps=1e-6)
)


class Vocabulary:
    PAD, BOS, EOS, UNK = "<pad>", "<bos>", "<eos>", "<unk>"

    def __init__(self, tokens):
        self.itos = [self.PAD, self.BOS, self.EOS, self.UNK, *sorted(set(tokens))]
        self.stoi = {t: i for i, t in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def __getitem__(self, token):
        return self.stoi.get(token, self.stoi[self.UNK])

    @property
    def pad_id(self):
        return self.stoi[self.PAD]


class CNNEncoder(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, embed_size, 3, 2, 1), nn.AdaptiveAvgPool2d(4)
        )
        self.out_channels = embed_size

    def forward(self, images):
        return self.conv(images).flatten(2).transpose(1, 2)


class CaptioningModel(nn.Module):
    def __init__(self, encoder: CNNEncoder, vocab: Vocabulary, hidden_size: int, num_layers: int):
        super().__init__()
        self.encoder = encoder
        self.vocab = vocab
        self.embed = nn.Embedding(len(vocab), hidden_size, padding_idx=vocab.pad_id)
        self.project = nn.Linear(encoder.out_channels, hidden_size)
        layer = nn.TransformerDecoderLayer(hidden_size, max(1, hidden_size // 16), 4 * hidden_size, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, num_layers)
        self.out = nn.Linear(hidden_size, len(vocab))
        self.out.weight = self.embed.weight

    def forward(self, images, captions):
        memory = self.project(self.encoder(images))
        mask = nn.Transformer.generate_square_subsequent_mask(captions.size(1))
        x = self.decoder(
            self.embed(captions), memory, tgt_mask=mask, tgt_key_padding_mask=captions == self.vocab.pad_id
        )
        return self.out(x)


class FeatureExtractor(nn.Module, ABC):
    @abstractmethod
    def output_size(self) -> int: ...


class LogMel(FeatureExtractor):
    def __init__(self, n_mels, n_fft, hop_length):
        super().__init__()
        self.n_mels, self.n_fft, self.hop = n_mels, n_fft, hop_length
        self.register_buffer("window", torch.hann_window(n_fft))
        self.mel = nn.Linear(n_fft // 2 + 1, n_mels, bias=False)

    def output_size(self):
        return self.n_mels

    def forward(self, wav, lengths):
        spec = torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True).abs()
        return self.mel(spec.transpose(1, 2)).clamp(min=1e-10).log(), lengths // self.hop + 1


class Pooling(nn.Module, ABC):
    @abstractmethod
    def output_size(self) -> int: ...


class StatsPooling(Pooling):
    def __init__(self, input_size):
        super().__init__()
        self._output_size = input_size * 2

    def output_size(self):
        return self._output_size

    def forward(self, x, lengths):
        mask = (torch.arange(x.size(1), device=x.device)[None] < lengths[:, None]).unsqueeze(-1)
        mean = (x * mask).sum(1) / mask.sum(1).clamp(min=1)
        std = ((x - mean[:, None]) ** 2 * mask).sum(1).div(mask.sum(1).clamp(min=1)).clamp(min=1e-5).sqrt()
        return torch.cat([mean, std], -1)


class SpeakerNet(nn.Module):
    def __init__(self, frontend: FeatureExtractor, pooling: Pooling, embed_dim: int, n_speakers: int, loss_type: str):
        super().__init__()
        self.frontend = frontend
        self.body = nn.Sequential(nn.Linear(frontend.output_size(), pooling.output_size() // 2), nn.ReLU())
        self.pooling = pooling
        self.embed = nn.Linear(pooling.output_size(), embed_dim)
        if loss_type == "softmax":
            self.head = nn.Linear(embed_dim, n_speakers)
        elif loss_type == "cosine":
            self.head = nn.utils.parametrizations.weight_norm(nn.Linear(embed_dim, n_speakers, bias=False))
        else:
            raise ValueError(f"Not supported loss: {loss_type}")

    def forward(self, speech, speech_lengths):
        feats, lengths = self.frontend(speech, speech_lengths)
        emb = self.embed(self.pooling(self.body(feats), lengths))
        return self.head(F.normalize(emb, dim=-1))


class LateFusionEnsemble(nn.Module):
    def __init__(self, models: list[nn.Module], weights: list[float] | None, n_classes: int, fusion: str = "stack"):
        super().__init__()
        self.models = nn.ModuleList(models)
        weights = weights if weights is not None else [1.0] * len(models)
        if len(weights) != len(models):
            raise ValueError("one weight for each model")
        self.register_buffer("weights", torch.tensor(weights) / sum(weights))
        for m in self.models:
            for p in m.parameters():
                p.requires_grad = False
        self.fusion = fusion
        self.stacker = nn.Linear(len(models) * n_classes, n_classes) if fusion == "stack" else None

    def forward(self, x):
        outs = [m(x) for m in self.models]
        if self.stacker is not None:
            return self.stacker(torch.cat(outs, dim=1))
        return sum(w * o for w, o in zip(self.weights, outs))


class TowerConfig(NamedTuple):
    input_dim: int
    hidden_dims: list[int]
    output_dim: int
    activation: str
    l2_norm: bool


class DualTower(nn.Module):
    def __init__(
        self,
        towers: Mapping[str, TowerConfig],
        similarity: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
        tau: float,
    ):
        super().__init__()
        if set(towers) != {"query", "item"}:
            raise ValueError(f"expected the towers query and item, got {sorted(towers)}")
        self.towers = nn.ModuleDict({name: self.build(cfg) for name, cfg in towers.items()})
        self.normed = {name: cfg.l2_norm for name, cfg in towers.items()}
        self.similarity = similarity
        self.tau = tau

    @staticmethod
    def build(cfg):
        act = {"relu": nn.ReLU, "gelu": nn.GELU}[cfg.activation]
        dims = [cfg.input_dim, *cfg.hidden_dims]
        layers = []
        for a, b in zip(dims, dims[1:]):
            layers += [nn.Linear(a, b), act()]
        return nn.Sequential(*layers, nn.Linear(dims[-1], cfg.output_dim))

    def encode(self, name, x):
        x = self.towers[name](x)
        return F.normalize(x, dim=-1) if self.normed[name] else x

    def forward(self, query, item):
        return self.similarity(self.encode("query", query), self.encode("item", item)) / self.tau


def clones(module, n):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.d_k, self.h = d_model // h, h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        b = x.size(0)
        q, k, v = [lin(x).view(b, -1, self.h, self.d_k).transpose(1, 2) for lin in self.linears[:3]]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        x = self.dropout(scores.softmax(-1)) @ v
        return self.linears[-1](x.transpose(1, 2).contiguous().view(b, -1, self.h * self.d_k))


class SublayerConnection(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(size), nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))


class EncoderLayer(nn.Module):
    def __init__(self, size, self_attn, feed_forward, dropout):
        super().__init__()
        self.self_attn, self.feed_forward = self_attn, feed_forward
        self.sublayer = clones(SublayerConnection(size, dropout), 2)
        self.size = size

    def forward(self, x, mask):
        x = self.sublayer[0](x, lambda x: self.self_attn(x, mask))
        return self.sublayer[1](x, self.feed_forward)


class TokenPredictor(nn.Module):
    def __init__(self, tokenizer, layer: EncoderLayer, N: int, max_len: int, tie_weights: bool):
        super().__init__()
        self.pad = tokenizer.pad_token_id
        self.embed = nn.Embedding(tokenizer.vocab_size, layer.size, padding_idx=tokenizer.pad_token_id)
        self.pos = nn.Parameter(torch.zeros(1, max_len, layer.size))
        self.layers = clones(layer, N)
        self.norm = nn.LayerNorm(layer.size)
        self.proj = nn.Linear(layer.size, tokenizer.vocab_size, bias=False)
        if tie_weights:
            self.proj.weight = self.embed.weight

    def forward(self, input_ids):
        mask = (input_ids != self.pad)[:, None, None, :]
        x = self.embed(input_ids) + self.pos[:, : input_ids.size(1)]
        for layer in self.layers:
            x = layer(x, mask)
        return self.proj(self.norm(x))
