"""Models named by the odd thing they show."""

import itertools
import os
import sys
import time

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.linear(x)).relu()


class Widths(nn.Module):
    """Its constructor needs an argument."""

    def __init__(self, widths, bias=True):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(i, o, bias=bias) for i, o in itertools.pairwise(widths)])

    def forward(self, x):
        return self.layers(x)


class RaisesInForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        x = x.relu()
        return self.linear(x)


class RaisesInInit(nn.Module):
    def __init__(self):
        super().__init__()
        raise ValueError("heads must divide width")


class Chatty(Model):
    """Prints on every channel there is."""

    def forward(self, x):
        print("print says hello")
        print("stderr says hello", file=sys.stderr)
        os.write(1, b"fd 1 says hello\n")
        assert sys.stdin.read() == ""
        return super().forward(x)


class Dies(Model):
    """Ends the process, as a segmentation fault does."""

    def forward(self, x):
        print("last words of", x.shape, flush=True)
        os._exit(7)


class Exits(nn.Module):
    def __init__(self):
        super().__init__()
        raise SystemExit("no GPU here")


class Hangs(Model):
    def forward(self, x):
        time.sleep(600)
        return x


class Forks(Model):
    """A forked child that raises must not answer in the tracing process's place."""

    def forward(self, x):
        child = os.fork()
        if child == 0:
            x = "in the child"
        os.waitpid(child, 0)
        return super().forward(x)


class TakesMap(nn.Module):
    """Keys are integers."""

    def forward(self, batch):
        return batch[0] + batch[1]


class NoInputs(nn.Module):
    def forward(self):
        return torch.ones(2)


class Config:
    def __init__(self, vocab_size=50, width=8, **extra):
        if extra:
            raise TypeError(f"unknown: {extra}")
        self.vocab_size = vocab_size
        self.width = width
        self.is_encoder_decoder = False


class Configured(nn.Module):
    """Hugging Face style."""

    config_class = Config
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.width)

    def forward(self, input_ids=None):
        return self.embedding(input_ids)


class Secretive(nn.Module):
    """Nobody can guess what its constructor and its forward take."""

    def __init__(self, secret):
        super().__init__()
        self.secret = secret if sum(map(ord, secret)) == 1104 else int("not this one")
        self.linear = nn.Linear(2, 3)

    def forward(self, word):
        if word != self.secret:
            raise ValueError("not this one")
        return self.linear.weight


def make_model(width, *, bias=True):
    return nn.Linear(width, width, bias=bias)


def make_nothing():
    return 3


def batch():
    return {"x": torch.ones(1, 4)}


def pair():
    return torch.ones(1, 4), torch.zeros(2)


def bare():
    return torch.ones(1, 4)


ready = Model().train()
