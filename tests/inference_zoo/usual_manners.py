"""Usual: other manners of writing: no hints, comments in other languages, short names, namespaces, old idioms.

Long because it is a list of models.
"""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = [
    "MCNN",
    "AttnUNet",
    "ConvAE",
    "CrackNet",
    "DeepLOB",
    "GestureLSTM",
    "KeypointNet",
    "LeafClassifier",
    "PinyinModel",
    "SpikingNet",
    "StyleTransformer",
    "Wetternetz",
]

IMG_SIZE = 64
NUM_JOINTS = 17
HIDDEN = 256


class LeafClassifier(nn.Module):
    # Классификатор болезней листьев, курсовая работа
    def __init__(self, n_diseases):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(64 * 30 * 30, 128)
        self.fc2 = nn.Linear(128, n_diseases)

    def forward(self, x):
        # вход: (N, 3, 128, 128)
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(x.size(0), -1)
        x = F.dropout(F.relu(self.fc1(x)), training=self.training)
        return F.log_softmax(self.fc2(x))


class Wetternetz(nn.Module):
    """Vorhersage der Temperatur aus den Messungen der letzten Tage."""

    def __init__(self, anzahl_merkmale, versteckt, schichten, vorhersage):
        super().__init__()
        self.schichten, self.versteckt = schichten, versteckt
        self.lstm = nn.LSTM(anzahl_merkmale, versteckt, schichten, batch_first=True)
        self.linear = nn.Linear(versteckt, vorhersage)

    def forward(self, eingabe):
        h0 = torch.zeros(self.schichten, eingabe.size(0), self.versteckt)
        c0 = torch.zeros(self.schichten, eingabe.size(0), self.versteckt)
        ausgabe, _ = self.lstm(eingabe, (h0, c0))
        return self.linear(ausgabe[:, -1, :])


class CrackNet(nn.Sequential):
    """Risse in Beton erkennen."""

    def __init__(self, in_ch=3, start=16, n_stufen=3):
        schichten = []
        for _ in range(n_stufen):
            schichten += [nn.Conv2d(in_ch, start, 3, padding=1), nn.BatchNorm2d(start), nn.ReLU(), nn.MaxPool2d(2)]
            in_ch, start = start, start * 2
        super().__init__(*schichten, nn.AdaptiveAvgPool2d((4, 4)), nn.Flatten(), nn.Linear(in_ch * 16, 2))


class ConvAE(nn.Module):
    # auto-encodeur pour la détection d'anomalies (images 1 canal)
    def __init__(self, taille_latente):
        super().__init__()
        self.encodeur = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 64, 7),
        )
        self.vers_latent = nn.Linear(64, taille_latente)
        self.depuis_latent = nn.Linear(taille_latente, 64)
        self.decodeur = nn.Sequential(
            nn.ConvTranspose2d(64, 32, 7),
            nn.ReLU(),
            nn.ConvTranspose2d(32, 16, 3, stride=2, padding=1, output_padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(16, 1, 3, stride=2, padding=1, output_padding=1),
            nn.Sigmoid(),
        )

    def forward(self, image):
        h = self.encodeur(image)
        z = self.vers_latent(h.view(h.size(0), -1))
        h = self.depuis_latent(z).view(-1, 64, 1, 1)
        return self.decodeur(h), z


class DeepLOB(nn.Module):
    def __init__(self, y_len, device="cpu"):
        super().__init__()
        self.y_len = y_len
        self.device = device
        self.conv1 = nn.Sequential(
            nn.Conv2d(1, 32, (1, 2), stride=(1, 2)),
            nn.LeakyReLU(0.01),
            nn.BatchNorm2d(32),
            nn.Conv2d(32, 32, (4, 1)),
            nn.LeakyReLU(0.01),
        )
        self.conv2 = nn.Sequential(
            nn.Conv2d(32, 32, (1, 2), stride=(1, 2)), nn.Tanh(), nn.Conv2d(32, 32, (4, 1)), nn.Tanh()
        )
        self.conv3 = nn.Sequential(
            nn.Conv2d(32, 32, (1, 10)), nn.LeakyReLU(0.01), nn.Conv2d(32, 32, (4, 1)), nn.BatchNorm2d(32)
        )
        self.inp1 = nn.Sequential(nn.Conv2d(32, 64, (1, 1), padding="same"), nn.Conv2d(64, 64, (3, 1), padding="same"))
        self.inp2 = nn.Sequential(nn.Conv2d(32, 64, (1, 1), padding="same"), nn.Conv2d(64, 64, (5, 1), padding="same"))
        self.inp3 = nn.Sequential(
            nn.MaxPool2d((3, 1), stride=(1, 1), padding=(1, 0)), nn.Conv2d(32, 64, (1, 1), padding="same")
        )
        self.lstm = nn.LSTM(input_size=192, hidden_size=64, num_layers=1, batch_first=True)
        self.fc1 = nn.Linear(64, self.y_len)

    def forward(self, x):
        h0 = torch.zeros(1, x.size(0), 64).to(self.device)
        c0 = torch.zeros(1, x.size(0), 64).to(self.device)
        x = self.conv3(self.conv2(self.conv1(x)))
        x = torch.cat((self.inp1(x), self.inp2(x), self.inp3(x)), dim=1)
        x = x.permute(0, 2, 1, 3)
        x = torch.reshape(x, (-1, x.shape[1], x.shape[2]))
        x, _ = self.lstm(x, (h0, c0))
        return torch.softmax(self.fc1(x[:, -1, :]), dim=1)


class KeypointNet(nn.Module):
    def __init__(self, hparams):
        super().__init__()
        ch = hparams["base_ch"]
        self.stem = nn.Sequential(nn.Conv2d(3, ch, 3, 2, 1), nn.BatchNorm2d(ch), nn.ReLU(True))
        self.down = nn.ModuleList(
            [
                nn.Sequential(nn.Conv2d(ch * 2**i, ch * 2 ** (i + 1), 3, 2, 1), nn.ReLU(True))
                for i in range(hparams["n_down"])
            ]
        )
        self.heat = nn.Conv2d(ch * 2 ** hparams["n_down"], NUM_JOINTS, 1)
        self.drop = nn.Dropout2d(hparams.get("dropout", 0.1))

    def forward(self, img):
        x = self.stem(img)
        for d in self.down:
            x = d(x)
        hm = F.upsample(self.heat(self.drop(x)), size=(IMG_SIZE, IMG_SIZE), mode="bilinear")
        b, k, h, w = hm.size()
        p = F.softmax(hm.view(b, k, -1), dim=2).view(b, k, h, w)
        xs = torch.linspace(0, 1, w)
        ys = torch.linspace(0, 1, h)
        return torch.stack([(p.sum(2) * xs).sum(-1), (p.sum(3) * ys).sum(-1)], -1), hm


class GestureLSTM(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.opt = opt
        self.embed = nn.Linear(opt.n_joints * 3, HIDDEN)
        self.rnn = nn.LSTM(HIDDEN, HIDDEN, opt.n_layers, batch_first=True, bidirectional=opt.bidirectional)
        self.out = nn.Linear(HIDDEN * (2 if opt.bidirectional else 1), opt.n_gestures)

    def forward(self, *inputs):
        skel = inputs[0]
        bs, T, J, C = skel.size()
        assert J == self.opt.n_joints and C == 3
        x = F.relu(self.embed(skel.view(bs, T, J * C)))
        x, _ = self.rnn(x)
        return self.out(x.mean(1))


class MCNN(nn.Module):
    """Multi-column CNN. -Implementation of a crowd counter"""

    def __init__(self, bn=False, load_weights=None):
        super().__init__()
        self.branch1 = nn.Sequential(
            nn.Conv2d(1, 16, 9, padding=4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 7, padding=3), nn.MaxPool2d(2)
        )
        self.branch2 = nn.Sequential(
            nn.Conv2d(1, 20, 7, padding=3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 40, 5, padding=2), nn.MaxPool2d(2)
        )
        self.branch3 = nn.Sequential(
            nn.Conv2d(1, 24, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 48, 3, padding=1), nn.MaxPool2d(2)
        )
        self.fuse = nn.Conv2d(120, 1, 1)
        if load_weights is not None:
            self.load_state_dict(torch.load(load_weights))

    def forward(self, im_data):
        x1 = self.branch1(im_data)
        x2 = self.branch2(im_data)
        x3 = self.branch3(im_data)
        return self.fuse(torch.cat((x1, x2, x3), 1))


class SpikeFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, g):
        (v,) = ctx.saved_tensors
        return g / (1 + 10 * v.abs()) ** 2


class SpikingNet(nn.Module):
    def __init__(self, num_inputs, num_hidden, num_outputs, num_steps, beta):
        super().__init__()
        self.num_steps, self.beta = num_steps, beta
        self.fc1 = nn.Linear(num_inputs, num_hidden)
        self.fc2 = nn.Linear(num_hidden, num_outputs)

    def forward(self, x):
        mem1 = torch.zeros(x.size(0), self.fc1.out_features, device=x.device)
        mem2 = torch.zeros(x.size(0), self.fc2.out_features, device=x.device)
        spk_rec, mem_rec = [], []
        for _ in range(self.num_steps):
            mem1 = self.beta * mem1 + self.fc1(x.flatten(1))
            spk1 = SpikeFn.apply(mem1 - 1.0)
            mem1 = mem1 - spk1
            mem2 = self.beta * mem2 + self.fc2(spk1)
            spk2 = SpikeFn.apply(mem2 - 1.0)
            mem2 = mem2 - spk2
            spk_rec.append(spk2)
            mem_rec.append(mem2)
        return torch.stack(spk_rec, dim=0), torch.stack(mem_rec, dim=0)


class PinyinModel(nn.Module):
    # 拼音转汉字
    def __init__(self, pinyin_size, hanzi_size, 嵌入维度=128, 隐藏维度=256):
        super().__init__()
        self.词嵌入 = nn.Embedding(pinyin_size, 嵌入维度, padding_idx=0)
        self.编码器 = nn.GRU(嵌入维度, 隐藏维度 // 2, bidirectional=True, batch_first=True)
        self.输出层 = nn.Linear(隐藏维度, hanzi_size)

    def forward(self, 拼音):
        向量 = self.词嵌入(拼音)
        状态, _ = self.编码器(向量)
        return self.输出层(状态)


class UpsampleConvLayer(nn.Module):
    def __init__(self, in_ch, out_ch, k, s, upsample=None):
        super().__init__()
        self.upsample = upsample
        self.pad = nn.ReflectionPad2d(k // 2)
        self.conv2d = nn.Conv2d(in_ch, out_ch, k, s)

    def forward(self, x):
        if self.upsample:
            x = F.upsample(x, scale_factor=self.upsample, mode="nearest")
        return self.conv2d(self.pad(x))


class StyleTransformer(nn.Module):
    def __init__(self, norm_type, n_res):
        super().__init__()
        norm = {"instance": nn.InstanceNorm2d, "batch": nn.BatchNorm2d}[norm_type]
        self.enc = nn.Sequential(
            UpsampleConvLayer(3, 32, 9, 1), norm(32), nn.ReLU(), UpsampleConvLayer(32, 64, 3, 2), norm(64), nn.ReLU()
        )
        self.res = nn.ModuleList(
            [nn.Sequential(UpsampleConvLayer(64, 64, 3, 1), norm(64), nn.ReLU()) for _ in range(n_res)]
        )
        self.dec = nn.Sequential(
            UpsampleConvLayer(64, 32, 3, 1, 2), norm(32), nn.ReLU(), UpsampleConvLayer(32, 3, 9, 1)
        )

    def forward(self, X):
        y = self.enc(X)
        for blk in self.res:
            y = y + blk(y)
        return torch.clamp(self.dec(y), 0, 255), y


class AttnUNet(nn.Module):
    def __init__(self, img_ch, output_ch, nf=(16, 32, 64)):
        super().__init__()
        self.down = nn.ModuleList([self.block(i, o) for i, o in zip((img_ch, *nf), nf)])
        self.pool = nn.MaxPool2d(2)
        self.gate_g = nn.ModuleList([nn.Conv2d(o, i, 1) for i, o in zip(nf, nf[1:])])
        self.gate_x = nn.ModuleList([nn.Conv2d(i, i, 1) for i in nf[:-1]])
        self.psi = nn.ModuleList([nn.Conv2d(i, 1, 1) for i in nf[:-1]])
        self.up = nn.ModuleList([self.block(i + o, i) for i, o in zip(nf, nf[1:])])
        self.out = nn.Conv2d(nf[0], output_ch, 1)

    def block(self, i, o):
        return nn.Sequential(nn.Conv2d(i, o, 3, 1, 1), nn.BatchNorm2d(o), nn.ReLU(True))

    def forward(self, inputs):
        skips, x = [], inputs
        for k, layer in enumerate(self.down):
            x = layer(x if k == 0 else self.pool(x))
            skips.append(x)
        for k in reversed(range(len(self.up))):
            x = F.interpolate(x, scale_factor=2)
            s = skips[k]
            a = torch.sigmoid(self.psi[k](F.relu(self.gate_g[k](x) + self.gate_x[k](s))))
            x = self.up[k](torch.cat([s * a, x], 1))
        return self.out(x)
