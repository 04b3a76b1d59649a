"""Parts that keep a contract with the model: what they give back, distributions, strings in a language of their own."""

from __future__ import annotations

import copy
from itertools import pairwise

import pytest
import torch
import yaml
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import record, resolve
from modeldiagrams.target.inference.constructor import solved_arguments
from modeldiagrams.target.inference.returned import gives_several, is_unfinished, returns_what_is_used
from modeldiagrams.target.inference.search import is_connected
from modeldiagrams.target.inference.spelled import Spelling
from modeldiagrams.target.objects import Layer


class PlainBackbone(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.channels = channels
        self.conv = nn.Conv2d(3, channels, 3)

    def forward(self, x):
        return self.conv(x)


class JoinedBackbone(nn.Module):
    """Is given a backbone, and is one, too: it gives two tensors."""

    def __init__(self, backbone):
        super().__init__()
        self.backbone, self.channels = backbone, backbone.channels

    def forward(self, x):
        made = self.backbone(x)
        return made, torch.ones_like(made)


class Detector(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.project = nn.Conv2d(backbone.channels, 4, 1)

    def forward(self, images):
        features, positions = self.backbone(images)
        return self.project(features + positions)


class NamingNet(nn.Module):
    """Gives tensors by name."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, images):
        return {"map": self.conv(images)}


class RowNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 8)

    def forward(self, x):
        return self.fc(x).relu()


class Learner(nn.Module):
    """What the net gives is used as a tensor."""

    def __init__(self, net):
        super().__init__()
        self.online, self.target = net, copy.deepcopy(net)
        self.predict = nn.Linear(8, 8)

    def forward(self, one, two):
        return self.predict(self.online(one)) - self.target(two).detach()


class Bijection(nn.Module):
    def forward(self, x):
        raise NotImplementedError


class Stretch(Bijection):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        return x * self.scale.exp(), self.scale.sum().expand(x.shape[0])


class Flow(nn.Module):
    """Parts by the name of their base, and a distribution of rows."""

    def __init__(self, bijections, base_dist):
        super().__init__()
        self.bijections, self.base_dist = nn.ModuleList(bijections), base_dist

    def forward(self, x):
        total = x.new_zeros(x.shape[0])
        for bijection in self.bijections:
            x, log_det = bijection(x)
            total = total + log_det
        return self.base_dist.log_prob(x) + total


class Spelled(nn.Module):
    """Layers as ``"C16-P"``."""

    def __init__(self, plan):
        super().__init__()
        layers, width = [], 3
        for part in plan.split("-"):
            if part[0] == "C":
                layers.append(nn.Conv2d(width, int(part[1:]), 3, padding=1))
                width = int(part[1:])
            elif part == "P":
                layers.append(nn.MaxPool2d(2))
            else:
                raise ValueError(part)
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class Widths(nn.Module):
    """Numbers in a string."""

    def __init__(self, hidden):
        super().__init__()
        sizes = [4, *(int(size) for size in hidden.split(","))]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Lettered(nn.Module):
    """A layer for each letter."""

    def __init__(self, order):
        super().__init__()
        known = {"l": nn.Linear(4, 4), "r": nn.ReLU()}
        self.layers = nn.Sequential(*[known[letter] for letter in order.lower()])

    def forward(self, x):
        return self.layers(x)


class Experts(nn.Module):
    """A function that is given one number."""

    def __init__(self, dim, make_expert):
        super().__init__()
        self.experts = nn.ModuleList([make_expert(dim) for _ in range(2)])

    def forward(self, x):
        return sum(expert(x) for expert in self.experts)


class MaskTask(nn.Module):
    """A made-up model for pictures, and an optimizer by its name."""

    def __init__(self, model, optimizer):
        super().__init__()
        self.model = model
        self.optimizer = getattr(torch.optim, optimizer)(model.parameters(), lr=0.1)

    def forward(self, image):
        return self.model(image).sigmoid()


class StateEncoder(nn.Module):
    """Gives a pair, as its layer does."""

    def __init__(self, vocab_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.rnn = nn.GRU(hidden_size, hidden_size, batch_first=True)

    def forward(self, src):
        return self.rnn(self.embedding(src))


class StateDecoder(nn.Module):
    def __init__(self, vocab_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.rnn = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, vocab_size)

    def forward(self, token, h):
        y, h = self.rnn(self.embedding(token.unsqueeze(1)), h)
        return self.out(y.squeeze(1)), h


class Translator(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, src, trg):
        _, h = self.encoder(src)
        out = []
        for i in range(trg.shape[1]):
            y, h = self.decoder(trg[:, i], h)
            out.append(y)
        return torch.stack(out, 1)


def found(class_):
    solved = solved_arguments(class_, "")
    assert solved is not None
    return solved.kwargs


@pytest.mark.parametrize("model", [Detector, Learner, Flow, Spelled, Widths, Lettered, Experts, MaskTask, Translator])
def test_a_model_needs_no_option_and_its_arguments_can_be_pasted(model):
    target = resolve(parse_options({"model": f"{__name__}.{model.__name__}"}).call)
    assert target.note is None, target.note
    assert is_connected(record(target).graph)
    said = {a.subject: a.value for a in target.assumptions if a.subject.startswith("kwargs.")}
    pasted = {name.removeprefix("kwargs."): yaml.safe_load(value) for name, value in said.items()}
    again = resolve(parse_options({"model": f"{__name__}.{model.__name__}", "kwargs": pasted}).call)
    assert [p.shape for p in again.model.parameters()] == [p.shape for p in target.model.parameters()]


def test_a_class_is_chosen_by_what_it_gives():
    assert found(Detector)["backbone"]["_target_"] == f"{__name__}.JoinedBackbone"
    assert found(Detector)["backbone"]["backbone"]["_target_"] == f"{__name__}.PlainBackbone"
    assert found(Learner)["net"]["_target_"] == f"{__name__}.RowNet"
    assert not returns_what_is_used(NamingNet, (Learner,), "net")
    assert returns_what_is_used(RowNet, (Detector, Learner), "net")
    assert gives_several(Stretch)
    assert not gives_several(RowNet)
    assert gives_several(StateEncoder)
    assert found(Translator)["encoder"]["_target_"] == f"{__name__}.StateEncoder"


def test_a_base_is_no_part_and_its_name_is_that_of_its_kinds():
    assert is_unfinished(Bijection)
    assert not is_unfinished(Stretch)
    assert {part["_target_"] for part in found(Flow)["bijections"]} == {f"{__name__}.Stretch"}
    assert found(Flow)["base_dist"]["_target_"] == "torch.distributions.MultivariateNormal"


def test_strings_are_written_as_they_are_read():
    assert found(Spelled) == {"plan": "C16-P"}
    assert found(Widths) == {"hidden": "32,32"}
    assert found(Lettered) == {"order": "lr"}
    solved = solved_arguments(Spelled, "")
    assert solved is not None
    assert solved.reasons["plan"] == "its constructor takes it apart, and knows these parts"


def test_strings_of_a_language():
    spelling = Spelling("-")
    assert spelling.strings() == []
    spelling.learn_word("P")
    spelling.learn_number("C")
    assert spelling.has_learnt()
    assert not spelling.has_learnt()
    assert spelling.strings()[0] == "C16-P"
    spelling.inner = Spelling("x")
    spelling.inner.learn_number("")
    assert spelling.strings()[0] == "16x16-16x16"


def test_made_up_parts_keep_what_is_usual():
    assert found(Experts)["make_expert"] == {"_object_": "modeldiagrams.target.objects.Layer"}
    assert (Layer(8).out_features, Layer(8, 4).out_features) == (8, 4)
    assert found(MaskTask)["model"]["_target_"] == "torch.nn.Conv2d"
    assert found(MaskTask)["optimizer"] == "Adam"
