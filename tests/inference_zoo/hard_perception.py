"""Hard: speech, images, scenes, clips and proteins, with lengths, masks, targets, cameras and pairs.

Long because it is a list of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

__all__ = [
    "AcousticModel",
    "ConformerCTC",
    "DenoisingUNet",
    "DenseDetector",
    "EvoStack",
    "LiftSplat",
    "MissingModalityNet",
    "PointSetSegmenter",
    "RadianceField",
    "RecurrentFlow",
    "SlowFastNet",
    "SpeakerVerifier",
    "StereoNet",
    "Transducer",
    "VolumeSegmenter",
]


@dataclass
class ConformerConfig:
    n_mels: int = 80
    d_model: int = 144
    n_heads: int = 4
    n_layers: int = 2
    conv_kernel: int = 15
    ff_mult: int = 4
    dropout: float = 0.1
    vocab_size: int = 29


def lengths_to_mask(lengths: Tensor, max_len: int) -> Tensor:
    return torch.arange(max_len, device=lengths.device)[None, :] >= lengths[:, None]


class ConvSubsampling(nn.Module):
    def __init__(self, n_mels, d_model):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, d_model, 3, stride=2), nn.ReLU(), nn.Conv2d(d_model, d_model, 3, stride=2), nn.ReLU()
        )
        self.out = nn.Linear(d_model * (((n_mels - 1) // 2 - 1) // 2), d_model)

    def forward(self, x, lengths):
        x = self.conv(x.unsqueeze(1))
        b, c, t, f = x.size()
        x = self.out(x.transpose(1, 2).contiguous().view(b, t, c * f))
        return x, ((lengths - 1) // 2 - 1) // 2


class ConvModule(nn.Module):
    def __init__(self, d, kernel):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.pw1 = nn.Conv1d(d, 2 * d, 1)
        self.dw = nn.Conv1d(d, d, kernel, padding=kernel // 2, groups=d)
        self.bn = nn.BatchNorm1d(d)
        self.pw2 = nn.Conv1d(d, d, 1)

    def forward(self, x, pad_mask=None):
        x = F.glu(self.pw1(self.norm(x).transpose(1, 2)), dim=1)
        if pad_mask is not None:
            x = x.masked_fill(pad_mask.unsqueeze(1), 0.0)
        return self.pw2(F.silu(self.bn(self.dw(x)))).transpose(1, 2)


class ConformerBlock(nn.Module):
    def __init__(self, cfg: ConformerConfig):
        super().__init__()
        d = cfg.d_model
        self.ff1 = nn.Sequential(
            nn.LayerNorm(d), nn.Linear(d, d * cfg.ff_mult), nn.SiLU(), nn.Linear(d * cfg.ff_mult, d)
        )
        self.norm = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, cfg.n_heads, dropout=cfg.dropout, batch_first=True)
        self.conv = ConvModule(d, cfg.conv_kernel)
        self.ff2 = nn.Sequential(
            nn.LayerNorm(d), nn.Linear(d, d * cfg.ff_mult), nn.SiLU(), nn.Linear(d * cfg.ff_mult, d)
        )
        self.final = nn.LayerNorm(d)

    def forward(self, x, pad_mask):
        x = x + 0.5 * self.ff1(x)
        y = self.norm(x)
        x = x + self.attn(y, y, y, key_padding_mask=pad_mask, need_weights=False)[0]
        x = x + self.conv(x, pad_mask)
        return self.final(x + 0.5 * self.ff2(x))


class ConformerCTC(nn.Module):
    def __init__(self, cfg: ConformerConfig):
        super().__init__()
        self.cfg = cfg
        self.subsample = ConvSubsampling(cfg.n_mels, cfg.d_model)
        self.blocks = nn.ModuleList([ConformerBlock(cfg) for _ in range(cfg.n_layers)])
        self.ctc_head = nn.Linear(cfg.d_model, cfg.vocab_size)

    def forward(self, feats: Tensor, feat_lens: Tensor) -> tuple[Tensor, Tensor]:
        x, out_lens = self.subsample(feats, feat_lens)
        pad_mask = lengths_to_mask(out_lens, x.size(1))
        for block in self.blocks:
            x = block(x, pad_mask)
        return self.ctc_head(x).log_softmax(dim=-1), out_lens


class Transducer(nn.Module):
    def __init__(self, input_dim, enc_hidden, pred_hidden, joint_dim, num_classes, blank=0):
        super().__init__()
        self.blank = blank
        self.encoder = nn.LSTM(input_dim, enc_hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.enc_proj = nn.Linear(2 * enc_hidden, joint_dim)
        self.embed = nn.Embedding(num_classes, pred_hidden, padding_idx=blank)
        self.predictor = nn.LSTM(pred_hidden, pred_hidden, batch_first=True)
        self.pred_proj = nn.Linear(pred_hidden, joint_dim)
        self.joint = nn.Linear(joint_dim, num_classes)

    def forward(self, audio, audio_len, text, text_len):
        packed = pack_padded_sequence(audio, audio_len.cpu(), batch_first=True, enforce_sorted=False)
        enc, _ = self.encoder(packed)
        enc, enc_len = pad_packed_sequence(enc, batch_first=True)
        # prepend blank
        text = F.pad(text, (1, 0), value=self.blank)
        pred, _ = self.predictor(self.embed(text))
        joint = self.enc_proj(enc).unsqueeze(2) + self.pred_proj(pred).unsqueeze(1)
        logits = self.joint(torch.tanh(joint))
        assert logits.size(2) == text.size(1)
        return logits, enc_len, text_len + 1


class LengthRegulator(nn.Module):
    def forward(self, x, durations, max_len=None):
        out = [torch.repeat_interleave(seq, d.long(), dim=0) for seq, d in zip(x, durations)]
        mel_len = torch.tensor([o.size(0) for o in out], device=x.device)
        padded = nn.utils.rnn.pad_sequence(out, batch_first=True)
        if max_len is not None:
            padded = F.pad(padded, (0, 0, 0, max_len - padded.size(1)))
        return padded, mel_len


class VariancePredictor(nn.Module):
    def __init__(self, d, filter_size, kernel_size, dropout):
        super().__init__()
        self.conv1 = nn.Conv1d(d, filter_size, kernel_size, padding=(kernel_size - 1) // 2)
        self.ln1 = nn.LayerNorm(filter_size)
        self.conv2 = nn.Conv1d(filter_size, filter_size, kernel_size, padding=(kernel_size - 1) // 2)
        self.ln2 = nn.LayerNorm(filter_size)
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(filter_size, 1)

    def forward(self, x, mask):
        x = self.dropout(self.ln1(F.relu(self.conv1(x.transpose(1, 2)).transpose(1, 2))))
        x = self.dropout(self.ln2(F.relu(self.conv2(x.transpose(1, 2)).transpose(1, 2))))
        return self.linear(x).squeeze(-1).masked_fill(mask, 0.0)


class AcousticModel(nn.Module):
    """FastSpeech 2 in small."""

    def __init__(self, preprocess_config, model_config):
        super().__init__()
        d = model_config["transformer"]["encoder_hidden"]
        heads = model_config["transformer"]["encoder_head"]
        vp = model_config["variance_predictor"]
        self.src_word_emb = nn.Embedding(model_config["n_symbols"] + 1, d, padding_idx=0)
        self.encoder = nn.ModuleList(
            nn.TransformerEncoderLayer(d, heads, 4 * d, batch_first=True)
            for _ in range(model_config["transformer"]["encoder_layer"])
        )
        self.duration_predictor = VariancePredictor(d, vp["filter_size"], vp["kernel_size"], vp["dropout"])
        self.pitch_predictor = VariancePredictor(d, vp["filter_size"], vp["kernel_size"], vp["dropout"])
        n_bins = model_config["variance_embedding"]["n_bins"]
        self.register_buffer("pitch_bins", torch.linspace(-3, 3, n_bins - 1))
        self.pitch_embedding = nn.Embedding(n_bins, d)
        self.length_regulator = LengthRegulator()
        self.decoder = nn.GRU(d, d, batch_first=True)
        self.mel_linear = nn.Linear(d, preprocess_config["preprocessing"]["mel"]["n_mel_channels"])
        self.speaker_emb = None
        if model_config["multi_speaker"]:
            self.speaker_emb = nn.Embedding(model_config["n_speaker"], d)

    def forward(
        self, speakers, texts, src_lens, max_src_len, mel_lens=None, max_mel_len=None, p_targets=None, d_targets=None,
        p_control=1.0, d_control=1.0,
    ):  # fmt: skip
        src_masks = lengths_to_mask(src_lens, max_src_len)
        x = self.src_word_emb(texts)
        for layer in self.encoder:
            x = layer(x, src_key_padding_mask=src_masks)
        if self.speaker_emb is not None:
            x = x + self.speaker_emb(speakers).unsqueeze(1).expand(-1, max_src_len, -1)
        log_d = self.duration_predictor(x, src_masks)
        pitch = self.pitch_predictor(x, src_masks)
        if p_targets is not None:
            x = x + self.pitch_embedding(torch.bucketize(p_targets, self.pitch_bins))
        else:
            x = x + self.pitch_embedding(torch.bucketize(pitch * p_control, self.pitch_bins))
        if d_targets is not None:
            x, mel_lens = self.length_regulator(x, d_targets, max_mel_len)
        else:
            durations = torch.clamp(torch.round(torch.exp(log_d) - 1) * d_control, min=1)
            x, mel_lens = self.length_regulator(x, durations, max_mel_len)
        x, _ = self.decoder(x)
        return self.mel_linear(x), pitch, log_d, src_masks, mel_lens


class SpeakerVerifier(nn.Module):
    """ECAPA-like: raw waves or features, attentive statistics over valid frames, AAM-softmax in training."""

    def __init__(self, n_mels=80, channels=256, emb_dim=192, num_speakers=None, scale=30.0, margin=0.2):
        super().__init__()
        self.layer1 = nn.Conv1d(n_mels, channels, 5, padding=2)
        self.layer2 = nn.Conv1d(channels, channels, 3, dilation=2, padding=2)
        self.layer3 = nn.Conv1d(channels, channels, 3, dilation=3, padding=3)
        self.attention = nn.Sequential(nn.Conv1d(3 * channels * 3, 128, 1), nn.ReLU(), nn.Conv1d(128, 3 * channels, 1))
        self.bn = nn.BatchNorm1d(6 * channels)
        self.fc = nn.Linear(6 * channels, emb_dim)
        self.scale, self.margin = scale, margin
        if num_speakers is not None:
            self.weight = nn.Parameter(torch.randn(num_speakers, emb_dim))
        else:
            self.weight = None

    def forward(self, fbank, wav_lens=None, labels=None):
        # fbank: (B, T, n_mels), wav_lens relative in [0, 1]
        x = fbank.transpose(1, 2)
        x1 = F.relu(self.layer1(x))
        x2 = F.relu(self.layer2(x1))
        x3 = F.relu(self.layer3(x1 + x2))
        x = torch.cat([x1, x2, x3], dim=1)
        L = x.shape[-1]
        if wav_lens is None:
            wav_lens = torch.ones(x.shape[0], device=x.device)
        mask = (torch.arange(L, device=x.device)[None] < (wav_lens * L)[:, None]).unsqueeze(1).to(x)
        total = mask.sum(dim=2, keepdim=True)
        mean = (x * mask / total).sum(2)
        std = torch.sqrt(((x - mean.unsqueeze(2)).pow(2) * mask / total).sum(2).clamp(1e-4))
        stats = torch.cat([x, mean.unsqueeze(2).repeat(1, 1, L), std.unsqueeze(2).repeat(1, 1, L)], dim=1)
        w = self.attention(stats).masked_fill(mask == 0, float("-inf")).softmax(dim=2)
        mu = (x * w).sum(2)
        sg = torch.sqrt(((x**2) * w).sum(2) - mu**2 + 1e-4)
        emb = F.normalize(self.fc(self.bn(torch.cat([mu, sg], dim=1))))
        if labels is None or self.weight is None:
            return emb
        cos = F.linear(emb, F.normalize(self.weight))
        theta = torch.acos(cos.clamp(-1 + 1e-7, 1 - 1e-7))
        one_hot = F.one_hot(labels, cos.shape[1]).bool()
        return self.scale * torch.where(one_hot, torch.cos(theta + self.margin), cos)


class DetectionOutput(NamedTuple):
    boxes: Tensor
    scores: Tensor
    losses: Optional[dict[str, Tensor]]


class DenseDetector(nn.Module):
    """FCOS without a pyramid."""

    def __init__(self, num_classes: int, stride: int = 8, width: int = 64):
        super().__init__()
        self.stride = stride
        self.num_classes = num_classes
        self.backbone = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(width, width, 3, 2, 1), nn.ReLU(),
        )  # fmt: skip
        self.cls_logits = nn.Conv2d(width, num_classes, 3, padding=1)
        self.bbox_pred = nn.Conv2d(width, 4, 3, padding=1)

    def locations(self, h, w, device):
        ys, xs = torch.meshgrid(torch.arange(h, device=device), torch.arange(w, device=device), indexing="ij")
        return torch.stack([xs.reshape(-1), ys.reshape(-1)], dim=1) * self.stride + self.stride // 2

    def loss(self, logits, deltas, locations, targets: list[dict[str, Tensor]]):
        cls_losses, box_losses = [], []
        for i, target in enumerate(targets):
            boxes, labels = target["boxes"], target["labels"]
            left = locations[:, None, 0] - boxes[None, :, 0]
            top = locations[:, None, 1] - boxes[None, :, 1]
            right = boxes[None, :, 2] - locations[:, None, 0]
            bottom = boxes[None, :, 3] - locations[:, None, 1]
            ltrb = torch.stack([left, top, right, bottom], dim=2)
            inside = ltrb.min(dim=2).values > 0
            areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
            cost = torch.where(inside, areas[None], torch.full_like(areas[None], 1e8).float())
            best, idx = cost.min(dim=1)
            positive = best < 1e8
            onehot = F.one_hot(labels[idx], self.num_classes).to(logits) * positive[:, None]
            cls_losses.append(F.binary_cross_entropy_with_logits(logits[i], onehot))
            wanted = ltrb[torch.arange(len(idx)), idx].to(deltas)
            box_losses.append((F.smooth_l1_loss(deltas[i], wanted, reduction="none").mean(1) * positive).mean())
        return {"cls": torch.stack(cls_losses).mean(), "box": torch.stack(box_losses).mean()}

    def forward(self, images: Tensor, targets: Optional[list[dict[str, Tensor]]] = None):
        if self.training and targets is None:
            raise ValueError("In training mode, targets should be passed")
        feats = self.backbone(images)
        h, w = feats.shape[-2:]
        logits = self.cls_logits(feats).flatten(2).permute(0, 2, 1)
        deltas = self.bbox_pred(feats).exp().flatten(2).permute(0, 2, 1)
        locations = self.locations(h, w, images.device)
        losses = self.loss(logits, deltas, locations, targets) if targets is not None else None
        boxes = torch.cat([locations[None] - deltas[..., :2], locations[None] + deltas[..., 2:]], dim=-1)
        return DetectionOutput(boxes, logits.sigmoid(), losses)


def square_distance(src, dst):
    return torch.sum((src[:, :, None] - dst[:, None]) ** 2, dim=-1)


def index_points(points, idx):
    B = points.shape[0]
    view_shape = list(idx.shape)
    view_shape[1:] = [1] * (len(view_shape) - 1)
    repeat_shape = list(idx.shape)
    repeat_shape[0] = 1
    batch_indices = torch.arange(B, dtype=torch.long, device=points.device).view(view_shape).repeat(repeat_shape)
    return points[batch_indices, idx, :]


class SetAbstraction(nn.Module):
    def __init__(self, npoint, nsample, in_channel, mlp):
        super().__init__()
        self.npoint, self.nsample = npoint, nsample
        self.convs = nn.ModuleList()
        self.bns = nn.ModuleList()
        last = in_channel + 3
        for out in mlp:
            self.convs.append(nn.Conv2d(last, out, 1))
            self.bns.append(nn.BatchNorm2d(out))
            last = out

    def forward(self, xyz, points):
        xyz = xyz.permute(0, 2, 1)
        if points is not None:
            points = points.permute(0, 2, 1)
        new_xyz = xyz[:, : self.npoint]
        idx = square_distance(new_xyz, xyz).topk(self.nsample, dim=-1, largest=False).indices
        grouped = index_points(xyz, idx) - new_xyz.unsqueeze(2)
        if points is not None:
            grouped = torch.cat([grouped, index_points(points, idx)], dim=-1)
        x = grouped.permute(0, 3, 2, 1)
        for conv, bn in zip(self.convs, self.bns):
            x = F.relu(bn(conv(x)))
        return new_xyz.permute(0, 2, 1), x.max(2)[0]


class PointSetSegmenter(nn.Module):
    def __init__(self, num_classes, normal_channel=True):
        super().__init__()
        self.normal_channel = normal_channel
        extra = 3 if normal_channel else 0
        self.sa1 = SetAbstraction(128, 16, extra, [32, 32, 64])
        self.sa2 = SetAbstraction(32, 16, 64, [64, 128])
        self.fp = nn.Conv1d(128 + 64, 128, 1)
        self.head = nn.Sequential(nn.Conv1d(128 + 3 + extra + 16, 64, 1), nn.ReLU(), nn.Conv1d(64, num_classes, 1))

    def interpolate(self, xyz1, xyz2, points2):
        dists, idx = square_distance(xyz1.transpose(1, 2), xyz2.transpose(1, 2)).sort(dim=-1)
        dists, idx = dists[:, :, :3], idx[:, :, :3]
        weight = 1.0 / (dists + 1e-8)
        weight = weight / weight.sum(dim=2, keepdim=True)
        return (index_points(points2.transpose(1, 2), idx) * weight[..., None]).sum(dim=2).transpose(1, 2)

    def forward(self, xyz, cls_label):
        B, C, N = xyz.shape
        l0_points = xyz
        l0_xyz = xyz[:, :3, :] if self.normal_channel else xyz
        normals = xyz[:, 3:, :] if self.normal_channel else None
        l1_xyz, l1_points = self.sa1(l0_xyz, normals)
        l2_xyz, l2_points = self.sa2(l1_xyz, l1_points)
        up = torch.cat([l1_points, self.interpolate(l1_xyz, l2_xyz, l2_points)], dim=1)
        up = self.interpolate(l0_xyz, l1_xyz, F.relu(self.fp(up)))
        one_hot = cls_label.view(B, 16, 1).repeat(1, 1, N)
        return F.log_softmax(self.head(torch.cat([up, l0_points, one_hot], dim=1)), dim=1).permute(0, 2, 1)


class RadianceField(nn.Module):
    def __init__(
        self, depth=4, width=128, n_freqs=10, n_freqs_dir=4, skips=(2,), n_samples=32, appearance_dim=0, n_images=1
    ):
        super().__init__()
        self.skips, self.n_samples = skips, n_samples
        self.register_buffer("freqs", 2.0 ** torch.arange(n_freqs))
        self.register_buffer("freqs_dir", 2.0 ** torch.arange(n_freqs_dir))
        in_xyz, in_dir = 3 + 6 * n_freqs, 3 + 6 * n_freqs_dir
        self.layers = nn.ModuleList(
            nn.Linear(in_xyz if i == 0 else width + (in_xyz if i in skips else 0), width) for i in range(depth)
        )
        self.sigma = nn.Linear(width, 1)
        self.appearance = nn.Embedding(n_images, appearance_dim) if appearance_dim else None
        self.rgb = nn.Sequential(
            nn.Linear(width + in_dir + appearance_dim, width // 2), nn.ReLU(), nn.Linear(width // 2, 3)
        )

    @staticmethod
    def encode(x, freqs):
        y = x[..., None, :] * freqs[:, None]
        return torch.cat([x, y.sin().flatten(-2), y.cos().flatten(-2)], dim=-1)

    def forward(self, rays: Tensor, ts: Optional[Tensor] = None, white_bkgd: bool = True):
        rays_o, rays_d = rays[:, 0:3], rays[:, 3:6]
        near, far = rays[:, 6:7], rays[:, 7:8]
        z = near + (far - near) * torch.linspace(0, 1, self.n_samples, device=rays.device)
        pts = rays_o[:, None] + rays_d[:, None] * z[..., None]
        dirs = F.normalize(rays_d, dim=-1)[:, None].expand_as(pts)
        e = self.encode(pts, self.freqs)
        h = e
        for i, layer in enumerate(self.layers):
            if i in self.skips:
                h = torch.cat([h, e], -1)
            h = F.relu(layer(h))
        sigma = F.softplus(self.sigma(h)).squeeze(-1)
        feats = [h, self.encode(dirs, self.freqs_dir)]
        if self.appearance is not None:
            feats.append(self.appearance(ts)[:, None].expand(-1, self.n_samples, -1))
        rgb = self.rgb(torch.cat(feats, -1)).sigmoid()
        delta = torch.cat([z[:, 1:] - z[:, :-1], torch.full_like(z[:, :1], 1e10)], -1)
        alpha = 1 - torch.exp(-sigma * delta)
        trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
        weights = alpha * trans
        out = (weights[..., None] * rgb).sum(1)
        if white_bkgd:
            out = out + (1 - weights.sum(1, keepdim=True))
        return {"rgb": out, "depth": (weights * z).sum(1), "opacity": weights.sum(1)}


class VolumeSegmenter(nn.Module):
    """Anisotropic 3D U-Net; in_shape as (D, H, W)."""

    def __init__(
        self, in_channels, n_classes, in_shape, base=16, pool=((1, 2, 2), (2, 2, 2), (2, 2, 2)), deep_supervision=True
    ):
        super().__init__()
        total = [1, 1, 1]
        for p in pool:
            total = [a * b for a, b in zip(total, p)]
        assert all(s % t == 0 for s, t in zip(in_shape, total)), f"in_shape {in_shape} is not divisible by {total}"
        self.in_shape = tuple(in_shape)
        chans = [base * 2**i for i in range(len(pool) + 1)]
        self.stem = self.block(in_channels, chans[0])
        self.pools = nn.ModuleList(nn.MaxPool3d(p) for p in pool)
        self.encoders = nn.ModuleList(self.block(a, b) for a, b in zip(chans, chans[1:]))
        self.ups = nn.ModuleList(
            nn.ConvTranspose3d(b, a, p, p) for a, b, p in zip(reversed(chans[:-1]), reversed(chans[1:]), reversed(pool))
        )
        self.decoders = nn.ModuleList(self.block(2 * a, a) for a in reversed(chans[:-1]))
        self.heads = nn.ModuleList(nn.Conv3d(a, n_classes, 1) for a in reversed(chans[:-1]))
        self.deep_supervision = deep_supervision

    @staticmethod
    def block(a, b):
        return nn.Sequential(nn.Conv3d(a, b, 3, padding=1), nn.InstanceNorm3d(b), nn.LeakyReLU(0.01))

    def forward(self, volume):
        if volume.shape[2:] != self.in_shape:
            raise ValueError(f"expected {self.in_shape}, got {tuple(volume.shape[2:])}")
        x = self.stem(volume)
        skips = []
        for pool, enc in zip(self.pools, self.encoders):
            skips.append(x)
            x = enc(pool(x))
        outs = []
        for up, dec, head in zip(self.ups, self.decoders, self.heads):
            x = dec(torch.cat([up(x), skips.pop()], dim=1))
            outs.append(head(x))
        return outs[::-1] if self.deep_supervision and self.training else outs[-1]


class SlowFastNet(nn.Module):
    def __init__(self, alpha=4, beta=8, num_frames=32, num_classes=400):
        super().__init__()
        self.alpha, self.num_frames = alpha, num_frames
        self.slow1 = nn.Conv3d(3, 64, (1, 7, 7), (1, 2, 2), (0, 3, 3))
        self.fast1 = nn.Conv3d(3, 64 // beta, (5, 7, 7), (1, 2, 2), (2, 3, 3))
        self.lateral = nn.Conv3d(64 // beta, 2 * 64 // beta, (5, 1, 1), (alpha, 1, 1), (2, 0, 0))
        self.slow2 = nn.Conv3d(64 + 2 * 64 // beta, 128, (1, 3, 3), (1, 2, 2), (0, 1, 1))
        self.fast2 = nn.Conv3d(64 // beta, 128 // beta, (3, 3, 3), (1, 2, 2), (1, 1, 1))
        self.head = nn.Linear(128 + 128 // beta, num_classes)

    def forward(self, inputs: list[Tensor]):
        assert len(inputs) == 2, "needs slow and fast pathway"
        slow, fast = inputs
        assert slow.shape[2] * self.alpha == fast.shape[2]
        slow, fast = F.relu(self.slow1(slow)), F.relu(self.fast1(fast))
        slow = torch.cat([slow, self.lateral(fast)], dim=1)
        slow, fast = F.relu(self.slow2(slow)), F.relu(self.fast2(fast))
        pooled = torch.cat([F.adaptive_avg_pool3d(slow, 1), F.adaptive_avg_pool3d(fast, 1)], dim=1)
        return self.head(pooled.flatten(1))


class OuterProductMean(nn.Module):
    def __init__(self, c_m, c_z, c_hidden):
        super().__init__()
        self.norm = nn.LayerNorm(c_m)
        self.a, self.b = nn.Linear(c_m, c_hidden), nn.Linear(c_m, c_hidden)
        self.out = nn.Linear(c_hidden**2, c_z)

    def forward(self, m, mask):
        m = self.norm(m)
        a, b = self.a(m) * mask[..., None], self.b(m) * mask[..., None]
        outer = torch.einsum("bsic,bsjd->bijcd", a, b)
        norm = torch.einsum("bsi,bsj->bij", mask, mask)[..., None]
        return self.out(outer.flatten(-2)) / (norm + 1e-3)


class TriangleMultiplication(nn.Module):
    def __init__(self, c_z, c_hidden):
        super().__init__()
        self.norm = nn.LayerNorm(c_z)
        self.a, self.b = nn.Linear(c_z, c_hidden), nn.Linear(c_z, c_hidden)
        self.gate = nn.Linear(c_z, c_z)
        self.out = nn.Linear(c_hidden, c_z)

    def forward(self, z, mask):
        z = self.norm(z)
        a, b = self.a(z) * mask[..., None], self.b(z) * mask[..., None]
        return self.gate(z).sigmoid() * self.out(torch.einsum("bikc,bjkc->bijc", a, b))


class EvoStack(nn.Module):
    def __init__(self, c_m=64, c_z=32, n_blocks=2, n_heads=4, max_rel=32, n_aa=23):
        super().__init__()
        self.max_rel = max_rel
        self.msa_emb = nn.Embedding(n_aa, c_m)
        self.left, self.right = nn.Embedding(n_aa, c_z), nn.Embedding(n_aa, c_z)
        self.rel = nn.Embedding(2 * max_rel + 1, c_z)
        self.n_heads = n_heads
        self.bias = nn.ModuleList(nn.Linear(c_z, n_heads, bias=False) for _ in range(n_blocks))
        self.qkv = nn.ModuleList(nn.Linear(c_m, 3 * c_m, bias=False) for _ in range(n_blocks))
        self.opm = nn.ModuleList(OuterProductMean(c_m, c_z, 8) for _ in range(n_blocks))
        self.tri = nn.ModuleList(TriangleMultiplication(c_z, 32) for _ in range(n_blocks))
        self.distogram = nn.Linear(c_z, 64)

    def forward(self, batch: dict[str, Tensor]):
        aatype, msa = batch["aatype"], batch["msa"]
        msa_mask, seq_mask = batch["msa_mask"], batch["seq_mask"]
        idx = batch["residue_index"]
        m = self.msa_emb(msa)
        z = self.left(aatype)[:, :, None] + self.right(aatype)[:, None]
        d = (idx[:, :, None] - idx[:, None]).clamp(-self.max_rel, self.max_rel) + self.max_rel
        z = z + self.rel(d)
        pair_mask = seq_mask[:, :, None] * seq_mask[:, None]
        b, s, n, c = m.shape
        for bias, qkv, opm, tri in zip(self.bias, self.qkv, self.opm, self.tri):
            q, k, v = qkv(m).view(b, s, n, 3, self.n_heads, -1).permute(3, 0, 1, 4, 2, 5)
            logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + bias(z).permute(0, 3, 1, 2)[:, None]
            logits = logits + (1 - msa_mask[:, :, None, None]) * -1e9
            m = m + (logits.softmax(-1) @ v).transpose(2, 3).reshape(b, s, n, c)
            z = z + opm(m, msa_mask)
            z = z + tri(z, pair_mask)
        return {"distogram": self.distogram(z + z.transpose(1, 2)), "single": m[:, 0]}


def timestep_embedding(t, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32, device=t.device) / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.cos(), args.sin()], dim=-1)


class TimeResBlock(nn.Module):
    def __init__(self, cin, cout, emb_dim, groups=8):
        super().__init__()
        self.n1, self.c1 = nn.GroupNorm(groups, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.emb = nn.Linear(emb_dim, 2 * cout)
        self.n2, self.c2 = nn.GroupNorm(groups, cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.skip = nn.Identity() if cin == cout else nn.Conv2d(cin, cout, 1)

    def forward(self, x, emb):
        h = self.c1(F.silu(self.n1(x)))
        scale, shift = self.emb(F.silu(emb))[..., None, None].chunk(2, dim=1)
        return self.skip(x) + self.c2(F.silu(self.n2(h) * (1 + scale) + shift))


class CrossAttention(nn.Module):
    def __init__(self, dim, context_dim, heads):
        super().__init__()
        self.norm = nn.GroupNorm(8, dim)
        self.heads = heads
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(context_dim, dim), nn.Linear(context_dim, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, context, mask=None):
        b, c, h, w = x.shape
        q = self.q(self.norm(x).flatten(2).transpose(1, 2)).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k = self.k(context).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        v = self.v(context).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        if mask is not None:
            mask = mask[:, None, None, :].bool()
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)
        return x + self.out(out).transpose(1, 2).view(b, c, h, w)


class DenoisingUNet(nn.Module):
    def __init__(
        self, in_channels: int, model_channels: int, out_channels: int, channel_mult: tuple[int, ...] = (1, 2),
        context_dim: int = 64, num_heads: int = 4, num_classes: Optional[int] = None, cond_drop_prob: float = 0.1,
    ):  # fmt: skip
        super().__init__()
        emb_dim = 4 * model_channels
        self.model_channels, self.num_classes, self.cond_drop_prob = model_channels, num_classes, cond_drop_prob
        self.time_embed = nn.Sequential(nn.Linear(model_channels, emb_dim), nn.SiLU(), nn.Linear(emb_dim, emb_dim))
        if num_classes is not None:
            self.label_emb = nn.Embedding(num_classes, emb_dim)
        self.null_context = nn.Parameter(torch.randn(1, 1, context_dim))
        self.conv_in = nn.Conv2d(in_channels, model_channels, 3, padding=1)
        chans = [model_channels * m for m in channel_mult]
        self.downs, self.ups = nn.ModuleList(), nn.ModuleList()
        prev = model_channels
        for c in chans:
            block = nn.ModuleList(
                [TimeResBlock(prev, c, emb_dim), CrossAttention(c, context_dim, num_heads), nn.Conv2d(c, c, 3, 2, 1)]
            )
            self.downs.append(block)
            prev = c
        self.mid = TimeResBlock(prev, prev, emb_dim)
        for c in reversed(chans):
            self.ups.append(nn.ModuleList([nn.ConvTranspose2d(prev, c, 2, 2), TimeResBlock(2 * c, c, emb_dim)]))
            prev = c
        self.out = nn.Conv2d(prev, out_channels, 3, padding=1)

    def forward(self, x, timesteps, context=None, context_mask=None, y=None):
        assert (y is not None) == (self.num_classes is not None), "must specify y if and only if class-conditional"
        emb = self.time_embed(timestep_embedding(timesteps, self.model_channels))
        if y is not None:
            emb = emb + self.label_emb(y)
        if context is None:
            context = self.null_context.expand(x.shape[0], -1, -1)
        elif self.training:
            keep = torch.rand(x.shape[0], device=x.device) > self.cond_drop_prob
            context = torch.where(keep[:, None, None], context, self.null_context)
        h = self.conv_in(x)
        hs = []
        for res, attn, down in self.downs:
            h = attn(res(h, emb), context, context_mask)
            hs.append(h)
            h = down(h)
        h = self.mid(h, emb)
        for up, res in self.ups:
            h = res(torch.cat([up(h), hs.pop()], dim=1), emb)
        return self.out(h)


class MissingModalityNet(nn.Module):
    MODALITIES = ("image", "text", "audio")

    def __init__(self, dims: dict[str, int], hidden: int, n_out: int):
        super().__init__()
        self.projections = nn.ModuleDict({m: nn.Linear(dims[m], hidden) for m in self.MODALITIES})
        self.missing = nn.ParameterDict({m: nn.Parameter(torch.zeros(hidden)) for m in self.MODALITIES})
        self.fusion = nn.TransformerEncoder(nn.TransformerEncoderLayer(hidden, 4, batch_first=True), 2)
        self.head = nn.Linear(hidden, n_out)

    def forward(self, image: Optional[Tensor] = None, text: Optional[Tensor] = None, audio: Optional[Tensor] = None):
        given = {"image": image, "text": text, "audio": audio}
        present = [v for v in given.values() if v is not None]
        if not present:
            raise ValueError("at least one modality is needed")
        batch = present[0].size(0)
        tokens = []
        for name in self.MODALITIES:
            if given[name] is None:
                tokens.append(self.missing[name].expand(batch, 1, -1))
            else:
                x = self.projections[name](given[name])
                tokens.append(x.unsqueeze(1) if x.dim() == 2 else x)
        return self.head(self.fusion(torch.cat(tokens, dim=1)).mean(dim=1))


class StereoNet(nn.Module):
    def __init__(self, maxdisp, feat=32):
        super().__init__()
        self.maxdisp = maxdisp
        self.feature = nn.Sequential(
            nn.Conv2d(3, feat, 5, 2, 2), nn.BatchNorm2d(feat), nn.ReLU(), nn.Conv2d(feat, feat, 3, 2, 1),
            nn.BatchNorm2d(feat), nn.ReLU(), nn.Conv2d(feat, feat, 3, padding=1),
        )  # fmt: skip
        self.filter = nn.Sequential(
            nn.Conv3d(2 * feat, feat, 3, padding=1), nn.ReLU(), nn.Conv3d(feat, 1, 3, padding=1)
        )
        self.refine = nn.Sequential(nn.Conv2d(4, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 1, 3, padding=1))

    def forward(self, left, right):
        ref, tgt = self.feature(left), self.feature(right)
        b, c, h, w = ref.shape
        cost = ref.new_zeros(b, 2 * c, self.maxdisp // 4, h, w)
        for i in range(self.maxdisp // 4):
            if i > 0:
                cost[:, :c, i, :, i:] = ref[:, :, :, i:]
                cost[:, c:, i, :, i:] = tgt[:, :, :, :-i]
            else:
                cost[:, :c, i], cost[:, c:, i] = ref, tgt
        cost = F.interpolate(
            self.filter(cost.contiguous()), [self.maxdisp, left.size(2), left.size(3)], mode="trilinear"
        ).squeeze(1)
        disp = torch.arange(self.maxdisp, device=cost.device, dtype=cost.dtype).view(1, -1, 1, 1)
        pred = (cost.softmax(1) * disp).sum(1, keepdim=True)
        return pred, pred + self.refine(torch.cat([pred, left], dim=1))


class ConvGRU(nn.Module):
    def __init__(self, hidden, inp):
        super().__init__()
        self.z, self.r, self.q = (nn.Conv2d(hidden + inp, hidden, 3, padding=1) for _ in range(3))

    def forward(self, h, x):
        hx = torch.cat([h, x], dim=1)
        z, r = self.z(hx).sigmoid(), self.r(hx).sigmoid()
        return (1 - z) * h + z * self.q(torch.cat([r * h, x], dim=1)).tanh()


class RecurrentFlow(nn.Module):
    """RAFT in small."""

    def __init__(self, args):
        super().__init__()
        self.args = args
        self.hidden_dim = hdim = 48 if args.small else 64
        self.context_dim = cdim = 32 if args.small else 64
        self.radius = 3
        self.fnet = self.encoder(128)
        self.cnet = self.encoder(hdim + cdim)
        self.motion = nn.Conv2d((2 * self.radius + 1) ** 2 + 2, 62, 3, padding=1)
        self.gru = ConvGRU(hdim, cdim + 64)
        self.flow_head = nn.Conv2d(hdim, 2, 3, padding=1)

    @staticmethod
    def encoder(out):
        return nn.Sequential(
            nn.Conv2d(3, 32, 7, 2, 3), nn.InstanceNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(64, out, 3, 2, 1),
        )  # fmt: skip

    def lookup(self, corr, coords):
        b, _, h, w = coords.shape
        r = self.radius
        d = torch.linspace(-r, r, 2 * r + 1, device=coords.device)
        delta = torch.stack(torch.meshgrid(d, d, indexing="ij"), dim=-1)
        centroid = coords.permute(0, 2, 3, 1).reshape(b * h * w, 1, 1, 2) + delta.view(1, 2 * r + 1, 2 * r + 1, 2)
        grid = 2 * centroid / torch.tensor([w - 1, h - 1], device=coords.device) - 1
        out = F.grid_sample(corr.reshape(b * h * w, 1, h, w), grid, align_corners=True)
        return out.view(b, h, w, -1).permute(0, 3, 1, 2)

    def forward(self, image1, image2, iters=6, flow_init=None, test_mode=False):
        image1 = 2 * (image1 / 255.0) - 1.0
        image2 = 2 * (image2 / 255.0) - 1.0
        f1, f2 = self.fnet(image1), self.fnet(image2)
        b, c, h, w = f1.shape
        corr = torch.matmul(f1.view(b, c, h * w).transpose(1, 2), f2.view(b, c, h * w)) / math.sqrt(c)
        net, inp = torch.split(self.cnet(image1), [self.hidden_dim, self.context_dim], dim=1)
        net, inp = net.tanh(), inp.relu()
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        coords0 = torch.stack([xs, ys]).float().to(f1)[None].repeat(b, 1, 1, 1)
        coords1 = coords0.clone()
        if flow_init is not None:
            coords1 = coords1 + flow_init
        flows = []
        for _ in range(iters):
            coords1 = coords1.detach()
            flow = coords1 - coords0
            motion = F.relu(self.motion(torch.cat([self.lookup(corr, coords1), flow], dim=1)))
            net = self.gru(net, torch.cat([inp, motion, flow], dim=1))
            coords1 = coords1 + self.flow_head(net)
            flows.append(8 * F.interpolate(coords1 - coords0, scale_factor=8, mode="bilinear"))
        if test_mode:
            return coords1 - coords0, flows[-1]
        return flows


class LiftSplat(nn.Module):
    def __init__(self, grid_conf, data_aug_conf, outC):
        super().__init__()
        self.grid_conf = grid_conf
        self.data_aug_conf = data_aug_conf
        self.nx = [int((b - a) / s) for a, b, s in (grid_conf["xbound"], grid_conf["ybound"], grid_conf["zbound"])]
        self.downsample, self.camC = 16, 32
        self.frustum = nn.Parameter(self.create_frustum(), requires_grad=False)
        self.D = self.frustum.shape[0]
        layers, last = [], 3
        for c in (16, 32, 48, 64):
            layers += [nn.Conv2d(last, c, 3, 2, 1), nn.ReLU()]
            last = c
        self.camencode = nn.Sequential(*layers, nn.Conv2d(last, self.D + self.camC, 1))
        self.bevencode = nn.Conv2d(self.camC * self.nx[2], outC, 3, padding=1)

    def create_frustum(self):
        ogfH, ogfW = self.data_aug_conf["final_dim"]
        fH, fW = ogfH // self.downsample, ogfW // self.downsample
        ds = torch.arange(*self.grid_conf["dbound"], dtype=torch.float).view(-1, 1, 1).expand(-1, fH, fW)
        D = ds.shape[0]
        xs = torch.linspace(0, ogfW - 1, fW).view(1, 1, fW).expand(D, fH, fW)
        ys = torch.linspace(0, ogfH - 1, fH).view(1, fH, 1).expand(D, fH, fW)
        return torch.stack((xs, ys, ds), -1)

    def get_geometry(self, rots, trans, intrins, post_rots, post_trans):
        B, N, _ = trans.shape
        points = self.frustum - post_trans.view(B, N, 1, 1, 1, 3)
        points = torch.inverse(post_rots).view(B, N, 1, 1, 1, 3, 3).matmul(points.unsqueeze(-1))
        points = torch.cat((points[..., :2, :] * points[..., 2:3, :], points[..., 2:3, :]), 5)
        combine = rots.matmul(torch.inverse(intrins))
        points = combine.view(B, N, 1, 1, 1, 3, 3).matmul(points).squeeze(-1)
        return points + trans.view(B, N, 1, 1, 1, 3)

    def voxel_pooling(self, geom, x):
        B, N, D, H, W, C = x.shape
        lower = torch.tensor(
            [b[0] for b in (self.grid_conf["xbound"], self.grid_conf["ybound"], self.grid_conf["zbound"])]
        )
        step = torch.tensor(
            [b[2] for b in (self.grid_conf["xbound"], self.grid_conf["ybound"], self.grid_conf["zbound"])]
        )
        idx = ((geom - lower) / step).long().view(B, -1, 3)
        nx = torch.tensor(self.nx)
        kept = ((idx >= 0) & (idx < nx)).all(-1)
        flat = (idx[..., 0] * nx[1] + idx[..., 1]) * nx[2] + idx[..., 2]
        flat = torch.where(kept, flat, torch.zeros_like(flat))
        out = x.new_zeros(B, int(nx.prod()), C)
        out = out.scatter_add(1, flat[..., None].expand(-1, -1, C), x.reshape(B, -1, C) * kept[..., None])
        return out.view(B, *self.nx, C).permute(0, 3, 4, 1, 2).flatten(1, 2)

    def forward(self, x, rots, trans, intrins, post_rots, post_trans):
        B, N, C, imH, imW = x.shape
        geom = self.get_geometry(rots, trans, intrins, post_rots, post_trans)
        x = self.camencode(x.view(B * N, C, imH, imW))
        depth = x[:, : self.D].softmax(dim=1)
        x = depth.unsqueeze(1) * x[:, self.D :].unsqueeze(2)
        x = x.view(B, N, self.camC, self.D, imH // self.downsample, imW // self.downsample).permute(0, 1, 3, 4, 5, 2)
        return self.bevencode(self.voxel_pooling(geom, x))
