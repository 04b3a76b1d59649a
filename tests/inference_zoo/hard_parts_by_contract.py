"""Hard: parts that have to keep a contract with the model: teachers, distributions, layer strings, stages, experts.

Long because it is a list of models.
"""

from __future__ import annotations

import copy
import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "ConditionalFlow",
    "DinoLearner",
    "ImageCaptioner",
    "MeanTeacher",
    "MultiTaskTrunk",
    "OrderedBlocks",
    "PatternedDecoder",
    "PlainUNet",
    "PrototypeHead",
    "SpeechRecognizer",
    "VariationalModel",
]


# -- teachers and students


class MeanTeacher(nn.Module):
    """A student, and a teacher that is its exponential moving average."""

    def __init__(self, model, ema_decay=0.999):
        super().__init__()
        self.student = model
        self.teacher = copy.deepcopy(model)
        self.ema_decay = ema_decay
        for p in self.teacher.parameters():
            p.detach_()

    @torch.no_grad()
    def update(self):
        for t, s in zip(self.teacher.parameters(), self.student.parameters(), strict=True):
            t.mul_(self.ema_decay).add_(s, alpha=1 - self.ema_decay)

    def forward(self, weak, strong):
        student_logits = self.student(strong)
        with torch.no_grad():
            teacher_logits = self.teacher(weak)
        consistency = F.mse_loss(student_logits.softmax(dim=1), teacher_logits.softmax(dim=1))
        return {"logits": student_logits, "consistency": consistency}


class DINOHead(nn.Module):
    def __init__(self, in_dim, out_dim, hidden_dim=128, bottleneck_dim=64):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(in_dim, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, bottleneck_dim))
        self.last_layer = nn.Linear(bottleneck_dim, out_dim, bias=False)

    def forward(self, x):
        return self.last_layer(F.normalize(self.mlp(x), dim=-1))


class DinoLearner(nn.Module):
    def __init__(self, backbone, out_dim, teacher_temp, student_temp, center_momentum=0.9):
        super().__init__()
        embed_dim = backbone.embed_dim
        self.student = nn.Sequential(backbone, DINOHead(embed_dim, out_dim))
        self.teacher = copy.deepcopy(self.student)
        self.teacher.requires_grad_(False)
        self.teacher_temp, self.student_temp = teacher_temp, student_temp
        self.register_buffer("center", torch.zeros(1, out_dim))
        self.center_momentum = center_momentum

    def forward(self, global_crop, local_crop):
        s = self.student(local_crop) / self.student_temp
        with torch.no_grad():
            t = ((self.teacher(global_crop) - self.center) / self.teacher_temp).softmax(dim=-1)
        return -(t * s.log_softmax(dim=-1)).sum(dim=-1).mean()


# -- probabilities


class VariationalModel(nn.Module):
    def __init__(self, encoder, decoder, latent_dim, prior):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.prior = prior
        self.to_mu = nn.Linear(encoder.out_features, latent_dim)
        self.to_logvar = nn.Linear(encoder.out_features, latent_dim)

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.to_mu(h), self.to_logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        q = torch.distributions.Normal(mu, (0.5 * logvar).exp())
        kl = q.log_prob(z).sum(dim=-1) - self.prior.log_prob(z).sum(dim=-1)
        return self.decoder(z), kl


class Transform(nn.Module):
    def forward(self, x, context):
        raise NotImplementedError


class ShiftAndScale(Transform):
    def __init__(self, features, context_features):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(context_features, 32), nn.Tanh(), nn.Linear(32, 2 * features))

    def forward(self, x, context):
        shift, log_scale = self.net(context).chunk(2, dim=-1)
        return x * log_scale.exp() + shift, log_scale.sum(dim=-1)


class Reverse(Transform):
    def __init__(self, features):
        super().__init__()
        self.register_buffer("order", torch.arange(features - 1, -1, -1))

    def forward(self, x, context):
        return x[:, self.order], x.new_zeros(x.shape[0])


class ConditionalFlow(nn.Module):
    def __init__(self, transforms, distribution, embedding_net=None):
        super().__init__()
        self.transforms = nn.ModuleList(transforms)
        self.distribution = distribution
        self.embedding_net = embedding_net or nn.Identity()

    def forward(self, inputs, context):
        context = self.embedding_net(context)
        total = inputs.new_zeros(inputs.shape[0])
        for transform in self.transforms:
            inputs, logabsdet = transform(inputs, context)
            total = total + logabsdet
        return self.distribution.log_prob(inputs) + total


# -- strings


def create_conv(in_channels, out_channels, order, num_groups):
    modules = []
    for i, char in enumerate(order):
        if char == "r":
            modules.append(nn.ReLU(inplace=True))
        elif char == "l":
            modules.append(nn.LeakyReLU(inplace=True))
        elif char == "c":
            modules.append(nn.Conv2d(in_channels, out_channels, 3, padding=1, bias="b" not in order))
        elif char == "g":
            channels = in_channels if i < order.index("c") else out_channels
            modules.append(nn.GroupNorm(num_groups if channels >= num_groups else 1, channels))
        elif char == "b":
            modules.append(nn.BatchNorm2d(in_channels if i < order.index("c") else out_channels))
        else:
            raise ValueError(f"Unsupported layer type '{char}'. MUST be one of ['b', 'g', 'r', 'l', 'c']")
    return nn.Sequential(*modules)


class OrderedBlocks(nn.Module):
    def __init__(self, in_channels, out_channels, f_maps, layer_order, num_groups=8):
        super().__init__()
        assert "c" in layer_order, "Conv layer MUST be present"
        widths = [in_channels, *f_maps]
        self.encoders = nn.ModuleList(
            create_conv(a, b, layer_order, num_groups) for a, b in zip(widths, widths[1:], strict=False)
        )
        self.final_conv = nn.Conv2d(widths[-1], out_channels, 1)

    def forward(self, x):
        for encoder in self.encoders:
            x = encoder(x)
        return self.final_conv(x)


class Attend(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x):
        y = self.norm(x)
        return x + self.attn(y, y, y, need_weights=False)[0]


class Mix(nn.Module):
    def __init__(self, dim, kernel_size=3):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.conv = nn.Conv1d(dim, dim, kernel_size, padding=kernel_size - 1, groups=dim)

    def forward(self, x):
        y = self.conv(self.norm(x).transpose(1, 2))[..., : x.shape[1]]
        return x + F.silu(y).transpose(1, 2)


class PatternedDecoder(nn.Module):
    """A language model whose layers a pattern names: ``"m,m,a4,m"``."""

    def __init__(self, vocab_size, dim, pattern):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.layers = nn.ModuleList()
        for item in pattern.lower().split(","):
            if item.startswith("a"):
                self.layers.append(Attend(dim, int(item[1:])))
            elif item == "m":
                self.layers.append(Mix(dim))
            else:
                raise ValueError(f"unknown layer {item!r} in pattern")
        self.lm_head = nn.Linear(dim, vocab_size, bias=False)

    def forward(self, input_ids):
        x = self.embed(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(x)


# -- encoders and decoders beside each other


class UNetEncoder(nn.Module):
    def __init__(self, channels=(3, 16, 32, 64)):
        super().__init__()
        pairs = zip(channels, channels[1:], strict=False)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU()) for a, b in pairs)
        self.out_channels = list(channels[1:])

    def forward(self, x):
        features = []
        for block in self.blocks:
            x = block(x)
            features.append(x)
            x = F.max_pool2d(x, 2)
        return features


class UNetDecoder(nn.Module):
    def __init__(self, channels=(64, 32, 16)):
        super().__init__()
        pairs = zip(channels, channels[1:], strict=False)
        self.up = nn.ModuleList(nn.Conv2d(a + b, b, 3, padding=1) for a, b in pairs)

    def forward(self, features):
        features = features[::-1]
        x = features[0]
        for conv, skip in zip(self.up, features[1:], strict=True):
            x = F.relu(conv(torch.cat([F.interpolate(x, scale_factor=2.0), skip], dim=1)))
        return x


class ResidualEncoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.out_channels = width
        self.stem = nn.Conv2d(3, width, 7, 2, 3)

    def forward(self, x):
        return F.relu(self.stem(x)).mean((2, 3))


class PlainUNet(nn.Module):
    def __init__(self, encoder, decoder, num_classes):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.head = nn.Conv2d(encoder.out_channels[0], num_classes, 1)

    def forward(self, image):
        features = self.encoder(image)
        return self.head(self.decoder(features))


class ImageCaptioner(nn.Module):
    """Cross-attends from words to a grid of visual features."""

    def __init__(self, visual_encoder, text_decoder_layer, vocab, num_layers):
        super().__init__()
        self.visual_encoder = visual_encoder
        hidden = visual_encoder.num_features
        self.word_embed = nn.Embedding(len(vocab), hidden, padding_idx=vocab["<pad>"])
        self.decoder = nn.TransformerDecoder(text_decoder_layer, num_layers)
        self.out = nn.Linear(hidden, len(vocab))

    def forward(self, images, captions):
        grid = self.visual_encoder(images).flatten(2).transpose(1, 2)
        return self.out(self.decoder(self.word_embed(captions), grid))


# -- heads and tasks


class PrototypeHead(nn.Module):
    def __init__(self, encoder, num_prototypes, distance="cosine", temperature=0.1):
        super().__init__()
        self.encoder = encoder
        with torch.no_grad():
            dim = encoder(torch.zeros(1, 3, 64, 64)).shape[-1]
        self.prototypes = nn.Parameter(torch.randn(num_prototypes, dim))
        self.distance, self.temperature = distance, temperature

    def forward(self, x):
        z = self.encoder(x)
        if self.distance == "cosine":
            return F.normalize(z, dim=-1) @ F.normalize(self.prototypes, dim=-1).T / self.temperature
        return -torch.cdist(z, self.prototypes)


TASKS = {"binary": partial(nn.Linear, out_features=1), "multi": partial(nn.Linear, out_features=10)}


class MultiTaskTrunk(nn.Module):
    def __init__(self, trunk, tasks, hidden=64):
        super().__init__()
        self.trunk = trunk
        self.bottleneck = nn.Linear(trunk.fc.in_features, hidden)
        trunk.fc = nn.Identity()
        self.heads = nn.ModuleDict({name: TASKS[kind](hidden) for name, kind in tasks.items()})

    def forward(self, x):
        h = F.relu(self.bottleneck(self.trunk(x)))
        return {name: head(h) for name, head in self.heads.items()}


class SpeechRecognizer(nn.Module):
    def __init__(self, frontend, encoder, ctc_vocab, specaug=None):
        super().__init__()
        self.frontend = frontend
        self.specaug = specaug
        self.encoder = encoder
        self.ctc_lo = nn.Linear(encoder.output_size(), ctc_vocab)

    def forward(self, speech):
        feats = self.frontend(speech)
        if self.specaug is not None and self.training:
            feats = self.specaug(feats)
        hidden = self.encoder(feats)
        return self.ctc_lo(hidden).log_softmax(dim=-1) / math.sqrt(1.0)
