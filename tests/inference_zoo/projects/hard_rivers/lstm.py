import torch
from torch import nn


class RiverLSTM(nn.Module):
    def __init__(self, dynamic_features, static_features, hidden, lead_times, head, initial_forget_bias):
        super().__init__()
        self.static = nn.Linear(len(static_features), hidden)
        self.lstm = nn.LSTM(len(dynamic_features) + hidden, hidden, batch_first=True)
        with torch.no_grad():
            self.lstm.bias_hh_l0[hidden : 2 * hidden] = initial_forget_bias
        self.head = head(hidden, len(lead_times))

    def forward(self, dynamic, static):
        s = torch.tanh(self.static(static)).unsqueeze(1).expand(-1, dynamic.shape[1], -1)
        out, _ = self.lstm(torch.cat([dynamic, s], -1))
        return self.head(out[:, -1])
