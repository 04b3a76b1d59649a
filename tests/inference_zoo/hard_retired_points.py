"""Hard, once aside: clouds of points and rays through them."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["DCP", "DGCNNPartSeg", "NeRF"]


def knn(x, k):
    inner = -2 * torch.matmul(x.transpose(2, 1), x)
    xx = torch.sum(x**2, dim=1, keepdim=True)
    pairwise_distance = -xx - inner - xx.transpose(2, 1)
    return pairwise_distance.topk(k=k, dim=-1)[1]  # (batch_size, num_points, k)


def get_graph_feature(x, k=20, idx=None):
    batch_size, num_dims, num_points = x.size()
    if idx is None:
        idx = knn(x, k=k)
    idx = (idx + torch.arange(0, batch_size, device=x.device).view(-1, 1, 1) * num_points).view(-1)
    x = x.transpose(2, 1).contiguous()
    feature = x.view(batch_size * num_points, -1)[idx, :].view(batch_size, num_points, k, num_dims)
    x = x.view(batch_size, num_points, 1, num_dims).repeat(1, 1, k, 1)
    return torch.cat((feature - x, x), dim=3).permute(0, 3, 1, 2).contiguous()


class DGCNNPartSeg(nn.Module):
    def __init__(self, args, seg_num_all):
        super().__init__()
        self.args = args
        self.seg_num_all = seg_num_all
        self.k = args.k
        self.conv1 = nn.Sequential(nn.Conv2d(6, 64, 1, bias=False), nn.BatchNorm2d(64), nn.LeakyReLU(0.2))
        self.conv2 = nn.Sequential(nn.Conv2d(64 * 2, 64, 1, bias=False), nn.BatchNorm2d(64), nn.LeakyReLU(0.2))
        self.conv6 = nn.Sequential(
            nn.Conv1d(128, args.emb_dims, 1, bias=False), nn.BatchNorm1d(args.emb_dims), nn.LeakyReLU(0.2)
        )
        self.conv7 = nn.Sequential(nn.Conv1d(16, 64, 1, bias=False), nn.BatchNorm1d(64), nn.LeakyReLU(0.2))
        self.conv8 = nn.Sequential(
            nn.Conv1d(args.emb_dims + 64 + 128, 256, 1, bias=False), nn.BatchNorm1d(256), nn.LeakyReLU(0.2)
        )
        self.dp1 = nn.Dropout(p=args.dropout)
        self.conv11 = nn.Conv1d(256, self.seg_num_all, 1, bias=False)

    def forward(self, x, l):
        batch_size = x.size(0)
        num_points = x.size(2)
        x1 = self.conv1(get_graph_feature(x, k=self.k)).max(dim=-1, keepdim=False)[0]
        x2 = self.conv2(get_graph_feature(x1, k=self.k)).max(dim=-1, keepdim=False)[0]
        x = self.conv6(torch.cat((x1, x2), dim=1)).max(dim=-1, keepdim=True)[0]
        l = l.view(batch_size, -1, 1)  # one-hot, 16 categories
        x = torch.cat((x, self.conv7(l)), dim=1).repeat(1, 1, num_points)
        return self.conv11(self.dp1(self.conv8(torch.cat((x, x1, x2), dim=1))))


class PointNet(nn.Module):
    def __init__(self, emb_dims=512):
        super().__init__()
        self.conv1 = nn.Conv1d(3, 64, kernel_size=1, bias=False)
        self.conv2 = nn.Conv1d(64, emb_dims, kernel_size=1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm1d(64), nn.BatchNorm1d(emb_dims)

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


class DGCNN(nn.Module):
    def __init__(self, emb_dims=512):
        super().__init__()
        self.conv1 = nn.Conv2d(6, 64, kernel_size=1, bias=False)
        self.conv2 = nn.Conv1d(64, emb_dims, kernel_size=1, bias=False)

    def forward(self, x):
        return self.conv2(F.leaky_relu(self.conv1(get_graph_feature(x, k=8)), 0.2).max(dim=-1)[0])


class SVDHead(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.emb_dims = args.emb_dims
        self.reflect = nn.Parameter(torch.eye(3), requires_grad=False)
        self.reflect[2, 2] = -1

    def forward(self, *input):
        src_embedding, tgt_embedding, src, tgt = input
        scores = torch.softmax(torch.matmul(src_embedding.transpose(2, 1), tgt_embedding) / self.emb_dims**0.5, dim=2)
        src_corr = torch.matmul(tgt, scores.transpose(2, 1))
        src_centered = src - src.mean(dim=2, keepdim=True)
        H = torch.matmul(src_centered, (src_corr - src_corr.mean(dim=2, keepdim=True)).transpose(2, 1))
        U, _, Vh = torch.linalg.svd(H)
        R = Vh.transpose(1, 2) @ U.transpose(1, 2)
        t = torch.matmul(-R, src.mean(dim=2, keepdim=True)) + src_corr.mean(dim=2, keepdim=True)
        return R, t.view(src.size(0), 3)


class MLPHead(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.nn = nn.Sequential(nn.Linear(args.emb_dims * 2, args.emb_dims), nn.BatchNorm1d(args.emb_dims), nn.ReLU())
        self.proj_rot = nn.Linear(args.emb_dims, 4)
        self.proj_trans = nn.Linear(args.emb_dims, 3)

    def forward(self, *input):
        embedding = self.nn(torch.cat((input[0], input[1]), dim=1).max(dim=-1)[0])
        return F.normalize(self.proj_rot(embedding), dim=1), self.proj_trans(embedding)


class DCP(nn.Module):
    """Which motion takes one cloud to the other?"""

    def __init__(self, args):
        super().__init__()
        self.emb_dims = args.emb_dims
        self.cycle = args.cycle
        if args.emb_nn == "pointnet":
            self.emb_nn = PointNet(emb_dims=self.emb_dims)
        elif args.emb_nn == "dgcnn":
            self.emb_nn = DGCNN(emb_dims=self.emb_dims)
        else:
            raise Exception("Not implemented")
        if args.head == "mlp":
            self.head = MLPHead(args=args)
        elif args.head == "svd":
            self.head = SVDHead(args=args)
        else:
            raise Exception("Not implemented")

    def forward(self, *input):
        src = input[0]
        tgt = input[1]
        src_embedding = self.emb_nn(src)
        tgt_embedding = self.emb_nn(tgt)
        rotation_ab, translation_ab = self.head(src_embedding, tgt_embedding, src, tgt)
        if self.cycle:
            return rotation_ab, translation_ab, *self.head(tgt_embedding, src_embedding, tgt, src)
        return rotation_ab, translation_ab


class NeRF(nn.Module):
    def __init__(self, D, W, input_ch, input_ch_views, output_ch, skips, use_viewdirs):
        super().__init__()
        self.input_ch, self.input_ch_views = input_ch, input_ch_views
        self.skips, self.use_viewdirs = skips, use_viewdirs
        self.pts_linears = nn.ModuleList(
            [nn.Linear(input_ch, W)]
            + [nn.Linear(W, W) if i not in self.skips else nn.Linear(W + input_ch, W) for i in range(D - 1)]
        )
        if use_viewdirs:
            self.views_linears = nn.ModuleList([nn.Linear(input_ch_views + W, W // 2)])
            self.feature_linear = nn.Linear(W, W)
            self.alpha_linear = nn.Linear(W, 1)
            self.rgb_linear = nn.Linear(W // 2, 3)
        else:
            self.output_linear = nn.Linear(W, output_ch)

    def forward(self, x):
        input_pts, input_views = torch.split(x, [self.input_ch, self.input_ch_views], dim=-1)
        h = input_pts
        for i, _ in enumerate(self.pts_linears):
            h = F.relu(self.pts_linears[i](h))
            if i in self.skips:
                h = torch.cat([input_pts, h], -1)
        if self.use_viewdirs:
            alpha = self.alpha_linear(h)
            h = torch.cat([self.feature_linear(h), input_views], -1)
            for linear in self.views_linears:
                h = F.relu(linear(h))
            return torch.cat([self.rgb_linear(h), alpha], -1)
        return self.output_linear(h)
