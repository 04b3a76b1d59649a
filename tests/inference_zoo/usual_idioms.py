"""Usual: idioms of older code and of blogs: short names, hard numbers, `Variable`, steps in the constructor."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

__all__ = [
    "ArticleTagger",
    "Critic",
    "DCGANDiscriminator",
    "ECGNet",
    "FaceEmbedder",
    "HeatPINN",
    "NetG",
    "QueryScorer",
    "RNNModel",
    "SegDecoder",
    "SmokeNet",
    "TSMixer",
    "TrafficSignNet",
]


class NetG(nn.Module):
    def __init__(self, ngf, nz, nc):
        super().__init__()
        # layer1输入的是一个100x1x1的随机噪声, 输出尺寸(ngf*8)x4x4
        self.layer1 = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 8, kernel_size=4, stride=1, padding=0, bias=False),
            nn.BatchNorm2d(ngf * 8),
            nn.ReLU(inplace=True),
        )
        # layer2输出尺寸(ngf*4)x8x8
        self.layer2 = nn.Sequential(
            nn.ConvTranspose2d(ngf * 8, ngf * 4, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf * 4), nn.ReLU(inplace=True)
        )
        self.layer3 = nn.Sequential(
            nn.ConvTranspose2d(ngf * 4, ngf, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf), nn.ReLU(inplace=True)
        )
        # 输出尺寸 3x48x48
        self.layer4 = nn.Sequential(nn.ConvTranspose2d(ngf, nc, 5, 3, 1, bias=False), nn.Tanh())

    # 定义NetG的前向传播
    def forward(self, x):
        out = self.layer1(x)
        out = self.layer2(out)
        out = self.layer3(out)
        return self.layer4(out)


class DCGANDiscriminator(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.ngpu = args.ngpu
        nc, ndf = args.nc, args.ndf
        self.main = nn.Sequential(
            nn.Conv2d(nc, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, ndf * 4, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 4),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 4, ndf * 8, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 8),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 8, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, input):
        if input.is_cuda and self.ngpu > 1:
            output = nn.parallel.data_parallel(self.main, input, range(self.ngpu))
        else:
            output = self.main(input)
        return output.view(-1, 1).squeeze(1)


class RNNModel(nn.Module):
    """Container module with an encoder, a recurrent module, and a decoder."""

    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers, dropout=0.5, tie_weights=False):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        if rnn_type in ["LSTM", "GRU"]:
            self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers, dropout=dropout)
        else:
            try:
                nonlinearity = {"RNN_TANH": "tanh", "RNN_RELU": "relu"}[rnn_type]
            except KeyError:
                raise ValueError("An invalid option for `--model` was supplied")
            self.rnn = nn.RNN(ninp, nhid, nlayers, nonlinearity=nonlinearity, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            if nhid != ninp:
                raise ValueError("When using the tied flag, nhid must be equal to emsize")
            self.decoder.weight = self.encoder.weight
        self.rnn_type, self.nhid, self.nlayers = rnn_type, nhid, nlayers

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        output = self.drop(output)
        decoded = self.decoder(output.view(output.size(0) * output.size(1), output.size(2)))
        return decoded.view(output.size(0), output.size(1), decoded.size(1)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        if self.rnn_type == "LSTM":
            return (
                Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()),
                Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()),
            )
        return Variable(weight.new(self.nlayers, bsz, self.nhid).zero_())


class ECGNet(nn.Module):
    # 心电图分类: 输入 (batch, 12, 5000)
    def __init__(self, n_leads, n_class, base_filters=16):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(n_leads, base_filters, 15, stride=2, padding=7),
            nn.BatchNorm1d(base_filters),
            nn.ReLU(),
            nn.MaxPool1d(3, 2, 1),
        )
        self.gru = nn.GRU(base_filters, 32, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(64, n_class)

    def forward(self, x):
        x = self.conv(x).permute(0, 2, 1)
        x, _ = self.gru(x)
        return self.fc(x.max(1)[0])


class SmokeNet(nn.Module):
    def __init__(self, n_output):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, n_output)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = F.max_pool2d(x, 2).view(-1, 9216)
        return F.log_softmax(self.fc2(F.dropout(F.relu(self.fc1(x)), training=self.training)), dim=1)


class SegDecoder(nn.Module):
    def __init__(self, in_dims, embed_dim, n_class):
        super().__init__()
        self.proj = nn.ModuleList([nn.Conv2d(c, embed_dim, 1) for c in in_dims])
        self.fuse = nn.Conv2d(embed_dim * len(in_dims), embed_dim, 1)
        self.pred = nn.Conv2d(embed_dim, n_class, 1)

    def forward(self, feats):
        size = feats[0].size()[2:]
        outs = [F.interpolate(p(f), size=size, mode="bilinear") for p, f in zip(self.proj, feats)]
        return self.pred(F.relu(self.fuse(torch.cat(outs, 1))))


class TSMixer(nn.Module):
    def __init__(self, seq_len, pred_len, enc_in, n_block, d_ff, dropout=0.1):
        super().__init__()
        self.time = nn.ModuleList([nn.Linear(seq_len, seq_len) for _ in range(n_block)])
        self.chan = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(enc_in, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, enc_in))
                for _ in range(n_block)
            ]
        )
        self.projection = nn.Linear(seq_len, pred_len)

    def mlp(self, n, d, p):
        return nn.Sequential(nn.Linear(n, d), nn.ReLU(), nn.Dropout(p), nn.Linear(d, n))

    def forward(self, x_enc):
        for t, c in zip(self.time, self.chan):
            x_enc = x_enc + t(x_enc.transpose(1, 2)).transpose(1, 2)
            x_enc = x_enc + c(x_enc)
        return self.projection(x_enc.transpose(1, 2)).transpose(1, 2)


class QueryScorer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg.n_words, cfg.emb_dim, padding_idx=0)
        self.rnn = nn.GRU(cfg.emb_dim, cfg.hid_dim, batch_first=True)
        self.W = nn.Parameter(torch.empty(cfg.hid_dim, cfg.hid_dim).uniform_(-0.1, 0.1))

    def forward(self, query, doc):
        _, q = self.rnn(self.emb(query))
        _, d = self.rnn(self.emb(doc))
        return torch.sum(q.squeeze(0).mm(self.W) * d.squeeze(0), 1)


class Critic(nn.Module):
    def __init__(self, s_dim, a_dim):
        super().__init__()
        self.fcs = nn.Linear(s_dim, 30)
        self.fca = nn.Linear(a_dim, 30)
        self.out = nn.Linear(30, 1)

    def forward(self, s, a):
        return self.out(F.relu(self.fcs(s) + self.fca(a)))


class FaceEmbedder(nn.Module):
    def __init__(self, feat_dim, im_size=112):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 64, 3, 2, 1, bias=False), nn.PReLU(64), nn.Conv2d(64, 128, 3, 2, 1, bias=False), nn.PReLU(128)
        )
        self.linear = nn.Linear(128 * (im_size // 4) ** 2, feat_dim)
        self.bn = nn.BatchNorm1d(feat_dim)

    def forward(self, imgs):
        assert imgs.size(2) == imgs.size(3) == 112, "aligned faces only"
        x = self.body(imgs)
        return F.normalize(self.bn(self.linear(x.view(x.size(0), -1))))


class TrafficSignNet(nn.Module):
    def __init__(self, nclasses):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(3, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU()
        )
        self.loc = nn.Sequential(nn.Linear(20 * 5 * 5, 32), nn.ReLU(True), nn.Linear(32, 3 * 2))
        self.fc = nn.Linear(3 * 32 * 32, nclasses)

    def forward(self, x):
        theta = self.loc(self.conv(x).view(-1, 20 * 5 * 5)).view(-1, 2, 3)
        x = F.grid_sample(x, F.affine_grid(theta, x.size()))
        return self.fc(x.contiguous().view(x.size(0), -1))


class HeatPINN(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.depth = len(layers) - 1
        self.linears = nn.ModuleList([nn.Linear(layers[i], layers[i + 1]) for i in range(self.depth)])

    def forward(self, x, t):
        u = torch.cat([x, t], dim=1)
        for i in range(self.depth - 1):
            u = torch.tanh(self.linears[i](u))
        return self.linears[-1](u)


class ArticleTagger(nn.Module):
    def __init__(self, n_vocab, maxlen, dim, n_tags, device=None):
        super().__init__()
        self.tok, self.pos = nn.Embedding(n_vocab, dim), nn.Embedding(maxlen, dim)
        self.enc = nn.TransformerEncoderLayer(dim, 4, dim * 2, batch_first=True)
        self.cls = nn.Linear(dim, n_tags)

    def forward(self, ids):
        pos = torch.arange(ids.size(1), device=ids.device).unsqueeze(0).expand_as(ids)
        return self.cls(self.enc(self.tok(ids) + self.pos(pos), src_key_padding_mask=ids.eq(0)))
