"""Sequences of features, sounds, states that are carried on."""

import torch
from torch import nn
from torch.nn import functional as F


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(7, 16, num_layers=2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class TimeFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(5, 9)

    def forward(self, sequence):
        steps, batch, _ = sequence.shape
        return self.rnn(sequence, torch.zeros(1, batch, 9))[0].reshape(steps * batch, 9)


class Cell(nn.Module):
    """Input and state are both required."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 10)
        self.out = nn.Linear(10, 3)

    def forward(self, x, hidden):
        hidden = self.cell(x, hidden)
        return self.out(hidden), hidden


class HandMadeRnn(nn.Module):
    """As in a well known tutorial: letters and state are joined."""

    def __init__(self):
        super().__init__()
        self.i2h, self.i2o = nn.Linear(57 + 128, 128), nn.Linear(57 + 128, 18)
        self.hidden_size = 128

    def forward(self, input, hidden=None):
        hidden = torch.zeros(input.shape[0], self.hidden_size) if hidden is None else hidden
        combined = torch.cat((F.pad(input, (0, 57 + 128 - self.hidden_size - input.shape[1])), hidden), 1)
        return self.i2o(combined), self.i2h(combined)


class LstmState(nn.Module):
    """The state is a pair that is unpacked."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)

    def forward(self, x, state):
        h, c = state
        return self.cell(x, (h, c))


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 8, 1)
        self.layers = nn.ModuleList(nn.Conv1d(8, 8, 2, dilation=2**i) for i in range(4))

    def forward(self, waveform):
        x = self.first(waveform)
        for layer in self.layers:
            x = x[..., layer.dilation[0] :] + layer(x).tanh()
        return x


class Spectral(nn.Module):
    """A short-time Fourier transform comes before the first layer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.conv = nn.Conv1d(33, 8, 3)

    def forward(self, audio):
        spectrum = torch.stft(audio, 64, 16, window=self.window, return_complex=True)
        return self.conv(spectrum.abs())


class Selective(nn.Module):
    """A state space model: a loop over time with parameters of its own."""

    def __init__(self, dim=6, states=4):
        super().__init__()
        self.a, self.b, self.c = (nn.Parameter(torch.randn(dim, states)) for _ in range(3))
        self.gate = nn.Linear(dim, dim)

    def forward(self, x):
        state = torch.zeros(x.shape[0], *self.a.shape)
        outputs = []
        for step in x.unbind(1):
            state = state * self.a.sigmoid() + step[..., None] * self.b
            outputs.append((state * self.c).sum(-1) * self.gate(step).sigmoid())
        return torch.stack(outputs, 1)


class PatchSeries(nn.Module):
    """Its length must be a multiple of 8."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, 16)
        self.mixer = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, past_values):
        patches = self.embed(past_values.unflatten(-1, (-1, 8)))
        return self.mixer(patches, patches, patches, need_weights=False)[0]
