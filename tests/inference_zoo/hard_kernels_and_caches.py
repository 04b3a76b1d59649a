"""Hard: libraries and competition code: caches, closures, shadowed names, boxes, several modalities, block classes.

Long because it is a list of models.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from dataclasses import replace as but
from enum import Enum
from typing import Callable, Optional, Sequence, Union

import torch
from torch import Tensor
from torch import nn as N
from torch.nn import functional as fn

__all__ = [
    "BirdCLEFNet",
    "BoxRefiner",
    "CTSegmenter",
    "CacheDecoder",
    "ClimateForecaster",
    "ConvTasNetLike",
    "FrameInterpolator",
    "HubMixer",
    "LipReader",
    "MoleculeCaptioner",
    "MultiAgentMixer",
    "MusicGenDecoder",
    "NASBenchCell",
    "PatchBackbone",
    "PerceiverIO",
    "SleepStager",
    "VQATower",
    "WaveFieldNet",
]


@dataclass
class LlamaArgs:
    dim: int = 64
    n_layers: int = 2
    n_heads: int = 4
    n_kv_heads: Optional[int] = 2
    vocab_size: int = -1  # set later by the tokenizer
    max_seq_len: int = 64
    max_batch_size: int = 4


class CachedAttention(N.Module):
    def __init__(self, args: LlamaArgs):
        super().__init__()
        self.h, self.kv = args.n_heads, args.n_kv_heads or args.n_heads
        self.hd = args.dim // args.n_heads
        self.wq = N.Linear(args.dim, self.h * self.hd, bias=False)
        self.wk = N.Linear(args.dim, self.kv * self.hd, bias=False)
        self.wv = N.Linear(args.dim, self.kv * self.hd, bias=False)
        self.wo = N.Linear(self.h * self.hd, args.dim, bias=False)

    def forward(self, x, past, mask):
        b, s, _ = x.shape
        q = self.wq(x).view(b, s, self.h, self.hd).transpose(1, 2)
        k = self.wk(x).view(b, s, self.kv, self.hd).transpose(1, 2)
        v = self.wv(x).view(b, s, self.kv, self.hd).transpose(1, 2)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        present = (k, v)
        k, v = (t.repeat_interleave(self.h // self.kv, dim=1) for t in present)
        out = fn.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(out.transpose(1, 2).reshape(b, s, -1)), present


class CacheDecoder(N.Module):
    def __init__(self, params: LlamaArgs):
        super().__init__()
        assert params.vocab_size > 0, "set vocab_size from the tokenizer"
        self.params = params
        self.tok_embeddings = N.Embedding(params.vocab_size, params.dim)
        self.layers = N.ModuleList(CachedAttention(params) for _ in range(params.n_layers))
        self.norm = N.RMSNorm(params.dim)
        self.output = N.Linear(params.dim, params.vocab_size, bias=False)

    def forward(self, tokens: Tensor, past_key_values: Optional[list[tuple[Tensor, Tensor]]] = None):
        h = self.tok_embeddings(tokens)
        start = 0 if past_key_values is None else past_key_values[0][0].size(2)
        s = tokens.size(1)
        mask = torch.ones(s, start + s, dtype=torch.bool, device=tokens.device).tril(start)
        presents = []
        for i, layer in enumerate(self.layers):
            out, present = layer(self.norm(h), past_key_values[i] if past_key_values else None, mask)
            h = h + out
            presents.append(present)
        return self.output(self.norm(h)), presents


class Basic(N.Module):
    expansion = 1

    def __init__(self, cin, planes, stride=1, norm=N.BatchNorm2d):
        super().__init__()
        self.conv1, self.n1 = N.Conv2d(cin, planes, 3, stride, 1, bias=False), norm(planes)
        self.conv2, self.n2 = N.Conv2d(planes, planes, 3, 1, 1, bias=False), norm(planes)
        self.down = N.Conv2d(cin, planes, 1, stride) if stride != 1 or cin != planes else None

    def forward(self, x):
        out = self.n2(self.conv2(fn.relu(self.n1(self.conv1(x)))))
        return fn.relu(out + (x if self.down is None else self.down(x)))


class Wide(Basic):
    expansion = 2

    def __init__(self, cin, planes, stride=1, norm=N.BatchNorm2d):
        super().__init__(cin, planes * self.expansion, stride, norm)


class PatchBackbone(N.Module):
    """``arch`` names (block, repeats) of a table, as in many repositories."""

    arch_settings = {10: (Basic, (1, 1)), 14: (Basic, (2, 1)), 18: (Wide, (2, 2))}

    def __init__(self, depth, in_channels=3, stem_channels=16, out_indices=(0, 1), norm_cfg=None, frozen_stages=-1):
        super().__init__()
        if depth not in self.arch_settings:
            raise KeyError(f"invalid depth {depth} for resnet")
        block, repeats = self.arch_settings[depth]
        norm_layer = N.BatchNorm2d if norm_cfg is None else getattr(N, norm_cfg["type"])
        inplanes = stem_channels
        self.stem = N.Conv2d(in_channels, stem_channels, 3, 2, 1)

        def make(planes, n, stride):
            nonlocal inplanes
            layers = []
            for i in range(n):
                layers.append(block(inplanes, planes, stride if i == 0 else 1, norm_layer))
                inplanes = planes * block.expansion
            return N.Sequential(*layers)

        self.stages = N.ModuleList(make(stem_channels * 2**i, n, 1 + (i > 0)) for i, n in enumerate(repeats))
        self.out_indices = out_indices
        if not set(out_indices) <= set(range(len(repeats))):
            raise IndexError("out_indices")
        for stage in self.stages[: frozen_stages + 1]:
            stage.requires_grad_(False)

    def forward(self, x):
        x = self.stem(x)
        outs = []
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i in self.out_indices:
                outs.append(x)
        return tuple(outs)


class HubMixer(N.Module):
    """Counts its layers with a closure; names `N` and `sum` again on purpose of nobody."""

    def __init__(self, in_dim, width, sum, n_classes):
        super().__init__()
        count = 0

        def layer(a, b):
            nonlocal count
            count += 1
            return N.Sequential(N.Linear(a, b), N.GELU() if count % 2 else N.Tanh())

        self.first = layer(in_dim, width)
        self.rest = N.ModuleList(layer(width, width) for _ in range(sum))
        self.scale = N.Parameter(torch.ones(count))
        self.out = N.Linear(width, n_classes)

    def forward(self, x):
        x = self.first(x) * self.scale[0]
        for i, layer in enumerate(self.rest):
            x = x + self.scale[i + 1] * layer(x)
        return self.out(x)


def make_act(cfg):
    return {"relu": N.ReLU, "gelu": N.GELU}[cfg["act"]]()


class BoxRefiner(N.Module):
    def __init__(self, dim, act, num_queries, num_classes):
        super().__init__()
        self.num_classes = num_classes
        self.stem = N.Sequential(N.Conv2d(3, dim, 8, 8), act)
        self.queries = N.Embedding(num_queries, dim)
        self.decoder = N.TransformerDecoder(N.TransformerDecoderLayer(dim, 4, 2 * dim, batch_first=True), 2)
        self.cls, self.box = N.Linear(dim, num_classes + 1), N.Linear(dim, 4)

    def forward(self, images: list[Tensor], targets: Optional[list[dict[str, Tensor]]] = None):
        if self.training and targets is None:
            raise ValueError("In training mode, targets should be passed")
        h, w = max(i.shape[1] for i in images), max(i.shape[2] for i in images)
        batch = images[0].new_zeros(len(images), 3, h, w)
        for i, img in enumerate(images):
            batch[i, :, : img.shape[1], : img.shape[2]].copy_(img)
        memory = self.stem(batch).flatten(2).transpose(1, 2)
        q = self.decoder(self.queries.weight.expand(len(images), -1, -1), memory)
        return {"pred_logits": self.cls(q), "pred_boxes": self.box(q).sigmoid()}


def build_refiner(cfg):
    return BoxRefiner(cfg["dim"], make_act(cfg), 20, 8)


class ClimateForecaster(N.Module):
    """Pressure-level and surface variables as dicts, with the lead time in hours."""

    def __init__(
        self, surf_vars: tuple[str, ...], atmos_vars: tuple[str, ...], levels: int, embed_dim: int = 32, patch: int = 4
    ):
        super().__init__()
        self.surf_vars, self.atmos_vars, self.levels, self.patch = surf_vars, atmos_vars, levels, patch
        self.surf = N.Conv2d(len(surf_vars), embed_dim, patch, patch)
        self.atmos = N.Conv3d(len(atmos_vars), embed_dim, (1, patch, patch), (1, patch, patch))
        self.lead = N.Linear(1, embed_dim)
        self.body = N.TransformerEncoder(N.TransformerEncoderLayer(embed_dim, 4, 64, batch_first=True), 1)
        self.out = N.ConvTranspose2d(embed_dim, len(surf_vars), patch, patch)

    def forward(self, surf: dict[str, Tensor], atmos: dict[str, Tensor], lead_time: Tensor):
        s = self.surf(torch.stack([surf[k] for k in self.surf_vars], 1))
        a = self.atmos(torch.stack([atmos[k] for k in self.atmos_vars], 1)).mean(2)
        x = s + a + self.lead(lead_time[:, None])[:, :, None, None]
        b, c, h, w = x.shape
        x = self.body(x.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(b, c, h, w)
        out = self.out(x)
        return {k: out[:, i] for i, k in enumerate(self.surf_vars)}


MODEL = ClimateForecaster(("2t", "10u"), ("t", "q", "z"), levels=4)


class ConvTasNetLike(N.Module):
    def __init__(self, N_filters, L, B, H, P, X, R, C):
        """
        Args:
            N_filters: Number of filters in autoencoder
            L: Length of the filters (in samples)
            B: Number of channels in bottleneck
            H: Number of channels in convolutional blocks
            P: Kernel size in convolutional blocks
            X: Number of convolutional blocks in each repeat
            R: Number of repeats
            C: Number of speakers
        """
        super().__init__()
        self.C, self.n = C, N_filters
        self.enc = N.Conv1d(1, N_filters, L, L // 2, bias=False)
        self.bottleneck = N.Conv1d(N_filters, B, 1)
        self.blocks = N.ModuleList()
        for _ in range(R):
            for x in range(X):
                self.blocks.append(
                    N.Sequential(
                        N.Conv1d(B, H, 1),
                        N.PReLU(),
                        N.Conv1d(H, H, P, padding=2**x * (P - 1) // 2, dilation=2**x, groups=H),
                        N.PReLU(),
                        N.Conv1d(H, B, 1),
                    )
                )
        self.mask = N.Conv1d(B, C * N_filters, 1)
        self.dec = N.ConvTranspose1d(N_filters, 1, L, L // 2, bias=False)

    def forward(self, mixture):
        w = fn.relu(self.enc(mixture.unsqueeze(1)))
        y = self.bottleneck(w)
        for block in self.blocks:
            y = y + block(y)
        m = torch.sigmoid(self.mask(y)).view(y.size(0), self.C, self.n, -1)
        return torch.stack([self.dec(w * m[:, c]).squeeze(1) for c in range(self.C)], dim=1)


class CTSegmenter(N.Module):
    def __init__(
        self,
        spatial_dims: int,
        in_channels: int,
        out_channels: int,
        channels: Sequence[int],
        strides: Sequence[int],
        norm: Union[str, tuple] = "instance",
    ):
        super().__init__()
        if len(channels) < 2:
            raise ValueError("the length of `channels` should be no less than 2.")
        if len(strides) != len(channels) - 1:
            raise ValueError("the length of `strides` should equal to `len(channels) - 1`.")
        conv = {1: N.Conv1d, 2: N.Conv2d, 3: N.Conv3d}[spatial_dims]
        up = {1: N.ConvTranspose1d, 2: N.ConvTranspose2d, 3: N.ConvTranspose3d}[spatial_dims]
        norms = {"instance": {1: N.InstanceNorm1d, 2: N.InstanceNorm2d, 3: N.InstanceNorm3d}[spatial_dims]}

        def create(cin, cout, channels, strides):
            c, s = channels[0], strides[0]
            if len(channels) > 2:
                sub, upc = create(c, c, channels[1:], strides[1:]), 2 * c
            else:
                sub, upc = conv(c, channels[1], 3, padding=1), c + channels[1]
            down = N.Sequential(conv(cin, c, 3, s, 1), norms[norm](c), N.PReLU())
            return N.ModuleDict({"down": down, "sub": sub, "up": up(upc, cout, s, s)})

        self.model = create(in_channels, out_channels, list(channels), list(strides))

    def run(self, level, x):
        d = level["down"](x)
        s = self.run(level["sub"], d) if isinstance(level["sub"], N.ModuleDict) else level["sub"](d)
        return level["up"](torch.cat([d, s], 1))

    def forward(self, x):
        return self.run(self.model, x)


class FrameInterpolator(N.Module):
    def __init__(self, width, n_frames):
        super().__init__()
        self.n_frames = n_frames
        self.feat = N.Conv2d(3, width, 3, padding=1)
        self.merge = N.Conv2d(width * n_frames + 1, width, 3, padding=1)
        self.out = N.Conv2d(width, 3, 3, padding=1)

    def forward(self, frames: list[Tensor], t: float | Tensor = 0.5):
        assert len(frames) == self.n_frames, f"expected {self.n_frames} frames, got {len(frames)}"
        b, _, h, w = frames[0].shape
        feats = [self.feat(frame) for frame in frames]
        when = torch.full((b, 1, h, w), t) if isinstance(t, float) else t.view(b, 1, 1, 1).expand(b, 1, h, w)
        return self.out(fn.relu(self.merge(torch.cat([*feats, when], 1))))


class LipReader(N.Module):
    def __init__(self, mode, backend="gru", hidden=32, vocab=28):
        super().__init__()
        self.mode = mode
        if mode not in ("video", "audio", "both"):
            raise NotImplementedError(mode)
        if mode != "audio":
            self.video = N.Sequential(
                N.Conv3d(1, 16, (5, 7, 7), (1, 2, 2), (2, 3, 3)), N.ReLU(), N.AdaptiveAvgPool3d((None, 1, 1))
            )
        if mode != "video":
            self.audio = N.Conv1d(26, 16, 4, 4)
        self.rnn = getattr(N, backend.upper())(
            16 * (2 if mode == "both" else 1), hidden, batch_first=True, bidirectional=True
        )
        self.fc = N.Linear(2 * hidden, vocab)

    def forward(self, video=None, audio=None, lengths=None):
        parts = []
        if self.mode != "audio":
            parts.append(self.video(video).flatten(2).transpose(1, 2))
        if self.mode != "video":
            parts.append(self.audio(audio.transpose(1, 2)).transpose(1, 2))
        x, _ = self.rnn(torch.cat(parts, -1))
        return self.fc(x).log_softmax(-1)


class MoleculeCaptioner(N.Module):
    def __init__(self, atom_feature_dims: list[int], bond_feature_dims: list[int], emb_dim: int, vocab: int):
        super().__init__()
        self.atom = N.ModuleList(N.Embedding(d, emb_dim) for d in atom_feature_dims)
        self.bond = N.ModuleList(N.Embedding(d, emb_dim) for d in bond_feature_dims)
        self.mlp = N.Sequential(N.Linear(emb_dim, emb_dim), N.ReLU(), N.Linear(emb_dim, emb_dim))
        self.words = N.Embedding(vocab, emb_dim)
        self.dec = N.GRU(emb_dim, emb_dim, batch_first=True)
        self.out = N.Linear(emb_dim, vocab)

    def forward(self, x, edge_index, edge_attr, batch, smiles_ids):
        h = sum(emb(x[:, i]) for i, emb in enumerate(self.atom))
        e = sum(emb(edge_attr[:, i]) for i, emb in enumerate(self.bond))
        agg = torch.zeros_like(h).index_add_(0, edge_index[1], fn.relu(h[edge_index[0]] + e))
        h = self.mlp(h + agg)
        graph = h.new_zeros(smiles_ids.size(0), h.size(1)).index_add_(0, batch, h)
        out, _ = self.dec(self.words(smiles_ids), graph[None])
        return self.out(out)


class MusicGenDecoder(N.Module):
    """Interleaved codebooks with a delay, conditions as a dict of (tensor, mask)."""

    def __init__(self, n_q: int, card: int, dim: int, num_heads: int, cond_dim: int, layers: int = 2):
        super().__init__()
        self.n_q, self.card = n_q, card
        self.emb = N.ModuleList([N.Embedding(card + 1, dim) for _ in range(n_q)])
        self.cond = N.Linear(cond_dim, dim)
        self.layers = N.ModuleList(
            [N.TransformerDecoderLayer(dim, num_heads, 2 * dim, batch_first=True) for _ in range(layers)]
        )
        self.linears = N.ModuleList([N.Linear(dim, card) for _ in range(n_q)])

    def forward(self, sequence: torch.LongTensor, condition_tensors: dict[str, tuple[Tensor, Tensor]]):
        B, K, S = sequence.shape
        assert K == self.n_q, f"Sequence shape must match the specified number of codebooks {self.n_q}"
        x = sum(self.emb[k](sequence[:, k]) for k in range(K))
        cond, mask = condition_tensors["description"]
        memory = self.cond(cond) * mask.unsqueeze(-1)
        for layer in self.layers:
            x = layer(x, memory)
        return torch.stack([self.linears[k](x) for k in range(K)], dim=1)


class MultiAgentMixer(N.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.n_agents = args.n_agents
        self.state_dim = args.state_shape
        self.embed_dim = args.mixing_embed_dim
        self.hyper_w_1 = N.Linear(self.state_dim, self.embed_dim * self.n_agents)
        self.hyper_w_final = N.Linear(self.state_dim, self.embed_dim)
        self.hyper_b_1 = N.Linear(self.state_dim, self.embed_dim)
        self.V = N.Sequential(N.Linear(self.state_dim, self.embed_dim), N.ReLU(), N.Linear(self.embed_dim, 1))

    def forward(self, agent_qs, states):
        bs = agent_qs.size(0)
        states = states.reshape(-1, self.state_dim)
        agent_qs = agent_qs.view(-1, 1, self.n_agents)
        w1 = torch.abs(self.hyper_w_1(states)).view(-1, self.n_agents, self.embed_dim)
        b1 = self.hyper_b_1(states).view(-1, 1, self.embed_dim)
        hidden = fn.elu(torch.bmm(agent_qs, w1) + b1)
        w_final = torch.abs(self.hyper_w_final(states)).view(-1, self.embed_dim, 1)
        return (torch.bmm(hidden, w_final) + self.V(states).view(-1, 1, 1)).view(bs, -1, 1)


OPS: dict[str, Callable[[int], N.Module]] = {
    "none": lambda c: N.Identity(),
    "conv3": lambda c: N.Conv2d(c, c, 3, padding=1),
    "conv1": lambda c: N.Conv2d(c, c, 1),
    "pool": lambda c: N.AvgPool2d(3, 1, 1),
}


class NASBenchCell(N.Module):
    def __init__(self, genotype, C, num_classes):
        super().__init__()
        self.stem = N.Conv2d(3, C, 3, padding=1)
        self.nodes = N.ModuleList()
        for edges in genotype:
            self.nodes.append(N.ModuleList([OPS[name](C) for name, _ in edges]))
        self.inputs = [[source for _, source in edges] for edges in genotype]
        self.classifier = N.Linear(C, num_classes)

    def forward(self, x):
        states = [self.stem(x)]
        for ops, sources in zip(self.nodes, self.inputs):
            states.append(sum(op(states[s]) for op, s in zip(ops, sources)))
        return self.classifier(states[-1].mean((2, 3)))


GENOTYPE = [[("conv3", 0)], [("conv1", 0), ("pool", 1)], [("none", 2)]]


class PerceiverIO(N.Module):
    def __init__(self, *, depth, dim, queries_dim, logits_dim=None, num_latents=16, latent_dim=32, cross_heads=1):
        super().__init__()
        self.latents = N.Parameter(torch.randn(num_latents, latent_dim))
        self.kv = N.Linear(dim, latent_dim)
        self.cross = N.MultiheadAttention(latent_dim, cross_heads, batch_first=True)
        self.layers = N.ModuleList(
            [N.TransformerEncoderLayer(latent_dim, 4, 64, batch_first=True) for _ in range(depth)]
        )
        self.q = N.Linear(queries_dim, latent_dim)
        self.decoder = N.MultiheadAttention(latent_dim, cross_heads, batch_first=True)
        self.to_logits = N.Linear(latent_dim, logits_dim) if logits_dim is not None else N.Identity()

    def forward(self, data, mask=None, queries=None):
        b = data.shape[0]
        kv = self.kv(data)
        x, _ = self.cross(self.latents.expand(b, -1, -1), kv, kv, key_padding_mask=mask)
        for layer in self.layers:
            x = layer(x)
        if queries is None:
            return x
        if queries.ndim == 2:
            queries = queries.expand(b, -1, -1)
        out, _ = self.decoder(self.q(queries), x, x)
        return self.to_logits(out)


class Stage(Enum):
    WAKE, N1, N2, N3, REM = range(5)


class SleepStager(N.Module):
    """EEG of any number of channels, each read alone and then pooled; the epochs around are context."""

    def __init__(self, sfreq: float, epoch_seconds: int, context: int, hidden: int = 16, stages=Stage):
        super().__init__()
        n = int(sfreq * epoch_seconds)
        self.n, self.context = n, context
        self.features = N.Sequential(
            N.Conv1d(1, hidden, int(sfreq // 2), int(sfreq // 8)), N.ReLU(), N.AdaptiveAvgPool1d(8)
        )
        self.rnn = N.GRU(8 * hidden, hidden, batch_first=True)
        self.out = N.Linear(hidden, len(stages))

    def forward(self, eeg):
        b, epochs, channels, n = eeg.shape
        if n != self.n:
            raise ValueError(f"expected {self.n} samples, got {n}")
        if epochs != 2 * self.context + 1:
            raise ValueError(f"expected {2 * self.context + 1} epochs, got {epochs}")
        x = self.features(eeg.reshape(-1, 1, n)).flatten(1).view(b, epochs, channels, -1).amax(2)
        h, _ = self.rnn(x)
        return self.out(h[:, self.context])


class VQATower(N.Module):
    def __init__(self, image_encoder, text_encoder, answers, *, fusion=None, dim=32):
        super().__init__()
        self.image_encoder, self.text_encoder = image_encoder, text_encoder
        self.fusion = fusion or N.Bilinear(dim, dim, dim)
        self.answer = N.Linear(dim, len(answers))

    def forward(self, image, question, question_mask=None):
        i = self.image_encoder(image)
        t = self.text_encoder(question)
        if question_mask is not None:
            t = t * question_mask.unsqueeze(-1)
        return self.answer(self.fusion(i, t.mean(1)))


class SmallImage(N.Sequential):
    def __init__(self, dim=32):
        super().__init__(N.Conv2d(3, dim, 4, 4), N.ReLU(), N.AdaptiveAvgPool2d(1), N.Flatten())


class SmallText(N.Module):
    def __init__(self, vocab=200, dim=32):
        super().__init__()
        self.emb = N.Embedding(vocab, dim)
        self.rnn = N.GRU(dim, dim, batch_first=True)

    def forward(self, ids):
        return self.rnn(self.emb(ids))[0]


@dataclass(frozen=True)
class WaveConfig:
    n_fft: int = 64
    hop: int = 16
    width: int = 32
    bands: tuple[int, ...] = (8, 8, 17)


class WaveFieldNet(N.Module):
    """Splits the spectrum into bands; any number of microphones."""

    def __init__(self, conf: WaveConfig, n_sources: int):
        super().__init__()
        if sum(conf.bands) != conf.n_fft // 2 + 1:
            raise ValueError("bands must cover the spectrum")
        self.conf = but(conf)
        self.info = asdict(conf)
        self.ins = N.ModuleList([N.Linear(2 * b, conf.width) for b in conf.bands])
        self.rnn = N.LSTM(conf.width, conf.width, batch_first=True)
        self.outs = N.ModuleList([N.Linear(conf.width, 2 * b * n_sources) for b in conf.bands])
        self.n_sources = n_sources

    def forward(self, wav: Tensor):
        b, mics, samples = wav.shape
        window = torch.hann_window(self.conf.n_fft, device=wav.device)
        spec = torch.stft(wav.flatten(0, 1), self.conf.n_fft, self.conf.hop, window=window, return_complex=True)
        parts = torch.view_as_real(spec).split(list(self.conf.bands), dim=1)
        x = torch.stack([lin(p.permute(0, 2, 1, 3).flatten(2)) for lin, p in zip(self.ins, parts)], 1)
        bm, k, t, d = x.shape
        x = self.rnn(x.flatten(0, 1))[0].view(bm, k, t, d)
        masks = [out(x[:, i]).view(bm, t, self.n_sources, -1, 2) for i, out in enumerate(self.outs)]
        mask = torch.view_as_complex(torch.cat(masks, 3).contiguous()).permute(0, 2, 3, 1)
        est = mask * spec.unsqueeze(1)
        out = torch.istft(est.flatten(0, 1), self.conf.n_fft, self.conf.hop, window=window, length=samples)
        return out.view(b, mics, self.n_sources, samples)


class CFG:
    model_name = "sed_tiny"
    num_classes = 21
    n_mels = 64
    period = 5
    in_chans = 1
    mixup = True


class BirdCLEFNet(N.Module):
    def __init__(self, cfg=CFG, pretrained=False, path=None):
        super().__init__()
        self.cfg = cfg
        self.bn0 = N.BatchNorm2d(cfg.n_mels)
        self.encoder = N.Sequential(N.Conv2d(cfg.in_chans, 16, 3, 2, 1), N.ReLU(), N.Conv2d(16, 32, 3, 2, 1), N.ReLU())
        self.fc1 = N.Linear(32, 32)
        self.att, self.cla = N.Conv1d(32, cfg.num_classes, 1), N.Conv1d(32, cfg.num_classes, 1)
        if path is not None:
            self.load_state_dict(torch.load(path)["model"])

    def forward(self, inputs):
        """inputs: dict of the loader with "melspec" (b, 1, n_mels, frames) and "labels" in training."""
        x = inputs["melspec"]
        x = self.bn0(x.transpose(1, 2)).transpose(1, 2)
        x = self.encoder(x).mean(2)
        x = fn.relu(self.fc1(x.transpose(1, 2))).transpose(1, 2)
        att = torch.softmax(torch.tanh(self.att(x)), dim=-1)
        logit = (att * self.cla(x)).sum(-1)
        out = {"logit": logit, "framewise": self.cla(x).transpose(1, 2)}
        if "labels" in inputs:
            out["loss"] = fn.binary_cross_entropy_with_logits(logit, inputs["labels"])
        return out
