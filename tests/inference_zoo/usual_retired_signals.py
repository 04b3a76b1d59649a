"""Usual, once aside: main models of repositories about signals, tables, control and physics."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm

__all__ = ["PINN", "TCN", "VAE", "ActorCritic", "ECGResNet", "NBeats", "TabularModel", "WaveNet"]


class WaveNet(nn.Module):
    """Raw audio in, the distribution of the next sample's class out.

    Example:
        >>> net = WaveNet(residual_channels=32, skip_channels=64, dilation_depth=6, n_repeat=2)
        >>> net(torch.randn(1, 1, 1000)).shape
    """

    def __init__(self, residual_channels, skip_channels, dilation_depth, n_repeat, kernel_size=2, n_classes=256):
        super().__init__()
        dilations = [2**d for d in range(dilation_depth)] * n_repeat
        self.input_conv = nn.Conv1d(1, residual_channels, 1)
        self.convs_sigm = nn.ModuleList(
            [nn.Conv1d(residual_channels, residual_channels, kernel_size, dilation=d) for d in dilations]
        )
        self.convs_tanh = nn.ModuleList(
            [nn.Conv1d(residual_channels, residual_channels, kernel_size, dilation=d) for d in dilations]
        )
        self.skips = nn.ModuleList([nn.Conv1d(residual_channels, skip_channels, 1) for _ in dilations])
        self.resids = nn.ModuleList([nn.Conv1d(residual_channels, residual_channels, 1) for _ in dilations])
        self.out = nn.Sequential(
            nn.ReLU(), nn.Conv1d(skip_channels, skip_channels, 1), nn.ReLU(), nn.Conv1d(skip_channels, n_classes, 1)
        )

    def forward(self, x):
        out = self.input_conv(x)
        skips = []
        for s, t, skip, resid in zip(self.convs_sigm, self.convs_tanh, self.skips, self.resids):
            y = torch.tanh(t(out)) * torch.sigmoid(s(out))
            skips.append(skip(y))
            out = resid(y) + out[:, :, -y.size(2) :]
        total = sum(s[:, :, -out.size(2) :] for s in skips)
        return self.out(total)


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super().__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, : -self.chomp_size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, n_inputs, n_outputs, kernel_size, stride, dilation, padding, dropout=0.2):
        super().__init__()
        conv1 = weight_norm(
            nn.Conv1d(n_inputs, n_outputs, kernel_size, stride=stride, padding=padding, dilation=dilation)
        )
        conv2 = weight_norm(
            nn.Conv1d(n_outputs, n_outputs, kernel_size, stride=stride, padding=padding, dilation=dilation)
        )
        self.net = nn.Sequential(
            conv1,
            Chomp1d(padding),
            nn.ReLU(),
            nn.Dropout(dropout),
            conv2,
            Chomp1d(padding),
            nn.ReLU(),
            nn.Dropout(dropout),
        )
        self.downsample = nn.Conv1d(n_inputs, n_outputs, 1) if n_inputs != n_outputs else None

    def forward(self, x):
        out = self.net(x)
        res = x if self.downsample is None else self.downsample(x)
        return torch.relu(out + res)


class TCN(nn.Module):
    def __init__(self, input_size, output_size, num_channels, kernel_size=2, dropout=0.2):
        super().__init__()
        layers = []
        for i in range(len(num_channels)):
            dilation = 2**i
            in_channels = input_size if i == 0 else num_channels[i - 1]
            layers.append(
                TemporalBlock(
                    in_channels,
                    num_channels[i],
                    kernel_size,
                    1,
                    dilation,
                    padding=(kernel_size - 1) * dilation,
                    dropout=dropout,
                )
            )
        self.network = nn.Sequential(*layers)
        self.linear = nn.Linear(num_channels[-1], output_size)

    def forward(self, inputs):
        """Inputs have to have dimension (N, C_in, L_in)."""
        y1 = self.network(inputs)
        return self.linear(y1[:, :, -1])


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden_sizes, activation=nn.Tanh):
        super().__init__()
        sizes = [obs_dim] + list(hidden_sizes)
        layers = []
        for j in range(len(sizes) - 1):
            layers += [nn.Linear(sizes[j], sizes[j + 1]), activation()]
        self.trunk = nn.Sequential(*layers)
        self.mu = nn.Linear(sizes[-1], act_dim)
        self.log_std = nn.Parameter(-0.5 * torch.ones(act_dim))
        self.v = nn.Linear(sizes[-1], 1)

    def forward(self, obs):
        h = self.trunk(obs)
        std = torch.exp(self.log_std).expand(obs.shape[0], -1)
        return self.mu(h), std, self.v(h).squeeze(-1)


class ResUnit(nn.Module):
    def __init__(self, in_channels, out_channels, downsample):
        super().__init__()
        self.bn1 = nn.BatchNorm1d(in_channels)
        self.conv1 = nn.Conv1d(in_channels, out_channels, 17, padding=8)
        self.bn2 = nn.BatchNorm1d(out_channels)
        self.conv2 = nn.Conv1d(out_channels, out_channels, 17, padding=8, stride=downsample)
        self.skip = nn.Sequential(nn.MaxPool1d(downsample), nn.Conv1d(in_channels, out_channels, 1))

    def forward(self, x):
        y = self.conv1(F.relu(self.bn1(x)))
        y = self.conv2(F.dropout(F.relu(self.bn2(y)), 0.2, self.training))
        return y + self.skip(x)


class ECGResNet(nn.Module):
    """12 leads, 10 seconds at 400 Hz."""

    def __init__(self, n_leads, n_classes, seq_length=4096):
        super().__init__()
        self.stem = nn.Conv1d(n_leads, 64, 17, padding=8)
        self.units = nn.Sequential(ResUnit(64, 64, 4), ResUnit(64, 128, 4), ResUnit(128, 192, 4), ResUnit(192, 256, 4))
        self.lin = nn.Linear(256 * (seq_length // 256), n_classes)

    def forward(self, ecg):
        x = self.units(self.stem(ecg))
        return self.lin(x.view(x.size(0), -1))


class TabularModel(nn.Module):
    def __init__(self, emb_szs, n_cont, out_sz, layers, p=0.5):
        super().__init__()
        self.embeds = nn.ModuleList([nn.Embedding(ni, nf) for ni, nf in emb_szs])
        self.emb_drop = nn.Dropout(p)
        self.bn_cont = nn.BatchNorm1d(n_cont)
        n_in = sum(nf for _, nf in emb_szs) + n_cont
        layerlist = []
        for i in layers:
            layerlist += [nn.Linear(n_in, i), nn.ReLU(inplace=True), nn.BatchNorm1d(i), nn.Dropout(p)]
            n_in = i
        layerlist.append(nn.Linear(layers[-1], out_sz))
        self.layers = nn.Sequential(*layerlist)

    def forward(self, x_cat, x_cont):
        embeddings = [e(x_cat[:, i]) for i, e in enumerate(self.embeds)]
        x = self.emb_drop(torch.cat(embeddings, 1))
        x = torch.cat([x, self.bn_cont(x_cont)], 1)
        return self.layers(x)


class NBeatsBlock(nn.Module):
    def __init__(self, units, thetas_dim, backcast_length, forecast_length):
        super().__init__()
        self.fc = nn.Sequential(
            nn.Linear(backcast_length, units),
            nn.ReLU(),
            nn.Linear(units, units),
            nn.ReLU(),
            nn.Linear(units, units),
            nn.ReLU(),
        )
        self.theta_b = nn.Linear(units, thetas_dim, bias=False)
        self.theta_f = nn.Linear(units, thetas_dim, bias=False)
        self.backcast_fc = nn.Linear(thetas_dim, backcast_length)
        self.forecast_fc = nn.Linear(thetas_dim, forecast_length)

    def forward(self, x):
        x = self.fc(x)
        return self.backcast_fc(self.theta_b(x)), self.forecast_fc(self.theta_f(x))


class NBeats(nn.Module):
    def __init__(
        self, backcast_length, forecast_length, hidden_layer_units, nb_stacks, nb_blocks_per_stack, thetas_dim
    ):
        super().__init__()
        self.forecast_length = forecast_length
        self.stacks = nn.ModuleList(
            nn.ModuleList(
                NBeatsBlock(hidden_layer_units, thetas_dim, backcast_length, forecast_length)
                for _ in range(nb_blocks_per_stack)
            )
            for _ in range(nb_stacks)
        )

    def forward(self, backcast):
        forecast = torch.zeros(backcast.size(0), self.forecast_length, device=backcast.device)
        for stack in self.stacks:
            for block in stack:
                b, f = block(backcast)
                backcast = backcast - b
                forecast = forecast + f
        return backcast, forecast


class PINN(nn.Module):
    """Burgers' equation: u(x, t)."""

    def __init__(self, layers):
        super().__init__()
        self.depth = len(layers) - 1
        self.linears = nn.ModuleList([nn.Linear(layers[i], layers[i + 1]) for i in range(self.depth)])
        for linear in self.linears:
            nn.init.xavier_normal_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x, t):
        u = torch.cat([x, t], dim=1)
        for i in range(self.depth - 1):
            u = torch.tanh(self.linears[i](u))
        return self.linears[-1](u)


class VAE(nn.Module):
    def __init__(self, x_dim, h_dim1, h_dim2, z_dim):
        super().__init__()
        self.x_dim = x_dim
        self.fc1 = nn.Linear(x_dim, h_dim1)
        self.fc2 = nn.Linear(h_dim1, h_dim2)
        self.fc31 = nn.Linear(h_dim2, z_dim)
        self.fc32 = nn.Linear(h_dim2, z_dim)
        self.fc4 = nn.Linear(z_dim, h_dim2)
        self.fc5 = nn.Linear(h_dim2, h_dim1)
        self.fc6 = nn.Linear(h_dim1, x_dim)

    def encoder(self, x):
        h = F.relu(self.fc2(F.relu(self.fc1(x))))
        return self.fc31(h), self.fc32(h)

    def sampling(self, mu, log_var):
        std = torch.exp(0.5 * log_var)
        return torch.randn_like(std).mul(std).add_(mu)

    def decoder(self, z):
        h = F.relu(self.fc5(F.relu(self.fc4(z))))
        return torch.sigmoid(self.fc6(h))

    def forward(self, x):
        mu, log_var = self.encoder(x.view(-1, self.x_dim))
        return self.decoder(self.sampling(mu, log_var)), mu, log_var


# build model
if __name__ == "__main__":
    vae = VAE(x_dim=784, h_dim1=512, h_dim2=256, z_dim=2)
    print(vae)
