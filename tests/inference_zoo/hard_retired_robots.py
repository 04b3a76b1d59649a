"""Hard, once aside: agents, teams and robots."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple, Union

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["ConditionalUnet1D", "DecisionTransformer", "QMixer", "RecurrentPPO", "VisuomotorPolicy"]


class RecurrentPPO(nn.Module):
    def __init__(self, observation_space, action_space, config):
        super().__init__()
        self.hidden_size = config["hidden_layer_size"]
        self.recurrence = config["recurrence"]
        if len(observation_space.shape) > 1:
            c, h, w = observation_space.shape
            self.conv = nn.Sequential(
                nn.Conv2d(c, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Flatten()
            )
            in_features = self.conv(torch.zeros(1, c, h, w)).shape[1]
        else:
            self.conv = nn.Identity()
            in_features = observation_space.shape[0]
        if self.recurrence["layer_type"] == "gru":
            self.recurrent_layer = nn.GRU(in_features, self.recurrence["hidden_state_size"], batch_first=True)
        elif self.recurrence["layer_type"] == "lstm":
            self.recurrent_layer = nn.LSTM(in_features, self.recurrence["hidden_state_size"], batch_first=True)
        self.lin_hidden = nn.Linear(self.recurrence["hidden_state_size"], self.hidden_size)
        self.policy = nn.Linear(self.hidden_size, action_space.n)
        self.value = nn.Linear(self.hidden_size, 1)

    def forward(self, obs, recurrent_cell, sequence_length: int = 1):
        h = self.conv(obs)
        # a batch of sequences
        h = h.reshape(h.shape[0] // sequence_length, sequence_length, h.shape[1])
        h, recurrent_cell = self.recurrent_layer(h, recurrent_cell)
        h = F.relu(self.lin_hidden(h.reshape(-1, h.shape[2])))
        return self.policy(h), self.value(h).reshape(-1), recurrent_cell


class QMixer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.n_agents = args.n_agents
        self.state_dim = int(np.prod(args.state_shape))
        self.embed_dim = args.mixing_embed_dim
        if getattr(args, "hypernet_layers", 1) == 1:
            self.hyper_w_1 = nn.Linear(self.state_dim, self.embed_dim * self.n_agents)
            self.hyper_w_final = nn.Linear(self.state_dim, self.embed_dim)
        else:
            hypernet_embed = self.args.hypernet_embed
            self.hyper_w_1 = nn.Sequential(
                nn.Linear(self.state_dim, hypernet_embed),
                nn.ReLU(),
                nn.Linear(hypernet_embed, self.embed_dim * self.n_agents),
            )
            self.hyper_w_final = nn.Sequential(
                nn.Linear(self.state_dim, hypernet_embed), nn.ReLU(), nn.Linear(hypernet_embed, self.embed_dim)
            )
        self.hyper_b_1 = nn.Linear(self.state_dim, self.embed_dim)
        self.V = nn.Sequential(nn.Linear(self.state_dim, self.embed_dim), nn.ReLU(), nn.Linear(self.embed_dim, 1))

    def forward(self, agent_qs, states):
        bs = agent_qs.size(0)
        states = states.reshape(-1, self.state_dim)
        agent_qs = agent_qs.view(-1, 1, self.n_agents)
        w1 = torch.abs(self.hyper_w_1(states)).view(-1, self.n_agents, self.embed_dim)
        b1 = self.hyper_b_1(states).view(-1, 1, self.embed_dim)
        hidden = F.elu(torch.bmm(agent_qs, w1) + b1)
        w_final = torch.abs(self.hyper_w_final(states)).view(-1, self.embed_dim, 1)
        v = self.V(states).view(-1, 1, 1)
        y = torch.bmm(hidden, w_final) + v
        return y.view(bs, -1, 1)


class DecisionTransformer(nn.Module):
    def __init__(self, state_dim, act_dim, hidden_size, max_length=None, max_ep_len=1000, action_tanh=True):
        super().__init__()
        self.state_dim, self.act_dim, self.hidden_size, self.max_length = state_dim, act_dim, hidden_size, max_length
        layer = nn.TransformerEncoderLayer(hidden_size, 4, 4 * hidden_size, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.embed_timestep = nn.Embedding(max_ep_len, hidden_size)
        self.embed_return = nn.Linear(1, hidden_size)
        self.embed_state = nn.Linear(self.state_dim, hidden_size)
        self.embed_action = nn.Linear(self.act_dim, hidden_size)
        self.embed_ln = nn.LayerNorm(hidden_size)
        self.predict_state = nn.Linear(hidden_size, self.state_dim)
        self.predict_action = nn.Sequential(
            *([nn.Linear(hidden_size, self.act_dim)] + ([nn.Tanh()] if action_tanh else []))
        )
        self.predict_return = nn.Linear(hidden_size, 1)

    def forward(self, states, actions, rewards, returns_to_go, timesteps, attention_mask=None):
        batch_size, seq_length = states.shape[0], states.shape[1]
        if attention_mask is None:
            attention_mask = torch.ones((batch_size, seq_length), dtype=torch.long)
        time_embeddings = self.embed_timestep(timesteps)
        s = self.embed_state(states) + time_embeddings
        a = self.embed_action(actions) + time_embeddings
        r = self.embed_return(returns_to_go) + time_embeddings
        stacked = (
            torch.stack((r, s, a), dim=1).permute(0, 2, 1, 3).reshape(batch_size, 3 * seq_length, self.hidden_size)
        )
        padding = torch.stack((attention_mask,) * 3, dim=1).permute(0, 2, 1).reshape(batch_size, 3 * seq_length) == 0
        causal = torch.triu(torch.ones(3 * seq_length, 3 * seq_length, dtype=torch.bool), 1)
        x = self.transformer(self.embed_ln(stacked), mask=causal, src_key_padding_mask=padding)
        x = x.reshape(batch_size, seq_length, 3, self.hidden_size).permute(0, 2, 1, 3)
        return self.predict_state(x[:, 2]), self.predict_action(x[:, 1]), self.predict_return(x[:, 2])


class ConditionalResidualBlock1D(nn.Module):
    def __init__(self, in_channels, out_channels, cond_dim, kernel_size, n_groups):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Conv1d(c, out_channels, kernel_size, padding=kernel_size // 2),
                nn.GroupNorm(n_groups, out_channels),
                nn.Mish(),
            )
            for c in (in_channels, out_channels)
        )
        self.cond_encoder = nn.Sequential(nn.Mish(), nn.Linear(cond_dim, out_channels * 2), nn.Unflatten(-1, (-1, 1)))
        self.out_channels = out_channels
        self.residual_conv = nn.Conv1d(in_channels, out_channels, 1) if in_channels != out_channels else nn.Identity()

    def forward(self, x, cond):
        embed = self.cond_encoder(cond).reshape(-1, 2, self.out_channels, 1)
        out = embed[:, 0] * self.blocks[0](x) + embed[:, 1]
        return self.blocks[1](out) + self.residual_conv(x)


class ConditionalUnet1D(nn.Module):
    def __init__(
        self, input_dim, global_cond_dim, diffusion_step_embed_dim=64, down_dims=[64, 128], kernel_size=5, n_groups=8
    ):
        super().__init__()
        dsed = diffusion_step_embed_dim
        self.freqs = nn.Parameter(
            torch.exp(torch.arange(dsed // 2) * -(np.log(10000) / (dsed // 2 - 1))), requires_grad=False
        )
        self.step_mlp = nn.Sequential(nn.Linear(dsed, dsed * 4), nn.Mish(), nn.Linear(dsed * 4, dsed))
        cond_dim = dsed + global_cond_dim
        all_dims = [input_dim] + list(down_dims)
        in_out = list(zip(all_dims[:-1], all_dims[1:]))
        self.down_modules = nn.ModuleList(
            nn.ModuleList([ConditionalResidualBlock1D(i, o, cond_dim, kernel_size, n_groups), nn.Conv1d(o, o, 3, 2, 1)])
            for i, o in in_out
        )
        self.mid = ConditionalResidualBlock1D(all_dims[-1], all_dims[-1], cond_dim, kernel_size, n_groups)
        self.up_modules = nn.ModuleList(
            nn.ModuleList(
                [
                    nn.ConvTranspose1d(o, o, 4, 2, 1),
                    ConditionalResidualBlock1D(o * 2, max(i, down_dims[0]), cond_dim, kernel_size, n_groups),
                ]
            )
            for i, o in reversed(in_out)
        )
        self.final_conv = nn.Conv1d(down_dims[0], input_dim, 1)

    def forward(self, sample: torch.Tensor, timestep: Union[torch.Tensor, float, int], global_cond=None):
        """
        sample: (B,T,input_dim)
        timestep: (B,) or int, diffusion step
        global_cond: (B,global_cond_dim)
        """
        x = sample.moveaxis(-1, -2)
        timesteps = timestep
        if not torch.is_tensor(timesteps):
            timesteps = torch.tensor([timesteps], dtype=torch.long)
        elif len(timesteps.shape) == 0:
            timesteps = timesteps[None]
        timesteps = timesteps.expand(sample.shape[0])
        emb = timesteps[:, None] * self.freqs[None, :]
        feature = self.step_mlp(torch.cat((emb.sin(), emb.cos()), dim=-1))
        if global_cond is not None:
            feature = torch.cat([feature, global_cond], axis=-1)
        h = []
        for resnet, downsample in self.down_modules:
            x = resnet(x, feature)
            h.append(x)
            x = downsample(x)
        x = self.mid(x, feature)
        for upsample, resnet in self.up_modules:
            x = resnet(torch.cat((upsample(x), h.pop()), dim=1), feature)
        return self.final_conv(x).moveaxis(-1, -2)


class GaussianHead(nn.Module):
    def __init__(self, dim: int, action_dim: int):
        super().__init__()
        self.mean, self.log_std = nn.Linear(dim, action_dim), nn.Linear(dim, action_dim)

    def forward(self, h):
        return self.mean(h), self.log_std(h).clamp(-5, 2).exp()


class ChunkHead(nn.Module):
    chunk = 8

    def __init__(self, dim: int, action_dim: int):
        super().__init__()
        self.action_dim = action_dim
        self.fc = nn.Linear(dim, self.chunk * action_dim)

    def forward(self, h):
        return self.fc(h).unflatten(-1, (self.chunk, self.action_dim))


HEADS = {"gaussian": GaussianHead, "chunk": ChunkHead}


class VisuomotorPolicy(nn.Module):
    def __init__(
        self,
        camera_names: List[str],
        image_encoder: nn.Module,
        proprio_dim: int,
        action_dim: int,
        head: str,
        latent_dim: int = 128,
    ):
        super().__init__()
        self.camera_names = camera_names
        self.encoders = nn.ModuleDict(
            {name: nn.Sequential(image_encoder, nn.LazyLinear(latent_dim)) for name in camera_names}
        )
        self.proprio = nn.Linear(proprio_dim, latent_dim)
        self.trunk = nn.Sequential(nn.Linear(latent_dim * (len(camera_names) + 1), 256), nn.ReLU())
        self.head = HEADS[head](256, action_dim)

    def forward(
        self, obs: Dict[str, torch.Tensor], mask: Optional[torch.Tensor] = None
    ) -> Union[torch.Tensor, Tuple[torch.Tensor, torch.Tensor]]:
        feats = [self.encoders[name](obs[name]) for name in self.camera_names]
        feats.append(self.proprio(obs["qpos"]))
        h = torch.cat(feats, dim=-1)
        if mask is not None:
            h = h * mask
        return self.head(self.trunk(h))
