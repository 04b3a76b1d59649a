"""Hard, once aside: objects, choices, coupled sizes, dicts, masks and states.

Long because it is a list of models.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "CapsuleHead",
    "ConfiguredClassifier",
    "DialogueModel",
    "FeatureStore",
    "FlexibleRNN",
    "MessagePassing",
    "PatchMixer",
    "RelationalScorer",
    "ResNetLike",
    "Seq2SeqAttention",
    "SlidingWindow",
    "StyledBlock",
    "VideoCaptioner",
    "WorldModel",
]


class BasicUnit(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(in_planes, planes, 3, stride, 1)
        self.bn = nn.BatchNorm2d(planes)
        self.short = nn.Conv2d(in_planes, planes, 1, stride)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)) + self.short(x))


class ResNetLike(nn.Module):
    def __init__(self, block, num_blocks, num_classes):
        super().__init__()
        self.in_planes = 16
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.layer1 = self._make(block, 16, num_blocks[0], 1)
        self.layer2 = self._make(block, 32, num_blocks[1], 2)
        self.layer3 = self._make(block, 64, num_blocks[2], 2)
        self.linear = nn.Linear(64 * block.expansion, num_classes)

    def _make(self, block, planes, count, stride):
        layers = []
        for s in [stride] + [1] * (count - 1):
            layers.append(block(self.in_planes, planes, s))
            self.in_planes = planes * block.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(F.relu(self.conv(x)))))
        return self.linear(F.avg_pool2d(x, 8).flatten(1))


class FlexibleRNN(nn.Module):
    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers, tie_weights=False):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        if rnn_type in ["LSTM", "GRU"]:
            self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers)
        else:
            try:
                nonlinearity = {"RNN_TANH": "tanh", "RNN_RELU": "relu"}[rnn_type]
            except KeyError as error:
                raise ValueError("An invalid option for `--model` was supplied") from error
            self.rnn = nn.RNN(ninp, nhid, nlayers, nonlinearity=nonlinearity)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            self.decoder.weight = self.encoder.weight
        self.rnn_type, self.nhid, self.nlayers = rnn_type, nhid, nlayers

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return F.log_softmax(self.decoder(output).view(-1, self.decoder.out_features), dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        if self.rnn_type == "LSTM":
            return (
                weight.new_zeros(self.nlayers, bsz, self.nhid),
                weight.new_zeros(self.nlayers, bsz, self.nhid),
            )
        return weight.new_zeros(self.nlayers, bsz, self.nhid)


class ConfiguredClassifier(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.model.vocab_size, cfg.model.dim)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(cfg.model.dim, cfg.model.heads, cfg.model.ff, batch_first=True),
            cfg.model.layers,
        )
        self.norm = nn.LayerNorm(cfg.model.dim) if cfg.model.use_norm else nn.Identity()
        self.pool = cfg.pooling
        self.head = nn.Linear(cfg.model.dim, len(cfg.data.labels))

    def forward(self, batch):
        mask = batch["attention_mask"]
        x = self.encoder(self.embed(batch["input_ids"]), src_key_padding_mask=mask == 0)
        if self.pool == "mean":
            x = (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        else:
            x = x[:, 0]
        return self.head(self.norm(x))


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(2 * dim, 1)

    def forward(self, query, keys, mask):
        scores = self.score(torch.cat([query.unsqueeze(1).expand_as(keys), keys], -1)).squeeze(-1)
        return (torch.softmax(scores.masked_fill(~mask, -1e9), -1).unsqueeze(1) @ keys).squeeze(1)


class Seq2SeqAttention(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, dim, pad_idx):
        super().__init__()
        self.src_embed = nn.Embedding(src_vocab, dim, padding_idx=pad_idx)
        self.tgt_embed = nn.Embedding(tgt_vocab, dim, padding_idx=pad_idx)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.attention = Attention(dim)
        self.out = nn.Linear(dim, tgt_vocab)
        self.pad_idx = pad_idx

    def forward(self, src, tgt, teacher_forcing_ratio=1.0):
        keys, h = self.encoder(self.src_embed(src))
        h = h.squeeze(0)
        outputs = []
        for step in range(tgt.size(1)):
            context = self.attention(h, keys, src != self.pad_idx)
            h = self.cell(torch.cat([self.tgt_embed(tgt[:, step]), context], -1), h)
            outputs.append(self.out(h))
        return torch.stack(outputs, 1)


class MessagePassing(nn.Module):
    def __init__(self, node_in, edge_in, hidden, steps):
        super().__init__()
        self.embed = nn.Linear(node_in, hidden)
        self.message = nn.Linear(2 * hidden + edge_in, hidden)
        self.update = nn.GRUCell(hidden, hidden)
        self.readout = nn.Linear(hidden, 1)
        self.steps = steps

    def forward(self, data):
        h = self.embed(data.x)
        row, col = data.edge_index
        for _ in range(self.steps):
            m = F.relu(self.message(torch.cat([h[row], h[col], data.edge_attr], dim=-1)))
            h = self.update(torch.zeros_like(h).index_add_(0, col, m), h)
        pooled = torch.zeros(int(data.batch.max()) + 1, h.size(1)).index_add_(0, data.batch, h)
        return self.readout(pooled)


class PatchMixer(nn.Module):
    def __init__(self, image_size, patch_size, dim, token_dim, channel_dim, depth):
        super().__init__()
        if image_size % patch_size != 0:
            raise ValueError("image_size must be divisible by patch_size")
        self.patch = nn.Conv2d(3, dim, patch_size, patch_size)
        n = (image_size // patch_size) ** 2
        self.token = nn.ModuleList(
            nn.Sequential(nn.Linear(n, token_dim), nn.Linear(token_dim, n)) for _ in range(depth)
        )
        self.channel = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, channel_dim), nn.Linear(channel_dim, dim)) for _ in range(depth)
        )

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2)
        for token, channel in zip(self.token, self.channel, strict=True):
            x = x + token(x.transpose(1, 2)).transpose(1, 2)
            x = x + channel(x)
        return x.mean(1)


class CapsuleHead(nn.Module):
    def __init__(self, in_caps, in_dim, num_caps, out_dim, routing):
        super().__init__()
        self.W = nn.Parameter(0.01 * torch.randn(1, num_caps, in_caps, out_dim, in_dim))
        self.routing = routing

    def forward(self, x):
        u = torch.matmul(self.W, x[:, None, :, :, None]).squeeze(-1)
        b = torch.zeros(*u.shape[:3], 1)
        for _ in range(self.routing):
            s = (torch.softmax(b, 1) * u).sum(2)
            v = s / (1 + s.norm(dim=-1, keepdim=True))
            b = b + (u * v.unsqueeze(2)).sum(-1, keepdim=True)
        return v.norm(dim=-1)


class FeatureStore(nn.Module):
    def __init__(self, cardinalities, n_numeric, act, hidden_layers):
        super().__init__()
        self.tables = nn.ModuleDict({name: nn.Embedding(n, min(50, n // 2 + 1)) for name, n in cardinalities.items()})
        width = sum(table.embedding_dim for table in self.tables.values()) + n_numeric
        layers = []
        for size in hidden_layers:
            layers += [nn.Linear(width, size), act()]
            width = size
        self.mlp = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, inputs):
        parts = [table(inputs[name]) for name, table in self.tables.items()]
        return self.mlp(torch.cat([*parts, inputs["numeric"]], dim=1))


class VideoCaptioner(nn.Module):
    def __init__(self, encoder, vocab_size, feature_size, max_len):
        super().__init__()
        self.encoder = encoder
        self.project = nn.Linear(feature_size, 128)
        self.embed = nn.Embedding(vocab_size, 128)
        self.position = nn.Embedding(max_len, 128)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(128, 4, batch_first=True), 2)
        self.out = nn.Linear(128, vocab_size)

    def forward(self, frames, caption):
        b, t = frames.shape[:2]
        memory = self.project(self.encoder(frames.flatten(0, 1)).view(b, t, -1))
        positions = torch.arange(caption.size(1)).expand_as(caption)
        h = self.embed(caption) + self.position(positions)
        mask = torch.triu(torch.full((caption.size(1),) * 2, -math.inf), 1)
        return self.out(self.decoder(h, memory, tgt_mask=mask))


class WorldModel(nn.Module):
    def __init__(self, obs_shape, action_size, deter, stoch):
        super().__init__()
        c, h, w = obs_shape
        self.encoder = nn.Sequential(nn.Conv2d(c, 16, 4, 2), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.Flatten())
        with torch.no_grad():
            width = self.encoder(torch.zeros(1, c, h, w)).shape[1]
        self.cell = nn.GRUCell(stoch + action_size, deter)
        self.post = nn.Linear(deter + width, 2 * stoch)

    def forward(self, obs, action, state):
        h, z = state
        h = self.cell(torch.cat([z, action], -1), h)
        mean, std = self.post(torch.cat([h, self.encoder(obs)], -1)).chunk(2, -1)
        return mean, F.softplus(std), h


class DialogueModel(nn.Module):
    def __init__(self, args, vocab):
        super().__init__()
        self.embedding = nn.Embedding(len(vocab), args.emb_dim, padding_idx=vocab["<pad>"])
        self.utterance = nn.GRU(args.emb_dim, args.hid_dim, batch_first=True, bidirectional=args.bidirectional)
        self.context = nn.GRU(args.hid_dim * (2 if args.bidirectional else 1), args.hid_dim, batch_first=True)
        self.out = nn.Linear(args.hid_dim, args.n_acts)

    def forward(self, dialogue):
        b, turns, length = dialogue.size()
        x = self.embedding(dialogue.view(b * turns, length))
        out, _ = self.utterance(x)
        out, _ = self.context(out[:, -1].view(b, turns, -1))
        return self.out(out)


class SlidingWindow(nn.Module):
    def __init__(self, c_in, seq_len, patch_len, stride, d_model):
        super().__init__()
        self.patch_len, self.stride = patch_len, stride
        n = (seq_len - patch_len) // stride + 1
        self.embed = nn.Linear(patch_len, d_model)
        self.head = nn.Linear(n * d_model, 1)
        self.scale = nn.Parameter(torch.ones(c_in))

    def forward(self, x):
        x = (x * self.scale).permute(0, 2, 1).unfold(-1, self.patch_len, self.stride)
        return self.head(self.embed(x).flatten(2)).squeeze(-1)


class RelationalScorer(nn.Module):
    def __init__(self, n_entities, n_relations, rank, norm):
        super().__init__()
        self.entity = nn.Embedding(n_entities, rank)
        self.relation = nn.Embedding(n_relations, rank)
        self.norm = norm
        if norm not in (1, 2):
            raise ValueError("norm must be 1 or 2")

    def forward(self, triples):
        h, r, t = triples[:, 0], triples[:, 1], triples[:, 2]
        return -torch.norm(self.entity(h) + self.relation(r) - self.entity(t), p=self.norm, dim=-1)


class StyledBlock(nn.Module):
    def __init__(self, in_channel, out_channel, style_dim, upsample, blur_kernel):
        super().__init__()
        kernel = torch.tensor(blur_kernel, dtype=torch.float32)
        self.register_buffer("kernel", (kernel[None] * kernel[:, None])[None, None])
        self.style = nn.Linear(style_dim, in_channel)
        self.conv = nn.Conv2d(in_channel, out_channel, 3, padding=1)
        self.upsample = upsample

    def forward(self, feature, style):
        x = feature * self.style(style)[:, :, None, None]
        if self.upsample:
            x = F.interpolate(x, scale_factor=2)
        b, c, h, w = x.shape
        x = F.conv2d(x.reshape(b * c, 1, h, w), self.kernel, padding=1).view(b, c, *x.shape[2:])
        return self.conv(x)
