import math

import torch
import torch.nn.functional as F
from torch import nn

from inference_zoo.projects.hard_robotics.agents.spaces import Box, Dict, Discrete


def layer_init(layer, std=math.sqrt(2), bias_const=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias_const)
    return layer


class GaussianPolicy(nn.Module):
    def __init__(self, observation_space: Box, action_space: Box, net_arch: dict, log_std_init=0.0):
        super().__init__()
        assert isinstance(action_space, Box), "only continuous action space is supported"
        obs_dim = math.prod(observation_space.shape)
        self.pi, dim_pi = self._trunk(obs_dim, net_arch["pi"])
        self.vf, dim_vf = self._trunk(obs_dim, net_arch["vf"])
        self.mean = layer_init(nn.Linear(dim_pi, math.prod(action_space.shape)), std=0.01)
        self.value = layer_init(nn.Linear(dim_vf, 1), std=1.0)
        self.log_std = nn.Parameter(torch.full((1, math.prod(action_space.shape)), float(log_std_init)))
        self.register_buffer("action_scale", torch.tensor((action_space.high - action_space.low) / 2.0))
        self.register_buffer("action_bias", torch.tensor((action_space.high + action_space.low) / 2.0))

    @staticmethod
    def _trunk(dim, widths):
        layers = []
        for width in widths:
            layers += [layer_init(nn.Linear(dim, width)), nn.Tanh()]
            dim = width
        return nn.Sequential(*layers), dim

    def forward(self, obs):
        obs = obs.flatten(1)
        mean = self.mean(self.pi(obs))
        dist = torch.distributions.Normal(mean, self.log_std.expand_as(mean).exp())
        u = dist.rsample()
        action = torch.tanh(u) * self.action_scale + self.action_bias
        log_prob = (dist.log_prob(u) - torch.log(self.action_scale * (1 - torch.tanh(u).pow(2)) + 1e-6)).sum(1)
        return action, self.value(self.vf(obs)).squeeze(-1), log_prob


class SpatialSoftmax(nn.Module):
    def __init__(self, channels, num_kp):
        super().__init__()
        self.reduce = nn.Conv2d(channels, num_kp, 1)
        self.out_dim = 2 * num_kp

    def forward(self, x):
        x = self.reduce(x)
        h, w = x.shape[-2:]
        attention = x.flatten(2).softmax(-1).view_as(x)
        ys, xs = torch.linspace(-1, 1, h, device=x.device), torch.linspace(-1, 1, w, device=x.device)
        return torch.cat([(attention.sum(2) * xs).sum(-1), (attention.sum(3) * ys).sum(-1)], -1)


BACKBONES = {
    "tiny": lambda: (nn.Sequential(nn.Conv2d(3, 16, 5, 2, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU()), 32),
    "deep": lambda: (nn.Sequential(*[nn.Conv2d(a, b, 3, 2, 1) for a, b in ((3, 16), (16, 32), (32, 64))]), 64),
}


class VisuomotorPolicy(nn.Module):
    def __init__(self, observation_space: Dict, action_space, proprio_keys, hidden_dim, chunk_size, vision):
        super().__init__()
        if isinstance(action_space, Discrete):
            raise NotImplementedError("discrete actions")
        self.proprio_keys = list(proprio_keys)
        self.backbone, channels = BACKBONES[vision["backbone"]]()
        if vision["pool"] == "spatial_softmax":
            self.pool = SpatialSoftmax(channels, vision["num_kp"])
            visual_dim = self.pool.out_dim
        elif vision["pool"] == "avg":
            self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
            visual_dim = channels
        else:
            raise ValueError(f"unknown pool: {vision['pool']}")
        proprio_dim = sum(observation_space[key].shape[0] for key in self.proprio_keys)
        self.fuse = nn.Linear(visual_dim + proprio_dim, hidden_dim)
        self.action_dim = action_space.shape[0]
        self.chunk_size = chunk_size
        self.queries = nn.Embedding(chunk_size, hidden_dim)
        self.head = nn.Linear(hidden_dim, self.action_dim)

    def forward(self, obs):
        visual = self.pool(self.backbone(obs["image"]))
        proprio = torch.cat([obs[key] for key in self.proprio_keys], dim=-1)
        h = F.relu(self.fuse(torch.cat([visual, proprio], -1)))
        return torch.tanh(self.head(h[:, None] + self.queries.weight))
