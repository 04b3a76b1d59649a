"""Five models in the style of research code: exits, masks, training, a GAN and a VAE."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ways_by_hand.reading import readings


def x(*size):
    torch.manual_seed(0)
    return torch.randn(*size)


class BranchyNet(nn.Module):
    """Leaves at the first exit that is sure enough."""

    def __init__(self, thresholds):
        super().__init__()
        self.stem, self.mid, self.tail = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)
        self.exits = nn.ModuleList(nn.Linear(8, 4) for _ in thresholds)
        self.thresholds = thresholds

    def confidence(self, logits):
        return F.softmax(logits, dim=-1).amax(-1).min()

    def forward(self, x):
        h = F.relu(self.stem(x))
        first = self.exits[0](h)
        if not self.training and self.confidence(first) > self.thresholds[0]:
            return first
        h = F.relu(self.mid(h))
        second = self.exits[1](h)
        sure = (self.confidence(second) > self.thresholds[1]).item()
        if sure:
            return second
        if self.training:
            return first, second, self.tail(h)
        return self.tail(h)


class MaskedAttention(nn.Module):
    """Optional masks, biases and caches, as attention layers have them."""

    def __init__(self, dim=8, heads=2, qk_norm=False):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.norm = nn.LayerNorm(dim // heads) if qk_norm else None
        self.out = nn.Linear(dim, dim)

    def forward(self, x, mask=None, context=None, past=None, causal=False, need_weights=False):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        if exists(self.norm):
            q, k = self.norm(q), self.norm(k)
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        scores = q @ k.transpose(-1, -2) * self.scale
        if mask is not None:
            if mask.dim() == 2:
                mask = mask[:, None, None, :]
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        if causal:
            scores = scores + torch.full((n, n), float("-inf")).triu(1)
        attn = scores.softmax(-1)
        out = self.out((attn @ v).transpose(1, 2).reshape(b, n, d))
        present = (k, v) if past is not None else None
        if need_weights:
            return out, present, attn.mean(1)
        return out, present


def exists(value):
    return value is not None


class NoisyNet(nn.Module):
    """Does something else in training than in evaluation: noise, stochastic depth, an auxiliary head."""

    def __init__(self, noise=0.1, survival=0.8):
        super().__init__()
        self.noise, self.survival = noise, survival
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.head, self.aux_head = nn.Linear(8, 2), nn.Linear(8, 2)

    def forward(self, x):
        if self.training and self.noise > 0:
            x = x + self.noise * torch.randn_like(x)
        aux = None
        for i, block in enumerate(self.blocks):
            if not self.training:
                x = x + self.survival * block(x)
            elif torch.rand(()) < self.survival:
                x = x + block(x)
            if i == 1 and self.training:
                aux = self.aux_head(x)
        logits = self.head(x)
        return (logits, aux) if self.training else logits.softmax(-1)


class Gan(nn.Module):
    """One module for both phases of a generative adversarial training."""

    def __init__(self, conditional=False):
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 6))
        self.discriminator = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
        self.embed = nn.Embedding(3, 4) if conditional else None

    def forward(self, z, real=None, labels=None, phase="generate"):
        if self.embed is not None and labels is not None:
            z = z * self.embed(labels)
        fake = self.generator(z)
        if phase == "generate":
            return fake
        elif phase == "discriminator":
            verdict_fake = self.discriminator(fake.detach())
            verdict_real = self.discriminator(real)
            return F.softplus(verdict_fake).mean() + F.softplus(-verdict_real).mean()
        elif phase == "generator":
            return F.softplus(-self.discriminator(fake)).mean()
        else:
            raise ValueError(f"no such phase: {phase}")


class Vae(nn.Module):
    """Samples in training, takes the mean in evaluation; a loss only with a target."""

    def __init__(self, beta=1.0, learned_prior=False):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(8, 6), nn.Linear(3, 8)
        self.beta = beta
        if learned_prior:
            self.prior = nn.Parameter(torch.zeros(3))

    def reparameterize(self, mu, logvar):
        if self.training:
            std = torch.exp(0.5 * logvar)
            return mu + torch.randn_like(std) * std
        return mu

    def forward(self, x, target=None, n_samples=1):
        mu, logvar = self.encoder(x).chunk(2, dim=-1)
        if hasattr(self, "prior"):
            mu = mu - self.prior
        z = self.reparameterize(mu, logvar)
        if n_samples > 1:
            z = z.repeat_interleave(n_samples, dim=0)
        recon = self.decoder(z)
        if target is None:
            return recon
        loss = F.mse_loss(recon, target)
        if self.beta:
            loss = loss - self.beta * 0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(-1).mean()
        return recon, loss


SIDES = """
early exit
    BranchyNet.forward  sure  no  value
early exit in training
    BranchyNet.forward  self.training  no  mode
optional masks
    MaskedAttention.forward  exists(self.norm)  yes  configuration
    MaskedAttention.forward  past is not None  yes  input
    MaskedAttention.forward  causal  yes  input
    MaskedAttention.forward  need_weights  yes  input
training and evaluation
    NoisyNet.forward  self.training and self.noise > 0  yes  mode
    NoisyNet.forward  not self.training  no  mode
    NoisyNet.forward  i == 1 and self.training  yes  mode
GAN, discriminator's phase in training
    Gan.forward  self.embed is not None and labels is not None  yes  configuration|input
    Gan.forward  phase == 'discriminator'  no  input
VAE in evaluation
    Vae.reparameterize  self.training  yes  mode
    Vae.forward  hasattr(self, 'prior')  yes  configuration
    Vae.forward  n_samples > 1  yes  input
    Vae.forward  target is None  no  input
"""
MADE = {
    "early exit": lambda: (BranchyNet((1.1, 0.0)), (x(2, 8),), {}),
    "early exit in training": lambda: (BranchyNet((0.0, 1.1)), (x(2, 8),), {}),
    "optional masks": lambda: (MaskedAttention(), (x(1, 5, 8),), {"mask": torch.ones(1, 5, dtype=torch.bool)}),
    "training and evaluation": lambda: (NoisyNet(), (x(2, 8),), {}),
    "GAN, discriminator's phase in training": lambda: (Gan(), (x(2, 4),), {"real": x(2, 6), "phase": "discriminator"}),
    "VAE in evaluation": lambda: (Vae(), (x(2, 8),), {}),
}
READINGS = readings(SIDES, MADE)
