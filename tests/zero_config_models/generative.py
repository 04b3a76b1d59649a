"""Models that make images, densities and actions."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Generator(nn.Module):
    """Noise has a width and height of one."""

    def __init__(self, nz=20):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, 16, 4), nn.BatchNorm2d(16), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh()
        )

    def forward(self, z):
        assert z.shape[2:] == (1, 1), "noise is a point"
        return self.main(z)


class Discriminator(nn.Module):
    """Only 64 × 64 fits."""

    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 8, 4, 4)), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 16)
        )

    def forward(self, input):
        return self.main(input).view(-1, 1).squeeze(1)


class FlatVae(nn.Module):
    """An image is flattened inside, to 784 numbers."""

    def __init__(self):
        super().__init__()
        self.encode, self.mean, self.logvar = nn.Linear(784, 32), nn.Linear(32, 8), nn.Linear(32, 8)
        self.decode = nn.Linear(8, 784)

    def forward(self, x):
        hidden = F.relu(self.encode(x.view(-1, 784)))
        mean, logvar = self.mean(hidden), self.logvar(hidden)
        z = mean + torch.randn_like(logvar) * (logvar / 2).exp()
        return self.decode(z).sigmoid(), mean, logvar


class ConditionalGan(nn.Module):
    """Noise and a class."""

    def __init__(self, latent_dim=12, n_classes=10):
        super().__init__()
        self.label_embedding = nn.Embedding(n_classes, 6)
        self.l1 = nn.Linear(latent_dim, 6)
        self.l2 = nn.Linear(12, 64)

    def forward(self, noise, labels):
        x = torch.cat([self.l1(noise), self.label_embedding(labels)], dim=-1)
        return self.l2(x).view(-1, 1, 8, 8)


class Diffusion(nn.Module):
    """Image and time step."""

    def __init__(self, dim=16):
        super().__init__()
        self.inlet = nn.Conv2d(3, dim, 3, padding=1)
        self.time = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.norm, self.outlet = nn.GroupNorm(4, dim), nn.Conv2d(dim, 3, 3, padding=1)
        self.dim = dim

    def forward(self, x, t):
        rates = torch.exp(torch.arange(self.dim // 2) * (-math.log(10_000) / self.dim))
        angles = t[:, None].float() * rates
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=1))
        return self.outlet(F.silu(self.norm(self.inlet(x)) + time[:, :, None, None]))


class Coupling(nn.Module):
    """A normalising flow."""

    def __init__(self, dim=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim // 2, 16), nn.Tanh(), nn.Linear(16, dim))
        self.dim = dim

    def forward(self, x):
        if x.shape[-1] != self.dim:
            raise ValueError(f"expected {self.dim} features")
        kept, changed = x.chunk(2, dim=-1)
        scale, shift = self.net(kept).chunk(2, dim=-1)
        return torch.cat([kept, changed * scale.exp() + shift], dim=-1), scale.sum(-1)


class Quantiser(nn.Module):
    """The nearest code of a table, straight through."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Conv2d(1, 8, 4, 4)
        self.codes = nn.Embedding(32, 8)
        self.decoder = nn.ConvTranspose2d(8, 1, 4, 4)

    def forward(self, img):
        z = self.encoder(img).permute(0, 2, 3, 1)
        nearest = torch.cdist(z.reshape(-1, 8), self.codes.weight).argmin(-1)
        quantised = self.codes(nearest).view_as(z)
        return self.decoder((z + (quantised - z).detach()).permute(0, 3, 1, 2)), nearest


class FourierOperator(nn.Module):
    """Weights are complex."""

    def __init__(self, modes=4, width=8):
        super().__init__()
        self.lift, self.lower = nn.Linear(3, width), nn.Linear(width, 1)
        self.weights = nn.Parameter(torch.randn(width, width, modes, modes, dtype=torch.cfloat))
        self.modes = modes

    def forward(self, field):
        x = self.lift(field).permute(0, 3, 1, 2)
        spectrum = torch.fft.rfft2(x)
        out = torch.zeros_like(spectrum)
        m = self.modes
        out[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :m, :m], self.weights)
        return self.lower(torch.fft.irfft2(out, s=x.shape[-2:]).permute(0, 2, 3, 1))
