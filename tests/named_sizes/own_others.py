"""Hand-written models of graphs, points, pairs, experts, and of inputs of other kinds."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn, randn

from named_sizes.known import fixed, free, known, tokens


def edges(N, E):
    return torch.stack([torch.arange(E) % N, (torch.arange(E) * 3 + 1) % N])


@known(lambda N, E: {"x": randn(N, 8), "edge_index": edges(N, E)}, N=free(6), E=free(15))
class Messages(nn.Module):
    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(16, 8), nn.GRUCell(8, 8)

    def forward(self, x, edge_index):
        source, target = edge_index
        for _ in range(2):
            messages = self.message(torch.cat([x[source], x[target]], -1)).relu()
            x = self.update(torch.zeros_like(x).index_add_(0, target, messages), x)
        return x.mean(0)


@known(lambda N, E: {"x": randn(N, 8), "edge_index": edges(N, E)}, N=free(7), E=free(12))
class GraphAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project, self.score = nn.Linear(8, 12), nn.Parameter(torch.rand(3, 8))

    def forward(self, x, edge_index):
        n = x.size(0)
        loops = torch.arange(n)
        source, target = torch.cat([edge_index, torch.stack([loops, loops])], 1)
        h = self.project(x).view(n, 3, 4)
        score = F.leaky_relu((torch.cat([h[source], h[target]], -1) * self.score).sum(-1)).exp()
        total = score.new_zeros(n, 3).scatter_add(0, target[:, None].expand(-1, 3), score)
        weighed = h[source] * (score / total[target])[..., None]
        return h.new_zeros(n, 3, 4).index_add(0, target, weighed).flatten(1)


@known(lambda B, N: (randn(B, N, 3),), B=free(2), N=free(20, least=5))
class Neighbours(nn.Module):
    """DGCNN: features of the 5 nearest points."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 8, 1)

    def forward(self, points):
        B, N, _ = points.shape
        nearest = torch.cdist(points, points).topk(5, largest=False).indices
        flat = (nearest + torch.arange(B)[:, None, None] * N).view(-1)
        around = points.reshape(B * N, 3)[flat].view(B, N, 5, 3)
        own = points[:, :, None].expand(-1, -1, 5, -1)
        return self.conv(torch.cat([around - own, own], -1).permute(0, 3, 1, 2)).amax(-1).amax(-1)


@known(lambda B, T: (randn(B, T, 8),), B=free(2), T=free(10))
class Experts(nn.Module):
    """Each expert gets the tokens that chose it: how many, their values decide."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 3), nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x):
        flat = x.reshape(-1, 8)
        chosen, out = self.gate(flat).argmax(-1), torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            rows = (chosen == i).nonzero().squeeze(-1)
            out.index_add_(0, rows, expert(flat[rows]))
        return out.view_as(x)


@known(lambda B, T: (randn(B, T, 8),), B=free(2), T=free(12, least=4))
class Selected(nn.Module):
    """A mask picks some tokens; a fixed number of the best, and half of them, too."""

    def __init__(self):
        super().__init__()
        self.score, self.body = nn.Linear(8, 1), nn.Linear(8, 4)

    def forward(self, x):
        score = self.score(x).squeeze(-1)
        best = x.gather(1, score.topk(4).indices[..., None].expand(-1, -1, 8))
        half = score.topk(x.shape[1] // 2).values
        return self.body(x[score > 0]), self.body(best), half


@known(
    lambda B, T, B2, H, W: {"text": tokens(B, T), "image": randn(B2, 3, H, W)},
    B=free(3),
    T=free(8, most=20),
    B2=free(2),
    H=free(32, least=4),
    W=free(32, least=4),
)
class TwoTowers(nn.Module):
    """CLIP: 3 texts and 2 pictures, all pairs."""

    def __init__(self):
        super().__init__()
        self.words, self.places, self.conv = nn.Embedding(50, 8), nn.Embedding(20, 8), nn.Conv2d(3, 8, 4, 4)

    def forward(self, text, image):
        a = (self.words(text) + self.places.weight[: text.shape[1]]).mean(1)
        b = self.conv(image).mean((2, 3))
        similarity = F.normalize(b, dim=-1) @ F.normalize(a, dim=-1).T
        return similarity, similarity.T


@known(lambda B, length: {"z": randn(B, 8), "length": length}, B=free(2), length=free(6))
class Unrolled(nn.Module):
    """How long the result is, a whole number among the arguments says."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(9, 8, batch_first=True)

    def forward(self, z, length: int):
        place = torch.arange(length) / length
        x = torch.cat([z[:, None].expand(-1, length, -1), place[None, :, None].expand(z.shape[0], -1, -1)], -1)
        return self.rnn(x)[0]


@known(lambda B, H, W: (randn(B, 3, H, W), (20, 30)), B=free(2), H=free(32, least=3), W=free(24, least=3))
class Resized(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, 2)

    def forward(self, x, size):
        return F.interpolate(self.conv(x), size=size, mode="bilinear")


@known(
    lambda B, H, W: ({"image": randn(B, 3, H, W), "mask": torch.ones(B, H, W)},),
    B=free(2),
    H=free(16),
    W=free(20),
)
class FromDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, 2, 1)

    def forward(self, batch):
        mask = F.max_pool2d(batch["mask"][:, None], 3, 2, 1)
        return {"features": self.conv(batch["image"]) * mask, "share": mask.flatten(1).mean(1)}


@known(
    lambda B, H, W: ([randn(B, 4, H, W), randn(B, 8, H // 2, W // 2), randn(B, 16, H // 4, W // 4)],),
    B=free(2),
    H=free(32, 4),
    W=free(24, 4),
)
class FromList(nn.Module):
    """A feature pyramid's neck: three maps, each half as large as the one before."""

    def __init__(self):
        super().__init__()
        self.sides = nn.ModuleList([nn.Conv2d(c, 8, 1) for c in (4, 8, 16)])

    def forward(self, maps):
        found = [side(part) for side, part in zip(self.sides, maps, strict=True)]
        for i in (1, 0):
            found[i] = found[i] + F.interpolate(found[i + 1], size=found[i].shape[-2:])
        return found


@known(lambda B, T, S: (randn(B, 2, T, 8), randn(B, 2, S, 8), randn(B, 2, S, 8)), B=free(2), T=free(5), S=free(7))
def plain_function(q, k, v):
    """No module at all."""
    return torch.softmax(q @ k.transpose(-1, -2), -1) @ v


@known(lambda N: (torch.eye(N).to_sparse(), randn(N, 8)), has_names=False, N=fixed(6, "a sparse tensor"))
class SparseGraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 4)

    def forward(self, adjacency, x):
        return torch.sparse.mm(adjacency, self.body(x))


@known(lambda: (torch.nested.nested_tensor([randn(3, 8), randn(5, 8)]),), has_names=False)
class NestedTensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 4)

    def forward(self, x):
        return torch.nested.to_padded_tensor(self.body(x), 0.0)


@known(lambda B: {"user": tokens(B), "item": tokens(B), "age": randn(B)}, B=free(5))
class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items, self.head = nn.Embedding(50, 8), nn.Embedding(50, 8), nn.Linear(17, 1)

    def forward(self, user, item, age):
        u, i = self.users(user), self.items(item)
        return self.head(torch.cat([u, i, age[:, None]], 1)).squeeze(1) + (u * i).sum(1)


@known(lambda N, B: {"values": tokens(N), "offsets": torch.arange(B) * (N // B)}, N=free(12), B=free(4))
class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.bags, self.head = nn.EmbeddingBag(50, 8), nn.Linear(8, 2)

    def forward(self, values, offsets):
        return self.head(self.bags(values, offsets))


@known(lambda B: {"anchor": randn(B, 8), "other": randn(B, 8)}, B=free(4, least=2))
class Contrast(nn.Module):
    """All pairs of a batch: B·B, 2·B·2·B, and B·(B−1)/2 of them without order."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 6)

    def forward(self, anchor, other):
        a, b = self.body(anchor), self.body(other)
        both = torch.cat([a, b])
        upper = torch.triu_indices(len(a), len(a), 1)
        loss = F.cross_entropy(a @ b.T, torch.arange(a.shape[0]))
        return loss, both @ both.T, (a @ a.T)[upper[0], upper[1]]


@known(lambda N: (randn(N, 6),), N=free(11))
class Rows(nn.Module):
    """A table; normalised over its rows, sorted, and the first half kept."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Linear(16, 1))

    def forward(self, table):
        y = self.body(table).squeeze(-1)
        first = y.sort().indices[: (len(y) + 1) // 2]
        return table[first], y.flip(0), torch.stack([y.mean(), y.std()])


@known(lambda B, T: {"x": randn(B, T, 8)}, B=free(2), T=free(6))
class Annotated(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x: Float[Tensor, "batch frames features"]) -> Float[Tensor, "batch frames frames"]:  # noqa: F722, F821
        y = self.body(x)
        return torch.einsum("btd,bsd->bts", y, x)
