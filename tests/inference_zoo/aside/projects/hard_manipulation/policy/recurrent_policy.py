import torch
import torch.distributions as D
import torch.nn as nn


class RecurrentPolicy(nn.Module):
    """
    Behavioural cloning with an LSTM and a mixture of Gaussians, after robomimic's BC-RNN-GMM.
    """

    def __init__(self, obs_shapes, goal_shapes, ac_dim, args):
        super().__init__()
        self.obs_shapes = obs_shapes
        self.goal_shapes = goal_shapes
        self.ac_dim = ac_dim
        self.num_modes = args.num_modes
        self.min_std = args.min_std
        self.use_tanh = args.use_tanh

        self.encoders = nn.ModuleDict()
        feature_dim = 0
        for group, shapes in (("obs", obs_shapes), ("goal", goal_shapes or {})):
            for k, shape in shapes.items():
                if len(shape) == 3:
                    self.encoders[f"{group}_{k}"] = self._conv_core(shape, args.visual_dim)
                    feature_dim += args.visual_dim
                else:
                    assert len(shape) == 1
                    feature_dim += shape[0]

        self.mlp = nn.Sequential(nn.Linear(feature_dim, args.rnn_hidden_dim), nn.ReLU())
        self.rnn = nn.LSTM(args.rnn_hidden_dim, args.rnn_hidden_dim, args.rnn_num_layers, batch_first=True)
        self.decoder = nn.ModuleDict(
            {
                "mean": nn.Linear(args.rnn_hidden_dim, self.num_modes * ac_dim),
                "scale": nn.Linear(args.rnn_hidden_dim, self.num_modes * ac_dim),
                "logits": nn.Linear(args.rnn_hidden_dim, self.num_modes),
            }
        )

    @staticmethod
    def _conv_core(shape, visual_dim):
        return nn.Sequential(
            nn.Conv2d(shape[0], 32, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
            nn.Linear(64 * 16, visual_dim),
        )

    def get_rnn_init_state(self, batch_size, device):
        shape = (self.rnn.num_layers, batch_size, self.rnn.hidden_size)
        return torch.zeros(shape, device=device), torch.zeros(shape, device=device)

    def _encode(self, group, inputs, steps=None):
        features = []
        for k in inputs:
            x = inputs[k]
            if steps is not None:
                x = x.unsqueeze(1).expand(-1, steps, *x.shape[1:])
            name = f"{group}_{k}"
            if name in self.encoders:
                B, T = x.shape[:2]
                x = self.encoders[name](x.reshape(B * T, *x.shape[2:])).reshape(B, T, -1)
            features.append(x)
        return features

    def forward_train(self, obs_dict, goal_dict=None, rnn_init_state=None):
        assert set(obs_dict) == set(self.obs_shapes), "observations don't fit the shapes of the constructor"
        features = self._encode("obs", obs_dict)
        batch_size, steps = features[0].shape[:2]
        if self.goal_shapes:
            features += self._encode("goal", {k: goal_dict[k] for k in self.goal_shapes}, steps)
        if rnn_init_state is None:
            rnn_init_state = self.get_rnn_init_state(batch_size, features[0].device)
        out, state = self.rnn(self.mlp(torch.cat(features, -1)), rnn_init_state)

        means = self.decoder["mean"](out).unflatten(-1, (self.num_modes, self.ac_dim))
        if self.use_tanh:
            means = torch.tanh(means)
        scales = nn.functional.softplus(self.decoder["scale"](out)).unflatten(-1, (self.num_modes, self.ac_dim))
        component = D.Independent(D.Normal(means, scales + self.min_std), 1)
        mixture = D.Categorical(logits=self.decoder["logits"](out))
        return D.MixtureSameFamily(mixture, component), state

    def forward(self, obs_dict, goal_dict=None, rnn_init_state=None, return_state=False):
        dists, state = self.forward_train(obs_dict, goal_dict, rnn_init_state)
        actions = dists.mean
        if return_state:
            return actions, state
        return actions
