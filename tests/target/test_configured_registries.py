"""Constructor arguments of models whose configuration names parts of a registry, with the arguments of each."""

from __future__ import annotations

import pytest
from torch import nn

from modeldiagrams.target.inference.constructor import solved_arguments


class Stages(nn.Module):
    def __init__(self, in_channels, channels):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(a, b, 3) for a, b in zip([in_channels, *channels], channels, strict=False))
        self.out_channels = list(channels)

    def forward(self, x):
        return [x := conv(x) for conv in self.convs]


class Tall(nn.Module):
    def __init__(self, in_channels, width):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, width, 3)
        self.out_channels = width

    def forward(self, x):
        return self.conv(x)


PARTS = {"stages": Stages, "tall": Tall}


class Copied(nn.Module):
    """Takes the name out of a copy, which has a name of its own."""

    def __init__(self, cfg):
        super().__init__()
        part = dict(cfg["trunk"])
        self.trunk = PARTS[part.pop("kind")](**part)
        self.head = nn.Linear(self.trunk.out_channels[0], 4)

    def forward(self, x):
        return self.head(self.trunk(x)[0].mean((2, 3)))


class CopiedByMethod(Copied):
    def __init__(self, cfg):
        nn.Module.__init__(self)
        part = cfg["trunk"].copy()
        self.trunk = PARTS[part.pop("kind")](**part)
        self.head = nn.Linear(self.trunk.out_channels[0], 4)


class Levels(nn.Module):
    """Which of the stages are used says a list."""

    def __init__(self, channels, levels):
        super().__init__()
        known = list(channels)
        self.convs = nn.ModuleList(nn.Conv2d(3, c, 3) for c in known)
        self.levels = levels
        self.heads = nn.ModuleList(nn.Conv2d(known[i], 4, 1) for i in levels)

    def forward(self, x):
        return [head(self.convs[i](x)) for i, head in zip(self.levels, self.heads, strict=True)]


class OneWidth(nn.Module):
    """Only one of the parts says a single number as its width."""

    def __init__(self, config):
        super().__init__()
        self.trunk = PARTS[config["trunk"]["name"]](**config["trunk"]["params"])
        self.rnn = getattr(nn, config["cell"])(self.trunk.out_channels * 2, config["hidden"], config["depth"])

    def forward(self, x):
        return self.rnn(self.trunk(x).flatten(2).transpose(1, 2))


@pytest.mark.parametrize("model", [Copied, CopiedByMethod])
def test_what_a_copy_of_a_configuration_lacks_the_configuration_gets(model):
    solved = solved_arguments(model)
    assert solved is not None
    assert solved.kwargs["cfg"]["trunk"]["kind"] == "stages"
    assert model(**solved.kwargs).head.out_features == 4


def test_an_index_into_a_list_is_one_of_its_places_and_each_another_one():
    solved = solved_arguments(Levels)
    assert solved is not None
    assert solved.kwargs["levels"] == [0, 1]


def test_where_a_part_has_widths_in_a_list_and_a_number_is_expected_another_part_is_named():
    solved = solved_arguments(OneWidth)
    assert solved is not None
    trunk = solved.kwargs["config"]["trunk"]
    assert trunk["name"] == "tall"
    assert sorted(trunk["params"]) == ["in_channels", "width"], "those of the other part are gone"
