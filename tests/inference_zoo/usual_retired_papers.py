"""Usual, once aside: networks as repositories of papers write them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function

__all__ = [
    "CRNN",
    "DANN",
    "RGCN",
    "TCN",
    "VQVAE",
    "ConvTasNet",
    "DiscriminatorCGAN",
    "LinearAttentionBlock",
    "ODEFunc",
    "QANetEncoder",
    "SACActor",
    "SRResNet",
    "SpanClassifier",
]


class ReverseLayerF(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


class DANN(nn.Module):
    def __init__(self, num_classes, feat_dim):
        super().__init__()
        self.feature = nn.Sequential(nn.Conv2d(3, 32, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(32, 48, 5))
        self.fc = nn.Linear(48, feat_dim)
        self.class_classifier = nn.Linear(feat_dim, num_classes)
        self.domain_classifier = nn.Linear(feat_dim, 2)

    def forward(self, input_data, alpha):
        feature = self.fc(self.feature(input_data).mean((2, 3)))
        reverse_feature = ReverseLayerF.apply(feature, alpha)
        return self.class_classifier(feature), self.domain_classifier(reverse_feature)


class CRNN(nn.Module):
    def __init__(self, imgH, nc, nclass, nh):
        super().__init__()
        assert imgH % 16 == 0, "imgH has to be a multiple of 16"
        self.cnn = nn.Sequential(
            nn.Conv2d(nc, 32, 3, 1, 1),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(32, 64, 3, 1, 1),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(64, 128, 3, 1, 1),
            nn.MaxPool2d((2, 2), (2, 1), (0, 1)),
            nn.Conv2d(128, 128, (imgH // 8, 2)),
        )
        self.rnn = nn.LSTM(128, nh, bidirectional=True)
        self.embedding = nn.Linear(nh * 2, nclass)

    def forward(self, input):
        conv = self.cnn(input)
        b, c, h, w = conv.size()
        assert h == 1, "the height of conv must be 1"
        recurrent, _ = self.rnn(conv.squeeze(2).permute(2, 0, 1))
        t, b, h = recurrent.size()
        return self.embedding(recurrent.view(t * b, h)).view(t, b, -1)


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super().__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, : -self.chomp_size].contiguous()


class TCN(nn.Module):
    def __init__(self, input_size, output_size, num_channels, kernel_size, dropout):
        super().__init__()
        layers = []
        for i in range(len(num_channels)):
            c_in = input_size if i == 0 else num_channels[i - 1]
            padding = (kernel_size - 1) * 2**i
            layers += [
                nn.Conv1d(c_in, num_channels[i], kernel_size, padding=padding, dilation=2**i),
                Chomp1d(padding),
                nn.ReLU(),
                nn.Dropout(dropout),
            ]
        self.tcn = nn.Sequential(*layers)
        self.linear = nn.Linear(num_channels[-1], output_size)

    def forward(self, inputs):
        """Inputs have to have dimension (N, C_in, L_in)."""
        return F.log_softmax(self.linear(self.tcn(inputs)[:, :, -1]), dim=1)


class RGCN(nn.Module):
    def __init__(self, in_feat, h_dim, out_feat, num_rels, num_bases):
        super().__init__()
        self.num_rels = num_rels
        self.bases = nn.Parameter(torch.randn(num_bases, in_feat, h_dim))
        self.comp = nn.Parameter(torch.randn(num_rels, num_bases))
        self.root = nn.Linear(in_feat, h_dim)
        self.out = nn.Linear(h_dim, out_feat)

    def forward(self, x, edge_index, edge_type):
        weight = torch.einsum("rb,bio->rio", self.comp, self.bases)
        src, dst = edge_index
        h = self.root(x)
        for r in range(self.num_rels):
            mask = (edge_type == r).unsqueeze(-1)
            h = h.index_add(0, dst, (x[src] @ weight[r]) * mask)
        return self.out(F.relu(h))


class SACActor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action, log_std_bounds):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(state_dim, 256), nn.ReLU(), nn.Linear(256, 2 * action_dim))
        self.max_action = max_action
        self.log_std_bounds = log_std_bounds

    def forward(self, obs):
        mu, log_std = self.trunk(obs).chunk(2, dim=-1)
        log_std_min, log_std_max = self.log_std_bounds
        log_std = log_std_min + 0.5 * (log_std_max - log_std_min) * (torch.tanh(log_std) + 1)
        return self.max_action * torch.tanh(mu), log_std.exp()


class DiscriminatorCGAN(nn.Module):
    def __init__(self, num_classes, channels, img_size):
        super().__init__()
        self.img_size = img_size
        self.label_embedding = nn.Embedding(num_classes, img_size * img_size)
        self.model = nn.Sequential(
            nn.Conv2d(channels + 1, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2)
        )
        self.validity = nn.Linear(64 * (img_size // 4) ** 2, 1)

    def forward(self, img, labels):
        label_map = self.label_embedding(labels).view(-1, 1, self.img_size, self.img_size)
        return self.validity(self.model(torch.cat([img, label_map], 1)).flatten(1))


class SRResNet(nn.Module):
    def __init__(self, n_feats, n_resblocks, scale):
        super().__init__()
        self.head = nn.Conv2d(3, n_feats, 3, padding=1)
        self.body = nn.ModuleList([nn.Conv2d(n_feats, n_feats, 3, padding=1) for _ in range(n_resblocks)])
        m = []
        if (scale & (scale - 1)) == 0:
            for _ in range(scale.bit_length() - 1):
                m += [nn.Conv2d(n_feats, 4 * n_feats, 3, padding=1), nn.PixelShuffle(2)]
        elif scale == 3:
            m += [nn.Conv2d(n_feats, 9 * n_feats, 3, padding=1), nn.PixelShuffle(3)]
        else:
            raise NotImplementedError
        self.tail = nn.Sequential(*m, nn.Conv2d(n_feats, 3, 3, padding=1))

    def forward(self, lr):
        x = self.head(lr)
        res = x
        for conv in self.body:
            res = res + F.relu(conv(res))
        return self.tail(res + x)


class ConvTasNet(nn.Module):
    def __init__(self, N, L, B, H, P, X, C):
        """N filters of length L, B bottleneck and H block channels, P kernel, X blocks, C speakers."""
        super().__init__()
        self.C, self.N = C, N
        self.encoder = nn.Conv1d(1, N, L, stride=L // 2, bias=False)
        self.norm = nn.GroupNorm(1, N)
        self.bottleneck = nn.Conv1d(N, B, 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Conv1d(B, H, 1),
                nn.PReLU(),
                nn.Conv1d(H, H, P, dilation=2**x, padding=(P - 1) * 2**x // 2, groups=H),
                nn.Conv1d(H, B, 1),
            )
            for x in range(X)
        )
        self.mask = nn.Conv1d(B, C * N, 1)
        self.decoder = nn.ConvTranspose1d(N, 1, L, stride=L // 2, bias=False)

    def forward(self, mixture):
        """Mixture: [M, T]."""
        w = F.relu(self.encoder(mixture.unsqueeze(1)))
        y = self.bottleneck(self.norm(w))
        for block in self.blocks:
            y = y + block(y)
        m = torch.sigmoid(self.mask(y)).view(w.size(0), self.C, self.N, -1)
        s = (m * w.unsqueeze(1)).flatten(0, 1)
        return self.decoder(s).view(w.size(0), self.C, -1)


class VQVAE(nn.Module):
    def __init__(self, in_channel, channel, n_embed, embed_dim):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(in_channel, channel, 4, 2, 1), nn.ReLU(), nn.Conv2d(channel, embed_dim, 4, 2, 1)
        )
        self.register_buffer("embed", torch.randn(embed_dim, n_embed))
        self.dec = nn.Sequential(
            nn.ConvTranspose2d(embed_dim, channel, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(channel, in_channel, 4, 2, 1)
        )

    def forward(self, input):
        quant, diff, _ = self.quantize(self.enc(input).permute(0, 2, 3, 1))
        return self.dec(quant.permute(0, 3, 1, 2)), diff

    def quantize(self, input):
        flatten = input.reshape(-1, self.embed.shape[0])
        dist = flatten.pow(2).sum(1, keepdim=True) - 2 * flatten @ self.embed + self.embed.pow(2).sum(0, keepdim=True)
        ind = (-dist).max(1)[1].view(*input.shape[:-1])
        quant = F.embedding(ind, self.embed.transpose(0, 1))
        return input + (quant - input).detach(), (quant.detach() - input).pow(2).mean(), ind


class LinearAttentionBlock(nn.Module):
    def __init__(self, dim, heads, dim_head):
        super().__init__()
        self.heads, self.scale = heads, dim_head**-0.5
        self.to_qkv = nn.Conv2d(dim, heads * dim_head * 3, 1, bias=False)
        self.to_out = nn.Sequential(nn.Conv2d(heads * dim_head, dim, 1), nn.GroupNorm(1, dim))

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = (t.reshape(b, self.heads, -1, h * w) for t in self.to_qkv(x).chunk(3, dim=1))
        context = torch.einsum("b h d n, b h e n -> b h d e", k.softmax(dim=-1), v)
        out = torch.einsum("b h d e, b h d n -> b h e n", context, q.softmax(dim=-2) * self.scale)
        return self.to_out(out.reshape(b, -1, h, w)) + x


class SpanClassifier(nn.Module):
    def __init__(self, hidden_size, num_labels):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.qa_outputs = nn.Linear(hidden_size, num_labels)

    def forward(self, sequence_output, attention_mask, start_positions=None, end_positions=None):
        logits = self.qa_outputs(torch.tanh(self.dense(sequence_output)))
        start_logits, end_logits = logits[..., 0], logits[..., 1]
        blocked = (1.0 - attention_mask.float()) * -10000.0
        return start_logits + blocked, end_logits + blocked


class ODEFunc(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 1, hidden), nn.Tanh(), nn.Linear(hidden, dim))

    def forward(self, t, y):
        tt = torch.ones_like(y[:, :1]) * t
        return self.net(torch.cat([tt, y], 1))


class DepthwiseSeparable(nn.Module):
    def __init__(self, in_ch, out_ch, k):
        super().__init__()
        self.depthwise = nn.Conv1d(in_ch, in_ch, k, groups=in_ch, padding=k // 2)
        self.pointwise = nn.Conv1d(in_ch, out_ch, 1)

    def forward(self, x):
        return F.relu(self.pointwise(self.depthwise(x)))


class QANetEncoder(nn.Module):
    def __init__(self, conv_num, d_model, k, n_head):
        super().__init__()
        self.convs = nn.ModuleList([DepthwiseSeparable(d_model, d_model, k) for _ in range(conv_num)])
        self.norms = nn.ModuleList([nn.LayerNorm(d_model) for _ in range(conv_num)])
        self.attn = nn.MultiheadAttention(d_model, n_head, batch_first=True)

    def forward(self, x, mask):
        out = x
        for conv, norm in zip(self.convs, self.norms, strict=True):
            out = conv(norm(out).transpose(1, 2)).transpose(1, 2) + out
        attended, _ = self.attn(out, out, out, key_padding_mask=mask)
        return out + attended
