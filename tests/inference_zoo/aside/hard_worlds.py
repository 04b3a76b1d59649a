"""Hard: agents, robots, bodies in motion and imagined worlds, from the repositories of laboratories.

Long because it is a list of models.
"""

import abc
import math
from collections import namedtuple
from typing import Dict, Optional, Tuple

import numpy as np
import torch
import torch.distributions as td
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

__all__ = ["ChunkingPolicy", "MotionDiffuser", "PointGoalNet", "WorldModel"]


# ---------------------------------------------------------------- navigation


class Net(nn.Module, metaclass=abc.ABCMeta):
    @abc.abstractmethod
    def forward(self, observations, rnn_hidden_states, prev_actions, masks):
        pass

    @property
    @abc.abstractmethod
    def output_size(self):
        pass

    @property
    @abc.abstractmethod
    def num_recurrent_layers(self):
        pass

    @property
    @abc.abstractmethod
    def is_blind(self):
        pass


class VisualEncoder(nn.Module):
    """Colour and depth, whichever the agent sees, side by side as channels."""

    def __init__(self, observation_space, output_size):
        super().__init__()
        spaces = observation_space.spaces
        self._n_input_rgb = spaces["rgb"].shape[2] if "rgb" in spaces else 0
        self._n_input_depth = spaces["depth"].shape[2] if "depth" in spaces else 0
        if self.is_blind:
            self.cnn = nn.Sequential()
            return
        size = np.array(spaces["rgb" if self._n_input_rgb > 0 else "depth"].shape[:2])
        convs, cin = [], self._n_input_rgb + self._n_input_depth
        for cout, kernel, stride in [(32, 8, 4), (64, 4, 2), (32, 3, 1)]:
            convs += [nn.Conv2d(cin, cout, kernel, stride), nn.ReLU(True)]
            size = (size - kernel) // stride + 1
            cin = cout
        self.cnn = nn.Sequential(*convs, nn.Flatten(), nn.Linear(int(cin * size.prod()), output_size), nn.ReLU(True))
        for layer in self.cnn:
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                nn.init.zeros_(layer.bias)

    @property
    def is_blind(self):
        return self._n_input_rgb + self._n_input_depth == 0

    def forward(self, observations: Dict[str, torch.Tensor]):
        cnn_input = []
        if self._n_input_rgb > 0:
            cnn_input.append(observations["rgb"].permute(0, 3, 1, 2).float() / 255.0)
        if self._n_input_depth > 0:
            cnn_input.append(observations["depth"].permute(0, 3, 1, 2))
        return self.cnn(torch.cat(cnn_input, dim=1))


class RNNStateEncoder(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers=1):
        super().__init__()
        self.num_recurrent_layers = num_layers
        self.rnn = nn.GRU(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        for name, param in self.rnn.named_parameters():
            if "weight" in name:
                nn.init.orthogonal_(param)
            elif "bias" in name:
                nn.init.constant_(param, 0)

    def single_forward(self, x, hidden_states, masks):
        hidden_states = torch.where(masks.view(1, -1, 1), hidden_states, hidden_states.new_zeros(()))
        x, hidden_states = self.rnn(x.unsqueeze(0), hidden_states)
        return x.squeeze(0), hidden_states

    def seq_forward(self, x, hidden_states, masks):
        """Rows are ordered by time, then by environment."""
        n = hidden_states.size(1)
        t = int(x.size(0) / n)
        x, masks = x.view(t, n, x.size(1)), masks.view(t, n)
        outputs = []
        for i in range(t):
            out, hidden_states = self.single_forward(x[i], hidden_states, masks[i])
            outputs.append(out)
        return torch.cat(outputs, dim=0), hidden_states

    def forward(self, x, hidden_states, masks) -> Tuple[torch.Tensor, torch.Tensor]:
        hidden_states = hidden_states.permute(1, 0, 2)
        if x.size(0) == hidden_states.size(1):
            x, hidden_states = self.single_forward(x, hidden_states, masks)
        else:
            x, hidden_states = self.seq_forward(x, hidden_states, masks)
        return x, hidden_states.permute(1, 0, 2)


class PointGoalNet(Net):
    """Image, goal and previous action go through a recurrent layer to actor and critic."""

    GOAL_UUID = "pointgoal_with_gps_compass"

    def __init__(self, observation_space, action_space, hidden_size: int = 512, num_recurrent_layers: int = 1):
        super().__init__()
        self._hidden_size = hidden_size
        self._n_input_goal = observation_space.spaces[self.GOAL_UUID].shape[0]
        self.prev_action_embedding = nn.Embedding(action_space.n + 1, 32)
        self.tgt_embeding = nn.Linear(self._n_input_goal + 1, 32)
        self.visual_encoder = VisualEncoder(observation_space, hidden_size)
        self.state_encoder = RNNStateEncoder(
            (0 if self.is_blind else self._hidden_size) + 32 + 32, self._hidden_size, num_recurrent_layers
        )
        self.action_distribution = nn.Linear(hidden_size, action_space.n)
        self.critic = nn.Linear(hidden_size, 1)
        self.train()

    @property
    def output_size(self):
        return self._hidden_size

    @property
    def is_blind(self):
        return self.visual_encoder.is_blind

    @property
    def num_recurrent_layers(self):
        return self.state_encoder.num_recurrent_layers

    def get_tgt_encoding(self, observations):
        goal = observations[self.GOAL_UUID]
        return torch.stack([goal[:, 0], torch.cos(-goal[:, 1]), torch.sin(-goal[:, 1])], -1)

    def forward(self, observations, rnn_hidden_states, prev_actions, masks):
        x = []
        if not self.is_blind:
            x.append(self.visual_encoder(observations))
        x.append(self.tgt_embeding(self.get_tgt_encoding(observations)))
        prev_actions = prev_actions.squeeze(-1)
        x.append(
            self.prev_action_embedding(torch.where(masks.view(-1), prev_actions + 1, torch.zeros_like(prev_actions)))
        )
        x, rnn_hidden_states = self.state_encoder(torch.cat(x, dim=1), rnn_hidden_states, masks)
        return self.action_distribution(x), self.critic(x), rnn_hidden_states


# ---------------------------------------------------------------- action chunks


def get_sinusoid_encoding_table(n_position, d_hid):
    def get_position_angle_vec(position):
        return [position / np.power(10000, 2 * (hid_j // 2) / d_hid) for hid_j in range(d_hid)]

    table = np.array([get_position_angle_vec(pos_i) for pos_i in range(n_position)])
    table[:, 0::2] = np.sin(table[:, 0::2])
    table[:, 1::2] = np.cos(table[:, 1::2])
    return torch.FloatTensor(table).unsqueeze(0)


def reparametrize(mu, logvar):
    std = logvar.div(2).exp()
    eps = torch.randn_like(std)
    return mu + std * eps


class ChunkingPolicy(nn.Module):
    """Action chunks by a conditional VAE"""

    def __init__(self, backbones, transformer, encoder, state_dim, num_queries, camera_names):
        """
        backbones: one for all cameras in a list, or None to see the state of the environment instead of images
        transformer, encoder: see build
        state_dim: joints of both arms with grippers
        num_queries: actions in a chunk
        camera_names: in the order of the images
        """
        super().__init__()
        self.num_queries = num_queries
        self.camera_names = camera_names
        self.transformer = transformer
        self.encoder = encoder
        d = transformer.d_model
        self.action_head = nn.Linear(d, state_dim)
        self.is_pad_head = nn.Linear(d, 1)
        self.query_embed = nn.Embedding(num_queries, d)
        if backbones is not None:
            self.backbones = nn.ModuleList(backbones)
            self.input_proj = nn.Conv2d(backbones[0].num_channels, d, kernel_size=1)
        else:
            self.backbones = None
            self.input_proj_env_state = nn.Linear(7, d)
        self.input_proj_robot_state = nn.Linear(state_dim, d)

        # style of the demonstration
        self.latent_dim = 32
        self.cls_embed = nn.Embedding(1, d)
        self.encoder_action_proj = nn.Linear(state_dim, d)
        self.encoder_joint_proj = nn.Linear(state_dim, d)
        self.latent_proj = nn.Linear(d, 2 * self.latent_dim)
        self.latent_out_proj = nn.Linear(self.latent_dim, d)
        self.register_buffer("pos_table", get_sinusoid_encoding_table(2 + num_queries, d))
        self.additional_pos_embed = nn.Embedding(2, d)

    def encode_style(self, qpos, actions, is_pad):
        bs = qpos.shape[0]
        actions, is_pad = actions[:, : self.num_queries], is_pad[:, : self.num_queries]
        tokens = [
            self.cls_embed.weight.expand(bs, 1, -1),
            self.encoder_joint_proj(qpos).unsqueeze(1),
            self.encoder_action_proj(actions),
        ]
        tokens = torch.cat(tokens, dim=1)
        is_pad = F.pad(is_pad, (2, 0), value=False)
        out = self.encoder(tokens + self.pos_table[:, : tokens.shape[1]], src_key_padding_mask=is_pad)
        return self.latent_proj(out[:, 0]).chunk(2, dim=-1)

    def forward(self, qpos, image, env_state, actions=None, is_pad=None):
        """
        qpos: batch, state_dim
        image: batch, num_cam, 3, height, width
        env_state: None, or batch, 7
        actions: batch, seq, state_dim (only for training)
        is_pad: batch, seq
        """
        is_training = actions is not None
        if is_training:
            mu, logvar = self.encode_style(qpos, actions, is_pad)
            latent_sample = reparametrize(mu, logvar)
        else:
            mu = logvar = None
            latent_sample = torch.zeros(qpos.shape[0], self.latent_dim, device=qpos.device)
        if self.backbones is not None:
            cams = [self.input_proj(self.backbones[0](image[:, cam_id])) for cam_id in range(len(self.camera_names))]
            src = torch.cat(cams, dim=3).flatten(2).transpose(1, 2)
        else:
            src = self.input_proj_env_state(env_state).unsqueeze(1)
        extra = torch.stack([self.latent_out_proj(latent_sample), self.input_proj_robot_state(qpos)], dim=1)
        src = torch.cat([extra + self.additional_pos_embed.weight, src], dim=1)
        hs = self.transformer(src, self.query_embed.weight.expand(qpos.shape[0], -1, -1))
        return self.action_head(hs), self.is_pad_head(hs), [mu, logvar]


class CameraBackbone(nn.Module):
    def __init__(self, num_channels=64):
        super().__init__()
        self.num_channels = num_channels
        self.body = nn.Sequential(
            nn.Conv2d(3, 32, 7, 4, 3),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, 4, 1),
            nn.ReLU(),
            nn.Conv2d(64, num_channels, 3, 2, 1),
        )

    def forward(self, x):
        return self.body(x)


def build_encoder(args):
    layer = nn.TransformerEncoderLayer(
        args["hidden_dim"], args["nheads"], args["dim_feedforward"], args["dropout"], batch_first=True
    )
    return nn.TransformerEncoder(layer, args["enc_layers"], enable_nested_tensor=False)


def build(args):
    backbones = [CameraBackbone()]
    transformer = nn.Transformer(
        args["hidden_dim"],
        args["nheads"],
        args["enc_layers"],
        args["dec_layers"],
        args["dim_feedforward"],
        batch_first=True,
    )
    return ChunkingPolicy(
        backbones,
        transformer,
        build_encoder(args),
        state_dim=14,
        num_queries=args["num_queries"],
        camera_names=args["camera_names"],
    )


# ---------------------------------------------------------------- motion by diffusion


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=5000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-np.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))

    def forward(self, x):
        return self.dropout(x + self.pe[: x.shape[0], :])


class TimestepEmbedder(nn.Module):
    def __init__(self, latent_dim, sequence_pos_encoder):
        super().__init__()
        self.sequence_pos_encoder = sequence_pos_encoder
        self.time_embed = nn.Sequential(nn.Linear(latent_dim, latent_dim), nn.SiLU(), nn.Linear(latent_dim, latent_dim))

    def forward(self, timesteps):
        return self.time_embed(self.sequence_pos_encoder.pe[timesteps]).permute(1, 0, 2)


class MotionDiffuser(nn.Module):
    def __init__(self, modeltype, njoints, nfeats, num_actions, translation, pose_rep, glob, glob_rot,
                 latent_dim=256, ff_size=1024, num_layers=4, num_heads=4, dropout=0.1,
                 activation="gelu", data_rep="rot6d", dataset="amass", clip_dim=512,
                 arch="trans_enc", emb_trans_dec=False, **kargs):  # fmt: skip
        super().__init__()
        self.modeltype = modeltype
        self.njoints = njoints
        self.nfeats = nfeats
        self.num_actions = num_actions
        self.data_rep = data_rep
        self.dataset = dataset
        self.pose_rep = pose_rep
        self.glob = glob
        self.glob_rot = glob_rot
        self.translation = translation
        self.latent_dim = latent_dim
        self.clip_dim = clip_dim
        self.input_feats = self.njoints * self.nfeats
        self.cond_mode = kargs.get("cond_mode", "no_cond")
        self.cond_mask_prob = kargs.get("cond_mask_prob", 0.0)
        self.arch = arch
        self.input_process = nn.Linear(self.input_feats, self.latent_dim)
        self.sequence_pos_encoder = PositionalEncoding(self.latent_dim, dropout)
        if self.arch == "trans_enc":
            layer = nn.TransformerEncoderLayer(latent_dim, num_heads, ff_size, dropout, activation)
            self.seqTransEncoder = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
        elif self.arch == "gru":
            self.gru = nn.GRU(self.latent_dim * 2, self.latent_dim, num_layers=num_layers)
        else:
            raise ValueError(f"unknown arch: {arch}")
        self.embed_timestep = TimestepEmbedder(self.latent_dim, self.sequence_pos_encoder)
        if self.cond_mode != "no_cond":
            if "text" in self.cond_mode:
                self.embed_text = nn.Linear(self.clip_dim, self.latent_dim)
            if "action" in self.cond_mode:
                self.embed_action = nn.Parameter(torch.randn(self.num_actions, self.latent_dim))
        self.output_process = nn.Linear(self.latent_dim, self.input_feats)

    def mask_cond(self, cond, force_mask=False):
        bs, _d = cond.shape
        if force_mask:
            return torch.zeros_like(cond)
        if self.training and self.cond_mask_prob > 0.0:
            mask = torch.bernoulli(torch.ones(bs, device=cond.device) * self.cond_mask_prob).view(bs, 1)
            return cond * (1.0 - mask)
        return cond

    def forward(self, x, timesteps, y=None):
        """
        x: noisy motion, [bs, njoints, nfeats, nframes]
        timesteps: [bs] ints
        y: mask [bs, 1, 1, nframes], and what the motion is conditioned on
        """
        bs, njoints, nfeats, nframes = x.shape
        emb = self.embed_timestep(timesteps)  # [1, bs, d]
        force_mask = y.get("uncond", False)
        if "text" in self.cond_mode:
            emb = emb + self.embed_text(self.mask_cond(y["text_embed"], force_mask=force_mask))
        if "action" in self.cond_mode:
            idx = y["action"][:, 0].to(torch.long)
            emb = emb + self.mask_cond(self.embed_action[idx], force_mask=force_mask)
        h = self.input_process(x.permute(3, 0, 1, 2).reshape(nframes, bs, njoints * nfeats))
        if self.arch == "gru":
            h, _ = self.gru(torch.cat([h, emb.repeat(nframes, 1, 1)], dim=2))
        else:
            xseq = self.sequence_pos_encoder(torch.cat((emb, h), axis=0))
            keep = torch.cat([torch.ones(bs, 1, dtype=torch.bool, device=x.device), y["mask"].view(bs, nframes)], 1)
            h = self.seqTransEncoder(xseq, src_key_padding_mask=~keep)[1:]
        out = self.output_process(h).reshape(nframes, bs, njoints, nfeats)
        return out.permute(1, 2, 3, 0)


# ---------------------------------------------------------------- imagined worlds

RSSMState = namedtuple("RSSMState", ["logit", "stoch", "deter"])


def build_mlp(insize, outsize, nlayers, size, act=nn.ELU):
    layers = []
    for _i in range(nlayers):
        layers += [nn.Linear(insize, size), nn.LayerNorm(size), act()]
        insize = size
    return nn.Sequential(*layers, nn.Linear(insize, outsize))


class RSSM(nn.Module):
    def __init__(self, action_size, embed_size, rssm_info):
        super().__init__()
        self.deter_size = rssm_info["deter_size"]
        self.category_size = rssm_info["category_size"]
        self.class_size = rssm_info["class_size"]
        self.node_size = rssm_info["node_size"]
        self.stoch_size = self.category_size * self.class_size
        self.rnn = nn.GRUCell(self.deter_size, self.deter_size)
        self.fc_embed_state_action = nn.Sequential(nn.Linear(self.stoch_size + action_size, self.deter_size), nn.ELU())
        self.fc_prior = build_mlp(self.deter_size, self.stoch_size, 1, self.node_size)
        self.fc_posterior = build_mlp(self.deter_size + embed_size, self.stoch_size, 1, self.node_size)

    def init_state(self, batch_size, device=None):
        return RSSMState(
            torch.zeros(batch_size, self.stoch_size, device=device),
            torch.zeros(batch_size, self.stoch_size, device=device),
            torch.zeros(batch_size, self.deter_size, device=device),
        )

    def stoch(self, logit):
        logit = logit.view(*logit.shape[:-1], self.category_size, self.class_size)
        dist = td.OneHotCategorical(logits=logit)
        s = dist.sample()
        s = s + dist.probs - dist.probs.detach()
        return s.flatten(-2)

    def imagine(self, prev_action, prev, nonterms):
        x = self.fc_embed_state_action(torch.cat([prev.stoch * nonterms, prev_action], dim=-1))
        deter = self.rnn(x, prev.deter * nonterms)
        logit = self.fc_prior(deter)
        return RSSMState(logit, self.stoch(logit), deter)

    def observe(self, embed, prev_action, prev_nonterm, prev):
        prior = self.imagine(prev_action, prev, prev_nonterm)
        logit = self.fc_posterior(torch.cat([prior.deter, embed], dim=-1))
        return prior, RSSMState(logit, self.stoch(logit), prior.deter)

    def rollout(self, embed, action, nonterms, prev):
        priors, posteriors = [], []
        for t in range(embed.shape[0]):
            prior, prev = self.observe(embed[t], action[t] * nonterms[t], nonterms[t], prev)
            priors.append(prior)
            posteriors.append(prev)
        return RSSMState(*map(torch.stack, zip(*priors))), RSSMState(*map(torch.stack, zip(*posteriors)))


class WorldModel(nn.Module):
    def __init__(self, config, obs_shape: Tuple[int, int, int], action_size: int):
        super().__init__()
        self.config = config
        c, h, w = obs_shape
        d, k = config.obs_encoder["depth"], config.obs_encoder["kernel"]
        self.encoder = nn.Sequential(
            nn.Conv2d(c, d, k),
            nn.ELU(),
            nn.Conv2d(d, 2 * d, k),
            nn.ELU(),
            nn.Conv2d(2 * d, 4 * d, k),
            nn.ELU(),
            nn.Flatten(),
        )
        self.conv_shape = (4 * d, h - 3 * (k - 1), w - 3 * (k - 1))
        self.RSSM = RSSM(action_size, math.prod(self.conv_shape), config.rssm_info)
        modelstate_size = self.RSSM.deter_size + self.RSSM.stoch_size
        self.decoder = nn.Sequential(
            nn.Linear(modelstate_size, math.prod(self.conv_shape)),
            nn.Unflatten(-1, self.conv_shape),
            nn.ConvTranspose2d(4 * d, 2 * d, k),
            nn.ELU(),
            nn.ConvTranspose2d(2 * d, d, k),
            nn.ELU(),
            nn.ConvTranspose2d(d, c, k),
        )
        self.reward = build_mlp(modelstate_size, 1, config.reward["layers"], config.reward["node_size"])
        self.discount = build_mlp(modelstate_size, 1, config.discount["layers"], config.discount["node_size"])

    def kl(self, prior, post):
        shape = (*prior.logit.shape[:-1], self.RSSM.category_size, self.RSSM.class_size)
        make = lambda logit: td.Independent(td.OneHotCategorical(logits=logit.reshape(shape)), 1)
        alpha = self.config.kl["kl_balance_scale"]
        lhs = td.kl_divergence(make(post.logit.detach()), make(prior.logit)).mean()
        rhs = td.kl_divergence(make(post.logit), make(prior.logit.detach())).mean()
        return alpha * lhs + (1 - alpha) * rhs

    def forward(
        self, obs, actions, rewards, nonterms, state: Optional[RSSMState] = None
    ) -> Tuple[Tensor, Dict[str, Tensor], RSSMState]:
        """
        obs: [seq_len, batch, c, h, w], actions: [seq_len, batch, n] one-hot, rewards and nonterms: [seq_len, batch, 1]
        """
        T, B = obs.shape[:2]
        embed = self.encoder(obs.flatten(0, 1)).view(T, B, -1)
        if state is None:
            state = self.RSSM.init_state(B, obs.device)
        prior, posterior = self.RSSM.rollout(embed, actions, nonterms, state)
        post_modelstate = torch.cat([posterior.deter, posterior.stoch], dim=-1)
        obs_pred = self.decoder(post_modelstate.flatten(0, 1)).view_as(obs)
        obs_loss = 0.5 * (obs - obs_pred).pow(2).flatten(2).sum(-1).mean()
        reward_loss = F.mse_loss(self.reward(post_modelstate), rewards)
        pcont_loss = F.binary_cross_entropy_with_logits(self.discount(post_modelstate), nonterms)
        kl_loss = self.kl(prior, posterior)
        scale = self.config.loss_scale
        loss = scale["kl"] * kl_loss + reward_loss + obs_loss + scale["discount"] * pcont_loss
        return loss, {"kl": kl_loss, "reward": reward_loss, "obs": obs_loss, "pcont": pcont_loss}, posterior
