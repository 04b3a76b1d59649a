"""Features, users and items."""

import torch
from torch import nn
from torch.nn import functional as F


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.BatchNorm1d(32), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class Wide(nn.Sequential):
    """No forward of its own."""

    def __init__(self):
        super().__init__(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))


class BareWeights(nn.Module):
    """Parameters, no layers."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(9, 4)), nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return x @ self.weight + self.bias


class Factorisation(nn.Module):
    def __init__(self, n_users=30, n_items=20):
        super().__init__()
        self.user_factors, self.item_factors = nn.Embedding(n_users, 8), nn.Embedding(n_items, 8)
        self.user_bias, self.item_bias = nn.Embedding(n_users, 1), nn.Embedding(n_items, 1)

    def forward(self, user, item):
        dot = (self.user_factors(user) * self.item_factors(item)).sum(-1, keepdim=True)
        return dot + self.user_bias(user) + self.item_bias(item)


class DeepAndCross(nn.Module):
    """Dense features and one id for each category."""

    def __init__(self, cardinalities=(5, 9, 3)):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, 4) for size in cardinalities)
        self.top = nn.Linear(4 * len(cardinalities) + 6, 1)

    def forward(self, dense, sparse):
        found = [table(sparse[:, i]) for i, table in enumerate(self.tables)]
        return self.top(torch.cat([dense, *found], dim=1))


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 16)
        self.policy, self.value = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, obs):
        x = F.relu(self.body(obs))
        return torch.distributions.Categorical(logits=self.policy(x)).probs, self.value(x)


class QFunction(nn.Module):
    """State and action are joined: their widths add up to that of the first layer."""

    def __init__(self):
        super().__init__()
        self.observe, self.act = nn.Linear(11, 16), nn.Linear(3, 16)
        self.q = nn.Linear(16, 1)

    def forward(self, observation, act_vector):
        return self.q(F.relu(self.observe(observation) + self.act(act_vector)))


class Experts(nn.Module):
    """Routing depends on values."""

    def __init__(self, experts=4):
        super().__init__()
        self.router = nn.Linear(8, experts)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(experts))

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2, dim=-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, places = (chosen == i).nonzero(as_tuple=True)
            out = out.index_add(0, rows, weights[rows, places, None] * expert(x[rows]))
        return out


class BilinearScore(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Bilinear(5, 7, 1)

    def forward(self, left, right):
        return self.score(left, right)


class Radiance(nn.Module):
    """Points and directions of view."""

    def __init__(self):
        super().__init__()
        self.density, self.colour = nn.Linear(3 * 8, 16), nn.Linear(16 + 3, 3)

    def forward(self, points, directions):
        scaled = torch.cat([f(points * 2**i) for i in range(4) for f in (torch.sin, torch.cos)], dim=-1)
        hidden = self.density(scaled).relu()
        return self.colour(torch.cat([hidden, directions], dim=-1))
