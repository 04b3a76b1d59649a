"""Usual: models of images, sounds, tables and graphs with required arguments."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "GAT",
    "GCN",
    "CondGenerator",
    "Critic",
    "DeepFM",
    "DenoiseNet",
    "Discriminator",
    "MatrixFactorization",
    "NeuralCF",
    "Patches",
    "Policy",
    "RotNet",
    "SpeechCommand",
    "SuperRes",
    "TabNetLite",
    "UNet",
]


class SuperRes(nn.Module):
    def __init__(self, upscale):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 64, 5, padding=2), nn.Conv2d(64, upscale**2, 3, padding=1)
        self.shuffle = nn.PixelShuffle(upscale)

    def forward(self, x):
        return self.shuffle(self.conv2(F.relu(self.conv1(x))))


class GraphLayer(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(fin, fout))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        return torch.spmm(adj, torch.mm(x, self.weight))


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass):
        super().__init__()
        self.a, self.b = GraphLayer(nfeat, nhid), GraphLayer(nhid, nclass)

    def forward(self, x, adj):
        return F.log_softmax(self.b(F.relu(self.a(x, adj)), adj), dim=1)


class GAT(nn.Module):
    def __init__(self, nfeat, nhid, heads):
        super().__init__()
        self.proj, self.att = nn.Linear(nfeat, nhid * heads), nn.Parameter(torch.randn(heads, 2 * nhid))
        self.heads, self.nhid = heads, nhid

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.proj(x).view(-1, self.heads, self.nhid)
        score = (torch.cat([h[src], h[dst]], -1) * self.att).sum(-1)
        weight = F.leaky_relu(score).exp()
        return torch.zeros_like(h).index_add(0, dst, h[src] * weight.unsqueeze(-1)).flatten(1)


class Critic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(obs_dim + act_dim, hidden), nn.Linear(hidden, 1)

    def forward(self, obs, act):
        return self.fc2(F.relu(self.fc1(torch.cat([obs, act], dim=-1))))


class Policy(nn.Module):
    def __init__(self, s_size, a_size, h_size):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(s_size, h_size), nn.Linear(h_size, a_size)

    def forward(self, state):
        return F.softmax(self.fc2(F.relu(self.fc1(state))), dim=1)


class CondGenerator(nn.Module):
    def __init__(self, nz, n_classes, img_shape):
        super().__init__()
        self.img_shape = img_shape
        self.label_emb = nn.Embedding(n_classes, n_classes)
        self.net = nn.Sequential(nn.Linear(nz + n_classes, 128), nn.LeakyReLU(0.2))
        self.out = nn.Linear(128, img_shape[0] * img_shape[1] * img_shape[2])

    def forward(self, noise, labels):
        x = torch.cat((self.label_emb(labels), noise), -1)
        return torch.tanh(self.out(self.net(x))).view(x.size(0), *self.img_shape)


class Discriminator(nn.Module):
    def __init__(self, nc, ndf):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(nc, ndf, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(ndf, ndf * 2, 4, 2, 1), nn.BatchNorm2d(ndf * 2)
        )
        self.cls = nn.Conv2d(ndf * 2, 1, 16)

    def forward(self, img):
        return torch.sigmoid(self.cls(self.main(img))).view(-1)


class MatrixFactorization(nn.Module):
    def __init__(self, users, movies, factors):
        super().__init__()
        self.u, self.m = nn.Embedding(users, factors), nn.Embedding(movies, factors)

    def forward(self, user, movie):
        return (self.u(user) * self.m(movie)).sum(1)


class NeuralCF(nn.Module):
    def __init__(self, user_num, item_num, factor_num, layers):
        super().__init__()
        self.u, self.i = nn.Embedding(user_num, factor_num), nn.Embedding(item_num, factor_num)
        sizes = [2 * factor_num, *layers]
        self.mlp = nn.Sequential(*[nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True)])
        self.out = nn.Linear(layers[-1], 1)

    def forward(self, user, item):
        return self.out(self.mlp(torch.cat([self.u(user), self.i(item)], dim=-1))).view(-1)


class DeepFM(nn.Module):
    def __init__(self, cat_dims, n_num, emb):
        super().__init__()
        self.emb = nn.ModuleList([nn.Embedding(d, emb) for d in cat_dims])
        self.bn = nn.BatchNorm1d(n_num)
        self.fc = nn.Linear(len(cat_dims) * emb + n_num, 1)

    def forward(self, x_cat, x_num):
        e = [layer(x_cat[:, i]) for i, layer in enumerate(self.emb)]
        return self.fc(torch.cat([*e, self.bn(x_num)], 1))


class TabNetLite(nn.Module):
    def __init__(self, n_in, n_out, n_d, gamma):
        super().__init__()
        self.bn, self.fc = nn.BatchNorm1d(n_in), nn.Linear(n_in, n_d)
        self.att, self.out, self.gamma = nn.Linear(n_d, n_in), nn.Linear(n_d, n_out), gamma

    def forward(self, feats):
        x = self.bn(feats)
        prior = self.gamma - torch.softmax(self.att(F.relu(self.fc(x))), -1)
        return self.out(F.relu(self.fc(x * prior)))


class DenoiseNet(nn.Module):
    def __init__(self, ch, t_dim):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(t_dim, ch), nn.SiLU())
        self.a, self.b = nn.Conv2d(3, ch, 3, padding=1), nn.Conv2d(ch, 3, 3, padding=1)
        self.t_dim = t_dim

    def forward(self, x, t):
        freqs = torch.exp(torch.arange(self.t_dim // 2) * -0.1)
        emb = t[:, None].float() * freqs[None]
        emb = self.time(torch.cat([emb.sin(), emb.cos()], -1))
        return self.b(F.silu(self.a(x) + emb[:, :, None, None]))


class UNet(nn.Module):
    def __init__(self, chs_in, n_cls, widths):
        super().__init__()
        self.down = nn.ModuleList()
        for w in widths:
            self.down.append(nn.Conv2d(chs_in, w, 3, padding=1))
            chs_in = w
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(a, b, 2, 2) for a, b in zip(reversed(widths[1:]), reversed(widths[:-1]), strict=True)
        )
        self.final = nn.Conv2d(widths[0], n_cls, 1)

    def forward(self, x):
        skips = []
        for i, layer in enumerate(self.down):
            x = F.relu(layer(x if i == 0 else F.max_pool2d(x, 2)))
            skips.append(x)
        for up, skip in zip(self.up, reversed(skips[:-1]), strict=True):
            x = F.relu(up(x)) + skip
        return self.final(x)


class SpeechCommand(nn.Module):
    def __init__(self, n_mel, n_cls, rnn_dim):
        super().__init__()
        self.conv = nn.Conv2d(1, 32, 3, padding=1)
        self.gru = nn.GRU(32 * n_mel, rnn_dim, batch_first=True)
        self.fc = nn.Linear(rnn_dim, n_cls)

    def forward(self, spec):
        x = self.conv(spec)
        b, c, f, t = x.shape
        out, _ = self.gru(x.permute(0, 3, 1, 2).reshape(b, t, c * f))
        return self.fc(out[:, -1])


class Patches(nn.Module):
    def __init__(self, img, patch, emb, heads, depth, n_cls):
        super().__init__()
        assert img % patch == 0, "image must be divisible by patch"
        self.patch = nn.Conv2d(3, emb, patch, patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, emb))
        self.pos = nn.Parameter(torch.zeros(1, (img // patch) ** 2 + 1, emb))
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(emb, heads, batch_first=True), depth)
        self.head = nn.Linear(emb, n_cls)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], 1) + self.pos
        return self.head(self.blocks(x)[:, 0])


class RotNet(nn.Module):
    def __init__(self, n_stages, use_avg, n_rot):
        super().__init__()
        self.stages = nn.Sequential(*[nn.Conv2d(3 if i == 0 else 32, 32, 3, padding=1) for i in range(n_stages)])
        self.pool = nn.AdaptiveAvgPool2d(1) if use_avg else nn.AdaptiveMaxPool2d(1)
        self.fc = nn.Linear(32, n_rot)

    def forward(self, imgs):
        return self.fc(self.pool(self.stages(imgs)).flatten(1))
