"""Nodes, edges and points."""

import torch
from torch import nn
from torch.nn import functional as F


class Gcn(nn.Module):
    """A dense adjacency matrix."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(12, 8), nn.Linear(8, 3)

    def forward(self, x, adj):
        x = F.relu(adj @ self.first(x))
        return F.log_softmax(adj @ self.second(x), dim=-1)


class MessagePassing(nn.Module):
    """Edges as pairs of node numbers."""

    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(10, 10), nn.GRUCell(10, 10)

    def forward(self, x, edge_index):
        source, target = edge_index
        received = torch.zeros_like(x).index_add(0, target, self.message(x[source]))
        return self.update(received, x)


class WeightedEdges(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(5, 4)

    def forward(self, node_features, edge_index, edge_weight=None):
        messages = self.lin(node_features)[edge_index[0]]
        if edge_weight is not None:
            messages = messages * edge_weight[:, None]
        return torch.zeros(len(node_features), 4).scatter_add(0, edge_index[1][:, None].expand(-1, 4), messages)


class PointNet(nn.Module):
    """Coordinates first."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(3, 16, 1), nn.Conv1d(16, 32, 1)
        self.bn, self.fc = nn.BatchNorm1d(16), nn.Linear(32, 4)

    def forward(self, point_cloud):
        x = F.relu(self.bn(self.conv1(point_cloud)))
        return self.fc(self.conv2(x).amax(-1))


class DeepSet(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi, self.rho = nn.Linear(3, 8), nn.Linear(8, 1)

    def forward(self, points):
        return self.rho(self.phi(points).relu().sum(dim=1))


class KnowledgeGraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.entities, self.relations = nn.Embedding(40, 6), nn.Embedding(5, 6)

    def forward(self, head_ids, relation_ids, tail_ids):
        gap = self.entities(head_ids) + self.relations(relation_ids) - self.entities(tail_ids)
        return gap.norm(dim=-1)


class GraphAttention(nn.Module):
    """A batch of graphs, adjacency as a mask."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(7, 9))
        self.a = nn.Parameter(torch.randn(18, 1))

    def forward(self, h, adj):
        z = h @ self.w
        left, right = z @ self.a[:9], z @ self.a[9:]
        scores = F.leaky_relu(left + right.transpose(-2, -1)).masked_fill(adj == 0, -1e9)
        return scores.softmax(-1) @ z
