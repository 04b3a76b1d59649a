"""What no example inputs are found for: the modules are drawn, and the page says which option to write."""

from torch import nn


class Unreachable(nn.Module):
    """Whatever comes in has no such attribute."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, session):
        return self.body(session.open("features", timeout=3).latest())
