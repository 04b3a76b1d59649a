"""Hard: constructors that take configurations of many kinds, stages as dicts, variants by name.

Long because it is a list of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "AudioSpectrogramNet",
    "ExpertDecoder",
    "KeypointTransformer",
    "NestedSegmenter",
    "PhonemeTagger",
    "StagedEncoder",
    "WaveGenerator",
    "WindowTransformer",
]


@dataclass
class FrontendConfig:
    n_mels: int
    channels: list[int]
    kernel_size: int


@dataclass
class TaggerConfig:
    frontend: FrontendConfig
    d_model: int
    n_heads: int
    n_layers: int
    dropout: float
    num_tags: int
    norm_first: bool


class PhonemeTagger(nn.Module):
    """Tags each frame of a mel spectrogram."""

    def __init__(self, cfg: TaggerConfig):
        super().__init__()
        layers, prev = [], cfg.frontend.n_mels
        for width in cfg.frontend.channels:
            layers += [
                nn.Conv1d(prev, width, cfg.frontend.kernel_size, padding=cfg.frontend.kernel_size // 2),
                nn.BatchNorm1d(width),
                nn.GELU(),
            ]
            prev = width
        self.frontend = nn.Sequential(*layers)
        self.proj = nn.Linear(prev, cfg.d_model)
        layer = nn.TransformerEncoderLayer(
            cfg.d_model, cfg.n_heads, 4 * cfg.d_model, cfg.dropout, batch_first=True, norm_first=cfg.norm_first
        )
        self.encoder = nn.TransformerEncoder(layer, cfg.n_layers, enable_nested_tensor=False)
        self.out = nn.Linear(cfg.d_model, cfg.num_tags)

    def forward(self, mel):
        x = self.frontend(mel).transpose(1, 2)
        return self.out(self.encoder(self.proj(x)))


class SinePositions(nn.Module):
    def __init__(self, num_pos_feats, temperature=10000):
        super().__init__()
        self.num_pos_feats = num_pos_feats
        self.temperature = temperature

    def forward(self, x):
        b, _, h, w = x.shape
        ys = torch.arange(h, device=x.device).float()[:, None].expand(h, w)
        xs = torch.arange(w, device=x.device).float()[None].expand(h, w)
        dim_t = self.temperature ** (2 * torch.arange(self.num_pos_feats // 2, device=x.device) / self.num_pos_feats)
        px, py = xs[..., None] / dim_t, ys[..., None] / dim_t
        pos = torch.cat([px.sin(), px.cos(), py.sin(), py.cos()], dim=-1)
        return pos.permute(2, 0, 1)[None].expand(b, -1, -1, -1)


class LearnedPositions(nn.Module):
    def __init__(self, num_pos_feats):
        super().__init__()
        self.row = nn.Embedding(64, num_pos_feats)
        self.col = nn.Embedding(64, num_pos_feats)

    def forward(self, x):
        h, w = x.shape[-2:]
        cols = self.col(torch.arange(w, device=x.device))[None].expand(h, w, -1)
        rows = self.row(torch.arange(h, device=x.device))[:, None].expand(h, w, -1)
        return torch.cat([cols, rows], -1).permute(2, 0, 1)[None].expand(x.shape[0], -1, -1, -1)


def build_position_encoding(args):
    n_steps = args.hidden_dim // 2
    if args.position_embedding in ("v2", "sine"):
        return SinePositions(n_steps)
    if args.position_embedding in ("v3", "learned"):
        return LearnedPositions(n_steps)
    raise ValueError(f"not supported {args.position_embedding}")


class KeypointTransformer(nn.Module):
    """Regresses keypoints with queries, as in the paper; ``args`` is what ``main.py`` parses."""

    def __init__(self, args):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, args.stem_width, 7, 4, 3), nn.ReLU(), nn.Conv2d(args.stem_width, args.hidden_dim, 3, 4, 1)
        )
        self.pos = build_position_encoding(args)
        self.transformer = nn.Transformer(
            d_model=args.hidden_dim,
            nhead=args.nheads,
            num_encoder_layers=args.enc_layers,
            num_decoder_layers=args.dec_layers,
            dim_feedforward=args.dim_feedforward,
            dropout=args.dropout,
            batch_first=True,
        )
        self.query = nn.Embedding(args.num_keypoints, args.hidden_dim)
        self.coords = nn.Linear(args.hidden_dim, 2)
        self.visible = nn.Linear(args.hidden_dim, 1) if args.predict_visibility else None
        self.aux_loss = args.aux_loss

    def forward(self, images):
        f = self.stem(images)
        src = (f + self.pos(f)).flatten(2).transpose(1, 2)
        q = self.query.weight[None].expand(images.shape[0], -1, -1)
        h = self.transformer(src, q)
        out = {"pred_keypoints": self.coords(h).sigmoid()}
        if self.visible is not None:
            out["pred_visible"] = self.visible(h)
        return out


class StagedEncoder(nn.Module):
    """``stages`` comes from the experiment's JSON: one dict for each stage."""

    BLOCKS = {
        "plain": lambda c: nn.Sequential(nn.Conv2d(c, c, 3, 1, 1), nn.BatchNorm2d(c), nn.ReLU()),
        "dw": lambda c: nn.Sequential(nn.Conv2d(c, c, 3, 1, 1, groups=c), nn.Conv2d(c, c, 1), nn.BatchNorm2d(c)),
    }

    def __init__(self, in_chans, stages, num_classes):
        super().__init__()
        self.stages = nn.ModuleList()
        prev = in_chans
        for spec in stages:
            block = self.BLOCKS[spec["block"]]
            down = nn.Conv2d(prev, spec["width"], spec["stride"] + 1, spec["stride"], spec["stride"] // 2)
            self.stages.append(nn.Sequential(down, *[block(spec["width"]) for _ in range(spec["depth"])]))
            prev = spec["width"]
        self.head = nn.Linear(prev, num_classes)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean((2, 3)))


class MRF(nn.Module):
    def __init__(self, channels, kernel_size, dilations):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv1d(channels, channels, kernel_size, dilation=d, padding=d * (kernel_size - 1) // 2)
            for d in dilations
        )

    def forward(self, x):
        for conv in self.convs:
            x = x + conv(F.leaky_relu(x, 0.1))
        return x


class WaveGenerator(nn.Module):
    """A vocoder: ``h`` is an AttrDict from ``config.json``."""

    def __init__(self, h):
        super().__init__()
        assert len(h.upsample_rates) == len(h.upsample_kernel_sizes)
        total = 1
        for rate in h.upsample_rates:
            total *= rate
        if total != h.hop_size:
            raise ValueError(f"product of upsample_rates ({total}) must be hop_size ({h.hop_size})")
        self.pre = nn.Conv1d(h.num_mels, h.upsample_initial_channel, 7, padding=3)
        self.ups, self.blocks = nn.ModuleList(), nn.ModuleList()
        for i, (u, k) in enumerate(zip(h.upsample_rates, h.upsample_kernel_sizes)):
            ch = h.upsample_initial_channel // (2 ** (i + 1))
            self.ups.append(nn.ConvTranspose1d(2 * ch, ch, k, u, padding=(k - u) // 2))
            self.blocks.append(
                nn.ModuleList(MRF(ch, rk, rd) for rk, rd in zip(h.resblock_kernel_sizes, h.resblock_dilation_sizes))
            )
        self.post = nn.Conv1d(ch, 1, 7, padding=3)

    def forward(self, mel):
        x = self.pre(mel)
        for up, blocks in zip(self.ups, self.blocks):
            x = up(F.leaky_relu(x, 0.1))
            x = sum(block(x) for block in blocks) / len(blocks)
        return torch.tanh(self.post(x))


class NestedSegmenter(nn.Module):
    """Reads ``configs/*.yaml`` as a plain dict."""

    def __init__(self, cfg: dict):
        super().__init__()
        enc, dec = cfg["model"]["encoder"], cfg["model"]["decoder"]
        dims = enc["dims"]
        chans = cfg["data"].get("channels", 3)
        act = getattr(nn, enc["activation"])
        self.encoders = nn.ModuleList()
        for dim in dims:
            self.encoders.append(nn.Sequential(nn.Conv2d(chans, dim, 3, 2, 1), nn.BatchNorm2d(dim), act()))
            chans = dim
        self.laterals = nn.ModuleList(nn.Conv2d(d, dec["embed_dim"], 1) for d in dims)
        self.dropout = nn.Dropout2d(dec.get("dropout", 0.1))
        self.fuse = nn.Conv2d(dec["embed_dim"] * len(dims), dec["embed_dim"], 1)
        self.classify = nn.Conv2d(dec["embed_dim"], cfg["data"]["num_classes"], 1)

    def forward(self, image):
        feats = []
        x = image
        for encoder in self.encoders:
            x = encoder(x)
            feats.append(x)
        size = feats[0].shape[-2:]
        ups = [F.interpolate(lat(f), size, mode="bilinear") for lat, f in zip(self.laterals, feats)]
        logits = self.classify(self.dropout(self.fuse(torch.cat(ups, 1))))
        return F.interpolate(logits, image.shape[-2:], mode="bilinear")


ACT2FN = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu}


class ExpertMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.up = nn.Linear(config.hidden_size, config.intermediate_size, bias=config.mlp_bias)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size, bias=config.mlp_bias)
        self.act = ACT2FN[config.hidden_act]

    def forward(self, x):
        return self.down(self.act(self.up(x)))


class ExpertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.hidden_size % config.num_attention_heads == 0
        assert config.num_attention_heads % config.num_key_value_heads == 0
        assert config.num_experts_per_tok <= config.num_local_experts, "cannot route to more experts than there are"
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.head_dim = config.hidden_size // config.num_attention_heads
        self.q = nn.Linear(config.hidden_size, self.heads * self.head_dim)
        self.kv = nn.Linear(config.hidden_size, 2 * self.kv_heads * self.head_dim)
        self.o = nn.Linear(self.heads * self.head_dim, config.hidden_size)
        self.gate = nn.Linear(config.hidden_size, config.num_local_experts, bias=False)
        self.experts = nn.ModuleList(ExpertMLP(config) for _ in range(config.num_local_experts))
        self.top_k = config.num_experts_per_tok
        self.n1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.n2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x):
        b, t, _ = x.shape
        h = self.n1(x)
        q = self.q(h).view(b, t, self.heads, self.head_dim).transpose(1, 2)
        k, v = self.kv(h).view(b, t, 2, self.kv_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        k = k.repeat_interleave(self.heads // self.kv_heads, 1)
        v = v.repeat_interleave(self.heads // self.kv_heads, 1)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, -1)
        x = x + self.o(a)
        h = self.n2(x)
        weights, _ = self.gate(h).softmax(-1).topk(self.top_k, -1)
        mixed = torch.stack([expert(h) for expert in self.experts], -1)
        return x + mixed.mean(-1) * weights.sum(-1, keepdim=True)


class ExpertDecoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.layers = nn.ModuleList(ExpertLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.LayerNorm(config.hidden_size)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.embed_tokens.weight

    def forward(self, input_ids):
        x = self.embed_tokens(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


class WindowBlock(nn.Module):
    def __init__(self, dim, num_heads, window_size, drop_path, norm_layer):
        super().__init__()
        self.window_size = window_size
        self.norm1, self.norm2 = norm_layer(dim), norm_layer(dim)
        self.attn = nn.MultiheadAttention(dim, num_heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.drop_path = nn.Dropout(drop_path) if drop_path > 0.0 else nn.Identity()

    def forward(self, x):
        b, h, w, c = x.shape
        s = self.window_size
        win = x.view(b, h // s, s, w // s, s, c).transpose(2, 3).reshape(-1, s * s, c)
        n = self.norm1(win)
        win = win + self.drop_path(self.attn(n, n, n)[0])
        win = win + self.drop_path(self.mlp(self.norm2(win)))
        return win.view(b, h // s, w // s, s, s, c).transpose(2, 3).reshape(b, h, w, c)


class WindowTransformer(nn.Module):
    def __init__(
        self,
        img_size,
        patch_size,
        in_chans,
        num_classes,
        embed_dim,
        depths,
        num_heads,
        window_size,
        drop_path_rate,
        norm_layer=partial(nn.LayerNorm, eps=1e-6),
    ):
        super().__init__()
        if len(depths) != len(num_heads):
            raise ValueError("depths and num_heads must have the same length")
        self.patch = nn.Conv2d(in_chans, embed_dim, patch_size, patch_size)
        grid = img_size // patch_size
        self.pos = nn.Parameter(torch.zeros(1, grid, grid, embed_dim))
        dpr = [x.item() for x in torch.linspace(0, drop_path_rate, sum(depths))]
        self.stages, self.downs = nn.ModuleList(), nn.ModuleList()
        for i, depth in enumerate(depths):
            dim = embed_dim * 2**i
            assert (grid // 2**i) % window_size == 0, "resolution must be divisible by window_size"
            rates = dpr[sum(depths[:i]) : sum(depths[: i + 1])]
            self.stages.append(
                nn.Sequential(
                    *[WindowBlock(dim, num_heads[i], window_size, rates[j], norm_layer) for j in range(depth)]
                )
            )
            self.downs.append(nn.Linear(4 * dim, 2 * dim) if i < len(depths) - 1 else nn.Identity())
        self.norm = norm_layer(dim)
        self.head = nn.Linear(dim, num_classes) if num_classes > 0 else nn.Identity()

    def forward(self, x):
        x = self.patch(x).permute(0, 2, 3, 1) + self.pos
        for i, (stage, down) in enumerate(zip(self.stages, self.downs)):
            x = stage(x)
            if i < len(self.stages) - 1:
                x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
            x = down(x)
        return self.head(self.norm(x).mean((1, 2)))


class AudioSpectrogramNet(nn.Module):
    """Patches of a spectrogram that overlap; sizes by name."""

    def __init__(self, label_dim, fstride, tstride, input_fdim, input_tdim, model_size, verbose=False):
        super().__init__()
        if model_size == "tiny224":
            dim, heads, depth = 192, 3, 4
        elif model_size == "small224":
            dim, heads, depth = 384, 6, 4
        elif model_size == "base224":
            dim, heads, depth = 768, 12, 4
        else:
            raise Exception("Model size must be one of tiny224, small224, base224")
        self.proj = nn.Conv2d(1, dim, 16, stride=(fstride, tstride))
        f_dim, t_dim = self.get_shape(fstride, tstride, input_fdim, input_tdim)
        if verbose:
            print(f"number of patches={f_dim * t_dim:d}")
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.zeros(1, f_dim * t_dim + 1, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth)
        self.mlp_head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, label_dim))

    def get_shape(self, fstride, tstride, input_fdim, input_tdim):
        test_out = nn.Conv2d(1, 2, 16, stride=(fstride, tstride))(torch.randn(1, 1, input_fdim, input_tdim))
        return test_out.shape[2], test_out.shape[3]

    def forward(self, x):
        """x: (batch, time frames, frequency bins)."""
        x = x.unsqueeze(1).transpose(2, 3)
        x = self.proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        return self.mlp_head(self.blocks(x)[:, 0])
