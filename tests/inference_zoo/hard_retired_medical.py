"""Hard, once aside: volumes, slides, records of patients."""

from __future__ import annotations

import math
from typing import Sequence, Tuple, Union

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter

__all__ = ["GRUD", "UNETR", "AttentionMIL", "ClinicalFusion"]


class PatchEmbeddingBlock(nn.Module):
    def __init__(
        self, in_channels: int, img_size: Sequence[int], patch_size: Sequence[int], hidden_size: int, pos_embed: str
    ):
        super().__init__()
        for m, p in zip(img_size, patch_size):
            if m < p:
                raise ValueError("patch_size should be smaller than img_size.")
            if pos_embed == "perceptron" and m % p != 0:
                raise ValueError("patch_size should be divisible by img_size for perceptron.")
        self.pos_embed = pos_embed
        self.patch_size = tuple(patch_size)
        self.n_patches = math.prod(m // p for m, p in zip(img_size, patch_size))
        patch_dim = in_channels * math.prod(patch_size)
        if pos_embed == "conv":
            self.patch_embeddings = nn.Conv3d(
                in_channels, hidden_size, kernel_size=self.patch_size, stride=self.patch_size
            )
        else:
            self.patch_embeddings = nn.Linear(patch_dim, hidden_size)
        self.position_embeddings = nn.Parameter(torch.zeros(1, self.n_patches, hidden_size))

    def forward(self, x):
        if self.pos_embed == "conv":
            x = self.patch_embeddings(x).flatten(2).transpose(-1, -2)
        else:
            p = self.patch_size
            b, c, h, w, d = x.shape
            x = x.view(b, c, h // p[0], p[0], w // p[1], p[1], d // p[2], p[2])
            x = self.patch_embeddings(x.permute(0, 2, 4, 6, 3, 5, 7, 1).reshape(b, self.n_patches, -1))
        return x + self.position_embeddings


class UNETR(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        img_size: Tuple[int, int, int],
        feature_size: int = 16,
        hidden_size: int = 96,
        mlp_dim: int = 192,
        num_heads: int = 6,
        num_layers: int = 4,
        pos_embed: str = "perceptron",
    ) -> None:
        super().__init__()
        if hidden_size % num_heads != 0:
            raise AssertionError("hidden size should be divisible by num_heads.")
        if pos_embed not in ["conv", "perceptron"]:
            raise KeyError(f"Position embedding layer of type {pos_embed} is not supported.")
        self.patch_size = (16, 16, 16)
        self.feat_size = tuple(s // 16 for s in img_size)
        self.hidden_size = hidden_size
        self.patch_embedding = PatchEmbeddingBlock(in_channels, img_size, self.patch_size, hidden_size, pos_embed)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(hidden_size, num_heads, mlp_dim, batch_first=True) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(hidden_size)
        self.encoder1 = nn.Conv3d(in_channels, feature_size, 3, padding=1)
        self.encoder3 = nn.ConvTranspose3d(hidden_size, feature_size * 2, 8, 8)
        self.decoder5 = nn.ConvTranspose3d(hidden_size, feature_size * 2, 8, 8)
        self.decoder2 = nn.ConvTranspose3d(feature_size * 4, feature_size, 2, 2)
        self.out = nn.Conv3d(feature_size * 2, out_channels, 1)

    def proj_feat(self, x, hidden_size: int, feat_size):
        x = x.view(x.size(0), feat_size[0], feat_size[1], feat_size[2], hidden_size)
        return x.permute(0, 4, 1, 2, 3).contiguous()

    def forward(self, x_in):
        x = self.patch_embedding(x_in)
        hidden_states_out = []
        for blk in self.blocks:
            x = blk(x)
            hidden_states_out.append(x)
        enc1 = self.encoder1(x_in)
        enc3 = self.encoder3(self.proj_feat(hidden_states_out[len(self.blocks) // 2], self.hidden_size, self.feat_size))
        dec4 = self.decoder5(self.proj_feat(self.norm(x), self.hidden_size, self.feat_size))
        dec2 = self.decoder2(torch.cat((dec4, enc3), dim=1))
        return self.out(torch.cat((dec2, enc1), dim=1))


class AttentionMIL(nn.Module):
    """A slide is a bag of tiles."""

    def __init__(self, M, L, attention_branches):
        super().__init__()
        self.M, self.L, self.ATTENTION_BRANCHES = M, L, attention_branches
        self.feature_extractor_part1 = nn.Sequential(
            nn.Conv2d(1, 20, kernel_size=5), nn.ReLU(), nn.MaxPool2d(2, stride=2),
            nn.Conv2d(20, 50, kernel_size=5), nn.ReLU(), nn.MaxPool2d(2, stride=2),
        )  # fmt: skip
        self.feature_extractor_part2 = nn.Sequential(nn.Linear(50 * 4 * 4, self.M), nn.ReLU())
        self.attention = nn.Sequential(nn.Linear(self.M, self.L), nn.Tanh(), nn.Linear(self.L, self.ATTENTION_BRANCHES))
        self.classifier = nn.Sequential(nn.Linear(self.M * self.ATTENTION_BRANCHES, 1), nn.Sigmoid())

    def forward(self, x):
        x = x.squeeze(0)
        H = self.feature_extractor_part1(x)
        H = self.feature_extractor_part2(H.view(-1, 50 * 4 * 4))  # K x M
        A = F.softmax(torch.transpose(self.attention(H), 1, 0), dim=1)  # ATTENTION_BRANCHES x K
        Z = torch.mm(A, H)
        Y_prob = self.classifier(Z.view(1, -1))
        return Y_prob, torch.ge(Y_prob, 0.5).float(), A


class SmallResNet(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 7, 2, 3)
        self.layer1 = nn.Sequential(nn.Conv2d(32, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU())
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(64, num_classes)

    def forward(self, x):
        x = self.layer1(F.relu(self.conv1(x)))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class ClinicalFusion(nn.Module):
    def __init__(self, backbone, n_clinical, n_tokens, n_outputs, fusion="concat"):
        super().__init__()
        n_img = backbone.fc.in_features
        backbone.fc = nn.Identity()
        self.backbone = backbone
        self.clinical = nn.Sequential(nn.Linear(n_clinical, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, n_img))
        self.notes = nn.EmbeddingBag(n_tokens, n_img, padding_idx=0)
        self.fusion = fusion
        self.out = nn.Linear(3 * n_img if fusion == "concat" else n_img, n_outputs)

    def forward(self, xray, clinical, notes):
        parts = [self.backbone(xray), self.clinical(clinical), self.notes(notes)]
        z = torch.cat(parts, dim=1) if self.fusion == "concat" else torch.stack(parts).sum(0)
        return self.out(z)


class FilterLinear(nn.Module):
    def __init__(self, in_features, out_features, filter_square_matrix):
        super().__init__()
        self.register_buffer("filter_square_matrix", filter_square_matrix)
        self.weight = Parameter(torch.empty(out_features, in_features))
        self.bias = Parameter(torch.empty(out_features))
        stdv = 1.0 / math.sqrt(in_features)
        self.weight.data.uniform_(-stdv, stdv)
        self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input):
        return F.linear(input, self.filter_square_matrix * self.weight, self.bias)


class GRUD(nn.Module):
    """Records with holes: values, which were measured, how long ago, and the last ones measured."""

    def __init__(
        self,
        input_size: int,
        cell_size: int,
        hidden_size: int,
        X_mean: Union[torch.Tensor, Sequence[float]],
        output_last: bool = False,
    ):
        super().__init__()
        self.delta_size = self.mask_size = input_size
        self.hidden_size = hidden_size
        self.register_buffer("X_mean", torch.as_tensor(X_mean, dtype=torch.float32))
        gate = input_size + hidden_size + self.mask_size
        self.zl, self.rl, self.hl = (
            nn.Linear(gate, hidden_size),
            nn.Linear(gate, hidden_size),
            nn.Linear(gate, hidden_size),
        )
        self.gamma_x_l = FilterLinear(self.delta_size, self.delta_size, torch.eye(input_size))
        self.gamma_h_l = nn.Linear(self.delta_size, self.delta_size)
        self.h_decay = nn.Linear(self.delta_size, hidden_size)
        self.cell_proj = nn.Linear(hidden_size, cell_size)
        self.output_last = output_last

    def step(self, x, x_last_obsv, x_mean, h, mask, delta):
        delta_x = torch.exp(-torch.relu(self.gamma_x_l(delta)))
        delta_h = torch.exp(-torch.relu(self.h_decay(self.gamma_h_l(delta))))
        x = mask * x + (1 - mask) * (delta_x * x_last_obsv + (1 - delta_x) * x_mean)
        h = delta_h * h
        combined = torch.cat((x, h, mask), 1)
        z, r = torch.sigmoid(self.zl(combined)), torch.sigmoid(self.rl(combined))
        h_tilde = torch.tanh(self.hl(torch.cat((x, r * h, mask), 1)))
        return (1 - z) * h + z * h_tilde

    def forward(self, X, X_last_obsv, Mask, Delta):
        batch_size, step_size, _ = X.size()
        h = torch.zeros(batch_size, self.hidden_size)
        outputs = []
        for i in range(step_size):
            h = self.step(X[:, i], X_last_obsv[:, i], self.X_mean, h, Mask[:, i], Delta[:, i])
            outputs.append(self.cell_proj(h))
        return outputs[-1] if self.output_last else torch.stack(outputs, dim=1)
