"""Hard, once aside: models that make pictures, and dreams of worlds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import List, Optional

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["MDNRNN", "ConditionalUNet", "RealNVP", "StyleSynthesis", "VQModel"]


@dataclass
class UNetConfig:
    sample_size: int
    in_channels: int
    out_channels: int
    block_out_channels: List[int] = field(default_factory=lambda: [32, 64, 128])
    num_class_embeds: Optional[int] = None
    context_dim: Optional[int] = None
    norm_num_groups: int = 8


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32) / half)
    args = timesteps[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class ResnetBlock(nn.Module):
    def __init__(self, c_in, c_out, temb_dim, groups):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(groups, c_in), nn.Conv2d(c_in, c_out, 3, padding=1)
        self.temb_proj = nn.Linear(temb_dim, c_out)
        self.norm2, self.conv2 = nn.GroupNorm(groups, c_out), nn.Conv2d(c_out, c_out, 3, padding=1)
        self.nin_shortcut = nn.Conv2d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

    def forward(self, x, temb):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.temb_proj(F.silu(temb))[:, :, None, None]
        return self.conv2(F.silu(self.norm2(h))) + self.nin_shortcut(x)


class ConditionalUNet(nn.Module):
    def __init__(self, config: UNetConfig):
        super().__init__()
        self.config = config
        ch = config.block_out_channels
        temb = ch[0] * 4
        self.time_embed = nn.Sequential(nn.Linear(ch[0], temb), nn.SiLU(), nn.Linear(temb, temb))
        self.class_embed = nn.Embedding(config.num_class_embeds, temb) if config.num_class_embeds is not None else None
        self.context_proj = nn.Linear(config.context_dim, temb) if config.context_dim is not None else None
        self.conv_in = nn.Conv2d(config.in_channels, ch[0], 3, padding=1)
        self.down = nn.ModuleList()
        for i, c in enumerate(ch):
            self.down.append(ResnetBlock(ch[max(i - 1, 0)], c, temb, config.norm_num_groups))
        self.mid = ResnetBlock(ch[-1], ch[-1], temb, config.norm_num_groups)
        self.up = nn.ModuleList()
        for i, c in reversed(list(enumerate(ch))):
            self.up.append(ResnetBlock(2 * c, ch[max(i - 1, 0)], temb, config.norm_num_groups))
        self.conv_out = nn.Conv2d(ch[0], config.out_channels, 3, padding=1)

    def forward(self, sample, timestep, class_labels=None, context=None):
        if sample.shape[-1] != self.config.sample_size:
            raise ValueError(f"expected pictures of {self.config.sample_size} pixels, got {tuple(sample.shape)}")
        emb = self.time_embed(timestep_embedding(timestep, self.config.block_out_channels[0]))
        if self.class_embed is not None:
            assert class_labels is not None, "class_labels should be provided when num_class_embeds > 0"
            emb = emb + self.class_embed(class_labels)
        if self.context_proj is not None and context is not None:
            emb = emb + self.context_proj(context)
        h = self.conv_in(sample)
        hs = []
        for block in self.down:
            h = block(h, emb)
            hs.append(h)
            h = F.avg_pool2d(h, 2)
        h = self.mid(h, emb)
        for block in self.up:
            h = F.interpolate(h, scale_factor=2)
            h = block(torch.cat([h, hs.pop()], dim=1), emb)
        return self.conv_out(F.silu(h))


class RealNVP(nn.Module):
    def __init__(self, nets, nett, masks, prior):
        super().__init__()
        self.prior = prior
        self.mask = nn.Parameter(masks, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(masks))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(masks))])

    def forward(self, x):
        log_det_J, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J = log_det_J - s.sum(dim=1)
        return self.prior.log_prob(z) + log_det_J


class EqualLinear(nn.Module):
    def __init__(self, in_dim, out_dim, lr_mul=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_dim, in_dim).div_(lr_mul))
        self.bias = nn.Parameter(torch.zeros(out_dim))
        self.scale, self.lr_mul = (1 / math.sqrt(in_dim)) * lr_mul, lr_mul

    def forward(self, input):
        return F.linear(input, self.weight * self.scale, self.bias * self.lr_mul)


class StyledConv(nn.Module):
    def __init__(self, in_channel, out_channel, style_dim, upsample=False):
        super().__init__()
        self.modulation = EqualLinear(style_dim, in_channel)
        self.weight = nn.Parameter(torch.randn(1, out_channel, in_channel, 3, 3))
        self.upsample = upsample
        self.noise_weight = nn.Parameter(torch.zeros(1))

    def forward(self, input, style):
        batch, in_channel, height, width = input.shape
        style = self.modulation(style).view(batch, 1, in_channel, 1, 1)
        weight = self.weight * style
        weight = weight * torch.rsqrt(weight.pow(2).sum([2, 3, 4], keepdim=True) + 1e-8)
        if self.upsample:
            input = F.interpolate(input, scale_factor=2, mode="bilinear")
            height, width = height * 2, width * 2
        weight = weight.view(-1, in_channel, 3, 3)
        out = F.conv2d(input.reshape(1, -1, height, width), weight, padding=1, groups=batch)
        out = out.view(batch, -1, height, width)
        return F.leaky_relu(out + self.noise_weight * torch.randn(batch, 1, height, width), 0.2)


class StyleSynthesis(nn.Module):
    def __init__(self, size, style_dim, n_mlp, channel_multiplier=1, lr_mlp=0.01):
        super().__init__()
        self.size, self.style_dim = size, style_dim
        layers = []
        for _ in range(n_mlp):
            layers += [EqualLinear(style_dim, style_dim, lr_mul=lr_mlp), nn.LeakyReLU(0.2)]
        self.style = nn.Sequential(*layers)
        self.channels = {
            4: 128,
            8: 128,
            16: 128,
            32: 64,
            64: 64 * channel_multiplier,
            128: 32 * channel_multiplier,
            256: 16 * channel_multiplier,
        }
        self.input = nn.Parameter(torch.randn(1, self.channels[4], 4, 4))
        self.log_size = int(math.log(size, 2))
        self.convs = nn.ModuleList()
        in_channel = self.channels[4]
        for i in range(3, self.log_size + 1):
            out_channel = self.channels[2**i]
            self.convs.append(StyledConv(in_channel, out_channel, style_dim, upsample=True))
            self.convs.append(StyledConv(out_channel, out_channel, style_dim))
            in_channel = out_channel
        self.to_rgb = nn.Conv2d(in_channel, 3, 1)
        self.n_latent = self.log_size * 2 - 2

    def forward(self, styles, return_latents=False, inject_index=None, input_is_latent=False):
        if not input_is_latent:
            styles = [self.style(s) for s in styles]
        if len(styles) < 2:
            latent = styles[0].unsqueeze(1).repeat(1, self.n_latent, 1)
        else:
            if inject_index is None:
                inject_index = self.n_latent // 2
            latent = styles[0].unsqueeze(1).repeat(1, inject_index, 1)
            latent2 = styles[1].unsqueeze(1).repeat(1, self.n_latent - inject_index, 1)
            latent = torch.cat([latent, latent2], 1)
        out = self.input.repeat(latent.shape[0], 1, 1, 1)
        for i, conv in enumerate(self.convs):
            out = conv(out, latent[:, i])
        image = self.to_rgb(out)
        return (image, latent) if return_latents else (image, None)


def Normalize(in_channels):
    return nn.GroupNorm(num_groups=32, num_channels=in_channels, eps=1e-6, affine=True)


class Encoder(nn.Module):
    def __init__(self, *, ch, ch_mult=(1, 2, 4), in_channels, z_channels, double_z=False, **ignore_kwargs):
        super().__init__()
        self.conv_in = nn.Conv2d(in_channels, ch, 3, 1, 1)
        layers, c = [], ch
        for mult in ch_mult[:-1]:
            layers += [Normalize(c), nn.SiLU(), nn.Conv2d(c, ch * mult, 3, 2, 1)]
            c = ch * mult
        layers += [Normalize(c), nn.SiLU(), nn.Conv2d(c, 2 * z_channels if double_z else z_channels, 3, 1, 1)]
        self.down = nn.Sequential(*layers)

    def forward(self, x):
        return self.down(self.conv_in(x))


class Decoder(nn.Module):
    def __init__(self, *, ch, out_ch, ch_mult=(1, 2, 4), z_channels, **ignorekwargs):
        super().__init__()
        c = ch * ch_mult[-1]
        layers = [nn.Conv2d(z_channels, c, 3, 1, 1)]
        for mult in reversed(ch_mult[:-1]):
            layers += [Normalize(c), nn.SiLU(), nn.Upsample(scale_factor=2.0), nn.Conv2d(c, ch * mult, 3, 1, 1)]
            c = ch * mult
        self.up = nn.Sequential(*layers, Normalize(c), nn.SiLU(), nn.Conv2d(c, out_ch, 3, 1, 1))

    def forward(self, z):
        return self.up(z)


class VectorQuantizer(nn.Module):
    def __init__(self, n_e, e_dim, beta):
        super().__init__()
        self.e_dim, self.beta = e_dim, beta
        self.embedding = nn.Embedding(n_e, e_dim)

    def forward(self, z):
        z = z.permute(0, 2, 3, 1).contiguous()
        z_flattened = z.view(-1, self.e_dim)
        d = torch.cdist(z_flattened, self.embedding.weight)
        z_q = self.embedding(d.argmin(dim=1)).view(z.shape)
        loss = torch.mean((z_q.detach() - z) ** 2) + self.beta * torch.mean((z_q - z.detach()) ** 2)
        z_q = z + (z_q - z).detach()
        return z_q.permute(0, 3, 1, 2).contiguous(), loss


class VQModel(nn.Module):
    def __init__(self, ddconfig, n_embed, embed_dim, ckpt_path=None, ignore_keys=[], image_key="image"):
        super().__init__()
        self.image_key = image_key
        self.encoder = Encoder(**ddconfig)
        self.decoder = Decoder(**ddconfig)
        self.quantize = VectorQuantizer(n_embed, embed_dim, beta=0.25)
        self.quant_conv = nn.Conv2d(ddconfig["z_channels"], embed_dim, 1)
        self.post_quant_conv = nn.Conv2d(embed_dim, ddconfig["z_channels"], 1)
        if ckpt_path is not None:
            self.init_from_ckpt(ckpt_path, ignore_keys=ignore_keys)

    def init_from_ckpt(self, path, ignore_keys=list()):
        sd = torch.load(path, map_location="cpu")["state_dict"]
        self.load_state_dict(
            {k: v for k, v in sd.items() if not any(k.startswith(ik) for ik in ignore_keys)}, strict=False
        )

    def encode(self, x):
        return self.quantize(self.quant_conv(self.encoder(x)))

    def decode(self, quant):
        return self.decoder(self.post_quant_conv(quant))

    def forward(self, input):
        quant, diff = self.encode(input)
        return self.decode(quant), diff


class MDNRNN(nn.Module):
    """The next latent as a mixture, from the current one and the action."""

    def __init__(self, z_size, a_size, n_hidden, n_gaussians):
        super().__init__()
        self.z_size, self.n_hidden, self.n_gaussians = z_size, n_hidden, n_gaussians
        self.lstm = nn.LSTM(z_size + a_size, n_hidden, 1, batch_first=True)
        self.fc1 = nn.Linear(n_hidden, n_gaussians * z_size)
        self.fc2 = nn.Linear(n_hidden, n_gaussians * z_size)
        self.fc3 = nn.Linear(n_hidden, n_gaussians * z_size)
        self.scale = float(np.sqrt(2.0))

    def get_mixture_coef(self, y):
        rollout_length = y.size(1)
        pi, mu, sigma = self.fc1(y), self.fc2(y), self.fc3(y)
        pi = pi.view(-1, rollout_length, self.n_gaussians, self.z_size)
        mu = mu.view(-1, rollout_length, self.n_gaussians, self.z_size)
        sigma = sigma.view(-1, rollout_length, self.n_gaussians, self.z_size)
        return F.softmax(pi, 2), torch.exp(sigma) * self.scale, mu

    def forward(self, x, a, h):
        y, (hx, cx) = self.lstm(torch.cat([x, a], dim=-1), h)
        return self.get_mixture_coef(y), (hx, cx)

    def init_hidden(self, bsz):
        return torch.zeros(1, bsz, self.n_hidden), torch.zeros(1, bsz, self.n_hidden)
