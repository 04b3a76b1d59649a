import torch
from torch import nn


class GestureNet(nn.Module):
    def __init__(self, electrodes, window, temporal_filters, depth_multiplier, rnn, classes, **unused):
        super().__init__()
        self.temporal = nn.Conv2d(1, temporal_filters, (1, window // 4), padding="same")
        wide = temporal_filters * depth_multiplier
        self.spatial = nn.Conv2d(temporal_filters, wide, (electrodes, 1), groups=temporal_filters)
        self.norm = nn.BatchNorm2d(wide)
        self.pool = nn.AvgPool2d((1, 8))
        self.rnn = getattr(nn, rnn["cell"])(wide, rnn["hidden"], rnn["layers"], batch_first=True)
        self.fc = nn.Linear(rnn["hidden"] * (window // 8), classes)

    def forward(self, emg):
        x = self.temporal(emg.unsqueeze(1))
        x = self.pool(torch.relu(self.norm(self.spatial(x)))).squeeze(2)
        out, _ = self.rnn(x.transpose(1, 2))
        return self.fc(out.flatten(1))
