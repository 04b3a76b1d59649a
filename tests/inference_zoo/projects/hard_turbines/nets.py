from torch import nn


class ConvTrunk(nn.Module):
    def __init__(self, channels, widths, kernel):
        super().__init__()
        sizes = [channels, *widths]
        self.net = nn.Sequential(
            *[m for a, b in zip(sizes, sizes[1:]) for m in (nn.Conv1d(a, b, kernel, 2, kernel // 2), nn.SiLU())]
        )
        self.out_features = widths[-1]

    def forward(self, x):
        return self.net(x).mean(-1)


class FaultDetector(nn.Module):
    def __init__(self, trunk, optimizer, horizon, faults, activation):
        super().__init__()
        self.trunk = trunk
        self.make_optimizer = optimizer
        self.act = activation
        self.fc = nn.Linear(trunk.out_features, horizon * faults)
        self.horizon = horizon

    def forward(self, signals):
        return self.act(self.fc(self.trunk(signals))).unflatten(-1, (self.horizon, -1))

    def configure_optimizers(self):
        return self.make_optimizer(self.parameters())
