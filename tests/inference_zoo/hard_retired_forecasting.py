"""Hard, once aside: traffic, weather and other things to forecast."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["DCRNN", "FNO2d", "Informer"]


class TokenEmbedding(nn.Module):
    def __init__(self, c_in, d_model):
        super().__init__()
        self.tokenConv = nn.Conv1d(c_in, d_model, 3, padding=1, padding_mode="circular", bias=False)

    def forward(self, x):
        return self.tokenConv(x.permute(0, 2, 1)).transpose(1, 2)


class TemporalEmbedding(nn.Module):
    def __init__(self, d_model, freq="h"):
        super().__init__()
        if freq == "t":
            self.minute_embed = nn.Embedding(4, d_model)
        self.hour_embed = nn.Embedding(24, d_model)
        self.weekday_embed = nn.Embedding(7, d_model)
        self.day_embed = nn.Embedding(32, d_model)
        self.month_embed = nn.Embedding(13, d_model)

    def forward(self, x):
        x = x.long()
        minute_x = self.minute_embed(x[:, :, 4]) if hasattr(self, "minute_embed") else 0.0
        return (
            self.hour_embed(x[:, :, 3])
            + self.weekday_embed(x[:, :, 2])
            + self.day_embed(x[:, :, 1])
            + self.month_embed(x[:, :, 0])
            + minute_x
        )


class TimeFeatureEmbedding(nn.Module):
    def __init__(self, d_model, freq="h"):
        super().__init__()
        freq_map = {"h": 4, "t": 5, "s": 6, "m": 1, "a": 1, "w": 2, "d": 3, "b": 3}
        self.embed = nn.Linear(freq_map[freq], d_model, bias=False)

    def forward(self, x):
        return self.embed(x)


class DataEmbedding(nn.Module):
    def __init__(self, c_in, d_model, embed_type="fixed", freq="h", dropout=0.1):
        super().__init__()
        self.value_embedding = TokenEmbedding(c_in, d_model)
        self.temporal_embedding = (
            TimeFeatureEmbedding(d_model, freq) if embed_type == "timeF" else TemporalEmbedding(d_model, freq)
        )
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, x_mark):
        return self.dropout(self.value_embedding(x) + self.temporal_embedding(x_mark))


class Informer(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.task_name = configs.task_name
        self.pred_len = configs.pred_len
        self.label_len = configs.label_len
        self.enc_embedding = DataEmbedding(
            configs.enc_in, configs.d_model, configs.embed, configs.freq, configs.dropout
        )
        self.dec_embedding = DataEmbedding(
            configs.dec_in, configs.d_model, configs.embed, configs.freq, configs.dropout
        )
        enc = nn.TransformerEncoderLayer(
            configs.d_model, configs.n_heads, configs.d_ff, configs.dropout, configs.activation, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(enc, configs.e_layers)
        dec = nn.TransformerDecoderLayer(
            configs.d_model, configs.n_heads, configs.d_ff, configs.dropout, configs.activation, batch_first=True
        )
        self.decoder = nn.TransformerDecoder(dec, configs.d_layers)
        self.projection = nn.Linear(configs.d_model, configs.c_out)

    def long_forecast(self, x_enc, x_mark_enc, x_dec, x_mark_dec):
        enc_out = self.encoder(self.enc_embedding(x_enc, x_mark_enc))
        dec_out = self.decoder(self.dec_embedding(x_dec, x_mark_dec), enc_out)
        return self.projection(dec_out)

    def short_forecast(self, x_enc, x_mark_enc, x_dec, x_mark_dec):
        mean_enc = x_enc.mean(1, keepdim=True).detach()
        std_enc = torch.sqrt(torch.var(x_enc - mean_enc, dim=1, keepdim=True, unbiased=False) + 1e-5).detach()
        return self.long_forecast((x_enc - mean_enc) / std_enc, x_mark_enc, x_dec, x_mark_dec) * std_enc + mean_enc

    def forward(self, x_enc, x_mark_enc, x_dec, x_mark_dec, mask=None):
        if self.task_name == "long_term_forecast":
            return self.long_forecast(x_enc, x_mark_enc, x_dec, x_mark_dec)[:, -self.pred_len :, :]  # [B, L, D]
        if self.task_name == "short_term_forecast":
            return self.short_forecast(x_enc, x_mark_enc, x_dec, x_mark_dec)[:, -self.pred_len :, :]
        return None


class DCGRUCell(nn.Module):
    def __init__(self, in_dim, num_units, adj_mx, max_diffusion_step, num_nodes):
        super().__init__()
        self._num_nodes, self._num_units, self._max_diffusion_step = num_nodes, num_units, max_diffusion_step
        adj = torch.as_tensor(np.asarray(adj_mx), dtype=torch.float32)
        self.register_buffer("support", adj / adj.sum(1, keepdim=True).clamp(min=1e-6))
        n = (in_dim + num_units) * (max_diffusion_step + 1)
        self.gates, self.candidate = nn.Linear(n, 2 * num_units), nn.Linear(n, num_units)

    def diffuse(self, x):
        xs = [x]
        for _ in range(self._max_diffusion_step):
            xs.append(self.support @ xs[-1])
        return torch.cat(xs, dim=-1)

    def forward(self, inputs, hx):
        b = inputs.shape[0]
        inputs = inputs.reshape(b, self._num_nodes, -1)
        h = hx.reshape(b, self._num_nodes, self._num_units)
        r, u = torch.sigmoid(self.gates(self.diffuse(torch.cat([inputs, h], -1)))).chunk(2, -1)
        c = torch.tanh(self.candidate(self.diffuse(torch.cat([inputs, r * h], -1))))
        return (u * h + (1 - u) * c).reshape(b, -1)


class DCRNN(nn.Module):
    def __init__(self, adj_mx, logger=None, **model_kwargs):
        super().__init__()
        self.num_nodes = int(model_kwargs.get("num_nodes", len(adj_mx)))
        self.rnn_units = int(model_kwargs.get("rnn_units", 16))
        self.max_diffusion_step = int(model_kwargs.get("max_diffusion_step", 2))
        self.input_dim = int(model_kwargs.get("input_dim", 2))
        self.output_dim = int(model_kwargs.get("output_dim", 1))
        self.horizon = int(model_kwargs.get("horizon", 12))
        self.encoder = DCGRUCell(self.input_dim, self.rnn_units, adj_mx, self.max_diffusion_step, self.num_nodes)
        self.decoder = DCGRUCell(self.output_dim, self.rnn_units, adj_mx, self.max_diffusion_step, self.num_nodes)
        self.projection = nn.Linear(self.rnn_units, self.output_dim)
        self._logger = logger

    def forward(self, inputs, labels=None, batches_seen=None):
        """
        :param inputs: shape (seq_len, batch_size, num_sensor * input_dim)
        :return: output: (self.horizon, batch_size, self.num_nodes * self.output_dim)
        """
        b = inputs.shape[1]
        h = torch.zeros(b, self.num_nodes * self.rnn_units, device=inputs.device)
        for t in range(inputs.shape[0]):
            h = self.encoder(inputs[t], h)
        go = torch.zeros(b, self.num_nodes * self.output_dim, device=inputs.device)
        outputs = []
        for t in range(self.horizon):
            h = self.decoder(go, h)
            go = self.projection(h.view(-1, self.rnn_units)).view(b, self.num_nodes * self.output_dim)
            outputs.append(go)
            if (
                self.training
                and labels is not None
                and np.random.uniform() < 1000 / (1000 + math.exp((batches_seen or 0) / 1000))
            ):
                go = labels[t]
        if self._logger is not None:
            self._logger.debug("Decoder complete")
        return torch.stack(outputs)


class SpectralConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, modes1, modes2):
        super().__init__()
        self.out_channels, self.modes1, self.modes2 = out_channels, modes1, modes2
        scale = 1 / (in_channels * out_channels)
        self.weights1 = nn.Parameter(scale * torch.rand(in_channels, out_channels, modes1, modes2, dtype=torch.cfloat))
        self.weights2 = nn.Parameter(scale * torch.rand(in_channels, out_channels, modes1, modes2, dtype=torch.cfloat))

    def compl_mul2d(self, input, weights):
        # (batch, in_channel, x,y ), (in_channel, out_channel, x,y) -> (batch, out_channel, x,y)
        return torch.einsum("bixy,ioxy->boxy", input, weights)

    def forward(self, x):
        x_ft = torch.fft.rfft2(x)
        out_ft = torch.zeros(x.shape[0], self.out_channels, x.size(-2), x.size(-1) // 2 + 1, dtype=torch.cfloat)
        out_ft[:, :, : self.modes1, : self.modes2] = self.compl_mul2d(
            x_ft[:, :, : self.modes1, : self.modes2], self.weights1
        )
        out_ft[:, :, -self.modes1 :, : self.modes2] = self.compl_mul2d(
            x_ft[:, :, -self.modes1 :, : self.modes2], self.weights2
        )
        return torch.fft.irfft2(out_ft, s=(x.size(-2), x.size(-1)))


class FNO2d(nn.Module):
    def __init__(self, modes1, modes2, width, T_in=10):
        super().__init__()
        self.modes1, self.modes2, self.width = modes1, modes2, width
        self.padding = 8
        self.p = nn.Linear(T_in + 2, self.width)  # the solution of the previous T_in steps + (x, y)
        self.convs = nn.ModuleList([SpectralConv2d(self.width, self.width, self.modes1, self.modes2) for _ in range(4)])
        self.ws = nn.ModuleList([nn.Conv2d(self.width, self.width, 1) for _ in range(4)])
        self.q = nn.Sequential(nn.Conv2d(self.width, self.width * 4, 1), nn.GELU(), nn.Conv2d(self.width * 4, 1, 1))

    def forward(self, x):
        grid = self.get_grid(x.shape, x.device)
        x = self.p(torch.cat((x, grid), dim=-1)).permute(0, 3, 1, 2)
        x = F.pad(x, [0, self.padding, 0, self.padding])
        for conv, w in zip(self.convs, self.ws):
            x = F.gelu(conv(x) + w(x))
        return self.q(x[..., : -self.padding, : -self.padding]).permute(0, 2, 3, 1)

    def get_grid(self, shape, device):
        batchsize, size_x, size_y = shape[0], shape[1], shape[2]
        gridx = torch.linspace(0, 1, size_x).reshape(1, size_x, 1, 1).repeat([batchsize, 1, size_y, 1])
        gridy = torch.linspace(0, 1, size_y).reshape(1, 1, size_y, 1).repeat([batchsize, size_x, 1, 1])
        return torch.cat((gridx, gridy), dim=-1).to(device)
