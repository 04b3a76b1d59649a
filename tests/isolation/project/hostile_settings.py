"""Its import is what changes something; its own models can count on it."""

import os

from torch import nn

os.environ["HOSTILE"] = "at import"


class Model(nn.Module):
    def forward(self, x):
        return x * len(os.environ["HOSTILE"])
