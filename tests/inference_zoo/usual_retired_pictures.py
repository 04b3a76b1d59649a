"""Usual, once aside: main models of repositories about pictures.

Long because it is a list of models.
"""

from __future__ import annotations

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "CRNN",
    "EDSR",
    "AttentionUNet",
    "MobileFaceNet",
    "PatchDiscriminator",
    "ResNetCIFAR",
    "TripletNetwork",
    "ViT",
]


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != self.expansion * planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, self.expansion * planes, 1, stride, bias=False),
                nn.BatchNorm2d(self.expansion * planes),
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class ResNetCIFAR(nn.Module):
    def __init__(self, block, num_blocks, num_classes=10):
        super().__init__()
        self.in_planes = 16
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = self._make_layer(block, 16, num_blocks[0], stride=1)
        self.layer2 = self._make_layer(block, 32, num_blocks[1], stride=2)
        self.layer3 = self._make_layer(block, 64, num_blocks[2], stride=2)
        self.linear = nn.Linear(64 * block.expansion, num_classes)

    def _make_layer(self, block, planes, num_blocks, stride):
        layers = []
        for s in [stride] + [1] * (num_blocks - 1):
            layers.append(block(self.in_planes, planes, s))
            self.in_planes = planes * block.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer3(self.layer2(self.layer1(out)))
        out = F.avg_pool2d(out, out.size(3))
        return self.linear(out.view(out.size(0), -1))


def resnet20():
    return ResNetCIFAR(BasicBlock, [3, 3, 3])


def resnet56():
    return ResNetCIFAR(BasicBlock, [9, 9, 9])


class conv_block(nn.Module):
    def __init__(self, ch_in, ch_out):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(ch_in, ch_out, 3, 1, 1), nn.BatchNorm2d(ch_out), nn.ReLU(inplace=True),
            nn.Conv2d(ch_out, ch_out, 3, 1, 1), nn.BatchNorm2d(ch_out), nn.ReLU(inplace=True),
        )  # fmt: skip

    def forward(self, x):
        return self.conv(x)


class Attention_block(nn.Module):
    def __init__(self, F_g, F_l, F_int):
        super().__init__()
        self.W_g = nn.Sequential(nn.Conv2d(F_g, F_int, 1), nn.BatchNorm2d(F_int))
        self.W_x = nn.Sequential(nn.Conv2d(F_l, F_int, 1), nn.BatchNorm2d(F_int))
        self.psi = nn.Sequential(nn.Conv2d(F_int, 1, 1), nn.BatchNorm2d(1), nn.Sigmoid())

    def forward(self, g, x):
        return x * self.psi(F.relu(self.W_g(g) + self.W_x(x)))


class AttentionUNet(nn.Module):
    def __init__(self, img_ch=3, output_ch=1):
        super().__init__()
        self.Maxpool = nn.MaxPool2d(2)
        self.Conv1 = conv_block(img_ch, 32)
        self.Conv2 = conv_block(32, 64)
        self.Conv3 = conv_block(64, 128)
        self.Up3 = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(128, 64, 3, 1, 1), nn.ReLU(inplace=True))
        self.Att3 = Attention_block(F_g=64, F_l=64, F_int=32)
        self.Up_conv3 = conv_block(128, 64)
        self.Up2 = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(64, 32, 3, 1, 1), nn.ReLU(inplace=True))
        self.Att2 = Attention_block(F_g=32, F_l=32, F_int=16)
        self.Up_conv2 = conv_block(64, 32)
        self.Conv_1x1 = nn.Conv2d(32, output_ch, 1)

    def forward(self, x):
        x1 = self.Conv1(x)
        x2 = self.Conv2(self.Maxpool(x1))
        x3 = self.Conv3(self.Maxpool(x2))
        d3 = self.Up3(x3)
        d3 = self.Up_conv3(torch.cat((self.Att3(g=d3, x=x2), d3), dim=1))
        d2 = self.Up2(d3)
        d2 = self.Up_conv2(torch.cat((self.Att2(g=d2, x=x1), d2), dim=1))
        return self.Conv_1x1(d2)


def pair(t):
    return t if isinstance(t, tuple) else (t, t)


class Attention(nn.Module):
    def __init__(self, dim, heads=8, dim_head=64, dropout=0.0):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads = heads
        self.scale = dim_head**-0.5
        self.norm = nn.LayerNorm(dim)
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(dropout))

    def forward(self, x):
        b, n, _ = x.shape
        qkv = self.to_qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in qkv)
        attn = (q @ k.transpose(-1, -2) * self.scale).softmax(dim=-1)
        return self.to_out((attn @ v).transpose(1, 2).reshape(b, n, -1))


class ViT(nn.Module):
    def __init__(
        self, *, image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, pool="cls", channels=3, dim_head=64
    ):
        super().__init__()
        image_height, image_width = pair(image_size)
        self.ph, self.pw = pair(patch_size)
        assert image_height % self.ph == 0 and image_width % self.pw == 0, "Image must be divisible by the patch size."
        assert pool in {"cls", "mean"}, "pool type must be either cls (cls token) or mean (mean pooling)"
        num_patches = (image_height // self.ph) * (image_width // self.pw)
        self.to_patch = nn.Conv2d(channels, dim, (self.ph, self.pw), stride=(self.ph, self.pw))
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches + 1, dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            ff = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim))
            self.layers.append(nn.ModuleList([Attention(dim, heads=heads, dim_head=dim_head), ff]))
        self.pool = pool
        self.mlp_head = nn.Linear(dim, num_classes)

    def forward(self, img):
        x = self.to_patch(img).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1)
        x = x + self.pos_embedding
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        x = x.mean(dim=1) if self.pool == "mean" else x[:, 0]
        return self.mlp_head(x)


class Upsampler(nn.Sequential):
    def __init__(self, scale, n_feats):
        m = []
        if (scale & (scale - 1)) == 0:
            for _ in range(int(math.log(scale, 2))):
                m += [nn.Conv2d(n_feats, 4 * n_feats, 3, padding=1), nn.PixelShuffle(2)]
        elif scale == 3:
            m += [nn.Conv2d(n_feats, 9 * n_feats, 3, padding=1), nn.PixelShuffle(3)]
        else:
            raise NotImplementedError
        super().__init__(*m)


class EDSR(nn.Module):
    def __init__(self, n_resblocks, n_feats, scale, n_colors=3, rgb_range=255):
        super().__init__()
        self.rgb_range = rgb_range
        self.head = nn.Conv2d(n_colors, n_feats, 3, padding=1)
        self.body = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(n_feats, n_feats, 3, padding=1), nn.ReLU(True), nn.Conv2d(n_feats, n_feats, 3, padding=1)
            )
            for _ in range(n_resblocks)
        )
        self.tail = nn.Sequential(Upsampler(scale, n_feats), nn.Conv2d(n_feats, n_colors, 3, padding=1))

    def forward(self, x):
        x = self.head(x / self.rgb_range)
        res = x
        for block in self.body:
            res = res + 0.1 * block(res)
        return self.tail(res + x) * self.rgb_range


class TripletNetwork(nn.Module):
    def __init__(self, embedding_dim):
        super().__init__()
        self.embedding = nn.Sequential(
            nn.Conv2d(3, 32, 5), nn.PReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5), nn.PReLU(), nn.AdaptiveAvgPool2d(1),
            nn.Flatten(), nn.Linear(64, embedding_dim),
        )  # fmt: skip

    def embed(self, x):
        return F.normalize(self.embedding(x), dim=1)

    def forward(self, anchor, positive, negative):
        return self.embed(anchor), self.embed(positive), self.embed(negative)


class PatchDiscriminator(nn.Module):
    def __init__(self, input_nc, ndf=64, n_layers=3, norm_layer=nn.BatchNorm2d):
        super().__init__()
        sequence = [nn.Conv2d(input_nc * 2, ndf, 4, 2, 1), nn.LeakyReLU(0.2, True)]
        nf_mult = 1
        for n in range(1, n_layers):
            nf_mult_prev, nf_mult = nf_mult, min(2**n, 8)
            sequence += [
                nn.Conv2d(ndf * nf_mult_prev, ndf * nf_mult, 4, 2, 1, bias=False),
                norm_layer(ndf * nf_mult),
                nn.LeakyReLU(0.2, True),
            ]
        sequence += [nn.Conv2d(ndf * nf_mult, 1, 4, 1, 1)]
        self.model = nn.Sequential(*sequence)

    def forward(self, real_A, fake_B):
        return self.model(torch.cat((real_A, fake_B), 1))


class SELayer(nn.Module):
    def __init__(self, channel, reduction=4):
        super().__init__()
        self.fc = nn.Sequential(
            nn.Linear(channel, channel // reduction), nn.ReLU(), nn.Linear(channel // reduction, channel), nn.Sigmoid()
        )

    def forward(self, x):
        b, c, _, _ = x.size()
        return x * self.fc(x.mean((2, 3))).view(b, c, 1, 1)


class MobileFaceNet(nn.Module):
    # t, c, n, s
    setting = [[2, 64, 2, 2], [4, 128, 1, 2], [2, 128, 2, 1]]

    def __init__(self, embedding_size, width_mult):
        super().__init__()
        c_in = int(64 * width_mult)
        layers = [nn.Conv2d(3, c_in, 3, 2, 1, bias=False), nn.BatchNorm2d(c_in), nn.PReLU(c_in)]
        for t, c, n, s in self.setting:
            for i in range(n):
                c_out = int(c * width_mult)
                layers += [
                    nn.Conv2d(c_in, c_in * t, 1, bias=False), nn.BatchNorm2d(c_in * t), nn.PReLU(c_in * t),
                    nn.Conv2d(c_in * t, c_in * t, 3, s if i == 0 else 1, 1, groups=c_in * t, bias=False),
                    SELayer(c_in * t),
                    nn.Conv2d(c_in * t, c_out, 1, bias=False), nn.BatchNorm2d(c_out),
                ]  # fmt: skip
                c_in = c_out
        self.features = nn.Sequential(*layers)
        # GDConv: pictures are 112 x 112, the map is 14 x 14
        self.gdconv = nn.Conv2d(c_in, c_in, 14, groups=c_in, bias=False)
        self.linear = nn.Linear(c_in, embedding_size)
        self.bn = nn.BatchNorm1d(embedding_size)

    def forward(self, x):
        x = self.gdconv(self.features(x))
        return self.bn(self.linear(x.view(x.size(0), -1)))


class CRNN(nn.Module):
    def __init__(self, imgH, nc, nclass, nh):
        super().__init__()
        if imgH % 16 != 0:
            raise ValueError("imgH has to be a multiple of 16")
        ks, ps, nm = [3, 3, 3, 3, 2], [1, 1, 1, 1, 0], [64, 128, 256, 256, 512]
        cnn = nn.Sequential()
        for i in range(5):
            nIn = nc if i == 0 else nm[i - 1]
            cnn.add_module(f"conv{i}", nn.Conv2d(nIn, nm[i], ks[i], 1, ps[i]))
            cnn.add_module(f"relu{i}", nn.ReLU(True))
            if i < 2:
                cnn.add_module(f"pooling{i}", nn.MaxPool2d(2, 2))
            elif i < 4:
                cnn.add_module(f"pooling{i}", nn.MaxPool2d((2, 2), (2, 1), (0, 1)))
        self.cnn = cnn
        self.rnn = nn.LSTM(512, nh, bidirectional=True)
        self.embedding = nn.Linear(nh * 2, nclass)

    def forward(self, input):
        conv = self.cnn(input)
        b, c, h, w = conv.size()
        assert h == 1, "the height of conv must be 1"
        conv = conv.squeeze(2).permute(2, 0, 1)  # [w, b, c]
        recurrent, _ = self.rnn(conv)
        T, b, h = recurrent.size()
        return self.embedding(recurrent.view(T * b, h)).view(T, b, -1)


if __name__ == "__main__":
    net = resnet20()
    print(net(torch.randn(1, 3, 32, 32)).shape)
    print(sum(p.numel() for p in net.parameters()))
