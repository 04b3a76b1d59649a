"""Usual: further small networks, of pictures, bands, sounds and tables.

Long because it is a list of models.
"""

from __future__ import annotations

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

__all__ = [
    "DisparityNet",
    "Generator",
    "HashNet",
    "HybridSpectral",
    "KANNet",
    "MoAConv",
    "OpenUnmix",
    "PoseNet",
    "RelationNetwork",
    "SpeechEmotion",
]


def convbn(in_planes, out_planes, kernel_size, stride, pad, dilation):
    return nn.Sequential(
        nn.Conv2d(in_planes, out_planes, kernel_size, stride, dilation if dilation > 1 else pad, dilation, bias=False),
        nn.BatchNorm2d(out_planes),
    )


class DisparityNet(nn.Module):
    """Depth from two views: costs of all shifts up to maxdisp."""

    def __init__(self, maxdisp):
        super().__init__()
        self.maxdisp = maxdisp
        self.feature = nn.Sequential(
            convbn(3, 32, 3, 2, 1, 1),
            nn.ReLU(inplace=True),
            convbn(32, 32, 3, 2, 1, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(32, 32, 3, 1, 1),
        )
        self.dres0 = nn.Sequential(nn.Conv3d(64, 32, 3, padding=1), nn.BatchNorm3d(32), nn.ReLU(inplace=True))
        self.classify = nn.Conv3d(32, 1, 3, padding=1, bias=False)

    def forward(self, left, right):
        refimg_fea = self.feature(left)
        targetimg_fea = self.feature(right)
        cost = Variable(
            torch.FloatTensor(
                refimg_fea.size()[0],
                refimg_fea.size()[1] * 2,
                self.maxdisp // 4,
                refimg_fea.size()[2],
                refimg_fea.size()[3],
            ).zero_()
        )
        for i in range(self.maxdisp // 4):
            if i > 0:
                cost[:, : refimg_fea.size()[1], i, :, i:] = refimg_fea[:, :, :, i:]
                cost[:, refimg_fea.size()[1] :, i, :, i:] = targetimg_fea[:, :, :, :-i]
            else:
                cost[:, : refimg_fea.size()[1], i, :, :] = refimg_fea
                cost[:, refimg_fea.size()[1] :, i, :, :] = targetimg_fea
        cost = self.classify(self.dres0(cost.contiguous()))
        cost = F.upsample(cost, [self.maxdisp, left.size()[2], left.size()[3]], mode="trilinear")
        pred = F.softmax(torch.squeeze(cost, 1), dim=1)
        disp = torch.arange(self.maxdisp, dtype=pred.dtype, device=pred.device).view(1, -1, 1, 1)
        return torch.sum(pred * disp, 1)


class Generator(nn.Module):
    """Digits of a wanted class from noise."""

    def __init__(self, opt):
        super().__init__()
        self.label_emb = nn.Embedding(opt.n_classes, opt.latent_dim)
        self.init_size = opt.img_size // 4
        self.l1 = nn.Sequential(nn.Linear(opt.latent_dim, 128 * self.init_size**2))
        self.conv_blocks = nn.Sequential(
            nn.BatchNorm2d(128),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(128, 128, 3, stride=1, padding=1),
            nn.BatchNorm2d(128, 0.8),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(128, 64, 3, stride=1, padding=1),
            nn.BatchNorm2d(64, 0.8),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(64, opt.channels, 3, stride=1, padding=1),
            nn.Tanh(),
        )

    def forward(self, noise, labels):
        gen_input = torch.mul(self.label_emb(labels), noise)
        out = self.l1(gen_input)
        out = out.view(out.shape[0], 128, self.init_size, self.init_size)
        return self.conv_blocks(out)


class HashNet(nn.Module):
    def __init__(self, hash_bit, pretrained=False):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(64, 192, kernel_size=5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(192, 256, kernel_size=3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
        )
        self.hash_layer = nn.Sequential(
            nn.Dropout(), nn.Linear(256 * 6 * 6, 1024), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(1024, hash_bit)
        )
        self.iter_num = 0
        self.step_size = 200
        self.gamma = 0.005
        self.init_scale = 1.0
        self.scale = self.init_scale

    def forward(self, x):
        if self.training:
            self.iter_num += 1
            if self.iter_num % self.step_size == 0:
                self.scale = self.init_scale * (math.pow((1.0 + self.gamma * self.iter_num), 0.5))
        x = self.features(x)
        x = x.view(x.size(0), 256 * 6 * 6)
        y = self.hash_layer(x)
        return F.tanh(self.scale * y)


class HybridSpectral(nn.Module):
    """Land cover of the pixel in the middle of a patch with many bands."""

    def __init__(self, num_bands=30, num_classes=16, patch_size=25):
        super().__init__()
        self.conv3d_1 = nn.Sequential(nn.Conv3d(1, 8, (7, 3, 3)), nn.ReLU())
        self.conv3d_2 = nn.Sequential(nn.Conv3d(8, 16, (5, 3, 3)), nn.ReLU())
        self.conv3d_3 = nn.Sequential(nn.Conv3d(16, 32, (3, 3, 3)), nn.ReLU())
        self.conv2d_4 = nn.Sequential(nn.Conv2d(32 * (num_bands - 12), 64, 3), nn.ReLU())
        self.fc1 = nn.Linear(64 * (patch_size - 8) ** 2, 256)
        self.fc2 = nn.Linear(256, 128)
        self.fc3 = nn.Linear(128, num_classes)
        self.dropout = nn.Dropout(p=0.4)

    def forward(self, x):
        out = self.conv3d_1(x)
        out = self.conv3d_2(out)
        out = self.conv3d_3(out)
        out = self.conv2d_4(out.reshape(out.shape[0], -1, out.shape[3], out.shape[4]))
        out = out.reshape(out.shape[0], -1)
        out = self.dropout(F.relu(self.fc1(out)))
        out = self.dropout(F.relu(self.fc2(out)))
        return self.fc3(out)


class KANLinear(nn.Module):
    def __init__(self, in_features, out_features, grid_size=5, spline_order=3, grid_range=[-1, 1]):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.grid_size = grid_size
        self.spline_order = spline_order
        h = (grid_range[1] - grid_range[0]) / grid_size
        grid = (
            (torch.arange(-spline_order, grid_size + spline_order + 1) * h + grid_range[0])
            .expand(in_features, -1)
            .contiguous()
        )
        self.register_buffer("grid", grid)
        self.base_weight = nn.Parameter(torch.randn(out_features, in_features))
        self.spline_weight = nn.Parameter(torch.randn(out_features, in_features, grid_size + spline_order))

    def b_splines(self, x):
        assert x.dim() == 2 and x.size(1) == self.in_features
        grid = self.grid
        x = x.unsqueeze(-1)
        bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
        for k in range(1, self.spline_order + 1):
            bases = ((x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)]) * bases[:, :, :-1]) + (
                (grid[:, k + 1 :] - x) / (grid[:, k + 1 :] - grid[:, 1:(-k)]) * bases[:, :, 1:]
            )
        assert bases.size() == (x.size(0), self.in_features, self.grid_size + self.spline_order)
        return bases.contiguous()

    def forward(self, x):
        base_output = F.linear(F.silu(x), self.base_weight)
        spline_output = F.linear(self.b_splines(x).view(x.size(0), -1), self.spline_weight.view(self.out_features, -1))
        return base_output + spline_output


class KANNet(nn.Module):
    def __init__(self, layers_hidden, grid_size=5, spline_order=3):
        super().__init__()
        self.layers = nn.ModuleList()
        for in_features, out_features in zip(layers_hidden, layers_hidden[1:]):
            self.layers.append(KANLinear(in_features, out_features, grid_size=grid_size, spline_order=spline_order))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class MoAConv(nn.Module):
    def __init__(self, num_features, num_targets, hidden_size):
        super().__init__()
        cha_1, cha_2, cha_3 = 256, 512, 512
        self.cha_1 = cha_1
        self.cha_po_1 = int(hidden_size / cha_1)
        self.cha_po_2 = int(hidden_size / cha_1 / 2 / 2) * cha_3
        self.batch_norm1 = nn.BatchNorm1d(num_features)
        self.dense1 = nn.utils.weight_norm(nn.Linear(num_features, hidden_size))
        self.batch_norm_c1 = nn.BatchNorm1d(cha_1)
        self.conv1 = nn.utils.weight_norm(
            nn.Conv1d(cha_1, cha_2, kernel_size=5, stride=1, padding=2, bias=False), dim=None
        )
        self.ave_po_c1 = nn.AdaptiveAvgPool1d(output_size=int(hidden_size / cha_1 / 2))
        self.conv2 = nn.Conv1d(cha_2, cha_3, kernel_size=3, stride=1, padding=1, bias=True)
        self.max_po_c2 = nn.MaxPool1d(kernel_size=4, stride=2, padding=1)
        self.flt = nn.Flatten()
        self.dense3 = nn.utils.weight_norm(nn.Linear(self.cha_po_2, num_targets))

    def forward(self, x):
        x = F.celu(self.dense1(self.batch_norm1(x)), alpha=0.06)
        x = x.reshape(x.shape[0], self.cha_1, self.cha_po_1)
        x = F.relu(self.conv1(self.batch_norm_c1(x)))
        x = self.ave_po_c1(x)
        x = F.relu(self.conv2(x))
        x = self.max_po_c2(x)
        return self.dense3(self.flt(x))


class OpenUnmix(nn.Module):
    """Which part of a song's spectrogram is one instrument's?"""

    def __init__(self, nb_bins=2049, nb_channels=2, hidden_size=512, nb_layers=3, max_bin=None):
        super().__init__()
        self.nb_output_bins = nb_bins
        self.nb_bins = max_bin or nb_bins
        self.hidden_size = hidden_size
        self.fc1 = nn.Linear(self.nb_bins * nb_channels, hidden_size, bias=False)
        self.bn1 = nn.BatchNorm1d(hidden_size)
        self.lstm = nn.LSTM(
            hidden_size, hidden_size // 2, nb_layers, bidirectional=True, batch_first=False, dropout=0.4
        )
        self.fc2 = nn.Linear(hidden_size * 2, hidden_size, bias=False)
        self.bn2 = nn.BatchNorm1d(hidden_size)
        self.fc3 = nn.Linear(hidden_size, self.nb_output_bins * nb_channels, bias=False)
        self.bn3 = nn.BatchNorm1d(self.nb_output_bins * nb_channels)

    def forward(self, x):
        x = x.permute(3, 0, 1, 2)
        nb_frames, nb_samples, nb_channels, nb_bins = x.data.shape
        mix = x.detach().clone()
        x = x[..., : self.nb_bins]
        x = self.fc1(x.reshape(-1, nb_channels * self.nb_bins))
        x = self.bn1(x)
        x = torch.tanh(x.reshape(nb_frames, nb_samples, self.hidden_size))
        lstm_out = self.lstm(x)
        x = torch.cat([x, lstm_out[0]], -1)
        x = F.relu(self.bn2(self.fc2(x.reshape(-1, x.shape[-1]))))
        x = self.bn3(self.fc3(x))
        x = x.reshape(nb_frames, nb_samples, nb_channels, self.nb_output_bins)
        x = F.relu(x) * mix
        return x.permute(1, 2, 3, 0)


class Residual(nn.Module):
    def __init__(self, inp_dim, out_dim):
        super().__init__()
        self.conv1 = nn.Conv2d(inp_dim, int(out_dim / 2), 1)
        self.conv2 = nn.Conv2d(int(out_dim / 2), out_dim, 3, padding=1)
        self.skip_layer = nn.Conv2d(inp_dim, out_dim, 1)

    def forward(self, x):
        return self.conv2(F.relu(self.conv1(F.relu(x)))) + self.skip_layer(x)


class Hourglass(nn.Module):
    def __init__(self, n, f, increase=0):
        super().__init__()
        nf = f + increase
        self.up1 = Residual(f, f)
        self.pool1 = nn.MaxPool2d(2, 2)
        self.low1 = Residual(f, nf)
        self.n = n
        self.low2 = Hourglass(n - 1, nf) if self.n > 1 else Residual(nf, nf)
        self.low3 = Residual(nf, f)
        self.up2 = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, x):
        up1 = self.up1(x)
        low3 = self.low3(self.low2(self.low1(self.pool1(x))))
        return up1 + self.up2(low3)


class PoseNet(nn.Module):
    def __init__(self, nstack, inp_dim, oup_dim, increase=0, **kwargs):
        super().__init__()
        self.nstack = nstack
        self.pre = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3), Residual(64, 128), nn.MaxPool2d(2, 2), Residual(128, 128), Residual(128, inp_dim)
        )
        self.hgs = nn.ModuleList([Hourglass(4, inp_dim, increase) for i in range(nstack)])
        self.features = nn.ModuleList([Residual(inp_dim, inp_dim) for i in range(nstack)])
        self.outs = nn.ModuleList([nn.Conv2d(inp_dim, oup_dim, 1) for i in range(nstack)])
        self.merge_features = nn.ModuleList([nn.Conv2d(inp_dim, inp_dim, 1) for i in range(nstack - 1)])
        self.merge_preds = nn.ModuleList([nn.Conv2d(oup_dim, inp_dim, 1) for i in range(nstack - 1)])

    def forward(self, imgs):
        x = imgs.permute(0, 3, 1, 2)  # x of size 1,3,inpdim,inpdim
        x = self.pre(x)
        combined_hm_preds = []
        for i in range(self.nstack):
            feature = self.features[i](self.hgs[i](x))
            preds = self.outs[i](feature)
            combined_hm_preds.append(preds)
            if i < self.nstack - 1:
                x = x + self.merge_preds[i](preds) + self.merge_features[i](feature)
        return torch.stack(combined_hm_preds, 1)


class RelationNetwork(nn.Module):
    """How alike are an example and a query? From their maps, one upon the other."""

    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.layer1 = nn.Sequential(
            nn.Conv2d(128, 64, kernel_size=3, padding=0), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.layer2 = nn.Sequential(
            nn.Conv2d(64, 64, kernel_size=3, padding=0), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.fc1 = nn.Linear(input_size * 3 * 3, hidden_size)
        self.fc2 = nn.Linear(hidden_size, 1)

    def forward(self, x):
        out = self.layer2(self.layer1(x))
        out = out.view(out.size(0), -1)
        out = F.relu(self.fc1(out))
        return F.sigmoid(self.fc2(out))


class SpeechEmotion(nn.Module):
    def __init__(self, n_mfcc, n_emotions, lstm_hidden=128):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(n_mfcc, 64, 5, padding=2), nn.BatchNorm1d(64), nn.ReLU(), nn.MaxPool1d(2), nn.Dropout(0.3),
            nn.Conv1d(64, 128, 5, padding=2), nn.BatchNorm1d(128), nn.ReLU(), nn.MaxPool1d(2), nn.Dropout(0.3),
        )  # fmt: skip
        self.lstm = nn.LSTM(128, lstm_hidden, batch_first=True, bidirectional=True)
        self.attn = nn.Linear(2 * lstm_hidden, 1)
        self.fc = nn.Linear(2 * lstm_hidden, n_emotions)

    def forward(self, mfcc):
        # mfcc: (batch, time, n_mfcc)
        h = self.conv(mfcc.transpose(1, 2)).transpose(1, 2)
        h, _ = self.lstm(h)
        w = torch.softmax(self.attn(h), dim=1)
        return self.fc((w * h).sum(1))
