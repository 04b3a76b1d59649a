"""Usual: audio, video, graphs, points, reinforcement learning and generative models of repositories.

Long because it is a list of models.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = [
    "C3D",
    "CVAE",
    "DGCNN",
    "DRQN",
    "GIN",
    "ICM",
    "AdaINDecoder",
    "BilinearAttention",
    "EdgePredictor",
    "GatedPixelCNN",
    "GaussianPolicy",
    "HiFiGenerator",
    "InpaintingNet",
    "LSTNet",
    "NoisyNet",
    "PixelShuffleDiscriminator",
    "RealNVP",
    "STGCNBlock",
    "SpeakerEncoder",
    "TwoTowerRetrieval",
    "WGANCritic",
    "XVector",
]


class C3D(nn.Module):
    def __init__(self, num_classes, pretrained=False):
        super().__init__()
        self.conv1 = nn.Conv3d(3, 16, (3, 3, 3), padding=1)
        self.pool1 = nn.MaxPool3d((1, 2, 2))
        self.conv2 = nn.Conv3d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32, num_classes)

    def forward(self, clip):
        x = F.relu(self.conv2(self.pool1(F.relu(self.conv1(clip)))))
        return self.fc(x.mean(dim=(2, 3, 4)))


def knn(x, k):
    inner = -2 * torch.matmul(x.transpose(2, 1), x)
    xx = torch.sum(x**2, dim=1, keepdim=True)
    return (-xx - inner - xx.transpose(2, 1)).topk(k=k, dim=-1)[1]


class DGCNN(nn.Module):
    def __init__(self, k, emb_dims, output_channels):
        super().__init__()
        self.k = k
        self.conv1 = nn.Sequential(nn.Conv2d(6, 32, 1, bias=False), nn.BatchNorm2d(32), nn.LeakyReLU(0.2))
        self.conv2 = nn.Conv1d(32, emb_dims, 1)
        self.linear = nn.Linear(emb_dims, output_channels)

    def forward(self, x):
        batch_size, num_dims, num_points = x.size()
        idx = (knn(x, self.k) + torch.arange(batch_size).view(-1, 1, 1) * num_points).view(-1)
        feature = x.transpose(2, 1).reshape(batch_size * num_points, -1)[idx]
        feature = feature.view(batch_size, num_points, self.k, num_dims)
        x = x.transpose(2, 1).unsqueeze(2).expand(-1, -1, self.k, -1)
        feature = torch.cat((feature - x, x), dim=3).permute(0, 3, 1, 2).contiguous()
        x = self.conv2(self.conv1(feature).max(dim=-1)[0])
        return self.linear(x.max(dim=-1)[0])


class DRQN(nn.Module):
    def __init__(self, input_shape, n_actions, rnn_hidden_dim):
        super().__init__()
        self.rnn_hidden_dim = rnn_hidden_dim
        self.fc1 = nn.Linear(input_shape, rnn_hidden_dim)
        self.rnn = nn.GRUCell(rnn_hidden_dim, rnn_hidden_dim)
        self.fc2 = nn.Linear(rnn_hidden_dim, n_actions)

    def init_hidden(self):
        return self.fc1.weight.new_zeros(1, self.rnn_hidden_dim)

    def forward(self, inputs, hidden_state):
        x = F.relu(self.fc1(inputs))
        h = self.rnn(x, hidden_state.reshape(-1, self.rnn_hidden_dim))
        return self.fc2(h), h


class GIN(nn.Module):
    def __init__(self, num_layers, input_dim, hidden_dim, output_dim, learn_eps):
        super().__init__()
        self.learn_eps = learn_eps
        self.eps = nn.Parameter(torch.zeros(num_layers))
        self.mlps = nn.ModuleList(nn.Linear(input_dim if i == 0 else hidden_dim, hidden_dim) for i in range(num_layers))
        self.prediction = nn.Linear(hidden_dim, output_dim)

    def forward(self, h, adj_block):
        for layer, mlp in enumerate(self.mlps):
            pooled = torch.mm(adj_block, h)
            if self.learn_eps:
                pooled = pooled + (1 + self.eps[layer]) * h
            h = F.relu(mlp(pooled))
        return self.prediction(h.mean(0, keepdim=True))


class ICM(nn.Module):
    def __init__(self, state_size, action_size, feature_dim):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(state_size, 64), nn.ELU(), nn.Linear(64, feature_dim))
        self.inverse = nn.Linear(2 * feature_dim, action_size)
        self.forward_model = nn.Linear(feature_dim + action_size, feature_dim)

    def forward(self, state, next_state, action):
        phi, phi_next = self.encoder(state), self.encoder(next_state)
        return self.inverse(torch.cat((phi, phi_next), 1)), self.forward_model(torch.cat((phi, action), 1)), phi_next


class LSTNet(nn.Module):
    def __init__(self, window, n_val, hid_cnn, hid_rnn, hid_skip, cnn_kernel, skip, highway):
        super().__init__()
        self.P, self.m, self.hidC, self.hidR, self.hidS = window, n_val, hid_cnn, hid_rnn, hid_skip
        self.Ck, self.skip, self.hw = cnn_kernel, skip, highway
        self.pt = (self.P - self.Ck) // self.skip
        self.conv1 = nn.Conv2d(1, self.hidC, (self.Ck, self.m))
        self.GRU1 = nn.GRU(self.hidC, self.hidR)
        self.GRUskip = nn.GRU(self.hidC, self.hidS)
        self.linear1 = nn.Linear(self.hidR + self.skip * self.hidS, self.m)
        self.highway = nn.Linear(self.hw, 1)

    def forward(self, x):
        batch_size = x.size(0)
        c = F.relu(self.conv1(x.view(-1, 1, self.P, self.m))).squeeze(3)
        _, r = self.GRU1(c.permute(2, 0, 1).contiguous())
        s = c[:, :, -self.pt * self.skip :].contiguous().view(batch_size, self.hidC, self.pt, self.skip)
        s = s.permute(2, 0, 3, 1).contiguous().view(self.pt, batch_size * self.skip, self.hidC)
        s = self.GRUskip(s)[1].view(batch_size, self.skip * self.hidS)
        z = x[:, -self.hw :, :].permute(0, 2, 1).contiguous().view(-1, self.hw)
        return self.linear1(torch.cat((r.squeeze(0), s), 1)) + self.highway(z).view(-1, self.m)


class STGCNBlock(nn.Module):
    def __init__(self, in_channels, spatial_channels, out_channels, num_nodes):
        super().__init__()
        self.temporal1 = nn.Conv2d(in_channels, out_channels, (1, 3))
        self.theta1 = nn.Parameter(torch.randn(out_channels, spatial_channels))
        self.temporal2 = nn.Conv2d(spatial_channels, out_channels, (1, 3))
        self.batch_norm = nn.BatchNorm2d(num_nodes)

    def forward(self, X, A_hat):
        t = self.temporal1(X.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        lfs = torch.einsum("ij,jklm->kilm", [A_hat, t.permute(1, 0, 2, 3)])
        t2 = F.relu(torch.matmul(lfs, self.theta1))
        return self.batch_norm(self.temporal2(t2.permute(0, 3, 1, 2)).permute(0, 2, 3, 1))


class CVAE(nn.Module):
    def __init__(self, feature_size, latent_size, class_size):
        super().__init__()
        self.fc1 = nn.Linear(feature_size + class_size, 64)
        self.fc21, self.fc22 = nn.Linear(64, latent_size), nn.Linear(64, latent_size)
        self.fc3 = nn.Linear(latent_size + class_size, feature_size)

    def forward(self, x, c):
        h = F.elu(self.fc1(torch.cat([x.view(x.size(0), -1), c], 1)))
        mu, logvar = self.fc21(h), self.fc22(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.fc3(torch.cat([z, c], 1))), mu, logvar


class AdaINDecoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(channels, 3, 3))

    def forward(self, content_feat, style_feat):
        size, (n, c) = content_feat.size(), style_feat.shape[:2]
        mean = style_feat.view(n, c, -1).mean(2).view(n, c, 1, 1)
        std = style_feat.view(n, c, -1).std(2).view(n, c, 1, 1)
        normal = F.instance_norm(content_feat)
        return self.conv(normal * std.expand(size) + mean.expand(size))


class BilinearAttention(nn.Module):
    def __init__(self, v_dim, q_dim, z_dim, glimpse):
        super().__init__()
        self.v_net, self.q_net = nn.Linear(v_dim, z_dim), nn.Linear(q_dim, z_dim)
        self.h_mat = nn.Parameter(torch.randn(1, glimpse, 1, z_dim))

    def forward(self, v, q, v_mask):
        v_, q_ = self.v_net(v).unsqueeze(1), self.q_net(q).unsqueeze(1)
        logits = torch.matmul(v_ * self.h_mat, q_.transpose(2, 3))
        logits = logits.masked_fill(v_mask[:, None, :, None] == 0, -1e9)
        return torch.softmax(logits.flatten(2), 2).view_as(logits)


class EdgePredictor(nn.Module):
    def __init__(self, node_dim, edge_dim, hidden):
        super().__init__()
        self.node, self.edge = nn.Linear(node_dim, hidden), nn.Linear(edge_dim, hidden)
        self.score = nn.Linear(3 * hidden, 1)

    def forward(self, x, edge_index, edge_attr):
        h, e = self.node(x), self.edge(edge_attr)
        return self.score(torch.cat([h[edge_index[0]], h[edge_index[1]], e], dim=-1)).squeeze(-1)


class GatedPixelCNN(nn.Module):
    def __init__(self, input_dim, dim, n_classes):
        super().__init__()
        self.dim = dim
        self.embedding = nn.Embedding(input_dim, dim)
        self.class_cond = nn.Embedding(n_classes, 2 * dim)
        self.conv = nn.Conv2d(dim, 2 * dim, 7, padding=3)
        self.out = nn.Conv2d(dim, input_dim, 1)

    def forward(self, x, label):
        x = self.embedding(x.view(-1)).view((*x.size(), -1)).permute(0, 3, 1, 2)
        h = self.conv(x) + self.class_cond(label)[:, :, None, None]
        a, b = h.chunk(2, dim=1)
        return self.out(torch.tanh(a) * torch.sigmoid(b))


class GaussianPolicy(nn.Module):
    def __init__(self, num_inputs, num_actions, hidden_dim, action_space=None):
        super().__init__()
        self.linear1 = nn.Linear(num_inputs, hidden_dim)
        self.mean_linear, self.log_std_linear = nn.Linear(hidden_dim, num_actions), nn.Linear(hidden_dim, num_actions)
        if action_space is None:
            self.action_scale, self.action_bias = torch.tensor(1.0), torch.tensor(0.0)
        else:
            self.action_scale = torch.FloatTensor((action_space.high - action_space.low) / 2.0)
            self.action_bias = torch.FloatTensor((action_space.high + action_space.low) / 2.0)

    def forward(self, state):
        x = F.relu(self.linear1(state))
        log_std = torch.clamp(self.log_std_linear(x), min=-20, max=2)
        return torch.tanh(self.mean_linear(x)) * self.action_scale + self.action_bias, log_std


class HiFiGenerator(nn.Module):
    def __init__(self, n_mels, upsample_rates, upsample_kernel_sizes, upsample_initial_channel):
        super().__init__()
        self.conv_pre = nn.Conv1d(n_mels, upsample_initial_channel, 7, padding=3)
        self.ups = nn.ModuleList()
        for i, (u, k) in enumerate(zip(upsample_rates, upsample_kernel_sizes, strict=False)):
            c = upsample_initial_channel // 2**i
            self.ups.append(nn.ConvTranspose1d(c, c // 2, k, u, padding=(k - u) // 2))
        self.conv_post = nn.Conv1d(upsample_initial_channel // 2 ** len(self.ups), 1, 7, padding=3)

    def forward(self, mel):
        x = self.conv_pre(mel)
        for up in self.ups:
            x = up(F.leaky_relu(x, 0.1))
        return torch.tanh(self.conv_post(x))


class InpaintingNet(nn.Module):
    def __init__(self, cnum):
        super().__init__()
        self.coarse = nn.Sequential(nn.Conv2d(4, cnum, 5, 1, 2), nn.ELU(), nn.Conv2d(cnum, 3, 3, 1, 1))
        self.fine = nn.Sequential(nn.Conv2d(4, cnum, 5, 1, 2), nn.ELU(), nn.Conv2d(cnum, 3, 3, 1, 1))

    def forward(self, img, mask):
        stage1 = torch.clamp(self.coarse(torch.cat([img * (1 - mask), mask], dim=1)), -1, 1)
        inpainted = stage1 * mask + img * (1 - mask)
        return stage1, self.fine(torch.cat([inpainted, mask], dim=1))


class NoisyLinear(nn.Module):
    def __init__(self, in_features, out_features, std_init):
        super().__init__()
        self.weight_mu = nn.Parameter(torch.randn(out_features, in_features) / math.sqrt(in_features))
        self.weight_sigma = nn.Parameter(torch.full((out_features, in_features), std_init / math.sqrt(in_features)))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, x):
        noise = torch.randn(self.weight_mu.shape)
        return F.linear(x, self.weight_mu + self.weight_sigma * noise, self.bias)


class NoisyNet(nn.Module):
    def __init__(self, in_dim, out_dim, sigma_init):
        super().__init__()
        self.feature = nn.Linear(in_dim, 64)
        self.noisy = NoisyLinear(64, out_dim, sigma_init)

    def forward(self, obs):
        return self.noisy(F.relu(self.feature(obs)))


class PixelShuffleDiscriminator(nn.Module):
    def __init__(self, input_shape):
        super().__init__()
        in_channels, in_height, in_width = input_shape
        self.output_shape = (1, in_height // 4, in_width // 4)
        self.model = nn.Sequential(nn.Conv2d(in_channels, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 1, 4, 2, 1))

    def forward(self, img):
        return self.model(img)


class RealNVP(nn.Module):
    def __init__(self, dim, hidden, mask):
        super().__init__()
        self.register_buffer("mask", torch.tensor(mask, dtype=torch.float32))
        self.s = nn.ModuleList(nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, dim)) for _ in mask)
        self.t = nn.ModuleList(nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, dim)) for _ in mask)

    def forward(self, x):
        log_det, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s, t = self.s[i](z_) * (1 - self.mask[i]), self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det = log_det - s.sum(dim=1)
        return z, log_det


class SpeakerEncoder(nn.Module):
    def __init__(self, mel_n_channels, model_hidden_size, model_num_layers, model_embedding_size):
        super().__init__()
        self.lstm = nn.LSTM(mel_n_channels, model_hidden_size, model_num_layers, batch_first=True)
        self.linear = nn.Linear(model_hidden_size, model_embedding_size)

    def forward(self, utterances, hidden_init=None):
        _, (hidden, _) = self.lstm(utterances, hidden_init)
        embeds = F.relu(self.linear(hidden[-1]))
        return embeds / (torch.norm(embeds, dim=1, keepdim=True) + 1e-5)


class TwoTowerRetrieval(nn.Module):
    def __init__(self, n_users, n_items, n_genres, dim, temperature):
        super().__init__()
        self.user, self.item = nn.Embedding(n_users, dim), nn.Embedding(n_items, dim)
        self.genre = nn.EmbeddingBag(n_genres, dim, mode="mean")
        self.temperature = temperature

    def forward(self, user_id, item_id, genres):
        u = F.normalize(self.user(user_id), dim=-1)
        i = F.normalize(self.item(item_id) + self.genre(genres), dim=-1)
        return (u * i).sum(-1) / self.temperature


class WGANCritic(nn.Module):
    def __init__(self, img_shape):
        super().__init__()
        size = 1
        for side in img_shape:
            size *= side
        self.model = nn.Sequential(nn.Linear(size, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))

    def forward(self, img):
        return self.model(img.view(img.shape[0], -1))


class XVector(nn.Module):
    def __init__(self, in_dim, num_speakers):
        super().__init__()
        self.tdnn1 = nn.Conv1d(in_dim, 64, 5, dilation=1)
        self.tdnn2 = nn.Conv1d(64, 64, 3, dilation=2)
        self.segment = nn.Linear(128, 64)
        self.output = nn.Linear(64, num_speakers)

    def forward(self, feats):
        x = F.relu(self.tdnn2(F.relu(self.tdnn1(feats.transpose(1, 2)))))
        stats = torch.cat([x.mean(dim=2), x.std(dim=2)], dim=1)
        return self.output(F.relu(self.segment(stats)))
